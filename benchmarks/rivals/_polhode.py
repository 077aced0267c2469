"""Ours: the exact step of a free body, splittings around it for the heavy top."""

from __future__ import annotations

from functools import partial

import polhode as ph
from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival


def _same(state: tuple[Array, Array]) -> tuple[Array, Array]:
    return state


def _exact(problem: Problem, _: float) -> Prepared:
    return Prepared(
        lambda: ph.step(problem.inertia, problem.m, problem.q, problem.t_end, threads=1), _same
    )


def _split(splitting: str, problem: Problem, h: float) -> Prepared:
    assert problem.u0 is not None
    torque = ph.torques.HeavyTop(problem.u0)
    n_steps = round(problem.t_end / h)

    def run() -> tuple[Array, Array]:
        path = ph.integrate(
            problem.inertia,
            problem.m,
            problem.q,
            problem.t_end / n_steps,
            n_steps,
            torque=torque,
            splitting=splitting,
            save_every=n_steps,
            threads=1,
        )
        return path.m[-1], path.q[-1]

    return Prepared(run, _same)


_PACKAGE = [("polhode", "polhode")]

OURS = [
    Rival("polhode exact", _PACKAGE, "one step of", {"free": (100.0,)}, _exact),
    *(
        Rival(f"polhode {name}", _PACKAGE, "step", {"heavy-top": steps}, partial(_split, name))
        for name, steps in {
            "rkn6_14": (5.0, 2.0, 1.0, 0.5),
            "aba864": (5.0, 2.0, 1.0, 0.5),
            "sofroniou10_35": (10.0, 5.0, 2.5, 1.25),
        }.items()
    ),
]

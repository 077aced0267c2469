"""Ours: the exact step of a free body; for the heavy top, splittings and direct integrators."""

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


def _integrate(splitting: str | None, method: str, problem: Problem, h: float) -> Prepared:
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
            method=method,
            save_every=n_steps,
            threads=1,
        )
        return path.m[-1], path.q[-1]

    return Prepared(run, _same)


_PACKAGE = [("polhode", "polhode")]

OURS = [
    Rival("polhode exact", _PACKAGE, "one step of", {"free": (100.0,)}, _exact),
    *(
        Rival(
            f"polhode {splitting or method}",
            _PACKAGE,
            "step",
            {"heavy-top": steps},
            partial(_integrate, splitting, method),
        )
        for splitting, method, steps in [
            ("rkn6_14", "exact", (5.0, 2.0, 1.0, 0.5)),
            ("aba864", "exact", (5.0, 2.0, 1.0, 0.5)),
            ("sofroniou10_35", "exact", (10.0, 5.0, 2.5, 1.25)),
            (None, "rk8", (2.0, 1.0, 0.5, 0.25)),
            (None, "adams8", (0.5, 0.25, 0.125, 0.0625)),
            (None, "adams10", (0.25, 0.125, 0.0625)),
        ]
    ),
]

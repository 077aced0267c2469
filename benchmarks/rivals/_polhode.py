"""Ours: the exact step of a free body; for the heavy top, splittings and direct integrators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polhode as ph
from benchmarks.rivals._problem import SLOPES, Array, Problem
from benchmarks.rivals._rival import Prepared, Rival

#: How a method with options moves a problem in steps of a length.
Way = Callable[[dict[str, Any], Problem, float], Prepared]


def _same(state: tuple[Array, Array]) -> tuple[Array, Array]:
    return state


def _exact(problem: Problem, _: float) -> Prepared:
    return Prepared(
        lambda: ph.step(problem.inertia, problem.m, problem.q, problem.t_end, threads=1), _same
    )


def _torque(problem: Problem) -> Any:
    return problem.torque if problem.u0 is None else ph.torques.HeavyTop(problem.u0)


def _start(problem: Problem) -> tuple[Array, Array]:
    """Of one body without the axis of the batch."""
    m, q = problem.m, problem.q
    return (m[0], q[0]) if problem.bodies == 1 else (m, q)


def by_call(setting: dict[str, Any], problem: Problem, h: float) -> Prepared:
    """By a call of `integrate` with one save."""
    n_steps = round(problem.t_end / h)
    run = partial(
        ph.integrate,
        problem.inertia,
        *_start(problem),
        problem.t_end / n_steps,
        n_steps,
        torque=_torque(problem),
        save_every=n_steps,
        **setting,
    )
    return Prepared(run, lambda end: (end.m[-1].reshape(-1, 3), end.q[-1].reshape(-1, 4)))


def prepared(setting: dict[str, Any], problem: Problem, h: float) -> Prepared:
    """One body by a prepared run, as the other programs are set up before; more by a call."""
    if problem.bodies > 1:
        return by_call(setting, problem, h)
    n_steps = round(problem.t_end / h)
    if n_steps < max(m.history for m in ph.methods() if m.name == setting.get("method", "exact")):
        raise ValueError("fewer steps than a history has")  # as `integrate`
    m, q = _start(problem)
    steps = ph.Run(
        problem.inertia, m, q, problem.t_end / n_steps, torque=_torque(problem), **setting
    )

    def run() -> tuple[Array, Array]:
        steps.reset(m, q)
        steps.advance(n_steps)
        return steps.m, steps.q

    return Prepared(run, lambda end: (end[0].reshape(-1, 3), end[1].reshape(-1, 4)))


def _adaptive(problem: Problem, tolerance: float) -> Prepared:
    """By adaptive steps, each body in its own."""
    run = partial(
        ph.integrate,
        problem.inertia,
        *_start(problem),
        t_end=problem.t_end,
        rtol=tolerance,
        atol=tolerance,
        torque=problem.torque,
        splitting=None,
        method="rk8",
    )
    return Prepared(run, lambda end: (end.m[-1].reshape(-1, 3), end.q[-1].reshape(-1, 4)))


_PACKAGE = [("polhode", "polhode")]
#: Adaptive steps of rk8, at tolerances for errors of 1e-4 to 1e-13.
ADAPTIVE = Rival(
    "adaptive rk8",
    _PACKAGE,
    "tolerance",
    dict.fromkeys(SLOPES, tuple(10.0**-k for k in range(4, 16))),
    _adaptive,
)

#: Schemes that were the fastest somewhere.
_SCHEMES = (
    "saba2", "saba6", "aba864", "aba1064", "rkn6_11", "rkn6_14", "t5_6", "t5a_6", "sofroniou10_35"
)  # fmt: skip


def under_torque(problem: Problem, steps: Sequence[float], way: Way = prepared) -> list[Rival]:
    """The methods and schemes that may be the fastest under a torque."""
    direct = [m.name for m in ph.methods() if m.takes_torque and (m.order or 0) >= 8]
    processed = [s.name for s in ph.splittings() if s.name.startswith("processed")]
    settings: dict[str, dict[str, Any]] = {
        **{name: {"splitting": None, "method": name} for name in direct},
        **{name: {"splitting": name} for name in (*_SCHEMES, *processed)},
    }
    return [
        Rival(name, _PACKAGE, "step", {problem.kind: steps}, partial(way, setting))
        for name, setting in settings.items()
    ]


OURS = [
    Rival("polhode exact", _PACKAGE, "one step of", {"free": (100.0,)}, _exact),
    *(
        Rival(
            f"polhode {splitting or method}",
            _PACKAGE,
            "step",
            {"heavy-top": steps},
            partial(prepared, {"splitting": splitting, "method": method}),
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

"""SciPy's DOP853 on the equations of m and q, all bodies in one system.

Conventions are ours: the equations are written for m in the body frame and q scalar first.  Many
bodies share a step, chosen by the root mean square of their errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rivals._problem import SLOPES, Array, Problem
from benchmarks.rivals._rival import Prepared, Rival, by_rows


def dop853(
    rate: Callable[[float, Array], Array], start: Array, t_end: float, tolerance: float
) -> Callable[[], Array]:
    """A run of DOP853, which returns the state at the end."""
    from scipy.integrate import solve_ivp

    def run() -> Array:
        solution = solve_ivp(
            rate, (0, t_end), start, method="DOP853", rtol=tolerance, atol=tolerance, t_eval=[t_end]
        )
        end: Array = solution.y[:, -1]
        return end

    return run


def _prepare(problem: Problem, tolerance: float) -> Prepared:
    # Of one body Python's numbers are faster than arrays of length 1.
    one = problem.bodies == 1
    start = problem.states
    rows = len(start)

    def rate(_: float, y: Array) -> Array:
        if one:
            return np.array(problem.slopes(y.tolist()))
        return np.ravel(problem.slopes(y.reshape(rows, -1)))

    run = dop853(rate, start.ravel(), problem.t_end, tolerance)
    return Prepared(run, lambda end: by_rows(end.reshape(rows, -1)))


_TOLERANCES = (1e-4, 1e-7, 1e-10, 1e-13)

RIVAL = Rival(
    "SciPy DOP853",
    [("scipy", "scipy")],
    "rtol = atol",
    dict.fromkeys(SLOPES, _TOLERANCES),
    _prepare,
)

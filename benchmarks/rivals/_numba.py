"""The Runge-Kutta method of order 8 in Numba, at a fixed step.

The method that DOP853 advances with: twelve stages, coefficients of Dormand and Prince as in the
code of E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.
(1993), Sec. II.10, taken from SciPy's `DOP853`.  Bodies go in blocks of lanes that the compiler
vectorises.  Conventions are ours, as the equations.  Compiling is not timed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.rivals._problem import SLOPES, Array, Problem
from benchmarks.rivals._rival import Prepared, Rival, by_rows

LANES = 16


@cache
def _kernel(kind: str, rows: int, lanes: int) -> Any:
    """Moves a block of states, (rows, lanes) in one row, by n_steps steps of h in place."""
    from numba import njit
    from scipy.integrate import DOP853

    stages = DOP853.n_stages
    # Row s has the weights of the slopes in stage s, the last one those of the step.
    a = np.vstack([DOP853.A[:stages, :stages], DOP853.B])
    terms = np.count_nonzero(a, axis=1)
    which = np.argsort(a == 0, axis=1, kind="stable")
    weight = np.take_along_axis(a, which, axis=1)
    rate = njit(inline="always")(SLOPES[kind])
    size = rows * lanes
    more = rows == 9

    # The order of the operations stays; a division by zero is no exception, which would keep the
    # loop over the lanes from being vectorised.
    @njit(fastmath={"contract", "arcp"}, error_model="numpy")
    def kernel(y, inertia, parameters, h, n_steps):  # type: ignore[no-untyped-def]
        slopes = np.empty((stages, size))
        at = np.empty(size)
        for _ in range(n_steps):
            for stage in range(stages + 1):
                for i in range(size):
                    at[i] = y[i]
                for term in range(terms[stage]):
                    k, b = slopes[which[stage, term]], h * weight[stage, term]
                    for i in range(size):
                        at[i] += b * k[i]
                if stage == stages:
                    break
                k = slopes[stage]
                for i in range(lanes):
                    state = (
                        at[i],
                        at[lanes + i],
                        at[2 * lanes + i],
                        at[3 * lanes + i],
                        at[4 * lanes + i],
                        at[5 * lanes + i],
                        at[6 * lanes + i],
                    )
                    if more:
                        r = rate(
                            inertia, parameters, (*state, at[7 * lanes + i], at[8 * lanes + i])
                        )
                        k[7 * lanes + i], k[8 * lanes + i] = r[7], r[8]
                    else:
                        r = rate(inertia, parameters, state)
                    k[i], k[lanes + i], k[2 * lanes + i] = r[0], r[1], r[2]
                    k[3 * lanes + i], k[4 * lanes + i] = r[3], r[4]
                    k[5 * lanes + i], k[6 * lanes + i] = r[5], r[6]
            for i in range(size):
                y[i] = at[i]

    return kernel


def _prepare(problem: Problem, h: float) -> Prepared:
    n = problem.bodies
    lanes = min(LANES, n)
    states = problem.states
    rows = len(states)
    kernel = _kernel(problem.kind, rows, lanes)
    n_steps = round(problem.t_end / h)
    inertia = tuple(problem.inertia.tolist())
    parameters = problem.parameters or (0.0,)
    # A last block that is not full is filled up by bodies of the first.
    starts = np.resize(states.T, (-(-n // lanes) * lanes, rows))
    blocks = starts.reshape(-1, lanes, rows).transpose(0, 2, 1).reshape(-1, rows * lanes)

    def run() -> Array:
        ends = blocks.copy()
        for block in ends:
            kernel(block, inertia, parameters, problem.t_end / n_steps, n_steps)
        return ends

    run()

    def state(ends: Array) -> tuple[Array, Array]:
        return by_rows(ends.reshape(-1, rows, lanes).transpose(1, 0, 2).reshape(rows, -1)[:, :n])

    return Prepared(run, state)


_STEPS = (2.0, 1.0, 0.5, 0.25)

RIVAL = Rival(
    "Numba RK8",
    [("numba", "numba"), ("scipy", "scipy")],
    "step",
    dict.fromkeys(SLOPES, _STEPS),
    _prepare,
)

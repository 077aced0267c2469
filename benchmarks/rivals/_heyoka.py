"""heyoka.py's Taylor integrator on the equations of m and q, compiled for this processor.

One body: the scalar integrator.  Many: its batch integrator at the width it recommends, block
after block; a last block that is not full is filled up by its first body.  Conventions are ours, as
the equations.  Compiling is not timed.
"""

from __future__ import annotations

import numpy as np

from benchmarks.rivals._problem import SLOPES, Array, Problem
from benchmarks.rivals._rival import Prepared, Rival, by_rows


def _prepare(problem: Problem, tolerance: float) -> Prepared:
    import heyoka

    names = ("m1", "m2", "m3", "q0", "q1", "q2", "q3", "x1", "x2")
    variables = heyoka.make_vars(*names[: len(problem.states)])
    system = list(zip(variables, problem.slopes(variables), strict=True))
    n = problem.bodies
    if n == 1:
        one = heyoka.taylor_adaptive(system, problem.states[:, 0], tol=tolerance)

        def run() -> Array:
            one.time = 0.0
            one.state[:] = problem.states[:, 0]
            one.propagate_until(problem.t_end)
            return np.array(one.state)

        return Prepared(run, by_rows)
    lanes = heyoka.recommended_simd_size()
    starts = problem.states
    fill = np.repeat(starts[:, :1], -n % lanes, axis=1)
    starts = np.hstack([starts, fill])
    blocks = [np.ascontiguousarray(starts[:, i : i + lanes]) for i in range(0, n, lanes)]
    many = heyoka.taylor_adaptive_batch(system, blocks[0], tol=tolerance)

    def run_many() -> Array:
        ends = np.empty_like(starts)
        for i, block in enumerate(blocks):
            many.set_time(0.0)
            many.state[:] = block
            many.propagate_until(problem.t_end)
            ends[:, i * lanes : (i + 1) * lanes] = many.state
        return ends[:, :n]

    return Prepared(run_many, by_rows)


RIVAL = Rival(
    "heyoka.py",
    [("heyoka", "heyoka")],
    "tol",
    dict.fromkeys(SLOPES, (1e-6, 1e-10, 1e-15)),
    _prepare,
)

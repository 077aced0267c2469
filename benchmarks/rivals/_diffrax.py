"""diffrax's Dopri8 in JAX, compiled in double precision, on the processor and one thread.

Bodies are mapped over (`jax.vmap`), each with steps of its own.  Conventions are ours, as the
equations.  Compiling is not timed.  JAX reads its flags for threads once, when its processor
backend starts: they are set here and do nothing in a process that has computed with JAX before.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

import numpy as np

from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


@cache
def _solver(problem: Problem) -> Any:
    """The start, and the compiled function of it and the tolerance."""
    if "jax" not in sys.modules:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
        os.environ["JAX_PLATFORMS"] = "cpu"
    import diffrax
    import jax
    import jax.numpy as jnp

    # In the thread that calls, so that its CPU time is that of the computation.
    jax.config.update("jax_cpu_enable_async_dispatch", False)

    def rate(_t: Any, y: Any, _args: Any) -> Any:
        return jnp.stack(problem.slopes(y))

    def one(y: Any, tolerance: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rate),
            diffrax.Dopri8(),
            0.0,
            problem.t_end,
            None,
            y,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=None,
        ).ys[0]

    with jax.enable_x64(True):
        start = jnp.asarray(problem.states.T)
        solve = jax.jit(jax.vmap(one, (0, None))).lower(start, jnp.asarray(1e-8)).compile()
    return start, solve


def _prepare(problem: Problem, tolerance: float) -> Prepared:
    start, solve = _solver(problem)
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        given = jnp.asarray(tolerance)

    def run() -> Any:
        return solve(start, given).block_until_ready()

    def state(end: Any) -> tuple[Array, Array]:
        rows = np.asarray(end)
        return rows[:, :3], rows[:, 3:]

    return Prepared(run, state)


RIVAL = Rival(
    "diffrax Dopri8",
    [("diffrax", "diffrax"), ("jax", "jax")],
    "rtol = atol",
    {"free": (1e-4, 1e-8, 1e-12), "heavy-top": (1e-4, 1e-8, 1e-12)},
    _prepare,
)

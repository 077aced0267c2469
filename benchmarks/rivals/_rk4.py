"""A plain Runge-Kutta method of order 4 in C++, at a fixed step, without any library.

For a free body the weight is zero: its program has no other equations.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from benchmarks.rivals._compiled import compiler, shared_library
from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival, by_rows


class _Program(Rival):
    """A program of this folder: its version is that of the compiler."""

    def version(self) -> str:
        return compiler()[1]


@cache
def _library() -> ctypes.CDLL:
    return shared_library("_rk4.cpp")


def _prepare(problem: Problem, h: float) -> Prepared:
    function = _library().rk4
    start = np.ascontiguousarray(problem.states.T)
    inertia = problem.inertia.astype(np.float64)
    u0 = np.zeros(3) if problem.u0 is None else problem.u0.astype(np.float64)
    n_steps = round(problem.t_end / h)
    fixed = (
        ctypes.c_void_p(inertia.ctypes.data),
        ctypes.c_void_p(u0.ctypes.data),
        ctypes.c_double(problem.t_end / n_steps),
        ctypes.c_long(n_steps),
    )
    count = ctypes.c_long(problem.bodies)

    def run(held: tuple[Array, Array] = (inertia, u0)) -> Array:
        states = start.copy()
        function(count, ctypes.c_void_p(states.ctypes.data), *fixed)
        return states

    return Prepared(run, lambda states: by_rows(states.T))


_STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)

RIVAL = _Program(
    "RK4 in C++",
    [],
    "step",
    {"free": _STEPS, "heavy-top": _STEPS},
    _prepare,
    probe=_library,
)

"""Plain Runge-Kutta methods of order 4 and 8 in C++, at a fixed step, without any library.

Order 8 is the method that SciPy's DOP853 advances with, its coefficients are SciPy's.  The compiler
vectorises over bodies, for the instruction-set level of the processor and with the flags of
CXXFLAGS.  For a free body the weight is zero: the program has no other equations.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache, partial

import numpy as np

import polhode as ph
from benchmarks.rivals._compiled import compiler, shared_library
from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival, by_rows

#: Numbers of the equations in the program.
_KINDS = {"free": 0, "heavy-top": 0, "damped-dipole": 1, "satellite": 2}


class _Program(Rival):
    """A program of this folder: its version is that of the compiler."""

    def version(self) -> str:
        return compiler()[1]


def _tableau() -> str:
    """A header with the coefficients of DOP853."""
    from scipy.integrate import DOP853

    n = DOP853.n_stages
    rows = ["{" + ", ".join(map(repr, row)) + "}" for row in DOP853.A[:n, :n].tolist()]
    weights = ", ".join(map(repr, DOP853.B.tolist()))
    return (
        f"constexpr double A[{n}][{n}] = {{{', '.join(rows)}}};\n"
        f"constexpr double B[{n}] = {{{weights}}};\n"
    )


@cache
def _library() -> ctypes.CDLL:
    level = ph.build_info()["isa_processor"]
    options = [f"-march=x86-64-{level}"] if level else []
    options += os.environ.get("CXXFLAGS", "").split()
    return shared_library(
        "_runge_kutta.cpp", "-ffp-contract=fast", *options, headers={"dop853.hpp": _tableau()}
    )


def _prepare(method: str, problem: Problem, h: float) -> Prepared:
    function = getattr(_library(), method)
    start = np.ascontiguousarray(problem.states.T)
    inertia = problem.inertia.astype(np.float64)
    parameters = np.array(problem.parameters or (0.0, 0.0, 0.0))
    n_steps = round(problem.t_end / h)
    before = ctypes.c_int(_KINDS[problem.kind]), ctypes.c_long(problem.bodies)
    fixed = (
        ctypes.c_void_p(inertia.ctypes.data),
        ctypes.c_void_p(parameters.ctypes.data),
        ctypes.c_double(problem.t_end / n_steps),
        ctypes.c_long(n_steps),
    )

    def run(held: tuple[Array, Array] = (inertia, parameters)) -> Array:
        states = start.copy()
        function(*before, ctypes.c_void_p(states.ctypes.data), *fixed)
        return states

    return Prepared(run, lambda states: by_rows(states.T))


def _rival(method: str, steps: tuple[float, ...]) -> Rival:
    return _Program(
        f"{method.upper()} in C++",
        [("scipy", "scipy")],
        "step",
        dict.fromkeys(_KINDS, steps),
        partial(_prepare, method),
        probe=_library,
    )


RK4 = _rival("rk4", (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002))
RK8 = _rival("rk8", (2.0, 1.0, 0.5, 0.25))

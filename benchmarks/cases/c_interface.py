"""The C interface beside the same step from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Times, case
from benchmarks._bodies import INERTIA, Array, deviation, reference, states

METHODS = ("exact", "frb", "gauss8", "dmv8", "magnus4")
#: Accepted extra cost of the C interface, in ns per body per step.
MOST = 5.0


def c_step(
    method: str, m: Array, q: Array, h: float, out: tuple[Array, Array]
) -> Callable[[], Any]:
    """A call of `polhode_step` with one step of bodies that share the moments, one thread."""
    library = ctypes.CDLL(ph.get_library())
    doubles, wide, size = ctypes.POINTER(ctypes.c_double), ctypes.c_int64, ctypes.c_double(h)

    def pointer(x: Array) -> Any:
        return x.ctypes.data_as(doubles)

    step = partial(
        library.polhode_step, library.polhode_method(method.encode()), wide(len(m)),
        pointer(INERTIA), wide(0), pointer(m), pointer(q), 0, ctypes.byref(size), wide(0), wide(1),
        1, pointer(out[0]), pointer(out[1]), None,
    )  # fmt: skip
    if step():
        library.polhode_error.restype = ctypes.c_char_p
        raise RuntimeError(library.polhode_error().decode())
    return step


def _at_most(c: Times, python: Times) -> str:
    """Whether the quartiles of the times tell that C takes at most MOST longer."""
    if c.low is None or c.high is None or python.low is None or python.high is None:
        return "not known"
    if c.high - python.low <= MOST:
        return "yes"
    return "no" if c.low - python.high > MOST else "not known"


@case(
    "c_interface",
    "The C interface beside the Python one",
    time="ns per body per step",
    units={
        "C / Python": "ratio of times in neighbouring windows",
        f"at most {MOST:g} ns more": "of C, by the quartiles of both",
        "error": "of m/|m| or q after hw = 0.2, of 200 bodies, largest component, absolute",
    },
)
def c_interface(run: Run) -> Iterator[Row]:
    """One step of hw = 0.2: `polhode_step` of libpolhode by ctypes, `ph.step` into given arrays.

    Inertia (1, 1.5, 2.2), quaternions, one thread, in turn. "Same bits": the results are equal.
    """
    for n in (1000,) if run.quick else (1000, 100_000):
        m, q = states(n, run.rng())
        few = slice(0, 20 if run.quick else 200)
        end = reference(INERTIA, m[few], q[few], 0.2)
        for method in METHODS:
            ours, theirs = ((np.empty_like(m), np.empty_like(q)) for _ in range(2))
            works: dict[str, Callable[[], Any]] = {
                "Python": partial(ph.step, INERTIA, m, q, 0.2, method=method, out=ours, threads=1),
                "C": c_step(method, m, q, 0.2, theirs),
            }
            measured = run.timer.measure(works, n)
            times = measured.times
            same = all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
            values = {
                f"at most {MOST:g} ns more": _at_most(times["C"], times["Python"]),
                "same bits": "yes" if same else "no",
                "error": float(deviation((theirs[0][few], theirs[1][few]), end).max()),
            }
            labels: dict[str, str | int | float] = {"method": method, "bodies": n}
            yield Row(labels, times, {"C / Python": measured.ratio("C", "Python")}, values)

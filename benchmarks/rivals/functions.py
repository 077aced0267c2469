"""The case of elliptic functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks import Row, Run, absent, case
from benchmarks._bodies import Array
from benchmarks.cases.functions import FUNCTIONS, RELATIVE, argument_sets, elliptic_error
from benchmarks.rivals import _elliptic

PROGRAMS: dict[str, Callable[[], tuple[str, _elliptic.Functions]]] = {
    "polhode": _elliptic.ours,
    "scipy.special": _elliptic.scipy,
    "Boost in double": lambda: _elliptic.boost("double"),
    "Boost, its default": lambda: _elliptic.boost("plain"),
}


@case(
    "rivals-elliptic",
    "Elliptic functions: polhode, SciPy and Boost",
    time="ns per element",
    units={
        "error": RELATIVE + "; of sn, cn and dn over 1 + |u|",
        "over polhode": "median [quartiles] of the ratio of times in neighbouring windows, over "
        "that of polhode; the two errors, which differ, stand in the rows",
    },
)
def elliptic(run: Run) -> Iterator[Row]:
    """The functions of case `elliptic` in turn with SciPy's and Boost's, one thread.

    The sets of arguments are described there.  The error is the largest of 1000 elements against
    quadruple precision; Boost has no amplitude, which does not count here.  Boost takes the
    modulus, so that near 1 its error is mostly the rounding of the root of k2.
    """
    n, checked = (1000, 50) if run.quick else (100_000, 1000)
    sets = argument_sets(n, run.rng())
    programs: dict[str, tuple[str, _elliptic.Functions] | str] = {}
    for program, find in PROGRAMS.items():
        try:
            programs[program] = find()
        except _elliptic.MissingError as why:
            programs[program] = str(why)
    for name, family, inputs, outputs in FUNCTIONS:
        out = tuple(np.empty(n) for _ in range(outputs))
        for kind, every in sets[family].items():
            args = every[:inputs]
            some = [x[:checked] for x in args]
            works = {
                program: partial(found[1][name], *args, out=out)
                for program, found in programs.items()
                if not isinstance(found, str)
            }
            measured = run.timer.measure(works, n)
            for program, found in programs.items():
                labels: dict[str, str | int | float] = {
                    "function": name,
                    "set": kind,
                    "program": program,
                }
                if isinstance(found, str):
                    yield Row(labels, {"time": absent(found)})
                    continue
                version, functions = found
                ratios = {}
                if program != "polhode":
                    ratios["over polhode"] = measured.ratio(program, "polhode")
                yield Row(
                    labels,
                    {"time": measured.times[program]},
                    ratios,
                    {"error": error(name, functions[name], some), "version": version},
                )


def error(name: str, function: _elliptic.Function, args: list[Array]) -> float | None:
    """Largest error in eps, of jacobi that of sn, cn and dn; None without quadruple precision."""
    results = np.empty((4 if name == "jacobi" else 1, len(args[0])))
    function(*args, out=tuple(results))
    return elliptic_error(name, results[:3] if name == "jacobi" else results[0], args)

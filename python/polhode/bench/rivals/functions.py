"""The case of elliptic functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from polhode.bench import Row, Run, absent, case
from polhode.bench._timing import Clock
from polhode.bench.rivals import _elliptic
from polhode.bench.rivals._problem import Array

_CLOCK: Clock = "thread"
_EPS = 2.0**-52
PROGRAMS: dict[str, Callable[[], tuple[str, _elliptic.Functions]]] = {
    "polhode": _elliptic.ours,
    "scipy.special": _elliptic.scipy,
    "Boost in double": lambda: _elliptic.boost("double"),
    "Boost, its default": lambda: _elliptic.boost("plain"),
}


def arguments(n: int, rng: np.random.Generator) -> dict[str, dict[str, list[Array]]]:
    """Arguments of each function by the name of the set, n elements each."""
    k2, u = rng.uniform(0, 1, n), rng.uniform(-10, 10, n)
    near_1 = 1 - 10 ** rng.uniform(-14, -2, n)
    small, large = rng.uniform(0, 0.3, n) ** 2, rng.uniform(0.3, 1, n) ** 2
    kc2, characteristic = 10 ** rng.uniform(-10, 0, n), 10 ** rng.uniform(-2, 1, n)
    legendre = {
        "wide": [u, k2],
        "typical": [rng.uniform(0, 0.3, n), k2],
        "near 1": [u, near_1],
    }
    carlson = {
        "wide": list(10 ** rng.uniform(-6, 6, (4, n))),
        "typical": [1 - small, 1 - k2 * small, np.ones(n), 1 + characteristic * small],
        "large": [1 - large, 1 - large + kc2 * large, np.ones(n), 1 + characteristic * large],
    }
    return {
        name: {
            kind: values[:count]
            for kind, values in (legendre if name in ("jacobi", "ellip_f") else carlson).items()
        }
        for name, count in _elliptic.ARGUMENTS.items()
    }


def errors(name: str, function: _elliptic.Function, values: list[Array]) -> float:
    """Largest error in eps against `polhode.quad`: relative; of jacobi over 1 + |u|.

    Of jacobi sn, cn and dn count: Boost has no amplitude.
    """
    from polhode import quad

    results = tuple(np.empty(len(values[0])) for _ in range(_elliptic.RESULTS[name]))
    function(*values, out=results)
    exact = getattr(quad, name)(*values, digits=True)
    exact = exact[:3] if name == "jacobi" else [exact]
    worst = 0.0
    for got, want in zip(results, exact, strict=False):
        scale = 1 + np.abs(values[0]) if name == "jacobi" else np.abs(want.high)
        off = np.abs(want - got) / scale
        worst = max(worst, float(np.max(np.where(np.isnan(off), np.inf, off))))
    return worst / _EPS


@case(
    "rivals-elliptic",
    "Elliptic functions: polhode, SciPy and Boost",
    time="ns per element",
    units={
        "error": "the largest in eps = 2.2e-16 against 34 digits: relative, of sn, cn and dn over "
        "1 + |u|; inf where a result is not a number",
        "over polhode": "time over polhode's; the errors stand beside",
    },
)
def elliptic(run: Run) -> Iterator[Row]:
    """Jacobi's functions, Carlson's integrals and Legendre's F over arrays, one thread.

    wide: u in [-10, 10], k2 in [0, 1]; Carlson's arguments log-uniform in 1e-6 ... 1e6.
    typical: u in [0, 0.3], and the arguments (1 - s^2, 1 - k2 s^2, 1, 1 + n s^2), s in [0, 0.3].
    near 1: u in [-10, 10], 1 - k2 log-uniform in 1e-14 ... 1e-2.
    large: the same arguments for s in [0.3, 1], 1 - k2 log-uniform in 1e-10 ... 1.
    """
    n, checked = (1000, 100) if run.quick else (100_000, 1000)
    sets = arguments(n, run.rng())
    programs: dict[str, _elliptic.Functions | str] = {}
    for program, find in PROGRAMS.items():
        try:
            programs[program] = find()[1]
        except _elliptic.MissingError as why:
            programs[program] = str(why)
    for name, kinds in sets.items():
        for kind, values in kinds.items():
            out = tuple(np.empty(n) for _ in range(_elliptic.RESULTS[name]))
            works = {
                program: (lambda f=functions[name]: f(*values, out=out))  # noqa: B023
                for program, functions in programs.items()
                if not isinstance(functions, str)
            }
            measured = run.timer.measure(works, n, clock=_CLOCK)
            for program, functions in programs.items():
                labels: dict[str, str | int | float] = {
                    "function": name,
                    "arguments": kind,
                    "program": program,
                }
                if isinstance(functions, str):
                    yield Row(labels, {"time": absent(functions)})
                    continue
                yield Row(
                    labels,
                    {"time": measured.times[program]},
                    {"over polhode": measured.ratio(program, "polhode")}
                    if program != "polhode"
                    else {},
                    {"error": _error(name, functions[name], [x[:checked] for x in values])},
                )


def _error(name: str, function: _elliptic.Function, values: list[Array]) -> float | str:
    try:
        return errors(name, function, values)
    except ImportError as why:
        return str(why)

"""Elliptic functions compared with those of scipy.special.

Run: python benchmarks/bench_elliptic.py [--quick]      (needs scipy and mpmath)

Each line is the least time of one element over many runs of 1e5, one thread, ours and SciPy's in
turn, and the largest error of both against mpmath on some of the elements, in eps = 2.2e-16:
relative for the integrals, for sn, cn, dn and am over 1 + |u| (their condition). Sets:

    wide    u in [-10, 10], k2 in [0, 1]; Carlson's arguments log-uniform in 1e-6 ... 1e6
    typical u in [0, 0.3]; s in [0, 0.3], arguments (1 - s^2, 1 - k2 s^2, 1, 1 + n s^2)
    near 1  u in [-10, 10], 1 - k2 log-uniform in 1e-14 ... 1e-2
    large s s in [0.3, 1], kc2 log-uniform in 1e-10 ... 1

The aim: jacobi at most 25 ns, rj at most 40 ns, both at least five times as fast as SciPy's.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import scipy.special
from measuring import EPS, least_times, machine
from numpy.typing import NDArray

from polhode import elliptic

Array = NDArray[np.float64]
Function = Callable[..., Any]


def reference_tables() -> Any:
    """The module of the tests that computes references with mpmath."""
    path = Path(__file__).parent.parent / "tests/data/elliptic/make_tables.py"
    spec = importlib.util.spec_from_file_location("make_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = reference_tables()


def error(results: Sequence[Array], wanted: list[Any], condition: Array | None) -> float:
    """Largest error in eps of some elements."""
    worst = 0.0
    for i, values in enumerate(wanted):
        for got, want in zip(results, values, strict=True):
            x = float(got[i])
            if not np.isfinite(x):
                return float("inf")
            scale = abs(want) if condition is None else condition[i]
            worst = max(worst, float(abs(mp.mpf(x) - want) / scale) / EPS)
    return worst


def compare(
    name: str,
    ours: Function,
    rival: Function,
    args: list[Array],
    reference: Function,
    outputs: int,
    *,
    runs: int,
    checked: int,
) -> None:
    n = len(args[0])
    out = tuple(np.empty(n) for _ in range(outputs))
    t_ours, t_rival = least_times(runs, lambda: ours(*args, out=out), lambda: rival(*args, out=out))
    few = [x[:checked] for x in args]
    wanted = []
    for row in zip(*few, strict=True):
        values = reference(*(mp.mpf(float(x)) for x in row))
        wanted.append(values if isinstance(values, tuple) else (values,))
    condition = 1 + np.abs(few[0]) if outputs > 1 else None
    results = [f(*few) if outputs > 1 else (f(*few),) for f in (ours, rival)]
    e_ours, e_rival = (error(r, wanted, condition) for r in results)
    print(
        f"{name:18}{1e9 * t_ours / n:8.1f}{1e9 * t_rival / n:9.1f}{t_rival / t_ours:8.1f}"
        f"{e_ours:11.3g}{e_rival:11.3g}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="elliptic functions beside scipy.special")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    quick = parser.parse_args().quick
    n, runs, checked = (200, 2, 5) if quick else (100_000, 40, 200)
    rng = np.random.default_rng(1)
    mp.mp.dps = 40

    print(machine())
    k2 = rng.uniform(0, 1, n)
    u = rng.uniform(-10, 10, n)
    near_1 = 1 - 10 ** rng.uniform(-14, -2, n)
    small, large = rng.uniform(0, 0.3, n) ** 2, rng.uniform(0.3, 1, n) ** 2
    kc2 = 10 ** rng.uniform(-10, 0, n)
    characteristic = 10 ** rng.uniform(-2, 1, n)
    jacobi_sets = {
        "wide": [u, k2],
        "typical": [rng.uniform(0, 0.3, n), k2],
        "near 1": [u, near_1],
    }
    carlson_sets = {
        "wide": [10 ** rng.uniform(-6, 6, n) for _ in range(4)],
        "typical": [1 - small, 1 - k2 * small, np.ones(n), 1 + characteristic * small],
        "large s": [1 - large, 1 - large + kc2 * large, np.ones(n), 1 + characteristic * large],
    }
    special = scipy.special
    functions: list[tuple[str, Function, Function, dict[str, list[Array]], int, Function, int]] = [
        (
            "jacobi",
            elliptic.jacobi,
            special.ellipj,
            jacobi_sets,
            2,
            lambda x, m: REFERENCE.jacobi(x, 1 - m),
            4,
        ),
        ("rj", elliptic.rj, special.elliprj, carlson_sets, 4, REFERENCE.rj, 1),
        ("rf", elliptic.rf, special.elliprf, carlson_sets, 3, REFERENCE.rf, 1),
        ("rd", elliptic.rd, special.elliprd, carlson_sets, 3, REFERENCE.rd, 1),
        ("rc", elliptic.rc, special.elliprc, carlson_sets, 2, REFERENCE.rc, 1),
        ("ellip_f", elliptic.ellip_f, special.ellipkinc, jacobi_sets, 2, REFERENCE.ellip_f, 1),
    ]
    print(f"{'':18}{'ns':>8}{'SciPy':>9}{'ratio':>8}{'error':>11}{'SciPy':>11}")
    for name, ours, rival, sets, inputs, reference, outputs in functions:
        for kind, args in sets.items():
            compare(
                f"{name}, {kind}",
                ours,
                rival,
                args[:inputs],
                reference,
                outputs,
                runs=runs,
                checked=checked,
            )


if __name__ == "__main__":
    main()

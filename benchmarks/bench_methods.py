"""Every method: time per body per step vectorised and scalar, their ratio, error and operations.

Run: python benchmarks/bench_methods.py [--quick] [--json FILE] [--methods NAME ...] [--level v3]

hw = h |m| / I1, I1 the least moment. Inertia (1, 1.5, 2.2), unit momenta in all directions, bodies
in (N, 3) and (N, 4) arrays, results in preallocated arrays, one thread. Each time is the least of
many repetitions, all methods in turn. A level is chosen at import: the vectorised level (default:
the best of the processor) and the scalar level run in separate processes, in alternating rounds.
Scalar is the same kernels on one double at a time, compiled for x86-64-v3. A ratio below 3 is
marked: such a method does not count as vectorised. Multistep methods make several steps per call,
five times the length of their history; the time is divided by the number of steps, the error is
that of all steps. The error is the largest over 200 bodies of a component of m/|m| or q, compared
with quadruple precision (with "exact" if the compiler has no such type). Operations are those of
ph.flops.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from measuring import least_times, machine
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
STEPS = (0.2, 1.0)
ROUNDS = 3
#: Steps to a call: multistep methods make a few more than their history, one does for the others.
CALLS = {m.name: 5 * m.history or 1 for m in ph.methods()}


def bodies(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(20)
    m = rng.normal(size=(n, 3))
    q = rng.normal(size=(n, 4))
    return (
        m / np.linalg.norm(m, axis=1, keepdims=True),
        q / np.linalg.norm(q, axis=1, keepdims=True),
    )


def times(names: list[str], quick: bool) -> dict[str, list[float]]:
    """ns per body per step of each method at each length of step, at the level of this process."""
    n = 2000 if quick else 100_000
    m, q = bodies(n)
    out = (np.empty_like(m), np.empty_like(q))

    def step(name: str, h: float) -> None:
        ph.step(INERTIA, m, q, h, method=name, n_steps=CALLS[name], out=out)

    figures: dict[str, list[float]] = {name: [] for name in names}
    for h in STEPS:
        functions = [lambda name=name, h=h: step(name, h) for name in names]
        for name, least in zip(names, least_times(2 if quick else 8, *functions), strict=True):
            figures[name].append(least / (n * CALLS[name]) * 1e9)
    return figures


def errors(names: list[str], quick: bool) -> dict[str, list[float]]:
    """Largest error of each method at each length of step."""
    m, q = bodies(20 if quick else 200)
    figures: dict[str, list[float]] = {name: [] for name in names}
    for h in STEPS:
        exact: Any
        try:
            from polhode import quad

            exact = quad.step(INERTIA, m, q, h, digits=True)
        except ImportError:
            exact = ph.step(INERTIA, m, q, h)
        for name in names:
            # A multistep method in several steps that add up to the same time.
            parts = CALLS[name]
            got = ph.step(INERTIA, m, q, h / parts, method=name, n_steps=parts)
            figures[name].append(
                max(float(np.abs(b - a).max()) for a, b in zip(got, exact, strict=True))
            )
    return figures


def run_level(level: str, names: list[str], quick: bool) -> dict[str, list[float]]:
    command = [sys.executable, __file__, "--this-level", "--methods", *names]
    if quick:
        command.append("--quick")
    environment = {**os.environ, "POLHODE_ISA": level}
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    figures: dict[str, list[float]] = json.loads(done.stdout)
    return figures


def least(a: dict[str, list[float]], b: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [min(x, y) for x, y in zip(a[name], b[name], strict=True)] for name in a}


def measure(level: str, names: list[str], quick: bool) -> list[dict[str, Any]]:
    vectorised = scalar = None
    for _ in range(1 if quick else ROUNDS):
        fast, slow = (run_level(x, names, quick) for x in (level, "scalar"))
        vectorised = fast if vectorised is None else least(vectorised, fast)
        scalar = slow if scalar is None else least(scalar, slow)
    assert vectorised is not None
    assert scalar is not None
    off = errors(names, quick)
    return [
        {
            "method": name,
            "hw": h,
            "vectorised": vectorised[name][k],
            "scalar": scalar[name][k],
            "ratio": scalar[name][k] / vectorised[name][k],
            "error": off[name][k],
            "flops": ph.flops(name, hw=h),
        }
        for name in names
        for k, h in enumerate(STEPS)
    ]


def show(level: str, rows: list[dict[str, Any]]) -> None:
    print(f"{'':20}" + "".join(f"{f'hw = {h:g}':^49}" for h in STEPS))
    columns = f"{level:>8}{'scalar':>8}{'ratio':>7}{'error':>10}{'FLOPs':>8}{'trig':>6}  "
    print(f"{'method':20}" + columns * len(STEPS))
    for name in dict.fromkeys(row["method"] for row in rows):
        line = f"{name:20}"
        for row in (r for r in rows if r["method"] == name):
            mark = "*" if row["ratio"] < 3 else " "
            line += f"{row['vectorised']:8.2f}{row['scalar']:8.1f}{row['ratio']:6.1f}{mark}"
            line += f"{row['error']:10.1e}{row['flops']['total']:8}{row['flops']['trig']:6}  "
        print(line.rstrip())
    slow = sorted({row["method"] for row in rows if row["ratio"] < 3})
    print(f"below 3 times scalar (*): {', '.join(slow) if slow else 'none'}")


def main() -> None:
    best = next(x for x in str(ph._core.build["isa_supported"]).split() if x != "scalar")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a run of seconds, figures worth little"
    )
    parser.add_argument("--json", help="write all figures to a file")
    parser.add_argument("--methods", nargs="*", help="names, all by default")
    parser.add_argument("--level", default=best, help="the vectorised level, by default the best")
    parser.add_argument("--this-level", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.methods or [m.name for m in ph.methods()]
    if arguments.this_level:
        json.dump(times(names, arguments.quick), sys.stdout)
        return
    info = machine()
    print(f"{info['processor']}, {info['compiler']}, NumPy {info['numpy']}")
    print("ns per body per step, least of many windows, 1e5 bodies, one thread")
    rows = measure(arguments.level, names, arguments.quick)
    show(arguments.level, rows)
    if arguments.json:
        results = {"machine": info, "level": arguments.level, "rows": rows}
        Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

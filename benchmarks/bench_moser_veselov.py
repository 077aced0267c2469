"""Discrete Moser-Veselov and midpoint steps and "exact": time per body per step and error.

Run: python benchmarks/bench_moser_veselov.py [--quick] [--levels v4 v3 ...]

hw = h |m| / I1.  Inertia (1, 1.5, 2.2), unit momenta in all directions, (N, 3) and (N, 4) arrays,
one thread; the least time of many short windows, all methods in turn.  The error beside it is the
largest component of q against "exact" over all bodies.  A level is chosen at import, so each runs
in a separate process; the last table divides the times of level "scalar" by those of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
from measuring import least_times, machine

import polhode as ph

INERTIA = np.array([1.0, 1.5, 2.2])
STEPS = (0.05, 0.2, 0.5, 1.0)
KINDS = ("discrete Moser-Veselov", "implicit midpoint")


def measure(quick: bool) -> list[dict[str, Any]]:
    n = 2000 if quick else 100_000
    runs = 3 if quick else 30
    rng = np.random.default_rng(20)
    m = rng.normal(size=(n, 3))
    q = rng.normal(size=(n, 4))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    out = (np.empty_like(m), np.empty_like(q))
    names = ["exact", *(x.name for x in ph.methods() if x.kind in KINDS)]
    rows = []
    for h in STEPS:
        _, exact = ph.step(INERTIA, m, q, h)
        times = least_times(
            runs,
            *(lambda h=h, x=x: ph.step(INERTIA, m, q, h, method=x, out=out) for x in names),
        )
        for name, time in zip(names, times, strict=True):
            _, end = ph.step(INERTIA, m, q, h, method=name)
            error = float(np.abs(end - exact).max())
            rows.append({"method": name, "hw": h, "ns": time / n * 1e9, "error": error})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a run of seconds, figures worth little"
    )
    parser.add_argument("--levels", nargs="*", help="levels, all of the processor by default")
    parser.add_argument("--this-level", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.this_level:
        json.dump(measure(arguments.quick), sys.stdout)
        return
    info = machine()
    print(f"{info['processor']}, {info['compiler']}, NumPy {info['numpy']}")
    levels = arguments.levels or str(ph._core.build["isa_supported"]).split()
    times: dict[str, dict[tuple[str, float], float]] = {}
    for level in levels:
        command = [sys.executable, __file__, "--this-level"] + ["--quick"] * arguments.quick
        environment = {**os.environ, "POLHODE_ISA": level}
        text = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
        rows = json.loads(text)
        times[level] = {(r["method"], r["hw"]): r["ns"] for r in rows}
        print(f"\nlevel {level}: ns per body per step, and error of q")
        print(f"{'':10}" + "".join(f"{'hw = ' + format(h, 'g'):>20}" for h in STEPS))
        for name in dict.fromkeys(r["method"] for r in rows):
            cells = [f"{r['ns']:10.1f}{r['error']:10.1e}" for r in rows if r["method"] == name]
            print(f"{name:10}" + "".join(cells))
    if "scalar" in times:
        vector = [level for level in levels if level != "scalar"]
        print("\nscalar / vectorised at hw = 0.2 and 1")
        print(f"{'':10}" + "".join(f"{level:>14}" for level in vector))
        for name in dict.fromkeys(name for name, _ in times["scalar"]):
            ratios = [
                [times["scalar"][name, h] / times[level][name, h] for h in (0.2, 1.0)]
                for level in vector
            ]
            print(f"{name:10}" + "".join(f"{a:8.1f}{b:6.1f}" for a, b in ratios))


if __name__ == "__main__":
    main()

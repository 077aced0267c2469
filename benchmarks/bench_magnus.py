"""Magnus and factorization methods: time per body per step and error, with "exact".

Run: python benchmarks/bench_magnus.py [--quick] [--json FILE] [--levels v4 v3 ...]

hw = h |m| / I1 bounds the angle of a step.  Inertia (1, 1.5, 2.2), unit momenta in all directions,
one thread, bodies in (N, 3) and (N, 4) arrays, results in place of given arrays.  Every figure is
the least time of many short windows, all methods in turn; the error is the largest over the bodies
of a component of q against "exact".  The last column is the time at level "scalar", one body at a
time, over that of this level.  A level is chosen at import, so each runs in a separate process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import least_times, machine

import polhode as ph

INERTIA = np.array([1.0, 1.5, 2.2])
STEPS = (0.05, 0.2, 1.0, 5.0)
NAMES = ["exact"] + [f"{family}{n}" for family in ("magnus", "factorization") for n in (2, 4, 6, 8)]


def measure(quick: bool) -> dict[str, Any]:
    """All figures of the level this process runs at."""
    n = 2000 if quick else 100_000
    runs = 3 if quick else 40
    rng = np.random.default_rng(20)
    m, q = (rng.normal(size=(n, k)) for k in (3, 4))
    m, q = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (m, q))
    out = np.empty_like(m), np.empty_like(q)
    rows = []
    for h in STEPS:
        times = least_times(
            runs,
            *(
                lambda name=name, h=h: ph.step(INERTIA, m, q, h, method=name, out=out)
                for name in NAMES
            ),
        )
        exact = ph.step(INERTIA, m, q, h)[1]
        for name, t in zip(NAMES, times, strict=True):
            end = ph.step(INERTIA, m, q, h, method=name)[1]
            error = float(np.abs(end - exact).max())
            rows.append(
                {"method": name, "hw": h, "ns": t / n * 1e9, "ratio": t / times[0], "error": error}
            )
    # A rate that is given: 1e5 bodies, one step from samples.
    rates = []
    for order in (2, 4, 6, 8):
        omega = rng.normal(size=(1, order // 2, n, 3))
        step = partial(ph.attitude_from_rate, omega, q, 0.2, order=order)
        (t,) = least_times(max(3, runs // 4), step)
        rates.append({"order": order, "ns": t / n * 1e9})
    return {"machine": machine(), "bodies": n, "rows": rows, "attitude_from_rate": rates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a run of seconds, figures worth little"
    )
    parser.add_argument("--json", help="write all figures to a file")
    parser.add_argument("--levels", nargs="*", help="levels, all of the processor by default")
    parser.add_argument("--this-level", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.this_level:
        json.dump(measure(arguments.quick), sys.stdout)
        return
    info = machine()
    print(f"{info['processor']}, {info['compiler']}, NumPy {info['numpy']}")
    levels = arguments.levels or str(ph._core.build["isa_supported"]).split()
    results = {}
    for level in sorted(levels, key=lambda name: name != "scalar"):  # scalar first
        command = [sys.executable, __file__, "--this-level"]
        if arguments.quick:
            command.append("--quick")
        text = subprocess.run(
            command, env={**os.environ, "POLHODE_ISA": level}, check=True, capture_output=True
        ).stdout
        results[level] = json.loads(text)
        show(level, results)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


def show(level: str, results: dict[str, Any]) -> None:
    figures = results[level]
    scalar = results.get("scalar", {"rows": figures["rows"]})["rows"]
    print(f"\nlevel {level}: ns per body per step of {figures['bodies']} bodies")
    print(f"{'method':16}{'hw':>6}{'ns':>8}{'/ exact':>9}{'error of q':>12}{'scalar /':>10}")
    for row, slow in zip(figures["rows"], scalar, strict=True):
        print(
            f"{row['method']:16}{row['hw']:6g}{row['ns']:8.2f}{row['ratio']:9.2f}"
            f"{row['error']:12.1e}{slow['ns'] / row['ns']:10.1f}"
        )
    for row in figures["attitude_from_rate"]:
        print(
            f"attitude_from_rate, order {row['order']}, samples: "
            f"{row['ns']:.1f} ns per body per step"
        )


if __name__ == "__main__":
    main()

"""Free steps: time per body per step and error, at every instruction-set level of this processor.

Run: python benchmarks/bench_torque_free.py [--quick] [--json FILE] [--levels v4 v3 ...]

hw = h |m| / I1 bounds the angle of a step.  Inertia (1, 1.5, 2.2), unit momenta in all directions.
Every time is the least of many short repetitions, all columns in turn, with one thread unless the
column says otherwise; bodies in (N, 3) and (N, 4) arrays.  The error is the largest over 200 bodies
of m/|m| and q, compared with quadruple precision, in units of eps (1 + angle).
A level is chosen at import, so each runs in a separate process.
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
from measuring import EPS, least_times, machine
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
STEPS = (0.05, 0.2, 1.0, 5.0, 30.0)


def bodies(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(20)
    m = rng.normal(size=(n, 3))
    q = rng.normal(size=(n, 4))
    return (
        m / np.linalg.norm(m, axis=1, keepdims=True),
        q / np.linalg.norm(q, axis=1, keepdims=True),
    )


def error(method: str, h: float, sample: int) -> float | None:
    """Largest error of a step in eps (1 + angle); None where there is no 34-digit type."""
    try:
        from polhode import quad
    except ImportError:
        return None
    m, q = bodies(sample)
    got = ph.step(INERTIA, m, q, h, method=method)
    exact = quad.step(INERTIA, m, q, h, digits=True)
    off = np.hstack([np.abs(a - b) for a, b in zip(exact, got, strict=True)]).max(axis=1)
    angle = abs(h) * np.linalg.norm(m / INERTIA, axis=1)
    return float(np.max(off / (EPS * (1 + angle))))


def long_run(steps: int) -> tuple[float, float]:
    """Rms energy error and largest error of the spatial momentum of 64 bodies, steps of hw = 0.01.

    Both are evaluated in long double, so that their rounding errors are negligible.
    """
    rng = np.random.default_rng(1)
    inertia = np.sort(rng.uniform(1.0, 3.0, (64, 3)), axis=1)
    m0, q0 = bodies(64)
    m, q = ph.step(inertia, m0, q0, 0.01 * inertia[:, 0], n_steps=steps)

    def energy(m: Array) -> Any:
        return np.sum(m.astype(np.longdouble) ** 2 / inertia.astype(np.longdouble), -1) / 2

    def spatial(m: Array, q: Array) -> Any:
        p = q.astype(np.longdouble)
        p /= np.sqrt(np.sum(p**2, -1))[:, None]
        v = m.astype(np.longdouble)
        t = 2 * np.cross(p[:, 1:], v)
        return v + p[:, :1] * t + np.cross(p[:, 1:], t)

    change = energy(m) / energy(m0) - 1
    drift = np.abs(spatial(m, q) - spatial(m0, q0)).max()
    return float(np.sqrt(np.mean(change**2))), float(drift)


def measure(quick: bool) -> dict[str, Any]:
    """All figures of the level this process runs at, in ns per body per step."""
    n = 2000 if quick else 100_000
    runs = 3 if quick else 60
    sample = 20 if quick else 200
    m, q = bodies(n)
    m_out, q_out = np.empty_like(m), np.empty_like(q)
    m_place, q_place = m.copy(), q.copy()
    matrix = ph.so3.to_matrix(q)
    matrix_out = np.empty_like(matrix)
    each = np.ascontiguousarray(np.broadcast_to(INERTIA, (n, 3)))
    few = n // 10
    rows = []
    for h in STEPS:
        each_h = np.full(n, h)
        columns = {
            "out": lambda h=h: ph.step(INERTIA, m, q, h, out=(m_out, q_out)),
            "in place": lambda h=h: ph.step(INERTIA, m_place, q_place, h, out=(m_place, q_place)),
            "new arrays": lambda h=h: ph.step(INERTIA, m, q, h),
            "own I, h": lambda each_h=each_h: ph.step(each, m, q, each_h, out=(m_out, q_out)),
            "matrices": lambda h=h: ph.step(INERTIA, m, matrix, h, out=(m_out, matrix_out)),
            "2 threads": lambda h=h: ph.step(INERTIA, m, q, h, out=(m_out, q_out), threads=2),
        }
        times = least_times(runs, *columns.values())
        row: dict[str, Any] = {"method": "exact", "hw": h}
        row |= {name: t / n * 1e9 for name, t in zip(columns, times, strict=True)}
        row["10 steps"] = (
            least_times(
                max(3, runs // 2),
                lambda h=h: ph.step(INERTIA, m[:few], q[:few], h, n_steps=10),
            )[0]
            / few
            * 1e8
        )
        row["error"] = error("exact", h, sample)
        rows.append(row)
    for name in [x.name for x in ph.methods() if x.name in ("frb", "gauss4", "gauss8")]:
        for h in (0.2, 1.0):
            ours, other = least_times(
                max(3, runs // 4),
                lambda h=h: ph.step(INERTIA, m[:few], q[:few], h),
                lambda h=h, name=name: ph.step(INERTIA, m[:few], q[:few], h, method=name),
            )
            rows.append(
                {
                    "method": name,
                    "hw": h,
                    "new arrays": other / few * 1e9,
                    "times exact": other / ours,
                    "error": error(name, h, sample),
                }
            )
    calls = 200 if quick else 5000
    one = [INERTIA, m[0].copy(), q[0].copy()]

    def call() -> None:
        for _ in range(calls):
            ph.step(*one, 0.2)

    single = least_times(3 if quick else 20, call)[0] / calls * 1e6
    steps = 10_000 if quick else 1_000_000
    return {
        "machine": machine(),
        "rows": rows,
        "long run": (steps, *long_run(steps)),
        "one body, us a call": single,
        "bodies": n,
    }


def show(level: str, figures: dict[str, Any]) -> None:
    columns = ["out", "in place", "new arrays", "own I, h", "matrices", "2 threads", "10 steps"]
    print(f"\nlevel {level}: ns per body per step of {figures['bodies']} bodies")
    print(f"{'method':8}{'hw':>6}" + "".join(f"{c:>11}" for c in columns) + f"{'error':>8}")
    for row in figures["rows"]:
        cells = "".join(f"{row[c]:11.2f}" if c in row else " " * 11 for c in columns)
        off = "" if row["error"] is None else f"{row['error']:8.2f}"
        ratio = f"   {row['times exact']:.1f} times exact" if "times exact" in row else ""
        print(f"{row['method']:8}{row['hw']:6g}{cells}{off}{ratio}")
    steps, energy, momentum = figures["long run"]
    print(
        f"64 bodies, {steps} steps of hw = 0.01: rms energy error {energy:.1e}, "
        f"spatial momentum {momentum:.1e}"
    )
    print(f"one body from Python: {figures['one body, us a call']:.2f} us a call")


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
    for level in levels:
        command = [sys.executable, __file__, "--this-level"]
        if arguments.quick:
            command.append("--quick")
        text = subprocess.run(
            command, env={**os.environ, "POLHODE_ISA": level}, check=True, capture_output=True
        ).stdout
        results[level] = json.loads(text)
        show(level, results[level])
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

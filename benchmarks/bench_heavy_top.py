"""Heavy tops: cost of a splitting step, drift of the energy and error of the report's top.

    python benchmarks/bench_heavy_top.py [--quick]

The top of [CZ08] Sec. 4.3 (driver_example1).  Times are in nanoseconds
per body per step, the shortest of many repetitions, with the drift of T + u3 during the run; other
implementations run in turn.  The time of the free flows (`step`, same h, same number of flows) is a
lower limit of the time of a splitting step.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import least_times
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
TOP = json.loads((Path(__file__).parents[1] / "tests" / "data" / "heavy_top.json").read_text())
INERTIA, M0, Q0, U0 = (np.array(TOP[k], float) for k in ("I", "m0", "q0", "u0"))
TORQUE = ph.torques.HeavyTop(U0)
H = 0.1


def shortest(works: dict[str, Callable[[], object]], windows: int) -> dict[str, float]:
    """Least time of each in seconds, taken in turn."""
    return dict(zip(works, least_times(windows, *works.values()), strict=True))


def tops(n: int) -> tuple[Array, Array]:
    """n tops with different momenta."""
    return M0 * np.linspace(0.9, 1.1, n)[:, None], np.tile(Q0, (n, 1))


def drift(trajectory: ph.Trajectory) -> float:
    energy = trajectory.energy()
    return float(np.max(np.abs(energy - energy[0])))


def long_run(n_steps: int) -> None:
    """The report's top at h = 0.5 over a long time, and 63 more that are turned about the vertical.

    They move alike but for rounding, which tells luck from accuracy.
    """
    every = max(1, n_steps // 1000)
    half = np.random.default_rng(1).uniform(0, np.pi, 64)
    half[0] = 0
    q0 = np.c_[np.cos(half), np.sin(half)[:, None] * U0 / np.linalg.norm(U0)]
    print(f"\nThe report's top, rkn6_14, h = 0.5, {n_steps} steps: |d(T + u3)|    (3e-14 wanted)")
    # 2.4e-14 is the error of the scheme in 34 digits.  Rounding adds a random walk, mostly that of
    # m in the flows.
    for compensated in (False, True):
        begun = time.perf_counter()
        traj = ph.integrate(
            INERTIA,
            M0,
            q0,
            0.5,
            n_steps,
            torque=TORQUE,
            splitting="rkn6_14",
            save_every=every,
            compensated=compensated,
        )
        seconds = time.perf_counter() - begun
        energy = traj.energy()
        change = np.abs(energy - energy[0])
        few = change[:: max(1, (len(change) - 1) // 10), 0].max()
        most = change.max(axis=0)
        print(
            f"  {'compensated' if compensated else 'plain':11} at 10 times {few:.1e}, at "
            f"{len(traj) - 1} times {most[0]:.1e}; of 64 tops median {np.median(most):.1e}, "
            f"worst {most.max():.1e}; {1e9 * seconds / 64 / n_steps:.0f} ns per body per step"
        )
        for point in TOP["points"]:
            at = np.flatnonzero(traj.t == point["t"])
            if not at.size:
                continue
            m = np.abs(traj.m[at[0]] - np.array(point["m"], float)).max(axis=-1)
            q = np.abs(traj.q[at[0], 0] - np.array(point["q"], float)).max()
            print(
                f"    t = {point['t']:<6g} error of m {m[0]:.1e} (median {np.median(m):.1e}, worst "
                f"{m.max():.1e}), of q {q:.1e}"
            )


def batch(n: int, splitting: str, count: int, windows: int) -> None:
    """Many tops, one thread."""
    m, q = tops(n)
    (flows,) = (len(s.a) for s in ph.splittings() if s.name == splitting)
    own = np.tile(INERTIA, (n, 1))
    out = (np.empty_like(m), np.empty_like(q))

    def run(
        inertia: Array = INERTIA,
        torque: Any = TORQUE,
        threads: int = 1,
        compensated: bool = False,
    ) -> ph.Trajectory:
        return ph.integrate(
            inertia,
            m,
            q,
            H,
            count,
            torque=torque,
            splitting=splitting,
            save_every=count,
            threads=threads,
            compensated=compensated,
        )

    seconds = shortest(
        {
            "one inertia": run,
            "compensated": lambda: run(compensated=True),
            "an inertia each": lambda: run(own),
            "two threads": lambda: run(threads=2),
            "no torque": lambda: run(torque=None),
            "free steps": lambda: ph.step(INERTIA, m, q, H / flows, n_steps=flows * count, out=out),
        },
        windows,
    )
    row = ", ".join(f"{k} {1e9 * v / n / count:.1f}" for k, v in seconds.items())
    print(f"  {splitting:8} {row}; drift {drift(run()):.1e}")


def single(splitting: str, count: int, windows: int) -> None:
    """One top, the loop over the steps in the core."""

    def run() -> ph.Trajectory:
        return ph.integrate(
            INERTIA, M0, Q0, H, count, torque=TORQUE, splitting=splitting, save_every=count
        )

    seconds = shortest({"model": run}, windows)["model"]
    print(f"  {splitting:8} {1e9 * seconds / count:.0f}; drift {drift(run()):.1e}")


def python_torque(n: int, steps: int, windows: int) -> None:
    """A torque in Python over a large batch, against the function alone."""
    m, q = tops(n)

    def torque(t: float, m: Array, q: Array) -> Array:
        v = 2 * np.cross(U0, q[:, 1:])
        u = U0 + q[:, :1] * v + np.cross(v, q[:, 1:])
        return np.stack([u[:, 1], -u[:, 0], np.zeros(len(u))], axis=-1)

    seconds = shortest(
        {
            "integrate": lambda: ph.integrate(
                INERTIA, m, q, H, steps, torque=torque, save_every=steps
            ),
            "function": lambda: [torque(0.0, m, q) for _ in range(steps + 1)],
        },
        windows,
    )
    ratio = seconds["integrate"] / seconds["function"]
    print(
        f"\n{n} tops, a torque in Python, Strang: "
        f"{1e9 * seconds['integrate'] / n / steps:.0f} ns per body per step, "
        f"{ratio:.2f} times the function alone    (2 wanted)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    info = ph.build_info()
    print(f"python {' '.join(sys.argv)}")
    print(f"polhode {ph.__version__}, level {info['isa']}, {info['compiler']}")
    # Long enough for the checks and copies at the start of a call (120 ns per body) not to count.
    n, windows, scale = (100, 2, 1) if quick else (10_000, 8, 100)
    print(f"\n{n} tops, h = {H}, ns per body per step    (AVX-512: Strang 11, rkn6_14 150 wanted)")
    batch(n, "strang", 10 * scale, windows)
    batch(n, "rkn6_14", scale, windows)
    print(f"\n1 top, h = {H}, ns a step    (Strang 1000 wanted)")
    single("strang", 100 * scale, windows)
    single("rkn6_14", 10 * scale, windows)
    python_torque(100 if quick else 100_000, 4, 2 if quick else 5)
    long_run(1000 if quick else 100_000)


if __name__ == "__main__":
    main()

"""Splitting schemes at equal time: error of a heavy top against what the run costs.

    python benchmarks/bench_splitting.py [--quick]

The heavy top of [Vil13] (I = 0.376, 0.627, 1; potential Q33) and the same with a torque a thousand
times weaker and twice the momentum, to t = 1 with the exact free flow. A step of each scheme is
timed over a batch of bodies, the least of many windows; then each scheme takes as many steps as a
budget of time per body pays for, and the largest error of m and q at the end is printed. Rounding
ends every column near 1e-15.
"""

from __future__ import annotations

import argparse

import numpy as np
from measuring import least_times, machine
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([0.376, 0.627, 1.0])
M0 = np.array([0.5, 0.7, -0.4])
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
#: Size of the torque and of the momentum.
TOPS = {"heavy top": (1.0, 1.0), "fast top": (1e-3, 2.0)}
BUDGETS = (1.0, 4.0, 16.0)  # us a body for the whole run


def end(scheme: ph.Splitting, n: int, weight: float, speed: float) -> Array:
    trajectory = ph.integrate(
        INERTIA, speed * M0, Q0, 1.0 / n, n,
        torque=ph.torques.HeavyTop([0.0, 0.0, weight]), splitting=scheme, save_every=n,
    )  # fmt: skip
    return np.concatenate([trajectory.m[-1] / speed, trajectory.q[-1]])


def cost(schemes: list[ph.Splitting], bodies: int, steps: int, windows: int) -> list[float]:
    """ns a body-step of each."""
    m = M0 * np.linspace(0.9, 1.1, bodies)[:, None]
    q = np.tile(Q0, (bodies, 1))
    top = ph.torques.HeavyTop([0.0, 0.0, 1.0])

    def work(scheme: ph.Splitting, n: int) -> None:
        ph.integrate(INERTIA, m, q, 1e-2, n, torque=top, splitting=scheme, save_every=n)

    # Two lengths, so that the checks and copies of a call drop out.
    jobs = [
        (lambda s=scheme, k=k: work(s, k * steps))  # type: ignore[misc]
        for scheme in schemes
        for k in (1, 3)
    ]
    seconds = least_times(windows, *jobs)
    return [
        1e9 * (long - short) / (2 * steps * bodies)
        for short, long in zip(seconds[::2], seconds[1::2], strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    print("python benchmarks/bench_splitting.py")
    print(machine())
    schemes = ph.splittings()
    times = cost(schemes, *((200, 2, 2) if quick else (10_000, 5, 12)))
    (best,) = (s for s in schemes if s.name == "sofroniou10_35")
    references = {name: end(best, 60, *size) for name, size in TOPS.items()}
    heads = [f"{b:g} us" for b in BUDGETS]
    print("\nerror at t = 1 for a budget of time a body")
    print(" " * 40 + "".join(f"{name:<30}" for name in TOPS))
    print(
        f"{'scheme':16}{'order':>6}{'flows':>6}{'ns a step':>11} "
        + "".join(f"{head:>9}" + " " * 1 for head in heads * len(TOPS))
    )
    for scheme, ns in zip(schemes, times, strict=True):
        row = f"{scheme.name:16}{scheme.order:6}{len(scheme.a):6}{ns:11.1f} "
        for name, size in TOPS.items():
            for budget in BUDGETS:
                n = int(1000 * budget / max(ns, 1e-3))
                if n < 1:
                    row += f"{'-':>10}"
                    continue
                error = np.abs(end(scheme, n, *size) - references[name]).max()
                row += f"{error:10.1e}"
        print(row)


if __name__ == "__main__":
    main()

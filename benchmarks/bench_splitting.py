"""Splitting schemes at equal time: error of a heavy top against the time of the run.

    python benchmarks/bench_splitting.py [--quick]

The heavy top of [Vil13] (I = 0.376, 0.627, 1; potential Q33) and the same with a torque a thousand
times weaker and twice the momentum, to t = 1 with the exact free flow. The time of a step of each
scheme is the least of many repetitions over a batch of bodies; it includes a share of the start of
the call. Then each scheme takes as many steps as are possible with 240 free flows, and with a given
time per body. Printed is the largest error of m and q at the end. Rounding limits the errors to
about 1e-15. The last tables show the best schemes of each order for each time, those with a
modified potential separately.
"""

from __future__ import annotations

import argparse
import sys

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
BUDGETS = (1.0, 2.0, 4.0)  # us a body for the whole run
FLOWS = 240


def end(scheme: ph.Splitting, n: int, weight: float, speed: float) -> Array:
    trajectory = ph.integrate(
        INERTIA, speed * M0, Q0, 1.0 / n, n,
        torque=ph.torques.HeavyTop([0.0, 0.0, weight]), splitting=scheme, save_every=n,
    )  # fmt: skip
    return np.concatenate([trajectory.m[-1] / speed, trajectory.q[-1]])


def flows(scheme: ph.Splitting) -> int:
    """Free flows of a step; the last of a step and the first of the next are one."""
    return len(scheme.a) - (scheme.stages[0][0] == scheme.stages[-1][0] == "flow")


def cost(schemes: list[ph.Splitting], bodies: int, steps: int, windows: int) -> list[float]:
    """ns per body per step of each."""
    m = M0 * np.linspace(0.9, 1.1, bodies)[:, None]
    q = np.tile(Q0, (bodies, 1))
    top = ph.torques.HeavyTop([0.0, 0.0, 1.0])

    def work(scheme: ph.Splitting) -> None:
        ph.integrate(INERTIA, m, q, 1e-2, steps, torque=top, splitting=scheme, save_every=steps)

    # One length: the difference of two noisy times may be anything, also negative.
    seconds = least_times(windows, *(lambda s=scheme: work(s) for scheme in schemes))  # type: ignore[misc]
    return [1e9 * least / (steps * bodies) for least in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    print(f"python {' '.join(sys.argv)}")
    print(machine())
    schemes = ph.splittings()
    times = cost(schemes, *((200, 6, 2) if quick else (10_000, 30, 12)))
    (best,) = (s for s in schemes if s.name == "sofroniou10_35")
    references = {name: end(best, 60, *size) for name, size in TOPS.items()}
    print(f"\nerror at t = 1 after {FLOWS} free flows, and for a budget of time a body")
    heads = [f"{FLOWS} flows", *(f"{b:g} us" for b in BUDGETS)]
    print(" " * 35 + "".join(f"{name:<{10 * len(heads)}}" for name in TOPS))
    print(f"{'scheme':16}{'order':>6}{'ns a step':>11} " + "".join(f"{h:>10}" for h in 2 * heads))
    errors: dict[str, list[float]] = {}
    for scheme, ns in zip(schemes, times, strict=True):
        counts = [FLOWS // flows(scheme), *(int(1000 * b / ns) for b in BUDGETS)]
        errors[scheme.name] = [
            float(np.abs(end(scheme, n, *size) - references[name]).max()) if n > 0 else np.inf
            for name, size in TOPS.items()
            for n in counts
        ]
        row = "".join(f"{error:10.1e}" for error in errors[scheme.name])
        print(f"{scheme.name:16}{scheme.order:6}{ns:11.1f} {row}")
    print("\nbest of each order")
    for order in sorted({s.effective_order for s in schemes if s.effective_order is not None}):
        for modified in (False, True):
            some = [s for s in schemes if s.effective_order == order and s.modified is modified]
            if not some:
                continue
            row = ""
            for column in range(2 * len(heads)):
                name = min((s.name for s in some), key=lambda name: errors[name][column])
                row += f"  {name} {errors[name][column]:.1e}"
            print(f"{order:3} {'modified' if modified else 'plain':9}{row}")


if __name__ == "__main__":
    main()

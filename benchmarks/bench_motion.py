"""Free motion at arrays of times: cost per time and error, against a step and an ODE solver.

    python benchmarks/bench_motion.py [--quick]

Each figure is the shortest of many windows.  Errors are the largest component of q against the
Taylor series of tests/reference.py, in units of eps (1 + angle), at a few of the times timed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measuring import EPS, least_times
from numpy.typing import NDArray

import polhode as ph

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import reference
from long_motion import long_motion

Array = NDArray[np.float64]

INERTIA = (1.0, 1.5, 2.2)
M0 = (0.3, 0.5, 0.8)
Q0 = (0.6, -0.48, 0.0, 0.64)


def shortest(work: Callable[[], object], windows: int) -> float:
    """Least time in seconds."""
    return least_times(windows, work)[0]


def error(times: Array, q: Array, count: int) -> float:
    """Largest error of q in eps (1 + angle) over `count` of the times."""
    worst = 0.0
    for i in np.linspace(0, len(times) - 1, count).astype(int):
        exact = long_motion(INERTIA, M0, Q0, float(times[i]), with_sensitivity=False)
        angle = float(reference.angle(INERTIA, M0, times[i]))
        worst = max(worst, exact.error_q(q[i]) / (EPS * (1 + angle)))
    return worst


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    n = 1000 if quick else 100_000
    windows = 3 if quick else 60
    checked = 2 if quick else 6
    print("python benchmarks/bench_motion.py" + (" --quick" if quick else ""))
    print(ph.build_info())

    rng = np.random.default_rng(1)
    motion = ph.TorqueFreeMotion(INERTIA, M0, Q0)
    rate = float(reference.angle(INERTIA, M0, 1.0))
    print(f"\none body, {n} times within an angle, in order, into arrays given; ns a time")
    print(f"{'angle/rad':>10} {'motion':>8} {'error':>6} {'step(h=t)':>10} {'error':>6}")
    out = np.empty((n, 3)), np.empty((n, 4))
    inertia, m0, q0 = (np.array(x) for x in (INERTIA, M0, Q0))
    for angle in (0.1, 1.0, 30.0, 3e3, 1e5, float(motion.period) * 1e6 * rate):
        t = np.sort(rng.uniform(size=n)) * angle / rate
        ours = shortest(lambda t=t: motion(t, out=out), windows) / n
        ours_error = error(t, out[1], checked)
        step = shortest(lambda t=t: ph.step(inertia, m0, q0, t, out=out), windows) / n
        step_error = error(t, out[1], checked)
        print(
            f"{angle:10.3g} {ours * 1e9:8.2f} {ours_error:6.2f} {step * 1e9:10.2f} "
            f"{step_error:6.2f}"
        )

    bodies = rng.uniform(1, 2, (n, 3)), rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    many = ph.TorqueFreeMotion(*bodies)
    print(f"\n{n} bodies, each its own inertia, momentum and attitude; ns per body")
    setup = shortest(lambda: ph.TorqueFreeMotion(*bodies), max(3, windows // 10)) / n
    print(f"setting up {setup * 1e9:.1f}")
    for angle in (1.0, 3e3):
        t = angle * rng.uniform(size=n)
        cost = shortest(lambda t=t: many(t, out=out), windows) / n
        print(f"one time a body within {angle:g}: {cost * 1e9:.2f}")
    print(f"one body, one time, from Python: {shortest(lambda: motion(1.0), 200) * 1e6:.2f} us")

    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        return
    angle = 30.0
    few = 200
    t = (np.arange(few) + 0.5) / few * angle / rate

    def derivative(_: float, y: Array) -> Array:
        w = y[:3] / inertia
        a, b, c, d = y[3:]
        return np.array(
            [
                y[1] * w[2] - y[2] * w[1],
                y[2] * w[0] - y[0] * w[2],
                y[0] * w[1] - y[1] * w[0],
                -0.5 * (b * w[0] + c * w[1] + d * w[2]),
                0.5 * (a * w[0] + c * w[2] - d * w[1]),
                0.5 * (a * w[1] + d * w[0] - b * w[2]),
                0.5 * (a * w[2] + b * w[1] - c * w[0]),
            ]
        )

    def solve() -> Array:
        return (
            solve_ivp(
                derivative,
                (0, t[-1]),
                np.concatenate([m0, q0]),
                method="DOP853",
                t_eval=t,
                rtol=1e-13,
                atol=1e-13,
            )
            .y[3:]
            .T
        )

    rival = shortest(solve, 1 if quick else 5)
    ours = shortest(lambda: motion(t), windows)
    print(f"\n{few} times within {angle:g} rad, us a call, error of q in eps (1 + angle)")
    print(f"motion {ours * 1e6:.1f}, error {error(t, motion(t)[1], checked):.2f}")
    print(f"SciPy solve_ivp DOP853 {rival * 1e6:.0f}, error {error(t, solve(), checked):.2g}")


if __name__ == "__main__":
    main()

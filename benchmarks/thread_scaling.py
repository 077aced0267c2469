"""Wall time of `ph.step` with several threads, as a ratio to one thread.

`python benchmarks/thread_scaling.py [--threads 2] [--bodies N ...]` alternates windows of one call
(or of several, if it is short) with one thread and with several.  Prints, per number of bodies:
microseconds per call (minimum of the windows), how many times faster several threads are by the
minima and by the medians, the quartiles of the ratio of neighbouring windows, and the median of the
windows with several threads as a ratio to their minimum.  The figures are those of a quiet machine
only if the load, which is printed too, stays below one.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from compare_commits import INERTIA, processor, states

import polhode as ph


def windows(bodies, threads, count, method, matrix):
    """Seconds per call of alternating windows: one row each for one thread and for several."""
    m, q = states(bodies)
    if matrix:
        q = ph.so3.to_matrix(q)
    out = np.empty_like(m), np.empty_like(q)
    repeat = 1 + 20_000 // bodies
    times = np.empty((2, count))
    for k in range(-1, count):  # the first window warms up
        for i, n in enumerate((1, threads)):
            begun = time.perf_counter()
            for _ in range(repeat):
                ph.step(INERTIA, m, q, 0.2, method=method, out=out, threads=n)
            times[i, k] = (time.perf_counter() - begun) / repeat
    return times


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--windows", type=int, default=60)
    parser.add_argument("--method", default="exact")
    parser.add_argument("--matrix", action="store_true")
    sizes = [100, 1000, 5000, 10_000, 20_000, 40_000, 100_000, 1_000_000]
    parser.add_argument("--bodies", type=int, nargs="+", default=sizes)
    options = parser.parse_args()
    isa = ph.build_info()["isa"]
    print(f"{processor()}, {isa}, {options.method}, {options.threads} threads", end="; ")
    print(f"load before: {os.getloadavg()[0]:.1f}")
    print("   bodies  one, us  several  faster: min  median   quartiles  median/min")
    for bodies in options.bodies:
        count = options.windows if bodies < 1_000_000 else options.windows // 4
        one, several = windows(bodies, options.threads, count, options.method, options.matrix)
        low, high = np.quantile(one / several, [0.25, 0.75])
        print(
            f"{bodies:9d}{1e6 * one.min():9.1f}{1e6 * several.min():9.1f}"
            f"{one.min() / several.min():13.2f}{np.median(one) / np.median(several):8.2f}"
            f"  {low:.2f} {high:.2f}{np.median(several) / several.min():12.2f}",
            flush=True,
        )
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

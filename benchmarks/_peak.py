"""Peak rates of the processor: NumPy's matrix product and its sum of long vectors.

Run as a program it prints the figures in JSON; `peaks` runs it with one thread for NumPy's library.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

import numpy as np

SIZE = 384
LENGTH = 8_000_000


def measure() -> dict[str, float]:
    """GFLOP/s of the product of two matrices and GB/s of the sum of two long vectors."""
    from benchmarks._timing import Timer

    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, SIZE, SIZE))
    x, y = np.ones(LENGTH), np.ones(LENGTH)
    product, total = np.empty_like(a), np.empty_like(x)
    found = {}
    timer = Timer(seconds=0.3)
    works = {
        "GFLOP/s": (lambda: np.matmul(a, b, out=product), 2 * SIZE**3),
        "GB/s": (lambda: np.add(x, y, out=total), 3 * 8 * LENGTH),
    }
    for name, (work, amount) in works.items():
        least = timer.measure({name: work}).least(name)
        found[name] = amount / least
    return found


@functools.cache
def peaks() -> dict[str, float]:
    """GFLOP/s and GB/s of one thread, measured once in a process of its own."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._peak"],
        env={**os.environ, **one},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(measure()))

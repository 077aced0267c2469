"""Number of bodies for which a step by an implicit method on the rotation group finds no solution.

    python benchmarks/implicit_roots.py [--quick]

Free bodies with random moments and momenta, for several lengths of step h |m| / I1. The script
prints the number of bodies whose result is NaN.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from measuring import machine

import polhode as ph

LENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
METHODS = [m.name for m in ph.methods() if m.kind in ("implicit Lie", "Munthe-Kaas Runge-Kutta")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    bodies = 3000 if parser.parse_args().quick else 300_000
    warnings.simplefilter("ignore", RuntimeWarning)
    print("python benchmarks/implicit_roots.py")
    print(machine())
    rng = np.random.default_rng(1)
    inertia = rng.uniform(0.2, 2.0, (bodies, 3))
    m = rng.standard_normal((bodies, 3))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    q = np.tile([1.0, 0.0, 0.0, 0.0], (bodies, 1))
    print(f"\nof {bodies} bodies NaN, by h |m| / I1")
    print(f"{'method':16}" + "".join(f"{hw:>9g}" for hw in LENGTHS))
    for name in METHODS:
        lost = [
            np.isnan(ph.step(inertia, m, q, hw * inertia.min(axis=1), method=name)[0][:, 0]).sum()
            for hw in LENGTHS
        ]
        print(f"{name:16}" + "".join(f"{n:9d}" for n in lost))


if __name__ == "__main__":
    main()

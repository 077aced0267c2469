"""Discrete Moser-Veselov steps up to pi: how many do not converge, and the largest error.

Run: python benchmarks/dmv_roots.py [--quick] [--methods dmv8 dmv18 ...]

hw = h |m| / I1, I1 the least moment, uniform in (0, pi).  Bodies: a quarter uniform moments, a
quarter moments over three decades, half physical ones; momenta in all directions, half of them
close to axes and planes.  A step counts as refused if it is NaN, as wrong if its attitude is more
than 0.2 rad from "exact".  Errors are angles in rad.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings

import numpy as np
from measuring import machine
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EDGES = (0.0, 0.5, 1.0, 1.25, 1.5, 1.65, 2.0, 2.25, 2.5, 2.75, 3.0, 3.1, np.pi)
WRONG = 0.2


def bodies(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Moments, unit momenta and hw."""
    kind = rng.integers(0, 4, (n, 1))
    d = rng.uniform(0.0, 1.0, (n, 3))
    inertia = np.where(kind == 0, rng.uniform(0.05, 1.0, (n, 3)), d.sum(1, keepdims=True) - d)
    inertia = np.where(kind == 1, 10 ** rng.uniform(-3.0, 0.0, (n, 3)), inertia)
    m = rng.normal(size=(n, 3))
    m *= np.where(rng.integers(0, 2, (n, 1)) == 0, 10 ** rng.uniform(-3.0, 0.0, (n, 3)), 1.0)
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    return inertia, m, rng.uniform(0.0, np.pi, n)


def angle_between(p: Array, q: Array) -> Array:
    """The angle of the rotation from p to q."""
    chord = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
    return 4 * np.arcsin(np.minimum(chord / 2, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 steps in place of 1,000,000")
    parser.add_argument("--methods", nargs="*", help="all of the family by default")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    n = 20_000 if arguments.quick else 1_000_000
    family = [x.name for x in ph.methods() if x.kind == "discrete Moser-Veselov"]
    info = machine()
    print(f"{info['processor']}, level {info['isa']}, {n} steps, seed {arguments.seed}")
    inertia, m, hw = bodies(n, np.random.default_rng(arguments.seed))
    h = hw * inertia.min(axis=1)
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    _, exact = ph.step(inertia, m, q0, h)
    wrong_in_all = 0
    for name in arguments.methods or family:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            _, q = ph.step(inertia, m, q0, h, method=name)
        refused = np.isnan(q[:, 0])
        error = angle_between(q, exact)
        wrong = int(np.sum(error > WRONG))
        print(f"\n{name}: {refused.mean():.2%} refused, {wrong} wrong")
        print(f"{'hw':>12}{'refused':>10}{'median':>10}{'largest':>10}")
        for low, high in itertools.pairwise(EDGES):
            here = (hw >= low) & (hw < high)
            found = error[here & ~refused]
            figures = f"{np.median(found):10.1e}{found.max():10.1e}" if found.size else ""
            print(f"{low:5.2f} -{high:5.2f}{refused[here].mean():10.3%}{figures}")
        order = next(x.order for x in ph.methods() if x.name == name)
        if order is not None and order >= 8:
            wrong_in_all += wrong
    if wrong_in_all:
        sys.exit(f"{wrong_in_all} steps of order 8 and up found a wrong solution")


if __name__ == "__main__":
    main()

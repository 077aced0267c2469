"""Errors of the exact step and of motions at any time: `python benchmarks/exact_errors.py`.

Of the stored states of tests/data and of 5000 random bodies of each kind, against polhode.quad:
the largest and the root mean square of m / |m| and q.  Stored states in units of 4 eps (1 + angle)
plus four times what half an ulp of the input does, random ones in eps (1 + angle).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import polhode as ph
from polhode import quad

DATA = Path(__file__).resolve().parents[1] / "tests/data"
EPS = 2.0**-52
ONE = [1.0, 0.0, 0.0, 0.0]


def stored(name):
    """Inertia, m, h and the sensitivity of stored states."""
    cases = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    inertia, m, h = (np.array([c[key] for c in cases], float) for key in ("inertia", "m0", "h"))
    return inertia, m, h, np.array([[c["ulp_sensitivity"][k] for k in "mq"] for c in cases], float)


def drawn(angle, spread=(None, None)):
    """Random bodies; moments 2 and 3 within 10^spread of the first where it is given."""
    rng = np.random.default_rng(7)
    n = 5000
    inertia, m = rng.uniform(1, 2, (n, 3)), rng.standard_normal((n, 3))
    for axis, least in enumerate(spread, 1):
        if least is not None:
            inertia[:, axis] = inertia[:, 0] * (1 + 10 ** rng.uniform(least, -3, n))
    m /= np.linalg.norm(m, axis=1)[:, None]
    return inertia, m, rng.uniform(-angle, angle, n), None


SETS = {
    "free_cases": stored("free_cases"),
    "hard_states": stored("hard_states"),
    "long_motions": stored("long_motions"),
    "random to 0.3 rad": drawn(0.3),
    "random to 30 rad": drawn(30.0),
    "nearly spherical": drawn(30.0, (-16, -16)),
    "nearly symmetric": drawn(30.0, (-16, None)),
}


def main():
    print(f"{'':20} {'step m':>13} {'step q':>13} {'motion m':>13} {'motion q':>13}")
    for name, (inertia, m, h, sensitivity) in SETS.items():
        exact = quad.step(inertia, m, ONE, h, digits=True)
        size = np.linalg.norm(m, axis=1)[:, None]
        size[size == 0] = 1
        rate = np.divide(m, inertia, out=np.zeros_like(m), where=inertia > 0)
        turned = EPS * (1 + np.abs(h) * np.linalg.norm(rate, axis=1))
        units = (turned, turned) if sensitivity is None else 4 * (turned[:, None] + sensitivity).T
        cells = []
        for end in (ph.step(inertia, m, ONE, h), ph.TorqueFreeMotion(inertia, m, ONE)(h)):
            for x, wanted, scale, unit in zip(end, exact, (size, 1.0), units, strict=True):
                error = np.abs(np.asarray((wanted - x) / scale, float)).max(axis=1) / unit
                cells.append(f"{error.max():6.3f} {np.sqrt(np.mean(error**2)):6.4f}")
        print(f"{name:20} " + " ".join(f"{cell:>13}" for cell in cells))


if __name__ == "__main__":
    main()

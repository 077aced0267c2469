"""Satellites under the gravity gradient from random starts, in parts: one part per call.

    python satellites.py FOLDER PART PARTS

integrates part number PART of PARTS, counted from 0, and prints how far its conserved quantity
drifted. The trajectories are in FOLDER, one directory per part. After a part was killed, the same
command continues it; if the part is finished, the command only reads it.
"""

import argparse
from pathlib import Path

import numpy as np

import polhode as ph

MEAN_MOTION = 2 * np.pi / 6000.0  # one orbit in 6000 s
ORBITS, STEPS_PER_ORBIT = 10, 600


def starts(count, seed=1):
    """Moments (kg m^2), momenta (kg m^2/s) and attitudes of satellites that tumble slowly."""
    rng = np.random.default_rng(seed)
    inertia = np.sort(rng.uniform(50.0, 100.0, (count, 3)), axis=-1)
    m = inertia * MEAN_MOTION * rng.standard_normal((count, 3))
    q = rng.standard_normal((count, 4))
    return inertia, m, q / np.linalg.norm(q, axis=-1, keepdims=True)


def integrate(folder, part, parts, count=1000):
    """The trajectory of one part; from its files, as far as they have it."""
    if not 0 <= part < parts <= count:
        raise SystemExit(f"there are parts 0 ... {parts - 1} of {count} satellites, not {part}")
    mine = slice(part * count // parts, (part + 1) * count // parts)
    inertia, m, q = (array[mine] for array in starts(count))
    return ph.integrate(
        inertia, m, q, 2 * np.pi / MEAN_MOTION / STEPS_PER_ORBIT, ORBITS * STEPS_PER_ORBIT,
        torque=ph.torques.GravityGradient(MEAN_MOTION), splitting="rkn6_14",
        save_every=STEPS_PER_ORBIT // 10, save_to=Path(folder) / f"{part:05d}", resume=True,
    )  # fmt: skip


def drift(path):
    """The largest change of energy - n (normal . Q m), which is conserved, over I3 n^2."""
    conserved = path.energy() - MEAN_MOTION * path.momentum_spatial()[..., 2]
    return np.max(abs(conserved - conserved[0]) / (path.inertia[..., 2] * MEAN_MOTION**2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("part", type=int)
    parser.add_argument("parts", type=int)
    arguments = parser.parse_args()
    path = integrate(arguments.folder, arguments.part, arguments.parts)
    print(f"part {arguments.part}: {path}, drift {drift(path):.1e}")

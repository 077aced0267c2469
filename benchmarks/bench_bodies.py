"""Principal axes of batches of inertia tensors, attitudes and quantities, against NumPy and SciPy.

Run: python benchmarks/bench_bodies.py [--quick]

Each line is the least time of one element over many runs, ours and the rival's in turn, and the
error of both: of principal axes the largest entry of A V - V diag over the largest moment, and of
V^T V - 1; of the others the difference of the two. All in eps = 2.2e-16. One thread.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from measuring import EPS, least_times
from numpy.typing import NDArray

import polhode as ph
from polhode import so3

Array = NDArray[np.float64]


def tensors(moments: Array, rng: np.random.Generator) -> Array:
    axes = so3.to_matrix(rng.standard_normal((len(moments), 4)))
    full = (axes * moments[:, None, :]) @ np.swapaxes(axes, -1, -2)
    return 0.5 * (full + np.swapaxes(full, -1, -2))


def errors(tensor: Array, moments: Array, axes: Array) -> str:
    off = np.abs(tensor @ axes - axes * moments[:, None, :]).max(axis=(-1, -2))
    gram = np.abs(np.swapaxes(axes, -1, -2) @ axes - np.eye(3)).max()
    return f"{(off / moments[:, 2]).max() / EPS:5.1f} {gram / EPS:5.1f}"


def principal_axes(sizes: list[int], runs: int) -> None:
    rng = np.random.default_rng(1)
    most = max(sizes)
    families = {
        "generic": 1 + rng.uniform(0, 1, (most, 3)),
        "nearly symmetric": np.ones((most, 1)) * [1, 1 + 1e-9, 1.7],
        "sphere": np.ones((most, 3)),
        "rod": np.ones((most, 1)) * [0.0, 1.0, 1.0],
    }
    print("principal axes of (N, 3, 3) tensors: ns a tensor; errors (equation, axes)")
    print(f"{'':18}{'N':>8} {'RigidBody':>10} {'eigh':>8} {'ratio':>6}   {'ours':>11}   eigh")
    for name, moments in families.items():
        every = tensors(moments, rng)
        for n in sizes:
            tensor = every[:n]
            ours, rival = least_times(
                runs, lambda a=tensor: ph.RigidBody(a), lambda a=tensor: np.linalg.eigh(a)
            )
            body = ph.RigidBody(tensor)
            print(
                f"{name:18}{n:8d} {ours / n * 1e9:10.1f} {rival / n * 1e9:8.1f} "
                f"{rival / ours:6.2f}   {errors(tensor, body.moments, body.axes)}   "
                f"{errors(tensor, *np.linalg.eigh(tensor))}"
            )


def attitudes(sizes: list[int], runs: int) -> None:
    try:
        from scipy.spatial.transform import Rotation
    except ImportError:
        print("no SciPy: the attitudes have no rival")
        return
    rng = np.random.default_rng(2)
    print("\nattitudes: ns an element; largest difference")
    print(f"{'':18}{'N':>8} {'polhode':>10} {'scipy':>8} {'ratio':>6}   difference")
    for n in sizes:
        q = rng.standard_normal((n, 4))
        q *= np.where(q[:, :1] < 0, -1, 1) / np.linalg.norm(q, axis=1)[:, None]
        v = rng.standard_normal((n, 3))
        matrices = so3.to_matrix(q)
        turned = Rotation.from_quat(np.roll(q, -1, axis=1))
        cases: dict[str, tuple[Callable[[], Array], Callable[[], Array]]] = {
            "to_matrix": (lambda q=q: so3.to_matrix(q), lambda r=turned: r.as_matrix()),
            "rotate": (lambda q=q, v=v: so3.rotate(q, v), lambda r=turned, v=v: r.apply(v)),
            "log": (lambda q=q: so3.log(q), lambda r=turned: r.as_rotvec()),
            "exp": (
                lambda v=v: so3.exp(v),
                lambda v=v: np.roll(Rotation.from_rotvec(v).as_quat(), 1, axis=1),
            ),
            "to_quaternion": (
                lambda a=matrices: so3.to_quaternion(a),
                lambda a=matrices: np.roll(
                    Rotation.from_matrix(a).as_quat(canonical=True), 1, axis=1
                ),
            ),
        }
        for name, (ours, rival) in cases.items():
            times = least_times(runs, ours, rival)
            difference = np.abs(ours() - rival()).max() / EPS
            print(
                f"{name:18}{n:8d} {times[0] / n * 1e9:10.1f} {times[1] / n * 1e9:8.1f} "
                f"{times[1] / times[0]:6.2f}   {difference:.1f}"
            )


def quantities(sizes: list[int], runs: int) -> None:
    rng = np.random.default_rng(3)
    print("\nenergy: ns per body; largest relative difference")
    print(f"{'':18}{'N':>8} {'polhode':>10} {'numpy':>8} {'ratio':>6}   difference")
    for n in sizes:
        inertia, m = 1 + rng.uniform(0, 1, (n, 3)), rng.standard_normal((n, 3))

        def rival(inertia: Array = inertia, m: Array = m) -> Array:
            return 0.5 * np.sum(m * m / inertia, axis=-1)

        times = least_times(runs, lambda i=inertia, m=m: ph.energy(i, m), rival)
        difference = np.abs(ph.energy(inertia, m) / rival() - 1).max() / EPS
        print(
            f"{'energy':18}{n:8d} {times[0] / n * 1e9:10.1f} {times[1] / n * 1e9:8.1f} "
            f"{times[1] / times[0]:6.2f}   {difference:.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tiny run")
    quick = parser.parse_args().quick
    sizes = [1, 10] if quick else [1, 100, 10_000, 100_000]
    runs = 2 if quick else 15
    print(f"polhode {ph.__version__}, level {ph.build_info()['isa']}, NumPy {np.__version__}")
    principal_axes(sizes, runs)
    attitudes(sizes, runs)
    quantities(sizes, runs)


if __name__ == "__main__":
    main()

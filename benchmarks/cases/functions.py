"""Elliptic functions, principal axes, attitudes and quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, absent, case
from benchmarks._bodies import EPS, Array, has_quad
from polhode import elliptic, so3

RELATIVE = "largest relative error, in eps = 2.2e-16"


def argument_sets(n: int, rng: np.random.Generator) -> dict[str, dict[str, list[Array]]]:
    """Arguments of the Jacobi functions and of Carlson's integrals, by the name of the set."""
    k2, u = rng.uniform(0, 1, n), rng.uniform(-10, 10, n)
    near_1 = 1 - 10 ** rng.uniform(-14, -2, n)
    small, large = rng.uniform(0, 0.3, n) ** 2, rng.uniform(0.3, 1, n) ** 2
    kc2, characteristic = 10 ** rng.uniform(-10, 0, n), 10 ** rng.uniform(-2, 1, n)
    return {
        "jacobi": {
            "wide": [u, k2],
            "typical": [rng.uniform(0, 0.3, n), k2],
            "near 1": [u, near_1],
        },
        "carlson": {
            "wide": [10 ** rng.uniform(-6, 6, n) for _ in range(4)],
            "typical": [1 - small, 1 - k2 * small, np.ones(n), 1 + characteristic * small],
            "large s": [1 - large, 1 - large + kc2 * large, np.ones(n), 1 + characteristic * large],
        },
    }


#: Name of a function, its set of arguments, number of arguments and of results.
FUNCTIONS = (
    ("jacobi", "jacobi", 2, 4),
    ("ellip_f", "jacobi", 2, 1),
    ("rj", "carlson", 4, 1),
    ("rf", "carlson", 3, 1),
    ("rd", "carlson", 3, 1),
    ("rc", "carlson", 2, 1),
)


def elliptic_error(name: str, results: Any, args: list[Array]) -> float | None:
    """Largest error in eps against quadruple precision, relative; of jacobi over 1 + |u|."""
    if not has_quad():
        return None
    from polhode import quad

    wanted = getattr(quad, name)(*args, digits=True)
    if name == "jacobi":
        off = [np.asarray(w - r, np.float64) for w, r in zip(wanted, results, strict=False)]
        return float(np.max(np.abs(off) / (1 + np.abs(args[0])))) / EPS
    return float(np.max(np.abs(np.asarray(wanted - results, np.float64) / results))) / EPS


@case(
    "elliptic",
    "Elliptic functions and integrals",
    time="ns per element",
    units={"error": RELATIVE + "; of jacobi over 1 + |u|"},
)
def elliptic_functions(run: Run) -> Iterator[Row]:
    """100,000 elements into given arrays, one thread; errors of 1000 against quadruple precision.

    Sets. "Wide": u in [-10, 10], k2 in [0, 1]; Carlson's arguments log-uniform in 1e-6 to 1e6.
    "Typical": u in [0, 0.3]; (1 - s^2, 1 - k2 s^2, 1, 1 + n s^2) with s in [0, 0.3]. "Near 1":
    1 - k2 log-uniform in 1e-14 to 1e-2. "Large s": s in [0.3, 1], kc2 log-uniform in 1e-10 to 1.
    """
    n, few = (1000, 50) if run.quick else (100_000, 1000)
    sets = argument_sets(n, run.rng())
    for name, kind, inputs, outputs in FUNCTIONS:
        function = getattr(elliptic, name)
        for label, every in sets[kind].items():
            args = every[:inputs]
            out = tuple(np.empty(n) for _ in range(outputs))
            times = run.timer.measure({"polhode": partial(function, *args, out=out)}, n).times
            some = [x[:few] for x in args]
            error = elliptic_error(name, function(*some), some)
            yield Row({"function": name, "set": label}, times, values={"error": error})


def tensors(moments: Array, rng: np.random.Generator) -> Array:
    """Tensors with these moments and random axes."""
    axes = so3.to_matrix(rng.standard_normal((len(moments), 4)))
    full = (axes * moments[:, None, :]) @ np.swapaxes(axes, -1, -2)
    symmetric: Array = 0.5 * (full + np.swapaxes(full, -1, -2))
    return symmetric


def _axes_errors(tensor: Array, moments: Array, axes: Array) -> tuple[float, float]:
    off = np.abs(tensor @ axes - axes * moments[:, None, :]).max(axis=(-1, -2))
    gram = np.abs(np.swapaxes(axes, -1, -2) @ axes - np.eye(3)).max()
    return float((off / moments.max(axis=1)).max() / EPS), float(gram / EPS)


EQUATION = "entry of A V - V diag over the largest moment, in eps = 2.2e-16"
ORTHOGONAL = "entry of V^T V - 1, in eps"


@case(
    "principal_axes",
    "Principal axes of inertia tensors",
    time="ns per tensor",
    units={
        "error, polhode": EQUATION,
        "error, eigh": EQUATION,
        "orthogonality, polhode": ORTHOGONAL,
        "orthogonality, eigh": ORTHOGONAL,
    },
)
def principal_axes(run: Run) -> Iterator[Row]:
    """`RigidBody` beside `numpy.linalg.eigh`, (N, 3, 3) tensors, in turn, one thread."""
    rng = run.rng()
    sizes = (1, 10) if run.quick else (1, 100, 10_000)
    most = max(sizes)
    families = {
        "generic": 1 + rng.uniform(0, 1, (most, 3)),
        "nearly symmetric": np.ones((most, 1)) * [1, 1 + 1e-9, 1.7],
        "sphere": np.ones((most, 3)),
        "rod": np.ones((most, 1)) * [0.0, 1.0, 1.0],
    }
    for name, moments in families.items():
        every = tensors(moments, rng)
        for n in sizes:
            tensor = every[:n]
            works: dict[str, Callable[[], Any]] = {
                "polhode": partial(ph.RigidBody, tensor),
                "eigh": partial(np.linalg.eigh, tensor),
            }
            measured = run.timer.measure(works, n)
            body = ph.RigidBody(tensor)
            ours = _axes_errors(tensor, body.moments, body.axes)
            theirs = _axes_errors(tensor, *np.linalg.eigh(tensor))
            values = {
                "error, polhode": ours[0],
                "error, eigh": theirs[0],
                "orthogonality, polhode": ours[1],
                "orthogonality, eigh": theirs[1],
            }
            ratios = {"eigh / polhode": measured.ratio("eigh", "polhode")}
            yield Row({"family": name, "tensors": n}, measured.times, ratios, values)


@case(
    "attitudes",
    "Attitudes and quantities",
    time="ns per element",
    units={
        "difference": "largest of the two results, absolute, in eps = 2.2e-16; of the energy "
        "relative",
        "other": "SciPy's Rotation, or NumPy's operations for the energy",
    },
)
def attitudes(run: Run) -> Iterator[Row]:
    """Functions of `polhode.so3` beside SciPy's `Rotation`, and `energy`; in turn, one thread."""
    from scipy.spatial.transform import Rotation

    for n in (1, 100) if run.quick else (1, 100, 10_000, 100_000):
        rng = run.rng()
        q, v = rng.standard_normal((n, 4)), rng.standard_normal((n, 3))
        q *= np.where(q[:, :1] < 0, -1, 1) / np.linalg.norm(q, axis=1)[:, None]
        matrices = so3.to_matrix(q)
        inertia = 1 + rng.uniform(0, 1, (n, 3))
        works: dict[str, list[Callable[[], Any]]] = {
            "to_matrix": [partial(so3.to_matrix, q)],
            "rotate": [partial(so3.rotate, q, v)],
            "log": [partial(so3.log, q)],
            "exp": [partial(so3.exp, v)],
            "to_quaternion": [partial(so3.to_quaternion, matrices)],
        }
        turn = Rotation.from_quat(np.roll(q, -1, axis=1))

        def exp(v: Array = v) -> Array:
            return np.roll(Rotation.from_rotvec(v).as_quat(), 1, axis=1)

        def to_quaternion(a: Array = matrices) -> Array:
            return np.roll(Rotation.from_matrix(a).as_quat(canonical=True), 1, axis=1)

        others: dict[str, Callable[[], Any]] = {
            "to_matrix": turn.as_matrix,
            "rotate": partial(turn.apply, v),
            "log": turn.as_rotvec,
            "exp": exp,
            "to_quaternion": to_quaternion,
        }
        for name, other in others.items():
            works[name].append(other)

        def energy(i: Array = inertia, v: Array = v) -> Any:
            return 0.5 * np.sum(v * v / i, axis=-1)

        works["energy"] = [partial(ph.energy, inertia, v), energy]
        for name, both in works.items():
            labels: dict[str, str | int | float] = {"function": name, "elements": n}
            measured = run.timer.measure(dict(zip(("polhode", "other"), both, strict=False)), n)
            if len(both) == 1:
                yield Row(labels, {**measured.times, "other": absent()})
                continue
            ours, theirs = (work() for work in both)
            scale = np.abs(theirs) if name == "energy" else 1.0
            values = {"difference": float(np.max(np.abs(ours - theirs) / scale)) / EPS}
            ratios = {"other / polhode": measured.ratio("other", "polhode")}
            yield Row(labels, measured.times, ratios, values)

"""Steps of implicit methods that find no solution, or a wrong one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case
from benchmarks._bodies import Array

EDGES = (0.0, 0.5, 1.0, 1.25, 1.5, 1.65, 2.0, 2.25, 2.5, 2.75, 3.0, 3.1, np.pi)
WRONG = 0.2
LENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
ONE = np.array([1.0, 0.0, 0.0, 0.0])


def _step(inertia: Array, m: Array, h: Array, method: str) -> tuple[Array, Array]:
    return ph.step(inertia, m, ONE, h, method=method)


def _bodies(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Moments, unit momenta and hw."""
    kind = rng.integers(0, 4, (n, 1))
    d = rng.uniform(0.0, 1.0, (n, 3))
    inertia = np.where(kind == 0, rng.uniform(0.05, 1.0, (n, 3)), d.sum(1, keepdims=True) - d)
    inertia = np.where(kind == 1, 10 ** rng.uniform(-3.0, 0.0, (n, 3)), inertia)
    m = rng.normal(size=(n, 3))
    m *= np.where(rng.integers(0, 2, (n, 1)) == 0, 10 ** rng.uniform(-3.0, 0.0, (n, 3)), 1.0)
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    return inertia, m, rng.uniform(0.0, np.pi, n)


def _angle_between(p: Array, q: Array) -> Array:
    """The angle of the rotation from p to q."""
    chord = np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))
    angle: Array = 4 * np.arcsin(np.minimum(chord / 2, 1.0))
    return angle


@case(
    "moser_veselov_roots",
    "Discrete Moser-Veselov steps up to pi: convergence",
    units={
        "hw from": "h |m| / I1 in rad",
        "not converged": "part of the steps",
        "wrong": f"steps whose attitude is more than {WRONG} rad from that of the exact step",
        "median": "error of the attitude, angle in rad",
        "largest": "error of the attitude, angle in rad",
    },
)
def moser_veselov_roots(run: Run) -> Iterator[Row]:
    """1,000,000 steps, uniform in hw: a step that does not converge is NaN.

    Bodies: a quarter uniform moments, a quarter moments over three decades, half physical ones;
    momenta in all directions, half of them close to axes and planes.
    """
    inertia, m, hw = _bodies(5000 if run.quick else 1_000_000, run.rng())
    h = hw * inertia.min(axis=1)
    exact = ph.step(inertia, m, ONE, h)[1]
    for x in ph.methods():
        if x.kind != "discrete Moser-Veselov":
            continue
        q = _step(inertia, m, h, x.name)[1]
        lost, error = np.isnan(q[:, 0]), _angle_between(q, exact)
        for low, high in itertools.pairwise(EDGES):
            here = (hw >= low) & (hw < high)
            found = error[here & ~lost]
            values = {
                "not converged": float(lost[here].mean()),
                "wrong": int((found > WRONG).sum()),
                "median": float(np.median(found)) if found.size else None,
                "largest": float(found.max()) if found.size else None,
            }
            yield Row({"method": x.name, "hw from": low, "to": round(high, 4)}, values=values)


@case(
    "implicit_roots",
    "Implicit methods on the rotation group: steps without a solution",
    units={"bodies": "random", **{f"hw = {x:g}": "number of bodies that are NaN" for x in LENGTHS}},
)
def implicit_roots(run: Run) -> Iterator[Row]:
    """300,000 bodies with moments in 0.2 to 2, not all of them physical; hw = h |m| / I1."""
    n = 1000 if run.quick else 300_000
    rng = run.rng()
    inertia, m = rng.uniform(0.2, 2.0, (n, 3)), rng.standard_normal((n, 3))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    for x in ph.methods():
        if x.kind in ("implicit Lie", "Munthe-Kaas Runge-Kutta"):
            values = {
                f"hw = {hw:g}": int(
                    np.isnan(_step(inertia, m, hw * inertia.min(axis=1), x.name)[0][:, 0]).sum()
                )
                for hw in LENGTHS
            }
            yield Row({"method": x.name, "bodies": n}, values=values)

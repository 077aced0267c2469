"""The problems that the rivals solve, their equations, and their references.

All are given at t = 0 and asked for at `t_end` only, so that a rival may take what steps it likes.
All bodies of a problem have one inertia.  `_torques` has more problems.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks._bodies import report_top

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Bodies to move from t = 0 to `t_end`, and where they are then.

    Parameters
    ----------
    kind : str
        A name of `SLOPES`, the equations.
    inertia : ndarray, shape (3,)
        Principal moments of all bodies.
    m, q : ndarray, shape (n, 3), (n, 4)
        At t = 0: angular momentum in the body frame; attitude, body to space, scalar first.
    t_end : float
        The time asked for.
    m_end, q_end : ndarray, shape (n, 3), (n, 4)
        The reference, to the nearest doubles.
    u0 : ndarray, shape (3,), or None
        Of a heavy top: the torque is u x e3 in the body frame, u = Q.T @ u0 (`torques.HeavyTop`).
    parameters : tuple of float
        Numbers in the equations of the kind.
    extra : tuple of float
        Start of the components of a state behind m and q, the same for all bodies.
    torque : object
        The torque for polhode.
    """

    kind: str
    inertia: Array
    m: Array
    q: Array
    t_end: float
    m_end: Array
    q_end: Array
    u0: Array | None = None
    parameters: tuple[float, ...] = ()
    extra: tuple[float, ...] = ()
    torque: Any = None

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.m)

    @property
    def states(self) -> Array:
        """The start as (7 + k, n): m, then q, then the k extra components."""
        extra = np.tile(self.extra, (self.bodies, 1))
        return np.ascontiguousarray(np.hstack([self.m, self.q, extra]).T)

    def slopes(self, state: Any) -> tuple[Any, ...]:
        """Rates of the components of a state: numbers, arrays or symbols."""
        return SLOPES[self.kind](tuple(self.inertia.tolist()), self.parameters, state)

    def error(self, m: Array, q: Array) -> float:
        """Largest error over the bodies: of m relative to |m|, or of the attitude in radians.

        A quaternion and its negative are one attitude here, since some rivals choose the sign.
        """
        # Steps that are too long give numbers of any size.
        if not (np.abs(m) < 1e100).all() or not (np.abs(q) < 1e100).all():
            return float("inf")
        of_m = np.linalg.norm(m - self.m_end, axis=1) / np.linalg.norm(self.m_end, axis=1)
        chord = np.minimum(*(np.linalg.norm(q - s * self.q_end, axis=1) for s in (1, -1)))
        return float(max(of_m.max(), (4 * np.arcsin(np.minimum(chord / 2, 1))).max()))


def free_slopes(inertia: Any, _: Any, state: Any) -> tuple[Any, ...]:
    """m' = m x omega, q' = q (0, omega) / 2 with omega = m / inertia."""
    m1, m2, m3, w, x, y, z = state
    o1, o2, o3 = m1 / inertia[0], m2 / inertia[1], m3 / inertia[2]
    return (
        m2 * o3 - m3 * o2,
        m3 * o1 - m1 * o3,
        m1 * o2 - m2 * o1,
        0.5 * (-x * o1 - y * o2 - z * o3),
        0.5 * (w * o1 + y * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - y * o1),
    )


def top_slopes(inertia: Any, u0: Any, state: Any) -> tuple[Any, ...]:
    """The same with the torque u x e3 = (u2, -u1, 0), u = Q.T @ u0."""
    m1, m2, m3, w, x, y, z = state
    o1, o2, o3 = m1 / inertia[0], m2 / inertia[1], m3 / inertia[2]
    a, b, c = u0
    u1 = a * (1 - 2 * (y * y + z * z)) + 2 * (b * (x * y + w * z) + c * (x * z - w * y))
    u2 = b * (1 - 2 * (x * x + z * z)) + 2 * (a * (x * y - w * z) + c * (y * z + w * x))
    return (
        m2 * o3 - m3 * o2 + u2,
        m3 * o1 - m1 * o3 - u1,
        m1 * o2 - m2 * o1,
        0.5 * (-x * o1 - y * o2 - z * o3),
        0.5 * (w * o1 + y * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - y * o1),
    )


def damped_slopes(inertia: Any, parameters: Any, state: Any) -> tuple[Any, ...]:
    """A heavy top, or a dipole along e3, with the torque -k omega in addition."""
    m1, m2, m3, w, x, y, z = state
    a, b, c, k = parameters
    o1, o2, o3 = m1 / inertia[0], m2 / inertia[1], m3 / inertia[2]
    u1 = a * (1 - 2 * (y * y + z * z)) + 2 * (b * (x * y + w * z) + c * (x * z - w * y))
    u2 = b * (1 - 2 * (x * x + z * z)) + 2 * (a * (x * y - w * z) + c * (y * z + w * x))
    return (
        m2 * o3 - m3 * o2 + u2 - k * o1,
        m3 * o1 - m1 * o3 - u1 - k * o2,
        m1 * o2 - m2 * o1 - k * o3,
        0.5 * (-x * o1 - y * o2 - z * o3),
        0.5 * (w * o1 + y * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - y * o1),
    )


def satellite_slopes(inertia: Any, parameters: Any, state: Any) -> tuple[Any, ...]:
    """Gravity gradient 3 mu/R^3 r x I r in an eccentric orbit about e3, perigee along e1.

    r = Q.T @ (c, s, 0), where (c, s) = (cos nu, sin nu) of the true anomaly are two more components
    of the state: no cosine is computed.  Parameters: e and k = sqrt(mu/p^3), p the semi-latus
    rectum; mu/R^3 = (1 + e c)^3 k^2, nu' = (1 + e c)^2 k.
    """
    m1, m2, m3, w, x, y, z, c, s = state
    e, rate = parameters
    o1, o2, o3 = m1 / inertia[0], m2 / inertia[1], m3 / inertia[2]
    r1 = c * (1 - 2 * (y * y + z * z)) + s * 2 * (x * y + w * z)
    r2 = s * (1 - 2 * (x * x + z * z)) + c * 2 * (x * y - w * z)
    r3 = 2 * (c * (x * z + w * y) + s * (y * z - w * x))
    near = rate * (1 + e * c)
    turn = near * (1 + e * c)
    g = 3 * near * turn
    return (
        m2 * o3 - m3 * o2 + g * (inertia[2] - inertia[1]) * r2 * r3,
        m3 * o1 - m1 * o3 + g * (inertia[0] - inertia[2]) * r3 * r1,
        m1 * o2 - m2 * o1 + g * (inertia[1] - inertia[0]) * r1 * r2,
        0.5 * (-x * o1 - y * o2 - z * o3),
        0.5 * (w * o1 + y * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - y * o1),
        -turn * s,
        turn * c,
    )


#: By kind of problem: rates of a state from moments, parameters and state.
SLOPES: dict[str, Callable[[Any, Any, Any], tuple[Any, ...]]] = {
    "free": free_slopes,
    "heavy-top": top_slopes,
    "damped-dipole": damped_slopes,
    "satellite": satellite_slopes,
}


def free_bodies(bodies: int) -> Problem:
    """Free bodies of inertia (1, 1.5, 2.2) and unit momentum for 100 units of time.

    The first has its momentum along (0.3, 0.5, 0.8), the others theirs, and their attitudes, in
    random directions.  Reference: the closed form in quadruple precision.

    Raises
    ------
    ImportError
        Where there is no `polhode.quad`.
    """
    from polhode import quad

    rng = np.random.default_rng(11)
    m, q = rng.normal(size=(bodies, 3)), rng.normal(size=(bodies, 4))
    m[0], q[0] = (0.3, 0.5, 0.8), (1, 0, 0, 0)
    m, q = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (m, q))
    inertia = np.array([1.0, 1.5, 2.2])
    m_end, q_end = quad.step(inertia, m, q, 100.0)
    return Problem("free", inertia, m, q, 100.0, m_end, q_end)


def heavy_tops(bodies: int) -> Problem:
    """The heavy top of [CZ08] Sec. 4.3 until t = 50, and its likes turned about the vertical.

    A turn about u0 at the start is the same turn at the end, so that one reference serves for all.
    It is in data/example1_reference.toml: a Taylor series of order 44 in quadruple precision.  The
    top itself moves by 4e-15 when its input changes in the last place.
    """
    data = resources.files("polhode") / "data/example1_reference.toml"
    point = tomllib.loads(data.read_text(encoding="utf-8"))["point"][0]
    top = report_top()
    u0 = top["u0"]
    half = np.random.default_rng(12).uniform(0, np.pi, bodies)
    half[0] = 0
    q = np.c_[np.cos(half), np.sin(half)[:, None] * (u0 / np.linalg.norm(u0))]
    m, m_end = (np.tile(x, (bodies, 1)) for x in (top["m0"], point["m"]))
    q_end = ph.so3.multiply(q, ph.so3.to_quaternion(np.array(point["Q"])))
    weight = tuple(u0.tolist())
    return Problem("heavy-top", top["inertia"], m, q, point["t"], m_end, q_end, u0, weight)

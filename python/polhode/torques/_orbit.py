"""`polhode.torques.Orbit`: where a body is, for torques that depend on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array
from polhode.torques._model import finite
from polhode.torques._tabulated import Piecewise, TimeTable, ascending


class Orbit:
    """The orbit of a body around a point mass, in the space frame.

    Parameters
    ----------
    mu : array_like, shape (...)
        Gravitational parameter of the point mass.
    position, velocity : array_like, shape (..., 3)
        Position relative to the point mass, and velocity, at t = 0: the orbit is the Kepler ellipse
        through this state. With `times` they have shape (T, ..., 3): the position between two times
        is the cubic with these positions and velocities, for perturbed and open orbits.
    times : array_like, shape (T,), optional
        Ascending times of a tabulated orbit, two or more; it ends at the first and the last.

    Raises
    ------
    ValueError
        If the orbit through the state is no ellipse: open, or straight towards the point mass.

    Notes
    -----
    Error of a Kepler orbit: a few eps/(1 - e), and eps |n t| from the rounding of n t, of its size;
    n is `mean_motion`, e `eccentricity`. Error of a table: at most (1/384) r'''' dt^4. The space
    frame does not rotate.
    """

    def __init__(
        self,
        mu: ArrayLike,
        position: ArrayLike,
        velocity: ArrayLike,
        times: ArrayLike | None = None,
    ) -> None:
        self.mu, self.position, self.velocity = finite(
            ("mu", mu, ()), ("position", position, (3,)), ("velocity", velocity, (3,))
        )
        _arrays.refuse("mu", self.mu, ~(self.mu > 0), 0, "must be positive")
        self.times: Array | None = None
        #: n and e of an ellipse; NaN for a table.
        self.mean_motion = self.eccentricity = np.asarray(np.nan)
        self.table: TimeTable | None = None
        if times is None:
            self._set_ellipse()
        else:
            pieces = self._hermite(times)
            self.table, self.times = TimeTable.of("position", pieces, None), pieces.x

    def _set_ellipse(self) -> None:
        r, v = self.position, self.velocity
        size = np.linalg.norm(r, axis=-1)
        _arrays.refuse("position", r, ~(size > 0), 1, "must not be zero")
        inverse = 2 / size - np.sum(v * v, axis=-1) / self.mu  # 1/a
        normal = np.linalg.norm(np.cross(r, v), axis=-1)
        bad = ~((inverse > 0) & (normal > 1e-8 * size * np.linalg.norm(v, axis=-1)))
        _arrays.refuse(
            "velocity", np.broadcast_to(v, (*bad.shape, 3)), bad, 1,
            "the orbit is not an ellipse: give states at `times`",
        )  # fmt: skip
        n = np.sqrt(self.mu * inverse) * inverse
        # e cos E and e sin E at t = 0.
        C, S = 1 - size * inverse, np.sum(r * v, axis=-1) * np.sqrt(inverse / self.mu)
        E = np.arctan2(S, C)
        at_start = r / size[..., None] - v * (S * inverse / n)[..., None]
        ahead = v * ((1 - C) * inverse / n)[..., None]
        cos, sin = np.cos(E)[..., None], np.sin(E)[..., None]
        self._a = 1 / inverse
        self.mean_motion, self.eccentricity = n, np.hypot(C, S)
        #: M0 and the axes P and W, see gravity_gradient.hpp.
        self.anomaly = E - S
        self.axes = at_start * cos - ahead * sin, at_start * sin + ahead * cos

    def _hermite(self, times: ArrayLike) -> Piecewise:
        """The cubics between the states, as a piecewise polynomial."""
        t = np.asarray(_arrays.real_array("times", times), np.float64)
        r, v = np.broadcast_arrays(self.position, self.velocity)
        if t.ndim != 1 or len(t) < 2 or r.ndim < 2 or r.shape[:1] != t.shape:
            raise ValueError(
                "position and velocity (T, ..., 3) and times (T,), T > 1, must fit together, not "
                f"{r.shape} and {t.shape}"
            )
        dt = np.diff(ascending(t)).reshape(-1, *[1] * (r.ndim - 1))
        slope = np.diff(r, axis=0) / dt
        second = (3 * slope - 2 * v[:-1] - v[1:]) / dt
        third = (v[:-1] + v[1:] - 2 * slope) / dt**2
        return Piecewise(np.stack([third, second, v[:-1], r[:-1]]), t, False)

    @property
    def period(self) -> Array:
        """Time of a revolution, shape (...); NaN for a table."""
        return np.asarray(2 * np.pi / self.mean_motion)

    def state(self, t: ArrayLike) -> tuple[Array, Array]:
        """Position and velocity (..., 3) in the space frame at times t (...).

        The times broadcast against the orbits: (T, 1) with N orbits gives (T, N, 3). NaN outside of
        a table.
        """
        (time,) = finite(("t", t, ()))
        if self.table is not None:
            return self.table.value(time), self.table.value(time, 1)
        n, e = self.mean_motion, self.eccentricity
        _arrays.broadcast({"t": time.shape, "orbits": n.shape})
        E = _core.eccentric_anomaly(n * time + self.anomaly, e)
        x, y, P, W = np.cos(E) - e, np.sin(E), *self.axes
        rate = n * self._a / (1 - e * np.cos(E))
        scale = np.broadcast_to(self._a, E.shape)
        return (
            scale[..., None] * (x[..., None] * P + y[..., None] * W),
            rate[..., None] * (np.cos(E)[..., None] * W - y[..., None] * P),
        )

    def lvlh(self, t: ArrayLike) -> Array:
        """Attitude (..., 4) of the orbit frame at times t (...): from its components to space.

        Axis 3 points at the point mass, axis 2 against the normal of the orbit (position x
        velocity), axis 1 completes them: ahead, in a circular orbit along the velocity. An attitude
        q relative to this frame is ``ph.so3.multiply(orbit.lvlh(t), q)`` in space.
        """
        r, v = self.state(t)
        z, y = -r, np.cross(v, r)
        axes = np.stack([np.cross(y, z), y, z], axis=-1)
        unit = axes / np.linalg.norm(axes, axis=-2, keepdims=True)
        return np.asarray(_core.so3_to_quaternion(unit))

    def rate(self, t: ArrayLike) -> Array:
        """Angular velocity (..., 3) of the orbit frame in its own axes: (0, -|r x v|/r^2, 0).

        Of a Kepler orbit; a perturbed orbit also turns its plane, slowly.
        """
        r, v = self.state(t)
        turn = np.linalg.norm(np.cross(r, v), axis=-1) / np.sum(r * r, axis=-1)
        return np.stack([0 * turn, -turn, 0 * turn], axis=-1)

    def __repr__(self) -> str:
        times = "" if self.times is None else f", times={self.times.tolist()}"
        return (
            f"Orbit({self.mu.tolist()}, {self.position.tolist()}, {self.velocity.tolist()}{times})"
        )

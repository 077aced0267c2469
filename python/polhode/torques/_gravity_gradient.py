"""`polhode.torques.GravityGradient`; formulas: cpp/include/polhode/torque/gravity_gradient.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._model import ModelOfInertia, finite, six
from polhode.torques._orbit import Orbit
from polhode.torques._tabulated import Tabulated


class GravityGradient(Tabulated, ModelOfInertia):
    """The gravity gradient torque on a satellite in a given orbit, circular or any other.

    Parameters
    ----------
    mean_motion : array_like, shape (...), optional
        Rate n of a circular orbit, radians per unit of time: sqrt(mu / R^3) at the radius R.
    position : array_like, shape (..., 3), optional
        Direction from the planet's centre to the satellite at t = 0, space frame, of any length.
        Default: (1, 0, 0).
    normal : array_like, shape (..., 3), optional
        Normal of the orbit, space frame, of any length; the satellite moves around it by the
        right-hand rule. Default: (0, 0, 1), or the normal of `position` and `velocity`.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor in the body axes; by default those of the integration.
    velocity : array_like, shape (..., 3), optional
        Velocity of the satellite at t = 0, space frame, in place of `normal`. Only the plane of
        `position` and `velocity` is used.
    orbit : Orbit, optional
        An eccentric or tabulated orbit, in place of `mean_motion`, `position`, `normal` and
        `velocity`.

    Raises
    ------
    ValueError
        If `position` is not normal to `normal` (to 1e-8), or parallel to `velocity`.
    TypeError
        If both `normal` and `velocity` are given, or `orbit` and something in its place.

    Notes
    -----
    With r = Q.T @ (direction at time t) and the distance R: torque = 3 mu/R^3 r x I r (body frame),
    potential = (3/2) mu/R^3 r . I r, without -mu trace(I)/(2 R^3), which does not depend on the
    attitude; in a circular orbit mu/R^3 = n^2. The torque depends on time, so the energy is not
    conserved; in a circular orbit energy - n normal . (Q m) is (normal of length 1). The space
    frame does not rotate. Source: the gravity of a point mass on a small body, to second order in
    its size over R.
    """

    def __init__(
        self,
        mean_motion: ArrayLike | None = None,
        position: ArrayLike | None = None,
        normal: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        orbit: Orbit | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        self.orbit = orbit
        if orbit is not None:
            if not isinstance(orbit, Orbit):
                raise TypeError(f"orbit must be an Orbit, not {type(orbit).__name__}")
            circular = {"mean_motion": mean_motion, "position": position, "normal": normal}
            for name, value in (circular | {"velocity": velocity}).items():
                if value is not None:
                    raise TypeError(f"give orbit or {name}, not both")
                setattr(self, name, None)
            self._set_orbit(orbit)
            return
        if mean_motion is None:
            raise TypeError("mean_motion or orbit is missing")
        position = (1.0, 0.0, 0.0) if position is None else position
        if normal is not None and velocity is not None:
            raise TypeError("give normal or velocity, not both")
        name, second = ("normal", normal) if velocity is None else ("velocity", velocity)
        second = (0.0, 0.0, 1.0) if second is None else second
        self.mean_motion, self.position, vector = finite(
            ("mean_motion", mean_motion, ()), ("position", position, (3,)), (name, second, (3,))
        )
        self.normal = vector if velocity is None else None
        self.velocity = vector if velocity is not None else None
        along, across = _direction("position", self.position), _direction(name, vector)
        given = [_arrays.real_array(name, x) for x in (position, second)]
        limit = _arrays.tolerance(1e-8, *given)
        up = across
        if velocity is not None:
            up = np.cross(along, across)
            size = np.linalg.norm(up, axis=-1, keepdims=True)
            why = "parallel to velocity, which determines no plane of the orbit"
            _arrays.refuse(
                "position", *_of_satellites(self.position, size[..., 0] <= limit), 1, why
            )
            up = up / size
        else:
            off = np.abs(np.sum(along * up, axis=-1)) > limit
            why = f"not normal to `normal` (to {limit:.0e}): give velocity=, or the orbit's normal"
            _arrays.refuse("position", *_of_satellites(self.position, off), 1, why)
            if (np.abs(np.sum(along * up, axis=-1)) > 1e-8).any():
                # Of a shorter type: `with_inertia` makes the torque again from doubles.
                part = np.sum(self.position * up, axis=-1, keepdims=True) * up
                self.position = self.position - part
                along = _direction("position", self.position)
        along = along - np.sum(along * up, axis=-1, keepdims=True) * up
        along = along / np.linalg.norm(along, axis=-1, keepdims=True)
        rate = self.mean_motion
        ahead = np.cross(up, along)
        self._circular = rate**2, along, rate[..., None] * ahead
        self._set("gravity_gradient", self._weighted(rate**2), along, ahead, _last(rate, 0.0, 0.0))

    def _set_orbit(self, orbit: Orbit) -> None:
        if orbit.table is not None:
            self._set_tabulated("gravity_gradient_table", orbit.table, self._weighted(orbit.mu))
            return
        n, M0, e = orbit.mean_motion, orbit.anomaly, orbit.eccentricity
        self._set("gravity_gradient", self._weighted(n**2), *orbit.axes, _last(n, M0, e))
        if (e != 0).any():
            self.series = None

    def _weighted(self, factor: Array) -> Array:
        """3 factor I, six components."""
        full = self._full()
        return six((3 * factor)[..., None, None] * (np.zeros((3, 3)) if full is None else full))

    def lvlh(self, t: ArrayLike) -> Array:
        """Attitude (..., 4) of the orbit frame at times t, see `Orbit.lvlh`."""
        if self.orbit is not None:
            return self.orbit.lvlh(t)
        return Orbit(*self._circular).lvlh(t)

    @classmethod
    def circular(
        cls,
        mu: ArrayLike,
        radius: ArrayLike,
        inclination: ArrayLike = 0.0,
        raan: ArrayLike = 0.0,
        argument_of_latitude: ArrayLike = 0.0,
        **inertia: Any,
    ) -> GravityGradient:
        """The torque from the elements of a circular orbit.

        Parameters
        ----------
        mu, radius : array_like, shape (...)
            Gravitational parameter of the planet and radius of the orbit.
        inclination, raan, argument_of_latitude : array_like, shape (...), optional
            Inclination, right ascension of the ascending node, and angle from the node to the
            satellite at t = 0, in radians, in the space frame.
        **inertia : Any
            `inertia` or `tensor`.
        """
        given = {"mu": mu, "radius": radius, "inclination": inclination, "raan": raan}
        given["argument_of_latitude"] = argument_of_latitude
        numbers = [_arrays.components(name, value) for name, value in given.items()]
        i, node, u = np.broadcast_arrays(*numbers[2:])
        ascending = np.stack([np.cos(node), np.sin(node), 0 * node], axis=-1)
        normal = np.stack([np.sin(i) * np.sin(node), -np.sin(i) * np.cos(node), np.cos(i)], axis=-1)
        ahead = np.cross(normal, ascending)
        position = np.cos(u)[..., None] * ascending + np.sin(u)[..., None] * ahead
        rate = np.sqrt(numbers[0] / numbers[1] ** 3)
        return cls(rate, position, normal, **inertia)


def _last(*numbers: ArrayLike) -> Array:
    """Numbers along a new last axis."""
    return np.stack(np.broadcast_arrays(*numbers), axis=-1)


def _of_satellites(position: Array, bad: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """The positions broadcast to the shape of `bad`, and `bad`."""
    return np.broadcast_to(position, (*bad.shape, 3)), bad


def _direction(name: str, v: Array) -> Array:
    largest = np.abs(v).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise ValueError(f"{name} must not be zero")
    v = v / largest
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))

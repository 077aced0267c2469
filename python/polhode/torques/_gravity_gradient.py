"""`polhode.torques.GravityGradient`; formulas: cpp/include/polhode/torque/gravity_gradient.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._model import ModelOfInertia, finite, six


class GravityGradient(ModelOfInertia):
    """The gravity gradient torque on a satellite in a given circular orbit.

    Parameters
    ----------
    mean_motion : array_like, shape (...)
        Rate n of the orbit, radians per unit of time: sqrt(mu / R^3) at the radius R.
    position : array_like, shape (..., 3), optional
        Direction from the planet's centre to the satellite at t = 0, space frame, of any length.
    normal : array_like, shape (..., 3), optional
        Normal of the orbit, space frame, of any length; the satellite moves around it by the
        right-hand rule. Default: (0, 0, 1), or the normal of `position` and `velocity`.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor of inertia in the body axes; by default the inertia of the
        integration.
    velocity : array_like, shape (..., 3), optional
        Velocity of the satellite at t = 0, space frame, in place of `normal`. Only the plane of
        `position` and `velocity` is used.

    Raises
    ------
    ValueError
        If `position` is not normal to `normal` (to 1e-8), or parallel to `velocity`.
    TypeError
        If both `normal` and `velocity` are given.

    Notes
    -----
    With r = Q.T @ (direction at time t): torque = 3 n^2 r x I r (body frame), potential = (3/2) n^2
    r . I r, without the constant -(n^2/2) trace(I). The torque depends on time, so the energy is
    not conserved; energy - n normal . (Q m) is (normal of length 1). The space frame does not
    rotate. Source: the gravity of a point mass on a small body, to second order in its size over R.

    Examples
    --------
    A satellite that points its third axis at the planet, in an orbit of a hundred minutes:

    >>> import numpy as np, polhode as ph
    >>> n = 2 * np.pi / 6000.0
    >>> moments = np.array([120.0, 150.0, 60.0])
    >>> gradient = ph.torques.GravityGradient(n, position=[0.0, 0.0, 1.0], normal=[0.0, 1.0, 0.0])
    >>> start = moments * [0.0, n, 0.0], [1.0, 0.0, 0.0, 0.0]
    >>> traj = ph.integrate(moments, *start, 10.0, 600, torque=gradient, save_every=600)
    >>> bool(np.allclose(traj.q[-1], [-1.0, 0.0, 0.0, 0.0], atol=1e-9))
    True
    """

    def __init__(
        self,
        mean_motion: ArrayLike,
        position: ArrayLike = (1.0, 0.0, 0.0),
        normal: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
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
        full = self._full()
        weighted = (3 * rate**2)[..., None, None] * (np.zeros((3, 3)) if full is None else full)
        self._set("gravity_gradient", six(weighted), along, np.cross(up, along), rate[..., None])

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

        Examples
        --------
        >>> import polhode as ph
        >>> gradient = ph.torques.GravityGradient.circular(3.986004418e14, 6.878e6, 0.9)
        >>> round(float(gradient.mean_motion), 7)
        0.0011068
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


def _of_satellites(position: Array, bad: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """The positions broadcast to the shape of `bad`, and `bad`."""
    return np.broadcast_to(position, (*bad.shape, 3)), bad


def _direction(name: str, v: Array) -> Array:
    largest = np.abs(v).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise ValueError(f"{name} must not be zero")
    v = v / largest
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))

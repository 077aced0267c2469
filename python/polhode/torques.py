"""Torques for `polhode.integrate`: models in the core and functions of one's own.

A torque is given in the body frame, m' = m x omega + torque. ``u = Q.T @ u0`` below stands for a
vector u0 of space seen from the body. Units are any consistent set. A list of torques is their sum.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array

__all__ = [
    "Compiled",
    "Constant",
    "Dipole",
    "Function",
    "GravityGradient",
    "HeavyTop",
    "LagrangeTop",
    "Prescribed",
    "SoftWall",
    "SpatialMomentum",
    "Torque",
    "Vessel",
]

#: What `integrate(torque=...)` takes.
TorqueLike = Any

_MODELS: dict[str, tuple[int, dict[str, Any]]] = {
    row["name"]: (i, row) for i, row in enumerate(_core.torque_models())
}


class Torque:
    """What all torques have: see `Function` and the models.

    Attributes
    ----------
    batch : tuple of int
        Shape of the bodies that its parameters are given for; () where all bodies share them.
    depends_on_m : bool
        Whether the torque depends on the momentum; a kick is then one classical Runge-Kutta step.
        None: `integrate` finds out.
    has_potential : bool
        Whether `potential` is there, so that the energy of a trajectory is complete.
    has_modified : bool
        Whether `modified` is there, for schemes with a modified potential.
    in_core : bool
        Whether the kicks run in the core, without Python.
    span : (float, float) or None
        First and last time at which the torque is given; None where it is given at all times.
    held : bool
        Whether the torque is constant before and after its `span`; otherwise it is NaN there.
    """

    batch: tuple[int, ...] = ()
    in_core: bool = False
    depends_on_m: bool | None = False
    has_potential: bool = False
    has_modified: bool = False
    span: tuple[float, float] | None = None
    held: bool = False

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3)."""
        raise NotImplementedError

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        raise NotImplementedError

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque on bodies of these moments (..., 3) or tensors (..., 3, 3).

        A torque that does not depend on the inertia, or has been given one, is returned itself.
        """
        return self

    def check_attitude(self, matrix: bool) -> None:
        """Refuse the form of the attitudes, matrices or quaternions, where it does not fit."""

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        raise NotImplementedError


class Function(Torque):
    """A user-defined torque: a Python function of the whole batch.

    Parameters
    ----------
    f : callable
        ``f(t, m, attitude) -> (..., 3)``: torque in the body frame at time t, from the momenta
        (..., 3), body frame, and the attitudes (..., 4) or (..., 3, 3), body to space, as given to
        `integrate`. The arrays are read-only and change after the call: copy what is to be kept.
        The result has the shape of m: nothing is spread over the batch.
    depends_on_m : bool or None, optional
        Whether f depends on m. Its kick is then one classical Runge-Kutta step of order 4, and
        schemes that need a torque that depends only on attitude and time are refused. None: a
        splitting finds out at the start, see Notes.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``: potential energy, for `Trajectory.energy`.
    W : callable, optional
        ``W(t, attitude) -> (..., 3)`` for schemes with a modified potential,
        ``W = 2 (f x v - Df[Q hat(v)])``, ``v = f / inertia``.

    Notes
    -----
    With ``depends_on_m=None``, as for a bare function, a splitting calls f twice more before the
    first step, at the start and with two other momenta of every body. Answers that differ by more
    than 1e-12 of the larger mean that f depends on m; f is then called a third time, and where it
    answers equal arguments with different numbers, a RuntimeWarning says so and f counts as
    independent of m. A dependence that begins elsewhere, at a threshold of ``|m|`` or later, is not
    seen: say ``depends_on_m=True``. Methods that integrate the torque directly
    (``splitting=None``) have no use for the answer and do not ask.

    Examples
    --------
    A top pulled along the third axis of space:

    >>> import numpy as np, polhode as ph
    >>> def pull(t, m, Q):
    ...     return np.cross(Q[..., 2, :], [0.0, 0.0, 1.0])
    >>> top = ph.torques.Function(pull, potential=lambda t, Q: Q[..., 2, 2])
    >>> traj = ph.integrate([1.0, 1.0, 0.5], [0.0, 0.0, 4.0], np.eye(3), 0.01, 100, torque=top)
    >>> traj.m[-1]
    array([0., 0., 4.])
    """

    def __init__(
        self,
        f: Callable[[float, Array, Array], ArrayLike],
        depends_on_m: bool | None = None,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        W: Callable[[float, Array], ArrayLike] | None = None,
    ) -> None:
        for name, part in (("f", f), ("potential", potential), ("W", W)):
            if part is not None and not callable(part):
                raise TypeError(f"{name} must be a function, not {type(part).__name__}")
        self._f = f
        self._potential = potential
        self._w = W
        self.depends_on_m = None if depends_on_m is None else bool(depends_on_m)
        self.has_potential = potential is not None
        self.has_modified = W is not None

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3): f(t, m, attitude)."""
        return _exactly("torque", self._f(t, m, attitude), m.shape)

    def modified(self, t: float, attitude: Array, shape: tuple[int, ...]) -> Array:
        """W, body frame, shape (..., 3)."""
        assert self._w is not None
        return _exactly("W", self._w(t, attitude), shape)

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        if self._potential is None:
            raise ValueError("the torque has been given no potential")
        return _exactly("potential", self._potential(t, attitude), _batch_of(attitude))

    def known(self, depends_on_m: bool) -> Function:
        """The same torque, of which it is known whether it depends on m."""
        return Function(self._f, depends_on_m, self._potential, self._w)

    def __repr__(self) -> str:
        return f"Function({self._f!r}, depends_on_m={self.depends_on_m})"


def _returned(name: str, value: ArrayLike | None) -> Array:
    """What a function of the user's returned, as doubles."""
    if value is None:
        raise TypeError(f"the {name} function must return real numbers, not None")
    array = _arrays.real_array(f"what the {name} function returns", value)
    return array.astype(np.float64, copy=False)


def _exactly(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """What a function of the whole batch returned, of this shape."""
    array = _returned(name, value)
    if array.shape != shape:
        spread = f"; one for all bodies is numpy.broadcast_to(value, {shape})" if shape else ""
        raise ValueError(
            f"the {name} function must return shape {shape}, not {array.shape}{spread}"
        )
    return array


def _fitting(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """What a function of time returned, vectors (..., 3): for each body, or one for all."""
    array = _returned(name, value)
    if array.shape == shape:
        return array
    try:
        if array.shape[-1:] == (3,):
            return np.broadcast_to(array, shape)
    except ValueError:
        pass
    raise ValueError(
        f"the {name} function must return shape {shape}, or (3,) for all bodies, not {array.shape}"
    )


def _batch_of(attitude: Array) -> tuple[int, ...]:
    """Shape of a batch of attitudes."""
    return attitude.shape[: -len(_arrays.attitude_core("attitude", attitude))]


class Model(Torque):
    """A torque that the core knows: numbers per body, `parameters` of shape (..., P).

    Each argument of a model's constructor is an attribute of that name.
    """

    in_core = True

    def __init__(self, name: str, *parts: tuple[str, ArrayLike, tuple[int, ...]]) -> None:
        arrays = _finite(*parts)
        self._set(
            name,
            *(
                a.reshape(*a.shape[: a.ndim - len(part[2])], -1)
                for a, part in zip(arrays, parts, strict=True)
            ),
        )

    def _set(self, name: str, *parts: Array) -> None:
        """Be the model of this name with parts (..., K), one after another, for parameters."""
        self._name = name
        self.index, facts = _MODELS[name]
        self.depends_on_t: bool = facts["depends_on_t"]
        self.depends_on_m = facts["depends_on_m"]
        self.has_potential = facts["has_potential"]
        self.has_modified = facts["has_derivative"]
        self.batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        self.parameters = np.concatenate(
            [np.broadcast_to(part, (*self.batch, part.shape[-1])) for part in parts], axis=-1
        )
        self.parameters.flags.writeable = False

    def _with(self, **changes: Any) -> Self:
        """The same model with other arguments."""
        return type(self)(**{**self._arguments(), **changes})

    def _arguments(self) -> dict[str, Any]:
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes.

        Parameters
        ----------
        axes : array_like, shape (..., 3, 3)
            The columns are the new axes in components along the old ones: v becomes axes.T @ v.

        Returns
        -------
        torque : Torque
        """
        raise NotImplementedError

    def columns(self, shape: tuple[int, ...]) -> Array:
        """The parameters as the core takes them: (P,) for all, or (P, bodies and padding)."""
        return _columns(self.parameters, shape)

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        return self.index, self.columns(shape)

    def __repr__(self) -> str:
        arguments = (
            f"{name}={value.tolist() if isinstance(value, np.ndarray) else value!r}"
            for name, value in self._arguments().items()
            if value is not None
        )
        return f"{type(self).__name__}({', '.join(arguments)})"

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3).

        Parameters
        ----------
        t : float
            Time.
        m : array_like, shape (..., 3)
            Angular momentum, body frame.
        attitude : array_like, shape (..., 4) or (..., 3, 3)
            Unit quaternion or rotation matrix, body to space. The two broadcast together and
            against the parameters.

        Returns
        -------
        torque : ndarray, shape (..., 3)
        """
        momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast(
            {"m": momenta.batch, "attitude": q.batch, "parameters": self.batch}
        )
        matrix = q.core != (4,)
        term = self.core_term(shape, matrix)
        result: Array = _core.torque(term, t, _flat(momenta, shape), _flat(q, shape), matrix)
        return result.reshape(*shape, 3)

    def derivative(self, t: float, v: Array, attitude: Array) -> Array:
        """Rate of the torque while the body turns at v (body frame), shape (..., 3)."""
        if not self.has_modified:
            raise ValueError(f"{type(self).__name__} has no derivative")
        rate, q = _arrays.Operand("v", v, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"v": rate.batch, "attitude": q.batch, "parameters": self.batch})
        matrix = q.core != (4,)
        term = self.core_term(shape, matrix)
        result: Array = _core.torque_derivative(
            term, t, _flat(rate, shape), _flat(q, shape), matrix
        )
        return result.reshape(*shape, 3)

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...).

        Parameters
        ----------
        t : float
            Time.
        attitude : array_like, shape (..., 4) or (..., 3, 3)
            Unit quaternion or rotation matrix, body to space.

        Returns
        -------
        potential : ndarray, shape (...)
        """
        if not self.has_potential:
            raise ValueError(f"{type(self).__name__} has no potential")
        q = _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"attitude": q.batch, "parameters": self.batch})
        matrix = q.core != (4,)
        term = self.core_term(shape, matrix)
        result: Array = _core.potential(term, t, _flat(q, shape), matrix)
        return result.reshape(shape)


def _flat(operand: _arrays.Operand, shape: tuple[int, ...]) -> Array:
    whole: NDArray[Any] = np.broadcast_to(operand.array, shape + operand.core)
    return np.ascontiguousarray(whole, np.float64).reshape(-1, *operand.core)


def _finite(*parts: tuple[str, ArrayLike, tuple[int, ...]]) -> list[Array]:
    """Named arguments as doubles, with the shapes of their last axes checked; they broadcast."""
    operands = [_arrays.Operand(name, value, *core) for name, value, core in parts]
    _arrays.broadcast({o.name: o.batch for o in operands})
    arrays = []
    for operand in operands:
        array = operand.array.astype(np.float64)
        core = len(operand.core)
        _arrays.refuse(operand.name, operand.array, ~np.isfinite(array), core, "must be finite")
        array.flags.writeable = False
        arrays.append(array)
    return arrays


def _columns(parameters: Array, shape: tuple[int, ...]) -> Array:
    """Parameters (..., P) component by component, padded to whole blocks; (P,) where shared."""
    count = parameters.shape[-1]
    if parameters.size == count:
        return np.ascontiguousarray(parameters.reshape(-1))
    block = _core.block_bodies
    rows = np.broadcast_to(parameters, (*shape, count)).reshape(-1, count)
    columns = np.zeros((count, -(-len(rows) // block) * block))
    columns[:, : len(rows)] = rows.T
    return columns


def _turned(axes: ArrayLike, v: Array) -> Array:
    """axes.T @ v: components along the axes."""
    return np.asarray(np.einsum("...ji,...j->...i", np.asarray(axes, np.float64), v))


def _turned_tensor(axes: ArrayLike, tensor: Array) -> Array:
    """axes.T @ tensor @ axes, symmetric to the last bit."""
    A = np.asarray(axes, np.float64)
    turned = np.swapaxes(A, -2, -1) @ tensor @ A
    return 0.5 * (turned + np.swapaxes(turned, -2, -1))


def _diagonal(v: Array) -> Array:
    return v[..., None] * np.eye(3)


def _is_diagonal(tensor: Array) -> bool:
    return not (tensor * (1.0 - np.eye(3))).any()


def _six(tensor: Array) -> Array:
    """(xx, yy, zz, yz, xz, xy) of a symmetric tensor."""
    return tensor[..., [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]


def _inertia(inertia: ArrayLike | None, tensor: ArrayLike | None) -> tuple[Array | None, ...]:
    """The arguments `inertia` and `tensor` of a model, and the one given as a tensor."""
    if inertia is not None and tensor is not None:
        raise TypeError("give inertia or tensor, not both")
    if inertia is not None:
        (moments,) = _finite(("inertia", inertia, (3,)))
        _arrays.check_inertia(moments)
        return moments, None, _diagonal(moments)
    if tensor is not None:
        (full,) = _finite(("tensor", tensor, (3, 3)))
        if np.abs(full - np.swapaxes(full, -2, -1)).max(initial=0) > 1e-12 * np.abs(full).max(
            initial=0
        ):
            raise ValueError("tensor must be symmetric")
        return None, full, full
    return None, None, None


class HeavyTop(Model):
    """A heavy top: a constant weight in space that pulls at a point of the body.

    Parameters
    ----------
    u0 : array_like, shape (..., 3)
        The weight times its arm, space frame: minus the force of gravity, times the distance of
        the centre of mass from the fixed point where `axis` has length 1.
    axis : array_like, shape (..., 3), optional
        The centre of mass, body frame. Broadcasts against `u0`, both against the bodies.

    Notes
    -----
    With u = Q.T @ u0: torque = u x axis (body frame), potential = u . axis.
    Conserved: kinetic energy + potential, and m . u. Source: [CZ08] Sec. 4.3, there axis = e3.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.torques.HeavyTop([0.0, 1.0, 2.0])
    >>> top.torque(0.0, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0])
    array([1., 0., 0.])
    >>> float(top.potential(0.0, [1.0, 0.0, 0.0, 0.0]))
    2.0
    """

    def __init__(self, u0: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.u0, self.axis = _finite(("u0", u0, (3,)), ("axis", axis, (3,)))
        self._set("heavy_top", self.u0, self.axis)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        return self._with(axis=_turned(axes, self.axis))


class LagrangeTop(Model):
    """A top in uniform gravity, its centre of mass on the third axis of the body.

    Parameters
    ----------
    weight : array_like, shape (...), optional
        Mass times gravity times distance of the centre of mass from the fixed point. The third axis
        of space points up.

    Notes
    -----
    With u = Q.T @ (0, 0, 1): torque = weight (u2, -u1, 0) (body frame), potential = weight u3.
    Conserved, beside the energy, are the third components of Q m and, where the first two moments
    are equal, of m. Source: [Krysl07] Secs. 5.2 and 5.3; both tops there have weight 20 and moments
    (5, 5, 1); the slow one starts at omega = (0, 0, 5), turned by 0.05 about axis 1, the fast one
    at (0, 0, 50), turned by 0.3.

    Examples
    --------
    The slow top:

    >>> import numpy as np, polhode as ph
    >>> q0 = ph.so3.exp([0.05, 0.0, 0.0])
    >>> top = ph.torques.LagrangeTop()
    >>> traj = ph.integrate([5, 5, 1], [0, 0, 5], q0, 0.01, 2000, torque=top, save_every=2000)
    >>> bool(abs(traj.energy()[-1] - 32.475) < 1e-3)
    True
    """

    def __init__(self, weight: ArrayLike = 20.0) -> None:
        (self.weight,) = _finite(("weight", weight, ()))
        self._set("lagrange_top", self.weight[..., None])

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        up = self.weight[..., None] * np.array([0.0, 0.0, 1.0])
        return HeavyTop(up, _turned(axes, np.array([0.0, 0.0, 1.0])))


class SoftWall(Model):
    """A charge on an axis of the body above another one in space, and a soft wall between them.

    Parameters
    ----------
    reading : {"printed", "physical"}, optional
        The sign. "printed" is the torque that gives the figures of the source: the charges repel
        each other and the wall attracts. "physical" is what its words say, the opposite.
    axis : array_like, shape (..., 3), optional
        Where the charge is, body frame.
    charge, wall, distance : array_like, shape (...), optional
        c, b and d below.

    Notes
    -----
    With u = Q.T @ (0, 0, 1) and r = d + u . axis: potential = c/r - (b/10) r^-10, torque =
    (-c r^-2 + b r^-11) u x axis (body frame), for "physical" both times -1; the third component of
    Q m is conserved. Source: [Krysl07] Sec. 5.4, where a bracket around the two powers is missing;
    moments (2, 3, 4.5), m0 = (2, 2, 2) there. The "physical" motion comes down to r = 0.445, where
    the wall is steep: it needs steps of 0.05 or less, the "printed" one goes with 0.5.

    Examples
    --------
    >>> import polhode as ph
    >>> wall = ph.torques.SoftWall("physical")
    >>> round(float(wall.potential(0.0, [1.0, 0.0, 0.0, 0.0])), 6)
    -0.47619
    """

    def __init__(
        self,
        reading: str = "printed",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        charge: ArrayLike = 1.0,
        wall: ArrayLike = 0.01,
        distance: ArrayLike = 1.1,
    ) -> None:
        if reading not in ("printed", "physical"):
            raise ValueError(f"reading must be 'printed' or 'physical', not {reading!r}")
        self.reading = reading
        self.axis, self.charge, self.wall, self.distance = _finite(
            ("axis", axis, (3,)),
            ("charge", charge, ()),
            ("wall", wall, ()),
            ("distance", distance, ()),
        )
        sign = 1.0 if reading == "printed" else -1.0
        scalars = (sign * self.charge, sign * self.wall, self.distance)
        self._set("soft_wall", *(x[..., None] for x in scalars), self.axis)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        return self._with(axis=_turned(axes, self.axis))


class GravityGradient(Model):
    """The gravity gradient torque on a satellite in a given circular orbit.

    Parameters
    ----------
    mean_motion : array_like, shape (...)
        Rate n of the orbit, radians per unit of time: sqrt(mu / R^3) at the radius R.
    position : array_like, shape (..., 3), optional
        Direction from the planet's centre to the satellite at t = 0, space frame.
    normal : array_like, shape (..., 3), optional
        Normal of the orbit, space frame; the satellite goes round it by the right hand. Both
        directions may have any length, `position` need not be normal to it.
    inertia : array_like, shape (..., 3), optional
        Principal moments; those of the integration where neither `inertia` nor `tensor` is given.
    tensor : array_like, shape (..., 3, 3), optional
        Tensor of inertia in the body axes, in place of `inertia`.

    Notes
    -----
    With r = Q.T @ (direction at time t): torque = 3 n^2 r x I r (body frame), potential = (3/2) n^2
    r . I r; what no attitude changes, -(n^2/2) trace(I), is left out. The torque depends on time,
    so the energy is not conserved; energy - n normal . (Q m) is (normal of length 1). The space
    frame does not rotate. Source: the pull of a point mass on a small body, to second order in its
    size over R.

    Examples
    --------
    A satellite that keeps its third axis on the planet, in an orbit of a hundred minutes:

    >>> import numpy as np, polhode as ph
    >>> n = 2 * np.pi / 6000.0
    >>> moments = np.array([120.0, 150.0, 60.0])
    >>> gradient = ph.torques.GravityGradient(n, position=[0.0, 0.0, 1.0], normal=[0.0, 1.0, 0.0])
    >>> traj = ph.integrate(
    ...     moments,
    ...     moments * [0.0, n, 0.0],
    ...     [1.0, 0.0, 0.0, 0.0],
    ...     10.0,
    ...     600,
    ...     torque=gradient,
    ...     save_every=600,
    ... )
    >>> bool(np.allclose(traj.q[-1], [-1.0, 0.0, 0.0, 0.0], atol=1e-9))
    True
    """

    def __init__(
        self,
        mean_motion: ArrayLike,
        position: ArrayLike = (1.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self.inertia, self.tensor, full = _inertia(inertia, tensor)
        self.mean_motion, self.position, self.normal = _finite(
            ("mean_motion", mean_motion, ()),
            ("position", position, (3,)),
            ("normal", normal, (3,)),
        )
        up = _direction("normal", self.normal)
        along = _direction("position", self.position)
        along = along - np.sum(along * up, axis=-1, keepdims=True) * up
        size = np.linalg.norm(along, axis=-1, keepdims=True)
        if (size < 1e-8).any():
            raise ValueError("position must not lie along normal")
        along = along / size
        rate = self.mean_motion
        self._known = full is not None
        weighted = (3 * rate**2)[..., None, None] * (np.zeros((3, 3)) if full is None else full)
        self._set("gravity_gradient", _six(weighted), along, np.cross(up, along), rate[..., None])

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
        """The same from the elements of the orbit.

        Parameters
        ----------
        mu, radius : array_like, shape (...)
            Gravitational parameter of the planet and radius of the orbit.
        inclination, raan, argument_of_latitude : array_like, shape (...), optional
            Inclination, right ascension of the ascending node, and angle from the node to the
            satellite at t = 0, in radians, in the space frame.
        **inertia : Any
            `inertia` or `tensor`.

        Returns
        -------
        torque : GravityGradient

        Examples
        --------
        >>> import polhode as ph
        >>> gradient = ph.torques.GravityGradient.circular(3.986004418e14, 6.878e6, 0.9)
        >>> round(float(gradient.mean_motion), 7)
        0.0011068
        """
        elements = {
            "mu": mu,
            "radius": radius,
            "inclination": inclination,
            "raan": raan,
            "argument_of_latitude": argument_of_latitude,
        }
        numbers = [_arrays.components(name, value) for name, value in elements.items()]
        i, node, u = np.broadcast_arrays(*numbers[2:])
        ascending = np.stack([np.cos(node), np.sin(node), 0 * node], axis=-1)
        normal = np.stack([np.sin(i) * np.sin(node), -np.sin(i) * np.cos(node), np.cos(i)], axis=-1)
        position = np.cos(u)[..., None] * ascending + np.sin(u)[..., None] * np.cross(
            normal, ascending
        )
        rate = np.sqrt(numbers[0] / numbers[1] ** 3)
        return cls(rate, position, normal, **inertia)

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque on bodies of these moments or tensors, unless it has been given some."""
        return self if self._known else self._with(inertia=inertia, tensor=tensor)

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        _require_inertia(self, self._known)
        return super().core_term(shape, matrix)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        if not self._known:
            return self
        full = self.tensor if self.inertia is None else _diagonal(self.inertia)
        assert full is not None
        return self._with(inertia=None, tensor=_turned_tensor(axes, full))


def _direction(name: str, v: Array) -> Array:
    largest = np.abs(v).max(axis=-1, keepdims=True)
    if (largest == 0).any():
        raise ValueError(f"{name} must not be zero")
    v = v / largest
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def _require_inertia(model: Torque, known: bool) -> None:
    if not known:
        raise ValueError(
            f"{type(model).__name__} needs the moments of inertia: give inertia= or tensor= "
            "(`integrate` and `RigidBody.integrate` give their own)"
        )


class Vessel(Model):
    """A ship at sea: restoring moments of buoyancy and linear damping.

    Parameters
    ----------
    mass : array_like, shape (...)
        Mass of the vessel.
    gm_l, gm_t : array_like, shape (...)
        Metacentric heights, longitudinal (pitch) and transverse (roll): of the metacentres above
        the centre of mass.
    damping : array_like, shape (..., 3), optional
        Coefficients D of damping about the axes of the ship, torque per angular velocity; none
        where left out.
    gravity : array_like, shape (...), optional
        Acceleration of gravity; the default is for metres and seconds.
    axes : array_like, shape (3, 3) or (..., 3, 3), optional
        The columns are the axes of the ship (ahead, abeam, vertical) in body components; those of
        the body where left out.
    inertia : array_like, shape (..., 3), optional
        Principal moments, used by the damping; those of the integration where neither `inertia` nor
        `tensor` is given.
    tensor : array_like, shape (..., 3, 3), optional
        Tensor of inertia in the body axes, in place of `inertia`.

    Notes
    -----
    With u = Q.T @ (0, 0, 1), in the axes of the ship: torque = -mass gravity (gm_l u1, gm_t u2, 0)
    x u - D omega (body frame), potential = (mass gravity / 2) (gm_l u1^2 + gm_t u2^2). The third
    axis of space is vertical; yaw has no restoring moment.

    With damping the torque depends on m; where it is the only torque its kick is the exact solution
    of m' = torque at standing attitude, in any axes, for any axis without damping too; in a list
    with others the kick is one classical Runge-Kutta step. Source: [Gus10] eqs. (43) to (45).

    Examples
    --------
    The supply ship of the source, with its strong damping, over 15 seconds:

    >>> import numpy as np, polhode as ph
    >>> ship = ph.torques.Vessel(6.3622e6, gm_l=103.628, gm_t=2.1444, damping=[1e9, 1e9, 1e9])
    >>> moments = np.array([3.2164e8, 5.4782e9, 5.7426e9])
    >>> traj = ph.integrate(
    ...     moments,
    ...     moments * [1.0, 1.0, 1.0],
    ...     [1.0, 0.0, 0.0, 0.0],
    ...     0.0125,
    ...     1200,
    ...     torque=ship,
    ...     save_every=1200,
    ... )
    >>> traj.q[-1].round(3)
    array([-0.992, -0.033,  0.102,  0.067])
    """

    def __init__(
        self,
        mass: ArrayLike,
        gm_l: ArrayLike,
        gm_t: ArrayLike,
        damping: ArrayLike | None = None,
        gravity: ArrayLike = 9.81,
        axes: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self.inertia, self.tensor, full = _inertia(inertia, tensor)
        self.mass, self.gm_l, self.gm_t, self.gravity = _finite(
            ("mass", mass, ()), ("gm_l", gm_l, ()), ("gm_t", gm_t, ()), ("gravity", gravity, ())
        )
        self.damping: Array | None = None
        if damping is not None:
            (self.damping,) = _finite(("damping", damping, (3,)))
            bad = self.damping < 0
            _arrays.refuse("damping", self.damping, bad, 1, "must not be negative")
        self.axes: Array | None = None
        if axes is not None:
            (self.axes,) = _finite(("axes", axes, (3, 3)))
            _arrays.check_attitude(self.axes, (3, 3), "axes")
        weight = self.mass * self.gravity
        restoring = np.stack(
            np.broadcast_arrays(weight * self.gm_l, weight * self.gm_t, 0.0), axis=-1
        )
        restoring = self._in_body(restoring)
        self._known = self.damping is None or not self.damping.any() or full is not None
        if self.damping is None or not self.damping.any():
            self._set("restoring", _six(restoring))
            return
        damping_tensor = self._in_body(self.damping)
        if full is None:  # not known yet: stands for the facts
            full = np.eye(3)
        if _is_diagonal(full) and _is_diagonal(damping_tensor):
            moments, coefficients = (np.diagonal(x, 0, -2, -1) for x in (full, damping_tensor))
            if (moments <= 0).any():
                raise ValueError("a vessel with damping needs positive moments of inertia")
            self._set("vessel", _six(restoring), coefficients / moments)
        else:
            self._set("coupled_vessel", _six(restoring), *_modes(full, damping_tensor))

    def _in_body(self, along_axes: Array) -> Array:
        """A tensor that is diagonal in the axes of the ship, in those of the body."""
        tensor = _diagonal(along_axes)
        return (
            tensor if self.axes is None else _turned_tensor(np.swapaxes(self.axes, -2, -1), tensor)
        )

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque on bodies of these moments or tensors, unless it has been given some."""
        return self if self._known else self._with(inertia=inertia, tensor=tensor)

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        _require_inertia(self, self._known)
        return super().core_term(shape, matrix)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        to_new = np.swapaxes(np.asarray(axes, np.float64), -2, -1)
        changes: dict[str, Any] = {"axes": to_new if self.axes is None else to_new @ self.axes}
        full = self.tensor if self.inertia is None else _diagonal(self.inertia)
        if full is not None:
            changes |= {"inertia": None, "tensor": _turned_tensor(axes, full)}
        return self._with(**changes)


def _modes(inertia: Array, damping: Array) -> tuple[Array, Array, Array]:
    """k, X and X^-1, matrices row by row, with damping inertia^-1 = X diag(k) X^-1."""
    values, vectors = np.linalg.eigh(inertia)
    if (values <= 0).any():
        raise ValueError("a vessel with damping needs positive moments of inertia")
    transposed = np.swapaxes(vectors, -2, -1)
    root = np.sqrt(values)[..., None, :]
    half, inverse = (vectors * root) @ transposed, (vectors / root) @ transposed
    k, modes = np.linalg.eigh(inverse @ damping @ inverse)
    X, X_inverse = half @ modes, np.swapaxes(modes, -2, -1) @ inverse
    return k, X.reshape(*X.shape[:-2], 9), X_inverse.reshape(*X.shape[:-2], 9)


class Dipole(Model):
    """A dipole fixed in the body, in a uniform field: molecules, compass needles, satellites.

    Parameters
    ----------
    moment : array_like, shape (..., 3)
        Dipole moment, body frame.
    field : array_like, shape (..., 3)
        Field, space frame: electric for an electric moment, magnetic for a magnetic one.

    Notes
    -----
    With F = Q.T @ field: torque = moment x F (body frame), potential = -moment . F. Conserved:
    energy, and field . (Q m).

    Examples
    --------
    Water (1.855 debye along axis 3) in a field of 1e7 V/m, in newton metres:

    >>> import polhode as ph
    >>> water = ph.torques.Dipole([0.0, 0.0, 6.187e-30], field=[1e7, 0.0, 0.0])
    >>> water.torque(0.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]) + 0.0
    array([0.000e+00, 6.187e-23, 0.000e+00])
    """

    def __init__(self, moment: ArrayLike, field: ArrayLike) -> None:
        self.moment, self.field = _finite(("moment", moment, (3,)), ("field", field, (3,)))
        # A heavy top whose weight is minus the field.
        self._set("heavy_top", -self.field, self.moment)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        return self._with(moment=_turned(axes, self.moment))


class Constant(Model):
    """A constant torque.

    Parameters
    ----------
    value : array_like, shape (..., 3)
        The torque, in the frame `frame`.
    frame : {"body", "space"}, optional
        Where it is constant: in the body (a thruster) or in space.

    Notes
    -----
    No potential: work depends on the way. In space, Q m - torque t is conserved.

    Examples
    --------
    >>> import polhode as ph
    >>> thruster = ph.torques.Constant([0.0, 0.0, 0.5])
    >>> traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.1, 10, torque=thruster)
    >>> traj.m[-1].round(12)
    array([0. , 0. , 1.5])
    """

    def __init__(self, value: ArrayLike, frame: str = "body") -> None:
        self.frame = _frame(frame)
        (self.value,) = _finite(("value", value, (3,)))
        self._set(f"constant_{frame}", self.value)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        return self if self.frame == "space" else Constant(_turned(axes, self.value))


def _frame(frame: str) -> str:
    if frame not in ("body", "space"):
        raise ValueError(f"frame must be 'body' or 'space', not {frame!r}")
    return frame


class Prescribed(Model):
    """A torque that is given as a function of time.

    Parameters
    ----------
    values : callable, piecewise polynomial or array_like, shape (T, ..., 3)
        The torque in the frame `frame`, as one of

        - samples at the times `times`: linear between them, constant before the first and after
          the last, as `numpy.interp` does it;
        - a piecewise polynomial of degree 3 or less with values of shape (..., 3), as SciPy makes
          them (`CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `PPoly`): anything with
          breakpoints ``x`` and coefficients ``c``, continued by its first and last polynomials;
          with ``extrapolate=False`` there is no torque outside the breakpoints (`torque` gives
          NaN), and `integrate` refuses to ask for it;
        - a function ``f(t) -> (..., 3)`` of time, called from Python once a kick.
    times : array_like, shape (T,), optional
        Times of the samples, ascending.
    frame : {"body", "space"}, optional
        The frame of the components.

    Notes
    -----
    Samples and polynomials are evaluated in the core; the torque of a kick is that at the time
    which the free flows have reached. Of some schemes this time lies outside the step, see
    `Splitting.times`: data that end with the run do not serve them, and `integrate` raises
    ValueError before any work. Samples may end earlier: the torque is held at the last one where
    the run itself goes on after it. A kink, at a sample too, lowers the order of a scheme unless a
    step ends there. No potential: the energy is what the torque makes it.

    Examples
    --------
    A thruster that is switched on slowly:

    >>> import polhode as ph
    >>> burn = ph.torques.Prescribed([[0, 0, 0.0], [0, 0, 1.0]], times=[0.0, 2.0])
    >>> traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.5, 6, torque=burn)
    >>> traj.m[-1].round(12)
    array([0., 0., 3.])
    """

    def __init__(self, values: Any, times: ArrayLike | None = None, frame: str = "body") -> None:
        self.values = values
        self.times: Array | None = None
        self.frame = _frame(frame)
        if hasattr(values, "c") and hasattr(values, "x"):
            if times is not None:
                raise TypeError("a piecewise polynomial has its own times")
            bounds, origins, table = _of_polynomial(values)
        elif callable(values):
            if times is not None:
                raise TypeError("a function of time needs no times")
            bounds, origins, table = np.zeros(0), np.zeros(1), np.zeros((1, 4, 3))
            self.in_core = False
        else:
            if times is None:
                raise TypeError("samples need times")
            self.values, self.times, bounds, origins, table = _of_samples(values, times)
        if self.times is not None:
            self.held = True
            if len(self.times) > 1:  # one sample: a constant torque
                self.span = float(self.times[0]), float(self.times[-1])
        elif self.in_core and not getattr(values, "extrapolate", True):
            self.span = float(values.x[0]), float(values.x[-1])
        self._bounds, self._origins = bounds, origins
        self._table = np.moveaxis(table, 1, -2).reshape(len(origins), *table.shape[2:-1], 12)
        self._set(f"prescribed_{frame}", self._table[0])
        if not self.in_core:
            self.has_modified = False

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        columns = [_columns(interval, shape) for interval in self._table]
        return self.index, np.stack(columns), 0, 0, self._bounds, self._origins

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3), see `Model.torque`."""
        if self.in_core:
            return super().torque(t, m, attitude)
        momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"m": momenta.batch, "attitude": q.batch})
        value = _fitting("torque", self.values(t), (*shape, 3))
        return value if self.frame == "body" else _to_body(q.array, value)

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes, see `Model.in_axes`."""
        if self.frame == "space":
            return self
        if not self.in_core:
            return Prescribed(lambda t: _turned(axes, _returned("torque", self.values(t))))
        if self.times is None:
            return Prescribed(_Piecewise(self.values, axes))
        return Prescribed(_turned_behind(1, axes, self.values), self.times)


def _turned_behind(count: int, axes: ArrayLike, v: Array) -> Array:
    """axes.T @ v where v has `count` axes before those of the bodies."""
    missing = max(np.ndim(axes) - 2 - (v.ndim - count - 1), 0)
    return _turned(axes, v.reshape(*v.shape[:count], *[1] * missing, *v.shape[count:]))


class _Piecewise:
    """A piecewise polynomial of vectors, turned to other axes."""

    def __init__(self, polynomial: Any, axes: Array) -> None:
        self.x = polynomial.x
        self.c = _turned_behind(2, axes, np.asarray(polynomial.c, np.float64))
        self.extrapolate = getattr(polynomial, "extrapolate", True)


def _of_samples(values: ArrayLike, times: ArrayLike) -> tuple[Array, ...]:
    """Linear pieces between samples, constant ones outside: bounds, origins, coefficients."""
    v, t = _arrays.real_array("values", values), _arrays.real_array("times", times)
    if t.ndim != 1 or len(t) == 0 or v.shape[:1] != t.shape or v.shape[-1:] != (3,) or v.ndim < 2:
        raise ValueError(
            f"values (T, ..., 3) and times (T,) must fit together, not {v.shape} and {t.shape}"
        )
    v, t = v.astype(np.float64), t.astype(np.float64)
    _arrays.refuse("times", t, ~np.isfinite(t), 0, "must be finite")
    _arrays.refuse("times", t[1:], ~(np.diff(t) > 0), 0, "times must ascend")
    _arrays.refuse("values", v, ~np.isfinite(v), 0, "must be finite")
    table = np.zeros((len(t) + 1, 4, *v.shape[1:]))
    table[0, 0], table[1:, 0] = v[0], v
    lengths = np.diff(t).reshape(-1, *[1] * (v.ndim - 1))
    table[1:-1, 1] = np.diff(v, axis=0) / lengths
    return v, t, t, np.concatenate([t[:1], t]), table


def _of_polynomial(polynomial: Any) -> tuple[Array, ...]:
    """The pieces of one of SciPy's piecewise polynomials: bounds, origins, coefficients."""
    x, c = np.asarray(polynomial.x, np.float64), np.asarray(polynomial.c, np.float64)
    if x.ndim != 1 or c.ndim < 3 or c.shape[1] != len(x) - 1 or c.shape[-1] != 3:
        raise ValueError(
            f"a piecewise polynomial must have values of shape (..., 3); its c has shape {c.shape}"
        )
    if len(c) > 4:
        raise ValueError(f"a piecewise polynomial must be of degree 3 or less, not {len(c) - 1}")
    if not (np.diff(x) > 0).all():
        raise ValueError("the breakpoints of a piecewise polynomial must ascend")
    extrapolate = getattr(polynomial, "extrapolate", True)
    if extrapolate == "periodic":
        raise ValueError("periodic piecewise polynomials are not supported: give a function")
    table = np.zeros((len(x) - 1, 4, *c.shape[2:]))
    table[:, : len(c)] = np.moveaxis(c[::-1], 0, 1)
    if extrapolate:
        return x[1:-1], x[:-1], table
    outside = np.full((1, *table.shape[1:]), np.nan)
    # The last breakpoint belongs to the last piece, and times t0 + n h that come to it are rounded.
    bounds = x.copy()
    bounds[0] -= 8 * np.spacing(np.abs(x).max())
    bounds[-1] += 8 * np.spacing(np.abs(x).max())
    return bounds, np.concatenate([x[:1], x]), np.concatenate([outside, table, outside])


def _to_body(attitude: NDArray[Any], v: Array) -> Array:
    """Q.T @ v."""
    if attitude.shape[-1] == 4:
        return np.asarray(_core.so3_rotate(_core.so3_conjugate(attitude), v))
    return np.asarray(_core.so3_rotate_by_matrix(np.swapaxes(attitude, -2, -1), v))


class SpatialMomentum(Torque):
    """A torque given by the angular momentum in space, as a function of time.

    Parameters
    ----------
    L : callable
        ``L(t) -> (..., 3)``: angular momentum, space frame.
    *derivatives : callable
        L', L'', ... as functions of the same kind; a Taylor method of order N needs N - 1 of them,
        a splitting scheme the first.

    Notes
    -----
    The torque is Q.T @ L'(t) in the body frame. A splitting scheme moves m by it; methods that
    take the torque themselves set m = Q.T @ (L(t) + c), c the constant vector of space by which
    `m0` differs from L(t0). Source: [Buss01] Sec. 2.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> L = ph.torques.SpatialMomentum(
    ...     lambda t: np.array([np.cos(t), np.sin(t), 1.0]),
    ...     lambda t: np.array([-np.sin(t), np.cos(t), 0.0]),
    ... )
    >>> traj = ph.integrate([1, 2, 3], L.L(0.0), [1, 0, 0, 0], 0.01, 100, torque=L, save_every=100)
    >>> bool(abs(traj.momentum_spatial()[-1] - L.L(1.0)).max() < 1e-4)
    True
    """

    def __init__(
        self, L: Callable[[float], ArrayLike], *derivatives: Callable[[float], ArrayLike]
    ) -> None:
        for name, part in (
            ("L", L),
            *((f"derivatives[{i}]", d) for i, d in enumerate(derivatives)),
        ):
            if not callable(part):
                raise TypeError(f"{name} must be a function of time, not {type(part).__name__}")
        self.L = L
        self.derivatives = derivatives

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3): Q.T @ L'(t)."""
        if not self.derivatives:
            raise ValueError("SpatialMomentum needs the derivative of L to give a torque")
        momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"m": momenta.batch, "attitude": q.batch})
        return _to_body(q.array, _fitting("derivative", self.derivatives[0](t), (*shape, 3)))

    def in_axes(self, axes: Array) -> Torque:
        """The same torque in other body axes: it is given in space."""
        return self

    def __repr__(self) -> str:
        return f"SpatialMomentum({self.L!r}, {len(self.derivatives)} derivatives)"


class Compiled(Torque):
    """A user-defined compiled torque, called in the core's loop over blocks of bodies.

    Parameters
    ----------
    function : scipy.LowLevelCallable, numba cfunc or ctypes function pointer
        A function of the C signature ::

            void f(int64_t n, int64_t first, int64_t stride, double t,
                   const double *m, const double *attitude, double *torque, void *user_data)

        for n bodies, of which the first is number `first` of the batch (in C order), at time t.
        Arrays lie component by component: ``m[k * stride + i]`` is component k of body
        ``first + i``, k = 0, 1, 2; of `attitude` there are four components (quaternion, scalar
        first) or nine (matrix, row by row), as the integration has them; all three components of
        `torque` have to be set. m and torque are in the body frame, the attitude takes body to
        space. `user_data` is that of the LowLevelCallable, else null.
    depends_on_m : bool, optional
        Whether the torque depends on m, as in `Function`.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``, a Python function for `Trajectory.energy`.
    attitude : {None, "quaternion", "matrix"}, optional
        The form of attitude that the function takes; where it is given, an integration of the other
        form is refused before any work. A C function does not tell, so say it: a function that
        reads four components as a quaternion gives wrong numbers from a matrix.

    Raises
    ------
    TypeError
        The function is none of these kinds.
    ValueError
        Its signature is another one, or is not known.

    Notes
    -----
    The function runs without the GIL, in several threads at once with ``threads`` above 1, so it
    must keep no state. Bodies whose torque comes out NaN become NaN. ``integrate(torque=f)`` takes
    such a function bare as well. A numba function is best written as one loop over i, which the
    compiler then vectorises.

    Examples
    --------
    With numba, a top of weight 0.1 along the third axis of space::

        from numba import carray, cfunc, types as ty

        array = ty.CPointer(ty.float64)


        @cfunc(ty.void(ty.int64, ty.int64, ty.int64, ty.float64, array, array, array, ty.voidptr))
        def top(n, first, stride, t, m, attitude, torque, user_data):
            q = carray(attitude, (4, stride))
            f = carray(torque, (3, stride))
            for i in range(n):
                f[0, i] = 0.2 * (q[2, i] * q[3, i] + q[0, i] * q[1, i])
                f[1, i] = -0.2 * (q[1, i] * q[3, i] - q[0, i] * q[2, i])
                f[2, i] = 0.0


        traj = ph.integrate(inertia, m0, q0, 0.01, 1000, torque=top)
    """

    in_core = True

    def __init__(
        self,
        function: Any,
        depends_on_m: bool = False,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        attitude: str | None = None,
    ) -> None:
        if attitude not in (None, "quaternion", "matrix"):
            raise ValueError(f"attitude must be 'quaternion' or 'matrix', not {attitude!r}")
        if potential is not None and not callable(potential):
            raise TypeError(f"potential must be a function, not {type(potential).__name__}")
        self.function = function
        self._address, self._user_data = _compiled(function)
        self._potential = potential
        self._axes: Array | None = None
        self.attitude = attitude
        self.depends_on_m = bool(depends_on_m)
        self.has_potential = potential is not None
        self._index = _MODELS["compiled_of_m" if depends_on_m else "compiled"][0]

    def check_attitude(self, matrix: bool) -> None:
        """Refuse attitudes that are not of the form `attitude`."""
        form = "matrix" if matrix else "quaternion"
        if self.attitude not in (None, form):
            raise ValueError(
                f"the compiled torque takes attitudes of the form {self.attitude!r}, not {form!r}"
            )

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, as the core takes it."""
        self.check_attitude(matrix)
        none = np.zeros(0)
        parameters = none if self._axes is None else _columns(self._axes, shape)
        return self._index, parameters, self._address, self._user_data, none, none

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3), of bodies that count as the whole batch."""
        momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"m": momenta.batch, "attitude": q.batch})
        matrix = q.core != (4,)
        term = self.core_term(shape, matrix)
        result: Array = _core.torque(term, t, _flat(momenta, shape), _flat(q, shape), matrix)
        return result.reshape(*shape, 3)

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        if self._potential is None:
            raise ValueError("the torque has been given no potential")
        return _exactly("potential", self._potential(t, attitude), _batch_of(attitude))

    def in_axes(self, axes: Array) -> Torque:
        """The torque in other body axes; the function still works in its own."""
        A = np.asarray(axes, np.float64)
        if self._axes is not None:
            A = self._axes[..., :9].reshape(*self._axes.shape[:-1], 3, 3) @ A
        turned = Compiled(self.function, bool(self.depends_on_m), None, self.attitude)
        turned._axes = np.concatenate(
            [A.reshape(*A.shape[:-2], 9), np.asarray(_core.so3_to_quaternion(A))], axis=-1
        )
        turned.batch = A.shape[:-2]
        return turned

    def __repr__(self) -> str:
        return f"Compiled({self.function!r}, depends_on_m={self.depends_on_m})"


#: Types of the arguments of a compiled torque, and those taken for them.
_SIGNATURE = (
    "int64_t",
    "int64_t",
    "int64_t",
    "double",
    "double *",
    "double *",
    "double *",
    "void *",
)
_INTEGERS = ("int64_t", "ssize_t", "npy_intp", "Py_ssize_t", "long long") + (
    ("long",) if ctypes.sizeof(ctypes.c_long) == 8 else ()
)


def _is_compiled(function: Any) -> bool:
    return _is_low_level(function) or _is_cfunc(function) or _is_pointer(function)


#: What all function pointers of ctypes are.
_Pointer: type = ctypes.CFUNCTYPE(None).__mro__[1]


def _is_low_level(function: Any) -> bool:
    return isinstance(function, tuple) and type(function).__name__ == "LowLevelCallable"


def _is_pointer(function: Any) -> bool:
    return isinstance(function, _Pointer)


def _is_cfunc(function: Any) -> bool:
    """Is it one of numba's?"""
    return _is_pointer(getattr(function, "ctypes", None)) and hasattr(function, "address")


def _compiled(function: Any) -> tuple[int, int]:
    """Addresses of a compiled function and of its data, its signature checked."""
    if _is_low_level(function):
        capsule = tuple.__getitem__(function, 0)
        api = ctypes.pythonapi
        api.PyCapsule_GetName.restype = ctypes.c_char_p
        api.PyCapsule_GetPointer.restype = api.PyCapsule_GetContext.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        api.PyCapsule_GetName.argtypes = api.PyCapsule_GetContext.argtypes = [ctypes.py_object]
        name = api.PyCapsule_GetName(capsule)
        _check_signature(_types_of_text(function.signature), function.signature)
        address = api.PyCapsule_GetPointer(capsule, name)
        return address, api.PyCapsule_GetContext(capsule) or 0
    pointer: Any = function.ctypes if _is_cfunc(function) else function
    if not _is_pointer(pointer):
        raise TypeError(
            "a compiled torque must be a scipy.LowLevelCallable, a numba cfunc or a ctypes "
            f"function pointer, not {type(function).__name__}"
        )
    argtypes = getattr(pointer, "argtypes", None)
    if argtypes is None:
        raise ValueError(
            "the signature of the compiled torque is not known: set its argtypes and restype "
            f"(None) for void f({', '.join(_SIGNATURE)})"
        )
    types = [_type_of(x) for x in argtypes]
    result = "void" if pointer.restype is None else _type_of(pointer.restype)
    _check_signature([result, *types], f"{result} ({', '.join(types)})")
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if address is None:
        raise ValueError("the compiled torque is a null pointer")
    return address, 0


def _check_signature(types: Sequence[str], text: str) -> None:
    wanted = ("void", *_SIGNATURE)
    fits = len(types) == len(wanted) and all(
        a == b or (b == "int64_t" and a in _INTEGERS) or (b == "double *" and a == "void *")
        for a, b in zip(types, wanted, strict=True)
    )
    if not fits:
        raise ValueError(
            f"a compiled torque must have the signature void ({', '.join(_SIGNATURE)}), not {text}"
        )


def _types_of_text(signature: str) -> list[str]:
    """Result and arguments of a C signature without names, `const` left out."""
    result, _, arguments = signature.partition("(")
    parts = [result, *arguments.rstrip(") ").split(",")]
    words = (part.replace("*", " * ").split() for part in parts)
    return [" ".join(word for word in part if word != "const") for part in words]


def _type_of(kind: Any) -> str:
    """C's name of a type of ctypes."""
    if kind is ctypes.c_void_p:
        return "void *"
    if kind is ctypes.c_double:
        return "double"
    target = getattr(kind, "_type_", None)
    if isinstance(target, type):
        return f"{_type_of(target)} *"
    if kind is ctypes.c_int64 or kind is ctypes.c_ssize_t:
        return "int64_t"
    return str(getattr(kind, "__name__", kind))


def as_terms(torque: TorqueLike) -> list[Torque]:
    """The `torque` argument of `integrate` as a list of torques that add up."""
    if torque is None:
        return []
    if isinstance(torque, Torque):
        return [torque]
    if _is_compiled(torque):
        return [Compiled(torque)]
    if isinstance(torque, Sequence) and not isinstance(torque, str):
        return [term for part in torque for term in as_terms(part)]
    if callable(torque):
        return [Function(torque)]
    raise TypeError(
        "torque must be None, a model of polhode.torques, a function f(t, m, attitude), a compiled "
        f"function or a list of these, not {type(torque).__name__}"
    )

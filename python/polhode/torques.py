"""Torques for `polhode.integrate`: models in the core and functions of one's own.

A torque is given in the body frame, m' = m x omega + torque. ``u = Q.T @ u0`` below stands for a
vector u0 of space seen from the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array

__all__ = ["Function", "HeavyTop", "Torque"]

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
    has_potential : bool
        Whether `potential` is there, so that the energy of a trajectory is complete.
    has_modified : bool
        Whether `modified` is there, for schemes with a modified potential.
    """

    batch: tuple[int, ...] = ()
    depends_on_m: bool = False
    has_potential: bool = False
    has_modified: bool = False

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3)."""
        raise NotImplementedError

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        raise NotImplementedError


class Function(Torque):
    """A torque of one's own, a Python function of the whole batch.

    Parameters
    ----------
    f : callable
        ``f(t, m, attitude) -> (..., 3)``: torque in the body frame at time t, from the momenta
        (..., 3), body frame, and the attitudes (..., 4) or (..., 3, 3), body to space, as given to
        `integrate`. The arrays are read-only and change after the call: copy what is to be kept.
    depends_on_m : bool, optional
        Whether f depends on m. Its kick is then one classical Runge-Kutta step of order 4, and
        schemes that need a torque of the attitude alone are refused.
    potential : callable, optional
        ``potential(t, attitude) -> (...)``: potential energy, for `Trajectory.energy`.
    W : callable, optional
        ``W(t, attitude) -> (..., 3)`` for schemes with a modified potential,
        ``W = 2 (f x v - Df[Q hat(v)])``, ``v = f / inertia``.

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
        depends_on_m: bool = False,
        potential: Callable[[float, Array], ArrayLike] | None = None,
        W: Callable[[float, Array], ArrayLike] | None = None,
    ) -> None:
        for name, part in (("f", f), ("potential", potential), ("W", W)):
            if part is not None and not callable(part):
                raise TypeError(f"{name} must be a function, not {type(part).__name__}")
        self._f = f
        self._potential = potential
        self._w = W
        self.depends_on_m = bool(depends_on_m)
        self.has_potential = potential is not None
        self.has_modified = W is not None

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Torque, body frame, shape (..., 3): f(t, m, attitude)."""
        return _fitting("torque", self._f(t, m, attitude), m.shape)

    def modified(self, t: float, attitude: Array, shape: tuple[int, ...]) -> Array:
        """W, body frame, shape (..., 3)."""
        assert self._w is not None
        return _fitting("W", self._w(t, attitude), shape)

    def potential(self, t: float, attitude: Array) -> Array:
        """Potential energy, shape (...)."""
        if self._potential is None:
            raise ValueError("the torque has been given no potential")
        return _returned("potential", self._potential(t, attitude))

    def __repr__(self) -> str:
        return f"Function({self._f!r}, depends_on_m={self.depends_on_m})"


def _returned(name: str, value: ArrayLike | None) -> Array:
    """What a function of the user's returned, as doubles."""
    if value is None:
        raise TypeError(f"the {name} function must return real numbers, not None")
    array = _arrays.real_array(f"what the {name} function returns", value)
    return array.astype(np.float64, copy=False)


def _fitting(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    array = _returned(name, value)
    if array.shape == shape:
        return array
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"the {name} function must return shape {shape}, not {array.shape}"
        ) from None


class Model(Torque):
    """A torque that the core knows: numbers per body, `parameters` of shape (..., P)."""

    def __init__(self, name: str, *parts: tuple[str, ArrayLike, int]) -> None:
        self._name = name
        self.index, facts = _MODELS[name]
        self.depends_on_t: bool = facts["depends_on_t"]
        self.depends_on_m = facts["depends_on_m"]
        self.has_potential = facts["has_potential"]
        self.has_modified = facts["has_derivative"]
        operands = [_arrays.Operand(label, value, size) for label, value, size in parts]
        self.batch = _arrays.broadcast({o.name: o.batch for o in operands})
        for operand in operands:
            bad = ~np.isfinite(operand.array.astype(np.float64, copy=False))
            _arrays.refuse(operand.name, operand.array, bad, 0, "must be finite")
        self.parameters = np.concatenate(
            [np.broadcast_to(o.array, self.batch + o.core).astype(np.float64) for o in operands],
            axis=-1,
        )
        self.parameters.flags.writeable = False

    def columns(self, shape: tuple[int, ...]) -> Array:
        """The parameters as the core takes them: (P,) for all, or (P, bodies and padding)."""
        if self.batch == () or self.parameters.size == self.parameters.shape[-1]:
            return np.ascontiguousarray(self.parameters.reshape(-1))
        block = _core.block_bodies
        rows = np.broadcast_to(self.parameters, (*shape, self.parameters.shape[-1]))
        rows = rows.reshape(-1, rows.shape[-1])
        columns = np.zeros((rows.shape[-1], -(-len(rows) // block) * block))
        columns[:, : len(rows)] = rows.T
        return columns

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
        result: Array = _core.torque(
            self.index,
            self.columns(shape),
            t,
            _flat(momenta, shape),
            _flat(q, shape),
            q.core != (4,),
        )
        return result.reshape(*shape, 3)

    def derivative(self, t: float, v: Array, attitude: Array) -> Array:
        """Rate of the torque while the body turns at v (body frame), shape (..., 3)."""
        rate, q = _arrays.Operand("v", v, 3), _arrays.attitude_operand("attitude", attitude)
        shape = _arrays.broadcast({"v": rate.batch, "attitude": q.batch, "parameters": self.batch})
        result: Array = _core.torque_derivative(
            self.index, self.columns(shape), t, _flat(rate, shape), _flat(q, shape), q.core != (4,)
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
        result: Array = _core.potential(
            self.index, self.columns(shape), t, _flat(q, shape), q.core != (4,)
        )
        return result.reshape(shape)


def _flat(operand: _arrays.Operand, shape: tuple[int, ...]) -> Array:
    whole: NDArray[Any] = np.broadcast_to(operand.array, shape + operand.core)
    return np.ascontiguousarray(whole, np.float64).reshape(-1, *operand.core)


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
        super().__init__("heavy_top", ("u0", u0, 3), ("axis", axis, 3))
        self.u0: Array = self.parameters[..., :3]
        self.axis: Array = self.parameters[..., 3:]

    def __repr__(self) -> str:
        return f"HeavyTop(u0={self.u0.tolist()}, axis={self.axis.tolist()})"


def as_terms(torque: TorqueLike) -> list[Torque]:
    """The `torque` argument of `integrate` as a list of torques that add up."""
    if torque is None:
        return []
    if isinstance(torque, Torque):
        return [torque]
    if isinstance(torque, Sequence) and not isinstance(torque, str):
        return [term for part in torque for term in as_terms(part)]
    if callable(torque):
        return [Function(torque)]
    raise TypeError(
        "torque must be None, a model of polhode.torques, a function f(t, m, attitude) or a list "
        f"of these, not {type(torque).__name__}"
    )

"""`Model`, the base class of the torques whose formulas are in the core."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike
from polhode.torques._base import Torque
from polhode.torques._evaluate import columns, from_core

#: Row and facts of each model of the core.
_MODELS: dict[str, tuple[int, dict[str, Any]]] = {
    row["name"]: (i, row) for i, row in enumerate(_core.torque_models())
}


def model_index(name: str) -> int:
    """Row of a model in the core's list."""
    return _MODELS[name][0]


class Model(Torque):
    """A torque that is evaluated in the core: numbers per body, `parameters` of shape (..., P).

    Each argument of a model's constructor is an attribute of that name.
    """

    in_core = True
    any_batch = True
    lacks_potential = False

    def _set(self, name: str, *parts: Array) -> None:
        """Set up the model of this name; the parameters are these parts (..., K) in sequence."""
        self._name = name
        self.index, facts = _MODELS[name]
        self.depends_on_t = facts["depends_on_t"]
        self.depends_on_m = facts["depends_on_m"]
        self.has_potential = facts["has_potential"]
        self.has_modified = facts["has_derivative"]
        if self.has_modified and not self.depends_on_t:
            self.known_derivatives = 2
        self.batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        self.parameters = np.concatenate(
            [np.broadcast_to(part, (*self.batch, part.shape[-1])) for part in parts], axis=-1
        )
        self.parameters.flags.writeable = False

    def _arguments(self) -> dict[str, Any]:
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def _with(self, **changes: Any) -> Self:
        """The same model with other arguments."""
        return type(self)(**{**self._arguments(), **changes})

    def of_body(self, at: tuple[int, ...], shape: tuple[int, ...]) -> Torque | None:
        """The torque on body `at` of a batch of this shape."""
        alone = copy.copy(self)
        alone.parameters = np.broadcast_to(self.parameters, shape + self.parameters.shape[-1:])[at]
        alone.batch = ()
        return alone

    def numbers(self) -> Array | None:
        """The parameters, shape (..., P)."""
        return self.parameters

    def arguments(self) -> dict[str, Any] | None:
        """Arguments of the constructor."""
        return self._arguments()

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, in the form of the core."""
        return self.index, columns(self.parameters, shape)

    def __repr__(self) -> str:
        arguments = (
            f"{name}={value.tolist() if isinstance(value, np.ndarray) else value!r}"
            for name, value in self._arguments().items()
            if value is not None
        )
        return f"{type(self).__name__}({', '.join(arguments)})"

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame.

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

        Raises
        ------
        ValueError
            If the batch shapes do not broadcast, or the model needs an inertia that is not given.
        """
        return from_core(_core.torque, self, t, attitude, m=m)

    def derivative(self, t: float, v: ArrayLike, attitude: AttitudeLike) -> Array:
        """Rate of change of the torque while the body rotates at v, at fixed time.

        Parameters
        ----------
        t : float
            Time.
        v : array_like, shape (..., 3)
            Angular velocity, body frame.
        attitude : array_like, shape (..., 4) or (..., 3, 3)
            Unit quaternion or rotation matrix, body to space.

        Returns
        -------
        derivative : ndarray, shape (..., 3)
            Components in the body frame.

        Raises
        ------
        ValueError
            If the model has no derivative (`has_modified` is False).
        """
        if not self.has_modified:
            raise ValueError(f"{type(self).__name__} has no derivative")
        return from_core(_core.torque_derivative, self, t, attitude, v=v)

    def potential(self, t: float, attitude: AttitudeLike) -> Array:
        """Potential energy.

        Parameters
        ----------
        t : float
            Time.
        attitude : array_like, shape (..., 4) or (..., 3, 3)
            Unit quaternion or rotation matrix, body to space.

        Returns
        -------
        potential : ndarray, shape (...)

        Raises
        ------
        ValueError
            If the model has no potential (`has_potential` is False).
        """
        if not self.has_potential:
            raise ValueError(f"{type(self).__name__} has no potential")
        return from_core(_core.potential, self, t, attitude)


def finite(*parts: tuple[str, ArrayLike, tuple[int, ...]]) -> list[Array]:
    """Named arguments as doubles. The shapes of their last axes are checked; they broadcast."""
    operands = [_arrays.Operand(name, value, *core) for name, value, core in parts]
    _arrays.broadcast({o.name: o.batch for o in operands})
    arrays = []
    for operand in operands:
        array = operand.array.astype(np.float64)
        _arrays.refuse(operand.name, operand.array, ~np.isfinite(array), 0, "must be finite")
        array.flags.writeable = False
        arrays.append(array)
    return arrays


def frame_of(frame: str) -> str:
    """The argument `frame` of a model, checked."""
    if frame not in ("body", "space"):
        raise ValueError(f"frame must be 'body' or 'space', not {frame!r}")
    return frame

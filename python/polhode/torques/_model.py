"""The base classes of the torques whose formulas are in the core."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike
from polhode.torques._base import Torque

#: Row and facts of each model of the core.
_MODELS: dict[str, tuple[int, dict[str, Any]]] = {
    row["name"]: (i, row) for i, row in enumerate(_core.torque_models())
}


def model_index(name: str) -> int:
    """Row of a model in the core's list."""
    return _MODELS[name][0]


def from_core(
    function: Callable[..., Array], torque: Torque, t: float, attitude: AttitudeLike, **vectors: Any
) -> Array:
    """The result of a function of the core for a torque at each body; all arrays broadcast."""
    operands = [_arrays.Operand(name, v, 3) for name, v in vectors.items()]
    operands.append(_arrays.attitude_operand("attitude", attitude))
    shape = _arrays.broadcast({**{o.name: o.batch for o in operands}, "parameters": torque.batch})
    matrix = operands[-1].core != (4,)
    *flat, q = (_flat(o, shape) for o in operands)
    result = function(torque.core_term(shape, matrix), t, q, matrix, *flat)
    return result.reshape((*shape, *((3,) if flat else ())))


def _flat(operand: _arrays.Operand, shape: tuple[int, ...]) -> Array:
    whole: NDArray[Any] = np.broadcast_to(operand.array, shape + operand.core)
    return np.ascontiguousarray(whole, np.float64).reshape(-1, *operand.core)


def columns(parameters: Array, shape: tuple[int, ...]) -> Array:
    """Parameters (..., P) component by component; (P,) if shared.

    Padded to whole blocks, and so that a pack, of up to 16 bodies, may begin at every body.
    """
    count = parameters.shape[-1]
    if parameters.size == count:
        return np.ascontiguousarray(parameters.reshape(-1))
    block = _core.block_bodies
    rows = np.broadcast_to(parameters, (*shape, count)).reshape(-1, count)
    padded = np.zeros((count, -(-(len(rows) + 15) // block) * block))
    padded[:, : len(rows)] = rows.T
    return padded


class Model(Torque):
    """A torque that is evaluated in the core: numbers per body, `parameters` of shape (..., P).

    Each argument of a model's constructor is an attribute of that name.
    """

    in_core = True
    any_batch = True
    independent = True
    lacks_potential = False

    def _set(self, name: str, *parts: Array) -> None:
        """Set up the model of this name; the parameters are these parts (..., K) in sequence."""
        self._name = self.series = name
        self.index, facts = _MODELS[name]
        self.depends_on_t = facts["depends_on_t"]
        self.depends_on_m = facts["depends_on_m"]
        self.has_potential = facts["has_potential"]
        self.has_modified = facts["has_derivative"]
        self.states = facts["states"]
        if self.has_modified and not self.depends_on_t:
            self.known_derivatives = 2
        self.batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        self.parameters = np.concatenate(
            [np.broadcast_to(part, (*self.batch, part.shape[-1])) for part in parts], axis=-1
        )
        self.parameters.flags.writeable = False

    def of_body(self, at: tuple[int, ...], shape: tuple[int, ...]) -> Torque | None:
        alone = copy.copy(self)
        alone.parameters = np.broadcast_to(self.parameters, shape + self.parameters.shape[-1:])[at]
        alone.batch = ()
        return alone

    def numbers(self) -> Array | None:
        return self.parameters

    def arguments(self) -> dict[str, Any] | None:
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        return self.index, columns(self.parameters, shape)

    def __repr__(self) -> str:
        arguments = (
            f"{name}={value.tolist() if isinstance(value, np.ndarray) else value!r}"
            for name, value in (Model.arguments(self) or {}).items()
            if value is not None
        )
        return f"{type(self).__name__}({', '.join(arguments)})"

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3).

        Time t, angular momentum m (..., 3) in the body frame and attitude (..., 4) or (..., 3, 3),
        body to space, broadcast together and against the parameters. Raises ValueError if they do
        not, or if the model needs an inertia that is not given.
        """
        return from_core(_core.torque, self, t, attitude, m=m)

    def derivative(self, t: float, v: ArrayLike, attitude: AttitudeLike) -> Array:
        """Rate of change of the torque while the body rotates at v, at fixed time.

        v is an angular velocity (..., 3), the result has this shape, both in the body frame; else
        as `torque`. Raises ValueError if the model has no derivative (`has_modified` is False).
        """
        if not self.has_modified:
            raise ValueError(f"{type(self).__name__} has no derivative")
        return from_core(_core.torque_derivative, self, t, attitude, v=v)

    def potential(self, t: float, attitude: AttitudeLike) -> Array:
        """Potential energy, shape (...), of attitudes as in `torque`.

        Raises ValueError if the model has no potential (`has_potential` is False).
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


class ModelOfInertia(Model):
    """A model with the arguments `inertia` and `tensor`; at most one of them is given.

    Without an inertia the torque cannot be evaluated (`_known` is False): `integrate` passes the
    inertia of its bodies.
    """

    inertia: Array | None
    tensor: Array | None
    _known: bool

    def _set_inertia(self, inertia: ArrayLike | None, tensor: ArrayLike | None) -> None:
        self.inertia = self.tensor = None
        if inertia is not None and tensor is not None:
            raise TypeError("give inertia or tensor, not both")
        if inertia is not None:
            (self.inertia,) = finite(("inertia", inertia, (3,)))
            _arrays.check_inertia(self.inertia)
        elif tensor is not None:
            (full,) = finite(("tensor", tensor, (3, 3)))
            limit = _arrays.tolerance(1e-12, _arrays.real_array("tensor", tensor))
            off = np.abs(full - np.swapaxes(full, -2, -1)).max(initial=0)
            if off > limit * np.abs(full).max(initial=0):
                raise ValueError("tensor must be symmetric")
            self.tensor = full
        self._known = inertia is not None or tensor is not None

    def _full(self) -> Array | None:
        """The inertia as a tensor, from `inertia` or `tensor`."""
        return self.tensor if self.inertia is None else diagonal(self.inertia)

    def _inverse(self) -> Array:
        """The inverse of the inertia; 0 about the axis of a rod, and ones if it is not known."""
        full = np.eye(3) if (known := self._full()) is None else known
        if is_diagonal(full):
            return diagonal(_reciprocal(np.diagonal(full, 0, -2, -1)))
        values, vectors = np.linalg.eigh(full)
        J = (vectors * _reciprocal(values)[..., None, :]) @ np.swapaxes(vectors, -2, -1)
        return np.asarray(0.5 * (J + np.swapaxes(J, -2, -1)))

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque for these moments or tensors; unchanged if it already has an inertia."""
        if self._known:
            return self
        return type(self)(**{**(self.arguments() or {}), "inertia": inertia, "tensor": tensor})

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        if not self._known:
            raise ValueError(
                f"{type(self).__name__} needs the moments of inertia: give inertia= or tensor= "
                "(`integrate` and `RigidBody.integrate` give their own)"
            )
        return super().core_term(shape, matrix)


def _reciprocal(moments: Array) -> Array:
    """1/moments; 0 for moments within 4 eps of the largest from zero."""
    zero = moments <= 2.0**-50 * moments.max(axis=-1, keepdims=True)
    return np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, moments))


def turned_tensor(axes: ArrayLike, tensor: Array) -> Array:
    """axes.T @ tensor @ axes, exactly symmetric."""
    columns = np.swapaxes(np.asarray(axes, np.float64), -2, -1)
    product = _arrays.times_transposed(columns, tensor)  # which is symmetric
    components = _arrays.times_transposed(product, columns)
    return 0.5 * (components + np.swapaxes(components, -2, -1))


def diagonal(v: Array) -> Array:
    """Tensors (..., 3, 3) with this diagonal (..., 3)."""
    return v[..., None] * np.eye(3)


def is_diagonal(tensor: Array) -> bool:
    """True if all tensors are diagonal."""
    return not (tensor * (1.0 - np.eye(3))).any()


def six(tensor: Array) -> Array:
    """(xx, yy, zz, yz, xz, xy) of a symmetric tensor."""
    return tensor[..., [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]

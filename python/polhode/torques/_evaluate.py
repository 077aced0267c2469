"""Calls of torques in the core for any batch, and checked calls of user-defined functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike
from polhode._axes import to_body
from polhode.torques._base import Torque


def from_core(
    function: Callable[..., Array], torque: Torque, t: float, attitude: AttitudeLike, **vectors: Any
) -> Array:
    """The result of a function of the core for a torque at each body; all arrays broadcast."""
    operands = [_arrays.Operand(name, v, 3) for name, v in vectors.items()]
    operands.append(_arrays.attitude_operand("attitude", attitude))
    shape = _arrays.broadcast({**{o.name: o.batch for o in operands}, "parameters": torque.batch})
    matrix = operands[-1].core != (4,)
    result = function(
        torque.core_term(shape, matrix), t, *(_flat(o, shape) for o in operands), matrix
    )
    return result.reshape((*shape, *result.shape[1:]))


def in_body(frame: str, name: str, value: Any, m: ArrayLike, attitude: AttitudeLike) -> Array:
    """The torque in the body frame that a function of time returned in the frame `frame`."""
    momenta, q = _arrays.Operand("m", m, 3), _arrays.attitude_operand("attitude", attitude)
    shape = _arrays.broadcast({"m": momenta.batch, "attitude": q.batch})
    vectors = fitting(name, value, (*shape, 3))
    return vectors if frame == "body" else to_body(q.array, vectors)


def _flat(operand: _arrays.Operand, shape: tuple[int, ...]) -> Array:
    whole: NDArray[Any] = np.broadcast_to(operand.array, shape + operand.core)
    return np.ascontiguousarray(whole, np.float64).reshape(-1, *operand.core)


def columns(parameters: Array, shape: tuple[int, ...]) -> Array:
    """Parameters (..., P) component by component, padded to whole blocks; (P,) if shared."""
    count = parameters.shape[-1]
    if parameters.size == count:
        return np.ascontiguousarray(parameters.reshape(-1))
    block = _core.block_bodies
    rows = np.broadcast_to(parameters, (*shape, count)).reshape(-1, count)
    padded = np.zeros((count, -(-len(rows) // block) * block))
    padded[:, : len(rows)] = rows.T
    return padded


def check_functions(parts: dict[str, Any], of: str = "") -> None:
    """Raise an error for arguments that are not functions."""
    for name, part in parts.items():
        if not callable(part):
            raise TypeError(f"{name} must be a function{of}, not {type(part).__name__}")


def returned(name: str, value: ArrayLike | None) -> Array:
    """The result of a user-defined function, as doubles."""
    if value is None:
        raise TypeError(f"the {name} function must return real numbers, not None")
    array = _arrays.real_array(f"what the {name} function returns", value)
    return array.astype(np.float64, copy=False)


def exactly(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """The result of a function of the whole batch, with exactly this shape."""
    array = returned(name, value)
    if array.shape != shape:
        spread = f"; one for all bodies is numpy.broadcast_to(value, {shape})" if shape else ""
        raise ValueError(
            f"the {name} function must return shape {shape}, not {array.shape}{spread}"
        )
    return array


def fitting(name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """Vectors (..., 3) that a function of time returned: for each body, or one for all."""
    array = returned(name, value)
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

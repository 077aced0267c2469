"""Vectors and attitudes from frame to frame; a run and a step rotate a body's axes in the core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polhode import _core
from polhode._arrays import Array, times_transposed


def to_body(attitude: NDArray[np.float64], v: Array) -> Array:
    """Vectors of the space frame in the body frame, Q.T @ v."""
    if attitude.shape[-1] == 4:
        return np.asarray(_core.so3_rotate(_core.so3_conjugate(attitude), v))
    return np.asarray(_core.so3_rotate_by_matrix(np.swapaxes(attitude, -2, -1), v))


def to_space(attitude: NDArray[np.float64], v: Array) -> Array:
    """Vectors of the body frame in the space frame, Q @ v."""
    rotate = _core.so3_rotate if attitude.shape[-1] == 4 else _core.so3_rotate_by_matrix
    return np.asarray(rotate(attitude, v))


def attitude_to_body(axes: Array, attitude: Array) -> Array:
    """Attitudes of the body axes from those of the principal axes, columns of `axes`."""
    if attitude.shape[-1] == 4:
        back = _core.so3_conjugate(_core.so3_to_quaternion(axes))
        return np.asarray(_core.so3_multiply(attitude, back))
    return times_transposed(attitude, axes)

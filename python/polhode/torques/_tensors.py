"""Symmetric tensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array


def turned_tensor(axes: ArrayLike, tensor: Array) -> Array:
    """axes.T @ tensor @ axes, exactly symmetric."""
    A = np.asarray(axes, np.float64)
    components = np.swapaxes(A, -2, -1) @ tensor @ A
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

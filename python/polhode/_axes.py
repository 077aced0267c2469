"""Vectors and attitudes in two sets of body axes: the user's and, as a rule, the principal ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polhode import _core
from polhode._arrays import Array


def to_body(attitude: NDArray[np.float64], v: Array) -> Array:
    """Vectors of the space frame in the body frame, Q.T @ v."""
    if attitude.shape[-1] == 4:
        return np.asarray(_core.so3_rotate(_core.so3_conjugate(attitude), v))
    return np.asarray(_core.so3_rotate_by_matrix(np.swapaxes(attitude, -2, -1), v))


def to_space(attitude: NDArray[np.float64], v: Array) -> Array:
    """Vectors of the body frame in the space frame, Q @ v."""
    rotate = _core.so3_rotate if attitude.shape[-1] == 4 else _core.so3_rotate_by_matrix
    return np.asarray(rotate(attitude, v))


class BodyAxes:
    """New body axes, in components along the old ones.

    Parameters
    ----------
    columns : ndarray, shape (..., 3, 3)
        The new axes, column by column, orthonormal and right-handed.

    Attributes
    ----------
    aligned : bool
        Whether old and new axes are the same, for all bodies.
    """

    def __init__(self, columns: Array) -> None:
        self.columns = columns
        # The axes of the first body usually show that they are not all the identity.
        first = columns.reshape(-1, 3, 3)[:1]
        self.aligned = bool((first == np.eye(3)).all() and (columns == np.eye(3)).all())
        self._quaternions: Array | None = None

    def to_new(self, v: Array) -> Array:
        """Vectors (..., 3) from the old axes to the new ones."""
        return v if self.aligned else to_body(self.columns, v)

    def to_old(self, v: Array) -> Array:
        """Vectors (..., 3) from the new axes to the old ones."""
        return v if self.aligned else to_space(self.columns, v)

    def attitude_to_new(self, attitude: Array) -> Array:
        """Attitudes of the new axes from those of the old ones, both body to space."""
        if self.aligned:
            return attitude
        if attitude.shape[-1] == 4:
            return np.asarray(_core.so3_multiply(attitude, self._as_quaternions()))
        return np.asarray(attitude @ self.columns)

    def attitude_to_old(self, attitude: Array) -> Array:
        """Attitudes of the old axes from those of the new ones, both body to space."""
        if self.aligned:
            return attitude
        if attitude.shape[-1] == 4:
            back = _core.so3_conjugate(self._as_quaternions())
            return np.asarray(_core.so3_multiply(attitude, back))
        return np.asarray(attitude @ np.swapaxes(self.columns, -2, -1))

    def _as_quaternions(self) -> Array:
        """Quaternions of the axes, computed when first needed."""
        if self._quaternions is None:
            self._quaternions = np.asarray(_core.so3_to_quaternion(self.columns))
        return self._quaternions

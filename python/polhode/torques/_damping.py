"""`polhode.torques.Damping`; formulas: cpp/include/polhode/torque/damping.hpp."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._model import ModelOfInertia, diagonal, finite, frame_of, is_diagonal, six


class Damping(ModelOfInertia):
    """Linear damping: a torque against the angular velocity.

    Parameters
    ----------
    D : array_like, shape (), (..., 3) or (..., 3, 3)
        Coefficients, torque per angular velocity: one number for all directions and bodies, those
        of the three axes, or symmetric tensors. A (3, 3) array is one tensor. Not negative (a
        tensor: positive semidefinite).
    frame : {"body", "space"}, optional
        The frame in which D is constant: the body frame, as for a fluid around the body, or the
        space frame, as for eddy currents in a field, ``D = k (B . B - B B^T)``.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor in the body axes; by default those of the integration.

    Raises
    ------
    ValueError
        If D is negative in some direction, or not symmetric (to 1e-12 of its largest component).

    Notes
    -----
    torque = -D omega (body frame); with "space" D is replaced by Q.T @ D @ Q. There is no
    potential; the power of the torque is -omega . D omega. A kick is the exact solution, a matrix
    exponential. Error of a kick: a few eps (1 + k h) of m, k the largest rate D/I.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> drag = ph.torques.Damping(0.5)
    >>> traj = ph.integrate([1, 1, 1], [0, 0, 1], [1, 0, 0, 0], 0.1, 20, torque=drag)
    >>> bool(np.isclose(traj.m[-1, 2], np.exp(-0.5 * 2.0), rtol=1e-14))
    True
    """

    def __init__(
        self,
        D: ArrayLike,
        frame: str = "body",
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        self.frame = frame_of(frame)
        self.D, full = symmetric("D", D)
        J = self._inverse()
        if (full == full[..., :1, :1] * np.eye(3)).all():
            frame = "body"  # the same in all axes
        if frame == "space":
            self._set("space_damping", six(full), six(J))
        elif is_diagonal(full) and is_diagonal(J):
            self._set("damping", np.diagonal(full, 0, -2, -1) * np.diagonal(J, 0, -2, -1))
        else:
            self._set("coupled_damping", nine(-_arrays.times_transposed(full, J)))


def nine(matrix: Array) -> Array:
    """The components of matrices (..., 3, 3), row by row."""
    return matrix.reshape(*matrix.shape[:-2], 9)


def symmetric(name: str, value: ArrayLike) -> tuple[Array, Array]:
    """A number, numbers of three axes or tensors: as given, and as tensors (..., 3, 3).

    Raises ValueError if they are not symmetric and positive semidefinite.
    """
    shape = _arrays.real_array(name, value).shape
    core = (3, 3) if shape[-2:] == (3, 3) else (3,) if shape else ()
    (given,) = finite((name, value, core))
    if core != (3, 3):
        _arrays.refuse(name, given, given < 0, len(core), "must not be negative")
        return given, diagonal(given * np.ones(3))
    largest = np.abs(given).max(axis=(-2, -1))
    off = np.abs(given - np.swapaxes(given, -2, -1)).max(axis=(-2, -1)) > 1e-12 * largest
    if off.any():
        raise ValueError(f"{name} must be symmetric")
    if (np.linalg.eigvalsh(given)[..., 0] < -1e-12 * largest).any():
        raise ValueError(f"{name} must be positive semidefinite")
    return given, given

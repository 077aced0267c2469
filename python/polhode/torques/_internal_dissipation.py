"""`InternalDissipation`; formulas: cpp/include/polhode/torque/internal_dissipation.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._damping import symmetric
from polhode.torques._model import ModelOfInertia, six


class InternalDissipation(ModelOfInertia):
    """Dissipation inside the body: a tumbling body relaxes to rotation about one axis.

    Parameters
    ----------
    R : array_like, shape (), (..., 3) or (..., 3, 3)
        The mobility: one number for all directions and bodies, numbers for the three axes, or
        symmetric tensors (body frame). A (3, 3) array is one tensor. Not negative.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor in the body axes; by default those of the integration.

    Raises
    ------
    ValueError
        If R is negative in some direction, or not symmetric (to 1e-12 of its largest component).

    Notes
    -----
    There is no torque: the angular momentum in space, Q m, is constant. As the only torque it keeps
    Q m to a few eps over any number of steps: m follows from it after each kick. The body
    turns at omega + d in place of omega = I^-1 m, with d = R (m x omega) (body frame): Q' = Q
    hat(omega + d), m' = m x (omega + d). The energy m . omega / 2 decreases by (m x omega) . R (m x
    omega) per unit of time, until the body rotates about the axis of its greatest moment.

    R = alpha is double bracket dissipation [BKMR96]. A sphere with the moment J, in a cavity with
    the viscous torque c (relative rate), gives R = (J^2/c) I^-2 if c/J is much greater than
    |omega|; I is the inertia of body and sphere. d must be small against omega.

    For splitting schemes only. A kick is a Munthe-Kaas step of order 4, and NaN where it is too
    long to be stable. In a list with other torques, between two halves of it, the order is 2.

    Examples
    --------
    A body that spins about its first axis, almost:

    >>> import numpy as np, polhode as ph
    >>> inside = ph.torques.InternalDissipation(0.05)
    >>> start = [1.0, 2.0, 3.0], [1.0, 0.01, 0.02], [1.0, 0.0, 0.0, 0.0]
    >>> traj = ph.integrate(*start, 0.1, 6000, torque=inside, save_every=6000)
    >>> traj.energy().round(4)
    array([0.5001, 0.1668])
    >>> L = traj.momentum_spatial()
    >>> bool(np.abs(L[1] - L[0]).max() < 1e-14)
    True
    """

    splits_only = True

    def __init__(
        self,
        R: ArrayLike,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        self.R, full = symmetric("R", R)
        self._set("internal_dissipation", six(full), six(self._inverse()))

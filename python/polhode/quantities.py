"""Quantities of a rigid body in a state: momentum, angular velocity, energy, Casimir."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _core, so3
from polhode._arrays import (
    ZERO_MOMENT,
    attitude_core,
    broadcast,
    check_attitude,
    check_inertia,
    check_rod_momentum,
    components,
    real_array,
)

__all__ = ["casimir", "energy", "momentum", "momentum_spatial", "omega"]

Array = NDArray[np.float64]


def momentum(inertia: ArrayLike, omega: ArrayLike) -> Array:
    """Angular momentum in the body frame, ``m_i = I_i omega_i``.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes.
    omega : array_like, shape (..., 3)
        Angular velocity, body frame, radians per time. Broadcasts against `inertia`.

    Returns
    -------
    m : ndarray, shape (..., 3)
        Angular momentum, body frame. Units are any consistent set.

    Raises
    ------
    ValueError
        If a moment is no moment of a body (negative, not finite, two of three zero), a last axis
        has not three components or the shapes do not broadcast. A NaN in `omega` is no error.

    Notes
    -----
    Each component is correctly rounded.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.momentum([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    array([0.1, 0.4, 0.9])
    """
    moments, rates = components("inertia", inertia, 3), components("omega", omega, 3)
    _rods(moments)
    broadcast({"inertia": moments.shape[:-1], "omega": rates.shape[:-1]})
    return np.asarray(_core.momentum(moments, rates))


def omega(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Angular velocity in the body frame, ``omega_i = m_i / I_i``.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes. One of them may be zero (a rod); a moment
        within 4 eps of the largest from zero counts as zero.
    m : array_like, shape (..., 3)
        Angular momentum, body frame. Broadcasts against `inertia`.

    Returns
    -------
    omega : ndarray, shape (..., 3)
        Angular velocity, body frame, radians per time; zero about the axis of a zero moment.

    Raises
    ------
    ValueError
        If a moment is no moment of a body, a rod has momentum about itself of more than
        1e-12 ``|m|``, a last axis has not three components or the shapes do not broadcast. A NaN in
        `m` is no error.

    Notes
    -----
    Each component is correctly rounded.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.omega([0.0, 2.0, 2.0], [0.0, 1.0, 3.0])
    array([0. , 0.5, 1.5])
    """
    return np.asarray(_core.omega(*_state(inertia, m)))


def energy(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Kinetic energy, ``sum(m_i**2 / I_i) / 2``.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes. One of them may be zero (a rod).
    m : array_like, shape (..., 3)
        Angular momentum, body frame. Broadcasts against `inertia`.

    Returns
    -------
    energy : ndarray, shape (...)
        Kinetic energy.

    Raises
    ------
    ValueError
        As `omega`.

    Notes
    -----
    Relative error below 2 eps (eps = 2.2e-16). Over- and underflow only where the energy does.

    Examples
    --------
    >>> import polhode as ph
    >>> float(ph.energy([1.0, 2.0, 4.0], [1.0, 2.0, 2.0]))
    2.0
    """
    result: Array = _core.energy(*_state(inertia, m))
    return result


def casimir(m: ArrayLike) -> Array:
    """Casimir ``|m|**2 / 2``, whose gradient is `m`; constant where there is no torque.

    Parameters
    ----------
    m : array_like, shape (..., 3)
        Angular momentum, body frame.

    Returns
    -------
    casimir : ndarray, shape (...)
        Half the square of the length of `m`.

    Raises
    ------
    ValueError
        If the last axis has not three components.

    Notes
    -----
    Relative error below 2 eps. Over- and underflow only where the Casimir does.

    Examples
    --------
    >>> import polhode as ph
    >>> float(ph.casimir([1.0, 2.0, 2.0]))
    4.5
    """
    result: Array = _core.casimir(components("m", m, 3))
    return result


def momentum_spatial(m: ArrayLike, q: ArrayLike) -> Array:
    """Angular momentum in the space frame, ``Q m``; constant where there is no torque.

    Parameters
    ----------
    m : array_like, shape (..., 3)
        Angular momentum, body frame.
    q : array_like, shape (..., 4) or (..., 3, 3)
        Attitude, body to space: quaternion, scalar first, or rotation matrix. Broadcasts
        against `m`. A quaternion of any size but zero stands for ``q / |q|``.

    Returns
    -------
    momentum_spatial : ndarray, shape (..., 3)
        Angular momentum, space frame.

    Raises
    ------
    ValueError
        If a quaternion is zero, a matrix is no rotation (an entry of ``Q.T @ Q - 1`` above 1e-5, or
        a negative determinant), or the shapes are wrong or do not broadcast. A NaN in a body is no
        error.

    Notes
    -----
    Within 4 eps ``|m|`` for a quaternion; for a matrix it is the product with the matrix as given.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.momentum_spatial([1.0, 2.0, 3.0], [0.5**0.5, 0.0, 0.0, 0.5**0.5]).round(12)
    array([-2.,  1.,  3.])
    """
    attitude = real_array("q", q)
    core = attitude_core("q", attitude)
    momenta = components("m", m, 3)
    broadcast({"m": momenta.shape[:-1], "q": attitude.shape[: -len(core)]})
    if core == (4,):
        return so3.rotate(attitude, momenta)
    matrix = components("q", attitude, 3, 3)
    check_attitude(matrix, core)
    return np.asarray(_core.so3_rotate_by_matrix(matrix, momenta))


def _rods(moments: Array) -> bool:
    """Refuse moments that no body has; True if some body is a rod."""
    if moments.size == 0:
        return False
    least, largest = moments.min(), moments.max()
    if least > ZERO_MOMENT * largest and largest < np.inf:
        return False  # all well above zero: nothing to look for body by body
    return check_inertia(moments)


def _state(inertia: ArrayLike, m: ArrayLike) -> tuple[Array, Array]:
    """Moments and momenta, checked."""
    moments, momenta = components("inertia", inertia, 3), components("m", m, 3)
    rods = _rods(moments)
    broadcast({"inertia": moments.shape[:-1], "m": momenta.shape[:-1]})
    if rods:
        check_rod_momentum(moments, momenta)
    return moments, momenta

"""Quantities of a rigid body in a state: momentum, angular velocity, energy, Casimir."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import AttitudeLike, Operand, by_chunks

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
        Angular momentum, body frame, each component correctly rounded. Units are any consistent
        set.

    Raises
    ------
    ValueError
        If the inertia is invalid (a moment is negative or not finite, or all three are zero),
        if a last axis does not have three components or if the shapes do not broadcast. A NaN in
        `omega` raises no error and gives NaN.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.momentum([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    array([0.1, 0.4, 0.9])
    """
    moments, rates = Operand("inertia", inertia, 3), Operand("omega", omega, 3)
    _arrays.check_inertia(moments.array)
    _arrays.broadcast({"inertia": moments.batch, "omega": rates.batch})
    return by_chunks(_core.momentum, (3,), moments, rates)


def omega(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Angular velocity in the body frame, ``omega_i = m_i / I_i``.

    Parameters
    ----------
    inertia : array_like, shape (..., 3)
        Principal moments in the order of the body axes. One (a rod) or two (a planar rotor) may be
        zero; a moment below 4 eps times the largest counts as zero.
    m : array_like, shape (..., 3)
        Angular momentum, body frame. Broadcasts against `inertia`.

    Returns
    -------
    omega : ndarray, shape (..., 3)
        Angular velocity, body frame, radians per time; zero about the axis of a zero moment. Each
        component is correctly rounded.

    Raises
    ------
    ValueError
        As `momentum`, or if m has more than 1e-12 ``|m|`` about an axis of zero moment.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.omega([0.0, 2.0, 2.0], [0.0, 1.0, 3.0])
    array([0. , 0.5, 1.5])
    """
    return by_chunks(_core.omega, (3,), *_state(inertia, m))


def energy(inertia: ArrayLike, m: ArrayLike) -> Array:
    """Kinetic energy, ``sum(m_i**2 / I_i) / 2``.

    Parameters
    ----------
    inertia, m : array_like, shape (..., 3)
        As in `omega`.

    Returns
    -------
    energy : ndarray, shape (...)
        Kinetic energy, with a relative error below 2 eps (eps = 2.2e-16). It overflows or
        underflows only if the energy itself does.

    Raises
    ------
    ValueError
        As `omega`.

    Examples
    --------
    >>> import polhode as ph
    >>> float(ph.energy([1.0, 2.0, 4.0], [1.0, 2.0, 2.0]))
    2.0
    """
    return by_chunks(_core.energy, (), *_state(inertia, m))[()]


def casimir(m: ArrayLike) -> Array:
    """Casimir ``|m|**2 / 2``, whose gradient is `m`; constant without torque.

    Parameters
    ----------
    m : array_like, shape (..., 3)
        Angular momentum, body frame.

    Returns
    -------
    casimir : ndarray, shape (...)
        Half the square of the length of `m`, with a relative error below 2 eps. It overflows or
        underflows only if the Casimir itself does.

    Raises
    ------
    ValueError
        If the last axis does not have three components.

    Examples
    --------
    >>> import polhode as ph
    >>> float(ph.casimir([1.0, 2.0, 2.0]))
    4.5
    """
    return by_chunks(_core.casimir, (), Operand("m", m, 3))[()]


def momentum_spatial(m: ArrayLike, q: AttitudeLike) -> Array:
    """Angular momentum in the space frame, ``Q m``; constant without torque.

    Parameters
    ----------
    m : array_like, shape (..., 3)
        Angular momentum, body frame.
    q : array_like, shape (..., 4) or (..., 3, 3)
        Attitude, body to space: quaternion, scalar first, or rotation matrix. Broadcasts
        against `m`. A quaternion is normalized to ``q / |q|``. A matrix that is a rotation up to
        1e-5, but not up to 8 eps, is replaced by the nearest rotation, as in `step`.

    Returns
    -------
    momentum_spatial : ndarray, shape (..., 3)
        Angular momentum, space frame. Error at most 4 eps ``|m|`` for a quaternion, 16 eps ``|m|``
        for a matrix.

    Raises
    ------
    ValueError
        If a quaternion is zero, if a matrix is not a rotation (an entry of ``Q.T @ Q - 1`` above
        1e-5, or a negative determinant), or if the shapes are wrong or do not broadcast. A NaN
        raises no error and gives NaN for that body.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.momentum_spatial([1.0, 2.0, 3.0], [0.5**0.5, 0.0, 0.0, 0.5**0.5]).round(12)
    array([-2.,  1.,  3.])
    """
    attitude, momenta = _arrays.attitude_operand("q", q), Operand("m", m, 3)
    shape = _arrays.broadcast({"m": momenta.batch, "q": attitude.batch})
    _arrays.check_attitude(attitude.array)
    if attitude.core == (4,):
        return by_chunks(_core.so3_rotate, (3,), attitude, momenta)
    result = np.empty((*shape, 3))
    for at in _arrays.chunks(shape):
        matrix, vector = (np.asarray(o.piece(shape, at), np.float64) for o in (attitude, momenta))
        result[at] = _core.so3_rotate_by_matrix(_arrays.orthogonal(matrix), vector)
    return result


def _state(inertia: ArrayLike, m: ArrayLike) -> tuple[Operand, Operand]:
    """Checked moments and momenta."""
    moments, momenta = Operand("inertia", inertia, 3), Operand("m", m, 3)
    rods = _arrays.check_inertia(moments.array)
    shape = _arrays.broadcast({"inertia": moments.batch, "m": momenta.batch})
    if rods:
        np.empty((*shape, 3))  # a MemoryError now, and not after a check of all bodies
    try:
        for at in _arrays.chunks(shape) if rods else ():  # a piece at a time is converted
            _arrays.check_rod_momentum(moments.piece(shape, at), momenta.piece(shape, at))
    except ValueError:
        _arrays.check_rod_momentum(moments.array, momenta.array)
    return moments, momenta

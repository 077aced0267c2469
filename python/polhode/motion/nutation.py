"""How m moves in the body: regimes, how far it gets from the principal axes, nutation."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from polhode._arrays import Array


class Regime(enum.Enum):
    """How the angular momentum moves in the body frame.

    Attributes
    ----------
    AXIS1
        m moves around the axis of the least moment (body axis 1, 2 or 3).
    SEPARATRIX
        m moves from one end of the axis of the middle moment to the other and does not return.
    AXIS3
        m moves around the axis of the greatest moment (body axis 1, 2 or 3).
    PERMANENT
        m is constant: zero, on a principal axis, normal to the axis of a symmetric body, or of a
        rod.
    SPHERE
        m is constant because all moments are equal.
    """

    AXIS1 = 1
    SEPARATRIX = 2
    AXIS3 = 3
    PERMANENT = 4
    SPHERE = 5


#: Regimes by number; in the last two m is constant.
AXIS1, SEPARATRIX, _, PERMANENT, SPHERE = (regime.value for regime in Regime)


def extremes(inertia: Array, m: Array, regime: NDArray[np.intp]) -> tuple[Array, Array]:
    """Least and greatest size of each component of m (..., 3) along the principal axes.

    With the axes a, which m circles, 2 of the middle moment and c, the other one,
    ``r = Ic (Ia - I2)/(I2 (Ia - Ic))``, energy and ``|m|`` keep ``mc**2 + r m2**2`` and
    ``ma**2 + (1 - r) m2**2``, d1 and d3 of [CZ08] eq. (5).
    """
    inertia, m = np.broadcast_arrays(inertia, m)
    order = _order(inertia, regime)
    (Ia, I2, Ic), (ma, m2, mc) = (
        np.moveaxis(np.take_along_axis(x, order, -1), -1, 0) for x in (inertia, np.abs(m))
    )
    constant = (regime == PERMANENT) | (regime == SPHERE)
    span, I2 = np.where(constant, 1.0, Ia - Ic), np.where(constant, 1.0, I2)
    r = np.where(constant, 1.0, (Ic / I2) * ((Ia - I2) / span))
    rest = (Ia / I2) * ((I2 - Ic) / span)
    zero = np.zeros_like(ma)
    with np.errstate(invalid="ignore"):
        far = np.where(regime == SEPARATRIX, ma, mc * np.sqrt(rest / r))
        near = np.sqrt(np.maximum(ma - far, 0.0)) * np.sqrt(ma + far)
        greatest = [
            np.hypot(ma, np.sqrt(rest) * m2),
            np.hypot(m2, mc / np.sqrt(r)),
            np.hypot(mc, np.sqrt(r) * m2),
        ]
    results = []
    for circling in ([near, zero, zero], greatest):
        values = np.where(constant[..., None], np.stack([ma, m2, mc], -1), np.stack(circling, -1))
        result = np.empty_like(values)
        np.put_along_axis(result, order, values, -1)
        results.append(result)
    return results[0], results[1]


def nutation(inertia: Array, m: Array, regime: NDArray[np.intp]) -> Array:
    """Least and greatest angle (..., 2) between m and the axis that it circles."""
    size = np.abs(m).max(axis=-1, keepdims=True)
    least, greatest = extremes(inertia, m / np.where(size > 0.0, size, 1.0), regime)
    order = _order(np.broadcast_to(inertia, least.shape), regime)
    a, _, _ = np.moveaxis(np.take_along_axis(least, order, -1), -1, 0)
    A, M, C = np.moveaxis(np.take_along_axis(greatest, order, -1), -1, 0)
    angles = np.arctan2(np.stack([C, M], -1), np.stack([A, a], -1))
    moves = (regime != PERMANENT) & (regime != SPHERE)
    return np.where(moves[..., None] | np.isnan(angles), angles, 0.0)


def _order(inertia: Array, regime: NDArray[np.intp]) -> NDArray[np.intp]:
    """Indices of the axes a, 2, c."""
    ascending = np.argsort(inertia, axis=-1, kind="stable")
    return np.where(regime[..., None] == AXIS1, ascending, ascending[..., ::-1])

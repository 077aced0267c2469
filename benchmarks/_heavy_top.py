"""Reference for heavy tops: Taylor series in 50-digit decimal arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Series = list[list[Decimal]]

DIGITS = 50
ORDER = 44
#: Bound of the last term of the series of a step. The terms before it decrease to it.
LAST = Decimal(10) ** -38


def _cross(a: Series, b: Series, axis: int, k: int) -> Decimal:
    """Coefficient k of component `axis` of the cross product of two series."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    return sum((a[i][n] * b[j][k - n] - a[j][n] * b[i][k - n] for n in range(k + 1)), Decimal(0))


def _quaternion_rate(q: Series, w: Series, k: int) -> list[Decimal]:
    """Coefficient k of the product q (0, w)."""
    signs = (
        ((1, 0, -1), (2, 1, -1), (3, 2, -1)),
        ((0, 0, 1), (2, 2, 1), (3, 1, -1)),
        ((0, 1, 1), (3, 0, 1), (1, 2, -1)),
        ((0, 2, 1), (1, 1, 1), (2, 0, -1)),
    )
    return [
        sum(
            (s * q[i][n] * w[j][k - n] for i, j, s in row for n in range(k + 1)),
            Decimal(0),
        )
        for row in signs
    ]


def heavy_top(
    inertia: Iterable[float],
    m0: Iterable[float],
    q0: Iterable[float],
    u0: Iterable[float],
    t: float,
    steps: int,
) -> tuple[Array, Array]:
    """Momentum and attitude of a heavy top at t, correct to the last bit of a double.

    m' = m x omega + u x e3, q' = q (0, omega) / 2, u = Q^T u0, from the doubles that are given.

    Parameters
    ----------
    inertia, m0, q0, u0 : iterable of float
        Moments, momentum in the body frame, quaternion (scalar first) and the vector in space.
    t : float
        The time.
    steps : int
        Number of steps.

    Returns
    -------
    m, q : ndarray
        Shapes (3,) and (4,).

    Raises
    ------
    ArithmeticError
        If the steps are too long for the order of the series.
    """
    with localcontext() as context:
        context.prec = DIGITS
        moments, m, q, weight = ([Decimal(float(x)) for x in v] for v in (inertia, m0, q0, u0))
        norm = sum((x * x for x in q), Decimal(0)).sqrt()
        q = [x / norm for x in q]
        h = Decimal(float(t)) / steps
        for _ in range(steps):
            m, q = _step(moments, m, q, weight, h)
        return np.array([float(x) for x in m]), np.array([float(x) for x in q])


def _turned(q: list[Decimal], v: list[Decimal]) -> list[Decimal]:
    """The vector v of space in the frame of the body."""
    w, x, y, z = q
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
    return [sum((a * b for a, b in zip(row, v, strict=True)), Decimal(0)) for row in rows]


def _step(
    moments: list[Decimal], m: list[Decimal], q: list[Decimal], weight: list[Decimal], h: Decimal
) -> tuple[list[Decimal], list[Decimal]]:
    momentum, quaternion = [[x] for x in m], [[x] for x in q]
    vertical = [[x] for x in _turned(q, weight)]
    rate: Series = [[], [], []]
    for k in range(ORDER):
        for i in range(3):
            rate[i].append(momentum[i][k] / moments[i])
        torque = (vertical[1][k], -vertical[0][k], Decimal(0))
        next_m = [(_cross(momentum, rate, i, k) + torque[i]) / (k + 1) for i in range(3)]
        next_u = [_cross(vertical, rate, i, k) / (k + 1) for i in range(3)]
        next_q = [x / (2 * (k + 1)) for x in _quaternion_rate(quaternion, rate, k)]
        for series, terms in ((momentum, next_m), (vertical, next_u), (quaternion, next_q)):
            for one, term in zip(series, terms, strict=True):
                one.append(term)
    ends = []
    for series in (momentum, quaternion):
        if max(abs(one[-1]) for one in series) * h**ORDER > LAST:
            raise ArithmeticError(f"{math.ceil(1 / h)} steps per unit of time are too few")
        ends.append([_horner(one, h) for one in series])
    return ends[0], ends[1]


def _horner(coefficients: list[Decimal], h: Decimal) -> Decimal:
    total = Decimal(0)
    for c in reversed(coefficients):
        total = total * h + c
    return total

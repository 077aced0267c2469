"""How far a step is from a Poisson map of y and a symplectic one of (Q, y), in 34 digits.

The columns of [Vil13] Table 2.  With Q trivialised on the left a map is symplectic if J P J^T = P1,
J = [[Q(dq)^T, A], [0, M]] its Jacobian, P = [[0, 1], [-1, hat(y)]]; if only M hat(y) M^T = hat(y1)
holds, it is a Poisson map of y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

DIGITS = 40
#: The error of the differences if the defect is zero.
FLOOR = 1e-25


def quad_step(name: str, inertia: Sequence[Any], y: Sequence[Any], h: Any) -> tuple[Any, Any]:
    """Momentum and dq of one step."""
    quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")

    def pairs(values: Sequence[Any]) -> np.ndarray[Any, Any]:
        high = [float(x) for x in values]
        return np.array([(x, float(z - x)) for x, z in zip(high, values, strict=True)])

    with mpmath.workdps(DIGITS):
        ends = quad.step(name, pairs(inertia), pairs(y), pairs([1, 0, 0, 0]), *pairs([mpf(h)])[0])
        m, q = ([mpf(a) + mpf(b) for a, b in end] for end in ends)
        return m, q


def hat(v: Sequence[Any]) -> Any:
    x, y, z = map(mpf, v)
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation(q: Sequence[Any]) -> Any:
    e = hat(q[1:])
    return mpmath.eye(3) + 2 * q[0] * e + 2 * e * e


def defects(name: str, inertia: Sequence[Any], y: Sequence[Any], h: float) -> tuple[float, float]:
    """Poisson and symplectic; central differences of order 6."""
    with mpmath.workdps(DIGITS):
        step = mpf(10) ** -5
        weights = {1: mpf(3) / 4, 2: mpf(-3) / 20, 3: mpf(1) / 60}
        m, a = mpmath.matrix(3, 3), mpmath.matrix(3, 3)
        y1, q = quad_step(name, inertia, y, h)
        for j in range(3):
            slope = mpmath.matrix(7, 1)
            for k, sign in ((k, s) for k in weights for s in (1, -1)):
                moved = [mpf(x) for x in y]
                moved[j] += sign * k * step
                end_m, end_q = quad_step(name, inertia, moved, h)
                slope += sign * weights[k] / step * mpmath.matrix([*end_m, *end_q])
            m[:, j] = slope[:3]
            w, dq = slope[3], slope[4:]
            # 2 q^-1 dq is (0, the turn in the body frame).
            a[:, j] = 2 * (q[0] * dq - w * mpmath.matrix(q[1:]) - hat(q[1:]) * dq)
        back = rotation(q).T
        poisson = m * hat(y) * m.T - hat(y1)
        of_q = back * a.T - a * back.T + a * hat(y) * a.T
        mixed = back * m.T + a * hat(y) * m.T - mpmath.eye(3)
        sizes = [float(mpmath.mnorm(d, "f")) for d in (poisson, of_q, mixed)]
        return sizes[0], max(sizes)

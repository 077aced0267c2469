"""How far a step is from a Poisson map of y and a symplectic one of (Q, y), in 34 digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from benchmarks.papers import vilmart

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
    """Poisson and symplectic, as `benchmarks.papers.vilmart.defects` has them, in 34 digits."""

    def step(y: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        y1, q = quad_step(name, inertia, y, h)
        return np.array(y1), np.array(q)

    with mpmath.workdps(DIGITS):
        return vilmart.defects(step, np.array([mpf(x) for x in y]), mpf(10) ** -5)

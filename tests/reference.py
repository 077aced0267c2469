"""Torque-free motion to 40 digits and more: the independent reference of the tests and benchmarks.

The equations of motion, m' = m x (m / inertia) and q' = q (0, m / inertia) / 2, are integrated by
Taylor series in fixed-point arithmetic on Python integers.  Nothing of the closed form is used: no
elliptic function, no frame, no sorting of the moments, no phase.  The quaternion starts at the
given one and follows the equation, so its sign is that of the continuous path.

Units are taken out first, exactly: m by its norm, the moments by the least one that is not zero,
time by their quotient.  After that every number is of order one and fixed point is as good as
floating point.  Run as a script it checks itself against `data/free_cases.json`:

    python tests/reference.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import mul
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

DATA = Path(__file__).parent / "data"

#: Digits of the numbers handed out.
DIGITS = 45

# Fraction bits and order of the Taylor series: (for values, for the conditioning).  A step is as
# long as the last two terms allow, so the order sets the speed, not the error.
_BITS, _ORDER = 176, 46
_COARSE_BITS, _COARSE_ORDER = 108, 30

Number = Any  # an mpmath number; mpmath has no types


@dataclass(frozen=True)
class Reference:
    """State at the end of a step.

    m : angular momentum in the body frame, in the units of the input
    q : quaternion, unit, its sign continuous from that of q0
    norm : |m|
    sensitivity : changes of m (relative to |m|) and of q, in the 2-norm, when each moment and each
        component of m0 in turn changes by a relative 2^-53, summed; None if it was not requested
    """

    m: tuple[Number, Number, Number]
    q: tuple[Number, Number, Number, Number]
    norm: Number
    sensitivity: tuple[float, float] | None = None

    def error_m(self, m: ArrayLike) -> float:
        """Largest component of the error of `m`, relative to |m|."""
        return largest_error(m, self.m) / float(self.norm or 1)

    def error_q(self, q: ArrayLike) -> float:
        """Largest component of the error of `q`; the sign counts."""
        return largest_error(q, self.q)

    def error_matrix(self, matrix: ArrayLike) -> float:
        """Largest component of the error of a rotation matrix."""
        return largest_error(np.ravel(np.asarray(matrix)), np.ravel(to_matrix(self.q)))


def largest_error(got: ArrayLike, exact: Sequence[Number] | NDArray[np.object_]) -> float:
    """max |got - exact|, formed in high precision; inf where `got` is not finite."""
    values = np.asarray(got, dtype=np.float64)
    if not np.isfinite(values).all():
        return math.inf
    with mpmath.workdps(DIGITS):
        return max(float(abs(mpmath.mpf(float(g)) - e)) for g, e in zip(values, exact, strict=True))


def to_matrix(q: Sequence[Number]) -> list[list[Number]]:
    """1 + 2 q0 hat(qv) + 2 hat(qv)^2, the rotation from body to space of a unit quaternion."""
    w, x, y, z = q
    with mpmath.workdps(DIGITS):
        return [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]


def unit_quaternion(q: Sequence[float]) -> list[Number]:
    """q / |q| in high precision."""
    with mpmath.workdps(DIGITS):
        exact = [mpmath.mpf(float(x)) for x in q]
        size = mpmath.norm(exact)
        return [x / size for x in exact]


def torque_free(
    inertia: Sequence[float],
    m0: Sequence[float],
    q0: Sequence[float],
    h: float,
    *,
    with_sensitivity: bool = False,
) -> Reference:
    """State after time `h` of the free body that starts at (m0, q0).

    The moments are positive, in any order, or one of them is zero (a rod: the other two are taken
    equal to the larger, momentum about the rod is dropped and m is constant).  The arguments are
    the exact doubles given.  Error of m / |m| and q below 1e-40 for angles up to 1e4 rad away from
    the separatrix.
    """
    m, q, norm = _propagate(
        tuple(map(Fraction, inertia)),
        tuple(map(Fraction, m0)),
        tuple(map(Fraction, q0)),
        Fraction(h),
        _BITS,
        _ORDER,
    )
    with mpmath.workdps(DIGITS):
        size = mpmath.mpf(norm.numerator) / norm.denominator
        unit_m = [mpmath.ldexp(mpmath.mpf(x), -_BITS) for x in m]
        unit_q = [mpmath.ldexp(mpmath.mpf(x), -_BITS) for x in q]
        return Reference(
            tuple(x * size for x in unit_m),
            tuple(unit_q),
            size,
            sensitivity(inertia, m0, q0, h) if with_sensitivity else None,
        )


def sensitivity(
    inertia: Sequence[float], m0: Sequence[float], q0: Sequence[float], h: float
) -> tuple[float, float]:
    """The effect on m / |m| and q of a relative change 2^-53 in each moment and component of m0."""
    body = [Fraction(x) for x in inertia]
    start = [Fraction(x) for x in m0]
    attitude = tuple(Fraction(x) for x in q0)

    def run(moments: Sequence[Fraction], m: Sequence[Fraction]) -> NDArray[np.object_]:
        end, q, norm = _propagate(
            tuple(moments), tuple(m), attitude, Fraction(h), _COARSE_BITS, _COARSE_ORDER
        )
        ratio = norm / (norm0 or 1)  # m relative to the unperturbed norm
        scaled = [x * ratio.numerator // ratio.denominator for x in end]
        return np.array(scaled + list(q), dtype=object)

    norm0 = _norm(start, _COARSE_BITS)
    centre = run(body, start)
    change_m = change_q = 0.0
    nudge = 1 + Fraction(1, 2**53)
    for values, is_moment in ((body, True), (start, False)):
        for i, value in enumerate(values):
            if value == 0:
                continue
            nudged = list(values)
            nudged[i] = value * nudge
            moved = run(nudged, start) if is_moment else run(body, nudged)
            delta = [math.ldexp(float(x), -_COARSE_BITS) for x in moved - centre]
            change_m += math.hypot(*delta[:3])
            change_q += math.hypot(*delta[3:])
    return change_m, change_q


def angle(inertia: ArrayLike, m: ArrayLike, h: ArrayLike) -> NDArray[np.float64]:
    """|h| |m / inertia|, radians turned in the step; a zero moment counts as no rotation."""
    moments, momentum = np.broadcast_arrays(
        np.asarray(inertia, np.float64), np.asarray(m, np.float64)
    )
    rate = np.divide(momentum, moments, out=np.zeros(moments.shape), where=moments > 0)
    largest = np.abs(rate).max(-1)
    scale = np.where(largest > 0, largest, 1.0)
    norm = np.sqrt(np.sum((rate / scale[..., None]) ** 2, -1)) * scale
    return np.abs(np.asarray(h, np.float64)) * norm


def _norm(v: Sequence[Fraction], bits: int) -> Fraction:
    """|v| to a relative 2^-bits."""
    square = sum((x * x for x in v), Fraction(0))
    if square == 0:
        return Fraction(0)
    # Scale the square by a power of four until its root has `bits` bits or more.
    shift = max(0, 2 * bits + 8 - (square.numerator.bit_length() - square.denominator.bit_length()))
    shift += shift % 2
    return Fraction(
        math.isqrt((square.numerator << shift) // square.denominator), 1 << (shift // 2)
    )


def _fixed(x: Fraction, bits: int) -> int:
    return (x.numerator << bits) // x.denominator


@lru_cache(maxsize=4096)
def _propagate(
    inertia: tuple[Fraction, ...],
    m0: tuple[Fraction, ...],
    q0: tuple[Fraction, ...],
    h: Fraction,
    bits: int,
    order: int,
) -> tuple[list[int], list[int], Fraction]:
    """m / |m| and q in fixed point of `bits` fraction bits, and |m|."""
    if min(inertia) == 0:
        rod = inertia.index(min(inertia))
        inertia = tuple(Fraction(0) if i == rod else max(inertia) for i in range(3))
        m0 = tuple(Fraction(0) if i == rod else x for i, x in enumerate(m0))
    q_norm = _norm(q0, bits + 8)
    q = [_fixed(x / q_norm, bits) for x in q0]
    norm = _norm(m0, bits + 8)
    if norm == 0:
        return [0, 0, 0], q, norm
    m = [_fixed(x / norm, bits) for x in m0]
    least = min(x for x in inertia if x > 0)
    rate = [_fixed(least / x, bits) if x > 0 else 0 for x in inertia]
    rest = abs(_fixed(h * norm / least, bits))
    if h < 0:
        # Backwards in time is forwards with the angular velocity the other way round.
        rate = [-x for x in rate]
    while rest > 0:
        m, q, rest = _taylor_step(m, q, rate, rest, bits, order)
    return m, q, norm


def _taylor_step(
    m: list[int], q: list[int], rate: list[int], rest: int, bits: int, order: int
) -> tuple[list[int], list[int], int]:
    # The unit of time is a power of two near 1 / |omega|, so that the coefficients stay near one.
    fastest = max(abs(r * x) >> bits for r, x in zip(rate, m, strict=True))
    unit = max(0, bits - fastest.bit_length())
    rate = [r << unit for r in rate]
    m1, m2, m3 = ([x] for x in m)
    w1, w2, w3 = ([(r * x) >> bits] for r, x in zip(rate, m, strict=True))
    q0, q1, q2, q3 = ([x] for x in q)
    # (m x w)_1 = m2 w3 - m3 w2 = (1/I3 - 1/I2) m2 m3.  A rod has no rate and no m about itself.
    d1 = rate[2] - rate[1]
    d2 = rate[0] - rate[2]
    d3 = rate[1] - rate[0]
    for n in range(order):
        r2, r3 = m2[::-1], m3[::-1]
        v1, v2, v3 = w1[::-1], w2[::-1], w3[::-1]
        a1 = d1 * sum(map(mul, m2, r3)) >> 2 * bits
        a2 = d2 * sum(map(mul, m1, r3)) >> 2 * bits
        a3 = d3 * sum(map(mul, m1, r2)) >> 2 * bits
        b0 = -sum(map(mul, q1, v1)) - sum(map(mul, q2, v2)) - sum(map(mul, q3, v3))
        b1 = sum(map(mul, q0, v1)) + sum(map(mul, q2, v3)) - sum(map(mul, q3, v2))
        b2 = sum(map(mul, q0, v2)) + sum(map(mul, q3, v1)) - sum(map(mul, q1, v3))
        b3 = sum(map(mul, q0, v3)) + sum(map(mul, q1, v2)) - sum(map(mul, q2, v1))
        for series, frequency, r, a in zip(
            (m1, m2, m3), (w1, w2, w3), rate, (a1, a2, a3), strict=True
        ):
            series.append(a // (n + 1))
            frequency.append(r * series[-1] >> bits)
        for series, b in zip((q0, q1, q2, q3), (b0, b1, b2, b3), strict=True):
            series.append((b >> bits + 1) // (n + 1))
    series = (m1, m2, m3, q0, q1, q2, q3)
    step = rest >> unit
    for k in (order - 1, order):
        # The k-th term is below 2^-(bits - 4) when step <= 2^exponent.
        largest = max(1, *(abs(s[k]) for s in series))
        exponent = (4 - largest.bit_length()) / k
        step = min(step, int(2.0 ** (exponent + 52)) << bits >> 52)
    ends = []
    for s in series:
        value = 0
        for coefficient in reversed(s):
            value = (value * step >> bits) + coefficient
        ends.append(value)
    rest = 0 if step == rest >> unit else rest - (step << unit)
    return ends[:3], ends[3:], rest


def load_cases(name: str = "free_cases.json") -> list[dict[str, Any]]:
    """The stored cases of `data/name`."""
    cases: list[dict[str, Any]] = json.loads((DATA / name).read_text())["cases"]
    return cases


def stored(case: dict[str, Any]) -> Reference:
    """The `Reference` of a stored case, which contains decimal strings."""
    with mpmath.workdps(DIGITS):
        m = tuple(mpmath.mpf(x) for x in case["m"])
        q = tuple(mpmath.mpf(x) for x in case["q"])
        norm = mpmath.sqrt(sum(mpmath.mpf(float(x)) ** 2 for x in case["m0"]))
    known = case["ulp_sensitivity"]
    return Reference(m, q, norm, (known["m"], known["q"]))


def main() -> None:
    """Compare with every stored case that takes less than a second or so."""
    import time

    for case in load_cases():
        if angle(case["inertia"], case["m0"], case["h"]) > 120:
            continue
        start = time.perf_counter()
        ours = torque_free(case["inertia"], case["m0"], case["q0"], case["h"])
        seconds = time.perf_counter() - start
        theirs = stored(case)
        with mpmath.workdps(DIGITS):
            # The stored q starts from q0 without normalisation; q0 is unit only to rounding.
            size = mpmath.norm(theirs.q)
            dm = max(abs(a - b) for a, b in zip(ours.m, theirs.m, strict=True))
            dq = max(abs(a - b / size) for a, b in zip(ours.q, theirs.q, strict=True))
            dm = dm / (theirs.norm or 1)
        change = sensitivity(case["inertia"], case["m0"], case["q0"], case["h"])
        print(
            f"{case['name']:45s} m {float(dm):.1e} q {float(dq):.1e} {seconds:.3f} s  sensitivity "
            f"{change[0]:.2e} {change[1]:.2e} stored {theirs.sensitivity[0]:.2e} "
            f"{theirs.sensitivity[1]:.2e}"
        )


if __name__ == "__main__":
    main()

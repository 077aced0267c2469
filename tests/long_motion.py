"""States of torque-free motion after up to a million periods, with their conditioning.

The period of m comes from the complete elliptic integral (mpmath); one period of the motion, and
the rest of the time, from the Taylor series of `reference.py`; the turn after n periods is the n-th
power of the turn after one.  That m has come back after one period is checked, so nothing but the
equations of motion is believed.  Run as a script it writes `data/long_motions.json`:

    python tests/long_motion.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import reference
from states import STATES

#: Digits of the period and of powers.
DIGITS = 60

Number = Any  # an mpmath number; mpmath has no types


def _mpf(x: Fraction) -> Number:
    return mpmath.mpf(x.numerator) / x.denominator


def period(inertia: Sequence[float | Fraction], m0: Sequence[float | Fraction]) -> Number:
    """Period of m by Legendre's K; inf where m is constant or does not return.

    With lambda the frequency of sn, cn, dn and k the modulus on the side where it is below 1:
    4 K(k) / lambda.
    """
    with mpmath.workdps(DIGITS):
        body = [Fraction(x) for x in inertia]
        order = sorted(range(3), key=lambda i: body[i])
        i1, i2, i3 = (body[i] for i in order)
        x1, x2, x3 = (Fraction(m0[i]) for i in order)
        still = i1 == 0 or not (
            (i1 != i2 and x1 * x2 != 0)
            or (i1 != i3 and x1 * x3 != 0)
            or (i2 != i3 and x2 * x3 != 0)
        )
        c1d1 = i1 * (i3 - i2) * x2**2  # common factor I2 (I3 - I1) left out
        c2d3 = i3 * (i2 - i1) * x2**2
        span = i2 * (i3 - i1)
        side = i3 * (i2 - i1) * x1**2 - i1 * (i3 - i2) * x3**2
        if still or side == 0:
            return mpmath.inf
        alpha = i1 * (i3 - i2) * (c2d3 + span * x3**2) / span**2  # c1 d3^2
        beta = i3 * (i2 - i1) * (span * x1**2 + c1d1) / span**2  # c2 d1^2
        least, most = sorted((alpha, beta))
        kappa = (i3 - i1) / (i1 * i3)
        return 4 * mpmath.ellipk(_mpf(least / most)) / (_mpf(kappa) * mpmath.sqrt(_mpf(most)))


def _multiply(p: Sequence[Number], q: Sequence[Number]) -> list[Number]:
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def _propagate(
    inertia: Sequence[Fraction],
    m0: Sequence[Fraction],
    time: Fraction,
    bits: int,
    order: int,
) -> tuple[list[Number], list[Number]]:
    """m / |m| and the turn from the identity, after `time`."""
    one = (Fraction(1), Fraction(0), Fraction(0), Fraction(0))
    m, q, _ = reference._propagate(tuple(inertia), tuple(m0), one, time, bits, order)
    return [mpmath.ldexp(x, -bits) for x in m], [mpmath.ldexp(x, -bits) for x in q]


def _run(
    inertia: Sequence[Fraction],
    m0: Sequence[Fraction],
    q0: Sequence[Number],
    t: Fraction,
    bits: int,
    order: int,
) -> tuple[list[Number], list[Number]]:
    """m / |m| and q after time t."""
    whole = period(inertia, m0)
    n = int(mpmath.nint(_mpf(t) / whole))
    mantissa, exponent = whole.man_exp
    fixed = mantissa * Fraction(2) ** exponent
    m, turn = _propagate(inertia, m0, fixed, bits, order)
    size = mpmath.norm([_mpf(x) for x in m0])
    back = max(abs(a - _mpf(b) / size) for a, b in zip(m, m0, strict=True))
    assert back < mpmath.mpf(2) ** (50 - bits), f"m has not returned: {mpmath.nstr(back)}"
    if n < 0:
        turn = [turn[0], -turn[1], -turn[2], -turn[3]]
    power = [mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)]
    for bit in bin(abs(n))[2:]:
        power = _multiply(power, power)
        if bit == "1":
            power = _multiply(power, turn)
    m, turn = _propagate(inertia, m0, t - n * fixed, bits, order)
    q = _multiply(_multiply(q0, power), turn)
    size = mpmath.norm(q)
    return m, [x / size for x in q]


def long_motion(
    inertia: Sequence[float],
    m0: Sequence[float],
    q0: Sequence[float],
    t: float,
    *,
    with_sensitivity: bool = True,
) -> reference.Reference:
    """State after time t, with its sensitivity as `reference.sensitivity` has it."""
    with mpmath.workdps(DIGITS):
        body = [Fraction(x) for x in inertia]
        start = [Fraction(x) for x in m0]
        attitude = reference.unit_quaternion(q0)
        m, q = _run(body, start, attitude, Fraction(t), reference._BITS, reference._ORDER)
        size = mpmath.norm([_mpf(x) for x in start])
        if not with_sensitivity:
            return reference.Reference(tuple(x * size for x in m), tuple(q), size)
        nudge = 1 + Fraction(1, 2**53)
        change_m = change_q = mpmath.mpf(0)
        for i in range(6):
            value = (body + start)[i]
            if value == 0:
                continue
            nudged = body + start
            nudged[i] = value * nudge
            # Coarser in the series, not in the period.
            moved_m, moved_q = _run(nudged[:3], nudged[3:], attitude, Fraction(t), 104, 29)
            ratio = mpmath.norm([_mpf(x) for x in nudged[3:]]) / size
            change_m += mpmath.norm([a * ratio - b for a, b in zip(moved_m, m, strict=True)])
            change_q += mpmath.norm([a - b for a, b in zip(moved_q, q, strict=True)])
        return reference.Reference(
            tuple(x * size for x in m), tuple(q), size, (float(change_m), float(change_q))
        )


#: Periods, roughly, after which states are stored; the sign is that of time.
SHORT = (0.3, -0.7, 3.0, -41.0)
LONG = (1e3, -3e4, 1e6)
#: Above this what half an ulp does is no longer linear, and bounds nothing.
MOST_SENSITIVE = 1e-3
#: States that are no news after those stored before them.
LEFT_OUT = ("--", "+-", "-+", "order 231", "order 321", "inertia and m")


def main() -> None:
    cases = [
        (case["name"], case["inertia"], case["m0"], case["q0"]) for case in reference.load_cases()
    ] + [(s.name, s.inertia, s.m, s.q) for s in STATES if not any(x in s.name for x in LEFT_OUT)]
    rng = np.random.default_rng(20)
    rows = []
    seen = set()
    for index, (name, inertia, m0, q0) in enumerate(cases):
        key = (tuple(inertia), tuple(m0))
        whole = period(inertia, m0)
        if not mpmath.isfinite(1e7 * float(whole)) or key in seen:
            continue
        seen.add(key)
        if float(reference.angle(inertia, m0, float(whole))) > 300:
            continue  # nearly symmetric: a period is many turns, and slow here
        for periods in (SHORT[index % len(SHORT)], LONG[index % len(LONG)]):
            t = float(whole) * periods * float(rng.uniform(0.5, 1))
            end = long_motion(inertia, m0, q0, t)
            assert end.sensitivity is not None
            if max(end.sensitivity) > MOST_SENSITIVE:
                continue
            print(f"{name}: {t:.3g}, sensitivity {end.sensitivity}", flush=True)
            with mpmath.workdps(DIGITS):
                rows.append(
                    {
                        "name": name,
                        "inertia": list(inertia),
                        "m0": list(m0),
                        "q0": list(q0),
                        "h": t,
                        "m": [mpmath.nstr(x, 25) for x in end.m],
                        "q": [mpmath.nstr(x, 25) for x in end.q],
                        "ulp_sensitivity": {
                            "m": float(f"{end.sensitivity[0]:.3g}"),
                            "q": float(f"{end.sensitivity[1]:.3g}"),
                        },
                    }
                )
    text = ",\n  ".join(json.dumps(row) for row in rows)
    (reference.DATA / "long_motions.json").write_text(
        f'{{\n "source": "tests/long_motion.py",\n "cases": [\n  {text}\n ]\n}}\n'
    )


if __name__ == "__main__":
    main()

"""States at the limits of the exact methods: one moment far above or below the others.

Run as a script this writes `data/limit_states.json`, the 25-digit end states, in some minutes:

    python tests/limit_states.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import mpmath
import numpy as np
import reference
from long_motion import long_motion, period

START = (0.6, -0.48, 0.0, 0.64)
State = tuple[str, tuple[float, ...], tuple[float, ...], float]


def states() -> Iterator[State]:
    """Family, moments, momentum and time step."""
    rng = np.random.default_rng(11)
    # I3 from 10 to 1e14 times I1, momenta on the third axis and at all distances from it.
    for i in range(40):
        far = 10 ** rng.uniform(1, 14)
        between = 1.0 if i % 3 == 0 else 1 + 10 ** rng.uniform(-15, 0.3 * math.log10(far))
        off = 10 ** rng.uniform(-9, 0) if i % 5 else 0.0
        m = rng.normal(size=3) * (off, off if i % 7 else 0.0, 1.0)
        order = rng.permutation(3)
        inertia = np.array([1.0, between, far])
        angle = 10 ** rng.uniform(-1, 2.5)
        h = angle / float(np.linalg.norm(m / inertia)) * rng.choice([-1, 1])
        yield "one large moment", _numbers(inertia[order]), _numbers(m[order]), float(h)
    # |h| |m| / I1 far above 2^50, an angle of 2000: on the axis, and off it by less than 1e-12.
    for inertia in ((1.0, 1.0, 1e14), (1.0, 1.7, 1e14)):
        for m in ((0.0, 0.0, 1.0), (1e-13, 0.0, -1.0), (2e-14, 1e-14, 1.0), (0.0, 1e-15, 1.0)):
            yield "phase without digits", inertia, m, 2e17
    # Moments over six decades in all orders, momenta on, off and between all axes.
    for i in range(40):
        moments = 10 ** rng.uniform(-3, 3, 3)
        m = rng.normal(size=3) * 10 ** rng.uniform(-6, 0, 3) * rng.choice([-1, 1], 3)
        if i % 4 == 0:
            moments[2] = moments[0]
        if i % 7 == 0:
            m = m * np.eye(3)[i % 3]
        h = 10 ** rng.uniform(-1, 1.7) / float(np.linalg.norm(m / moments))
        yield "any moments", _numbers(moments), _numbers(m), h
    # Bodies that exist: I1 from 1e-14 to 1e-3, I3 - I2 below I1, momenta across the thin axis.
    for i in range(12):
        least = 10 ** rng.uniform(-14, -3)
        m = rng.normal(size=3) * (0.0 if i % 2 else 10 ** rng.uniform(-12, -3), 1.0, 1.0)
        body = np.array([least, 1.0, 1 + least * rng.uniform(0.2, 1)])
        h = 10 ** rng.uniform(0, 1.3) / float(np.linalg.norm(m / body))
        yield "slender", _numbers(body), _numbers(m), h


def _numbers(x: np.ndarray) -> tuple[float, ...]:
    return tuple(float(v) for v in x)


def end_state(state: State) -> reference.Reference:
    """By whole periods where these are short; nearly symmetric bodies in one piece."""
    family, inertia, m, h = state
    turned = float(reference.angle(inertia, m, float(period(inertia, m))))
    if family != "slender" and turned < 300:
        return long_motion(inertia, m, START, h)
    return reference.torque_free(inertia, m, START, h, with_sensitivity=True)


def main() -> None:
    rows = []
    for state in states():
        end = end_state(state)
        assert end.sensitivity is not None
        family, inertia, m, h = state
        with mpmath.workdps(reference.DIGITS):
            row = {
                "name": family,
                "inertia": inertia,
                "m0": m,
                "q0": START,
                "h": h,
                "m": [mpmath.nstr(x, 25) for x in end.m],
                "q": [mpmath.nstr(x, 25) for x in end.q],
                "ulp_sensitivity": {
                    "m": float(f"{end.sensitivity[0]:.3g}"),
                    "q": float(f"{end.sensitivity[1]:.3g}"),
                },
            }
        print(json.dumps(row), flush=True)
        rows.append(row)
    text = ",\n  ".join(json.dumps(row) for row in rows)
    (reference.DATA / "limit_states.json").write_text(
        f'{{\n "source": "tests/limit_states.py",\n "cases": [\n  {text}\n ]\n}}\n'
    )


if __name__ == "__main__":
    main()

"""Hard states: bodies and momenta on which attitude methods have failed.

Each state has a name for messages and test ids.  `STATES` is the list, `batch(states)` stacks it.
The step length is given as hw = h |m| / (least moment that is not zero), see `State.step`.

Run as a script this writes `data/hard_states.json`, the 25-digit end states:

    python tests/states.py
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]

GENERIC = (1.0, 1.5, 2.2)  # moments of the generic body
AXIS1_SIDE = (0.8, 0.3, 0.4)  # a momentum of it that circles axis 1
AXIS3_SIDE = (0.3, 0.5, 0.8)  # and one that circles axis 3

# Starting attitudes, taken in turn; the last needs normalising.
ATTITUDES = (
    (0.6, -0.48, 0.0, 0.64),
    (-0.5, 0.5, 0.5, -0.5),
    (0.0, 0.36, -0.8, 0.48),
    (0.1, -0.7, 0.2, 0.4),
)

#: Methods for tests of bits: each kind of kernel (exact, with constants of its own, in the axes of
#: the user, implicit, multistep, with a shared loop) and each family.
LOOPS = [
    "exact", "frb", "gauss3", "magnus4", "factorization6", "dmv2", "dmv8", "midpoint",
    "rotations231", "rotations123_4", "symmetric_rotation", "no_squish", "taylor4", "rk4",
    "abam_rotation", "simo_wong_explicit", "trapm", "imid", "euler_backward", "rkmk4",
    "rkmk_gauss4",
]  # fmt: skip

#: Step lengths of the stored end states.
STORED_HW = (0.04, 0.2, -1.0, 5.0, 30.0)


@dataclass(frozen=True)
class State:
    name: str
    inertia: Vector
    m: Vector
    q: tuple[float, float, float, float]

    def step(self, hw: float) -> float:
        """h with h |m| / (least moment that is not zero) = hw; |m| = 0 counts as 1."""
        norm = math.hypot(*self.m) or 1.0
        return hw * (min(x for x in self.inertia if x > 0) / norm)

    @property
    def is_sorted(self) -> bool:
        return self.inertia[0] <= self.inertia[1] <= self.inertia[2]


def _bodies() -> Iterator[tuple[str, Vector, Vector]]:
    for signs in itertools.product((1.0, -1.0), repeat=3):
        pattern = "".join("+" if s > 0 else "-" for s in signs)
        for side, m in (("axis1", AXIS1_SIDE), ("axis3", AXIS3_SIDE)):
            yield f"generic {side} side {pattern}", GENERIC, _times(signs, m)
    for i in range(3):
        for sign in (1.0, -1.0):
            on = [0.0, 0.0, 0.0]
            on[i] = sign
            yield f"on axis {i + 1} {'+' if sign > 0 else '-'}", GENERIC, (on[0], on[1], on[2])
        for j in range(3):
            if j != i:
                off = [0.0, 0.0, 0.0]
                off[i], off[j] = -1.0 if i == 0 else 1.0, 1e-10
                yield f"1e-10 off axis {i + 1} to {j + 1}", GENERIC, (off[0], off[1], off[2])
    yield "zeros with signs, axis 1", GENERIC, (1.0, -1e-3, -0.0)
    yield "zeros with signs, axis 3", GENERIC, (-0.0, 1e-3, -1.0)
    yield "zeros with signs, m2", GENERIC, (0.6, -0.0, -0.8)
    yield "1e-10 off axis 2 on both", GENERIC, (1e-10, -1.0, -1e-10)
    yield "1e-7 off axis 2", GENERIC, (1e-7, 1.0, 2e-7)

    m = (0.48, -0.6, 0.64)
    yield "symmetric I1=I2", (1.0, 1.0, 1.5), m
    yield "symmetric I2=I3", (1.0, 1.5, 1.5), m
    yield "symmetric I1=I3 unordered", (1.5, 1.0, 1.5), m
    yield "1e-12 off symmetric I1~I2", (1.0, 1.0 + 1e-12, 1.5), m
    yield "1e-12 off symmetric I2~I3", (1.0, 1.5 - 1.5e-12, 1.5), m
    yield "one ulp off symmetric I1~I2", (1.0, 1.0 + 2.0**-52, 1.5), m
    yield "one ulp off symmetric I2~I3", (1.0, 1.5 - 2.0**-52, 1.5), m
    yield "1e-12 off symmetric, equatorial", (1.0, 1.0 + 1e-12, 1.5), (0.6, 0.8, 1e-6)
    yield "symmetric I1=I2, on axis 3", (1.0, 1.0, 1.5), (0.0, 0.0, -1.0)
    yield "symmetric I1=I2, equatorial", (1.0, 1.0, 1.5), (0.6, 0.8, 0.0)
    yield "sphere", (1.3, 1.3, 1.3), m
    yield "1e-12 off sphere", (1.3, 1.3 + 1.3e-12, 1.3 + 3.9e-12), m
    yield "one ulp off sphere", (1.0, 1.0, 1.0 + 2.0**-52), m

    yield "rod along 1", (0.0, 2.0, 2.0), (0.0, 0.6, -0.8)
    yield "rod along 2", (2.0, 0.0, 2.0), (0.6, 0.0, 0.8)
    yield "rod along 3", (2.0, 2.0, 0.0), (-0.8, -0.6, 0.0)
    yield "thin rod 1e-3", (1e-3, 1.0, 1.0005), (0.011, 0.759, -0.65)
    yield "thin rod 1e-4", (1e-4, 1.0, 1.0), (1e-4, -0.6, 0.8)
    yield "thin rod 1e-4, spinning", (1e-4, 1.0, 1.0001), (0.6, 0.0, 0.8)
    yield "flat, axis 1 side", (1.0, 2.0, 3.0), (0.9, 0.2, -0.3)
    yield "flat, axis 3 side", (1.0, 2.0, 3.0), (0.3, -0.4, 0.8)
    yield (
        "breaks the triangle inequality",
        (1.0, 1.0126869887825154, 3.3062374224730378),
        (
            -0.34790957088547336,
            -0.19822914599675923,
            -0.9163318919276364,
        ),
    )

    # c1 = c2 = 1/2 for (1.5, 2, 3): the separatrix is m1 = +-m3.
    body = (1.5, 2.0, 3.0)
    for s1, s3 in itertools.product((1.0, -1.0), repeat=2):
        pattern = ("+" if s1 > 0 else "-") + ("+" if s3 > 0 else "-")
        yield f"separatrix {pattern}", body, (s1 * 0.5, 0.25, s3 * 0.5)
    yield "separatrix m2=0", body, (0.5, 0.0, -0.5)
    yield "separatrix near axis 2", body, (1e-5, -1.0, 1e-5)
    yield "1e-12 off separatrix, axis 1 side", body, (0.5 + 5e-13, 0.25, -0.5)
    yield "1e-12 off separatrix, axis 3 side", body, (-0.5 + 5e-13, -0.25, -0.5)
    yield "separatrix unordered", (3.0, 1.5, 2.0), (0.5, 0.5, -0.25)

    yield "zero momentum", GENERIC, (0.0, 0.0, 0.0)
    yield "zero momentum with signs", (2.2, 1.0, 1.5), (-0.0, 0.0, -0.0)
    yield "zero momentum of a sphere", (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
    for name, m in (("axis1", AXIS1_SIDE), ("axis3", AXIS3_SIDE)):
        for size in (1e-150, 1e150):
            small = (1.0 * size, 1.5 * size, 2.2 * size)
            yield f"inertia {size:g}, {name} side", small, m
            yield f"m {size:g}, {name} side", GENERIC, _times((size, size, size), m)
            yield f"inertia and m {size:g}, {name} side", small, _times((size, size, size), m)
    yield "m near the least double", (1e-3, 1.5e-3, 2.2e-3), (3e-308, -4e-308, 5e-309)
    yield "molecule in SI units", (1.02e-47, 1.92e-47, 2.94e-47), (1e-34, -2e-34, 1.5e-34)
    yield (
        "vessel",
        (321640000.0, 5478200000.0, 5742600000.0),
        (
            321640000.0,
            5478200000.0,
            5742600000.0,
        ),
    )
    for order in itertools.permutations(range(3)):
        name = "".join(str(i + 1) for i in order)
        moved = (GENERIC[order[0]], GENERIC[order[1]], GENERIC[order[2]])
        if order != (0, 1, 2):
            yield f"order {name}, axis 1 side", moved, _order(order, (-0.8, 0.3, 0.4))
        yield f"order {name}, axis 3 side", moved, _order(order, (0.3, -0.5, -0.8))


def _times(a: Sequence[float], b: Sequence[float]) -> Vector:
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


def _order(order: Sequence[int], m: Sequence[float]) -> Vector:
    return (m[order[0]], m[order[1]], m[order[2]])


STATES: tuple[State, ...] = tuple(
    State(name, inertia, m, ATTITUDES[i % len(ATTITUDES)])
    for i, (name, inertia, m) in enumerate(_bodies())
)


def batch(
    states: Sequence[State], hw: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Arrays of inertia (N, 3), m (N, 3), q (N, 4) and h (N,)."""
    return (
        np.array([s.inertia for s in states]),
        np.array([s.m for s in states]),
        np.array([s.q for s in states]),
        np.array([s.step(hw) for s in states]),
    )


def main() -> None:
    from reference import DATA, DIGITS, torque_free

    rows = []
    for state in STATES:
        for hw in STORED_HW:
            h = state.step(hw)
            end = torque_free(state.inertia, state.m, state.q, h, with_sensitivity=True)
            assert end.sensitivity is not None
            with mpmath.workdps(DIGITS):
                row = {
                    "name": state.name,
                    "hw": hw,
                    "inertia": state.inertia,
                    "m0": state.m,
                    "q0": state.q,
                    "h": h,
                    "m": [mpmath.nstr(x, 25) for x in end.m],
                    "q": [mpmath.nstr(x, 25) for x in end.q],
                    "ulp_sensitivity": {
                        "m": float(f"{end.sensitivity[0]:.3g}"),
                        "q": float(f"{end.sensitivity[1]:.3g}"),
                    },
                }
            rows.append(row)
    text = ",\n  ".join(json.dumps(row) for row in rows)
    Path(DATA / "hard_states.json").write_text(
        '{\n "source": "tests/states.py, by the Taylor series of tests/reference.py",\n'
        f' "cases": [\n  {text}\n ]\n}}\n'
    )


if __name__ == "__main__":
    main()

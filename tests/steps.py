"""One step of every method in quadruple precision, to check the constants of the kernels.

Run as a script this writes `data/steps.json` with the kernels in 34 digits, which the tests of
orders and errata check against the papers:

    python tests/steps.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from states import State

import polhode as ph

Array = NDArray[np.float64]

DATA = Path(__file__).parent / "data/steps.json"

#: Bodies of all kinds, the axes in every order, momenta about axes 1 and 3 and near axis 2.
STATES = (
    State("axis 1", (1.0, 1.5, 2.2), (0.8, 0.3, 0.4), (0.6, -0.48, 0.0, 0.64)),
    State("axis 3", (1.5, 2.2, 1.0), (-0.5, 0.8, 0.3), (-0.5, 0.5, 0.5, -0.5)),
    State("beside axis 2", (2.2, 1.5, 1.0), (0.01, -1.0, 0.03), (0.0, 0.36, -0.8, 0.48)),
    State("thin", (1.0, 0.03, 1.02), (0.3, 0.7, -0.4), (0.1, -0.7, 0.2, 0.4)),
    State("nearly symmetric", (2.0, 1.0, 1.001), (0.3, 0.5, 0.2), (0.5, 0.5, 0.5, 0.5)),
    State("flat", (1.0, 1.1, 2.1), (-0.2, -0.3, 0.9), (0.6, 0.0, 0.8, 0.0)),
)
#: Step lengths, h |m| / (least moment).
HW = (0.01, -0.5, 1.0, 2.0)


def cases() -> list[tuple[State, float]]:
    return [(state, hw) for hw in HW for state in STATES]


def arrays() -> tuple[Array, Array, Array, Array]:
    """Moments, momenta, attitudes (unit to rounding) and step lengths of the cases."""
    rows = [(s.inertia, s.m, s.q, s.step(hw)) for s, hw in cases()]
    inertia, m, q, h = (np.array(column) for column in zip(*rows, strict=True))
    return inertia, m, q, h


def methods() -> list[str]:
    """Those of one step: what looks back has its own tests."""
    return [method.name for method in ph.methods() if not method.history]


def in_34_digits(method: str) -> list[dict[str, Any]]:
    from polhode import _quad

    results = []
    for inertia, m, q, h in zip(*arrays(), strict=True):
        pairs = [np.stack([a, 0 * a], -1) for a in (inertia, m, q)]
        end = _quad.step(method, *pairs, float(h))
        results.append({key: shortened(x) for key, x in zip("mq", end, strict=True)})
    return results


def shortened(pairs: Array) -> list[list[float]]:
    """The second double needs no more digits than make 1e-21 of the first."""
    return [[float(high), float(f"{low:.5g}")] for high, low in pairs]


def main() -> None:
    lines = [f'"{name}": {json.dumps(in_34_digits(name))}' for name in methods()]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

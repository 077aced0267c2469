"""The report's heavy top, driver_example1: RKN6 splitting around the exact step, h = 0.5."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import reference

import polhode as ph

TOP: dict[str, Any] = json.loads((reference.DATA / "driver_example1.json").read_text())

# Errors of m and q, largest component.  Most is the splitting's own error, which grows with time:
# 1.9e-14 and 2.2e-13 at t = 50, 4.3e-14 and 2.3e-12 at t = 500 in exact arithmetic.
BOUNDS = {50: (1e-13, 4e-13), 500: (2e-13, 4e-12)}


@pytest.fixture(scope="module")
def trajectory() -> Any:
    return ph.integrate(
        TOP["inertia"],
        TOP["m0"],
        TOP["q0"],
        0.5,
        1000,
        torque=ph.torques.HeavyTop(u0=TOP["u0"]),
        splitting="rkn6_14",
        save_every=100,
    )


@pytest.mark.parametrize("t", BOUNDS)
def test_state(trajectory: Any, t: int) -> None:
    i = list(trajectory.t).index(t)
    (point,) = [p for p in TOP["points"] if p["t"] == t]
    limit_m, limit_q = BOUNDS[t]
    error = reference.largest_error(trajectory.m[i], [reference.mpmath.mpf(x) for x in point["m"]])
    assert error <= limit_m
    error = reference.largest_error(trajectory.q[i], [reference.mpmath.mpf(x) for x in point["q"]])
    assert error <= limit_q


def test_conserved_quantities(trajectory: Any) -> None:
    """Kinetic energy + u3 stays within the splitting's 2.4e-14, m . u to rounding."""
    energy = trajectory.energy()
    assert np.abs(energy - float(TOP["energy0"])).max() <= 3e-14
    for m, q in zip(trajectory.m, trajectory.q, strict=True):
        turn = np.array(reference.to_matrix(reference.unit_quaternion(q)), float)
        along = float(m @ (turn.T @ TOP["u0"]))
        # |u0| = 1e-3: an eps of m or of the attitude is 2e-19 here, times the steps' random walk.
        assert abs(along - float(TOP["momentum_along_u0"])) <= 2e-17

"""The stored states of data/buss.json, krysl.json and torques.json, integrated again."""

from __future__ import annotations

import forced_motion
import mpmath
import pytest

with mpmath.workdps(forced_motion.DIGITS):
    CASES = {name: rest for name, *rest in forced_motion.cases()}

# All of them take minutes: python tests/forced_motion.py.
QUICK = [
    "buss_t0.4",
    "krysl_free_t10",
    "krysl_wall_printed_sign_t5",
    "vessel, damped, t = 1",
    "vessel, undamped, t = 1",
]


@pytest.mark.parametrize("name", QUICK)
def test_stored_states(name: str) -> None:
    """25 or 30 digits are stored."""
    with mpmath.workdps(forced_motion.DIGITS):
        problem, t, stored = CASES[name]
        bound = 1e-24 if name.startswith("vessel") else 1e-29
        assert forced_motion.difference(problem, t, stored) < bound

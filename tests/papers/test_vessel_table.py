"""[Gus10] Table 3: its scheme by hand, and `integrate` with a torque of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers.gustafsson_vessel import MOMENTS, T_END, vessel_errors, vessel_reference

Array = NDArray[np.float64]
RESTORING = 6.3622e6 * 9.81 * np.array([103.628, 2.1444, 0.0])  # m_v g (GM_L, GM_T, 0)
DAMPING = 1e9
#: Momentum and attitude at the end, to 17 digits by a Taylor series of order 40 in 34 digits.
REFERENCE = (
    np.array([-3126570.25318848027, 31733281.3647242285, 427832082.228152367]),
    np.array([-0.9920056077547542, -0.03267695636134926, 0.10165724395456286, 0.06725247547593872]),
)


def vessel(t: float, m: Array, q: Array) -> Array:
    """-Q^T g_r - D I^-1 m."""
    up = ph.so3.rotate(ph.so3.conjugate(q), [0.0, 0.0, 1.0])
    restoring: Array = np.cross(RESTORING * up, up) + DAMPING * m / MOMENTS
    return -restoring


def errors(m: Array, q: Array) -> tuple[float, float]:
    m_end, q_end = REFERENCE
    return (
        float(np.linalg.norm(m - m_end) / np.linalg.norm(m_end)),
        float(np.linalg.norm(q - q_end)),
    )


def kick(m: Array, q: Array, s: float) -> Array:
    """m' = vessel at standing attitude, solved: [Gus10] after eq. (45)."""
    k = DAMPING / MOMENTS
    standing = vessel(0.0, np.zeros(3), q)
    result: Array = m * np.exp(-k * s) - np.expm1(-k * s) / k * standing
    return result


def test_reference_of_the_table() -> None:
    """That of the recomputed table, splitting of order 10: 1e-3 of the place printed, 1e-9."""
    close(errors(*vessel_reference()), [0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("method", ["magnus2", "magnus8"])
def test_scheme_by_hand(method: str, row: int) -> None:
    """The published formulas, word by word, give the errors of the recomputed table."""
    n = 150 * 2**row
    h = T_END / n
    m, q = MOMENTS, np.array([1.0, 0.0, 0.0, 0.0])
    for _ in range(n):
        m = kick(m, q, h / 2)
        m, q = ph.step(MOMENTS, m, q, h, method=method)
        m = kick(m, q, h / 2)
    # The reference of the table is good to 1e-12, the least error 7e-6.
    close(errors(m, q), vessel_errors(method, h, REFERENCE), rtol=1e-6)


@pytest.mark.parametrize("method", ["magnus2", "magnus8"])
def test_table_3_with_a_user_defined_torque(method: str) -> None:
    """Its kicks are explicit midpoint steps in place of the solution: also of order 2."""
    found = []
    for n in (300, 600):
        h = T_END / n
        m, q = MOMENTS, np.array([1.0, 0.0, 0.0, 0.0])
        torque: Any = ph.torques.Function(vessel)
        traj = ph.integrate(MOMENTS, m, q, h, n, torque=torque, method=method, save_every=n)
        for _ in range(n):
            m = midpoint(m, q, h / 2)
            m, q = ph.step(MOMENTS, m, q, h, method=method)
            m = midpoint(m, q, h / 2)
        close(traj.m[-1] / np.linalg.norm(m), m / np.linalg.norm(m), atol=1e-13)
        close(traj.q[-1], q, atol=1e-13)
        found.append(errors(traj.m[-1], traj.q[-1]))
    close(np.log2(np.divide(*found)), 2.0, atol=0.02)


def midpoint(m: Array, q: Array, s: float) -> Array:
    """A step of the explicit midpoint rule at constant attitude."""
    return m + s * vessel(0.0, m + s / 2 * vessel(0.0, m, q), q)

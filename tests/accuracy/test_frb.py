"""Method "frb", the report's exact step: checks in addition to those of all exact methods."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import tolerances as tol
from numpy.typing import NDArray
from tolerances import EPS, check

import polhode as ph

Array = NDArray[np.float64]

GENERIC = (1.0, 1.5, 2.2)
START = (0.6, -0.48, 0.0, 0.64)


def errors(inertia: tuple[float, ...], m: tuple[float, ...], h: float) -> tuple[float, float]:
    """Errors of m / |m| and q in the unit of their bounds."""
    end = reference.torque_free(inertia, m, START, h, with_sensitivity=True)
    assert end.sensitivity is not None
    angle = float(reference.angle(np.array(inertia), np.array(m), np.array(h)))
    m_end, q_end = ph.quat_step(inertia, m, START, h)
    unit_m, unit_q = (float(tol.exact_unit(angle, s)) for s in end.sensitivity)
    return end.error_m(m_end) / unit_m, end.error_q(q_end) / unit_q


# --- states that the report's algorithms leave out ---

LEFT_OUT = {
    "on axis 1": (GENERIC, (-1.0, 0.0, 0.0)),
    "on axis 2": (GENERIC, (0.0, 1.0, 0.0)),
    "on axis 2, minus": (GENERIC, (0.0, -1.0, 0.0)),
    "m3 = -|m|": (GENERIC, (0.0, 0.0, -1.0)),
    "m3 near -|m|": (GENERIC, (1e-9, -2e-9, -1.0)),
    "on the separatrix": ((1.5, 2.0, 3.0), (0.5, 0.25, -0.5)),
    "on the separatrix, m1 m3 > 0": ((1.5, 2.0, 3.0), (-0.5, 0.25, -0.5)),
    "lambda1 = 0": ((1.0, 1.5, 1.5), (0.48, -0.6, 0.64)),
    "lambda1 = 0 and m1 = 0": ((1.0, 1.5, 1.5), (0.0, -0.6, 0.8)),
    "lambda3 = 0": ((1.0, 1.0, 1.5), (0.48, -0.6, 0.64)),
    "lambda3 = 0 and m3 = 0": ((1.0, 1.0, 1.5), (0.8, -0.6, 0.0)),
    "sphere": ((1.3, 1.3, 1.3), (0.48, -0.6, 0.64)),
    "odd order of moments": ((1.5, 1.0, 2.2), (0.48, -0.6, 0.64)),
}


@pytest.mark.parametrize("h", [0.01, -2.0, 25.0])
@pytest.mark.parametrize("name", LEFT_OUT)
def test_states_left_out(name: str, h: float) -> None:
    tol.within("frb.left_out", errors(*LEFT_OUT[name], h))


@pytest.mark.parametrize("distance", [1e-3, 1e-7, 1e-13])
@pytest.mark.parametrize("side", [(1.0, 0.0), (0.6, -0.8), (1.0, 0.98)])
def test_near_axis_2(side: tuple[float, float], distance: float) -> None:
    """Away from the axis of the middle moment and back: the distance keeps all its digits.

    The amplitude itself, as the report has it, would hold it to 1e-16 / distance.
    """
    m = (side[0] * distance, 1.0, side[1] * distance)
    for h in (0.3, -24.0):
        tol.within("frb.near_axis_2", errors(GENERIC, m, h))


@pytest.mark.parametrize("m", [(0.8, 0.3, 0.4), (0.3, 0.5, -0.8), (0.6, -0.75, 0.28)])
def test_thousands_of_periods(m: tuple[float, float, float]) -> None:
    """One step of 1e5 radians against ten thousand exact ones, and against the step of half."""
    h = 1e5
    angle = float(reference.angle(np.array(GENERIC), np.array(m), np.array(h)))
    m_end, q_end = ph.quat_step(GENERIC, m, START, h)
    m_exact, q_exact = ph.step(GENERIC, m, START, h)
    unit = EPS * angle
    change = [np.abs(m_end - m_exact).max(), np.abs(q_end - q_exact).max()]
    check("against exact", ["m", "q"], change, "frb.thousands_of_periods", unit=unit)
    half = ph.quat_step(GENERIC, *ph.quat_step(GENERIC, m, START, h / 2), h / 2)
    change = [np.abs(half[0] - m_end).max(), np.abs(half[1] - q_end).max()]
    check("two halves", ["m", "q"], change, "frb.thousands_of_periods", unit=unit)


def random_states(count: int) -> tuple[Array, Array, Array]:
    """Bodies of several kinds, momenta, and steps up to 100 |m| / I1."""
    rng = np.random.default_rng(77)
    inertia = np.sort(rng.uniform(0.3, 3.0, (count, 3)), axis=1)
    m = rng.normal(size=(count, 3))
    kind = rng.integers(0, 5, count)
    near = 10 ** rng.uniform(-14, -1, count)
    inertia[:, 0] *= np.where(kind == 1, near**0.3, 1.0)
    inertia[:, 1] += np.where(kind == 2, (1 - near) * (inertia[:, 0] - inertia[:, 1]), 0.0)
    inertia[:, 1] += np.where(kind == 3, (1 - near) * (inertia[:, 2] - inertia[:, 1]), 0.0)
    inertia.sort(axis=1)
    axis = rng.integers(0, 3, count)
    for i in range(3):
        m[:, i] *= np.where((kind == 4) & (axis != i), near, 1.0)
    size = np.linalg.norm(m, axis=1)
    h = inertia[:, 0] / size * 10 ** rng.uniform(-3, 2, count) * rng.choice([-1, 1], count)
    return inertia, m, h


def test_against_the_exact_step() -> None:
    """Two routes without a formula in common but c1, c2, kappa and the frame: 4000 bodies."""
    inertia, m, h = random_states(4000)
    names = [str(i) for i in range(len(h))]
    ends = [ph.step(inertia, m, START, h, method=method) for method in ("frb", "exact")]
    size = np.linalg.norm(m, axis=1)
    moved = []
    for axis in range(6):
        moments, momenta = inertia.copy(), m.copy()
        (moments if axis < 3 else momenta)[:, axis % 3] *= 1 + 2.0**-33
        m_moved, q_moved = ph.step(moments, momenta, START, h)
        change_m = np.abs(m_moved - ends[1][0]).max(1) / size
        moved.append(np.maximum(change_m, np.abs(q_moved - ends[1][1]).max(1)) * 2.0**-20)
    # Half an ulp is 2^-53, of which the inputs were moved 2^20.
    unit = tol.exact_unit(reference.angle(inertia, m, h), np.sum(moved, 0))
    change = np.abs(ends[0][0] - ends[1][0]).max(1) / size
    check("m", names, change, "frb.against_exact", unit=unit)
    check("q", names, np.abs(ends[0][1] - ends[1][1]).max(1), "frb.against_exact", unit=unit)


# --- the two routines by their names ---


def test_both_routines_are_one_step() -> None:
    m, q = ph.quat_step(GENERIC, (0.3, 0.5, 0.8), START, 2.0)
    start = np.array(reference.to_matrix(reference.unit_quaternion(START)), float)
    m_too, matrix = ph.frb_step(GENERIC, (0.3, 0.5, 0.8), start, 2.0)
    np.testing.assert_array_equal(m, m_too)
    assert np.abs(matrix - np.array(reference.to_matrix(q), float)).max() < 8 * EPS
    np.testing.assert_array_equal(
        ph.step(GENERIC, m, q, 1.0, method="frb")[1], ph.quat_step(GENERIC, m, q, 1.0)[1]
    )


def test_attitudes_of_the_other_kind_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Q must have shape \(\.\.\., 3, 3\), got \(4,\)"):
        ph.frb_step(GENERIC, (0.3, 0.5, 0.8), START, 1.0)
    with pytest.raises(ValueError, match=r"q must have shape \(\.\.\., 4\), got \(3, 3\)"):
        ph.quat_step(GENERIC, (0.3, 0.5, 0.8), np.eye(3), 1.0)


def test_steps_and_outputs_pass_through() -> None:
    m, q = np.array([0.3, 0.5, 0.8]), np.array(START)
    once = ph.quat_step(GENERIC, *ph.quat_step(GENERIC, m, q, 0.1), 0.1)
    result = ph.quat_step(GENERIC, m, q, 0.1, n_steps=2, out=(m, q), threads=2)
    assert result[0] is m
    np.testing.assert_array_equal(m, once[0])
    np.testing.assert_array_equal(q, once[1])

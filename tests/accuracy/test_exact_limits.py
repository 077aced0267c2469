"""Exact methods at the limits of bodies and steps: one moment far above the others, steps of which
no digit is left, momenta that all but stand still.

The moments need not keep the triangle inequality.  Where I3 is far above I1 and I2, h |m| / I1 may
be a million million times the angle that the body turns, and nothing on the way may be rounded to
it.  References: limit_states.py, or what is known of a body that turns about a fixed axis.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import reference
import tolerances as tol
from compare import close
from limit_states import START
from numpy.typing import ArrayLike, NDArray
from tolerances import check

import polhode as ph

Array = NDArray[np.float64]

CASES = reference.load_cases("limit_states.json")
FAMILIES = sorted({case["name"] for case in CASES})
METHODS = ["exact", "frb", "motion"]


def run(
    method: str, inertia: ArrayLike, m: ArrayLike, q: ArrayLike, h: ArrayLike
) -> tuple[Array, Array]:
    if method == "motion":
        return ph.TorqueFreeMotion(inertia, m, q)(h)
    return ph.step(inertia, m, q, h, method=method)


def arrays(cases: list[dict[str, Any]]) -> list[Array]:
    return [np.array([case[key] for case in cases], float) for key in ("inertia", "m0", "h")]


def units(cases: list[dict[str, Any]]) -> Array:
    """Of m / |m| and of q."""
    sensitivity = np.array([reference.stored(case).sensitivity for case in cases])
    return tol.exact_unit(reference.angle(*arrays(cases))[:, None], sensitivity).T


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", METHODS)
def test_stored_states(method: str, family: str) -> None:
    cases = [case for case in CASES if case["name"] == family]
    inertia, m, h = arrays(cases)
    names = [f"{case['inertia']} {case['m0']} {case['h']}" for case in cases]
    ends = [reference.stored(case) for case in cases]
    unit_m, unit_q = units(cases)
    m_end, q_end = run(method, inertia, m, START, h)
    errors = [end.error_m(x) for end, x in zip(ends, m_end, strict=True)]
    check(f"{method}, m", names, errors, "limits.states", unit=unit_m)
    errors = [end.error_q(x) for end, x in zip(ends, q_end, strict=True)]
    check(f"{method}, q", names, errors, "limits.states", unit=unit_q)


@pytest.mark.parametrize("method", ["magnus2", "factorization8", "gauss10"])
def test_momenta_of_the_semi_exact_methods(method: str) -> None:
    """Their m is exact too, while the phase h |m| / I1 has digits."""
    inertia, m, h = arrays(CASES)
    usable = np.abs(h) * np.linalg.norm(m, axis=1) / inertia.min(1) < 2.0**49
    cases = [case for case, good in zip(CASES, usable, strict=True) if good]
    m_end, _ = ph.step(inertia[usable], m[usable], START, h[usable], method=method)
    check(
        f"{method}, m",
        [str(case["inertia"]) for case in cases],
        [reference.stored(c).error_m(x) for c, x in zip(cases, m_end, strict=True)],
        "limits.states",
        unit=units(cases)[0],
    )


def check_fixed_axis(method: str, inertia: ArrayLike, m: Array, h: Array, moment: float) -> None:
    """m is constant, and the body turns about it by h |m| / moment; |m| = 1."""
    m_end, q_end = run(method, inertia, m, [1.0, 0.0, 0.0, 0.0], h)
    turn = h / moment
    want = np.empty((len(h), 4))
    want[:, 0] = np.cos(turn / 2)
    want[:, 1:] = np.sin(turn / 2)[:, None] * m
    names = [str(x) for x in h]
    unit = tol.exact_unit(np.abs(turn), 0.0)
    for error in (np.abs(m_end - m).max(1), np.abs(q_end - want).max(1)):
        check(method, names, error, "limits.fixed_axis", unit=unit)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("inertia", "angle"),
    [
        ((1000.0, 1.0, 1.0), 35.8),
        ((1e5, 1.0, 1.0), 45.0),
        ((1.0, 5.7e9, 1.0027), 14.2),
        ((1.0, 1.0, 1e12), 9.41),
        ((1.0, 3.0, 1e13), 900.0),
        ((1.0, 1.0, 5e11), 2000.0),
    ],
)
def test_on_the_axis_of_the_large_moment(
    method: str, inertia: tuple[float, ...], angle: float
) -> None:
    axis = int(np.argmax(inertia))
    h = np.linspace(0.9, 1.1, 501) * angle * inertia[axis]
    check_fixed_axis(method, inertia, np.eye(3)[axis], h, inertia[axis])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("least", [6.8e-12, 1e-9, 3e-15])
def test_slender_body_across_its_axis(method: str, least: float) -> None:
    """h |m| / I1 up to 1e23, and the angle, h, keeps its digits."""
    h = np.array([1e5, 5.25e5, -1e6, 3e7, 3.1e8])
    for m in np.array([(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.6, 0.8, 0.0)]):
        check_fixed_axis(method, (1.0, 1.0, least), m, h, 1.0)


# --- steps of which no digit is left ---


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:no digit is correct:RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
def test_no_digit_left_is_nan(method: str) -> None:
    inertia = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1000.0]])
    m = np.array([[0.3, 0.5, 0.8], [0.3, 0.5, 0.8], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    m_end, q_end = run(method, inertia, m, START, np.array([1.0, 1e17, 1e17, 1e17]))
    assert np.isfinite(m_end[0]).all()
    assert np.isfinite(q_end[0]).all()
    assert np.isnan(q_end[1:]).all()


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:no digit is correct:RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("moments", [(1.0, 1.5, 2.2), (1.0, 1.01, 2.0)])
def test_a_long_way_from_the_middle_axis_is_nan(
    method: str, moments: tuple[float, float, float]
) -> None:
    """As documented.  The closed form has to go half a period at most; 300 is less."""
    inertia, m = np.array(moments), np.array([1e-140, 1.0, 1e-140])
    growth_time = 1 / math.sqrt((1 - 1 / inertia[1]) * (1 / inertia[1] - 1 / inertia[2]))
    m_end, _ = run(method, inertia, m, START, np.array(295 * growth_time))
    assert np.isfinite(m_end).all()
    m_end, _ = run(method, inertia, m, START, np.array(305 * growth_time))
    assert np.isnan(m_end).all()


@pytest.mark.parametrize("method", ["magnus2", "magnus4", "factorization6", "exact", "frb"])
def test_on_the_middle_axis_for_long(method: str) -> None:
    """6000 growth times, and m stays where it is: sech underflows on the way."""
    for sign, h in itertools.product((1.0, -1.0), (2e4, -2e4)):
        m = np.array([0.0, sign, 0.0])
        m_end, q_end = ph.step([1.0, 1.5, 2.2], m, START, h, method=method)
        close(m_end, m, atol=tol.exact_bound(abs(h) / 1.5, 0.0))
        assert np.isfinite(q_end).all()

"""Accuracy of the exact methods on the stored cases of torque-free motion, and over long runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
import tolerances as tol
from numpy.typing import NDArray
from tolerances import EPS, check

import polhode as ph

CASES = reference.load_cases()
KNOWN = [reference.stored(case) for case in CASES]
NAMES = [case["name"] for case in CASES]
INERTIA, M0, Q0, H = (
    np.array([case[key] for case in CASES], float) for key in ("inertia", "m0", "q0", "h")
)
ANGLE = reference.angle(INERTIA, M0, H)

Array = NDArray[np.float64]


# Of m / |m| and of q.
UNIT_M, UNIT_Q = tol.exact_unit(ANGLE[:, None], np.array([k.sensitivity for k in KNOWN])).T


def matrices(q: Array) -> Array:
    """Q of unit quaternions, rounded from high precision."""
    return np.array([np.array(reference.to_matrix(reference.unit_quaternion(x)), float) for x in q])


def check_states(what: str, m: Array, q: Array) -> None:
    errors = [known.error_m(x) for known, x in zip(KNOWN, m, strict=True)]
    check(f"{what}, m", NAMES, errors, "exact.m", unit=UNIT_M)
    errors = [known.error_q(x) for known, x in zip(KNOWN, q, strict=True)]
    check(f"{what}, q", NAMES, errors, "exact.q", unit=UNIT_Q)


METHODS = ["exact", "frb"]


@pytest.mark.parametrize("method", METHODS)
def test_batch_of_quaternions(method: str) -> None:
    m, q = ph.step(INERTIA, M0, Q0, H, method=method)
    check_states(method, m, q)


@pytest.mark.parametrize("method", METHODS)
def test_batch_of_matrices(method: str) -> None:
    m, matrix = ph.step(INERTIA, M0, matrices(Q0), H, method=method)
    errors = [known.error_m(x) for known, x in zip(KNOWN, m, strict=True)]
    check(f"{method} with matrices, m", NAMES, errors, "exact.m", unit=UNIT_M)
    errors = [known.error_matrix(x) for known, x in zip(KNOWN, matrix, strict=True)]
    check(f"{method} with matrices, Q", NAMES, errors, "exact.Q", unit=UNIT_Q)


def test_the_report_by_its_own_names() -> None:
    m, q = ph.quat_step(INERTIA, M0, Q0, H)
    check_states("quat_step", m, q)
    also_m, matrix = ph.frb_step(INERTIA, M0, matrices(Q0), H)
    np.testing.assert_array_equal(also_m, m)
    errors = [known.error_matrix(x) for known, x in zip(KNOWN, matrix, strict=True)]
    check("frb_step, Q", NAMES, errors, "exact.Q", unit=UNIT_Q)


def test_closed_form() -> None:
    motion = ph.TorqueFreeMotion(INERTIA, M0, Q0)
    m, q = motion(H)
    check_states("TorqueFreeMotion", m, q)


def test_closed_form_at_many_times() -> None:
    """Times (T, 1) against N bodies give (T, N); a row is the same as that time alone."""
    motion = ph.TorqueFreeMotion(INERTIA, M0, Q0)
    shares = np.array([[1.0], [0.0], [-0.25], [0.5]])
    m, q = motion(shares * H)
    assert m.shape == (4, len(CASES), 3)
    assert q.shape == (4, len(CASES), 4)
    check_states("TorqueFreeMotion, row of many", m[0], q[0])
    np.testing.assert_array_equal(m[1], M0)
    half_m, half_q = ph.step(INERTIA, M0, Q0, 0.5 * H)
    size = np.maximum(np.linalg.norm(M0, axis=1), 1e-300)
    change = np.abs(m[3] - half_m).max(-1) / size
    check("half way, m", NAMES, change, "exact.half_way", unit=UNIT_M)
    check("half way, q", NAMES, np.abs(q[3] - half_q).max(-1), "exact.half_way", unit=UNIT_Q)


def test_every_stored_angle_is_reached() -> None:
    """The cases reach far: without the long ones the bounds per radian would mean little."""
    assert ANGLE.max() > 5000
    assert len(CASES) == 55


@pytest.mark.parametrize(
    "i",
    [i for i in range(len(CASES)) if ANGLE[i] < 20],
    ids=[NAMES[i] for i in range(len(CASES)) if ANGLE[i] < 20],
)
def test_reference_reproduces_the_stored_cases(i: int) -> None:
    """Two independent integrations: the stored one and tests/reference.py."""
    case = CASES[i]
    end = reference.torque_free(case["inertia"], case["m0"], case["q0"], case["h"])
    known = KNOWN[i]
    change = max(abs(a - b) for a, b in zip(end.m, known.m, strict=True))
    assert change <= 1e-23 * known.norm
    # The stored q starts from q0 without normalisation; q0 is unit only to rounding.
    change = max(abs(a - b) for a, b in zip(end.q, known.q, strict=True))
    assert change <= 2 * EPS


def test_long_run() -> None:
    """2e4 steps of hw = 0.01: energy and spatial momentum do not drift."""
    rng = np.random.default_rng(1)
    n = 64
    inertia = np.sort(rng.uniform(1.0, 3.0, (n, 3)), axis=1)
    m0 = rng.normal(size=(n, 3))
    m0 /= np.linalg.norm(m0, axis=1)[:, None]
    q0 = rng.normal(size=(n, 4))
    q0 /= np.linalg.norm(q0, axis=1)[:, None]
    h = 0.01 * inertia[:, 0] / np.linalg.norm(m0, axis=1)

    def wide(x: Array) -> NDArray[Any]:
        return x.astype(np.longdouble)

    def energy(m: Array) -> NDArray[Any]:
        return np.sum(wide(m) ** 2 / wide(inertia), -1) / 2

    def spatial(m: Array, q: Array) -> NDArray[Any]:
        q = wide(q) / np.sqrt(np.sum(wide(q) ** 2, -1))[:, None]
        v = wide(m)
        t = 2 * np.cross(q[:, 1:], v)
        return v + q[:, :1] * t + np.cross(q[:, 1:], t)

    m, q = ph.step(inertia, m0, q0, h, n_steps=tol.LONG_RUN_STEPS)
    change = energy(m) / energy(m0) - 1
    rms = float(np.sqrt(np.mean(change**2)))
    tol.within("exact.long_run.energy", rms / tol.LONG_RUN)
    drift = float(np.abs(spatial(m, q) - spatial(m0, q0)).max())
    tol.within("exact.long_run.momentum_spatial", drift / tol.LONG_RUN)

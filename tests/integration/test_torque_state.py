"""Torques with a state of their own: controllers and filters."""

from __future__ import annotations

import numpy as np
import pytest
from compare import close
from numpy.testing import assert_array_equal
from scipy.integrate import solve_ivp

import polhode as ph

INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, -0.2, 0.4])
Q0 = np.array([0.8, 0.4, -0.4, 0.2])
Q0 /= np.linalg.norm(Q0)


def controller(m, q, s):
    """Proportional, differential and integral action against the attitude (1, 0, 0, 0)."""
    error = q[..., :1] * q[..., 1:]
    return -2.0 * error - 0.7 * m - 0.3 * s, error - 0.1 * s


def exact(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def rate(t, y):
        m, q, s = y[:3], y[3:7], y[7:]
        omega = m / INERTIA
        torque, ds = controller(m, q, s)
        dq = 0.5 * ph.so3.multiply(q, np.concatenate([[0.0], omega]))
        return np.concatenate([np.cross(m, omega) + torque, dq, ds])

    start = np.concatenate([M0, Q0, [0.1, 0.0, -0.2]])
    y = solve_ivp(rate, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return y[:3], y[3:7], y[7:]


def run(n: int, splitting: str = "strang", **options):
    return ph.integrate(
        INERTIA, M0, Q0, 4.0 / n, n, torque=controller, state0=[0.1, 0.0, -0.2],
        splitting=splitting, save_every=max(1, n // 4), **options,
    )  # fmt: skip


def error(traj) -> float:
    m, q, s = exact(4.0)
    ends = (traj.m[-1], m), (traj.q[-1], q), (traj.state[-1], s)
    return max(np.abs(got - end).max() for got, end in ends)


@pytest.mark.parametrize(("splitting", "order"), [("strang", 2), ("s6", 4), ("yoshida4", 4)])
def test_a_controller_against_dop853(splitting, order):
    coarse, fine = (error(run(n, splitting)) for n in (100, 200))
    assert abs(np.log2(coarse / fine) - order) < 0.3
    assert fine < (1e-4 if order == 2 else 2e-6)


def test_each_body_has_its_state():
    states = np.array([[0.1, 0.0, -0.2], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    many = ph.integrate(INERTIA, M0, Q0, 0.04, 100, torque=controller, state0=states)
    assert many.state.shape == (101, 3, 3)
    alone = run(100)
    assert_array_equal(many.m[-1, 0], alone.m[-1])
    assert_array_equal(many.state[-1, 0], alone.state[-1])
    assert_array_equal(many.state[0], states)


def test_a_state_of_another_size_drives_a_model():
    def filtered(t, s):
        return np.stack([s[..., 0], 0 * s[..., 0], 0 * s[..., 0]], axis=-1), -s

    terms = [filtered, ph.torques.HeavyTop([0.0, 0.0, 0.5])]
    traj = ph.integrate(INERTIA, M0, Q0, 0.01, 100, torque=terms, state0=[1.0, 2.0], splitting="s6")
    close(traj.state[-1], [np.exp(-1.0), 2 * np.exp(-1.0)], rtol=1e-9)


@pytest.mark.parametrize("splitting", ["strang", "s6"])
def test_files_and_resume_keep_the_bits(tmp_path, splitting):
    def stop(step, t, m, q, s):
        assert s.shape == (3,)
        return step >= 50

    whole = run(100, splitting)
    part = run(100, splitting, save_to=tmp_path / "run", callback=stop)
    assert len(part) == 3
    rest = ph.resume(tmp_path / "run", controller)
    for name in ("t", "m", "q", "state"):
        assert_array_equal(getattr(rest, name), getattr(whole, name))
    assert_array_equal(np.load(tmp_path / "run" / "s.npy"), whole.state)
    assert_array_equal(ph.Trajectory.load(tmp_path / "run").state, whole.state)
    with pytest.raises(ValueError, match="state0"):
        ph.integrate(
            INERTIA, M0, Q0, 0.04, 100, torque=controller, state0=[0.1, 0.0, -0.3],
            splitting=splitting, save_every=25, save_to=tmp_path / "run", resume=True,
        )  # fmt: skip


def test_nan_stays_in_its_body():
    states = np.array([[0.1, 0.0, -0.2], [np.nan, 0.0, 0.0]])
    with pytest.warns(RuntimeWarning, match="1 body"):
        traj = ph.integrate(INERTIA, M0, Q0, 0.04, 100, torque=controller, state0=states)
    assert_array_equal(traj.m[-1, 0], run(100).m[-1])
    assert np.isnan(traj.m[-1, 1]).all()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, TypeError, "asks for s: give state0="),
        ({"state0": 1.0}, ValueError, r"state0 must have shape \(\.\.\., k\)"),
        ({"state0": [1.0], "torque": None}, TypeError, "none does"),
        ({"state0": [0.0] * 3, "splitting": None, "method": "rk8"}, ValueError, "'rk8'"),
        ({"state0": [0.0] * 3, "splitting": "rkn4_6"}, ValueError, "rkn4_6"),
        ({"state0": [0.0] * 3, "splitting": "chin4c"}, ValueError, "chin4c"),
        ({"state0": [0.0] * 2, "torque": lambda m, s: (m, m)}, ValueError, "rate of s"),
        ({"state0": [0.0] * 3, "torque": lambda m, s: m}, TypeError, "must return"),
        ({"state0": [0.0] * 3, "compensated": True}, ValueError, "compensated"),
    ],
)
def test_refused(options, error, words):
    arguments = {"torque": controller, **options}
    with pytest.raises(error, match=words):
        ph.integrate(INERTIA, M0, Q0, 0.1, 10, **arguments)


@pytest.mark.parametrize(("splitting", "order"), [("strang", 2), ("s6", 4)])
def test_between_the_saves(splitting, order):
    want = exact(2.3)
    errors = []
    for n in (100, 200):
        got = run(n, splitting)(2.3)
        errors.append(max(np.abs(a - b).max() for a, b in zip(got, want, strict=True)))
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.7
    path = run(8)
    for got, saved in zip(path(path.t), (path.m, path.q, path.state), strict=True):
        assert_array_equal(got, saved)

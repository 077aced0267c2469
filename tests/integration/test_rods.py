"""Bodies with a moment that is zero or counts as zero, under torque and in a heat bath."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.testing import assert_array_equal

import polhode as ph

RODS = np.array([[0.0, 2.0, 2.0], [3.0, 0.0, 3.0], [1e-17, 0.5, 0.5], [0.0, 0.0, 3.0]])
TURNS = RODS > 1e-16
M0 = np.array([[0.0, 0.3, 0.2], [0.5, 0.0, -0.4], [0.0, 0.1, 0.7], [0.0, 0.0, 0.6]])
Q0 = np.array([[0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0], [0.8, 0, 0.6, 0], [0, 0, 0.6, 0.8]])


def all_axes(q: Any) -> Any:
    return 0.2 + q[..., 1:]


def with_m(m: Any, q: Any) -> Any:
    return all_axes(q) - 0.1 * m


WAYS: dict[str, dict[str, Any]] = {
    "kicks that are joined": {},
    "each kick by itself": {"mass": 2.0},
    "compensated": {"compensated": True},
    "flows that are joined": {"splitting": "strang_free"},
    "a processor": {"splitting": "processed_strang182"},
    "models": {"torque": ph.torques.Constant([0.2, 0.3, 0.4])},
    "linear in m": {"torque": ph.torques.Gyrostat([0.1, 0.2, 0.3])},
    "of m": {"torque": with_m},
    "noise": {"thermostat": ph.Thermostat(1.0, 2.0, seed=4)},
    "chains": {"thermostat": ph.NoseHoover(1.0, 2.0)},
    "a direct integrator": {"splitting": None, "method": "rk4"},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_saved_momenta_have_no_part_about_the_axis(way: dict[str, Any]) -> None:
    """So the state at any save may be the start of another run, or of `step`."""
    way = {"torque": all_axes, **way}
    traj = ph.integrate(RODS, M0, Q0, 0.1, 10, save_every=3, **way)
    assert_array_equal(traj.m[:, ~TURNS], 0.0)
    ph.step(RODS, traj.m[-1], traj.q[-1], 0.1)
    run = ph.Run(RODS, M0, Q0, 0.1, **way) if way.get("method") != "rk4" else None
    if run is not None:
        run.advance(10)
        assert_array_equal(run.m, traj.m[-1])


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14"])
def test_a_torque_about_the_axis_has_no_effect(splitting: str) -> None:
    def without(q: Any) -> Any:
        return np.where(TURNS, all_axes(q), 0.0)

    one, other = (
        ph.integrate(RODS, M0, Q0, 0.1, 10, torque=torque, splitting=splitting)
        for torque in (all_axes, without)
    )
    assert_array_equal(one.m, other.m)
    assert_array_equal(one.q, other.q)
    one, other = (
        ph.integrate(RODS, M0, Q0, t_end=3.0, rtol=1e-6, torque=torque)
        for torque in (lambda q: 20 * all_axes(q), lambda q: 20 * without(q))
    )
    assert one.n_steps.tolist() == other.n_steps.tolist()  # the norm of m is without it
    assert_array_equal(one.q, other.q)


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14"])
def test_a_run_of_rods_goes_on(splitting: str) -> None:
    one = ph.integrate(RODS, M0, Q0, 0.1, 10, torque=all_axes, splitting=splitting)
    two = ph.integrate(RODS, one.m[4], one.q[4], 0.1, 6, torque=all_axes, splitting=splitting)
    close(two.q, one.q[4:], rtol=0, atol=1e-14)


def test_a_torque_that_is_nan_about_the_axis_is_reported() -> None:
    with pytest.warns(RuntimeWarning, match="^the torque was not finite: 1 body is NaN$"):
        traj = ph.integrate(
            RODS[0], M0[0], Q0[0], 0.1, 3, torque=lambda q: np.array([np.nan, 0.0, 0.0])
        )
    assert np.isnan(traj.m[-1]).any()


@pytest.mark.parametrize("moments", RODS)
def test_degrees_of_freedom(moments: Any) -> None:
    free = (moments > 1e-16).sum()
    m0 = np.where(moments > 1e-16, [[1.0, 2.0, 0.5]], 0.0)
    traj = ph.integrate(moments, m0, [1, 0, 0, 0], 0.1, 1, thermostat=ph.NoseHoover(1.0, 1.0))
    close(traj.temperature()[1][0], 2 * ph.energy(moments, m0)[0] / free, rtol=1e-15)
    traj = ph.integrate(
        moments, np.zeros((4000, 3)), [1, 0, 0, 0], 1.0, 10, save_every=10,
        thermostat=ph.Thermostat(1.0, 2.0, seed=4),
    )  # fmt: skip
    # Five standard deviations of the mean.
    assert abs(traj.temperature()[1][-1] - 1.0) < 5 * np.sqrt(2 / (4000 * free))


def test_no_bodies_have_no_temperature() -> None:
    traj = ph.integrate([1, 2, 3], np.ones((0, 3)), [1, 0, 0, 0], 0.1, 2, mass=1.0)
    assert np.isnan(traj.temperature()).all()


def test_a_start_with_momentum_about_the_axis_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"^m0 = \[1.*zero"):
        ph.integrate(RODS[0], [1.0, 0.3, 0.2], Q0[0], 0.1, 1)

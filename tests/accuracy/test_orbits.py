"""`Orbit`, gravity gradients along it, and fields: closed forms and public check cases."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph
from polhode import _core
from polhode.torques import Dipole, GravityGradient, Orbit

Array = NDArray[np.float64]
EPS = 2.0**-52
MU = 398600441500000.0


@pytest.mark.parametrize("e", [0.0, 1e-12, 0.01, 0.5, 0.9, 0.999, 1 - 1e-9])
def test_kepler_equation(e: float) -> None:
    tiny = [0.0, -0.0, 1e-300, -1e-100, 1e-30]
    M = np.concatenate([np.linspace(-np.pi, np.pi, 41), 10.0 ** np.arange(-18, 0), tiny])
    E = _core.eccentric_anomaly(M, e)
    with mp.workdps(40):
        for x, y in zip(M, E, strict=True):
            mean, found, k = mp.mpf(float(x)), mp.mpf(float(y)), mp.mpf(e)
            residual = found - k * mp.sin(found) - mean
            slope = 1 - k * mp.cos(found)
            # The last bit of E, and the rounding of E - e sin E.
            assert abs(residual) <= 2 * EPS * abs(found) * max(float(slope), 1.0)
    close(_core.eccentric_anomaly(M + 20 * np.pi, e) if e < 0.6 else E, E, atol=5e-14)
    assert np.isnan(_core.eccentric_anomaly(np.nan, e))


def kepler_state(orbit: Orbit, t: float) -> list[float]:
    """By Taylor series of the equation of motion, 40 digits."""
    with mp.workdps(40):
        start = [mp.mpf(float(x)) for x in (*orbit.position, *orbit.velocity)]
        mu = mp.mpf(float(orbit.mu))

        def rate(_: Any, y: Any) -> list[Any]:
            cube = mp.sqrt(y[0] ** 2 + y[1] ** 2 + y[2] ** 2) ** 3
            return [*y[3:], *(-mu * x / cube for x in y[:3])]

        return [float(x) for x in mp.odefun(rate, 0, start, tol=mp.mpf(10) ** -20)(t)]


@pytest.mark.parametrize("velocity", [[0, 1, 0], [0.1, 0.9, 0.3], [0.9, 0.4, 0]])
def test_state_of_an_ellipse(velocity: Any) -> None:
    orbit = Orbit(1.0, [1, 0, 0], velocity)
    exact = kepler_state(orbit, 2.5)
    close(np.concatenate(orbit.state(2.5)), exact, atol=16 * EPS / (1 - orbit.eccentricity))
    close(np.concatenate(orbit.state(0.0)), [1, 0, 0, *velocity], atol=8 * EPS)
    back = np.concatenate(orbit.state(orbit.period))
    close(back, [1, 0, 0, *velocity], atol=64 * EPS / (1 - orbit.eccentricity) ** 2)


def test_orbits_and_times_broadcast() -> None:
    orbits = Orbit([1.0, 2.0], [1, 0, 0], [[0, 1, 0], [0.1, 0.9, 0.3]])
    t = np.linspace(0, 3, 5)
    position, velocity = orbits.state(t[:, None])
    assert position.shape == velocity.shape == (5, 2, 3)
    one = Orbit(2.0, [1, 0, 0], [0.1, 0.9, 0.3])
    np.testing.assert_array_equal(position[:, 1], one.state(t)[0])
    samples = Orbit([1.0, 2.0], position, velocity, t)
    close(samples.state(t[:, None])[0], position, atol=4 * EPS)
    close(samples.state(t[:, None])[1], velocity, atol=16 * EPS)
    assert np.isnan(samples.state(3.1)[0]).all()


def test_orbit_frame() -> None:
    orbit = Orbit(1.0, [0.8, 0.5, -0.3], [0.2, 0.7, 0.6])
    t = np.linspace(0.0, 5.0, 4)
    r, v = orbit.state(t)
    q = orbit.lvlh(t)
    unit = np.eye(3)
    close(ph.so3.rotate(q, unit[2]), -r / np.linalg.norm(r, axis=-1)[:, None], atol=4 * EPS)
    across = np.cross(v, r)
    across /= np.linalg.norm(across, axis=-1)[:, None]
    close(ph.so3.rotate(q, unit[1]), across, atol=4 * EPS)
    assert (np.einsum("ti,ti->t", ph.so3.rotate(q, unit[0]), v) > 0).all()
    # Its rate, by a difference of order 4.
    h = 1e-3
    turn = [ph.so3.log(ph.so3.multiply(ph.so3.conjugate(q), orbit.lvlh(t + k * h)))
            for k in (-2, -1, 1, 2)]  # fmt: skip
    rate = (turn[0] - 8 * turn[1] + 8 * turn[2] - turn[3]) / (12 * h)
    close(orbit.rate(t), rate, atol=1e-10)


def test_a_circular_orbit_is_an_orbit() -> None:
    model = GravityGradient(0.7, [0, 0, 1], [0, 1, 0], inertia=[1, 1.5, 2.2])
    orbit = GravityGradient(orbit=Orbit(0.49, [0, 0, 1], [0.7, 0, 0]), inertia=[1, 1.5, 2.2])
    q = ph.so3.exp([0.3, -0.5, 0.9])
    for t in (0.0, 1.7, -40.0):
        close(model.torque(t, np.zeros(3), q), orbit.torque(t, np.zeros(3), q), atol=64 * EPS)
        close(model.lvlh(t), orbit.lvlh(t), atol=64 * EPS)


# NASA JEOD, verif/SIM_dyncomp, RUN_10A and RUN_10C (exercises of the NESC): a cylinder in an orbit
# of e = 0.001 and 0.0078 for 8 hours; pitch 5 degrees, out of plane 1 degree.
ATTITUDES_10 = {
    "10A": (
        [-4292653.41, 955168.47, 5139356.57],
        [109.649663, -7527.72649, 1484.521489],
        [-1.97989570839746e-05, -0.001134281491669957, 0.0],
        [
            [-0.6443912270931274, 0.05284210190675609, 0.7628680480341864],
            [-0.7615617870471506, -0.1345758407161209, -0.6339660776454052],
            [0.06916350883930189, -0.9894933326514259, 0.1269620166955875],
        ],
        [-1.97989570839746e-05, -0.001080027400090759, -0.0007098670173048437],
        [
            [-0.1303977224153033, -0.9235551691194414, 0.3606137595567613],
            [-0.9835635249313684, 0.0746803593168579, -0.1643947576928366],
            [0.1248968631050554, -0.3761232424685627, -0.9181133263717784],
        ],
    ),
    "10C": (
        [-4315967.74, 960356.2, 5167269.53],
        [129.091037, -7491.513855, 1452.515654],
        [-1.958561461497211e-05, -0.001122059109806593, 0.0],
        [
            [-0.6443912269484258, 0.0528421023505859, 0.762868048125672],
            [-0.7615617871967408, -0.1345758406652156, -0.6339660774765135],
            [0.0691635085403311, -0.9894933326346473, 0.1269620169892195],
        ],
        [-1.958561461497211e-05, -0.001102150420357001, -0.0007137081527530395],
        [
            [-0.1416223422259105, -0.9171375917053928, 0.372561068904521],
            [-0.9814677649343182, 0.08101112610984618, -0.1736612329832083],
            [0.1290896532541655, -0.3902509901681823, -0.9116139676943704],
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("table", [False, True], ids=["ellipse", "table"])
@pytest.mark.parametrize("case", ATTITUDES_10)
def test_nasa_check_cases(case: str, table: bool) -> None:
    position, velocity, omega0, T0, omega, T = ATTITUDES_10[case]
    inertia = np.array([500.0, 12250.0, 12250.0])
    orbit = Orbit(MU, position, velocity)
    if table:
        times = np.linspace(-20.0, 28820.0, 7211)
        orbit = Orbit(MU, *orbit.state(times), times)
    traj = ph.integrate(
        inertia, inertia * omega0, np.transpose(T0), 20.0, 1440,
        torque=GravityGradient(orbit=orbit), splitting="rkn6_14", save_every=1440,
    )  # fmt: skip
    close(traj.omega()[-1], omega, atol=1e-13)
    turn = ph.so3.log(ph.so3.to_quaternion(traj.q[-1].T @ np.transpose(T)))
    assert np.degrees(np.linalg.norm(turn)) < 1e-9


def test_a_table_of_two_states_is_one_cubic() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    r, v = np.array([[7e6, 0, 0], [0, 7e6, 1e5]]), np.array([[0, 7500.0, 0], [-7400.0, 0, 10]])
    moments, times = np.array([5.0, 8.0, 3.5]), [0.0, 1500.0]
    between = interpolate.CubicHermiteSpline(times, r, v)(600.0)
    distance = np.linalg.norm(between)
    up = between / distance
    want = 3 * MU / distance**3 * np.cross(up, moments * up)
    torque = GravityGradient(orbit=Orbit(MU, r, v, times), inertia=moments)
    found = torque.torque(600.0, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    close(found, want, atol=64 * EPS * np.abs(want).max())
    with pytest.raises(ValueError, match="T > 1"):
        Orbit(MU, r[:1], v[:1], times[:1])


# A dipole in a field along an orbit ---------------------------------------------------------------


def test_work_of_a_field_that_changes() -> None:
    # energy' = d(potential)/dt at a fixed attitude = -moment . Q^T field'.
    interpolate = pytest.importorskip("scipy.interpolate")
    t = np.linspace(0.0, 4.0, 9)
    field = interpolate.CubicSpline(t, np.stack([np.cos(t), np.sin(t), 0.3 * t], axis=-1))
    moment = np.array([0.2, -0.1, 0.4])
    traj = ph.integrate(
        [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1, 0, 0, 0], 0.01, 400, torque=Dipole(moment, field),
        splitting="mclachlan6_9",
    )  # fmt: skip
    power = -np.sum(ph.so3.rotate(traj.q, moment) * field(traj.t, 1), axis=-1)
    work = 0.01 / 3 * (power[:-2:2] + 4 * power[1:-1:2] + power[2::2])
    energy = traj.energy()
    close(np.cumsum(work), energy[2::2] - energy[0], atol=1e-9)
    assert np.ptp(energy) > 0.1

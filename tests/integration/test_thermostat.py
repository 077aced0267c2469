"""The heat bath: noise, distributions, order, bits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from compare import close
from numpy.testing import assert_array_equal

import polhode as ph
from polhode import _core

EPS = 2.0**-52
BATH = ph.Thermostat(kT=1.3, gamma=0.8, seed=11)


@pytest.mark.parametrize("count", [1, 37])
def test_noise_is_that_of_numpy_and_mpmath(count):
    """A strong friction leaves the noise of the last half step alone: Box and Muller, 40 digits."""
    inertia, mass, n_steps = np.array([1.0, 1.5, 2.2]), 0.7, 3
    bath = ph.Thermostat(kT=1.3, gamma=1e4, seed=11)
    traj = ph.integrate(
        inertia, np.zeros((count, 3)), [1.0, 0.0, 0.0, 0.0], 1.0, n_steps, mass=mass,
        thermostat=bath,
    )  # fmt: skip
    for step, body, draw in np.ndindex(n_steps, count, 2):
        found = (traj.m, traj.p)[draw][step + 1, body]
        # NumPy increments the counter, of 256 bits, before it draws: body - 1 without a carry.
        before = [body - 1, 2 * step + 1, draw, 0] if body else [-1, 2 * step, draw, 0]
        counter = np.array(before, np.int64).view(np.uint64)
        words = np.random.Philox(counter=counter, key=np.array([11, 0], np.uint64)).random_raw(4)
        a, b, c, d = (int(word) >> 11 for word in words)
        with mp.workdps(40):
            r, s = (mp.sqrt(-2 * mp.log(mp.mpf(n + 1) / 2**53)) for n in (a, c))
            turns, others = (2 * mp.pi * n / 2**53 for n in (b, d))
            z = [float(x) for x in (r * mp.cos(turns), r * mp.sin(turns), s * mp.cos(others))]
        weight = np.sqrt(1.3 * (mass if draw else inertia))
        close(found, weight * np.array(z), rtol=8 * EPS, atol=8 * EPS)


def test_noise_is_philox_of_numpy():
    random = np.random.default_rng(1)
    for _ in range(50):
        counter, key = (random.integers(0, 2**64, k, np.uint64) for k in (4, 2))
        before = counter.copy()
        for k in range(4):  # NumPy increments the counter before it draws
            before[k] -= np.uint64(1)
            if before[k] != np.uint64(2**64 - 1):
                break
        words = np.random.Philox(counter=before, key=key).random_raw(4)
        assert _core.philox(counter.tolist(), key.tolist()) == words.tolist()


@pytest.mark.parametrize("inertia", [[1.0, 1.5, 2.2], [0.0, 2.0, 2.0], [1e-9, 1e6, 1e6]])
def test_maxwell_moments(inertia):
    n, inertia = 20_000, np.array(inertia)
    traj = ph.integrate(
        inertia, np.zeros((n, 3)), [1.0, 0.0, 0.0, 0.0], 3.0, 8, mass=0.7, thermostat=BATH,
        save_every=8,
    )  # fmt: skip
    start_is_forgotten = 1.0 - np.exp(-2 * 0.8 * 24.0)
    for v, weight in ((traj.m[-1], inertia), (traj.p[-1], np.full(3, 0.7))):
        for k in np.flatnonzero(weight):
            u = v[:, k] / np.sqrt(1.3 * weight[k] * start_is_forgotten)
            # Five times the standard deviations of the moments of n normal numbers.
            assert abs(u.mean()) < 5 * np.sqrt(1 / n)
            assert abs((u**2).mean() - 1) < 5 * np.sqrt(2 / n)
            assert abs((u**3).mean()) < 5 * np.sqrt(15 / n)
            assert abs((u**4).mean() - 3) < 5 * np.sqrt(96 / n)
    assert_array_equal(traj.m[-1][:, inertia == 0.0], 0.0)
    together = np.concatenate([traj.p[-1], traj.m[-1][:, inertia > 0]], axis=1).T
    assert np.abs(np.corrcoef(together) - np.eye(len(together))).max() < 5 / np.sqrt(n)


def test_langevin_function():
    """The mean of cos(angle) of a dipole in a field is coth x - 1/x."""
    n, field = 5_000, 2.0
    x = field / BATH.kT
    dipole = ph.torques.Dipole([0.0, 0.0, 1.0], [0.0, 0.0, field])
    traj = ph.integrate(
        [0.5, 0.7, 0.9], np.zeros((n, 3)), [1.0, 0.0, 0.0, 0.0], 0.05, 200, torque=dipole,
        thermostat=BATH, save_every=200,
    )  # fmt: skip
    cosine = 1 - 2 * (traj.q[-1, :, 1] ** 2 + traj.q[-1, :, 2] ** 2)
    langevin = 1 / np.tanh(x) - 1 / x
    assert abs(cosine.mean() - langevin) < 5 * cosine.std() / np.sqrt(n) + 1e-3


def test_friction_alone_is_exact():
    cold = ph.Thermostat(0.0, 0.8)
    traj = ph.integrate([2.0] * 3, [1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0], 0.5, 4, thermostat=cold)
    close(traj.m, np.exp(-0.8 * traj.t)[:, None] * [1.0, 2.0, 3.0], rtol=1e-14)


def run(n=300, **options):
    random = np.random.default_rng(3)
    m = random.normal(size=(300, 3))[:n]
    q = random.normal(size=(300, 4))[:n]
    arguments = {"thermostat": BATH, "torque": ph.torques.HeavyTop([0.1, 0.2, 0.7]), **options}
    return ph.integrate(
        [1.0, 1.5, 2.2], m, q / np.linalg.norm(q, axis=-1, keepdims=True), 0.1, 20, mass=2.0,
        x0=[1.0, 0.0, 0.0], **arguments,
    )  # fmt: skip


def test_bits_do_not_depend_on_threads_saves_or_neighbours(tmp_path):
    whole = run()
    for other in (run(threads=2), run(200), run(save_every=7)):
        size = other.m.shape[1]
        for name in ("m", "q", "x", "p"):
            assert_array_equal(getattr(other, name)[-1], getattr(whole, name)[-1, :size])
    run(save_to=tmp_path / "run", callback=lambda step, *state: step == 10)
    rest = ph.resume(tmp_path / "run")
    assert_array_equal(rest.m, whole.m)
    assert_array_equal(rest.p, whole.p)
    with pytest.raises(ValueError, match="thermostat"):
        run(save_to=tmp_path / "run", resume=True, thermostat=ph.Thermostat(1.3, 0.8, 12))
    assert not (run(thermostat=ph.Thermostat(1.3, 0.8, 12)).m[-1] == whole.m[-1]).any()


def test_halves_and_bodies_have_their_own_noise():
    start = [1.0] * 3, np.zeros((500, 3)), [1.0, 0.0, 0.0, 0.0]
    traj = ph.integrate(*start, 1.0, 3, mass=1.0, thermostat=BATH)
    noise = np.concatenate([traj.m[1:].ravel(), traj.p[1:].ravel()])
    assert len(np.unique(noise)) == len(noise)


def test_weak_order_two():
    """The error of the mean of 1 - cos(angle from the field) falls by 4 when the step is halved."""
    n, stiff = 12_000, 40.0
    dipole = ph.torques.Dipole([0.0, 0.0, 1.0], [0.0, 0.0, stiff])
    bath = ph.Thermostat(kT=1.0, gamma=1.0, seed=5)
    found = {}
    for h in (0.12, 0.06):
        traj = ph.integrate(
            [1.0, 1.0, 1.0], np.zeros((n, 3)), [1.0, 0.0, 0.0, 0.0], h, int(9.6 / h),
            torque=dipole, thermostat=bath, save_every=int(9.6 / h),
        )  # fmt: skip
        found[h] = (2 * (traj.q[-1, :, 1] ** 2 + traj.q[-1, :, 2] ** 2)).mean()
    mean = 1 - (1 / np.tanh(stiff) - 1 / stiff)
    bound = 4 * mean / np.sqrt(n)
    error = {h: found[h] - mean for h in found}
    assert abs(error[0.12] / 4 - error[0.06]) < bound
    assert abs(error[0.12]) > 4 * bound


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((-1.0, 1.0), ValueError, "kT"),
        ((1.0, 0.0), ValueError, "gamma"),
        ((1.0, np.nan), ValueError, "gamma"),
        ((1.0, 1.0, -1), ValueError, "seed"),
        ((1.0, 1.0, 2**53), ValueError, "seed"),
        ((1.0, 1.0, 0.5), TypeError, "seed"),
    ],
)
def test_bad_baths(arguments, error, words):
    with pytest.raises(error, match=words):
        ph.Thermostat(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"thermostat": 1.0}, TypeError, "polhode.Thermostat"),
        ({"splitting": None, "method": "rk8"}, ValueError, "'rk8'"),
        ({"compensated": True}, ValueError, "compensated"),
        ({"h": -0.1}, ValueError, "forward"),
        ({"breaks": [0.05]}, ValueError, "breaks"),
    ],
)
def test_refused(options, error, words):
    arguments = {"thermostat": BATH, "h": 0.1, **options}
    with pytest.raises(error, match=words):
        ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], n_steps=4, **arguments)

"""Nosé-Hoover chains: the equations, the conserved quantity, time reversal, temperature, bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close, same
from scipy.integrate import solve_ivp

import polhode as ph

BATH = ph.NoseHoover(kT=1.3, tau=0.7)
INERTIA = np.array([1.0, 1.5, 2.2])
NAMES = ("m", "q", "x", "p", "chains")


def springs(x: Any, q: Any) -> tuple[Any, Any]:
    """From each body to the next, by an arm: pairs exchange energy between all coordinates."""
    arm = ph.so3.rotate(q, [0.5, 0.0, 0.2])
    force = np.roll(x + arm, 1, axis=0) - 2 * (x + arm) + np.roll(x + arm, -1, axis=0)
    return 3.0 * force, np.cross([0.5, 0.0, 0.2], ph.so3.rotate(ph.so3.conjugate(q), 3.0 * force))


def potential(x: Any, q: Any) -> Any:
    end = x + ph.so3.rotate(q, [0.5, 0.0, 0.2])
    return 1.5 * ((end - np.roll(end, 1, axis=-2)) ** 2).sum(axis=(-2, -1))


def start(n: int) -> dict[str, Any]:
    random = np.random.default_rng(3)
    x, p, m = random.normal(size=(3, 1000, 3))[:, :n]
    q = random.normal(size=(1000, 4))[:n]
    return {"m0": m, "q0": q / np.linalg.norm(q, axis=-1, keepdims=True), "x0": x, "p0": p}


def run(n: int = 20, h: Any = 0.05, n_steps: int = 200, **options: Any) -> ph.Trajectory:
    given = {"thermostat": BATH, "torque": springs, "mass": 2.0, **start(n), **options}
    return ph.integrate(INERTIA, h=h, n_steps=n_steps, **given)


def conserved(traj: ph.Trajectory) -> Any:
    with pytest.warns(RuntimeWarning, match="potential"):
        energy = traj.energy().sum(axis=1)
    return energy + potential(traj.x, traj.q) + traj.bath_energy()


@pytest.mark.parametrize("chain", [1, 2, 4])
def test_the_equations(chain: int) -> None:
    """Of free spheres the momenta and the links are a system of equations of their own, order 4."""
    m0 = np.array([[1.0, 2.0, 0.5], [0.3, -0.4, 2.5]])
    kT, tau, freedom, moment = 1.3, 0.7, 6, 2.0

    def rates(t: float, y: Any) -> Any:
        scale, v = y[0], y[1 + chain :]
        twice = scale**2 * (m0**2).sum() / moment
        force = np.array([twice / (freedom * kT), *v[:-1] ** 2 * tau**2])
        if chain > 1:
            force[1] *= freedom
        drag = np.append(v[1:], 0.0) * v
        return np.concatenate([[-v[0] * scale], v, (force - 1) / tau**2 - drag])

    start = np.zeros(1 + 2 * chain)
    start[0] = 1.0
    want = solve_ivp(rates, (0, 4.0), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    error = []
    for n in (80, 160):
        traj = ph.integrate(
            [moment] * 3, m0, [1.0, 0.0, 0.0, 0.0], 4.0 / n, n,
            thermostat=ph.NoseHoover(kT, tau, chain),
        )  # fmt: skip
        scale = traj.m[-1] / m0
        close(scale, scale[0, 0], atol=1e-14)
        found = np.concatenate([scale[:1, 0], traj.chains[-1, 0, :, 0], traj.chains[-1, 0, :, 1]])
        error.append(np.abs(found - want).max())
        same(traj.chains[:, 1], 0.0 * traj.chains[:, 1])
    assert error[1] < 4e-6
    assert 3.9 < np.log2(error[0] / error[1]) < 4.1


def test_the_conserved_quantity_has_order_two_and_no_drift() -> None:
    spread = []
    for h in (0.04, 0.02):
        traj = run(h=h, n_steps=round(200 / h), save_every=10)
        sums = conserved(traj)
        spread.append(sums.std())
        first, *_, last = (part.mean() for part in np.array_split(sums, 4))
        # Means of a quarter wander; over 800 units of time they stay within the same bound.
        assert abs(last - first) < 3 * spread[-1] < 5e-4 * sums[0]
        assert np.abs(traj.bath_energy()).max() > 100 * spread[-1]
    # Of two different motions: they are chaotic.
    assert 1.5 < np.log2(spread[0] / spread[1]) < 2.5


@pytest.mark.parametrize("splitting", ["strang", "mclachlan4_5"])
@pytest.mark.parametrize(("chain", "n"), [(1, 200), (3, 20)])
def test_it_is_time_reversible(splitting: str, chain: int, n: int) -> None:
    """Long chains are chaotic themselves: rounding errors grow by 1e5 in 50 steps."""
    traj = run(
        h=np.repeat([0.05, -0.05], n), n_steps=2 * n, splitting=splitting,
        thermostat=ph.NoseHoover(1.3, 0.7, chain),
    )  # fmt: skip
    for name in NAMES:
        values = getattr(traj, name)
        close(values[-1], values[0], atol=1e-12)
        assert np.abs(values[n] - values[0]).max() > 0.1


def test_temperatures_of_rotation_and_translation() -> None:
    """From a cold start. The total momentum does not move: 3 of 60 degrees of freedom."""
    n = 20
    cold = {"m0": np.zeros((n, 3)), "p0": np.zeros((n, 3))}
    traj = run(n, n_steps=20_000, save_every=4, **cold)
    translation, rotation = (kT[1000:] for kT in traj.temperature())
    # The mean is 2 % from kT at most; kinetic energies fluctuate as in a canonical ensemble.
    for kT in (translation, rotation):
        close(kT.mean(), 1.3, atol=0.026)
        close(kT.std(), 1.3 * np.sqrt(2 / 60), rtol=0.15)
    close(traj.p.sum(axis=1), np.zeros((len(traj), 3)), atol=1e-10)


def test_bits_do_not_depend_on_threads_or_saves(tmp_path: Any) -> None:
    torque = ph.torques.HeavyTop([0.1, 0.2, 0.7])
    whole = run(300, torque=torque)
    for other in (run(300, torque=torque, threads=2), run(300, torque=torque, save_every=7)):
        for name in NAMES:
            same(getattr(other, name)[-1], getattr(whole, name)[-1])
    run(300, torque=torque, save_to=tmp_path / "run", callback=lambda step, *_: step == 90)
    loaded = ph.Trajectory.load(tmp_path / "run")
    assert len(loaded) == 91
    same(loaded.bath_energy(), whole.bath_energy()[:91])
    rest = ph.resume(tmp_path / "run")
    for name in NAMES:
        same(getattr(rest, name), getattr(whole, name))
    longer = ph.resume(tmp_path / "run", n_steps=250)
    same(longer.chains, run(300, torque=torque, n_steps=250).chains)
    with pytest.raises(ValueError, match="nose_hoover"):
        run(
            300, n_steps=250, torque=torque, save_to=tmp_path / "run", resume=True,
            thermostat=ph.NoseHoover(1.3, 0.8),
        )  # fmt: skip


def test_a_python_torque_in_files(tmp_path: Any) -> None:
    whole = run()
    run(save_to=tmp_path / "run", callback=lambda step, *_: step == 33)
    rest = ph.resume(tmp_path / "run", torque=springs)
    for name in NAMES:
        same(getattr(rest, name), getattr(whole, name))


def test_a_large_batch_is_one_system() -> None:
    """Copies of a small batch: the same kinetic energy per degree of freedom.

    Further links would depend on the size of the batch.
    """
    bath = ph.NoseHoover(1.3, 0.7, 1)
    small = run(3, torque=None, thermostat=bath)
    copies = {name: np.tile(value, (100, 1)) for name, value in start(3).items()}
    large = run(300, torque=None, thermostat=bath, **copies)
    for name in ("m", "q", "x", "p"):
        close(getattr(large, name)[-1, -3:], getattr(small, name)[-1], atol=1e-12)


def test_a_body_that_is_nan_does_not_count() -> None:
    given = {name: np.insert(value, 7, value[0], axis=0) for name, value in start(20).items()}
    given["m0"][7, 1] = np.nan
    torque = ph.torques.HeavyTop([0.1, 0.2, 0.7])
    whole, other = run(torque=torque), run(torque=torque, **given)
    assert np.isnan(other.m[-1, 7]).all()
    for name in ("m", "q", "x", "p"):
        same(np.delete(getattr(other, name), 7, axis=1), getattr(whole, name))


def test_rods_have_two_degrees_of_freedom_and_other_axes_the_same_motion() -> None:
    rods = ph.integrate(
        [0.0, 2.0, 2.0], np.tile([0.0, 1.0, 0.5], (30, 1)), [1.0, 0.0, 0.0, 0.0], 0.05, 4000,
        thermostat=BATH,
    )  # fmt: skip
    close(rods.temperature()[1].mean(), 1.3, rtol=0.02)
    body = ph.RigidBody([[1.4, 0.2, 0.0], [0.2, 1.6, 0.1], [0.0, 0.1, 1.2]])
    given = {name: value[:, None] for name, value in start(5).items()}
    m0, q0 = given.pop("m0"), given.pop("q0")
    options = {**given, "mass": 2.0, "thermostat": BATH, "splitting": "mclachlan4_5"}
    own = body.integrate(m0, q0, 0.05, 200, **options)
    principal = ph.integrate(
        body.moments, m0 @ body.axes, ph.so3.multiply(q0, ph.so3.to_quaternion(body.axes)), 0.05,
        200, **options,
    )  # fmt: skip
    close(own.m @ body.axes, principal.m, atol=1e-12)
    close(own.chains, principal.chains, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0.0, 1.0), ValueError, "kT"),
        ((np.inf, 1.0), ValueError, "kT"),
        ((1.0, -1.0), ValueError, "tau"),
        ((1.0, "1"), TypeError, "tau"),
        ((1.0, 1.0, 0), ValueError, "chain"),
        ((1.0, 1.0, 1001), ValueError, "chain"),
        ((1.0, 1.0, 2.5), TypeError, "chain"),
    ],
)
def test_bad_chains(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ph.NoseHoover(*arguments)


def test_longest_chains_in_files(tmp_path: Any) -> None:
    bath = ph.NoseHoover(1.0, 1.0, 1000)
    for n in (1000, 1001):
        object.__setattr__(bath, "chain", n)
        path = tmp_path / str(n)
        ph.integrate(INERTIA, [0, 0, 1], [1, 0, 0, 0], 0.1, 1, thermostat=bath, save_to=path)
    assert ph.Trajectory.load(tmp_path / "1000").chains.shape == (2, 2, 1000, 2)
    with pytest.raises(ValueError, match=r"chains of .*1001"):
        ph.Trajectory.load(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"splitting": None, "method": "rk8"}, "'rk8'"),
        ({"compensated": True}, "compensated"),
        ({"breaks": [0.05]}, "breaks"),
        ({"t_eval": [0.05]}, "thermostat"),
    ],
)
def test_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ph.integrate(INERTIA, [0, 0, 1], [1, 0, 0, 0], 0.1, 4, thermostat=BATH, **options)
    with pytest.raises(ValueError, match="NoseHoover"):
        ph.integrate(INERTIA, [0, 0, 1], [1, 0, 0, 0], 0.1, 4).bath_energy()


def test_no_states_between_saves() -> None:
    with pytest.raises(ValueError, match="states between saves are not known"):
        run(n_steps=4)(0.1)

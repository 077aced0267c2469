"""`integrate(..., moments=)`: bodies whose principal moments vary in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
WEIGHT = np.array([0.1, -0.2, 0.3])


def booms(t: float) -> Array:
    """Moments of a body that extends booms along its third axis; the first two change order."""
    return INERTIA + np.array([2.0, 1.2, 0.1]) * np.tanh(0.7 * t) ** 2


def pull(t: float, q: Array) -> Array:
    """The weight of a heavy top that grows."""
    u = ph.so3.rotate(ph.so3.conjugate(q), (1.0 + 0.3 * np.sin(t)) * WEIGHT)
    return np.cross(u, [0.0, 0.0, 1.0])


def by_dop853(torque: Any, t: float) -> Array:
    def f(t: float, y: Array) -> Array:
        m, q = y[:3], y[3:]
        w = m / booms(t)
        f = 0 if torque is None else torque(t, q)
        return np.r_[np.cross(m, w) + f, ph.so3.multiply(q, [0.0, *(0.5 * w)])]

    y = solve_ivp(f, (0, t), np.r_[M0, Q0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return np.asarray(y)


def end(n: int, t: float = 2.0, **options: Any) -> Array:
    traj = ph.integrate(INERTIA, M0, Q0, t / n, n, moments=booms, **options)
    return np.r_[traj.m[-1], traj.q[-1]]


@pytest.mark.parametrize("torque", [None, pull])
@pytest.mark.parametrize(
    ("splitting", "order"),
    [("strang", 2), ("strang_free", 2), ("s6", 4), ("mclachlan6_9", 6), (([1.0], [1.0]), 1)],
)
def test_order(splitting: Any, order: int, torque: Any) -> None:
    exact = by_dop853(torque, 2.0)
    n = 40 if order < 6 else 16
    coarse, fine = (
        np.abs(end(k * n, splitting=splitting, torque=torque) - exact).max() for k in (1, 2)
    )
    assert abs(np.log2(coarse / fine) - order) < 0.25
    assert fine < {1: 0.1, 2: 1e-3, 4: 1e-5, 6: 1e-6}[order]


def test_sphere() -> None:
    # The angle about the momentum is |m| times the integral of 1/I, here of 1 + sin(t).
    def moments(t: float) -> float:
        return 1.0 / (1.0 + np.sin(t)) * np.ones(3)

    traj = ph.integrate(
        [1, 1, 1], M0, Q0, 0.05, 20, moments=moments, splitting="mclachlan6_9", save_every=20
    )
    close(traj.m[1], M0, atol=8 * EPS)
    turn = ph.so3.exp(M0 * (2.0 - np.cos(1.0)))
    close(traj.q[1], ph.so3.multiply(Q0, turn), atol=1e-13)


@pytest.mark.parametrize(
    "inertia", [INERTIA, INERTIA[::-1], [1, 1, 2], [2, 2, 2], [0, 1, 1], [1e-47, 2e-47, 2.5e-47]]
)
@pytest.mark.parametrize("matrix", [False, True])
def test_constant_moments_and_momentum_in_space(inertia: Any, matrix: bool) -> None:
    inertia = np.asarray(inertia, float)
    m0 = np.where(inertia == 0.0, 0.0, M0) * inertia.max()
    q0 = ph.so3.to_matrix(Q0) if matrix else Q0
    start = inertia, m0, q0, 0.1, 200
    same(ph.integrate(*start, moments=lambda t: inertia).m, ph.integrate(*start).m)
    traj = ph.integrate(*start, moments=lambda t: inertia * (1.0 + 0.5 * t))
    L = traj.momentum_spatial()
    close(L, np.broadcast_to(L[0], L.shape), atol=32 * EPS * inertia.max())
    close(traj.energy() * (1.0 + 0.5 * traj.t), traj.energy()[0], rtol=1e-12)


def test_step_back() -> None:
    there = ph.integrate(INERTIA, M0, Q0, 0.2, 10, moments=booms)
    back = ph.integrate(booms(2.0), there.m[-1], there.q[-1], -0.2, 10, moments=booms, t0=2.0)
    close(back.m[-1], M0, atol=64 * EPS)
    close(back.q[-1], Q0, atol=64 * EPS)


def test_a_batch_and_the_states_of_a_trajectory() -> None:
    size = np.array([1.0, 2.0, 3.0])[:, None]
    m0 = M0 * size
    traj = ph.integrate(
        INERTIA * size, m0, Q0, 0.05, 40, moments=lambda t: booms(t) * size, threads=2
    )
    one = ph.integrate(INERTIA, M0, Q0, 0.05, 40, moments=booms)
    close(traj.m[:, 2], 3.0 * one.m, atol=64 * EPS)
    assert traj.inertia.shape == traj.m.shape
    same(one.inertia[7], booms(one.t[7]))
    close(one.omega(), one.m / one.inertia, rtol=4 * EPS)
    close(one.energy(), 0.5 * (one.m**2 / one.inertia).sum(axis=-1), rtol=8 * EPS)
    m, _ = one(one.t[[3, 17]] + 0.02)
    for k, n in enumerate((3, 17)):
        part = ph.integrate(
            booms(one.t[n]), one.m[n], one.q[n], 0.02, 1, moments=booms, t0=one.t[n]
        )
        close(m[k], part.m[-1], atol=8 * EPS)
    found = ph.integrate(
        INERTIA,
        M0,
        Q0,
        0.05,
        40,
        moments=booms,
        events=lambda t, m, q: m[..., 0] - 0.25,
        t_eval=[0, 1.33],
    )
    assert len(found.t_events[0]) > 0
    close(found.m[1], one(1.33)[0], atol=8 * EPS)


def test_in_body_axes() -> None:
    axes = ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 0.3]))
    body = ph.RigidBody.from_moments(INERTIA, axes)
    back = ph.so3.conjugate(ph.so3.to_quaternion(axes))
    traj = body.integrate(axes @ M0, ph.so3.multiply(Q0, back), 0.1, 20, moments=booms)
    one = ph.integrate(INERTIA, M0, Q0, 0.1, 20, moments=booms)
    close(traj.m @ axes, one.m, atol=64 * EPS)
    close(traj.energy(), one.energy(), rtol=64 * EPS)


def test_pictures_and_tables() -> None:
    traj = ph.integrate(INERTIA, M0, Q0, 0.1, 20, moments=booms)
    many = ph.integrate(INERTIA, [M0, M0], Q0, 0.1, 20, moments=booms)
    pytest.importorskip("xarray")
    assert traj.to_xarray()["inertia"].dims == ("t", "axis")
    assert many.to_xarray()["inertia"].dims == ("t", "body", "axis")
    pytest.importorskip("matplotlib").use("Agg")
    traj.plot(panels=("momentum", "omega", "invariants"))
    many.plot(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moments": INERTIA}, "moments must be a function"),
        ({"moments": lambda t: 2 * INERTIA}, "inertia must be the same at t0"),
        ({"moments": lambda t: [1.0, 2.0]}, "the moments function must return shape"),
        ({"splitting": "rkn6_14"}, "torques that depend on m"),
        ({"splitting": "takahashi_imada"}, "torques that depend on m"),
        ({"splitting": "processed_ti184"}, "torques that depend on m"),
        ({"splitting": None, "method": "rk8"}, "not a direct integrator"),
        ({"torque": ph.torques.Damping(0.1)}, "do not depend on the moments"),
        ({"torque": [pull, ph.torques.GravityGradient(0.1)]}, "do not depend on the moments"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        ph.integrate(INERTIA, M0, Q0, 0.1, 2, **{"moments": booms, **options})


@pytest.mark.parametrize("bath", [ph.Thermostat(1.3, 0.8, 5), ph.NoseHoover(1.3, 2.0)])
def test_baths_of_constant_moments(bath: Any) -> None:
    options = {"mass": 2.0, "thermostat": bath}
    start = INERTIA, np.tile(M0, (20, 1)), Q0, 0.1, 30
    varying = ph.integrate(*start, moments=lambda t: INERTIA, **options)
    constant = ph.integrate(*start, **options)
    for name in ("m", "q", "x", "p"):
        same(getattr(varying, name), getattr(constant, name))


def test_noise_has_the_moments_of_its_time() -> None:
    """A strong friction leaves m = sqrt(kT I(t)) z, with the same z as at constant moments."""
    bath = ph.Thermostat(kT=1.3, gamma=1e5)
    start = INERTIA, np.tile(M0, (20, 1)), Q0, 0.1, 30
    varying = ph.integrate(*start, moments=booms, thermostat=bath)
    constant = ph.integrate(*start, thermostat=bath)
    ratio = np.sqrt(np.stack([booms(t) for t in varying.t[1:]]) / INERTIA)[:, None]
    close(varying.m[1:], ratio * constant.m[1:], rtol=4 * EPS)


@pytest.mark.parametrize("torque", [None, pull])
@pytest.mark.parametrize("bath", [None, ph.Thermostat(1.3, 0.8, 5), ph.NoseHoover(1.3, 2.0)])
def test_in_files(tmp_path: Path, torque: Any, bath: Any) -> None:
    start: Any = INERTIA, np.stack([M0, 1.1 * M0]), Q0, 0.1, 30
    options = {"torque": torque, "thermostat": bath, "save_every": 4}
    whole = ph.integrate(*start, moments=booms, **options)
    path = tmp_path / "run"
    cut = ph.integrate(
        *start, moments=booms, save_to=path, callback=lambda step, *_: step == 12, **options
    )
    same(cut.m, whole.m[:4])
    with pytest.raises(ValueError, match="moments that vary, which must be given again: moments="):
        ph.resume(path, torque)
    with pytest.raises(ValueError, match="moments that vary, which must be given again: moments="):
        ph.integrate(*start, save_to=path, resume=True, **options)
    with pytest.raises(ValueError, match=r"moments returns .* it is not the same function"):
        ph.resume(path, torque, moments=lambda t: (1.0 + 1e-6 * t) * booms(t))
    with pytest.raises(ValueError, match="inertia must be the same at t0"):
        ph.resume(path, torque, moments=lambda t: 2 * booms(t))
    read = ph.Trajectory.load(path, torque, moments=booms)
    same(read.omega(), cut.omega())
    rest = ph.resume(path, torque, moments=booms)
    for name in ("t", "m", "q", "inertia"):
        same(getattr(rest, name), getattr(whole, name))
    longer = ph.resume(path, torque, moments=booms, n_steps=40)
    same(longer.m, ph.integrate(*start[:-1], 40, moments=booms, **options).m)
    again = ph.integrate(*start[:-1], 40, moments=booms, save_to=path, resume=True, **options)
    same(again.m, longer.m)


def test_an_exception_in_files(tmp_path: Path) -> None:
    calls = 0

    def fails(t: float) -> Array:
        nonlocal calls
        calls += 1
        if calls == 25:
            raise OSError("no table")
        return booms(t)

    path = tmp_path / "run"
    with pytest.raises(OSError, match="no table") as caught:
        ph.integrate(INERTIA, M0, Q0, 0.1, 40, moments=fails, splitting="s6", save_to=path)
    whole = ph.integrate(INERTIA, M0, Q0, 0.1, 40, moments=booms, splitting="s6")
    part = caught.value.trajectory  # type: ignore[attr-defined]
    assert 1 < len(part) < 40
    same(part.m, whole.m[: len(part)])
    same(ph.resume(path, moments=booms).m, whole.m)


def test_events_in_files(tmp_path: Path) -> None:
    def passes(t: Any, m: Array, q: Array) -> Any:
        return m[..., 0] - 0.25

    options: dict[str, Any] = {"events": passes, "t_eval": [0.0, 1.33, 2.0], "moments": booms}
    whole = ph.integrate(INERTIA, M0, Q0, 0.05, 40, **options)
    stored = ph.integrate(INERTIA, M0, Q0, 0.05, 40, save_to=tmp_path / "run", **options)
    read = ph.Trajectory.load(tmp_path / "run", moments=booms)
    for other in (stored, read):
        same(other.t_events[0], whole.t_events[0])
        same(other.m, whole.m)
    assert len(whole.t_events[0]) > 0


def test_other_refusals(tmp_path: Path) -> None:
    ph.integrate(INERTIA, M0, Q0, 0.1, 2, save_to=tmp_path / "run")
    with pytest.raises(ValueError, match="has constant moments: moments="):
        ph.resume(tmp_path / "run", moments=booms)
    with pytest.raises(ValueError, match="moments is for steps of given length"):
        ph.integrate(INERTIA, M0, Q0, t_end=1.0, moments=booms)

    def shrinks(t: float) -> Array:
        return INERTIA * (1.0 - t)

    with pytest.raises(ValueError, match=r"moments at t = 1\.1") as caught:
        ph.integrate(INERTIA, M0, Q0, 0.2, 10, moments=shrinks)
    assert "in step 5 of the integration" in caught.value.__notes__[0]
    assert len(caught.value.trajectory) == 6

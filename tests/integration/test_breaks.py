"""Breaks of the torque, starts by angular velocity, callbacks that stop."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
BREAKS = [0.777, 1.5]  # the second at the end of a step
PUSH = np.array([0.3, 0.1, -0.2])


def before(t: float) -> float:
    return 1.0 if t < BREAKS[0] else (-2.0 if t <= BREAKS[1] else 0.5)


def jumping(t: float, q: Array) -> Array:
    return np.broadcast_to(PUSH * before(t), (*q.shape[:-1], 3))


def with_momentum(t: float, m: Array, q: Array) -> Array:
    return jumping(t, q) - 0.1 * m


def run(n: int, sign: float = 1.0, **options: Any) -> ph.Trajectory:
    t0 = 0.0 if sign > 0 else 2.0
    return ph.integrate(INERTIA, M0, Q0, sign * 2.0 / n, n, t0=t0, **options)


def exact(torque: Any, sign: float) -> tuple[Array, Array]:
    """Three runs, each with the torque of its own time."""
    m, q = M0, Q0
    ends = [0.0, *BREAKS, 2.0][:: 1 if sign > 0 else -1]
    for begin, end in itertools.pairwise(ends):
        middle = 0.5 * (begin + end)

        def frozen(t: float, m: Array, q: Array, middle: float = middle) -> Array:
            return np.asarray(torque(middle, m, q))

        part = ph.integrate(
            INERTIA, m, q, (end - begin) / 200, 200, t0=begin, splitting=None, method="rk4",
            torque=ph.torques.Function(frozen, arguments=("t", "m", "q")),
        )  # fmt: skip
        m, q = part.m[-1], part.q[-1]
    return m, q


@pytest.mark.parametrize(
    ("order", "options"),
    [
        (2, {"splitting": "strang"}),
        (4, {"splitting": "rkn4_6"}),
        (4, {"splitting": [[0.5, 0.5], [1.0]], "torque": with_momentum}),
        (4, {"splitting": None, "method": "rk4", "torque": with_momentum}),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_order_holds_across_breaks(order: int, options: dict[str, Any], sign: float) -> None:
    options = {"torque": jumping, **options}
    if options["splitting"] == [[0.5, 0.5], [1.0]]:
        order = 2
    depends = options["torque"] is with_momentum
    end = exact(with_momentum if depends else lambda t, m, q: jumping(t, q), sign)
    errors = []
    for n in (8, 16):
        traj = run(n, sign, breaks=BREAKS, **options)
        assert len(traj) == n + 1
        errors.append(np.abs(np.concatenate([traj.m[-1] - end[0], traj.q[-1] - end[1]])).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.3
    plain = run(16, sign, **options)
    assert np.abs(plain.m[-1] - end[0]).max() > 5 * errors[1]


def test_each_part_sees_its_own_side() -> None:
    seen: list[float] = []

    def torque(t: float, q: Array) -> Array:
        seen.append(t)
        return np.zeros(3)

    run(4, torque=torque, breaks=[0.5, 0.7, 0.6, 0.0, 2.0, -1.0, 9.0], splitting="strang")
    assert not set(seen) & {0.0, 0.5, 0.6, 0.7, 2.0}
    for t in (0.5, 0.6, 0.7):
        assert {np.nextafter(t, 0.0), np.nextafter(t, 1.0)} <= set(seen)
    assert {np.nextafter(0.0, 1.0), np.nextafter(2.0, 0.0), 1.0, 1.5} <= set(seen)
    assert seen == sorted(seen)


def test_a_table_with_jumps_in_the_core() -> None:
    from scipy.interpolate import PPoly

    table = PPoly(np.array([[[1.0], [-2.0], [0.5]]])[:, :, 0, None] * PUSH, [0.0, *BREAKS, 2.0])
    model = ph.torques.Prescribed(table)
    end = exact(lambda t, m, q: jumping(t, q), 1.0)
    for threads in (1, 2):
        traj = run(64, torque=model, breaks=BREAKS, splitting="rkn4_6", threads=threads)
        close(traj.m[-1], end[0], atol=1e-11)
        close(traj.q[-1], end[1], atol=1e-11)


def test_breaks_do_not_change_steps_without_them(tmp_path: Path) -> None:
    top = ph.torques.HeavyTop([0.2, -0.1, 0.4])
    same(run(20, torque=top, breaks=[]).m, run(20, torque=top).m)
    with_break = run(20, torque=top, breaks=[1.01])
    same(with_break.m[:11], run(20, torque=top).m[:11])
    close(with_break.m, run(20, torque=top).m, atol=1e-3)
    some = run(20, torque=jumping, breaks=BREAKS, save_every=7, save_to=tmp_path / "run")
    full = run(20, torque=jumping, breaks=BREAKS)
    same(some.m, full.m[[0, 7, 14, 20]])
    for at in (0.5, 0.777, 0.79, 1.5, 1.9):
        close(some(at)[0], full(at)[0], atol=1e-15)
    k = np.arange(21)
    same(ph.Trajectory.load(tmp_path / "run", jumping)(full.t)[0], full.m[k])
    times = run(20, torque=jumping, breaks=BREAKS, t_eval=[0.5, 0.777, 0.79, 1.5, 1.9])
    same(times.m, full([0.5, 0.777, 0.79, 1.5, 1.9])[0])


def test_resume_with_breaks(tmp_path: Path) -> None:
    def stop(n: int, *state: Any) -> bool:
        return n == 8

    options = {"torque": jumping, "breaks": BREAKS}
    whole = run(20, **options)
    part = run(20, **options, save_to=tmp_path / "run", callback=stop)
    assert len(part) == 9
    same(ph.resume(tmp_path / "run", jumping).m, whole.m)
    with pytest.raises(ValueError, match="breaks is None, but the run in"):
        run(20, torque=jumping, save_to=tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match=r"breaks\[0\] is 0.7, but the run in"):
        run(20, torque=jumping, breaks=[0.7, 1.5], save_to=tmp_path / "run", resume=True)


def test_bad_breaks() -> None:
    with pytest.raises(ValueError, match=r"breaks\[1\] = nan: must be finite"):
        run(4, breaks=[0.5, np.nan])
    with pytest.raises(ValueError, match="a multistep method needs equal steps"):
        run(8, breaks=[0.5], splitting=None, method="abam_rotation")
    with pytest.raises(ValueError, match="outside the step"):
        run(8, breaks=[0.5], splitting="yoshida4", torque=jumping)
    ahead = (("flow", 1.001, 0.0), ("kick", 1.0, 0.0), ("flow", -0.001, 0.0))
    scheme = ph.Splitting("ahead", 1, "", (), False, {}, "", False, ahead)
    with pytest.raises(ValueError, match=r"outside the step, from 1.001 h to 1.001 h"):
        run(8, breaks=[0.5], splitting=scheme, torque=jumping)
    with pytest.raises(ValueError, match="one sign"):
        ph.integrate(INERTIA, M0, Q0, [0.1, -0.1], 2, breaks=[0.05])


# Starts and stops ------------------------------------------------------------------------------


def test_starts_by_angular_velocity() -> None:
    omega = np.array([[0.3, 0.1, 0.2], [0.0, 1.0, 0.5]])
    by_omega = ph.integrate(INERTIA, q0=Q0, h=0.1, n_steps=5, omega0=omega)
    same(by_omega.m, ph.integrate(INERTIA, ph.momentum(INERTIA, omega), Q0, 0.1, 5).m)
    body = ph.RigidBody(np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]]))
    turned = body.integrate(q0=Q0, h=0.1, n_steps=5, omega0=omega)
    same(turned.m, body.integrate(body.momentum(omega), Q0, 0.1, 5).m)
    rod = ph.integrate([0.0, 1.0, 1.0], None, Q0, 0.1, 5, omega0=[7.0, 1.0, 0.0])
    same(rod.m[0], [0.0, 1.0, 0.0])
    for integrate in (lambda *a, **k: ph.integrate(INERTIA, *a, **k), body.integrate):
        with pytest.raises(TypeError, match="give m0 or omega0, not both"):
            integrate(M0, Q0, 0.1, 5, omega0=omega)
        with pytest.raises(TypeError, match=r"integrate needs m0 \(or omega0\), n_steps"):
            integrate(q0=Q0, h=0.1)


@pytest.mark.parametrize("answer", [True, np.True_, np.array(True)])
def test_a_callback_that_returns_true_stops(answer: Any, tmp_path: Path) -> None:
    def callback(step: int, t: float, m: Array, q: Array) -> Any:
        return answer if step >= 6 else (m, None, 1)[step % 3]

    whole = run(20, save_every=3)
    traj = run(20, save_every=3, callback=callback)
    same(traj.m, whole.m[:3])
    stored = run(20, save_every=3, callback=callback, save_to=tmp_path / "run")
    same(stored.m, whole.m[:3])
    same(ph.resume(tmp_path / "run").m, whole.m)
    assert len(run(20, callback=lambda *state: answer)) == 1

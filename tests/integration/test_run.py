"""`Run`, a prepared integration."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from compare import same
from short_runs import INERTIA, SHAPES, STEPS, TOP, TORQUES, bodies, state

import polhode as ph


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("torque", TORQUES)
@pytest.mark.parametrize("shape", SHAPES)
def test_runs_have_the_bits_of_integrate(shape: tuple[int, ...], torque: Any, matrix: bool) -> None:
    inertia, m, q = bodies(shape, matrix)
    for splitting, method in STEPS:
        run = {"torque": torque, "splitting": splitting, "method": method, "t0": 0.25}
        expected = ph.integrate(inertia, m, q, 0.1, 7, save_every=3, **run)
        steps = ph.Run(inertia, m, q, 0.1, **run)
        for n in (0, 2, 1, 4):
            steps.advance(n)
        assert (steps.t, steps.n_steps) == (expected.t[-1], 7)
        same(steps.m, expected.m[-1])
        same(steps.q, expected.q[-1])


def follower(t: float, x: Any, m: Any, s: Any) -> tuple[Any, Any, Any]:
    """Force, torque, and rate of a state."""
    return -x - t, -0.1 * m + s, x - s


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "bath",
    [None, ph.Thermostat(1.0, 0.3, 4), ph.NoseHoover(1.0, 0.5)],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("torque", [TOP, follower])
def test_runs_of_bodies_that_move(shape: tuple[int, ...], bath: Any, torque: Any) -> None:
    m, q = state(shape)
    run = {"torque": torque, "thermostat": bath, "mass": 2.0, "t0": 0.25}
    begin = {"x0": 0.5 - m, "p0": m[..., ::-1]} | ({"state0": 2 * m} if torque is follower else {})
    usual = ph.integrate(INERTIA, m, q, 0.1, 7, **run, **begin)
    steps = ph.Run(INERTIA, m, q, 0.1, **run, **begin)
    for again in range(2):
        for n in (0, 2, 1, 4):
            steps.advance(n)
            for name in ("m", "q", "x", "p", *(("state",) if torque is follower else ())):
                same(getattr(steps, name), getattr(usual, name)[steps.n_steps])
        if not again:
            steps.x[...] = 7.0  # a copy
            steps.reset(m, q, 0.25, **begin)
    assert (steps.state is None) == (torque is TOP)
    assert ph.Run(INERTIA, m, q, 0.1).x is None


def test_an_exception_leaves_the_state_of_a_moving_body() -> None:
    def fails(t: float, x: Any) -> tuple[Any, Any]:
        if t > 0.35:
            raise ValueError("enough")
        return -x, 0 * x

    m, q = state((3,))
    run = ph.Run(
        INERTIA, m, q, 0.1, torque=fails, mass=1.0, x0=m, thermostat=ph.NoseHoover(1.0, 0.5)
    )
    run.advance(2)
    before = [run.m, run.q, run.x, run.p]
    with pytest.raises(ValueError, match="enough"):
        run.advance(5)
    for old, new in zip(before, (run.m, run.q, run.x, run.p), strict=True):
        same(old, new)
    run.advance(1)
    usual = ph.integrate(
        INERTIA, m, q, 0.1, 3, torque=fails, mass=1.0, x0=m, thermostat=ph.NoseHoover(1.0, 0.5)
    )
    same(run.p, usual.p[-1])


def push(t: float, q: Any) -> Any:
    return 0.1 * q[..., 1:] + np.cos(t)


def drag(m: Any) -> Any:
    return -0.1 * m


SAMPLES = ph.torques.Prescribed(np.eye(3), times=[0.0, 0.4, 0.5])


@pytest.mark.parametrize(
    "run",
    [
        {"torque": push}, {"torque": drag}, {"torque": [TOP, push, drag]}, {"torque": [TOP, TOP]},
        {"torque": TOP, "compensated": True}, {"torque": push, "splitting": None, "method": "rk4"},
        {"torque": ph.torques.HeavyTop(np.ones((1, 3)))}, {"torque": SAMPLES},
        {"torque": ph.torques.GravityGradient(0.3, [1.0, 0.0, 0.0])}, {"threads": 2},
        {"method": "no_squish", "energy_correction": True}, {"method": "dmv4"},
        {"torque": TOP, "splitting": ([0.5, 0.5], [1.0])},
        {"splitting": None, "method": "taylor2", "torque": ph.torques.SpatialMomentum(
            lambda t: [np.cos(t), np.sin(t), 1.0], lambda t: [-np.sin(t), np.cos(t), 0.0])},
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (150,)])
def test_runs_of_every_kind_have_the_bits_of_integrate(
    run: dict[str, Any], shape: tuple[int, ...]
) -> None:
    m, q = state(shape)
    if run.get("method") == "taylor2":
        m = ph.so3.rotate(ph.so3.conjugate(q), [1.0, 0.0, 1.0])
    expected = ph.integrate(INERTIA, m, q, -0.05, 9, **run)
    steps = ph.Run(INERTIA, m, q, -0.05, **run)
    for k in range(1, 10):
        steps.advance()
        assert steps.t == expected.t[k]
        same(steps.m, expected.m[k])
        same(steps.q, expected.q[k])
    at_once = ph.Run(INERTIA, m, q, -0.05, **run)
    at_once.advance(9)
    same(at_once.m, steps.m)
    same(at_once.q, steps.q)
    steps.reset(m, q)
    assert (steps.t, steps.n_steps) == (0.0, 0)
    steps.advance(3)
    same(steps.m, expected.m[3])
    same(steps.q, expected.q[3])


SPLINE = ph.torques.Prescribed(np.eye(3), times=[0.0, 1.0, 9.0])
#: Whose state is begun anew in the core.
AGAIN: list[dict[str, Any]] = [
    *({"splitting": splitting, "method": method} for splitting, method in STEPS),
    {"splitting": None, "method": "adams12"}, {"splitting": None, "method": "taylor12"},
    {"compensated": True}, {"splitting": "processed_ti104", "compensated": True},
    {"torque": None}, {"torque": None, "splitting": None, "method": "rk8"}, {"torque": SPLINE},
    {"torque": ph.torques.GravityGradient(0.3, [1.0, 0.0, 0.0])},
    {"torque": [TOP, ph.torques.Damping(0.1)]}, {"torque": ph.torques.Dipole([1, 0, 0], [0, 1, 0])},
    {"method": "no_squish", "energy_correction": True}, {"method": "dmv4"}, {"threads": 2},
]  # fmt: skip


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (130,)])
def test_a_run_that_begins_again_has_the_bits_of_a_new_one(
    shape: tuple[int, ...], matrix: bool
) -> None:
    inertia, m, q = bodies(shape, matrix)
    start = m[..., ::-1].copy(), (1.0 + 1e-7) * np.roll(q, 1, axis=-1), 0.75
    for given in AGAIN:
        options = {"torque": TOP} | given
        run = ph.Run(inertia, m, q, 0.1, **options)
        core = run._integration
        for steps in (0, 1, 3, 40):
            run.advance(6)
            before = run.m, run.q, run.m.copy(), run.q.copy()
            run.reset(*start)
            assert run._integration is core, given
            if steps == 3:
                assert run.n_steps == 0
                assert np.isfinite(run.m).all()
            new = ph.Run(inertia, *start[:2], 0.1, t0=start[2], **options)
            for each in (run, new):
                each.advance(steps)
                each.advance(2)
            assert (run.t, run.n_steps) == (new.t, steps + 2)
            same(run.m, new.m)
            same(run.q, new.q)
            same(before[0], before[2])
            same(before[1], before[3])
        run.reset(*start)
        new.reset(m, q)
        new.reset(*start)
        same(run.m, new.m)
        same(run.q, new.q)


def test_a_run_begins_again_from_lists_and_from_its_own_state() -> None:
    m, q = state(())
    run = ph.Run(INERTIA, m, q, 0.1, torque=TOP)
    core = run._integration
    expected = ph.integrate(INERTIA, m, q, 0.1, 9, torque=TOP, t0=1)
    for start in ((m.tolist(), tuple(q.tolist()), 1), (m, q.tolist(), 1.0)):
        run.reset(*start)
        run.advance(4)
        run.reset(run.m, run.q, run.t)
        assert run._integration is core
        run.advance(5)
        same(run.m, expected.m[-1])
        same(run.q, expected.q[-1])


@pytest.mark.parametrize(
    "start",
    [
        (np.float32([0.1, 0.2, 0.3]), [1.0, 0.0, 0.0, 0.0]), (np.zeros(6)[::2], np.ones(8)[::2]),
        (np.ones((2, 3)), [1.0, 0.0, 0.0, 0.0]), ([0.1, 0.2, 0.3], np.eye(3)),
        ([np.nan, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]), ([0.0, 0.0, 1.0], [np.inf, 0.0, 0.0, 0.0]),
        ([[0.1, 0.2, 0.3]], [1.0, 0.0, 0.0, 0.0]), ([0.0, 0.0, 1.0], [3e200, 0.0, 0.0, 4e200]),
        ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], np.array(0.5)),
        (np.ma.array([0.0, 0.0, 1.0]), ph.so3.to_quaternion(np.eye(3))),
    ],
)  # fmt: skip
def test_a_run_begins_again_from_an_unusual_state(start: tuple[Any, ...]) -> None:
    m, q = state(())
    run = ph.Run(INERTIA, m, q, 0.1, torque=TOP)
    run.advance(3)
    run.reset(*start)
    new = ph.Run(INERTIA, *start[:2], 0.1, t0=(*start, 0.0)[2], torque=TOP)
    for steps in (0, 2):
        run.advance(steps)
        new.advance(steps)
        assert (run.t, run.n_steps) == (new.t, new.n_steps)
        same(run.m, new.m)
        same(run.q, new.q)


@pytest.mark.parametrize(
    "start",
    [
        ([0.1, 0.2], [1, 0, 0, 0]), ([0.1, 0.2, 1j], [1, 0, 0, 0]), ([0.1, 0.2, 0.3], [0, 0, 0, 0]),
        ([0.1, 0.2, 0.3], np.zeros(4)), (np.zeros(3), 2 * np.eye(3)), (np.zeros(3), "q"),
        ([0.1, 0.2, 0.3], [1, 0, 0, 0], "t"), ([0.1, 0.2, 0.3], [1, 0, 0, 0], [0.0, 1.0]),
        ([0.1, 0.2, 0.3], (1.0, 0.0, 0.0, 0.0)),
    ],
)  # fmt: skip
def test_a_wrong_start_leaves_the_run_as_it_was(start: tuple[Any, ...]) -> None:
    # The last start has momentum about the axis of a rod.
    for inertia in (INERTIA, [1.0, 1.0, 0.0]):
        run = ph.Run(inertia, [0.3, 0.2, 0.0], [1.0, 0.0, 0.0, 0.0], 0.1)
        run.advance(3)
        before = run.t, run.m, run.q
        if inertia is INERTIA and isinstance(start[1], tuple):
            continue
        with pytest.raises((ValueError, TypeError)) as expected:
            ph.Run(inertia, *start[:2], 0.1, t0=(*start, 0.0)[2])
        with pytest.raises(type(expected.value)) as caught:
            run.reset(*start)
        assert str(caught.value) == str(expected.value)
        assert (run.t, run.n_steps) == (before[0], 3)
        same(run.m, before[1])
        same(run.q, before[2])
    moving = ph.Run(INERTIA, [0.3, 0.2, 0.0], [1.0, 0.0, 0.0, 0.0], 0.1, mass=1.0)
    moving.reset([0.1, 0.2, 0.3], [1.0, 0.0, 0.0, 0.0], x0=[1.0, 2.0, 3.0])
    same(moving.x, [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="give their mass"):
        run.reset(*before[1:], x0=[1.0, 2.0, 3.0])


def test_bodies_are_lost_again_after_a_run_begins_again() -> None:
    strong = ph.torques.HeavyTop([1e200, 0.0, 0.0], axis=[0.0, 1e200, 0.0])
    run = ph.Run(INERTIA, np.zeros(3), np.eye(3), 0.1, torque=strong)
    # In the third start the torque is zero, and the momentum too large for a step.
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for m, attitude, why in (
        (np.zeros(3), np.eye(3), "^the torque was not finite: 1 body is NaN$"),
        (np.ones(3), np.eye(3), "^the torque was not finite: 1 body is NaN$"),
        (np.array([1e308, 1e308, 0.0]), turned, "^a step .* too long"),
    ):
        core = run._integration
        run.reset(m, attitude)
        assert run._integration is core
        with pytest.warns(RuntimeWarning, match=why):
            run.advance(1)
        run.advance(2)


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_a_run_may_have_no_bodies(shape: tuple[int, ...], matrix: bool) -> None:
    m, q = state(shape, matrix)
    run = ph.Run(INERTIA, m, q, 0.1, torque=TOP)
    run.advance(3)
    assert (run.m.shape, run.q.shape, run.n_steps) == (m.shape, q.shape, 3)


def test_a_long_run_has_the_bits_of_integrate() -> None:
    # Longer than the core works before it checks for signals.
    expected = ph.integrate(INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0], 0.1, 30_000, torque=TOP)
    run = ph.Run(INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0], 0.1, torque=TOP)
    run.advance(12_345)
    same(run.m, expected.m[12_345])
    run.advance(30_000 - 12_345)
    same(run.m, expected.m[-1])
    same(run.q, expected.q[-1])


def test_states_that_were_read_stay() -> None:
    m, q = state((3,))
    run = ph.Run(INERTIA, m, q, 0.1, torque=TOP)
    read, kept = [], []
    for _ in range(5):
        read.append((run.m, run.q[1:]))
        kept.append((run.m.copy(), run.q[1:].copy()))
        run.advance()
    for now, before in zip(read, kept, strict=True):
        same(now[0], before[0])
        same(now[1], before[1])
    with pytest.raises(ValueError, match="read-only"):
        run.m[0] = 0.0
    m[:], q[:] = 0.0, 0.0  # the arrays of the caller
    fresh = ph.Run(INERTIA, *state((3,)), 0.1, torque=TOP)
    fresh.advance(5)
    same(fresh.m, run.m)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"compensated": True}, {"splitting": None, "method": "rk4"},
        {"splitting": None, "method": "rk8"}, {"splitting": None, "method": "adams8"},
    ],
)  # fmt: skip
def test_an_exception_leaves_the_state_before_the_call(options: dict[str, Any]) -> None:
    fails = True

    def torque(t: float, q: Any) -> Any:
        nonlocal fails
        if t > 1.05 and fails:
            fails = False
            raise KeyError("late")
        return push(t, q)

    m, q = state((2,))
    run = ph.Run(INERTIA, m, q, 0.1, torque=torque, **options)
    run.advance(8)
    before = run.t, run.m, run.q
    with pytest.raises(KeyError, match="late") as caught:
        run.advance(20)
    assert "in step" in caught.value.__notes__[0]
    assert (run.t, run.n_steps) == (before[0], 8)
    same(run.m, before[1])
    same(run.q, before[2])
    run.advance(3)
    expected = ph.integrate(INERTIA, m, q, 0.1, 11, torque=push, **options)
    same(run.m, expected.m[-1])
    same(run.q, expected.q[-1])


@pytest.mark.parametrize(
    "options", [{}, {"compensated": True}, {"splitting": None, "method": "adams8"}]
)
@pytest.mark.parametrize("steps", [0, 8])
def test_ctrl_c_leaves_the_state_before_the_call(steps: int, options: dict[str, Any]) -> None:
    m, q = state((3000,))
    run = ph.Run(INERTIA, m[::-1], q[::-1], 0.1, torque=TOP, **options)
    run.reset(m, q)
    if steps:
        run.advance(steps)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    begin = time.perf_counter()
    # Where pytest was started with SIGINT ignored (nohup ... &) the run would never end.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.advance(10**9)
    signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - begin < 5
    timer.join()
    assert run.n_steps == steps
    run.advance(8)
    expected = ph.integrate(INERTIA, m, q, 0.1, steps + 8, torque=TOP, **options)
    same(run.m, expected.m[-1])
    same(run.q, expected.q[-1])


def test_a_torque_cannot_advance_its_own_run() -> None:
    def torque(t: float, q: Any) -> Any:
        run.advance()
        return q[..., 1:]

    run = ph.Run(INERTIA, *state(()), 0.1, torque=torque)
    with pytest.raises(RuntimeError, match="while the run is advancing"):
        run.advance()
    assert run.n_steps == 0


def test_lost_bodies_are_named_once() -> None:
    def torque(t: float, q: Any) -> Any:
        f = push(t, q)
        f[1] = np.nan if t > 0.25 else 0.0
        return f

    m, q = state((4,))
    m[3] = np.nan
    run = ph.Run(INERTIA, m, q, 0.1, torque=torque)
    run.advance(2)
    with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN") as caught:
        run.advance(3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    run.advance(3)
    assert np.isfinite(run.m).all(-1).tolist() == [True, False, True, False]


def test_arguments_of_a_run_are_checked() -> None:
    m, q = state(())
    with pytest.raises(ValueError, match="h must be one number, not of shape"):
        ph.Run(INERTIA, m, q, [0.1, 0.2])
    with pytest.raises(TypeError, match="no argument 'colour'"):
        ph.Run(INERTIA, m, q, 0.1, colour=1)
    with pytest.raises(ValueError, match="zero quaternion"):
        ph.Run(INERTIA, m, np.zeros(4), 0.1)
    run = ph.Run(INERTIA, m, q, 0.1)
    with pytest.raises(ValueError, match="n_steps must not be negative, got -1"):
        run.advance(-1)
    with pytest.raises(TypeError, match="n_steps must be an integer"):
        run.advance(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="zero quaternion"):
        run.reset(m, np.zeros(4))
    assert repr(run) == "Run(t = 0 after 0 steps, bodies ())"


def test_outside_its_times_a_torque_of_a_run_is_not_finite() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    burn = interpolate.CubicSpline([0, 0.5, 1], np.eye(3), extrapolate=False)
    run = ph.Run(INERTIA, *state(()), 0.1, torque=ph.torques.Prescribed(burn))
    run.advance(9)
    assert np.isfinite(run.m).all()
    with pytest.warns(RuntimeWarning, match="the torque was not finite"):
        run.advance(9)

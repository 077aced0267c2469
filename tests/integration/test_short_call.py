"""Short calls of `integrate`, which the core checks and carries out at once."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import same
from short_runs import INERTIA, SHAPES, STEPS, TOP, TORQUES, bodies, state

import polhode as ph
from polhode import _integrate
from polhode.integration import short_call


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`integrate` without the short way."""

    def call(*args: Any, **kwargs: Any) -> ph.Trajectory:
        with monkeypatch.context() as patch:
            patch.setattr(_integrate, "at_once", lambda *_: None)
            return ph.integrate(*args, **kwargs)

    return call


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("torque", TORQUES)
@pytest.mark.parametrize("shape", SHAPES)
def test_short_calls_have_the_bits_of_the_usual_way(
    shape: tuple[int, ...], torque: Any, matrix: bool, slow: Any
) -> None:
    inertia, m, q = bodies(shape, matrix)
    for splitting, method in STEPS:
        run = {"torque": torque, "splitting": splitting, "method": method, "t0": 0.25}
        usual = slow(inertia, m, q, 0.1, 7, save_every=3, **run)
        short = ph.integrate(inertia, m, q, 0.1, 7, save_every=3, **run)
        for name in ("t", "m", "q", "inertia"):
            same(getattr(short, name), getattr(usual, name))


ADAPTIVE: list[dict[str, Any]] = [
    {"t_end": 3.0}, {"t_end": -2, "rtol": 1e-6}, {"t_end": 2.0, "atol": 0, "method": "rk8"},
    {"t_end": np.float64(9.0), "atol": (1e-9, 1e-10), "splitting": None}, {"t_end": 0.25},
    {"t_end": 20.0, "rtol": 1e-14}, {"t_end": 1e-6},
]  # fmt: skip


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize(
    "torque",
    [None, TOP, [TOP, ph.torques.Constant([0.1, 0.2, 0.3])], ph.torques.LagrangeTop(-0.3),
     ph.torques.Damping(0.01, frame="body"), ph.torques.GravityGradient(0.3)],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (1,), (9,), (2, 3), (40,)])
def test_adaptive_calls_have_the_bits_of_the_usual_way(
    shape: tuple[int, ...], torque: Any, matrix: bool, slow: Any
) -> None:
    inertia, m, q = bodies(shape, matrix)
    for given in ADAPTIVE:
        run = {"torque": torque, "t0": 0.25} | given
        short, usual = (call(inertia, m, q, **run) for call in (ph.integrate, slow))
        for name in ("t", "m", "q", "inertia", "n_steps", "n_rejected"):
            same(getattr(short, name), getattr(usual, name))
            assert type(getattr(short, name)) is type(getattr(usual, name))
        assert short.n_steps.dtype == usual.n_steps.dtype
        at = 0.25 + (given["t_end"] - 0.25) * np.array([0.3, 0.9])
        at = at.reshape(2, *(1 for _ in shape))
        same(short(at)[1], usual(at)[1])


def test_adaptive_calls_are_short_or_left_to_the_usual_way(monkeypatch: Any, slow: Any) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the usual way")

    start = INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0]
    ph.integrate(*start, t_end=1.0, torque=TOP)
    path = ph.integrate(*start, t_end=1e4, torque=TOP, rtol=1e-15, atol=0.0)
    assert path.n_steps > 1e5
    same(path.q, slow(*start, t_end=1e4, torque=TOP, rtol=1e-15, atol=0.0).q)
    monkeypatch.setattr(_integrate, "settings_of", refuse)
    monkeypatch.setenv("POLHODE_NUM_THREADS", "2")
    ph.integrate(*start, t_end=1e4, torque=TOP, rtol=1e-15, atol=0.0)
    m, q = state((96,))
    ph.integrate(INERTIA, m, q, t_end=1.0, torque=TOP)
    for unusual in (
        {"t_end": 0.0}, {"atol": [0.0, 0.0]}, {"t_eval": [0.5]}, {"threads": 2},
        {"events": lambda t, m, q: m[..., 0]}, {"m0": state((97,))[0]},
    ):  # fmt: skip
        call = {"inertia": INERTIA, "m0": start[1], "q0": start[2], "t_end": 1.0} | unusual
        with pytest.raises(AssertionError, match="the usual way"):
            ph.integrate(torque=TOP, **call)


def test_a_short_trajectory_is_a_trajectory(slow: Any) -> None:
    run = (INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0], 0.1, 5)
    short, usual = (call(*run, torque=TOP) for call in (ph.integrate, slow))
    copied = pickle.loads(pickle.dumps(short))
    for trajectory in (short, copied):
        for each in dataclasses.fields(ph.Trajectory):
            if each.name not in ("_settings", "torque"):
                np.testing.assert_equal(getattr(trajectory, each.name), getattr(usual, each.name))
        same(trajectory.energy(), usual.energy())
        same(trajectory(0.23)[1], usual(0.23)[1])


def test_ordinary_calls_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the usual way")

    short_call._integrator((TOP,), "strang", "exact"), short_call._integrator((), None, "rk4")
    monkeypatch.setattr(_integrate, "settings_of", refuse)
    m, q = [0.3, 0.2, 0.1], (1, 0, 0, 0)
    for inertia in (INERTIA, [1, 2, 3.0], np.ones((4, 3))[:, ::-1]):
        ph.integrate(inertia, m, q, 0.1, 10, torque=TOP)
        ph.integrate(inertia, np.array(m), q, 1, np.int64(10), splitting=None, method="rk4")
    ph.integrate(INERTIA, m, q, 0.1, 20_000, torque=TOP, save_every=20_000, threads=1)
    for unusual in ({"n_steps": 10**6}, {"h": np.array(0.1)}, {"callback": print}, {"threads": 2}):
        with pytest.raises(AssertionError, match="the usual way"):
            ph.integrate(**{"inertia": INERTIA, "m0": m, "q0": q, "h": 0.1, "n_steps": 9} | unusual)


def test_a_run_without_the_interpreter_lock_has_the_bits_of_the_usual_way(slow: Any) -> None:
    m, q = state(())
    run = {"h": 0.01, "n_steps": 20_000, "torque": TOP, "save_every": 5_000}
    short, usual = ph.integrate(INERTIA, m, q, **run), slow(INERTIA, m, q, **run)
    for name in ("t", "m", "q"):
        same(getattr(short, name), getattr(usual, name))


def test_the_list_of_torques_is_copied(slow: Any) -> None:
    run = (INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0])
    for steps in ({"h": 0.1, "n_steps": 10}, {"t_end": 1.0}):
        paths, torques = [], [TOP]
        for call in (ph.integrate, slow):
            paths.append(call(*run, torque=torques, **steps))
        torques.append(ph.torques.Constant([0.1, 0.2, 0.3]))
        same(paths[0](0.55)[1], paths[1](0.55)[1])
        assert paths[0].torque == paths[1].torque == (TOP,)


class AlarmError(ValueError):
    """The exception of a signal handler."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, AlarmError])
def test_a_signal_leaves_the_start(error: type[BaseException], slow: Any) -> None:
    def handler(*_: Any) -> None:
        raise error

    inertia, m, q = bodies((2, 3))
    before = signal.signal(signal.SIGINT, handler)
    caught = []
    for call in (ph.integrate, slow):
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        try:
            timer.start()
            with pytest.raises(error) as each:
                call(inertia, m, 2 * q, torque=TOP, t0=0.25, t_end=1e9)
        finally:
            timer.cancel()
            timer.join()
        caught.append(each.value)
    signal.signal(signal.SIGINT, before)
    notes = ["after 0 steps of the integration, at t = 0.25"] if error is KeyboardInterrupt else []
    for each_error in caught:
        assert getattr(each_error, "__notes__", []) == notes
    short, usual = (each_error.trajectory for each_error in caught)  # type: ignore[attr-defined]
    assert len(short) == len(usual) == 1
    for name in ("t", "m", "q", "inertia", "n_steps", "n_rejected"):
        same(getattr(short, name), getattr(usual, name))
    assert short.n_steps.dtype == usual.n_steps.dtype
    same(short(0.25)[1], usual(0.25)[1])


def test_every_other_argument_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    short: list[Any] = []
    monkeypatch.setattr(_integrate, "at_once", lambda *given: short.append(given))
    call: list[Any] = [INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0], 0.1, 10]
    ph.integrate(*call)
    assert len(short) == 1
    taken = [*inspect.signature(short_call.at_once).parameters, "options"]
    for name in set(inspect.signature(ph.integrate).parameters) - set(taken):
        with contextlib.suppress(TypeError, ValueError):
            ph.integrate(*call, **{name: True})
        assert len(short) == 1, name
    for name in ("rtol", "atol"):
        with pytest.raises(TypeError, match="rtol and atol are for adaptive steps"):
            ph.integrate(*call, **{name: 1e-3})


WRONG: list[dict[str, Any]] = [
    {"inertia": [1, 2]}, {"inertia": [1.0, -2, 3]}, {"inertia": np.eye(3)}, {"inertia": "abc"},
    {"inertia": [[1, 2, 3], [0, 0, 0.0]]}, {"m0": [0.1, 0.2]}, {"m0": [0.1, 0.2, 1j]},
    {"inertia": [1, 1, 0], "m0": [0, 0, 1.0]}, {"q0": [0, 0, 0, 0.0]}, {"q0": 2 * np.eye(3)},
    {"m0": np.ones((2, 3)), "q0": np.ones((3, 4))}, {"m0": np.ones((2, 3)), "q0": np.zeros((2, 4))},
    {"h": "x"}, {"h": [0.1, 0.2]}, {"h": None}, {"n_steps": -1}, {"n_steps": 1.5},
    {"n_steps": 2**70}, {"save_every": 0}, {"save_every": None}, {"t0": [0.0, 1.0]}, {"t0": "0"},
    {"torque": 3}, {"torque": "top"}, {"torque": ph.torques.HeavyTop}, {"splitting": "strung"},
    {"splitting": 7}, {"method": "exakt"}, {"method": None}, {"splitting": None},
    {"torque": ph.torques.GravityGradient(1.0, [1.0, 0, 0]), "splitting": None, "method": "exact"},
    {"torque": ph.torques.HeavyTop(np.ones((3, 3))), "m0": np.ones((2, 3))},
    {"splitting": None, "method": "taylor5", "torque": TOP},
    {"compensated": True, "splitting": None, "method": "rk4"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_both_ways_have_the_same_errors(wrong: dict[str, Any], slow: Any) -> None:
    args = {"inertia": INERTIA, "m0": [0.3, 0.2, 0.1], "q0": [1, 0, 0, 0], "h": 0.1, "n_steps": 5}
    args |= wrong
    both_ways(slow, args)
    if not {"h", "n_steps", "splitting", "method", "compensated"} & wrong.keys():
        del args["h"], args["n_steps"]
        both_ways(slow, args | {"t_end": 1.0})


def both_ways(slow: Any, args: dict[str, Any]) -> None:
    errors = []
    for call in (slow, ph.integrate):
        with pytest.raises((ValueError, TypeError)) as caught:
            call(**args)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"h": 0.1}, {"n_steps": 10}, {"save_every": 2}, {"method": "rkmk4"}, {"t_end": None},
        {"splitting": "rkn4_6"}, {"splitting": [[1], [1]]}, {"t_end": np.inf}, {"t_end": "1"},
        {"t_end": [1.0, 2.0]}, {"t_end": 1j}, {"t0": np.nan}, {"rtol": 0.0}, {"rtol": 1},
        {"rtol": True}, {"rtol": np.nan}, {"rtol": [1e-9]}, {"atol": -1.0}, {"atol": "0"},
        {"atol": (0.0, np.nan)}, {"atol": (0.0, 0.0, 0.0)},
        {"t_end": None, "h": 0.1, "n_steps": 5, "rtol": 1e-9},
    ],
)  # fmt: skip
def test_both_ways_have_the_same_errors_of_adaptive_steps(wrong: Any, slow: Any) -> None:
    args = {"inertia": INERTIA, "m0": [0.3, 0.2, 0.1], "q0": [1, 0, 0, 0], "t_end": 1.0}
    both_ways(slow, args | wrong)


@pytest.mark.filterwarnings("ignore:the torque was not finite")
@pytest.mark.parametrize("k", [0, 3])
def test_lost_bodies_of_adaptive_steps(k: int, slow: Any) -> None:
    m, q = state((5,))
    m[k] = [np.nan, 1e308, np.inf, 1.0][k]
    short, usual = (call(INERTIA, m, q, t_end=2.0, torque=TOP) for call in (ph.integrate, slow))
    same(short.m, usual.m)
    same(short.q, usual.q)
    same(short.n_steps, usual.n_steps)


def test_a_wrong_number_of_threads_in_the_environment_is_an_error_in_both_ways(
    monkeypatch: pytest.MonkeyPatch, slow: Any
) -> None:
    monkeypatch.setenv("POLHODE_NUM_THREADS", "many")
    for call in (slow, ph.integrate):
        with pytest.raises(ValueError, match="POLHODE_NUM_THREADS"):
            call(INERTIA, [0, 0, 1], [1, 0, 0, 0], 0.1, 5)


@pytest.mark.filterwarnings("ignore:the torque was not finite")
def test_bodies_that_are_not_finite_leave_their_neighbours_alone(slow: Any) -> None:
    m, q = state((5,))
    m[1, 2], q[3, 0] = np.nan, np.inf
    for h in (0.1, np.nan, np.inf):
        short, usual = (call(INERTIA, m, q, h, 4, torque=TOP) for call in (ph.integrate, slow))
        same(short.m, usual.m)
        same(short.q, usual.q)


def test_a_torque_that_is_not_finite_is_named_in_both_ways(slow: Any) -> None:
    strong = ph.torques.HeavyTop([1e200, 0.0, 0.0], axis=[0.0, 1e200, 0.0])
    for call in (ph.integrate, slow):
        with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN"):
            call(INERTIA, [0.3, 0.2, 0.1], [1, 0, 0, 0], 0.1, 5, torque=strong)


@pytest.mark.parametrize("method", ["rk8", "adams8"])
def test_steps_that_are_too_long_are_named_in_both_ways(method: str, slow: Any) -> None:
    m = [[0.3, 0.4, 0.5], [30.0, 40.0, 50.0]]
    run = {"torque": TOP, "splitting": None, "method": method}
    for call in (ph.integrate, slow):
        with pytest.warns(RuntimeWarning, match=f"{method}' was too long .*: 1 body is NaN"):
            path = call(INERTIA, m, [1, 0, 0, 0], 0.5, 200, **run)
        assert np.isfinite(path.m[-1]).all(-1).tolist() == [True, False]

"""Runs in files with events, `t_eval` and adaptive steps: bit for bit those in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from numpy.typing import NDArray

import polhode as ph
from polhode.integration import observed

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
Q0 = np.array([0.8, 0.0, -0.6, 0.0])
BODIES = np.array([0.3, 0.5, 0.8]) * np.linspace(0.5, 2.0, 5)[:, None] * [1.0, -1.0, 1.0]
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])


def first(t: Any, m: Array, q: Array, *others: Array) -> Array:
    return m[..., 0]


def upright(t: Any, m: Array, q: Array, *others: Array) -> Array:
    return q[..., 1] * np.cos(0.1 * t) + q[..., 3]


def twice(t: Any, m: Array, q: Array, *others: Array) -> Array:
    return m[..., 0]


twice.terminal = 2  # type: ignore[attr-defined]


def pull(t: float, q: Array) -> Array:
    return 0.1 * q[..., 1:] * np.cos(t)


FIXED: dict[str, Any] = {"h": 0.25, "n_steps": 120, "torque": TOP}
ADAPTIVE: dict[str, Any] = {"t_end": 30.0, "torque": TOP, "rtol": 1e-10}
T_EVAL = np.sort(np.random.default_rng(2).uniform(0.0, 30.0, 40))
RUNS: dict[str, dict[str, Any]] = {
    "saves": {**FIXED, "save_every": 7, "events": [first, upright]},
    "t_eval": {**FIXED, "t_eval": T_EVAL},
    "t_eval and events": {**FIXED, "t_eval": [3.0, 3.1, 20.0], "events": upright},
    "joined flows": {**FIXED, "splitting": "rkn6_14", "t_eval": T_EVAL, "events": first},
    "multistep": {**FIXED, "splitting": None, "method": "adams8", "h": 0.05, "events": first},
    "terminal": {**FIXED, "save_every": 7, "events": [twice, upright]},
    "function": {**FIXED, "torque": pull, "n_steps": 20, "t_eval": [0.1, 2.0], "events": first},
    "mass": {**FIXED, "mass": 2.0, "p0": [0.1, 0.0, 0.2], "t_eval": T_EVAL, "events": first},
    "adaptive": {**ADAPTIVE},
    "adaptive, t_eval": {**ADAPTIVE, "t_eval": T_EVAL},
    "adaptive, back": {**ADAPTIVE, "t0": 30.0, "t_end": 0.0, "t_eval": T_EVAL[::-1]},
    "adaptive, breaks": {**ADAPTIVE, "breaks": [3.0, 3.1, 7.7], "t_eval": [3.1, 20.0]},
    "adaptive, events": {**ADAPTIVE, "t_eval": [3.0, 3.1, 20.0], "events": [first, upright]},
    "adaptive, terminal": {**ADAPTIVE, "t_eval": T_EVAL, "events": [twice, upright]},
    "adaptive, sum": {**ADAPTIVE, "torque": [TOP, ph.torques.Constant([0.0, 0.0, 1e-3])]},
    "adaptive, function": {**ADAPTIVE, "torque": pull, "t_end": 3.0, "events": first},
}


def run(changes: dict[str, Any], **others: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, BODIES, Q0, **changes, **others)


def assert_same(a: ph.Trajectory, b: ph.Trajectory) -> None:
    """The same rows and findings; the last row of a run in memory may be that of the last event."""
    for name in ("t", "m", "q", "x", "p"):
        if getattr(b, name) is not None:
            same(np.asarray(getattr(a, name)), np.asarray(getattr(b, name))[: len(a)])
    assert len(b) - len(a) in ((0, 1) if b._ended is not None else (0,))
    same(a.n_steps, b.n_steps)
    if b._ended is None:
        same(a.n_rejected, b.n_rejected)
    for name in ("t_events", "m_events", "q_events", "x_events"):
        ours, theirs = getattr(a, name), getattr(b, name)
        assert (ours is None) == (theirs is None)
        for each, other in zip(ours or (), theirs or (), strict=True):
            for one, two in zip(each, other, strict=True):
                same(one, two)


@pytest.mark.parametrize("name", RUNS)
def test_files_stops_and_resume_keep_the_bits(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = RUNS[name]
    events = changes.get("events")
    torque = pull if changes["torque"] is pull else None
    whole = run(changes)
    path = tmp_path / "run"
    assert_same(run(changes, save_to=path), whole)
    assert_same(ph.resume(path, torque), whole)
    assert_same(ph.Trajectory.load(path, torque), whole)
    assert_same(run(changes, save_to=path, resume=True), whole)

    # A few steps at a time: each call of the core ends on the way, and each other call fails.
    monkeypatch.setattr(observed, "STEPS_IN_CORE", 20)
    monkeypatch.setattr(observed, "STEPS_IN_PYTHON", 2)
    monkeypatch.setattr(observed, "MOST_STEPS", 3)
    kind = observed.AdaptiveRun if "t_end" in changes else observed.ObservedRun
    original, path = kind.run, tmp_path / "killed"
    calls = [0]

    def fails(self: Any, *arguments: Any) -> None:
        original(self, *arguments)
        calls[0] += 1
        if calls[0] % 5 == 0:
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(kind, "run", fails)
        for _ in range(1000):
            try:
                again = run(changes, save_to=path, resume=True)
                break
            except MemoryError:
                calls[0] += 1
    assert calls[0] > 5
    assert_same(again, whole)
    assert_same(ph.Trajectory.load(path, torque), whole)
    assert_same(ph.resume(path, torque, events=events), whole)


@pytest.mark.parametrize("name", ["t_eval and events", "adaptive, t_eval"])
def test_a_callback_that_stops(name: str, tmp_path: Path) -> None:
    changes, path = RUNS[name], tmp_path / "run"
    seen: list[float] = []

    def stop(step: int, t: float, *state: Array) -> bool:
        seen.append(t)
        return t > 3.0

    part = run(changes, save_to=path, callback=stop)
    same(np.asarray(part.t), np.array(changes["t_eval"])[: len(part)])
    same(seen[: len(part)], part.t)
    whole = ph.resume(path, events=changes.get("events"))
    assert_same(whole, run(changes))
    same(whole(17.0)[0], run(changes)(17.0)[0])


def test_body_axes(tmp_path: Path) -> None:
    body = ph.RigidBody(TENSOR)
    for k, changes in enumerate(({**FIXED, "events": first}, {**ADAPTIVE, "events": first})):
        run: dict[str, Any] = {"t_eval": T_EVAL, **changes}
        whole = body.integrate(BODIES, Q0, **run)
        stop = lambda step, t, m, q: t > 10.0  # noqa: E731
        part = body.integrate(BODIES, Q0, save_to=tmp_path / str(k), callback=stop, **run)
        assert len(part) < len(whole)
        assert_same(ph.resume(tmp_path / str(k), events=first), whole)


def test_a_run_with_events_goes_on_beyond_its_end(tmp_path: Path) -> None:
    changes = RUNS["saves"]
    path = tmp_path / "run"
    run(changes, save_to=path)
    longer = ph.resume(path, n_steps=200, events=changes["events"])
    assert_same(longer, run({**changes, "n_steps": 200}))
    for name in ("t_eval", "adaptive"):
        run(RUNS[name], save_to=tmp_path / name)
        with pytest.raises(ValueError, match=r"n_steps: the run in .* saves states at given times"):
            ph.resume(tmp_path / name, n_steps=1000)


def test_other_events_are_refused(tmp_path: Path) -> None:
    changes, path = RUNS["saves"], tmp_path / "run"

    def stop(step: int, t: float, *state: Array) -> bool:
        return step == 14

    run(changes, save_to=path, callback=stop)
    with pytest.raises(ValueError, match="has 2 events, which must be given again: events="):
        ph.resume(path)
    with pytest.raises(ValueError, match="events is of shape"):
        ph.resume(path, events=first)
    with pytest.raises(ValueError, match=r"events\[0\].terminal is 2.0, but the run in"):
        ph.resume(path, events=[twice, upright])
    with pytest.raises(ValueError, match=r"events\[0\] returns .* it is not the same event"):
        ph.resume(path, events=[upright, first])
    with pytest.raises(ValueError, match="events is of shape"):
        run({**changes, "events": first}, save_to=path, resume=True)
    assert_same(ph.resume(path, events=changes["events"]), run(changes))
    times = tmp_path / "times"
    run(RUNS["t_eval and events"], save_to=times)
    with pytest.raises(ValueError, match=r"t_eval\[2\] is 21.0, but the run in .* has 20.0"):
        run({**RUNS["t_eval and events"], "t_eval": [3.0, 3.1, 21.0]}, save_to=times, resume=True)
    adaptive = tmp_path / "adaptive"
    run(ADAPTIVE, save_to=adaptive)
    with pytest.raises(ValueError, match=r"tolerance\[0\] is 1e-09, but"):
        run({**ADAPTIVE, "rtol": 1e-9}, save_to=adaptive, resume=True)


def test_a_long_way_is_recorded_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run from t0 to t_end without saves between them does not begin anew."""
    monkeypatch.setattr(observed, "STEPS_IN_CORE", 50)
    original, calls = observed.AdaptiveRun.run, [0]

    def fails(self: Any, *arguments: Any) -> None:
        original(self, *arguments)
        calls[0] += 1
        if calls[0] == 6:
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(observed.AdaptiveRun, "run", fails)
        with pytest.raises(MemoryError):
            run(ADAPTIVE, save_to=tmp_path / "run")
    state = np.load(tmp_path / "run" / "state.npz")
    assert (state["t"] > 0.0).all()
    assert state["step"] == 0
    assert len(ph.Trajectory.load(tmp_path / "run")) == 1
    assert_same(ph.resume(tmp_path / "run"), run(ADAPTIVE))

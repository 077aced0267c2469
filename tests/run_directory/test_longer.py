"""Runs that go on beyond their end: `resume(path, n_steps=...)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from numpy.typing import NDArray
from scipy.interpolate import PPoly

import polhode as ph
from polhode.run_directory import files

Array = NDArray[np.float64]
INERTIA = [1.0, 1.5, 2.2]
M0 = np.array([[0.3, 0.5, 0.8], [0.1, 0.2, -0.4]])
Q0 = [1.0, 0.0, 0.0, 0.0]
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])


def pull(t: float, q: Array) -> Array:
    return 0.1 * q[..., 1:] * np.cos(t)


def run(n: int, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, 0.1, n, **{"torque": TOP, "save_every": 10, **options})


def assert_same(a: ph.Trajectory, b: ph.Trajectory) -> None:
    for name in ("t", "m", "q"):
        same(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"splitting": "rkn6_14", "compensated": True},
        {"splitting": None, "method": "abam_rotation"},
        {"splitting": "processed_ti104"},
        {"splitting": "s6", "breaks": [50.0]},
        {"splitting": None, "method": "rk4"},
        {"torque": pull},
        {"save_every": 1000},
        {"breaks": [3.33, 7.0]},
    ],
)
def test_the_bits_of_the_longer_run(options: Any, tmp_path: Path) -> None:
    path = tmp_path / "run"
    torque = pull if options.get("torque") is pull else None
    run(45, save_to=path, **options)
    for n in (45, 60, 83, 120):
        assert_same(ph.resume(path, torque, n_steps=n), run(n, **options))
        assert_same(ph.Trajectory.load(path, torque), run(n, **options))
        assert_same(run(n, save_to=path, resume=True, **options), run(n, **options))
    same(ph.Trajectory.load(path, torque)(7.77)[0], run(120, **options)(7.77)[0])


def test_a_run_that_is_not_finished(tmp_path: Path) -> None:
    def stop(step: int, *state: Any) -> bool:
        return step == 20

    path = tmp_path / "run"
    assert len(run(45, save_to=path, callback=stop)) == 3
    assert len(ph.resume(path, n_steps=100, callback=lambda step, *_: step == 60)) == 7
    assert_same(ph.resume(path), run(100))
    none = tmp_path / "none"
    run(0, save_to=none)
    assert_same(ph.resume(none, n_steps=25), run(25))


@pytest.mark.parametrize("first", [7, 60, 100])
def test_a_run_that_an_event_ended_stays_as_it_is(first: int, tmp_path: Path) -> None:
    def event(t: Any, m: Array, q: Array) -> Array:
        return m[..., 0] - 0.05

    event.terminal = 1  # type: ignore[attr-defined]
    whole = run(200, save_every=1, events=event)
    assert 7 < 10 * whole.t[-1] < 60
    run(first, save_every=1, events=event, save_to=tmp_path / "run")
    for n in (100, 200):
        longer = ph.resume(tmp_path / "run", n_steps=n, events=event)
        same(longer.m, whole.m[:-1])  # in memory the last row is the last event
        same(longer.t_events[0][1], whole.t_events[0][1])
    with pytest.raises(ValueError, match=r"not the same event"):
        ph.resume(tmp_path / "run", n_steps=300, events=_other(event))
    event.terminal = 2  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"events\[0\].terminal is 2.0, but .* has 1.0"):
        ph.resume(tmp_path / "run", n_steps=300, events=event)


def _other(event: Any) -> Any:
    def other(t: Any, m: Array, q: Array) -> Array:
        return 2.0 * event(t, m, q)

    other.terminal = 1  # type: ignore[attr-defined]
    return other


def test_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(45, save_to=path)
    with pytest.raises(ValueError, match="n_steps must be at least 45, the steps of the run in"):
        ph.resume(path, n_steps=44)
    with pytest.raises(TypeError, match="n_steps must be an integer"):
        ph.resume(path, n_steps=50.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"n_steps is 60, .* has 45: .*resume\(path, n_steps=60\)"):
        run(60, save_to=path, resume=True)
    assert_same(ph.Trajectory.load(path), run(45))
    run(45, save_every=1, t_eval=[1.0, 2.0], save_to=tmp_path / "times")
    for n in (44, 46):
        with pytest.raises(ValueError, match="saves states at given times"):
            ph.resume(tmp_path / "times", n_steps=n)
    ph.integrate(INERTIA, M0, Q0, [0.1, 0.2], 2, save_to=tmp_path / "steps")
    with pytest.raises(ValueError, match="has an h for each of its 2 steps"):
        ph.resume(tmp_path / "steps", n_steps=3)
    table = ph.torques.Prescribed(PPoly(np.ones((1, 1, 3)), [0.0, 5.0], extrapolate=False))
    run(45, torque=table, save_to=tmp_path / "table")
    with pytest.raises(ValueError, match=r"is given from t = 0\.0 to 5\.0"):
        ph.resume(tmp_path / "table", n_steps=60)


@pytest.mark.parametrize("write", range(5))
@pytest.mark.parametrize("replaced", [False, True])
def test_killed_while_it_is_made_longer(
    write: int, replaced: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    run(45, save_to=path)
    left, original = [write], files.write_file

    def fails(name: Path, contents: Any) -> None:
        if left[0] == 0 and not replaced:
            raise MemoryError
        original(name, contents)
        if left[0] == 0:
            raise MemoryError
        left[0] -= 1

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_file", fails)
        with pytest.raises(MemoryError):
            ph.resume(path, n_steps=83)
    rows = len(ph.Trajectory.load(path))
    same(ph.Trajectory.load(path).m, run(83).m[:rows] if rows != 6 else run(45).m)
    assert_same(ph.resume(path, n_steps=83), run(83))
    assert_same(ph.Trajectory.load(path), run(83))

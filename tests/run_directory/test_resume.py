"""Trajectories in files: save_to, resume, Trajectory.load."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runs
from compare import close, same
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PPoly

import polhode as ph
from polhode import _core, _integrate
from polhode.run_directory import files, resume, schema

Array = NDArray[np.float64]
INERTIA = [1.0, 1.5, 2.2]
M0 = [0.3, 0.5, 0.8]
Q0 = [1.0, 0.0, 0.0, 0.0]
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
FILES = ["m.npy", "q.npy", "run.json", "setup.npz", "state.npz", "t.npy"]


def pull(t: float, q: Array) -> Array:
    return TOP.torque(t, np.zeros(3), q) * np.cos(t)


def integrate(**changes: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {
        "inertia": INERTIA, "m0": M0, "q0": Q0, "h": 0.1, "n_steps": 10, "torque": TOP, **changes
    }  # fmt: skip
    return ph.integrate(**arguments)


def assert_same(a: ph.Trajectory, b: ph.Trajectory) -> None:
    for name in ("t", "m", "q", "inertia"):
        same(getattr(a, name, 0), getattr(b, name, 0))


class StopError(Exception):
    pass


def stop_at(step: int) -> Any:
    def callback(n: int, t: float, m: Array, q: Array) -> None:
        if n >= step:
            raise StopError

    return callback


def broken_off(path: Path, step: int = 6, **changes: Any) -> Path:
    """A run that stopped at a step."""
    with pytest.raises(StopError):
        integrate(save_to=path, callback=stop_at(step), **changes)
    return path


def seal(path: Path) -> None:
    """Checksums that match the contents of the files, so that the other checks are reached."""
    state = dict(np.load(path / "state.npz"))
    state.pop("sums", None)
    rows = max(int(state["rows"]), 0)
    sums = [zlib.crc32((path / name).read_bytes()) for name in ("run.json", "setup.npz", "t.npy")]
    sums += [zlib.crc32(np.load(path / f"{n}.npy")[:rows].tobytes()) for n in ("m", "q")]
    files._write_state(path, state, sums)


# Files -----------------------------------------------------------------------------------------


def test_the_files_are_the_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run"
    traj = integrate(save_to=path, save_every=3)
    assert_same(traj, integrate(save_every=3))
    assert sorted(p.name for p in path.iterdir()) == FILES
    assert list(path.parent.iterdir()) == [path]
    for name in ("t", "m", "q"):
        array = getattr(traj, name)
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
        np.testing.assert_array_equal(np.load(path / f"{name}.npy", allow_pickle=False), array)
    for again in (ph.resume(path), ph.resume(str(path)), ph.Trajectory.load(path)):
        assert_same(again, traj)
        np.testing.assert_array_equal(again.energy(), traj.energy())
        assert isinstance(again.m, np.memmap)
    shutil.move(path, tmp_path / "moved")
    assert_same(ph.resume(tmp_path / "moved"), integrate(save_every=3))


@pytest.mark.parametrize("n_steps", [0, 1])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_small_runs(tmp_path: Path, n: int, n_steps: int) -> None:
    changes: dict[str, Any] = {"m0": np.ones((n, 3)), "n_steps": n_steps}
    traj = integrate(save_to=tmp_path / "run", **changes)
    assert_same(traj, integrate(**changes))
    assert_same(ph.resume(tmp_path / "run"), traj)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    integrate(save_to=tmp_path / "run")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("run", "file", "link", "."):
        with pytest.raises(FileExistsError, match="exists"):
            integrate(save_to=tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty").chmod(0o700)
    (tmp_path / "to empty").symlink_to(tmp_path / "empty", target_is_directory=True)
    assert_same(integrate(save_to=tmp_path / "to empty"), integrate())
    assert (tmp_path / "to empty").is_symlink()
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o700
    assert_same(ph.resume(tmp_path / "empty"), integrate())


def test_the_working_directory_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, words in (("", "empty"), (".", "working directory"), (tmp_path, "working directory")):
        with pytest.raises(ValueError, match=words):
            integrate(save_to=name)
    with pytest.raises(ValueError, match="empty"):
        ph.resume("")
    assert not list(tmp_path.iterdir())
    assert Path.cwd() == tmp_path


def test_names_as_long_as_the_system_allows(tmp_path: Path) -> None:
    for n in (244, 245, 255):
        assert_same(integrate(save_to=tmp_path / ("x" * n)), integrate())
    assert len(list(tmp_path.iterdir())) == 3


def test_what_a_killed_creation_leaves_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process id may come again, in a container nearly always."""
    (tmp_path / f".run.{os.getpid()}.new").mkdir()
    monkeypatch.setattr(shutil, "rmtree", lambda *a, **k: None)  # as if killed
    monkeypatch.setattr(files, "_write_state", _stop)
    with pytest.raises(StopError):
        integrate(save_to=tmp_path / "run")
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 2
    assert_same(integrate(save_to=tmp_path / "run"), integrate())
    part = tmp_path / "run" / ".state.npz.part"
    part.write_bytes(b"what a killed commit leaves")
    assert_same(ph.resume(tmp_path / "run"), integrate())


def _stop(*arguments: Any, **options: Any) -> None:
    raise StopError


def test_ctrl_c_while_files_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "_write_state", interrupt)
    body = ph.RigidBody(runs.TENSOR)
    for run in (integrate, lambda **o: body.integrate(M0, Q0, 0.1, 10, **o)):
        whole = run()
        with pytest.raises(KeyboardInterrupt) as interrupted:
            run(save_to=tmp_path / "run")
        assert "before the first step" in interrupted.value.__notes__[0]
        kept: Any = interrupted.value.trajectory  # type: ignore[attr-defined]
        assert type(kept) is type(whole)
        for name in ("t", "m", "q"):
            same(getattr(kept, name), getattr(whole, name)[:1])
    assert not list(tmp_path.iterdir())


def test_a_refused_run_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="negative"):
        integrate(save_to=tmp_path / "run", inertia=[1, -1, 1])
    with pytest.raises(TypeError):
        integrate(save_to=3)
    assert not list(tmp_path.iterdir())


# Interrupted runs ------------------------------------------------------------------------------


OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "h each, t0": {"h": np.linspace(0.1, 0.3, 10), "t0": 2.5},
    "own coefficients": {"splitting": ([0.3, 0.7], [0.4, 0.6])},
    "a splitting": {"splitting": ph.splittings()[1]},
    "options": {"method": "symmetric_rotation", "axes": (2, 3, 1)},
    "matrix": {"q0": np.eye(3), "threads": 2},
    "batch": {"m0": np.random.default_rng(0).standard_normal((2, 150, 3)), "threads": 2},
    "parameters": {"torque": ph.torques.HeavyTop(np.ones((4, 3)), axis=[1, 2, 3])},
    "list": {"torque": [TOP, ph.torques.HeavyTop([0, 0, 1.0])]},
    "no torque": {"torque": None},
    "not finite": {"m0": [np.nan, 1, np.inf]},
    "saves": {"save_every": 4},
}


@pytest.mark.parametrize("changes", OPTIONS.values(), ids=OPTIONS)
def test_resume_goes_on_bit_for_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = broken_off(tmp_path / "run", **changes)
    whole = integrate(**changes)
    so_far = ph.Trajectory.load(path)
    assert 0 < len(so_far) < len(whole)
    np.testing.assert_array_equal(so_far.m, whole.m[: len(so_far)])
    steps: list[int] = []
    traj = ph.resume(path, callback=lambda step, t, m, q: steps.append(step))
    assert_same(traj, whole)
    assert steps[-1] == 10
    assert min(steps) > 6
    np.testing.assert_array_equal(traj.energy(), whole.energy())
    description = json.loads((path / "run.json").read_text())
    assert description["threads"] == changes.get("threads", 0)


def test_resume_of_bodies_in_their_own_axes(tmp_path: Path) -> None:
    body = ph.RigidBody(np.array(runs.TENSOR) * np.ones((3, 1, 1)))
    arguments: Any = (np.ones((3, 3)), Q0, 0.1, 20)
    own = ph.torques.Function(pull, potential=lambda t, q: np.zeros(3))
    for k, torque in enumerate([TOP, own, None]):
        whole = body.integrate(*arguments, torque=torque, save_every=3)
        path = tmp_path / str(k)
        with pytest.raises(StopError) as stopped:
            body.integrate(
                *arguments, torque=torque, save_every=3, save_to=path, callback=stop_at(9)
            )
        kept: Any = stopped.value.trajectory  # type: ignore[attr-defined]
        np.testing.assert_array_equal(kept.m, whole.m[:4])
        np.testing.assert_array_equal(kept.q, whole.q[:4])
        traj = ph.resume(path, own if torque is own else None)
        assert_same(traj, whole)
        assert isinstance(traj.m, np.memmap)
        np.testing.assert_array_equal(traj.energy(), whole.energy())
        np.testing.assert_array_equal(traj.momentum_spatial(), whole.momentum_spatial())


def test_a_torque_that_fails_in_a_step(tmp_path: Path) -> None:
    """The state of the last whole step is kept, not that of the step that failed."""
    path = tmp_path / "run"
    fails = [True]

    def moody(t: float, q: Array) -> Array:
        if fails[0] and t > 0.65:
            raise StopError
        return pull(t, q)

    def run(**changes: Any) -> ph.Trajectory:
        return integrate(torque=moody, save_every=4, splitting="rkn6_14", **changes)

    with pytest.raises(StopError):
        run(save_to=path)
    assert files.RunFiles(path, False).state["step"] == 6
    fails[0] = False
    assert_same(ph.resume(path, moody), run())


def test_functions_are_given_again(tmp_path: Path) -> None:
    torque = [TOP, pull, ph.torques.HeavyTop([0, 0, 0.1])]
    path = broken_off(tmp_path / "run", torque=torque)
    so_far = ph.Trajectory.load(path)
    assert len(so_far) == 7
    values = {f"torque.1.{when}" for when in ("start", "state")}  # other versions look for these
    assert values == {name for name in np.load(path / "state.npz") if name.startswith("torque")}
    with pytest.raises(ValueError, match=r"function pull .*give it again"):
        ph.resume(path)
    with pytest.raises(ValueError, match=r"2 terms.* has 3, of which 1 are to be given"):
        ph.resume(path, [pull, pull])
    with pytest.raises(ValueError, match=r"torque\[2\] = HeavyTop.*but the run in .*has HeavyTop"):
        ph.resume(path, [TOP, pull, TOP])
    with pytest.raises(ValueError, match="depends_on_m"):
        ph.resume(path, ph.torques.Function(pull, depends_on_m=True))
    other = shutil.copytree(path, tmp_path / "other")
    whole = integrate(torque=torque)
    assert_same(ph.resume(path, pull), whole)
    assert_same(ph.resume(other, torque), whole)
    with pytest.raises(ValueError, match=r"torque\[0\] = .*, but the run"):
        ph.resume(broken_off(tmp_path / "model"), pull)
    assert_same(ph.resume(tmp_path / "model", TOP), integrate())


def test_the_potential_of_a_function_is_not_left_out(tmp_path: Path) -> None:
    own = ph.torques.Function(TOP.torque, potential=TOP.potential)
    path = tmp_path / "run"
    traj = integrate(torque=own, save_to=path)
    with pytest.raises(ValueError, match="give it again"):
        ph.resume(path).energy()
    np.testing.assert_array_equal(ph.resume(path, own).energy(), traj.energy())
    np.testing.assert_array_equal(ph.Trajectory.load(path, own).energy(), traj.energy())


def test_killed_twenty_times(tmp_path: Path) -> None:
    """SIGKILL at random moments; the trajectory is that of a run left alone, bit for bit."""
    wholes = {name: run() for name, run in runs.RUNS.items()}
    rng = np.random.default_rng(20)
    paths = {name: tmp_path / name for name in wholes}
    begun = dict.fromkeys(wholes, 0)
    finished = 0
    for k in range(20):
        name = list(wholes)[k % 3]
        with subprocess.Popen(
            [sys.executable, runs.__file__, name, str(paths[name])], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            time.sleep(rng.uniform(0.0, 0.1))
            process.kill()
        if not paths[name].exists():
            continue
        so_far = ph.Trajectory.load(paths[name], runs.OWN[name])
        rows, whole = len(so_far), wholes[name]
        np.testing.assert_array_equal(so_far.m, whole.m[:rows])
        np.testing.assert_array_equal(so_far.q, whole.q[:rows])
        assert rows >= begun[name]
        begun[name] = rows
        if rows == len(whole):
            finished += 1
            begun[name] = 0
            paths[name] = tmp_path / f"{name}{k}"
    assert finished < 10  # or hardly one was killed while it ran
    for name, path in paths.items():
        if path.exists():
            assert_same(ph.resume(path, runs.OWN[name]), wholes[name])


def test_killed_between_rows_and_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are on the disk before they are counted; uncounted rows are computed again."""
    path = tmp_path / "run"
    order: list[str] = []
    write = files._write_state
    monkeypatch.setattr(np.memmap, "flush", lambda self: order.append(Path(self.filename).name))
    monkeypatch.setattr(files, "_write_state", lambda *a: (order.append("state.npz"), write(*a))[1])
    integrate(save_to=path)
    assert order == ["state.npz", *2 * ["m.npy", "q.npy", "state.npz"]]

    def power_cut(*arguments: Any) -> None:
        raise StopError

    broken_off_uncounted(path)
    monkeypatch.setattr(files, "_write_state", power_cut)
    with pytest.raises(StopError):
        ph.resume(path)
    monkeypatch.undo()
    assert_same(ph.resume(path), integrate())


def broken_off_uncounted(path: Path) -> None:
    """All rows are there, and wrong; three are counted."""
    whole = integrate()
    rows = np.lib.format.open_memmap(path / "m.npy", "r+")
    rows[3:] = -7.0
    np.savez(path / "state.npz", step=2, rows=3, m=whole.m[2], q=whole.q[2])
    seal(path)


# The same call again ---------------------------------------------------------------------------


@pytest.mark.parametrize("changes", OPTIONS.values(), ids=OPTIONS)
def test_the_same_call_goes_on_bit_for_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    path, whole = broken_off(tmp_path / "run", resume=True, **changes), integrate(**changes)
    steps: list[int] = []
    arguments: dict[str, Any] = {"save_to": path, "resume": True, **changes}
    assert_same(integrate(callback=lambda step, *_: steps.append(step), **arguments), whole)
    assert steps[-1] == 10
    assert min(steps) > 6
    again = integrate(callback=stop_at(0), **arguments)  # nothing is left to do
    assert_same(again, whole)
    assert isinstance(again.m, np.memmap)
    assert not again.m.flags.writeable
    same(again.energy(), whole.energy())


def test_a_run_in_other_axes_is_another_run(tmp_path: Path) -> None:
    """Of the same moments, by `integrate` and by `RigidBody.integrate`."""
    body = ph.RigidBody(runs.TENSOR)
    state: Any = ([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0], 0.1, 3)
    for k, (write, call, now) in enumerate(
        [
            (body.integrate, lambda *x, **y: ph.integrate(body.moments, *x, **y), "None"),
            (lambda *x, **y: ph.integrate(body.moments, *x, **y), body.integrate, r"\[\["),
        ]
    ):
        write(*state, save_to=tmp_path / str(k))
        with pytest.raises(ValueError, match=rf"axes is {now}.*, but the run in .* has"):
            call(*state, save_to=tmp_path / str(k), resume=True)


def test_the_same_call_in_own_axes_with_a_function(tmp_path: Path) -> None:
    def call(**changes: Any) -> ph.Trajectory:
        arguments: dict[str, Any] = {"m0": M0, "q0": Q0, "h": 0.1, "n_steps": 20, "torque": pull}
        return ph.RigidBody(runs.TENSOR).integrate(**arguments | changes)

    path = tmp_path / "run"
    with pytest.raises(StopError):
        call(save_to=path, resume=True, callback=stop_at(9))
    for changes, match in (
        ({"torque": None}, "torque has 0 terms, but the run in .* has 1"),
        ({"torque": lambda t, q: 0 * q[..., 1:]}, "returns .* it returned"),
        ({"m0": [0.3, 0.5, 0.9]}, r"m0\[2\] is 0.9, but the run in .* has 0.8"),
        ({"q0": [0.0, 1.0, 0.0, 0.0]}, r"q0\[0\] is 0.0, but the run in .* has 1.0"),
    ):
        with pytest.raises(ValueError, match=match):
            call(save_to=path, resume=True, **changes)
    assert_same(call(save_to=path, resume=True), call())


ANOTHER: dict[str, tuple[dict[str, Any], str]] = {
    "inertia": ({"inertia": [1, 1.5, 2.3]}, r"inertia\[2\] is 2.3, but the run in .* has 2.2"),
    "m0": ({"m0": [M0, M0]}, r"m0 is of shape \(2, 3\), but in the run in .* of shape \(3,\)"),
    "m0, a value": ({"m0": [0.3, 0.6, 0.8]}, r"m0\[1\] is 0.6, but the run in .* has 0.5"),
    "q0": ({"q0": [0.8, 0.6, 0, 0]}, r"q0\[0\] is 0.8, but the run in .* has 1.0"),
    "h": ({"h": 0.2}, "h is 0.2, but the run in .* has 0.1"),
    "n_steps": ({"n_steps": 11}, "n_steps is 11, but the run in .* has 10"),
    "no torque": ({"torque": None}, "torque has 0 terms, but the run in .* has 1"),
    "parameters": (
        {"torque": ph.torques.HeavyTop([0.2, -0.1, 0.5])}, r"torque\[0\] = HeavyTop.*but the run"
    ),
    "another torque": ({"torque": pull}, "but the run in"),
    "splitting": ({"splitting": "rkn6_14"}, "splitting is rkn6_14, but the run in .* has strang"),
    "coefficients": ({"splitting": ([0.3, 0.7], [0.4, 0.6])}, "splitting is .* has strang"),
    "method": ({"method": "magnus4"}, "method is magnus4, but the run in .* has exact"),
    "t0": ({"t0": 1.0}, "t0 is 1.0, but the run in .* has 0.0"),
    "save_every": ({"save_every": 2}, "save_every is 2, but the run in .* has 1"),
    "compensated": ({"compensated": True}, "compensated is True, but the run in .* has False"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "match"), ANOTHER.values(), ids=ANOTHER)
def test_another_call_is_refused(tmp_path: Path, changes: dict[str, Any], match: str) -> None:
    path = broken_off(tmp_path / "run")
    with pytest.raises(ValueError, match=match):
        integrate(save_to=path, resume=True, **changes)
    assert_same(integrate(save_to=path, resume=True, threads=2), integrate())


def test_nan_is_no_difference(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run", m0=[np.nan, 0.5, 0.8], torque=None)
    with pytest.raises(ValueError, match=r"m0\[2\] is 0\.9, but the run in .* has 0\.8"):
        integrate(save_to=path, resume=True, m0=[np.nan, 0.5, 0.9], torque=None)


def test_a_run_without_splitting_is_told(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run", method="imid", splitting=None)
    with pytest.raises(ValueError, match=r"splitting is strang, but the run in .* has None"):
        integrate(save_to=path, resume=True, method="imid")


def test_the_same_call_with_other_directories(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="resume=True needs save_to"):
        integrate(resume=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="file"):
        integrate(save_to=tmp_path / "file", resume=True)
    with pytest.raises(ValueError, match=r"holds no integration of polhode: it has no run\.json"):
        integrate(save_to=tmp_path, resume=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert_same(integrate(save_to=empty, resume=True), integrate())
    path = broken_off(tmp_path / "begun")
    with files.RunFiles(path, True), pytest.raises(BlockingIOError, match="another process"):
        integrate(save_to=path, resume=True)


def test_the_same_call_while_another_begins_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, held = tmp_path / "run", []

    def begins(_: Path) -> bool:
        """Nothing is there; then another process begins the run."""
        broken_off(path)
        held.append(files.RunFiles(path, True))
        return True

    monkeypatch.setattr(_integrate, "is_free", begins)
    with pytest.raises(BlockingIOError, match="another process"):
        integrate(save_to=path, resume=True)
    monkeypatch.undo()
    held[0].close()
    assert_same(integrate(save_to=path, resume=True), integrate())


# One at a time ---------------------------------------------------------------------------------


def test_a_run_is_gone_on_with_once_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "run"
    seen: list[int] = []

    def look(step: int, t: float, m: Array, q: Array) -> None:
        with pytest.raises(BlockingIOError, match=f"another process or thread .*{path}"):
            ph.resume(path)
        seen.append(len(ph.Trajectory.load(path)))
        if step == 6:
            raise StopError

    with pytest.raises(StopError) as stopped:
        integrate(save_to=path, callback=look)
    assert len(seen) == 7
    with files.RunFiles(path, True):
        code = f"import polhode; polhode.resume({str(path)!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "BlockingIOError" in done.stderr
        assert str(path) in done.stderr.splitlines()[-1]
    with pytest.raises(ValueError, match="but the run"):
        ph.resume(path, pull)
    # Tracebacks of finished runs hold no lock.
    assert_same(ph.resume(path), integrate())
    assert stopped.value is not None


# Runs in separate processes --------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_files_of_another_run_are_refused(tmp_path: Path, name: str) -> None:
    path = broken_off(tmp_path / "run")
    other = broken_off(tmp_path / "other", m0=[0.3, 0.5, 0.9], q0=[1, 1, 0, 0], h=0.2, t0=1.0)
    shutil.copyfile(other / name, path / name)
    wrong = "state.npz of another run" if name == "state.npz" else name
    for read in (ph.resume, ph.Trajectory.load):
        with pytest.raises(ValueError, match=wrong):
            read(path)


def test_files_of_the_same_run_at_another_time(tmp_path: Path) -> None:
    """An older count is valid with newer rows, but a newer count is not valid with older rows."""
    path = broken_off(tmp_path / "run")
    old = shutil.copytree(path, tmp_path / "old")
    ph.resume(path)
    new = shutil.copytree(path, tmp_path / "new")
    shutil.copyfile(old / "state.npz", path / "state.npz")
    assert_same(ph.resume(path), integrate())
    shutil.copyfile(new / "state.npz", old / "state.npz")
    with pytest.raises(ValueError, match=r"m\.npy.*checksum mismatch of the first 11 rows"):
        ph.resume(old)


@pytest.mark.parametrize("name", FILES)
def test_flipped_bits_are_seen(tmp_path: Path, name: str) -> None:
    path = broken_off(tmp_path / "run")
    content = (path / name).read_bytes()
    after, offset = {
        "m.npy": (b"\n", 6 * 24 + 3),
        "q.npy": (b"\n", 5),
        "t.npy": (b"\n", 80),
        "run.json": (b'"n_steps": 10', 12),  # 11
        "setup.npz": (b"\n", 10),
        "state.npz": (b"\n", 1),
    }[name]
    changed = bytearray(content)
    changed[content.index(after) + offset] ^= 1
    (path / name).write_bytes(changed)
    for read in (ph.resume, ph.Trajectory.load):
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read(path)
    (path / name).write_bytes(content)
    assert_same(ph.resume(path), integrate())


def test_an_altered_state_is_seen(tmp_path: Path) -> None:
    """An altered state whose archive checksums are correct, as another program would write it."""
    path = broken_off(tmp_path / "run")
    good = dict(np.load(path / "state.npz"))
    for change in ({"m": good["m"] * 2}, {"rows": 6, "step": 5}, {"work": np.zeros(3)}):
        np.savez(path / "state.npz", **{**good, **change})
        with pytest.raises(ValueError, match=r"state\.npz.*checksum"):
            ph.resume(path)
    np.savez(path / "state.npz", **good)
    assert_same(ph.resume(path), integrate())


@pytest.mark.parametrize(("method", "columns"), [("rk8", 20), ("adams8", 60), ("adams12", 88)])
def test_only_the_columns_that_a_step_needs_are_stored(
    tmp_path: Path, method: str, columns: int
) -> None:
    """Attitude, constants of the body, unit, rounding errors; slopes, or two of adaptive steps."""
    options = {"method": method, "splitting": None, "n_steps": 20, "m0": [M0, M0]}
    path = broken_off(tmp_path / "run", 15, **options)
    assert np.load(path / "state.npz")["work"].shape == (columns, 2)
    assert_same(ph.resume(path), integrate(**options))


def test_a_row_enters_the_checksums_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spans: list[tuple[int, int]] = []
    sum_rows = files._sum_rows

    def watched(rows: Array, first: int, end: int, total: int = 0) -> int:
        spans.append((first, end))
        return sum_rows(rows, first, end, total)

    monkeypatch.setattr(files, "COMMIT_AFTER", 0.0)
    monkeypatch.setattr(files, "COMMIT_SHARE", 0.0)
    monkeypatch.setattr(files, "_sum_rows", watched)
    integrate(save_to=tmp_path / "run", callback=lambda *_: None)
    assert sum(end - first for first, end in spans) == 2 * 11


# Other torques ---------------------------------------------------------------------------------


def _scaled(scale: float) -> Any:
    return lambda t, q: scale * pull(t, q)


def _late(start: float) -> Any:
    return lambda t, q: pull(t, q) * (1.0 if t < start else 2.0)


def _class(scale: float) -> Any:
    def torque(self: Any, t: float, m: Array, q: Array) -> Array:
        return scale * pull(t, q)

    return type("Own", (ph.torques.Torque,), {"torque": torque, "__module__": "mine"})()


def _w(scale: float) -> Any:
    return ph.torques.Function(pull, W=lambda t, q: scale * q[..., 1:])


def _momentum(*derivatives: Any) -> Any:
    return ph.torques.SpatialMomentum(lambda t: np.ones(3), *derivatives)


#: Two torques, and the message if the second is refused.
PAIRS: dict[str, tuple[Any, Any, str | None]] = {
    "same function": (pull, pull, None),
    "the same values": (pull, lambda q, t: pull(t, q), None),
    "another": (pull, _scaled(1.001), r"torque\[0\] returns \[.*at t = 0\.0.*it returned \["),
    "another at the stored state": (pull, _late(0.55), r"returns .*at t = 0\.6.*it returned"),
    "a momentum": (pull, _momentum(lambda t: np.zeros(3)), "returns 6 numbers .* 3"),
    "another derivative": (
        _momentum(lambda t: np.ones(3)), _momentum(lambda t: np.zeros(3)), r"returns \[1.*, 0\.0\]"
    ),
    "another frame": (
        ph.torques.Prescribed(lambda t: np.ones(3)),
        ph.torques.Prescribed(lambda t: np.ones(3), frame="space"), "at t = 0.6",
    ),
    "a class": (_class(2.0), _class(2.0), None),
    "another class": (_class(2.0), _class(3.0), "it returned"),
    "another W": (_w(1.0), _w(2.0), "it returned"),
    "a potential": (pull, ph.torques.Function(pull, potential=TOP.potential), None),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "words"), PAIRS.values(), ids=PAIRS)
def test_another_torque_is_recognised(
    tmp_path: Path, first: Any, second: Any, words: str | None
) -> None:
    path = broken_off(tmp_path / "run", torque=first)
    if words is None:
        assert_same(ph.resume(path, second), integrate(torque=first))
    else:
        for read in (ph.resume, ph.Trajectory.load):
            with pytest.raises(ValueError, match=words) as error:
                read(path, second)
            assert str(path) in str(error.value)
        assert_same(ph.resume(path, first), integrate(torque=first))


def test_what_the_values_of_a_torque_cannot_say(tmp_path: Path) -> None:
    """A difference by rounding, one that begins later, and a function that fails."""
    path = broken_off(tmp_path / "run", torque=pull)
    later = shutil.copytree(path, tmp_path / "later")
    with pytest.raises(ZeroDivisionError):
        ph.resume(path, lambda t, q: 1 / 0)
    close(ph.resume(path, _scaled(1 + 1e-13)).m, integrate(torque=pull).m, atol=1e-13)
    assert len(ph.resume(later, _late(0.65))) == 11


def test_one_body_of_a_batch_tells_and_axes_are_those_of_the_user(tmp_path: Path) -> None:
    body = ph.RigidBody(np.array(runs.TENSOR) * np.ones((2, 3, 1, 1)))
    rates = np.zeros((2, 3, 1))

    def torque(t: float, q: Array) -> Array:
        return pull(t, q) + rates

    arguments: Any = (np.ones((2, 3, 3)), Q0, 0.1, 10)
    whole = body.integrate(*arguments, torque=torque)
    path = tmp_path / "run"
    with pytest.raises(StopError):
        body.integrate(*arguments, torque=torque, save_to=path, callback=stop_at(6))
    rates[1, 2] = 0.25
    values = r"0\.25\] for body \[1, 2\] at t = 0\.0, .* it returned \[-0\.1\d*, -0\.2\d*, 0\.0\]"
    with pytest.raises(ValueError, match=values):
        ph.resume(path, torque)
    rates[...] = 0.0
    assert_same(ph.resume(path, torque), whole)


def test_a_run_that_was_resumed_twice_is_still_compared(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run", step=3, torque=pull)
    with pytest.raises(StopError):
        ph.resume(path, pull, callback=stop_at(7))
    with pytest.raises(ValueError, match=r"at t = 0\.0"):
        ph.resume(path, _scaled(2.0))
    with pytest.raises(ValueError, match=r"at t = 0\.7"):
        ph.resume(path, _late(0.65))
    assert_same(ph.resume(path, pull), integrate(torque=pull))


def test_a_function_that_counts_its_calls(tmp_path: Path) -> None:
    """Variables that a function assigns are no difference."""
    calls = 0

    def counted(t: float, q: Array) -> Array:
        nonlocal calls
        calls += 1
        return pull(t, q)

    path = broken_off(tmp_path / "run", torque=counted)
    assert calls > 0
    assert_same(ph.resume(path, counted), integrate(torque=pull))


def test_models_are_compared_whole(tmp_path: Path) -> None:
    """Not only by the data of the first interval in the core."""
    values = np.arange(9.0).reshape(3, 3)
    kinds: list[Callable[..., Any]] = [
        ph.torques.Prescribed,
        lambda v, times, **o: ph.torques.Prescribed(CubicSpline(times, v), **o),
    ]
    for k, kind in enumerate(kinds):
        first = kind(values, times=[0, 1, 2])
        path = broken_off(tmp_path / str(k), torque=first)
        for second in (
            kind(values + np.diag([0.0, 0.0, 1.0]), times=[0, 1, 2]),
            kind(values, times=[0, 1, 2.5]),
            kind(values, times=[0, 1, 2], frame="space"),
        ):
            with pytest.raises(ValueError, match=r"torque\[0\] = .*, but the run"):
                ph.resume(path, second)
        assert_same(ph.resume(path, kind(values, times=[0, 1, 2])), integrate(torque=first))


def test_compiled_functions_are_recognised_by_their_values(tmp_path: Path) -> None:
    pointer = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(
        None, *3 * [ctypes.c_int64], ctypes.c_double, *3 * [pointer], ctypes.c_void_p
    )

    def make(scale: float) -> Any:
        def f(n: int, first: int, stride: int, t: float, m: Any, q: Any, out: Any, _: Any) -> None:
            for i in range(n):
                for k in range(3):
                    out[k * stride + i] = scale * q[(k + 1) * stride + i]

        return kind(f)

    one, two = make(0.5), make(0.6)
    path = broken_off(tmp_path / "run", torque=one, q0=[0.5, 0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match=r"returns \[0\.3.*it returned \[0\.25"):
        ph.resume(path, two)
    assert_same(ph.resume(path, make(0.5)), integrate(torque=one, q0=[0.5, 0.5, 0.5, 0.5]))


# Files that are no run, or a damaged one -------------------------------------------------------


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ph.resume(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"holds no integration of polhode: it has no run\.json"):
        ph.resume(tmp_path)
    (tmp_path / "file").write_bytes(b"1")
    with pytest.raises(ValueError, match="is not a directory"):
        ph.resume(tmp_path / "file")
    with pytest.raises(TypeError):
        ph.resume(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="callback"):
        ph.resume(tmp_path, callback=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["empty", "short", "foreign", "gone", "pickle"])
def test_damaged_files_are_named(tmp_path: Path, name: str, damage: str) -> None:
    path = broken_off(tmp_path / "run")
    file = path / name
    content = file.read_bytes()
    if damage == "pickle":
        array = np.array([{"a": 1}], dtype=object)
        if name.endswith(".npy"):
            np.save(file, array, allow_pickle=True)
        elif name.endswith(".npz"):
            arrays = dict(np.load(file))
            for key in arrays:
                arrays[key] = array
            np.savez(file, allow_pickle=True, **arrays)
        else:
            file.write_bytes(b"\x80\x04\x95\x10\x00")
    elif damage == "gone":
        file.unlink()
    else:
        file.write_bytes(
            {"empty": b"", "short": content[: len(content) // 2], "foreign": b"not ours" * 50}[
                damage
            ]
        )
    for read in (ph.resume, ph.Trajectory.load):
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read(path)


def _edited(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def _byte(path: Path, after: bytes, offset: int, value: int) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(after) + offset] = value
    path.write_bytes(content)


def _shape(path: Path, shape: str) -> None:
    content = path.read_bytes()
    end = content.index(b"\n")
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    path.write_bytes(content[:10] + header.ljust(end - 10) + content[end:])


#: Damage that a reader puts as something else than a ValueError, and the file.
ODD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "encrypted": ("setup.npz", lambda p: _byte(p, b"PK\1\2", 8, 1)),
    "compression": ("state.npz", lambda p: _byte(p, b"PK\1\2", 10, 99)),
    "brace": ("m.npy", lambda p: _edited(p, b"}", b"{")),
    "nested header": ("q.npy", lambda p: _edited(p, b"{'descr': '<f8'", b"(" * 15)),
    "huge": ("m.npy", lambda p: _shape(p, "(10**18, 3)".replace("10**18", "1" + "0" * 18))),
    "huger": ("q.npy", lambda p: _shape(p, f"({'9' * 30}, 4)")),
    "negative": ("t.npy", lambda p: _shape(p, "(-11,)")),
    "nested": ("run.json", lambda p: p.write_text("[" * 200_000)),
    "long integer": ("run.json", lambda p: p.write_text("9" * 5000)),
    "no level": ("run.json", lambda p: _edited(p, b'"isa"', b'"is_"')),
    "directory": ("m.npy", lambda p: (p.unlink(), p.mkdir())),
    "directory of numbers": ("setup.npz", lambda p: (p.unlink(), p.mkdir())),
    "pipe": ("state.npz", lambda p: (p.unlink(), os.mkfifo(p))),
}


@pytest.mark.parametrize(("name", "damage"), ODD.values(), ids=ODD)
def test_odd_damage_is_a_value_error(
    tmp_path: Path, name: str, damage: Callable[[Path], Any]
) -> None:
    path = broken_off(tmp_path / "run")
    damage(path / name)
    for read in (ph.resume, ph.Trajectory.load):
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read(path)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("format", "another", "another format"),
        ("version", 99, "version 99, this polhode reads version 5"),
        ("version", [], r"version \[\]"),
        ("isa", None, "isa is None"),
        ("method", "exakt", "no method 'exakt'"),
        ("n_steps", 11, "11 rows for 11 steps"),
        ("n_steps", "many", "n_steps is 'many'"),
        ("save_every", 0, "steps that do not fit"),
        ("splitting", {}, "invariants"),
        ("torque", [{"model": "Model", "arguments": {}}], "Model"),
        ("torque", [{"model": "np", "arguments": {}}], "no torque model 'np'"),
        ("torque", [{"model": "HeavyTop", "arguments": {"force": 1}}], "unexpected keyword"),
    ],
)
def test_descriptions_that_do_not_fit(tmp_path: Path, name: str, value: Any, words: str) -> None:
    path = broken_off(tmp_path / "run")
    content = json.loads((path / "run.json").read_text())
    content[name] = value
    (path / "run.json").write_text(json.dumps(content))
    seal(path)
    with pytest.raises(ValueError, match=words):
        ph.resume(path)


def test_states_that_do_not_fit(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run")
    good = dict(np.load(path / "state.npz"))
    for change in (
        {"rows": 12}, {"rows": 3}, {"step": -1}, {"step": 11, "rows": 11}, {"m": np.ones(4)},
        {"q": np.ones((3, 3))}, {"m": np.ones(3, dtype=np.float32)},
    ):  # fmt: skip
        np.savez(path / "state.npz", **{**good, **change})
        seal(path)
        with pytest.raises(ValueError, match=r"state\.npz|run\.json"):
            ph.resume(path)
    for dtype in (np.float32, ">f8"):
        np.savez(path / "state.npz", **good)
        np.save(path / "q.npy", np.zeros((11, 4), dtype))
        with pytest.raises(ValueError, match=r"q\.npy.*float32|q\.npy.*>f8"):
            ph.resume(path)


def test_a_full_disk_is_an_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    if not hasattr(os, "posix_fallocate"):
        pytest.skip("no such call here")
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        integrate(save_to=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_leaves_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    path = broken_off(tmp_path / "run")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ph.resume(path)
    monkeypatch.undo()
    assert sorted(p.name for p in path.iterdir()) == FILES
    assert_same(ph.resume(path), integrate())


@pytest.mark.parametrize("name", ["m", "q"])
def test_rows_in_the_order_of_fortran_do_not_fit(tmp_path: Path, name: str) -> None:
    """Rows go to the disk one after another."""
    path = broken_off(tmp_path / "run")
    rows = np.load(path / f"{name}.npy")
    np.save(path / f"{name}.npy", np.asfortranarray(rows))
    for read in (ph.resume, ph.Trajectory.load):
        with pytest.raises(ValueError, match=rf"{name}\.npy.*order.*Fortran"):
            read(path)
    np.save(path / f"{name}.npy", rows)
    assert_same(ph.resume(path), integrate())


def test_another_level_is_told(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run")
    content = json.loads((path / "run.json").read_text())
    assert content["isa"] == _core.build["isa"]
    content["isa"] = "v4" if _core.build["isa"] == "v2" else "v2"
    (path / "run.json").write_text(json.dumps(content))
    seal(path)
    with pytest.warns(RuntimeWarning, match="level .* last bits may differ"):
        ph.resume(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.resume(path)  # finished: nothing is computed
        integrate(save_to=path, resume=True)


@pytest.mark.parametrize(("before", "now"), [("v3", "v4"), ("v4", "scalar"), ("scalar", "v3")])
def test_levels_of_the_same_bits_give_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, now: str
) -> None:
    path = broken_off(tmp_path / "run")
    content = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**content, "isa": before}))
    seal(path)
    monkeypatch.setitem(_core.build, "isa", now)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.resume(path)


AT_LEVEL = """
import sys, warnings, numpy as np, polhode as ph
path, begins = sys.argv[1], sys.argv[2] == "begin"
rng = np.random.default_rng(1)
bodies = rng.uniform(1, 2, (40, 3)), rng.standard_normal((40, 3)), rng.standard_normal((40, 4))
def stop(step, *_):
    if step == 10: raise RuntimeError
for method in ("exact", "magnus2", "magnus4", "dmv4", "rk4"):
    if begins:
        arguments = {"method": method, "torque": ph.torques.HeavyTop([.1, .2, .3])}
        whole = ph.integrate(*bodies, 0.3, 20, **arguments)
        np.savez(f"{path}/{method}.npz", m=whole.m, q=whole.q)
        try:
            ph.integrate(*bodies, 0.3, 20, **arguments, save_to=f"{path}/{method}", callback=stop)
        except RuntimeError:
            pass
        continue
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        traj = ph.resume(f"{path}/{method}")
    whole = np.load(f"{path}/{method}.npz")
    assert warned or all(np.array_equal(getattr(traj, n), whole[n]) for n in ("m", "q")), method
"""


def test_other_levels_give_the_same_bits_or_a_warning(tmp_path: Path) -> None:
    def work(what: str, path: Path, level: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", AT_LEVEL, str(path), what],
            env={**os.environ, "POLHODE_ISA": level},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{what} at {level}: {done.stderr}"

    levels = ph.build_info()["isa_supported"]
    (tmp_path / "begun").mkdir()
    work("begin", tmp_path / "begun", levels[-1])
    for level in levels:
        work("go on", shutil.copytree(tmp_path / "begun", tmp_path / level), level)


def test_another_version_is_told(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run")
    content = json.loads((path / "run.json").read_text())
    content["polhode"] = "0.0.7"
    (path / "run.json").write_text(json.dumps(content))
    seal(path)
    with pytest.warns(RuntimeWarning, match=r"version .* 0\.0\.7, .* last bits may differ"):
        ph.resume(path)


def test_commits_are_neither_seldom_nor_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "COMMIT_AFTER", 3600.0)
    path = tmp_path / "run"
    commits: list[int] = []
    commit = resume.StoredRun.commit
    monkeypatch.setattr(
        resume.StoredRun, "commit", lambda *a: (commits.append(a[1].step), commit(*a))[1]
    )
    integrate(save_to=path, callback=lambda *_: None)
    assert commits == [0, 10]
    commits.clear()
    monkeypatch.setattr(files, "COMMIT_AFTER", 0.0)
    monkeypatch.setattr(files, "COMMIT_SHARE", 0.0)
    integrate(save_to=tmp_path / "other", callback=lambda *_: None)
    assert commits == list(range(11))


# Memory ----------------------------------------------------------------------------------------


def peak(work: Any) -> int:
    """Most bytes that NumPy and Python have taken at a time."""
    tracemalloc.start()
    try:
        kept = work()
        return tracemalloc.get_traced_memory()[1] if kept is not None else 0
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_trajectory(tmp_path: Path) -> None:
    n, steps = 50, 4000
    u0 = np.random.default_rng(2).standard_normal((n, 3))
    changes: dict[str, Any] = {
        "m0": np.ones((n, 3)), "n_steps": steps, "torque": ph.torques.HeavyTop(u0)
    }  # fmt: skip
    size = 8 * n * steps  # a double for every body and save: 1.6 MB
    assert peak(lambda: integrate(**changes)) > 7 * size
    assert peak(lambda: integrate(**changes, save_to=tmp_path / "run")) < size / 2
    traj = ph.Trajectory.load(tmp_path / "run")
    # The result, and 2^14 bodies' worth of arrays at a time.
    piece = 8 * 2**14 * 16
    assert peak(traj.energy) < size + piece
    assert peak(traj.casimir) < size + piece
    assert peak(traj.momentum_spatial) < 3 * size + piece
    whole = integrate(**changes)
    np.testing.assert_array_equal(traj.energy(), whole.energy())
    rows = [0, 1, 327, 328, 4000]
    for k in rows:
        one = ph.Trajectory(*(a[k : k + 1] for a in (traj.t, traj.m, traj.q)), traj.inertia,
                            traj.torque)  # fmt: skip
        np.testing.assert_array_equal(one.energy()[0], whole.energy()[k])
    body = ph.RigidBody(runs.TENSOR)
    path = tmp_path / "body"
    options: Any = {"m0": np.ones((n, 3)), "q0": Q0, "h": 0.1, "n_steps": 400}
    assert peak(lambda: body.integrate(**options, save_to=path)) < 8 * n * 400 * 7 / 2
    turned = ph.Trajectory.load(path)
    assert peak(turned.energy) < 8 * n * 400 + piece


def test_models_of_ones_own_are_given_again(tmp_path: Path) -> None:
    class Mine(ph.torques.HeavyTop):
        def torque(self, t: float, m: Array, attitude: Array) -> Array:
            raise NotImplementedError

    mine = Mine([0.2, -0.1, 0.4])
    altered = ph.torques.HeavyTop([0.2, -0.1, 0.4])
    altered.u0 = np.ones(3)  # no longer equal to its parameters
    for k, torque in enumerate([mine, altered]):
        path = broken_off(tmp_path / str(k), torque=torque)
        with pytest.raises(ValueError, match="is not a model of polhode"):
            ph.resume(path)
        assert_same(ph.resume(path, torque), integrate(torque=torque))


MODELS: dict[str, ph.torques.Torque] = {
    "HeavyTop": ph.torques.HeavyTop([0, 0, 1], axis=[[0, 0, 1], [0, 1, 0]]),
    "LagrangeTop": ph.torques.LagrangeTop(0.5),
    "SoftWall": ph.torques.SoftWall("physical", charge=[0.5, 0.7]),
    "GravityGradient": ph.torques.GravityGradient(0.3),
    "Vessel": ph.torques.Vessel(2.0, 0.3, 0.2, damping=[0.1, 0.2, 0.3]),
    "Dipole": ph.torques.Dipole([0, 0, 1], [0.1, 0.2, 0.3]),
    "Constant": ph.torques.Constant([0.1, 0, 0.2], frame="space"),
    "Prescribed": ph.torques.Prescribed(
        np.random.default_rng(3).random((5, 3)), times=[0, 1, 2, 3, 4]
    ),
    "Prescribed by a spline": ph.torques.Prescribed(
        CubicSpline([0, 0.3, 0.7, 2], np.random.default_rng(4).random((4, 3)))
    ),
    "Prescribed by a piecewise polynomial": ph.torques.Prescribed(
        PPoly(np.random.default_rng(5).random((2, 3, 3)), [-0.5, 0.3, 0.7, 2], extrapolate=False),
        frame="space",
    ),
    "Damping": ph.torques.Damping([0.1, 0.2, 0.3], frame="space"),
    "Damping by a tensor": ph.torques.Damping([[0.2, 0.1, 0], [0.1, 0.3, 0], [0, 0, 0.1]]),
    "Gyrostat": ph.torques.Gyrostat([0.1, 0.2, 0.3]),
    "Gyrostat by samples": ph.torques.Gyrostat(
        np.random.default_rng(6).random((3, 3)), times=[0, 0.25, 2]
    ),
    "BDot": ph.torques.BDot(0.8, np.random.default_rng(8).random((3, 3)), times=[0, 0.25, 2]),
    "InternalDissipation": ph.torques.InternalDissipation([0.1, 0.2, 0.3]),
    "Dipole in a field by samples": ph.torques.Dipole(
        [0, 0, 1], np.random.default_rng(7).random((3, 3)), times=[0, 0.25, 2]
    ),
    "GravityGradient on an orbit": ph.torques.GravityGradient(
        orbit=ph.torques.Orbit(0.8, [1.0, 0.5, -0.2], [-0.4, 0.6, 0.1])
    ),
    "GravityGradient by a table": ph.torques.GravityGradient(
        orbit=ph.torques.Orbit(0.8, [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [-1, 0, 0]], [-0.1, 1.5])
    ),
}


def test_every_model_is_here() -> None:
    named = {n: getattr(ph.torques, n) for n in ph.torques.__all__ if n != "dipole_field"}
    kinds = {n for n, kind in named.items() if issubclass(kind, ph.torques.Model)}
    assert kinds == {name.split()[0] for name in MODELS}


@pytest.mark.parametrize("own_axes", [False, True])
@pytest.mark.parametrize("torque", MODELS.values(), ids=MODELS)
def test_models_are_stored(tmp_path: Path, torque: Any, own_axes: bool) -> None:
    def run(**changes: Any) -> ph.Trajectory:
        if not own_axes:
            return integrate(torque=torque, **changes)
        body = ph.RigidBody(runs.TENSOR)
        return body.integrate(M0, Q0, 0.1, 10, torque=torque, **changes)

    with pytest.raises(StopError):
        run(save_to=tmp_path / "run", callback=stop_at(6))
    whole = run()
    shutil.copytree(tmp_path / "run", tmp_path / "again")
    traj = ph.resume(tmp_path / "run")
    assert_same(traj, whole)
    np.testing.assert_array_equal(traj.energy(), whole.energy())
    assert repr(traj.torque[0]).startswith(type(torque).__name__)
    assert_same(ph.resume(tmp_path / "again", torque), whole)


@pytest.mark.parametrize("splitting", ph.splittings(), ids=lambda splitting: splitting.name)
def test_splittings_come_back_as_they_were(splitting: ph.Splitting) -> None:
    content = json.loads(json.dumps({"splitting": dataclasses.asdict(splitting)}))
    read = schema._KINDS["Splitting"][1]("splitting", content, {})
    assert read == splitting
    assert hash(read) == hash(splitting)

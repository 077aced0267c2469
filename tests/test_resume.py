"""Trajectories in files: save_to, resume, Trajectory.load."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runs
from numpy.typing import NDArray

import polhode as ph
from polhode import _core, _store

Array = NDArray[np.float64]
INERTIA = [1.0, 1.5, 2.2]
M0 = [0.3, 0.5, 0.8]
Q0 = [1.0, 0.0, 0.0, 0.0]
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
FILES = ["m.npy", "q.npy", "run.json", "setup.npz", "state.npz", "t.npy"]


def pull(t: float, m: Array, q: Array) -> Array:
    return TOP.torque(t, m, q) * np.cos(t)


def integrate(**changes: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {
        "inertia": INERTIA, "m0": M0, "q0": Q0, "h": 0.1, "n_steps": 10, "torque": TOP, **changes
    }  # fmt: skip
    return ph.integrate(**arguments)


def assert_same(a: ph.Trajectory, b: ph.Trajectory) -> None:
    for name in ("t", "m", "q", "inertia"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


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
    for name in ("run", "file", "link", ""):
        with pytest.raises(FileExistsError, match="exists"):
            integrate(save_to=tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert_same(integrate(save_to=tmp_path / "empty"), integrate())


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
    for k, torque in enumerate([TOP, pull, None]):
        whole = body.integrate(*arguments, torque=torque, save_every=3)
        path = tmp_path / str(k)
        with pytest.raises(StopError) as stopped:
            body.integrate(
                *arguments, torque=torque, save_every=3, save_to=path, callback=stop_at(9)
            )
        kept: Any = stopped.value.trajectory  # type: ignore[attr-defined]
        np.testing.assert_array_equal(kept.m, whole.m[:4])
        np.testing.assert_array_equal(kept.q, whole.q[:4])
        traj = ph.resume(path, pull if torque is pull else None)
        assert_same(traj, whole)
        assert isinstance(traj.m, np.memmap)
        np.testing.assert_array_equal(traj.energy(), whole.energy())
        np.testing.assert_array_equal(traj.momentum_spatial(), whole.momentum_spatial())


def test_a_torque_that_fails_in_a_step(tmp_path: Path) -> None:
    """The state of the last whole step is kept, not that of the step that failed."""
    path = tmp_path / "run"
    fails = [True]

    def moody(t: float, m: Array, q: Array) -> Array:
        if fails[0] and t > 0.65:
            raise StopError
        return pull(t, m, q)

    def run(**changes: Any) -> ph.Trajectory:
        return integrate(torque=moody, save_every=4, splitting="rkn6_14", **changes)

    with pytest.raises(StopError):
        run(save_to=path)
    assert _store.Store(path, "r").step == 6
    fails[0] = False
    assert_same(ph.resume(path, moody), run())


def test_functions_are_given_again(tmp_path: Path) -> None:
    torque = [TOP, pull, ph.torques.HeavyTop([0, 0, 0.1])]
    path = broken_off(tmp_path / "run", torque=torque)
    so_far = ph.Trajectory.load(path)
    assert len(so_far) == 7
    with pytest.raises(ValueError, match=r"function pull .*give it once more"):
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
    with pytest.raises(ValueError, match="give it once more"):
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
    """Rows are on the disk before they are counted; what is not counted is done again."""
    path = tmp_path / "run"
    order: list[str] = []
    write = _store._write_state
    monkeypatch.setattr(np.memmap, "flush", lambda self: order.append(Path(self.filename).name))
    monkeypatch.setattr(
        _store, "_write_state", lambda *a: (order.append("state.npz"), write(*a))[1]
    )
    integrate(save_to=path)
    assert order == ["state.npz", *2 * ["m.npy", "q.npy", "state.npz"]]

    def power_cut(*arguments: Any) -> None:
        raise StopError

    monkeypatch.setattr(_store, "_write_state", power_cut)
    with pytest.raises(StopError):
        ph.resume(broken_off_uncounted(path))
    monkeypatch.undo()
    assert_same(ph.resume(path), integrate())


def broken_off_uncounted(path: Path) -> Path:
    """All rows are there, and wrong; three are counted."""
    whole = integrate()
    rows = np.lib.format.open_memmap(path / "m.npy", "r+")
    rows[3:] = -7.0
    np.savez(path / "state.npz", step=2, rows=3, m=whole.m[2], q=whole.q[2])
    return path


# What is no run, or a damaged one ---------------------------------------------------------------


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ph.resume(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"holds no integration of polhode: it has no run\.json"):
        ph.resume(tmp_path)
    (tmp_path / "file").write_bytes(b"1")
    with pytest.raises(ValueError, match="is no directory"):
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


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("format", "another", "another format"),
        ("version", 99, "version 99"),
        ("method", "exakt", "no method 'exakt'"),
        ("n_steps", 11, "11 rows for 11 steps"),
        ("n_steps", "many", "many"),
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


def test_another_level_is_told(tmp_path: Path) -> None:
    path = broken_off(tmp_path / "run")
    content = json.loads((path / "run.json").read_text())
    assert content["isa"] == _core.build["isa"]
    content["isa"] = "v4" if _core.build["isa"] == "v2" else "v2"
    (path / "run.json").write_text(json.dumps(content))
    with pytest.warns(RuntimeWarning, match="last bits may differ"):
        ph.resume(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.resume(path)  # finished: nothing is computed


def test_commits_are_neither_seldom_nor_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "COMMIT_AFTER", 3600.0)
    path = tmp_path / "run"
    commits: list[int] = []
    commit = _store.Store.commit
    monkeypatch.setattr(_store.Store, "commit", lambda *a: (commits.append(a[1]), commit(*a))[1])
    integrate(save_to=path, callback=lambda *_: None)
    assert commits == [0, 10]
    commits.clear()
    monkeypatch.setattr(_store, "COMMIT_AFTER", 0.0)
    monkeypatch.setattr(_store, "COMMIT_SHARE", 0.0)
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
    altered.u0 = np.ones(3)  # no longer what its parameters say
    for k, torque in enumerate([mine, altered]):
        path = broken_off(tmp_path / str(k), torque=torque)
        with pytest.raises(ValueError, match="is no model of polhode"):
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
}


def test_every_model_is_here() -> None:
    kinds = {n for n in ph.torques.__all__ if issubclass(getattr(ph.torques, n), _store.Model)}
    assert kinds == set(MODELS)


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
    traj = ph.resume(tmp_path / "run")
    assert_same(traj, whole)
    np.testing.assert_array_equal(traj.energy(), whole.energy())


@pytest.mark.parametrize("splitting", ph.splittings(), ids=lambda splitting: splitting.name)
def test_splittings_come_back_as_they_were(splitting: ph.Splitting) -> None:
    written = json.loads(json.dumps(_store.describe_splitting(splitting)))
    read = _store.read_splitting(written)
    assert read == splitting
    assert hash(read) == hash(splitting)

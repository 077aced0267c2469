"""Run directories: locks, forked processes, links, read-only disks."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same

import polhode as ph

ARGUMENTS: Any = ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 0.1, 20)
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])


class StopError(Exception):
    pass


def begun(path: Path, step: int = 6) -> Path:
    """A run that stopped at a step."""

    def callback(n: int, *state: Any) -> None:
        if n == step:
            raise StopError

    with pytest.raises(StopError):
        ph.integrate(*ARGUMENTS, torque=TOP, save_to=path, callback=callback)
    return path


def whole() -> ph.Trajectory:
    return ph.integrate(*ARGUMENTS, torque=TOP)


def assert_whole(traj: ph.Trajectory) -> None:
    for name in ("t", "m", "q"):
        same(getattr(traj, name), getattr(whole(), name))


@pytest.mark.parametrize("name", ["m.npy", "q.npy", "run.json"])
@pytest.mark.parametrize("hard", [False, True])
def test_files_that_are_written_are_not_links(tmp_path: Path, name: str, hard: bool) -> None:
    """Such a link leads out of the directory, perhaps to a file of the user."""
    path, precious = begun(tmp_path / "run"), tmp_path / "precious"
    (path / name).rename(precious)
    content = precious.read_bytes()
    (os.link if hard else os.symlink)(precious, path / name)
    for call in (
        lambda: ph.resume(path),
        lambda: ph.integrate(*ARGUMENTS, torque=TOP, save_to=path, resume=True),
    ):
        with pytest.raises(ValueError, match=rf"{name}.*(symbolic link|other names)"):
            call()
    assert precious.read_bytes() == content
    assert len(ph.Trajectory.load(path)) == 7  # which only reads


def test_links_in_place_of_temporary_files_are_not_followed(tmp_path: Path) -> None:
    path, precious = begun(tmp_path / "run"), tmp_path / "precious"
    precious.write_bytes(b"precious")
    for name in (".state.npz.part", ".0123.part", ".m.npy.part"):
        (path / name).symlink_to(precious)
    (path / "state.npz").rename(tmp_path / "state.npz")
    (path / "state.npz").symlink_to(tmp_path / "state.npz")
    before = (tmp_path / "state.npz").read_bytes()
    assert_whole(ph.resume(path))
    assert precious.read_bytes() == b"precious"
    assert (tmp_path / "state.npz").read_bytes() == before
    assert sorted(p.name for p in path.iterdir()) == [
        *("m.npy", "q.npy", "run.json", "setup.npz", "state.npz", "t.npy")
    ]


def test_a_link_that_appears_after_the_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, precious = begun(tmp_path / "run"), tmp_path / "precious"
    (path / "m.npy").rename(precious)
    (path / "m.npy").symlink_to(precious)
    monkeypatch.setattr(Path, "is_symlink", lambda path: False)
    with pytest.raises(ValueError, match=r"m\.npy.*symbolic link"):
        ph.resume(path)


def test_compressed_archives_are_not_unpacked(tmp_path: Path) -> None:
    path = begun(tmp_path / "run")
    np.savez_compressed(path / "setup.npz", x=np.zeros(2**20))
    with pytest.raises(ValueError, match=r"setup\.npz"):
        ph.Trajectory.load(path)
    np.savez_compressed(path / "state.npz", x=np.zeros(2**20))
    with pytest.raises(ValueError, match=r"state\.npz.*compressed"):
        ph.Trajectory.load(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where it is imported
def test_a_forked_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    path, children = tmp_path / "run", []

    def callback(step: int, *state: Any) -> None:
        if step == 5:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # a process with threads
                child = os.fork()
            if child == 0:
                os.read(wait, 1)
                os._exit(0)
            children.append(child)
        if step == 8:
            with pytest.raises(BlockingIOError):  # the child has not taken it away either
                ph.resume(path)
            raise StopError

    wait, go = os.pipe()
    try:
        with pytest.raises(StopError):
            ph.integrate(*ARGUMENTS, torque=TOP, save_to=path, callback=callback)
        assert_whole(ph.resume(path))
    finally:
        os.write(go, b"1")
        for child in children:
            os.waitpid(child, 0)


KILLED = """
import os, signal, sys
import polhode as ph
def callback(step, *state):
    if step == 5:
        begun, begins = os.pipe()
        if os.fork() == 0:
            os.write(begins, b"1")
            os.read(0, 1)
            os._exit(0)
        os.read(begun, 1)
        os.kill(os.getpid(), signal.SIGKILL)
ph.integrate([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 0.1, 20,
             torque=ph.torques.HeavyTop([0.2, -0.1, 0.4]), save_to=sys.argv[1], callback=callback)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_killed_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    """The parent cannot release the lock, so the child must have closed its copy of the file."""
    run = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "run")]
    with subprocess.Popen(run, stdin=subprocess.PIPE) as parent:  # its end also ends the child
        assert parent.wait() == -9
        assert_whole(ph.resume(tmp_path / "run"))


def test_what_cannot_be_locked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    path = begun(tmp_path / "run")
    other = path / ".of another process.part"
    other.write_bytes(b"")
    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.warns(RuntimeWarning, match="cannot be locked .*No locks available") as warned:
        assert_whole(ph.resume(path))
    assert warned[0].filename == __file__
    assert other.exists()  # another process may be writing it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_whole(ph.resume(path))  # finished: nothing is written


PROGRAM = """
import errno, fcntl, sys, warnings
import numpy as np
def none(*a): raise OSError(errno.ENOLCK, "No locks available")
fcntl.flock = none
import polhode as ph
from polhode.run_directory import files
files.COMMIT_AFTER, files.COMMIT_SHARE = 0.002, 0.0
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
m, q = rng.standard_normal((40, 3)), rng.standard_normal((40, 4))
body = ph.RigidBody(np.array([[4.5, -1, 0], [-1, 6, 0], [0, 0, 2.5]]))
stored = {} if sys.argv[1] == "-" else {"save_to": sys.argv[1], "resume": True}
run = body.integrate(m, q, 0.05, 6000, torque=ph.torques.HeavyTop([0.1, 0.2, 0.3]), save_every=7,
                     compensated=True, **stored)
sys.stdout.buffer.write(np.asarray(run.m).tobytes() + np.asarray(run.q).tobytes())
"""


def test_two_processes_without_locks_write_the_same(tmp_path: Path) -> None:
    def start(path: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE)

    expected = start("-").communicate()[0]
    for k in range(3):
        both = [start(tmp_path / str(k)) for _ in range(2)]
        found = [process.communicate()[0] for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert found == [expected, expected]


def test_a_finished_run_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run"
    ph.integrate(*ARGUMENTS, torque=TOP, save_to=path)
    for file in path.iterdir():
        file.chmod(stat.S_IRUSR)
    path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    opened: list[str] = []
    given = os.open

    def watched(name: Any, flags: int, *more: Any, **options: Any) -> int:
        if str(path) in str(name) and flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(str(name))
        return given(name, flags, *more, **options)

    os.open = watched  # whoever runs the tests may be allowed to write everything
    try:
        assert_whole(ph.resume(path))
        assert_whole(ph.integrate(*ARGUMENTS, torque=TOP, save_to=path, resume=True))
    finally:
        os.open = given
        path.chmod(stat.S_IRWXU)
    assert not opened

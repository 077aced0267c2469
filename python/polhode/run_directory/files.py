"""The files of an integration that `integrate(save_to=...)` writes and `resume` reads.

docs/run_format.md describes the files, how they are written and how they are checked. While a run
writes, each row is added to the checksums once.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import shutil
import stat
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from polhode import _core
from polhode._arrays import Array
from polhode.integrators.table import method_name
from polhode.run_directory.schema import describe_splitting, describe_torques

if TYPE_CHECKING:
    from polhode.integration.state import Run

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = "polhode integration"
VERSION = 2

#: The least time from one commit to the next: in seconds, and as a multiple of the time of a
#: commit.
COMMIT_AFTER = 0.2
COMMIT_SHARE = 20.0
#: Bytes that are added to a checksum between two checks for Ctrl-C.
PIECE = 2**24


class Store:
    """One directory of files, open for writing (mode "r+") or reading ("r").

    For writing it is locked until `close`, or the end of the ``with`` block.

    Attributes
    ----------
    description : dict
        The contents of run.json.
    setup : dict of ndarray
        The contents of setup.npz.
    t, m, q : memmap
        All rows.
    step, rows : int
        Steps done and rows saved at the last commit.
    state : dict of ndarray
        The state after `step` steps: "m", "q" and all other data that the method stores from step
        to step.
    """

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        self._lock = None if mode == "r" else _lock(path / "run.json")
        try:
            self._read(mode)
        except BaseException:
            self.close()
            raise
        self._committed = time.perf_counter()
        self._wait = 0.0

    def _read(self, mode: str) -> None:
        path = self.path
        text, self.description = _read_json(path / "run.json")
        version = self.description["version"]
        self.state = _read_npz(path / "state.npz")
        #: Rows that are in the checksums of m and q; None in version 1.
        self._sums: tuple[int, int, int] | None = None
        if version > 1:
            self._sum_of_json = zlib.crc32(text)
            self._sums = self._read_sums(self._sum_of_json)
        self.setup = _read_npz(path / "setup.npz")
        self.t = _open_rows(path / "t.npy", "r")
        self.m = _open_rows(path / "m.npy", mode)
        self.q = _open_rows(path / "q.npy", mode)
        with told(path / "state.npz"):
            self.step, self.rows = int(self.state.pop("step")), int(self.state.pop("rows"))
            _require(
                self.m.ndim >= 2
                and self.m.shape[:1] == self.q.shape[:1] == self.t.shape
                and self.m.shape[1:-1] in (self.q.shape[1:-1], self.q.shape[1:-2])
                and self.state["m"].shape == self.m.shape[1:]
                and self.state["q"].shape == self.q.shape[1:]
                and 0 <= self.rows <= len(self.t)
                and self.step >= 0,
                "it does not fit t.npy, m.npy and q.npy",
            )
        if self._sums is None:
            return
        for name in ("setup.npz", "t.npy"):
            with told(path / name):
                _require(
                    _sum_file(path / name) == self.description["sums"][name],
                    "its checksum is another",
                )
        for name, rows, sum_ in (("m", self.m, self._sums[1]), ("q", self.q, self._sums[2])):
            with told(path / f"{name}.npy"):
                _require(
                    _sum_rows(rows, 0, self.rows) == sum_,
                    f"its first {self.rows} rows are not those that this run saved",
                )

    def _read_sums(self, sum_of_json: int) -> tuple[int, int, int]:
        """Remove the checksums from the state; compare its own and that of run.json."""
        with told(self.path / "state.npz"):
            own_sum = int(self.state.pop("own_sum"))
            _require(own_sum == _sum_arrays(self.state), "its checksum is another")
            run, sums = str(self.state.pop("run")), self.state.pop("sums").tolist()
        with told(self.path / "run.json"):
            _require(
                sums[0] == sum_of_json,
                "its checksum is another"
                if run == self.description.get("id")
                else f"it is not that of the run {run}, to which state.npz belongs",
            )
        return int(self.state["rows"]), sums[1], sums[2]

    @classmethod
    def create(
        cls,
        path: Path,
        description: dict[str, Any],
        setup: dict[str, NDArray[Any]],
        t: Array,
        state: dict[str, Array],
    ) -> Store:
        """New files under `path`, which must not exist or be an empty directory."""
        refuse_existing(path)
        if path.is_symlink():
            path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        run = uuid.uuid4().hex
        building = path.with_name(f".polhode-{run}")  # no part of a name that may be long already
        building.mkdir()
        try:
            for name, row in (("m", state["m"]), ("q", state["q"])):
                rows = npy.open_memmap(
                    building / f"{name}.npy", "w+", np.float64, shape=(len(t), *row.shape)
                )
                _reserve(building / f"{name}.npy", rows)
                del rows
            _write(building / "t.npy", lambda file: np.save(file, t, allow_pickle=False))
            _write(building / "setup.npz", lambda file: np.savez(file, **setup))  # type: ignore[arg-type]
            sums = {name: _sum_file(building / name) for name in ("setup.npz", "t.npy")}
            head = {"format": FORMAT, "version": VERSION, "id": run, "sums": sums}
            text = json.dumps({**head, **description}, indent=1).encode()
            _write(building / "run.json", lambda file: file.write(text))
            _write_state(building, 0, 0, state, run, (zlib.crc32(text), 0, 0))
            if path.exists():
                shutil.copymode(path, building)
            _rename(building, path)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        _sync_directory(path.parent)
        return cls(path, "r+")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock; the arrays stay valid."""
        if self._lock is not None:
            self._lock.close()

    def count(self, rows: int) -> None:
        """Add rows that are filled, and no longer change, to the checksums."""
        if self._sums is not None:
            at, m, q = self._sums
            self._sums = rows, _sum_rows(self.m, at, rows, m), _sum_rows(self.q, at, rows, q)

    def commit(self, step: int, rows: int, state: dict[str, Array]) -> None:
        """Count `rows` rows as saved; the run continues from `state`, after `step` steps."""
        begun = time.perf_counter()
        self.count(rows)
        self.m.flush()
        self.q.flush()
        if self._sums is None:
            _write_state(self.path, step, rows, state)
        else:
            sums = (self._sum_of_json, *self._sums[1:])
            _write_state(self.path, step, rows, state, self.description["id"], sums)
        self.step, self.rows = step, rows
        self._committed = time.perf_counter()
        self._wait = max(COMMIT_AFTER, COMMIT_SHARE * (self._committed - begun))

    def due(self) -> bool:
        """True if a commit is due: commits take at most a twentieth of a run."""
        return time.perf_counter() - self._committed >= self._wait


def is_free(path: Path) -> bool:
    """Whether a new run may have this path: nothing is there, or an empty directory."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def refuse_existing(path: Path) -> None:
    """Raise an error if anything exists at the path: a run overwrites nothing."""
    if path.is_dir() and is_free(path):
        if path.samefile(Path.cwd()):
            raise ValueError(
                f"save_to: {str(path)!r} is the working directory, which a new one would replace: "
                "name a directory in it"
            )
        return
    if path.exists() or path.is_symlink():
        raise _exists(path)


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(
        f"save_to: {str(path)!r} exists; polhode.resume goes on with a run that is there, a new "
        "one needs a new name"
    )


def _rename(building: Path, path: Path) -> None:
    try:
        building.rename(path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):  # it exists by now
            raise _exists(path) from None
        raise


def as_path(path: str | os.PathLike[str]) -> Path:
    """The `save_to` or `path` argument, absolute: a run may change the working directory."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"a path must be a string or a Path, not {type(path).__name__}")
    if not name:
        raise ValueError("a path must not be empty")
    return Path(name).absolute()


def _lock(path: Path) -> BinaryIO:
    """Open run.json and lock it, so that no other process continues this run until it is closed."""
    with told(path):
        file = path.open("r+b")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise BlockingIOError(
            error.errno,
            "another process or thread is integrating the run in this directory",
            str(path.parent),
        ) from None
    except OSError:  # a file system without locks
        pass
    return file


# Files -----------------------------------------------------------------------------------------


def _require(fits: bool, why: str) -> None:
    if not fits:
        raise ValueError(why)


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn every error in reading a file into a ValueError that names the file."""
    try:
        yield
    except FileNotFoundError:
        if not path.parent.exists():
            raise
        raise ValueError(
            f"{str(path.parent)!r} holds no integration of polhode: it has no {path.name}"
        ) from None
    except PermissionError:
        raise
    except NotADirectoryError:
        raise ValueError(
            f"{str(path.parent)!r} is no directory, as integrate(save_to=...) writes one"
        ) from None
    except Exception as error:
        raise ValueError(
            f"{str(path)!r} is damaged or was not written by polhode: "
            f"{str(error) or type(error).__name__}"
        ) from error


def _open(path: Path) -> BinaryIO:
    """Open a file for reading, but only a regular file: opening a pipe would wait."""
    _require(stat.S_ISREG(path.stat().st_mode), "it is no file")
    return path.open("rb")


def _read_json(path: Path) -> tuple[bytes, dict[str, Any]]:
    with told(path), _open(path) as file:
        text = file.read()
        content = json.loads(text.decode())
        _require(isinstance(content, dict) and content.get("format") == FORMAT, "another format")
        _require(
            content["version"] in range(1, VERSION + 1),
            f"it is of version {content['version']}, this polhode reads versions up to {VERSION}",
        )
        return text, dict(content)


def _read_npz(path: Path) -> dict[str, NDArray[Any]]:
    with told(path), _open(path) as file, zipfile.ZipFile(file) as archive:
        # Each array is read completely, so that the checksums of the archive are compared.
        arrays = {
            name.removesuffix(".npy"): io.BytesIO(archive.read(name)) for name in archive.namelist()
        }
        return {name: npy.read_array(part, allow_pickle=False) for name, part in arrays.items()}


def _open_rows(path: Path, mode: Any) -> Any:
    with told(path):
        with _open(path) as file:
            size = path.stat().st_size
            read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            shape, fortran, dtype = read[npy.read_magic(file)](file)
            needed = file.tell() + dtype.itemsize * math.prod(shape)
        _require(dtype == np.float64 and dtype.isnative, f"it holds {dtype}")
        _require(not fortran or len(shape) < 2, "its order is that of Fortran")
        _require(
            0 <= needed <= size and min(shape, default=0) >= 0,
            f"it has {size} bytes, the shape {shape} needs {needed}",
        )
    return npy.open_memmap(path, mode)


def _write(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file that is complete or does not exist, even if the machine stops."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _write_state(
    path: Path,
    step: int,
    rows: int,
    state: dict[str, Array],
    run: str | None = None,
    sums: Sequence[int] = (),
) -> None:
    """The contents of state.npz; without `run`, those of version 1."""
    arrays: dict[str, Any] = {"step": np.int64(step), "rows": np.int64(rows), **state}
    if run is not None:
        arrays |= {"run": np.str_(run), "sums": np.array(sums, np.uint32)}
        arrays["own_sum"] = np.uint32(_sum_arrays(arrays))
    _write(path / "state.npz", lambda file: np.savez(file, **arrays))


def _sum_arrays(arrays: dict[str, Any]) -> int:
    total = 0
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.data, total)
    return total


def _sum_file(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while piece := file.read(2**16):
            total = zlib.crc32(piece, total)
    return total


def _sum_rows(rows: Array, first: int, end: int, total: int = 0) -> int:
    """The checksum of some rows, continued from that of the rows before."""
    step = max(1, PIECE // max(8, rows[:1].nbytes))
    for k in range(first, end, step):
        total = zlib.crc32(rows[k : min(k + step, end)].data, total)
    return total


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems do not support it
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _reserve(path: Path, rows: Any) -> None:
    """Reserve the disk space now: writing to a mapped file on a full disk kills the process."""
    size = path.stat().st_size
    if not hasattr(os, "posix_fallocate") or rows.size == 0:
        return
    with path.open("r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                error.filename = str(path)
                raise


def describe(run: Run) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The contents of run.json and setup.npz for a run that has not begun."""
    torque, arrays = describe_torques(run.given)
    setup: dict[str, NDArray[Any]] = {"inertia": run.inertia, "h": run.h, **arrays}
    if run.frame is not None:
        moments, axes, tensor = run.frame.body.__getstate__()
        setup |= {"moments": moments, "axes": axes, "tensor": tensor}
        setup |= {"m0": run.frame.m0, "principal0": run.frame.principal0}
    description = {
        "polhode": _core.build["version"],
        "isa": _core.build["isa"],
        "method": method_name(run.row),
        "options": [x.tolist() if isinstance(x, np.ndarray) else x for x in run.options],
        "splitting": describe_splitting(run.scheme),
        "t0": run.t0,
        "n_steps": run.count,
        "save_every": run.every,
        "threads": run.threads,
        "torque": torque,
        "own_axes": run.frame is not None,
        "start": _sum_arrays(run.state()),
    }
    return description, setup


def new_store(run: Run, t: Array, save_to: str | os.PathLike[str]) -> Store:
    """The files of a run that has not begun."""
    return Store.create(as_path(save_to), *describe(run), t, run.state())

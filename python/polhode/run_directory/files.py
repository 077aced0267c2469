"""The files of a run: how they are written, read, locked and checked.

docs/run_format.md describes them. The core writes the rows of m.npy and q.npy, which are memmaps;
this module writes the other files. While a run writes, each row is added to the checksums once.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import stat
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from polhode._arrays import Array
from polhode.run_directory.lock import lock, unlock

FORMAT = "polhode integration"
VERSION = 5
#: The files of rows beside t.npy, as far as a run has them.
ROWS = ("m", "q", "x", "p", "s", "chains")

#: The least time from one commit to the next: in seconds, and as a multiple of the time of a
#: commit.
COMMIT_AFTER = 0.2
COMMIT_SHARE = 20.0
#: Bytes that are added to a checksum between two checks for Ctrl-C.
PIECE = 2**24

Arrays = dict[str, NDArray[Any]]


class RunFiles:
    """One directory of files, open for reading or, if the run is not finished, for `writing`.

    The directory is then locked until `close`, or the end of the ``with`` block. `content` is that
    of run.json, `setup` and `state` are the arrays of setup.npz and state.npz at the last commit,
    `t`, `m` and `q` all rows, of which `rows` are saved; `saved` are m, q
    and, as far as the run has them, x, p, s and chains.
    """

    def __init__(self, path: Path, write: bool, lengthens: bool = False) -> None:
        self.path = path
        self._lock: BinaryIO | None = None
        self._read_state()
        self.t = _open_rows(path / "t.npy", "r")
        self.writing = write and (lengthens or not self._finished())
        try:
            if self.writing:
                locked = self._take_lock()
                self._read_state()
                if locked:
                    for part in path.glob(".*.part"):  # of commits that were killed
                        with contextlib.suppress(OSError):
                            part.unlink()
            self._read_rest()
        except BaseException:
            self.close()
            raise
        self._committed = time.perf_counter()
        self._wait = 0.0

    def _read_state(self) -> None:
        text, self.content = _read_json(self.path / "run.json")
        self.state = _read_npz(self.path / "state.npz")
        with naming_file(self.path / "state.npz"):
            sums = self.state.pop("sums")
            self._rows = [name for name in ROWS if name in self.state]
            #: In the order of the checksums.
            self._names = ["run.json", "setup.npz", "t.npy", *(f"{k}.npy" for k in self._rows)]
            require(
                sums.shape == (len(self._names) + 1,) and sums.dtype == np.uint32, "wrong checksums"
            )
            self._sums: list[int] = sums.tolist()
            require(_sum_arrays(self.state) == self._sums[-1], "checksum mismatch")
            #: Of run.json and t.npy while the run is made longer: they may be there already.
            self._coming = self.state.pop("coming", np.zeros(2, np.uint32)).tolist()
            self.rows = int(self.state["rows"])
        self._check_sum(0, zlib.crc32(text), coming=self._coming[0])

    def _finished(self) -> bool:
        """Whether nothing is to be done, also because events have ended all bodies."""
        ended = self.state.get("ended", np.empty(0))
        if ended.size and not np.isnan(ended).any():
            return True
        return self.rows == len(self.t) and int(self.state["step"]) == self.content["n_steps"]

    def _read_rest(self) -> None:
        path, mode = self.path, "r+" if self.writing else "r"
        self._check_sum(1, _sum_file(path / "setup.npz"))
        self._check_sum(2, _sum_file(path / "t.npy"), coming=self._coming[1])
        self.setup = _read_npz(path / "setup.npz")
        self.saved = [_open_rows(path / f"{name}.npy", mode) for name in self._rows]
        with naming_file(path / "state.npz"):
            rows = [len(each) if each.ndim else -1 for each in (self.t, *self.saved)]
            fits = rows[0] == min(rows) and 0 <= self.rows <= rows[0]
            require(fits, "it does not fit t.npy, m.npy and q.npy")
        for k, each in enumerate(self.saved, 3):
            self._check_sum(k, _sum_rows(each, 0, self.rows), f" of the first {self.rows} rows")

    def _check_sum(self, k: int, value: int, of: str = "", coming: int = 0) -> None:
        with naming_file(self.path / self._names[k]):
            known = value == self._sums[k] or value == coming != 0
            require(known, f"checksum mismatch{of}, or state.npz of another run")
        self._sums[k] = value

    def shorten(self, rows: int, steps: int) -> None:
        """Use this number of rows; there may be more if the run was about to be made longer."""
        fits = rows == len(self.t) or (any(self._coming) and rows < len(self.t))
        require(fits, f"{len(self.t)} rows for {steps} steps")
        self.t, self.saved = self.t[:rows], [each[:rows] for each in self.saved]

    def lengthen(self, content: dict[str, Any], t: Array, state: Arrays) -> None:
        """Make room for the times t; if this is killed, state.npz knows both runs."""
        rows = int(state["rows"])
        for name, old in zip(self._rows, self.saved, strict=True):
            _enlarge(self.path / f"{name}.npy", (len(t), *old.shape[1:]))
        self.saved = [_open_rows(self.path / f"{name}.npy", "r+") for name in self._rows]
        np.save(file_of_t := io.BytesIO(), t, allow_pickle=False)
        text, rows_of_t = _json(content), file_of_t.getvalue()
        self._sums[3:-1] = (_sum_rows(saved, 0, rows) for saved in self.saved)
        coming = [zlib.crc32(text), zlib.crc32(rows_of_t)]
        both = {**state, "coming": np.array(coming, np.uint32)}
        _write_state(self.path, both, self._sums[:-1])
        write_file(self.path / "t.npy", lambda file: file.write(rows_of_t))
        write_file(self.path / "run.json", lambda file: file.write(text))
        self.close()
        self._take_lock()  # run.json was replaced
        self._sums[0], self._sums[2] = coming
        self.t, self.rows = _open_rows(self.path / "t.npy", "r"), rows

    @classmethod
    def create(
        cls, path: Path, content: dict[str, Any], setup: Arrays, t: Array, state: Arrays
    ) -> Self:
        """New files under `path`, which must not exist or be an empty directory."""
        import shutil  # here, as zipfile below: their import takes 7 ms

        if not is_free(path):
            raise _exists(path)
        if path.is_dir() and path.samefile(Path.cwd()):
            raise ValueError(
                f"save_to: {str(path)!r} is the working directory, which a new one would replace: "
                "name a directory in it"
            )
        if path.is_symlink():
            path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        building = path.with_name(f".polhode-{uuid.uuid4().hex}")  # `path` may be long already
        building.mkdir()
        try:
            names = [name for name in ROWS if name in state]
            for name in names:
                rows = npy.open_memmap(
                    building / f"{name}.npy", "w+", np.float64, shape=(len(t), *state[name].shape)
                )
                _reserve(building / f"{name}.npy", rows)
                del rows
            write_file(building / "t.npy", lambda file: np.save(file, t, allow_pickle=False))
            write_file(building / "setup.npz", lambda file: np.savez(file, **setup))  # type: ignore[arg-type]
            text = _json(content)
            write_file(building / "run.json", lambda file: file.write(text))
            sums = [zlib.crc32(text), *(_sum_file(building / k) for k in ("setup.npz", "t.npy"))]
            sums += [0] * len(names)
            _write_state(building, state, sums)
            if path.exists():
                shutil.copymode(path, building)
            building.rename(path)
        except BaseException as error:
            shutil.rmtree(building, ignore_errors=True)
            meanwhile = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
            if isinstance(error, OSError) and error.errno in meanwhile:
                raise _exists(path) from None
            raise
        files = cls(path, True)  # at once: another process that sees the run may take the lock
        _sync_directory(path.parent)
        return files

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _take_lock(self) -> bool:
        """Lock run.json until it is closed; whether the file system has locks."""
        path = self.path / "run.json"
        with naming_file(path):
            self._lock = _open(path, "r+b")
        return lock(self._lock, path)

    def close(self) -> None:
        """Release the lock; the arrays stay valid."""
        if self._lock is not None and not self._lock.closed:
            unlock(self._lock)

    def count(self, rows: int) -> None:
        """Add rows that are filled, and no longer change, to the checksums."""
        each = enumerate(self.saved, 3)
        sums = [_sum_rows(saved, self.rows, rows, self._sums[k]) for k, saved in each]
        # Together: after Ctrl-C, sums and rows belong to each other.
        self._sums[3:-1], self.rows = sums, rows

    def write_state(self, state: Callable[[], Arrays]) -> None:
        """Record the counted rows, and this state, from which the run continues."""
        begun = time.perf_counter()
        for each in self.saved:
            each.flush()
        _write_state(self.path, state(), self._sums[:-1])
        self._committed = time.perf_counter()
        self._wait = max(COMMIT_AFTER, COMMIT_SHARE * (self._committed - begun))

    def due(self) -> bool:
        """True if a commit is due: commits take at most a twentieth of a run."""
        return time.perf_counter() - self._committed >= self._wait


# Paths and the lock ------------------------------------------------------------------------------


def as_path(path: str | os.PathLike[str]) -> Path:
    """The `save_to` or `path` argument, absolute: a run may change the working directory."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"a path must be a string or a Path, not {type(path).__name__}")
    if not name:
        raise ValueError("a path must not be empty")
    return Path(name).absolute()


def is_free(path: Path) -> bool:
    """Whether a new run may have this path: nothing is there, or an empty directory."""
    if path.is_dir():
        return not any(path.iterdir())
    return not (path.exists() or path.is_symlink())


def _exists(path: Path) -> FileExistsError:
    how = "use polhode.resume to continue a run that is there, or choose another directory"
    return FileExistsError(f"save_to: {str(path)!r} exists; {how}")


# Reading and writing -----------------------------------------------------------------------------


def require(fits: bool, why: str) -> None:
    """Raise ValueError unless it fits."""
    if not fits:
        raise ValueError(why)


@contextlib.contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Turn every error in reading a file into a ValueError that names the file."""
    try:
        yield
    except FileNotFoundError:
        if not path.parent.exists():
            raise
        text = f"{str(path.parent)!r} holds no integration of polhode: it has no {path.name}"
        raise ValueError(text) from None
    except PermissionError:
        raise
    except NotADirectoryError:
        raise ValueError(f"{str(path.parent)!r} is not a directory") from None
    except Exception as error:
        why = str(error) or type(error).__name__
        text = f"{str(path)!r} is damaged or was not written by polhode: {why}"
        raise ValueError(text) from error


def _open(path: Path, mode: str = "rb") -> BinaryIO:
    """Open a regular file.

    A file that is written must be in the directory under this name only: through a link, which a
    directory of a stranger may have, another file would be changed.
    """
    only = "+" in mode
    require(not (only and path.is_symlink()), "it is a symbolic link, and would be written to")
    # Without blocking, as opening a pipe would.
    flags = getattr(os, "O_NONBLOCK", 0) | (getattr(os, "O_NOFOLLOW", 0) if only else 0)
    file = open(path, mode, buffering=0, opener=lambda name, given: os.open(name, given | flags))  # noqa: SIM115
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or (only and status.st_nlink > 1):
        file.close()
        raise ValueError("it is not a regular file, or has other names (hard links)")
    return file  # type: ignore[return-value]


def _read_json(path: Path) -> tuple[bytes, dict[str, Any]]:
    with naming_file(path), _open(path) as file:
        text = file.read()
        content = json.loads(text.decode())
        require(isinstance(content, dict) and content.get("format") == FORMAT, "another format")
        version = content["version"]
        require(version == VERSION, f"version {version}, this polhode reads version {VERSION}")
        return text, dict(content)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps({"format": FORMAT, "version": VERSION, **content}, indent=1).encode()


def _read_npz(path: Path) -> Arrays:
    import zipfile

    with naming_file(path), _open(path) as file, zipfile.ZipFile(file) as archive:
        stored = all(part.compress_type == zipfile.ZIP_STORED for part in archive.infolist())
        require(stored, "it is compressed")
        # Each array is read completely, so that the checksums of the archive are compared.
        parts = {name: io.BytesIO(archive.read(name)) for name in archive.namelist()}
        return {
            name.removesuffix(".npy"): npy.read_array(part, allow_pickle=False)
            for name, part in parts.items()
        }


def _open_rows(path: Path, mode: Any) -> Any:
    with naming_file(path), _open(path, f"{mode}b".replace("+b", "b+")) as file:
        size = os.fstat(file.fileno()).st_size
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, fortran, dtype = read[npy.read_magic(file)](file)
        at = file.tell()
        needed = at + dtype.itemsize * math.prod(shape)
        require(dtype == np.float64 and dtype.isnative, f"it holds {dtype}")
        require(not fortran or len(shape) < 2, "its order is that of Fortran")
        fits = 0 <= needed <= size and min(shape, default=0) >= 0
        require(fits, f"it has {size} bytes, the shape {shape} needs {needed}")
        return np.memmap(file, np.float64, mode, offset=at, shape=shape)


def _enlarge(path: Path, shape: tuple[int, ...]) -> None:
    """Give a file of rows this shape, with more rows, which are zero."""
    with naming_file(path), _open(path, "r+b") as file:
        version = npy.read_magic(file)
        require(version == (1, 0), f"version {version} of the format cannot be made longer")
        _, _, dtype = npy.read_array_header_1_0(file)
        at, header = file.tell(), io.BytesIO()
        facts = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(header, facts)
        require(len(header.getvalue()) == at, "its header has no room for more rows")
        file.truncate(at + 8 * math.prod(shape))
        _reserve(path, np.empty(1))
        file.seek(0)
        file.write(header.getvalue())
        os.fsync(file.fileno())


def write_file(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file that is complete or does not exist, even if the machine stops."""
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _write_state(path: Path, state: Arrays, sums: list[int]) -> None:
    whole = np.array([*sums, _sum_arrays(state)], np.uint32)
    write_file(path / "state.npz", lambda file: np.savez(file, sums=whole, **state))  # type: ignore[arg-type]


def _sum_arrays(arrays: Arrays) -> int:
    total = 0
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.data, total)
    return total


def _sum_file(path: Path) -> int:
    total = 0
    with naming_file(path), _open(path) as file:
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

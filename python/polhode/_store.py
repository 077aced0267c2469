"""The files of an integration that `integrate(save_to=...)` writes and `resume` reads.

A directory:

===========  ==================================================================================
run.json     what is integrated: method, options, splitting, steps, models by name
setup.npz    the numbers of it: inertia, steps, parameters of models, axes of a `RigidBody`
t.npy        times of all saves
m.npy q.npy  momenta and attitudes of all saves; rows that have not been reached are zero
state.npz    how many steps are done and rows are saved, and the state from which to go on
===========  ==================================================================================

It appears under its name when all of it is there.  From then on only rows that `state.npz` does not
count yet are written to; when they lie on the disk, a new `state.npz` takes the place of the old
one in a single renaming.  So whenever the run is killed, what is counted is there.

No file holds objects of Python (pickles), and none is read.
"""

from __future__ import annotations

import contextlib
import errno
import inspect
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from polhode import torques
from polhode._arrays import Array
from polhode._splittings import Splitting
from polhode.torques import Model, Torque

FORMAT = "polhode integration"
VERSION = 1

#: Seconds from one commit to the next, at least, and as a multiple of what a commit takes.
COMMIT_AFTER = 0.2
COMMIT_SHARE = 20.0


class Store:
    """One directory of files, open for writing or reading.

    Attributes
    ----------
    description : dict
        What is in run.json.
    setup : dict of ndarray
        What is in setup.npz.
    t, m, q : memmap
        All rows.
    step, rows : int
        Steps done and rows saved at the last commit.
    state : dict of ndarray
        The state after `step` steps: "m", "q" and whatever else the method carries along.
    """

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        self.description = _read_json(path / "run.json")
        self.setup = _read_npz(path / "setup.npz")
        self.t = _open_rows(path / "t.npy", "r")
        self.m = _open_rows(path / "m.npy", mode)
        self.q = _open_rows(path / "q.npy", mode)
        self.state = _read_npz(path / "state.npz")
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
        self._committed = time.perf_counter()
        self._wait = 0.0

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
        path.parent.mkdir(parents=True, exist_ok=True)
        building = path.with_name(f".{path.name}.{os.getpid()}.new")
        building.mkdir()
        try:
            for name, row in (("m", state["m"]), ("q", state["q"])):
                rows = open_memmap(
                    building / f"{name}.npy", "w+", np.float64, shape=(len(t), *row.shape)
                )
                _reserve(building / f"{name}.npy", rows)
                del rows
            _write(building / "t.npy", lambda file: np.save(file, t, allow_pickle=False))
            _write(building / "setup.npz", lambda file: _write_arrays(file, setup))
            _write_state(building, 0, 0, state)
            text = json.dumps({"format": FORMAT, "version": VERSION, **description}, indent=1)
            _write(building / "run.json", lambda file: file.write(text.encode()))
            building.rename(path)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        _sync_directory(path.parent)
        return cls(path, "r+")

    def commit(self, step: int, rows: int, state: dict[str, Array]) -> None:
        """Count `rows` rows as saved; `state`, after `step` steps, is what to go on from."""
        begun = time.perf_counter()
        self.m.flush()
        self.q.flush()
        _write_state(self.path, step, rows, state)
        self.step, self.rows = step, rows
        self._committed = time.perf_counter()
        self._wait = max(COMMIT_AFTER, COMMIT_SHARE * (self._committed - begun))

    def due(self) -> bool:
        """Whether it is time for a commit: they take a twentieth of a run at most."""
        return time.perf_counter() - self._committed >= self._wait


def refuse_existing(path: Path) -> None:
    """A run never writes over another, nor over anything else."""
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        raise FileExistsError(
            f"save_to: {str(path)!r} exists; polhode.resume goes on with a run that is there, a "
            "new one needs a new name"
        )


def as_path(path: str | os.PathLike[str]) -> Path:
    """The `save_to` or `path` argument, absolute: a run may change the working directory."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"a path must be a string or a Path, not {type(path).__name__}")
    return Path(name).absolute()


# Files -----------------------------------------------------------------------------------------


def _require(fits: bool, why: str) -> None:
    if not fits:
        raise ValueError(why)


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Whatever is wrong with a file is a ValueError that names it."""
    try:
        yield
    except FileNotFoundError:
        if not path.parent.exists():
            raise
        raise ValueError(
            f"{str(path.parent)!r} holds no integration of polhode: it has no {path.name}"
        ) from None
    except (PermissionError, IsADirectoryError):
        raise
    except NotADirectoryError:
        raise ValueError(
            f"{str(path.parent)!r} is no directory, as integrate(save_to=...) writes one"
        ) from None
    except (
        AttributeError,
        EOFError,
        KeyError,
        IndexError,
        OSError,
        SyntaxError,
        TypeError,
        UnicodeError,
        ValueError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(
            f"{str(path)!r} is damaged or was not written by polhode: {error}"
        ) from error


def _read_json(path: Path) -> dict[str, Any]:
    with told(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        _require(isinstance(content, dict) and content.get("format") == FORMAT, "another format")
        _require(
            content["version"] == VERSION,
            f"it is of version {content['version']}, this polhode reads version {VERSION}",
        )
        return dict(content)


def _read_npz(path: Path) -> dict[str, NDArray[Any]]:
    with told(path), path.open("rb") as file:
        _require(file.read(2) == b"PK", "no archive of NumPy arrays")
        file.seek(0)
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}


def _open_rows(path: Path, mode: Any) -> Any:
    with told(path):
        rows = open_memmap(path, "r")  # a file that is too short would be lengthened by "r+"
        _require(rows.dtype == np.float64 and rows.dtype.isnative, f"it holds {rows.dtype}")
        _require(rows.flags.c_contiguous, "its order is that of Fortran")
        return rows if mode == "r" else open_memmap(path, mode)


def _write(path: Path, write: Callable[[Any], Any]) -> None:
    """A file that is there whole or not at all, even if the machine stops."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
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


def _write_state(path: Path, step: int, rows: int, state: dict[str, Array]) -> None:
    arrays = {"step": np.int64(step), "rows": np.int64(rows), **state}
    _write(path / "state.npz", lambda file: _write_arrays(file, arrays))


def _write_arrays(file: Any, arrays: dict[str, Any]) -> None:
    np.savez(file, **arrays)


def _sync_directory(path: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems have no such thing
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _reserve(path: Path, rows: Any) -> None:
    """Take the room on the disk now: writing to a mapped file on a full disk kills the process."""
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


# Splittings and torques ------------------------------------------------------------------------


def describe_splitting(scheme: Splitting) -> dict[str, Any]:
    """A splitting as JSON; floats keep all their digits."""
    return asdict(scheme)


def read_splitting(content: dict[str, Any]) -> Splitting:
    """The splitting that `describe_splitting` described."""
    known = {field.name for field in fields(Splitting)}
    values = {name: value for name, value in content.items() if name in known}
    for name in ("invariants", "generalised_order"):
        values[name] = tuple(values[name])
    values["stages"] = tuple((str(kind), float(b), float(c)) for kind, b, c in values["stages"])
    return Splitting(**values)


class Absent(Torque):
    """In place of a torque of one's own that `Trajectory.load` or `resume` was not given."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._function = content["function"]
        self.depends_on_m = bool(content["depends_on_m"])
        self.has_potential = bool(content["has_potential"])

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """There is none."""
        raise self.missing()

    def potential(self, t: float, attitude: Array) -> Array:
        """There is none."""
        raise self.missing()

    def missing(self) -> ValueError:
        """What to say where it is needed."""
        return ValueError(
            f"the torque {self._function} is no model of polhode as it was made, so it was not "
            "stored: give it once more, torque=..."
        )

    def __repr__(self) -> str:
        return f"<{self._function}, not stored>"


def _arguments(model: Model) -> dict[str, Any] | None:
    """What a model's constructor is called with; None where it cannot be stored.

    A model keeps each argument of its constructor as an attribute of that name.
    """
    kind = type(model)
    if getattr(torques, kind.__name__, None) is not kind:
        return None  # a class of the user's
    arguments = {}
    for name in inspect.signature(kind).parameters:
        value = getattr(model, name, None)
        if not hasattr(model, name) or (np.asarray(value).dtype == object and value is not None):
            return None
        arguments[name] = value
    with contextlib.suppress(TypeError, ValueError):
        if np.array_equal(kind(**arguments).parameters, model.parameters):
            return arguments
    return None


def describe_torques(terms: Sequence[Torque]) -> tuple[list[Any], dict[str, NDArray[Any]]]:
    """Terms of a torque as JSON, and the arrays that belong to them.

    A model is its class and the arguments of its constructor.  Anything else is only named: it has
    to be given once more.
    """
    content: list[Any] = []
    arrays: dict[str, NDArray[Any]] = {}
    for i, term in enumerate(terms):
        arguments = _arguments(term) if isinstance(term, Model) else None
        if arguments is None:
            content.append(
                {
                    "function": repr(term),
                    "depends_on_m": bool(term.depends_on_m),
                    "has_potential": bool(term.has_potential),
                }
            )
            continue
        plain = {}
        for name, value in arguments.items():
            if value is None or isinstance(value, (bool, int, float, str)):
                plain[name] = value
            else:
                arrays[f"torque{i}.{name}"] = np.asarray(value)
        content.append({"model": type(term).__name__, "arguments": plain})
        arrays[f"torque{i}"] = term.parameters  # type: ignore[attr-defined]
    return content, arrays


def read_torques(content: list[Any], arrays: dict[str, NDArray[Any]]) -> list[Torque | None]:
    """The terms that `describe_torques` described; None for what was not stored."""
    return [
        None if "function" in item else _model(i, item, arrays) for i, item in enumerate(content)
    ]


def fill_in(
    path: Path, content: list[Any], stored: list[Torque | None], given: Sequence[Torque]
) -> list[Torque]:
    """All terms: what was not stored is taken from `given`, or `Absent` takes the place.

    `given` is the whole torque, or what was not stored of it.
    """
    missing = stored.count(None)
    if given and len(given) == len(stored) != missing:
        for i, (old, new) in enumerate(zip(stored, given, strict=True)):
            if old is not None and not _same_model(old, new):
                raise ValueError(f"torque[{i}] = {new!r}, but the run in {str(path)!r} has {old!r}")
        given = [new for old, new in zip(stored, given, strict=True) if old is None]
    elif given and len(given) != missing:
        raise ValueError(
            f"torque has {len(given)} terms, but the run in {str(path)!r} has {len(stored)}, of "
            f"which {missing} are to be given"
        )
    own = iter(given)
    terms: list[Torque] = []
    for item, kept in zip(content, stored, strict=True):
        if kept is not None:
            terms.append(kept)
            continue
        new = next(own, Absent(item))
        if bool(new.depends_on_m) != item["depends_on_m"]:
            raise ValueError(
                f"{new!r} has depends_on_m = {new.depends_on_m}, but {item['function']} of the run "
                f"in {str(path)!r} had {item['depends_on_m']}"
            )
        terms.append(new)
    return terms


def _model(i: int, item: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    kind = getattr(torques, item["model"], None)
    if not (isinstance(kind, type) and issubclass(kind, Model)):
        raise ValueError(f"there is no torque model {item['model']!r}")
    start = f"torque{i}."
    large: dict[str, Any] = {
        k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)
    }
    arguments: dict[str, Any] = {**item["arguments"], **large}
    model: Model = kind(**arguments)
    if not np.array_equal(model.parameters, arrays[f"torque{i}"]):
        raise ValueError(f"the parameters of torque[{i}], {item['model']}, are not those stored")
    return model


def _same_model(old: Torque, new: Torque) -> bool:
    return type(old) is type(new) and np.array_equal(
        old.parameters,  # type: ignore[attr-defined]
        new.parameters,  # type: ignore[attr-defined]
    )

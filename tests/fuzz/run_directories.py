"""Damaged run directories, seeded: a ValueError that names a file, or the bits of the sound run.

python tests/fuzz/run_directories.py --count N --seed S

Case k of seed S is the same in every call with these numbers.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
FILES = ["m.npy", "q.npy", "run.json", "setup.npz", "state.npz", "t.npy"]
STEPS = 12


class StopError(Exception):
    pass


def pull(t: float, q: Array) -> Array:
    return 0.3 * np.cos(t) * q[..., 1:]


def _top(m0: Any) -> Callable[..., ph.Trajectory]:
    return lambda **options: ph.integrate(
        [1.0, 1.5, 2.2], m0, [1, 0, 0, 0], 0.1, STEPS, save_every=2, **options
    )


def _body(**options: Any) -> ph.Trajectory:
    body = ph.RigidBody([[4.5, -1.0, 0.3], [-1.0, 5.0, 0.2], [0.3, 0.2, 2.5]])
    return body.integrate(np.ones((2, 3)), [1, 0, 0, 0], 0.1, STEPS, **options)


def _table(**options: Any) -> ph.Trajectory:
    return ph.integrate(
        [1.0, 1.5, 2.2],
        [1, 2, 2],
        np.eye(3),
        0.1,
        STEPS,
        method="taylor2",
        splitting=None,
        **options,
    )


TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
SAMPLES = ph.torques.Prescribed(np.ones((3, 3)) * [[1], [0], [2]], times=[0, 0.5, 2])
#: How a run is made, its torque, what of it resume is given, the step at which it stopped.
RUNS: dict[str, tuple[Callable[..., ph.Trajectory], Any, Any, int]] = {
    "top": (_top([[0.3, 0.5, 0.8], [1, 2, 2]]), TOP, None, 6),
    "the same, further": (_top([[0.3, 0.5, 0.8], [1, 2, 2]]), TOP, None, 10),
    "other": (_top([[0.3, 0.5, 0.9], [2, 2, 1]]), TOP, None, 6),
    "compensated": (
        lambda **o: _top([[0.3, 0.5, 0.8], [1, 2, 2]])(compensated=True, **o), TOP, None, 6
    ),
    "body": (_body, pull, pull, 5),
    "table": (_table, SAMPLES, None, 7),
}  # fmt: skip


def make(base: Path) -> dict[str, tuple[Path, Any, ph.Trajectory]]:
    """Runs that stopped, what resume is given, and whole runs."""

    def stop_at(last: int) -> Any:
        def callback(step: int, *_: Any) -> None:
            if step >= last:
                raise StopError

        return callback

    runs: dict[str, tuple[Path, Any, ph.Trajectory]] = {}
    for name, (run, torque, given, step) in RUNS.items():
        try:
            run(torque=torque, save_to=base / name, callback=stop_at(step))
        except StopError:
            runs[name] = base / name, given, run(torque=torque)
    return runs


# Damage ----------------------------------------------------------------------------------------


def _any(rng: np.random.Generator, path: Path) -> Path:
    return path / FILES[rng.integers(len(FILES))]


def flip(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """Some bits of a file."""
    file = _any(rng, path)
    content = np.frombuffer(file.read_bytes(), np.uint8).copy()
    for _k in range(rng.integers(1, 4)):
        content[rng.integers(len(content))] ^= np.uint8(1 << rng.integers(8))
    file.write_bytes(content.tobytes())
    return f"flipped bits of {file.name}"


def replace(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """A piece of a file by noise, zeros or another piece of it."""
    file = _any(rng, path)
    content = bytearray(file.read_bytes())
    size = int(rng.integers(1, 40))
    at = int(rng.integers(len(content)))
    start = int(rng.integers(len(content)))
    piece = [rng.bytes(size), bytes(size), bytes(content[start : start + size])][rng.integers(3)]
    content[at : at + size] = piece
    file.write_bytes(content)
    return f"replaced {size} bytes of {file.name} at {at}"


def truncate(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """A file cut off."""
    file = _any(rng, path)
    content = file.read_bytes()
    size = int(rng.integers(len(content)))
    file.write_bytes(content[:size])
    return f"cut {file.name} to {size} bytes"


def lengthen(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """A file with more behind it."""
    file = _any(rng, path)
    file.write_bytes(file.read_bytes() + rng.bytes(int(rng.integers(1, 200))))
    return f"lengthened {file.name}"


def drop(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """No file, or a directory in its place."""
    file = _any(rng, path)
    file.unlink()
    if rng.integers(2):
        file.mkdir()
    return f"removed {file.name}"


def swap(rng: np.random.Generator, path: Path, others: list[Path]) -> str:
    """Some files, but not all, of another run."""
    other = others[rng.integers(len(others))]
    names = [FILES[k] for k in rng.permutation(len(FILES))[: rng.integers(1, len(FILES))]]
    for name in names:
        shutil.copyfile(other / name, path / name)
    return f"took {names} of {other.name!r}"


def header(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """What the header of an array says, by text of the same length."""
    file = path / ["m.npy", "q.npy", "t.npy"][rng.integers(3)]
    content = file.read_bytes()
    end = content.index(b"\n")
    texts = [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 3), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-7, 2, 3), }",
        b"{'descr': '<f8', 'fortran_order': True, 'shape': (7, 2, 3), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (7, 2, 3), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (7, 2, 3), }",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (7,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (7L, 2L, 3L), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (),",
        b"(" * 60,
    ]
    text = texts[rng.integers(len(texts))]
    file.write_bytes(content[:10] + text.ljust(end - 10) + content[end:])
    return f"header of {file.name}: {text.decode()}"


def archive(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """An archive written anew with one array changed, or with one more or less."""
    file = path / ["setup.npz", "state.npz"][rng.integers(2)]
    arrays = dict(np.load(file))
    name = list(arrays)[rng.integers(len(arrays))]
    kind = rng.integers(5)
    value = arrays.pop(name)
    if kind == 1:
        arrays[f"{name}2"] = value
    elif kind == 2:
        arrays[name] = value.reshape(-1)[:1]
    elif kind == 3 and value.dtype.kind in "fiu":
        arrays[name] = value + np.ones((), value.dtype)
    elif kind == 4 and value.dtype.kind in "fiu":
        arrays[name] = value.astype(np.float32)
    np.savez(file, **arrays)
    return f"changed {name} of {file.name}, kind {kind}"


def edit(rng: np.random.Generator, path: Path, _: list[Path]) -> str:
    """A value or key of run.json."""
    file = path / "run.json"
    content = json.loads(file.read_text())
    place, key = content, None
    while isinstance(place, (dict, list)) and place:
        whole = place
        keys = list(whole) if isinstance(whole, dict) else list(range(len(whole)))
        key = keys[rng.integers(len(keys))]
        place = whole[key]
        if rng.integers(4) == 0:
            break
    values: list[Any] = [None, True, -1, 0, 3, 1e300, 2**70, "v2", "", [], {}, [[1.0]], 0.1]
    kind = rng.integers(4)
    if kind == 0:
        del whole[key]
    elif kind == 1 and isinstance(place, (int, float)):
        whole[key] = place + [1, -1, 1e-3][rng.integers(3)]
    else:
        whole[key] = values[rng.integers(len(values))]
    text = json.dumps(content, indent=1)
    file.write_text("[" * 200_000 if rng.integers(40) == 0 else text)
    return f"edited {key!r} of run.json"


DAMAGE = (flip, flip, replace, truncate, lengthen, drop, swap, swap, header, archive, edit, edit)


# Cases -----------------------------------------------------------------------------------------


def fault(
    path: Path,
    sound: dict[Any, tuple[Any, ph.Trajectory]],
    same_call: Callable[..., ph.Trajectory] | None = None,
) -> str | None:
    """What is wrong with how a damaged run is read and gone on with; None: nothing.

    `sound` has the torque and the whole run of each run: all files but one may be of another run.
    `same_call` goes on with the run in place of `resume`.
    """
    run = _id(path)
    given, whole = sound.get(run, (None, None))
    for read in (ph.Trajectory.load, same_call or ph.resume):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = read(path, given)
        except ValueError as error:
            other = read is same_call and f"the run in {str(path)!r}" in str(error)
            if not other and not any(name in str(error) for name in FILES):
                return f"{read.__name__} names no file: {error}"
            continue
        except Exception as error:
            return f"{read.__name__} gives {type(error).__name__}: {error}"
        if whole is None:
            return f"{read.__name__} takes files of no run"
        if read is not ph.Trajectory.load and len(got) != len(whole):
            return f"{read.__name__} gives {len(got)} states of {len(whole)}"
        for name in ("t", "m", "q"):
            a, b = getattr(got, name), getattr(whole, name)[: len(got)]
            if a.shape != b.shape or a.tobytes() != b.tobytes():
                return f"{read.__name__} gives another {name}"
    return None


def _id(path: Path) -> Any:
    """The settings of a run, by which it is known."""
    try:
        return (path / "run.json").read_bytes(), (path / "setup.npz").read_bytes()
    except OSError:
        return "damaged"


def faults(count: int, seed: int, base: Path) -> Iterator[str]:
    """What is wrong with any of the cases."""
    runs = make(base)
    sound = {_id(path): (given, whole) for path, given, whole in runs.values()}
    names = list(runs)
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        name = names[k % len(names)]
        path, _, _ = runs[name]
        work = base / "damaged"
        shutil.copytree(path, work)
        others = [other for other, _, _ in runs.values() if other != path]
        done = [DAMAGE[rng.integers(len(DAMAGE))](rng, work, others)]
        same_call = None
        if k % 3 == 2:
            run, torque = RUNS[name][:2]

            def same_call(path: Path, _: Any, run: Any = run, torque: Any = torque) -> Any:
                return run(torque=torque, save_to=path, resume=True)

        wrong = fault(work, sound, same_call)
        if wrong is not None:
            yield f"case {k} of seed {seed}, {name!r}, {done[0]}: {wrong}"
        shutil.rmtree(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    number = 0
    with tempfile.TemporaryDirectory() as base:
        for text in faults(arguments.count, arguments.seed, Path(base)):
            number += 1
            print(text, flush=True)
    print(f"{number} of {arguments.count} cases are wrong")
    raise SystemExit(number > 0)


if __name__ == "__main__":
    main()

"""The splitting and the torques of a run, as JSON and arrays of its files."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import torques
from polhode._arrays import Array
from polhode.integrators.splittings import Splitting
from polhode.run_directory.fingerprint import differences, fingerprint
from polhode.torques import Model, Torque
from polhode.torques._piecewise import Piecewise, is_piecewise


def describe_splitting(scheme: Splitting) -> dict[str, Any]:
    """A splitting as JSON; floats keep all their digits."""
    return asdict(scheme)


def read_splitting(content: dict[str, Any]) -> Splitting:
    """The splitting from the output of `describe_splitting`."""
    known = {field.name for field in fields(Splitting)}
    values = {name: value for name, value in content.items() if name in known}
    for name in ("invariants", "generalised_order"):
        values[name] = tuple(values[name])
    values["stages"] = tuple((str(kind), float(b), float(c)) for kind, b, c in values["stages"])
    return Splitting(**values)


class Absent(Torque):
    """The placeholder for a user-defined torque that `Trajectory.load` or `resume` did not get."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._function = content["function"]
        self.depends_on_m = bool(content["depends_on_m"])
        self.has_potential = bool(content["has_potential"])

    def torque(self, t: float, m: Array, attitude: Array) -> Array:
        """Raises ValueError."""
        raise self._missing()

    def potential(self, t: float, attitude: Array) -> Array:
        """Raises ValueError."""
        raise self._missing()

    def check_present(self) -> None:
        """Raises ValueError."""
        raise self._missing()

    def _missing(self) -> ValueError:
        return ValueError(
            f"the torque {self._function} is no model of polhode as it was made, so it was not "
            "stored: give it once more, torque=..."
        )

    def __repr__(self) -> str:
        return f"<{self._function}, not stored>"


def _arguments(term: Torque) -> dict[str, Any] | None:
    """The arguments of a torque's constructor; None if they cannot be stored.

    A piecewise polynomial is several entries here, "values.c" and so on.
    """
    kind = type(term)
    given = term.arguments()
    if given is None or getattr(torques, kind.__name__, None) is not kind:
        return None  # a user-defined torque
    arguments: dict[str, Any] = {}
    for name, value in given.items():
        if is_piecewise(value):
            polynomial = Piecewise.of(value)
            arguments |= {f"{name}.c": polynomial.c, f"{name}.x": polynomial.x}
            arguments[f"{name}.extrapolate"] = bool(polynomial.extrapolate)
        else:
            arguments[name] = value
    with contextlib.suppress(TypeError, ValueError):
        if _equal(_made(kind, arguments).numbers(), term.numbers()):
            return arguments
    return None


def _made(kind: type[Torque], arguments: dict[str, Any]) -> Torque:
    """The torque with the arguments that `_arguments` returned."""
    whole = {name: value for name, value in arguments.items() if "." not in name}
    for name in {name.partition(".")[0] for name in arguments if "." in name}:
        parts = {part.name: arguments[f"{name}.{part.name}"] for part in fields(Piecewise)}
        whole[name] = Piecewise(**parts)
    return kind(**whole)


def describe_torques(terms: Sequence[Torque]) -> tuple[list[Any], dict[str, NDArray[Any]]]:
    """Terms of a torque as JSON, and the arrays that belong to them.

    A model is its class and the arguments of its constructor.  For any other torque only a record
    is stored, and the torque must be given again.
    """
    content: list[Any] = []
    arrays: dict[str, NDArray[Any]] = {}
    for i, term in enumerate(terms):
        arguments = _arguments(term)
        if arguments is None:
            content.append(
                {
                    "function": repr(term),
                    "depends_on_m": bool(term.depends_on_m),
                    "has_potential": bool(term.has_potential),
                    "record": fingerprint(term),
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
        arrays[f"torque{i}"] = np.asarray(term.numbers())
    return content, arrays


def read_torques(content: list[Any], arrays: dict[str, NDArray[Any]]) -> list[Torque | None]:
    """The terms from the output of `describe_torques`; None for a term that was not stored."""
    return [
        None if "function" in item else _model(i, item, arrays) for i, item in enumerate(content)
    ]


def fill_in(
    path: Path, content: list[Any], stored: list[Torque | None], given: Sequence[Torque]
) -> tuple[list[Torque], list[str]]:
    """All terms, and the reasons why they may differ from those of the start.

    Terms that were not stored come from `given`, which is the whole torque or only these terms.
    Without `given`, `Absent` replaces them.
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
    doubts: list[str] = []
    for item, kept in zip(content, stored, strict=True):
        if kept is not None:
            terms.append(kept)
            continue
        term = next(own, None)
        if term is None:
            terms.append(Absent(item))
            continue
        if term.depends_on_m is None:
            term = term.known(item["depends_on_m"])  # as determined at the start of the run
        terms.append(term)
        if bool(term.depends_on_m) != item["depends_on_m"]:
            raise ValueError(
                f"{term!r} has depends_on_m = {term.depends_on_m}, but {item['function']} of the "
                f"run in {str(path)!r} had {item['depends_on_m']}"
            )
        sure, open_ = differences(item.get("record"), fingerprint(term))
        if sure:
            raise ValueError(
                f"{term!r} is another torque than {item['function']}, with which the run in "
                f"{str(path)!r} began: {'; '.join(sure)}"
            )
        doubts += [f"{term!r}: {doubt}" for doubt in open_]
    return terms, doubts


def _model(i: int, item: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Torque:
    kind = getattr(torques, item["model"], None)
    if not (isinstance(kind, type) and issubclass(kind, Model)):
        raise ValueError(f"there is no torque model {item['model']!r}")
    start = f"torque{i}."
    large: dict[str, Any] = {
        k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)
    }
    model = _made(kind, {**item["arguments"], **large})
    if not _equal(model.numbers(), arrays[f"torque{i}"]):
        raise ValueError(f"the parameters of torque[{i}], {item['model']}, are not those stored")
    return model


def _same_model(old: Torque, new: Torque) -> bool:
    """True if the arguments of both are equal; `old` is a stored model."""
    if type(old) is not type(new):
        return False
    a, b = _arguments(old), _arguments(new)
    if a is None or b is None or a.keys() != b.keys():
        return False
    return all(_equal(a[name], b[name]) for name in a)


def _equal(a: Any, b: Any) -> bool:
    """True for equal shapes and values. A polynomial may be NaN outside of its pieces."""
    numbers = np.asarray(a).dtype.kind == "f" and np.asarray(b).dtype.kind == "f"
    return np.array_equal(a, b, equal_nan=numbers)

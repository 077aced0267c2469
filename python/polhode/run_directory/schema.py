"""How the fields of a record are stored: values in run.json, arrays in setup.npz and state.npz."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import Field, asdict, fields
from typing import Any, NoReturn

import numpy as np

from polhode import torques
from polhode.integration.record import Settings, State
from polhode.integrators.splittings import Splitting
from polhode.integrators.table import METHODS, row_of_name
from polhode.run_directory.files import Arrays
from polhode.torques import Model, Torque
from polhode.torques._tabulated import Piecewise, is_piecewise

#: JSON values and arrays by name.
Stored = tuple[dict[str, Any], Arrays]


def write(record: Settings | State) -> Stored:
    """All fields of a record: values, and arrays by the name of the field or that and a suffix."""
    content: dict[str, Any] = {}
    arrays: Arrays = {}
    for each in _stored(record):
        name, value = each.name, getattr(record, each.name)
        if each.type in _PLAIN:
            content[name] = value
        elif each.type in ("Array", "Array | None"):
            arrays |= {} if value is None else {name: value}
        else:
            part = _KINDS[each.type][0](name, value)
            content, arrays = content | part[0], arrays | part[1]
    return content, arrays


def read(record: type[Settings | State], content: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of a record; a user-defined torque is None."""
    return {each.name: _read_field(each, content, arrays) for each in _stored(record)}


def _stored(record: Any) -> list[Field[Any]]:
    return [each for each in fields(record) if each.metadata["stored"]]


def _read_field(each: Field[Any], content: dict[str, Any], arrays: Arrays) -> Any:
    name = each.name
    if each.type in _PLAIN:
        if type(content[name]) is not _PLAIN[each.type]:
            raise ValueError(f"{name} is {content[name]!r}")
        return content[name]
    if each.type == "Array | None" and name not in arrays:
        return None
    if each.type in ("Array", "Array | None"):
        if arrays[name].dtype != np.float64:
            raise ValueError(f"{name} is of {arrays[name].dtype}")
        return arrays[name]
    return _KINDS[each.type][1](name, content, arrays)


def write_state(state: State) -> Arrays:
    """The contents of state.npz."""
    content, arrays = write(state)
    return {**{name: np.asarray(value) for name, value in content.items()}, **arrays}


def read_state(arrays: Arrays) -> State:
    """The state from the contents of state.npz."""
    content = {name: array.item() for name, array in arrays.items() if array.dtype.kind == "i"}
    return State(**read(State, content, arrays))


# Kinds of fields ---------------------------------------------------------------------------------


def _write_options(name: str, values: tuple[Any, ...]) -> Stored:
    return {name: [x.tolist() if isinstance(x, np.ndarray) else x for x in values]}, {}


def _read_options(name: str, content: dict[str, Any], arrays: Arrays) -> tuple[Any, ...]:
    given = content[name]
    return tuple(np.array(x, np.float64) if isinstance(x, list) else float(x) for x in given)


def _read_method(name: str, content: dict[str, Any], arrays: Arrays) -> int:
    try:
        return row_of_name(content[name])
    except KeyError:
        raise ValueError(f"there is no method {content[name]!r}") from None


def _read_splitting(name: str, content: dict[str, Any], arrays: Arrays) -> Splitting:
    values = dict(content[name])
    for key in ("invariants", "generalised_order"):
        values[key] = tuple(values[key])
    for key in ("stages", "processor"):
        values[key] = tuple((str(kind), float(b), float(c)) for kind, b, c in values[key])
    return Splitting(**values)


def _write_torques(name: str, terms: list[Torque]) -> Stored:
    """The terms of a torque.

    A model is its class and the arguments of its constructor. Any other torque is not stored and
    must be given again.
    """
    content: list[Any] = []
    arrays: Arrays = {}
    for i, term in enumerate(terms):
        arguments = _arguments(term)
        if arguments is None:
            facts = {"depends_on_m": term.depends_on_m, "has_potential": term.has_potential}
            content.append({"function": repr(term), **facts, "takes": sorted(term.takes)})
            continue
        plain = {}
        for key, value in arguments.items():
            if value is None or isinstance(value, (bool, int, float, str)):
                plain[key] = value
            else:
                arrays[f"{name}.{i}.{key}"] = np.asarray(value)
        content.append({"model": type(term).__name__, "arguments": plain})
    return {name: content}, arrays


def _read_torques(name: str, content: dict[str, Any], arrays: Arrays) -> list[Torque | None]:
    terms: list[Torque | None] = []
    for i, item in enumerate(content[name]):
        if "function" in item:
            terms.append(None)
            continue
        kind = getattr(torques, item["model"], None)
        if not (isinstance(kind, type) and issubclass(kind, Model)):
            raise ValueError(f"there is no torque model {item['model']!r}")
        start = f"{name}.{i}."
        parts = {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}
        terms.append(_made(kind, {**item["arguments"], **parts}))
    return terms


_PLAIN: dict[Any, type] = {"int": int, "float": float, "bool": bool, "str": str}
#: Writing and reading, by the type of the field.
_KINDS: dict[Any, tuple[Callable[..., Stored], Callable[..., Any]]] = {
    "Row": (lambda name, row: ({name: METHODS[row].name}, {}), _read_method),
    "Options": (_write_options, _read_options),
    "Splitting": (lambda name, scheme: ({name: asdict(scheme)}, {}), _read_splitting),
    "list[Torque]": (_write_torques, _read_torques),
}


# Torques -----------------------------------------------------------------------------------------


def is_stored(term: Torque) -> bool:
    """Whether a torque can be stored; any other is user-defined."""
    return _arguments(term) is not None


def same_model(old: Torque, new: Torque) -> bool:
    """True if the arguments of both are equal; `old` is a stored model."""
    a, b = _arguments(old), _arguments(new)
    if type(old) is not type(new) or a is None or b is None or a.keys() != b.keys():
        return False
    return all(_equal(a[name], b[name]) for name in a)


def _arguments(term: Torque) -> dict[str, Any] | None:
    """The arguments of a torque's constructor; None if they cannot be stored.

    A piecewise polynomial or an orbit is several entries here, "values.c" and so on.
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
        elif isinstance(value, torques.Orbit):
            parts = {key: getattr(value, key) for key in ("mu", "position", "velocity", "times")}
            arguments |= {f"{name}.{key}": part for key, part in parts.items() if part is not None}
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
        start = f"{name}."
        parts = {k.removeprefix(start): v for k, v in arguments.items() if k.startswith(start)}
        whole[name] = torques.Orbit(**parts) if "mu" in parts else Piecewise(**parts)
    return kind(**whole)


def _equal(a: Any, b: Any) -> bool:
    """True for equal shapes and values. A polynomial may be NaN outside of its pieces."""
    numbers = np.asarray(a).dtype.kind == "f" and np.asarray(b).dtype.kind == "f"
    return np.array_equal(a, b, equal_nan=numbers)


class Absent(Torque):
    """The placeholder for a user-defined torque that `Trajectory.load` or `resume` did not get."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._function = content["function"]
        self.depends_on_m = bool(content["depends_on_m"])
        self.has_potential = bool(content["has_potential"])
        self.takes = frozenset(content.get("takes", ()))

    def missing(self, *arguments: Any) -> NoReturn:
        """Raise ValueError."""
        raise ValueError(
            f"the torque {self._function} is not a model of polhode and was not stored: give it "
            "again, torque=..."
        )

    torque = potential = missing  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._function}, not stored>"

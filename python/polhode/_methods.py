"""The list of methods, read from the core."""

from __future__ import annotations

import ast
import difflib
import math
import numbers
import operator
import sys
import warnings
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode import _core
from polhode._rkmk import MuntheKaas, is_implicit


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes
    ----------
    name : str
        The name for `step(method=...)`.
    order : int or None
        Order of accuracy in the step; None for exact methods.
    kind : str
        Its family.
    invariants : tuple of str
        Quantities that it conserves to rounding, with the default options: "energy", "casimir"
        (|m|^2/2), "momentum_spatial" (Q m).
    symmetric : bool
        Whether a step of -h inverts a step of h. For implicit methods: in steps so short that the
        solution is unique.
    options : dict
        Names and defaults of its options.
    source : str
        Paper and equation, keys as in REFERENCES.md.
    history : int
        Number of steps that a multistep method combines. It makes its first steps by another method
        and needs at least this number of steps. 0 for one-step methods.
    takes_torque : bool
        True for direct integrators: `integrate(..., splitting=None)` is possible.
    """

    name: str
    order: int | None
    kind: str
    invariants: tuple[str, ...]
    symmetric: bool
    options: dict[str, Any] = field(hash=False)
    source: str
    history: int = 0
    takes_torque: bool = False


def _defaults(text: str) -> dict[str, Any]:
    """Options with their defaults, from a row's "name=default name=default"."""
    pairs = (item.partition("=") for item in text.split())
    return {name: ast.literal_eval(default) for name, _, default in pairs}


def _read() -> list[Method]:
    direct = {row["name"] for row in _core.direct_methods()}
    return [
        Method(
            name=row["name"],
            order=row["order"] or None,
            kind=row["kind"],
            invariants=tuple(row["invariants"].split()),
            symmetric=row["symmetric"],
            options=_defaults(row["options"]),
            source=row["source"],
            history=row["history"],
            takes_torque=row["name"] in direct,
        )
        for row in _core.methods()
    ]


_METHODS = _read()
#: The row of methods that `rkmk` makes, which has no name for users.
_MADE = "rkmk"
_INDEX = {method.name: i for i, method in enumerate(_METHODS) if method.name != _MADE}
_MADE_ROW = [method.name for method in _METHODS].index(_MADE)


_MAY_LACK_ROOT = [bool(row["may_lack_root"]) for row in _core.methods()]


def methods() -> list[Method]:
    """All methods that `step` knows, as a list of frozen dataclasses.

    Returns
    -------
    list of Method
        See `Method` for the attributes.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.methods()[0].name
    'exact'
    """
    return [method for method in _METHODS if method.name != _MADE]


def method_name(row: int) -> str:
    """Name of the method in this row."""
    return _METHODS[row].name


def row_of_name(name: str) -> int:
    """The row with this name, that of `rkmk` included."""
    return _MADE_ROW if name == _MADE else _INDEX[name]


def history(row: int) -> int:
    """Least number of steps that the method in this row makes."""
    return _METHODS[row].history


def corrects_energy(row: int, values: tuple[Any, ...]) -> bool:
    """Whether the energy is corrected with these values of the options."""
    if "energy_correction" not in _METHODS[row].options or not values:
        return False
    return isinstance(values[-1], float) and values[-1] != 0


def unknown_name(what: str, name: object, known: list[str]) -> ValueError:
    """The error for a name that is not in a list, with the nearest that are."""
    near = difflib.get_close_matches(str(name).lower(), known, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else f"; known: {known}"
    return ValueError(f"unknown {what} {name!r}{hint}")


def may_lack_root(row: int, values: tuple[Any, ...]) -> bool:
    """Whether the method, with these values of its options, solves equations without a root."""
    return is_implicit(values[0]) if row == _MADE_ROW else _MAY_LACK_ROOT[row]


def levels_to_the_user() -> int:
    """The `stacklevel` of a warning by the caller that names the code which called polhode."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "polhode":
        level, frame = level + 1, frame.f_back
    return level


def warn_of_lost(row: int, lost: int, by_torque: int = 0, *, implicit: bool = True) -> None:
    """One warning a call for the bodies that became NaN by a step, or by a torque.

    `implicit`: the method may lack a root; else steps were too long.
    """
    reasons = []
    if by_torque:
        reasons.append(f"the torque was not finite: {_bodies(by_torque)} NaN")
    name = _METHODS[row].name
    if lost and implicit:
        reasons.append(
            f"method {name!r} found no root in a step: {_bodies(lost)} NaN; shorter steps have one"
        )
    elif lost:
        reasons.append(
            f"a step of method {name!r} was too long to have a correct digit: {_bodies(lost)} NaN"
        )
    if reasons:
        warnings.warn("; ".join(reasons), RuntimeWarning, stacklevel=levels_to_the_user())


def _bodies(count: int) -> str:
    return "1 body is" if count == 1 else f"{count} bodies are"


def method_index(method: str | MuntheKaas, options: dict[str, Any]) -> int:
    """Row of a method in the core's list; refuses unknown names and options."""
    name = _MADE if isinstance(method, MuntheKaas) else method
    try:
        row = _MADE_ROW if isinstance(method, MuntheKaas) else _INDEX[method]
    except (KeyError, TypeError):
        raise unknown_name("method", name, list(_INDEX)) from None
    for option in options:
        if option not in _METHODS[row].options:
            having = [m.name for m in methods() if option in m.options]
            who = f"methods that have it: {', '.join(having)}" if having else "no method has it"
            raise TypeError(f"method {name!r} has no option {option!r}; {who}")
    return row


def option_values(
    row: int, options: dict[str, Any], method: str | MuntheKaas = ""
) -> tuple[Any, ...]:
    """All options of a method as the core takes them; () where none is given.

    Of one that `rkmk` made, its coefficients first.
    """
    if isinstance(method, MuntheKaas):
        values: dict[str, Any] = {k: _choice(k, value) for k, value in options.items()}
        return (method._coefficients(), *(_as_number(k, value) for k, value in values.items()))
    if not options:
        return ()
    info = _METHODS[row]
    values = dict(info.options)
    for name, value in options.items():
        if name == "axes":
            values[name] = _axes(value, info)
            continue
        if name in _CHOICES:
            values[name] = _choice(name, value)
            continue
        values[name] = _number(name, value, info)
    _check_frame(values)
    if values.get("form") == "rate" and values["energy_correction"]:
        raise ValueError(
            "energy_correction turns the body, which keeps the momentum in space; form='rate' does "
            "not keep it"
        )
    return tuple(_as_number(name, value) for name, value in values.items())


#: Options that are one of several; the core takes the place in the list.
_CHOICES: dict[str, tuple[bool | str, ...]] = {
    "energy_correction": (False, True, "buss"),
    "start": ("rk4", "buss"),
    "form": ("momentum", "rate"),
}


def _choice(name: str, value: Any) -> bool | str:
    for choice in _CHOICES[name]:
        kind = str if isinstance(choice, str) else numbers.Real | np.bool_
        if isinstance(value, kind) and value == choice:
            return choice
    known = ", ".join(map(repr, _CHOICES[name]))
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"option {name!r} must be one of {known}, not {value!r}")


def _as_number(name: str, value: Any) -> float:
    """An option as the core takes it."""
    if name == "axes":
        return _digits(value)
    if name in _CHOICES:
        return float(_CHOICES[name].index(value))
    return float(value)


def _number(name: str, value: Any, method: Method) -> float | bool:
    """A number where the default is one; True, False, 1 or 0 where that is a truth value."""
    kind = type(method.options[name])
    real = isinstance(value, numbers.Real | np.bool_)
    if not real or (kind is bool and value not in (0, 1)):
        raise TypeError(
            f"option {name!r} of method {method.name!r} must be a {kind.__name__}, not {value!r}"
        )
    try:
        return bool(value) if kind is bool else float(value)
    except OverflowError:
        return math.inf


def _axes(value: Any, method: Method) -> tuple[int, ...] | None:
    """A permutation of (1, 2, 3); None where that is the method's default."""
    if value is None and method.options["axes"] is None:
        return None
    try:
        if isinstance(value, AbstractSet | Mapping):
            raise TypeError("no order")
        axes = tuple(operator.index(axis) for axis in value)
    except TypeError:
        raise TypeError(
            f"option 'axes' must be a sequence of three integers, not {value!r}"
        ) from None
    if sorted(axes) != [1, 2, 3]:
        raise ValueError(f"option 'axes' must be a permutation of (1, 2, 3), not {value!r}")
    return axes


def _digits(axes: tuple[int, ...] | None) -> float:
    """Axes as the core takes them: 123 for (1, 2, 3), 0 for None."""
    return 0.0 if axes is None else float(100 * axes[0] + 10 * axes[1] + axes[2])


def _check_frame(values: dict[str, Any]) -> None:
    """The frame of the factorization method, [Gus10] eq. (36)."""
    if "c0" not in values:
        return
    square = values["c0"] * values["c0"] + values["c3"] * values["c3"]
    if not math.isclose(square, 0.5, rel_tol=1e-12):
        raise ValueError(f"c0^2 + c3^2 must be 1/2, not {square}")

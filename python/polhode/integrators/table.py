"""The list of methods, read from the core: cpp/include/polhode/methods.hpp."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

from polhode import _core
from polhode.display.notebook import NotebookList
from polhode.integrators import method_options
from polhode.integrators.tableaus import MuntheKaas, is_implicit


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
        Whether a step of -h inverts a step of h. For implicit methods: for steps so short that the
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
    option_docs : dict
        Names of its options, what each does, and its choices.
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
    option_docs: dict[str, str] = field(default_factory=dict, hash=False)


_ROWS = _core.methods()
_OPTIONS = [method_options.read(row["options"]) for row in _ROWS]
METHODS = [
    Method(
        row["name"],
        row["order"] or None,
        row["kind"],
        tuple(row["invariants"].split()),
        row["symmetric"],
        {option.name: option.default for option in own},
        row["source"],
        row["history"],
        row["takes_torque"],
        {option.name: option.description for option in own},
    )
    for row, own in zip(_ROWS, _OPTIONS, strict=True)
]
#: The row for methods made by `rkmk`, which has no public name.
_MADE = "rkmk"
_INDEX = _core.rows
_MADE_ROW = [method.name for method in METHODS].index(_MADE)


def methods() -> list[Method]:
    """All methods that `step` knows, a list of `Method`, which a notebook shows as a table."""
    columns = ("name", "order", "kind", "invariants", "symmetric", "takes_torque", "options")
    public = (method for method in METHODS if method.name != _MADE)
    return NotebookList(public, "methods", (*columns, "source"))


def row_of_name(name: str) -> int:
    """The row with this name, that of `rkmk` included."""
    return _MADE_ROW if name == _MADE else _INDEX[name]


def corrects_energy(row: int, values: tuple[Any, ...]) -> bool:
    """True if the energy is corrected with these values of the options."""
    own = zip(reversed(_OPTIONS[row]), reversed(values), strict=False)  # after coefficients
    return any(
        option.name == "energy_correction" and isinstance(value, float) and value != 0
        for option, value in own
    )


def unknown_name(what: str, name: object, known: list[str]) -> ValueError:
    """The error for a name that is not in a list, with the most similar names of the list."""
    import difflib

    near = difflib.get_close_matches(str(name).lower(), known, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(map(repr, near))}?" if near else f"; known: {known}"
    return ValueError(f"unknown {what} {name!r}{hint}")


def direct_facts(row: int) -> dict[str, Any]:
    """The core's data of this row; raises an error unless it is a direct integrator."""
    facts: dict[str, Any] = _ROWS[row]
    if not facts["takes_torque"]:
        known = [method.name for method in methods() if method.takes_torque]
        raise ValueError(
            f"method {facts['name']!r} does not take a torque itself and needs a splitting; "
            f"splitting=None is for {', '.join(known)}"
        )
    return facts


def may_lack_root(row: int, values: tuple[Any, ...]) -> bool:
    """True if, with these options, the method solves equations that may have no solution."""
    return is_implicit(values[0]) if row == _MADE_ROW else bool(_ROWS[row]["may_lack_root"])


def warn_user(text: str) -> None:
    """A RuntimeWarning that names the code that called polhode."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "polhode":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def warn_of_lost(
    row: int,
    lost: int,
    by_torque: int = 0,
    by_others: tuple[str, int] = ("", 0),
    *,
    implicit: bool = True,
    kicked: bool = False,
) -> None:
    """One warning per call for the bodies that became NaN in a step, or because of a torque.

    `by_others`: what else was not finite, and of how many bodies. `implicit`: a step of the method
    may have no solution; else the steps were too long, with `kicked` perhaps for a kick.
    """
    causes = (("the torque", by_torque), by_others)
    reasons = [f"{what} was not finite: {_bodies(n)} NaN" for what, n in causes if n]
    name = METHODS[row].name
    if lost:
        no_root = (
            f"method {name!r} found no root in a step: {_bodies(lost)} NaN; shorter steps have one"
        )
        what = " or a kick that depends on m was too long" if kicked else " was too long"
        too_long = f"a step of method {name!r}{what} to have a correct digit: {_bodies(lost)} NaN"
        reasons.append(no_root if implicit else too_long)
    if reasons:
        warn_user("; ".join(reasons))


def _bodies(count: int) -> str:
    return "1 body is" if count == 1 else f"{count} bodies are"


def method_index(method: str | MuntheKaas, given: dict[str, Any]) -> int:
    """Row of a method in the core's list; raises an error for unknown names and options."""
    name = _MADE if isinstance(method, MuntheKaas) else method
    try:
        row = _MADE_ROW if isinstance(method, MuntheKaas) else _INDEX[method]
    except (KeyError, TypeError):
        raise unknown_name("method", name, list(_INDEX)) from None
    for option in given:
        if option not in METHODS[row].options:
            having = ", ".join(m.name for m in methods() if option in m.options)
            own = ", ".join(METHODS[row].options) or "no options"
            hint = f"methods that have it: {having}" if having else f"it has {own}"
            raise TypeError(
                f"no argument {option!r}: method {name!r} has no option {option!r}; {hint}"
            )
    return row


def option_values(row: int, given: dict[str, Any], method: str | MuntheKaas) -> tuple[Any, ...]:
    """All options of a method in the form of the core; () if no option is given.

    For a method made by `rkmk`, the coefficients come first.
    """
    made = (method._coefficients(),) if isinstance(method, MuntheKaas) else ()
    return (*made, *method_options.values(_OPTIONS[row], given, METHODS[row].name, row))


def chosen(method: str | MuntheKaas, given: dict[str, Any]) -> tuple[int, tuple[Any, ...]]:
    """The row of a method and the values of its options."""
    row = method_index(method, given)
    return row, option_values(row, given, method)

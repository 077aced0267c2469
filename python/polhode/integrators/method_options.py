"""Options of methods, read from the core: values are checked here and passed on as numbers."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from polhode import _core


@dataclass(frozen=True)
class Option:
    """An option of a method; `standard` is the default in the form of the core.

    Its `kind` is "number"; "choice", one of `choices`, for the core the index in the list; or
    "axes", a permutation of (1, 2, 3), for the core three digits (0: None, the default).
    """

    name: str
    kind: str
    standard: float
    choices: tuple[bool | str, ...]
    doc: str

    @property
    def default(self) -> Any:
        """The default as a user would write it."""
        if self.kind == "choice":
            return self.choices[int(self.standard)]
        if self.kind == "axes":
            return tuple(map(int, str(int(self.standard)))) if self.standard else None
        return self.standard

    @property
    def description(self) -> str:
        """What the option does, and its choices."""
        return self.doc + (f" (one of {', '.join(map(repr, self.choices))})" * bool(self.choices))

    def checked(self, value: Any, method: str) -> Any:
        """The value as a user would write it, or an error that names the method."""
        what = f"option {self.name!r} of method {method!r} must be"
        if self.kind == "choice":
            for choice in self.choices:
                kind = str if isinstance(choice, str) else Real | np.bool_
                if isinstance(value, kind) and value == choice:
                    return choice
            words = isinstance(value, str) and any(isinstance(x, str) for x in self.choices)
            known = ", ".join(map(repr, self.choices))
            raise (ValueError if words else TypeError)(f"{what} one of {known}, not {value!r}")
        if self.kind == "axes":
            if value is None and self.default is None:
                return None
            try:
                ordered = None if isinstance(value, AbstractSet | Mapping) else value
                axes = tuple(operator.index(axis) for axis in ordered)  # type: ignore[union-attr]
            except TypeError:
                raise TypeError(f"{what} a sequence of three integers, not {value!r}") from None
            if sorted(axes) != [1, 2, 3]:
                raise ValueError(f"{what} a permutation of (1, 2, 3), not {value!r}")
            return axes
        if not isinstance(value, Real | np.bool_):
            raise TypeError(f"{what} a float, not {value!r}")
        try:
            return float(value)
        except OverflowError:
            return math.inf

    def number(self, value: Any) -> float:
        """A checked value in the form of the core."""
        if self.kind == "choice":
            return float(self.choices.index(value))
        if self.kind == "axes":
            return 0.0 if value is None else float("".join(map(str, value)))
        return float(value)


def read(rows: list[tuple[str, str, float, str, str]]) -> tuple[Option, ...]:
    """The options of a method, from its row in the core's list."""
    return tuple(
        Option(name, kind, standard, tuple(map(ast.literal_eval, choices.split())), doc)
        for name, kind, standard, choices, doc in rows
    )


def values(
    options: tuple[Option, ...], given: dict[str, Any], method: str, row: int
) -> tuple[float, ...]:
    """All options in the form of the core; () means the defaults, if no option is given."""
    if not given:
        return ()
    chosen = {
        x.name: x.checked(given[x.name], method) if x.name in given else x.default for x in options
    }
    numbers = tuple(option.number(chosen[option.name]) for option in options)
    if what := _core.contradiction(row, numbers):
        raise ValueError(f"{what}; options of method {method!r}: {chosen}")
    return numbers

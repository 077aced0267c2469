"""Options of methods, read from the core: values are checked here and passed on as numbers.

A new kind of option is a class here, named in `_KINDS`.
"""

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
    """An option of a method: any number.

    `standard` is the default in the form of the core, `choices` are in Python's notation.
    """

    name: str
    standard: float
    choices: tuple[bool | str, ...]
    doc: str

    @property
    def default(self) -> Any:
        """The default as a user would write it."""
        return self.standard

    @property
    def description(self) -> str:
        """What the option does, and its choices."""
        return self.doc + (f" (one of {', '.join(map(repr, self.choices))})" * bool(self.choices))

    def checked(self, value: Any, method: str) -> Any:
        """Checks a given value: returns it or raises an error."""
        if not isinstance(value, Real | np.bool_):
            raise TypeError(
                f"option {self.name!r} of method {method!r} must be a float, not {value!r}"
            )
        try:
            return float(value)
        except OverflowError:
            return math.inf

    def number(self, value: Any) -> float:
        """A checked value in the form of the core."""
        return float(value)


class Choice(Option):
    """One of several choices; for the core it is the index in the list."""

    @property
    def default(self) -> bool | str:
        """The value when the option is not given."""
        return self.choices[int(self.standard)]

    def checked(self, value: Any, method: str) -> bool | str:
        """The value, or an error that names the method."""
        for choice in self.choices:
            kind = str if isinstance(choice, str) else Real | np.bool_
            if isinstance(value, kind) and value == choice:
                return choice
        known = ", ".join(map(repr, self.choices))
        words = any(isinstance(choice, str) for choice in self.choices)
        error = ValueError if words and isinstance(value, str) else TypeError
        raise error(
            f"option {self.name!r} of method {method!r} must be one of {known}, not {value!r}"
        )

    def number(self, value: bool | str) -> float:
        """The value as the core takes it."""
        return float(self.choices.index(value))


class Axes(Option):
    """A permutation of (1, 2, 3), or None if that is the default; the core uses three digits."""

    @property
    def default(self) -> tuple[int, ...] | None:
        """The value when the option is not given."""
        return tuple(map(int, str(int(self.standard)))) if self.standard else None

    def checked(self, value: Any, method: str) -> tuple[int, ...] | None:
        """The value, or an error that names the method."""
        if value is None and self.default is None:
            return None
        what = f"option {self.name!r} of method {method!r} must be"
        try:
            if isinstance(value, AbstractSet | Mapping):
                raise TypeError("no order")
            axes = tuple(operator.index(axis) for axis in value)
        except TypeError:
            raise TypeError(f"{what} a sequence of three integers, not {value!r}") from None
        if sorted(axes) != [1, 2, 3]:
            raise ValueError(f"{what} a permutation of (1, 2, 3), not {value!r}")
        return axes

    def number(self, value: tuple[int, ...] | None) -> float:
        """The value as the core takes it."""
        return 0.0 if value is None else float("".join(map(str, value)))


_KINDS: dict[str, type[Option]] = {"number": Option, "choice": Choice, "axes": Axes}


def read(rows: list[tuple[str, str, float, str, str]]) -> tuple[Option, ...]:
    """The options of a method, from its row in the core's list."""
    return tuple(
        _KINDS[kind](name, standard, tuple(map(ast.literal_eval, choices.split())), doc)
        for name, kind, standard, choices, doc in rows
    )


def values(options: tuple[Option, ...], given: dict[str, Any], method: str) -> tuple[float, ...]:
    """All options in the form of the core; () means the defaults, if no option is given."""
    if not given:
        return ()
    chosen = {
        option.name: option.checked(given[option.name], method)
        if option.name in given
        else option.default
        for option in options
    }
    numbers = tuple(option.number(chosen[option.name]) for option in options)
    if what := _core.contradiction(method, numbers):
        raise ValueError(f"{what}; options of method {method!r}: {chosen}")
    return numbers

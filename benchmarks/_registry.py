"""The register of the cases of the suite."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks._results import Row, Table, Value
from benchmarks._timing import Timer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Packages whose modules define the cases; one that is not there has none.
PACKAGES = ("benchmarks.cases", "benchmarks.rivals")
SEED = 2008


@dataclass(frozen=True)
class Run:
    """The settings of a run, as a case receives them.

    Attributes
    ----------
    quick : bool
        Little data and few windows: to see that it works.
    timer : Timer
        The timer.
    threads : int
        Number of threads for the times with several.
    seed : int
        Seed of the random numbers of each case.
    tables : dict
        The tables of the cases that the case is made `after`.
    """

    quick: bool = False
    timer: Timer = field(default_factory=Timer)
    threads: int = -1
    seed: int = SEED
    tables: Mapping[str, Table] = field(default_factory=dict)

    def rng(self) -> np.random.Generator:
        """A new generator with the seed of the run."""
        return np.random.default_rng(self.seed)


Work = Callable[[Run], Iterator[Row]]
Draw = Callable[[Table], "Figure"]


@dataclass(frozen=True)
class Case:
    """A case: a generator of rows, with its title and units."""

    name: str
    title: str
    work: Work
    time: str
    units: dict[str, str]
    after: tuple[str, ...]
    pictures: list[Draw] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The docstring of the function: the measured quantity and the procedure."""
        return inspect.getdoc(self.work) or ""

    def picture(self, draw: Draw) -> Draw:
        """Register a function that draws the table of the case."""
        self.pictures.append(draw)
        return draw

    def run(self, run: Run) -> Table:
        """Make the table."""
        begun, rows, fault = time.perf_counter(), [], ""
        try:
            with warnings.catch_warnings():
                # Steps that are too long are part of some cases; a row tells of them.
                warnings.filterwarnings(
                    "ignore", "method .* (found no root|did not converge)", RuntimeWarning
                )
                for row in self.work(run):
                    rows.append(_finite(row))
        except Exception as error:
            fault = without_folders(f"{type(error).__name__}: {error}")
        seconds = round(time.perf_counter() - begun, 2)
        return Table(self.name, self.title, self.text, self.time, self.units, rows, seconds, fault)


def _finite(row: Row) -> Row:
    """The row with None for numbers that JSON cannot hold, NumPy's as Python's, and no folders."""
    values: dict[str, Value] = {}
    for name, value in row.values.items():
        number: Any = value
        if isinstance(number, np.generic):
            number = number.item()
        values[name] = None if isinstance(number, float) and not math.isfinite(number) else number
    times = {
        name: replace(one, reason=without_folders(one.reason)) if one.reason else one
        for name, one in row.times.items()
    }
    return Row(row.labels, times, row.ratios, values, without_folders(row.note))


def without_folders(text: str) -> str:
    """The text with the last part of each absolute path: results are for other machines too."""
    return re.sub(r"(?<![\w/:.])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'\"]+[/\\])+", "", text)


_CASES: dict[str, Case] = {}


def case(
    name: str,
    title: str,
    *,
    time: str = "",
    units: Mapping[str, str] | None = None,
    after: tuple[str, ...] = (),
) -> Callable[[Work], Case]:
    """Register a generator of rows as a case.

    Parameters
    ----------
    name : str
        Name for ``--only``.
    title : str
        Heading.
    time : str
        Unit of the times, with what a time is per.
    units : mapping of str to str
        Units of labels and values, by name.
    after : tuple of str
        Cases whose tables this case reads.
    """

    def register(work: Work) -> Case:
        if name in _CASES:
            raise ValueError(f"there are two cases {name!r}")
        _CASES[name] = Case(name, title, work, time, dict(units or {}), after)
        return _CASES[name]

    return register


def cases() -> dict[str, Case]:
    """All cases by name, each behind those that it is made after."""
    for package in PACKAGES:
        try:
            found = importlib.import_module(package)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            continue
        for module in pkgutil.iter_modules(found.__path__):
            if not module.name.startswith("_"):
                importlib.import_module(f"{package}.{module.name}")
    ordered: dict[str, Case] = {}

    def append(one: Case) -> None:
        for name in one.after:
            append(_CASES[name])
        ordered.setdefault(one.name, one)

    for one in list(_CASES.values()):
        append(one)
    return ordered

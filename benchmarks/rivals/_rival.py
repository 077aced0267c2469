"""The interface of the programs that the benchmarks compare, polhode included."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from benchmarks.rivals._problem import Array, Problem


@dataclass(frozen=True)
class Prepared:
    """A problem set up at one setting of the rival's knob.

    Parameters
    ----------
    run : callable
        From the start to `t_end`, every time it is called; only this is timed.
    state : callable
        m (n, 3) and q (n, 4) in the conventions of polhode, of what `run` returned.
    """

    run: Callable[[], Any]
    state: Callable[[Any], tuple[Array, Array]]


@dataclass(frozen=True)
class Rival:
    """A library that moves rigid bodies, behind the one interface of the benchmarks.

    Parameters
    ----------
    name : str
        Name in the tables.
    packages : sequence of (str, str)
        Needed modules and their distributions; the version of the first is that of the rival.
    knob : str
        Meaning of `settings`, with the unit.
    settings : mapping of str to sequence of float
        For each kind of problem it solves, values of the knob, the least accurate first.
    prepare : callable
        ``prepare(problem, setting)`` gives a `Prepared`.
    batch : bool, default True
        Whether it moves many bodies in a call.
    probe : callable, optional
        Raises `OSError` if a library of the modules is missing.
    """

    name: str
    packages: Sequence[tuple[str, str]]
    knob: str
    settings: Mapping[str, Sequence[float]]
    prepare: Callable[[Problem, float], Prepared]
    batch: bool = True
    probe: Callable[[], object] | None = None

    def missing(self) -> str:
        """The reason why it cannot run here; empty if it can."""
        for module, distribution in self.packages:
            try:
                importlib.import_module(module)
            except ImportError:
                return f"not installed (pip install {distribution})"
        try:
            if self.probe is not None:
                self.probe()
        except OSError as error:
            return f"not installed: {error}"
        return ""

    def version(self) -> str:
        """Version of its first distribution."""
        return metadata.version(self.packages[0][1])


def by_rows(state: Any) -> tuple[Array, Array]:
    """m and q of states (7 + k, n) or (7 + k,): m, then q with the scalar first."""
    rows = state.reshape(len(state), -1).T
    return rows[:, :3].copy(), rows[:, 3:7].copy()

"""Benchmarks of polhode and of other programs: ``python -m benchmarks``.

A case is a generator of rows that is registered by `case`: it makes its inputs, times functions by
the timer of its `Run`, and puts the error of each beside its time.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks._registry import Case, Run, case
from benchmarks._results import Results, Row, Table, load
from benchmarks._timing import Measured, Ratio, Timer, Times, absent

__all__ = [
    "Case",
    "Measured",
    "Ratio",
    "Results",
    "Row",
    "Run",
    "Table",
    "Timer",
    "Times",
    "absent",
    "case",
    "load",
    "main",
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite; see `benchmarks._command`."""
    from benchmarks import _command

    return _command.main(arguments)

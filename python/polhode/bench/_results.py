"""The format of the results: tables of rows, and their text in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from polhode.bench._timing import Ratio, Times

Value = float | int | str | None


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    labels : dict
        What the row is of, such as the method and the number of bodies. No two rows of a table have
        the same labels.
    times : dict
        Times by name of the program or of the setting, in the unit of the table.
    ratios : dict
        Ratios of times in neighbouring windows.
    values : dict
        What is not a time: errors, counts, rates.
    note : str
        A remark.
    """

    labels: Mapping[str, str | int | float]
    times: Mapping[str, Times] = field(default_factory=dict)
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Table:
    """The rows of a case.

    Attributes
    ----------
    name, title, text : str
        Name of the case, heading, and what was measured and how.
    time : str
        Unit of the times, such as "ns per body per step"; times are stored in nanoseconds.
    units : dict
        Unit of a label or value, or what it is relative to, by its name.
    rows : list of Row
        The rows.
    seconds : float
        How long the case took.
    fault : str
        Why the case has no rows or not all.
    """

    name: str
    title: str
    text: str
    time: str
    units: dict[str, str]
    rows: list[Row]
    seconds: float = 0.0
    fault: str = ""


@dataclass(frozen=True)
class Results:
    """Everything that one run of the suite found."""

    machine: dict[str, Any]
    tables: dict[str, Table]

    def save(self, path: Path) -> None:
        """Write a JSON file."""
        data = {"machine": self.machine, "tables": [asdict(t) for t in self.tables.values()]}
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
        # An interrupted run leaves the file as it was before.
        new = path.with_name(path.name + ".new")
        new.write_text(text, encoding="utf-8")
        new.replace(path)


def load(path: str | Path) -> Results:
    """Read a JSON file of the suite.

    Raises
    ------
    ValueError
        If it is not one.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        tables = [_table(entry) for entry in data["tables"]]
        return Results(data["machine"], {table.name: table for table in tables})
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a result file of the suite: {error!r}") from error


def _table(entry: Mapping[str, Any]) -> Table:
    rows = [
        Row(
            row["labels"],
            {name: Times(**times) for name, times in row["times"].items()},
            {name: Ratio(**ratio) for name, ratio in row["ratios"].items()},
            row["values"],
            row["note"],
        )
        for row in entry["rows"]
    ]
    return Table(**{**entry, "rows": rows})

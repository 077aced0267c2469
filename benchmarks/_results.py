"""The format of the results: tables of rows, and their text in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from benchmarks._timing import Ratio, Times

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
        tables = ",\n".join(map(_text, self.tables.values()))
        machine = json.dumps(self.machine, indent=1, allow_nan=False)
        text = f'{{"machine": {machine},\n"tables": [\n{tables}\n]}}\n'
        # An interrupted run leaves the file as it was before.
        new = path.with_name(path.name + ".new")
        new.write_text(text, encoding="utf-8")
        new.replace(path)


def _text(table: Table) -> str:
    """A table in JSON, a row per line."""
    head = {f.name: getattr(table, f.name) for f in fields(table) if f.name != "rows"}
    rows = ",\n".join(json.dumps(_stored(row), allow_nan=False) for row in table.rows)
    return f'{json.dumps(head, indent=1)[:-2]},\n "rows": [\n{rows}\n]}}'


def _stored(one: Row | Times | Ratio) -> dict[str, Any]:
    """The fields that differ from their defaults; times and ratios with six digits."""
    stored = {}
    for of in fields(one):
        value = getattr(one, of.name)
        default = of.default if of.default_factory is MISSING else of.default_factory()
        if value == default:
            continue
        if isinstance(value, Mapping):
            value = {k: _stored(x) if isinstance(x, Times | Ratio) else x for k, x in value.items()}
        stored[of.name] = float(f"{value:.6g}") if isinstance(value, float) else value
    return stored


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
    rows = []
    for row in entry["rows"]:
        times = {name: Times(**one) for name, one in row.get("times", {}).items()}
        ratios = {name: Ratio(**one) for name, one in row.get("ratios", {}).items()}
        rows.append(Row(**{**row, "times": times, "ratios": ratios}))
    return Table(**{**entry, "rows": rows})

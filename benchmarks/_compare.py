"""Two runs of the suite against each other."""

from __future__ import annotations

from benchmarks._results import Results, Row, Table
from benchmarks._timing import Times

#: A change of the median by a smaller part is not reported, even if the quartiles are disjoint.
LEAST_CHANGE = 0.02
#: With fewer windows the quartiles are too uncertain to report a change.
LEAST_WINDOWS = 20
#: A change of an error by a smaller factor is not reported.
LEAST_FACTOR = 2.0
#: Conditions that should agree.
CONDITIONS = (
    "processor",
    "cores",
    "level",
    "compiler",
    "system",
    "python",
    "versions",
    "commit",
    "quick",
    "threads",
    "seed",
)


def _key(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.labels.items())


def _rows(table: Table | None) -> dict[str, Row]:
    return {_key(row): row for row in table.rows} if table else {}


def _verdict(old: Times, new: Times) -> str:
    if old.reason or new.reason:
        return "not known"
    if old.clock != new.clock or min(old.windows, new.windows) < LEAST_WINDOWS:
        return "not known"
    assert old.low is not None
    assert old.high is not None
    assert old.median is not None
    assert new.low is not None
    assert new.high is not None
    assert new.median is not None
    if new.high < old.low and new.median < (1 - LEAST_CHANGE) * old.median:
        return "faster"
    if new.low > old.high and new.median > (1 + LEAST_CHANGE) * old.median:
        return "slower"
    return "same"


def _errors(where: str, old: Row, new: Row) -> list[str]:
    """Of the errors of a row those that changed, or that only one of the two has."""
    lines = []
    for name in dict.fromkeys((*old.values, *new.values)):
        a, b = old.values.get(name), new.values.get(name)
        if "error" not in name or isinstance(a, str) or isinstance(b, str) or a == b:
            continue
        if a is None or b is None or max(a, b) > LEAST_FACTOR * min(a, b):
            shown = ["none" if x is None else f"{x:.3g}" for x in (a, b)]
            lines.append(f"error: {where}: {name}: {shown[0]}, now {shown[1]}")
    return lines


def compare(old: Results, new: Results) -> str:
    """List, as text, the times that changed by more than the spread within the two runs.

    A time changed if both have the same clock and at least 20 windows, the intervals between their
    quartiles have no common point and the medians differ by more than 2 %. Errors that changed by
    more than a factor 2 are given too.

    Raises
    ------
    ValueError
        If one of the runs is quick and the other is not.
    """
    if bool(old.machine.get("quick")) != bool(new.machine.get("quick")):
        raise ValueError("a quick run cannot be compared with a full one: the inputs differ")
    lines = []
    for name in CONDITIONS:
        a, b = old.machine.get(name), new.machine.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            for part in dict.fromkeys((*a, *b)):
                if a.get(part) != b.get(part):
                    lines.append(f"{name} of {part} differ: {a.get(part)} / {b.get(part)}")
        elif a != b:
            lines.append(f"{name} differs: {a} / {b}")
    count = dict.fromkeys(("faster", "slower", "same", "not known"), 0)
    one_table = one_row = 0
    for name in dict.fromkeys((*old.tables, *new.tables)):
        if name not in old.tables or name not in new.tables:
            one_table += 1
            lines.append(f"only in the {'second' if name in new.tables else 'first'} file: {name}")
            continue
        table = new.tables[name]
        before, after = _rows(old.tables[name]), _rows(table)
        one_row += len(before.keys() ^ after.keys())
        for key, row in after.items():
            if key not in before:
                continue
            where = f"{name}: {key}"
            lines += _errors(where, before[key], row)
            for what, times in row.times.items():
                earlier = before[key].times.get(what, Times(reason="not there"))
                verdict = _verdict(earlier, times)
                count[verdict] += 1
                if verdict not in ("faster", "slower"):
                    continue
                lines.append(
                    f"{verdict}: {where}: {what}: "
                    f"{earlier.low:.4g} to {earlier.high:.4g}, now "
                    f"{times.low:.4g} to {times.high:.4g} {table.time} "
                    f"(medians {times.median / earlier.median:.3f})"  # type: ignore[operator]
                )
    lines.append(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    lines.append(f"only in one file: {one_row} rows, {one_table} tables")
    lines.append(
        "faster and slower: beyond the spread within the two runs; "
        "for commits use benchmarks/compare_commits.py"
    )
    return "\n".join(lines)

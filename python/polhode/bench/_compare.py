"""Two runs of the suite against each other."""

from __future__ import annotations

from polhode.bench._results import Results, Row
from polhode.bench._timing import Times

#: A change of the median by less than this part is not told, even if the quartiles are disjoint.
LEAST_CHANGE = 0.02


def _key(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.labels.items())


def _verdict(old: Times, new: Times) -> str:
    if old.reason or new.reason:
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


def compare(old: Results, new: Results) -> str:
    """What became faster or slower beyond the noise, as text.

    A time changed if the intervals between its quartiles have no common point and the medians
    differ by more than 2 %.
    """
    lines = []
    for name in ("processor", "level", "compiler", "python", "versions", "commit"):
        a, b = old.machine.get(name), new.machine.get(name)
        if a != b:
            lines.append(f"{name} differs: {a} / {b}")
    count = dict.fromkeys(("faster", "slower", "same", "not known", "only in one"), 0)
    for table in new.tables.values():
        before = (
            {_key(row): row for row in old.tables[table.name].rows}
            if (table.name in old.tables)
            else {}
        )
        for row in table.rows:
            for what, times in row.times.items():
                earlier = before[_key(row)].times.get(what) if _key(row) in before else None
                verdict = "only in one" if earlier is None else _verdict(earlier, times)
                count[verdict] += 1
                if earlier is None or verdict not in ("faster", "slower"):
                    continue
                lines.append(
                    f"{verdict}: {table.name}: {_key(row)}: {what}: "
                    f"{earlier.low:.4g} to {earlier.high:.4g}, now "
                    f"{times.low:.4g} to {times.high:.4g} {table.time} "
                    f"(medians {times.median / earlier.median:.3f})"  # type: ignore[operator]
                )
    lines.append(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return "\n".join(lines)

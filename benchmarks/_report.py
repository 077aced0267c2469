"""Tables as text and as HTML, and the report of a run, which opens without a network."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable

from benchmarks import _drawing, _page
from benchmarks._registry import Case
from benchmarks._results import Results, Row, Table, Value
from benchmarks._timing import Ratio, Times

#: A table of more rows is closed until the reader opens it.
MOST_ROWS = 30
#: The clocks of `Times`.
CLOCKS = {
    "thread": "CPU time of the thread",
    "process": "CPU time of the process",
    "wall": "wall time",
}


def number(value: Value) -> str:
    """A number with the digits that mean something."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if abs(value) >= 1e5:
        return f"{value:.2e}"
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.2g}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def interval(what: Times | Ratio) -> str:
    """Median and quartiles of a ratio or a time; the reason where there are none."""
    if what.reason:
        return what.reason
    note = f"; {what.note}" if isinstance(what, Times) and what.note else ""
    return f"{number(what.median)} [{number(what.low)}, {number(what.high)}]{note}"


def _columns(table: Table) -> list[tuple[str, str]]:
    """Kind and name of the columns, in the order of their first row."""
    found: dict[tuple[str, str], None] = {}
    for kind in ("labels", "times", "ratios", "values"):
        for row in table.rows:
            found.update(dict.fromkeys((kind, name) for name in getattr(row, kind)))
    if any(row.note for row in table.rows):
        found["note", "note"] = None
    return list(found)


def heading(table: Table, kind: str, name: str) -> tuple[str, str]:
    """Name of a column and its unit."""
    if kind == "times":
        measured = [row.times[name] for row in table.rows if name in row.times]
        clocks = dict.fromkeys(CLOCKS.get(x.clock, x.clock) for x in measured if x.windows)
        unit = table.units.get(name)
        return name, "; ".join([table.time, *clocks, *([unit] if unit else [])])
    if kind == "ratios":
        return name, table.units.get(name, "ratio of times in neighbouring windows")
    return name, table.units.get(name, "")


def _cell(row: Row, kind: str, name: str) -> str:
    if kind == "note":
        return row.note
    cell = getattr(row, kind).get(name)
    if cell is None:
        return ""
    if isinstance(cell, Ratio):
        return interval(cell)
    if isinstance(cell, Times):
        return cell.reason or f"{number(cell.least)}; {interval(cell)}"
    return number(cell)


def text(table: Table) -> str:
    """The table for a terminal."""
    columns = _columns(table)
    heads = [heading(table, *column) for column in columns]
    cells = [[_cell(row, *column) for column in columns] for row in table.rows]
    widths = [
        max(len(head[0]), *(len(line[i]) for line in cells)) if cells else len(head[0])
        for i, head in enumerate(heads)
    ]
    lines = [f"{table.title} ({table.name})", *table.text.splitlines()]
    if any(kind == "times" for kind, _ in columns):
        lines.append(f"Times in {table.time}: minimum; median [quartiles] of the windows.")
    lines += [
        f"{name}: {unit}"
        for (name, unit), (kind, _) in zip(heads, columns, strict=True)
        if unit and (name in table.units or kind != "ratios")
    ]
    for line in [[name for name, _ in heads], *cells]:
        row = "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True))
        lines.append(row.rstrip())
    if table.fault:
        lines.append(f"failed: {table.fault}")
    return "\n".join(lines)


def _html_table(table: Table) -> Iterable[str]:
    columns = _columns(table)
    many = len(table.rows) > MOST_ROWS
    if many:
        yield f"<details><summary>{len(table.rows)} rows</summary>"
    yield '<div class="wide"><table><tr>'
    for column in columns:
        name, unit = heading(table, *column)
        yield f"<th>{html.escape(name)}<small>{html.escape(unit)}</small></th>"
    yield "</tr>"
    for row in table.rows:
        yield "<tr>"
        for kind, name in columns:
            cell = getattr(row, kind).get(name) if kind != "note" else row.note
            if isinstance(cell, Times | Ratio) and cell.reason:
                yield f'<td class="none">{html.escape(cell.reason)}</td>'
            elif isinstance(cell, Times):
                small = f"<small>{interval(cell)}</small>"
                yield f"<td>{number(cell.least)}{small}</td>"
            else:
                yield f"<td>{html.escape(_cell(row, kind, name))}</td>"
        yield "</tr>"
    yield "</table></div>"
    if many:
        yield "</details>"


def _remark(table: Table, quick: bool) -> str:
    """A remark on the picture if points of it are missing."""
    texts = ["quick run: few steps and few bodies"] if quick else []
    lost = [t.reason for row in table.rows for t in row.times.values() if t.reason]
    if dropped := sum(reason.startswith(("loaded", "spread")) for reason in lost):
        texts.append(f"runs without a valid time, not shown: {dropped}")
    return "; ".join(texts)


def pictures(case: Case, table: Table, quick: bool = False) -> tuple[list[bytes], str]:
    """The pictures of a table as PNG, and why some are missing.

    There are none without Matplotlib or without rows.
    """
    if not table.rows:
        return [], ""
    try:
        from matplotlib.figure import Figure  # noqa: F401
    except ImportError:
        return [], ""
    made, faults = [], []
    for draw in case.pictures:
        buffer = io.BytesIO()
        try:
            made_figure = draw(table)
            _drawing.remark(made_figure, _remark(table, quick))
            made_figure.savefig(buffer, format="png", dpi=110)
        except Exception as error:
            faults.append(f"picture: {type(error).__name__}: {error}")
            continue
        made.append(buffer.getvalue())
    return made, "; ".join(faults)


def report(results: Results, images: dict[str, list[bytes]]) -> str:
    """The report: one HTML file with everything in it."""
    lines = [
        "<p>The headings name the clock of the times: the minimum, and below it median [quartiles] "
        "of many short windows. Functions that are compared take turns, window by window; their "
        "ratio is that of neighbouring windows. Where other programs took the processor ('loaded') "
        "or the windows differ too much ('spread') there is no number. Errors are explained in the "
        "headings.</p><div class='wide'><table class='words'>",
    ]
    for name, value in results.machine.items():
        shown = html.escape(_page.shown(value))
        lines.append(f"<tr><th>{html.escape(name)}</th><td>{shown}</td></tr>")
    lines.append("</table></div>")
    lines.append(_page.contents((table.name, table.title) for table in results.tables.values()))
    for table in results.tables.values():
        lines.append(f"<h2 id='{table.name}'>{html.escape(table.title)}</h2>")
        lines.append(_page.prose(table.text))
        lines.append(
            f"<p><code>python -m benchmarks --only {table.name}</code>, {table.seconds:g} s</p>"
        )
        if table.fault:
            lines.append(f"<p class='fault'>failed: {html.escape(table.fault)}</p>")
        lines += [_page.picture(image, table.title) for image in images.get(table.name, [])]
        lines += _html_table(table)
    return _page.page("Benchmarks", lines)

"""Tables in Markdown, CSV and HTML, and the report of a run."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polhode as ph
from benchmarks import _machine, _page
from benchmarks.papers import _drawing
from benchmarks.papers._registry import Cell, Item, Result, Value, counts, papers

HEADINGS = (
    "value",
    "published",
    "bound chosen here",
    "recomputed",
    "should be",
    "with the slip",
    "unit",
    "tolerance",
    "verdict",
)


@dataclass(frozen=True)
class Done:
    """An item that was run."""

    item: Item
    result: Result
    seconds: float
    quick: bool


def shown(value: Value | None) -> str:
    """The value as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        low, high = value
        if low == float("-inf"):
            return f"at most {high:g}"
        if high == float("inf"):
            return f"at least {low:g}"
        return f"{low:g} to {high:g}"
    return f"{value:.7g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.5g}"


def _as_printed(value: Value | None, printed: str) -> str:
    """A number with one digit more than the printed one has."""
    digits = len(printed.lower().partition("e")[0].lstrip("-0.").replace(".", ""))
    return f"{value:#.{digits + 1}g}" if printed and isinstance(value, float) else shown(value)


def _tolerance(cell: Cell) -> str:
    if isinstance(cell.published, str | bool) or not cell.tolerance:
        return ""
    if cell.kind == "factor":
        return f"factor {cell.tolerance:g}"
    return f"{cell.tolerance:.2g}" + (" relative" if cell.kind == "relative" else "")


def _should_be(cell: Cell) -> str:
    """The value that should have been printed, rounded to its tolerance."""
    value, near = cell.should_be, cell.right_tolerance
    if not isinstance(value, float) or value == 0:
        return shown(value)
    if near is None:
        near = cell.tolerance * (abs(value) if cell.kind == "relative" else 1.0)
    if near == 0:
        return shown(value)
    place = math.floor(math.log10(near))
    digits = max(math.floor(math.log10(abs(value))) - place + 1, 1)
    text = f"{value:.0f}" if place >= 0 else f"{value:#.{digits}g}"
    return f"{text} ± {near:.0f}" if place >= 0 else f"{text} ± {near:.1g}"


def row(cell: Cell) -> list[str]:
    """The cell under HEADINGS."""
    expected = cell.printed or shown(cell.published)
    return [
        cell.label,
        "" if cell.chosen else expected,
        expected if cell.chosen else "",
        _as_printed(cell.recomputed, cell.printed),
        _should_be(cell),
        _as_printed(cell.slipped, cell.printed),
        cell.unit,
        _tolerance(cell),
        cell.verdict,
    ]


def rows(cells: Sequence[Cell]) -> list[list[str]]:
    """Headings and cells of a table, without its empty columns."""
    lines = [list(HEADINGS), *map(row, cells)]
    kept = [i for i in range(len(HEADINGS)) if any(line[i] for line in lines[1:])]
    return [[line[i] for i in kept] for line in lines]


def summary(result: Result) -> str:
    """The verdict and how many cells have each, one line."""
    number = counts(result.cells)
    parts = ", ".join(f"{n} {verdict}" for verdict, n in number.items() if n)
    return f"{result.verdict} ({parts})"


def verdicts(items: Iterable[tuple[Item, str]]) -> str:
    """Items with their verdicts, as a table in Markdown."""
    lines = [("item", "where", "shows", "verdict")]
    lines += [
        (f"`{item.name}`", f"{item.paper}, {item.where}", item.shows, text) for item, text in items
    ]
    return _markdown_table(lines)


def _explanations(cells: Iterable[Cell]) -> list[str]:
    """Each explanation once, after the labels of its cells."""
    texts: dict[str, list[str]] = {}
    for cell in cells:
        if cell.explanation:
            texts.setdefault(cell.explanation, []).append(cell.label)
    return [
        ("; ".join(labels) if len(labels) < 4 else f"{labels[0]}, and {len(labels) - 1} more")
        + f": {text}."
        for text, labels in texts.items()
    ]


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    first, *rest = [[x.replace("|", r"\|") for x in line] for line in rows]
    lines = ["| " + " | ".join(first) + " |", "|" + " --- |" * len(first)]
    lines += ["| " + " | ".join(line) + " |" for line in rest]
    return "\n".join(lines) + "\n"


def markdown(done: Done, *, picture: bool) -> str:
    """The item as Markdown."""
    item, result = done.item, done.result
    parts = [f"# {item.name}\n", f"{item.paper}, {item.where}: {item.shows}.\n"]
    parts.append(f"{_provenance(done)}\n")
    if picture:
        parts.append(f"![{item.shows}]({item.name}.png)\n")
    parts += [f"{note}\n" for note in result.notes]
    for table in result.tables:
        parts.append(f"## {table.title}\n")
        parts.append(_markdown_table(rows(table.cells)))
        if table.tolerance:
            parts.append(f"Tolerance: {table.tolerance}\n")
        parts += [f"- {text}" for text in _explanations(table.cells)]
        parts.append("")
    return "\n".join(parts)


def comma_separated(done: Done) -> str:
    """The item as CSV, one line a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "table", *HEADINGS, "explanation"])
    for table in done.result.tables:
        for cell in table.cells:
            numbers = [  # with all digits
                repr(x) if isinstance(x, float) else shown(x)
                for x in (cell.recomputed, cell.should_be, cell.slipped)
            ]
            head, rest = row(cell)[:3], row(cell)[6:]
            writer.writerow([done.item.name, table.title, *head, *numbers, *rest, cell.explanation])
    return text.getvalue()


def _provenance(done: Done) -> str:
    how = "with --quick, " if done.quick else ""
    return (
        f"Verdict: {summary(done.result)}; recomputed {how}in {done.seconds:.1f} s "
        f"by polhode {ph.__version__}, level {ph.build_info()['isa']}."
    )


#: The meaning of the verdicts.
MEANINGS = {
    "matches": "the two values agree within the tolerance, or the value is within the bound",
    "slip explained": "they do not agree, and this run checked the explanation: the recomputed "
    "value is the one that should have been printed, derived from other published numbers or by a "
    "formula and not by the library, or the slip made on purpose gives the printed value",
    "not comparable": "the two values are different quantities, such as operations and times",
    "unexplained": "the library always gives the same value, it is not the printed one, and we "
    "found no reason",
    "differs": "they do not agree, and no slip explains it; the table says what is known",
}
#: Classes of the verdicts in the style sheet.
CLASSES = {
    "matches": "matches",
    "slip explained": "slip",
    "not comparable": "none",
    "unexplained": "unknown",
    "differs": "differs",
}


def _html_table(rows: Sequence[Sequence[str]], kind: str = "") -> str:
    def cell(tag: str, text: str) -> str:
        kind = CLASSES.get(text)
        mark = f' class="{kind}"' if kind else ""
        return f"<{tag}{mark}>{html.escape(text)}</{tag}>"

    first, *rest = rows
    lines = ["<tr>" + "".join(cell("th", x) for x in first) + "</tr>"]
    lines += ["<tr>" + "".join(cell("td", x) for x in line) + "</tr>" for line in rest]
    return f'<div class="wide"><table class="{kind}">\n' + "\n".join(lines) + "\n</table></div>"


def section(done: Done) -> str:
    """The item as a part of the HTML page, without its title and picture."""
    parts = [f"<p>{html.escape(_provenance(done))}</p>"]
    parts += [_page.prose(note) for note in done.result.notes]
    for table in done.result.tables:
        parts.append(f"<h3>{html.escape(table.title)}</h3>")
        parts.append(_html_table(rows(table.cells)))
        if table.tolerance:
            parts.append(f"<p>Tolerance: {html.escape(table.tolerance)}</p>")
        texts = _explanations(table.cells)
        if texts:
            lines = (f"<li>{html.escape(text)}</li>" for text in texts)
            parts.append("<ul>" + "".join(lines) + "</ul>")
    return "\n".join(parts)


def _about(command: str) -> Iterable[str]:
    """How to read the report, and how it was made."""
    meanings = "".join(
        f"<li><b>{name}</b>: {html.escape(text)}.</li>" for name, text in MEANINGS.items()
    )
    yield (
        "<p>Each cell of the tables has the published value beside the recomputed one. A bound "
        "chosen here stands where the paper has no number. The verdict of an item is the worst of "
        f"its cells.</p><ul>{meanings}</ul>"
    )
    about = {"command": command, **_machine.machine()}
    about = {name: value for name, value in about.items() if not name.startswith("load")}
    lines = [("run", ""), *((name, _page.shown(value)) for name, value in about.items())]
    yield _html_table(lines, "words")


def _bibliography() -> str:
    """References of the papers, and their parts that no item recomputes."""
    entries = []
    for paper in papers().values():
        text = f"{paper['name']}: {paper['reference']}."
        if "left_out" in paper:
            text += f" Left out: {paper['left_out']}."
        entries.append(f"<li>{html.escape(text)}</li>")
    return f"<h2>Papers</h2><ul>{''.join(entries)}</ul>"


def report(stored: Sequence[tuple[Item, dict[str, str]]], out: Path, command: str) -> str:
    """One HTML page of the stored results of a directory, pictures inside."""
    rows = [("item", "paper", "table or figure", "shows", "verdict")]
    rows += [
        (item.name, item.paper, item.where, item.shows, kept.get("verdict", kept["summary"]))
        for item, kept in stored
    ]
    overview = _html_table(rows, "words")
    for item, _ in stored:
        link = f'<a href="#{item.name}">{item.name}</a>'
        overview = overview.replace(f"<td>{item.name}</td>", f"<td>{link}</td>")
    parts = [*_about(command), overview]
    for item, kept in stored:
        parts.append(f'<h2 id="{item.name}">{html.escape(item.name)}</h2>')
        parts.append(f"<p>{html.escape(f'{item.paper}, {item.where}: {item.shows}.')}</p>")
        picture = out / f"{item.name}.png"
        if kept.get("picture") == "yes" and picture.is_file():
            parts.append(_page.picture(picture.read_bytes(), item.shows))
        words = "{summary}, run of {date} by polhode {version}".format(**kept)
        parts.append(kept.get("section") or f"<p>{html.escape(words)}</p>")
    parts.append(_bibliography())
    return _page.page("Published tables and figures, recomputed", parts)


def write(done: Done, out: Path) -> Path | None:
    """Write tables and picture of the item into the directory; the path of the picture."""
    picture = None
    if done.result.figure is not None:
        try:
            remark = "quick run: fewer points than the paper" if done.quick else ""
            picture = _drawing.save(done.result.figure, out / done.item.name, remark)[0]
        except ImportError as error:
            done.result.notes.append(f"No picture: {error}.")
    text = markdown(done, picture=picture is not None)
    (out / f"{done.item.name}.md").write_text(text, encoding="utf-8")
    (out / f"{done.item.name}.csv").write_text(comma_separated(done), encoding="utf-8")
    return picture

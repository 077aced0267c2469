"""HTML tables of objects and of lists, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, TypeVar

T = TypeVar("T")

#: Most bodies that a table lists.
MOST_ROWS = 10


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a line of headings; all text is escaped."""
    top = "".join(f"<th>{_escaped(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(x)}</td>' for x in row)}</tr>" for row in rows)
    return (
        f"<table><caption>{_escaped(title)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def facts(title: str, content: dict[str, Any]) -> str:
    """A table of names and values."""
    rows = "".join(
        f'<tr><th style="text-align: left">{_escaped(name)}</th>'
        f'<td style="text-align: left">{_text(value)}</td></tr>'
        for name, value in content.items()
    )
    return f"<table><caption>{_escaped(title)}</caption><tbody>{rows}</tbody></table>"


def table_of_bodies(title: str, shape: tuple[int, ...], columns: dict[str, Any]) -> str:
    """A table of the first bodies of a batch, or of one; the columns have the shape of the batch.

    A column may have further axes.
    """
    if not shape:
        return facts(title, columns)
    count = prod(shape)
    flat = [column.reshape(count, *column.shape[len(shape) :]) for column in columns.values()]
    rows: list[list[Any]] = [[i, *(x[i] for x in flat)] for i in range(min(count, MOST_ROWS))]
    if count > MOST_ROWS:
        rows.append(["…", *("" for _ in flat)])
    return table(f"{title}: {count} bodies, shape {shape}", ["body", *columns], rows)


def _escaped(text: str) -> str:
    from html import escape  # not as polhode is imported: a millisecond for the names of characters

    return escape(text)


def _text(value: Any) -> str:
    """A value as a person reads it, escaped."""
    if value is None:
        text = ""
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, dict):
        text = ", ".join(f"{name}={x!r}" for name, x in value.items())
    elif isinstance(value, tuple):
        text = ", ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in value)
    elif isinstance(value, float):
        text = f"{value:.6g}"
    else:
        text = getattr(value, "name", None) or str(value)
    return _escaped(str(text))


class NotebookList(list[T]):
    """A list that a notebook shows as a table with these attributes of its elements."""

    def __init__(self, items: Iterable[T], title: str, columns: Sequence[str]) -> None:
        super().__init__(items)
        self._title, self._columns = title, tuple(columns)

    def _repr_html_(self) -> str:
        rows = [[getattr(item, name) for name in self._columns] for item in self]
        return table(self._title, [name.replace("_", " ") for name in self._columns], rows)

"""Lists that notebooks show as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class NotebookList(list[T]):
    """A list that a notebook shows as a table with these attributes of its elements."""

    def __init__(self, items: Iterable[T], title: str, columns: Sequence[str]) -> None:
        super().__init__(items)
        self._title, self._columns = title, tuple(columns)

    def _repr_html_(self) -> str:
        from html import escape  # not as polhode is imported: it takes a millisecond

        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in self._columns)
        rows = ""
        for item in self:
            cells = (escape(_text(getattr(item, name))) for name in self._columns)
            rows += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        return (
            f"<table><caption>{self._title}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


def _text(value: Any) -> str:
    """A value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}={x!r}" for name, x in value.items())
    if isinstance(value, tuple):
        return ", ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in value)
    return str(value)

"""The page of a report, of the suite and of the papers: HTML that needs no network."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 2em auto; max-width: 75em;
       padding: 0 1em; }
h2 { margin-top: 2.5em; border-bottom: 1px solid #ccc; }
.wide { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd; vertical-align: top; }
th { background: #f5f5f5; font-weight: 600; max-width: 14em; }
th:first-child, td:first-child, .words th, .words td { text-align: left; }
th small, td small { display: block; color: #666; font-weight: 400; }
.words td:first-child { white-space: nowrap; }
.matches { background: #d9eefb; }
.slip { background: #fdf0cd; }
.unknown { background: #e4dcec; }
.differs { background: #f7d5c2; font-weight: bold; }
td.none { color: #a33; text-align: left; max-width: 18em; }
p.fault { color: #a33; }
img { max-width: 100%; }
p, li { max-width: 60em; }
nav ul { columns: 2; }
summary { cursor: pointer; color: #05a; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The page with the title as its heading above the parts, which are HTML."""
    lines = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>polhode: {html.escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        *parts,
        "</body></html>\n",
    ]
    return "\n".join(lines)


def prose(text: str) -> str:
    """The paragraphs of a docstring; text in backquotes becomes code."""
    paragraphs = (html.escape(" ".join(x.split())) for x in text.split("\n\n"))
    return re.sub("`([^`]+)`", r"<code>\1</code>", "".join(f"<p>{x}</p>" for x in paragraphs))


def picture(png: bytes, alt: str) -> str:
    """A picture within the page."""
    data = base64.b64encode(png).decode("ascii")
    return f'<p><img alt="{html.escape(alt)}" src="data:image/png;base64,{data}"></p>'


def contents(entries: Iterable[tuple[str, str]]) -> str:
    """Links to the headings with these names, by their texts."""
    links = (f'<li><a href="#{name}">{html.escape(text)}</a></li>' for name, text in entries)
    return f"<nav><ul>{''.join(links)}</ul></nav>"


def shown(value: object) -> str:
    """A value of the table of the machine as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "not known" if value is None else str(value)

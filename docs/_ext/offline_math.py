"""Formulas as MathML, which browsers draw without scripts and network.

The package `ziamath` has the font, STIX Two Math (SIL Open Font License).
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

_log = logging.getLogger(__name__)

# Read by docutils in another way than by TeX, without an error: "\frac12 x" as 12/x, and the index
# of "\bar x_1" as a limit.
_MISREAD = re.compile(r"\\[dt]?frac\d\d|\\(bar|dot|hat|tilde|vec) ?(\{[^}]*\}|\\?[A-Za-z]+)\}?[_^]")

# TeX sets a thin space between the name of a function and a letter on either side, browsers do not.
_FUNCTION = (
    r"(?:<mi>[a-z]{2,}</mi>\s*<mo>&ApplyFunction;</mo>"
    r"|<msup>\s*<mi>[a-z]{2,}</mi>\s*<mn>\d</mn>\s*</msup>)\s*"
)
_LETTER = "m(?:i|n|sub|sup|frac)"
_BESIDE = re.compile(rf"</{_LETTER}>\s*(?={_FUNCTION})|{_FUNCTION}(?=<{_LETTER}\b)")


def mathml(tex: str, node: nodes.Element, *, block: bool = False) -> str:
    """MathML of a formula; what cannot be converted is a warning, and shown as TeX."""
    if misread := _MISREAD.search(tex):
        _log.warning("formula %r: write %r in another way", tex, misread[0], location=node)
    try:
        made = str(latex2mathml.tex2mathml(tex, as_block=block))
        made = _BESIDE.sub(r'\g<0><mspace width="0.17em"></mspace>', made)
        # Bars and primes are no binary operators.
        return re.sub(r"<mo([^>]*)>(?=['|]</mo>)", r'<mo\1 lspace="0" rspace="0">', made)
    except MathError as error:
        _log.warning("formula %r: %s", tex, error, location=node)
        return f"<code>{tex}</code>"


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    self.body.append(mathml(node.astext(), node))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    """Write a formula of its own paragraph, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(mathml(node.astext(), node, block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append("</div>")
    raise nodes.SkipNode


def find_text(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of TeX that is no formula, such as one of which a line begins like an item of a list."""
    verbatim = (nodes.math, nodes.math_block, nodes.raw, nodes.literal, nodes.literal_block)
    for text in doctree.findall(nodes.Text):
        found = re.search(r"\\[a-z]+[{ ].*", text.astext())
        if found and not isinstance(text.parent, verbatim):
            _log.warning("formula as text: %r", found[0], location=text.parent)


def add_font(_: Sphinx, config: Config) -> None:
    """Copy the font to the pages."""
    found = importlib.util.find_spec("ziamath")
    if found and found.origin:
        font = Path(found.origin).parent / "fonts/STIXTwoMath-Regular.ttf"
        config.html_static_path.append(str(font))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer "mathml"."""
    app.connect("config-inited", add_font)
    app.connect("doctree-read", find_text)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

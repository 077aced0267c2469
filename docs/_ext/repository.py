"""Links and names as they stand in the sources.

The pages link to files of the repository, so that they can be read there as well. A file of
`included_files` is a page of the manual: its text replaces that of the page, and links to the file
lead to the page. Any other file becomes a download. Names in single backticks of docstrings become
links if they are names of the package, else literal text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx import addnodes
from sphinx.application import Sphinx


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take the text of a page from its file, and lead links to files to their pages."""
    pages = {app.srcdir.parent / name: page for name, page in app.config.included_files.items()}
    page = app.srcdir / f"{docname}.md"
    path = next((file for file, of in pages.items() if of == docname and of != "index"), page)
    if path != page:
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8")

    def target(link: re.Match[str]) -> str:
        file = Path(os.path.normpath(path.parent / link[1]))
        if file in pages:
            file = app.srcdir / f"{pages[file]}.md"
        return "](" + os.path.relpath(file, page.parent)

    source[0] = re.sub(r"\]\((?![a-z]+:|#)([^)#]+)", target, source[0])


def name_role(
    role: str,
    rawtext: str,
    text: str,
    line: int,
    inliner: Inliner,
    options: dict[str, Any] | None = None,
    content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return a literal, which is a link if it is a name of the package."""
    env = inliner.document.settings.env
    xref = addnodes.pending_xref(
        rawtext,
        nodes.literal(text, text, classes=["xref", "py"]),
        refdomain="py",
        reftype="obj",
        reftarget=text.removesuffix("()").replace("ph.", "polhode.", 1),
        refdoc=env.docname,
        refspecific=True,
        refwarn=False,
        **{"py:module": env.ref_context.get("py:module")},
        **{"py:class": env.ref_context.get("py:class")},
    )
    return [xref], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both; `included_files` maps files of the repository to pages."""
    app.add_config_value("included_files", {}, "env")
    app.connect("source-read", read)
    app.add_role("name", name_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Links and names as they stand in the sources.

The pages link to files of the repository, so that they can be read there as well. A file of
`included_files` is a page of the manual: its text replaces that of the page, and links to the file
lead to the page. Any other file becomes a download. Names in single backticks of docstrings become
links if they are names of the package, else literal text. Keys such as [CZ08] lead to the
references.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take the text of a page from its file, and lead links to files to their pages."""
    pages = {app.srcdir.parent / name: page for name, page in app.config.included_files.items()}
    page = app.srcdir / f"{docname}.md"
    own = {of: file for file, of in pages.items() if not of.endswith("index")}
    path = own.get(docname, page)
    if path != page:
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8")

    def target(link: re.Match[str]) -> str:
        file = Path(os.path.normpath(path.parent / link[1]))
        if file in pages:
            file = app.srcdir / f"{pages[file]}{file.suffix}"
        return "](" + os.path.relpath(file, page.parent)

    # The empty line that ends an example of doctest.
    source[0] = re.sub(r"^(```python\n.*?)\n+```$", r"\1\n```", source[0], flags=re.M | re.S)
    source[0] = re.sub(r"\]\((?![a-z]+:|#)([^)#]+)", target, source[0])


def docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let |m| be an absolute value, and no heading of a module's docstring a section."""
    for i, line in enumerate(lines):
        if what == "module" and i and line and not line.strip("-"):
            lines[i - 1 : i + 1] = [f".. rubric:: {lines[i - 1]}", ""]
        elif not line.lstrip().startswith((">>>", "...")):
            text = line.split("``")
            text[::2] = [part.replace("|", r"\|") for part in text[::2]]
            lines[i] = "``".join(text)


def name_role(
    role: str,
    rawtext: str,
    text: str,
    line: int,
    inliner: Inliner,
    options: dict[str, Any] | None = None,
    content: Sequence[str] = (),
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return a literal, which becomes a link if it is a name of the package."""
    env = inliner.document.settings.env
    reference = addnodes.pending_xref(
        rawtext,
        nodes.literal(text, text, classes=["xref", "py"]),
        refdomain="py",
        reftype="obj",
        reftarget=text.removesuffix("()").replace("ph.", "polhode.", 1),
        refdoc=env.docname,
        refname=True,
    )
    for key in ("py:module", "py:class"):
        reference[key] = env.ref_context.get(key)
    return [reference], []


def in_package(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, text: nodes.TextElement
) -> nodes.Element | None:
    """Look for an unknown name in the package itself; if it is not there, it is a literal."""
    target = node["reftarget"]
    if not node.get("refname"):
        return None
    if not target.startswith("polhode."):
        again = node.copy()
        again["refname"] = False
        found = env.domains.python_domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", f"polhode.{target}", again, text
        )
        if found is not None:
            return found
    return text


class Keys(SphinxPostTransform):
    """Lead the keys of sources to their rows of the references."""

    default_priority = 700

    def run(self, **_: Any) -> None:
        """Mark the rows on the page of references; make links on the others."""
        file = self.app.srcdir.parent / "cpp/REFERENCES.md"
        page = self.config.included_files["cpp/REFERENCES.md"]
        keys = re.findall(r"^\| \[(\w+)\]", file.read_text(encoding="utf-8"), re.MULTILINE)
        key = re.compile(rf"\[({'|'.join(keys)})\]")
        where = self.app.builder.get_relative_uri(self.env.docname, page)
        for text in list(self.document.findall(nodes.Text)):
            parts = key.split(text.astext())
            if self.env.docname == page:
                cell = text.parent.parent
                if len(parts) == 3 and not parts[0] and isinstance(cell, nodes.entry):
                    cell["ids"].append(f"key-{parts[1].lower()}")
            elif len(parts) > 1 and not isinstance(text.parent, self.without_links):
                text.parent.replace(text, list(self.linked(parts, where)))

    without_links = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.raw)

    def linked(self, parts: list[str], where: str) -> Iterator[nodes.Node]:
        """Texts and links; every second part is a key."""
        for i, part in enumerate(parts):
            if i % 2:
                uri = f"{where}#key-{part.lower()}"
                yield nodes.reference("", f"[{part}]", internal=True, refuri=uri)
            elif part:
                yield nodes.Text(part)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register both; `included_files` maps files of the repository to pages."""
    app.add_config_value("included_files", {}, "env")
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", docstring, priority=400)
    app.connect("missing-reference", in_package)
    app.add_post_transform(Keys)
    app.add_role("name", name_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Which modules of the package import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import polhode

PACKAGE = Path(polhode.__file__).parent


def imports(node: ast.AST) -> Iterator[str]:
    """Modules of the package that are imported at import or later; types alone do not count."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from ("__init__" for name in node.names if name.name == "polhode")
    if isinstance(node, ast.ImportFrom) and node.module == "polhode":
        for name in node.names:
            found = list(PACKAGE.glob(f"{name.name}.*"))
            yield found[0].name.partition(".")[0] if found else "__init__"
    elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polhode."):
        yield str(node.module).split(".")[1]
    for child in ast.iter_child_nodes(node):
        yield from imports(child)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {p.stem: set(imports(ast.parse(p.read_text("utf-8")))) for p in PACKAGE.glob("*.py")}
    # The picture of a trajectory is drawn by a module that is loaded when it is asked for.
    graph["_trajectory"].remove("_plot")
    assert "_run" in graph["_integrate"]
    list(TopologicalSorter(graph).static_order())  # a circle is an error

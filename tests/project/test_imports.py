"""Which modules of the package import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import polhode

PACKAGE = Path(polhode.__file__).parent


def module(*parts: str) -> str:
    """The module of the package that `from polhode.part.name import ...` names, or holds."""
    for count in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:count])
        if path.is_dir() or list(path.parent.glob(f"{path.name}.*")):
            return ".".join(parts[:count])
    return "__init__"


def imports(node: ast.AST) -> Iterator[str]:
    """Modules of the package that are imported at import or later; types alone do not count."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (module(*x.name.split(".")[1:]) for x in node.names if "polhode" in x.name)
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "polhode":
        parts = str(node.module).split(".")[1:]
        yield from (module(*parts, name.name) for name in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imports(child)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts if parts[-1] != "__init__" or len(parts) == 1 else parts[:-1])
        graph[name] = set(imports(ast.parse(path.read_text("utf-8"))))
    for name in ("integration.trajectory", "motion.torque_free"):
        assert {"display.plot", "display.animate"} <= graph[name]
    assert "integration.record" in graph["_integrate"]
    assert "torques._base" in graph["torques._model"]
    assert "torques._model" in graph["torques"]
    list(TopologicalSorter(graph).static_order())  # a circle is an error

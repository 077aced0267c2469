"""Texts name files that exist, and docs/development.md the real path from a call to its kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/development.md").read_text(encoding="utf-8")
METHODS = (ROOT / "cpp/include/polhode/methods.hpp").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")


def hops(call: str) -> list[tuple[str, list[str]]]:
    """File and names of each hop; a file named without its folder is one of an earlier hop."""
    text = PAGE.split("## From a call to its kernel")[1].split("\n## ")[0]
    text = text.split(f"`ph.{call}`")[1].split("`ph.")[0]
    found: list[tuple[str, list[str]]] = []
    for _, body in re.findall(r"^(\d)\. (.*(?:\n   .*)*)", text, re.M):
        names = CODE.findall(body)
        files = [n for n in names if n.endswith((".py", ".hpp", ".cpp"))]
        known = [file for file, _ in found]
        file = files[0] if files else known[-1]
        if not (ROOT / file).exists():  # the same folder as the hop before, or the same file
            same = [f for f in known if Path(f).name == file]
            file = same[0] if same else str(Path(known[-1]).parent / file)
        found.append((file, [n for n in names if n not in files and "/" not in n]))
    return found


def word(name: str) -> str:
    """`batch::step<Method>` is found as `step`."""
    return name.split("<", maxsplit=1)[0].rsplit("::", maxsplit=1)[-1]


@pytest.mark.parametrize(("call", "most"), [("step", 5), ("integrate", 6)])
def test_each_hop_names_functions_of_its_file_and_is_named_by_the_one_before(
    call: str, most: int
) -> None:
    path = hops(call)
    assert 5 <= len(path) <= most  # the last of `integrate` counts three: it ends as `step` does
    before = None
    for file, names in path:
        source = (ROOT / file).read_text(encoding="utf-8")
        for name in names:
            assert re.search(rf"\b{word(name)}\b", source), f"{file} has no {name}"
        if before is not None:
            assert re.search(rf"\b{word(names[0])}\b", before), f"nothing calls {names[0]}"
        before = METHODS if "advance" in names else source  # the row of a method names its kernel


def test_every_file_that_a_text_names_by_its_path_exists() -> None:
    tops = "cpp|python|tests|docs|benchmarks|examples|packaging"
    path = re.compile(
        rf"(?<![\w./-])(?:{tops})/[\w./-]*\w\.(?:py|hpp|cpp|h|f90|md|toml|txt|cmake)\b"
    )
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests/README.md"]
    for folder in ("cpp", "python", "docs", "benchmarks", "examples", ".ci"):
        texts += [
            x for x in (ROOT / folder).rglob("*.*") if x.suffix in {".py", ".hpp", ".cpp", ".md"}
        ]
    named = {
        name: text for text in texts for name in path.findall(text.read_text(encoding="utf-8"))
    }
    assert len(named) > 100
    missing = {name: text for name, text in named.items() if not (ROOT / name).exists()}
    assert set(missing) == {"examples/gallery/plot_NAME.py"}, missing

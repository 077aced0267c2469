"""Every source cited in code, tests and pages is in cpp/REFERENCES.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEY = re.compile(r"\[(v?[A-Z][A-Za-z]+\d{2}[a-z]?|DLMF)\]")
DLMF_NUMBER = re.compile(r"\bDLMF \d")
SOURCES = sorted(
    path
    for folder in ("cpp", "python", "tests", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".hpp", ".cpp", ".py", ".pyi", ".toml", ".md"}
    and path != Path(__file__).resolve()
)


def known_keys() -> set[str]:
    """Keys of the table in REFERENCES.md."""
    text = (ROOT / "cpp/REFERENCES.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| \[([^\]]+)\] \|", text, flags=re.MULTILINE))


def cited_in(text: str) -> set[str]:
    """Keys that a text cites; a bare `DLMF 19.1.1` cites [DLMF]."""
    keys = set(KEY.findall(text))
    return keys | {"DLMF"} if DLMF_NUMBER.search(text) else keys


def test_sources_cite_something() -> None:
    # Checks the pattern and the paths: the exact step cites these.
    cited: set[str] = set()
    for path in SOURCES:
        cited |= cited_in(path.read_text(encoding="utf-8"))
    assert {"CZ08", "Gus10", "DLMF"} <= cited


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_key_is_listed(path: Path) -> None:
    assert cited_in(path.read_text(encoding="utf-8")) <= known_keys()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("// [CZ08] eq. (9)", {"CZ08"}),
        ("[vZS07], DLMF 19.11.5", {"vZS07", "DLMF"}),
        ("[McL95], [McL95b]", {"McL95", "McL95b"}),
        ("[[gnu::always_inline]] a[i] DLMF itself", set()),
    ],
)
def test_pattern(text: str, keys: set[str]) -> None:
    assert cited_in(text) == keys

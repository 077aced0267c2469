"""Every source cited in code, tests and pages is in cpp/REFERENCES.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = re.compile(r"\[(v?[A-Z][A-Za-z]+\d{2}[a-z]?|DLMF)\]")
DLMF_NUMBER = re.compile(r"\bDLMF \d")
FOLDERS = (".ci", "benchmarks", "cpp", "docs", "examples", "python", "tests")
REFERENCES = ROOT / "cpp/REFERENCES.md"
SOURCES = sorted(
    path
    for path in (*ROOT.glob("*.*"), *(x for f in FOLDERS for x in (ROOT / f).rglob("*")))
    if path.is_file()
    and "__pycache__" not in path.parts
    and path.suffix not in (".npz", ".png")
    and path not in (Path(__file__).resolve(), REFERENCES)
)


def known_keys() -> set[str]:
    """Keys of the table in REFERENCES.md."""
    text = REFERENCES.read_text(encoding="utf-8")
    return set(re.findall(r"^\| \[([^\]]+)\] \|", text, flags=re.MULTILINE))


def cited_in(text: str) -> set[str]:
    """Keys that a text cites; a bare `DLMF 19.1.1` cites [DLMF]."""
    keys = set(KEY.findall(text))
    return keys | {"DLMF"} if DLMF_NUMBER.search(text) else keys


def cited() -> dict[str, set[str]]:
    """The keys that each file cites; arrays and pictures cite nothing."""
    return {
        path.relative_to(ROOT).as_posix(): cited_in(path.read_text("utf-8", errors="ignore"))
        for path in SOURCES
    }


def test_every_key_is_listed() -> None:
    known = known_keys()
    assert {path: keys - known for path, keys in cited().items() if keys - known} == {}


def test_every_listed_source_is_cited() -> None:
    assert known_keys() - set().union(*cited().values()) == set()


def test_all_kinds_of_files_are_read() -> None:
    """Each of these cites something: a docstring, comments of C++, C and Fortran, pages, data."""
    for path in (
        "python/polhode/_integrate.py",
        "cpp/include/polhode/torque_free/exact.hpp",
        "cpp/include/polhode.h",
        "examples/fortran/heavy_top.f90",
        "docs/families/exact.md",
        "benchmarks/papers/published.toml",
        "tests/data/buss.json",
        "cpp/generate/preprocessing_coefficients.txt",
    ):
        assert cited()[path], path


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

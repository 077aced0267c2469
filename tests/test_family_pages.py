"""Every method and splitting scheme has its formulas on exactly one page of docs/families."""

import re
from pathlib import Path

import pytest

import polhode as ph

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs/families").glob("*.md"))


def listed(word: str) -> list[str]:
    """The names after "Methods:" or "Schemes:" on the pages, up to the end of the paragraph."""
    names = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for paragraph in re.findall(rf"^{word}: (.*?)\n\n", text, flags=re.MULTILINE | re.DOTALL):
            names += re.findall(r"`(\w+)`", paragraph)
    return names


@pytest.mark.parametrize(
    ("word", "known"), [("Methods", ph.methods()), ("Schemes", ph.splittings())]
)
def test_every_name_is_on_one_page(word: str, known: list[ph.Method] | list[ph.Splitting]) -> None:
    assert sorted(listed(word)) == sorted(x.name for x in known)

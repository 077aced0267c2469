"""Methods and splitting schemes are on one page of docs/families each, with sources and options."""

import re
from pathlib import Path

import pytest

import polhode as ph

PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (Path(__file__).resolve().parents[2] / "docs/families").glob("*.md")
}


def methods_of(page: str) -> list[str]:
    """The names after "Methods:", up to the end of the paragraph."""
    found = re.search(r"^Methods: (.*?)\n\n", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`(\w+)`", found[1]) if found else []


def test_every_method_is_on_one_page() -> None:
    listed = [name for page in PAGES for name in methods_of(page)]
    assert sorted(listed) == sorted(m.name for m in ph.methods())


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_sources_and_options_of_its_methods(page: str) -> None:
    here = [m for m in ph.methods() if m.name in methods_of(page)]
    for m in here:
        missing = [key for key in re.findall(r"\[\w+\]", m.source) if key not in PAGES[page]]
        missing += [name for name in m.options if not re.search(rf"`{name}\b", PAGES[page])]
        assert not missing, m.name


@pytest.mark.parametrize("kind", sorted({s.kind for s in ph.splittings()}))
def test_schemes_of_a_kind(kind: str) -> None:
    (row,) = re.findall(rf"^\| {kind} \|.*", PAGES["splitting"], flags=re.MULTILINE)
    here = [s for s in ph.splittings() if s.kind == kind]
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(s.name for s in here)
    assert all(key in row for s in here for key in re.findall(r"\[\w+\]", s.source))

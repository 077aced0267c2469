"""Every example of the docstrings, the README and docs/ gives the printed output."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import polhode as ph

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(ph.__path__, "polhode.")
    if not name.endswith("__main__")
    and (name != "polhode.quad" or importlib.util.find_spec("polhode._quad"))
    and ("numba" not in name or importlib.util.find_spec("numba"))
]


def run(test):
    """Failures of one example, with what was expected and found."""
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    reports = [run(t) for t in finder.find(module, extraglobs={"np": np, "ph": ph})]
    if any(reports):
        pytest.fail("".join(reports), pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_of_page(page):
    """The examples of a page; skipped without the packages of its line `<!-- needs ... -->`."""
    text = page.read_text(encoding="utf-8")
    for package in " ".join(re.findall(r"^<!-- needs (.*) -->$", text, re.MULTILINE)).split():
        pytest.importorskip(package)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert test.examples or page.name != "README.md"
    if report := run(test):
        pytest.fail(report, pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_page(page):
    """The files in the repository to which a page links exist."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target

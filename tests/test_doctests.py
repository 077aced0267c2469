"""Every example of the docstrings and of the README gives what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import polhode as ph

README = Path(__file__).resolve().parent.parent / "README.md"
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(ph.__path__, "polhode.")
    if not name.endswith("__main__")
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


def test_examples_of_the_readme():
    text = README.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert test.examples
    if report := run(test):
        pytest.fail(report, pytrace=False)

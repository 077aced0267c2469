"""The list of changes of .ci/mutate.py fits the sources."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / ".ci/mutate.py"


@pytest.fixture(scope="module")
def mutate() -> Any:
    spec = importlib.util.spec_from_file_location("mutate", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module  # for the dataclass
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mutate"]


def test_every_change_has_its_place(mutate: Any) -> None:
    """A text occurs once, the pieces of a file lie apart, names are different, tests exist."""
    everything = mutate.mutants()
    assert len(everything) >= 200
    assert len({m.name for m in everything}) == len(everything)
    spans: dict[str, list[tuple[int, int]]] = {}
    for m in everything:
        begin, end = m.span(mutate.source(m.path))
        spans.setdefault(m.path, []).append((begin, end))
        for test in m.tests.split():
            assert (ROOT / mutate.chosen(test)[0].partition("::")[0]).exists(), test
    for path, places in spans.items():
        places.sort()
        for (_, end), (begin, _) in itertools.pairwise(places):
            assert end <= begin, f"{path}: two changes of one piece"


def test_changed_python_is_python(mutate: Any) -> None:
    for m in mutate.mutants():
        if m.path.endswith(".py"):
            text = mutate.source(m.path)
            begin, end = m.span(text)
            ast.parse(text[:begin] + m.changed(text[begin:end]) + text[end:], m.path)


def test_few_entries_are_stale(mutate: Any) -> None:
    """An entry whose source was rewritten is left out of the run until it is mended."""
    left_out = mutate.stale()
    assert len(left_out) <= len(mutate.mutants()) // 20, left_out


def test_every_change_of_the_tree_has_its_place(mutate: Any) -> None:
    for change in mutate.listed()["tree"]:
        assert re.search(change["pattern"], mutate.source(change["path"])), change


def test_reasons_are_of_changes_that_are_there(mutate: Any) -> None:
    assert set(mutate.reasons()) <= {m.name for m in mutate.mutants()}


def test_a_sample_is_the_same_again_and_in_order(mutate: Any) -> None:
    everything = mutate.mutants()
    some = mutate.sample(everything, 50, 1)
    assert len(some) == 50
    assert some == [m for m in everything if m in some]
    assert mutate.sample(everything[::-1], 50, 1) == some[::-1]
    assert mutate.sample(everything, 50, 2) != some

"""The published tables and figures, recomputed: a cheap subset, and the framework around them."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import papers as reproduce
from benchmarks.papers import Cell, Result, Run, _output, items
from benchmarks.papers._registry import bounded

#: The verdict of each item that takes a moment.
VERDICTS = {
    "report-figure-7": "slip explained",
    "report-accuracy": "matches",
    "report-cost": "not comparable",
    "gustafsson-table-1": "matches",
    "gustafsson-table-2": "matches",
    "gustafsson-figure-2": "matches",
    "gustafsson-figure-1": "matches",
    "gustafsson-figure-3": "matches",
    "gustafsson-table-3": "unexplained",
    "gustafsson-figure-4": "unexplained",
    "vilmart-figure-1": "matches",
    "vilmart-table-2": "matches",
    "buss-figure-3": "unexplained",
    "buss-figure-5": "slip explained",
    "krysl-figure-1": "unexplained",
    "krysl-figure-2": "matches",
}


def test_all_tables_and_figures_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty-two, and what the report says of accuracy and of cost; the list shows each."""
    numbers = {
        "report": ["figure-5", "figure-6", "figure-7", "accuracy", "cost"],
        "gustafsson": [f"table-{k}" for k in (1, 2, 3)] + [f"figure-{k}" for k in (1, 2, 3, 4)],
        "vilmart": ["figure-1", "table-2"],
        "buss": [f"figure-{k}" for k in (3, 4, 5, 6, 7)],
        "krysl": [f"figure-{k}" for k in (1, 2, 3, 4, 5)],
    }
    names = [f"{paper}-{what}" for paper, shown in numbers.items() for what in shown]
    assert len(names) == 22 + 2
    assert sorted(items()) == sorted(names)
    slow = [name for name, item in items().items() if item.slow]
    assert reproduce.main(["--list", *slow, "vilmart-table-2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == [*slow, "vilmart-table-2"]
    assert lines[-1].split("(")[0].strip() == VERDICTS["vilmart-table-2"]
    assert {line.strip() for line in lines[1:-2:2]} == {"not run"}


def test_the_list_of_verdicts_is_that_of_the_cheap_items() -> None:
    assert set(VERDICTS) == {name for name, item in items().items() if not item.slow}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict(name: str) -> None:
    result = items()[name](Run(quick=True))
    differing = [cell for cell in result.cells if cell.verdict == "differs"]
    assert result.verdict == VERDICTS[name], differing


def test_verdicts_of_the_documentation() -> None:
    """The table of docs/reproduction.md has all items, and the cheap ones as they are here."""
    page = (Path(__file__).parents[2] / "docs/reproduction.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([^|(]+) \([^|]*\) \|$", page, re.MULTILINE))
    assert set(rows) == set(items())
    assert {name: rows[name] for name in VERDICTS} == VERDICTS


# --- the framework ---


def test_verdict_of_a_cell() -> None:
    cell = Cell("x", 2.0, 2.1, 0.2)
    assert cell.verdict == "matches"
    assert replace(cell, recomputed=2.3).verdict == "differs"
    assert replace(cell, recomputed=float("nan")).verdict == "differs"
    assert replace(cell, recomputed=2.3, check=2.4).verdict == "slip explained"
    assert replace(cell, recomputed=2.3, check=3.4).verdict == "differs"
    assert replace(cell, recomputed=2.3, check=2.4, right_tolerance=0.05).verdict == "differs"
    # What this library has found before explains nothing.
    assert replace(cell, recomputed=2.3, right=2.4).verdict == "unexplained"
    assert replace(cell, recomputed=2.3, right=2.4, right_tolerance=0.05).verdict == "differs"
    assert replace(cell, recomputed=2.3, right=3.4).verdict == "differs"
    assert replace(cell, recomputed=2.3, slipped=2.1).verdict == "slip explained"
    assert replace(cell, recomputed=2.3, slipped=2.4).verdict == "differs"
    # An explanation in words alone explains nothing.
    assert replace(cell, recomputed=2.3, explanation="a slip").verdict == "differs"


def test_kinds_of_tolerance() -> None:
    assert Cell("x", 2.0, 2.9, 0.5, "relative").verdict == "matches"
    assert Cell("x", 2.0, 3.1, 0.5, "relative").verdict == "differs"
    assert Cell("x", 2.0, 3.9, 2.0, "factor").verdict == "matches"
    assert Cell("x", 2.0, 0.9, 2.0, "factor").verdict == "differs"
    assert Cell("x", (8.0, 20.0), 9.0).verdict == "matches"
    assert Cell("x", (8.0, 20.0), 7.0).verdict == "differs"
    assert Cell("x", "yes", "yes").verdict == "matches"
    assert Cell("x", True, False).verdict == "differs"


def test_a_bound_of_this_library_is_not_in_the_published_column() -> None:
    bound = bounded("x", 0.5, high=1.0)
    first, line = _output.rows([bound, Cell("y", 2.0, 2.0)])[:2]
    assert dict(zip(first, line, strict=True)) == {
        "value": "x", "published": "", "bound chosen here": "at most 1", "recomputed": "0.5",
        "verdict": "matches",
    }  # fmt: skip
    assert replace(bound, recomputed=1.5).verdict == "differs"
    other = Cell("operations", (8.0, 20.0), 9.0, comparable=False)
    assert other.verdict == "not comparable"


def test_a_correct_value_is_shown_with_its_tolerance() -> None:
    cell = Cell("x", 1.2, 1.301, 0.005, check=1.3, right_tolerance=0.01)
    assert _output.row(cell)[4] == "1.30 ± 0.01"
    assert _output.row(replace(cell, check=29851.0, right_tolerance=90.0))[4] == "29851 ± 90"


MR_231 = "McLachlan-Reich 2-3-1"
#: A published value of each item that takes it from the file: where it is, and another value.
ALTERED: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "report-figure-7": (("coefficients", "b", 2), "-0.05653436583298827"),
    "gustafsson-table-1": (("magnus", "total", 3), 324),
    "gustafsson-table-2": (("errors", "quaternion", 1), "2.58750231e-10"),
    "gustafsson-table-3": (("errors", "magnus8", "q", 1), "1.264e-4"),
    "gustafsson-figure-4": (("slips", "q", "right", 1), 0.1503),
    "vilmart-table-2": (("rows", 4, "entries", 5), True),
    "vilmart-figure-1": (("inertia",), [0.376, 0.627, 0.9]),
    "buss-figure-3": (("costs", "4th order", 1), "1.21"),
    "buss-figure-5": (("energies", "3rd order", 3), "101.391"),
    "buss-figure-6": (("rows", "3rd order", 0, 0), "84"),
    "buss-figure-7": (("slips", f"{MR_231}, T = 4, error 1e-6, steps", "right"), "37700"),
    "krysl-figure-1": (("slips", "most accurate in the attitude", "right"), "IMID"),
    "krysl-figure-2": (("order",), 3),
    "krysl-figure-4": (("rotation",), 45),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_published_number_differs(name: str) -> None:
    item = items()[name]
    (*path, last), value = ALTERED[name]
    published = copy.deepcopy(item.published)
    place: Any = published
    for key in path:
        place = place[key]
    place[last] = value
    assert item.run(published, Run(quick=True)).verdict == "differs"


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce.main(["gustafsson-table-1", "--out", str(tmp_path / "out")]) == 0
    assert "matches" in capsys.readouterr().out
    text = (tmp_path / "out" / "gustafsson-table-1.md").read_text(encoding="utf-8")
    assert "| order 8, total | 323 | 323 |" in text
    lines = (tmp_path / "out" / "gustafsson-table-1.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 36
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "http" not in page
    assert "order 8, total" in page
    # It can be read alone: verdicts, machine, command, papers and their parts that are left out.
    words = ("<b>unexplained</b>", "processor", "python -m benchmarks.papers gustafsson-table-1")
    assert all(word in page for word in (*words, "NTNU Trondheim, 2010", "200,000,000 steps"))


def test_the_page_has_all_results_of_the_directory(tmp_path: Path) -> None:
    for name in ("gustafsson-figure-1", "gustafsson-table-1"):
        assert reproduce.main([name, "--quick", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "order 8, total" in page
    assert "m is periodic" in page


def test_a_failing_item_does_not_end_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = items()

    def fail(published: dict[str, Any], run: Run) -> Result:
        raise ValueError("not today")

    broken = {**there, "gustafsson-figure-1": replace(there["gustafsson-figure-1"], run=fail)}
    monkeypatch.setattr(reproduce, "items", lambda: broken)
    names = ["gustafsson-figure-1", "gustafsson-table-1"]
    assert reproduce.main([*names, "--out", str(tmp_path)]) == 1
    assert "gustafsson-figure-1 failed" in capsys.readouterr().err
    verdicts = (tmp_path / "verdicts.md").read_text(encoding="utf-8")
    assert "failed: ValueError: not today" in verdicts
    assert "matches (36 matches)" in verdicts
    assert reproduce.main(["--list", *names]) == 1


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce.main(["gustafson-table-1"]) == 2
    assert "nearest: gustafsson-table-1" in capsys.readouterr().err


def test_importing_polhode_loads_neither_this_nor_matplotlib() -> None:
    code = (
        "import sys, polhode\n"
        "assert 'benchmarks.papers' not in sys.modules\n"
        "import benchmarks.papers\n"
        "benchmarks.papers.items()\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""The figures of [Buss01] and [Krysl07] that take long, in part; and how they are recomputed."""

from __future__ import annotations

import math

import pytest

from benchmarks.papers import Run, items
from benchmarks.papers.buss import METHODS
from benchmarks.papers.buss_steps import fewest_steps

QUICK = Run(quick=True)


@pytest.mark.parametrize(
    ("name", "explained", "unknown"),
    [
        # Of the first column: two rows of methods with a slip, and a misprint.
        ("buss-figure-6", 8, 0),
        ("buss-figure-7", 0, 2),
        # The attraction of the text, for each method.
        ("krysl-figure-4", 3, 0),
        ("krysl-figure-5", 4, 0),
    ],
)
def test_verdict_of_a_part(name: str, explained: int, unknown: int) -> None:
    result = items()[name](QUICK)
    verdicts = [cell.verdict for cell in result.cells]
    assert "differs" not in verdicts, [c for c in result.cells if c.verdict == "differs"]
    assert verdicts.count("slip explained") == explained
    assert verdicts.count("unexplained") == unknown


def test_slip_of_figure_4() -> None:
    """A row that the library does not compute; after steps of 0.004 all is lost either way."""
    item, row = items()["buss-figure-4"], "Simo-Wong explicit"
    energies = {row: item.published["energies"][row]}
    result = item.run({**item.published, "energies": energies}, QUICK)
    assert [[cell.verdict for cell in table.cells] for table in result.tables] == [
        ["slip explained", "matches"],
        ["matches", "matches"],
    ]


def test_rows_have_methods() -> None:
    for figure, key in ((4, "energies"), (5, "energies"), (6, "rows"), (7, "rows")):
        rows = items()[f"buss-figure-{figure}"].published[key]
        assert {row.removesuffix(", energy") for row in rows} <= set(METHODS)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_fewest_steps(power: int) -> None:
    asked: list[int] = []

    def error(n: int) -> float:
        asked.append(n)
        return n**-power

    n = 1234
    eps = (n - 0.5) ** -power
    assert fewest_steps(error, eps, 20_480) == n
    # 9 doublings, and fewer than the 10 halvings of the rest.
    assert len(asked) < 16
    assert fewest_steps(error, eps, 1200) is None
    assert fewest_steps(lambda n: math.nan, eps, 20_480) is None


def test_fewest_steps_of_an_error_that_is_not_monotonous() -> None:
    """From 18 on all are enough, 13 to 15 are too."""
    assert fewest_steps(lambda n: 0.0 if n in (13, 14, 15) or n >= 18 else 1.0, 0.5, 100) == 18

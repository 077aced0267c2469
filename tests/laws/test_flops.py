"""ph.flops: operations counted by running the kernels."""

from __future__ import annotations

from typing import Any

import pytest
from compare import close

import polhode as ph
from benchmarks.papers.gustafsson_listings import operations_of_the_listings, our_operations

NAMES = [m.name for m in ph.methods()]
CATEGORIES = ("add", "mul", "div", "sqrt", "trig")


@pytest.mark.parametrize("name", NAMES)
def test_every_method_is_counted(name: str) -> None:
    for attitude in ("quaternion", "matrix"):
        counts = ph.flops(name, attitude=attitude)
        assert tuple(counts) == (*CATEGORIES, "total")
        assert all(isinstance(n, int) and n >= 0 for n in counts.values())
        assert counts["total"] == sum(counts[c] for c in CATEGORIES)
        # At least the product of two quaternions.
        assert counts["mul"] >= 16
        assert counts["add"] >= 12
    # The product of two matrices is dearer, and it is the only difference.
    assert counts["total"] > ph.flops(name)["total"]
    assert counts["trig"] == ph.flops(name)["trig"]


def test_three_rotations_by_hand() -> None:
    """Two functions a turn: 10 and 26 of them, as [Buss01] counts."""
    turns = {"rotations231": 5, "rotations231_4": 13, "no_squish": 5}
    for name, count in turns.items():
        assert ph.flops(name)["trig"] == 2 * count
        assert ph.flops(name)["sqrt"] == 0
    assert ph.flops("rotations231", cayley=True)["trig"] == 0
    assert ph.flops("rotations231", cayley=True)["sqrt"] == 5
    assert ph.flops("rotations231", cayley=True)["div"] == 5
    # All orders of the axes are the same work.
    for suffix in ("", "_4"):
        totals = {
            ph.flops(f"rotations{a}{suffix}")["total"] for a in (123, 132, 213, 231, 312, 321)
        }
        assert len(totals) == 1
    # A turn: 6 for m, 8 for q, 2 for the angle; the first two turns of q make 4 together.  h/2 and
    # the three h/(2 I); q brought to unit norm, 9; the turn of the given attitude, 16.
    five, thirteen = (ph.flops(name)["mul"] for name in ("rotations123", "rotations123_4"))
    assert five == 5 * 6 + (4 + 3 * 8) + 5 * 2 + 4 + 9 + 16
    assert thirteen == five + 8 * (6 + 8 + 2)


def test_symmetric_rotation() -> None:
    counts = ph.flops("symmetric_rotation")
    assert counts["trig"] == 8  # R, the turn about m and that about c, R
    assert counts["sqrt"] == 1
    assert counts["div"] == 1


def test_table_1_of_gustafsson() -> None:
    """The loops of [Gus10] count what is printed, and compute the attitude that ours do."""
    for order in (2, 4, 6, 8):
        listings = operations_of_the_listings(order, 0.2)
        for family, (_, error) in listings.items():
            close(error, our_operations(f"{family}{order}", 0.2)[1], atol=1e-15, rtol=1e-3)


def test_the_step_counts_where_it_decides() -> None:
    """A longer step takes a longer series; one that cannot does not."""
    assert ph.flops("exact", hw=5.0)["total"] > ph.flops("exact", hw=0.05)["total"]
    assert ph.flops("rotations123", hw=5.0) == ph.flops("rotations123", hw=0.05)
    assert ph.flops("exact") == ph.flops("exact", hw=0.2, attitude="quaternion")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (["exakt"], {}, ValueError, "exact"),
        (["exact"], {"attitude": "euler"}, ValueError, "attitude"),
        (["exact"], {"hw": float("inf")}, ValueError, "hw"),
        (["exact"], {"cayley": True}, TypeError, "rotations123"),
    ],
)
def test_what_is_refused(
    arguments: list[str], options: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        ph.flops(*arguments, **options)


def test_constants_of_a_body_are_not_part_of_a_step():
    """c1, c2 and kappa of [CZ08] are 15 operations, which these counts would have in addition."""
    assert ph.flops("frb", hw=0.2)["total"] == 747
    assert [ph.flops(f"gauss{p}", hw=0.2)["total"] for p in (1, 10)] == [534, 609]

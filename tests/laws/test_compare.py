"""The comparisons and bounds that the other tests rest on."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tolerances as tol
from compare import close, same

INF, NAN = np.inf, np.nan
FAILED = pytest.fail.Exception


def test_close_has_no_hidden_slack() -> None:
    close([1.0, 2.0], [1.0, 2.0])
    close(1 + 2e-15, 1.0, atol=3e-15)
    close([0.0, 1.1], 1.0, atol=[1.0, 0.11])
    close(-2.0, -2.1, rtol=0.05)
    for got, want, bound in [
        (1 + 2**-52, 1.0, {}),
        (1 + 5e-8, 1.0, {"atol": 2e-15}),
        (1e-13, 0.0, {"rtol": 1.0}),
        ([1.0, 2.0], [1.0, 2.5], {"atol": [1.0, 0.4]}),
        (NAN, 1.0, {"atol": INF}),
        (1.0, NAN, {"atol": INF}),
        (INF, 1.0, {"atol": 1.0}),
        (1.0, INF, {"atol": 1.0, "rtol": 1.0}),
        (-INF, INF, {"rtol": 1.0}),
    ]:
        with pytest.raises(FAILED):
            close(got, want, **bound)  # type: ignore[arg-type]
    close([NAN, INF, -INF], [NAN, INF, -INF])
    close(np.zeros((0, 3)), 1.0)
    with pytest.raises(ValueError, match="broadcast"):
        close(1.0, [1.0, 1.0])
    with pytest.raises(FAILED, match=r"here: 1 of 2 elements differ; worst at \(1,\): got .*2.5"):
        close([1.0, 2.5], [1.0, 2.0], what="here")


def test_same_is_of_shape_and_value() -> None:
    same([1.0, NAN], [1.0, NAN])
    for got, want in (([1.0], 1.0), ([1.0], [1 + 2**-52])):
        with pytest.raises(AssertionError):
            same(got, want)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> tol.Bound:
    monkeypatch.setattr(tol, "BOUNDS", {})
    monkeypatch.setitem(tol.DOMAINS, "here", ("this test", "any"))
    tol.bound("here", limit=4.0, measured=2.8, reason="for this test")
    return tol.BOUNDS["here"]


def test_a_bound_fails_above_its_limit(known: tol.Bound) -> None:
    tol.within("here", 4.0, [1.0, 3.0])
    assert known.seen == 4.0
    for bad in (4.001, NAN, INF):
        with pytest.raises(FAILED, match="here: 1 of 2 cases"):
            tol.within("here", [1.0, bad])
    tol.check("so", ["a"], [4.5 * tol.EPS], "here", besides=tol.EPS)
    with pytest.raises(FAILED, match=r"a: error .* bound"):
        tol.check("so", ["a"], [5.5 * tol.EPS], "here", besides=tol.EPS)
    tol.check("so", ["a", "b"], [0.0, 6.0], "here", unit=[0.0, 2.0])
    with pytest.raises(FAILED, match="a: error"):
        tol.check("so", ["a", "b"], [1e-300, 6.0], "here", unit=[0.0, 2.0])


def test_a_bound_reports_a_gain(known: tol.Bound) -> None:
    assert not known.improved()  # nothing was recorded
    tol.within("here", 0.69)
    assert known.improved()
    tol.within("here", 0.71)
    assert not known.improved()


@pytest.mark.parametrize("known", tol.BOUNDS.values(), ids=lambda b: b.name)
def test_limits_are_at_most_twice_the_measured(known: tol.Bound) -> None:
    assert known.measured <= known.limit <= 2 * known.measured
    assert known.reason
    assert math.isfinite(known.limit)

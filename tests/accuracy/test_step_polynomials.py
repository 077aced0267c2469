"""The polynomials of the exact step against the functions that they approximate."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from numpy.typing import NDArray

_quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")

GENERATE = Path(__file__).parents[2] / "cpp/generate"

Array = NDArray[np.float64]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mpmath.workdps(50):
        yield


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The generator of the header, as a module."""
    monkeypatch.syspath_prepend(str(GENERATE))
    import make_step_polynomials

    yield make_step_polynomials
    for name in ("make_step_polynomials", "make_sincos", "fitting"):
        sys.modules.pop(name, None)


def points(w: float, count: int = 150) -> list[tuple[float, float, float]]:
    """(v, k, n) with max(v^2, k^2 v^2) + n v^2 <= w^2, a third on the far edge, k <= 1.

    The symmetry of u and r in v and k v covers k > 1.
    """
    rng = np.random.default_rng(7)
    result = []
    for i in range(count):
        t = w * w * (1.0 if i % 3 == 0 else rng.random())
        c1 = (0.0001, 1.0, rng.random())[i % 5 % 3]
        k = (0.0, 1.0, rng.random())[i // 2 % 3]
        result.append((float(np.sqrt(c1 * t)), k, (1 - c1) / c1))
    return result


def exact_sn(v: float, k: float) -> Any:
    """sn(v, k)/v - 1 in 50 digits."""
    return mpmath.ellipfun("sn", u=mpf(v), k=mpf(k)) / mpf(v) - 1


def exact_third_kind(v: float, k: float, n: float) -> Any:
    """W - 1: the integral of the third kind with 1 + n sn^2 below, over v, in 50 digits."""
    s = mpmath.ellipfun("sn", u=mpf(v), k=mpf(k))
    return mpmath.ellippi(-mpf(n), mpmath.asin(s), mpf(k) ** 2) / mpf(v) - 1


def arguments(v: float, k: float, n: float) -> tuple[Any, Any, Any]:
    """The weights (u, r, y)."""
    v2, k2 = mpf(v) ** 2, mpf(k) ** 2
    return (1 + k2) * v2, k2 * v2**2, mpf(n) * v2


def evaluate(name: str, values: list[tuple[Any, ...]]) -> list[Any]:
    """A function of the core in 34 digits, at rows of arguments."""
    columns = []
    for column in zip(*values, strict=True):
        high = [float(x) for x in column]
        low = [float(x - mpf(h)) for x, h in zip(column, high, strict=True)]
        columns.append(np.array([high, low]).T)
    return [mpf(float(h)) + mpf(float(lo)) for h, lo in _quad.evaluate(name, *columns)]


@pytest.mark.parametrize(("tier", "w"), [("a", 0.05), ("b", 0.095), ("c", 0.15)])
def test_sn(tier: str, w: float) -> None:
    cases = points(w)
    exact = [exact_sn(v, k) for v, k, _ in cases]
    where = [arguments(*case)[:2] for case in cases]
    fitted = evaluate(f"sn_{tier}", where)
    series = evaluate(f"sn_minus_one_{tier}", where)
    # 1/75 of eps: the polynomial's own error must not be seen.
    assert max(abs(a - b) for a, b in zip(fitted, exact, strict=True)) < 3e-18
    # What 34 digits and their pairs of doubles leave of a number below 0.01.
    assert max(abs(a - b) for a, b in zip(series, exact, strict=True)) < 1e-33


@pytest.mark.parametrize(("tier", "w"), [("a", 0.05), ("b", 0.095), ("c", 0.15)])
def test_third_kind(tier: str, w: float) -> None:
    cases = points(w)
    exact = [exact_third_kind(v, k, n) for v, k, n in cases]
    where = [arguments(*case) for case in cases]
    fitted = evaluate(f"third_kind_{tier}", where)
    series = evaluate(f"third_kind_minus_one_{tier}", where)
    # Twice this is an eighth of an eps of the angle G K W / 2.
    assert max(abs(a - b) for a, b in zip(fitted, exact, strict=True)) < 4e-17
    assert max(abs(a - b) for a, b in zip(series, exact, strict=True)) < 1e-33


def test_square_root() -> None:
    x = [(mpf(0.0225) * i / 200,) for i in range(1, 201)]
    exact = [(1 - mpmath.sqrt(1 - v)) / v for (v,) in x]
    fitted = evaluate("sqrt_q", x)
    assert max(abs(a - b) for a, b in zip(fitted, exact, strict=True)) < 3e-17
    assert evaluate("sqrt_q", [(mpf(0),)]) == [mpf(0.5)]


def test_rounding_of_the_polynomials() -> None:
    # In double, as the step uses them: sums dominated by one term, so an eps of the result or so.
    for tier, w in (("a", 0.05), ("b", 0.095), ("c", 0.15)):
        for v, k, n in points(w, 60):
            u, r, y = (float(x) for x in arguments(v, k, n))
            exact = evaluate(f"third_kind_{tier}", [(mpf(u), mpf(r), mpf(y))])[0]
            got, _ = _quad.count(f"third_kind_{tier}", u, r, y)
            assert abs(mpf(got) - exact) <= 3 * 2.0**-53 * abs(exact)
            exact = evaluate(f"sn_{tier}", [(mpf(u), mpf(r))])[0]
            got, _ = _quad.count(f"sn_{tier}", u, r)
            assert abs(mpf(got) - exact) <= 3 * 2.0**-53 * abs(exact)


def test_taylor_parts(generator: Any) -> None:
    # sn(v)/v: 1, -(1 + k^2) v^2/6, (1 + 14 k^2 + k^4) v^4/120, ... (DLMF 22.10.4)
    c, _ = generator.sn_series(3)
    assert c[1] == {(1, 0): Fraction(-1, 6)}
    assert c[2] == {(2, 0): Fraction(1, 120), (0, 1): Fraction(12, 120)}
    # 1 + 135 k^2 + 135 k^4 + k^6 = (1 + k^2)^3 + 132 k^2 (1 + k^2)
    assert c[3] == {(3, 0): Fraction(-1, 5040), (1, 1): Fraction(-132, 5040)}
    w = generator.third_kind_series(2)
    assert w[1] == {(0, 0, 1): Fraction(-1, 3)}
    assert w[2] == {(0, 0, 2): Fraction(1, 5), (1, 0, 1): Fraction(1, 15)}
    assert [next(iter(t.values())) for t in generator.sqrt_series(3)] == [
        Fraction(1, 2),
        Fraction(1, 8),
        Fraction(1, 16),
        Fraction(5, 128),
    ]


def test_header_is_what_the_generator_writes(generator: Any) -> None:
    """Everything but the last digits of the fit, which depend on the linear algebra at hand."""
    text = generator.HEADER_PATH.read_text(encoding="utf-8")
    assert text.startswith(generator.TOP)
    assert text.endswith(generator.BOTTOM)


def test_sine_and_cosine_are_what_the_generator_prints(generator: Any) -> None:
    """As functions, to 1e-17."""
    import make_sincos

    sine, cosine, sine_error, cosine_error = make_sincos.coefficients()
    assert sine_error < 6e-18
    assert cosine_error < 1e-19
    header = (GENERATE.parent / "include/polhode/scalar/sincos.hpp").read_text(encoding="utf-8")
    text = _hexadecimal_in(header, "sincos_polynomials(T y)", "return")
    in_header = [float.fromhex(x) for x in text]
    y = np.linspace(0.0, make_sincos.LIMIT**2, 200)
    for ours, theirs, factor in (
        (sine, in_header[:6], y * np.sqrt(y)),
        (cosine, in_header[6:], y * y),
    ):
        difference = np.polyval((np.array(ours) - np.array(theirs))[::-1], y) * factor
        assert np.max(np.abs(difference)) < 1e-17


def _hexadecimal_in(text: str, start: str, end: str) -> list[str]:
    """Hexadecimal constants between two marks."""
    part = text[text.index(start) :]
    return re.findall(r"-?0x[0-9a-f.]+p[+-]\d+", part[: part.index(end)])

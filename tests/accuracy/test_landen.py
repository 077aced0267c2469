"""The Landen pair of [CZ08] Sec. 3.2, F upward and am downward, in double and in 34 digits."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf
from numpy.typing import NDArray

_quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")

Pairs = NDArray[np.float64]

# The bounds that elliptic/landen.hpp states, in eps, in addition to the effect of half an ulp of
# phi on F.
LIMIT = 4
DOUBLE = 2.0**-52
# Results are passed as pairs of doubles, accurate to 2^-107; the type itself has 2^-113.
WIDE = 2.0**-106


def reference_tables() -> Any:
    path = Path(__file__).parents[1] / "data/elliptic/make_tables.py"
    spec = importlib.util.spec_from_file_location("make_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = reference_tables()


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(70):
        yield


def moduli() -> list[float]:
    """kc from 1e-14 to 1, and above it (k2 < 0)."""
    rng = np.random.default_rng(32)
    return [1e-14, 1e-7, 0.5, 1.0, 3.0, *(10 ** rng.uniform(-14, 0, 35)), *rng.uniform(1, 20, 8)]


def angles() -> list[float]:
    """phi from -20 to 20: anywhere, tiny, and next to quarter turns, where F is steep."""
    rng = np.random.default_rng(33)
    quarters = np.pi / 2 * rng.integers(-12, 13, 12)
    return [
        0.0,
        20.0,
        -20.0,
        *rng.uniform(-20, 20, 21),
        *(10 ** rng.uniform(-12, 0, 12) * rng.choice([-1, 1], 12)),
        *(quarters + 10 ** rng.uniform(-16, -1, 12) * rng.choice([-1, 1], 12)),
    ]


CASES = [
    (phi, kc)
    for i, kc in enumerate(moduli())
    for phi in (angles() if i < 5 else angles()[i % 6 :: 6])
]


def of_f(phi: Any, kc: Any) -> tuple[Any, Any]:
    """F and its derivative 1/dn."""
    value = TABLES.ellip_f(mpf(phi), 1 - mpf(kc) ** 2)
    return value, 1 / mp.sqrt(mp.cos(phi) ** 2 + (mpf(kc) * mp.sin(phi)) ** 2)


def of_am(u: Any, kc: Any) -> Any:
    return TABLES.jacobi(mpf(u), mpf(kc) ** 2)[3]


def in_double(name: str, x: Any, kc: float) -> Any:
    return mpf(_quad.count(name, float(x), kc)[0])


def in_34_digits(name: str, x: Any, kc: float) -> Any:
    high = float(x)
    pair = np.array([[high, float(mpf(x) - mpf(high))]])
    result = _quad.evaluate(name, pair, np.array([[kc, 0.0]]))
    return mpf(float(result[0, 0])) + mpf(float(result[0, 1]))


TYPES = [(in_double, DOUBLE), (in_34_digits, WIDE)]
both_types = pytest.mark.parametrize(("call", "eps"), TYPES, ids=["double", "34 digits"])


def assert_all(errors: list[tuple[Any, Any, Any]]) -> None:
    """Errors over their bounds, the worst named."""
    ratio, *case = max(errors, key=lambda row: row[0])
    assert ratio <= 1, f"{float(ratio):.3g} of the bound at {case}"


def test_the_references_invert_each_other() -> None:
    """F by Carlson's R_F, am by the descending sequence: no step in common."""
    for phi, kc in CASES[::5]:
        value, steepness = of_f(phi, kc)
        assert abs(of_am(value, kc) - mpf(phi)) < mpf(10) ** -50 * (1 + abs(value)) * steepness


@both_types
def test_f(call: Any, eps: float) -> None:
    errors = []
    for phi, kc in CASES:
        want, steepness = of_f(phi, kc)
        bound = LIMIT * eps * (1 + abs(want)) + eps / 2 * abs(phi) * steepness
        errors.append((abs(call("landen_f", phi, kc) - want) / bound, phi, kc))
    assert_all(errors)


@both_types
def test_am(call: Any, eps: float) -> None:
    errors = []
    for phi, kc in CASES:
        u = float(of_f(phi, kc)[0])
        bound = LIMIT * eps * (1 + abs(u) * max(1.0, kc))
        errors.append((abs(call("landen_am", u, kc) - of_am(u, kc)) / bound, u, kc))
    assert_all(errors)


@both_types
def test_am_of_f(call: Any, eps: float) -> None:
    errors = []
    for phi, kc in CASES:
        u = call("landen_f", phi, kc)
        dn = 1 / of_f(phi, kc)[1]
        # The error of F, that of am, half an ulp of phi, and the rounding of u to a double.
        bound = eps * (LIMIT * ((1 + abs(u)) * dn + 1 + abs(u) * max(1.0, kc)) + abs(phi))
        errors.append((abs(call("landen_am", u, kc) - mpf(phi)) / bound, phi, kc))
    assert_all(errors)


@both_types
def test_f_of_am(call: Any, eps: float) -> None:
    errors = []
    for phi, kc in CASES:
        u = float(of_f(phi, kc)[0])
        am = call("landen_am", u, kc)
        steepness = of_f(am, kc)[1]
        bound = LIMIT * eps * ((1 + abs(u)) + (1 + abs(u) * max(1.0, kc)) * steepness)
        bound += eps * abs(phi) * steepness
        errors.append((abs(call("landen_f", am, kc) - mpf(u)) / bound, u, kc))
    assert_all(errors)

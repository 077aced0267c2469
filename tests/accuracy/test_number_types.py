"""The number types other than double and pack: 34 digits, and the double that counts."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from numpy.typing import NDArray

_quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")
_core: Any = pytest.importorskip("polhode._core")

Pairs = NDArray[np.float64]

#: Half an ulp of 113 bits, and twice the rounding of a pair of doubles at worst (the second takes
#: up the error of the first to 2^-53: 2^-107 in all).
BOUND = mpf(2) ** -106


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mpmath.workprec(400):
        yield


def to_pairs(values: Sequence[Any]) -> Pairs:
    """Numbers as sums of two doubles."""
    rows = []
    for value in values:
        high = float(value)
        rows.append((high, float(mpf(value) - mpf(high))))
    return np.array(rows)


def from_pairs(pairs: Pairs) -> list[Any]:
    """The numbers that pairs of doubles represent."""
    return [mpf(float(high)) + mpf(float(low)) for high, low in pairs]


def sample(low: float, high: float, signed: bool, count: int = 150) -> list[Any]:
    """Numbers of 105 bits (two doubles hold them) between powers of ten."""
    rng = np.random.default_rng(20)
    numbers = []
    with mpmath.workprec(105):
        for exponent, fine in zip(rng.uniform(low, high, count), rng.random(count), strict=True):
            number = mpf(10) ** mpf(float(exponent)) * (1 + mpf(float(fine)) * mpf(2) ** -60)
            numbers.append(-number if signed and rng.random() < 0.5 else number)
    return numbers


def shifted(numbers: list[Any], by: int) -> list[Any]:
    """by + number, to 105 bits."""
    with mpmath.workprec(105):
        return [by + x for x in numbers]


SMALL = sample(-12, -0.001, signed=True)
ANY = sample(-12, 6, signed=True)
POSITIVE = sample(-40, 40, signed=False)
UNIT = SMALL + shifted([-abs(x) for x in SMALL], 1)
MODERATE = sample(-12, 2, signed=True)


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("sqrt", mpmath.sqrt, POSITIVE),
        ("sincos", mpmath.sin, ANY),
        ("sincos_cos", mpmath.cos, ANY),
        ("exp", mpmath.exp, MODERATE),
        ("expm1", mpmath.expm1, MODERATE),
        ("half_pi_times", lambda x: x * mpmath.pi / 2, [mpf(1)]),
        ("log_2_times", lambda x: x * mpmath.log(2), [mpf(1)]),
        ("third_times", lambda x: x / 3, [mpf(1)]),
        ("sqrt_complement", lambda x: (1 - mpmath.sqrt(1 - x)) / x, [x for x in UNIT if x < 1]),
    ],
)
def test_function_to_34_digits(
    name: str, function: Callable[[Any], Any], arguments: list[Any]
) -> None:
    results = from_pairs(_quad.evaluate(name, to_pairs(arguments)))
    for x, result in zip(arguments, results, strict=True):
        exact = function(x)
        assert abs(result - exact) <= BOUND * abs(exact), (name, mpmath.nstr(x, 20))


def test_atan2_in_all_quadrants() -> None:
    y = [*ANY, mpf(0), mpf(0), mpf(1)]
    x = [*reversed(ANY), mpf(1), mpf(-1), mpf(0)]
    results = from_pairs(_quad.evaluate("atan2", to_pairs(y), to_pairs(x)))
    for yy, xx, result in zip(y, x, results, strict=True):
        exact = mpmath.atan2(yy, xx)
        assert abs(result - exact) <= BOUND * abs(exact)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("add", operator.add),
        ("subtract", operator.sub),
        ("multiply", operator.mul),
        ("divide", operator.truediv),
    ],
)
def test_arithmetic_has_113_bits(name: str, operation: Callable[[Any, Any], Any]) -> None:
    x, y = shifted(SMALL, 1), shifted(list(reversed(SMALL)), 3)
    results = from_pairs(_quad.evaluate(name, to_pairs(x), to_pairs(y)))
    for a, b, result in zip(x, y, results, strict=True):
        exact = operation(a, b)
        assert abs(result - exact) <= BOUND * abs(exact)
    tiny = _quad.evaluate("subtract", to_pairs([1 + mpf(2) ** -104]), to_pairs([1]))
    assert from_pairs(tiny) == [mpf(2) ** -104]


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("rint", (0.5,), 0.0),
        ("rint", (1.5,), 2.0),
        ("rint", (-2.5,), -2.0),
        ("abs", (-0.0,), 0.0),
        ("negative", (2.0,), -2.0),
        ("copysign", (3.0, -0.0), -3.0),
        ("flip_sign", (-3.0, -1.0), 3.0),
        ("flip_sign", (-3.0, 1.0), -3.0),
        ("min", (1.0, 2.0), 1.0),
        ("max", (1.0, 2.0), 2.0),
        ("min", (np.nan, 2.0), 2.0),
        ("max", (np.nan, 2.0), 2.0),
        ("exponent", (0.3,), -2.0),
        ("exponent", (8.0,), 3.0),
        ("power_of_two", (-7.0,), 2.0**-7),
        ("power_of_two_below", (-0.3,), 0.25),
        ("power_of_two_reciprocal", (2.0**20,), 2.0**-20),
        ("is_odd", (-3.0,), 1.0),
        ("is_odd", (4.0,), 0.0),
        ("has_bit_1", (-1.0,), 1.0),
        ("has_bit_1", (-3.0,), 0.0),
        ("has_bit_1", (2.0,), 1.0),
        ("is_nan", (np.nan,), 1.0),
        ("is_nan", (np.inf,), 0.0),
        ("select_less", (1.0, 2.0), 1.0),
        ("select_less", (np.nan, 2.0), 2.0),
        ("fma", (2.0, 3.0, 4.0), 10.0),
        ("sqrt", (0.0,), 0.0),
        ("sqrt", (-1.0,), np.nan),
        ("sqrt", (np.inf,), np.inf),
        ("atan2", (0.0, 0.0), 0.0),
        ("exp", (1e5,), np.inf),
        ("exp", (-1e5,), 0.0),
        ("expm1", (-1e5,), -1.0),
        ("exp", (np.nan,), np.nan),
    ],
)
@pytest.mark.parametrize("number_type", ["quad", "counted"])
def test_functions_of_the_concept(
    number_type: str, name: str, arguments: tuple[float, ...], result: float
) -> None:
    if number_type == "quad":
        pairs = [np.array([[x, np.copysign(0.0, x)]]) for x in arguments]  # -0 stays -0
        got = float(_quad.evaluate(name, *pairs)[0, 0])
    else:
        got = _quad.count(name, *arguments)[0]
    np.testing.assert_equal(got, result)
    if result == 0.0 and name != "has_bit_1":
        assert not np.signbit(got)


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("add", {"add": 1}),
        ("subtract", {"add": 1}),
        ("multiply", {"mul": 1}),
        ("divide", {"div": 1}),
        ("sqrt", {"sqrt": 1}),
        ("fma", {"add": 1, "mul": 1}),
        ("atan2", {"trig": 1}),
        ("exp", {"trig": 2}),
        ("sincos", {"trig": 2}),
        *((free, {}) for free in ("negative", "abs", "copysign", "flip_sign", "min", "max")),
        *((free, {}) for free in ("rint", "select_less", "exponent", "power_of_two")),
        *((free, {}) for free in ("power_of_two_below", "is_odd", "has_bit_1", "is_nan")),
        *((constant, {"mul": 1}) for constant in ("half_pi_times", "log_2_times", "third_times")),
        # Seven fused multiply-adds and one product: as written in the header.
        ("sn_minus_one_a", {"add": 7, "mul": 8}),
    ],
)
def test_cost(name: str, cost: dict[str, int]) -> None:
    counted = _quad.count(name, 0.5, 0.25, 0.125)[1]
    categories = ("add", "mul", "div", "sqrt", "trig")
    assert {key: counted[key] for key in categories if counted[key]} == cost
    assert counted["total"] == sum(cost.values())


# ------------------------------------------------------------------------------ methods on them

INERTIA = (1.0, 1.5, 2.2)
MOMENTUM = (0.3, 0.5, 0.8)


def flops(method: str, h: float, matrix: bool = False) -> dict[str, int]:
    """Cost of one step of the body that costs are quoted for."""
    counts: dict[str, int] = _core.flops(method, INERTIA, MOMENTUM, h, matrix, ())
    return counts


def test_unknown_names() -> None:
    with pytest.raises(KeyError, match="exakt"):
        flops("exakt", 0.1)
    with pytest.raises(KeyError, match="sinus"):
        _quad.evaluate("sinus", np.zeros((1, 2)))


@pytest.mark.parametrize("h", [0.1, 3.0, -40.0])
def test_exact_step_in_34_digits_is_a_flow(h: float) -> None:
    q0 = to_pairs([1, 0, 0, 0])
    inertia, m0 = to_pairs(INERTIA), to_pairs(MOMENTUM)
    m1, q1 = _quad.step("exact", inertia, m0, q0, h)
    m2, q2 = _quad.step("exact", inertia, m0, q0, h / 4, n_steps=4)
    # The kernel adds 1e-30 to a denominator for momenta on an axis; times a few radians.
    for one, four in ((m1, m2), (q1, q2)):
        difference = [a - b for a, b in zip(from_pairs(one), from_pairs(four), strict=True)]
        assert max(map(abs, difference)) < mpf(1e-30) * (1 + abs(h))


def test_matrix_and_quaternion_agree_in_34_digits() -> None:
    inertia, m0 = to_pairs(INERTIA), to_pairs(MOMENTUM)
    _, q = _quad.step("exact", inertia, m0, to_pairs([1, 0, 0, 0]), 2.0)
    identity = np.zeros((3, 3, 2))
    identity[..., 0] = np.eye(3)
    _, matrix = _quad.step("exact", inertia, m0, identity, 2.0)
    w, x, y, z = from_pairs(q)
    expected = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    for entry, value in zip(from_pairs(matrix[0]), expected, strict=True):
        assert abs(entry - value) < mpf(10) ** -31


def stored_cases() -> list[dict[str, Any]]:
    """The stored motions, right to 24 digits."""
    path = Path(__file__).parents[1] / "data/free_cases.json"
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


@pytest.mark.parametrize("case", stored_cases(), ids=lambda case: case["name"])
def test_exact_step_reaches_the_digits_of_the_stored_cases(case: dict[str, Any]) -> None:
    m, q = _quad.step(
        "exact", to_pairs(case["inertia"]), to_pairs(case["m0"]), to_pairs(case["q0"]), case["h"]
    )
    size = mpmath.norm([mpf(x) for x in case["m0"]])
    q0_size = mpmath.norm([mpf(x) for x in case["q0"]])  # q0 is unit to double only
    # 24 digits are stored; the worst seen is 4e-25.
    for got, exact in zip(from_pairs(m), case["m"], strict=True):
        assert abs(got - mpf(exact)) <= mpf(1e-23) * size
    for got, exact in zip(from_pairs(q), case["q"], strict=True):
        assert abs(got - mpf(exact) / q0_size) <= mpf(1e-23)

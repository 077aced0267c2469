"""Elliptic functions: tables, public cases, limits at the edges, NumPy features, equal bits.

The tables lie in `data/elliptic`; those that are our own come from `make_tables.py` there.
"""

from __future__ import annotations

import csv
import importlib.util
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import tolerances as tol
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph
from polhode import elliptic

Array = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data" / "elliptic"
INF, NAN = np.inf, np.nan

# R_J with p < 0 has zeros, near which half an ulp in the arguments (summed over them) moves it by
# many eps; inside, rounded differences act like changed arguments, a few times over.
PER_HALF_ULP = 4.0


def read(name: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return rows[0], rows[1:]


def doubles(rows: list[list[str]], columns: slice) -> Array:
    """Columns of a table, as the doubles that they are or are nearest to."""
    return np.array([[float(x) for x in row[columns]] for row in rows]).T


def distance(got: Array, decimals: list[str]) -> Array:
    """|got - value|, to more digits than a double has."""
    out = np.empty(len(decimals))
    for i, (x, text) in enumerate(zip(got.tolist(), decimals, strict=True)):
        nearest = float(text)
        if not np.isfinite(x) or not np.isfinite(nearest):
            out[i] = 0.0 if x == nearest else INF
        else:
            out[i] = abs(float(Fraction(x) - Fraction(text)))
    return out


def assert_close(
    got: Array, decimals: list[str], bound: str, args: Array, *, unit: Any, besides: Any = 0.0
) -> None:
    """Every value within the bound of that name and what inputs may do besides, both in `unit`.

    What a double cannot hold rounds to inf or 0.
    """
    # Where a value underflows its error is the grain of subnormal numbers.
    unit = np.broadcast_to(unit, np.shape(decimals))
    tol.check(
        bound,
        [
            f"{x.tolist()}: got {y!r}, want {z}"
            for x, y, z in zip(args.T, got, decimals, strict=True)
        ],
        distance(got, decimals),
        bound,
        unit=unit,
        besides=np.maximum(unit * besides, 2.0**-1074),
    )


def relative(decimals: list[str]) -> Array:
    """An eps of the values."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(EPS * np.abs([min(float(x), 1e308) for x in decimals]))


def jacobi_unit(u: Array, k2: Array) -> Array:
    """The unit of the error of sn, cn and am."""
    return np.asarray(EPS * (1 + np.abs(u) * np.maximum(1, np.sqrt(np.abs(k2)))))


def assert_jacobi(
    got: tuple[Array, ...], rows: list[list[str]], args: Array, bound: str, unit: Array
) -> None:
    for i, (values, name) in enumerate(zip(got, ("sn", "cn", "dn", "am"), strict=False)):
        if 2 + i == len(rows[0]):
            break
        decimals = [row[2 + i] for row in rows]
        scale = np.maximum(1, np.abs([float(x) for x in decimals])) if name == "dn" else 1.0
        assert_close(values, decimals, bound, args, unit=unit * scale)


def complement(k: Array) -> tuple[Array, Array]:
    """k2 and kc2 of a modulus, from factors that lose nothing."""
    return k * k, (1 - k) * (1 + k)


# --- tables ---

OWN: dict[str, Callable[..., Array]] = {
    "agm": elliptic.agm,
    "rf": elliptic.rf,
    "rc": elliptic.rc,
    "rd": elliptic.rd,
    "rj": elliptic.rj,
    "rj_far_apart": elliptic.rj,
    "rd_far_apart": elliptic.rd,
    "ellip_f": elliptic.ellip_f,
    "ellip_k": lambda kc2: elliptic.ellip_k(1 - kc2, kc2),
    "ellip_pi": elliptic.ellip_pi,
    "ellip_pi_complete": elliptic.ellip_pi_complete,
}


@pytest.mark.parametrize("name", OWN)
def test_own_table(name: str) -> None:
    header, rows = read(f"{name}.csv")
    at = header.index("value")
    args = doubles(rows, slice(at))
    decimals = [row[at] for row in rows]
    inputs = np.zeros(len(rows))
    if name.startswith("rj"):
        half_ulp = doubles(rows, slice(at + 1, at + 2))[0] / EPS
        inputs = np.where(args[3] < 0, PER_HALF_ULP * half_ulp, 0.0)
    got, unit = OWN[name](*args), relative(decimals)
    bound = f"elliptic.{name.removesuffix('_far_apart')}"
    assert_close(got, decimals, bound, args, unit=unit, besides=inputs)


def test_own_jacobi_table() -> None:
    _, rows = read("jacobi.csv")
    u, kc2 = args = doubles(rows, slice(2))
    k2 = 1 - kc2
    got = elliptic.jacobi(u, k2, kc2)
    assert_jacobi(got, rows, args, "elliptic.jacobi", jacobi_unit(u, k2))


BOOST: dict[str, tuple[int, str, Callable[..., Array]]] = {
    "ellint_f": (2, "ellip_f", lambda phi, k: elliptic.ellip_f(phi, *complement(k))),
    "ellint_k": (1, "ellip_k", lambda k: elliptic.ellip_k(*complement(k))),
    "ellint_pi2": (
        2,
        "ellip_pi_complete",
        lambda n, k: elliptic.ellip_pi_complete(n, *complement(k)),
    ),
    "ellint_pi3": (3, "ellip_pi", lambda n, phi, k: elliptic.ellip_pi(n, phi, *complement(k))),
    "ellint_rc": (2, "rc", elliptic.rc),
    "ellint_rd": (3, "rd", elliptic.rd),
    "ellint_rf": (3, "rf", elliptic.rf),
    "ellint_rj": (4, "rj", elliptic.rj),
}


@pytest.mark.parametrize("name", BOOST)
def test_boost_table(name: str) -> None:
    inputs, function, call = BOOST[name]
    _, rows = read(f"boost_{name}_data.csv")
    args = doubles(rows, slice(inputs))
    decimals = [row[inputs] for row in rows]
    sensitivity = np.zeros(len(rows))
    if function == "rj":
        index, half_ulp = doubles(read("boost_ellint_rj_half_ulp.csv")[1], slice(2))
        assert (args[3, index.astype(int)] < 0).all()
        sensitivity[index.astype(int)] = PER_HALF_ULP * half_ulp / EPS
    got, unit = call(*args), relative(decimals)
    assert_close(got, decimals, f"elliptic.{function}", args, unit=unit, besides=sensitivity)


def test_boost_jacobi_table() -> None:
    _, rows = read("boost_jacobi_elliptic.csv")
    u, k = args = doubles(rows, slice(2))
    got = elliptic.jacobi(u, *complement(k))
    assert_jacobi(got, rows, args, "elliptic.jacobi", jacobi_unit(u, k * k))


def test_negative_parameter_table() -> None:
    # Seventeen digits are printed, and u = 100 is no exact quantity there: the digits are good.
    _, rows = read("xsf_ellpj_negative_m.csv")
    u, k2 = args = doubles(rows, slice(2))
    got = elliptic.jacobi(u, k2)
    assert_jacobi(got, rows, args, "elliptic.jacobi", jacobi_unit(u, k2))


def test_small_cases() -> None:
    functions: dict[str, Callable[..., Any]] = {
        "RF": elliptic.rf,
        "RC": elliptic.rc,
        "RD": elliptic.rd,
        "RJ": elliptic.rj,
        "Pi(n,phi,m)": elliptic.ellip_pi,
    }
    copolar = {"s": 0, "c": 1, "d": 2}
    tried = 0
    for function, args, expected, tolerance, _ in read("hipparchus_scipy_small_cases.csv")[1]:
        arguments, want = json.loads(args), float(expected)
        if function in functions:
            got = float(functions[function](*arguments))
        elif function[1:] == "n(u,m)" or function[2:] == "(u,m)":
            parts = [*(float(x) for x in elliptic.jacobi(*arguments)[:3]), 1.0]
            top, bottom = (copolar.get(letter, 3) for letter in function[:2])
            got = parts[top] / parts[bottom]
        else:
            continue
        digits = 0.5 * 10.0 ** -len(expected.split("e")[0].partition(".")[2])
        if "e" in expected:
            digits *= 10.0 ** int(expected.split("e")[1])
        bound = 8 * EPS * abs(want) if "ulp" in tolerance else float(tolerance)
        if "scipy" in _ or "ulp" in tolerance:
            bound = max(bound if "ulp" in tolerance else float(tolerance) * abs(want), digits)
        assert abs(got - want) <= bound, (function, arguments)
        tried += 1
    assert tried >= 30


def make_tables() -> Any:
    """The module that writes the tables."""
    spec = importlib.util.spec_from_file_location("make_tables", DATA / "make_tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    return tables


def test_tables_regenerate() -> None:
    """The generator still writes the stored tables (the two quick ones)."""
    tables = make_tables()
    with mp.workdps(tables.DIGITS):
        for name, function in (("agm", tables.agm), ("rf", tables.rf)):
            header, rows = read(f"{name}.csv")
            inputs = len(header) - 1
            for row in rows[:10]:
                value = function(*(mp.mpf(float(x)) for x in row[:inputs]))
                assert mp.nstr(value, 25) == row[inputs]


# --- public cases ---

CASES = {
    case["id"]: case
    for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]
}


def test_case_j01_hyperbolic_limit() -> None:
    case = CASES["J01"]
    u, k2 = np.array(case["input"]["args"]).T
    for i, row in enumerate(zip(*elliptic.jacobi(u, k2), strict=True)):
        for name, got in zip(("sn", "cn", "dn", "am"), row, strict=True):
            want = float(case["right_answer"][i][name])
            assert abs(got - want) <= (4e-16 if name in ("sn", "am") else 1e-13) * abs(want)


def test_case_j03_quarter_period() -> None:
    case = CASES["J03"]
    u, k2 = np.array(case["input"]["args"]).T
    for i, row in enumerate(zip(*elliptic.jacobi(u, k2), strict=True)):
        for name, got in zip(("sn", "cn", "dn"), row, strict=False):
            assert abs(got - float(case["right_answer"][i][name])) <= 4e-16


@pytest.mark.parametrize(("case", "output", "bound"), [("J05", 1, 4e-15), ("J06", 0, 2e-16)])
def test_case_parameter_is_k2(case: str, output: int, bound: float) -> None:
    for arg, want in zip(CASES[case]["input"]["args"], CASES[case]["right_answer"], strict=True):
        assert abs(elliptic.jacobi(arg["u"], arg["m"])[output] - float(want)) <= bound


def test_case_e01_parameter_above_one() -> None:
    answers = CASES["E01"]["right_answer"]
    got = elliptic.ellip_f([0.3, 11.450531251495654, -0.3], [11.0, 11.0, 11.0])
    assert abs(got[0] - float(answers[0])) <= 4e-16 * got[0]
    assert got[2] == -got[0]
    assert np.isnan(got[1])
    # 6e-17 beyond the end of the domain: the end itself
    end = elliptic.ellip_f(0.3, 11.450531251495654)
    assert abs(end - float(answers[1]["if_finite"])) <= 2e-8 * end


def test_case_e03_quarter_turns() -> None:
    phi, k2 = np.array(CASES["E03"]["input"]["args"]).T
    want = np.array([float(x) for x in CASES["E03"]["right_answer"]])
    assert (np.abs(elliptic.ellip_f(phi, k2) - want) <= 4e-15 * np.abs(want)).all()


@pytest.mark.parametrize("case", ["E05", "E06"])
def test_case_third_kind(case: str) -> None:
    for args, want in zip(CASES[case]["input"]["args"], CASES[case]["right_answer"], strict=True):
        if len(args) == 2 or args[1] is None:
            got = elliptic.ellip_pi_complete(args[0], args[-1])
        else:
            got = elliptic.ellip_pi(*args)
        assert abs(got - float(want)) <= 4e-15 * abs(float(want))


def test_case_e09_characteristic_one() -> None:
    assert (elliptic.ellip_pi_complete(1.0, [0.0, 0.5]) == INF).all()
    got = elliptic.ellip_pi(1.0, 1.0, [0.0, 0.5])
    want = np.array([float(x) for x in CASES["E09"]["right_answer"][2:]])
    assert (np.abs(got - want) <= 4e-16 * want).all()


def test_case_e11_outside_the_domain() -> None:
    assert np.isnan(elliptic.ellip_f([-1.5708, 1.0], [1.5708, 1.5])).all()


def test_case_e13_order_of_arguments() -> None:
    got = elliptic.ellip_pi_complete([0.9958, 0.358], [0.358, 0.9958])
    want = np.array([float(x) for x in CASES["E13"]["right_answer"]])
    assert (np.abs(got - want) <= 4e-15 * want).all()


def test_case_c01_nan_in_any_place() -> None:
    assert abs(elliptic.rj(1.0, 2.0, 3.0, 4.0) - 0.23984809974956776217586) <= 1e-15 * 0.24
    assert np.isnan(elliptic.rj([1, NAN, 0], [2, 2, 1], [3, 3, 4], [NAN, 4, NAN])).all()


def test_case_c02_cancelling_principal_value() -> None:
    """R_J near a pole of its terms: half an ulp in the arguments moves it by 1e-3."""
    args = CASES["C02"]["input"]["args"][0]
    tables = make_tables()
    with mp.workdps(60):
        exact = [mp.mpf(x) for x in args]
        value = tables.rj(*exact)
        assert abs(value / mp.mpf(CASES["C02"]["right_answer"]) - 1) < mp.mpf(10) ** -29
        sensitivity = float(tables.half_ulp(tables.rj, exact, value))
        error = abs(mp.mpf(float(elliptic.rj(*args))) / value - 1)
        assert error <= tol.BOUNDS["elliptic.rj"].limit * EPS + PER_HALF_ULP * sensitivity


# --- edges: every limit is documented, none is an accidental NaN ---

EDGES: list[tuple[Callable[..., Any], tuple[float, ...], float]] = [
    (elliptic.agm, (0, 3), 0),
    (elliptic.agm, (0, 0), 0),
    (elliptic.agm, (1, INF), INF),
    (elliptic.agm, (0, INF), NAN),
    (elliptic.agm, (-1, 2), NAN),
    (elliptic.agm, (5e-324, 5e-324), 5e-324),
    (elliptic.agm, (1e-310, 1e-310), 1e-310),
    (elliptic.agm, (0, 5e-324), 0),
    (elliptic.agm, (-1e-310, 1e-310), NAN),
    (elliptic.rf, (0, 0, 1), INF),
    (elliptic.rf, (0, 0, 0), INF),
    (elliptic.rf, (1, 2, INF), 0),
    (elliptic.rf, (-1, 2, 3), NAN),
    (elliptic.rc, (1, 0), INF),
    (elliptic.rc, (0, 0), INF),
    (elliptic.rc, (0, -2), 0),
    (elliptic.rc, (1, INF), 0),
    (elliptic.rc, (1, -INF), 0),
    (elliptic.rc, (INF, 1), 0),
    (elliptic.rc, (-1, 1), NAN),
    (elliptic.rd, (1, 2, 0), INF),
    (elliptic.rd, (0, 0, 1), INF),
    (elliptic.rd, (1, 2, INF), 0),
    (elliptic.rd, (INF, 2, 1), 0),
    (elliptic.rd, (1, 2, -1), NAN),
    (elliptic.rj, (1, 2, 3, 0), INF),
    (elliptic.rj, (0, 0, 1, 2), INF),
    (elliptic.rj, (0, 0, 1, -2), -INF),
    (elliptic.rj, (0, 0, 0, 0), INF),
    (elliptic.rj, (1, 2, 3, INF), 0),
    (elliptic.rj, (1, 2, 3, -INF), 0),
    (elliptic.rj, (INF, 2, 3, 4), 0),
    (elliptic.rj, (-1, 2, 3, 4), NAN),
    (elliptic.ellip_k, (1,), INF),
    (elliptic.ellip_k, (1.5,), NAN),
    (elliptic.ellip_k, (-INF,), 0),
    (elliptic.ellip_k, (NAN, 0.5), NAN),
    (elliptic.ellip_f, (0, 0.5), 0),
    (elliptic.ellip_f, (2, 1), INF),
    (elliptic.ellip_f, (-2, 1), -INF),
    (elliptic.ellip_f, (2, 1.2), NAN),
    (elliptic.ellip_f, (INF, 0.5), INF),
    (elliptic.ellip_f, (-INF, 1), -INF),
    (elliptic.ellip_f, (INF, 2), NAN),
    (elliptic.ellip_pi, (0.5, INF, 0.5), INF),
    (elliptic.ellip_pi, (0.5, -INF, 1), -INF),
    (elliptic.ellip_pi, (-INF, INF, 0.5), 0),
    (elliptic.ellip_pi, (2, INF, 0.5), NAN),
    (elliptic.ellip_pi, (0.5, INF, 2), NAN),
    (elliptic.ellip_pi, (0.5, 1, -INF), 0),
    (elliptic.ellip_pi, (1, 2, 0.5), INF),
    (elliptic.ellip_pi, (1, -2, 0.5), -INF),
    (elliptic.ellip_pi, (0.3, 2, 1), INF),
    (elliptic.ellip_pi, (0.3, 0, 0.5), 0),
    (elliptic.ellip_pi, (INF, 1, 0.5), 0),
    (elliptic.ellip_pi, (-INF, 1, 0.5), 0),
    (elliptic.ellip_pi, (NAN, 1, 0.5), NAN),
    (elliptic.ellip_pi, (0.3, 1, 1.5), NAN),
    (elliptic.ellip_pi_complete, (0.5, -INF), 0),
    (elliptic.ellip_pi_complete, (-0.5, -INF), 0),
    (elliptic.ellip_pi_complete, (2, -INF), 0),
    (elliptic.ellip_pi_complete, (1, -INF), INF),
    (elliptic.ellip_pi_complete, (NAN, -INF), NAN),
    (elliptic.ellip_pi_complete, (1, 0.5), INF),
    (elliptic.ellip_pi_complete, (0.5, 1), INF),
    (elliptic.ellip_pi_complete, (-3, 1), INF),
    (elliptic.ellip_pi_complete, (1, 1), INF),
    (elliptic.ellip_pi_complete, (1 - 2**-53, 1), INF),
    (elliptic.ellip_pi_complete, (1 + 2**-52, 1), -INF),
    (elliptic.ellip_pi_complete, (2, 1), -INF),
    (elliptic.ellip_pi_complete, (0.5, 1.5), NAN),
    (elliptic.ellip_pi_complete, (INF, 0.5), 0),
    (elliptic.ellip_pi_complete, (-INF, 0.5), 0),
]


@pytest.mark.parametrize(("function", "args", "want"), EDGES)
def test_edge(function: Callable[..., Any], args: tuple[float, ...], want: float) -> None:
    np.testing.assert_equal(float(function(*args)), float(want))


# Values of mpmath at 40 digits: far ends of the range.
FAR = [
    (elliptic.rc, (1e308, -1e308), 6.23225240140230513e-155, 4),
    (elliptic.rc, (1.0, -1e308), 1e-308, 4),
    (elliptic.rj, (1, 1, 1, 1e300), 3e-300, 8),
    (elliptic.rj, (1, 2, 3, 1e300), 2.1808378064067246e-300, 8),
    (elliptic.rj, (1, 2, 3, 1e308), 2.1808378064067246e-308, 8),
    (elliptic.rj, (1, 2, 3, 1e250), 2.1808378064067246e-250, 8),
    (elliptic.rj, (1e-300, 2e-300, 3e-300, 1e-150), 2.1808378064067246e300, 8),
    (elliptic.rj, (1e-300, 2e-300, 3e-300, 1e10), 2.1808378064067246e140, 8),
    (elliptic.ellip_f, (2.0**51, 0.5), 2657890740949579.5, 4),
    (elliptic.ellip_pi, (-1e-300, 1, 0.5), 1.0832167728451688, 8),
    (elliptic.ellip_pi, (-5e-324, 1, 0.5), 1.0832167728451688, 8),
    (elliptic.ellip_pi_complete, (-1e-300, 0.5), 1.8540746773013719, 8),
    (elliptic.ellip_pi_complete, (5e-324, 0.5), 1.8540746773013719, 8),
]


@pytest.mark.parametrize(("function", "args", "want", "bound"), FAR)
def test_far_end(
    function: Callable[..., Any], args: tuple[float, ...], want: float, bound: float
) -> None:
    assert abs(float(function(*args)) / want - 1) <= bound * 2.0**-52


def test_jacobi_ends_with_the_period_of_its_parameter() -> None:
    # NaN from 2^50 times 2 K / pi on; K grows without bound as k2 -> 1.
    for k2 in (-100.0, 0.5, 0.999):
        end = 2.0**50 * 2 / np.pi * elliptic.ellip_k(k2)
        assert np.isfinite(elliptic.jacobi(end * (1 - 1e-12), k2)).all()
        beyond = elliptic.jacobi(end * (1 + 1e-12), k2)
        assert np.isnan(beyond[:3]).all()
        assert np.isfinite(beyond[3])


@pytest.mark.parametrize("k2", [-3.0, 0.0, 0.5, 1.0, 2.0])
def test_jacobi_keeps_the_sign_of_zero(k2: float) -> None:
    sn, _, _, am = elliptic.jacobi([0.0, -0.0], k2)
    assert np.signbit(sn).tolist() == [False, True]
    assert np.signbit(am).tolist() == [False, True]


def test_long_double_where_it_is_asked_for() -> None:
    assert elliptic.rf(np.longdouble(1), 2, 3, dtype=float) == elliptic.rf(1.0, 2.0, 3.0)


def test_pole_of_the_third_kind() -> None:
    # n sin^2 phi = 1 exactly: sin^2 = 1/4 would need an inexact phi, n = 1 at a quarter turn not.
    assert elliptic.ellip_pi_complete(1.0, -2.0) == INF
    below, above = elliptic.ellip_pi([4.0, 4.0], [0.5235987755, 0.5235987757], 0.5)
    assert below > 5
    assert abs(below - above) < 0.2 * below  # the principal value is even about the pole


def test_jacobi_edges() -> None:
    for got, want in zip(elliptic.jacobi(0.0, 0.7), (0, 1, 1, 0), strict=True):
        assert got == want
    sn, cn, dn, am = elliptic.jacobi([INF, -INF], 1.0)
    assert (sn == [1, -1]).all()
    assert (cn == 0).all()
    assert (dn == 0).all()
    assert (np.abs(am) == np.pi / 2).all()
    for args in ((NAN, 0.5), (1.0, NAN), (INF, 0.5), (1.0, INF), (1.0, -INF), (2.0**51, 0.5)):
        sn, cn, dn, am = elliptic.jacobi(*args)
        assert np.isnan([sn, cn, dn]).all()
        assert np.isnan(am) or args in ((INF, 0.5), (2.0**51, 0.5))


def test_odd_and_even() -> None:
    rng = np.random.default_rng(1)
    u, k2 = rng.uniform(0, 20, 200), rng.uniform(-3, 3, 200)
    plus, minus = elliptic.jacobi(u, k2), elliptic.jacobi(-u, k2)
    for a, b, sign in zip(plus, minus, (-1, 1, 1, -1), strict=True):
        assert (a == sign * b).all()


def test_am_is_continuous_and_inverts_f() -> None:
    # am grows by less than max(1, kc) du a step; a wrong multiple of 2 pi would show at once.
    u = np.linspace(-40, 40, 4001)
    for k2 in (-5.0, 0.0, 0.5, 1 - 1e-9, 1.0, 1.2, 30.0):
        am = elliptic.jacobi(u, k2)[3]
        assert np.abs(np.diff(am)).max() < 0.02 * max(1.0, (1 - k2) ** 0.5 if k2 < 1 else 1) * 1.01
        if k2 < 1:
            # F steepens where dn is small: an eps of am is eps/dn of u.
            dn = elliptic.jacobi(u, k2)[2]
            bound = 16 * EPS * (1 + np.abs(u)) * (1 + (1 + np.abs(am)) / dn)
            assert (np.abs(elliptic.ellip_f(am, k2) - u) <= bound).all()
        if k2 > 1:
            assert np.abs(am).max() <= np.arcsin(k2**-0.5) * (1 + 4 * EPS)


# --- NumPy ---

UFUNCS: list[tuple[Callable[..., Any], int]] = [
    (elliptic.agm, 2),
    (elliptic.rf, 3),
    (elliptic.rc, 2),
    (elliptic.rd, 3),
    (elliptic.rj, 4),
    (elliptic.jacobi, 2),
    (elliptic.ellip_f, 2),
    (elliptic.ellip_k, 1),
    (elliptic.ellip_pi, 3),
    (elliptic.ellip_pi_complete, 2),
]


def samples(inputs: int, n: int) -> list[Array]:
    """Arguments of every kind, in and out of the domains, with NaN and extremes among them."""
    rng = np.random.default_rng(inputs)
    out = []
    for _ in range(inputs):
        x = rng.choice([1.0, -1.0, 1.0], n) * 10 ** rng.uniform(-3, 1.5, n)
        x[:: n // 7] = rng.choice([0.0, 1.0, NAN, INF, 1e300, 1e-300], x[:: n // 7].shape)
        out.append(x)
    return out


def as_tuple(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize(("function", "inputs"), UFUNCS)
def test_same_bits_in_any_place(function: Callable[..., Any], inputs: int) -> None:
    n = 61
    args = samples(inputs, n)
    whole = as_tuple(function(*args))
    single = [as_tuple(function(*(float(x[i]) for x in args))) for i in range(n)]
    order = np.random.default_rng(3).permutation(n)
    permuted = as_tuple(function(*(x[order] for x in args)))
    strided = as_tuple(function(*(np.repeat(x, 3)[1::3] for x in args)))
    for k, values in enumerate(whole):
        np.testing.assert_array_equal(values, [s[k] for s in single])
        np.testing.assert_array_equal(values[order], permuted[k])
        np.testing.assert_array_equal(values, strided[k])
        assert np.isfinite(values).any()


@pytest.mark.parametrize(("function", "inputs"), UFUNCS)
def test_out_where_and_dtypes(function: Callable[..., Any], inputs: int) -> None:
    args = [np.full(9, 0.25 * (i + 1)) for i in range(inputs)]
    plain = as_tuple(function(*args))
    outs = tuple(np.full((9, 2), -7.0) for _ in plain)
    mask = np.arange(9) % 2 == 0
    returned = as_tuple(function(*args, out=tuple(o[:, 0] for o in outs), where=mask))
    for got, out, want in zip(returned, outs, plain, strict=True):
        assert np.shares_memory(got, out)
        np.testing.assert_array_equal(out[:, 0], np.where(mask, want, -7.0))
        assert (out[:, 1] == -7.0).all()
    for other in ([x.astype(np.float32) for x in args], [x.astype(">f8") for x in args]):
        for got, want in zip(as_tuple(function(*other)), plain, strict=True):
            assert got.dtype == np.float64
            np.testing.assert_array_equal(got, want)
    integers = as_tuple(function(*([0] * (inputs - 1) + [1] if inputs > 1 else [0])))
    assert all(x.dtype == np.float64 for x in integers)
    assert all(x.shape == (0,) for x in as_tuple(function(*([np.zeros(0)] * inputs))))
    with pytest.raises(TypeError):
        function(*([1j] * inputs))
    with pytest.raises(ValueError, match="broadcast"):
        function(*args, out=tuple(np.empty(4) for _ in plain))


def test_in_place_and_broadcast() -> None:
    x = np.linspace(0.1, 2, 40)
    want = elliptic.rf(x, 1.0, 2.0)
    again = x.copy()
    elliptic.rf(again, 1.0, 2.0, out=again)
    np.testing.assert_array_equal(again, want)
    overlapping = np.concatenate([[0.0], x])
    elliptic.rf(overlapping[1:], 1.0, 2.0, out=overlapping[:-1])
    np.testing.assert_array_equal(overlapping[:-1], want)
    table = elliptic.ellip_f(x[:, None], np.array([0.2, 0.7]))
    assert table.shape == (40, 2)
    np.testing.assert_array_equal(table[:, 1], elliptic.ellip_f(x, 0.7))


def test_complement_is_used_and_optional() -> None:
    k2 = np.array([-3.0, 0.25, 0.75, 1.0, 2.5])
    for with_kc2, without in (
        (elliptic.jacobi(0.4, k2, 1 - k2), elliptic.jacobi(0.4, k2)),
        (elliptic.jacobi(0.4, k2, kc2=1 - k2), elliptic.jacobi(0.4, k2)),
        ([elliptic.ellip_f(0.4, k2, 1 - k2)], [elliptic.ellip_f(0.4, k2)]),
        ([elliptic.ellip_k(k2, 1 - k2)], [elliptic.ellip_k(k2)]),
        ([elliptic.ellip_pi(0.3, 0.4, k2, 1 - k2)], [elliptic.ellip_pi(0.3, 0.4, k2)]),
        (
            [elliptic.ellip_pi_complete(0.3, k2, 1 - k2)],
            [elliptic.ellip_pi_complete(0.3, k2)],
        ),
    ):
        for a, b in zip(with_kc2, without, strict=True):
            np.testing.assert_array_equal(a, b)
    # log(4/kc) with kc = 1e-10, which k2 = 1 cannot say
    assert abs(elliptic.ellip_k(1.0, 1e-20) - np.log(4e10)) < 8 * EPS * np.log(4e10)


def test_ufuncs_are_ufuncs_and_documented() -> None:
    for function in (elliptic.agm, elliptic.rf, elliptic.rc, elliptic.rd, elliptic.rj):
        assert isinstance(function, np.ufunc)
        assert "eps" in (function.__doc__ or "")
    assert ph.elliptic is elliptic

"""Quantities with units, as of astropy, pint and unyt: refused, never stripped of their unit."""

from __future__ import annotations

import datetime
import functools
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

INERTIA, M, Q = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [1.0, 0.0, 0.0, 0.0]


class ArrayWithUnit(np.ndarray[Any, Any]):
    """As astropy's: a subclass of the array, which NumPy takes for one."""

    unit = "kg m2"

    def to_value(self, unit: Any = None) -> Any:
        return np.asarray(self)


class WithUnits:
    """As pint's: an object around an array."""

    units = "kilogram * meter ** 2"

    def __init__(self, magnitude: Any) -> None:
        self.magnitude = np.asarray(magnitude)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.magnitude, dtype)


class ArrayWithUnits(np.ndarray[Any, Any]):
    """As unyt's: a subclass of the array without a magnitude."""

    units = "kg*m**2"

    def to_value(self, units: Any = None) -> Any:
        return np.asarray(self)


def like_astropy(value: Any) -> Any:
    return np.array(value).view(ArrayWithUnit)


def like_unyt(value: Any) -> Any:
    return np.array(value).view(ArrayWithUnits)


def unyt_quantity(value: Any) -> Any:
    return pytest.importorskip("unyt").unyt_array(np.array(value), "kg")


def astropy_quantity(value: Any) -> Any:
    units = pytest.importorskip("astropy.units")
    return np.array(value) * units.kg


@functools.cache
def pint_units() -> Any:
    return pytest.importorskip("pint").UnitRegistry()


def pint_quantity(value: Any) -> Any:
    return pint_units().Quantity(np.array(value), "kg")


QUANTITIES = {
    "astropy alike": like_astropy,
    "pint alike": WithUnits,
    "unyt alike": like_unyt,
    "astropy": astropy_quantity,
    "unyt": unyt_quantity,
    "pint": pint_quantity,
}

CALLS: dict[str, Any] = {
    "inertia": lambda u: ph.step(u(INERTIA), M, Q, 0.1),
    "m": lambda u: ph.step(np.array(INERTIA), u(M), np.array(Q), 0.1),
    "q": lambda u: ph.step(np.array(INERTIA), np.array(M), u(Q), 0.1),
    "h": lambda u: ph.step(np.array(INERTIA), np.array(M), np.array(Q), u(0.1)),
    "m0": lambda u: ph.integrate(INERTIA, u(M), Q, 0.1, 3),
    "t0": lambda u: ph.integrate(INERTIA, M, Q, 0.1, 3, t0=u(0.1)),
    "t": lambda u: ph.TorqueFreeMotion(INERTIA, M, Q)(u([0.0, 1.0])),
    "omega": lambda u: ph.momentum(INERTIA, u(M)),
    "tensor": lambda u: ph.RigidBody(u(np.diag(INERTIA))),
    "mass": lambda u: ph.RigidBody.from_points(u([1.0, 1.0, 1.0]), np.eye(3)),
    "u0": lambda u: ph.torques.HeavyTop(u(M)),
    "mu": lambda u: ph.torques.GravityGradient.circular(u(1.0), 2.0),
    "radius": lambda u: ph.torques.GravityGradient.circular(1.0, u(2.0)),
    "inclination": lambda u: ph.torques.GravityGradient.circular(1.0, 2.0, u(0.1)),
    "values": lambda u: ph.torques.Prescribed(u([M, M]), [0.0, 1.0]),
    "v": lambda u: ph.so3.exp(u(M)),
    "the torque function": lambda u: ph.integrate(INERTIA, M, Q, 0.1, 3, torque=lambda t, q: u(M)),
    "omega(t)": lambda u: ph.attitude_from_rate(lambda t: u(M), Q, 0.1),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", QUANTITIES)
def test_quantity_is_refused_by_name(name: str, kind: str) -> None:
    # Without a unit the call works.
    CALLS[name](np.array)
    with pytest.raises(TypeError) as refused:
        CALLS[name](QUANTITIES[kind])
    assert name in str(refused.value)
    assert ("magnitude" if "pint" in kind else "to_value") in str(refused.value)
    assert "unit" in str(refused.value)


@pytest.mark.parametrize("kind", QUANTITIES)
def test_lists_of_quantities(kind: str) -> None:
    rows = [QUANTITIES[kind](M), QUANTITIES[kind](M)]
    for m in (rows, [rows], tuple(rows)):
        with pytest.raises(TypeError, match=r"m has the unit .*consistent set"):
            ph.energy(INERTIA, m)


@pytest.mark.parametrize("kind", ["astropy alike", "astropy"])
def test_elliptic_functions_strip_no_unit(kind: str) -> None:
    with pytest.raises(TypeError):
        ph.elliptic.rf(QUANTITIES["astropy"]([1.0]), 2.0, 3.0)


def test_quantities_within_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    with pytest.raises(TypeError, match="m has the unit"):
        ph.energy(INERTIA, xarray.DataArray(pint_quantity(M), dims="axis"))
    plain = xarray.DataArray(M, dims="axis", attrs={"units": "kg m2/s"})
    same(ph.energy(INERTIA, plain), ph.energy(INERTIA, M))


def test_other_arrays_with_attributes_pass() -> None:
    # A class of arrays that has no unit, and an object with a `value` that is no unit's.
    class Plain(np.ndarray[Any, Any]):
        value = 3.0

    plain = np.array(M).view(Plain)
    same(ph.step(INERTIA, plain, Q, 0.1)[0], ph.step(INERTIA, M, Q, 0.1)[0])
    same(ph.energy(INERTIA, plain), ph.energy(INERTIA, M))


def advice(call: Any, unit: str | None = None, start: Any = None, **values: Any) -> Any:
    """The value that the message of a refused call recommends."""
    with pytest.raises(TypeError) as refused:
        call()
    text = str(refused.value).rpartition("units, ")[2].rpartition("give ")[2]
    element, found, _ = text.partition(" for each element x")
    if found:
        (value,) = values.values()
        return [eval(element, {"numpy": np, "x": x, "unit": unit}) for x in value]
    return eval(text, {"numpy": np, "unit": unit, "start": start, **values})


def time_spans() -> dict[str, Any]:
    spans = {"datetime": datetime.timedelta(seconds=2), "numpy": np.timedelta64(2, "s")}
    return spans | {"fine": np.timedelta64(2_000_000, "us")}


@pytest.mark.parametrize("kind", [*time_spans(), "pandas"])
def test_the_advice_for_time_spans(kind: str) -> None:
    spans: dict[str, Any] = time_spans()
    h = spans[kind] if kind in spans else pytest.importorskip("pandas").Timedelta("2s")
    want = ph.step(INERTIA, M, Q, 2.0)
    same(ph.step(INERTIA, M, Q, advice(lambda: ph.step(INERTIA, M, Q, h), h=h))[1], want[1])
    both = [h, h]
    rows = advice(lambda: ph.step(INERTIA, M, Q, both), h=both)
    same(ph.step(INERTIA, M, Q, rows)[1], np.stack([want[1]] * 2))


def dates(kind: str) -> Any:
    """Stamps, two seconds apart, in some form that has no numbers."""
    stamps = np.datetime64("2026-03-01T12:00:00", "ns") + 2 * np.arange(5) * np.timedelta64(1, "s")
    pandas = None if kind.startswith("numpy") else pytest.importorskip("pandas")
    forms: dict[str, Any] = {
        "numpy dates": lambda: stamps,
        "numpy spans": lambda: stamps - stamps[0],
        "column": lambda: pandas.Series(stamps, index=range(3, 8)),
        "column of spans": lambda: pandas.Series(stamps - stamps[0]),
        "index": lambda: pandas.DatetimeIndex(stamps),
        "index with a zone": lambda: pandas.DatetimeIndex(stamps).tz_localize("UTC"),
        "column with a zone": lambda: pandas.Series(pandas.DatetimeIndex(stamps, tz="UTC")),
        "index of spans": lambda: pandas.DatetimeIndex(stamps) - stamps[0],
    }
    return forms[kind]()


@pytest.mark.parametrize(
    "kind",
    ["numpy dates", "numpy spans", "column", "column of spans", "index", "index with a zone",
     "column with a zone", "index of spans"],
)  # fmt: skip
def test_the_advice_for_dates_gives_seconds(kind: str) -> None:
    t = dates(kind)
    start = (t.iloc if "column" in kind else t)[0] - np.timedelta64(3, "s")
    call = functools.partial(ph.attitude_from_rate, np.ones((5, 3)), Q, t=t, order=2)
    given = advice(call, start=start, t=t)
    same(np.asarray(given, np.float64), 2.0 * np.arange(5) + 3.0 * ("spans" not in kind))


def test_a_date_is_no_number() -> None:
    pandas = pytest.importorskip("pandas")
    for h in (datetime.datetime(2026, 3, 1), datetime.date(2026, 3, 1), pandas.Timestamp("2026")):
        for given in (h, [h, h]):
            with pytest.raises(TypeError, match="h must be real numbers, not a date: give"):
                ph.step(INERTIA, M, Q, given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [k for k in QUANTITIES if k != "pint alike"])
def test_the_advice_for_quantities(kind: str) -> None:
    m = QUANTITIES[kind](M)
    for unit, size in (("kg", 1.0), ("g", 1000.0)) if "alike" not in kind else ((None, 1.0),):
        given = advice(lambda: ph.energy(INERTIA, m), unit, m=m)
        close(given, size * np.array(M), rtol=1e-15)
        ph.energy(INERTIA, given)
        rows = [m, m]
        each = advice(lambda: ph.energy(INERTIA, rows), unit, m=rows)  # noqa: B023
        close(np.array(each), size * np.array([M, M]), rtol=1e-15)
        if unit:
            h = m[0]
            one = advice(lambda: ph.step(INERTIA, M, Q, h), unit, h=h)  # noqa: B023
            close(one, size * M[0], rtol=1e-15)


def test_the_advice_for_frames() -> None:
    pandas = pytest.importorskip("pandas")
    for m in (
        pandas.DataFrame({"x": [0.1], "y": [0.2], "z": [0.3]}, dtype=object),
        pandas.DataFrame({"x": [0.1], "y": [0.2], "z": [0.3]}).convert_dtypes(),
    ):
        is_object = m.to_numpy().dtype == object
        given = advice(lambda: ph.energy(INERTIA, m), m=m) if is_object else m  # noqa: B023
        same(ph.energy(INERTIA, given), ph.energy(INERTIA, [M]))

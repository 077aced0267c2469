"""Models with a vector that depends on time; formulas: cpp/include/polhode/torque/table.hpp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._base import Torque
from polhode.torques._model import Model, columns, finite


@dataclass(frozen=True)
class TimeTable:
    """A vector as a piecewise cubic of time: constant, samples, or a piecewise polynomial."""

    #: The argument as it is stored, and the times of samples.
    values: Any
    times: Array | None
    #: Bounds between the intervals, origins of their times, coefficients (T, ..., 12).
    bounds: Array
    origins: Array
    coefficients: Array
    #: As `Torque.span` and `Torque.held`.
    span: tuple[float, float] | None = None
    held: bool = False

    @classmethod
    def of(cls, name: str, values: Any, times: ArrayLike | None) -> TimeTable:
        """The table of an argument of this name; constant if `times` is missing."""
        held, span, stamps = False, None, None
        if is_piecewise(values):
            if times is not None:
                raise TypeError(f"times must be None: {name} is a piecewise polynomial")
            polynomial = Piecewise.of(values, name)
            bounds, origins, table = _of_polynomial(polynomial)
            if not polynomial.extrapolate:
                span = float(polynomial.x[0]), float(polynomial.x[-1])
        elif callable(values):
            raise TypeError(
                f"{name} must be constant, samples at `times` or a piecewise polynomial, such as "
                f"scipy.interpolate.CubicSpline, not {type(values).__name__}"
            )
        elif times is None:
            (values,) = finite((name, values, (3,)))
            bounds, origins, table = np.zeros(0), np.zeros(1), np.zeros((1, 4, *values.shape))
            table[0, 0] = values
        else:
            values, stamps, bounds, origins, table = _of_samples(name, values, times)
            held = True
            if len(stamps) > 1:  # one sample: constant
                span = float(stamps[0]), float(stamps[-1])
        shape = (len(origins), *table.shape[2:-1], 12)
        return cls(
            values, stamps, bounds, origins, np.moveaxis(table, 1, -2).reshape(shape), span, held
        )

    def value(self, t: Array, order: int = 0) -> Array:
        """The vector (..., 3) at times t (...), or its derivative of this order."""
        at = np.searchsorted(self.bounds, t, side="right")
        every = _arrays.broadcast({"t": t.shape, "table": self.coefficients.shape[1:-1]})
        lanes: Any = np.indices(self.coefficients.shape[1:-1], sparse=True)
        c = np.broadcast_to(self.coefficients[(at, *lanes)], (*every, 12))
        c = c.reshape(*every, 4, 3)
        s = (t - self.origins[at])[..., None]
        for _ in range(order):
            c = c[..., 1:, :] * np.arange(1, c.shape[-2])[:, None]
        result = c[..., -1, :]
        for k in range(c.shape[-2] - 2, -1, -1):
            result = result * s + c[..., k, :]
        return np.asarray(result)


class Tabulated(Model):
    """A model with a vector that is a piecewise cubic of time."""

    _table: TimeTable | None = None  # without it the model of the core has no table

    def _set_tabulated(self, name: str, table: TimeTable, *parts: Array) -> None:
        self._set(name, *(parts or (np.zeros(0),)))
        self._table = table
        self.span, self.held = table.span, table.held
        batches = {"parameters": self.batch, "table": table.coefficients.shape[1:-1]}
        self.batch = _arrays.broadcast(batches)

    def of_body(self, at: tuple[int, ...], shape: tuple[int, ...]) -> Torque | None:
        alone = super().of_body(at, shape)
        if self._table is None:
            return alone
        assert isinstance(alone, Tabulated)
        every = self._table.coefficients
        place: Any = (slice(None), *at)
        one = np.broadcast_to(every, (len(every), *shape, every.shape[-1]))[place]
        alone._table = replace(self._table, coefficients=one)
        return alone

    def numbers(self) -> Array | None:
        """The parameters, and the table."""
        if self._table is None:
            return self.parameters
        return np.concatenate([self.parameters.ravel(), self._table.coefficients.ravel()])

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        index, parameters = super().core_term(shape, matrix)
        table = self._table
        if table is None:
            return index, parameters
        values = table.coefficients
        if values.size == 12 * len(values):  # all bodies share them
            values = np.ascontiguousarray(values.reshape(-1, 12))
        else:
            values = np.stack([columns(interval, shape) for interval in values])
        return index, parameters, 0, 0, table.bounds, table.origins, True, values


def is_piecewise(values: Any) -> bool:
    """True for SciPy's piecewise polynomials and objects with the same attributes."""
    return hasattr(values, "c") and hasattr(values, "x")


@dataclass(frozen=True)
class Piecewise:
    """The part of SciPy's piecewise polynomials that models use."""

    #: Coefficients (degree + 1, pieces, ..., 3), the highest power first.
    c: Array
    #: Breakpoints (pieces + 1,).
    x: Array
    #: Whether the first and last pieces continue outside the breakpoints, or "periodic".
    extrapolate: bool | str

    @classmethod
    def of(cls, polynomial: Any, name: str = "values") -> Piecewise:
        """The used part of one of SciPy's polynomials, the argument of this name."""
        c, x = (
            np.asarray(_arrays.real_array(f"{name}.{part}", getattr(polynomial, part)), np.float64)
            for part in "cx"
        )
        return cls(c, x, getattr(polynomial, "extrapolate", True))

    def __repr__(self) -> str:
        return f"<piecewise polynomial on [{self.x[0]}, {self.x[-1]}]>"


def ascending(times: Array) -> Array:
    """Times (T,), refused if they do not ascend."""
    _arrays.refuse("times", times, ~np.isfinite(times), 0, "must be finite")
    _arrays.refuse("times", times[1:], ~(np.diff(times) > 0), 0, "times must ascend")
    return times


def _of_samples(name: str, values: ArrayLike, times: ArrayLike) -> tuple[Array, ...]:
    """Linear pieces between samples, constant ones outside: bounds, origins, coefficients."""
    v, t = _arrays.real_array(name, values), _arrays.real_array("times", times)
    if t.ndim != 1 or len(t) == 0 or v.shape[:1] != t.shape or v.shape[-1:] != (3,) or v.ndim < 2:
        raise ValueError(
            f"{name} (T, ..., 3) and times (T,) must fit together, not {v.shape} and {t.shape}"
        )
    v, t = v.astype(np.float64), ascending(t.astype(np.float64))
    _arrays.refuse(name, v, ~np.isfinite(v), 0, "must be finite")
    table = np.zeros((len(t) + 1, 4, *v.shape[1:]))
    table[0, 0], table[1:, 0] = v[0], v
    lengths = np.diff(t).reshape(-1, *[1] * (v.ndim - 1))
    table[1:-1, 1] = np.diff(v, axis=0) / lengths
    return v, t, t, np.concatenate([t[:1], t]), table


def _of_polynomial(polynomial: Piecewise) -> tuple[Array, ...]:
    """The pieces of a piecewise polynomial: bounds, origins, coefficients."""
    x, c = polynomial.x, polynomial.c
    if x.ndim != 1 or c.ndim < 3 or c.shape[1] != len(x) - 1 or c.shape[-1] != 3:
        raise ValueError(
            f"a piecewise polynomial must have values of shape (..., 3); its c has shape {c.shape}"
        )
    if len(c) > 4:
        raise ValueError(f"a piecewise polynomial must be of degree 3 or less, not {len(c) - 1}")
    if not (np.diff(x) > 0).all():
        raise ValueError("the breakpoints of a piecewise polynomial must ascend")
    if polynomial.extrapolate == "periodic":
        raise ValueError("periodic piecewise polynomials are not supported: give a function")
    table = np.zeros((len(x) - 1, 4, *c.shape[2:]))
    table[:, : len(c)] = np.moveaxis(c[::-1], 0, 1)
    if polynomial.extrapolate:
        return x[1:-1], x[:-1], table
    outside = np.full((1, *table.shape[1:]), np.nan)
    # The last breakpoint belongs to the last piece; times t0 + n h near it have rounding errors.
    bounds = x.copy()
    bounds[0] -= 8 * np.spacing(np.abs(x).max())
    bounds[-1] += 8 * np.spacing(np.abs(x).max())
    return bounds, np.concatenate([x[:1], x]), np.concatenate([outside, table, outside])

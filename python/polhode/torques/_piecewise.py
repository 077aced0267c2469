"""Piecewise polynomials of time, of degree 3 or less, from samples and from SciPy's classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array


def is_piecewise(values: Any) -> bool:
    """True for SciPy's piecewise polynomials and objects with the same attributes."""
    return hasattr(values, "c") and hasattr(values, "x")


@dataclass(frozen=True)
class Piecewise:
    """The part of SciPy's piecewise polynomials that `polhode.torques.Prescribed` uses.

    Attributes
    ----------
    c : ndarray, shape (degree + 1, pieces, ..., 3)
        Coefficients, the highest power first.
    x : ndarray, shape (pieces + 1,)
        Breakpoints.
    extrapolate : bool or "periodic"
        Whether the first and last pieces continue outside the breakpoints.
    """

    c: Array
    x: Array
    extrapolate: bool | str

    @classmethod
    def of(cls, polynomial: Any) -> Piecewise:
        """The used part of one of SciPy's polynomials."""
        c, x = (np.asarray(part, np.float64) for part in (polynomial.c, polynomial.x))
        return cls(c, x, getattr(polynomial, "extrapolate", True))

    def __repr__(self) -> str:
        return f"<piecewise polynomial on [{self.x[0]}, {self.x[-1]}]>"


def of_samples(values: ArrayLike, times: ArrayLike) -> tuple[Array, ...]:
    """Linear pieces between samples, constant ones outside: bounds, origins, coefficients."""
    v, t = _arrays.real_array("values", values), _arrays.real_array("times", times)
    if t.ndim != 1 or len(t) == 0 or v.shape[:1] != t.shape or v.shape[-1:] != (3,) or v.ndim < 2:
        raise ValueError(
            f"values (T, ..., 3) and times (T,) must fit together, not {v.shape} and {t.shape}"
        )
    v, t = v.astype(np.float64), t.astype(np.float64)
    _arrays.refuse("times", t, ~np.isfinite(t), 0, "must be finite")
    _arrays.refuse("times", t[1:], ~(np.diff(t) > 0), 0, "times must ascend")
    _arrays.refuse("values", v, ~np.isfinite(v), 0, "must be finite")
    table = np.zeros((len(t) + 1, 4, *v.shape[1:]))
    table[0, 0], table[1:, 0] = v[0], v
    lengths = np.diff(t).reshape(-1, *[1] * (v.ndim - 1))
    table[1:-1, 1] = np.diff(v, axis=0) / lengths
    return v, t, t, np.concatenate([t[:1], t]), table


def of_polynomial(polynomial: Piecewise) -> tuple[Array, ...]:
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

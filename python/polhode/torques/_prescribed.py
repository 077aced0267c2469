"""`Constant` and `Prescribed`; formulas: cpp/include/polhode/torque/prescribed.hpp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array, AttitudeLike
from polhode.torques._function import in_body
from polhode.torques._model import Model, columns, finite, frame_of


class Constant(Model):
    """A constant torque.

    Parameters
    ----------
    value : array_like, shape (..., 3)
        The torque, in the frame `frame`.
    frame : {"body", "space"}, optional
        The frame in which it is constant: the body frame (a thruster) or the space frame.

    Notes
    -----
    It has no potential: its work depends on the path. In the space frame, Q m - torque t is
    conserved.

    Examples
    --------
    >>> import polhode as ph
    >>> thruster = ph.torques.Constant([0.0, 0.0, 0.5])
    >>> traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.1, 10, torque=thruster)
    >>> traj.m[-1].round(12)
    array([0. , 0. , 1.5])
    """

    def __init__(self, value: ArrayLike, frame: str = "body") -> None:
        self.frame = frame_of(frame)
        (self.value,) = finite(("value", value, (3,)))
        self._set(f"constant_{frame}", self.value)


class Prescribed(Model):
    """A torque that is given as a function of time.

    Parameters
    ----------
    values : callable, piecewise polynomial or array_like, shape (T, ..., 3)
        The torque in the frame `frame`, as one of

        - samples at the times `times`: linear between them, constant before the first and after the
          last, as in `numpy.interp`;
        - a piecewise polynomial of degree 3 or less with values of shape (..., 3), as in SciPy
          (`CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `PPoly`): any object with
          breakpoints ``x`` and coefficients ``c``. The first and last polynomials continue outside
          the breakpoints. With ``extrapolate=False`` there is no torque outside (`torque` returns
          NaN), and `integrate` raises an error if it needs one;
        - a function ``f(t) -> (..., 3)`` of time, called from Python at each kick, several times in
          a kick if another torque of the run depends on m.
    times : array_like, shape (T,), optional
        Times of the samples, ascending.
    frame : {"body", "space"}, optional
        The frame of the components.

    Notes
    -----
    Samples and polynomials are evaluated in the core. A kick uses the torque at the time that the
    free flows have reached. In some schemes this time lies outside the step, see `Splitting.times`:
    if the data do not cover it, `integrate` raises ValueError before any work. A run may continue
    after the last sample: the torque is then constant at its last value. A kink, also at a sample,
    reduces the order of a scheme unless a step ends there. There is no potential.

    Examples
    --------
    A thruster that is switched on slowly:

    >>> import polhode as ph
    >>> burn = ph.torques.Prescribed([[0, 0, 0.0], [0, 0, 1.0]], times=[0.0, 2.0])
    >>> traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.5, 6, torque=burn)
    >>> traj.m[-1].round(12)
    array([0., 0., 3.])
    """

    def __init__(self, values: Any, times: ArrayLike | None = None, frame: str = "body") -> None:
        self.values = values
        self.times: Array | None = None
        self.frame = frame_of(frame)
        if is_piecewise(values):
            if times is not None:
                raise TypeError("times must be None: values is a piecewise polynomial")
            bounds, origins, table = of_polynomial(Piecewise.of(values))
        elif callable(values):
            if times is not None:
                raise TypeError("times must be None: values is a function of time")
            bounds, origins, table = np.zeros(0), np.zeros(1), np.zeros((1, 4, 3))
            self.in_core = False
        else:
            if times is None:
                raise TypeError("times is missing: values are samples, one for each time")
            self.values, self.times, bounds, origins, table = of_samples(values, times)
        if self.times is not None:
            self.held = True
            if len(self.times) > 1:  # one sample: a constant torque
                self.span = float(self.times[0]), float(self.times[-1])
        elif self.in_core and not Piecewise.of(values).extrapolate:
            self.span = float(values.x[0]), float(values.x[-1])
        self._bounds, self._origins = bounds, origins
        self._table = np.moveaxis(table, 1, -2).reshape(len(origins), *table.shape[2:-1], 12)
        self._set(f"prescribed_{frame}", self._table[0])
        if not self.in_core:
            self.has_modified = False

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, in the form of the core."""
        table = np.stack([columns(interval, shape) for interval in self._table])
        return self.index, table, 0, 0, self._bounds, self._origins, True

    def arguments(self) -> dict[str, Any] | None:
        """Arguments of the constructor; None with a function."""
        return super().arguments() if self.in_core else None

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3), see `Model.torque`."""
        if self.in_core:
            return super().torque(t, m, attitude)
        return in_body(self.frame, "torque", self.values(t), m, attitude)


def is_piecewise(values: Any) -> bool:
    """True for SciPy's piecewise polynomials and objects with the same attributes."""
    return hasattr(values, "c") and hasattr(values, "x")


@dataclass(frozen=True)
class Piecewise:
    """The part of SciPy's piecewise polynomials that `polhode.torques.Prescribed` uses."""

    #: Coefficients (degree + 1, pieces, ..., 3), the highest power first.
    c: Array
    #: Breakpoints (pieces + 1,).
    x: Array
    #: Whether the first and last pieces continue outside the breakpoints, or "periodic".
    extrapolate: bool | str

    @classmethod
    def of(cls, polynomial: Any) -> Piecewise:
        """The used part of one of SciPy's polynomials."""
        c, x = (
            np.asarray(_arrays.real_array(f"values.{name}", getattr(polynomial, name)), np.float64)
            for name in "cx"
        )
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

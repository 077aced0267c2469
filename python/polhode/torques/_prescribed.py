"""`polhode.torques.Prescribed`; formulas: cpp/include/polhode/torque/prescribed.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike
from polhode.torques._evaluate import columns, in_body
from polhode.torques._model import Model, frame_of
from polhode.torques._piecewise import Piecewise, is_piecewise, of_polynomial, of_samples


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
        - a function ``f(t) -> (..., 3)`` of time, called from Python once per kick.
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
                raise TypeError("a piecewise polynomial has its own times")
            bounds, origins, table = of_polynomial(Piecewise.of(values))
        elif callable(values):
            if times is not None:
                raise TypeError("a function of time needs no times")
            bounds, origins, table = np.zeros(0), np.zeros(1), np.zeros((1, 4, 3))
            self.in_core = False
        else:
            if times is None:
                raise TypeError("samples need times")
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

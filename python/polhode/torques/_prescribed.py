"""`Constant` and `Prescribed`; formulas: cpp/include/polhode/torque/prescribed.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike
from polhode.torques._function import in_body
from polhode.torques._model import Model, finite, frame_of
from polhode.torques._tabulated import Tabulated, TimeTable, is_piecewise


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
    """

    def __init__(self, value: ArrayLike, frame: str = "body") -> None:
        self.frame = frame_of(frame)
        (self.value,) = finite(("value", value, (3,)))
        self._set(f"constant_{frame}", self.value)


class Prescribed(Tabulated):
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
    A kick uses the torque at the time that the free flows have reached. In some schemes this time
    lies outside the step, see `Splitting.times`: if the data do not cover it, `integrate` raises
    ValueError before any work. A kink, also at a sample, reduces the order of a scheme unless a
    step ends there. There is no potential.

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
        self.frame = frame_of(frame)
        function = callable(values) and not is_piecewise(values)
        if function and times is not None:
            raise TypeError("times must be None: values is a function of time")
        if not function and not is_piecewise(values) and times is None:
            raise TypeError("times is missing: values are samples, one for each time")
        table = TimeTable.of("values", np.zeros(3) if function else values, times)
        self.values, self.times = values if function else table.values, table.times
        self._set_tabulated(f"prescribed_{frame}", table)
        if function:
            self.in_core = self.has_modified = False

    def arguments(self) -> dict[str, Any] | None:
        """Arguments of the constructor; None with a function."""
        return super().arguments() if self.in_core else None

    def torque(self, t: float, m: ArrayLike, attitude: AttitudeLike) -> Array:
        """Torque in the body frame, shape (..., 3), see `Model.torque`."""
        if self.in_core:
            return super().torque(t, m, attitude)
        return in_body(self.frame, "torque", self.values(t), m, attitude)

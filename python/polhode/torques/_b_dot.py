"""`BDot`, and the field of a magnetic dipole; formulas: cpp/include/polhode/torque/damping.hpp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._model import ModelOfInertia, finite, six
from polhode.torques._tabulated import Tabulated, TimeTable


class BDot(Tabulated, ModelOfInertia):
    """Magnetic detumbling: B-dot control of a satellite, by the rate of the field that it measures.

    Parameters
    ----------
    gain : array_like, shape (...)
        k >= 0: the magnetorquers make the dipole -k db/dt, b the field in the body frame.
    field : array_like or piecewise polynomial, shape (..., 3)
        The magnetic field in the space frame: constant; samples (T, ..., 3) at `times`; or a
        piecewise polynomial of time, as in `Prescribed`, such as a spline through the field along
        an `Orbit`.
    times : array_like, shape (T,), optional
        Times of the samples, ascending. B' jumps there, see `Gyrostat`.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor in the body axes; by default those of the integration.

    Notes
    -----
    With B the field, b = Q.T @ B and db/dt = Q.T @ B' + b x omega: torque = -k db/dt x b (body
    frame), which is a damping -k (b . b - b b^T) omega and a torque -k B' x B in space. SI units:
    field in tesla, dipole in A m^2, k in A m^2 s/T. A kick is exact at fixed attitude and field.
    """

    def __init__(
        self,
        gain: ArrayLike,
        field: Any,
        times: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        (self.gain,) = finite(("gain", gain, ()))
        _arrays.refuse("gain", self.gain, self.gain < 0, 0, "must not be negative")
        table = TimeTable.of("field", field, times)
        self.field, self.times = table.values, table.times
        self._set_tabulated("b_dot", table, self.gain[..., None], six(self._inverse()))


def dipole_field(position: ArrayLike, moment: ArrayLike, constant: float = 1e-7) -> Array:
    """The field (..., 3) of a dipole at positions (..., 3) from it, which are not zero.

    It is constant (3 (moment . u) u - moment)/r^3, with r and u the distance and the direction,
    `moment` (..., 3) in the same frame. Earth's magnetic dipole: 7.75e22 A m^2, to the south,
    tilted by 9 degrees; it turns with the Earth. `constant` is mu0/(4 pi) in SI units by default,
    and the field in tesla; give 1/(4 pi eps0) for an electric one.
    """
    r, m = finite(("position", position, (3,)), ("moment", moment, (3,)))
    size = np.linalg.norm(r, axis=-1, keepdims=True)
    if (size == 0).any():
        raise ValueError("position must not be zero")
    u = r / size
    return np.asarray(constant * (3 * np.sum(m * u, axis=-1, keepdims=True) * u - m) / size**3)

"""Tops, and a dipole, which is one; formulas: cpp/include/polhode/torque/heavy_top.hpp."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite
from polhode.torques._tabulated import Tabulated, TimeTable, is_piecewise


class HeavyTop(Model):
    """A heavy top: a constant weight in space that pulls at a point of the body.

    Parameters
    ----------
    u0 : array_like, shape (..., 3)
        The weight times its arm, space frame: minus the force of gravity, times the distance of
        the centre of mass from the fixed point where `axis` has length 1.
    axis : array_like, shape (..., 3), optional
        The centre of mass, body frame. Broadcasts against `u0`, both against the bodies.

    Notes
    -----
    With u = Q.T @ u0: torque = u x axis (body frame), potential = u . axis.
    Conserved: kinetic energy + potential, and m . u. Source: [CZ08] Sec. 4.3, there axis = e3.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.torques.HeavyTop([0.0, 1.0, 2.0])
    >>> top.torque(0.0, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0])
    array([1., 0., 0.])
    >>> float(top.potential(0.0, [1.0, 0.0, 0.0, 0.0]))
    2.0
    """

    def __init__(self, u0: ArrayLike, axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.u0, self.axis = finite(("u0", u0, (3,)), ("axis", axis, (3,)))
        self._set("heavy_top", self.u0, self.axis)


class LagrangeTop(Model):
    """A top in uniform gravity, its centre of mass on the third axis of the body.

    Parameters
    ----------
    weight : array_like, shape (...), optional
        Mass times gravity times distance of the centre of mass from the fixed point. The third axis
        of space points up.

    Notes
    -----
    With u = Q.T @ (0, 0, 1): torque = weight (u2, -u1, 0) (body frame), potential = weight u3. In
    addition to the energy, the third component of Q m is conserved and, if the first two moments
    are equal, that of m. Source: [Krysl07] Secs. 5.2 and 5.3; both tops there have weight 20 and
    moments (5, 5, 1); the slow one starts at omega = (0, 0, 5), turned by 0.05 about axis 1, the
    fast one at (0, 0, 50), turned by 0.3.
    """

    def __init__(self, weight: ArrayLike = 20.0) -> None:
        (self.weight,) = finite(("weight", weight, ()))
        self._set("lagrange_top", self.weight[..., None])


class Dipole(Tabulated):
    """A dipole fixed in the body, in a uniform field: molecules, compass needles, satellites.

    Parameters
    ----------
    moment : array_like, shape (..., 3)
        Dipole moment, body frame.
    field : array_like or piecewise polynomial, shape (..., 3)
        Field, space frame: electric for an electric moment, magnetic for a magnetic one. It is
        constant; or varies in time, as samples (T, ..., 3) at `times` or as a piecewise polynomial
        (see `Prescribed`), for example a spline through the field along an `Orbit`.
    times : array_like, shape (T,), optional
        Times of the samples, ascending.

    Notes
    -----
    With F = Q.T @ field: torque = moment x F (body frame), potential = -moment . F. Conserved in a
    constant field: energy, and field . (Q m).

    Examples
    --------
    Water (1.855 debye along axis 3) in a field of 1e7 V/m, in newton metres:

    >>> import polhode as ph
    >>> water = ph.torques.Dipole([0.0, 0.0, 6.188e-30], field=[1e7, 0.0, 0.0])
    >>> water.torque(0.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]) + 0.0
    array([0.000e+00, 6.188e-23, 0.000e+00])
    """

    def __init__(self, moment: ArrayLike, field: Any, times: ArrayLike | None = None) -> None:
        (self.moment,) = finite(("moment", moment, (3,)))
        table = TimeTable.of("field", field, times)
        self.field, self.times = table.values, table.times
        if len(table.origins) > 1 or is_piecewise(field):
            self._set_tabulated("dipole", table, self.moment)
            return
        finite(("field", field, (3,)), ("moment", moment, (3,)))  # they broadcast
        # A heavy top whose weight is minus the field.
        self._set("heavy_top", -self.field, self.moment)

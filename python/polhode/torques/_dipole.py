"""`polhode.torques.Dipole`: in the core a heavy top, cpp/include/polhode/torque/heavy_top.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite


class Dipole(Model):
    """A dipole fixed in the body, in a uniform field: molecules, compass needles, satellites.

    Parameters
    ----------
    moment : array_like, shape (..., 3)
        Dipole moment, body frame.
    field : array_like, shape (..., 3)
        Field, space frame: electric for an electric moment, magnetic for a magnetic one.

    Notes
    -----
    With F = Q.T @ field: torque = moment x F (body frame), potential = -moment . F. Conserved:
    energy, and field . (Q m).

    Examples
    --------
    Water (1.855 debye along axis 3) in a field of 1e7 V/m, in newton metres:

    >>> import polhode as ph
    >>> water = ph.torques.Dipole([0.0, 0.0, 6.188e-30], field=[1e7, 0.0, 0.0])
    >>> water.torque(0.0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]) + 0.0
    array([0.000e+00, 6.188e-23, 0.000e+00])
    """

    def __init__(self, moment: ArrayLike, field: ArrayLike) -> None:
        self.moment, self.field = finite(("moment", moment, (3,)), ("field", field, (3,)))
        # A heavy top whose weight is minus the field.
        self._set("heavy_top", -self.field, self.moment)

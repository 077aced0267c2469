"""`polhode.torques.HeavyTop`; formulas: cpp/include/polhode/torque/heavy_top.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite


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

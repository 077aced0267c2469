"""`polhode.torques.LagrangeTop`; formulas: cpp/include/polhode/torque/lagrange_top.hpp."""

from __future__ import annotations

from numpy.typing import ArrayLike

from polhode.torques._model import Model, finite


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

    Examples
    --------
    The slow top:

    >>> import numpy as np, polhode as ph
    >>> q0 = ph.so3.exp([0.05, 0.0, 0.0])
    >>> top = ph.torques.LagrangeTop()
    >>> traj = ph.integrate([5, 5, 1], [0, 0, 5], q0, 0.01, 2000, torque=top, save_every=2000)
    >>> bool(abs(traj.energy()[-1] - 32.475) < 1e-3)
    True
    """

    def __init__(self, weight: ArrayLike = 20.0) -> None:
        (self.weight,) = finite(("weight", weight, ()))
        self._set("lagrange_top", self.weight[..., None])

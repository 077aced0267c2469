"""`polhode.torques.Vessel`; formulas: cpp/include/polhode/torque/vessel.hpp."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._damping import Damping
from polhode.torques._model import ModelOfInertia, diagonal, finite, six, turned_tensor


class Vessel(ModelOfInertia):
    """A ship at sea: restoring moments of buoyancy and linear damping.

    Parameters
    ----------
    mass : array_like, shape (...)
        Mass of the vessel.
    gm_l, gm_t : array_like, shape (...)
        Metacentric heights, longitudinal (pitch) and transverse (roll): of the metacentres above
        the centre of mass.
    damping : array_like, shape (..., 3), optional
        Coefficients D of damping about the axes of the ship, torque per angular velocity; without
        it there is no damping.
    gravity : array_like, shape (...), optional
        Acceleration of gravity; the default is for metres and seconds.
    axes : array_like, shape (3, 3) or (..., 3, 3), optional
        The columns are the axes of the ship (ahead, abeam, vertical) in body components; by default
        those of the body.
    inertia, tensor : array_like, shape (..., 3) or (..., 3, 3), optional
        Principal moments, or the tensor of inertia in the body axes, used by the damping; by
        default the inertia of the integration.

    Notes
    -----
    With u = Q.T @ (0, 0, 1), in the axes of the ship: torque = -mass gravity (gm_l u1, gm_t u2, 0)
    x u - D omega (body frame), potential = (mass gravity / 2) (gm_l u1^2 + gm_t u2^2). The third
    axis of space is vertical; yaw has no restoring moment.

    With damping the torque depends on m, and a kick is the exact solution at fixed attitude.
    Source: [Gus10] eqs. (43) to (45).

    Examples
    --------
    The supply ship of the source, with its strong damping, over 15 seconds:

    >>> import numpy as np, polhode as ph
    >>> ship = ph.torques.Vessel(6.3622e6, gm_l=103.628, gm_t=2.1444, damping=[1e9, 1e9, 1e9])
    >>> moments = np.array([3.2164e8, 5.4782e9, 5.7426e9])
    >>> start = moments * [1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]
    >>> traj = ph.integrate(moments, *start, 0.0125, 1200, torque=ship, save_every=1200)
    >>> traj.q[-1].round(3)
    array([-0.992, -0.033,  0.102,  0.067])
    """

    def __init__(
        self,
        mass: ArrayLike,
        gm_l: ArrayLike,
        gm_t: ArrayLike,
        damping: ArrayLike | None = None,
        gravity: ArrayLike = 9.81,
        axes: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        tensor: ArrayLike | None = None,
    ) -> None:
        self._set_inertia(inertia, tensor)
        self.mass, self.gm_l, self.gm_t, self.gravity = finite(
            ("mass", mass, ()), ("gm_l", gm_l, ()), ("gm_t", gm_t, ()), ("gravity", gravity, ())
        )
        self.damping: Array | None = None
        if damping is not None:
            (self.damping,) = finite(("damping", damping, (3,)))
            bad = self.damping < 0
            _arrays.refuse("damping", self.damping, bad, 1, "must not be negative")
        self.axes: Array | None = None
        if axes is not None:
            (self.axes,) = finite(("axes", axes, (3, 3)))
            _arrays.check_attitude(self.axes, "axes")
        weight = self.mass * self.gravity
        stiffness = np.broadcast_arrays(weight * self.gm_l, weight * self.gm_t, 0.0)
        restoring = self._in_body(np.stack(stiffness, axis=-1))
        if self.damping is None or not self.damping.any():
            self._known = True
            self._set("restoring", six(restoring))
            return
        damping_tensor = self._in_body(self.damping)
        drag = Damping(damping_tensor, inertia=self.inertia, tensor=self.tensor)
        self._set(
            "vessel" if drag.parameters.shape[-1] == 3 else "coupled_vessel",
            six(restoring), drag.parameters,
        )  # fmt: skip

    def _in_body(self, along_axes: Array) -> Array:
        """A tensor that is diagonal in the axes of the ship, in body components."""
        tensor = diagonal(along_axes)
        return (
            tensor if self.axes is None else turned_tensor(np.swapaxes(self.axes, -2, -1), tensor)
        )

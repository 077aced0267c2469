"""`BodyTrajectory`, what `polhode.RigidBody.integrate` returns in other axes than the principal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import _core
from polhode._arrays import Array
from polhode.integration.trajectory import Trajectory

if TYPE_CHECKING:
    from polhode.bodies.rigid_body import RigidBody


@dataclass(frozen=True, eq=False, repr=False)
class BodyTrajectory(Trajectory):
    """States of a `RigidBody` at saved times, in the user's body axes.

    Attributes
    ----------
    t : ndarray, shape (T,)
        Times: the start, every save, the end.
    m : ndarray, shape (T, ..., 3)
        Angular momentum, user's body axes.
    q : ndarray, shape (T, ..., 4) or (T, ..., 3, 3)
        Attitude of the user's body axes, body to space.
    torque : tuple of Torque
        The terms of the torque, in the user's body axes.
    body : RigidBody
        The bodies: their inertia in the axes of `m` is ``body.tensor``.

    Notes
    -----
    There is no `inertia`: principal moments do not belong to the axes of `m`.
    """

    inertia: Array = field(init=False)
    body: RigidBody = field(kw_only=True)

    def __getattr__(self, name: str) -> Any:
        if name == "inertia":
            raise AttributeError(
                "a trajectory in body axes that are not principal has no principal moments beside "
                "its m: body.tensor is the inertia in its axes, omega() the angular velocity"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def omega(self) -> Array:
        """Angular velocity in the body frame, in the axes of `m`, see `Trajectory.omega`."""
        principal = self.body._to_principal("m", self.m)
        return self.body._from_principal(np.asarray(_core.omega(self.body.moments, principal)))

    @property
    def _axes(self) -> str:
        """The body axes of m and q."""
        return "axes of body.tensor"

    def _kinetic(self, m: Array) -> Array:
        return np.asarray(self.body.energy(m))

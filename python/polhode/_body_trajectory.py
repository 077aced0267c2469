"""Trajectories in body axes that are not the principal ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from polhode._arrays import Array
from polhode._trajectory import Trajectory
from polhode.bodies import RigidBody


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
    inertia : ndarray, shape (..., 3)
        Principal moments.
    torque : tuple of Torque
        The terms of the torque, in the user's body axes.
    body : RigidBody
        The bodies.
    """

    body: RigidBody = field(kw_only=True)

    def _kinetic(self, m: Array) -> Array:
        return np.asarray(self.body.energy(m))

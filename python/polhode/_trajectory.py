"""What an integration leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from polhode._arrays import ZERO_MOMENT, Array
from polhode.torques import Torque


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of bodies at saved times, as `integrate` returns them.

    Attributes
    ----------
    t : ndarray, shape (T,)
        Times: the start, every save, the end.
    m : ndarray, shape (T, ..., 3)
        Angular momentum, body frame.
    q : ndarray, shape (T, ..., 4) or (T, ..., 3, 3)
        Attitude, body to space, in the form in which it was given.
    inertia : ndarray, shape (..., 3)
        Principal moments.
    torque : tuple of Torque
        The terms of the torque.
    """

    t: Array
    m: Array
    q: Array
    inertia: Array
    torque: tuple[Torque, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} ... {self.t[-1]:g}" if len(self) else "empty"
        return f"Trajectory({len(self)} states of shape {self.m.shape[1:-1]}, {span})"

    def energy(self) -> Array:
        """Kinetic energy plus the potential of every torque that has one.

        Returns
        -------
        energy : ndarray, shape (T, ...)

        Examples
        --------
        >>> import polhode as ph
        >>> traj = ph.integrate([1, 2, 4], [1, 2, 2], [1, 0, 0, 0], 0.1, 20, save_every=10)
        >>> traj.energy().round(12)
        array([2., 2., 2.])
        """
        zero = self.inertia <= ZERO_MOMENT * self.inertia.max(axis=-1, keepdims=True)
        inverse = np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, self.inertia))
        energy: Array = 0.5 * np.sum(self.m * (self.m * inverse), axis=-1)
        for term in self.torque:
            if term.has_potential:
                for k, t in enumerate(self.t):
                    energy[k] += term.potential(float(t), self.q[k])
        return energy

    def casimir(self) -> Array:
        """Half the square of the momentum, |m|^2/2.

        Returns
        -------
        casimir : ndarray, shape (T, ...)
        """
        casimir: Array = 0.5 * np.sum(self.m * self.m, axis=-1)
        return casimir

    def momentum_spatial(self) -> Array:
        """Angular momentum in the space frame, Q m.

        Returns
        -------
        momentum_spatial : ndarray, shape (T, ..., 3)
        """
        if self.q.shape[-1] == 4:
            w, v = self.q[..., :1], self.q[..., 1:]
            twice = 2 * np.cross(v, self.m)
            spatial: Array = self.m + w * twice + np.cross(v, twice)
            return spatial
        spatial = (self.q @ self.m[..., None])[..., 0]
        return spatial

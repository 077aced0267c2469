"""What an integration leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from polhode import _core
from polhode._arrays import Array
from polhode.torques import Model, Torque


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
        energy: Array = np.asarray(_core.energy(self.inertia, self.m))
        for term in self.torque:
            if not term.has_potential:
                continue
            if isinstance(term, Model) and not term.depends_on_t:
                energy += term.potential(0.0, self.q)
            else:
                for k, t in enumerate(self.t):
                    energy[k] += term.potential(float(t), self.q[k])
        return energy

    def casimir(self) -> Array:
        """Half the square of the momentum, |m|^2/2.

        Returns
        -------
        casimir : ndarray, shape (T, ...)
        """
        return np.asarray(_core.casimir(self.m))

    def momentum_spatial(self) -> Array:
        """Angular momentum in the space frame, Q m.

        Returns
        -------
        momentum_spatial : ndarray, shape (T, ..., 3)
        """
        rotate = _core.so3_rotate if self.q.shape[-1] == 4 else _core.so3_rotate_by_matrix
        return np.asarray(rotate(self.q, self.m))

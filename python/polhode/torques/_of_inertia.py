"""`ModelOfInertia`, the base class of the models that use the inertia of the bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.torques._base import Torque
from polhode.torques._model import Model, finite
from polhode.torques._tensors import diagonal


class ModelOfInertia(Model):
    """A model with the arguments `inertia` and `tensor`; at most one of them is given.

    Without an inertia the torque cannot be evaluated (`_known` is False): `integrate` passes the
    inertia of its bodies.
    """

    inertia: Array | None
    tensor: Array | None
    _known: bool

    def _set_inertia(self, inertia: ArrayLike | None, tensor: ArrayLike | None) -> None:
        self.inertia = self.tensor = None
        if inertia is not None and tensor is not None:
            raise TypeError("give inertia or tensor, not both")
        if inertia is not None:
            (self.inertia,) = finite(("inertia", inertia, (3,)))
            _arrays.check_inertia(self.inertia)
        elif tensor is not None:
            (full,) = finite(("tensor", tensor, (3, 3)))
            limit = _arrays.tolerance(1e-12, _arrays.real_array("tensor", tensor))
            off = np.abs(full - np.swapaxes(full, -2, -1)).max(initial=0)
            if off > limit * np.abs(full).max(initial=0):
                raise ValueError("tensor must be symmetric")
            self.tensor = full
        self._known = inertia is not None or tensor is not None

    def _full(self) -> Array | None:
        """The inertia as a tensor, from `inertia` or `tensor`."""
        return self.tensor if self.inertia is None else diagonal(self.inertia)

    def with_inertia(self, inertia: Array | None = None, tensor: Array | None = None) -> Torque:
        """The torque for these moments or tensors; unchanged if it already has an inertia."""
        return self if self._known else self._with(inertia=inertia, tensor=tensor)

    def core_term(self, shape: tuple[int, ...], matrix: bool) -> tuple[Any, ...]:
        """The torque on bodies of a batch of this shape, in the form of the core."""
        if not self._known:
            raise ValueError(
                f"{type(self).__name__} needs the moments of inertia: give inertia= or tensor= "
                "(`integrate` and `RigidBody.integrate` give their own)"
            )
        return super().core_term(shape, matrix)

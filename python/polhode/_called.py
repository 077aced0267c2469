"""Torques that the core calls back for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from polhode import _core
from polhode._arrays import Array
from polhode.torques import SpatialMomentum, Torque, _fitting, _to_body

if TYPE_CHECKING:
    from polhode._run import Run


class Called:
    """A torque that is evaluated in Python, as a function that the core calls.

    ``called(order, t, m, attitude)`` is the torque, the derivative of order 1 of the momentum in
    space, seen from the bodies; where that momentum is given, its derivatives of all orders. Order
    -1 is the W of a modified potential.
    """

    def __init__(self, run: Run, term: Torque) -> None:
        self.run, self.term = run, term
        self.depends_on_m = bool(term.depends_on_m)
        self.has_modified = term.has_modified
        self.is_given = isinstance(term, SpatialMomentum) and run.direct >= 0
        if self.is_given:
            # By which m differs from L: a constant vector of space, found in the first step.
            self.offset = run.extra.setdefault("offset", np.zeros_like(run.m))
            self.begun = run.done > 0

    def __call__(self, order: int, t: float, m: Array, attitude: Array) -> Array:
        """What the core wants; an exception tells step and time."""
        try:
            if self.is_given:
                return self._given(order, t, m, attitude)
            if order == 1:
                return self.term.torque(t, m, attitude)
            return self.term.modified(t, attitude, m.shape)  # type: ignore[attr-defined, no-any-return]
        except Exception as error:
            note(error, f"in step {self.run.done} of the integration, at t = {t}")
            raise

    def _given(self, order: int, t: float, m: Array, attitude: Array) -> Array:
        assert isinstance(self.term, SpatialMomentum)
        derivatives = self.term.derivatives
        if order > len(derivatives):
            return np.zeros(m.shape)
        if order > 0:
            value = _fitting(f"derivatives[{order - 1}]", derivatives[order - 1](t), m.shape)
            return _to_body(attitude, value)
        momentum = _fitting("L", self.term.L(t), m.shape)
        if not self.begun:
            rotate = _core.so3_rotate if attitude.shape[-1] == 4 else _core.so3_rotate_by_matrix
            self.offset[...] = rotate(attitude, m) - momentum
            self.begun = True
        return _to_body(attitude, momentum + self.offset)


def note(error: BaseException, text: str) -> None:
    """Add a note to an exception."""
    with contextlib.suppress(Exception):  # an exception may refuse attributes
        error.add_note(text)

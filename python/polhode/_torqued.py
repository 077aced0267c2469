"""Methods that take the torque themselves: `integrate(..., method=name, splitting=None)`.

A step is a list of stages in the core. Before each the torque is evaluated, in the core for models,
by a call of Python for functions, and the stage makes of it the state at which it is wanted next.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from polhode import _core
from polhode._arrays import Array
from polhode._splittings import Splitting
from polhode.torques import Model, SpatialMomentum, Torque, _fitting, _to_body

if TYPE_CHECKING:
    from polhode._integrate import Run

_ROWS = _core.torqued_methods()
_INDEX = {row["name"]: i for i, row in enumerate(_ROWS)}

#: What stands for a splitting where there is none.
NO_SPLITTING = Splitting("", None, "none", (), False, {}, "", False, ())


def torqued_index(name: str) -> int:
    """Row of a method in the core's list of those that take the torque themselves."""
    if name not in _INDEX:
        known = [method for method in _INDEX if method != "rkmk"]
        raise ValueError(
            f"method {name!r} does not take a torque itself and needs a splitting; "
            f"splitting=None is for {', '.join(known)}"
        )
    return _INDEX[name]


def takes_torque(name: str) -> bool:
    """Whether a method takes the torque itself."""
    return name in _INDEX


def columns(torqued: int) -> int:
    """Numbers of a body that a method keeps from step to step."""
    return int(_ROWS[torqued]["columns"])


def check_terms(torqued: int, terms: Sequence[Torque], corrects_energy: bool) -> None:
    """Refuse torques that have fewer derivatives than the method needs."""
    row = _ROWS[torqued]
    alone = _given_momentum(terms) is not None
    needed = int(row["given" if alone else "derivatives"])
    if alone and corrects_energy:
        needed = max(needed, 1)
    for term in terms:
        has = _derivatives(term)
        if has < needed:
            raise ValueError(
                f"method {row['name']!r} needs {needed} derivatives of the angular momentum in "
                f"space, the torque being the first; {term!r} has {has}: give "
                "torques.SpatialMomentum(L, *derivatives) or a method that needs fewer"
            )


def _derivatives(term: Torque) -> int:
    """How many derivatives of the momentum in space there are."""
    if isinstance(term, SpatialMomentum):
        return len(term.derivatives)
    rate = isinstance(term, Model) and term.has_modified and not term.depends_on_t
    return 2 if rate else 1


def _given_momentum(terms: Sequence[Torque]) -> SpatialMomentum | None:
    """The term that gives the momentum itself: where it is the only one."""
    if len(terms) == 1 and isinstance(terms[0], SpatialMomentum):
        return terms[0]
    return None


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
        self.is_given = isinstance(term, SpatialMomentum) and run.torqued >= 0
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

"""Torques in Python, as objects that cpp/bindings/python_torque.hpp calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from polhode._arrays import Array
from polhode.torques import Function, Torque

if TYPE_CHECKING:
    from polhode.integration.record import Settings, State


class TorqueCallback:
    """A torque that is evaluated in Python, as a function that the core calls.

    ``called(order, t, m, attitude)`` is the torque in the body frame (order 1), the W of a modified
    potential (order -1), or derivative `order` of a given momentum in the space frame. For a
    `Function` the core calls its `function` without this object, with the arguments of the numbers
    `asked` in (t, m, attitude, x, p, s). It calls `fitted` if the result is not an array of doubles
    of the right shape, or if there are several: with `forces` also a force, with `rates` the rate
    of s.
    """

    def __init__(self, settings: Settings, state: State, term: Torque) -> None:
        self.term, self.shape, self._s = term, state.m.shape, state.s
        self.forces, self.rates = ("x" in term.takes), ("s" in term.takes)
        self.function: Callable[..., ArrayLike] | None = None
        self.asked: tuple[int, ...] = ()
        if type(term) is Function:
            self.function, self.asked = term.function, term.asked
        self.depends_on_m = term.depends_on_m
        self.has_modified = term.has_modified
        self.is_given = term.gives_momentum and settings.direct

    def __call__(self, order: int, t: float, m: Array, attitude: Array) -> Array:
        """The value of this order; the core adds a note of step and time to an exception."""
        if self.is_given:
            return self.term.spatial_momentum(order, t, m.shape)
        if order == 1:
            return self.term.torque(t, m, attitude)
        return self.term.modified(t, attitude, m.shape)

    def fitted(self, value: Any) -> Array | tuple[Array, ...]:
        """The result of `function`, as doubles of the right shape; the torque is the first."""
        assert isinstance(self.term, Function)
        results = self.term.results(value, self.shape, self._s)
        return results if self.term.takes else results[0]


def note(error: BaseException, text: str) -> None:
    """Add a note to an exception."""
    with contextlib.suppress(Exception):  # an exception may refuse attributes
        error.add_note(text)


def interrupted(error: BaseException, place: str, trajectory: Any) -> None:
    """Add the states so far to an exception, and to Ctrl-C a note that names the place."""
    if not isinstance(error, Exception):  # those of torques and callbacks have a note
        note(error, place)
    with contextlib.suppress(Exception):  # an exception may refuse attributes
        error.trajectory = trajectory  # type: ignore[attr-defined]


def note_of_step(error: BaseException, step: int, t: float) -> None:
    """The note that the core adds to an exception of a torque."""
    note(error, f"in step {step} of the integration, at t = {t}")

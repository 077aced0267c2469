"""Integrations in body axes that are not the principal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polhode._arrays import Array
from polhode.torques import Torque

if TYPE_CHECKING:
    from polhode.bodies.rigid_body import RigidBody


class Frame:
    """Body axes of the user's that are not the principal ones.

    The state is in principal axes, as are the arrays that a run begins with; rows of the trajectory
    are turned when they are saved.
    """

    def __init__(self, body: RigidBody, m0: Array, principal0: Array) -> None:
        self.body = body
        self.m0 = m0
        self.principal0 = principal0

    def principal_terms(self, given: Sequence[Torque]) -> list[Torque]:
        """The torques, written in principal axes."""
        return [term.in_axes(self.body.axes) for term in given]

    def turned(self, m: Array, q: Array) -> tuple[Array, Array]:
        """Rows of a trajectory in the user's axes."""
        turned_m = self.body._momentum_from_principal(self.m0, self.principal0, m)
        return turned_m, self.body._attitude_from_principal(q)


def terms_of_bodies(
    given: Sequence[Torque], moments: Array, frame: Frame | None
) -> tuple[list[Torque], list[Torque]]:
    """The torques on these bodies, in principal axes and as a trajectory shows them."""
    if frame is None:
        terms = [term.with_inertia(moments) for term in given]
        return terms, terms
    shown = [term.with_inertia(tensor=frame.body.tensor) for term in given]
    return [term.with_inertia(moments) for term in frame.principal_terms(given)], shown

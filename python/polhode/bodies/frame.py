"""Integrations in body axes that are not the principal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike
from polhode.torques import Torque

if TYPE_CHECKING:
    from polhode.bodies.rigid_body import RigidBody


class Frame:
    """Body axes that are not the principal ones: an integration runs in principal axes."""

    #: `RigidBody`, put here by its module.
    body_type: ClassVar[type[RigidBody]]

    def __init__(self, body: RigidBody) -> None:
        self.body = body

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and all(
            np.array_equal(a, b)
            for a, b in zip(self.body.__getstate__(), other.body.__getstate__(), strict=True)
        )

    def __hash__(self) -> int:
        return 0

    def principal_terms(self, given: Sequence[Torque]) -> list[Torque]:
        """The torques, written in principal axes."""
        return [term.in_axes(self.body.axes) for term in given]

    def principal(self, m0: ArrayLike, q0: AttitudeLike) -> tuple[Array, Array]:
        """The start in principal axes."""
        return self.body._to_principal("m0", m0), self.body._attitude_to_principal("q0", q0)

    def turned(self, m0: Array, principal0: Array, m: Array, q: Array) -> tuple[Array, Array]:
        """States in the user's axes; m0 and principal0 are the momentum of the start in both."""
        turned_m = self.body._momentum_from_principal(m0, principal0, m)
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

"""Direct integrators of the torque: `integrate(..., method=name, splitting=None)`.

A step is a list of stages in the core. Before each the torque is evaluated, in the core for models,
by a call of Python for functions, and the stage makes of it the state at which it is wanted next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode.integrators.splittings import Splitting
from polhode.integrators.table import corrects_energy, direct_facts
from polhode.torques import Torque

#: What stands for a splitting where there is none.
NO_SPLITTING = Splitting("", None, "none", (), False, {}, "", False, ())


def check_terms(row: int, values: tuple[Any, ...], terms: Sequence[Torque]) -> None:
    """Refuse a method that needs a splitting, and torques with too few derivatives for it."""
    facts = direct_facts(row)
    alone = len(terms) == 1 and terms[0].gives_momentum
    needed = int(facts["given" if alone else "derivatives"])
    if alone and corrects_energy(row, values):
        needed = max(needed, 1)
    for term in terms:
        has = term.known_derivatives
        if has < needed:
            raise ValueError(
                f"method {facts['name']!r} needs {needed} derivatives of the angular momentum in "
                f"space, the torque being the first; {term!r} has {has}: give "
                "torques.SpatialMomentum(L, *derivatives) or a method that needs fewer"
            )

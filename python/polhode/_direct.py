"""Direct integrators of the torque: `integrate(..., method=name, splitting=None)`.

A step is a list of stages in the core. Before each the torque is evaluated, in the core for models,
by a call of Python for functions, and the stage makes of it the state at which it is wanted next.
"""

from __future__ import annotations

from collections.abc import Sequence

from polhode import _core
from polhode._splittings import Splitting
from polhode.torques import Torque

_ROWS = _core.direct_methods()
_INDEX = {row["name"]: i for i, row in enumerate(_ROWS)}

#: What stands for a splitting where there is none.
NO_SPLITTING = Splitting("", None, "none", (), False, {}, "", False, ())


def direct_index(name: str) -> int:
    """Row of a method in the core's list of direct integrators."""
    if name not in _INDEX:
        known = [method for method in _INDEX if method != "rkmk"]
        raise ValueError(
            f"method {name!r} does not take a torque itself and needs a splitting; "
            f"splitting=None is for {', '.join(known)}"
        )
    return _INDEX[name]


def takes_torque(name: str) -> bool:
    """Whether a method is a direct integrator."""
    return name in _INDEX


def columns(direct: int) -> int:
    """Numbers of a body that a method keeps from step to step."""
    return int(_ROWS[direct]["columns"])


def check_terms(direct: int, terms: Sequence[Torque], corrects_energy: bool) -> None:
    """Refuse torques that have fewer derivatives than the method needs."""
    row = _ROWS[direct]
    alone = len(terms) == 1 and terms[0].gives_momentum
    needed = int(row["given" if alone else "derivatives"])
    if alone and corrects_energy:
        needed = max(needed, 1)
    for term in terms:
        has = term.known_derivatives
        if has < needed:
            raise ValueError(
                f"method {row['name']!r} needs {needed} derivatives of the angular momentum in "
                f"space, the torque being the first; {term!r} has {has}: give "
                "torques.SpatialMomentum(L, *derivatives) or a method that needs fewer"
            )

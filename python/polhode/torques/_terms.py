"""The argument `torque` of `polhode.integrate` as a list of torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode.torques._base import Torque
from polhode.torques._compiled import Compiled
from polhode.torques._function import Function
from polhode.torques._signature import is_compiled

#: The types that `integrate(torque=...)` accepts.
TorqueLike = Any


def as_terms(torque: TorqueLike) -> list[Torque]:
    """The `torque` argument of `integrate` as a list of torques that add up."""
    if torque is None:
        return []
    if isinstance(torque, Torque):
        return [torque]
    if is_compiled(torque):
        return [Compiled(torque)]
    if isinstance(torque, Sequence) and not isinstance(torque, str):
        return [term for part in torque for term in as_terms(part)]
    if isinstance(torque, type):
        raise TypeError(
            f"torque is the class {torque.__name__}: give an object, {torque.__name__}(...)"
        )
    if callable(torque):
        return [Function(torque)]
    raise TypeError(
        "torque must be None, a model of polhode.torques, a function such as f(t, q), a compiled "
        f"function or a list of these, not {type(torque).__name__}"
    )

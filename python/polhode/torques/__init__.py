"""Torques for `polhode.integrate`: models in the core and user-defined functions.

A torque is given in the body frame, m' = m x omega + torque. Below, ``u = Q.T @ u0`` is the vector
in the body frame that has the components u0 in the space frame. Units are any consistent set. A
list of torques is their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode.torques._b_dot import BDot, dipole_field
from polhode.torques._base import Torque
from polhode.torques._compiled import Compiled, is_compiled
from polhode.torques._damping import Damping
from polhode.torques._function import Function
from polhode.torques._gravity_gradient import GravityGradient
from polhode.torques._gyrostat import Gyrostat
from polhode.torques._heavy_top import Dipole, HeavyTop, LagrangeTop
from polhode.torques._internal_dissipation import InternalDissipation
from polhode.torques._model import Model as Model
from polhode.torques._orbit import Orbit
from polhode.torques._prescribed import Constant, Prescribed
from polhode.torques._soft_wall import SoftWall
from polhode.torques._spatial_momentum import SpatialMomentum
from polhode.torques._vessel import Vessel

__all__ = [
    "BDot", "Compiled", "Constant", "Damping", "Dipole", "Function", "GravityGradient", "Gyrostat",
    "HeavyTop", "InternalDissipation", "LagrangeTop", "Orbit", "Prescribed", "SoftWall",
    "SpatialMomentum", "Torque", "Vessel", "dipole_field",
]  # fmt: skip

# Pickles, messages and files of runs contain the class names with this module.
for _name in (*__all__, "Model"):
    globals()[_name].__module__ = __name__
del _name

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
    number = isinstance(torque, (int, float)) or hasattr(torque, "dtype")
    raise TypeError(
        "torque must be None, a model of polhode.torques, a function such as f(t, q), a compiled "
        f"function or a list of these, not {type(torque).__name__}"
        + (": numbers are torques.Constant(numbers)" if number else "")
    )

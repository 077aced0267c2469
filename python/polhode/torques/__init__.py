"""Torques for `polhode.integrate`: models in the core and user-defined functions.

A torque is given in the body frame, m' = m x omega + torque. Below, ``u = Q.T @ u0`` is the vector
in the body frame that has the components u0 in the space frame. Units are any consistent set. A
list of torques is their sum.
"""

from __future__ import annotations

from polhode.torques._base import Torque
from polhode.torques._compiled import Compiled
from polhode.torques._constant import Constant
from polhode.torques._dipole import Dipole
from polhode.torques._function import Function
from polhode.torques._gravity_gradient import GravityGradient
from polhode.torques._heavy_top import HeavyTop
from polhode.torques._lagrange_top import LagrangeTop
from polhode.torques._model import Model as Model
from polhode.torques._prescribed import Prescribed
from polhode.torques._soft_wall import SoftWall
from polhode.torques._spatial_momentum import SpatialMomentum
from polhode.torques._terms import TorqueLike as TorqueLike
from polhode.torques._terms import as_terms as as_terms
from polhode.torques._vessel import Vessel

__all__ = [
    "Compiled",
    "Constant",
    "Dipole",
    "Function",
    "GravityGradient",
    "HeavyTop",
    "LagrangeTop",
    "Prescribed",
    "SoftWall",
    "SpatialMomentum",
    "Torque",
    "Vessel",
]

# Pickles, messages and files of runs contain the class names with this module.
for _name in (*__all__, "Model"):
    globals()[_name].__module__ = __name__
del _name

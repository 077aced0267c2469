"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core, elliptic, so3
from polhode._build import build_info, get_cmake_dir, get_include
from polhode._methods import Method, methods
from polhode._steps import step
from polhode.bodies import RigidBody
from polhode.frb import frb_step, quat_step
from polhode.motion import Regime, TorqueFreeMotion
from polhode.quantities import casimir, energy, momentum, momentum_spatial, omega

__version__: str = _core.build["version"]

__all__ = [
    "Method",
    "Regime",
    "RigidBody",
    "TorqueFreeMotion",
    "__version__",
    "build_info",
    "casimir",
    "elliptic",
    "energy",
    "frb_step",
    "get_cmake_dir",
    "get_include",
    "methods",
    "momentum",
    "momentum_spatial",
    "omega",
    "quat_step",
    "so3",
    "step",
]

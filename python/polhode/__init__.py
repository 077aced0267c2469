"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core
from polhode._build import build_info, get_cmake_dir, get_include
from polhode._methods import Method, methods
from polhode._steps import step
from polhode.motion import Regime, TorqueFreeMotion

__version__: str = _core.build["version"]

__all__ = [
    "Method",
    "Regime",
    "TorqueFreeMotion",
    "__version__",
    "build_info",
    "get_cmake_dir",
    "get_include",
    "methods",
    "step",
]

"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core
from polhode._build import build_info, get_cmake_dir, get_include
from polhode._methods import Method, methods
from polhode._steps import step
from polhode.frb import frb_step, quat_step

__version__: str = _core.build["version"]

__all__ = [
    "Method",
    "__version__",
    "build_info",
    "frb_step",
    "get_cmake_dir",
    "get_include",
    "methods",
    "quat_step",
    "step",
]

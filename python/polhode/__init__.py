"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core
from polhode._build import build_info, get_cmake_dir, get_include

__all__ = ["__version__", "build_info", "get_cmake_dir", "get_include"]

__version__: str = _core.build["version"]

"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core
from polhode._methods import Method, methods
from polhode._steps import step

__version__: str = _core.build["version"]

__all__ = ["Method", "__version__", "methods", "step"]

"""Rigid bodies moved exactly, in batches over NumPy arrays."""

from polhode import _core

__version__: str = _core.build["version"]

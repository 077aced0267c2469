"""Rigid bodies from inertia tensors, moments or points."""

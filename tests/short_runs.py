"""Short runs of `integrate` and `Run`: bodies, methods and splittings of every kind of loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import polhode as ph

INERTIA = np.array([1.0, 1.7, 2.3])
TOP = ph.torques.HeavyTop([0.1, 0.2, -0.5])
TORQUES: list[Any] = [None, TOP, [TOP, ph.torques.Constant([0.1, 0.2, 0.3])]]
SHAPES: list[tuple[int, ...]] = [(), (1,), (9,), (2, 3), (130,)]
#: Splitting and method.
STEPS: list[tuple[Any, Any]] = [
    ("strang", "exact"), ("rkn6_14", "exact"), ("chin4a", "magnus4"), ("suzuki4_5", "midpoint"),
    ("strang_free", "midpoint"), ("processed_ti104", "exact"), ("takahashi_imada", "frb"),
    (None, "rk4"), (None, "rkmk4"), (None, "bbtrapwd"), (None, "taylor3"),
    (None, "abam_rotation"), (None, "rk8"), (None, "adams8"),
    (ph.splittings()[3], ph.rkmk([[0, 0], [0.5, 0]], [0, 1], [0, 0.5])),
]  # fmt: skip


def state(shape: tuple[int, ...], matrix: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    q = rng.normal(size=(*shape, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return rng.normal(size=(*shape, 3)), ph.so3.to_matrix(q) if matrix else q


def bodies(shape: tuple[int, ...], matrix: bool = False) -> tuple[Any, Any, Any]:
    """Moments, momenta and attitudes."""
    one = INERTIA * np.linspace(1, 2, math.prod(shape[-1:]))[:, None] if shape else INERTIA
    return (one, *state(shape, matrix))

"""Symmetric splittings: integrating back from the end returns the start to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray
from states import LOOPS

import polhode as ph

Array = NDArray[np.float64]
SYMMETRIC = [scheme.name for scheme in ph.splittings() if scheme.symmetric]
REVERSIBLE = {method.name for method in ph.methods() if method.symmetric}
STEPS = 40
#: Rounding of 80 steps, which the motion amplifies a hundredfold; a scheme that is not symmetric
#: misses by its error of order h^2, below.
ROUNDING = 1e-12


def bodies(matrix: bool) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    q = rng.standard_normal((20, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return {
        "inertia": rng.uniform(0.5, 3.0, (20, 3)),
        "m0": rng.standard_normal((20, 3)),
        "q0": ph.so3.to_matrix(q) if matrix else q,
    }


def missed(h: Any, matrix: bool = False, **options: Any) -> float:
    """How far from the start the way there and back ends."""
    start = bodies(matrix)
    h = np.asarray(h)
    options = {"torque": ph.torques.HeavyTop([0.3, -0.4, 0.8], axis=[0.1, 0.2, 1]), **options}
    there = ph.integrate(**start, h=h, n_steps=STEPS, t0=2.0, **options)
    back = ph.integrate(
        **{**start, "m0": there.m[-1], "q0": there.q[-1]},
        h=-h if h.ndim == 0 else -h[::-1],
        n_steps=STEPS,
        t0=there.t[-1],
        **options,
    )
    assert np.abs(there.m[-1] - start["m0"]).max() > 0.1
    close(back.t, there.t[::-1], atol=1e-14)
    return float(max(np.abs(back.m - there.m[::-1]).max(), np.abs(back.q - there.q[::-1]).max()))


@pytest.mark.parametrize("splitting", SYMMETRIC)
def test_back_to_the_start(splitting: str) -> None:
    assert missed(0.1, splitting=splitting) < ROUNDING
    # With steps of many lengths, the same ones back.
    h = 0.1 + 0.05 * np.sin(np.arange(STEPS))
    assert missed(h, matrix=True, splitting=splitting) < ROUNDING


@pytest.mark.parametrize("method", [name for name in LOOPS if name in REVERSIBLE])
def test_any_symmetric_flow_will_do(method: str) -> None:
    # Implicit methods stop their iteration at some eps.
    assert missed(0.05, method=method) < 4 * ROUNDING


def test_a_torque_of_time() -> None:
    def pull(t: float, q: Array) -> Array:
        return np.cos(t) * q[..., 1:] + np.sin(t)

    assert missed(0.1, torque=pull) < ROUNDING


def test_asymmetric_schemes_miss() -> None:
    assert missed(0.1, splitting=([1.0], [1.0])) > 1e-4
    assert missed(0.1, splitting=([0.25, 0.75], [0.5, 0.5])) > 1e-4

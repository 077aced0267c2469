"""Torques that the driver of the core calls back for: Python functions among the models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]

BODIES: dict[str, Any] = {
    "inertia": [1.0, 1.5, 2.2],
    "m0": np.array([[0.3, 0.5, 0.8], [0.1, -0.4, 0.2], [1.0, 0.0, 0.3]]),
    "q0": [0.8, 0.0, -0.6, 0.0],
    "h": 0.1,
}


def damped(t: float, m: Array, q: Array) -> Array:
    return np.sin(t) * q[..., 1:] - 0.1 * m


@pytest.mark.parametrize("options", [{}, {"method": "rk4", "splitting": None}])
def test_arrays_kept_by_a_function_outlive_the_run(options: Any) -> None:
    """They change after the call, but stay in memory: of the state and of stages."""
    kept: list[Array] = []

    def keeps(t: float, m: Array, q: Array) -> Array:
        kept.extend((m, q))
        return damped(t, m, q)

    torque = ph.torques.Function(keeps, depends_on_m=True)
    for _ in range(3):
        ph.integrate(**BODIES, n_steps=20, torque=torque, **options)
    assert all(np.isfinite(array).all() and not array.flags.writeable for array in kept)
    assert all(array.shape in ((3, 3), (3, 4)) and array.flags.c_contiguous for array in kept)


@pytest.mark.parametrize("fails", ["L", "derivative"])
def test_a_given_momentum_that_fails_in_the_first_step(tmp_path: Path, fails: str) -> None:
    broken = tmp_path / "broken"
    broken.touch()

    def momentum(t: float) -> Array:
        if broken.exists():
            raise LookupError("no momentum")
        return np.array([0.1, 0.2, 1.0])

    def derivative(t: float) -> Array:
        return momentum(t) * 0.0

    L = ph.torques.SpatialMomentum(
        *((momentum, lambda t: np.zeros(3)) if fails == "L" else (lambda t: np.ones(3), derivative))
    )
    options: Any = {"torque": L, "method": "rk4", "splitting": None}
    with pytest.raises(LookupError) as caught:
        ph.integrate(**BODIES, n_steps=5, save_to=tmp_path / "run", **options)
    assert len(caught.value.trajectory) == 1  # type: ignore[attr-defined]
    assert caught.value.__notes__ == ["in step 0 of the integration, at t = 0.0"]
    broken.unlink()
    resumed = ph.resume(tmp_path / "run", L)
    same(resumed.m, ph.integrate(**BODIES, n_steps=5, **options).m)


def test_functions_see_each_term_once_and_in_turn() -> None:
    seen: list[tuple[str, float]] = []

    def named(name: str) -> Any:
        def torque(t: float, m: Array, q: Array) -> Array:
            seen.append((name, t))
            return np.zeros_like(m)

        return ph.torques.Function(torque, depends_on_m=False)

    terms = [named("a"), ph.torques.HeavyTop([0.0, 0.0, 0.1]), named("b")]
    ph.integrate(**BODIES, n_steps=2, torque=terms, splitting=([1.0], [0.5, 0.5]))
    # The last kick of a step and the first of the next share a torque.
    assert seen == [(name, t) for t in (0.0, 0.1, 0.2) for name in "ab"]

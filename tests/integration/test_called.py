"""Torques that the driver of the core calls back for: Python functions among the models."""

from __future__ import annotations

import contextlib
import time
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
    """The arrays of the state and of stages change after the call, but stay in memory."""
    kept: list[Array] = []

    def keeps(t: float, m: Array, q: Array) -> Array:
        kept.extend((m, q))
        return damped(t, m, q)

    torque = ph.torques.Function(keeps)
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
        def torque(t: float, q: Array) -> Array:
            seen.append((name, t))
            return np.zeros_like(q[..., 1:])

        return ph.torques.Function(torque)

    terms = [named("a"), ph.torques.HeavyTop([0.0, 0.0, 0.1]), named("b")]
    ph.integrate(**BODIES, n_steps=2, torque=terms, splitting=([1.0], [0.5, 0.5]))
    # The last kick of a step and the first of the next share a torque.
    assert seen == [(name, t) for t in (0.0, 0.1, 0.2) for name in "ab"]


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@pytest.mark.parametrize("matrix", [False, True])
def test_what_a_function_returns_may_lie_anyhow(batch: tuple[int, ...], matrix: bool) -> None:
    """Arrays that the core reads as they are give the bits of those that are converted."""
    m0 = np.random.default_rng(7).standard_normal((*batch, 3))
    q0 = np.eye(3) if matrix else [0.8, 0.0, -0.6, 0.0]

    def plain(t: float, m: Array, q: Array) -> Array:
        return np.ascontiguousarray(np.sin(t) * q.reshape(*m.shape[:-1], -1)[..., 1:4] - 0.1 * m)

    def backwards(a: Array) -> Array:
        return np.ascontiguousarray(a[..., ::-1])[..., ::-1]

    def packed(a: Array) -> Any:
        record = np.zeros(a.shape, [("x", "f8"), ("y", "i1")])
        record["x"] = a
        return record["x"]

    layouts: list[Any] = [
        plain, np.asfortranarray, backwards, packed, np.ndarray.tolist,
        lambda a: a.astype(">f8"), lambda a: a.astype(np.longdouble),
        lambda a: a.view(np.ma.MaskedArray),
        lambda a: np.concatenate([a, a], axis=-1)[..., 3:],
    ]  # fmt: skip
    arguments: dict[str, Any] = {"inertia": [1.0, 1.5, 2.2], "m0": m0, "q0": q0, "h": 0.1}
    for depends_on_m in (False, True):
        expected = None
        for lay in layouts:

            def torque(t: float, m: Array, q: Array) -> Any:
                return plain(t, m, q) if lay is plain else lay(plain(t, m, q))  # noqa: B023

            path = ph.integrate(
                **arguments, n_steps=5, torque=ph.torques.Function(torque, depends_on_m)
            )
            expected = path if expected is None else expected
            same(path.m, expected.m)
            same(path.q, expected.q)


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("stored", [False, True])
def test_an_exception_among_many_steps_keeps_those_before(
    tmp_path: Path, every: int, stored: bool
) -> None:
    def torque(t: float, q: Array) -> Array:
        if t > 5.85:
            raise LookupError("enough")
        return 0.1 * q[..., 1:]

    function = ph.torques.Function(torque)
    options: dict[str, Any] = {"save_to": tmp_path / "run"} if stored else {}
    with pytest.raises(LookupError) as caught:
        ph.integrate(**BODIES, n_steps=100, torque=function, save_every=every, **options)
    assert caught.value.__notes__ == ["in step 58 of the integration, at t = 5.9"]
    path = caught.value.trajectory  # type: ignore[attr-defined]
    assert len(path) == 1 + 58 // every
    whole = ph.integrate(**BODIES, n_steps=58, torque=function, save_every=every)
    same(path.m, whole.m[: len(path)])


def test_a_function_that_becomes_slow_does_not_hold_up_the_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from polhode.integration import loop

    seen: list[int] = []

    class Bar:
        def update(self, n: int) -> None:
            seen.append(n)

    monkeypatch.setattr(loop, "_bar", lambda *_: contextlib.nullcontext(Bar()))

    def torque(t: float, q: Array) -> Array:
        time.sleep(0.0 if t < 50 else 0.03)
        return 0 * q[..., 1:]

    ph.integrate(**BODIES, n_steps=520, torque=ph.torques.Function(torque))
    assert sum(seen) == 520
    assert len(seen) >= 4  # 0.6 s in slices of 0.1 s and one call more

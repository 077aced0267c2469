"""The arguments of callbacks and torques, and the messages of an interrupted run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
BODIES = M0 * np.array([[1.0], [0.9], [1.2]])


def run(torque: Any, h: Any = 0.25, n: int = 4, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, h, n, torque=torque, **options)


def test_interrupt_carries_a_note() -> None:
    def interrupt(step: int, *state: Any) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        run(None, n=8, callback=interrupt)
    assert stopped.value.__notes__ == ["after 3 steps of the integration, at t = 0.75"]

    def torque(t: float, m: Array, q: Array) -> Array:
        if t > 0.6:
            raise KeyboardInterrupt
        return 0 * m

    with pytest.raises(KeyboardInterrupt) as stopped:
        run(torque, n=8)
    assert stopped.value.__notes__ == ["after 2 steps of the integration, at t = 0.5"]
    assert len(stopped.value.trajectory) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("attitude", [Q0, np.eye(3)])
def test_arrays_of_callbacks_cannot_be_made_writeable(attitude: Array, tmp_path: Any) -> None:
    seen: list[Array] = []

    def torque(t: float, m: Array, q: Array) -> Array:
        seen.extend((m, q))
        return 0 * m

    def callback(step: int, t: float, m: Array, q: Array) -> None:
        seen.extend((m, q))

    for depends in (None, False, True):
        function = ph.torques.Function(torque, depends)
        for save_to in (None, tmp_path / f"run{depends}"):
            ph.integrate(
                INERTIA, BODIES, attitude, 0.1, 3,
                torque=function, callback=callback, save_to=save_to,
            )  # fmt: skip
    assert len(seen) > 20
    for array in seen:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True
        base = array.base
        assert not isinstance(base, np.ndarray)

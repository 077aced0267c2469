"""The arrays at which an integration begins, and kicks that are joined over the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import same

import polhode as ph

INERTIA = np.array([1.0, 1.7, 2.3])
TOP = ph.torques.HeavyTop([0.1, 0.2, -0.5])


def start(bodies: int | None) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    shape = () if bodies is None else (bodies,)
    return rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4))


@pytest.mark.parametrize("bodies", [None, 1, 5, 131])
@pytest.mark.parametrize(("n_steps", "save_every"), [(0, 1), (1, 1), (5, 2), (5, 9)])
def test_the_start_is_only_read(bodies: int | None, n_steps: int, save_every: int) -> None:
    m, q = start(bodies)
    before = m.copy(), q.copy()
    m.flags.writeable = q.flags.writeable = False
    traj = ph.integrate(INERTIA, m, q, 0.1, n_steps, torque=TOP, save_every=save_every)
    same(m, before[0])
    same(q, before[1])
    assert not np.shares_memory(traj.m, m)
    assert not np.shares_memory(traj.q, q)
    same(traj.m[0], m)
    copied = ph.integrate(
        INERTIA,
        np.asfortranarray(m) if m.ndim > 1 else m[::-1].copy()[::-1],
        q.astype(">f8"),
        0.1,
        n_steps,
        torque=TOP,
        save_every=save_every,
    )
    same(copied.m, traj.m)
    same(copied.q, traj.q)


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14", "chin4a", ([0.5, 0.5], [1.0])])
@pytest.mark.parametrize("torque", [TOP, [TOP, ph.torques.Constant([0.1, 0.0, 0.2])]])
def test_joined_kicks_are_those_of_single_steps(splitting: Any, torque: Any) -> None:
    # With a callback every call of the core ends at a save, so that no kicks are joined.
    m, q = start(13)
    h = 0.1 * np.arange(1, 8)
    single = ph.integrate(
        INERTIA, m, q, h, 7, torque=torque, splitting=splitting, callback=lambda *_: None
    )
    for every in (1, 2, 3, 7):
        joined = ph.integrate(
            INERTIA, m, q, h, 7, torque=torque, splitting=splitting, save_every=every
        )
        at = np.minimum(np.arange(len(joined)) * every, 7)
        same(joined.m, single.m[at])
        same(joined.q, single.q[at])


@pytest.mark.parametrize("torque", [TOP, ph.torques.GravityGradient(0.3), lambda t, m, q: -0.1 * m])
@pytest.mark.parametrize(
    ("method", "splitting"),
    [("exact", "strang"), ("dmv8", "rkn6_14"), ("frb", "strang"), ("rk4_rotation", None)],
)
def test_one_body_alone_has_the_bits_of_a_batch(method: str, splitting: Any, torque: Any) -> None:
    # One body runs at the scalar level, which may differ from the level of a batch.
    m, q = start(9)
    options: dict[str, Any] = {"method": method, "splitting": splitting}
    if callable(torque):
        options["splitting"] = splitting and "strang"
    batch = ph.integrate(INERTIA, m, q, 0.3, 20, torque=torque, **options)
    for k in range(9):
        alone = ph.integrate(INERTIA, m[k], q[k], 0.3, 20, torque=torque, **options)
        same(alone.m, batch.m[:, k])
        same(alone.q, batch.q[:, k])

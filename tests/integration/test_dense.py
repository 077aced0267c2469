"""States between the saves: `Trajectory.__call__`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])
TOP = ph.torques.HeavyTop([0.2, -0.1, 0.4])
BODIES = M0 * np.linspace(0.5, 2.0, 11)[:, None]
TENSOR = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])


def top(q: Array) -> Array:
    return TOP.torque(0.0, np.zeros(3), q)


def swing(t: float, m: Array, q: Array) -> Array:
    return TOP.torque(t, m, q) * np.cos(t) - 0.1 * m


#: A run of 2 units of time in n steps.
def run(n: int, m0: Any = M0, q0: Any = Q0, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, m0, q0, 2.0 / n, n, **{"torque": TOP, **options})


SCHEMES: list[tuple[int, dict[str, Any]]] = [
    (2, {"splitting": "strang"}),
    (4, {"splitting": "rkn4_6"}),
    (6, {"splitting": "rkn6_14"}),
    (2, {"splitting": "strang", "torque": swing}),
    (4, {"splitting": None, "method": "rk4"}),
    (2, {"splitting": None, "method": "abam_rotation"}),
]


@pytest.mark.parametrize(("order", "options"), SCHEMES)
@pytest.mark.parametrize("every", [1, 5])
def test_the_order_is_that_of_the_scheme(order: int, options: Any, every: int) -> None:
    n, factor = {2: (40, 4), 4: (20, 2), 6: (3, 2)}[order]
    t = np.linspace(0.01, 1.99, 23)
    reference = {"torque": TOP, **options, "splitting": None, "method": "rk4"}
    exact = np.concatenate(run(640, **reference)(t), axis=-1)  # good to 1e-13
    errors = [
        np.abs(np.concatenate(run(k * n, save_every=every, **options)(t), axis=-1) - exact).max()
        for k in (1, factor)
    ]
    assert abs(np.log(errors[0] / errors[1]) / np.log(factor) - order) < 0.3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"splitting": "rkn6_11"},
        {"splitting": [[1.0], [0.5, 0.5]], "torque": None},
        {"torque": top},
        {"torque": [top, ph.torques.Constant([0.1, 0.2, 0.3])]},
        {"splitting": None, "method": "rk4"},
        {"splitting": None, "method": "taylor3"},
        {"q0": np.eye(3)},
        {"h": -0.1},
        {"h": 0.1 + 0.01 * np.arange(23), "t0": 3.0},
    ],
)
def test_at_the_end_of_a_step_are_the_bits_of_the_run(options: Any, tmp_path: Path) -> None:
    given = {"m0": BODIES, "q0": Q0, "h": 0.1, "torque": TOP, **options}
    full = ph.integrate(INERTIA, n_steps=23, **given)
    some = ph.integrate(INERTIA, n_steps=23, save_every=7, save_to=tmp_path / "run", **given)
    for threads in (1, 2):
        traj = ph.integrate(INERTIA, n_steps=23, save_every=7, threads=threads, **given)
        for got, saved in zip(traj(full.t[:, None]), (full.m, full.q), strict=True):
            same(got, saved)
    for each in (some, ph.Trajectory.load(tmp_path / "run", given["torque"])):
        body, k = np.arange(len(BODIES)), 2 * np.arange(len(BODIES))
        for got, saved in zip(each(full.t[k]), (full.m, full.q), strict=True):
            same(got, saved[k, body])


@pytest.mark.parametrize("every", [1, 6])
@pytest.mark.parametrize(("method", "error"), [("adams8", 1e-9), ("adams12", 1e-12)])
@pytest.mark.parametrize("torque", [TOP, top])
def test_multistep_methods_start_anew_with_equal_steps(
    method: str, error: float, torque: Any, every: int
) -> None:
    t = np.linspace(0.013, 1.99, 23)
    exact = run(200, splitting=None, method="rk8")
    traj = run(20, splitting=None, method=method, torque=torque, save_every=every)
    close(traj(t)[0], exact(t)[0], atol=error)
    close(traj(t)[1], exact(t)[1], atol=error)
    same(traj(traj.t)[0], traj.m)


@pytest.mark.parametrize("splitting", ["rkn6_14", "processed_strang182", "processed_ti104"])
def test_steps_that_begin_anew_at_a_save_agree_to_rounding(splitting: str) -> None:
    given = {"m0": BODIES, "q0": Q0, "h": 0.1, "torque": TOP, "splitting": splitting}
    full = ph.integrate(INERTIA, n_steps=23, **given)
    traj = ph.integrate(INERTIA, n_steps=23, save_every=7, **given)
    for got, saved in zip(traj(full.t[:, None]), (full.m, full.q), strict=True):
        close(got, saved, atol=1e-14)
    # Within a step: at the end of a run of another length.
    other = ph.integrate(INERTIA, n_steps=2, **given)
    last = ph.integrate(INERTIA, other.m[-1], other.q[-1], 0.03, 1, torque=TOP, splitting=splitting)
    for got, end in zip(traj(other.t[-1] + 0.03), (last.m[-1], last.q[-1]), strict=True):
        close(got, end, atol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"torque": swing}, {"splitting": None, "method": "abam_rotation"}]
)
def test_a_time_for_each_body(options: Any) -> None:
    traj = run(20, BODIES, save_every=5, **options)
    rng = np.random.default_rng(1)
    t = rng.uniform(0.0, 2.0, (3, len(BODIES)))
    t[0, :4] = t[0, 0]
    m, q = traj(t)
    assert m.shape == (3, len(BODIES), 3)
    for i, k in [(0, 0), (0, 3), (1, 5), (2, 10)]:
        both = traj(t[i, k])
        same(m[i, k], both[0][k])
        same(q[i, k], both[1][k])
        if options != {"torque": swing}:
            alone = run(20, BODIES[k], save_every=5, **options)(t[i, k])
            same(m[i, k], alone[0])


def test_free_bodies_move_exactly() -> None:
    hard = np.array([[0.0, 0.0, 1.0], [1e-10, 1.0, 1e-10], [0.0, 0.0, 0.0], [1e100, 1e100, 2e100]])
    moments = np.array([[1.0, 1.5, 2.2], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [0.0, 1e100, 1e100]])
    hard[3, 0] = 0.0
    traj = ph.integrate(moments, hard, Q0, 0.5, 40, save_every=3)
    motion = ph.TorqueFreeMotion(moments, hard, Q0)
    t = np.linspace(0.0, 20.0, 57)[:, None]
    size = np.maximum(np.linalg.norm(hard, axis=-1), 1e-300)[:, None]
    close(traj(t)[0] / size, motion(t)[0] / size, atol=1e-12)
    close(traj(t)[1], motion(t)[1], atol=1e-12)


def test_body_axes_and_compensated_runs() -> None:
    body = ph.RigidBody(TENSOR)
    t = np.linspace(0.0, 2.0, 9)
    for method, options in (
        ("exact", {}),
        ("exact", {"compensated": True}),
        ("taylor4", {"energy_correction": True}),
        ("rk8", {"splitting": None}),
    ):
        given: dict[str, Any] = {"torque": TOP, "method": method, **options}
        every = [body.integrate(M0, Q0, 0.25, 8, save_every=k, **given) for k in (1, 4)]
        for got, saved in zip(every[1](t), (every[0].m, every[0].q), strict=True):
            close(got, saved, atol=1e-14)


def test_bodies_that_interact_get_the_whole_batch() -> None:
    def spring(m: Array, q: Array) -> Array:
        assert len(m) == len(BODIES)
        return 0.1 * (m.mean(axis=0) - m)

    traj = run(20, BODIES, torque=spring, save_every=20)
    t = np.linspace(0.1, 1.9, len(BODIES))
    m, _ = traj(t)
    for k in (0, 4):
        same(m[k], traj(t[k])[0][k])


def test_bad_times(tmp_path: Path) -> None:
    traj = run(4, BODIES)
    with pytest.raises(ValueError, match=r"t\[1, 0\] = 2.5: must be between 0.0 and 2.0"):
        traj(np.array([1.0, 2.5])[:, None])
    with pytest.raises(ValueError, match=r"t = -1e-09: must be between"):
        traj(-1e-9)
    with pytest.raises(ValueError, match="broadcast"):
        traj([0.1, 0.2])
    with pytest.raises(TypeError, match="t must be real numbers"):
        traj("now")
    t = np.full(len(BODIES), 0.3)
    t[4] = np.nan
    m, q = traj(t)
    assert np.isnan(m[4]).all()
    assert np.isnan(q[4]).all()
    same(np.delete(m, 4, 0), np.delete(traj(0.3)[0], 4, 0))
    with pytest.raises(ValueError, match="both signs"):
        ph.integrate(INERTIA, M0, Q0, [0.1, -0.1], 2)(0.05)
    with pytest.raises(ValueError, match="was not made by integrate"):
        ph.Trajectory(traj.t, traj.m, traj.q, traj.inertia)(0.1)
    run(4, torque=top, save_to=tmp_path / "run")
    with pytest.raises(ValueError, match="was not stored: give it again"):
        ph.Trajectory.load(tmp_path / "run")(0.3)


def test_nothing_is_nothing() -> None:
    traj = run(4, np.empty((0, 3)))
    assert traj(0.3)[0].shape == (0, 3)
    assert traj([[0.1], [0.2]])[1].shape == (2, 0, 4)
    one = run(4)
    assert one([])[0].shape == (0, 3)
    start = ph.integrate(INERTIA, M0, Q0, 0.1, 0)
    same(start(0.0)[0], M0)

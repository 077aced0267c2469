"""Direct integrators of high order: `rk8`, `adams8` ... `adams12`, `taylor9` ... `taylor16`."""

from __future__ import annotations

import contextlib
import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polhode as ph

Array = NDArray[np.float64]

EPS = 2.0**-52
CASES = json.loads((Path(__file__).parents[1] / "data" / "heavy_tops.json").read_text())["cases"]
KINDS = ("dormand-prince", "adams", "taylor series")
METHODS = {m.name: m for m in ph.methods() if m.kind in KINDS}
every_method = pytest.mark.parametrize("name", METHODS)
#: Those that take any torque.
GENERAL = [m.name for m in METHODS.values() if m.kind != "taylor series"]
general_method = pytest.mark.parametrize("name", GENERAL)
#: And the ways to give one.
WAYS = [(n, way) for n in METHODS for way in ("model", "other") if way == "model" or n in GENERAL]
ADAMS = [m.name for m in METHODS.values() if m.history]
GENERIC = CASES["generic"]
INERTIA, M0, Q0, U0 = (np.array(GENERIC[k]) for k in ("inertia", "m0", "q0", "u0"))
TOP = ph.torques.HeavyTop(U0)
GRADIENT = ph.torques.GravityGradient(0.7)


def run(name: str, h: float, n: int, torque: Any = TOP, **options: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {"save_every": n, **options}
    return ph.integrate(
        INERTIA, M0, Q0, h, n, torque=torque, method=name, splitting=None, **arguments
    )


def case_end(name: str, case: dict[str, Any], n: int) -> Array:
    end = ph.integrate(
        case["inertia"],
        case["m0"],
        case["q0"],
        case["t"] / n,
        n,
        torque=ph.torques.HeavyTop(case["u0"]),
        method=name,
        splitting=None,
        save_every=n,
    )
    return state(end)


def state(trajectory: ph.Trajectory, k: int = -1) -> Array:
    m, q = trajectory.m[k], trajectory.q[k]
    return np.concatenate([m, q.reshape(*m.shape[:-1], -1)], axis=-1)


def in_python(t: float, m: Array, q: Array) -> Array:
    return np.asarray(TOP.torque(t, m, q))


# --- accuracy ---


@every_method
def test_order_on_the_heavy_top(name: str) -> None:
    order = METHODS[name].order or 0
    steps = {"rk8": 8, "adams8": 560, "adams10": 400, "adams12": 280}
    n = steps.get(name, 3)
    case, exact = GENERIC, np.array(GENERIC["m"] + GENERIC["q"])
    if name in ADAMS:  # until 4 the error of the longest stable steps is soon that of rounding
        case = {**GENERIC, "t": 40.0}
        exact = case_end("taylor16", case, 400)
    errors = [float(np.abs(case_end(name, case, k) - exact).max()) for k in (n, 2 * n)]
    close(math.log2(errors[0] / errors[1]), order, atol=0.7)


@every_method
@pytest.mark.parametrize("case", CASES)
def test_heavy_tops_to_rounding(name: str, case: str) -> None:
    """Against Taylor series in 50 digits; |q| = 1."""
    data = CASES[case]
    end = case_end(name, data, 800)
    close(end, data["m"] + data["q"], atol=5e-15)
    close(np.linalg.norm(end[3:]), 1.0, atol=2 * EPS)


@every_method
@pytest.mark.parametrize("t", [3.0, -3.0])
def test_free_bodies_against_the_exact_step(name: str, t: float) -> None:
    inertia = [[1.0, 1.5, 2.2], [2.2, 1.5, 1.0], [1.0, 1.0, 2.0], [2.0, 2.0, 2.0], [0.0, 2.0, 2.0]]
    m0 = [[0.3, 0.5, 0.8], [1e-10, 1.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.0, 0.5, 0.8]]
    m, q = ph.step(inertia, m0, Q0, t)
    end = ph.integrate(inertia, m0, Q0, t / 300, 300, method=name, splitting=None)
    close(end.m[-1], m, atol=3e-15)
    close(end.q[-1], q, atol=3e-15)
    m_step, q_step = ph.step(inertia, m0, Q0, t / 300, method=name, n_steps=300)
    close(m_step, m, atol=1e-14)
    close(q_step, q, atol=1e-14)


@every_method
def test_rounding_errors_do_not_accumulate(name: str) -> None:
    """The sums are compensated: the energy stays, in 100,000 steps."""
    end = run(name, 0.01, 100_000, save_every=10_000, compensated=True)
    energy = end.energy()
    close(energy, energy[0], atol=4.5e-15)


@general_method
def test_the_gravity_gradient_and_a_torque_of_m(name: str) -> None:
    """Torques of the time and of m, against DOP853 at its tightest."""
    damping = np.array([0.1, 0.2, 0.3])
    gradient = GRADIENT.with_inertia(INERTIA)

    def with_damping(t: float, m: Array, q: Array) -> Array:
        return np.asarray(gradient.torque(t, m, q)) - damping * m

    for torque in (GRADIENT, ph.torques.Function(with_damping)):
        used = with_damping if torque is not GRADIENT else gradient.torque

        def rate(t: float, y: Array, used: Any = used) -> Array:
            m, q = y[:3], y[3:] / np.linalg.norm(y[3:])
            omega = m / INERTIA
            turn = ph.so3.multiply(q, np.concatenate([[0.0], omega])) / 2
            return np.concatenate([np.cross(m, omega) + used(t, m, q), turn])

        start = np.concatenate([M0, Q0])
        exact = solve_ivp(rate, (0, 2), start, method="DOP853", rtol=3e-14, atol=1e-15).y[:, -1]
        close(state(run(name, 0.01, 200, torque)), exact, atol=3e-13)


# --- the same result in every way of computing it ---


@general_method
@pytest.mark.parametrize("matrix", [False, True])
def test_model_and_function_agree(name: str, matrix: bool) -> None:
    """In one loop, stage by stage in the core, over the whole batch, along other body axes."""
    q0 = ph.so3.to_matrix(Q0) if matrix else Q0

    def end(torque: Any, inertia: Any = INERTIA) -> Array:
        trajectory = ph.integrate(
            inertia, M0, q0, 0.02, 100, torque=torque, method=name, splitting=None
        )
        return state(trajectory)

    zero = ph.torques.Constant([0.0, 0.0, 0.0])
    one_loop = end(TOP)
    for other in (end([TOP, zero]), end(in_python), end([TOP, lambda q: np.zeros(3)])):
        close(other, one_loop, atol=3e-15)
    if matrix:
        close(one_loop[3:], ph.so3.to_matrix(state(run(name, 0.02, 100))[3:]).ravel(), atol=3e-15)


@general_method
def test_other_body_axes(name: str) -> None:
    turn = ph.so3.exp([0.3, -0.4, 0.5])
    matrix = ph.so3.to_matrix(turn)
    body = ph.RigidBody(matrix @ np.diag(INERTIA) @ matrix.T)
    m0, q0 = ph.so3.rotate(turn, M0), ph.so3.multiply(Q0, ph.so3.conjugate(turn))
    torque = ph.torques.HeavyTop(U0, axis=ph.so3.rotate(turn, [0, 0, 1]))
    end = body.integrate(m0, q0, 0.02, 100, torque=torque, method=name, splitting=None)
    plain = run(name, 0.02, 100)
    close(end.m[-1], ph.so3.rotate(turn, plain.m[-1]), atol=5e-15)
    close(end.q[-1], ph.so3.multiply(plain.q[-1], ph.so3.conjugate(turn)), atol=5e-15)


def batch() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "inertia": rng.uniform(0.5, 3.0, (19, 3)),
        "m0": rng.normal(size=(19, 3)) * 10.0 ** rng.integers(-30, 3, (19, 1)),
        "q0": rng.normal(size=(19, 4)),
        "u0": rng.normal(size=(19, 3)) * 0.3,
    }


def of_batch(name: str, select: Any, torque: str = "model", **options: Any) -> ph.Trajectory:
    b = {k: v[select] for k, v in batch().items()}
    top: Any = ph.torques.HeavyTop(b["u0"])
    if torque == "other":
        top = [top, ph.torques.Constant([0.1, 0.0, 0.2])]
    return ph.integrate(
        b["inertia"], b["m0"], b["q0"], 0.05, 40, torque=top, method=name, splitting=None, **options
    )


@pytest.mark.parametrize(("name", "torque"), WAYS)
def test_bits_do_not_depend_on_batch_place_threads_or_saves(name: str, torque: str) -> None:
    whole = of_batch(name, slice(None), torque)
    same(of_batch(name, slice(None), torque, threads=2).q, whole.q)
    same(of_batch(name, slice(None, None, -1), torque).q[:, ::-1], whole.q)
    same(of_batch(name, slice(None), torque, save_every=17).m[-1], whole.m[-1])
    for k in (0, 7, 18):
        alone = of_batch(name, k, torque)
        same(alone.m, whole.m[:, k])
        same(alone.q, whole.q[:, k])


@every_method
@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("stop", [5, 23])
def test_a_resumed_run_has_the_same_bits(
    name: str, matrix: bool, stop: int, tmp_path: Path
) -> None:
    q0 = ph.so3.to_matrix(batch()["q0"]) if matrix else batch()["q0"]

    def go(**options: Any) -> ph.Trajectory:
        b = batch()
        return ph.integrate(
            b["inertia"],
            b["m0"],
            q0,
            0.05,
            40,
            torque=ph.torques.HeavyTop(b["u0"]),
            method=name,
            splitting=None,
            **options,
        )

    def interrupt(step: int, t: float, m: Array, q: Array) -> None:
        if step == stop:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        go(save_to=tmp_path / "run", callback=interrupt)
    resumed, whole = ph.resume(tmp_path / "run"), go()
    same(resumed.m, whole.m)
    same(resumed.q, whole.q)


@pytest.mark.parametrize(("name", "way"), WAYS)
@pytest.mark.parametrize("power", [-300, 300])
def test_the_unit_of_momentum_changes_no_bit(name: str, way: str, power: int) -> None:
    """m, u0 and h in other units, powers of two."""
    s = 2.0**power

    @functools.partial(ph.torques.Function, arguments=("t", "q"))
    def pull(t: float, q: Array) -> Array:
        return np.asarray(ph.torques.HeavyTop(U0 * s * s).torque(t, M0, q))

    top = ph.torques.HeavyTop(U0 * s * s) if way == "model" else pull
    scaled = ph.integrate(
        INERTIA, M0 * s, Q0, 0.05 / s, 30, torque=top, method=name, splitting=None
    )
    plain = run(name, 0.05, 30, TOP if way == "model" else lambda q: TOP.torque(0.0, M0, q))
    same(scaled.m[-1] / s, plain.m[-1])
    same(scaled.q[-1], plain.q[-1])


# --- what the methods refuse, and lost bodies ---


@every_method
def test_a_body_that_is_lost_leaves_its_neighbours(name: str) -> None:
    m0 = np.tile(M0, (9, 1))
    q0 = np.tile(Q0, (9, 1))
    u0 = np.tile(U0, (9, 1))
    m0[2, 1], q0[4, 0], u0[6] = np.nan, np.inf, 1.5e308
    torque = ph.torques.HeavyTop(u0)
    with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN"):
        end = ph.integrate(INERTIA, m0, q0, 0.05, 30, torque=torque, method=name, splitting=None)
    assert np.isnan(end.m[-1, [2, 4, 6]]).all()
    assert np.isnan(end.q[-1, [2, 4, 6]]).all()
    alone = state(run(name, 0.05, 30))
    for k in (0, 1, 3, 5, 7, 8):
        same(state(end)[k], alone)


@every_method
def test_energy_correction_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="energy_correction"):
        run(name, 0.1, 30, energy_correction=True)


@pytest.mark.parametrize("name", ADAMS)
def test_fewer_steps_than_the_history(name: str) -> None:
    history = METHODS[name].history
    assert history == (METHODS[name].order or 0) - 1
    with pytest.raises(ValueError, match=f"history of {history} steps"):
        run(name, 0.1, history - 1)
    with pytest.raises(ValueError, match="equal steps"):
        ph.integrate(INERTIA, M0, Q0, [0.1] * 30, 30, torque=TOP, method=name, splitting=None)


def test_steps_of_any_length_with_rk8() -> None:
    """Ends at the given times, also with a torque of the time."""
    h = np.linspace(0.01, 0.03, 100)
    uneven = ph.integrate(INERTIA, M0, Q0, h, 100, torque=GRADIENT, method="rk8", splitting=None)
    end = run("rk8", h.sum() / 100, 100, GRADIENT)
    close(state(uneven), state(end), atol=4e-15)


def test_the_momentum_of_space_given() -> None:
    L = ph.torques.SpatialMomentum(
        lambda t: np.array([1.0, 0.2 * math.sin(t), 0.3]),
        lambda t: np.array([0.0, 0.2 * math.cos(t), 0.0]),
    )
    ends = [
        ph.integrate(INERTIA, M0, Q0, 2 / n, n, torque=L, method="rk8", splitting=None).q[-1]
        for n in (2, 4, 100)
    ]
    errors = [np.abs(end - ends[-1]).max() for end in ends]
    assert errors[0] / errors[1] > 2**7


ROD_METHODS = [
    (None, "rk8"), (None, "adams12"), ("chin4a", "exact"), ("t5b_6", "exact"),
    ("processed_ti104", "exact"),
]  # fmt: skip


@pytest.mark.parametrize(("splitting", "method"), ROD_METHODS)
def test_a_torque_about_the_axis_of_a_rod_has_no_effect(splitting: str | None, method: str) -> None:
    """The motion is that of the torque without this component."""
    run: dict[str, Any] = {"splitting": splitting, "method": method}
    start = [0.0, 1.0, 1.0], [0.0, 0.5, 0.8], [0.6, 0.8, 0.0, 0.0], 0.1, 20
    whole, across = (
        ph.integrate(*start, torque=ph.torques.Constant(f), **run)
        for f in ([0.3, 0.2, -0.4], [0.0, 0.2, -0.4])
    )
    close(whole.q, across.q, atol=1e-13)
    close(whole.m[..., 1:], across.m[..., 1:], atol=1e-13)

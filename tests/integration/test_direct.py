"""Direct integrators of the torque: `integrate(..., method=name, splitting=None)`."""

from __future__ import annotations

import contextlib
import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polhode as ph

Array = NDArray[np.float64]

DIRECT = {m.name: m for m in ph.methods() if m.takes_torque}
#: Those in test_high_order.py.
HIGH_ORDER_KINDS = ("dormand-prince", "adams", "taylor series")
HIGH_ORDER = [m.name for m in DIRECT.values() if m.kind in HIGH_ORDER_KINDS]
#: Methods of [Buss01]; the others have separate files.
FAMILY = [m.name for m in DIRECT.values() if m.kind in ("taylor", "runge-kutta", "multistep")]
#: Derivatives of the momentum in space that models have: L' and L''.
WITH_MODELS = [n for n in FAMILY if n not in ("taylor4", "taylor5", "taylor6")]
WITH_FUNCTIONS = [n for n in WITH_MODELS if n not in ("taylor3", "taylor3_false")]

INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.8, 0.0, -0.6, 0.0])
TOP = ph.torques.HeavyTop(u0=[0.1, 0.2, 0.4], axis=[0.1, 0.0, 1.0])
TIME = 4.0


def run(name: Any, n: int, torque: Any = TOP, **options: Any) -> ph.Trajectory:
    arguments: dict[str, Any] = {"torque": torque, "save_every": n, **options}
    return ph.integrate(INERTIA, M0, Q0, TIME / n, n, method=name, splitting=None, **arguments)


def state(trajectory: ph.Trajectory) -> Array:
    return np.concatenate([trajectory.m[-1], trajectory.q[-1]], axis=-1)


@functools.cache
def top_end() -> Array:
    """By a splitting of order 6 and steps of 0.01, of which the error is 1e-13."""
    end = ph.integrate(
        INERTIA, M0, Q0, TIME / 400, 400, torque=TOP, splitting="rkn6_14", save_every=400
    )
    return state(end)


def slope(errors: list[float]) -> float:
    return math.log2(errors[0] / errors[1])


# --- the heavy top ---


@pytest.mark.parametrize("name", WITH_MODELS)
def test_order_on_the_heavy_top(name: str) -> None:
    order = DIRECT[name].order or 0
    n = {1: 400, 2: 200, 3: 100}.get(order, 50)
    errors = [float(np.abs(state(run(name, k)) - top_end()).max()) for k in (n, 2 * n)]
    close(slope(errors), order, atol=0.15)


@pytest.mark.parametrize("name", WITH_FUNCTIONS)
@pytest.mark.parametrize("correction", [False, True, "buss"])
def test_a_function_does_what_a_model_does(name: str, correction: bool | str) -> None:
    """In Python over the whole batch or in the core by blocks: the same stages."""

    def f(t: float, m: Array, q: Array) -> Array:
        return np.asarray(TOP.torque(t, m, q))

    in_core = run(name, 60, energy_correction=correction)
    in_python = run(name, 60, f, energy_correction=correction)
    np.testing.assert_array_equal(state(in_core), state(in_python))


def damped(t: float, m: Array, q: Array) -> Array:
    return np.asarray(TOP.torque(t, m, q)) - [0.1, 0.2, 0.3] * m


@functools.cache
def damped_end() -> Array:
    def rate(t: float, y: Array) -> Array:
        m, q = y[:3], y[3:] / np.linalg.norm(y[3:])
        omega = m / INERTIA
        turn = ph.so3.multiply(q, np.concatenate([[0.0], omega])) / 2
        return np.concatenate([np.cross(m, omega) + damped(t, m, q), turn])

    start = np.concatenate([M0, Q0])
    return solve_ivp(rate, (0, TIME), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(
    "name",
    [
        *("taylor2", "rk4", "abam_rotation", "simo_wong_explicit"),
        *sorted(set(DIRECT) - {*FAMILY, *HIGH_ORDER}),
    ],
)
def test_damping(name: str) -> None:
    """A torque of m: every method sees the momentum at its stages."""
    torque = ph.torques.Function(damped)
    n = {1: 400, 2: 200}.get(DIRECT[name].order or 0, 50)
    errors = [float(np.abs(state(run(name, k, torque)) - damped_end()).max()) for k in (n, 2 * n)]
    close(slope(errors), DIRECT[name].order, atol=0.15)


def test_free_of_torque_they_are_steps() -> None:
    for name in FAMILY:
        got = run(name, 50, None)
        m, q = ph.step(INERTIA, M0, Q0, TIME / 50, method=name, n_steps=50)
        close(got.m[-1], m, atol=2e-15 * 50**0.5)
        close(got.q[-1], q, atol=2e-15 * 50**0.5)


# --- the momentum of space given ---


def momentum(k: int) -> Any:
    """The k-th derivative of (cos t, sin 2t, 1 + 0.3 sin t)."""

    def L(t: float) -> Array:
        return np.array(
            [
                math.cos(t + k * math.pi / 2),
                2.0**k * math.sin(2 * t + k * math.pi / 2),
                0.3 * math.sin(t + k * math.pi / 2) + (1.0 if k == 0 else 0.0),
            ]
        )

    return L


def given(derivatives: int) -> ph.torques.SpatialMomentum:
    return ph.torques.SpatialMomentum(*(momentum(k) for k in range(derivatives + 1)))


def run_given(name: str, n: int, derivatives: int = 5, **options: Any) -> Array:
    m0 = ph.so3.rotate(ph.so3.conjugate(Q0), momentum(0)(0.0))
    end = ph.integrate(
        INERTIA,
        m0,
        Q0,
        TIME / n,
        n,
        torque=given(derivatives),
        method=name,
        splitting=None,
        save_every=n,
        **options,
    )
    return state(end)


@functools.cache
def given_end() -> Array:
    def rate(t: float, q: Array) -> Array:
        unit = q / np.linalg.norm(q)
        omega = np.asarray(ph.so3.rotate(ph.so3.conjugate(unit), momentum(0)(t))) / INERTIA
        return np.asarray(ph.so3.multiply(q, np.concatenate([[0.0], omega]))) / 2

    q = solve_ivp(rate, (0, TIME), Q0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    m = ph.so3.rotate(ph.so3.conjugate(q), momentum(0)(TIME))
    return np.concatenate([m, q])


@pytest.mark.parametrize("name", FAMILY)
def test_order_with_given_momentum(name: str) -> None:
    order = DIRECT[name].order or 0
    n = {1: 800, 2: 400, 3: 100, 4: 50, 5: 80}.get(order, 20)
    errors = [float(np.abs(run_given(name, k) - given_end()).max()) for k in (n, 2 * n)]
    close(slope(errors), order, atol=0.25)


@pytest.mark.parametrize(
    ("name", "order"), [("taylor1", 1), ("taylor2", 2), ("taylor3", 3), ("taylor4", 4), ("rk4", 4)]
)
def test_erratum_energy_correction_under_torque(name: str, order: int) -> None:
    """Odd orders gain nothing, and the third keeps its own, since the work is Hermite's integral;
    by the trapezoidal rule it would fall to the second."""
    n = {1: 800, 2: 400, 3: 200}.get(order, 50)
    errors = [
        float(np.abs(run_given(name, k, energy_correction=True) - given_end()).max())
        for k in (n, 2 * n)
    ]
    close(slope(errors), order, atol=0.25)


@pytest.mark.parametrize("name", ["taylor2", "taylor4", "rk4", "abam_rotation"])
@pytest.mark.parametrize("correction", [False, True])
def test_given_momentum_is_kept(name: str, correction: bool) -> None:
    """m = Q^T L(t) to rounding, however long the steps."""
    end = run_given(name, 12, energy_correction=correction)
    close(ph.so3.rotate(end[3:], end[:3]), momentum(0)(TIME), atol=2e-15)


def test_derivatives_needed() -> None:
    """taylorN takes N - 1; one fewer is refused before any work."""
    for order in range(1, 7):
        name = f"taylor{order}"
        run_given(name, 4, order - 1)
        if order > 1:
            with pytest.raises(ValueError, match=rf"{name}.*{order - 1} derivatives"):
                run_given(name, 4, order - 2)
    run_given("taylor2_augmented", 4, 1)
    run_given("taylor3_false", 4, 2)
    with pytest.raises(ValueError, match="SpatialMomentum"):
        run("taylor4", 4)
    with pytest.raises(ValueError, match="SpatialMomentum"):
        run("taylor3", 4, lambda t, m, q: 0 * m)
    # The rate of a torque that changes with time is not what models give.
    with pytest.raises(ValueError, match="taylor3"):
        run("taylor3", 4, ph.torques.Prescribed([[0.0] * 3] * 5, times=range(5)))


def test_sums() -> None:
    """A model together with a given momentum: derivatives add up."""
    both = [state(run("taylor3", n, [TOP, given(2)])) for n in (200, 400)]
    function = state(run("rk4", 400, [TOP, lambda t, m, q: given(1).torque(t, m, q)]))
    close(slope([float(np.abs(x - function).max()) for x in both]), 3, atol=0.1)


# --- energy ---


@pytest.mark.parametrize("name", WITH_MODELS)
def test_energy_under_torque(name: str) -> None:
    """Total energy errs by the integral of the work alone: no more than without a correction, and
    for the orders 3 and 4 by O(h^4)."""
    drifts = []
    for n in (200, 400):
        energy = run(name, n, save_every=n // 20, energy_correction=True).energy()
        drifts.append(float(np.abs(energy - energy[0]).max()))
    order = DIRECT[name].order or 0
    assert slope(drifts) > min(order, 4) - 0.4


#: With a tableau of the user's own: Heun's third order.
OTHERS: list[Any] = [n for n, m in DIRECT.items() if n not in FAMILY]
CORRECTED: list[Any] = [n for n in OTHERS if "energy_correction" in DIRECT[n].options]
CORRECTED.append(
    ph.rkmk([[0] * 3, [1 / 3, 0, 0], [0, 2 / 3, 0]], [1 / 4, 0, 3 / 4], [0, 1 / 3, 2 / 3])
)


@pytest.mark.parametrize("method", CORRECTED, ids=lambda m: m if isinstance(m, str) else "heun")
@pytest.mark.parametrize("way", [True, "buss"])
def test_correction_of_other_methods_under_torque(method: Any, way: bool | str) -> None:
    """The work is taken at the order of the method, which stays, by the energy too."""
    order = DIRECT[method].order if isinstance(method, str) else 3
    errors, drifts = [], []
    n = {1: 400, 2: 200, 3: 100}.get(order or 0, 50)
    for k in (n, 2 * n):
        traj = run(method, k, save_every=k // 10, energy_correction=way)
        errors.append(float(np.abs(state(traj) - top_end()).max()))
        drifts.append(float(np.abs(traj.energy() - traj.energy()[0]).max()))
    close(slope(errors), order, atol=0.15)
    close(slope(drifts), order, atol=0.15)

    def f(t: float, m: Array, q: Array) -> Array:
        return np.asarray(TOP.torque(t, m, q))

    in_core, in_python = (run(method, 60, torque, energy_correction=way) for torque in (TOP, f))
    np.testing.assert_array_equal(state(in_core), state(in_python))
    plain = run(method, 60)
    assert np.abs(state(plain) - state(in_core)).max() > 1e-10


@pytest.mark.parametrize("name", ["taylor1", "euler_forward", "euler_backward", "trapm", "taylor3"])
@pytest.mark.parametrize("way", [True, "buss"])
@pytest.mark.parametrize("h", [1e-1, 1e-3, 1e-6])
def test_correction_leaves_bodies_at_rest_alone(name: str, way: bool | str, h: float) -> None:
    """The work of the first step is too inaccurate to correct the energy by turning the body."""
    constant = ph.torques.Constant([1.0, 1.0, 1.0])
    options: dict[str, Any] = {"method": name, "splitting": None}
    torque = TOP if name == "taylor3" else constant
    start: tuple[Any, ...] = (INERTIA, [0.0] * 3, Q0, h, 1)
    plain = ph.integrate(*start, torque=torque, **options)
    end = ph.integrate(*start, torque=torque, energy_correction=way, **options)
    np.testing.assert_array_equal(state(end), state(plain))


@pytest.mark.parametrize("name", ["taylor1", "euler_forward", "euler_backward", "rkmk_midpoint"])
def test_correction_from_rest(name: str) -> None:
    """The error falls with the step, by less than half an order more slowly than without."""

    def error(n: int, **options: Any) -> float:
        ends = [
            ph.integrate(
                INERTIA, [0.0] * 3, Q0, 1 / k, k, torque=TOP, method=method, splitting=None, **more
            )
            for method, k, more in ((name, n, options), ("rkmk_gauss4", 400, {}))
        ]
        return float(np.abs(state(ends[0]) - state(ends[1])).max())

    errors = [error(n, energy_correction=True) for n in (320, 1280)]
    order = DIRECT[name].order or 0
    assert slope(errors) / 2 > order - 0.5
    assert errors[1] < 0.01


# --- batches ---

#: One method per kind of loop: Taylor, Runge-Kutta, multistep, implicit, Munthe-Kaas.
LOOPS = [
    *("taylor1", "taylor3", "rk4", "abam_rotation", "simo_wong_explicit"),
    *("bbtrapwd", "imidm", "rkmk4", "rkmk_gauss4"),
]


def batch(count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(9)
    q = rng.normal(size=(count, 4))
    return (
        rng.uniform(0.5, 2.0, (count, 3)),
        rng.normal(size=(count, 3)),
        q / np.linalg.norm(q, axis=1)[:, None],
    )


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("correction", [False, True])
@pytest.mark.parametrize("matrix", [False, True])
def test_a_body_does_not_depend_on_its_neighbours(
    name: str, correction: bool, matrix: bool
) -> None:
    inertia, m, q = batch(150)
    start: Any = ph.so3.to_matrix(q) if matrix else q

    def ends(rows: Any, **options: Any) -> tuple[Array, Array]:
        end = ph.integrate(
            inertia[rows],
            m[rows],
            start[rows],
            0.1,
            7,
            torque=TOP,
            method=name,
            splitting=None,
            energy_correction=correction,
            **options,
        )
        return end.m[-1], end.q[-1]

    whole = ends(slice(None))
    for rows in (slice(0, 1), slice(3, 20), slice(120, 150), 140, slice(None, None, -1)):
        for got, expected in zip(ends(rows), whole, strict=True):
            np.testing.assert_array_equal(got, expected[rows])
    for options in ({"threads": 3}, {"save_every": 3}):
        for got, expected in zip(ends(slice(None), **options), whole, strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("where", ["m", "q", "torque"])
def test_nan_stays_in_its_body(name: str, where: str) -> None:
    """And is no missing root, unless it is the torque's."""
    inertia, m, q = batch(20)
    expected = ph.integrate(inertia, m, q, 0.1, 6, torque=TOP, method=name, splitting=None)
    torque: Any = TOP
    if where == "torque":
        if name in ("taylor3", "taylor3_false"):
            pytest.skip("needs a model")

        def torque(t: float, m: Array, q: Array) -> Array:
            f = np.array(TOP.torque(t, m, q))
            f[7] = np.nan
            return f
    else:
        {"m": m, "q": q}[where][7, 1] = np.nan
    warned: Any = contextlib.nullcontext()
    if where == "torque":
        warned = pytest.warns(RuntimeWarning, match="^the torque was not finite: 1 body is NaN$")
    with warned:
        got = ph.integrate(inertia, m, q, 0.1, 6, torque=torque, method=name, splitting=None)
    others = np.arange(20) != 7
    np.testing.assert_array_equal(got.m[-1][others], expected.m[-1][others])
    np.testing.assert_array_equal(got.q[-1][others], expected.q[-1][others])
    assert np.isnan(got.m[-1][7]).all()
    assert np.isnan(got.q[-1][7]).all()


@pytest.mark.parametrize("matrix", [False, True])
def test_empty_batches(matrix: bool) -> None:
    q = np.zeros((0, 3, 3) if matrix else (0, 4))
    for name, method in DIRECT.items():
        if name in FAMILY and name not in WITH_MODELS:
            continue
        for splitting in (None, "strang") if method.history == 0 else (None,):
            end = ph.integrate(
                np.ones((0, 3)),
                np.zeros((0, 3)),
                q,
                0.1,
                12,
                torque=TOP,
                method=name,
                splitting=splitting,
            )
            assert end.m.shape == (13, 0, 3)


# Momentum and moments times these powers of two; time goes as their quotient.
UNITS = [
    (500, 490),
    (-650, -490),
    (520, 480),
    (-110, -155),
    (-300, 0),
    (0, 490),
    (0, -490),
    (700, 700),
]


@pytest.mark.parametrize("name", [n for n in DIRECT if n not in FAMILY or n in WITH_MODELS])
@pytest.mark.parametrize("correction", [False, True, "buss"])
def test_units_change_nothing(name: str, correction: bool | str) -> None:
    """Powers of two come out as they went in, bit for bit, though squares of the momentum would
    leave the range of numbers."""
    options: dict[str, Any] = {}
    if correction:
        if "energy_correction" not in DIRECT[name].options:
            pytest.skip("no energy correction")
        options["energy_correction"] = correction

    def end(c: float, d: float) -> Array:
        pace = c / d
        torque = ph.torques.HeavyTop(u0=c * pace * TOP.u0, axis=TOP.axis)
        traj = ph.integrate(
            INERTIA * d,
            M0 * c,
            Q0,
            0.05 / pace,
            12,
            torque=torque,
            method=name,
            splitting=None,
            save_every=12,
            **options,
        )
        return np.concatenate([traj.m[-1] / c, traj.q[-1]])

    expected = end(1.0, 1.0)
    for c, d in UNITS:
        np.testing.assert_array_equal(end(2.0**c, 2.0**d), expected)


def test_units_of_a_body_at_rest() -> None:
    """A molecule at rest that a torque sets in motion, in molecular units and in SI."""
    for name in WITH_MODELS:
        ends = []
        for c, d in ((1.0, 1.0), (2.0**-560, 2.0**-490)):
            torque = ph.torques.HeavyTop(u0=c * (c / d) * TOP.u0, axis=TOP.axis)
            end = ph.integrate(
                INERTIA * d,
                [0.0] * 3,
                Q0,
                0.05 * d / c,
                12,
                torque=torque,
                method=name,
                splitting=None,
                energy_correction=True,
            )
            ends.append(np.concatenate([end.m[-1] / c, end.q[-1]]))
        close(ends[1], ends[0], atol=1e-14, rtol=1e-13)


def test_rods_and_spheres() -> None:
    for name in WITH_MODELS:
        for inertia, m in (([0.0, 1.0, 1.0], [0.0, 1.0, 2.0]), ([2.0] * 3, [1.0, 2.0, 3.0])):
            got = ph.integrate(inertia, m, Q0, 0.01, 50, torque=TOP, method=name, splitting=None)
            exact = ph.integrate(inertia, m, Q0, 0.01, 50, torque=TOP)
            assert np.abs(got.m[-1] - exact.m[-1]).max() < 0.02, name


# --- as other integrations ---


@pytest.mark.parametrize("name", ["taylor3", "abam_rotation", "simo_wong_explicit"])
@pytest.mark.parametrize("python", [False, True])
def test_resume_carries_history_and_target(name: str, python: bool, tmp_path: Path) -> None:
    torque: Any = TOP
    if python and name == "taylor3":
        torque = given(2)
    elif python:
        torque = ph.torques.Function(TOP.torque)
    options: dict[str, Any] = {
        "torque": torque,
        "method": name,
        "splitting": None,
        "energy_correction": True,
    }
    whole = ph.integrate(INERTIA, M0, Q0, 0.05, 40, **options)

    def stop(step: int, t: float, m: Array, q: Array) -> None:
        if step == 17:
            raise RuntimeError("enough")

    path = tmp_path / "run"
    with pytest.raises(RuntimeError, match="enough"):
        ph.integrate(INERTIA, M0, Q0, 0.05, 40, save_to=path, callback=stop, **options)
    got = ph.resume(path, torque if python else None)
    np.testing.assert_array_equal(got.m, whole.m)
    np.testing.assert_array_equal(got.q, whole.q)


def test_own_axes() -> None:
    axes = ph.so3.to_matrix(np.array([0.5, 0.5, -0.5, 0.5]))
    body = ph.RigidBody.from_moments(INERTIA, axes)
    m = axes @ M0
    got = body.integrate(m, Q0, 0.1, 20, torque=TOP, method="rk4", splitting=None)
    exact = body.integrate(m, Q0, 0.1, 20, torque=TOP, splitting="rkn6_14")
    assert 0 < np.abs(got.m[-1] - exact.m[-1]).max() < 1e-5


def test_steps_of_different_lengths() -> None:
    h = np.tile([0.05, 0.03], 50)
    got = ph.integrate(INERTIA, M0, Q0, h, 100, torque=TOP, method="rk4", splitting=None)
    assert np.abs(state(got) - top_end()).max() < 1e-6


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"taylor1.*rk4") as error:
        run("exact", 10)
    assert all(name in str(error.value) for name in DIRECT)
    with pytest.raises(ValueError, match="history of 4 steps"):
        run("abam_rotation", 3)
    with pytest.raises(ValueError, match="multistep method"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=TOP, method="abam_rotation")
    with pytest.raises(ValueError, match="equal steps"):
        ph.integrate(INERTIA, M0, Q0, [0.1] * 9, 9, method="abam_rotation", splitting=None)
    with pytest.raises(ValueError, match="compensated"):
        run("rk4", 10, compensated=True)


def test_methods_that_take_torque_are_free_flows_too() -> None:
    """With a splitting the method is its free flow; corrected, it is better by as much."""
    for options in ({}, {"energy_correction": True}):
        end = ph.integrate(
            INERTIA, M0, Q0, TIME / 800, 800, torque=TOP, method="taylor4", **options
        )
        strang = ph.integrate(INERTIA, M0, Q0, TIME / 800, 800, torque=TOP)
        assert np.abs(state(end) - state(strang)).max() < 1e-9

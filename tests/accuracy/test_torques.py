"""Torque models: potentials, derivatives, references, axes, prescribed and compiled torques."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph
from polhode import torques

Array = NDArray[np.float64]
Number = Any  # an mpmath number; mpmath has no types
EPS = 2.0**-52
DATA = json.loads((Path(__file__).parents[1] / "data" / "torques.json").read_text())
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
AXIS = np.array([0.3, -0.4, 0.8])
U0 = np.array([0.2, -0.1, 0.4])
TIMES = np.array([0.0, 0.5, 0.7, 2.0])
SAMPLES = np.array([[0.1, 0.0, 0.2], [-0.1, 0.3, 0.0], [0.2, 0.2, -0.3], [0.0, -0.1, 0.1]])
GRADIENT = {"mean_motion": 0.7, "position": [1.0, 0.5, -0.15], "normal": [0.0, 0.6, 2.0]}
SHIP = {"mass": 0.5, "gm_l": 1.5, "gm_t": 0.4, "gravity": 2.0}
DAMPING = np.array([0.3, 0.0, 0.8])
FRICTION = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, -0.2], [0.0, -0.2, 0.6]])
ORBIT = torques.Orbit(0.8, [1.0, 0.5, -0.2], [-0.4, 0.6, 0.1])
STATES = ORBIT.state(np.linspace(-3.0, 60.0, 2000))


def models() -> dict[str, Any]:
    """One of each that has all it needs."""
    return {
        "heavy_top": torques.HeavyTop(U0, AXIS),
        "lagrange_top": torques.LagrangeTop(1.7),
        "printed": torques.SoftWall(axis=AXIS),
        "physical": torques.SoftWall("physical", charge=0.7, wall=0.02, distance=1.3),
        "gradient": torques.GravityGradient(**GRADIENT, inertia=INERTIA),
        "restoring": torques.Vessel(**SHIP),
        "vessel": torques.Vessel(**SHIP, damping=DAMPING, inertia=INERTIA),
        "dipole": torques.Dipole(AXIS, U0),
        "body": torques.Constant(U0),
        "space": torques.Constant(U0, "space"),
        "samples": torques.Prescribed(SAMPLES, TIMES),
        "samples_space": torques.Prescribed(SAMPLES, TIMES, "space"),
        "dipole_samples": torques.Dipole(AXIS, SAMPLES, TIMES),
        "damping": torques.Damping(DAMPING, inertia=INERTIA),
        "coupled": torques.Damping(FRICTION, inertia=INERTIA),
        "damping_space": torques.Damping(FRICTION, "space", inertia=INERTIA),
        "rotors": torques.Gyrostat(U0, inertia=INERTIA),
        "rotor_samples": torques.Gyrostat(SAMPLES, TIMES, inertia=INERTIA),
        "b_dot": torques.BDot(0.8, SAMPLES, TIMES, inertia=INERTIA),
        "eccentric": torques.GravityGradient(orbit=ORBIT, inertia=INERTIA),
        "tabulated": torques.GravityGradient(
            orbit=torques.Orbit(0.8, *STATES, np.linspace(-3.0, 60.0, 2000)), inertia=INERTIA
        ),
    }


#: Those that get their inertia from the integration.
OF_INERTIA = (
    "gradient", "vessel", "damping", "coupled", "damping_space", "rotors", "rotor_samples",
    "b_dot", "eccentric", "tabulated",
)  # fmt: skip
MODELS = models()
POTENTIAL = [name for name, model in MODELS.items() if model.has_potential and name != "tabulated"]
MODIFIED = [name for name, model in MODELS.items() if model.has_modified]


# Potentials in 40 digits, of the third and other axes of space, in the body frame ----------------


def vec(v: Any) -> list[Number]:
    return [mp.mpf(float(x)) for x in v]


def dot(a: Any, b: Any) -> Number:
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a: Any, b: Any) -> list[Number]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def rotation(q: Any) -> list[list[Number]]:
    w, x, y, z = vec(q)
    n = w * w + x * x + y * y + z * z
    return [
        [1 - 2 * (y * y + z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, 1 - 2 * (x * x + z * z) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, 1 - 2 * (x * x + y * y) / n],
    ]


def to_body(Q: Any, v: Any) -> list[Number]:
    return [mp.fsum(Q[i][k] * v[i] for i in range(3)) for k in range(3)]


def orbit(t: Number) -> list[Number]:
    n, p, w = mp.mpf(0.7), vec(GRADIENT["position"]), vec(GRADIENT["normal"])
    w = [x / mp.sqrt(dot(w, w)) for x in w]
    p = [x - dot(p, w) * y for x, y in zip(p, w, strict=True)]
    p = [x / mp.sqrt(dot(p, p)) for x in p]
    side = cross(w, p)
    return [x * mp.cos(n * t) + y * mp.sin(n * t) for x, y in zip(p, side, strict=True)]


def eccentric(Q: Any, t: Number) -> Number:
    """By the perigee and Kepler's equation, solved from there."""
    mu, r, v = mp.mpf(0.8), vec(ORBIT.position), vec(ORBIT.velocity)
    size, square = mp.sqrt(dot(r, r)), dot(v, v)
    a = 1 / (2 / size - square / mu)
    e = [(square / mu - 1 / size) * x - dot(r, v) / mu * y for x, y in zip(r, v, strict=True)]
    ecc, w = mp.sqrt(dot(e, e)), cross(r, v)
    P = [x / ecc for x in e]
    W = [x / mp.sqrt(dot(w, w)) for x in cross(w, P)]
    E = mp.atan2(dot(r, W) / mp.sqrt(1 - ecc**2), dot(r, P) + a * ecc)
    M = E - ecc * mp.sin(E) + mp.sqrt(mu / a**3) * t
    E = mp.findroot(lambda x: x - ecc * mp.sin(x) - M, M)
    x, y = mp.cos(E) - ecc, mp.sqrt(1 - ecc**2) * mp.sin(E)
    R = to_body(Q, [a * (x * p + y * q) for p, q in zip(P, W, strict=True)])
    IR = [i * x for i, x in zip(vec(INERTIA), R, strict=True)]
    return 3 * mu / 2 * dot(R, IR) / mp.sqrt(dot(R, R)) ** 5


def wall(Q: Any, axis: Any, c: float, b: float, d: float) -> Number:
    r = mp.mpf(d) + dot(to_body(Q, [0, 0, 1]), vec(axis))
    return mp.mpf(c) / r - mp.mpf(b) / 10 * r**-10


def ship(Q: Any) -> Number:
    # m_v g / 2 (GM_L (Q e1 . e3)^2 + GM_T (Q e2 . e3)^2)
    return (mp.mpf(1.5) * Q[2][0] ** 2 + mp.mpf(0.4) * Q[2][1] ** 2) / 2


def gradient(Q: Any, t: Number) -> Number:
    r = to_body(Q, orbit(t))
    Ir = [i * x for i, x in zip(vec(INERTIA), r, strict=True)]
    return 3 * mp.mpf(0.7) ** 2 / 2 * dot(r, Ir)


EXACT: dict[str, Callable[[Any, Number], Number]] = {
    "heavy_top": lambda Q, t: dot(to_body(Q, vec(U0)), vec(AXIS)),
    "lagrange_top": lambda Q, t: mp.mpf(1.7) * Q[2][2],
    "printed": lambda Q, t: wall(Q, AXIS, 1.0, 0.01, 1.1),
    "physical": lambda Q, t: -wall(Q, [0, 0, 1], 0.7, 0.02, 1.3),
    "gradient": gradient,
    "restoring": lambda Q, t: ship(Q),
    "vessel": lambda Q, t: ship(Q),
    "dipole": lambda Q, t: -dot(to_body(Q, vec(U0)), vec(AXIS)),
    # At t = 1.3, between the samples at 0.7 and 2.
    "dipole_samples": lambda Q, t: (
        -dot(
            to_body(
                Q,
                [
                    a + (t - mp.mpf(0.7)) * (b - a) / mp.mpf(1.3)
                    for a, b in zip(vec(SAMPLES[2]), vec(SAMPLES[3]), strict=True)
                ],
            ),
            vec(AXIS),
        )
    ),
    "eccentric": eccentric,
}


def steepness(name: str, Q: Any, order: int) -> float:
    """1; of a wall the derivative of this order of its potential, by which a rounding of r counts.

    All other numbers are of order 1.
    """
    if name == "eccentric":
        return 4.0  # 1/R^3
    if name not in ("printed", "physical"):
        return 1.0
    axis, d, b = (AXIS, 1.1, 0.01) if name == "printed" else (np.array([0, 0, 1.0]), 1.3, 0.02)
    r = float(d + dot(to_body(Q, [0, 0, 1]), vec(axis)))
    return (
        1
        + (order + 1) * r ** -(order + 1.0)
        + b * (11.0 if order == 2 else 132.0) * r ** (-10.0 - order)
    )


def turned(Q: Any, v: Any) -> Any:
    """Q exp(hat(v))."""
    angle = mp.sqrt(dot(v, v))
    if angle == 0:
        return Q
    n = [x / angle for x in v]
    s, c = mp.sin(angle), mp.cos(angle)
    columns = [[Q[i][k] for i in range(3)] for k in range(3)]
    axis = [mp.fsum(Q[i][k] * n[k] for k in range(3)) for i in range(3)]
    new = []
    for column in columns:
        across, along = cross(axis, column), dot(axis, column)
        new.append([c * x + s * y + (1 - c) * along * a
                    for x, y, a in zip(column, across, axis, strict=True)])  # fmt: skip
    return [[new[k][i] for k in range(3)] for i in range(3)]


def exact_torque(name: str, Q: Any, t: Number) -> list[Number]:
    """Minus the gradient of the potential, by turning the body about each of its axes."""
    V = EXACT[name]
    unit = [[mp.mpf(int(i == k)) for i in range(3)] for k in range(3)]
    return [-mp.diff(lambda s, e=e: V(turned(Q, [s * x for x in e]), t), 0) for e in unit]


def attitudes() -> list[Array]:
    rng = np.random.default_rng(11)
    q = rng.standard_normal((4, 4))
    return [*(q / np.linalg.norm(q, axis=1, keepdims=True)), np.array([1.0, 0, 0, 0])]


@pytest.mark.parametrize("name", POTENTIAL)
def test_torque_is_minus_the_gradient_of_the_potential(name: str) -> None:
    model, t = MODELS[name], 1.3
    with mp.workdps(40):
        for q in attitudes():
            Q = rotation(q)
            V = EXACT[name](Q, mp.mpf(t))
            f = exact_torque(name, Q, mp.mpf(t))
            bound = 8 * EPS * steepness(name, Q, 2)
            assert abs(float(V - model.potential(t, q))) < bound
            found = model.torque(t, np.zeros(3), q)
            assert max(abs(float(a - b)) for a, b in zip(f, found, strict=True)) < bound
            matrix = np.array([[float(x) for x in row] for row in Q])
            close(model.torque(t, np.zeros(3), matrix), found, atol=bound)
            close(model.potential(t, matrix), model.potential(t, q), atol=bound)


@pytest.mark.parametrize("name", [name for name in MODIFIED if name in EXACT])
def test_derivative_of_the_torque(name: str) -> None:
    model, t, v = MODELS[name], 1.3, np.array([0.7, -0.2, 0.5])
    with mp.workdps(40):
        for q in attitudes()[:2]:
            Q = rotation(q)
            found = model.derivative(t, v, q)
            for k in range(3):
                rate = mp.diff(
                    lambda s, Q=Q, k=k: exact_torque(
                        name, turned(Q, [s * x for x in vec(v)]), mp.mpf(t)
                    )[k],
                    0,
                )
                bound = 16 * EPS * steepness(name, Q, 3)
                assert abs(float(rate - mp.mpf(float(found[k])))) < bound


@pytest.mark.parametrize("name", ["space", "samples_space", "body", "samples"])
def test_derivative_of_a_given_torque(name: str) -> None:
    model, v, t = MODELS[name], np.array([0.7, -0.2, 0.5]), 0.6
    f = model.torque(t, np.zeros(3), Q0)
    expected = np.cross(f, v) if "space" in name else np.zeros(3)
    close(model.derivative(t, v, Q0), expected, atol=4 * EPS)


# The vessel -------------------------------------------------------------------------------------


def vessel(**changes: Any) -> Any:
    v = DATA["vessel"]
    arguments = {"mass": v["mv"], "gm_l": v["GML"], "gm_t": v["GMT"], "gravity": v["g"]}
    return torques.Vessel(**{**arguments, **changes})


def test_undamped_vessel() -> None:
    v = DATA["vessel"]
    end = v["undamped"][2]
    n = 50 * round(end["t"])
    traj = ph.integrate(
        v["T"], v["m0"], v["q0"], end["t"] / n, n, torque=vessel(), splitting="rkn6_14",
        save_every=n,
    )  # fmt: skip
    m, q = (np.array(end[k], float) for k in "mq")
    # The motion multiplies rounding: 1e-16 at the start is 3e-12 at t = 60.
    assert np.linalg.norm(traj.m[-1] - m) < 1e-9 * np.linalg.norm(m)
    assert np.abs(traj.q[-1] - q).max() < 1e-9
    assert np.ptp(traj.energy()) < 1e-10 * traj.energy()[0]


# Conservation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n in POTENTIAL if n not in ("vessel", "eccentric", "dipole_samples")]
)
def test_conserved(name: str) -> None:
    model = MODELS[name]
    # Splitting errors: order 6, some 60 steps per turn of the fastest motion.
    traj = ph.integrate(
        INERTIA, M0, Q0, 0.02, 1000, torque=model, splitting="rkn6_14", save_every=10
    )
    energy, L = traj.energy(), traj.momentum_spatial()
    if name == "gradient":
        normal = np.array(GRADIENT["normal"]) / np.linalg.norm(GRADIENT["normal"])
        assert np.ptp(energy) > 1e-3
        energy = energy - 0.7 * L @ normal
    else:
        up = U0 if name in ("heavy_top", "dipole") else np.array([0.0, 0.0, 1.0])
        assert np.ptp(L @ up) < 2e-13
        assert np.ptp(L[:, 0]) > 1e-2
    assert np.ptp(energy) < 2e-9 if name in ("printed", "physical") else np.ptp(energy) < 2e-12


def test_constant_torque_in_space_moves_the_momentum_evenly() -> None:
    traj = ph.integrate(INERTIA, M0, Q0, 0.1, 200, torque=MODELS["space"])
    L = traj.momentum_spatial()
    # The trapezoidal sums of the scheme miss the turn of the body within a step by order h^2, but
    # each kick is Q^T c: their sum in space is exact.
    close(L, L[0] + U0 * traj.t[:, None], atol=1e-12)


# Kicks of the damped vessel ---------------------------------------------------------------------


def kicked(torque: Any, h: float, inertia: Any = INERTIA) -> tuple[Array, Array, Array]:
    """m before a kick of length h, m after it, and the attitude."""
    traj = ph.integrate(inertia, M0, Q0, h, 1, torque=torque, splitting=([1.0], [1.0]))
    free = ph.integrate(inertia, M0, Q0, h, 1, splitting=([1.0], [1.0]))
    np.testing.assert_array_equal(traj.q[1], free.q[1])
    return free.m[1], traj.m[1], traj.q[1]


def exact_kick(m: Array, q: Array, h: float, D: Any, axes: Any = None) -> list[Number]:
    """The flow of m' = K m + f through an exponential of a matrix of 4 by 4."""
    A = mp.matrix(np.eye(3).tolist() if axes is None else axes.tolist())
    S = A * mp.diag([mp.mpf(1.5), mp.mpf(0.4), 0]) * A.T
    u = mp.matrix(to_body(rotation(q), [0, 0, 1]))
    f = cross(u, S * u)
    K = -(A * mp.diag(vec(D)) * A.T) * mp.diag([1 / x for x in vec(INERTIA)])
    whole = mp.zeros(4)
    for i in range(3):
        whole[i, 3] = f[i]
        for k in range(3):
            whole[i, k] = K[i, k]
    return list((mp.expm(whole * mp.mpf(h)) * mp.matrix([*vec(m), 1]))[:3])


@pytest.mark.parametrize("h", [0.01, 0.3, 2.0, 40.0, -1.0])
@pytest.mark.parametrize("damping", [[0.3, 0.0, 0.8], [1e-9, 2.0, 5.0]], ids=["zero", "small"])
@pytest.mark.parametrize("turned_axes", [False, True], ids=["own", "turned"])
def test_exact_kick(h: float, damping: Any, turned_axes: bool) -> None:
    axes = ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 0.3])) if turned_axes else None
    model = torques.Vessel(**SHIP, damping=damping, axes=axes)
    m, found, q = kicked(model, h)
    with mp.workdps(40):
        exact = exact_kick(m, q, h, damping, axes)
        size = max(float(abs(x)) for x in exact) + 1 + abs(h)
        error = max(abs(float(a - b)) for a, b in zip(exact, found, strict=True))
    # Twice a matrix of order 1 where the axes are turned.
    assert error < 16 * EPS * size


def test_a_sum_with_one_torque_of_m_kicks_exactly() -> None:
    damped = torques.Vessel(**SHIP, damping=[2.0, 2.0, 2.0])
    parts = [torques.Vessel(**SHIP), torques.Damping([2.0, 2.0, 2.0]), torques.Constant(U0)]
    exact = kicked([damped, torques.Constant(U0)], 0.5)[1]
    close(kicked(parts, 0.5)[1], exact, atol=4 * EPS)
    body = ph.RigidBody.from_moments(INERTIA, axes=ph.so3.to_matrix(Q0), physical=False)
    one, three = (
        body.integrate(M0, Q0, 0.5, 1, torque=torque).m[1]
        for torque in ([damped, torques.Constant(U0)], parts)
    )
    close(one, three, atol=8 * EPS)
    # Two models of m: also exact.  With a function of m: a step of Runge-Kutta.
    close(kicked([*parts, torques.Damping(0.0)], 0.5)[1], exact, atol=4 * EPS)
    two = kicked([*parts, torques.Function(lambda m: 0 * m)], 0.5)[1]
    assert 1e-5 < np.abs(exact - two).max() < 1e-2
    for torque, splitting in ((damped, "rkn6_14"), ([damped], "rkn6_14")):
        with pytest.raises(ValueError, match="does not depend on m"):
            ph.integrate(INERTIA, M0, Q0, 0.1, 1, torque=torque, splitting=splitting)


def test_damping_off() -> None:
    for damping in (None, [0.0, 0.0, 0.0]):
        model = torques.Vessel(**SHIP, damping=damping)
        assert not model.depends_on_m
        ph.integrate(INERTIA, M0, Q0, 0.1, 1, torque=model, splitting="rkn6_14")
    none = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=torques.Vessel(**SHIP))
    hardly = torques.Vessel(**SHIP, damping=[1e-300] * 3)
    little = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=hardly)
    close(little.m, none.m, atol=1e-14)
    energy = ph.integrate(
        INERTIA, M0, Q0, 0.1, 200, torque=torques.Vessel(**SHIP, damping=[0.3, 0.3, 0.3])
    ).energy()
    assert energy[-1] < 0.1 * energy[0]


def test_a_kick_beyond_all_doubles_is_nan() -> None:
    # Backwards through strong damping: e^1000.
    model = torques.Vessel(**SHIP, damping=[1000.0, 1000.0, 1000.0])
    with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN"):
        assert np.isnan(kicked(model, -1.0, [1.0, 1.0, 1.0])[1]).all()


# Batches, axes, sums ----------------------------------------------------------------------------


def bodies(n: int) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    q = rng.standard_normal((n, 4))
    return {"m0": rng.standard_normal((n, 3)), "q0": q / np.linalg.norm(q, axis=1, keepdims=True)}


def scaled(name: str, factor: Any) -> Any:
    """The model with a torque `factor` times as strong."""
    f = np.asarray(factor, float)
    v = f[..., None]
    return {
        "heavy_top": lambda: torques.HeavyTop(v * U0, AXIS),
        "lagrange_top": lambda: torques.LagrangeTop(1.7 * f),
        "printed": lambda: torques.SoftWall("printed", AXIS, f, 0.01 * f),
        "physical": lambda: torques.SoftWall("physical", charge=0.7 * f, wall=0.02 * f),
        "gradient": lambda: torques.GravityGradient(**GRADIENT, inertia=v * INERTIA),
        "restoring": lambda: torques.Vessel(**{**SHIP, "mass": 0.5 * f}),
        "vessel": lambda: torques.Vessel(
            **{**SHIP, "mass": 0.5 * f}, damping=v * DAMPING, inertia=INERTIA
        ),
        "dipole": lambda: torques.Dipole(v * AXIS, U0),
        "body": lambda: torques.Constant(v * U0),
        "space": lambda: torques.Constant(v * U0, "space"),
        "samples": lambda: torques.Prescribed(SAMPLES.reshape(4, *[1] * f.ndim, 3) * v, TIMES),
        "samples_space": lambda: torques.Prescribed(
            SAMPLES.reshape(4, *[1] * f.ndim, 3) * v, TIMES, "space"
        ),
        "dipole_samples": lambda: torques.Dipole(v * AXIS, SAMPLES, TIMES),
        "damping": lambda: torques.Damping(v * DAMPING, inertia=INERTIA),
        "coupled": lambda: torques.Damping(v[..., None] * FRICTION, inertia=INERTIA),
        "damping_space": lambda: torques.Damping(v[..., None] * FRICTION, "space", inertia=INERTIA),
        "rotors": lambda: torques.Gyrostat(v * U0, inertia=INERTIA),
        "rotor_samples": lambda: torques.Gyrostat(
            SAMPLES.reshape(4, *[1] * f.ndim, 3) * v, TIMES, inertia=INERTIA
        ),
        "b_dot": lambda: torques.BDot(0.8 * f, SAMPLES, TIMES, inertia=INERTIA),
        "eccentric": lambda: torques.GravityGradient(orbit=ORBIT, inertia=v * INERTIA),
        "tabulated": lambda: torques.GravityGradient(
            orbit=MODELS["tabulated"].orbit, inertia=v * INERTIA
        ),
    }[name]()


@pytest.mark.parametrize("matrix", [False, True], ids=["quaternion", "matrix"])
@pytest.mark.parametrize("name", MODELS)
def test_parameters_broadcast_and_bodies_do_not_touch_each_other(name: str, matrix: bool) -> None:
    n = 300
    start = bodies(n)
    start["m0"][7, 1] = np.nan
    if matrix:
        start["q0"] = ph.so3.to_matrix(start["q0"])
    factor = np.linspace(0.5, 1.5, n)
    whole = ph.integrate(INERTIA, **start, h=0.1, n_steps=5, torque=scaled(name, factor))
    threaded = ph.integrate(
        INERTIA, **start, h=0.1, n_steps=5, torque=scaled(name, factor), threads=2
    )
    np.testing.assert_array_equal(threaded.m, whole.m)
    assert np.isnan(whole.m[1:, 7]).all()
    assert np.isfinite(np.delete(whole.m, 7, axis=1)).all()
    for k in (0, 6, 8, 127, 128, 299):
        one = ph.integrate(
            INERTIA, start["m0"][k], start["q0"][k], 0.1, 5, torque=scaled(name, factor[k])
        )
        np.testing.assert_array_equal(one.m, whole.m[:, k])
        np.testing.assert_array_equal(one.q, whole.q[:, k])


@pytest.mark.parametrize("scale", [2.0**-480, 2.0**480], ids=["tiny", "huge"])
@pytest.mark.parametrize("name", MODELS)
def test_units_may_have_any_size(name: str, scale: float) -> None:
    # Mass in units 2^480 (3e144) times larger or smaller: the same numbers bit for bit.
    ours = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=scaled(name, 1.0))
    model = scaled(name, scale)
    if model.depends_on_m:
        model = type(model)(**{**model.arguments(), "inertia": None})
    theirs = ph.integrate(scale * INERTIA, scale * M0, Q0, 0.1, 10, torque=model)
    np.testing.assert_array_equal(theirs.m, scale * ours.m)
    np.testing.assert_array_equal(theirs.q, ours.q)


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("name", MODELS)
def test_own_axes_are_rotated_by_hand(name: str, many: bool) -> None:
    angles = np.array([[0.4, -0.9, 0.3], [0.1, 0.2, -1.0]]) if many else np.array([0.4, -0.9, 0.3])
    A = ph.so3.to_matrix(ph.so3.exp(angles))
    moments = INERTIA * np.ones((*A.shape[:-2], 1))
    body = ph.RigidBody.from_moments(moments, axes=A, physical=False)
    model = MODELS[name]
    if name in OF_INERTIA:
        model = type(model)(**{**model.arguments(), "inertia": None})
    own = body.integrate(M0, Q0, 0.05, 40, torque=model, splitting="s6")
    bound = model.with_inertia(tensor=body.tensor)

    def by_hand(t: float, m: Array, q: Array) -> Array:
        user = ph.so3.multiply(q, ph.so3.conjugate(ph.so3.to_quaternion(A)))
        f = bound.torque(t, np.einsum("...ij,...j->...i", A, m), user)
        return np.einsum("...ji,...j->...i", A, f)

    torque = torques.Function(by_hand, depends_on_m=model.depends_on_m)
    q0 = ph.so3.multiply(Q0, ph.so3.to_quaternion(A))
    m0 = np.einsum("...ji,j->...i", A, M0)
    hand = ph.integrate(moments, m0, q0, 0.05, 40, torque=torque, splitting="s6")
    # By hand a torque of m is a step of Runge-Kutta: (0.04)^5/120 each.
    atol = 1e-8 if model.depends_on_m else 1e-13
    close(own.m, np.einsum("...ij,...j->...i", A, hand.m), atol=atol)
    if model.has_potential and not model.depends_on_t:
        assert np.ptp(own.energy(), axis=0).max() < (1.0 if name == "vessel" else 5e-3)


def test_a_list_is_the_sum() -> None:
    parts = [m for m in MODELS.values() if not m.depends_on_m]
    core = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=parts)

    def total(t: float, m: Array, q: Array) -> Array:
        return np.sum([part.torque(t, m, q) for part in parts], axis=0)

    python = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=total)
    close(core.m, python.m, atol=1e-12)
    assert len(parts) == len(MODELS) - 7
    all_parts = [*parts, MODELS["vessel"]]
    core = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=all_parts)
    python = ph.integrate(INERTIA, M0, Q0, 0.1, 10, torque=[*all_parts[:-1], all_parts[-1].torque])
    assert np.abs(core.m - python.m).max() < 0.1


@pytest.mark.parametrize("name", MODELS)
def test_representation_holds_the_arguments(name: str) -> None:
    model = MODELS[name]
    spaces = {k: getattr(torques, k) for k in torques.__all__}
    again = eval(repr(model), spaces)
    np.testing.assert_array_equal(again.numbers(), model.numbers())


def test_inertia_is_that_of_the_integration() -> None:
    for kind, arguments in (
        (torques.GravityGradient, GRADIENT),
        (torques.Vessel, {**SHIP, "damping": DAMPING}),
    ):
        unknown = kind(**arguments)
        known = kind(**arguments, inertia=INERTIA)
        with pytest.raises(ValueError, match="moments of inertia"):
            unknown.torque(0.0, M0, Q0)
        a, b = (ph.integrate(INERTIA, M0, Q0, 0.1, 5, torque=t) for t in (unknown, known))
        np.testing.assert_array_equal(a.m, b.m)
        np.testing.assert_array_equal(a.energy(), b.energy())
        tensor = kind(**arguments, tensor=np.diag(INERTIA))
        np.testing.assert_array_equal(tensor.torque(0.5, M0, Q0), known.torque(0.5, M0, Q0))


def test_orbit_from_its_elements() -> None:
    mu, radius = 3.986004418e14, 7.0e6
    model = torques.GravityGradient.circular(mu, radius, 1.1, 0.4, 0.7, inertia=INERTIA)
    n = np.sqrt(mu / radius**3)
    node, i = 0.4, 1.1
    for t in (0.0, 500.0):
        u = 0.7 + n * t
        r = [
            np.cos(node) * np.cos(u) - np.sin(node) * np.sin(u) * np.cos(i),
            np.sin(node) * np.cos(u) + np.cos(node) * np.sin(u) * np.cos(i),
            np.sin(u) * np.sin(i),
        ]
        expected = 3 * n**2 * np.cross(r, INERTIA * r)
        found = model.torque(t, M0, [1.0, 0.0, 0.0, 0.0])
        close(found, expected, atol=1e-14 * 3 * n**2)


# Prescribed torques and momenta -----------------------------------------------------------------


@pytest.mark.parametrize("frame", ["body", "space"])
def test_samples_are_interpolated_linearly(frame: str) -> None:
    model = torques.Prescribed(SAMPLES, TIMES, frame)
    for t in (-1.0, 0.0, 0.2, 0.5, 0.6, 0.7, 1.0, 1.999, 2.0, 3.0):
        f = np.array([np.interp(t, TIMES, SAMPLES[:, k]) for k in range(3)])
        expected = f if frame == "body" else ph.so3.rotate(ph.so3.conjugate(Q0), f)
        close(model.torque(t, M0, Q0), expected, atol=4 * EPS)
    function = torques.Prescribed(
        lambda t: [np.interp(t, TIMES, SAMPLES[:, k]) for k in range(3)], frame=frame
    )
    a, b = (ph.integrate(INERTIA, M0, Q0, 0.11, 20, torque=x) for x in (model, function))
    close(a.m, b.m, atol=1e-14)
    constant = torques.Prescribed(SAMPLES[:1], TIMES[:1])
    np.testing.assert_array_equal(constant.torque(5.0, M0, Q0), SAMPLES[0])


def test_piecewise_polynomials() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    spline = interpolate.CubicSpline(TIMES, SAMPLES)
    inside = interpolate.CubicSpline(TIMES, SAMPLES, extrapolate=False)
    for t in (-0.3, 0.0, 0.3, 0.7, 1.9, 2.0, 2.4):
        found = torques.Prescribed(spline).torque(t, M0, Q0)
        close(found, spline(t), atol=64 * EPS)
    assert np.isnan(torques.Prescribed(inside).torque(2.1, M0, Q0)).all()
    assert np.isnan(torques.Prescribed(inside).torque(-0.1, M0, Q0)).all()
    many = interpolate.PchipInterpolator(TIMES, SAMPLES[:, None] * np.ones((2, 1)))
    assert torques.Prescribed(many).torque(0.3, M0, Q0).shape == (2, 3)
    with pytest.raises(ValueError, match="degree"):
        torques.Prescribed(interpolate.PPoly(np.ones((5, 2, 3)), [0, 1, 2]))
    with pytest.raises(ValueError, match="periodic"):
        torques.Prescribed(interpolate.PPoly(np.ones((2, 2, 3)), [0, 1, 2], "periodic"))
    with pytest.raises(TypeError, match="times must be None: values is a piecewise polynomial"):
        torques.Prescribed(spline, TIMES)


def test_spatial_momentum() -> None:
    given = torques.SpatialMomentum(
        lambda t: [np.cos(t), np.sin(t), 1.0], lambda t: [-np.sin(t), np.cos(t), 0.0]
    )
    ends = []
    for n in (40, 80):
        traj = ph.integrate(
            INERTIA, ph.so3.rotate(ph.so3.conjugate(Q0), given.L(0.0)), Q0, 2 / n, n, torque=given
        )
        ends.append(np.abs(traj.momentum_spatial()[-1] - given.L(2.0)).max())
    # Trapezoidal sums of L': order 2.
    assert ends[0] < 1e-3
    assert 3.9 < ends[0] / ends[1] < 4.1
    with pytest.raises(ValueError, match="derivative"):
        torques.SpatialMomentum(given.L).torque(0.0, M0, Q0)


# Compiled torques -------------------------------------------------------------------------------

SOURCE = """
#include <stdint.h>
/* the heavy top, its weight scaled by body where there is data */
void top(int64_t n, int64_t first, int64_t stride, double t, const double *m, const double *q,
         double *f, void *data) {
    const double u[3] = {0.2, -0.1, 0.4};
    for (int64_t i = 0; i < n; ++i) {
        double s = data ? ((const double *)data)[first + i] : 1.0;
        double w = q[i], x = q[stride + i], y = q[2 * stride + i], z = q[3 * stride + i];
        double a = u[1] * z - u[2] * y, b = u[2] * x - u[0] * z, c = u[0] * y - u[1] * x;
        f[i] = s * (u[1] + 2 * (w * b + c * x - a * z));
        f[stride + i] = -s * (u[0] + 2 * (w * a + b * z - c * y));
        f[2 * stride + i] = 0;
    }
}
void top_matrix(int64_t n, int64_t first, int64_t stride, double t, const double *m,
                const double *Q, double *f, void *data) {
    const double u[3] = {0.2, -0.1, 0.4};
    for (int64_t i = 0; i < n; ++i) {
        const double *P = Q + i;
        f[i] = u[0] * P[stride] + u[1] * P[4 * stride] + u[2] * P[7 * stride];
        f[stride + i] = -(u[0] * P[0] + u[1] * P[3 * stride] + u[2] * P[6 * stride]);
        f[2 * stride + i] = 0;
    }
}
void damping(int64_t n, int64_t first, int64_t stride, double t, const double *m,
             const double *q, double *f, void *data) {
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < 3; ++k) f[k * stride + i] = -0.8 * (k + 1) * m[k * stride + i] + t;
}
"""
POINTER = ctypes.POINTER(ctypes.c_double)
ARGUMENTS = [*[ctypes.c_int64] * 3, ctypes.c_double, POINTER, POINTER, POINTER, ctypes.c_void_p]
TOP = torques.HeavyTop(U0)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    source, target = folder / "torques.c", folder / "torques.so"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", target, source], check=True)
    lib = ctypes.CDLL(str(target))
    for name in ("top", "top_matrix", "damping"):
        getattr(lib, name).argtypes = ARGUMENTS
        getattr(lib, name).restype = None
    return lib


def test_compiled_torque(library: ctypes.CDLL) -> None:
    start = bodies(300)
    model = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=TOP)
    for torque in (library.top, torques.Compiled(library.top, attitude="quaternion")):
        own = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=torque)
        close(own.m, model.m, atol=1e-13)
        threaded = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=torque, threads=2)
        np.testing.assert_array_equal(threaded.m, own.m)
    one = ph.integrate(INERTIA, start["m0"][7], start["q0"][7], 0.1, 20, torque=library.top)
    np.testing.assert_array_equal(one.m, own.m[:, 7])
    compiled = torques.Compiled(library.top, potential=TOP.potential)
    traj = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=compiled, splitting="rkn6_14")
    assert np.ptp(traj.energy()) < 1e-9
    f = compiled.torque(0.0, np.zeros((200, 1, 3)), start["q0"])
    close(f, TOP.torque(0.0, np.zeros((200, 1, 3)), start["q0"]), atol=4 * EPS)


def test_compiled_torque_of_matrices(library: ctypes.CDLL) -> None:
    start = bodies(150)
    start["q0"] = ph.so3.to_matrix(start["q0"])
    model = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=TOP)
    own = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=library.top_matrix)
    close(own.m, model.m, atol=1e-13)
    torque = torques.Compiled(library.top, attitude="quaternion")
    with pytest.raises(ValueError, match="form 'quaternion'"):
        ph.integrate(INERTIA, **start, h=0.1, n_steps=1, torque=torque)


def test_compiled_torque_with_data_of_each_body(library: ctypes.CDLL) -> None:
    scipy = pytest.importorskip("scipy")
    n = 301
    scale = np.linspace(0.5, 1.5, n)
    callable_ = scipy.LowLevelCallable(library.top, user_data=scale.ctypes.data_as(ctypes.c_void_p))
    start = bodies(n)
    model = ph.integrate(
        INERTIA, **start, h=0.1, n_steps=20, torque=torques.HeavyTop(scale[:, None] * U0)
    )
    own = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=callable_, threads=2)
    close(own.m, model.m, atol=1e-13)
    plain = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=scipy.LowLevelCallable(library.top))
    close(plain.m, ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=TOP).m, atol=1e-13)


def test_compiled_torque_of_m_and_in_sums(library: ctypes.CDLL) -> None:
    damping = torques.Compiled(library.damping, depends_on_m=True)

    def python(t: float, m: Array, q: Array) -> Array:
        return -0.8 * np.array([1.0, 2.0, 3.0]) * m + t

    own = torques.Function(python)
    for extra in ([], [TOP]):
        core, slow = (
            ph.integrate(INERTIA, **bodies(3), h=0.1, n_steps=20, torque=[*extra, t])
            for t in (damping, own)
        )
        close(core.m, slow.m, atol=1e-13)
    with pytest.raises(ValueError, match="does not depend on m"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 1, torque=damping, splitting="rkn6_14")


@pytest.mark.parametrize("matrix", [False, True], ids=["quaternion", "matrix"])
def test_compiled_torque_in_own_axes(library: ctypes.CDLL, matrix: bool) -> None:
    A = ph.so3.to_matrix(ph.so3.exp([[0.4, -0.9, 0.3], [0.1, 0.2, -1.0]]))
    body = ph.RigidBody.from_moments(INERTIA * np.ones((2, 1)), axes=A, physical=False)
    q0 = ph.so3.to_matrix(Q0) if matrix else Q0
    own = body.integrate(M0, q0, 0.1, 20, torque=library.top_matrix if matrix else library.top)
    model = body.integrate(M0, q0, 0.1, 20, torque=TOP)
    close(own.m, model.m, atol=1e-13)
    damping = torques.Compiled(library.damping, depends_on_m=True)

    def python(t: float, m: Array, q: Array) -> Array:
        return -0.8 * np.array([1.0, 2.0, 3.0]) * m + t

    a, b = (body.integrate(M0, q0, 0.1, 20, torque=t) for t in (damping, torques.Function(python)))
    close(a.m, b.m, atol=1e-13)


def test_numba_torque() -> None:
    numba = pytest.importorskip("numba")
    ty = numba.types
    array = ty.CPointer(ty.float64)

    @numba.cfunc(ty.void(ty.int64, ty.int64, ty.int64, ty.float64, array, array, array, ty.voidptr))
    def top(n, first, stride, t, m, attitude, torque, user_data):  # type: ignore[no-untyped-def]
        q = numba.carray(attitude, (4, stride))
        f = numba.carray(torque, (3, stride))
        for i in range(n):
            f[0, i] = 0.2 * (q[2, i] * q[3, i] + q[0, i] * q[1, i])
            f[1, i] = -0.2 * (q[1, i] * q[3, i] - q[0, i] * q[2, i])
            f[2, i] = 0.0

    start = bodies(150)
    model = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=torques.HeavyTop([0, 0, 0.1]))
    torque_kinds = [top, top.ctypes]
    scipy = pytest.importorskip("scipy")
    torque_kinds.append(scipy.LowLevelCallable(top.ctypes))
    for torque in torque_kinds:
        own = ph.integrate(INERTIA, **start, h=0.1, n_steps=20, torque=torque, threads=2)
        close(own.m, model.m, atol=1e-13)

    @numba.cfunc(ty.float64(ty.float64))
    def wrong(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(ValueError, match="signature void"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 1, torque=wrong)


def test_signatures_are_checked(library: ctypes.CDLL) -> None:
    unknown = ctypes.CDLL(library._name).damping
    with pytest.raises(ValueError, match="set its argtypes"):
        torques.Compiled(unknown)
    for arguments, result in (
        (ARGUMENTS[:-1], None),
        (ARGUMENTS, ctypes.c_int),
        ([ctypes.c_int32, *ARGUMENTS[1:]], None),
        ([*ARGUMENTS[:4], ctypes.POINTER(ctypes.c_float), *ARGUMENTS[5:]], None),
    ):
        unknown.argtypes, unknown.restype = arguments, result
        with pytest.raises(ValueError, match="signature void"):
            ph.integrate(INERTIA, M0, Q0, 0.1, 1, torque=unknown)
        scipy = pytest.importorskip("scipy")
        with pytest.raises(ValueError, match="signature void"):
            torques.Compiled(scipy.LowLevelCallable(unknown))
    for wrong in (abs, "top", 3):
        with pytest.raises(TypeError, match="ctypes function pointer"):
            torques.Compiled(wrong)
    with pytest.raises(ValueError, match="attitude must"):
        torques.Compiled(library.top, attitude="euler")


def test_a_callback_of_ctypes_is_a_compiled_torque() -> None:
    def f(n: int, first: int, stride: int, t: float, m: Any, q: Any, out: Any, data: Any) -> None:
        columns = np.ctypeslib.as_array(out, (3, stride))
        columns[:, :n] = np.array([[0.1], [0.2], [0.3]])

    kind = ctypes.CFUNCTYPE(None, *ARGUMENTS)
    own = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=kind(f))
    model = ph.integrate(INERTIA, M0, Q0, 0.1, 20, torque=torques.Constant([0.1, 0.2, 0.3]))
    close(own.m, model.m, atol=1e-13)


# Arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: torques.LagrangeTop(np.nan), "weight = nan"),
        (lambda: torques.SoftWall("neither"), "reading must be"),
        (lambda: torques.SoftWall(axis=[1.0, 2.0]), "axis"),
        (lambda: torques.GravityGradient(1.0, normal=[0, 0, 0]), "normal must not be zero"),
        (lambda: torques.GravityGradient(1.0, [0, 0, 3], [0, 0, 1]), "not normal to"),
        (lambda: torques.GravityGradient(1.0, inertia=[1.0, -2.0, 3.0]), "inertia"),
        (lambda: torques.GravityGradient(1.0, tensor=np.arange(9.0).reshape(3, 3)), "symmetric"),
        (lambda: torques.Vessel(1.0, 1.0, 1.0, damping=[1.0, -1.0, 0.0]), "must not be negative"),
        (lambda: torques.Vessel(1.0, 1.0, np.inf), "gm_t"),
        (lambda: torques.Vessel(1.0, 1.0, 1.0, axes=np.ones((3, 3))), "axes"),
        (lambda: torques.Damping([1.0, -1.0, 1.0]), r"-1.*must not be negative"),
        (lambda: torques.Damping(-FRICTION), "positive semidefinite"),
        (lambda: torques.Damping(np.arange(9.0).reshape(3, 3)), "D must be symmetric"),
        (lambda: torques.Damping([1.0, 1.0]), "D must have"),
        (lambda: torques.Gyrostat([[1, 2, 3]], [0.0, 1.0]), "h .* fit together"),
        (lambda: torques.Gyrostat([1, 2, np.nan]), r"h\[2\] = nan"),
        (lambda: torques.Orbit(-1.0, [1, 0, 0], [0, 1, 0]), "mu = -1.0: must be positive"),
        (lambda: torques.Orbit(1.0, [1, 0, 0], [0, 2, 0]), "not an ellipse"),
        (lambda: torques.Orbit(1.0, [1, 0, 0], [0.5, 0, 0]), "not an ellipse"),
        (lambda: torques.Orbit(1.0, [0, 0, 0], [0, 1, 0]), r"position = \[0.0, .* not be zero"),
        (lambda: torques.Orbit(1.0, [[1, 0, 0]], [[0, 1, 0]], [0.0]), "fit together"),
        (lambda: torques.Dipole(np.ones((2, 3)), np.ones((3, 3))), "broadcast|shapes"),
        (lambda: torques.Constant([1, 2, 3], "inertial"), "frame must be"),
        (lambda: torques.Prescribed([[1, 2, 3]], [0.0, 1.0]), "fit together"),
        (lambda: torques.Prescribed([[1, 2, 3]] * 3, [0.0, 1.0, 1.0]), "ascend"),
        (lambda: torques.Prescribed([[1, 2, np.nan]], [0.0]), "finite"),
        (lambda: torques.Constant([1, np.inf, 0]), r"\w+\[1\] = inf: must be finite"),
    ],
)
def test_bad_values(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: torques.Prescribed([[1, 2, 3]]), "times is missing"),
        (lambda: torques.Prescribed(lambda t: [1, 2, 3], [0.0]), "times must be None"),
        (lambda: torques.GravityGradient(1.0, inertia=INERTIA, tensor=np.eye(3)), "not both"),
        (lambda: torques.SpatialMomentum([1, 2, 3]), "function of time"),
        (lambda: torques.Constant("abc"), "value"),
        (torques.GravityGradient, "mean_motion or orbit"),
        (lambda: torques.GravityGradient(1.0, orbit=ORBIT), "give orbit or mean_motion"),
    ],
)
def test_bad_types(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_a_spline_holds_at_both_ends_of_its_interval() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    spline = interpolate.CubicSpline([0.0, 1.0], [[1, 2, 3], [2, 0, 1]], extrapolate=False)
    force = torques.Prescribed(spline)
    for t in (0.0, 0.3, 1.0):
        close(force.torque(t, np.zeros(3), [1, 0, 0, 0]), spline(t), atol=1e-15)
    for t in (-0.01, 1.01):
        assert np.isnan(force.torque(t, np.zeros(3), [1, 0, 0, 0])).all()
    traj = ph.integrate([1, 2, 3], [0, 0, 1], [1, 0, 0, 0], 0.1, 10, torque=force)
    assert np.isfinite(traj.m).all()


def test_the_coupled_kick_errs_by_chance_only() -> None:
    # No damping to speak of, in skew axes: the energy is that of the undamped ship.
    axes = ph.so3.to_matrix(ph.so3.exp([0.3, -0.8, 0.5]))
    ship = torques.Vessel(2.0, 0.1, 0.05, damping=[1e-30, 0.0, 0.0], axes=axes)
    traj = ph.integrate(
        [1.3, 2.1, 0.9], [0.4, -0.7, 1.1], [1, 0, 0, 0], 0.001, 10_000, torque=ship,
        splitting="mclachlan6_9", save_every=1000,
    )  # fmt: skip
    # X X^-1 m in place of m erred by 8e-12, the same way each time.
    assert np.abs(traj.energy() / traj.energy()[0] - 1).max() < 2e-13


def test_a_null_pointer_is_refused() -> None:
    import ctypes

    double_p = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_double, double_p, double_p,
        double_p, ctypes.c_void_p,
    )  # fmt: skip
    with pytest.raises(ValueError, match="null pointer"):
        torques.Compiled(kind(0))

"""Bodies that move and rotate: integrate(..., mass=, x0=, p0=)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from compare import close
from numpy.testing import assert_array_equal
from scipy.integrate import solve_ivp

import polhode as ph

N = 3
RANDOM = np.random.default_rng(5)
INERTIA = np.array([[1.0, 1.5, 2.2], [0.4, 0.4, 0.4], [0.0, 2.0, 2.0]])  # the last is a rod
MASS = np.array([1.0, 2.0, 0.5])
X0, P0 = RANDOM.normal(size=(2, N, 3))
M0 = RANDOM.normal(size=(N, 3)) * (INERTIA > 0)
Q0 = RANDOM.normal(size=(N, 4))
Q0 /= np.linalg.norm(Q0, axis=-1, keepdims=True)
ARMS = RANDOM.normal(size=(N, 3))
ARMS[2, 1:] = 0.0  # on the axis of the rod


def pull(x, q):
    """Springs between a point of each body and the points of the others."""
    arms = ph.so3.rotate(q, ARMS)
    points = x + arms
    force = points.sum(axis=-2, keepdims=True) - N * points
    return force, ph.so3.rotate(ph.so3.conjugate(q), np.cross(arms, force))


def potential(t, q, x):
    points = x + ph.so3.rotate(q, ARMS)
    return 0.5 * N * ((points - points.mean(axis=-2)) ** 2).sum(axis=-1)


FORCE = ph.torques.Function(pull, potential=potential)


def run(n, splitting="strang", torque=FORCE, span=2.0, **options):
    arguments = {"mass": MASS, "x0": X0, "p0": P0, "save_every": max(1, n // 4), **options}
    return ph.integrate(
        INERTIA, M0, Q0, span / n, n, torque=torque, splitting=splitting, **arguments
    )


def exact(span=2.0):
    safe = np.where(INERTIA > 0, INERTIA, 1.0)

    def rate(t, y):
        x, p, m = y[: 9 * N].reshape(3, N, 3)
        q = y[9 * N :].reshape(N, 4)
        omega = np.where(INERTIA > 0, m / safe, 0.0)
        force, torque = pull(x, q)
        spin = np.concatenate([np.zeros((N, 1)), omega], axis=-1)
        dq = 0.5 * ph.so3.multiply(q, spin)
        parts = p / MASS[:, None], force, np.cross(m, omega) + torque, dq
        return np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([a.ravel() for a in (X0, P0, M0, Q0)])
    y = solve_ivp(rate, (0.0, span), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return y[: 3 * N].reshape(N, 3), y[3 * N : 6 * N].reshape(N, 3)


@pytest.mark.parametrize(
    ("splitting", "order"), [("strang", 2), ("s6", 4), ("rkn4_6", 4), ("rkn6_14", 6)]
)
def test_against_dop853(splitting, order):
    x, p = exact()
    errors = []
    for n in (40, 80) if order < 6 else (20, 40):
        traj = run(n, splitting)
        errors.append(max(np.abs(traj.x[-1] - x).max(), np.abs(traj.p[-1] - p).max()))
    assert np.log2(errors[0] / errors[1]) > order - 0.4


def test_conserved():
    traj = run(400, "rkn6_14")
    energy = traj.energy().sum(axis=-1)
    close(energy, energy[0], rtol=1e-10)
    close(traj.p.sum(axis=-2), P0.sum(axis=0), atol=1e-13)
    total = (traj.momentum_spatial() + np.cross(traj.x, traj.p)).sum(axis=-2)
    close(total, total[0], atol=1e-12)


def test_free_motion_is_uniform():
    traj = run(7, torque=None, span=3.5, save_every=1)
    uniform = X0 + traj.t[:, None, None] * P0 / MASS[:, None]
    close(traj.x, uniform, rtol=1e-14, atol=1e-14)
    assert_array_equal(traj.p, np.broadcast_to(P0, traj.p.shape))
    assert_array_equal(traj.m, ph.integrate(INERTIA, M0, Q0, 0.5, 7).m)


def test_a_torque_alone_does_not_see_the_translation():
    top = ph.torques.HeavyTop([0.0, 0.0, 0.3])
    a = ph.integrate(INERTIA[:2], M0[:2], Q0[:2], 0.1, 50, torque=top)
    b = ph.integrate(INERTIA[:2], M0[:2], Q0[:2], 0.1, 50, torque=top, mass=2.0, p0=P0[:2])
    close(a.m, b.m, rtol=0, atol=1e-13)  # kicks are joined without a mass
    close(b.x[-1], 5.0 * P0[:2] / 2.0, rtol=1e-13)


def test_a_force_alone_is_a_projectile():
    def weight(p):
        return np.stack([0 * p[..., 0], 0 * p[..., 0], 0 * p[..., 0] - 3.0], axis=-1), 0 * p

    traj = run(8, torque=weight)
    fall = X0 + 2.0 * P0 / MASS[:, None] + [0.0, 0.0, -3.0] * (2.0 / MASS[:, None])
    close(traj.x[-1], fall, rtol=1e-13)


def test_temperature_and_energy_of_free_bodies():
    traj = run(4, torque=None)
    translation, rotation = traj.temperature()
    close(translation, 2 / 9 * 0.5 * (P0**2 / MASS[:, None]).sum(), rtol=1e-14)
    energy = ph.energy(INERTIA, M0).sum()
    close(rotation, 2 / 8 * energy, rtol=1e-13)  # the rod turns about two axes
    close(traj.energy().sum(axis=-1), 4.5 * translation + energy, rtol=1e-13)


@pytest.mark.parametrize("splitting", ["strang", "rkn6_14"])
def test_files_resume_and_callbacks(tmp_path, splitting):
    whole, seen = run(40, splitting), []

    def look(step, t, m, q, x, p):
        seen.append((x.copy(), p.copy()))
        return step == 20

    run(40, splitting, save_to=tmp_path / "run", callback=look)
    rest = ph.resume(tmp_path / "run", FORCE)
    for name in ("m", "q", "x", "p"):
        assert_array_equal(getattr(rest, name), getattr(whole, name))
    assert_array_equal([x for x, _ in seen], whole.x[:3])
    with pytest.raises(ValueError, match=r"torque\[0\] returns"):
        run(40, splitting, torque=lambda x, q: (x, 0 * x), save_to=tmp_path / "run", resume=True)
    longer = ph.resume(tmp_path / "run", FORCE, n_steps=60)
    assert_array_equal(longer.x, run(60, splitting, span=3.0, save_every=10).x)


def test_axes_of_a_tensor():
    body = ph.RigidBody([[2.0, 0.3, 0.1], [0.3, 1.8, -0.2], [0.1, -0.2, 2.5]])
    arm = np.array([0.2, 0.5, -0.3])

    def spring(x, q):
        reach = ph.so3.rotate(q, arm)
        force = -(x + reach)
        return force, ph.so3.rotate(ph.so3.conjugate(q), np.cross(reach, force))

    energy = lambda t, q, x: 0.5 * ((x + ph.so3.rotate(q, arm)) ** 2).sum(axis=-1)  # noqa: E731
    traj = body.integrate(
        M0[0], Q0[0], 0.05, 200, mass=1.5, x0=X0[0], p0=P0[0], splitting="rkn6_14",
        torque=ph.torques.Function(spring, potential=energy),
    )  # fmt: skip
    close(traj.energy(), traj.energy()[0], rtol=1e-8)


DOUBLES = ctypes.POINTER(ctypes.c_double)
KIND = ctypes.CFUNCTYPE(
    None, *[ctypes.c_int64] * 3, ctypes.c_double, *[DOUBLES] * 6, ctypes.c_void_p
)


@KIND
def compiled(n, first, stride, t, x, p, m, attitude, force, torque, data):
    for i in range(n):
        for k in range(3):
            force[k * stride + i] = -x[k * stride + i] - 0.1 * first
            torque[k * stride + i] = 0.5 * attitude[(k + 1) * stride + i]


def same(x, q):
    return -x, 0.5 * q[..., 1:]


def test_a_compiled_function_has_the_bits_of_python():
    free = INERTIA[:2], M0[:2], Q0[:2], 0.05, 40
    bodies = {"mass": MASS[:2], "x0": X0[:2], "p0": P0[:2], "splitting": "s6"}
    one = ph.integrate(*free, torque=same, **bodies)
    two = ph.integrate(*free, torque=compiled, **bodies)
    three = ph.integrate(*free, torque=[ph.torques.Compiled(compiled, independent=True)], **bodies)
    for name in ("m", "q", "x", "p"):
        assert_array_equal(getattr(one, name), getattr(two, name))
        assert_array_equal(getattr(two, name), getattr(three, name))
    half = ph.integrate(*free, torque=[compiled, lambda x: (x, 0 * x)], **bodies)
    close(half.p[-1], P0[:2], rtol=1e-12)  # the forces cancel


@pytest.mark.parametrize("threads", [1, 2])
def test_place_and_threads_do_not_matter(threads):
    n = 300
    m, x, p = np.resize(M0[:2], (n, 3)), np.resize(X0[:2], (n, 3)), np.resize(P0[:2], (n, 3))
    q, inertia = np.resize(Q0[:2], (n, 4)), np.resize(INERTIA[:2], (n, 3))
    mass = np.resize(MASS[:2], n)
    fall = ph.torques.Compiled(compiled)
    traj = ph.integrate(
        inertia, m, q, 0.05, 10, torque=fall, mass=mass, x0=x, p0=p, threads=threads
    )
    alone = ph.integrate(
        INERTIA[:2], M0[:2], Q0[:2], 0.05, 10, torque=fall, mass=MASS[:2], x0=X0[:2], p0=P0[:2]
    )
    for name in ("m", "q", "x", "p"):
        got, one = getattr(traj, name)[-1], getattr(alone, name)[-1]
        assert_array_equal(got[:2], one)
        assert_array_equal(got[-2:], one)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"mass": None}, TypeError, "give their mass"),
        ({"mass": None, "x0": None, "p0": None}, TypeError, "asks for x"),
        ({"mass": [1.0, -1.0, 2.0]}, ValueError, r"mass\[1\]"),
        ({"mass": np.inf}, ValueError, "mass"),
        ({"x0": [1.0, 2.0]}, ValueError, "x0"),
        ({"splitting": None, "method": "rk8"}, ValueError, "'rk8'"),
        ({"splitting": "takahashi_imada"}, ValueError, "takahashi_imada"),
        ({"compensated": True}, ValueError, "compensated"),
        ({"torque": lambda x: x}, TypeError, "must return"),
        ({"torque": lambda x: (x, x, x)}, TypeError, r"\(force, torque\), not tuple of 3"),
        ({"torque": lambda x: (x[0], x)}, ValueError, "force"),
        ({"torque": lambda p: (p, p), "splitting": "rkn4_6"}, ValueError, "rkn4_6"),
    ],
)
def test_refused(options, error, words):
    with pytest.raises(error, match=words):
        run(10, **options)


def test_an_energy_of_all_bodies_is_not_that_of_each():
    whole = ph.torques.Function(pull, potential=lambda t, q, x: potential(t, q, x).sum())
    with pytest.raises(ValueError, match=r"shared by numpy.full\(\(3,\), U / 3\)"):
        run(4, torque=whole).energy()
    shared = ph.torques.Function(
        pull, potential=lambda t, q, x: np.full(N, potential(t, q, x).sum() / N)
    )
    close(run(4, torque=shared).energy().sum(-1), run(4).energy().sum(-1), rtol=1e-13)

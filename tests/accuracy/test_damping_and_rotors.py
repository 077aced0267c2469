"""`Damping` and `Gyrostat`: kicks in 40 digits, closed forms, laws."""

from __future__ import annotations

import functools
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import PPoly

import polhode as ph
from polhode.torques import (
    BDot,
    Constant,
    Damping,
    Dipole,
    Gyrostat,
    InternalDissipation,
    dipole_field,
)

Array = NDArray[np.float64]
EPS = 2.0**-52
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
F = np.array([0.2, -0.1, 0.4])
FRICTION = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, -0.2], [0.0, -0.2, 0.6]])
#: Symmetric, sphere, slender, flat, other orders and sizes.
BODIES = [
    [1.0, 1.5, 2.2], [2.2, 1.0, 1.5], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1e-6, 1.0, 1.0],
    [1.0, 1.0, 2.0 - 1e-10], [1e-47, 3e-47, 2e-47],
]  # fmt: skip


def kicked(torque: Any, h: float, inertia: Any, axes: Any = None) -> tuple[Array, Array, Array]:
    """m before a kick of length h, m after it, and the attitude, a matrix; all in the user axes."""
    scale = np.max(inertia)
    start = scale * M0, Q0, h, 1
    if axes is None:
        integrate = functools.partial(ph.integrate, inertia)
    else:
        integrate = ph.RigidBody.from_moments(inertia, axes=axes, physical=False).integrate
    traj = integrate(*start, torque=torque, splitting=([1.0], [1.0]))
    free = integrate(*start, splitting=([1.0], [1.0]))
    return free.m[1], traj.m[1], ph.so3.to_matrix(traj.q[1])


def exact_kick(A: Any, f: Any, m: Array, h: float) -> Any:
    """The flow of m' = A m + f through an exponential of a matrix of 4 by 4."""
    whole = mp.zeros(4)
    for i in range(3):
        whole[i, 3] = mp.mpf(float(f[i]))
        for k in range(3):
            whole[i, k] = A[i, k]
    return (mp.expm(whole * mp.mpf(h)) * mp.matrix([*map(float, m), 1]))[:3]


def check_kick(torque: Any, A: Any, h: float, inertia: Any, scale: float, axes: Any = None) -> None:
    """A kick by the torque of the matrix A(Q) and a constant torque."""
    f = scale * F
    m, found, Q = kicked([*torque, Constant(f)], h, inertia, axes)
    with mp.workdps(40):
        matrix = A(mp.matrix(Q.tolist()))
        exact = exact_kick(matrix, f, m, h)
        size = 1 + float(mp.mnorm(matrix * h, 1))
        error = max(abs(float(a - b)) for a, b in zip(exact, found, strict=True))
    largest = np.abs(m).max() + np.abs(found).max() + abs(h) * np.abs(f).max()
    assert error < 8 * EPS * size * largest


STEPS = [0.01, 0.7, 30.0, -0.5, 0.0]


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("kind", ["axes", "tensor", "space"])
def test_kick_of_damping(kind: str, h: float) -> None:
    for inertia in BODIES:
        scale = max(inertia)
        D = scale * (np.diag([0.4, 0.0, 0.9]) if kind == "axes" else FRICTION)
        torque = Damping(
            np.diagonal(D) if kind == "axes" else D, "space" if kind == "space" else "body"
        )

        def A(Q: Any, D: Any = D, inertia: Any = inertia) -> Any:
            turned = Q.T * mp.matrix(D.tolist()) * Q if kind == "space" else mp.matrix(D.tolist())
            return -turned * mp.diag([1 / mp.mpf(x) for x in inertia])

        if min(inertia) / scale < 1e-3 and h < 0:
            continue  # e^(5e5)
        check_kick([torque], A, h, inertia, scale)


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("rotor", [[0.5, -2.0, 3.0], [0.0, 0.0, 1e-9], [40.0, 0.0, 0.0], [0, 0, 0]])
def test_kick_of_rotors(rotor: Any, h: float) -> None:
    for inertia in BODIES:
        scale = max(inertia)
        rotors = scale * np.array(rotor, float)
        x, y, z = (mp.mpf(float(v)) for v in rotors)
        A = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]) * mp.diag(
            [1 / mp.mpf(v) for v in inertia]
        )
        check_kick([Gyrostat(rotors)], lambda Q, A=A: A, h, inertia, scale)


def cross_matrix(v: Any) -> Any:
    x, y, z = map(mp.mpf, map(float, v))
    return mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@pytest.mark.parametrize("h", [0.01, 0.1, 30.0, -0.05, 0.0])
@pytest.mark.parametrize("turned", [False, True], ids=["principal", "user axes"])
def test_kick_of_several_linear_torques(h: float, turned: bool) -> None:
    # Stiff damping, wheels, damping in space and coils at once: m' = A(Q) m + f.
    axes = ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 0.3])) if turned else None
    for inertia in BODIES:
        scale = max(inertia)
        if min(inertia) / scale < 1e-3 and h < 0:
            continue  # e^(2e6)
        rotors, field = scale * np.array([0.5, -2.0, 3.0]), np.array([0.2, -0.4, 0.1])
        D = scale * 40.0 * (np.eye(3) + FRICTION)
        torque = [
            Damping(D), Gyrostat(rotors), Damping(scale * FRICTION, "space"), BDot(scale, field)
        ]  # fmt: skip

        def A(
            Q: Any, D: Any = D, inertia: Any = inertia, rotors: Any = rotors, field: Any = field
        ) -> Any:
            scale = mp.mpf(max(inertia))
            inverse = mp.diag([1 / mp.mpf(x) for x in inertia])
            if axes is not None:
                own = mp.matrix(axes.tolist())
                inverse = own * inverse * own.T
            space = scale * (Q.T * mp.matrix(FRICTION.tolist()) * Q)
            b = cross_matrix(Q.T * mp.matrix(field.tolist()))
            return (cross_matrix(rotors) - mp.matrix(D.tolist()) - space + scale * b * b) * inverse

        check_kick(torque, A, h, inertia, scale, axes)


@pytest.mark.parametrize("turned", [False, True], ids=["principal", "user axes"])
def test_linear_torques_of_each_body_and_of_all(turned: bool) -> None:
    """One exponential for bodies that share A: each has the bits of its own integration."""
    axes = ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 0.3])) if turned else np.eye(3)
    body, count = ph.RigidBody.from_moments([1.0, 1.5, 2.2], axes), 140
    m0 = M0 * np.linspace(0.5, 2.0, count)[:, None]
    t = np.linspace(0.0, 1.0, 4)
    wheels = Gyrostat(np.stack([t, 1 - t, t**2], -1), t)
    for D in (np.array([0.4, 0.1, 0.2]), 40.0 * (np.eye(3) + FRICTION)):
        own = np.multiply.outer(2.0 ** (np.arange(count) % 7), D)  # other doublings in each lane
        for shared in (True, False):
            friction = D if shared else own
            some = body.integrate(m0, Q0, 0.05, 15, torque=[Damping(friction), wheels])
            for k in (0, 5, count - 1):
                one = body.integrate(
                    m0[k], Q0, 0.05, 15, torque=[Damping(D if shared else own[k]), wheels]
                )
                np.testing.assert_array_equal(some.m[:, k], one.m)
                np.testing.assert_array_equal(some.q[:, k], one.q)


@pytest.mark.parametrize("splitting", ["strang", "s6"])
@pytest.mark.parametrize("count", [1, 9])
def test_stiff_damping_and_wheels_of_a_sphere(splitting: str, count: int) -> None:
    # No free motion of m: the kicks follow each other.  A Runge-Kutta step would grow.
    rotors, t = np.array([0.4, -2.0, 3.0]), 1.0
    torque = [Damping([40.0, 1.0, 0.1]), Gyrostat(rotors)]
    m0 = np.tile(M0, (count, 1))
    traj = ph.integrate([1.0] * 3, m0, Q0, t / 10, 10, torque=torque, splitting=splitting)
    with mp.workdps(50):
        A = cross_matrix(rotors) - mp.diag([40, 1, mp.mpf(0.1)])
        want = [float(x) for x in exact_kick(A, [0, 0, 0], M0, t)]
    close(traj.m[-1], np.tile(want, (count, 1)), atol=8 * EPS)


@pytest.mark.parametrize(("splitting", "limit"), [("strang", 2.0), ("s6", 2.78)])
def test_a_function_of_m_beside_stiff_damping(splitting: str, limit: float) -> None:
    # A Runge-Kutta step: of its order where it is stable, else NaN with a warning.
    def drag(m: Array) -> Array:
        return -0.1 * m

    start = [1.0] * 3, M0, Q0, 0.1
    longest = max(abs(b) for b in next(s.b for s in ph.splittings() if s.name == splitting)) * 0.1
    stable, unstable = (Damping(x * limit / longest) for x in (0.98, 1.02))
    traj = ph.integrate(*start, 100, torque=[stable, drag], splitting=splitting)
    assert np.linalg.norm(traj.m[-1]) < np.linalg.norm(M0)
    with pytest.warns(RuntimeWarning, match="too long to have a correct digit: 1 body is NaN"):
        traj = ph.integrate(*start, 1, torque=[unstable, drag], splitting=splitting)
    assert np.isnan(traj.m[1]).all()


def test_symmetric_gyrostat() -> None:
    # m turns about axis 3 at the rate w, Q is a precession about the whole momentum and this turn.
    inertia, spin, t = np.array([1.5, 1.5, 0.7]), 5.0, 20.0
    w = M0[2] / 0.7 - (M0[2] + spin) / 1.5
    traj = ph.integrate(
        inertia, M0, Q0, 0.01, 2000, torque=Gyrostat([0, 0, spin]), splitting="mclachlan6_9",
        save_every=2000,
    )  # fmt: skip
    c, s = np.cos(w * t), np.sin(w * t)
    m = [c * M0[0] + s * M0[1], c * M0[1] - s * M0[0], M0[2]]
    close(traj.m[1], m, atol=2e-13)
    momentum = ph.so3.rotate(Q0, [*M0[:2], M0[2] + spin])
    turn = ph.so3.multiply(ph.so3.exp(momentum * t / 1.5), Q0)
    q = ph.so3.multiply(turn, ph.so3.exp([0, 0, w * t]))
    assert 1 - abs(traj.q[1] @ q) < 1e-12
    close(ph.so3.rotate(traj.q[1], traj.m[1] + [0, 0, spin]), momentum, atol=1e-11)


def rotors_by_dop853(h: Any, rate: Any, t: float) -> Array:
    inertia = np.array([1.0, 1.5, 2.2])

    def f(t: float, y: Array) -> Array:
        m, q = y[:3], y[3:]
        w = m / inertia
        return np.r_[np.cross(m + h(t), w) - rate(t), ph.so3.multiply(q, [0.0, *(0.5 * w)])]

    y = solve_ivp(f, (0, t), np.r_[M0, Q0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return np.asarray(y)


@pytest.mark.parametrize(
    ("splitting", "bound"), [("strang", 2e-3), ("s6", 1e-7), ("mclachlan6_9", 1e-9)]
)
def test_strong_wheels(splitting: str, bound: float) -> None:
    h = np.array([0.4, -2.0, 3.0])
    exact = rotors_by_dop853(lambda t: h, lambda t: 0 * h, 1.0)
    traj = ph.integrate([1.0, 1.5, 2.2], M0, Q0, 0.1, 10, torque=Gyrostat(h), splitting=splitting)
    close(np.r_[traj.m[-1], traj.q[-1]], exact, atol=bound)
    assert np.ptp(traj.energy()) < 4 * EPS


def test_energy_with_rotors_does_not_drift() -> None:
    traj = ph.integrate(
        [1.0, 1.5, 2.2], M0, Q0, 0.05, 20_000, torque=Gyrostat([0.4, -2.0, 3.0]), save_every=100
    )
    assert np.ptp(traj.energy()) < 1e-13


@pytest.mark.parametrize("n", [60, 59])
def test_samples_of_rotors_are_breaks(n: int) -> None:
    # -h' jumps at 10 and 30, at the end of a step or within one.
    h = np.array([[0, 0, 0], [0, 0, 0], [0, 0.4, 0.1], [0, 0.4, 0.1]])
    wheels = Gyrostat(h, [0.0, 10.0, 30.0, 60.0])
    start: Any = [12.0, 10.0, 8.0], [0.24, -0.1, 0.24], [1.0, 0.0, 0.0, 0.0], 60.0 / n, n
    errors = []
    for breaks in ([10.0, 30.0], None):
        traj = ph.integrate(*start, torque=wheels, splitting="mclachlan6_9", breaks=breaks)
        first, last = ph.so3.rotate(traj.q[[0, -1]], traj.m[[0, -1]] + h[[0, -1]])
        errors.append(np.abs(last - first).max())
    assert errors[0] < 1e-12
    assert errors[1] > 1e-4


def test_wheels_that_change_their_speed() -> None:
    # From rest to (0.4, -2, 3) in a second at a constant rate, also by samples that go on.
    h = np.array([0.4, -2.0, 3.0])
    exact = rotors_by_dop853(lambda t: t * h, lambda t: h, 1.0)
    torque = Gyrostat([-0.5 * h, 0 * h, h, 2 * h], times=[-0.5, 0.0, 1.0, 2.0])
    traj = ph.integrate([1.0, 1.5, 2.2], M0, Q0, 0.02, 50, torque=torque, splitting="mclachlan6_9")
    line = Gyrostat(PPoly(np.stack([h, 0 * h])[:, None], [0.0, 0.3]))
    same = ph.integrate([1.0, 1.5, 2.2], M0, Q0, 0.02, 50, torque=line, splitting="mclachlan6_9")
    close(same.m, traj.m, atol=1e-13)
    close(np.r_[traj.m[-1], traj.q[-1]], exact, atol=1e-11)
    total = ph.so3.rotate(traj.q, traj.m + traj.t[:, None] * h)
    close(total, np.broadcast_to(total[0], total.shape), atol=1e-10)


@pytest.mark.parametrize("frame", ["body", "space"])
def test_damping_takes_energy_by_its_power(frame: str) -> None:
    inertia = np.array([1.0, 1.5, 2.2])
    torque = Damping(FRICTION, frame)
    traj = ph.integrate(inertia, M0, Q0, 0.01, 400, torque=torque, splitting="mclachlan6_9")
    omega = traj.omega()
    if frame == "space":
        omega = ph.so3.rotate(traj.q, omega)
    power = -np.einsum("ti,ij,tj->t", omega, FRICTION, omega)
    energy = traj.energy()
    # Simpson's rule, error (1/180) 4 (0.01)^4 power''''.
    work = 0.01 / 3 * (power[:-2:2] + 4 * power[1:-1:2] + power[2::2])
    assert (power < 0).all()
    close(np.cumsum(work), energy[2::2] - energy[0], atol=1e-9)


def test_eddy_currents_keep_the_momentum_along_the_field() -> None:
    # D = 1 - b b^T in space on a sphere: the momentum across b decays, that along b does not.
    b = np.array([0.6, 0.0, 0.8])
    torque = Damping(np.eye(3) - np.outer(b, b), "space")
    traj = ph.integrate([2.0, 2.0, 2.0], M0, Q0, 0.1, 50, torque=torque, save_every=50)
    L = traj.momentum_spatial()
    across = L[0] - L[0] @ b * b
    # Half kicks at both ends of a free turn about the momentum.
    close(L[1] @ b, L[0] @ b, atol=8 * EPS)
    close(L[1], L[0] @ b * b + np.exp(-0.5 * 5.0) * across, atol=1e-14)


def test_a_rod_in_a_viscous_fluid() -> None:
    torque = Damping(0.5)
    traj = ph.integrate([0.0, 2.0, 2.0], [0, 0.3, 0.4], Q0, 0.1, 20, torque=torque)
    close(np.linalg.norm(traj.m[-1]), 0.5 * np.exp(-0.25 * 2.0), atol=1e-15)
    assert traj.m[-1, 0] == 0


def test_a_rod_in_any_axes() -> None:
    """What rounding leaves of its zero moment is no moment."""
    rng, m, h = np.random.default_rng(5), np.array([0.0, 0.3, 0.4]), np.array([0.1, 0.2, -0.3])
    for R in ph.so3.to_matrix(rng.standard_normal((50, 4))):
        tensor = R @ np.diag([0.0, 2.0, 2.0]) @ R.T
        inertia = {"tensor": 0.5 * (tensor + tensor.T)}
        for torque, expected in (
            (Damping(0.5, **inertia), -0.25 * m),
            (Gyrostat(R @ h, **inertia), np.cross(h, 0.5 * m)),
            (BDot(0.5, R @ h, **inertia), -0.25 * (h @ h * m - h @ m * h)),
            (InternalDissipation(2.0, **inertia), np.zeros(3)),
        ):
            found = torque.torque(0.0, R @ m, [1.0, 0.0, 0.0, 0.0])
            close(R.T @ found, expected, atol=8 * EPS)


@pytest.mark.parametrize("of", [BDot, Dipole, Gyrostat])
def test_one_sample_is_constant(of: Any) -> None:
    """The same torque, of one body."""
    first = {BDot: [0.8], Dipole: [[0.2, 0.5, 0.1]]}.get(of, [])
    inertia = {} if of is Dipole else {"inertia": [1.0, 1.5, 2.2]}
    one = of(*first, [F], [0.5], **inertia)
    constant = of(*first, F, **inertia)
    same(one.torque(0.7, M0, Q0), constant.torque(0.7, M0, Q0))
    assert one.span is None


def test_a_rotor_in_two_constant_pieces_depends_on_time() -> None:
    pieces = PPoly(np.array([[F, 2 * F]]), [0.0, 1.0, 2.0])
    assert Gyrostat(pieces).depends_on_t
    assert not Gyrostat(F).depends_on_t


def test_field_of_a_dipole() -> None:
    """Along its axis twice the field beside it, and opposite."""
    field = dipole_field([[0.0, 0.0, 2.0], [2.0, 0.0, 0.0]], [0.0, 0.0, 4.0])
    close(field, [[0.0, 0.0, 1e-7], [0.0, 0.0, -0.5e-7]], atol=EPS * 1e-7)
    with pytest.raises(ValueError, match="position"):
        dipole_field([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [0.0, 0.0, 4.0])


def test_scaled_directions_of_damping() -> None:
    one = Damping(0.5, inertia=[1.0, 2.0, 3.0])
    for equal in (Damping([0.5] * 3), Damping(0.5 * np.eye(3), "space")):
        other = equal.with_inertia(inertia=np.array([1.0, 2.0, 3.0]))
        same(other.numbers(), one.numbers())

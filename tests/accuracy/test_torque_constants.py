"""Constants of torques and of methods under torque, to their last digits.

The torques against their formulas in 30 digits; the methods against the same step written down in
NumPy from the papers, whose rounding is that of one step; the work that an energy correction aims
at against the sums that it is said to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph

Array = NDArray[np.float64]

INERTIA = np.array([1.0, 1.4, 2.1])
M0 = np.array([0.8, -0.5, 0.6])
Q0 = np.array([0.5, -0.1, 0.7, 0.5])
TOP = ph.torques.HeavyTop(u0=[0.2, -0.1, 0.4], axis=[0.3, 0.2, 0.9])
H = 0.25


# --- torques ---


def matrix(q: Any) -> Any:
    w, x, y, z = q
    return mp.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def vector(v: Any) -> Any:
    return mp.matrix([mp.mpf(float(x)) for x in v])


def cross(a: Any, b: Any) -> Any:
    return mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


UP = [0.0, 0.0, 1.0]
U0, AXIS = [0.3, -1.2, 0.7], [0.2, 0.5, -0.8]
TENSOR = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.2]])
RATE = 0.37
TIMES = np.array([0.0, 1.0, 2.5, 4.0])
KNOTS = np.array([[0.1, 0.2, 0.3], [1.2, -0.3, 0.5], [-0.7, 0.8, 0.2], [0.4, 0.4, -0.9]])
CUBIC = np.array([[[0.7, -0.3, 0.2]], [[-1.1, 0.4, 0.9]], [[0.6, 0.5, -0.8]], [[0.3, -0.2, 0.1]]])


class Polynomial:
    """What Prescribed takes of scipy.interpolate.PPoly."""

    x = np.array([0.5, 9.5])
    c = CUBIC


def wall(z: Any) -> tuple[Any, Any]:
    """Slope and value of the potential c/r - b/(10 r^10), r = distance + z."""
    c, b, r = mp.mpf(1.5), mp.mpf(0.04), mp.mpf(1.25) + z
    return -c / r**2 + b / r**11, c / r - b / (10 * r**10)


def gravity_direction(R: Any, t: Any) -> Any:
    n = mp.mpf(RATE)
    return R.T * mp.matrix([mp.cos(n * t), mp.sin(n * t), 0])


def quadratic(tensor: Any, u: Any) -> Any:
    return cross(u, mp.matrix(tensor.tolist()) * u)


def prescribed(t: Any) -> Any:
    s = t - mp.mpf(0.5)
    return mp.matrix(
        [sum(mp.mpf(float(CUBIC[3 - k, 0, j])) * s**k for k in range(4)) for j in range(3)]
    )


def sampled(t: Any) -> Any:
    k = int(np.searchsorted(TIMES, float(t), side="right")) - 1
    share = (t - mp.mpf(TIMES[k])) / mp.mpf(TIMES[k + 1] - TIMES[k])
    return vector(KNOTS[k]) + share * (vector(KNOTS[k + 1]) - vector(KNOTS[k]))


#: Model, torque as a function of the matrix and the time, potential.
MODELS: dict[str, tuple[Any, Callable[..., Any], Callable[..., Any] | None]] = {
    "heavy top": (
        ph.torques.HeavyTop(U0, AXIS),
        lambda R, t: cross(R.T * vector(U0), vector(AXIS)),
        lambda R, t: dot(R.T * vector(U0), vector(AXIS)),
    ),
    "lagrange top": (
        ph.torques.LagrangeTop(3.5),
        lambda R, t: cross(R.T * vector([0, 0, 3.5]), vector(UP)),
        lambda R, t: dot(R.T * vector([0, 0, 3.5]), vector(UP)),
    ),
    "soft wall": (
        ph.torques.SoftWall(axis=AXIS, charge=1.5, wall=0.04, distance=1.25),
        lambda R, t: (
            wall(dot(R.T * vector(UP), vector(AXIS)))[0] * cross(R.T * vector(UP), vector(AXIS))
        ),
        lambda R, t: wall(dot(R.T * vector(UP), vector(AXIS)))[1],
    ),
    "gravity gradient": (
        ph.torques.GravityGradient(RATE, tensor=TENSOR),
        lambda R, t: 3 * mp.mpf(RATE) ** 2 * quadratic(TENSOR, gravity_direction(R, t)),
        None,
    ),
    "dipole": (
        ph.torques.Dipole(AXIS, U0),
        lambda R, t: cross(vector(AXIS), R.T * vector(U0)),
        lambda R, t: -dot(R.T * vector(U0), vector(AXIS)),
    ),
    "constant of space": (
        ph.torques.Constant(U0, frame="space"),
        lambda R, t: R.T * vector(U0),
        None,
    ),
    "polynomial": (ph.torques.Prescribed(Polynomial()), lambda R, t: prescribed(t), None),
    "polynomial of space": (
        ph.torques.Prescribed(Polynomial(), frame="space"),
        lambda R, t: R.T * prescribed(t),
        None,
    ),
    "samples": (ph.torques.Prescribed(KNOTS, TIMES), lambda R, t: sampled(t), None),
}
ATTITUDES = np.array([[0.6, -0.48, 0.0, 0.64], [0.5, 0.5, -0.5, 0.5], [0.1, 0.7, -0.7, 0.1]])


@pytest.mark.parametrize("form", ["quaternion", "matrix"])
@pytest.mark.parametrize("name", MODELS)
def test_torques_are_their_formulas(name: str, form: str) -> None:
    """Torque, its rate while the body turns with v, and potential: each to 16 eps of its terms."""
    model, torque, potential = MODELS[name]
    v = np.array([0.3, -0.4, 0.2])
    with mp.workdps(30):
        for q in ATTITUDES:
            exact = [mp.mpf(float(x)) for x in q]
            size = mp.sqrt(dot(exact, exact))
            R = matrix([x / size for x in exact])
            attitude = q if form == "quaternion" else np.array(R.tolist(), float)
            for t in (0.75, 3.25):
                want = torque(R, mp.mpf(t))
                got = model.torque(t, M0, attitude)
                unit = float(max(1, mp.norm(want)))
                assert max(abs(mp.mpf(float(g)) - w) for g, w in zip(got, want, strict=True)) <= (
                    16 * EPS * unit
                ), (name, t)

                def at(s: Any, i: int, R: Any = R, t: float = t) -> Any:
                    turn = mp.expm(
                        s * mp.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
                    )
                    return torque(R * turn, mp.mpf(t))[i]

                if model.has_modified:
                    rate = [mp.diff(lambda s, i=i: at(s, i), 0) for i in range(3)]
                    got = model.derivative(t, v, attitude)
                    unit = float(max(1, mp.norm(rate)))
                    worst = max(abs(mp.mpf(float(g)) - w) for g, w in zip(got, rate, strict=True))
                    assert worst <= 32 * EPS * unit, (name, t)
                if potential is not None:
                    value = potential(R, mp.mpf(t))
                    error = abs(mp.mpf(float(model.potential(t, attitude))) - value)
                    assert error <= 16 * EPS * max(1, abs(value))


# --- one step, written down ---


def multiply(p: Array, q: Array) -> Array:
    return np.concatenate(
        [[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]
    )


def conjugate(q: Array) -> Array:
    return np.asarray(q * [1, -1, -1, -1])


def turned(q: Array, v: Array) -> Array:
    return multiply(multiply(q, np.concatenate([[0.0], v])), conjugate(q))[1:]


def seen_from(q: Array, v: Array) -> Array:
    return turned(conjugate(q), v)


def exp(v: Array) -> Array:
    size = float(np.linalg.norm(v))
    return np.concatenate([[np.cos(size / 2)], np.sin(size / 2) / size * v])


def unit(q: Array) -> Array:
    return np.asarray(q / np.linalg.norm(q))


ONE = np.array([1.0, 0.0, 0.0, 0.0])


class Start:
    """State, and torque of a state that is turned by p and has the momentum l, both seen along the
    axes of this state."""

    def __init__(self, m: Array, q: Array) -> None:
        self.m, self.q = m, unit(q)

    def at(self, p: Array, l: Array) -> tuple[Array, Array]:
        """Angular velocity and torque there, along the axes there."""
        m = seen_from(p, l)
        return m / INERTIA, np.asarray(TOP.torque(0.0, m, multiply(self.q, p)))

    def end(self, p: Array, l: Array) -> Start:
        return Start(seen_from(p, l), multiply(self.q, p))


def rk4(s: Start, h: float, rotation: bool = False) -> tuple[Array, Array, float]:
    """Turn, momentum and work."""
    p, l = ONE, s.m
    slopes: Any = 0.0
    impulse: Any = 0.0
    work = 0.0
    for k, (ahead, weight) in enumerate(((h / 2, 1), (h / 2, 2), (h, 2), (0.0, 1))):
        place = p if rotation else unit(p)
        omega, f = s.at(place, l)
        half = np.concatenate([[0.0], omega / 2])
        slope = turned(p, omega) if rotation else multiply(p, half)
        force = turned(place, f)
        slopes = slopes + weight * slope
        impulse = impulse + weight * force
        work += weight * float(omega @ f)
        if k < 3:
            p = exp(ahead * slope) if rotation else ONE + ahead * slope
            l = s.m + ahead * force
    p = exp(h / 6 * slopes) if rotation else unit(ONE + h / 6 * slopes)
    return p, s.m + h / 6 * impulse, h / 6 * work


def first_order(s: Start, h: float, n: int) -> tuple[Array, Array, float]:
    p, l, work = ONE, s.m, 0.0
    for _ in range(n):
        omega, f = s.at(p, l)
        l = l + h / n * turned(p, f)
        work += h / n * float(omega @ f)
        p = multiply(p, exp(h / n * omega))
    return p, l, work


def abam(s: Start, h: float, before: list[tuple[Array, Array]]) -> tuple[Array, Array, float]:
    """`before`: angular velocity and torque of space, oldest first, now last."""
    (w3, f3), (w2, f2), (w1, f1), (w0, f0) = (
        (seen_from(s.q, w), seen_from(s.q, f)) for w, f in before
    )
    p = exp(h / 24 * (55 * w0 - 59 * w1 + 37 * w2 - 9 * w3))
    l = s.m + h / 24 * (55 * f0 - 59 * f1 + 37 * f2 - 9 * f3)
    w, f = (turned(p, x) for x in s.at(p, l))

    def mean(a: Any, b: Any, c: Any, d: Any) -> Any:
        return h / 24 * (9 * a + 19 * b - 5 * c + d)

    power = [float(x @ y) for x, y in ((w, f), (w0, f0), (w1, f1), (w2, f2))]
    return exp(mean(w, w0, w1, w2)), s.m + mean(f, f0, f1, f2), mean(*power)


def simo_wong(s: Start, h: float, before: Array) -> tuple[Array, Array, float]:
    """`before`: angular velocity one step ago, along the axes of then."""
    omega, f = s.at(ONE, s.m)
    p = exp(h * (1.5 * omega - 0.5 * before))
    end_omega, end_f = s.at(p, s.m + h * f)
    l = s.m + h / 2 * (f + turned(p, end_f))
    return p, l, h / 2 * float(omega @ f + end_omega @ end_f)


def run(name: str, n: int, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, H, n, torque=TOP, method=name, splitting=None, **options)


def check_state(trajectory: ph.Trajectory, s: Start, steps: int = 1) -> None:
    """To 8 eps a step and 8 for the reference."""
    bound = 8 * EPS * (1 + steps)
    close(trajectory.m[-1], s.m, atol=bound)
    close(trajectory.q[-1], s.q, atol=bound)


def check_work(name: str, work: float, **options: Any) -> None:
    """A corrected step ends at the energy of the start and the work."""
    start = float(ph.energy(INERTIA, M0))
    assert 1e-3 < abs(work) < 0.1 * start
    for way in (True, "buss"):
        m = run(name, 4, energy_correction=way, **options).m[1]
        close(ph.energy(INERTIA, m), start + work, atol=8 * EPS)


START = Start(M0, Q0)


@pytest.mark.parametrize("rotation", [False, True])
def test_runge_kutta(rotation: bool) -> None:
    name = "rk4_rotation" if rotation else "rk4"
    p, l, work = rk4(START, H, rotation)
    check_state(run(name, 1), START.end(p, l))
    check_work(name, work)


@pytest.mark.parametrize("start", ["rk4", "buss"])
def test_abam(start: str) -> None:
    s, history = START, []
    for k in range(5):
        omega, f = s.at(ONE, s.m)
        history.append((turned(s.q, omega), turned(s.q, f)))
        if k < 3:
            p, l, _ = rk4(s, H) if start == "rk4" else first_order(s, H, 5)
        else:
            p, l, _ = abam(s, H, history[-4:])
        s = s.end(p, l)
        if k >= 3:
            check_state(run("abam_rotation", k + 1, start=start), s, k + 1)


@pytest.mark.parametrize("start", ["rk4", "buss"])
def test_simo_wong(start: str) -> None:
    s, before = START, M0 / INERTIA
    for k in range(3):
        now = s.m / INERTIA
        p, l, _ = rk4(s, H) if start == "rk4" and k == 0 else simo_wong(s, H, before)
        s, before = s.end(p, l), now
        if k >= 1:
            check_state(run("simo_wong_explicit", k + 1, start=start), s, k + 1)


def test_work_of_first_steps() -> None:
    check_work("abam_rotation", first_order(START, H, 5)[2], start="buss")
    check_work("abam_rotation", rk4(START, H)[2], start="rk4")
    check_work("simo_wong_explicit", simo_wong(START, H, M0 / INERTIA)[2], start="buss")


# --- Taylor methods ---


def polynomial(k: int) -> Callable[[float], Array]:
    """The k-th derivative of a quintic L with L(0) in the body's axes at the start M0."""
    c = np.array(
        [
            [0, 0, 0],
            [0.3, -0.2, 0.1],
            [-0.2, 0.4, 0.3],
            [0.5, 0.1, -0.4],
            [0.2, -0.3, 0.6],
            [0.4, 0.7, -0.2],
        ]
    )
    c[0] = turned(START.q, M0)
    for _ in range(k):
        c = c[1:] * np.arange(1, len(c))[:, None]
    return lambda t: np.asarray(sum(x * t**i for i, x in enumerate(c)))


def cut_off(degree: int, k: int) -> Callable[[float], Array]:
    """The same, cut off beyond a degree."""

    def value(t: float) -> Array:
        top, total = degree - k, np.zeros(3)
        full = polynomial(k)
        if top < 0:
            return total
        # Taylor coefficients of the derivative, from those of L.
        at_zero = [polynomial(k + i)(0.0) for i in range(top + 1)]
        factorial = 1.0
        for i, x in enumerate(at_zero):
            factorial *= max(i, 1)
            total = total + x * t**i / factorial
        if degree >= 5:
            close(total, full(t), rtol=1e-14, atol=1e-14)
        return total

    return value


TAYLOR = {"taylor2": 2, "taylor2_augmented": 2, "taylor3": 3, "taylor3_false": 3}
TAYLOR |= {"taylor4": 5, "taylor5": 5, "taylor6": 5}


@pytest.mark.parametrize("name", TAYLOR)
def test_hermites_formula_is_exact(name: str) -> None:
    """For polynomials up to its degree; in space, whatever the attitude is."""
    degree = TAYLOR[name]
    L = [cut_off(degree, k) for k in range(6)]
    torque = ph.torques.SpatialMomentum(*L)
    traj = ph.integrate(INERTIA, M0, Q0, 1.0, 1, torque=torque, method=name, splitting=None)
    got = ph.momentum_spatial(traj.m[-1], traj.q[-1])
    close(got, L[0](1.0), atol=24 * EPS)


@pytest.mark.parametrize("name", ["taylor3", "taylor3_false"])
def test_hermites_formula_with_a_model(name: str) -> None:
    """In space: torque and its derivative at the start, and at the end that Taylor's formula
    foretells."""
    h = 1.0
    top = ph.torques.HeavyTop(u0=[0.4, -0.3, 0.5], axis=[0.5, 0.2, 0.9])

    def derivatives(m: Array, q: Array) -> tuple[Array, Array]:
        """Derivatives of L, in the body frame."""
        omega = m / INERTIA
        f = top.torque(0.0, m, q)
        return f, top.derivative(0.0, omega, q) + np.cross(omega, f)

    traj = ph.integrate(INERTIA, M0, Q0, h, 1, torque=top, method=name, splitting=None)
    q = traj.q[-1]
    first = derivatives(M0, START.q)
    foretold = M0 + h * first[0] + h**2 / 2 * first[1]  # along the axes of the start
    last = derivatives(seen_from(q, turned(START.q, foretold)), q)
    a, b = ([turned(at, x) for x in pair] for at, pair in ((START.q, first), (q, last)))
    want = turned(START.q, M0) + h / 2 * (a[0] + b[0]) + h**2 / 12 * (a[1] - b[1])
    close(ph.momentum_spatial(traj.m[-1], q), want, atol=16 * EPS)


def power(s: Start, L: list[Callable[[float], Array]], t: float) -> tuple[float, float, float]:
    """omega . L' and two derivatives, by Euler's equations."""
    l1, l2, l3 = (seen_from(s.q, L[k](t)) for k in (1, 2, 3))
    m, w = s.m, s.m / INERTIA
    m1 = np.cross(m, w) + l1
    w1 = m1 / INERTIA
    l1d, l2d = l2 + np.cross(l1, w), l3 + np.cross(l2, w)
    m2 = np.cross(m1, w) + np.cross(m, w1) + l1d
    w2 = m2 / INERTIA
    l1dd = l2d + np.cross(l1d, w) + np.cross(l1, w1)
    return w @ l1, w1 @ l1 + w @ l1d, w2 @ l1 + 2 * w1 @ l1d + w @ l1dd


@pytest.mark.parametrize("name", TAYLOR)
def test_work_of_taylor_methods(name: str) -> None:
    h, m0 = 0.75, 2.5 * M0
    L = [cut_off(TAYLOR[name], k) for k in range(6)]
    faster = turned(START.q, m0 - M0)
    torque = ph.torques.SpatialMomentum(lambda t: L[0](t) + faster, *L[1:])
    start: tuple[Any, ...] = (INERTIA, m0, Q0, h, 1)
    options: dict[str, Any] = {"torque": torque, "method": name, "splitting": None}
    plain = ph.integrate(*start, **options)
    q = plain.q[-1]
    a = power(Start(m0, Q0), L, 0.0)
    b = power(Start(seen_from(q, L[0](h) + faster), q), L, h)
    work = h / 2 * (a[0] + b[0])
    if TAYLOR[name] == 3:
        work += h**2 / 12 * (a[1] - b[1])
    if TAYLOR[name] == 5:
        work += h**2 / 10 * (a[1] - b[1]) + h**3 / 120 * (a[2] + b[2])
    before = float(ph.energy(INERTIA, m0))
    assert 1e-3 < abs(work) < 0.1 * before
    end = ph.integrate(*start, energy_correction=True, **options)
    close(ph.energy(INERTIA, end.m[-1]), before + work, atol=8 * EPS * before)


# --- implicit methods ---


@pytest.mark.parametrize("name", ["euler_backward", "trapm", "bbtrapwd"])
def test_work_of_both_ends(name: str) -> None:
    plain = run(name, 1)
    end = Start(plain.m[-1], plain.q[-1])
    powers = [float(omega @ f) for omega, f in (x.at(ONE, x.m) for x in (START, end))]
    check_work(name, H / 2 * sum(powers))


def test_work_of_an_explicit_tableau() -> None:
    """The power at the middle, which a first-order step of h/2 leads to."""
    omega, f = START.at(ONE, M0)
    middle, f = START.at(exp(H / 2 * omega), M0 + H / 2 * f)
    check_work("rkmk_midpoint", H * float(middle @ f))


# --- kicks ---


def test_kick_with_a_modified_potential() -> None:
    """m + b h f - c h^3 W with a c that counts."""
    free = ph.step(INERTIA, M0, Q0, 1.0)
    traj = ph.integrate(INERTIA, M0, Q0, 1.0, 1, torque=TOP, splitting=([1.0], [1.0], [2.0]))
    s = Start(*free)
    _, f = s.at(ONE, s.m)
    v = f / INERTIA
    W = 2 * (np.cross(f, v) - TOP.derivative(0.0, v, s.q))
    close(traj.m[-1], s.m + f - 2 * W, atol=16 * EPS)


@pytest.mark.parametrize(
    "how",
    [
        {"splitting": "rkn6_11"},
        {"splitting": "kahan_li8_17"},
        {"method": "rk4", "splitting": None},
        {"method": "taylor1", "splitting": None},
        {"method": "trapm", "splitting": None},
    ],
    ids=str,
)
def test_the_end_of_a_step_is_the_start_of_the_next_bit_for_bit(how: dict[str, Any]) -> None:
    """So a torque that jumps there is seen from one side."""
    for h in (0.1, 0.7, 1 / 3):
        asked: set[float] = set()

        def f(t: float, q: Array) -> Array:
            asked.add(t)  # noqa: B023
            return 0.0 * q[..., 1:]

        traj = ph.integrate(INERTIA, M0, Q0, h, 12, t0=0.3, torque=f, **how)
        assert set(traj.t[1:-1].tolist()) <= asked
        near = [t for t in asked if np.abs(traj.t - t).min() < 1e-9]
        assert set(near) <= set(traj.t.tolist())

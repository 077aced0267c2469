"""The Magnus and factorization methods and `attitude_from_rate`: orders, the published schemes word
by word, the errata of [Gus10] (each with the printed form that fails), Table 2, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
import reference
from numpy.typing import NDArray
from tolerances import EPS, within

import polhode as ph
from benchmarks.papers.gustafsson import (
    MOMENTS,
    T_END,
    ensembles,
    gauss,
    mean_errors,
    published_factorization,
)

Array = NDArray[Any]

ORDERS = (2, 4, 6, 8)
FREE = [f"{family}{order}" for family in ("magnus", "factorization") for order in ORDERS]
# The moments of [Gus10] Sec. 4.5.
GUSTAFSSON = MOMENTS


# --- quaternions, scalar first, any number type in an object array or doubles ---


def product(p: Array, q: Array) -> Array:
    scalar = p[..., :1] * q[..., :1] - np.sum(p[..., 1:] * q[..., 1:], -1, keepdims=True)
    vector = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.asarray(np.concatenate([scalar, vector], -1))


def conjugate(q: Array) -> Array:
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def exponential(v: Array) -> Array:
    """exp of (0, v), [Gus10] Theorem 2.2."""
    a = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(np.concatenate([np.cos(a), np.sinc(a / np.pi) * v], -1))


def random_states(count: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    m = rng.normal(size=(count, 3))
    q = rng.normal(size=(count, 4))
    m = m / np.linalg.norm(m, axis=-1, keepdims=True)
    return m, q / np.linalg.norm(q, axis=-1, keepdims=True)


# --- a rate with a closed attitude: Euler angles that are functions of the time ---


class Tumble:
    """q = qz(a) qx(b) qz(c) with a, b, c smooth functions of t, in mpmath or in doubles."""

    def __init__(self, sin: Callable[[Any], Any], cos: Callable[[Any], Any]) -> None:
        self.sin, self.cos = sin, cos

    def angles(self, t: Any) -> tuple[list[Any], list[Any]]:
        sin, cos = self.sin, self.cos
        values = [t + sin(2 * t) / 4, 1 + sin(t) / 2, 2 * t - cos(t) / 3]
        return values, [1 + cos(2 * t) / 2, cos(t) / 2, 2 + sin(t) / 3]

    def omega(self, t: Any) -> list[Any]:
        (_, b, c), (da, db, dc) = self.angles(t)
        sin, cos = self.sin, self.cos
        return [
            da * sin(b) * sin(c) + db * cos(c),
            da * sin(b) * cos(c) - db * sin(c),
            da * cos(b) + dc,
        ]

    def attitude(self, t: Any) -> Array:
        (a, b, c), _ = self.angles(t)
        sin, cos = self.sin, self.cos
        z1, z2 = ([cos(x / 2), 0, 0, sin(x / 2)] for x in (a, c))
        x = [cos(b / 2), sin(b / 2), 0, 0]
        return product(product(np.array(z1), np.array(x)), np.array(z2))


DOUBLE = Tumble(math.sin, math.cos)
EXACT = Tumble(mpmath.sin, mpmath.cos)


def tumble_end(t: float, start: float = 0.0) -> Array:
    """q(t) from q(0) = 1, to double."""
    with mpmath.workdps(30):
        turn = product(conjugate(EXACT.attitude(mpmath.mpf(start))), EXACT.attitude(mpmath.mpf(t)))
        return np.array([float(x) for x in turn])


def test_tumble_solves_its_equation() -> None:
    with mpmath.workdps(30):
        t = mpmath.mpf("0.7")
        slope = np.array([mpmath.diff(lambda s, k=k: EXACT.attitude(s)[k], t) for k in range(4)])
        rate = np.array([mpmath.mpf(0), *EXACT.omega(t)])
        assert max(abs(slope - product(EXACT.attitude(t), rate) / 2)) < 1e-12


# --- orders ---


@pytest.mark.parametrize("order", ORDERS)
def test_order_with_any_rate(order: int) -> None:
    """Between the two finest steps with errors above 1e4 round-offs, as the laws require."""
    exact = tumble_end(2.0)
    errors = []
    counts = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
    for n in counts:
        q = ph.attitude_from_rate(DOUBLE.omega, [1, 0, 0, 0], 2.0 / n, n, order=order)
        errors.append(np.abs(q - exact).max())
    usable = [(n, e) for n, e in zip(counts, errors, strict=True) if e > 1e4 * EPS]
    (n1, e1), (n2, e2) = usable[-2:]
    assert math.log(e1 / e2) / math.log(n2 / n1) > order - 0.15, errors
    # The finest shows the size of rounding, not a plateau above it.
    assert order < 8 or errors[-1] < 64 * EPS


# --- the published schemes, word by word ---


def commutator(a: Array, b: Array) -> Array:
    return 2 * np.cross(a, b)


def alphas(order: int, h: float, rates: Sequence[Array], factorial: bool = False) -> list[Array]:
    """(21): R^(s) Q^(s), with T^(s) of (20) right or as printed."""
    s = order // 2
    nodes, b = gauss(order)
    i = np.arange(s)[:, None]  # i = 0 ... s - 1, j = 1 ... s
    j = np.arange(1, s + 1)[None, :]
    below = np.vectorize(math.factorial)(i + j) if factorial else i + j
    T = (1 - (-1.0) ** (i + j)) / (below * 2.0 ** (i + j))
    Q = b[None, :] * (nodes[None, :] - 0.5) ** i
    return list(np.tensordot(h * np.linalg.solve(T, Q), np.array(rates), 1))


def magnus_vector(order: int, c: float, a: Sequence[Array]) -> Array:
    """(22) to (25)."""
    if order == 2:
        return c * a[0]
    if order == 4:
        return c * a[0] - c**2 / 12 * commutator(a[0], a[1])
    a1, a2, a3 = (c * x for x in a[:3])
    if order == 6:
        s1 = commutator(a1, a2)
        r1 = -commutator(a1, 2 * a3 + s1) / 60
        return a1 + a3 / 12 + commutator(-20 * a1 - a3 + s1, a2 + r1) / 240
    a4 = c * a[3]
    s1 = -commutator(a1 + a3 / 28, a2 + 3 * a4 / 28) / 28
    r1 = commutator(a1, -a3 / 14 + s1) / 3
    s2 = commutator(a1 + a3 / 28 + s1, a2 + 3 * a4 / 28 + r1)
    s2_hat = commutator(a2, s1)
    r2 = commutator(a1 + 5 * s1 / 4, 2 * a3 + s2 + s2_hat / 2)
    s3 = commutator(a1 + a3 / 12 - 7 * s1 / 3 - s2 / 6, -9 * a2 - 9 * a4 / 4 + 63 * r1 + r2)
    return a1 + a3 / 12 - 7 * s2 / 120 + s3 / 360


def published_step(
    order: int, omega: Callable[[float], Any], q: Array, t: float, h: float
) -> Array:
    """Section 4.3.1: conjugate, W = conj(Omega), c = 1/2, conjugate."""
    rates = [-np.asarray(omega(t + c * h)) for c in gauss(order)[0]]
    turn = exponential(magnus_vector(order, 0.5, alphas(order, h, rates)))
    return conjugate(product(turn, conjugate(q)))


@pytest.mark.parametrize("order", ORDERS)
def test_schemes_are_the_published_ones(order: int) -> None:
    q = DOUBLE.attitude(0.0)
    for h in (1.0, -0.6):
        ours = ph.attitude_from_rate(DOUBLE.omega, q, h, order=order, t0=0.3)
        theirs = published_step(order, DOUBLE.omega, q, 0.3, h)
        # Solving with T^(4), condition 1e3, costs the transcription some digits.
        assert np.abs(ours - theirs).max() < 1e3 * EPS
    m, q = random_states(20, 3)
    motion = ph.TorqueFreeMotion(GUSTAFSSON, m, q)
    _, ours = ph.step(GUSTAFSSON, m, q, 1.5, method=f"magnus{order}")
    theirs = published_step(order, lambda t: motion(t)[0] / GUSTAFSSON, q, 0.0, 1.5)
    assert np.abs(ours - theirs).max() < 1e3 * EPS


@pytest.mark.parametrize("order", ORDERS)
def test_factorization_is_the_published_one(order: int) -> None:
    """Where m circles axis 3 with m3 > 0; elsewhere the axes get other labels."""
    m, q = random_states(400, 4)
    I1, I2, I3 = GUSTAFSSON
    circles3 = I1 * (I3 - I2) * m[:, 2] ** 2 > 1.01 * I3 * (I2 - I1) * m[:, 0] ** 2
    kept = circles3 & (m[:, 2] > 0)
    assert kept.sum() > 50
    for h in (0.8, -1.5):
        _, ours = ph.step(GUSTAFSSON, m[kept], q[kept], h, method=f"factorization{order}")
        for c0, c3 in ((0.5, 0.5), (math.sqrt(0.5), 0.0)):
            theirs = published_factorization(order, GUSTAFSSON, m[kept], q[kept], h, c0, c3)
            assert np.abs(ours - theirs).max() < 32 * EPS


def test_factorization_is_valid_at_the_singular_momentum() -> None:
    """m3 = -|m| and close to it, where the published frame is 0/0; the laws have more."""
    q = np.array([0.6, 0.0, 0.8, 0.0])
    for off in (0.0, 1e-12, 1e-6):
        m = np.array([off, 0.0, -1.0])
        _, exact = ph.step([1.0, 1.5, 2.2], m, q, 0.3)
        _, ours = ph.step([1.0, 1.5, 2.2], m, q, 0.3, method="factorization8")
        assert np.abs(ours - exact).max() < 4 * EPS
    with np.errstate(invalid="ignore", divide="ignore"):
        m = np.array([0.0, 0.0, -1.0])
        printed = published_factorization(8, np.array([1.0, 1.5, 2.2]), m, q, 0.3, 0.5, 0.5)
    assert np.isnan(printed).all()


def test_factorization_comes_back_on_the_separatrix() -> None:
    """Rounding decides there which axis m circles; the step back must take the same one.

    The two choices differ by the error of the method, 2e-4 and 3e-7 here.
    """
    I1, I2, I3 = GUSTAFSSON
    ratio = math.sqrt(I1 * (I3 - I2) / (I3 * (I2 - I1)))  # m1/m3
    rng = np.random.default_rng(12)
    m = rng.normal(size=(400, 3))
    m[:, 0] = ratio * m[:, 2] * rng.choice([-1, 1], 400) * (1 + rng.integers(-2, 3, 400) * EPS)
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    q = np.array([0.6, -0.48, 0.0, 0.64])
    for order in (2, 4):
        name = f"factorization{order}"
        there = ph.step(GUSTAFSSON, m, q, 1.5, method=name)
        assert np.abs(there[1] - ph.step(GUSTAFSSON, m, q, 1.5)[1]).max() > 1e-8
        back = ph.step(GUSTAFSSON, *there, -1.5, method=name)
        # A rounding or two a step.
        assert np.abs(back[1] - q).max() < 8 * EPS


def test_magnus_does_not_claim_the_spatial_momentum() -> None:
    """It is lost with the error of the attitude, so the list of invariants leaves it out."""
    m, q = random_states(50, 5)
    before = ph.momentum_spatial(m, q)
    for order in ORDERS:
        after = ph.momentum_spatial(*ph.step(GUSTAFSSON, m, q, 1.0, method=f"magnus{order}"))
        assert np.abs(after - before).max() > 1e-9
        after = ph.momentum_spatial(*ph.step(GUSTAFSSON, m, q, 1.0, method=f"factorization{order}"))
        assert np.abs(after - before).max() < 16 * EPS


# --- errata of [Gus10], each with the printed form ---


def test_erratum_inverse_of_a_quaternion() -> None:
    p = np.array([0.3, -0.1, 0.2, 0.4])
    square = p @ p
    one = [1.0, 0.0, 0.0, 0.0]
    assert np.abs(product(p, conjugate(p) / square) - one).max() < 4 * EPS
    assert np.abs(product(p, conjugate(p) / math.sqrt(square)) - one).max() > 0.4
    # A quaternion of any size is normalised: the inverse turn undoes the turn.
    v = np.array([1.0, 2.0, 3.0])
    back = ph.so3.rotate(conjugate(p) / square, ph.so3.rotate(p, v))
    assert np.abs(back - v).max() < 16 * EPS


def test_erratum_7_needs_the_time() -> None:
    """exp(t L(W)) e, printed exp(L(W)) e."""
    w, t = np.array([0.3, -0.5, 0.2]), 0.5
    L = np.zeros((4, 4))
    for k, unit in enumerate(np.eye(4)):
        L[:, k] = product(np.array([0.0, *w]), unit)
    right, printed = (_matrix_exponential(s * L)[:, 0] for s in (t, 1.0))
    ours = ph.attitude_from_rate(2 * w[None, None, :], [1.0, 0, 0, 0], t, order=2)
    assert np.abs(right - ours).max() < 4 * EPS
    assert np.abs(printed - ours).max() > 0.1


def _matrix_exponential(A: Array) -> Array:
    term = total = np.eye(len(A))
    for k in range(1, 30):
        term = term @ A / k
        total = total + term
    return total


def test_erratum_14_starts_with_its_argument() -> None:
    """dexp^-1(H) = sum B_k/k! ad^k(H) with ad^0(H) = H, printed Gamma; Proposition 3.3 is right."""
    gamma, H = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.7, -0.4])
    u = 2 * gamma
    a = np.linalg.norm(u)
    closed = H - np.cross(u, H) / 2
    closed = closed + (1 - a / 2 / math.tan(a / 2)) / a**2 * np.cross(u, np.cross(u, H))

    def series(first: Array) -> Array:
        total, term = first, H
        for k in range(1, 40):
            term = commutator(gamma, term)
            total = total + float(mpmath.bernoulli(k) / mpmath.factorial(k)) * term
        return total

    assert np.abs(series(H) - closed).max() < 8 * EPS
    assert np.abs(series(gamma) - closed).max() > 0.1


def test_erratum_20_has_no_factorial() -> None:
    """With (i + j)! in (20) the alphas are wrong and order 8 fails altogether; T^(4) is right."""
    q, h = np.array([1.0, 0.0, 0.0, 0.0]), 0.25
    rates = [-np.array(DOUBLE.omega(c * h)) for c in gauss(8)[0]]
    exact = tumble_end(h)
    errors = []
    for factorial in (False, True):
        vector = magnus_vector(8, 0.5, alphas(8, h, rates, factorial))
        errors.append(np.abs(conjugate(exponential(vector)) - exact).max())
    ours = ph.attitude_from_rate(DOUBLE.omega, q, h, order=8)
    assert errors[0] < 1e-8
    assert np.abs(ours - exact).max() < 1e-8
    assert errors[1] > 0.1


def test_erratum_22_takes_the_midpoint() -> None:
    """W(t + h/2), printed W(t + 1/2)."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    errors = []
    for h in (0.1, 0.05):
        exact = tumble_end(h)
        printed = exponential(h / 2 * np.array(DOUBLE.omega(0.5)))
        ours = ph.attitude_from_rate(DOUBLE.omega, q, h, order=2)
        errors.append([np.abs(x - exact).max() for x in (ours, printed)])
    (ours1, printed1), (ours2, printed2) = errors
    assert ours1 / ours2 > 7  # a step of order 2
    assert printed1 / printed2 < 2.5  # not even consistent
    assert printed2 > 50 * ours2


def hat(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def test_erratum_matrices_take_the_transpose() -> None:
    """Section 4.3.1: W = hat(omega)^T with c = 1; printed hat(omega), which does not converge."""
    n = 16
    h = 1.0 / n
    right = printed = np.eye(3)
    for k in range(n):
        omegas = [hat(np.array(DOUBLE.omega((k + c) * h))) for c in gauss(4)[0]]
        for sign in (1, -1):
            w1, w2 = (sign * w for w in omegas)
            a1, a2 = h / 2 * (w1 + w2), math.sqrt(3) * h * (w2 - w1)
            turn = _matrix_exponential(a1 - (a1 @ a2 - a2 @ a1) / 12)
            if sign == -1:
                right = (turn @ right.T).T
            else:
                printed = (turn @ printed.T).T
    exact = ph.so3.to_matrix(tumble_end(1.0))
    ours = ph.attitude_from_rate(DOUBLE.omega, np.eye(3), h, n, order=4)
    assert np.abs(ours - right).max() < 32 * EPS
    assert np.abs(right - exact).max() < 1e-5
    assert np.abs(printed - exact).max() > 0.5


def gustafsson_momentum(
    inertia: Array, m: Array, h: float, *, complement: bool, third: str
) -> Array:
    """Section 4.2, case (II), |m| = 1, elliptic functions in 40 digits, the constants in double.

    complement: c2 := 1 - c1 as printed, else both from differences of moments.
    third: "d1" as printed, sigma sqrt(d1^2 - c1 m2^2), or "d3", sigma sqrt(d3^2 - c2 m2^2).
    """
    I1, I2, I3 = (float(x) for x in inertia)
    c1 = (I1 * (I3 - I2)) / (I2 * (I3 - I1))
    c2 = 1 - c1 if complement else (I3 * (I2 - I1)) / (I2 * (I3 - I1))
    if complement:
        c1 = 1 - c2
    with mpmath.workdps(40):
        c1, c2 = mpmath.mpf(c1), mpmath.mpf(c2)
        m1, m2, m3 = (mpmath.mpf(float(x)) for x in m)
        d1, d3 = mpmath.sqrt(m1**2 + c1 * m2**2), mpmath.sqrt(c2 * m2**2 + m3**2)
        k2 = c2 * d1**2 / (c1 * d3**2)  # 1/k^2 < 1
        assert k2 < 1
        d2 = mpmath.sqrt(m1**2 / c1 + m2**2)
        J1, J2, J3 = (mpmath.mpf(x) for x in (I1, I2, I3))
        sigma = mpmath.sign(m3)
        rate = sigma * mpmath.sqrt((J3 - J2) * (J3 - J1) / (J1 * J2 * J3**2)) * d3
        u = rate * h + mpmath.ellipf(mpmath.atan2(m2 / d2, m1 / d1), k2)
        sn, cn = mpmath.ellipfun("sn", u, m=k2), mpmath.ellipfun("cn", u, m=k2)
        n1, n2 = d1 * cn, d2 * sn
        square = d1**2 - c1 * n2**2 if third == "d1" else d3**2 - c2 * n2**2
        return np.array([float(x) for x in (n1, n2, sigma * mpmath.sqrt(square))])


def test_erratum_delta() -> None:
    """Delta_i = |1 - 2E T_i|, printed |I_3 - 2E T_i| with the identity matrix.

    Both constants of case (II), B13 = (T_1 Delta_3/(T_3 - T_1))^(1/2) and B23 in the same way,
    bound the motion of m: it reaches +-B13 and +-B23, in turn.
    """
    inertia, m = np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8]) / math.sqrt(0.98)
    twice = np.sum(m * m / inertia)
    I1, I2, I3 = inertia
    motion = ph.TorqueFreeMotion(inertia, m, [1.0, 0, 0, 0])
    path, _ = motion(np.linspace(0.0, float(motion.period), 2001))
    reached = np.abs(path[:, :2]).max(0)
    for delta, right in (
        (abs(1 - twice * I3), True),
        (abs(np.linalg.det(np.eye(3) - twice * I3 * np.eye(3))), False),
    ):
        B = np.sqrt([I1 * delta / (I3 - I1), I2 * delta / (I3 - I2)])
        assert (np.abs(reached - B).max() < 1e-5) == right


def test_erratum_third_component() -> None:
    """Case (II): m3 = sigma sqrt(d3^2 - c2 m2^2), printed sigma sqrt(d1^2 - c1 m2^2)."""
    inertia, m, h = np.array([1.0, 1.5, 2.2]), np.array([0.48, 0.6, -0.64]), 0.7
    ours, _ = ph.step(inertia, m, [1, 0, 0, 0], h, method="magnus2")
    right = gustafsson_momentum(inertia, m, h, complement=False, third="d3")
    printed = gustafsson_momentum(inertia, m, h, complement=False, third="d1")
    assert np.abs(ours - right).max() < 8 * EPS
    assert np.abs(ours - printed).max() > 0.1


def test_erratum_complement_of_c1() -> None:
    """c2 := 1 - c1, then c1 := 1 - c2, loses the smaller one."""
    inertia, h = np.array([1e-3, 1.0, 1.0005]), 5.0
    m = np.array([4e-4, 0.6, 0.8])
    exact = reference.torque_free(tuple(inertia), tuple(m), (1.0, 0.0, 0.0, 0.0), h)
    size = float(exact.norm)
    printed = size * gustafsson_momentum(inertia, m / size, h * size, complement=True, third="d3")
    ours, _ = ph.step(inertia, m, [1, 0, 0, 0], h, method="magnus8")
    assert exact.error_m(ours) < 8 * EPS
    assert exact.error_m(printed) > 1e-13


def test_erratum_of_the_listings() -> None:
    """COM is Q e3, not Q^T e3; and the states where the listings divide 0 by 0."""
    q = np.array([0.6, 0.48, 0.0, 0.64])
    com = product(product(q, np.array([0.0, 0, 0, 1])), conjugate(q))[1:]
    Q = ph.so3.to_matrix(q)
    assert np.abs(com - Q[:, 2]).max() < 4 * EPS
    assert np.abs(com - Q[2]).max() > 0.1
    for inertia, m in (
        ([1.0, 1.5, 2.2], [1.0, 0.0, 0.0]),
        ([1.0, 1.5, 2.2], [0.0, 0.0, 1.0]),
        ([1.0, 1.0, 1.0], [0.6, 0.0, 0.8]),
        ([1.0, 1.5, 2.2], [0.0, 1.0, 0.0]),  # k = 1
        ([1.0, 1.5, 2.2], [0.0, 0.0, 0.0]),  # a zero angle in expquat
    ):
        exact = ph.step(inertia, m, q, 0.3)
        for name in FREE:
            ends = ph.step(inertia, m, q, 0.3, method=name)
            assert all(np.abs(a - b).max() < 4 * EPS for a, b in zip(ends, exact, strict=True))


# --- Table 2 of [Gus10]: the table itself is held in test_reproduce.py ---


@pytest.mark.parametrize("h", [0.25, 0.5, 1.0])
def test_factorization_as_accurate_as_published(h: float) -> None:
    """Its axis is the one that m circles, always the third in the thesis: not worse on the mean."""
    states = ensembles(20)
    exact = ph.step(MOMENTS, *states, T_END)[1]
    theirs = mean_errors("thesis8", h, states, exact)
    ours = mean_errors("factorization8", h, states, exact)
    assert np.median(ours) < 2 * np.median(theirs)
    other = mean_errors("factorization8", h, states, exact, c0=0.5, c3=0.5)
    assert np.abs(other - ours).max() < 1e-14  # "the same until machine accuracy"


# --- attitude_from_rate ---


@pytest.mark.parametrize("order", ORDERS)
def test_a_standing_rate_is_exact(order: int) -> None:
    """One step is exp(h omega/2), at any angle: 2 eps and the rounding of the angle."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=(200, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    omega = axis * 10 ** rng.uniform(-9, 2, size=(200, 1))
    q = ph.attitude_from_rate(lambda t: omega, [1.0, 0, 0, 0], 1.0, order=order)
    with mpmath.workdps(40):
        for w, got in zip(omega, q, strict=True):
            v = [mpmath.mpf(float(x)) / 2 for x in w]
            a = mpmath.norm(v)
            exact = [mpmath.cos(a), *(x * mpmath.sin(a) / a for x in v)]
            error = max(abs(mpmath.mpf(float(x)) - e) for x, e in zip(got, exact, strict=True))
            low = order < 6
            unit = (2 + (1 if low else 3) * float(a)) * EPS
            within("rates.orders_2_and_4" if low else "rates.orders_6_and_8", float(error) / unit)


def test_samples_and_functions_agree_bit_for_bit() -> None:
    for order in ORDERS:
        h, n = 0.3, 5
        times = [[(k + c) * h for c in _exact_nodes(order)] for k in range(n)]
        samples = np.array([[DOUBLE.omega(t) for t in row] for row in times])
        assert samples.shape == (n, order // 2, 3)
        one = ph.attitude_from_rate(samples, [1, 0, 0, 0], h, n, order=order)
        two = ph.attitude_from_rate(DOUBLE.omega, [1, 0, 0, 0], h, n, order=order)
        np.testing.assert_array_equal(one, two)


def _exact_nodes(order: int) -> list[float]:
    """The nodes as the core has them, from the closed forms."""
    inner = [0.0] if order % 4 == 2 else []
    pairs = {2: [], 4: [3**0.5 / 6], 6: [15**0.5 / 10]}.get(order)
    if pairs is None:
        pairs = [((3 - sign * 2 * 1.2**0.5) / 28) ** 0.5 for sign in (1, -1)]
    nodes = sorted([-x for x in pairs] + inner + pairs)
    return [0.5 + x for x in nodes]


def test_back_and_forth() -> None:
    """Symmetric: the steps back undo those forward."""
    for order in ORDERS:
        q = np.array([0.6, -0.48, 0.0, 0.64])
        there = ph.attitude_from_rate(DOUBLE.omega, q, 0.4, 5, order=order)
        back = ph.attitude_from_rate(DOUBLE.omega, there, -0.4, 5, order=order, t0=2.0)
        assert np.abs(back - q).max() < 16 * EPS


def test_batches_and_forms() -> None:
    rng = np.random.default_rng(2)
    omega = rng.normal(size=(3, 4, 37, 3))  # 3 steps of order 8
    _, q = random_states(37, 6)
    h = rng.uniform(-0.5, 0.5, size=37)

    def each(omega: Array, q: Array) -> Array:
        """With step lengths of each body."""
        bodies = omega[:, :, :, None], q[:, None], h[:, None]
        return ph.attitude_from_rate(*bodies, len(omega), order=8)[:, 0]

    ends = each(omega, q)
    assert ends.shape == (37, 4)
    # One at a time, bit for bit.
    for i in range(37):
        one = ph.attitude_from_rate(omega[:, :, i], q[i], h[i], 3, order=8)
        np.testing.assert_array_equal(one, ends[i])
    Q = each(omega, ph.so3.to_matrix(q))
    assert Q.shape == (37, 3, 3)
    assert np.abs(Q - ph.so3.to_matrix(ends)).max() < 32 * EPS
    # Broadcasting: two attitudes, one rate.
    two = ph.attitude_from_rate(omega[:, :, 0], q[:2], 0.1, 3, order=8)
    assert two.shape == (2, 4)
    # Other types and a quaternion that is not unit.
    short = each(omega.astype("f4"), 3 * q)
    assert np.abs(short - ends).max() < 1e-6
    assert np.abs(np.linalg.norm(short, axis=1) - 1).max() < 4 * EPS
    none = ph.attitude_from_rate(omega[:0], 2 * q, h, 0, order=8)
    assert np.abs(none - q).max() < 2 * EPS
    assert ph.attitude_from_rate(np.zeros((1, 1, 0, 3)), q[:1], 0.1, order=2).shape == (0, 4)
    none = ph.attitude_from_rate(np.zeros((0, 2, 37, 3)), q[0], 0.1, 0)
    np.testing.assert_array_equal(none, np.tile(q[0], (37, 1)))


def test_the_sign_is_that_of_the_path() -> None:
    """Three turns and a half about axis 3: q = (cos, 0, 0, sin) of half the angle."""
    angle = 7 * math.pi
    q = ph.attitude_from_rate(lambda t: [0.0, 0.0, angle], [1, 0, 0, 0], 1 / 64, 64)
    assert np.abs(q - [math.cos(angle / 2), 0, 0, math.sin(angle / 2)]).max() < 64 * EPS


def test_nan_stays_with_its_body() -> None:
    omega = np.zeros((2, 2, 5, 3))
    omega[0, 1, 3, 2] = np.nan
    q = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    h = np.full(5, 0.1)
    h[1] = np.inf
    q[4, 2] = np.nan
    ends = ph.attitude_from_rate(omega[:, :, :, None], q[:, None], h[:, None], 2)[:, 0]
    assert np.isnan(ends).all(-1).tolist() == [False, True, False, True, True]
    np.testing.assert_array_equal(ends[[0, 2]], q[[0, 2]])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"order": 5}, ValueError, "order must be 2, 4, 6 or 8, not 5"),
        ({"order": 4.0}, TypeError, "order must be an integer, not 4.0"),
        ({"order": [4]}, TypeError, "order must be an integer"),
        ({"t0": "now"}, TypeError, "t0 must be real numbers"),
        ({"t0": [0.0, 1.0]}, ValueError, "t0 must be one number"),
        ({"n_steps": -1}, ValueError, "negative"),
        ({"q0": [0, 0, 0, 0]}, ValueError, "q0 = .* zero quaternion"),
        ({"q0": [1, 0, 0]}, ValueError, "q0 must have shape"),
        ({"q0": np.diag([1.0, 1.0, -1.0])}, ValueError, "determinant is -1"),
        ({"h": [0.1, 0.2]}, ValueError, "one number where omega is a function"),
        ({"omega": lambda t: [1.0, 2.0]}, ValueError, r"omega\(t\) must have shape"),
        ({"omega": lambda t: ["x", "y", "z"]}, TypeError, "real numbers"),
        ({"omega": np.zeros((1, 3, 3))}, ValueError, r"\(n_steps, order/2, ..., 3\) = \(1, 2"),
        ({"omega": np.zeros((1, 2, 5, 3)), "q0": np.eye(4)}, ValueError, "do not broadcast"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"omega": DOUBLE.omega, "q0": [1.0, 0, 0, 0], "h": 0.1} | change
    with pytest.raises(error, match=message):
        ph.attitude_from_rate(**arguments)


# --- options ---


def test_options_of_the_factorization() -> None:
    m, q = random_states(40, 8)
    plain = ph.step(GUSTAFSSON, m, q, 0.7, method="factorization6")
    for c0, c3 in ((0.5, -0.5), (0.0, math.sqrt(0.5)), (math.sqrt(0.5), 0)):
        other = ph.step(GUSTAFSSON, m, q, 0.7, method="factorization6", c0=c0, c3=c3)
        np.testing.assert_array_equal(other[0], plain[0])
        assert np.abs(other[1] - plain[1]).max() < 2 * EPS
    listed = {x.name: x.options for x in ph.methods()}
    assert listed["factorization2"] == {"c0": math.sqrt(0.5), "c3": 0.0}
    assert listed["magnus8"] == {}


def test_bad_options() -> None:
    m, q = random_states(1, 8)
    with pytest.raises(ValueError, match=r"c0\^2 \+ c3\^2 must be 1/2"):
        ph.step(GUSTAFSSON, m, q, 0.7, method="factorization6", c0=1.0)
    with pytest.raises(TypeError, match="option 'c0' of method 'factorization6' must be a float"):
        ph.step(GUSTAFSSON, m, q, 0.7, method="factorization6", c0="0.5", c3=0.5)
    for huge in (1e200, 10**400, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"c0\^2 \+ c3\^2 must be 1/2"):
            ph.step(GUSTAFSSON, m, q, 0.7, method="factorization6", c0=huge)
    with pytest.raises(TypeError, match=r"no option .c0.*factorization2, factorization4"):
        ph.step(GUSTAFSSON, m, q, 0.7, method="magnus6", c0=1.0)

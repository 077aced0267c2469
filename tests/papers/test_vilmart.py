"""[Vil13] outside its approximate integrators: the equations of motion and Algorithm 1.

Each erratum with the printed form that fails.  The integrators are in test_moser_veselov.py and
test_rotations.py, the schemes with a potential in test_splitting.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
import reference
from compare import close
from mpmath import mpf
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph

Array = NDArray[Any]

BOOK = (0.376, 0.627, 1.0)
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)


def hat(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


# --- the equations of motion ---


def test_erratum_kinetic_energy_has_a_half() -> None:
    """T = tr(w^ D w^T)/2 = tr(Q' D Q'^T)/2; printed without the second half."""
    inertia, w = np.array(BOOK), np.array([1.1, 0.7, -0.4])
    D = np.diag(np.sum(inertia) / 2 - inertia)
    rate = ph.so3.to_matrix(Q0) @ hat(w)
    ours = ph.energy(inertia, ph.momentum(inertia, w))
    close(np.trace(hat(w) @ D @ hat(w).T) / 2, ours, rtol=8 * EPS)
    close(np.trace(rate @ D @ rate.T) / 2, ours, rtol=8 * EPS)
    close(np.trace(rate @ D @ rate.T), 2 * ours, rtol=8 * EPS)


def test_erratum_velocity_of_a_point() -> None:
    """v = w x x; with the printed x x w the angular momentum is -Theta w."""
    rng = np.random.default_rng(1)
    mass, x, w = rng.uniform(1, 2, 20), rng.normal(size=(20, 3)), np.array([0.3, -0.5, 0.8])
    x -= mass @ x / mass.sum()
    ours = ph.RigidBody.from_points(mass, x).tensor @ w
    right, printed = (mass @ np.cross(x, v) for v in (np.cross(w, x), np.cross(x, w)))
    assert np.abs(right - ours).max() < 64 * EPS * np.abs(ours).max()
    assert np.abs(printed + ours).max() < 64 * EPS * np.abs(ours).max()


def test_erratum_units_of_the_quaternion() -> None:
    """q = q0 + i q1 + j q2 + k q3 goes with Q = |q|^2 + 2 q0 e^ + 2 e^ e^; printed i twice."""
    ours = ph.so3.to_matrix(Q0)

    def of(q0: float, e: Array) -> Array:
        return (q0**2 + e @ e) * np.eye(3) + 2 * q0 * hat(e) + 2 * hat(e) @ hat(e)

    printed = np.array([Q0[1] + Q0[2], 0.0, Q0[3]])
    assert np.abs(of(Q0[0], Q0[1:]) - ours).max() < 4 * EPS
    assert np.abs(of(Q0[0], printed) - ours).max() > 0.1


def test_torque_of_a_potential() -> None:
    """(8): y' = y x w - rot(Q^T grad U), rot M = M - M^T: right; with + the energy is not kept."""
    Q, w = ph.so3.to_matrix(Q0), np.array([0.3, -0.5, 0.8])
    gradient = np.zeros((3, 3))
    gradient[2, 2] = 1.0  # of U = Q33
    M = Q.T @ gradient - gradient.T @ Q
    f = -np.array([M[2, 1], M[0, 2], M[1, 0]])
    ours = ph.torques.HeavyTop((0.0, 0.0, 1.0)).torque(0.0, np.zeros(3), Q)
    assert np.abs(ours - f).max() < 2 * EPS
    assert np.abs(f - [Q[2, 1], -Q[2, 0], 0.0]).max() < 2 * EPS
    power_of_U = (Q @ hat(w))[2, 2]
    assert abs(w @ f + power_of_U) < 4 * EPS
    assert abs(-(w @ f) + power_of_U) > 0.1


def test_erratum_bracket_that_vanishes() -> None:
    """{U, {U, {U, T}}} = 0, as Nystrom schemes require; printed is {T, {T, U}}, which is not zero.

    A bracket with U is the derivative along its flow, a kick; one with T along the free motion.
    """
    inertia, y = np.array(BOOK), np.array([0.5, 0.7, -0.4])
    model = ph.torques.HeavyTop((0.0, 0.0, 1.0))
    f = model.torque(0.0, y, Q0)
    kicked = [float(ph.energy(inertia, y + s * f)) for s in (-1.5, -0.5, 0.5, 1.5)]
    third = kicked[3] - 3 * kicked[2] + 3 * kicked[1] - kicked[0]
    assert abs(third) < 64 * EPS
    second = kicked[3] - kicked[2] - kicked[1] + kicked[0]
    close(second / 2, np.sum(f * f / inertia), rtol=64 * EPS)  # independent of y
    h = 1e-4
    U = [ph.so3.to_matrix(ph.step(inertia, y, Q0, s)[1])[2, 2] for s in (-h, 0.0, h)]
    # The difference errs by h^2 and by eps/h^2.
    assert abs((U[0] - 2 * U[1] + U[2]) / h**2) > 0.5


# --- Algorithm 1 ---


def algorithm_1(
    inertia: Sequence[float], y: Sequence[float], h: float, *, signed: bool = True
) -> list[Any]:
    """y(h).  nu and the other case are not printed; `signed` is the sign of other orders."""
    i1, i2, i3 = map(mpf, inertia)
    y1, y2, y3 = map(mpf, y)
    c1 = i1 * (i3 - i2) / (i2 * (i3 - i1))
    c2 = 1 - c1
    k1, k3 = mpmath.sqrt(y1**2 + c1 * y2**2), mpmath.sqrt(c2 * y2**2 + y3**2)
    time = h * (mpmath.sign(i3 - i1) if signed else 1)

    def solved(first: Any, third: Any, c: Any, cc: Any, rate: Any, along: Any) -> tuple[Any, ...]:
        """cn, sn and dn components, with the moduli of the printed case."""
        k2 = mpmath.sqrt(along**2 / c + y2**2)
        parameter = cc * first**2 / (c * third**2)
        nu = mpmath.ellipf(mpmath.atan2(y2 / k2, along / first), parameter)
        u = time * rate * third + nu
        sn, cn, dn = (mpmath.ellipfun(f, u, m=parameter) for f in ("sn", "cn", "dn"))
        return first * cn, k2 * sn, third * dn

    if c2 * k1**2 <= c1 * k3**2:
        sign = mpmath.sign(y3)
        rate = mpmath.sqrt((i3 - i2) * (i3 - i1) / (i1 * i2 * i3**2))
        a, b, c = solved(k1, k3, c1, c2, sign * rate, y1)
        return [a, b, sign * c]
    sign = mpmath.sign(y1)
    rate = mpmath.sqrt((i2 - i1) * (i3 - i1) / (i1**2 * i2 * i3))
    a, b, c = solved(k3, k1, c2, c1, sign * rate, y3)
    return [sign * c, b, a]


SIDES = {"printed": (0.3, 0.5, 0.8), "mirror": (0.8, 0.3, 0.4)}


@pytest.mark.parametrize("case", SIDES)
def test_algorithm_1_with_what_is_not_printed(case: str) -> None:
    """nu = F(atan2(y2/k2, y1/k1), k), and its mirror for c2 k1^2 >= c1 k3^2; every sign of y."""
    for signs in itertools.product((1.0, -1.0), repeat=3):
        y = tuple(s * x for s, x in zip(signs, SIDES[case], strict=True))
        end = reference.torque_free(BOOK, y, (1.0, 0.0, 0.0, 0.0), 1.3)
        with mpmath.workdps(40):
            ours = algorithm_1(BOOK, y, 1.3)
            assert max(abs(a - b) for a, b in zip(ours, end.m, strict=True)) < 1e-30
        m, _ = ph.step(BOOK, y, [1.0, 0.0, 0.0, 0.0], 1.3)
        assert end.error_m(m) < 16 * EPS


@pytest.mark.parametrize("case", SIDES)
def test_erratum_other_orders_of_the_moments(case: str) -> None:
    """The "similar formulas" for I1 >= I2 >= I3 are the same with the sign of I3 - I1 in u."""
    inertia, y = BOOK[::-1], SIDES[case]
    end = reference.torque_free(inertia, y, (1.0, 0.0, 0.0, 0.0), 1.0)
    with mpmath.workdps(40):
        right, unsigned = (algorithm_1(inertia, y, 1.0, signed=s) for s in (True, False))
        assert max(abs(a - b) for a, b in zip(right, end.m, strict=True)) < 1e-30
        assert max(abs(a - b) for a, b in zip(unsigned, end.m, strict=True)) > 0.1
    m, _ = ph.step(inertia, y, [1.0, 0.0, 0.0, 0.0], 1.0)
    assert end.error_m(m) < 16 * EPS


def test_erratum_symmetric_bodies() -> None:
    """I1 = I2 has k = 0, printed 0 < k, and the printed case; I2 = I3 the other, as c1 = 0."""
    for inertia, y in itertools.product(((0.6, 0.6, 1.0), (0.6, 1.0, 1.0)), SIDES.values()):
        end = reference.torque_free(inertia, y, (1.0, 0.0, 0.0, 0.0), 0.7)
        with mpmath.workdps(40):
            ours = algorithm_1(inertia, y, 0.7)
            assert max(abs(a - b) for a, b in zip(ours, end.m, strict=True)) < 1e-30
        m, _ = ph.step(inertia, y, [1.0, 0.0, 0.0, 0.0], 0.7)
        assert end.error_m(m) < 16 * EPS

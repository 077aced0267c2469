"""`InternalDissipation` and `BDot`: laws, closed forms, a public case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import polhode as ph
from polhode.torques import BDot, Constant, Gyrostat, InternalDissipation, dipole_field

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
R = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, -0.2], [0.0, -0.2, 0.6]])


def by_dop853(t: float) -> Array:
    """m and q at t of the body with R."""

    def f(t: float, y: Array) -> Array:
        m, q = y[:3], y[3:]
        w = m / INERTIA
        w = w + R @ np.cross(m, w)
        return np.r_[np.cross(m, w), ph.so3.multiply(q, [0.0, *(0.5 * w)])]

    y = solve_ivp(f, (0, t), np.r_[M0, Q0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return np.asarray(y)


@pytest.mark.parametrize(("splitting", "bound"), [("s6", 4e-8), ("mclachlan6_9", 2e-9)])
@pytest.mark.parametrize("own_axes", [False, True])
def test_against_the_equations(splitting: str, bound: float, own_axes: bool) -> None:
    exact = by_dop853(2.0)
    scheme = {"torque": InternalDissipation(R), "splitting": splitting}
    if own_axes:
        axes = ph.so3.to_matrix(ph.so3.exp([0.4, -0.9, 0.3]))
        body = ph.RigidBody.from_moments(INERTIA, axes=axes, physical=False)
        scheme["torque"] = InternalDissipation(axes @ R @ axes.T)
        back = ph.so3.conjugate(ph.so3.to_quaternion(axes))
        traj = body.integrate(axes @ M0, ph.so3.multiply(Q0, back), 0.1, 20, **scheme)
        m, q = traj.m[-1] @ axes, ph.so3.multiply(traj.q[-1], ph.so3.conjugate(back))
    else:
        traj = ph.integrate(INERTIA, M0, Q0, 0.1, 20, **scheme)
        m, q = traj.m[-1], traj.q[-1]
    close(np.r_[m, q], exact, atol=bound)


@pytest.mark.parametrize("inertia", [[1.0, 1.5, 2.2], [2.2, 1.0, 1.5], [1.0, 1.0, 2.0], [1, 2, 2]])
@pytest.mark.parametrize("matrix", [False, True])
def test_a_tumbling_body_ends_about_its_greatest_axis(inertia: list[float], matrix: bool) -> None:
    q0 = ph.so3.to_matrix(Q0) if matrix else Q0
    traj = ph.integrate(inertia, M0, q0, 0.2, 4000, torque=InternalDissipation(0.2), save_every=40)
    L = traj.momentum_spatial()
    close(L, np.broadcast_to(L[0], L.shape), atol=8 * EPS)
    energy = traj.energy()
    assert (np.diff(energy) < 8 * EPS).all()  # m follows from Q and L, to a few eps
    close(energy[-1], 0.5 * (M0 @ M0) / max(inertia), atol=1e-13)


def test_double_bracket_in_closed_form() -> None:
    # m' = a m x (m x omega) without the free motion: m is along exp(-a |m|^2 t / I) m0.  A sphere
    # that is nearly one has no free motion of its momentum.
    inertia = 1.0 + 1e-9 * np.array([0.0, 0.5, 1.2])
    a, t = 1e9, 3.0
    traj = ph.integrate(
        inertia, M0, Q0, t / 200, 200, torque=InternalDissipation(a), splitting="s6", save_every=200
    )
    free = 1e-9 * t
    m = np.exp(-a * (M0 @ M0) * t * (1 / inertia - 1)) * M0
    close(traj.m[1], m * np.linalg.norm(M0) / np.linalg.norm(m), atol=10 * free + 1e-8)


@pytest.mark.parametrize("inertia", [[1.0, 1.5, 2.2], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0]])
@pytest.mark.parametrize("R", [1.0, R])
def test_a_turn_too_long_to_be_stable_is_nan(inertia: list[float], R: Any) -> None:
    # Just below the limit the energy still decreases to that of the greatest axis.
    norm = np.abs(np.atleast_2d(R)).sum(axis=-1).max()
    J = 1 / np.array(inertia)
    fastest = norm * (M0 @ M0) * 2 * np.abs(J - J.mean()).max()
    start = inertia, M0, Q0, 0.1
    long = InternalDissipation(np.multiply(2.9 / 0.1 / fastest, R))
    energy = ph.integrate(*start, 400, torque=long, splitting=([1.0], [1.0])).energy()
    assert (np.diff(energy) < 4 * EPS).all()
    close(energy[-1], 0.5 * (M0 @ M0) / max(inertia), atol=1e-13)
    longer = InternalDissipation(np.multiply(3.1 / 0.1 / fastest, R))
    with pytest.warns(RuntimeWarning, match="too long to have a correct digit: 1 body is NaN"):
        ph.integrate(*start, 1, torque=longer, splitting=([1.0], [1.0]))


def test_with_other_torques() -> None:
    parts = [InternalDissipation(0.05), Gyrostat([0.0, 0.0, 2.0]), Constant([0.0, 0.0, 0.0])]
    coarse, fine, finest = (
        ph.integrate(INERTIA, M0, Q0, 1.0 / n, n, torque=parts).m[-1] for n in (20, 40, 160)
    )
    ratio = np.linalg.norm(coarse - finest) / np.linalg.norm(fine - finest)
    assert 3.8 < ratio < 4.7  # order 2: (1 - 1/64)/(1/4 - 1/64) = 4.2
    one = ph.integrate(INERTIA, M0, Q0, 0.05, 20, torque=parts[0])
    with_none = ph.integrate(INERTIA, M0, Q0, 0.05, 20, torque=[parts[0], parts[2]])
    close(with_none.m, one.m, atol=1e-8)  # two half turns and one whole


def test_refusals() -> None:
    with pytest.raises(ValueError, match="needs a splitting"):
        ph.integrate(
            INERTIA, M0, Q0, 0.1, 1, torque=InternalDissipation(0.1), splitting=None, method="rk4"
        )
    with pytest.raises(ValueError, match="positive semidefinite"):
        InternalDissipation(-R)
    with pytest.raises(ValueError, match="gain = -1"):
        BDot(-1.0, [0, 0, 1])
    with pytest.raises(ValueError, match="position must not be zero"):
        dipole_field([0, 0, 0], [0, 0, 1])


# B-dot ------------------------------------------------------------------------------------------


def test_detumbling_of_a_satellite() -> None:
    # A public case, with the field as a formula; reference by Taylor series, 25 digits.
    def field(t: Array) -> Array:
        u = 2 * np.pi * t / 5640
        return 4e-5 * np.stack(
            [1.5 * np.sin(2 * u), 0.2 + 0 * u, -(1 - 3 * np.sin(u) ** 2)], axis=-1
        )

    t = np.arange(-30.0, 121.0)
    coils = BDot(1e5, CubicSpline(t, field(t)))
    inertia = np.array([0.04, 0.045, 0.008])
    traj = ph.integrate(
        inertia, inertia * [0.3, -0.25, 0.2], [1, 0, 0, 0], 0.1, 900, torque=coils,
        splitting="mclachlan6_9", save_every=900,
    )  # fmt: skip
    m = [0.0017259707719341022601, -0.011448465180701571358, -0.0012262027397567288391]
    q = [-0.38194879843512241, 0.46386919225344029, -0.79184866698427322, -0.10916124059086470]
    close(traj.m[1], m, atol=1e-12)
    close(traj.q[1], q, atol=1e-11)


def test_field_of_a_dipole() -> None:
    rng = np.random.default_rng(2)
    r, m = rng.standard_normal((2, 5, 3))
    # Minus the gradient of m . r / r^3, by complex steps.
    for k in range(3):
        step = np.where(np.arange(3) == k, 1e-30j, 0)
        z = r + step
        potential = np.sum(m * z, axis=-1) / np.sum(z * z, axis=-1) ** 1.5
        close(dipole_field(r, m, 1.0)[:, k], -potential.imag / 1e-30, rtol=1e-13)

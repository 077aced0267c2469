"""`taylor9` ... `taylor16`: the series of torque models; the rest is in test_high_order.py."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]

INERTIA, M0, Q0 = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [0.8, 0.0, -0.6, 0.0]
U0 = [0.1, 0.2, 0.4]
TOP = ph.torques.HeavyTop(U0, [0.1, -0.2, 1.0])
ORDERS = range(9, 17)
#: Moments and momenta: rod, flat, sphere, symmetric, on an axis, beside it, at rest, separatrix.
BODIES = [
    ([0.0, 2.0, 2.0], [0.0, 0.5, 0.8]), ([2.0, 0.0, 2.0], [0.5, 0.0, 0.8]),
    ([1.0, 1.5, 2.5], [0.3, 0.5, 0.8]), ([2.0, 2.0, 2.0], [0.3, 0.5, 0.8]),
    ([2.0, 2.0, 1.0], [0.3, 0.5, 0.8]), ([1.0, 1.5, 2.2], [0.0, 1.0, 0.0]),
    ([1.0, 1.5, 2.2], [1e-10, 1.0, 1e-10]), ([2.2, 1.5, 1.0], [0.0, 0.0, 0.0]),
    ([1.0, 1.5, 3.0], [0.5, 1.0, 0.5**0.5]),
]  # fmt: skip
TORQUES: dict[str, Any] = {
    "none": None,
    "top": TOP,
    "lagrange": ph.torques.LagrangeTop(0.4),
    "dipole": ph.torques.Dipole([0.1, 0.2, 0.3], [0.4, 0.0, 1.0]),
    "gradient": ph.torques.GravityGradient(0.7, [0.6, 0.8, 0.0]),
    "damping": ph.torques.Damping([0.1, 0.2, 0.3]),
}


def end(
    method: str, n: int, torque: Any = TOP, t: float = 2.0, *, bodies: Any = BODIES, **options: Any
) -> Array:
    inertia, m0 = (np.array(x) for x in zip(*bodies, strict=True))
    arguments: dict[str, Any] = {"save_every": n, **options}
    path = ph.integrate(
        inertia, m0, Q0, t / n, n, torque=torque, method=method, splitting=None, **arguments
    )
    return np.concatenate([path.m[-1], path.q[-1]], axis=-1)


@pytest.mark.parametrize("torque", TORQUES)
@pytest.mark.parametrize("t", [2.0, -2.0])
def test_hard_states_as_rk8(torque: str, t: float) -> None:
    expected = end("rk8", 400, TORQUES[torque], t, t0=0.3)
    for order in (9, 12, 16):
        close(end(f"taylor{order}", 80, TORQUES[torque], t, t0=0.3), expected, atol=2e-14)


@pytest.mark.parametrize("torque", TORQUES)
def test_one_long_step_converges_with_the_order(torque: str) -> None:
    """A step of 0.4: each order is better than the one before, down to rounding."""
    regular = [BODIES[2], BODIES[5]]
    exact = end("rk8", 100, TORQUES[torque], 0.4, bodies=regular)
    errors = [
        float(np.abs(end(f"taylor{n}", 1, TORQUES[torque], 0.4, bodies=regular) - exact).max())
        for n in ORDERS
    ]
    assert all(b < max(a / 1.5, 4e-16) for a, b in itertools.pairwise(errors))
    assert errors[0] < 2e-6


def test_a_lagrange_top_is_a_heavy_top() -> None:
    top = ph.torques.HeavyTop([0.0, 0.0, 0.4])
    same(end("taylor12", 20, TORQUES["lagrange"]), end("taylor12", 20, top))


def test_damping_of_a_sphere() -> None:
    """m = e^(-k t) m0 for the same k about all axes, in closed form."""
    sphere = [([2.0, 2.0, 2.0], M0)]
    m = end("taylor10", 20, ph.torques.Damping([0.6, 0.6, 0.6]), bodies=sphere)[0, :3]
    close(m, np.exp(-0.6) * np.array(M0), atol=2e-16)


def test_damping_in_axes_of_its_own() -> None:
    D = np.array([[0.3, 0.1, 0.0], [0.1, 0.2, 0.05], [0.0, 0.05, 0.4]])
    damping = ph.torques.Damping(D)
    close(end("taylor11", 40, damping), end("rk8", 400, damping), atol=1e-14)


@pytest.mark.parametrize("order", [12, 16])
def test_steps_of_any_length_and_breaks(order: int) -> None:
    h = np.linspace(0.01, 0.09, 40)
    gradient, method = TORQUES["gradient"], f"taylor{order}"
    uneven = ph.integrate(INERTIA, M0, Q0, h, 40, torque=gradient, method=method, splitting=None)
    broken = ph.integrate(
        INERTIA, M0, Q0, 0.05, 40, torque=gradient, method=method, splitting=None, breaks=[0.3, 1.7]
    )
    expected = end("rk8", 400, gradient, bodies=[(INERTIA, M0)])[0]
    for path in (uneven, broken):
        close(path.m[-1], expected[:3], atol=4e-15)
        close(path.q[-1], expected[3:], atol=4e-15)
    m, _ = broken(0.777)
    close(m, end("rk8", 400, gradient, 0.777, bodies=[(INERTIA, M0)])[0, :3], atol=4e-15)


# --- what they refuse ---

TIMES = [0.0, 1.0, 2.0]
REFUSED: dict[str, Any] = {
    "a function": lambda q: np.zeros(3),
    "SoftWall": ph.torques.SoftWall(),
    "Constant": ph.torques.Constant([0.1, 0.0, 0.0]),
    "Dipole": ph.torques.Dipole([0.0, 0.0, 1.0], np.ones((3, 3)), TIMES),
    "GravityGradient": ph.torques.GravityGradient(
        orbit=ph.torques.Orbit(1.0, [1.0, 0.0, 0.0], [0.0, 1.1, 0.0])
    ),
    "Damping": ph.torques.Damping([0.1, 0.2, 0.3], frame="space"),
    "SpatialMomentum": ph.torques.SpatialMomentum(lambda t: np.ones(3), lambda t: np.zeros(3)),
    "a sum": [TOP, ph.torques.Damping([0.1, 0.2, 0.3])],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_torque_without_series_is_refused(name: str) -> None:
    word = "Function" if name == "a function" else name
    with pytest.raises(ValueError, match=rf"'taylor9' needs a torque .* not {word}.*; rk8"):
        end("taylor9", 2, REFUSED[name], bodies=[(INERTIA, M0)])


def test_other_body_axes_are_refused() -> None:
    turn = ph.so3.to_matrix(ph.so3.exp([0.3, -0.4, 0.5]))
    body = ph.RigidBody(turn @ np.diag(INERTIA) @ turn.T)
    for torque in (None, TOP):
        with pytest.raises(ValueError, match="'taylor9' needs body axes that are the principal"):
            body.integrate(M0, Q0, 0.1, 2, torque=torque, method="taylor9", splitting=None)
    plain = ph.RigidBody(np.diag(INERTIA))
    whole = plain.integrate(M0, Q0, 0.1, 2, torque=TOP, method="taylor9", splitting=None)
    same(whole.q[-1], end("taylor9", 2, t=0.2, bodies=[(INERTIA, M0)])[0, 3:])


def test_a_series_that_does_not_converge_is_named() -> None:
    with pytest.warns(RuntimeWarning, match="'taylor12' was too long .* 1 body is NaN"):
        end("taylor12", 40, t=4e6, bodies=[(INERTIA, M0)])

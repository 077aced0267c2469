"""The methods made of turns about body axes.

Order, norms, symmetry, axes and the rest of the common laws are in test_laws.py; here is what is
theirs alone: [Vil13] and [Buss01] as corrected in REFERENCES.md, the choice of axes, the options.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
import reference
import symplecticity
from compare import close
from mpmath import mpf
from numpy.typing import NDArray
from symplecticity import DIGITS, FLOOR, defects, quad_step
from tolerances import EPS

import polhode as ph

Array = NDArray[Any]
Axes = tuple[int, int, int]

ORDERS: list[Axes] = [(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)]
NAMES = {axes: "rotations" + "".join(map(str, axes)) for axes in ORDERS}
FAMILY = [m for m in ph.methods() if m.kind == "rotations"]
IDENTITY = (1.0, 0.0, 0.0, 0.0)

# Bodies of different shapes, sorted moments; the book is that of [Vil13] Figure 1.
BOOK = (0.376, 0.627, 1.0)
SHAPES = {
    "book": BOOK,
    "1:2:3": (1 / 3, 2 / 3, 1.0),
    "nearly a sphere": (0.9, 0.95, 1.0),
    "nearly a rod": (0.05, 0.99, 1.0),
    "disc": (0.5, 0.52, 1.0),
    "water": (0.345, 0.649, 0.994),
}

# The body of [Buss01] Figures 4 to 7: moments, momentum in space = in the body at the start.
BUSS = (0.95 / 3, 0.09 / 3, 0.94 / 3)
BUSS_M = (3 / math.sqrt(2), 3 / math.sqrt(2), 0.0)
BUSS_ENERGY = 1560 / 19


def test_the_family_is_complete() -> None:
    names = [m.name for m in FAMILY]
    expected = [*NAMES.values(), *(n + "_4" for n in NAMES.values())]
    assert names == [*expected, "symmetric_rotation", "no_squish"]
    for method in FAMILY:
        assert method.order == (4 if method.name.endswith("_4") else 2)
        # No energy: its error is bounded, not zero.
        assert method.invariants == ("casimir", "momentum_spatial")
        assert method.symmetric


# --- the papers in mpmath, with matrices and whole angles ---


def hat(v: Sequence[Any]) -> Any:
    x, y, z = v
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation(v: Sequence[Any]) -> Any:
    """exp(hat(v)), Rodrigues's formula."""
    angle = mpmath.sqrt(sum(x * x for x in v))
    if angle == 0:
        return mpmath.eye(3)
    e = hat([x / angle for x in v])
    return mpmath.eye(3) + mpmath.sin(angle) * e + (1 - mpmath.cos(angle)) * e * e


def cayley(v: Sequence[Any]) -> Any:
    """The same with t/(1 + t^2/4) and (1 - t^2/4)/(1 + t^2/4) for sin t and cos t."""
    t = mpmath.sqrt(sum(x * x for x in v))
    if t == 0:
        return mpmath.eye(3)
    e = hat([x / t for x in v])
    d = 1 + t * t / 4
    return mpmath.eye(3) + t / d * e + (1 - (1 - t * t / 4) / d) * e * e


Flow = tuple[int, Any]  # axis 1 to 3, share of the step
Turn = Callable[[Sequence[Any]], Any]


def updates(
    inertia: Sequence[Any], m: Sequence[Any], h: Any, flows: Sequence[Flow], turn: Turn = rotation
) -> tuple[Any, Any]:
    """[Buss01]'s UPDATE[x, tau] one after another: the angle is tau (R^T L)_x / J_x."""
    space = mpmath.matrix([mpf(x) for x in m])
    attitude = mpmath.eye(3)
    for axis, share in flows:
        momentum = attitude.T * space
        v = [mpf(0)] * 3
        v[axis - 1] = share * mpf(h) * momentum[axis - 1] / mpf(inertia[axis - 1])
        attitude = attitude * turn(v)
    return attitude.T * space, attitude


def second_order(axes: Axes, share: Any = 1) -> list[Flow]:
    a, b, c = axes
    half = mpf(share) / 2
    return [(a, half), (b, half), (c, mpf(share)), (b, half), (a, half)]


def x0_x1() -> tuple[Any, Any]:
    root = mpmath.cbrt(2)
    return 1 / (2 - root), -root / (2 - root)


def fourth_order(axes: Axes) -> list[Flow]:
    """The 13 updates of [Buss01]."""
    a, b, c = axes
    x0, x1 = x0_x1()
    first = [(a, x0 / 2), (b, x0 / 2), (c, x0), (b, x0 / 2)]
    middle = [(a, (x0 + x1) / 2), (b, x1 / 2), (c, x1), (b, x1 / 2), (a, (x0 + x1) / 2)]
    last = [(b, x0 / 2), (c, x0), (b, x0 / 2), (a, x0 / 2)]
    return [*first, *middle, *last]


def composition(axes: Axes) -> list[Flow]:
    """The same with the updates that meet left apart: 15."""
    x0, x1 = x0_x1()
    return [flow for x in (x0, x1, x0) for flow in second_order(axes, x)]


def algorithm_2(
    inertia: Sequence[Any], m: Sequence[Any], h: Any, axes: Axes = (1, 2, 3), printed: str = ""
) -> tuple[Any, Any]:
    """[Vil13] Algorithm 2 with the axes in the places of 1, 2, 3; alpha or beta as printed."""
    a, b, c = (axis - 1 for axis in axes)
    inverse = [1 / mpf(x) for x in inertia]
    y, attitude = mpmath.matrix([mpf(x) for x in m]), mpmath.eye(3)

    def along(axis: int, angle: Any) -> Any:
        return rotation([angle if i == axis else mpf(0) for i in range(3)])

    def flow_r(t: Any) -> None:
        nonlocal y, attitude
        alpha = inverse[a] * y[a] if printed == "alpha" else (inverse[a] - inverse[b]) * y[a]
        # U(theta) is the rotation by -theta.
        y = along(a, -alpha * t) * y
        attitude = attitude * along(a, alpha * t)

    def flow_s(t: Any) -> None:
        nonlocal y, attitude
        beta = inverse[c] - inverse[b]
        if printed != "beta":
            beta *= y[c]
        attitude = attitude * rotation([inverse[b] * t * x for x in y]) * along(c, beta * t)
        y = along(c, -beta * t) * y

    flow_r(mpf(h) / 2)
    flow_s(mpf(h))
    flow_r(mpf(h) / 2)
    return y, attitude


def error(ends: tuple[Array, Array], exact: tuple[Any, Any]) -> float:
    """Largest component of the differences of m and Q."""
    return max(
        reference.largest_error(got.ravel(), list(known))
        for got, known in zip(ends, exact, strict=True)
    )


def matrix_step(name: str, inertia: Any, m: Any, h: float, **options: Any) -> tuple[Array, Array]:
    return ph.step(inertia, m, np.eye(3), h, method=name, **options)


STATES = [
    ((1.0, 1.5, 2.2), (0.3, 0.5, 0.8), 0.4),
    ((2.2, 1.0, 1.5), (-0.6, 0.4, 0.7), -1.3),
    (BUSS, (-1.1, 0.8, 2.0), 0.03),
]


@pytest.mark.parametrize("axes", ORDERS)
@pytest.mark.parametrize("cayley_turns", [False, True])
def test_three_rotations_are_the_updates(axes: Axes, cayley_turns: bool) -> None:
    """Both orders, every order of the axes, against matrices in 30 digits."""
    turn = cayley if cayley_turns else rotation
    for inertia, m, h in STATES:
        size, angle = math.hypot(*m), abs(h) * math.hypot(*m) / min(inertia)
        for suffix in ("", "_4"):
            with mpmath.workdps(30):
                flows = second_order(axes)
                if suffix:
                    flows = composition(axes) if cayley_turns else fourth_order(axes)
                exact = updates(inertia, m, h, flows, turn)
            ends = matrix_step(NAMES[axes] + suffix, inertia, m, h, cayley=cayley_turns)
            # 13 turns, each rounded and turning what was rounded before; more radians in them.
            assert error(ends, exact) < 16 * EPS * (1 + 2 * angle) * max(size, 1)


@pytest.mark.parametrize("axes", ORDERS)
def test_symmetric_rotation_is_algorithm_2(axes: Axes) -> None:
    for inertia, m, h in STATES:
        size, angle = math.hypot(*m), abs(h) * math.hypot(*m) / min(inertia)
        with mpmath.workdps(30):
            exact = algorithm_2(inertia, m, h, axes)
        ends = matrix_step("symmetric_rotation", inertia, m, h, axes=axes)
        assert error(ends, exact) < 8 * EPS * (1 + angle) * max(size, 1)


@pytest.mark.parametrize("axes", ORDERS)
def test_no_squish_is_rotations321(axes: Axes) -> None:
    rng = np.random.default_rng(2)
    inertia = rng.uniform(0.2, 2.0, (500, 3))
    m = rng.normal(size=(500, 3))
    q = ph.so3.exp(rng.normal(size=(500, 3)))
    h = 0.5 * inertia.min(-1) * rng.uniform(-1, 1, 500)
    options: dict[str, Any] = {} if axes == (3, 2, 1) else {"axes": axes}
    ours = ph.step(inertia, m, q, h, method=NAMES[axes])
    theirs = ph.step(inertia, m, q, h, method="no_squish", **options)
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(a - b).max() < 20 * EPS
    again = ph.step(inertia, m, q, h, method="rotations123", axes=axes)
    for a, b in zip(ours, again, strict=True):
        np.testing.assert_array_equal(a, b)


# --- convergence ---


def directions(n: int) -> Array:
    v = np.random.default_rng(8).normal(size=(n, 3))
    return np.asarray(v / np.linalg.norm(v, axis=1)[:, None])


def error_constant(name: str, inertia: Sequence[float], **options: Any) -> float:
    """Root mean square over directions of the error of m at t = 1, over h^order."""
    m = directions(200)
    # Steps short enough for the thin rod; the error of "exact" is far below.
    n = round(16 / min(inertia))
    exact, _ = ph.step(inertia, m, IDENTITY, 1.0)
    end, _ = ph.step(inertia, m, IDENTITY, 1 / n, method=name, n_steps=n, **options)
    order = next(x.order for x in FAMILY if x.name == name) or 0
    return float(np.sqrt(np.mean(np.sum((end - exact) ** 2, -1))) * float(n) ** order)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_of_the_axes_matters(shape: str) -> None:
    """The axis of the least moment belongs outside: errors are up to 300 times smaller.

    The corrected printed order, 3-2-1, is one of the poor ones for sorted moments.
    """
    inertia = SHAPES[shape]
    constants = {axes: error_constant(NAMES[axes], inertia) for axes in ORDERS}
    best = min(constants, key=lambda axes: constants[axes])
    if shape == "nearly a sphere":  # all six are much the same
        assert max(constants.values()) < 1.5 * constants[best]
        return
    assert best in ([(1, 3, 2), (2, 3, 1)] if shape == "disc" else [(1, 2, 3)])
    assert constants[3, 2, 1] > 3 * constants[best]
    if shape == "nearly a rod":
        assert constants[3, 1, 2] > 200 * constants[best]
    # Moments in another order: the name goes with the axes.
    moved = (inertia[2], inertia[0], inertia[1])  # the least moment on axis 2
    close(error_constant("rotations231", moved), constants[1, 2, 3], rtol=0.3)


@pytest.mark.parametrize("shape", SHAPES)
def test_best_axes_of_symmetric_rotation(shape: str) -> None:
    """By default as accurate as the best of the six, and better than every three-rotation order."""
    inertia = SHAPES[shape]
    default = error_constant("symmetric_rotation", inertia)
    each = [error_constant("symmetric_rotation", inertia, axes=axes) for axes in ORDERS]
    # The round-off of "exact" and of the steps is the 1e-9.
    assert default <= 1.001 * min(each) + 1e-9
    assert default < min(error_constant(name, inertia) for name in NAMES.values()) / 1.2
    backwards = error_constant("symmetric_rotation", inertia[::-1])
    close(backwards, default, rtol=0.3)


def test_the_choice_of_axes_for_every_body() -> None:
    """Of the two families with b the middle axis, the default is never the worse one."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        inertia = tuple(np.sort(rng.uniform(0.2, 1.0, 3)))
        two = [
            error_constant("symmetric_rotation", inertia, axes=a) for a in ((1, 2, 3), (3, 2, 1))
        ]
        assert error_constant("symmetric_rotation", inertia) <= 1.03 * min(two)


@pytest.mark.parametrize("moments", set(itertools.permutations((0.7, 0.7, 1.6))))
@pytest.mark.parametrize("scale", [1.0, -0.4])
def test_symmetric_bodies_exactly(moments: tuple[float, float, float], scale: float) -> None:
    """Prolate, oblate and spherical bodies, any axis, steps of many radians."""
    for inertia in (moments, tuple(1 / x for x in moments), (moments[0],) * 3):
        m = 2 * directions(100)
        q = ph.so3.exp(directions(100))
        h = 3.0 * scale
        exact = ph.step(inertia, m, q, h)
        got = ph.step(inertia, m, q, h, method="symmetric_rotation")
        angle = abs(h) * 2 / min(inertia)
        for a, b in zip(got, exact, strict=True):
            # Both err by a few eps a radian; |m| = 2.
            assert np.abs(a - b).max() < 16 * EPS * (1 + angle)


@pytest.mark.parametrize("name", ["rotations123", "rotations231", "rotations231_4"])
def test_cayley_keeps_the_order(name: str) -> None:
    claimed = 4 if name.endswith("_4") else 2
    errors = [np.abs(run_ours(name, n, cayley=True)).max() for n in (32, 64)]
    close(math.log2(errors[0] / errors[1]), claimed, atol=0.1)


def test_erratum_cayley_updates_that_meet_do_not_add_up() -> None:
    """With Cayley turns the 13 updates are of order 2, the composition of 15 of order 4."""

    def rate(flows: Callable[[Axes], list[Flow]]) -> float:
        coarse, fine = (
            distance_at_1(lambda y, h: updates(BOOK, y, h, flows((2, 3, 1)), cayley), n)
            for n in (16, 32)
        )
        return math.log2(coarse / fine)

    with mpmath.workdps(30):
        close(rate(fourth_order), 2, atol=0.2)
        close(rate(composition), 4, atol=0.2)


@pytest.mark.parametrize("name", ["rotations123", "symmetric_rotation"])
def test_energy_does_not_drift(name: str) -> None:
    """The error of the energy stays in the same band over 2e4 steps of 0.1."""
    trajectory = ph.integrate(BOOK, Y0, IDENTITY, 0.1, 20_000, method=name)
    change = np.abs(trajectory.energy() - trajectory.energy()[0])
    bands = change[1:].reshape(4, -1).max(1)
    known = {"rotations123": 2.776e-4, "symmetric_rotation": 1.556e-4}[name]
    # The band is seen at the steps only.
    close(bands, np.full(4, known), rtol=2e-3)
    # Round-off of 2e4 steps in turn.
    assert np.abs(trajectory.casimir() / trajectory.casimir()[0] - 1).max() < 1e-12


# --- errata of [Vil13] ---


def run(step: Callable[[Any, Any], tuple[Any, Any]], m: Sequence[Any], n: int) -> Any:
    """m at t = 1 after n steps."""
    y = mpmath.matrix([mpf(x) for x in m])
    for _ in range(n):
        y, _ = step(y, mpf(1) / n)
    return y


Y0 = (0.5, 0.7, -0.4)


def distance_at_1(step: Callable[[Any, Any], tuple[Any, Any]], n: int) -> float:
    exact = reference.torque_free(BOOK, Y0, IDENTITY, 1.0)
    return float(max(abs(a - b) for a, b in zip(run(step, Y0, n), exact.m, strict=True)))


def test_erratum_last_factor_of_the_three_rotations() -> None:
    """Printed R3(h/2) R2(h/2) R1(h) R2(h/2) R1(h/2): neither symmetric nor consistent."""
    half = mpf(1) / 2

    def printed(y: Any, h: Any) -> tuple[Any, Any]:
        return updates(BOOK, y, h, [(3, half), (2, half), (1, 1), (2, half), (1, half)])

    def corrected(y: Any, h: Any) -> tuple[Any, Any]:
        return updates(BOOK, y, h, second_order((3, 2, 1)))

    with mpmath.workdps(30):
        there, _ = printed(Y0, mpf("0.3"))
        back, _ = printed(there, -mpf("0.3"))
        assert max(abs(x - mpf(y)) for x, y in zip(back, Y0, strict=True)) > 1e-3
        coarse, fine = (distance_at_1(printed, n) for n in (16, 32))
        assert fine > 0.1
        assert fine / coarse > 0.8
        coarse, fine = (distance_at_1(corrected, n) for n in (16, 32))
        close(math.log2(coarse / fine), 2, atol=0.05)

    ours = (np.abs(run_ours("rotations321", n)).max() for n in (16, 32))
    close(list(ours), [coarse, fine], rtol=1e-9)


def run_ours(name: str, n: int, **options: Any) -> Array:
    """Error of m at t = 1."""
    exact = reference.torque_free(BOOK, Y0, IDENTITY, 1.0)
    m, _ = ph.step(BOOK, Y0, IDENTITY, 1 / n, method=name, n_steps=n, **options)
    return np.array([float(mpf(float(x)) - y) for x, y in zip(m, exact.m, strict=True)])


@pytest.mark.parametrize("which", ["alpha", "beta"])
def test_erratum_alpha_and_beta_of_algorithm_2(which: str) -> None:
    """Either as printed, and the error does not depend on h."""
    with mpmath.workdps(30):
        coarse, fine = (
            distance_at_1(lambda y, h: algorithm_2(BOOK, y, h, printed=which), n) for n in (16, 32)
        )
        assert fine > 0.1
        assert fine / coarse > 0.8
        coarse, fine = (distance_at_1(lambda y, h: algorithm_2(BOOK, y, h), n) for n in (16, 32))
    close(math.log2(coarse / fine), 2, atol=0.05)
    ours = [np.abs(run_ours("symmetric_rotation", n, axes=(1, 2, 3))).max() for n in (16, 32)]
    close(ours, [coarse, fine], rtol=1e-9)


def test_erratum_remark_3_where_it_is_exact() -> None:
    """Exact for I1 = I2 and I2 = I3 with the printed axes, not for I1 = I3, where others are."""

    def off(inertia: Sequence[float], **options: Any) -> float:
        exact = ph.step(inertia, Y0, IDENTITY, 0.7)
        got = ph.step(inertia, Y0, IDENTITY, 0.7, method="symmetric_rotation", **options)
        return max(float(np.abs(a - b).max()) for a, b in zip(got, exact, strict=True))

    printed: Axes = (1, 2, 3)
    assert off((0.6, 0.6, 1.0), axes=printed) < 8 * EPS
    assert off((0.6, 1.0, 1.0), axes=printed) < 8 * EPS
    assert off((0.6, 1.0, 0.6), axes=printed) > 1e-3
    assert off((0.6, 1.0, 0.6), axes=(1, 3, 2)) < 8 * EPS
    assert off((0.6, 1.0, 0.6)) < 8 * EPS


@pytest.mark.parametrize("name", [m.name for m in FAMILY])
def test_table_2(name: str) -> None:
    """[Vil13] Table 2: Poisson, symplectic, reversible; C and Q y kept, the energy not."""
    assert max(defects(name, BOOK, Y0, 0.2)) < FLOOR
    with mpmath.workdps(DIGITS):
        y1, q = quad_step(name, BOOK, Y0, 0.2)
        # To the digits of the type.
        rounding = mpf(10) ** -31
        assert abs(sum(x * x for x in y1) - sum(mpf(x) ** 2 for x in Y0)) < rounding
        turned = symplecticity.rotation(q) * mpmath.matrix(y1)
        assert max(abs(u - mpf(v)) for u, v in zip(turned, Y0, strict=True)) < rounding
        change = sum((u * u - mpf(v) ** 2) / mpf(i) for u, v, i in zip(y1, Y0, BOOK, strict=True))
        assert abs(change) > 1e-7
        m_back, q_back = quad_step(name, BOOK, y1, -mpf(0.2))
        assert max(abs(u - mpf(v)) for u, v in zip(m_back, Y0, strict=True)) < rounding
        assert (
            max(abs(u - v) for u, v in zip(q_back[1:], [-x for x in q[1:]], strict=True)) < rounding
        )


# --- [Buss01] ---


def buss_error(name: str, n: int, t: float = 0.4, **options: Any) -> float:
    """Angle between the computed and the exact attitude after n steps."""
    _, exact = ph.step(BUSS, BUSS_M, IDENTITY, t)
    _, q = ph.step(BUSS, BUSS_M, IDENTITY, t / n, method=name, n_steps=n, **options)
    turn = ph.so3.multiply(ph.so3.conjugate(exact), q)
    return float(2 * np.arctan2(np.linalg.norm(turn[1:]), abs(turn[0])))


def test_buss_every_order_of_the_axes() -> None:
    """2-3-1 and 2-1-3, the least moment outside, are the best by far, 1-2-3 is the worst."""
    known = {
        "rotations123": 2.58e-5,
        "rotations321": 2.04e-5,
        "rotations132": 2.70e-6,
        "rotations312": 2.16e-6,
        "rotations231": 1.39e-7,
        "rotations213": 1.13e-7,
    }
    for name, error in known.items():
        close(buss_error(name, 3200), error, rtol=0.01, what=name)


def test_erratum_231_is_of_order_2() -> None:
    """Printed: it "acted like a third-order algorithm"; in size, not in order."""
    rate = math.log2(buss_error("rotations231", 400) / buss_error("rotations231", 800))
    close(rate, 2, atol=0.01)
    rate = math.log2(buss_error("rotations231_4", 400) / buss_error("rotations231_4", 800))
    close(rate, 4, atol=0.1)


def test_buss_long_run_stays_in_its_band() -> None:
    """The published energies after 2e8 steps of 0.02 are no drift: the band is as wide at once."""
    for name, low, high in (("123", 75.1238, BUSS_ENERGY), ("231", BUSS_ENERGY, 82.1281)):
        energies = ph.integrate(
            BUSS, BUSS_M, IDENTITY, 0.02, 20_000, method=f"rotations{name}"
        ).energy()
        assert low - 1e-4 < min(energies)
        assert max(energies) < high + 1e-4
        published = {"123": 75.2587, "231": 82.1218}[name]
        assert min(energies) < published < max(energies)


@pytest.mark.parametrize(
    ("name", "times"), [("rotations231", 330), ("rotations213", 410), ("rotations123", 2.8)]
)
def test_erratum_cayley_is_not_free(name: str, times: float) -> None:
    """Printed as "commonly used to reduce the cost": the order stays, the error grows by this."""
    plain, replaced = buss_error(name, 3200), buss_error(name, 3200, cayley=True)
    close(replaced / plain, times, rtol=0.03)


# --- options and limits ---


def test_options() -> None:
    options = {m.name: m.options for m in FAMILY}
    energy = {"energy_correction": False}
    assert options["rotations231"] == {"axes": (2, 3, 1), "cayley": False, **energy}
    assert options["rotations312_4"] == {"axes": (3, 1, 2), "cayley": False, **energy}
    assert options["symmetric_rotation"] == {"axes": None, **energy}
    assert options["no_squish"] == {"axes": (3, 2, 1), **energy}
    plain = ph.step(BOOK, Y0, IDENTITY, 0.2, method="symmetric_rotation")
    same = ph.step(BOOK, Y0, IDENTITY, 0.2, method="symmetric_rotation", axes=None)
    np.testing.assert_array_equal(plain[0], same[0])
    ph.step(BOOK, Y0, IDENTITY, 0.2, method="rotations123", axes=np.array([3, 1, 2]))


@pytest.mark.parametrize(
    ("axes", "error_type"),
    [
        ((1, 2), ValueError),
        ((1, 2, 2), ValueError),
        ((0, 1, 2), ValueError),
        ((1, 2, 3, 1), ValueError),
        ("123", TypeError),
        (123, TypeError),
        ((1.0, 2.0, 3.0), TypeError),
        ({3, 1, 2}, TypeError),  # a set has no order
        (None, TypeError),
    ],
)
def test_axes_that_are_none(axes: Any, error_type: type[Exception]) -> None:
    with pytest.raises(error_type, match="axes"):
        ph.step(BOOK, Y0, IDENTITY, 0.2, method="rotations123", axes=axes)


@pytest.mark.parametrize("cayley", ["False", None, 0.3, math.nan, 2])
def test_cayley_is_a_truth_value(cayley: Any) -> None:
    with pytest.raises(
        TypeError, match="option 'cayley' of method 'rotations123' must be one of False, True"
    ):
        ph.step(BOOK, Y0, IDENTITY, 0.2, method="rotations123", cayley=cayley)
    for yes in (True, np.True_, 1):
        got = ph.step(BOOK, Y0, IDENTITY, 0.2, method="rotations123", cayley=yes)
        known = ph.step(BOOK, Y0, IDENTITY, 0.2, method="rotations123", cayley=True)
        np.testing.assert_array_equal(got[1], known[1])


def test_an_option_of_others() -> None:
    with pytest.raises(TypeError, match="rotations123"):
        ph.step(BOOK, Y0, IDENTITY, 0.2, method="symmetric_rotation", cayley=True)


@pytest.mark.parametrize("name", [m.name for m in FAMILY])
def test_options_in_integrate(name: str) -> None:
    """The flow of a splitting takes the options too: without torque it is the method itself."""
    axes = (2, 1, 3)
    trajectory = ph.integrate(BOOK, Y0, IDENTITY, 0.2, 3, method=name, axes=axes)
    m, q = ph.step(BOOK, Y0, IDENTITY, 0.2, method=name, axes=axes, n_steps=3)
    np.testing.assert_array_equal(trajectory.m[-1], m)
    np.testing.assert_array_equal(trajectory.q[-1], q)


@pytest.mark.parametrize("name", [m.name for m in FAMILY])
@pytest.mark.parametrize("zero", [0, 1, 2])
def test_rods_turn_about_m(name: str, zero: int) -> None:
    """A rod's momentum is constant, so its result can start the next step; in any batch."""
    inertia = np.array([(1.0, 1.3, 2.1)] * 24)
    inertia[5] = 1.3
    inertia[5, zero] = 0.0
    m = directions(24)
    m[5, zero] = 0.0
    exact = ph.step(inertia[5], m[5], IDENTITY, 0.7, n_steps=5)
    options: list[dict[str, Any]] = [{}, {"axes": (2, 1, 3)}]
    for option in options:
        end, q = ph.step(inertia, m, IDENTITY, 0.7, method=name, n_steps=5, **option)
        assert np.abs(end[5] - exact[0]).max() <= 0
        assert np.abs(q[5] - exact[1]).max() < 32 * EPS
        alone = ph.step(inertia[5], m[5], IDENTITY, 0.7, method=name, n_steps=5, **option)
        np.testing.assert_array_equal(alone[0], end[5])
        np.testing.assert_array_equal(alone[1], q[5])


def test_cayley_of_any_angle() -> None:
    """A turn by the angle 2 atan(t/2) however large t is."""
    for h in (1e10, 1e160, -1e300):
        m, q = ph.step(
            (1.0, 1.5, 2.2), (0.6, 0.0, 0.0), IDENTITY, h, method="rotations123", cayley=True
        )
        close(m, (0.6, 0.0, 0.0))
        assert abs(np.linalg.norm(q) - 1) < 4 * EPS

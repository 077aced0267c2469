"""The discrete Moser-Veselov methods and the implicit midpoint rule.

Order, energy, norms, symmetry and the rest of the common laws are in test_laws.py; here is what is
theirs alone: [Vil13] as corrected in REFERENCES.md, Table 2 of it, and which root is taken.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from compare import close
from mpmath import mpf
from numpy.typing import NDArray
from symplecticity import DIGITS, FLOOR, defects, quad_step
from tolerances import EPS

import polhode as ph

Array = NDArray[Any]

FAMILY = [m.name for m in ph.methods() if m.kind == "discrete Moser-Veselov"]
ORDER = {m.name: m.order or 0 for m in ph.methods()}
BOOK = (0.376, 0.627, 1.0)  # the book of [Vil13] Figure 1
Y0 = (0.5, 0.7, -0.4)


def test_the_family_is_complete() -> None:
    assert [f"dmv{2 * p}" for p in range(1, 10)] == FAMILY
    assert [ORDER[name] for name in FAMILY] == list(range(2, 20, 2))
    assert ORDER["midpoint"] == 2


# --- [Vil13] in mpmath: Table 1 in its own symbols, (12) to (15) ---


def table_1(inertia: Sequence[Any], y: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(s3, t3), (s5, t5), (s7, t7) as printed."""
    i1, i2, i3 = map(mpf, inertia)
    d = i1 * i2 * i3

    def sigma(a: int) -> Any:
        return i1**a + i2**a + i3**a

    def tau(b: int, c: int) -> Any:
        return (i2**b + i3**b) / i1**c + (i3**b + i1**b) / i2**c + (i1**b + i2**b) / i3**c

    c = sum(mpf(x) ** 2 for x in y) / 2
    h = sum(mpf(x) ** 2 / mpf(i) for x, i in zip(y, inertia, strict=True)) / 2
    s3 = -sigma(-1) / 3 * h + sigma(1) / (6 * d) * c
    t3 = sigma(1) / (6 * d) * h - c / (3 * d)
    s5 = (
        (3 * sigma(1) + 2 * d * sigma(-2)) / (60 * d) * h**2
        + (1 - tau(1, 1)) / (30 * d) * c * h
        + (sigma(2) - d * sigma(-1)) / (30 * d**2) * c**2
    )
    t5 = (
        -(9 + tau(1, 1)) / (60 * d) * h**2
        + (6 * d * sigma(-1) - sigma(2)) / (60 * d**2) * c * h
        - sigma(1) / (60 * d**2) * c**2
    )
    s7 = (
        (15 - d * sigma(-3) - 2 * tau(1, 1)) / (630 * d) * h**3
        + (6 * d * tau(1, 2) - 100 * d * sigma(-1) + 53 * sigma(2)) / (2520 * d**2) * c * h**2
        + (9 * sigma(1) + 10 * d * sigma(-2) - 6 * tau(2, 1)) / (420 * d**2) * c**2 * h
        + (4 * d + 17 * sigma(3) - 15 * d * tau(1, 1)) / (2520 * d**3) * c**3
    )
    t7 = (
        (9 * d * sigma(-1) + d * tau(1, 2) - 11 * sigma(2)) / (1260 * d**2) * h**3
        + (47 * sigma(1) + 13 * tau(2, 1) - 38 * d * sigma(-2)) / (2520 * d**2) * c * h**2
        + (sigma(3) + 2 * d * tau(1, 1) - 85 * d) / (1260 * d**3) * c**2 * h
        + (34 * d * sigma(-1) - 19 * sigma(2)) / (2520 * d**3) * c**3
    )
    return [(s3, t3), (s5, t5), (s7, t7)]


def algorithm_4(
    inertia: Sequence[Any], y: Sequence[Any], h: Any, p: int, power: Callable[[int], int]
) -> tuple[Any, Any]:
    """New momentum and dq of order 2p; h^power(k) goes with s_{2k+1}, t_{2k+1}."""
    functions = table_1(inertia, y)[: p - 1]
    inverse = [
        (1 + sum(h ** power(k) * s for k, (s, _) in enumerate(functions, 1))) / mpf(i)
        + sum(h ** power(k) * t for k, (_, t) in enumerate(functions, 1))
        for i in inertia
    ]
    return algorithm_3(inverse, y, h)


def algorithm_3(inverse: Sequence[Any], y: Sequence[Any], h: Any) -> tuple[Any, Any]:
    def unknowns(*big: Any) -> tuple[list[Any], list[Any], Any]:
        w = [a * b for a, b in zip(inverse, big, strict=True)]
        e = [h * x / 2 for x in w]
        return cross(big, w), e, 1 + sum(x * x for x in e)

    def equation_14(*big: Any) -> list[Any]:
        product, _, alpha = unknowns(*big)
        return [b - alpha * x - h / 2 * c for b, x, c in zip(big, y, product, strict=True)]

    big = mpmath.findroot(equation_14, [mpf(x) for x in y])
    product, e, alpha = unknowns(*big)
    root = mpmath.sqrt(alpha)
    return (
        [mpf(x) + h / alpha * c for x, c in zip(y, product, strict=True)],
        [1 / root, *(x / root for x in e)],
    )


def cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def largest(a: Sequence[Any], b: Sequence[Any]) -> float:
    return float(max(abs(x - y) for x, y in zip(a, b, strict=True)))


@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("inertia", [BOOK, (1.3, 0.8, 0.55)])
def test_algorithms_3_and_4(p: int, inertia: Sequence[float]) -> None:
    """The kernel is Table 1 and (13) to (15), to the last digit of both number types."""
    h = mpf(0.2)
    with mpmath.workdps(DIGITS):
        y1, dq = algorithm_4(inertia, Y0, h, p, lambda k: 2 * k)
        wide = quad_step(f"dmv{2 * p}", inertia, Y0, h)
        assert largest(wide[0], y1) < 1e-32
        assert largest(wide[1], dq) < 1e-32
        ours = ph.step(inertia, Y0, [1.0, 0.0, 0.0, 0.0], 0.2, method=f"dmv{2 * p}")
        assert largest(ours[0], y1) < 2 * EPS
        assert largest(ours[1], dq) < 2 * EPS


# --- errata: the printed form fails, ours passes ---


def halving(error: Callable[[Any], Any]) -> float:
    """Order from two steps, one half of the other (of a one-step error, which has one more)."""
    with mpmath.workdps(DIGITS):
        return float(mpmath.log(error(mpf(1) / 16) / error(mpf(1) / 32), 2)) - 1


@pytest.mark.parametrize("p", [3, 4])
def test_algorithm_4_powers_of_h(p: int) -> None:
    """Printed: 1 + h^2 s3 + ... + h^2 s_{2p-1}.  Right: h^4 with s5, h^6 with s7."""

    def error(step: Callable[[Any], tuple[Any, Any]]) -> Callable[[Any], float]:
        return lambda h: largest(step(h)[1], quad_step("exact", BOOK, Y0, h)[1])

    def printed(h: Any) -> tuple[Any, Any]:
        return algorithm_4(BOOK, Y0, h, p, lambda k: 2)

    close(halving(error(printed)), 2, atol=0.2)
    assert halving(error(lambda h: quad_step(f"dmv{2 * p}", BOOK, Y0, h))) > 2 * p - 0.15


def test_cayley_transform() -> None:
    """Printed: Omega^T = (I + e^)(I + e^)^-1, which is I.  Right: (I + e^)(I - e^)^-1."""
    _, q = ph.step(BOOK, Y0, [1.0, 0.0, 0.0, 0.0], 0.3, method="dmv2")
    e = q[1:] / q[0]  # (13)
    hat = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    _, matrix = ph.step(BOOK, Y0, np.eye(3), 0.3, method="dmv2")
    plus, minus = np.eye(3) + hat, np.eye(3) - hat
    assert np.abs(matrix - plus @ np.linalg.inv(minus)).max() < 4 * EPS
    assert np.abs(matrix - plus @ np.linalg.inv(plus)).max() > 0.1


def test_moser_veselov_form() -> None:
    """(12): Omega^T D - D Omega = h hat(y), y1 = Omega y, with D from (2); one d_k may be 0."""
    for inertia in (BOOK, (1 / 3, 2 / 3, 1.0)):
        h = 0.2
        d = np.diag(sum(inertia) / 2 - np.array(inertia))
        y1, turn = ph.step(inertia, Y0, np.eye(3), h, method="dmv2")
        hat = np.cross(np.eye(3), Y0)  # row i is e_i x y, so this is hat(y)
        assert np.abs((turn @ d - d @ turn.T) - h * hat).max() < 4 * EPS
        assert np.abs(turn.T @ Y0 - y1).max() < 4 * EPS


def test_momentum_is_constant_in_space() -> None:
    """Printed: Q y constant in the body frame.  y itself changes; Q y does not."""
    y, q = ph.step(BOOK, Y0, [1.0, 0.0, 0.0, 0.0], 0.2, method="dmv2", n_steps=10)
    assert np.abs(y - Y0).max() > 0.1
    assert np.abs(ph.momentum_spatial(y, q) - Y0).max() < 30 * EPS


# --- [Vil13] Table 2 ---


@pytest.mark.parametrize("name", ["exact", *FAMILY])
def test_poisson(name: str) -> None:
    """All are Poisson maps of y."""
    assert defects(name, BOOK, Y0, 0.2)[0] < FLOOR


@pytest.mark.parametrize("name", ["exact", "dmv2"])
def test_symplectic(name: str) -> None:
    assert max(defects(name, BOOK, Y0, h)[1] for h in (0.2, 0.1)) < FLOOR


@pytest.mark.parametrize("name", [n for n in FAMILY if n != "dmv2"])
def test_preprocessing_is_not_symplectic(name: str) -> None:
    """It misses by O(h^{order + 1})."""
    coarse, fine = (defects(name, BOOK, Y0, h)[1] for h in (0.2, 0.1))
    assert fine > 10 * FLOOR or ORDER[name] > 16
    if ORDER[name] > 16:
        coarse, fine = (defects(name, BOOK, Y0, h)[1] for h in (0.4, 0.2))
    close(np.log2(coarse / fine), ORDER[name] + 1, atol=0.5)


def test_midpoint_is_neither() -> None:
    (poisson, symplectic), (poisson_fine, symplectic_fine) = (
        defects("midpoint", BOOK, Y0, h) for h in (0.2, 0.1)
    )
    assert poisson > 1e-4
    assert symplectic > 1e-3
    close(np.log2(poisson / poisson_fine), 3, atol=0.3)
    close(np.log2(symplectic / symplectic_fine), 3, atol=0.3)


def test_midpoint_rule() -> None:
    """Y = y + (h/2) Y x J^-1 Y is the mean of both ends, and the matrix is the midpoint of (3)."""
    h = 0.3
    y1, turn = ph.step(BOOK, Y0, np.eye(3), h, method="midpoint")
    mean = (y1 + Y0) / 2
    omega = mean / BOOK
    assert np.abs(y1 - Y0 - h * np.cross(mean, omega)).max() < 4 * EPS
    hat_omega = np.cross(np.eye(3), omega)
    assert np.abs(turn - np.eye(3) - h * (np.eye(3) + turn) / 2 @ hat_omega).max() < 4 * EPS


# --- RATTLE ---


def rattle(inertia: Array, y: Array, attitude: Array, h: float) -> tuple[Array, Array]:
    """[Vil13] (11) with the potential U = Q33, by Newton's method on the multipliers."""
    d = sum(inertia) / 2 - inertia

    def gradient(_: Array) -> Array:
        g = np.zeros((3, 3))
        g[2, 2] = 1.0
        return g

    def symmetric(v: Array) -> Array:
        return np.array([[v[0], v[3], v[4]], [v[3], v[1], v[5]], [v[4], v[5], v[2]]])

    upper = ([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])

    def solve(residual: Callable[[Array], Array]) -> Array:
        v = np.zeros(6)
        for _ in range(12):
            r = residual(v)
            jacobian = np.array(
                [(residual(v + 1e-6 * k) - residual(v - 1e-6 * k)) / 2e-6 for k in np.eye(6)]
            ).T
            v = v - np.linalg.solve(jacobian, r)
        return v

    hat_omega = np.cross(np.eye(3), y / inertia)
    p = attitude @ hat_omega * d  # P = Q' D

    def half(v: Array) -> Array:
        return p - h / 2 * gradient(attitude) - h / 2 * attitude @ symmetric(v)

    def moved(v: Array) -> Array:
        return attitude + h * half(v) / d

    v = solve(lambda v: (moved(v).T @ moved(v) - np.eye(3))[upper])
    p_half, end = half(v), moved(v)

    def last(v: Array) -> Array:
        return p_half - h / 2 * gradient(end) - h / 2 * end @ symmetric(v)

    def hidden(v: Array) -> Array:
        a = end.T @ last(v) / d
        return (a + a.T)[upper]

    p1 = last(solve(hidden))
    y_hat = end.T @ p1 - p1.T @ end
    return np.array([y_hat[2, 1], y_hat[0, 2], y_hat[1, 0]]), end


def test_rattle_is_strang_with_dmv2() -> None:
    """(11) with a potential: a kick of h/2, dmv2, a kick of h/2; (16) has h_2."""
    inertia = np.array([0.6, 0.8, 1.0])
    attitude = ph.so3.to_matrix(np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95))
    for h in (0.1, 0.05):
        y, end = rattle(inertia, np.array(Y0), attitude, h)
        trajectory = ph.integrate(
            inertia,
            Y0,
            attitude,
            h,
            1,
            torque=ph.torques.HeavyTop(u0=(0.0, 0.0, 1.0)),
            splitting="strang",
            method="dmv2",
        )
        # The multipliers come from a Newton iteration whose residuals are rounded at eps / h.
        assert np.abs(trajectory.m[-1] - y).max() < 8 * EPS / h
        assert np.abs(trajectory.q[-1] - end).max() < 8 * EPS / h


# --- which root ---


def angle_between(p: Array, q: Array) -> Array:
    chord = np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    return 4 * np.arcsin(np.minimum(chord / 2, 1.0))


def directions() -> Array:
    """26 directions from the axes, planes and diagonals, each turned a little as well."""
    cube = np.array([v for v in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(v)])
    both = np.concatenate([cube, cube + np.array([0.1, -0.23, 0.37])])
    return both / np.linalg.norm(both, axis=1, keepdims=True)


def test_the_right_root_past_a_quarter_turn() -> None:
    """The usual start Y = y converges, silently, to the root that turns by less than a quarter."""
    x = 2.0
    h = x * min(BOOK)
    m = directions()
    one = [1.0, 0.0, 0.0, 0.0]
    _, exact = ph.step(BOOK, m, one, h)
    # The wrong root is off by up to 0.3 rad here; these are what truncation leaves, twice.
    bounds = {"dmv8": 0.03, "dmv10": 1.5e-3, "dmv14": 2e-6, "dmv18": 1e-8}
    for name, bound in bounds.items():
        _, q = ph.step(BOOK, m, one, h, method=name)
        assert angle_between(q, exact).max() < bound
    # On axis 1 (14) is sin theta = h |m| / I~_1, and the usual start leads to pi - theta.
    with mpmath.workdps(20):
        y = [1, 0, 0]
        _, usual = algorithm_4(BOOK, y, mpf(h), 4, lambda k: 2 * k)
        angle = 2 * mpmath.atan2(usual[1], usual[0])
        assert abs(angle - x) > 0.5
    _, ours = ph.step(BOOK, [1.0, 0.0, 0.0], one, h, method="dmv8")
    close(2 * np.arctan2(ours[1], ours[0]), x, atol=6e-3)


@pytest.mark.parametrize("name", [n for n in FAMILY if ORDER[n] >= 8])
def test_no_wrong_root_is_accepted(name: str) -> None:
    """Random bodies, thin ones too, steps below a half turn; bench has more of them."""
    rng = np.random.default_rng(11)
    n = 4000
    inertia = np.where(
        rng.integers(0, 2, (n, 1)) == 0,
        rng.uniform(0.05, 1, (n, 3)),
        10 ** rng.uniform(-3, 0, (n, 3)),
    )
    m = rng.normal(size=(n, 3)) * 10 ** rng.uniform(-1, 0, (n, 3))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    h = rng.uniform(0, np.pi, n) * inertia.min(axis=1)
    one = [1.0, 0.0, 0.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        _, q = ph.step(inertia, m, one, h, method=name)
    _, exact = ph.step(inertia, m, one, h)
    error = angle_between(q, exact)
    assert np.nanmax(error) < 0.2
    hw = h / inertia.min(axis=1)
    assert not np.isnan(error[hw < 1.5]).any()
    assert np.isnan(error).mean() < 0.05


@pytest.mark.parametrize("name", ["dmv14", "dmv16", "dmv18"])
def test_where_two_roots_meet(name: str) -> None:
    """At a quarter turn about an axis: the estimate may lie nearer to the wrong one, not farther
    than its own error of 1e-4 from the right one; none of them is lost but in slivers.
    """
    one = [1.0, 0.0, 0.0, 0.0]
    off = np.array([0.0, *np.geomspace(1e-9, 1e-2, 400)])
    h = BOOK[0] * np.concatenate([np.pi / 2 - off, np.pi / 2 + off])
    m = np.array([1.0, 0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        _, q = ph.step(BOOK, m, one, h, method=name)
    _, exact = ph.step(BOOK, m, one, h)
    error = angle_between(q, exact)
    close = np.abs(h / BOOK[0] - np.pi / 2) < 2e-4
    assert np.nanmax(error[close]) < 3e-4
    assert not np.isnan(error[~close]).any()
    assert error[~close].max() < 1e-5


# Just past 1, where order 2 has no root near the path but one at more than 2 rad from it.
FAR_ROOTS = (
    (
        (1.0, 1.0000028353873585, 58.22703274992036),
        (0.7229210624371178, -0.6844657001546882, 0.09429656831794521),
        1.027509659045093,
    ),
    (
        (13.750698782936801, 1.0, 1.0000000088942913),
        (-0.1918441045293832, 0.009102896816890655, -0.9813831957124903),
        1.0543213936233449,
    ),
    (
        (1.0000000000002942, 1.0, 40.01656226029659),
        (0.9256282375619004, 0.3262815249083092, -0.19171002146877608),
        1.0597742876756748,
    ),
)


@pytest.mark.parametrize(("inertia", "m", "h"), FAR_ROOTS)
def test_order_2_takes_no_far_root_just_past_1(inertia: Any, m: Any, h: float) -> None:
    one = [1.0, 0.0, 0.0, 0.0]
    with pytest.warns(RuntimeWarning, match="dmv2"):
        _, q = ph.step(inertia, m, one, h, method="dmv2")
    assert np.isnan(q).all()
    _, exact = ph.step(inertia, m, one, h)
    _, q = ph.step(inertia, m, one, h, method="dmv4")
    assert angle_between(q, exact) < 0.05


@pytest.mark.parametrize("name", FAMILY)
def test_a_half_turn_and_more_is_nan(name: str) -> None:
    one = [1.0, 0.0, 0.0, 0.0]
    for h in (np.pi * BOOK[0] * (1 + 4 * EPS), -10.0, 1e300):
        with pytest.warns(RuntimeWarning, match=f"{name}.*1 body is NaN"):
            m, q = ph.step(BOOK, [0.6, 0.0, 0.8], one, h, method=name)
        assert np.isnan(m).all()
        assert np.isnan(q).all()


@pytest.mark.parametrize("name", [*FAMILY, "midpoint"])
def test_a_root_up_to_h_w_1(name: str) -> None:
    """Also on the axes, where a quarter turn is the last root of order 2."""
    m = directions()
    for inertia in (BOOK, (1.0, 1.0, 1.5), (1.0, 1.0, 1.0), (1e-3, 1.0, 1.0), (1 / 3, 2 / 3, 1)):
        for sign in (1, -1):
            h = sign * (1 - 1e-9) * min(inertia)
            end, q = ph.step(inertia, m, [1.0, 0.0, 0.0, 0.0], h, method=name)
            assert np.isfinite(end).all()
            assert np.isfinite(q).all()


def test_midpoint_on_an_axis_has_no_longest_step() -> None:
    h = np.array([4.0, 30.0, 1e4])
    m, q = ph.step(BOOK, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], h, method="midpoint")
    assert np.abs(m - [0, 0, 1]).max() < 2 * EPS
    assert np.abs(2 * np.arctan2(q[:, 3], q[:, 0]) - 2 * np.arctan(h / 2)).max() < 4 * EPS


def random_bodies(n: int, seed: int) -> tuple[Array, Array]:
    """Moments of any ratio up to 1e6, and unit momenta."""
    rng = np.random.default_rng(seed)
    inertia = np.where(
        rng.integers(0, 2, (n, 1)) == 0,
        rng.uniform(0.05, 1.0, (n, 3)),
        10 ** rng.uniform(-6, 0, (n, 3)),
    )
    m = rng.normal(size=(n, 3))
    return inertia, m / np.linalg.norm(m, axis=1, keepdims=True)


def test_midpoint_up_to_three_radians() -> None:
    """Always a root, and the one that the step back leads back from."""
    inertia, m = random_bodies(20_000, 5)
    h = np.random.default_rng(6).uniform(-3, 3, len(m)) * inertia.min(axis=1)
    one = [1.0, 0.0, 0.0, 0.0]
    end, q = ph.step(inertia, m, one, h, method="midpoint")
    back, q_back = ph.step(inertia, end, q, -h, method="midpoint")
    assert np.abs(back - m).max() < 32 * EPS
    assert np.abs(q_back - one).max() < 32 * EPS


@pytest.mark.parametrize("hw", [8.0, 20.0, 100.0, 1e3])
def test_midpoint_of_long_steps_is_a_root_or_nan(hw: float) -> None:
    """Newton's iteration may diverge there; accepted results conserve |m|, H and Q m."""
    inertia, m = random_bodies(50_000, 7)
    inertia[::3] = [1.0, 1.0, 7e4]  # one Newton step solves (14), from however far away
    h = hw * inertia.min(axis=1)
    with pytest.warns(RuntimeWarning, match="midpoint"):
        end, q = ph.step(inertia, m, [1.0, 0.0, 0.0, 0.0], h, method="midpoint")
    found = ~np.isnan(q).any(axis=1)
    assert (np.isnan(end).all(axis=1) == ~found).all()
    assert 0 < found.sum() < len(m)
    end, q, m, inertia = end[found], q[found], m[found], inertia[found]
    # A residual of one eps is magnified by the length of the step.
    assert np.abs(np.sum(end * end, 1) - 1).max() < 64 * EPS * (1 + hw)
    change = np.abs(np.sum((end * end - m * m) / inertia, 1))
    assert (change * inertia.min(1)).max() < 64 * EPS * (1 + hw)
    assert np.abs(ph.momentum_spatial(end, q) - m).max() < 64 * EPS * (1 + hw)


def test_rods() -> None:
    """A rod turns about m at a constant rate, as a sphere of its moment does."""
    m = np.array([[0.0, 0.6, -0.8], [0.0, 1.0, 0.0]])
    one = [1.0, 0.0, 0.0, 0.0]
    for name in [*FAMILY, "midpoint"]:
        end, q = ph.step([0.0, 2.0, 2.0], m, one, 0.4, method=name)
        np.testing.assert_array_equal(end, m)
        _, sphere = ph.step([2.0, 2.0, 2.0], m, one, 0.4, method=name)
        np.testing.assert_array_equal(q, sphere)


# --- the warning ---


def half_lost(n: int) -> tuple[Array, Array, Array, Array]:
    """n bodies, every other with a step that has no root."""
    m = np.tile([0.6, 0.0, 0.8], (n, 1))
    h = np.where(np.arange(n) % 2 == 0, 0.1, 2.0)
    return np.array(BOOK), m, np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), h


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_one_warning_a_call_with_the_count(matrix: bool, threads: int) -> None:
    n = 333
    inertia, m, q, h = half_lost(n)
    attitude = ph.so3.to_matrix(q) if matrix else q
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        end, attitude_end = ph.step(
            inertia, m, attitude, h, method="dmv8", n_steps=3, threads=threads
        )
    assert len(caught) == 1
    assert caught[0].category is RuntimeWarning
    assert "166 bodies" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert (np.isnan(end[:, 0]) == (h > 1)).all()
    assert (np.isnan(attitude_end.reshape(n, -1)).all(1) == (h > 1)).all()


def test_warning_in_place_and_converted() -> None:
    inertia, m, q, h = half_lost(10)
    with pytest.warns(RuntimeWarning, match="5 bodies"):
        ph.step(inertia, m, q, h, method="dmv4", out=(m, q))
    inertia, m, q, h = half_lost(10)
    with pytest.warns(RuntimeWarning, match="5 bodies"):
        ph.step(inertia, m.tolist(), q.astype(np.float32), h, method="dmv4")
    with pytest.warns(RuntimeWarning, match="5 bodies"):
        ph.integrate(inertia, m[1::2], q[1::2], 2.0, 3, method="dmv4")


def test_the_warning_names_the_line_of_the_call() -> None:
    m, q = [0.6, 0.0, 0.8], [1.0, 0.0, 0.0, 0.0]
    body = ph.RigidBody.from_moments(BOOK)
    calls: list[Callable[[], object]] = [
        lambda: ph.step(BOOK, m, q, 2.0, method="dmv8"),
        lambda: ph.integrate(BOOK, m, q, 2.0, 3, method="dmv8"),
        lambda: body.step(m, q, 2.0, method="dmv8"),
        lambda: body.integrate(m, q, 2.0, 3, method="dmv8"),
    ]
    for call in calls:
        with pytest.warns(RuntimeWarning, match="dmv8") as caught:
            call()
        assert [w.filename for w in caught] == [__file__]


def test_no_warning_for_what_was_not_finite() -> None:
    inertia, m, q, _ = half_lost(4)
    h = np.array([0.1, np.nan, np.inf, 0.1])
    m[0, 1], q[3, 2] = np.nan, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        end, _ = ph.step(inertia, m, q, h, method="dmv8")
    assert np.isnan(end).all()

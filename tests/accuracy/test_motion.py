"""Free motion at any times: accuracy to a million periods, periods, regimes, continuity, shapes."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest
import reference
import tolerances as tol
from compare import close
from long_motion import period as exact_period
from numpy.typing import NDArray
from states import STATES, State
from tolerances import EPS, check

import polhode as ph

Array = NDArray[np.float64]

GENERIC = ((1.0, 1.5, 2.2), (0.3, 0.5, 0.8), (0.6, -0.48, 0.0, 0.64))


def load(name: str) -> tuple[list[dict[str, Any]], list[reference.Reference], list[Array]]:
    cases = reference.load_cases(name)
    known = [reference.stored(case) for case in cases]
    keys = ("inertia", "m0", "q0", "h")
    return cases, known, [np.array([case[key] for case in cases], float) for key in keys]


def check_against(
    what: str,
    cases: list[dict[str, Any]],
    known: list[reference.Reference],
    arrays: list[Array],
    m: Array,
    q: Array,
) -> None:
    names = [f"{case['name']} at {case['h']:.4g}" for case in cases]
    sensitivity = np.array([k.sensitivity for k in known])
    angle = reference.angle(arrays[0], arrays[1], arrays[3])
    unit_m, unit_q = tol.exact_unit(angle[:, None], sensitivity).T
    error = [k.error_m(x) for k, x in zip(known, m, strict=True)]
    check(f"{what}, m", names, error, "motion.stored", unit=unit_m)
    if q.ndim == 2:
        error = [k.error_q(x) for k, x in zip(known, q, strict=True)]
        check(f"{what}, q", names, error, "motion.stored", unit=unit_q)
    else:
        error = [k.error_matrix(x) for k, x in zip(known, q, strict=True)]
        check(f"{what}, Q", names, error, "motion.matrices", unit=unit_q)


# --- accuracy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["free_cases.json", "long_motions.json"])
def test_stored_states(name: str) -> None:
    cases, known, arrays = load(name)
    inertia, m0, q0, t = arrays
    m, q = ph.TorqueFreeMotion(inertia, m0, q0)(t)
    check_against(name, cases, known, arrays, m, q)


def test_stored_states_with_matrices() -> None:
    cases, known, arrays = load("long_motions.json")
    inertia, m0, q0, t = arrays
    Q0 = np.array([np.array(reference.to_matrix(reference.unit_quaternion(x)), float) for x in q0])
    m, Q = ph.TorqueFreeMotion(inertia, m0, Q0)(t)
    check_against("matrices", cases, known, arrays, m, Q)


def test_long_motions_are_long() -> None:
    """The stored times reach a million half periods, both signs, both sides."""
    cases, _, (inertia, m0, q0, t) = load("long_motions.json")
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    periods = t / motion.period
    assert periods.max() > 5e5
    assert periods.min() < -1e4
    far = np.abs(periods) > 1e3
    for regime in (ph.Regime.AXIS1, ph.Regime.AXIS3):
        assert np.count_nonzero(far & (motion.regime == regime)) >= 10
    assert len(cases) > 100


def test_standing_still_is_a_turn_about_m() -> None:
    """If m is constant, the body turns about it at |omega|, at any time."""
    still = [s for s in STATES if kind(s) in (ph.Regime.PERMANENT, ph.Regime.SPHERE)]
    assert len(still) >= 15
    names, errors_m, errors_q, units = [], [], [], []
    for state, angle in itertools.product(still, (0.3, -7.0, 1e3, -1e7)):
        norm = float(np.linalg.norm(state.m))
        rate = float(reference.angle(state.inertia, state.m, 1.0))
        t = angle / (rate or 1.0)
        m, q = ph.TorqueFreeMotion(state.inertia, state.m, state.q)(t)
        with mpmath.workdps(40):
            momentum = [mpmath.mpf(x) for x in state.m]
            # Equal moments that a rod has to rounding only would differ here: none has.
            energy2 = sum(
                x * x / mpmath.mpf(i) for x, i in zip(momentum, state.inertia, strict=True) if i
            )
            size = mpmath.norm(momentum) or mpmath.mpf(1)
            half = mpmath.mpf(t) * energy2 / size / 2
            turn = [mpmath.cos(half)] + [mpmath.sin(half) * x / size for x in momentum]
            exact = reference.Reference(
                tuple(momentum),
                tuple(multiply(reference.unit_quaternion(state.q), turn)),
                mpmath.mpf(norm),
            )
        names.append(f"{state.name} after {angle:g} rad")
        errors_m.append(exact.error_m(m))
        errors_q.append(exact.error_q(q))
        units.append(EPS * (1 + abs(angle)))
    check("still, m", names, errors_m, 0.0)  # bit for bit
    check("still, q", names, errors_q, "motion.still", unit=units)


def multiply(p: Any, q: Any) -> list[Any]:
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]


def test_separatrix_ends_on_axis_2() -> None:
    """Long after, m is at an end of the axis of the middle moment, and q keeps turning about it."""
    inertia, m0, q0 = (1.5, 2.0, 3.0), (0.5, 0.25, -0.5), (1.0, 0.0, 0.0, 0.0)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    assert motion.regime is ph.Regime.SEPARATRIX
    norm = np.linalg.norm(m0)
    # m1 m3 < 0: m2' = (1/I1 - 1/I3) m1 m3 < 0, towards -e2; backwards in time from +e2.
    times = np.array([5e2, 1e3, 1e5, 1e7, -5e2, -1e3, -1e5, -1e7])
    m, q = motion(times)
    close(m[:4], np.tile([0, -norm, 0], (4, 1)), atol=4 * EPS)
    close(m[4:], np.tile([0, norm, 0], (4, 1)), atol=4 * EPS)
    # From 500 on (lambda is 1/8, sech e^-62) it is a turn about -e2 at |m|/I2.
    later, attitudes = motion(1e3 + np.array([0.0, 1.0, 1e4]))
    half = 0.5 * norm / 2.0 * np.array([1.0, 1e4])
    start = attitudes[0]
    for h, got in zip(half, attitudes[1:], strict=True):
        expected = multiply(start, [np.cos(h), 0.0, -np.sin(h), 0.0])
        close(got, expected, atol=4 * EPS * (1 + 1e4 * norm))
    np.testing.assert_array_equal(later[0], later[1])
    # And there is no seam where the exact step stops.
    reach = 300 / motion_lambda(inertia, m0)
    m, q = motion(reach * np.array([1 - 1e-9, 1 + 1e-9]))
    close(m[0], m[1], atol=4 * EPS)
    close(q[0], q[1], atol=1e-9 * reach)


def motion_lambda(inertia: Any, m: Any) -> float:
    """Frequency of sech and tanh on the separatrix, kappa sqrt(c1) d3."""
    i1, i2, i3 = inertia
    c1 = i1 * (i3 - i2) / (i2 * (i3 - i1))
    c2 = i3 * (i2 - i1) / (i2 * (i3 - i1))
    return float((i3 - i1) / (i1 * i3) * np.sqrt(c1 * (c2 * m[1] ** 2 + m[2] ** 2)))


def test_agrees_with_step() -> None:
    """motion(t) is step(h=t) to rounding, for every hard state."""
    for hw in (0.04, -1.0, 5.0, 30.0):
        inertia, m0, q0, h = (np.array(x) for x in batch(hw))
        m, q = ph.TorqueFreeMotion(inertia, m0, q0)(h)
        m_step, q_step = ph.step(inertia, m0, q0, h)
        stored = {
            (row["name"], row["hw"]): row["ulp_sensitivity"]
            for row in reference.load_cases("hard_states.json")
        }
        known = [stored[s.name, hw] for s in STATES]
        norm = np.maximum(np.abs(m0).max(-1), 5e-324)
        angle = reference.angle(inertia, m0, h)
        names = [f"{s.name}, hw = {hw}" for s in STATES]
        unit = tol.exact_unit(angle, [k["m"] for k in known])
        change = (np.abs(m - m_step) / norm[:, None]).max(-1)
        check("m", names, change, "motion.step", unit=unit)
        unit = tol.exact_unit(angle, [k["q"] for k in known])
        check("q", names, np.abs(q - q_step).max(-1), "motion.step", unit=unit)


def batch(hw: float) -> tuple[Any, Any, Any, Any]:
    return (
        [s.inertia for s in STATES],
        [s.m for s in STATES],
        [s.q for s in STATES],
        [s.step(hw) for s in STATES],
    )


# --- period and regime --------------------------------------------------------------------------


def kind(state: State) -> ph.Regime:
    """The regime by whole-number arithmetic; SEPARATRIX where exactly on it."""
    from fractions import Fraction

    order = sorted(range(3), key=lambda i: state.inertia[i])
    i1, i2, i3 = (Fraction(state.inertia[i]) for i in order)
    m1, m2, m3 = (Fraction(state.m[i]) for i in order)
    if i1 == i3:
        return ph.Regime.SPHERE
    moves = (
        ((i1 != i2) and m1 * m2 != 0)
        or ((i1 != i3) and m1 * m3 != 0)
        or ((i2 != i3) and m2 * m3 != 0)
    )
    if i1 == 0 or not moves:
        return ph.Regime.PERMANENT
    side = i3 * (i2 - i1) * m1 * m1 - i1 * (i3 - i2) * m3 * m3
    if side == 0:
        return ph.Regime.SEPARATRIX
    return ph.Regime.AXIS1 if side > 0 else ph.Regime.AXIS3


def test_regimes_of_hard_states() -> None:
    inertia, m0, q0, _ = batch(1.0)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    assert motion.regime.shape == (len(STATES),)
    assert {*motion.regime} == {*ph.Regime}
    # None of the states is within rounding of the separatrix without being on it, except those
    # that say so: on it in decimals.
    for state, regime in zip(STATES, motion.regime, strict=True):
        assert regime is kind(state), state.name
        assert ph.TorqueFreeMotion(state.inertia, state.m, state.q).regime is regime


@pytest.mark.parametrize("axis_moment", [0.05, 0.9])
@pytest.mark.parametrize("size", [1e-90, 1e-140, 1e-170, 1e-229, 1e-300, 1e-320])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_symmetric_body_with_hardly_any_momentum_along_its_axis(
    order: tuple[int, ...], axis_moment: float, size: float
) -> None:
    """It turns about m, which stays, and m goes around the axis at a rate of that smallness.

    The square of the component is no number of the format.
    """
    inertia = np.array([0.5, axis_moment, 0.5])[list(order)]
    m0 = np.array([0.6, size, 0.8])[list(order)]
    motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0.0, 0.0, 0.0])
    t = np.array([0.0, 0.25, -3.0, 40.0])
    m, q = motion(t)
    close(m, np.tile(m0, (4, 1)), atol=2 * EPS)
    direction = np.where(np.abs(m0) < 0.5, 0.0, m0)
    expected = np.column_stack([np.cos(t), np.sin(t)[:, None] * direction])
    close(q, expected, atol=4 * EPS * (1 + 80))
    assert motion.regime is (ph.Regime.AXIS1 if axis_moment < 0.5 else ph.Regime.AXIS3)
    if size > 1e-310:  # by Euler's equations; else beyond the range of numbers
        period = 2 * np.pi / (abs(1 / 0.5 - 1 / axis_moment) * size)
        close(motion.period / period, 1.0, atol=8 * EPS)


def test_separatrix_within_rounding() -> None:
    """SEPARATRIX reaches 2 eps of the sum of the two terms to each side, and no farther."""
    ulps = np.arange(-12, 13)
    m1 = 0.5 * (1 + ulps * EPS)  # terms 0.375 (1 + 2 ulps eps) against 0.375
    m0 = np.stack([m1, np.full(ulps.shape, 0.25), np.full(ulps.shape, 0.5)], axis=-1)
    regime = ph.TorqueFreeMotion([1.5, 2.0, 3.0], m0, [1.0, 0, 0, 0]).regime
    assert all(regime[ulps > 2] == ph.Regime.AXIS1)
    assert all(regime[ulps < -2] == ph.Regime.AXIS3)
    assert all(regime[np.abs(ulps) < 2] == ph.Regime.SEPARATRIX)


def test_separatrix_ends_on_axis_2_whatever_is_rounded() -> None:
    """The two terms differ by rounding, with which m would come back after 75 growth times."""
    rng = np.random.default_rng(3)
    inertia = np.sort(rng.uniform(1.0, 3.0, (400, 3)), axis=1)
    i1, i2, i3 = inertia.T
    m0 = rng.normal(size=(400, 3))
    m0[:, 0] = m0[:, 2] * np.sqrt(i1 * (i3 - i2) / (i3 * (i2 - i1)))
    motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0.0, 0.0, 0.0])
    assert (motion.regime == ph.Regime.SEPARATRIX).all()
    norm = np.linalg.norm(m0, axis=1)
    growth = norm * np.sqrt((1 / i1 - 1 / i2) * (1 / i2 - 1 / i3))
    ends = np.outer(norm, [0.0, 1.0, 0.0])
    for u in (60.0, -60.0, 75.0, -200.0, 290.0):
        close(np.abs(motion(u / growth)[0]), ends, atol=8 * EPS * ends)


def test_periods() -> None:
    """Against Legendre's K in 60 digits; what half an ulp in the inputs does is allowed."""
    names, errors, units = [], [], []
    for state in STATES:
        got = ph.TorqueFreeMotion(state.inertia, state.m, state.q).period
        exact = exact_period(state.inertia, state.m)
        assert mpmath.isinf(exact) == np.isinf(got), state.name
        if np.isinf(got):
            continue
        inputs = [*state.inertia, *state.m]
        change = 0.0
        for i, value in enumerate(inputs):
            nudged = [mpmath_fraction(x) for x in inputs]
            nudged[i] = nudged[i] * (2**53 + 1) / 2**53
            if value:
                moved = exact_period(nudged[:3], nudged[3:])
                change += float(abs(moved / exact - 1)) if mpmath.isfinite(moved) else 1.0
        names.append(state.name)
        errors.append(float(abs(mpmath.mpf(float(got)) / exact - 1)))
        units.append(float(tol.exact_unit(0.0, change)))
    assert len(names) > 50
    check("period", names, errors, "motion.period", unit=units)


def mpmath_fraction(x: float) -> Any:
    from fractions import Fraction

    return Fraction(x)


def test_period_brings_m_back_and_half_of_it_mirrors() -> None:
    inertia, m0, q0 = GENERIC
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    assert motion.regime is ph.Regime.AXIS3
    m, _ = motion(motion.period * np.array([1.0, 0.5, 10.0]))
    close(m[0], m0, atol=60 * EPS)
    close(m[1], np.array(m0) * [-1, -1, 1], atol=30 * EPS)
    close(m[2], m0, atol=600 * EPS)


# --- continuity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state", [s for s in STATES if reference.angle(s.inertia, s.m, 1.0) > 0], ids=lambda s: s.name
)
def test_path_of_q_is_continuous(state: State) -> None:
    """Dense times over several half periods each way: q moves by no more than half the angle."""
    rate = float(reference.angle(state.inertia, state.m, 1.0))
    motion = ph.TorqueFreeMotion(state.inertia, state.m, state.q)
    span = min(2.6 * float(motion.period), 300 / rate)
    steps = 2000
    times = np.linspace(-span, span, 2 * steps + 1)
    m, q = motion(times)
    # |omega| along the way is at most |m| over the least moment that is not zero.
    fastest = np.abs(m / np.where(np.array(state.inertia) > 0, state.inertia, np.inf)).max()
    step = np.sqrt(3.0) * fastest * (times[1] - times[0])
    jump = np.linalg.norm(np.diff(q, axis=0), axis=-1).max()
    assert jump <= 0.5 * step + 1e-9
    assert step < 1.0  # a change of sign would be a jump of 2
    close(q[steps], np.array(state.q) / np.linalg.norm(state.q), atol=2 * EPS)


def test_time_zero_returns_the_start_bit_for_bit() -> None:
    inertia, m0, q0, _ = batch(1.0)
    q0 = ph.step(inertia, m0, q0, 0.0)[1]  # unit
    m, q = ph.TorqueFreeMotion(inertia, m0, q0)(0.0)
    np.testing.assert_array_equal(m, m0)
    np.testing.assert_array_equal(q, q0)


def test_one_axis_of_time_has_one_result() -> None:
    """A group: motion from the state at s, at t, is the motion at s + t."""
    inertia, m0, q0 = GENERIC
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    for s, t in ((3.0, -50.0), (40.0, 1e3), (-1e4, 2e4)):
        middle = ph.TorqueFreeMotion(inertia, *motion(s))
        for got, expected in zip(middle(t), motion(s + t), strict=True):
            close(got, expected, atol=8 * EPS * (2 + abs(s) + abs(t)))


def test_q_is_unit() -> None:
    inertia, m0, q0 = some_bodies(50)
    t = np.random.default_rng(8).normal(scale=1e4, size=(100, 1))
    _, q = ph.TorqueFreeMotion(inertia, m0, q0)(t)
    # dq is unit to rounding, so is q0: rounding of one product more.
    assert np.abs(np.linalg.norm(q, axis=-1) - 1).max() <= 4 * EPS


# --- shapes, types, bits ------------------------------------------------------------------------


def some_bodies(n: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(5)
    return rng.uniform(1, 3, (n, 3)), rng.normal(size=(n, 3)), rng.normal(size=(n, 4))


@pytest.mark.parametrize(("times", "bodies"), [(7, 3), (3, 40), (70, 5), (1, 33), (40, 40)])
def test_broadcast_is_single_calls_bit_for_bit(times: int, bodies: int) -> None:
    inertia, m0, q0 = some_bodies(bodies)
    t = np.random.default_rng(6).normal(scale=30, size=times)
    m, q = ph.TorqueFreeMotion(inertia, m0, q0)(t[:, None])
    assert m.shape == (times, bodies, 3)
    assert q.shape == (times, bodies, 4)
    for i in range(0, times, 3):
        for j in range(0, bodies, 2):
            one = ph.TorqueFreeMotion(inertia[j], m0[j], q0[j])(t[i])
            np.testing.assert_array_equal(one[0], m[i, j])
            np.testing.assert_array_equal(one[1], q[i, j])


def test_threads_give_the_same_bits() -> None:
    inertia, m0, q0 = some_bodies(11)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    t = np.linspace(-100, 100, 501)[:, None]
    for threads in (2, 3, -1):
        for got, expected in zip(motion(t, threads=threads), motion(t), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_shapes() -> None:
    inertia, m0, q0 = GENERIC
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    assert motion.shape == ()
    assert isinstance(motion.period, float)
    m, q = motion(2)
    assert (m.shape, q.shape) == ((3,), (4,))
    m, q = motion(np.zeros((2, 0)))
    assert (m.shape, q.shape) == ((2, 0, 3), (2, 0, 4))
    m, q = motion(np.zeros((5, 1, 2)))
    assert (m.shape, q.shape) == ((5, 1, 2, 3), (5, 1, 2, 4))
    many = ph.TorqueFreeMotion(inertia, m0, np.broadcast_to(q0, (6, 1, 4)))
    assert many.shape == many.period.shape == many.regime.shape == (6, 1)
    assert many(np.arange(3.0))[1].shape == (6, 3, 4)
    none = ph.TorqueFreeMotion(np.ones((0, 3)), m0, q0)
    assert none.period.shape == none.regime.shape == (0,)
    assert none(np.ones((4, 1)))[0].shape == (4, 0, 3)
    matrices = ph.TorqueFreeMotion(inertia, m0, np.eye(3))
    assert matrices(np.ones(4))[1].shape == (4, 3, 3)


def test_matrices_are_the_quaternions() -> None:
    inertia, m0, _ = some_bodies(9)
    t = np.linspace(-40, 40, 21)[:, None]
    m, q = ph.TorqueFreeMotion(inertia, m0, [1.0, 0, 0, 0])(t)
    m_matrix, Q = ph.TorqueFreeMotion(inertia, m0, np.eye(3))(t)
    np.testing.assert_array_equal(m, m_matrix)
    exact = np.array([np.array(reference.to_matrix(x), float) for x in q.reshape(-1, 4)]).reshape(
        Q.shape
    )
    close(Q, exact, atol=8 * EPS)


@pytest.mark.parametrize("dtype", [">f8", "f4", "i2", "?", np.longdouble])
def test_types_of_time(dtype: Any) -> None:
    inertia, m0, q0 = some_bodies(3)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    t = np.array([[0], [1], [-3], [7]]).astype(dtype)
    for got, expected in zip(motion(t), motion(t.astype(float)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_layouts_and_out() -> None:
    inertia, m0, q0 = some_bodies(4)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    t = np.linspace(0, 9, 24)
    expected = motion(t[::2, None])
    out = np.full((12, 4, 3), 7.0), np.full((12, 4, 4), 7.0)
    got = motion(t[::2][:, None], out=out)
    assert got[0] is out[0]
    assert got[1] is out[1]
    record = np.zeros((12, 4), [("pad", "i1"), ("m", "f8", 3), ("q", "f8", 4)])
    strided = np.zeros((4, 3, 12)).transpose(2, 0, 1), np.zeros((12, 4, 8))[..., ::2]
    motion(t[::2, None], out=strided)
    packed = motion(t[::2, None], out=(record["m"], record["q"]))
    for result in (got, strided, packed):
        np.testing.assert_array_equal(result[0], expected[0])
        np.testing.assert_array_equal(result[1], expected[1])
    # Times that are overwritten by the results are read first.
    memory = np.zeros((6, 3))
    memory[:, 0] = np.arange(6)
    one = ph.TorqueFreeMotion(*(a[0] for a in (inertia, m0, q0)))
    expected = one(np.arange(6.0))
    one(memory[:, 0], out=(memory, np.empty((6, 4))))
    np.testing.assert_array_equal(memory, expected[0])


def test_inputs_are_copied() -> None:
    inertia, m0, q0 = some_bodies(3)
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    expected = motion(5.0)
    inertia[:], m0[:], q0[:] = 1.0, 1.0, 1.0
    for got, before in zip(motion(5.0), expected, strict=True):
        np.testing.assert_array_equal(got, before)


def test_not_finite_stays_in_its_element() -> None:
    inertia, m0, q0 = some_bodies(20)
    t = np.linspace(-3, 50, 20)
    m_good, q_good = ph.TorqueFreeMotion(inertia, m0, q0)(t)
    bad = {3: m0, 7: q0, 11: t}
    m0[3, 1] = np.inf
    q0[7, 2] = np.nan
    t[11] = np.nan
    motion = ph.TorqueFreeMotion(inertia, m0, q0)
    m, q = motion(t)
    for i in range(20):
        if i in bad:
            assert np.isnan(q[i]).all()
            assert np.isnan(m[i]).any()
        else:
            np.testing.assert_array_equal(m[i], m_good[i])
            np.testing.assert_array_equal(q[i], q_good[i])
    assert np.isnan(motion.period[3])
    # No digit is left of an angle like that.
    one = ph.TorqueFreeMotion(*GENERIC)
    assert np.isnan(one(-np.inf)[1]).all()
    with pytest.warns(RuntimeWarning, match="t is too long.* 2 results are NaN"):
        assert np.isnan(one([1e300, -1e300, np.nan])[1]).all()


def test_refusals() -> None:
    inertia, m0, q0 = GENERIC
    with pytest.raises(ValueError, match=r"inertia\[1\].*negative"):
        ph.TorqueFreeMotion([inertia, (1.0, -1.0, 2.0)], m0, q0)
    with pytest.raises(ValueError, match="zero quaternion"):
        ph.TorqueFreeMotion(inertia, m0, [0.0, 0, 0, 0])
    with pytest.raises(ValueError, match="not a rotation matrix"):
        ph.TorqueFreeMotion(inertia, m0, -np.eye(3))
    with pytest.raises(ValueError, match="zero"):
        ph.TorqueFreeMotion([0.0, 2, 2], [1.0, 1, 1], q0)
    with pytest.raises(ValueError, match=r"m0.*shape"):
        ph.TorqueFreeMotion(inertia, [1.0, 2.0], q0)
    with pytest.raises(ValueError, match="broadcast"):
        ph.TorqueFreeMotion(np.ones((2, 3)), np.ones((3, 3)), q0)
    motion = ph.TorqueFreeMotion(np.ones((2, 3)), m0, q0)
    with pytest.raises(ValueError, match="broadcast"):
        motion(np.ones(3))
    with pytest.raises(TypeError, match="real"):
        motion(1j)
    with pytest.raises(ValueError, match="shape"):
        motion(1.0, out=(np.empty((3, 3)), np.empty((2, 4))))


def test_pickle_and_repr() -> None:
    motion = ph.TorqueFreeMotion(*GENERIC)
    copy = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(copy(3.0)[1], motion(3.0)[1])
    assert repr(motion) == "<TorqueFreeMotion: AXIS3, period 23.2183>"
    assert "(2,)" in repr(ph.TorqueFreeMotion(np.ones((2, 3)), GENERIC[1], GENERIC[2]))

"""`attitude_from_rate` with stamps: orders, coning, interpolation, batches, gaps, bad input."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import KroghInterpolator
from scipy.spatial.transform import Rotation, RotationSpline
from tolerances import EPS

import polhode as ph
from benchmarks.cases.gyro import KINDS, Coning
from polhode import so3

Array = NDArray[Any]
ONE = np.array([1.0, 0.0, 0.0, 0.0])


def stamps(n: int, end: float = 1.0) -> Array:
    """Uneven: the longest interval is four times the shortest."""
    t = np.linspace(0.0, 1.0, n + 1)
    return end * (t + np.sin(2 * np.pi * 3 * t) * 0.6 / (2 * np.pi * 3))


def errors(motion: Coning, t: Array, order: int, increments: bool) -> Array:
    """Angle between the computed and the true attitude at the stamps."""
    table, start = motion.table(t, increments), motion.attitude(t[0])
    path = ph.attitude_from_rate(table, start, t=t, order=order, increments=increments)
    return so3.angle_between(path, motion.attitude(t))


def observed(motion: Coning, grids: list[Array], order: int, increments: bool) -> float:
    """Order of the error between two grids, the second with half the intervals of the first."""
    worst = [errors(motion, t, order, increments).max() for t in grids]
    assert worst[1] > 1e3 * EPS
    return float(np.log2(worst[0] / worst[1]))


@pytest.mark.parametrize("beta", [2.0, 6.0, 20.0, 60.0, 200.0])
@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_order_in_coning(beta: float, order: int, increments: bool) -> None:
    """At five rates; and with equal intervals."""
    motion = Coning(beta, 0.3)
    uneven = [stamps(n, 20 / beta) for n in (160, 320)]
    equal = [np.linspace(0, 20 / beta, n + 1) for n in (160, 320)]
    assert observed(motion, uneven, order, increments) > order - 0.2
    assert observed(motion, equal, order, increments) > order - 0.2


def windows(theta: Array, coefficients: list[float]) -> Array:
    """The classical algorithm: one turn for each window of N increments [Miller83], in the
    form of the table in the manual of PSINS: sum theta_i + (sum k_i theta_i) x theta_N."""
    n = len(coefficients) + 1
    theta = theta.reshape(-1, n, 3)
    weighted = np.einsum("i,kic->kc", coefficients, theta[:, :-1])
    return theta.sum(1) + np.cross(weighted, theta[:, -1])


@pytest.mark.parametrize(("order", "coefficients"), [(4, [2 / 3]), (6, [9 / 20, 27 / 20])])
def test_drift_is_below_that_of_windows(order: int, coefficients: list[float]) -> None:
    """From the same increments, over 600 of them."""
    motion = Coning(2 * np.pi, np.radians(1.0))
    t = np.linspace(0.0, 20.0, 601)
    classical = so3.cumprod(so3.exp(windows(motion.increments(t), coefficients)))
    end = so3.multiply(motion.attitude(t[0]), classical[-1])
    theirs = so3.angle_between(end, motion.attitude(t[-1]))
    ours = errors(motion, t, order, True)[-1]
    assert ours < theirs, (ours, theirs)


def test_a_linear_rate_gives_the_classical_correction() -> None:
    """9/8 theta_1 x theta_3 for three increments in arithmetic progression, as every three-sample
    algorithm has it: 9/20 + 27/40."""
    one, three = 1e-3 * np.random.default_rng(2).normal(size=(2, 3))
    theta = [one, (one + three) / 2, three]
    path = ph.attitude_from_rate(theta, ONE, t=np.arange(4.0), order=4, increments=True)
    coning = 9 / 8 * np.cross(one, three)
    close(so3.log(path[-1], shortest=True), np.sum(theta, 0) + coning, atol=1e-9)
    assert np.abs(coning).max() > 1e-7  # the next term has three factors


UNEVEN = np.array([0.0, 0.05, 0.07, 0.15, 0.19, 0.2, 0.28, 0.33, 0.34, 0.43, 0.49, 0.55])


def interpolated(order: int, table: Array, k: int, increments: bool) -> Any:
    """The rate in interval k, by another formula."""
    width = order - increments
    first = np.clip(k - (width - 1) // 2, 0, len(table) - width)
    t = UNEVEN[first : first + width + increments]
    if not increments:
        return KroghInterpolator(t, table[first : first + width])
    angle = np.concatenate([np.zeros((1, 3)), np.cumsum(table[first : first + width], 0)])
    polynomial = KroghInterpolator(t, angle)
    return polynomial.derivative


@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_turns_of_interpolated_rates(order: int, increments: bool) -> None:
    """Each interval is a Magnus step with the rate that another formula interpolates."""
    table = np.random.default_rng(3).normal(size=(12 - increments, 3))
    if increments:
        table *= np.diff(UNEVEN)[:, None]
    path = ph.attitude_from_rate(table, ONE, t=UNEVEN, order=order, increments=increments)
    magnus = {1: 2, 2: 2 if increments else 4}.get(order, order)
    for k, (begin, end) in enumerate(pairwise(UNEVEN)):
        rate = interpolated(order, table, k, increments)
        q = ph.attitude_from_rate(rate, path[k], end - begin, order=magnus, t0=begin)
        close(path[k + 1], q, atol=64 * EPS)


@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_twelve_uneven_samples(order: int, increments: bool) -> None:
    """Against DOP853 with the interpolated rate: what is left is the Magnus scheme's error."""
    table = Coning(2.0, 1.0).table(UNEVEN, increments)
    path = ph.attitude_from_rate(table, ONE, t=UNEVEN, order=order, increments=increments)
    q, worst = ONE, 0.0
    for k, span in enumerate(pairwise(UNEVEN)):
        rate = interpolated(order, table, k, increments)

        def slope(t: float, q: Array, rate: Any = rate) -> Array:
            return 0.5 * so3.multiply(q, [0.0, *rate(t)])

        run = solve_ivp(slope, span, q, method="DOP853", rtol=1e-13, atol=1e-15)
        q = run.y[:, -1]
        worst = max(worst, float(so3.angle_between(path[k + 1], q)))
    assert worst < {1: 1e-13, 2: 1e-13 if increments else 3e-6, 4: 3e-6, 6: 3e-9}[order], worst


def test_attitudes_of_a_spline() -> None:
    """The rate of SciPy's RotationSpline leads back to its attitudes."""
    rng = np.random.default_rng(4)
    spline = RotationSpline(UNEVEN, Rotation.from_rotvec(0.3 * rng.normal(size=(12, 3))))
    worst = []
    for n in (160, 320):
        pieces = [np.linspace(*ends, n, endpoint=False) for ends in pairwise(UNEVEN)]
        t = np.concatenate([*pieces, UNEVEN[-1:]])
        path = ph.attitude_from_rate(spline(t, 1), spline(t[0]), t=t)
        worst.append(so3.angle_between(path, np.roll(spline(t).as_quat(), 1, axis=-1)).max())
    # The second derivative of the rate jumps at the knots: order 3 there.
    assert worst[1] < 2e-6
    assert np.log2(worst[0] / worst[1]) > 2.9, worst


@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_constant_rate(order: int, increments: bool) -> None:
    """No error but rounding, over many turns and at any intervals."""
    rng = np.random.default_rng(5)
    t = np.cumsum(rng.uniform(0.1, 1.0, 3000))
    omega = np.array([0.3, -1.2, 0.4])
    table = np.diff(t)[:, None] * omega if increments else np.tile(omega, (3000, 1))
    path = ph.attitude_from_rate(table, ONE, t=t, order=order, increments=increments)
    exact = so3.exp((t - t[0])[:, None] * omega)
    close(path, exact, atol=3000 * 2 * EPS)
    assert np.abs(np.linalg.norm(path, axis=-1) - 1).max() < 4 * EPS


def test_held_rate() -> None:
    omega = np.random.default_rng(6).normal(size=(12, 3))
    path = ph.attitude_from_rate(omega, ONE, t=UNEVEN, order=1)
    turns = so3.cumprod(so3.exp(np.diff(UNEVEN)[:, None] * omega[:-1]))
    close(path[1:], turns, atol=32 * EPS)
    with_other_end = np.concatenate([omega[:-1], [[np.nan] * 3]])
    same(ph.attitude_from_rate(with_other_end, ONE, t=UNEVEN, order=1), path)


@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_batches(order: int, increments: bool) -> None:
    """Bits do not depend on the batch, the layout or the piece; long logs go in pieces."""
    rng = np.random.default_rng(7)
    t = np.cumsum(rng.uniform(0.01, 0.1, 1500))
    table = rng.normal(size=(1500 - increments, 5, 3)) * (0.03 if increments else 1.0)
    q0 = rng.normal(size=(5, 4))
    options: Any = {"t": t, "order": order, "increments": increments}
    path = ph.attitude_from_rate(table, q0, **options)
    assert path.shape == (1500, 5, 4)
    for i in range(5):
        same(ph.attitude_from_rate(table[:, i], q0[i], **options), path[:, i])
    same(ph.attitude_from_rate(np.asfortranarray(table), q0, **options), path)
    same(ph.attitude_from_rate(table.astype(">f8"), q0, **options), path)
    same(ph.attitude_from_rate(table[:, :, None], q0[:, None], **options)[:, :, 0], path)
    for every in (1, 7, 1499, 5000):
        kept = ph.attitude_from_rate(table, q0, save_every=every, **options)
        same(kept, np.concatenate([path[:-1:every], path[-1:]]))
    matrices = ph.attitude_from_rate(table[:, 0], so3.to_matrix(q0[0]), **options)
    close(matrices, so3.to_matrix(path[:, 0]), atol=2e-12)
    same(ph.attitude_from_rate(table[:, 0], -q0[0], **options), -path[:, 0])


def test_one_table_for_several_starts() -> None:
    omega = np.random.default_rng(8).normal(size=(12, 3))
    starts = so3.exp(np.eye(3))
    path = ph.attitude_from_rate(omega, starts, t=UNEVEN)
    for i in range(3):
        same(path[:, i], ph.attitude_from_rate(omega, starts[i], t=UNEVEN))


@pytest.mark.parametrize(("order", "increments"), KINDS)
def test_nan_stays_with_its_body(order: int, increments: bool) -> None:
    rng = np.random.default_rng(9)
    table = rng.normal(size=(40 - increments, 3, 3))
    options: Any = {"t": np.arange(40.0), "order": order, "increments": increments}
    path = ph.attitude_from_rate(table, ONE, **options)
    table[20, 1, 2] = np.nan
    lost = ph.attitude_from_rate(table, ONE, **options)
    same(lost[:, [0, 2]], path[:, [0, 2]])
    first = 20 - (order - increments) // 2 + 1  # the first interval that takes row 20 ends here
    same(lost[:first, 1], path[:first, 1])
    assert np.isnan(lost[first:, 1]).all()


def test_integer_stamps() -> None:
    """Nanoseconds since 1970 are beyond 2**53: their differences are exact."""
    omega = 1e-9 * np.random.default_rng(10).normal(size=(12, 3))
    since = np.rint(UNEVEN * 1e9).astype(np.int64)
    path = ph.attitude_from_rate(omega, ONE, t=since)
    same(ph.attitude_from_rate(omega, ONE, t=since + 1_700_000_000_123_456_789), path)


def test_short_logs() -> None:
    same(ph.attitude_from_rate([[1.0, 2.0, 3.0]], 2 * ONE, t=[5.0]), ONE[None])
    same(ph.attitude_from_rate(np.zeros((0, 3)), ONE, t=[5.0], increments=True), ONE[None])
    two = ph.attitude_from_rate([[0, 0, 1.0], [0, 0, 3.0]], ONE, t=[0, 0.5], order=2)
    close(two[1], so3.exp([0, 0, 1.0]), atol=2 * EPS)
    assert ph.attitude_from_rate(np.zeros((3, 0, 3)), ONE, t=[0, 1, 2], order=2).shape == (3, 0, 4)


def test_gaps() -> None:
    t = np.concatenate([np.arange(10), np.arange(15, 20)]) * 0.1
    omega = np.ones((15, 3))
    ph.attitude_from_rate(omega, ONE, t=t, max_gap=0.7)
    with pytest.raises(ValueError, match=r"gap of 0\.6 between t\[9\] and t\[10\].* 0\.5"):
        ph.attitude_from_rate(omega, ONE, t=t, max_gap=0.5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"t": [0.0, 1.0, 1.0, 2.0]}, ValueError, r"t\[2\] = 1.0: stamps must increase"),
        ({"t": [0.0, 3.0, 1.0, 2.0]}, ValueError, r"t\[2\] = 1.0: stamps must increase"),
        ({"t": [0.0, np.nan, 1.0, 2.0]}, ValueError, r"t\[1\] = nan: .*finite"),
        ({"t": [0.0, 1.0, 2.0, np.inf]}, ValueError, r"t\[3\] = inf: .*finite"),
        ({"t": np.zeros((4, 1))}, ValueError, r"t must have shape \(T,\)"),
        ({"t": []}, ValueError, "at least one stamp"),
        ({"t": ["a"] * 4}, TypeError, "t must be real numbers"),
        ({"t": np.arange(5.0)}, ValueError, r"\(T, ..., 3\) = \(5, ..., 3\).*\(4, 3\)"),
        ({"increments": True}, ValueError, r"\(T - 1, ..., 3\) = \(3, ..., 3\).*\(4, 3\)"),
        ({"omega": np.zeros((4, 2))}, ValueError, "omega must have shape"),
        ({"omega": np.zeros(3)}, ValueError, "omega must have shape"),
        ({"omega": lambda t: [0.0, 0.0, t]}, TypeError, "must be an array"),
        ({"order": 6}, ValueError, "order 6 combines 6 rows of omega, which has 4"),
        ({"order": 3}, ValueError, "order must be 1, 2, 4 or 6 with t"),
        ({"order": 1, "increments": True}, ValueError, "order must be 2, 4 or 6 with t"),
        ({"order": 2.0}, TypeError, "order must be an integer"),
        ({"save_every": 0}, ValueError, "save_every must be at least 1"),
        ({"save_every": 1.5}, TypeError, "save_every must be an integer"),
        ({"max_gap": 0.0}, ValueError, "max_gap must be positive"),
        ({"max_gap": np.nan}, ValueError, "max_gap must be positive"),
        ({"max_gap": [1.0]}, ValueError, "max_gap must be one number"),
        ({"q0": np.zeros(4)}, ValueError, "q0 = .* zero quaternion"),
        ({"q0": np.eye(4), "omega": np.zeros((4, 3, 3))}, ValueError, "do not broadcast"),
        ({"h": 0.1}, TypeError, "one or the other"),
        ({"n_steps": 4}, TypeError, "one or the other"),
        ({"t": None}, TypeError, "needs the step h or the stamps t"),
        ({"t": None, "h": 0.1, "max_gap": 1.0}, TypeError, "need the stamps t"),
        ({"t": None, "h": 0.1, "increments": True}, TypeError, "need the stamps t"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"omega": np.ones((4, 3)), "q0": ONE, "t": np.arange(4.0)} | change
    with pytest.raises(error, match=message):
        ph.attitude_from_rate(**arguments)

"""Passages of a level: none is left out, and their times are exact."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph
from polhode import so3

Array = NDArray[np.float64]
START = [1.0, 0.0, 0.0, 0.0]
GENERIC = ((1.0, 1.5, 2.2), (0.3, 0.5, 0.8))
#: A tumbling satellite: kg m^2, kg m^2/s; the Sun in space; an instrument along a body axis.
SATELLITE = ([30.0, 45.0, 60.0], [0.9, 2.1, 1.5])
SUN, AXIS = np.array([0.36, 0.48, 0.8]), np.array([0.0, 0.6, 0.8])


def value(motion: ph.TorqueFreeMotion, t: Array, body: Any, space: Any) -> Array:
    m, q = motion(t)
    v = m if space is None else so3.rotate(so3.conjugate(q), space)
    return np.asarray(v @ body)


def on_a_grid(f: Array, t: Array, level: float) -> tuple[Array, Array]:
    """Ends of the intervals of a grid in which f changes sides."""
    below = f < level
    (at,) = np.nonzero(below[1:] != below[:-1])
    return t[at], t[at + 1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["m", "axis"])
def test_as_on_a_fine_grid(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inertia = [(1, 1.5, 2.2), (1e-3, 1, 1), (1, 1, 2), (1, 1 + 1e-9, 2), (1, 2, 30)][seed % 5]
    m0 = rng.normal(size=3) * [min(1.0, inertia[0]), 1, 1]
    motion = ph.TorqueFreeMotion(inertia, m0, rng.normal(size=4))
    body = rng.normal(size=3)
    space = None if kind == "m" else rng.normal(size=3)
    t = np.linspace(-20.0, 60.0, 200001)
    f = value(motion, t, body, space)
    # A level near an extreme value too, where passages come in close pairs.
    for level in (rng.uniform(f.min(), f.max()), f.max() - 1e-4 * np.ptp(f), 2 * f.max()):
        low, high = on_a_grid(f, t, level)
        times = motion.crossings(-20.0, 60.0, body=body, space=space, level=level)
        assert len(times) == len(low)
        assert (times >= low - 1e-9).all()
        assert (times <= high + 1e-9).all()
        slack = 64 * EPS * (1 + 60 * np.linalg.norm(m0 / inertia)) * np.abs(f).max()
        close(value(motion, times, body, space), level, atol=slack)
        rising = motion.crossings(-20.0, 60.0, body=body, space=space, level=level, direction=1)
        falling = motion.crossings(-20.0, 60.0, body=body, space=space, level=level, direction=-1)
        same(np.sort(np.concatenate([rising, falling])), times)
        same(rising, times[0 if f[0] < level else 1 :: 2])


def test_components_of_m_by_elliptic_integrals() -> None:
    """m2 = 0 every half period; m1 = d1 cn(u) passes a level at u = F(arccos(level/d1), k)."""
    inertia, m0 = (1.0, 1.5, 2.2), (0.6, 0.0, 0.8)
    motion = ph.TorqueFreeMotion(inertia, m0, START)
    half = float(motion.period) / 2
    times = motion.crossings(0.1, 1e5, body=[0, 1, 0])
    assert len(times) == int(1e5 / half)
    close(times, half * np.arange(1, len(times) + 1), rtol=4 * EPS, atol=16 * EPS)
    with mpmath.workdps(30):
        I1, I2, I3 = (mpmath.mpf(x) for x in inertia)
        c1, c2 = I1 * (I3 - I2) / (I2 * (I3 - I1)), I3 * (I2 - I1) / (I2 * (I3 - I1))
        d1, d3 = mpmath.mpf(m0[0]), mpmath.mpf(m0[2])
        k2 = c2 * d1**2 / (c1 * d3**2)
        frequency = (1 / I1 - 1 / I3) * d3 * mpmath.sqrt(c1)
        u = mpmath.ellipf(mpmath.acos(mpmath.mpf(0.2) / d1), k2) / frequency
        period = 4 * mpmath.ellipk(k2) / frequency
        exact = [n * period + s * u for n in range(40) for s in (-1, 1)][1:-1]
        times = motion.crossings(0.0, float(exact[-1]) + 1.0, body=[1, 0, 0], level=0.2)
        close(times, np.array(exact, float), rtol=8 * EPS, atol=32 * EPS)


def test_passages_at_the_ends_of_a_period() -> None:
    """The searched period begins and ends with a passage, up to rounding: each counts once."""
    for m0 in np.random.default_rng(5).normal(size=(40, 3)):
        motion = ph.TorqueFreeMotion(GENERIC[0], m0, START)
        half = float(motion.period) / 2
        first = motion.crossings(7.0, 7.0 + 1.1 * half, body=[0, 1, 0])[0]
        times = motion.crossings(first, first + 20.5 * half, body=[0, 1, 0])
        assert len(times) >= 20
        close(times, first + half * np.arange(21)[21 - len(times) :], rtol=64 * EPS)


def test_the_sun_and_an_instrument() -> None:
    """An hour of passages, at a cosine that it hardly exceeds: an integrator leaves some out."""
    integrate = pytest.importorskip("scipy.integrate").solve_ivp
    inertia, m0 = SATELLITE
    motion = ph.TorqueFreeMotion(inertia, m0, START)
    t = np.linspace(0.0, 3600.0, 720001)
    f = value(motion, t, AXIS, SUN)
    peaks = np.sort(f[1:-1][(f[1:-1] > f[:-2]) & (f[1:-1] > f[2:])])
    level = peaks[-25] - 2e-8  # once above it for a hundredth of a second
    low, high = on_a_grid(f, t, level)
    times = motion.crossings(0.0, 3600.0, body=AXIS, space=SUN, level=level)
    assert len(times) == 48
    assert np.diff(times).min() < 0.02
    assert ((times >= low) & (times <= high)).all()

    def rates(_: float, y: Array) -> Array:
        m, (w, v) = y[:3], (y[3], y[4:])
        omega = m / inertia
        return np.concatenate(
            [np.cross(m, omega), [-v @ omega / 2], (w * omega + np.cross(v, omega)) / 2]
        )

    def event(_: float, y: Array) -> float:
        return float(AXIS @ so3.rotate(so3.conjugate(y[3:]), SUN) - level)

    # Steps of at most 1 s do not see the short passage: they find 46 in the hour.
    begin = times[np.argmin(np.diff(times))] - 100.0
    span = (begin, begin + 200.0)
    state = np.concatenate(motion(begin))
    found = integrate(
        rates, span, state, method="DOP853", rtol=1e-12, atol=1e-13, max_step=1.0, events=event
    ).t_events[0]
    own = motion.crossings(*span, body=AXIS, space=SUN, level=level)
    assert 0 < len(found) == len(own) - 2
    assert np.abs(found[:, None] - own).min(axis=1).max() < 1e-7


def test_touching_and_constant_values_are_no_passages() -> None:
    spin = ph.TorqueFreeMotion([1.0, 1.0, 2.0], [0.6, 0.8, 0.0], START)  # turns about m
    assert len(spin.crossings(0, 1000, body=[0.6, 0.8, 0], space=[0.6, 0.8, 0], level=1.0)) == 0
    assert len(spin.crossings(0, 1000, body=[0.6, 0.8, 0], space=[1, 0, 0], level=0.6)) == 0
    assert len(spin.crossings(0, 1000, body=[0.6, 0.8, 0], level=1.0)) == 0
    top = ph.TorqueFreeMotion([1.0, 1.0, 2.0], [0.3, 0.4, 0.5], START)  # m3 stays
    assert len(top.crossings(0, 1000, body=[0, 0, 1], level=0.5)) == 0
    assert len(top.crossings(0, 1000, body=[0, 0, 1], space=[0.3, 0.4, 0.5], level=0.5)) == 0
    rest = ph.TorqueFreeMotion([1.0, 2.0, 2.5], [0, 0, 0], START)
    assert len(rest.crossings(0, 10, body=[0, 0, 1], space=[0, 0, 1], level=0.5)) == 0
    for none in ({"body": [0, 0, 0], "space": [0, 0, 1]}, {"body": [0, 0, 1], "space": [0, 0, 0]}):
        assert len(spin.crossings(0, 10, **none)) == 0
    quarter = spin.crossings(0, 6, body=[0, 0, 1], space=[0, 0, 1], level=0.0)
    close(quarter, [np.pi / 2, 3 * np.pi / 2], atol=8 * EPS)


def test_separatrix_rod_and_own_axes() -> None:
    inertia, m0 = (1.5, 2.0, 3.0), (0.5, 0.25, -0.5)
    motion = ph.TorqueFreeMotion(inertia, m0, START)
    assert motion.regime is ph.Regime.SEPARATRIX
    (time,) = motion.crossings(-1e3, 1e3, body=[0, 1, 0])  # it passes the plane of axes 1, 3 once
    close(motion(time)[0][1], 0.0, atol=8 * EPS)
    rod = ph.TorqueFreeMotion([0.0, 2.0, 2.0], [0.0, 0.0, 1.0], START)
    times = rod.crossings(0, 20, body=[1, 0, 0], space=[1, 0, 0])
    close(times, np.pi * np.array([1, 3, 5]), rtol=4 * EPS)
    turn = so3.exp([0.4, -0.3, 0.9])
    body = ph.RigidBody.from_moments(GENERIC[0], turn)
    plain = ph.TorqueFreeMotion(*GENERIC, START)
    own = body.motion(so3.rotate(turn, GENERIC[1]), so3.conjugate(turn))
    for space in (None, [0.1, 0.7, -0.2]):
        expected = plain.crossings(0, 40, body=[0.2, 0.5, 0.1], space=space, level=0.1)
        times = own.crossings(0, 40, body=so3.rotate(turn, [0.2, 0.5, 0.1]), space=space, level=0.1)
        close(times, expected, atol=1e-12)
    matrices = ph.TorqueFreeMotion(*GENERIC, np.eye(3))
    times = matrices.crossings(0, 40, body=[0.2, 0.5, 0.1], space=[0.1, 0.7, -0.2], level=0.1)
    close(times, expected, atol=1e-12)


def test_batches_are_single_calls() -> None:
    rng = np.random.default_rng(2)
    inertia, m0, q0 = rng.uniform(1, 3, (5, 1, 3)), rng.normal(size=(5, 4, 3)), START
    m0[2, 1] = np.nan
    level, t1 = rng.uniform(-0.3, 0.3, 4), np.array([[10.0], [0.0], [300.0], [20.0], [30.0]])
    many = ph.TorqueFreeMotion(inertia, m0, q0).crossings(
        0, t1, body=[0, 0, 1], space=[1, 0, 0], level=level
    )
    assert many.shape == (5, 4)
    for i in range(5):
        for j in range(4):
            one = ph.TorqueFreeMotion(inertia[i, 0], m0[i, j], q0).crossings(
                0, t1[i, 0], body=[0, 0, 1], space=[1, 0, 0], level=level[j]
            )
            same(many[i, j], one)
    assert len(many[2, 1]) == len(many[1, 0]) == 0
    assert sum(map(len, many.flat)) > 100
    none = ph.TorqueFreeMotion(np.ones((0, 3)), [1.0, 2.0, 3.0], q0)
    assert none.crossings(0, 1, body=[1, 0, 0]).shape == (0,)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400])
def test_scaling_by_a_power_of_two(scale: float) -> None:
    plain = ph.TorqueFreeMotion(*GENERIC, START)
    other = ph.TorqueFreeMotion(np.array(GENERIC[0]), scale * np.array(GENERIC[1]), START)
    for space in (None, [0.1, 0.7, -0.2]):
        level = 0.1 if space else 0.1 * scale
        times = plain.crossings(1, 40, body=[0.2, 0.5, 0.1], space=space, level=0.1)
        scaled = other.crossings(
            1 / scale, 40 / scale, body=[0.2, 0.5, 0.1], space=space, level=level
        )
        close(scaled * scale, times, rtol=16 * EPS)
        assert len(times) >= 3


def test_refused() -> None:
    motion = ph.TorqueFreeMotion(*GENERIC, START)
    with pytest.raises(ValueError, match=r"t1\[1\] = 0.0: less than t0"):
        motion.crossings(1.0, [2.0, 0.0], body=[1, 0, 0])
    with pytest.raises(ValueError, match=r"t1\[1, 0\] = 0.5: less than t0"):
        motion.crossings(1.0, [[2.0, 2.0], [0.5, 2.0]], body=[1, 0, 0])
    with pytest.raises(ValueError, match=r"t1 = 0.5: less than t0"):
        motion.crossings(1.0, 0.5, body=[1, 0, 0])
    with pytest.raises(ValueError, match=r"t1 = inf: not finite"):
        motion.crossings(1.0, np.inf, body=[1, 0, 0])
    with pytest.raises(ValueError, match=r"t1 - t0 is too long: .* 2\^50 radians"):
        motion.crossings(0.0, 1e300, body=[1, 0, 0], space=[1, 0, 0])
    with pytest.raises(ValueError, match=r"body must have shape"):
        motion.crossings(0, 1, body=[1, 0])
    with pytest.raises(ValueError, match="direction must be -1, 0 or 1, not 2"):
        motion.crossings(0, 1, body=[1, 0, 0], direction=2)
    with pytest.raises(ValueError, match="broadcast"):
        motion.crossings([0, 1], [2, 2, 2], body=[1, 0, 0])

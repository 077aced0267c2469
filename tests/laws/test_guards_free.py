"""The exact triggers of guards of free motion: the separatrix, ties of labels, steps of no length.

As in test_guards.py: each test fails where a guard, or a number of Gauss's rule, is changed.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from compare import close, same
from numpy.typing import ArrayLike, NDArray
from tolerances import EPS

import polhode as ph

Array = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
GENERIC = [1.0, 1.5, 2.2]
SEPARATRIX = [1.5, 2.0, 3.0], [0.5, 0.25, 0.5]  # c1 = c2 = 1/2, m1 = m3


def run(method: str, inertia: ArrayLike, m: ArrayLike, h: ArrayLike) -> tuple[Array, Array]:
    if method == "motion":
        return ph.TorqueFreeMotion(inertia, m, IDENTITY)(h)
    return ph.step(inertia, m, IDENTITY, h, method=method)


def test_no_step_is_the_identity_bit_for_bit() -> None:
    """Also where 1/x x is not 1: the scalar part is a quotient."""
    rng = np.random.default_rng(5)
    inertia, m = rng.uniform(0.5, 2.0, (200, 3)), rng.standard_normal((200, 3))
    same(ph.step(inertia, m, IDENTITY, 0.0)[1], np.tile(IDENTITY, (200, 1)))


# --- along the separatrix ---


@pytest.mark.parametrize("method", ["exact", "frb", "motion", "magnus8", "factorization8"])
def test_momenta_along_the_separatrix(method: str) -> None:
    """tanh and sech; by 60 the step is doubled 5 times, each of which squares cn = dn."""
    h = np.linspace(-60.0, 60.0, 41)
    with mp.workdps(30):
        d = mp.sqrt(mp.mpf("0.28125"))  # d1^2 = d3^2 = m1^2 + m2^2 / 2
        phases = [mp.atanh(0.25 / d / mp.sqrt(2)) + mp.mpf(t) / 3 * d / mp.sqrt(2) for t in h]
        want = [[d * mp.sech(u), d * mp.sqrt(2) * mp.tanh(u), d * mp.sech(u)] for u in phases]
        expected = np.array(want, float)
    close(run(method, *SEPARATRIX, h)[0], expected, atol=4 * EPS)


@pytest.mark.parametrize("method", ["frb", "motion"])
def test_attitudes_far_along_the_separatrix(method: str) -> None:
    """From where sech is no longer a number on they turn at |m| / I2."""
    h = np.array([100.0, 500.0, 1e3, 2e3, -2e3, 1e4])
    m, q = run(method, *SEPARATRIX, h)
    m_exact, q_exact = run("exact", *SEPARATRIX, h)
    close(m, m_exact, atol=4 * EPS)
    # Both are within 4 eps an angle.
    close(q, q_exact, atol=8 * EPS * (1 + np.abs(h)[:, None] * 0.375))


def test_separatrix_from_one_end_to_the_other() -> None:
    """1 - |tanh| has the digits that tanh u + tanh v of different signs has lost."""
    h = np.linspace(-60.0, 60.0, 49)
    start = [1.5, 2.0, 3.0], [1e-5, -1.0, 1e-5], h
    for got, want in zip(run("frb", *start), run("exact", *start), strict=True):
        close(got, want, atol=8 * EPS * (1 + np.abs(h)[:, None] / 2))


def test_momenta_beside_the_separatrix() -> None:
    """Roundings of cn would double in each of the Landen steps, of which there are many here."""
    rng = np.random.default_rng(1)
    off = 10 ** rng.uniform(-12, -1, 4000)
    m = np.stack([0.5 + off, rng.uniform(0.0, 0.5, 4000), np.full(4000, 0.5)], -1)
    h = rng.uniform(-3.0, 3.0, 4000)
    close(run("frb", SEPARATRIX[0], m, h)[0], run("exact", SEPARATRIX[0], m, h)[0], atol=4 * EPS)


@pytest.mark.parametrize("method", ["factorization4", "factorization6", "factorization8"])
def test_beside_the_separatrix_a_step_back_undoes(method: str) -> None:
    """Which axis is circled is rounding there; either step takes the same labels all the same."""
    rng = np.random.default_rng(2)
    inertia = np.sort(rng.uniform(1.0, 3.0, (4000, 3)), axis=1)
    i1, i2, i3 = inertia.T
    m = rng.uniform(0.1, 1.0, (4000, 3)) * rng.choice([-1.0, 1.0], (4000, 3))
    m[:, 0] *= np.abs(m[:, 2] / m[:, 0]) * np.sqrt(i1 * (i3 - i2) / (i3 * (i2 - i1)))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    h = 2.0
    m1, q1 = ph.step(inertia, m, IDENTITY, h, method=method)
    m0, q0 = ph.step(inertia, m1, q1, -h, method=method)
    close(m0, m, atol=16 * EPS)
    close(q0, np.tile(IDENTITY, (4000, 1)), atol=16 * EPS)


# --- ties and ends ---


@pytest.mark.parametrize(
    ("inertia", "m"),
    [
        ([1.0, 2.0, 2.0], [0.0, 0.6, 0.8]),  # c1 m3^2 = c2 m1^2 = 0: labels with c1 > 0
        ([1.0, 1.0, 1.5], [0.6, 0.8, 0.0]),
        ([1.0, 1.0, 1.5], [0.0, 0.0, -1.0]),  # on axis 3 of the frame
        ([1.0, 2.0, 2.0], [-1.0, 0.0, 0.0]),
        (GENERIC, [0.0, 0.9, 0.4]),  # am = pi/2 of a phase that is not doubled yet
        (GENERIC, [0.0, -0.9, 0.4]),
        (GENERIC, [0.4, 0.9, 0.0]),
        (GENERIC, [0.4, -0.9, 0.0]),
    ],
)
def test_ties_of_labels_and_phases(inertia: list[float], m: list[float]) -> None:
    h = np.array([0.3, -0.3, 2.0, -2.0, 20.0])
    for got, want in zip(run("frb", inertia, m, h), run("exact", inertia, m, h), strict=True):
        close(got, want, atol=8 * EPS * (1 + np.abs(h)[:, None]))


@pytest.mark.filterwarnings("ignore:no digit is correct:RuntimeWarning")
@pytest.mark.parametrize("m", [[0.3, 0.5, 0.8], [0.8, 0.3, 0.4]])
def test_motion_ends_after_so_many_half_periods(m: list[float]) -> None:
    motion = ph.TorqueFreeMotion(GENERIC, m, IDENTITY)
    half_periods = np.array([0.99, -0.99, 1.01, -1.01, 4.0]) * 2.0**50
    t, ended = half_periods * (0.5 * motion.period), np.abs(half_periods) >= 2.0**50
    same(np.isnan(motion(t)[0]).any(-1), ended)
    same([np.isnan(motion(one)[0]).any() for one in t], ended)  # no other that takes the branch


@pytest.mark.filterwarnings("ignore:.*NaN.*|no digit is correct:RuntimeWarning")
@pytest.mark.parametrize(
    ("inertia", "m"),
    [
        ([1.0, 1.0, 1.0], [0.3, 0.5, 0.8]),
        ([1.0, 1.0, 2.0], [0.3, 0.5, 0.8]),
        (GENERIC, [2.0, 0, 0]),
    ],
)
def test_steps_end_after_so_many_radians(inertia: list[float], m: list[float]) -> None:
    """Half the angle about m is below 2^50 rad where m circles the axis of a moment I1."""
    angles = np.array([0.99, -0.99, 1.01, -1.01, 4.0]) * 2.0**51
    h = angles * inertia[0] / np.linalg.norm(m)
    motion = ph.TorqueFreeMotion(inertia, m, IDENTITY)
    for _, ended in (run("exact", inertia, m, h), run("frb", inertia, m, h), motion(h)):
        same(np.isnan(ended).any(-1), np.abs(angles) >= 2.0**51)
    for one, angle in zip(h, angles, strict=True):  # no other that takes the branch for these
        assert np.isnan(motion(one)[1]).any() == (abs(angle) >= 2.0**51)


#: Squares of phases, over the limit of them.
AROUND = np.array([0.95, 0.999, 1.001, 1.05, 2.0])


@pytest.mark.filterwarnings("ignore:.*NaN.*:RuntimeWarning")
@pytest.mark.parametrize("method", ["magnus2", "magnus8", "factorization4", "factorization8"])
@pytest.mark.parametrize("m", [[0.3, 0.5, 0.8], [0.8, 0.3, 0.4]])
def test_momenta_end_after_a_phase_of_so_many_radians(method: str, m: list[float]) -> None:
    """The larger of alpha and beta is below 2^100 for half the step."""
    (i1, i2, i3), (x, y, z) = GENERIC, np.square(m)
    a, b, c = 1 / i2 - 1 / i3, 1 / i1 - 1 / i2, 1 / i1 - 1 / i3
    largest = max(a * (c * z + b * y), b * (c * x + a * y))
    h = 2 * np.sqrt(AROUND * 2.0**100 / largest)
    for sign in (1.0, -1.0):
        same(np.isnan(run(method, GENERIC, m, sign * h)[0]).any(-1), AROUND > 1)


@pytest.mark.filterwarnings("ignore:.*NaN.*|no digit is correct:RuntimeWarning")
@pytest.mark.parametrize("method", ["exact", "frb"])
def test_phases_of_a_small_nutation_end(method: str) -> None:
    """Of a body that turns little while m circles axis 3: I3 is far greater than I1 + I2."""
    inertia, m = [1.0, 1.0, 1e10], [0.3, 0.4, 1.0]
    h = np.sqrt(AROUND * 2.0**100) / (0.5 * (1 - 1e-10))  # m1^2 + m2^2 = 1/4
    for end in run(method, inertia, m, h):
        same(np.isnan(end).any(-1), AROUND > 1)
    # On axis 3 itself the phase has no effect up to the ends of the range of numbers.
    if method == "exact":
        h = np.sqrt(AROUND) * 2.0**500 / (1 - 1e-10)
        same(np.isnan(run("exact", inertia, [0.0, 0.0, 1.0], h)[0]).any(-1), AROUND > 1)
        motion = ph.TorqueFreeMotion(inertia, np.multiply(1e5, m), IDENTITY)
        assert np.isnan(motion([1e300, -1e300, 1.7e308, -1.7e308])[0]).all()


# --- Gauss's rule of the method "gauss" ---


def gauss_less_exact(m: Array, h: float) -> list[float]:
    """By how much half the angle about m is off by 1 to 10 nodes, from eq. (20) of [CZ08].

    For a generic body whose momentum circles axis 3, and the frame of "frb" with the smaller n.
    """
    i1, i2, i3 = (mp.mpf(i) for i in GENERIC)
    m1, m2, m3 = (mp.mpf(c) for c in m)
    c1, c2 = i1 * (i3 - i2) / (i2 * (i3 - i1)), i3 * (i2 - i1) / (i2 * (i3 - i1))
    y1, y3 = c1 * (m1**2 + c1 * m2**2), c2 * (m3**2 + c2 * m2**2)
    k2, n, root = y1 * c2**2 / (y3 * c1**2), min(y1, y3) * c2 / (y3 * c1), mp.sqrt(c1 * y3 / c2)
    w = (i3 - i1) / (i1 * i3) * root * mp.mpf(h) / 2
    phi = mp.findroot(lambda x: mp.ellipf(x, k2) - w, w * mp.pi / (2 * mp.ellipk(k2)))
    size = mp.sqrt(m1**2 + m2**2 + m3**2) * (1 if y1 >= y3 else -1)

    def integrand(x: mp.mpf) -> mp.mpf:
        s2 = mp.sin(phi * x) ** 2
        return size * phi / root * n * s2 / ((1 + n * s2) * mp.sqrt(1 - k2 * s2))

    integral = mp.quad(integrand, mp.linspace(0, 1, 3))
    off = []
    for nodes in range(1, 11):
        legendre = mp.taylor(lambda x, p=nodes: mp.legendre(p, x), 0, nodes)
        total = mp.mpf(0)
        for x in mp.polyroots(legendre[::-1], maxsteps=200, extraprec=200):
            weight = (1 - x**2) / (nodes * mp.legendre(nodes - 1, x)) ** 2
            total += weight * integrand(x)
        off.append(float(integral - total))
    return off


# mpmath 1.4 expects the coefficients in the other order, which 1.3 does not support.
@pytest.mark.filterwarnings("ignore:Descending:DeprecationWarning")
@pytest.mark.parametrize("m", [[0.3, 0.5, 0.7], [0.1, 0.9, 0.5]])
def test_every_rule_of_gauss(m: list[float]) -> None:
    """Where every weight and distance counts; half of the longer steps is beyond a quarter turn."""
    start = np.array(m)
    axis = start / np.linalg.norm(start)
    for h in (-7.0, 12.0, 20.0):
        with mp.workdps(20):
            off = gauss_less_exact(start, h)
        _, q = run("exact", GENERIC, start, h)
        for nodes, turn in enumerate(off, 1):
            got = run(f"gauss{nodes}", GENERIC, start, h)[1]
            want = ph.so3.multiply([np.cos(turn), *(np.sin(turn) * axis)], q)
            close(got, want, atol=EPS * (1 + abs(h) / 2), what=(nodes, h))  # the angle is about h/2

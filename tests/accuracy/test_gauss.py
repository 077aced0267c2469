"""Methods gauss1 ... gauss10: the table of nodes, and the error of the quadrature."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import reference
from mpmath import mp
from numpy.typing import ArrayLike, NDArray
from tolerances import EPS

import polhode as ph

HEADER = Path(__file__).parents[2] / "cpp/include/polhode/quadrature/gauss_legendre.hpp"
NODES = range(1, 11)
GENERIC = (1.0, 1.5, 2.2)
START = (0.6, -0.48, 0.0, 0.64)
STATES = ((0.8, 0.3, 0.4), (-0.3, 0.5, 0.8), (0.2, -0.7, 0.6))

Array = NDArray[np.float64]


def table() -> dict[int, list[tuple[mp.mpf, ...]]]:
    """Distance from 1/2 and weight of the pairs of each rule, as the header has them."""
    pairs = [
        tuple(mp.fsum(float.fromhex(x) for x in three.split(",") if x) for three in pair)
        for pair in re.findall(
            r"\{\{([^{}]*)\},\s*\{([^{}]*)\}\}", HEADER.read_text(encoding="utf-8")
        )
    ]
    # One rule after another; rules 1 ... p - 1 have floor(p^2/4) pairs.
    return {p: pairs[p * p // 4 : (p + 1) ** 2 // 4] for p in NODES}


@pytest.mark.parametrize("p", NODES)
def test_nodes_and_weights(p: int) -> None:
    """Roots of the Legendre polynomial on [0, 1], weights from its derivative, to 45 digits."""
    with mp.workdps(55):
        pairs = table()[p]
        half = mp.mpf(1) / 2
        nodes = [(half + d, w) for d, w in pairs] + [(half - d, w) for d, w in pairs if d != 0]
        assert len(nodes) == p
        for x, weight in nodes:
            y = 2 * x - 1
            assert abs(mp.legendre(p, y)) < 1e-44
            slope = p * (mp.legendre(p - 1, y) - y * mp.legendre(p, y)) / (1 - y * y)
            assert abs(weight - 1 / ((1 - y * y) * slope**2)) < 1e-44
        assert abs(mp.fsum(w for _, w in nodes) - 1) < 1e-44
        for degree in range(2 * p):
            integral = mp.fsum(w * x**degree for x, w in nodes)
            assert abs(integral - mp.mpf(1) / (degree + 1)) < 1e-44


def error(p: int, m: tuple[float, ...], h: float, inertia: tuple[float, ...] = GENERIC) -> float:
    m_end, q_end = ph.step(inertia, m, START, h, method=f"gauss{p}")
    m_exact, q_exact = ph.step(inertia, m, START, h)
    assert np.abs(m_end - m_exact).max() < 8 * EPS * (1 + abs(h))
    return float(np.abs(q_end - q_exact).max())


def in_space(m: ArrayLike, q: Sequence[float] | Array) -> Array:
    return np.array(reference.to_matrix(q), float) @ np.asarray(m)


@pytest.mark.parametrize("m", STATES)
def test_each_node_more_takes_digits_off_the_error(m: tuple[float, ...]) -> None:
    found = [error(p, m, 1.5) for p in NODES]
    for before, after in itertools.pairwise(found):
        assert after < max(0.1 * before, 8 * EPS), found
    assert 1e-4 < found[0] < 0.1
    assert found[-1] < 8 * EPS


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("m", STATES)
def test_one_step_errs_by_order_2p_plus_1(p: int, m: tuple[float, ...]) -> None:
    """A step of h / 2 errs by 2^-(2p + 1) of one of h, where that can be seen in double."""
    h = {1: 0.05, 2: 0.4, 3: 0.8}[p]
    order = np.log2(error(p, m, h) / error(p, m, h / 2))
    assert abs(order - (2 * p + 1)) < 0.15


def test_error_is_the_same_at_every_phase() -> None:
    """Along one polhode the angle of a step errs by the same amount."""
    m = np.array(STATES[1])
    angles = []
    for t in np.linspace(0.0, 6.0, 7):
        start, _ = ph.step(GENERIC, m, START, t)
        q = ph.step(GENERIC, start, START, 1.0, method="gauss2")[1]
        exact = ph.step(GENERIC, start, START, 1.0)[1]
        angles.append(np.linalg.norm(q - exact))
    assert max(angles) > 1e-7
    assert max(angles) - min(angles) < 1e-6 * max(angles) + 8 * EPS


@pytest.mark.parametrize("inertia", [(1.0, 1.0, 1.5), (1.0, 1.5, 1.5), (1.3, 1.3, 1.3)])
def test_symmetric_bodies_are_exact(inertia: tuple[float, ...]) -> None:
    """n = 0 there, or k^2/n: nothing is left to integrate."""
    for p in (1, 2, 10):
        for h in (0.1, -3.0, 40.0):
            assert error(p, (0.48, -0.6, 0.64), h, inertia) < 8 * EPS * (1 + abs(h))


@pytest.mark.parametrize("p", [1, 4, 9])
def test_long_steps_stay_finite_and_unit(p: int) -> None:
    """Far beyond its range the angle is wrong; momentum and norm are not."""
    for m in (*STATES, (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)):
        for h in (300.0, -1e5):
            m_end, q_end = ph.step(GENERIC, m, START, h, method=f"gauss{p}")
            np.testing.assert_array_equal(m_end, ph.quat_step(GENERIC, m, START, h)[0])
            assert abs(np.linalg.norm(q_end) - 1) < 4 * EPS
            assert np.abs(in_space(m_end, q_end) - in_space(m, START)).max() < 16 * EPS

"""Elliptic integrals of large amplitudes, and the limits at zero and infinity.

The integrals grow with the amplitude; only their periodic part loses its digits, and beside the
whole it is nothing.  The reference is mpmath with 60 digits.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from compare import close, same

from polhode import elliptic

EPS = 2.0**-52
INF = math.inf

# Amplitudes around 2^50, where sine and cosine end, around 2^54, where the periodic part does, and
# far above; of both signs.
PHI = [1.2e15, -3e15, 5.7e15, -1.1e16, 1.9e16, 1e20, -1.7e100, 1e290]
K2 = [-1e6, -0.5, 0.0, 0.5, 1 - 2.0**-30, 1 - 2.0**-52]


def reference(complete: Any, incomplete: Any, phi: float) -> float:
    """The integral over phi = n pi + r from that over [0, pi] and that over [0, r]."""
    with mpmath.workdps(400):
        exact = mpmath.mpf(phi)
        n = mpmath.nint(exact / mpmath.pi)
        rest = exact - n * mpmath.pi
    with mpmath.workdps(40):
        return float(n * complete + incomplete(rest))


@pytest.mark.parametrize("k2", K2)
def test_first_kind_of_large_amplitudes(k2: float) -> None:
    with mpmath.workdps(60):
        complete = 2 * mpmath.ellipk(k2)
        want = [reference(complete, lambda r: mpmath.ellipf(r, k2), x) for x in PHI]
    close(elliptic.ellip_f(PHI, k2), want, rtol=4 * EPS)


@pytest.mark.parametrize("n", [-1e3, 0.5, 0.999])
@pytest.mark.parametrize("k2", [-0.5, 0.5, 1 - 2.0**-52])
def test_third_kind_of_large_amplitudes(n: float, k2: float) -> None:
    with mpmath.workdps(60):
        complete = 2 * mpmath.ellippi(n, k2)
        want = [reference(complete, lambda r: mpmath.ellippi(n, r, k2), x) for x in PHI]
    close(elliptic.ellip_pi(n, PHI, k2), want, rtol=8 * EPS)


@pytest.mark.parametrize("k2", [-1e6, -0.5, 0.0, 0.5, 1 - 2.0**-30])
def test_amplitude_of_large_arguments(k2: float) -> None:
    u = np.array(PHI)
    sn, cn, dn, am = elliptic.jacobi(u, k2)
    with mpmath.workdps(60):
        rate = mpmath.pi / (2 * mpmath.ellipk(k2))
        want = np.array([float(x * rate) for x in PHI])
    # The periodic part, at most pi/2, is left out of `want`.
    scale = max(1.0, math.sqrt(abs(k2)))
    close(am, want, atol=4 * EPS * (1 + np.abs(u) * scale) + math.pi / 2)
    ended = np.abs(want) >= 2.0**50
    for function in (sn, cn, dn):
        same(np.isnan(function), ended)


def test_value_of_the_report() -> None:
    """F(1e20 | 0.5) by mpmath."""
    assert float(elliptic.ellip_f(1e20, 0.5)) == 1.180340599016096e20


def test_infinite_parameter() -> None:
    """At k2 = -inf the integrals are 0 over any amplitude; over none they are 0 for every k2."""
    phi = np.array([0.0, -0.0, 1e-300, 0.5, 2.0, 1e20, -1e20])
    same(elliptic.ellip_f(phi, -INF), 0.0 * phi)
    for n in (-1.0, 0.0, 0.5, 2.0, -INF, INF):
        same(np.abs(elliptic.ellip_pi(n, phi, -INF)), np.zeros(7))
    for k2 in (-INF, INF):
        assert float(elliptic.ellip_f(0.0, k2)) == 0
        for n in (-1.0, 0.0, 0.5, 1.0, 2.0):
            assert float(elliptic.ellip_pi(n, 0.0, k2)) == 0
        same(
            elliptic.jacobi(np.array([0.0, -0.0]), k2),
            ([0.0, -0.0], [1.0] * 2, [1.0] * 2, [0.0, -0.0]),
        )
        assert np.isnan(elliptic.jacobi(1.0, k2)).all()
    assert np.isnan(elliptic.ellip_f(1.0, INF))


def test_infinite_amplitude() -> None:
    for k2 in (-1e300, -0.5, 0.0, 0.5, 1.0):
        same(elliptic.ellip_f([INF, -INF], k2), np.array([INF, -INF]))
        same(elliptic.ellip_pi([0.5, -3.0], [INF, -INF], k2), np.array([INF, -INF]))
    for k2 in (-1e300, -0.5, 0.0, 0.5):
        same(elliptic.jacobi(np.array([INF, -INF]), k2)[3], np.array([INF, -INF]))
    assert np.isnan(elliptic.ellip_f(INF, 2.0))


def test_nan_stays_nan() -> None:
    nan = math.nan
    for phi, k2 in ((nan, 0.5), (1e20, nan), (0.0, nan), (nan, -INF)):
        assert np.isnan(elliptic.ellip_f(phi, k2))
        assert np.isnan(elliptic.ellip_pi(0.5, phi, k2))
        assert np.isnan(elliptic.jacobi(phi, k2)).all() or k2 == 0.5
    assert np.isnan(elliptic.ellip_pi(nan, 1e20, 0.5))

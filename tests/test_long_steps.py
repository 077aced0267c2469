"""Steps so long that cn and dn underflow: on axis 2 and on the separatrix."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import polhode as ph

_quad = pytest.importorskip("polhode._quad")

EPS = 2.0**-52
LONG = [700.0, 1e3, 1e4, -1e6, 1e9]


@pytest.mark.parametrize("method", ["exact", "frb"])
@pytest.mark.parametrize("h", LONG)
def test_on_axis_2(method: str, h: float) -> None:
    inertia = np.array([1.0, 1.648785782711929, 1.972012709664193])
    m, q = ph.step(inertia, [0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], h, method=method)
    with mpmath.workdps(50):
        half = -mpf(h) / mpf(float(inertia[1])) / 2
        exact = [mpmath.cos(half), 0, mpmath.sin(half), 0]
        off = max(abs(mpf(float(a)) - b) for a, b in zip(q, exact, strict=True))
    assert off <= 8 * EPS * (1 + abs(h) / inertia[1])
    assert np.abs(m - [0, -1, 0]).max() <= 8 * EPS


@pytest.mark.parametrize("m0", [[0.5, 0.25, -0.5], [-0.5, 0.25, -0.5], [0.5, -0.25, 0.5]])
@pytest.mark.parametrize("h", LONG)
def test_on_the_separatrix(m0: list[float], h: float) -> None:
    inertia = np.array([1.5, 2.0, 3.0])
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    m, q = ph.step(inertia, m0, q0, h)
    size = np.linalg.norm(m0)
    # There m goes to one end of axis 2, as sech and tanh, and the body on turning about it.
    assert abs(abs(m[1]) - size) <= 8 * EPS * size
    assert max(abs(m[0]), abs(m[2])) <= 8 * EPS * size
    pairs = [np.stack([a, np.zeros(len(a))], axis=1) for a in (inertia, np.array(m0), q0)]
    _, exact = _quad.step("exact", *pairs, h)
    angle = abs(h) * np.linalg.norm(np.array(m0) / inertia)
    assert np.abs((q - exact[:, 0]) - exact[:, 1]).max() <= 8 * EPS * (1 + angle)


def test_no_digit_left_is_nan() -> None:
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], [1e14, 1e17, 1e300])
    assert np.isfinite(m[0]).all()
    assert np.isfinite(q[0]).all()
    assert np.isnan(m[1:]).all()
    assert np.isnan(q[1:]).all()

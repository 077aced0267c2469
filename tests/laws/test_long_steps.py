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


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
def test_no_digit_left_is_nan() -> None:
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], [1e14, 1e17, 1e300])
    assert np.isfinite(m[0]).all()
    assert np.isfinite(q[0]).all()
    assert np.isnan(m[1:]).all()
    assert np.isnan(q[1:]).all()


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
@pytest.mark.parametrize("method", ["exact", "frb", "motion"])
@pytest.mark.parametrize("off", [1e-120, 1e-130, 1e-138, 1e-150, 1e-200, 5e-324])
def test_hardly_off_axis_2(method: str, off: float) -> None:
    # m2 = -tanh, m1 and m3 as sech until m is half way to the other side: d e^(growth h) = 2 there,
    # at which m1 = 1/2, m2 = 0... for (1, 2, 3), growth = 1/sqrt(12), reference 34 digits.
    inertia, q0 = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0])
    m0 = np.array([off, 1.0, 0.0])
    h = float(np.log(2) - np.log(off)) * np.sqrt(12.0)
    if method == "motion":
        m, q = ph.TorqueFreeMotion(inertia, m0, q0)(h)
    else:
        m, q = ph.step(inertia, m0, q0, h, method=method)
    if off < 1e-135:  # documented: the way back is lost
        assert np.isnan(m).all()
        assert np.isnan(q).all()
        return
    pairs = [np.stack([a, np.zeros(len(a))], axis=1) for a in (inertia, m0, q0)]
    exact_m, exact_q = _quad.step("exact", *pairs, h)
    # An ulp of h or of an inertia moves m by the number of growth times.
    bound = 8 * EPS * (1 + h) + 4 * EPS * np.log(1 / off)
    assert np.abs((m - exact_m[:, 0]) - exact_m[:, 1]).max() <= bound
    assert np.abs((q - exact_q[:, 0]) - exact_q[:, 1]).max() <= bound


def test_the_separatrix_ends_at_axis_2() -> None:
    # Within rounding of the separatrix: m must not come back and stop far from the axis.
    inertia = [1.1257909969099427, 1.1755357735189735, 2.4517617275515535]
    m0 = [0.4658627613427078, 2.310363486795888, 0.13573073406713437]
    motion = ph.TorqueFreeMotion(inertia, m0, [1.0, 0.0, 0.0, 0.0])
    assert motion.regime == ph.Regime.SEPARATRIX
    size = np.linalg.norm(m0)
    for m in motion([1e4, 1e6, -1e5])[0]:
        assert abs(abs(m[1]) - size) <= 16 * EPS * size
        assert max(abs(m[0]), abs(m[2])) <= 16 * EPS * size

"""Momentum, angular velocity, energy, Casimir: against rational arithmetic, and at the edges."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compare import close
from tolerances import EPS, within

import polhode as ph
from polhode import so3


def relative_error(computed: float, exact: Fraction) -> float:
    return float(abs(Fraction(float(computed)) - exact) / exact)


def test_error_of_energy_and_casimir() -> None:
    rng = np.random.default_rng(1)
    inertia = 10.0 ** rng.uniform(-3, 3, (300, 3))
    m = rng.standard_normal((300, 3))
    energies, casimirs = ph.energy(inertia, m), ph.casimir(m)
    for i in range(300):
        moments = [Fraction(float(a)) for a in inertia[i]]
        squares = [Fraction(float(b)) ** 2 for b in m[i]]
        exact = sum(b / a for a, b in zip(moments, squares, strict=True)) / 2
        within("quantities.energy", relative_error(energies[i], Fraction(exact)) / EPS)
        within("quantities.casimir", relative_error(casimirs[i], Fraction(sum(squares) / 2)) / EPS)


def test_momentum_and_omega_are_correctly_rounded() -> None:
    rng = np.random.default_rng(2)
    inertia = rng.uniform(0.1, 3, (50, 3))
    omega = rng.standard_normal((50, 3))
    np.testing.assert_array_equal(ph.momentum(inertia, omega), inertia * omega)
    np.testing.assert_array_equal(ph.omega(inertia, omega), omega / inertia)


@pytest.mark.parametrize(
    ("size", "moment"), [(1e-150, 1e-150), (1e-150, 1e150), (1e150, 1e150), (1e200, 1e300)]
)
def test_magnitudes(size: float, moment: float) -> None:
    # sum m^2/(2 I) = (1 + 2 + 9/4)/2 size^2/moment; of |m|^2 = 1e400 no double is made on the way.
    m = size * np.array([1.0, 2.0, 3.0])
    inertia = moment * np.array([1.0, 2.0, 4.0])
    expected = Fraction(21, 8) * Fraction(size) ** 2 / Fraction(moment)
    error = abs(Fraction(float(ph.energy(inertia, m))) - expected)
    assert error <= max(4 * EPS * expected, Fraction(2) ** -1074)
    close(ph.momentum(inertia, ph.omega(inertia, m)), m, rtol=2 * EPS)
    if size <= 1e150:
        expected = 7 * Fraction(size) ** 2
        assert relative_error(float(ph.casimir(m)), expected) < 4 * EPS


def test_rod_has_no_momentum_and_no_rate_about_itself() -> None:
    np.testing.assert_array_equal(ph.omega([0, 2, 2], [0, 1, 3]), [0, 0.5, 1.5])
    assert float(ph.energy([2, 0, 2], [2, 0, 0])) == 1.0
    # 4 eps of the largest counts as zero, on either side of it.
    for noise in (-4 * EPS, 4 * EPS):
        np.testing.assert_array_equal(ph.omega([noise, 1, 1], [1e-13, 1, 0]), [0, 1, 0])
    # Momentum about it up to 1e-12 |m| is dropped, more is refused.
    np.testing.assert_array_equal(ph.omega([0, 2, 2], [0.9e-12, 1, 0]), [0, 0.5, 0])
    for function in (ph.omega, ph.energy):
        with pytest.raises(ValueError, match=r"m\[1\]"):
            function([0, 2, 2], [[0, 1, 0], [1.1e-12, 1, 0]])


def test_momentum_spatial_of_quaternion_and_matrix() -> None:
    rng = np.random.default_rng(3)
    m = rng.standard_normal((300, 3))
    q = rng.standard_normal((300, 4))  # of any length
    spatial = ph.momentum_spatial(m, q)
    length = np.linalg.norm(m, axis=1)
    # 2 (v.a) a + (w^2 - a.a) v + 2 w a x v over |q|^2, in rational numbers.
    for i in range(len(m)):
        w, *a = (Fraction(float(x)) for x in q[i])
        v = [Fraction(float(x)) for x in m[i]]
        aa, va = sum(x * x for x in a), sum(x * y for x, y in zip(a, v, strict=True))
        for k in range(3):
            turned = a[k - 2] * v[k - 1] - a[k - 1] * v[k - 2]
            exact = (2 * va * a[k] + (w * w - aa) * v[k] + 2 * w * turned) / (w * w + aa)
            error = abs(Fraction(float(spatial[i, k])) - exact)
            within("quantities.momentum_spatial", float(error) / length[i] / EPS)
    m, q, spatial = m[:30], q[:30], spatial[:30]
    matrices = so3.to_matrix(q)
    close(ph.momentum_spatial(m, matrices), spatial, atol=20 * EPS)
    # Three bodies with matrices are no quaternions, four with quaternions no matrices.
    assert ph.momentum_spatial(m[:3], matrices[:3]).shape == (3, 3)
    assert ph.momentum_spatial(m[0], q[:4]).shape == (4, 3)


def test_frames_by_numbers() -> None:
    # Public case Q11 (a matsci.org thread on LAMMPS; mujoco issue 1501).
    q = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)
    inertia = [1.0, 2.0, 3.0]
    omega_body = so3.rotate(so3.conjugate(q), [0.3, -0.4, 0.5])
    close(omega_body, [-0.3, 0.64, 0.02], rtol=1e-14)
    m = ph.momentum(inertia, omega_body)
    close(m, [-0.3, 1.28, 0.06], rtol=1e-14)
    assert abs(float(ph.energy(inertia, m)) - 0.4552) < 1e-15
    expected = [0.4146666666666666667, -0.5866666666666666667, 1.102666666666666667]
    close(ph.momentum_spatial(m, q), expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        ([[1, 1, 1], [-1e-3, 1, 1]], r"inertia\[1\].*negative"),
        ([[1, 1, 1], [np.nan, 1, 1]], r"inertia\[1\].*finite"),
        ([[1, 1, 1], [np.inf, 1, 1]], r"inertia\[1\].*finite"),
        ([[1, 1, 1], [0, 0, 0]], r"inertia\[1\].*all moments"),
        ([0, 1, 2], "equal"),
        ([1, 2], r"\.\.\., 3"),
    ],
)
def test_what_is_no_body_is_refused(inertia: list[float], message: str) -> None:
    for function in (ph.momentum, ph.omega, ph.energy):
        with pytest.raises(ValueError, match=message):
            function(inertia, [1, 2, 3])


def test_arrays() -> None:
    inertia = np.array([[1.0, 2.0, 3.0]] * 2)[:, None, :]
    m = np.ones((5, 3), dtype=np.float32)
    assert ph.energy(inertia, m).shape == (2, 5)
    assert ph.casimir(np.zeros((0, 3))).shape == (0,)
    assert ph.omega(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="do not broadcast"):
        ph.energy(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(TypeError, match="real"):
        ph.casimir([1j, 0, 0])
    with pytest.raises(ValueError, match="zero"):
        ph.momentum_spatial([1, 2, 3], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="rotation"):
        ph.momentum_spatial([1, 2, 3], np.diag([1, 1, -1]))


def test_nan_stays_in_its_body() -> None:
    m = np.ones((20, 3))
    m[4, 1] = np.nan
    energies = ph.energy([1, 2, 3], m)
    assert np.isnan(energies[4])
    assert np.isfinite(np.delete(energies, 4)).all()


def test_momentum_spatial_takes_a_matrix_for_the_nearest_rotation() -> None:
    rng = np.random.default_rng(8)
    m = rng.standard_normal((20, 3))
    turn = so3.to_matrix(rng.standard_normal((20, 4)))
    stretch = np.eye(3) + 2e-6 * rng.uniform(-1, 1, (20, 3, 3))
    # Symmetric, so that the rotation nearest to turn @ stretch is turn.
    off = turn @ (0.5 * (stretch + np.swapaxes(stretch, -1, -2)))
    exact = ph.momentum_spatial(m, turn)
    size = np.linalg.norm(m, axis=1)[:, None]
    assert (np.abs(ph.momentum_spatial(m, off) - exact) <= 16 * EPS * size).all()
    # As a step of no length has it.
    by_step = ph.momentum_spatial(m, ph.step([1, 2, 3], m, off, 0.0)[1])
    assert (np.abs(ph.momentum_spatial(m, off) - by_step) <= 32 * EPS * size).all()
    # A single body has the same bits as in a batch, right or wrong.
    off[::2] = turn[::2]
    whole = ph.momentum_spatial(m, off)
    for i in range(20):
        np.testing.assert_array_equal(ph.momentum_spatial(m[i], off[i]), whole[i])
    off[3, 0, 0] = np.nan
    assert np.isnan(ph.momentum_spatial(m, off)).all(axis=1).sum() == 1
    with pytest.raises(ValueError, match=r"q\[5\].*1e-5"):
        ph.momentum_spatial(m, np.where(np.arange(20)[:, None, None] == 5, 1.1 * turn, turn))


CONVERTED: dict[str, Callable[..., Any]] = {
    "energy": lambda m, q: ph.energy([1.0, 2.0, 3.0], m),
    "casimir": lambda m, q: ph.casimir(m),
    "momentum": lambda m, q: ph.momentum([1.0, 2.0, 3.0], m),
    "omega": lambda m, q: ph.omega([0.0, 2.0, 2.0], m * [0.0, 1.0, 1.0]),
    "momentum_spatial": ph.momentum_spatial,
    "momentum_spatial of matrices": lambda m, q: ph.momentum_spatial(m, np.eye(3)),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_other_types_are_converted(name: str) -> None:
    function = CONVERTED[name]
    m = np.random.default_rng(9).standard_normal((100, 3)).astype(np.float32)
    q = np.ones((len(m), 4), np.float32)
    result = function(m, q)
    np.testing.assert_array_equal(result, function(m.astype(np.float64), q.astype(np.float64)))

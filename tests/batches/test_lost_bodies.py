"""Bodies that become NaN though their input is finite are counted, by any method."""

import warnings

import numpy as np
import pytest
from compare import close, same
from tolerances import EPS

import polhode as ph

INERTIA = [1.0, 2.0, 3.0]
STILL = [0.0, 1.0, 1e-140]  # off the middle axis by less than 1e-135 |m|
Q = [1.0, 0.0, 0.0, 0.0]


def momenta(n, lost):
    m = np.random.default_rng(7).normal(size=(n, 3))
    m[lost] = STILL
    return m


@pytest.mark.parametrize("method", ["exact", "frb"])
@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("n_steps", [1, 3])
def test_finite_bodies_that_become_nan_are_counted(method, matrix, n_steps):
    lost = [0, 5, 17, 40, 63, 100]
    m = momenta(101, lost)
    q = np.eye(3) if matrix else Q
    with pytest.warns(
        RuntimeWarning, match=rf"{method}' was too long .*: 6 bodies are NaN"
    ) as seen:
        m_end, _ = ph.step(INERTIA, m, q, 2000.0, method=method, n_steps=n_steps)
    assert np.flatnonzero(np.isnan(m_end).any(-1)).tolist() == lost
    assert [w.filename for w in seen] == [__file__]


@pytest.mark.parametrize("method", ["exact", "frb", "magnus4"])
@pytest.mark.parametrize("matrix", [False, True])
def test_bodies_are_counted_whose_attitude_alone_becomes_nan(method, matrix):
    """The momentum of a sphere is constant in steps of any length."""
    lost = [0, 5, 17, 40, 63, 100]
    m, h = momenta(101, []), np.full(101, 0.1)
    h[lost] = 1e17
    with pytest.warns(RuntimeWarning, match="6 bodies are NaN"):
        m_end, q_end = ph.step([1.0, 1.0, 1.0], m, np.eye(3) if matrix else Q, h, method=method)
    close(m_end, m, atol=8 * EPS * np.linalg.norm(m, axis=1, keepdims=True))
    assert np.flatnonzero(np.isnan(q_end).reshape(101, -1).any(-1)).tolist() == lost


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("n", [1, 7, 64])
def test_bodies_of_input_that_is_not_finite_are_not_counted(n, columns):
    m = momenta(n, [])
    m[0, 1] = np.nan
    q = np.tile(Q, (n, 1))
    q[-1, 2] = np.inf
    if columns:
        m, q = (np.asfortranarray(x) for x in (m, q))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m_end, _ = ph.step(INERTIA, m, q, 0.1)
    assert np.flatnonzero(np.isnan(m_end).any(-1)).tolist() == sorted({0, n - 1})


def test_one_body_is_counted():
    with pytest.warns(RuntimeWarning, match="1 body is NaN"):
        ph.step(INERTIA, [0.3, 0.4, 0.5], Q, 1e300)


def test_times_are_counted_whose_attitude_alone_is_nan():
    motion = ph.TorqueFreeMotion([1.0, 1.0, 1.0], [0.0, 1.0, 0.0], Q)
    with pytest.warns(RuntimeWarning, match="2 results are NaN"):
        m, q = motion([1.0, 1e17, -1e17])
    same(m, np.tile([0.0, 1.0, 0.0], (3, 1)))
    same(np.isnan(q).any(-1), [False, True, True])

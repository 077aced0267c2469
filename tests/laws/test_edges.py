"""Cases where two checks of a body might disagree, and where lanes might affect each other."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from compare import close
from tolerances import EPS

import polhode as ph

Q1 = np.array([1.0, 0.0, 0.0, 0.0])
INERTIA = np.array([1.0, 1.5, 2.2])
M = np.array([0.3, 0.5, 0.8])


@pytest.mark.parametrize("entry", [(0, 0), (1, 1), (0, 1)])
def test_matrices_at_the_edge_of_orthogonality(entry: tuple[int, int]) -> None:
    edge = np.sqrt(1 + 1e-5) if entry[0] == entry[1] else 1e-5
    q = np.tile(np.eye(3), (4, 1, 1))
    q[(slice(None), *entry)] = edge * (1 + 8e-16 * np.array([-1, -1, 1, -1]))
    ph.step(INERTIA, M, q[:2], 0.1)
    with pytest.raises(
        ValueError, match=r"^q\[2\] = .*not a rotation matrix: \|Q\^T Q - 1\| > 1e-5"
    ):
        ph.step(INERTIA, M, q, 0.1)


@pytest.mark.parametrize("shape", [(5000,), (3, 5000), (5000, 3), (2, 50, 50)])
def test_the_first_invalid_body_is_named_whatever_the_array(shape: tuple[int, ...]) -> None:
    """Of arrays that are looked at as they are and of those converted a part at a time."""
    moments, q = np.tile(INERTIA, (*shape, 1)), np.tile(np.eye(3), (*shape, 1, 1))
    at = tuple(n - 2 for n in shape)
    last = tuple(n - 1 for n in shape)
    moments[at], moments[last] = [1.0, 2.0, 0.0], [np.nan, 1.0, 1.0]
    q[at], q[last] = np.diag([1.0, 1.0, -1.0]), 0.0
    index = ", ".join(map(str, at))
    for made in (np.array, np.asfortranarray, np.ndarray.tolist, np.longdouble):
        with pytest.raises(ValueError, match=rf"^inertia\[{index}\] = .*needs the other two equal"):
            ph.step(made(moments), M, Q1, 0.1)
        with pytest.raises(ValueError, match=rf"^q\[{index}\] = .*its determinant is -1"):
            ph.step(INERTIA, M, made(q), 0.1)


@pytest.mark.parametrize(
    ("moments", "why"),
    [
        ([np.inf, 1, 1], "must be finite"),
        ([1, -1e-15, 1], "is negative"),
        ([-1, -1, -1], "is negative"),
        ([0, 0, 0], "all moments"),
        ([1, 8e-16, -8e-16], None),
        ([1, 1 + 1.1e-9, 8e-16], "a zero moment"),
        ([1, 1 + 0.9e-9, 8e-16], None),
        ([1, 1 + 0.9e-9, -8e-16], None),
        ([1, 5, 1e-15 * 5], None),
    ],
)
def test_moments_at_the_edges_of_what_is_allowed(moments: Any, why: str | None) -> None:
    m = np.zeros(3)
    if why is None:
        ph.step(moments, m, Q1, 0.1)
        return
    for value in (moments, np.array(moments, np.float64)):
        with pytest.raises(ValueError, match=why):
            ph.step(value, m, Q1, 0.1)


@pytest.mark.parametrize(
    ("method", "steps"), [(method.name, max(6, method.history)) for method in ph.methods()]
)
def test_a_planar_rotor_turns_about_its_axis(method: str, steps: int) -> None:
    """Two zero moments, as in simulations in two dimensions."""
    for axis in range(3):
        inertia, m = 2.0 * np.eye(3)[axis], np.full(3, 1e-13)
        m[axis] = 1.0
        m1, q1 = ph.step(inertia, m, Q1, 0.5, method=method, n_steps=steps)
        sphere = ph.step(np.full(3, 2.0), np.eye(3)[axis], Q1, 0.5, method=method, n_steps=steps)
        np.testing.assert_array_equal(m1, np.eye(3)[axis])
        close(q1, sphere[1], atol=4 * EPS)
        with pytest.raises(ValueError, match="whose moment of inertia is zero"):
            ph.step(inertia, [0.1, 0.1, 0.1], Q1, 0.5, method=method, n_steps=steps)


def test_a_planar_rotor_swings() -> None:
    """Beside the torque along its axis, the others have no effect."""
    top = ph.torques.HeavyTop([1.0, 0.0, 0.5], axis=(0.0, 1.0, 0.0))
    flat = ph.integrate([0, 0, 2], [0, 0, 1], Q1, 0.01, 300, torque=top)
    same_plane = ph.torques.HeavyTop([1.0, 0.0, 0.0], axis=(0.0, 1.0, 0.0))
    free = ph.integrate([2, 2, 2], [0, 0, 1], Q1, 0.01, 300, torque=same_plane)
    close(flat.m[:, 2], free.m[:, 2], atol=64 * EPS)
    close(flat.q, free.q, atol=64 * EPS)
    motion = ph.TorqueFreeMotion([0, 0, 2], [0, 0, 1], Q1)
    assert motion.regime is ph.Regime.PERMANENT
    close(motion(3.0)[1], [np.cos(0.75), 0, 0, np.sin(0.75)], atol=2 * EPS)


def test_a_diagonal_matrix_is_no_list_of_planar_rotors() -> None:
    with pytest.raises(ValueError, match=r"full tensors go to polhode\.RigidBody"):
        ph.step(np.diag(INERTIA), np.zeros(3), Q1, 0.1)


def test_moments_whose_sum_overflows() -> None:
    inertia = np.array([6e307, 6.1e307, 6.2e307])
    m = M * 6e307
    expected = ph.step(inertia / 2.0**1000, m / 2.0**1000, Q1, 0.1)
    m1, q1 = ph.step(inertia, m, Q1, 0.1)
    assert np.array_equal(q1, expected[1])
    close(m1 / 2.0**1000, expected[0], rtol=1e-15)
    path = ph.integrate(inertia, m, Q1, 0.1, 1, torque=lambda t, m, q: 0 * m)
    assert np.array_equal(path.q[-1], q1)


@pytest.mark.parametrize("as_list", [False, True])
def test_huge_matrix_is_refused(as_list: bool) -> None:
    q: Any = np.eye(3) * 1e308
    with pytest.raises(ValueError, match="not a rotation matrix"):
        ph.step(INERTIA, M, q.tolist() if as_list else q, 0.1)


def test_no_steps_obey_the_same_rules() -> None:
    with pytest.raises(ValueError, match="zero quaternion"):
        ph.step(INERTIA, M, np.zeros(4), 0.1, n_steps=0)
    m, q = ph.step(INERTIA, M, 2 * Q1, 0.1, n_steps=0)
    assert np.array_equal(q, Q1)
    assert np.array_equal(m, M)
    for state in (
        (np.array([np.nan, 0, 0]), Q1, 0.1),
        (M, np.array([np.inf, 0, 0, 0]), 0.1),
        (M, Q1, np.inf),
    ):
        for result in ph.step(INERTIA, *state, n_steps=0):
            assert np.isnan(result).all()


def test_other_threads_run_during_many_steps_of_one_body() -> None:
    turns, stop = 0, threading.Event()

    def count() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = turns
    ph.step(INERTIA, M, Q1, 0.01, n_steps=300_000)
    after = turns
    stop.set()
    other.join()
    assert after > before


def test_as_many_axes_as_numpy_has() -> None:
    axes = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    m = M.reshape((1,) * (axes - 1) + (3,))
    result = ph.step(INERTIA, m, Q1, 0.1)
    assert result[0].shape == m.shape
    with pytest.raises(ValueError):
        ph.step(INERTIA, m, np.eye(3), 0.1)
    with pytest.raises(ValueError):
        ph.step(INERTIA, M, Q1, np.full((1,) * axes, 0.1))


def test_rods_in_single_precision() -> None:
    """Rounding of m about the axis of a rod is dropped, within the precision of its type."""
    rods, q = [0.0, 43.0, 43.0], [1.0, 0.0, 0.0, 0.0]
    for kind, limit in ((np.float32, 64 * 2.0**-23), (np.float16, 64 * 2.0**-10)):
        m = np.array([limit / 2, 1.0, 0.0], kind)
        np.testing.assert_array_equal(
            ph.step(rods, m, q, 1.0)[1], ph.step(rods, [0.0, 1.0, 0.0], q, 1.0)[1]
        )
        with pytest.raises(ValueError, match="momentum about an axis"):
            ph.step(rods, np.array([2 * limit, 1.0, 0.0], kind), q, 1.0)
    with pytest.raises(ValueError, match="momentum about an axis"):
        ph.step(rods, [1e-11, 1.0, 0.0], q, 1.0)

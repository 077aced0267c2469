"""Numbers of steps, saves and times that no machine can count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode import _arrays

BODY: tuple[Any, ...] = ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("n_steps", [2**62 + 1, 2**63, 2**70, -1])
def test_steps_that_cannot_be_counted(n_steps: int) -> None:
    with pytest.raises(ValueError, match=f"n_steps must .* got {n_steps}"):
        ph.integrate(*BODY, 0.1, n_steps)
    with pytest.raises(ValueError, match=f"n_steps must .* got {n_steps}"):
        _arrays.step_count(n_steps)


def test_saves_that_no_memory_holds() -> None:
    with pytest.raises(ValueError, match=r"save_every = 2 saves 1152921504606846977 states"):
        ph.integrate(*BODY, 0.1, 2**61, save_every=2)


def test_a_save_beyond_the_end_is_the_end() -> None:
    for every in (5, 2**62, 2**70):
        trajectory = ph.integrate(*BODY, 0.1, 5, save_every=every)
        np.testing.assert_array_equal(trajectory.t, [0.0, 0.5])
    assert len(ph.integrate(*BODY, 0.1, 0, save_every=2**70)) == 1


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
def test_whole_numbers_are_doubles() -> None:
    """Those beyond 64 bits too, up to the largest double."""
    for n in (10**18, 10**30, 10**300):
        for got, known in zip(
            ph.step(BODY[0], [0, 0, 3], BODY[2], [n, -n]),
            ph.step(BODY[0], [0, 0, 3], BODY[2], [float(n), -float(n)]),
            strict=True,
        ):
            np.testing.assert_array_equal(got, known)
    assert ph.energy([10**30, 10**30, 10**30], [10**30, 0, 0]) == 5e29


@pytest.mark.parametrize("n", [10**400, -(10**400)])
def test_whole_numbers_beyond_the_largest_double_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=r"h has an integer above the largest double"):
        ph.step(*BODY, [n, 1])
    with pytest.raises(ValueError, match=r"h has an integer above the largest double"):
        ph.step(*map(np.array, BODY), n)
    with pytest.raises(ValueError, match=r"h has an integer"):
        ph.integrate(*BODY, n, 1)
    with pytest.raises(ValueError, match=r"t has an integer"):
        ph.TorqueFreeMotion(*BODY)(n)
    with pytest.raises(ValueError, match=r"m has an integer"):
        ph.energy(BODY[0], [0, n, 0])


@pytest.mark.parametrize(
    ("h", "kind"),
    [("1", "text"), ([0.1, None], "NoneType"), (1j, "complex128"), ({0.1}, "set"),
     (np.array(["0.5"], object), "str")],
)  # fmt: skip
def test_what_is_no_number_is_named(h: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"^h must be real numbers, not {kind}$"):
        ph.step(*BODY, h)


def test_rows_of_different_lengths_are_named() -> None:
    with pytest.raises(ValueError, match=r"^m is not an array of numbers: "):
        ph.step(BODY[0], [[1.0, 2.0, 3.0], [1.0, 2.0]], BODY[2], 0.1)


def test_momentum_about_a_rod_is_named_in_a_large_batch() -> None:
    inertia = np.tile([1.0, 1.5, 2.2], (5000, 1))
    inertia[4993] = [0.0, 1.0, 1.0]
    m = np.ones((5000, 3))
    with pytest.raises(ValueError, match=r"^m\[4993\] = "):
        ph.step(inertia, m, BODY[2], 0.1)


@pytest.mark.parametrize("as_list", [False, True])
def test_outputs_that_overlap_themselves_are_refused(as_list: bool) -> None:
    m, q = np.tile(BODY[1], (4, 1)), np.tile(BODY[2], (4, 1))
    same = np.lib.stride_tricks.as_strided(np.zeros(3), (4, 3), (0, 8))
    shifted = np.lib.stride_tricks.as_strided(np.zeros(6), (4, 3), (8, 8))
    inertia = BODY[0] if as_list else np.array(BODY[0])
    for bad in (same, shifted):
        with pytest.raises(ValueError, match="elements of m share memory"):
            ph.step(inertia, m, q, 0.1, out=(bad, np.empty((4, 4))))
        with pytest.raises(ValueError, match="elements of the result share memory"):
            ph.so3.rotate(q, m, out=bad)
    # Views that do not: transposed, reversed, every other, one body, none.
    expected = ph.step(inertia, m, q, 0.1)
    for good in (np.empty((3, 4)).T, np.empty((4, 3))[::-1, ::-1], np.empty((8, 6))[::2, ::2]):
        got = ph.step(inertia, m, q, 0.1, out=(good, np.empty((4, 4))))
        np.testing.assert_array_equal(got[0], expected[0])
    one = np.lib.stride_tricks.as_strided(np.zeros(3), (1, 3), (0, 8))
    ph.step(inertia, m[:1], q[:1], 0.1, out=(one, np.empty((1, 4))))
    np.testing.assert_array_equal(one, expected[0][:1])
    ph.step(inertia, m[:0], q[:0], 0.1, out=(np.empty((0, 3)), np.empty((0, 4))))


@pytest.mark.parametrize("step", [1, -1])
def test_results_in_the_memory_of_other_arguments(step: int) -> None:
    """As if the argument had been copied; two results in the same memory are refused."""
    rng = np.random.default_rng(6)
    buffer, q = rng.normal(size=(41, 3))[::step], rng.normal(size=(40, 4))
    expected = ph.step(BODY[0], buffer[:-1].copy(), q, 0.1)
    got = ph.step(BODY[0], buffer[:-1], q, 0.1, out=(buffer[1:], np.empty((40, 4))))
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    numbers = rng.normal(size=281)
    shared = numbers[:120].reshape(40, 3), numbers[119:279].reshape(40, 4)
    with pytest.raises(ValueError, match="overlap each other"):
        ph.step(BODY[0], buffer[:-1], q, 0.1, out=shared)


def test_masked_values_are_refused() -> None:
    m = np.ma.masked_array(np.tile(BODY[1], (4, 1)))
    expected = ph.step(BODY[0], m.data, BODY[2], 0.1)
    for inertia in (BODY[0], np.array(BODY[0])):
        q = np.array(BODY[2])
        got = ph.step(inertia, m, q, np.array(0.1))  # nothing is masked yet
        np.testing.assert_array_equal(got[0], expected[0])
    m[2, 1] = np.ma.masked
    for call in (
        lambda: ph.step(np.array(BODY[0]), m, np.array(BODY[2]), 0.1),
        lambda: ph.step(BODY[0], m, BODY[2], 0.1),
        lambda: ph.energy(BODY[0], m),
        lambda: ph.integrate(BODY[0], m, BODY[2], 0.1, 1),
    ):
        with pytest.raises(TypeError, match=r"^m0? .*masked values are not supported"):
            call()


FIVE, TWO, THREE = np.ones(5), np.ones((2, 3)), np.ones((3, 3))
UNLIKE: dict[str, Any] = {
    "motion": lambda: ph.TorqueFreeMotion(THREE, BODY[1], BODY[2])(FIVE),
    "dense": lambda: ph.integrate(THREE, BODY[1], BODY[2], 1.0, 1)(0.1 * FIVE),
    "orbit": lambda: ph.torques.Orbit(1.0, np.eye(3)[:2], [0.0, 0.0, 1.0]).state(FIVE),
    "table": lambda: ph.torques.Dipole(TWO, np.ones((5, 3, 3)), times=np.arange(5.0)),
    "sum": lambda: ph.RigidBody.from_box([1, 2], BODY[0]) + ph.RigidBody.from_box(FIVE, BODY[0]),
    "about": lambda: ph.RigidBody.from_box([1, 2], BODY[0]).about(THREE),
    "shape": lambda: ph.RigidBody.from_box([1, 2], THREE),
}


@pytest.mark.parametrize("call", UNLIKE)
def test_batches_that_do_not_fit_are_named(call: str) -> None:
    message = r"^batch shapes do not broadcast: \w+( \w+)? \(\d?,?\), "
    if call in ("motion", "dense"):
        message += r"bodies \(3,\); each of these times for all: t of shape \(5, 1\)$"
    with pytest.raises(ValueError, match=message):
        UNLIKE[call]()


def test_what_is_meant_is_told() -> None:
    body = ph.RigidBody(np.diag(BODY[0]))
    calls: list[tuple[Any, tuple[Any, ...]]]
    calls = [(ph.step, (0.1,)), (ph.integrate, (0.1, 5)), (ph.TorqueFreeMotion, ())]
    for call, steps in calls:
        with pytest.raises(TypeError, match="not RigidBody: its own methods are step, motion, int"):
            call(body, *BODY[1:], *steps)
    for torque in ([0.0, 0.0, 1.0], np.ones(3)):
        with pytest.raises(TypeError, match=r"numbers are torques\.Constant\(numbers\)"):
            ph.integrate(*BODY, 0.1, 5, torque=torque)
    for model in (ph.torques.Gyrostat, lambda h: ph.torques.BDot(1.0, h)):
        with pytest.raises(TypeError, match=r"such as scipy.interpolate.CubicSpline, not function"):
            model(lambda t: [0.0, 0.0, t])
    orbit = ph.torques.Orbit(1.0, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    with pytest.raises(TypeError, match="give orbit or position, not both"):
        ph.torques.GravityGradient(orbit=orbit, position=[1.0, 0.0, 0.0])
    with pytest.raises(TypeError, match="orbit must be an Orbit, not float"):
        ph.torques.GravityGradient(orbit=1.0)  # type: ignore[arg-type]

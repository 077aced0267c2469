"""Arrays in and out of `step`: the same bits whatever the batch, and errors before any work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
import tolerances as tol
from compare import close
from numpy.typing import NDArray
from states import LOOPS, STATES, batch

import polhode as ph

Array = NDArray[np.float64]

HISTORY = {method.name: method.history for method in ph.methods()}
every_loop = pytest.mark.parametrize("name", LOOPS)

# Short enough for every method, long enough to differ from lane to lane.
HW = 0.2


def fewest(name: str) -> int:
    """Steps to be made: one, or as many as show a method that looks back."""
    return max(HISTORY[name], 1)


def hard(count: int | None = None) -> tuple[Array, Array, Array, Array]:
    """The hard states, repeated to `count` bodies."""
    arrays = batch(STATES, HW)
    if count is None:
        return arrays
    rows = np.arange(count) % len(STATES)
    inertia, m, q, h = (a[rows] for a in arrays)
    return inertia, m, q, h


def random_batch(count: int, seed: int = 7) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    inertia = rng.uniform(1.0, 3.0, (count, 3))
    m = rng.normal(size=(count, 3))
    q = rng.normal(size=(count, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return inertia, m, q, rng.uniform(-3.0, 3.0, count)


def matrices(q: Array) -> Array:
    return np.array([reference.to_matrix(reference.unit_quaternion(x)) for x in q], float)


def assert_same(got: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    """Bit for bit; NaN equals NaN, but 0 is not -0."""
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))


# --- the same bits ---


@every_loop
@pytest.mark.parametrize("attitude", ["quaternion", "matrix"])
def test_a_body_does_not_depend_on_its_neighbours(name: str, attitude: str) -> None:
    """Alone, in batches of every size up to two packs and more, reversed, shifted."""
    inertia, m, q, h = hard()
    start = matrices(q) if attitude == "matrix" else q
    whole = ph.step(inertia, m, start, h, method=name, n_steps=fewest(name))
    count = len(m)
    for i in range(count):
        alone = ph.step(inertia[i], m[i], start[i], h[i], method=name, n_steps=fewest(name))
        assert_same(alone, (whole[0][i], whole[1][i]))
    for size in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33):
        for first in (0, 5, count - size):
            part = slice(first, first + size)
            got = ph.step(
                inertia[part], m[part], start[part], h[part], method=name, n_steps=fewest(name)
            )
            assert_same(got, (whole[0][part], whole[1][part]))
    got = ph.step(inertia[::-1], m[::-1], start[::-1], h[::-1], method=name, n_steps=fewest(name))
    assert_same(got, (whole[0][::-1], whole[1][::-1]))


@every_loop
def test_threads_change_nothing(name: str) -> None:
    arrays = hard(20_011)
    plain = ph.step(*arrays, method=name, n_steps=fewest(name))
    for threads in (1, 2, 3, -1):
        assert_same(ph.step(*arrays, method=name, n_steps=fewest(name), threads=threads), plain)


@every_loop
def test_steps_in_the_core_are_single_steps(name: str) -> None:
    """n_steps = n is n calls, bit for bit, for one-step methods."""
    inertia, m, q, h = hard()
    for start in (q, matrices(q)):
        try:
            state = (m, start)
            for _ in range(3):
                state = ph.step(inertia, *state, h, method=name)
            got = ph.step(inertia, m, start, h, method=name, n_steps=3)
        except ValueError as error:
            if "history" in str(error):
                pytest.skip(f"{name} is a multistep method")
            raise
        assert_same(got, state)


def test_no_steps_give_the_start() -> None:
    inertia, m, q, h = random_batch(9)
    end, q_end = ph.step(inertia, m, q, h, n_steps=0)
    np.testing.assert_array_equal(end, m)
    close(q_end, q, atol=tol.EPS)


@every_loop
def test_shared_arguments_give_the_bits_of_their_copies(name: str) -> None:
    """One inertia, one h, one attitude for all bodies: other code paths, the same numbers."""
    _, m, q, _ = random_batch(37)
    inertia = np.array([2.2, 1.0, 1.5])
    full = (
        np.broadcast_to(inertia, (37, 3)).copy(),
        m,
        np.broadcast_to(q[3], (37, 4)).copy(),
        np.full(37, 0.2),
    )
    expected = ph.step(*full, method=name, n_steps=fewest(name))
    assert_same(ph.step(inertia, m, q[3], 0.2, method=name, n_steps=fewest(name)), expected)
    assert_same(ph.step(full[0], m, q[3], 0.2, method=name, n_steps=fewest(name)), expected)
    assert_same(ph.step(inertia, m, full[2], full[3], method=name, n_steps=fewest(name)), expected)
    assert_same(ph.step(inertia, m, full[2], 0.2, method=name, n_steps=fewest(name)), expected)


def test_same_bits_for_every_power_of_two() -> None:
    """Powers of two are taken out of m before the kernel."""
    inertia, m, q, h = random_batch(23)
    end, q_end = ph.step(inertia, m, q, h)
    for k in (-900, -400, -1, 3, 500, 900):
        scaled, q_scaled = ph.step(inertia, np.ldexp(m, k), q, np.ldexp(h, -k))
        assert_same((scaled, q_scaled), (np.ldexp(end, k), q_end))


def test_deeply_subnormal_momentum() -> None:
    inertia = np.array([1e-6, 1.5e-6, 2.2e-6])
    m = np.array([3e-310, -4e-310, 5e-310])
    h = 2e302
    end, q_end = ph.step(inertia, m, [1, 0, 0, 0], h)
    known = reference.torque_free(inertia, m, (1.0, 0.0, 0.0, 0.0), h)
    angle = float(reference.angle(inertia, m, h))
    assert angle > 0.05
    # m is held to multiples of 5e-324 only.
    assert known.error_m(end) <= tol.exact_bound(angle, 1e-16) + 5e-324 / 7e-310
    assert known.error_q(q_end) <= tol.exact_bound(angle, 1e-16)
    tiny, q_tiny = ph.step(inertia, [5e-324, 0.0, 0.0], [1, 0, 0, 0], 1.0)
    np.testing.assert_array_equal(tiny, [5e-324, 0.0, 0.0])
    np.testing.assert_array_equal(q_tiny, [1.0, 0.0, 0.0, 0.0])


# --- results in place ---


@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("n_steps", [1, 4])
def test_out(threads: int | None, n_steps: int) -> None:
    inertia, m, q, h = random_batch(1003)
    for start in (q, matrices(q)):
        keywords: dict[str, Any] = {"n_steps": n_steps, "threads": threads}
        expected = ph.step(inertia, m, start, h, **keywords)
        out = (np.empty_like(m), np.empty_like(start))
        got = ph.step(inertia, m, start, h, out=out, **keywords)
        assert got[0] is out[0]
        assert got[1] is out[1]
        assert_same(out, expected)
        # The inputs themselves.
        place = (m.copy(), start.copy())
        ph.step(inertia, *place, h, out=place, **keywords)
        assert_same(place, expected)


def test_out_that_overlaps_in_part() -> None:
    inertia, m, q, h = random_batch(100)
    expected = ph.step(inertia, m, q, h)
    m_room, q_room = np.empty((101, 3)), np.empty((101, 4))
    for here, there in ((slice(0, 100), slice(1, 101)), (slice(1, 101), slice(0, 100))):
        m_room[here], q_room[here] = m, q
        out = (m_room[there], q_room[there])
        ph.step(inertia, m_room[here], q_room[here], h, out=out)
        assert_same(out, expected)
    # The momentum written over the moments, and back to front.
    body = inertia.copy()
    out = (body, q.copy())
    ph.step(body, m, q, h, out=out)
    assert_same(out, expected)
    m_room[:100] = m
    out = (m_room[:100][::-1], np.empty((100, 4)))
    ph.step(inertia, m_room[:100], q, h, out=out)
    assert_same(out, expected)


def test_out_with_strides() -> None:
    inertia, m, q, h = random_batch(50)
    expected = ph.step(inertia, m, q, h)
    room = np.zeros((100, 9))
    out = (room[::2, 1:7:2], room[::-2, 5:9])
    ph.step(inertia, m, q, h, out=out)
    # Neighbours are not touched; the two halves of the room lie in alternate rows.
    assert_same(out, expected)
    assert not room[::2, 0].any()
    assert not room[::2, 7:].any()
    out = (np.empty((3, 50)).T, np.empty((50, 4), order="F"))
    ph.step(inertia, m, q, h, out=out)
    assert_same(out, expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda m, q: (m[:-1], q),
        lambda m, q: (m, q[:, :3]),
        lambda m, q: (m.astype(np.float32), q),
        lambda m, q: (m.astype(">f8"), q),
        lambda m, q: (np.empty((1, *m.shape)), q),
    ],
    ids=["too few", "too narrow", "float32", "big-endian", "too many axes"],
)
def test_out_of_another_shape_or_type(change: Callable[[Array, Array], tuple[Any, Any]]) -> None:
    inertia, m, q, h = random_batch(10)
    kept = m.copy()
    with pytest.raises((ValueError, TypeError), match="out"):
        ph.step(inertia, m, q, h, out=change(np.empty_like(m), np.empty_like(q)))
    np.testing.assert_array_equal(m, kept)


def test_out_that_is_read_only() -> None:
    inertia, m, q, h = random_batch(10)
    out = (np.zeros_like(m), np.zeros_like(q))
    out[1].flags.writeable = False
    with pytest.raises(ValueError, match=r"read-only|writeable"):
        ph.step(inertia, m, q, h, out=out)
    assert not out[0].any()


# --- layouts and types in ---


def layouts() -> dict[str, Callable[[Array], NDArray[Any]]]:
    def gaps(a: Array) -> Array:
        room = np.full((2 * a.shape[0], *a.shape[1:]), np.nan)
        room[::2] = a
        return room[::2]

    def reversed_rows(a: Array) -> Array:
        return np.ascontiguousarray(a[::-1])[::-1]

    def shifted(a: Array) -> Array:
        room = np.full((*a.shape[:-1], a.shape[-1] + 2), np.nan)
        room[..., 1:-1] = a
        return room[..., 1:-1]

    def record(a: Array) -> Array:
        rows = np.zeros(len(a), dtype=[("id", "i8"), ("a", "f8", a.shape[1:]), ("tag", "S5")])
        rows["a"] = a
        return rows["a"]

    def unaligned(a: Array) -> Array:
        raw = np.zeros(a.nbytes + 1, np.uint8)
        view = raw[1:].view(np.float64).reshape(a.shape)
        view[...] = a
        return view

    def read_only(a: Array) -> Array:
        copy = a.copy()
        copy.flags.writeable = False
        return copy

    return {
        "gaps": gaps,
        "reversed": reversed_rows,
        "shifted": shifted,
        "Fortran": np.asfortranarray,
        "record": record,
        "unaligned": unaligned,
        "read-only": read_only,
        "big-endian": lambda a: a.astype(">f8"),
        "list": lambda a: a.tolist(),  # type: ignore[dict-item, return-value]
    }


@pytest.mark.parametrize("layout", layouts())
def test_layouts(layout: str) -> None:
    change = layouts()[layout]
    inertia, m, q, h = random_batch(19)
    for start in (q, matrices(q)):
        expected = ph.step(inertia, m, start, h)
        assert_same(ph.step(*map(change, (inertia, m, start)), h), expected)
        if layout not in ("shifted",):
            assert_same(ph.step(inertia, m, start, change(h)), expected)


def test_inputs_are_left_alone() -> None:
    arrays = random_batch(19)
    copies = [a.copy() for a in arrays]
    ph.step(*arrays, n_steps=2)
    for a, b in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "u1", "?", ">i4", "g"])
def test_real_types(dtype: str) -> None:
    """Every real type is read as double; results are double."""
    inertia = np.array([1, 1, 1]) if dtype == "?" else np.array([1, 2, 3])
    m = np.array([[1, 0, 1], [0, 1, 1]])
    q = np.array([1, 0, 0, 0])
    expected = ph.step(inertia.astype(float), m.astype(float), q.astype(float), 1.0)
    got = ph.step(inertia.astype(dtype), m.astype(dtype), q.astype(dtype), np.array(1, dtype))
    assert got[0].dtype == np.float64
    assert got[1].dtype == np.float64
    assert_same(got, expected)


@pytest.mark.parametrize("bad", [np.array([1j, 0, 0]), np.array(["a", "b", "c"]), None])
def test_types_that_are_not_real(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ph.step([1, 2, 3], bad, [1, 0, 0, 0], 0.1)


def test_broadcasting() -> None:
    inertia, m, q, h = random_batch(12)
    grid = ph.step(inertia[:4, None], m[None, :3], q[5], h[:3])
    assert grid[0].shape == (4, 3, 3)
    assert grid[1].shape == (4, 3, 4)
    for i in range(4):
        for j in range(3):
            alone = ph.step(inertia[i], m[j], q[5], h[j])
            assert_same((grid[0][i, j], grid[1][i, j]), alone)
    # h alone spans the batch.
    spread = ph.step(inertia[0], m[0], q[0], h.reshape(2, 6))
    assert spread[0].shape == (2, 6, 3)
    for i in range(12):
        alone = ph.step(inertia[0], m[0], q[0], h[i])
        assert_same((spread[0].reshape(-1, 3)[i], spread[1].reshape(-1, 4)[i]), alone)
    # Attitude alone, as matrices.
    spread = ph.step(inertia[0], m[0], matrices(q), 0.3)
    assert spread[0].shape == (12, 3)
    assert spread[1].shape == (12, 3, 3)


def test_one_body_has_no_batch_axis() -> None:
    m, q = ph.step([1, 2, 3], [0.3, 0.8, 1.5], [1, 0, 0, 0], np.array(3.0))
    assert m.shape == (3,)
    assert q.shape == (4,)
    m, matrix = ph.step([1, 2, 3], [0.3, 0.8, 1.5], np.eye(3), 3)
    assert m.shape == (3,)
    assert matrix.shape == (3, 3)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0)])
def test_no_bodies(shape: tuple[int, ...]) -> None:
    for start in (np.zeros((*shape, 4)), np.zeros((*shape, 3, 3))):
        for threads in (None, 2):
            m, attitude = ph.step([1, 2, 3], np.zeros((*shape, 3)), start, 0.1, threads=threads)
            assert m.shape == (*shape, 3)
            assert attitude.shape == start.shape


# --- elements that are no numbers ---


@every_loop
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["m", "h", "q"])
def test_nan_stays_in_its_body(name: str, bad: float, where: str) -> None:
    inertia, m, q, h = hard()
    expected = ph.step(inertia, m, q, h, method=name, n_steps=fewest(name))
    for i in (0, 3, 8, len(m) - 1):
        arrays = {"m": m.copy(), "q": q.copy(), "h": h.copy()}
        if where == "h":
            arrays["h"][i] = bad
        else:
            arrays[where][i, 1] = bad
        got = ph.step(
            inertia, arrays["m"], arrays["q"], arrays["h"], method=name, n_steps=fewest(name)
        )
        others = np.arange(len(m)) != i
        assert_same((got[0][others], got[1][others]), (expected[0][others], expected[1][others]))
        assert np.isnan(got[0][i]).all()
        assert np.isnan(got[1][i]).all()


def test_nan_in_a_matrix_stays_in_its_body() -> None:
    inertia, m, q, h = random_batch(21)
    start = matrices(q)
    expected = ph.step(inertia, m, start, h)
    start[7, 1, 2] = np.nan
    got = ph.step(inertia, m, start, h)
    others = np.arange(21) != 7
    assert_same((got[0][others], got[1][others]), (expected[0][others], expected[1][others]))
    assert np.isnan(got[1][7]).all()


# --- errors before any work ---


def one_bad(
    inertia: Any = None, q: Any = None, matrix: Any = None, at: int = 6
) -> tuple[Array, Array, Array]:
    moments, m, good_q, _ = random_batch(9)
    attitude = matrices(good_q) if matrix is not None else good_q
    if inertia is not None:
        moments[at] = inertia
        moments[at + 1] = inertia
    if q is not None:
        attitude[at] = q
        attitude[at + 1] = q
    if matrix is not None:
        attitude[at] = matrix
        attitude[at + 1] = matrix
    return moments, m, attitude


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"inertia": [1.0, -0.25, 1.0]}, r"-0\.25"),
        ({"inertia": [1.0, -1e-12, 1.0]}, r"-1e-12"),
        ({"inertia": [1.0, np.nan, 1.0]}, "nan"),
        ({"inertia": [np.inf, 1.0, 1.0]}, "inf"),
        ({"inertia": [0.0, 0.0, 0.0]}, "0"),
        ({"inertia": [0.0, 1.0, 1.25]}, r"1\.25"),
        ({"q": [0.0, 0.0, 0.0, 0.0]}, "0"),
        ({"matrix": np.diag([1.0, 1.0, -1.0])}, "-1"),
        ({"matrix": np.diag([1.0, 1.125, 1.0])}, r"1\.125|0\.26"),
        ({"matrix": np.zeros((3, 3))}, "0"),
    ],
    ids=[
        "negative moment",
        "slightly negative moment",
        "NaN moment",
        "infinite moment",
        "three zero moments",
        "rod with unequal moments",
        "zero quaternion",
        "reflection",
        "stretch",
        "zero matrix",
    ],
)
def test_errors_name_the_first_bad_body(arguments: dict[str, Any], value: str) -> None:
    inertia, m, attitude = one_bad(**arguments)
    out = (np.full_like(m, 7.0), np.full_like(attitude, 7.0))
    with pytest.raises(ValueError, match=r"\b6\b") as caught:
        ph.step(inertia, m, attitude, 0.1, out=out)
    assert re.search(value, str(caught.value)), str(caught.value)
    assert (out[0] == 7).all(), "work was done before the error"
    assert (out[1] == 7).all()
    for n_steps in (1, 65):  # checked in the steps, and before many of them
        with pytest.raises(ValueError, match=re.escape(str(caught.value))):
            ph.step(inertia, m, attitude, 0.1, n_steps=n_steps)


def test_error_in_a_batch_of_two_axes_names_both_indices() -> None:
    inertia = np.ones((3, 4, 3))
    inertia[2, 1, 0] = -5.0
    with pytest.raises(ValueError, match=r"2, *1"):
        ph.step(inertia, [0, 0, 1], [1, 0, 0, 0], 0.1)


def test_momentum_about_a_rod() -> None:
    """Up to 1e-12 |m| is dropped, more is an error."""
    m, _ = ph.step([0, 2, 2], [0.9e-12, 0.6, 0.8], [1, 0, 0, 0], 0.1)
    assert m[0] == 0
    with pytest.raises(ValueError, match="zero"):
        ph.step([0, 2, 2], [1.1e-12, 0.6, 0.8], [1, 0, 0, 0], 0.1)
    # Within 4 eps of the largest counts as zero, on either side of it.
    for moment in (2.0 * 3.9 * 2**-52, -2.0 * 3.9 * 2**-52):
        also, _ = ph.step([moment, 2, 2], [0, 0.6, 0.8], [1, 0, 0, 0], 0.1)
        np.testing.assert_array_equal(also, m)


def test_attitudes_are_normalised() -> None:
    """Any q that is not zero, without over- or underflow; Q is projected."""
    inertia, m, q, h = random_batch(8)
    expected = ph.step(inertia, m, q, h)
    for size in (1e-300, 1e-170, 1e-3, 7.0, 1e200, 1e307):
        got = ph.step(inertia, m, q * size, h)
        close(got[1], expected[1], atol=4 * tol.EPS)
    got = ph.step([1, 1, 1], [0, 0, 0], [0.0, 5e-324, 0.0, 0.0], 1.0)
    np.testing.assert_array_equal(got[1], [0, 1, 0, 0])
    rough = matrices(q)
    rough[:, 0, 1] += 2e-6
    _, smooth = ph.step(inertia, m, rough, 0.0)
    defect = np.abs(np.swapaxes(smooth, 1, 2) @ smooth - np.eye(3)).max()
    assert defect <= 12 * tol.EPS


@pytest.mark.parametrize(
    ("inertia", "m", "attitude", "h", "said"),
    [
        ([1, 2], [1, 2, 3], [1, 0, 0, 0], 0.1, "inertia"),
        (np.ones((5, 2)), [1, 2, 3], [1, 0, 0, 0], 0.1, "inertia"),
        ([1, 2, 3], [1, 2, 3, 4], [1, 0, 0, 0], 0.1, r"\bm\b"),
        ([1, 2, 3], 1.0, [1, 0, 0, 0], 0.1, r"\bm\b"),
        ([1, 2, 3], [1, 2, 3], [1, 0, 0], 0.1, r"\(3,\)"),
        ([1, 2, 3], [1, 2, 3], np.ones(5), 0.1, r"\(5,\)"),
        ([1, 2, 3], [1, 2, 3], np.eye(4)[:3], 0.1, "broadcast|shape"),
        (np.ones((2, 3)), np.ones((4, 3)), [1, 0, 0, 0], 0.1, r"\(2.*\(4|broadcast"),
        ([1, 2, 3], np.ones((4, 3)), [1, 0, 0, 0], np.ones(3), "broadcast"),
    ],
)
def test_shapes_that_do_not_fit(inertia: Any, m: Any, attitude: Any, h: Any, said: str) -> None:
    if np.shape(attitude) == (3, 4):
        # Three quaternions are a batch of three: with four momenta they do not broadcast.
        m = np.ones((4, 3))
    with pytest.raises(ValueError, match=said):
        ph.step(inertia, m, attitude, h)


def test_unknown_method_and_options() -> None:
    with pytest.raises(ValueError, match="exact"):
        ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, method="exacd")
    with pytest.raises(ValueError, match="did you mean 'magnus8'"):
        ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, method="MAGNUS8")
    with pytest.raises(TypeError, match="no_such_option"):
        ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, no_such_option=1)
    with pytest.raises(ValueError, match="n_steps"):
        ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, n_steps=-1)
    with pytest.raises(TypeError):
        ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, n_steps=1.5)  # type: ignore[arg-type]
    for threads in (0, -2):
        with pytest.raises(ValueError, match="threads"):
            ph.step([1, 2, 3], [1, 2, 3], [1, 0, 0, 0], 0.1, threads=threads)


# --- threads and processes ---


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_number_of_threads_from_the_environment() -> None:
    script = (
        "import numpy as np, polhode as ph\n"
        "m = np.random.default_rng(3).normal(size=(20000, 3))\n"
        "a = ph.step([1, 2, 3], m, [1, 0, 0, 0], 0.3)\n"
        "b = ph.step([1, 2, 3], m, [1, 0, 0, 0], 0.3, threads=1)\n"
        "assert all(np.array_equal(x, y) for x, y in zip(a, b))\n"
    )
    for value in ("1", "2", "-1"):
        done = run(script, POLHODE_NUM_THREADS=value)
        assert done.returncode == 0, done.stderr
    done = run(script, POLHODE_NUM_THREADS="many")
    assert done.returncode != 0
    assert "POLHODE_NUM_THREADS" in done.stderr


# --- instruction-set levels ---

LEVELS_OF_FLAGS = {
    # The features that x86-64-v2, -v3 and -v4 require, as in /proc/cpuinfo (Intel and AMD psABI).
    "v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def offered_levels() -> list[str]:
    levels = ph.build_info()["isa_supported"]
    return levels.split() if isinstance(levels, str) else list(levels)


def test_every_level_of_the_processor_is_offered() -> None:
    cpuinfo = Path("/proc/cpuinfo")
    flags: set[str] = set()
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("flags"):
                flags = set(line.partition(":")[2].split())
                break
    if not flags:
        pytest.skip("no x86 flags to be read here")
    expected = []
    needed: set[str] = set()
    for level, more in LEVELS_OF_FLAGS.items():
        needed |= more
        if needed <= flags:
            expected.append(level)
    if offered_levels() == ["generic"]:
        pytest.skip("built for one level alone")
    if "v2" not in offered_levels() and len(expected) > 1:  # built for one processor
        expected = expected[-1:]
    missing = set(expected) - set(offered_levels())
    assert not missing, f"the processor has {expected}, offered are {offered_levels()}"
    if LEVELS_OF_FLAGS["v3"] <= flags:
        assert "scalar" in offered_levels()


@pytest.mark.parametrize("method", ["abam_rotation", "simo_wong_explicit"])
def test_subnormal_momenta_of_multistep_methods(method):
    """The same bits in a batch, alone, and in several threads: slices of steps differ there."""
    inertia, m, q = [1.0, 2.0, 3.0], [3e-309, 1e-309, 2e-309], [1.0, 0.0, 0.0, 0.0]
    alone = ph.step(inertia, m, q, 1e306, method=method, n_steps=300)
    for threads in (1, 2):
        many = ph.step(
            inertia, np.tile(m, (20000, 1)), q, 1e306, method=method, n_steps=300, threads=threads
        )
        for one, all_ in zip(alone, many, strict=True):
            np.testing.assert_array_equal(all_, np.broadcast_to(one, all_.shape))


def test_states_that_become_invalid_on_the_way_leave_no_body_out():
    """Moments of molecules in SI units and steps of 1 s: NaN, and every result is written."""
    rng = np.random.default_rng(3)
    inertia = rng.uniform(0.5e-47, 2e-47, (9, 2, 2, 3))
    m, q = rng.normal(size=(9, 2, 2, 3)), rng.normal(size=(1, 2, 1, 4))
    for _ in range(3):
        old = [np.full((9, 2, 2, k), 7.0) for k in (3, 4)]  # memory that new arrays take
        del old
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m1, q1 = ph.step(inertia, m, q, -10.0, method="rk4", n_steps=2)
        assert np.isnan(m1).all()
        assert np.isnan(q1).all()

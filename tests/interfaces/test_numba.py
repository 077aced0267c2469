"""Steps inside functions that numba compiles: the bits and the errors of Python."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

numba = pytest.importorskip("numba")
types = numba.types
polhode_numba = pytest.importorskip("polhode.numba")

INERTIA = np.array([1.0, 1.5, 2.2])
RNG = np.random.default_rng(1)
M, Q = RNG.normal(size=(9, 3)), RNG.normal(size=(9, 4))
MATRICES = ph.so3.to_matrix(Q)
H = np.linspace(-1.0, 1.0, 9)


@numba.njit(nogil=True)
def step(inertia, m, q, h):
    return ph.step(inertia, m, q, h)


@numba.njit
def three_of_midpoint(inertia, m, q, h):
    return ph.step(inertia, m, q, h, method="imid", n_steps=3, threads=2)


@numba.njit
def step_to(inertia, m, q, h, m_out, q_out):
    return ph.step(inertia, m, q, h, out=(m_out, q_out))


@numba.njit
def rows(inertia, m, q, h):
    for i in range(len(m)):
        ph.step(inertia, m[i], q[i], h, out=(m[i], q[i]))


def both(compiled: Any, python: Any, *arguments: Any) -> None:
    for got, want in zip(compiled(*arguments), python(*arguments), strict=True):
        same(got, want)


def test_one_body() -> None:
    for i in range(len(M)):
        both(step, ph.step, INERTIA, M[i], Q[i], 0.3)


def test_batches() -> None:
    both(step, ph.step, INERTIA, M, Q, 0.3)
    moments = INERTIA * RNG.uniform(1.0, 2.0, (9, 1))
    both(
        three_of_midpoint,
        lambda *a: ph.step(*a, method="imid", n_steps=3),
        moments, M, np.asfortranarray(MATRICES), H.astype(np.float32),
    )  # fmt: skip
    both(
        three_of_midpoint,
        lambda *a: ph.step(*a, method="imid", n_steps=3),
        (1, 2.0, 3),
        M[0],
        Q[0],
        1,
    )


def test_rows_in_place() -> None:
    m, q = M.copy(), Q.copy()
    rows(INERTIA, m, q, 0.3)
    want = ph.step(INERTIA, M, Q, 0.3)
    same(m, want[0])
    same(q, want[1])


def test_results_that_overlap_the_arguments() -> None:
    # More bodies than the library reads before it writes results.
    m, q = np.tile(M, (10, 1)), np.tile(Q, (10, 1))
    want = ph.step(INERTIA, m[:-1], q[:-1], 0.3)
    step_to(INERTIA, m[:-1], q[:-1], 0.3, m[1:], q[1:])
    same(m[1:], want[0])
    same(q[1:], want[1])
    m, q = np.tile(M, (10, 1)), np.tile(Q, (10, 1))
    want = ph.step(INERTIA, m, q, 0.3)
    m_out, q_out = q.reshape(-1)[-270:].reshape(90, 3), np.empty((90, 4))  # m in place of given q
    step_to(INERTIA, m, q, 0.3, m_out, q_out)
    same(m_out, want[0])
    same(q_out, want[1])
    memory = np.zeros(80)
    with pytest.raises(ValueError, match="out: the arrays overlap each other"):
        step_to(INERTIA, M[:8], Q[:8], 0.3, memory[:24].reshape(8, 3), memory[20:52].reshape(8, 4))
    with pytest.raises(ValueError, match="out: the arrays must have the shapes of m and q"):
        step_to(INERTIA, M[:8], Q[:8], 0.3, np.zeros((7, 3)), np.zeros((8, 4)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {0: np.array([1.0, -1.0, 1.0])},
            r"inertia = \[1\.0, -1\.0, 1\.0\]: a moment of inertia is negative",
        ),
        ({2: np.r_[Q[:4], np.zeros((5, 4))]}, r"q\[4\] = \[0\.0, 0\.0, 0\.0, 0\.0\]: a zero quat"),
        ({0: np.ones(4)}, r"inertia must have shape \(3,\)"),
        ({0: np.ones((8, 3))}, r"inertia must have shape \(3,\)"),
        ({3: np.ones(8)}, r"h must be a number or have shape \(n,\)"),
        ({1: np.ones((9, 4))}, r"m must have shape"),
        ({2: np.ones((8, 4))}, r"q must have shape"),
        ({2: np.ones((9, 3))}, r"q must have shape"),
    ],
)
def test_invalid_values(changes: dict[int, Any], text: str) -> None:
    arguments: list[Any] = [INERTIA, M, Q, 0.3]
    for place, value in changes.items():
        arguments[place] = value
    with pytest.raises(ValueError, match=text):
        step(*arguments)


def test_no_threads() -> None:
    @numba.njit
    def in_threads(inertia, m, q, h, threads):
        return ph.step(inertia, m, q, h, threads=threads)

    with pytest.raises(ValueError, match="threads must be None"):
        in_threads(INERTIA, M[0], Q[0], 0.3, 0)


def test_a_body_without_a_root_is_nan() -> None:
    @numba.njit
    def long_step(inertia, m, q, h):
        return ph.step(inertia, m, q, h, method="dmv8")

    m, q = long_step(INERTIA, M[:2], Q[:2], np.array([0.1, 100.0]))
    assert np.isfinite(m[0]).all()
    assert np.isnan(m[1]).all()
    assert np.isnan(q[1]).all()


def test_what_cannot_be_compiled_is_named() -> None:
    @numba.njit
    def unknown(m):
        return ph.step(m, m, m, 0.1, method="exakt")

    @numba.njit
    def strided(m, q):
        return ph.step(m[0], m, q, 0.1, out=(m, q))

    with pytest.raises(numba.TypingError, match="unknown method 'exakt'; did you mean 'exact'"):
        unknown(M[0])
    with pytest.raises(numba.TypingError, match="q must have 1 or 2 axes of real numbers"):
        step(INERTIA, M[0], MATRICES, 0.1)
    with pytest.raises(numba.TypingError, match="polhode: m must have 1 or 2 axes of real numbers"):
        step(INERTIA, M[None], Q, 0.1)
    with pytest.raises(numba.TypingError, match="inertia must have 1 axis of real numbers"):
        step(INERTIA[None], M[0], Q[0], 0.1)
    with pytest.raises(numba.TypingError, match="out must be a tuple of two writeable float64"):
        strided(M[::2], Q[::2])
    fixed = M.copy()
    fixed.flags.writeable = False
    with pytest.raises(numba.TypingError, match="out must be a tuple of two writeable float64"):
        strided(fixed, Q)


PROGRAM = """
import numba
import numpy as np

import polhode as ph


@numba.njit(parallel=True, cache=True)
def steps(inertia, m, q, h):
    m_out, q_out = np.empty_like(m), np.empty_like(q)
    for i in numba.prange(len(m)):
        m_out[i], q_out[i] = ph.step(inertia, m[i], q[i], h, method="frb")
    return m_out, q_out


inertia, m = np.array([1.0, 1.5, 2.2]), np.random.default_rng(1).normal(size=(50, 3))
q = np.tile([1.0, 0.0, 0.0, 0.0], (50, 1))
got, want = steps(inertia, m, q, 0.3), ph.step(inertia, m, q, 0.3, method="frb")
assert np.array_equal(got[0], want[0]) and np.array_equal(got[1], want[1])
print(*(f"{sum(x.values())}" for x in (steps.stats.cache_hits, steps.stats.cache_misses)))
"""


def test_threads_and_the_cache_of_numba(tmp_path: Path) -> None:
    """Numba loads polhode.numba by its entry point; the second process takes the code as cached."""
    points = importlib.metadata.entry_points(group="numba_extensions", name="init")
    if not any(point.value == "polhode.numba:init" for point in points):
        pytest.fail("the installed polhode has no entry point for numba: install it again")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    for counts in ("0 1", "1 0"):
        done = subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stderr
        assert done.stdout.split() == counts.split()


@numba.njit
def around(q, v):
    u = polhode_numba.to_body(q, (v[0], v[1], v[2]))
    return np.array(u), np.array(polhode_numba.to_space(q, u))


def test_vectors_in_the_body_frame() -> None:
    q = Q[0] / np.linalg.norm(Q[0])
    body, space = around(q, M[0])
    close(body, ph.so3.rotate(ph.so3.conjugate(q), M[0]), atol=1e-15)
    close(space, M[0], atol=1e-15)
    close(polhode_numba.to_body(tuple(q), tuple(M[0])), body, atol=1e-15)


MU, R0, V0 = 3.986004418e14, (7e6, 0.0, 0.0), (0.0, 4e3, 7e3)
EARTH = (0.0, 0.0, -7.75e22)


@numba.njit
def field_at(t, v):
    r, rate = polhode_numba.orbit_state(MU, R0, v, t)
    return np.array(r), np.array(rate), np.array(polhode_numba.dipole_field(r, EARTH))


def test_orbits_and_fields_for_torques():
    for t in (0, 600.0, -1e4):
        r, v, field = field_at(t, np.array(V0))
        want = ph.torques.Orbit(MU, R0, V0).state(t)
        close(r, want[0], atol=1e-13 * np.linalg.norm(want[0]))
        close(v, want[1], atol=1e-13 * np.linalg.norm(want[1]))
        close(field, ph.torques.dipole_field(r, EARTH), atol=1e-15 * np.abs(field).max())
    assert np.isnan(field_at(1.0, np.array([0.0, 2e4, 0.0]))[:2]).all()  # a hyperbola


def test_a_satellite_by_a_cfunc():
    """The torque of examples/c/satellite.c, beside the same in Python."""
    double = types.CPointer(types.float64)
    of_bodies = [types.int64] * 3 + [types.float64] + 3 * [double] + [types.voidptr]

    @numba.cfunc(types.void(*of_bodies))
    def torque(n, first, stride, t, m, q, f, data):
        r, _ = polhode_numba.orbit_state(MU, R0, V0, t)
        field = polhode_numba.dipole_field(r, EARTH)
        for i in range(n):
            attitude = q[i], q[stride + i], q[2 * stride + i], q[3 * stride + i]
            b = polhode_numba.to_body(attitude, field)
            f[i], f[stride + i], f[2 * stride + i] = -0.5 * b[1], 0.5 * b[0], 0.0

    def in_python(t, q):
        field = ph.torques.dipole_field(ph.torques.Orbit(MU, R0, V0).state(t)[0], EARTH)
        b = ph.so3.rotate(ph.so3.conjugate(q), field)
        return np.stack([-0.5 * b[..., 1], 0.5 * b[..., 0], 0.0 * b[..., 0]], axis=-1)

    start = [0.04, 0.045, 0.008], np.array([[4e-4, -2e-4, 1e-4]] * 9), [1.0, 0.0, 0.0, 0.0]
    fast, slow = (
        ph.integrate(*start, 2.0, 300, torque=f, save_every=300)
        for f in (ph.torques.Compiled(torque, independent=True), in_python)
    )
    close(fast.m[-1], slow.m[-1], atol=1e-15)

"""The C interface of libpolhode, from ctypes: the same bits as the Python functions."""

from __future__ import annotations

import ctypes
import itertools
import locale
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

LIBRARY = ctypes.CDLL(str(ph.get_library()))
DOUBLES = ctypes.POINTER(ctypes.c_double)
INT64 = ctypes.c_int64
EPS = 2.0**-52
SIGNATURE = (
    INT64, INT64, INT64, ctypes.c_double, DOUBLES, DOUBLES, DOUBLES, ctypes.c_void_p,
)  # fmt: skip
TORQUE = ctypes.CFUNCTYPE(ctypes.c_int, *SIGNATURE)
for name in ("error", "version", "level", "method_name", "splitting_name"):
    getattr(LIBRARY, f"polhode_{name}").restype = ctypes.c_char_p
LIBRARY.polhode_lost.restype = INT64
LIBRARY.polhode_motion_free.argtypes = [ctypes.c_void_p]
LIBRARY.polhode_motion_at.argtypes = [
    ctypes.c_void_p, INT64, DOUBLES, ctypes.c_int, DOUBLES, DOUBLES,
]  # fmt: skip
QUATERNION, ROWS, COLUMNS = 0, 1, 2


def pointer(x: Any) -> Any:
    return x.ctypes.data_as(DOUBLES)


def batch(n: int, kind: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    inertia = rng.uniform(1.0, 2.0, (n, 3))
    m, q = rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return inertia, m, q if kind == QUATERNION else ph.so3.to_matrix(q)


def stored(q: Any, kind: int) -> Any:
    """The attitudes in C's memory, and back."""
    return np.ascontiguousarray(np.swapaxes(q, -1, -2) if kind == COLUMNS else q)


def method(name: str) -> int:
    return int(LIBRARY.polhode_method(name.encode()))


def step(
    name: str | int,
    inertia: Any,
    m: Any,
    q: Any,
    kind: int,
    h: Any,
    n_steps: int = 1,
    threads: int = 1,
) -> tuple[Any, Any]:
    h = np.asarray(h, np.float64)
    m_out, q_out = np.empty_like(m), np.empty_like(q)
    status = LIBRARY.polhode_step(
        method(name) if isinstance(name, str) else name, INT64(len(m)), pointer(inertia),
        INT64(3 * (inertia.ndim > 1)), pointer(m), pointer(q), kind, pointer(h), INT64(h.ndim),
        INT64(n_steps), threads, pointer(m_out), pointer(q_out), None,
    )  # fmt: skip
    if status:
        raise ValueError(LIBRARY.polhode_error().decode())
    return m_out, q_out


def test_the_version_is_that_of_the_package_and_the_header() -> None:
    header = (Path(ph.get_include()) / "polhode.h").read_text(encoding="utf-8")
    assert f"#define POLHODE_ABI {LIBRARY.polhode_abi()}\n" in header
    assert LIBRARY.polhode_version().decode() == ph.__version__
    assert LIBRARY.polhode_level().decode() == ph.build_info()["isa"]


def test_orbits_and_fields_for_torques() -> None:
    rng = np.random.default_rng(5)
    mu = 3.986004418e14
    LIBRARY.polhode_dipole_field.restype = None
    starts = [
        ([7e6, 0, 0], [0, 7.6e3, 1e3]),
        ([7e6, 1e6, 0], [0, 1e3, 1e3]),
        ([7e6, 0, 0], [0] * 3),
    ]
    circle = [7e6, 0.0, 0.0], [0.0, np.sqrt(mu / 7e6), 0.0]
    for start in (*starts, circle):
        r0, v0, r, v = (np.array(x, float) for x in (*start, *start))
        pointers = [pointer(x) for x in (r0, v0, r, v)]
        for t in (0.0, 600.0, -1e4, 3e5):
            double = ctypes.c_double
            call = double(mu), *pointers[:2], double(t), *pointers[2:]
            if not v0.any():
                assert LIBRARY.polhode_orbit_state(*call) == 1
                said = b"velocity = [0.0, 0.0, 0.0]: the orbit is not an ellipse"
                assert LIBRARY.polhode_error() == said
                continue
            assert LIBRARY.polhode_orbit_state(*call) == 0
            position, velocity = ph.torques.Orbit(mu, r0, v0).state(t)
            size = np.linalg.norm(r0)
            bound = 64 * EPS * (1 + abs(t) / 1000)
            close(r, position, atol=bound * size)
            close(v, velocity, atol=bound * np.linalg.norm(velocity))
    moment, field = rng.standard_normal(3), np.empty(3)
    LIBRARY.polhode_dipole_field(pointer(r), pointer(moment), double(1e-7), pointer(field))
    want = ph.torques.dipole_field(r, moment)
    close(field, want, atol=8 * EPS * np.abs(want).max())


def test_the_lists_are_those_of_python() -> None:
    for names, listed, number in (  # the row of rkmk is the last and has no public name
        (LIBRARY.polhode_method_name, ph.methods(), LIBRARY.polhode_method),
        (LIBRARY.polhode_splitting_name, ph.splittings(), LIBRARY.polhode_splitting),
    ):
        found = list(itertools.takewhile(lambda x: x, map(names, itertools.count())))
        known = [x.name.encode() for x in listed]
        assert found == known
        assert [found[number(x)] for x in known] == known
    assert method("rkmk") == method("exakt") == -1
    assert LIBRARY.polhode_error() == b"no method exakt"


@pytest.mark.parametrize("kind", [QUATERNION, ROWS, COLUMNS])
@pytest.mark.parametrize("name", [m.name for m in ph.methods()])
def test_steps_have_the_bits_of_python(name: str, kind: int) -> None:
    inertia, m, q = batch(37, kind)
    n_steps = 12
    got = step(name, inertia, m, stored(q, kind), kind, 0.1, n_steps)
    want = ph.step(inertia, m, q, 0.1, method=name, n_steps=n_steps)
    same(got[0], want[0])
    same(stored(got[1], kind), want[1])


def test_steps_of_each_body_shared_moments_and_threads() -> None:
    inertia, m, q = batch(1000, QUATERNION)
    h = np.linspace(-3.0, 3.0, 1000)
    want = ph.step(inertia[0], m, q, h)
    for threads in (1, 2, -1):
        for got, x in zip(
            step("exact", inertia[0], m, q, QUATERNION, h, threads=threads), want, strict=True
        ):
            same(got, x)


@pytest.mark.parametrize("kind", [QUATERNION, ROWS, COLUMNS])
@pytest.mark.parametrize(("bodies", "times"), [(1, 20), (9, 4), (0, 3), (2, 0)])
def test_motion_has_the_bits_of_python(kind: int, bodies: int, times: int) -> None:
    inertia, m, q = batch(bodies, kind)
    t = np.linspace(-50.0, 1e4, times)
    motion = ctypes.c_void_p()
    start = stored(q, kind)
    assert not LIBRARY.polhode_motion_new(
        INT64(bodies), pointer(inertia), INT64(3), pointer(m), pointer(start), kind,
        ctypes.byref(motion),
    )  # fmt: skip
    m_out, q_out = np.empty((times, bodies, 3)), np.empty((times, *start.shape))
    assert not LIBRARY.polhode_motion_at(
        motion, times, pointer(t), 2, *map(pointer, (m_out, q_out))
    )
    want = ph.TorqueFreeMotion(inertia, m, q)
    for got, x in zip((m_out, stored(q_out, kind)), want(t[:, None]), strict=True):
        same(got, x)
    period = np.empty(bodies)
    LIBRARY.polhode_motion_period(motion, pointer(period))
    same(period, want.period)
    LIBRARY.polhode_motion_free(motion)


def integrate(
    scheme: str | int,
    inertia: Any,
    m: Any,
    q: Any,
    kind: int,
    n_steps: int,
    torque: Any,
    every: int,
    by: str | int = "exact",
    flags: int = 0,
    threads: int = 1,
) -> tuple[Any, Any, Any, Any]:
    m, q = m.copy(), q.copy()
    if isinstance(scheme, str):
        scheme = LIBRARY.polhode_splitting(scheme.encode())
    saves = 1 + -(-n_steps // every)
    saved = np.empty((saves, *m.shape)), np.empty((saves, *q.shape))
    status = LIBRARY.polhode_integrate(
        scheme, method(by) if isinstance(by, str) else by, INT64(len(m)),
        pointer(inertia), INT64(0), ctypes.c_double(0.1), INT64(n_steps), ctypes.c_double(0.0),
        torque, None, flags, kind, threads, pointer(m), pointer(q), INT64(every),
        *map(pointer, saved),
    )  # fmt: skip
    if status:
        raise ValueError(LIBRARY.polhode_error().decode())
    return m, q, *saved


def weight(n: int, _: int, stride: int, __: float, ___: Any, q: Any, torque: Any, ____: Any):
    """U0 = (0, 0, 0.5), from matrices: u = Q^T u0, torque u x e3."""
    for i in range(n):
        torque[i] = 0.5 * q[7 * stride + i]
        torque[stride + i] = -0.5 * q[6 * stride + i]
        torque[2 * stride + i] = 0.0
    return 0


heavy_top = TORQUE(weight)


def compiled() -> Any:
    """The same torque for Python, where it returns nothing."""
    return ph.torques.Compiled(ctypes.CFUNCTYPE(None, *SIGNATURE)(weight), attitude="matrix")


@pytest.mark.parametrize("kind", [ROWS, COLUMNS])
@pytest.mark.parametrize("scheme", ["strang", "rkn6_14"])
def test_splitting_with_a_torque_of_the_caller(kind: int, scheme: str) -> None:
    _, m, q = batch(5, kind)
    inertia = np.array([1.0, 1.7, 2.3])
    got = integrate(scheme, inertia, m, stored(q, kind), kind, 25, heavy_top, 10)
    want = ph.integrate(
        inertia, m, q, 0.1, 25, torque=ph.torques.HeavyTop([0.0, 0.0, 0.5]), splitting=scheme,
        save_every=10,
    )  # fmt: skip
    # The model's torque and the function's differ in the last bits; |m| is about 3.
    for a, b in zip((got[2], stored(got[3], kind)), (want.m, want.q), strict=True):
        close(a, b, atol=1e-13)
    same(got[0], got[2][-1])
    same(got[1], got[3][-1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("scheme", ["strang", "rkn6_14"])
def test_a_torque_of_interacting_bodies_gets_the_whole_batch(scheme: str, threads: int) -> None:
    """In a mean field, beside the same function in Python, with more bodies than a block has."""
    inertia, n = np.array([1.0, 1.7, 2.3]), 400

    def mean_field(Q: Any) -> Any:
        e = Q[:, :, 2].mean(0)
        u = np.einsum("nij,i->nj", Q, e)
        return np.stack([-u[:, 1], u[:, 0], np.zeros(len(u))], -1)

    def columns(first: Any, size: int, stride: int, count: int) -> Any:
        return np.ctypeslib.as_array(first, (size, stride))[:, :count]

    calls = []

    @TORQUE
    def whole(count: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, _: Any) -> int:
        calls.append((count, first))
        Q = columns(q, 9, stride, count).T.reshape(count, 3, 3)
        columns(f, 3, stride, count)[...] = mean_field(Q).T
        return 0

    _, m, q = batch(n, ROWS)
    got = integrate(scheme, inertia, m, q, ROWS, 20, whole, 7, threads=threads)
    want = ph.integrate(
        inertia, m, q, 0.1, 20, save_every=7, splitting=scheme,
        torque=ph.torques.Function(mean_field, arguments=("q",)),
    )  # fmt: skip
    assert set(calls) == {(n, 0)}
    close(got[2], want.m, atol=1e-12)
    close(got[3], want.q, atol=1e-12)


def test_a_compiled_torque_in_python_gets_the_whole_batch() -> None:
    """Unless its bodies are independent; the bits are the same."""
    _, m, q = batch(300, ROWS)
    counts: list[tuple[int, int]] = []

    @ctypes.CFUNCTYPE(None, *SIGNATURE)
    def counted(n: int, first: int, *arguments: Any) -> None:
        counts.append((n, first))
        weight(n, first, *arguments)

    runs = []
    for options in ({}, {"independent": True}):
        torque = ph.torques.Compiled(counted, attitude="matrix", **options)
        runs.append(ph.integrate([1.0, 1.7, 2.3], m, q, 0.1, 6, torque=torque, save_every=4))
        assert (set(counts) == {(300, 0)}) == (not options)
        counts.clear()
    same(runs[0].m, runs[1].m)
    same(runs[0].q, runs[1].q)
    torques = [ph.torques.Compiled(counted), ph.torques.Function(lambda m: 0 * m)]
    ph.integrate([1.0, 1.7, 2.3], m, q, 0.1, 2, torque=torques)
    assert set(counts) == {(300, 0)}
    for n in (50, 300):  # also in adaptive steps, which a batch of one block takes together too
        counts.clear()
        torque = ph.torques.Compiled(counted, attitude="matrix")
        ph.integrate([1.0, 1.7, 2.3], m[:n], q[:n], t_end=0.3, torque=torque)
        assert set(counts) == {(n, 0)}


def test_a_torque_of_independent_bodies_gets_blocks_and_the_same_bits() -> None:
    _, m, q = batch(300, ROWS)
    inertia = np.array([1.0, 1.7, 2.3])
    counts = []

    @TORQUE
    def counted(n: int, *arguments: Any) -> int:
        counts.append(n)
        return weight(n, *arguments)

    some = integrate("strang", inertia, m, q, ROWS, 5, counted, 2, flags=2)
    assert max(counts) < 300
    whole = integrate("strang", inertia, m, q, ROWS, 5, heavy_top, 2)
    for a, b in zip(some, whole, strict=True):
        same(a, b)
    with pytest.raises(ValueError, match="torque_flags must be"):
        integrate("strang", inertia, m, q, ROWS, 5, heavy_top, 2, flags=4)


FORCE_SIGNATURE = (INT64, INT64, INT64, ctypes.c_double, *[DOUBLES] * 6, ctypes.c_void_p)
FORCE = ctypes.CFUNCTYPE(ctypes.c_int, *FORCE_SIGNATURE)


def springs(
    n: int, _: int, stride: int, t: float, x: Any, p: Any, m: Any, q: Any, f: Any, torque: Any,
    __: Any,
) -> int:  # fmt: skip
    """From each body to the next; the torque depends on time and attitude, both on the momenta."""
    for i in range(n):
        for k in range(3):
            own, other = k * stride + i, k * stride + (i + 1) % n
            f[own] = 2.0 * (x[other] - x[own]) - 0.1 * p[own]
            torque[own] = (0.3 + t) * q[own + stride] - 0.1 * m[own]
    return int(t > 50.0)


def integrate_moving(
    mass: Any, x: Any, p: Any, m: Any, q: Any, force: Any, kind: int = ROWS, saves: bool = True,
    t0: float = 0.0, method_name: str = "exact", scheme: str = "mclachlan4_5",
) -> list[Any]:  # fmt: skip
    state = [each.copy() for each in (x, p, m, q)]
    rows = [np.empty((4, *each.shape)) for each in state]
    status = LIBRARY.polhode_integrate_moving(
        LIBRARY.polhode_splitting(scheme.encode()), method(method_name), INT64(len(m)),
        pointer(np.array([1.0, 1.7, 2.3])), INT64(0), pointer(mass), INT64(mass.ndim),
        ctypes.c_double(0.1), INT64(25), ctypes.c_double(t0), force, None, 1, kind, 1,
        *map(pointer, state), INT64(10),
        *(map(pointer, rows) if saves else [None, None, pointer(rows[2]), pointer(rows[3])]),
    )  # fmt: skip
    if status:
        for before, after in zip((x, p, m, q), state, strict=True):
            same(before, after)
        raise ValueError(LIBRARY.polhode_error().decode())
    for row, each in zip(rows, state, strict=True):
        same(row[-1], each)
    return rows


@pytest.mark.parametrize("n", [1, 5, 300])
@pytest.mark.parametrize("each", [False, True])
def test_bodies_that_move_have_the_bits_of_python(n: int, each: bool) -> None:
    _, m, q = batch(n, ROWS)
    rng = np.random.default_rng(8)
    x, p = rng.normal(size=(2, n, 3))
    mass = rng.uniform(1.0, 3.0, n) if each else np.array(1.5)
    rows = integrate_moving(mass, x, p, m, q, FORCE(springs))
    in_python = ph.torques.Compiled(
        ctypes.CFUNCTYPE(None, *FORCE_SIGNATURE)(springs), attitude="matrix", depends_on_m=True
    )
    want = ph.integrate(
        [1.0, 1.7, 2.3], m, q, 0.1, 25, mass=mass, x0=x, p0=p, torque=in_python,
        splitting="mclachlan4_5", save_every=10,
    )  # fmt: skip
    for got, expected in zip(rows, (want.x, want.p, want.m, want.q), strict=True):
        same(got, expected)
    columns = integrate_moving(mass, x, p, m, stored(q, COLUMNS), FORCE(springs), COLUMNS)
    same(columns[0], rows[0])
    free = integrate_moving(mass, x, p, m, q, FORCE())
    close(free[0][-1], x + 2.5 * p / mass.reshape(-1, 1), atol=1e-13)  # 125 sums


def test_what_is_wrong_of_bodies_that_move() -> None:
    _, m, q = batch(5, ROWS)
    x, mass = np.ones((5, 3)), np.ones(5)
    for k, bad in enumerate((0.0, -1.0, np.nan, np.inf)):
        wrong = mass.copy()
        wrong[k] = bad
        with pytest.raises(ValueError, match=rf"mass\[{k}\] = {bad}: must be positive and finite"):
            integrate_moving(wrong, x, x, m, q, FORCE(springs))
    with pytest.raises(ValueError, match="x_saved, p_saved, m_saved and q_saved need each other"):
        integrate_moving(mass, x, x, m, q, FORCE(springs), saves=False)
    with pytest.raises(ValueError, match="the torque has ended the run"):
        integrate_moving(mass, x, x, m, q, FORCE(springs), t0=49.0)
    with pytest.raises(ValueError, match="does not depend on m"):
        integrate_moving(mass, x, x, m, q, FORCE(springs), scheme="rkn6_14")
    x[3, 1] = np.nan
    rows = integrate_moving(mass, x, np.ones((5, 3)), m, q, FORCE())
    assert np.isnan(rows[0][-1]).any(axis=-1).tolist() == [False, False, False, True, False]
    assert np.isfinite(rows[2]).all()


def test_torques_of_independent_bodies_are_called_in_as_many_threads_as_asked_for() -> None:
    """Each waits in its first call until the other has been called too."""
    _, m, q = batch(1000, ROWS)
    both, seen = threading.Barrier(2, timeout=20), set()

    @TORQUE
    def meets(n: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, _: Any) -> int:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()
        ctypes.memset(f, 0, 3 * stride * 8)
        return 0

    inertia = np.array([1.0, 1.7, 2.3])
    integrate("strang", inertia, m, q, ROWS, 50, meets, 50, flags=2, threads=2)
    assert len(seen) == 2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("flags", [0, 2])
def test_bodies_that_are_lost_are_counted(threads: int, flags: int) -> None:
    """Those of a torque that is not finite, not those that are NaN at the start."""
    _, m, q = batch(300, ROWS)
    inertia, gone = np.array([1.0, 1.7, 2.3]), {3, 77, 299}

    @TORQUE
    def breaks(n: int, first: int, stride: int, t: float, m: Any, q: Any, f: Any, _: Any) -> int:
        for k in range(3):
            for i in range(n):
                f[k * stride + i] = np.nan if first + i in gone and t > 0.25 else 0.0
        return 0

    m[5, 1] = q[8, 0, 0] = np.nan
    for torque, lost in ((breaks, len(gone)), (TORQUE(), 0)):
        ends = integrate("strang", inertia, m, q, ROWS, 5, torque, 5, flags=flags, threads=threads)
        assert LIBRARY.polhode_lost() == lost
        is_nan = np.flatnonzero(np.isnan(ends[0]).any(axis=-1))
        assert set(is_nan.tolist()) == {5, 8} | (gone if lost else set())
    found: list[int] = []
    integrate("strang", inertia, m, q, ROWS, 5, breaks, 5)
    with pytest.raises(ValueError, match="inertia"):
        integrate("strang", -inertia, m, q, ROWS, 5, TORQUE(), 5)
    other = threading.Thread(target=lambda: found.append(LIBRARY.polhode_lost()))
    other.start()
    other.join()
    assert (LIBRARY.polhode_lost(), found) == (3, [0])
    # Of steps that are too long, and of a force.
    _, m, q = batch(2, ROWS)
    integrate("strang", inertia, 1e30 * m, q, ROWS, 1, TORQUE(), 1)
    assert LIBRARY.polhode_lost() == 2

    @FORCE
    def pushes(n: int, _: int, stride: int, t: float, *arrays: Any) -> int:
        for each, value in zip(arrays[4:6], (np.inf, 0.0), strict=True):
            for i in range(n):
                each[i] = each[stride + i] = each[2 * stride + i] = value
        return 0

    integrate_moving(np.ones(2), m, m, m, q, pushes)
    assert LIBRARY.polhode_lost() == 2


def test_a_splitting_without_torque_is_the_free_motion() -> None:
    _, m, q = batch(5, QUATERNION)
    inertia = np.array([1.0, 1.7, 2.3])
    got = integrate("strang", inertia, m, q, QUATERNION, 7, TORQUE(), 3)
    want = ph.integrate(inertia, m, q, 0.1, 7, save_every=3)
    same(got[2], want.m)
    same(got[3], want.q)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("symmetric_rotation axes=312 energy_correction=buss",
         {"axes": (3, 1, 2), "energy_correction": "buss"}),
        ("rotations123_4 cayley=True", {"cayley": True}),
        ("  taylor4   energy_correction='buss' "[2:], {"energy_correction": "buss"}),
        ("factorization6 c0=0.5 c3=-0.5", {"c0": 0.5, "c3": -0.5}),
        ("euler_backward form=rate", {"form": "rate"}),
        ("abam_rotation energy_correction=True", {"energy_correction": True}),
    ],
)  # fmt: skip
def test_options_of_methods_have_the_bits_of_python(text: str, options: dict[str, Any]) -> None:
    inertia, m, q = batch(37, QUATERNION)
    n_steps, name = 5, text.split(maxsplit=1)[0]
    want = ph.step(inertia, m, q, 0.1, method=name, n_steps=n_steps, **options)
    for a, b in zip(step(text, inertia, m, q, QUATERNION, 0.1, n_steps), want, strict=True):
        same(a, b)
    number = method(text)
    assert number == method(text) != method(name)
    assert LIBRARY.polhode_method_name(number) == text.encode()


def test_options_under_a_torque() -> None:
    _, m, q = batch(5, ROWS)
    inertia = np.array([1.0, 1.7, 2.3])
    got = integrate(
        "strang", inertia, m, q, ROWS, 9, heavy_top, 9, "taylor3 energy_correction=True"
    )
    want = ph.integrate(
        inertia, m, q, 0.1, 9, torque=compiled(), method="taylor3", energy_correction=True
    )
    same(got[0], want.m[-1])
    same(got[1], want.q[-1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exact cayley=True", "no option cayley=True of exact"),
        ("rotations123 cayley", "no option cayley of rotations123"),
        ("rotations123 cayley=yes",
         "option cayley of rotations123 must be one of False True, not yes"),
        ("rotations123 cayley=True cayley=False", "option cayley of rotations123 is given twice"),
        ("rotations123 axes=311", "option axes of rotations123 must be a permutation of 123"),
        ("factorization2 c0=0,5", "option c0 of factorization2 must be a number, not 0,5"),
        ("factorization2 c0=0.5", "c0^2 + c3^2 must be 1/2"),
        ("factorization2 c0=nan", "option c0 of factorization2 must be a number, not nan"),
        ("euler_forward form=rate energy_correction=True", "form='rate' does not keep it"),
        ("rkmk", "no method rkmk"),
    ],
)  # fmt: skip
def test_options_that_there_are_not(text: str, said: str) -> None:
    assert method(text) == -1
    assert said in LIBRARY.polhode_error().decode()


def doubles(x: Any) -> Any:
    return pointer(np.array(x, np.float64))


@pytest.mark.parametrize(
    ("a", "b"), [([0.5, 0.5], [1.0]), ([1.0], [0.25, 0.75]), ([0.25, 0.75], [0.5, 0.5])]
)
def test_a_scheme_of_ones_own_has_the_bits_of_python(a: list[float], b: list[float]) -> None:
    _, m, q = batch(5, ROWS)
    inertia = np.array([1.0, 1.7, 2.3])
    number = LIBRARY.polhode_splitting_of(len(a), doubles(a), len(b), doubles(b))
    assert number == LIBRARY.polhode_splitting_of(len(a), doubles(a), len(b), doubles(b))
    got = integrate(number, inertia, m, q, ROWS, 25, heavy_top, 10)
    want = ph.integrate(inertia, m, q, 0.1, 25, torque=compiled(), splitting=(a, b), save_every=10)
    same(got[2], want.m)
    same(got[3], want.q)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([0.5, 0.6], [1.0], "flows must add up to 1, not 1.1"),
        ([1.0], [np.nan], "kicks must add up to 1, not nan"),
        ([0.5, 0.5, 0.0], [1.0], "their numbers differ by at most 1"),
        ([], [], "flows must add up to 1, not 0"),
        ([0.0] * 501, [0.0] * 500, "at most 1000 flows and kicks"),
    ],
)
def test_what_is_no_scheme(a: list[float], b: list[float], said: str) -> None:
    assert LIBRARY.polhode_splitting_of(len(a), doubles(a), len(b), doubles(b)) == -1
    assert said in LIBRARY.polhode_error().decode()
    assert LIBRARY.polhode_splitting_of(1, None, 1, doubles([1.0])) == -1
    assert LIBRARY.polhode_error() == b"a is NULL"
    assert LIBRARY.polhode_splitting_of(1, doubles([1.0]), 1, doubles([1.0 + 2**-30])) == -1
    assert LIBRARY.polhode_error().endswith(b" must add up to 1, not 1.0000000009313226")


def test_numbers_that_are_released_are_used_again() -> None:
    """A program that makes schemes and methods in a loop keeps none of them."""
    LIBRARY.polhode_splitting_free.restype = LIBRARY.polhode_method_free.restype = None

    def scheme(x: float) -> int:
        return int(LIBRARY.polhode_splitting_of(2, doubles([x, 1 - x]), 1, doubles([1.0])))

    kept = scheme(0.3), scheme(0.3)
    assert kept[0] == kept[1]
    other = {scheme(0.4) for _ in range(2)}
    assert len(other) == 1
    LIBRARY.polhode_splitting_free(kept[0])
    assert scheme(0.31) not in {*kept, *other}
    LIBRARY.polhode_splitting_free(kept[0])
    assert scheme(0.32) == kept[0]
    one = method("rotations123 cayley=True")
    assert LIBRARY.polhode_method_name(one) == b"rotations123 cayley=True"
    LIBRARY.polhode_method_free(one)
    assert LIBRARY.polhode_method_name(one) is None
    for row in (method("exact"), -1, 10**6):
        LIBRARY.polhode_method_free(row)
    assert LIBRARY.polhode_method_name(method("exact")) == b"exact"


def test_numbers_in_options_have_a_point_in_every_language() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
    except locale.Error:
        pytest.skip("no German locale on this system")
    try:
        assert method("factorization6 c0=0.5 c3=-0.5") != -1, LIBRARY.polhode_error()
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def test_a_tableau_of_ones_own_has_the_bits_of_python() -> None:
    inertia, m, q = batch(9, QUATERNION)
    for a, b in (
        ([[0.0, 0.0], [2 / 3, 0.0]], [0.25, 0.75]),
        ([[5 / 12, -1 / 12], [0.75, 0.25]], [0.75, 0.25]),
    ):
        number = LIBRARY.polhode_rkmk(2, doubles(a), doubles(b))
        got = step(number, inertia, m, q, QUATERNION, 0.1, 3)
        made = ph.rkmk(a, b, np.sum(a, axis=1))
        for x, y in zip(got, ph.step(inertia, m, q, 0.1, method=made, n_steps=3), strict=True):
            same(x, y)
    for stages, b in ((0, [1.0]), (14, [1.0] * 196), (1, [0.9]), (1, [np.inf])):
        assert LIBRARY.polhode_rkmk(stages, doubles(np.zeros(196)), doubles(b)) == -1


@pytest.mark.parametrize("kind", [QUATERNION, ROWS, COLUMNS])
def test_a_torque_that_ends_the_run(kind: int) -> None:
    calls = []

    @TORQUE
    def torque(n: int, _: int, stride: int, t: float, ___: Any, ____: Any, out: Any, _____: Any):
        calls.append(t)
        for i in range(3 * stride):
            out[i] = 0.0
        return int(t > 0.45)

    inertia, m, q = batch(5, kind)
    q = stored(q, kind)
    start = m.copy(), q.copy()
    assert LIBRARY.polhode_integrate(
        LIBRARY.polhode_splitting(b"strang"), method("exact"), INT64(5), pointer(inertia), INT64(3),
        ctypes.c_double(0.1), INT64(1000), ctypes.c_double(0.0), torque, None, 0, kind, 2,
        pointer(m), pointer(q), INT64(0), None, None,
    ) == 5  # fmt: skip
    assert LIBRARY.polhode_error() == b"the torque has ended the run"
    assert [t for t in calls if t > 0.45] == [0.5]
    same(m, start[0])
    same(q, start[1])


@pytest.mark.parametrize("name", ["agm", "rf", "rc", "rd", "rj", "jacobi", "ellip_f", "ellip_k"])
def test_elliptic_functions_have_the_bits_of_python(name: str) -> None:
    function = getattr(ph.elliptic, name)
    inputs = {"agm": 2, "rc": 2, "rj": 4, "jacobi": 2, "ellip_f": 2, "ellip_k": 1}.get(name, 3)
    x = np.random.default_rng(5).uniform(0.1, 0.9, (inputs, 50))
    want = function(*x)
    want = np.array(want if isinstance(want, tuple) else [want])
    y = np.empty_like(want)
    both = [(DOUBLES * len(a))(*map(pointer, a)) for a in (x, y)]
    assert not LIBRARY.polhode_function(name.encode(), INT64(50), *both)
    same(y, want)


def test_what_is_wrong_is_said_and_nothing_written() -> None:
    inertia, m, q = batch(9, QUATERNION)
    bad = inertia.copy()
    bad[4, 1] = -1.0
    with pytest.raises(ValueError, match=r"inertia\[4\] = \[1\.\d+, -1\.0, 1\.\d+\]: "):
        step("exact", bad, m, q, QUATERNION, 0.1)
    bad = q.copy()
    bad[7] = 0.0
    with pytest.raises(ValueError, match=r"q\[7\] = \[0\.0, 0\.0, 0\.0, 0\.0\]: a zero quaternion"):
        step("exact", inertia, m, bad, QUATERNION, 0.1)
    rod = np.array([1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"m\[0\] = .* whose moment of inertia is zero"):
        step("exact", rod, m, q, QUATERNION, 0.1)
    with pytest.raises(ValueError, match="no such method"):
        step("exakt", inertia, m, q, QUATERNION, 0.1)
    for scheme in (-(2**31), 10**6):
        with pytest.raises(ValueError, match="no such splitting scheme"):
            integrate(scheme, inertia, m, q, QUATERNION, 1, TORQUE(), 1)
    with pytest.raises(ValueError, match="'abam_rotation' has a history of 4 steps"):
        step("abam_rotation", inertia, m, q, QUATERNION, 0.1)
    with pytest.raises(ValueError, match="threads must be"):
        step("exact", inertia, m, q, QUATERNION, 0.1, threads=-2)
    with pytest.raises(ValueError, match="attitude must be one of"):
        step("exact", inertia, m, q, 3, 0.1)


@pytest.mark.skipif(
    "POLHODE_SANITIZED" in os.environ,
    reason="the sanitizer ends a process that asks for so much",
)
def test_without_memory_for_the_bodies_there_is_a_status() -> None:
    inertia, m, q = batch(2, QUATERNION)
    before = m.copy()
    assert LIBRARY.polhode_integrate(
        0, 0, INT64(2**58), pointer(inertia), INT64(3), ctypes.c_double(0.1), INT64(1),
        ctypes.c_double(0.0), TORQUE(), None, 0, QUATERNION, 1, pointer(m), pointer(q), INT64(0),
        None, None,
    ) == 2  # fmt: skip
    assert LIBRARY.polhode_error().startswith(b"no memory")
    same(m, before)


def test_arrays_that_overlap_are_refused() -> None:
    """Without a result that depends on the order in which bodies are stepped."""
    inertia, m, q = batch(3, QUATERNION)
    room = np.concatenate([m.ravel(), q.ravel()])  # m, then q
    start, h = room.copy(), np.ones(3)
    at = {"m": 0, "q": 9, "next": 3}

    def words(name: str) -> Any:
        return pointer(room[at[name] :])

    def step_to(m_out: Any, q_out: Any, inertia: Any = inertia) -> Any:
        status = LIBRARY.polhode_step(
            method("exact"), INT64(3), pointer(inertia), INT64(3), words("m"), words("q"), 0,
            pointer(h), INT64(1), INT64(1), 1, m_out, q_out, None,
        )  # fmt: skip
        return status, LIBRARY.polhode_error()

    m_out, q_out = np.empty((3, 3)), np.empty((3, 4))
    for outputs, said in (
        ((words("next"), pointer(q_out)), b"m_out overlaps m"),
        ((words("q"), pointer(q_out)), b"m_out overlaps q"),
        ((pointer(q_out), pointer(q_out)), b"q_out overlaps m_out"),
        ((pointer(m_out), pointer(inertia)), b"q_out overlaps inertia"),
        ((pointer(h[2:]), pointer(q_out)), b"m_out overlaps h"),
    ):
        assert step_to(*outputs) == (1, said)
        same(room, start)
    assert step_to(pointer(m_out), pointer(q_out))[0] == 0
    assert step_to(words("m"), words("q"))[0] == 0
    same(room, np.concatenate([m_out.ravel(), q_out.ravel()]))

    room[:] = start
    for q_of, m_saved, said in (
        ("next", None, b"q overlaps m"),
        ("q", pointer(inertia), b"m_saved overlaps inertia"),
        ("q", words("q"), b"m_saved overlaps q"),
    ):
        saved = None if m_saved is None else pointer(np.empty(24))
        assert LIBRARY.polhode_integrate(
            0, method("exact"), INT64(3), pointer(inertia), INT64(3), ctypes.c_double(0.1),
            INT64(1), ctypes.c_double(0.0), None, None, 0, 0, 1, words("m"), words(q_of),
            INT64(1), m_saved, saved,
        ) == 1  # fmt: skip
        assert LIBRARY.polhode_error() == said
        same(room, start)

    motion = ctypes.c_void_p()
    assert not LIBRARY.polhode_motion_new(
        INT64(3), pointer(inertia), INT64(3), words("m"), words("q"), 0, ctypes.byref(motion)
    )
    assert LIBRARY.polhode_motion_at(motion, INT64(2), pointer(h), 1, pointer(h), words("q")) == 1
    assert LIBRARY.polhode_error() == b"m overlaps t"
    LIBRARY.polhode_motion_free(motion)

    turned = np.empty((3, 3))
    inputs, in_place = (DOUBLES * 2)(words("q"), words("m")), (DOUBLES * 1)(words("m"))
    partly = (DOUBLES * 1)(words("next"))
    assert LIBRARY.polhode_function(b"so3_rotate", INT64(3), inputs, partly) == 1
    assert LIBRARY.polhode_error() == b"an output overlaps an input"
    other = (DOUBLES * 1)(pointer(turned))
    assert LIBRARY.polhode_function(b"so3_rotate", INT64(3), inputs, other) == 0
    assert LIBRARY.polhode_function(b"so3_rotate", INT64(3), inputs, in_place) == 0
    same(room[:9], turned.ravel())


def test_orbits_that_are_none_are_named() -> None:
    r, v, out = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0]), np.empty(3)
    for mu, position, said in (
        (1.0, pointer(r), b"velocity = [0.0, 2.0, 0.0]: the orbit is not an ellipse"),
        (-1.0, pointer(r), b"mu = -1.0: must be positive"),
        (np.nan, pointer(r), b"mu = nan: must be positive"),
        (1.0, None, b"position is NULL"),
    ):
        assert LIBRARY.polhode_orbit_state(
            ctypes.c_double(mu), position, pointer(v), ctypes.c_double(1.0), pointer(out),
            pointer(out),
        ) == 1  # fmt: skip
        assert LIBRARY.polhode_error() == said


def test_what_is_null_or_no_row_is_refused() -> None:
    inertia, m, q = batch(2, QUATERNION)
    one = pointer(np.ones(1))
    made = next(k for k in itertools.count() if not LIBRARY.polhode_method_name(k))
    number = method("exact")
    for row, array in ((made, pointer(m)), (number, None)):
        assert LIBRARY.polhode_step(
            row, INT64(2), pointer(inertia), INT64(3), array, pointer(q), QUATERNION, one,
            INT64(0), INT64(1), 1, pointer(m), pointer(q), None,
        ) == 1  # fmt: skip
    assert LIBRARY.polhode_error() == b"m is NULL"
    assert LIBRARY.polhode_method(None) == LIBRARY.polhode_splitting(None) == -1
    assert LIBRARY.polhode_motion_at(None, INT64(1), one, 1, one, one) == 1
    assert LIBRARY.polhode_motion_period(None, one) == 1
    assert LIBRARY.polhode_function(None, INT64(0), None, None) == 1
    assert LIBRARY.polhode_function(b"agm", INT64(0), None, None) == 0
    assert LIBRARY.polhode_function(b"agm", INT64(1), None, None) == 1
    # No bodies: the arrays may be null, shared moments too.
    assert not LIBRARY.polhode_step(
        number, INT64(0), None, INT64(0), None, None, QUATERNION, one,
        INT64(0), INT64(1), 1, None, None, None,
    )  # fmt: skip
    # Saves further apart than the steps, by as much as a number can be.
    start = integrate("strang", inertia[0], m, q, QUATERNION, 5, TORQUE(), 5)
    saved = np.full((2, 2, 3), np.nan), np.full((2, 2, 4), np.nan)
    assert not LIBRARY.polhode_integrate(
        LIBRARY.polhode_splitting(b"strang"), number, INT64(2), pointer(inertia[0].copy()),
        INT64(0), ctypes.c_double(0.1), INT64(5), ctypes.c_double(0.0), TORQUE(), None, 0,
        QUATERNION, 1, pointer(m), pointer(q), INT64(2**63 - 1), *map(pointer, saved),
    )  # fmt: skip
    same(saved[0], start[2])
    same(saved[1], start[3])


def test_a_bad_body_harms_no_other() -> None:
    inertia, m, q = batch(9, QUATERNION)
    want = step("exact", inertia, m, q, QUATERNION, 0.1)
    m[3, 1], q[5, 0] = np.nan, np.inf
    for got, x in zip(step("exact", inertia, m, q, QUATERNION, 0.1), want, strict=True):
        assert np.flatnonzero(np.isnan(got).any(-1)).tolist() == [3, 5]
        same(np.delete(got, [3, 5], 0), np.delete(x, [3, 5], 0))


def test_the_two_routines_of_the_report() -> None:
    inertia, m, q = (x[0] for x in batch(1, QUATERNION))
    Q = ph.so3.to_matrix(q)
    h = ctypes.c_double(0.7)
    m_out, q_out, Q_out = np.empty(3), np.empty(4), np.empty((3, 3), order="F")
    LIBRARY.quat_step_(
        *map(pointer, (m_out, q_out)), ctypes.byref(h), *map(pointer, (inertia, m, q))
    )
    for got, want in zip((m_out, q_out), ph.quat_step(inertia, m, q, 0.7), strict=True):
        same(got, want)
    F = np.asfortranarray(Q)
    LIBRARY.frb_step_(
        *map(pointer, (m_out, Q_out)), ctypes.byref(h), *map(pointer, (inertia, m, F))
    )
    for got, want in zip((m_out, Q_out), ph.frb_step(inertia, m, Q, 0.7), strict=True):
        same(got, want)
    LIBRARY.frb_step_(
        *map(pointer, (m_out, Q_out)), ctypes.byref(h), *map(pointer, (-inertia, m, F))
    )
    assert np.isnan(m_out).all()
    assert np.isnan(Q_out).all()

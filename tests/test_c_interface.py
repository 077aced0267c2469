"""The C interface of libpolhode, from ctypes: the same bits as the Python functions."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

LIBRARY = ctypes.CDLL(str(ph.get_library()))
DOUBLES = ctypes.POINTER(ctypes.c_double)
INT64 = ctypes.c_int64
TORQUE = ctypes.CFUNCTYPE(
    None, INT64, INT64, INT64, ctypes.c_double, DOUBLES, DOUBLES, DOUBLES, ctypes.c_void_p
)
for name in ("error", "version", "level", "method_name", "splitting_name"):
    getattr(LIBRARY, f"polhode_{name}").restype = ctypes.c_char_p
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
    name: str, inertia: Any, m: Any, q: Any, kind: int, h: Any, n_steps: int = 1, threads: int = 1
) -> tuple[Any, Any]:
    h = np.asarray(h, np.float64)
    m_out, q_out = np.empty_like(m), np.empty_like(q)
    status = LIBRARY.polhode_step(
        method(name), INT64(len(m)), pointer(inertia), INT64(3 * (inertia.ndim > 1)), pointer(m),
        pointer(q), kind, pointer(h), INT64(h.ndim), INT64(n_steps), threads, pointer(m_out),
        pointer(q_out), None,
    )  # fmt: skip
    if status:
        raise ValueError(LIBRARY.polhode_error().decode())
    return m_out, q_out


def test_the_version_is_that_of_the_package_and_the_header() -> None:
    header = (Path(ph.get_include()) / "polhode.h").read_text(encoding="utf-8")
    assert f"#define POLHODE_ABI {LIBRARY.polhode_abi()}\n" in header
    assert LIBRARY.polhode_version().decode() == ph.__version__
    assert LIBRARY.polhode_level().decode() == ph.build_info()["isa"]


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
    scheme: str, inertia: Any, m: Any, q: Any, kind: int, n_steps: int, torque: Any, every: int
) -> tuple[Any, Any, Any, Any]:
    m, q = m.copy(), q.copy()
    saves = 1 + -(-n_steps // every)
    saved = np.empty((saves, *m.shape)), np.empty((saves, *q.shape))
    status = LIBRARY.polhode_integrate(
        LIBRARY.polhode_splitting(scheme.encode()), method("exact"), INT64(len(m)),
        pointer(inertia), INT64(0), ctypes.c_double(0.1), INT64(n_steps), ctypes.c_double(0.0),
        torque, None, 0, kind, 1, pointer(m), pointer(q), INT64(every), *map(pointer, saved),
    )  # fmt: skip
    if status:
        raise ValueError(LIBRARY.polhode_error().decode())
    return m, q, *saved


@TORQUE
def heavy_top(n: int, _: int, stride: int, __: float, ___: Any, q: Any, torque: Any, ____: Any):
    """U0 = (0, 0, 0.5), from matrices: u = Q^T u0, torque u x e3."""
    for i in range(n):
        torque[i] = 0.5 * q[7 * stride + i]
        torque[stride + i] = -0.5 * q[6 * stride + i]
        torque[2 * stride + i] = 0.0


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


def test_a_splitting_without_torque_is_the_free_motion() -> None:
    _, m, q = batch(5, QUATERNION)
    inertia = np.array([1.0, 1.7, 2.3])
    got = integrate("strang", inertia, m, q, QUATERNION, 7, TORQUE(), 3)
    want = ph.integrate(inertia, m, q, 0.1, 7, save_every=3)
    same(got[2], want.m)
    same(got[3], want.q)


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
    with pytest.raises(ValueError, match=r"inertia of body 4, \(1\.\d+, -1, 1\.\d+\): "):
        step("exact", bad, m, q, QUATERNION, 0.1)
    bad = q.copy()
    bad[7] = 0.0
    with pytest.raises(ValueError, match=r"attitude of body 7, \(0, 0, 0, 0\): a zero quaternion"):
        step("exact", inertia, m, bad, QUATERNION, 0.1)
    rod = np.array([1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"m of body 0, .* whose moment of inertia is zero"):
        step("exact", rod, m, q, QUATERNION, 0.1)
    with pytest.raises(ValueError, match="no such method"):
        step("exakt", inertia, m, q, QUATERNION, 0.1)
    with pytest.raises(ValueError, match="abam_rotation needs n_steps of at least"):
        step("abam_rotation", inertia, m, q, QUATERNION, 0.1)
    with pytest.raises(ValueError, match="threads must be"):
        step("exact", inertia, m, q, QUATERNION, 0.1, threads=-2)
    with pytest.raises(ValueError, match="attitude must be one of"):
        step("exact", inertia, m, q, 3, 0.1)


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
    assert LIBRARY.polhode_method(None) == LIBRARY.polhode_splitting(None) == -1
    assert LIBRARY.polhode_motion_at(None, INT64(1), one, 1, one, one) == 1
    assert LIBRARY.polhode_motion_period(None, one) == 1
    assert LIBRARY.polhode_function(None, INT64(0), None, None) == 1
    assert LIBRARY.polhode_function(b"agm", INT64(0), None, None) == 0
    assert LIBRARY.polhode_function(b"agm", INT64(1), None, None) == 1
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


# Programs ----------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def printed(folder: Path, compiler: str, *arguments: Any) -> list[list[str]]:
    """Words of each line that a program prints, compiled with warnings as errors."""
    found = shutil.which(compiler)
    if not found:
        pytest.skip(f"no {compiler}")

    def told(option: str) -> list[str]:
        run = [sys.executable, "-m", "polhode", option]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()

    words = [y for x in arguments for y in (told(x) if str(x).startswith("--") else [x])]
    program = folder / "program"
    subprocess.run([found, "-Wall", "-Werror", *words, "-o", program], check=True, cwd=folder)
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("compiler", "arguments"),
    [
        ("cc", ["-std=c99", "-Wextra", "-pedantic", EXAMPLES / "c/heavy_top.c", "--includes"]),
        (
            "gfortran",
            ["-Wno-unused-dummy-argument", "--fortran", EXAMPLES / "fortran/heavy_top.f90"],
        ),
    ],
)
def test_the_heavy_top_of_the_report(tmp_path: Path, compiler: str, arguments: list[Any]) -> None:
    """Against 34 digits at t = 50 and 500, where the step of 0.5 is off by 3e-14 and 2e-13."""
    lines = np.array(printed(tmp_path, compiler, *arguments, "--libs"), np.float64)
    text = (resources.files("polhode") / "data/example1_reference.toml").read_text()
    for point, bound in zip(tomllib.loads(text)["point"], (1e-13, 6e-13), strict=False):
        (line,) = lines[lines[:, 0] == point["t"]]
        close(line[1:], point["m"], atol=bound)


def test_a_program_written_for_frb_fortran(tmp_path: Path) -> None:
    lines = printed(tmp_path, "gfortran", EXAMPLES / "fortran/frb_steps.f", "--libs")
    start = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8]
    m, q = ph.step(*start, [1.0, 0.0, 0.0, 0.0], 0.2, n_steps=10, method="frb")
    _, Q = ph.step(*start, np.eye(3), 0.2, n_steps=10, method="frb")
    for (name, *numbers), want in zip(lines, (m, q, Q[0]), strict=True):
        close(np.array(numbers, np.float64), want, atol=6e-7)  # six digits are printed
        assert name in "mqQ"


def check_tour(lines: list[list[str]]) -> None:
    """The lines of examples/cpp/tour.cpp, six digits of what Python gives."""
    inertia, m, q = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0]
    top = ph.integrate(
        inertia, m, q, 0.1, 100, torque=ph.torques.HeavyTop([0.0, 0.0, 0.5]), splitting="rkn6_14"
    )
    body = ph.RigidBody([[2.0, 0.3, 0.0], [0.3, 1.5, 0.1], [0.0, 0.1, 1.2]])
    want = {
        "step": ph.step(inertia, m, q, 2.0)[0],
        "period": np.array(m),
        "batch": ph.step(inertia, m, q, 0.2, n_steps=10)[0],
        "top": top.m[-1],
        "tensor": body.step(m, q, 2.0)[0],
    }
    assert [line[0] for line in lines] == [*want, "error"]
    for name, *numbers in lines[:-1]:
        close(np.array(numbers, np.float64), want[name], atol=6e-7)
    assert " ".join(lines[-1]).startswith("error inertia of body 0, (1, -1, 1):")


@pytest.mark.parametrize("compiler", ["g++", "clang++-16", "clang++"])
def test_the_tour_in_cpp(tmp_path: Path, compiler: str) -> None:
    flags = ["-std=c++20", "-O1", "-Wextra", "-Wpedantic", "-Wshadow"]
    source = EXAMPLES / "cpp/tour.cpp"
    check_tour(printed(tmp_path, compiler, *flags, source, "--includes", "--libs"))


def test_the_tour_by_cmake(tmp_path: Path) -> None:
    if not shutil.which("cmake"):
        pytest.skip("no cmake on the path: pip brings its own for the build alone")
    for step in (
        ["-S", EXAMPLES / "cpp", "-B", tmp_path, f"-Dpolhode_ROOT={ph.get_cmake_dir()}"],
        ["--build", tmp_path],
    ):
        run = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    run = subprocess.run([tmp_path / "tour"], capture_output=True, text=True, check=True)
    check_tour([line.split() for line in run.stdout.splitlines()])


THROWS = """
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include "polhode.hpp"
int main() {
    using namespace polhode;
    std::vector<double> m(60000, 0.5), q(80000, 0.5);
    int calls = 0;
    const auto torque = [&](double t, std::size_t, const Vector&, const Attitude&) -> Vector {
        ++calls;
        throw std::runtime_error("at " + std::to_string(t));
    };
    try {
        integrate(Vector{1, 2, 3}, m, q, 0.1, 20, torque);
    } catch (const std::runtime_error& error) {
        std::printf("%s %d %d\\n", error.what(), calls, m[0] != m[0]);
    }
    const double e = 1e-12;
    RigidBody({2, 0.3 + e, 0, 0.3, 1.5, 0.1, 0, 0.1, 1.2});
    for (const Tensor& wrong : {Tensor{2, 0.4, 0, 0.3, 1.5, 0.1, 0, 0.1, 1.2}, Tensor{},
                                Tensor{-1, 0, 0, 0, 1, 0, 0, 0, 1}}) {
        try {
            const RigidBody body(wrong);
        } catch (const std::invalid_argument&) {
            std::printf("refused\\n");
        }
    }
}
"""


def test_exceptions_of_a_torque_and_tensors_in_cpp(tmp_path: Path) -> None:
    """The first exception comes out, the torque is not called again, the state is NaN."""
    source = tmp_path / "throws.cpp"
    source.write_text(THROWS)
    flags = ["-std=c++20", "-O1", "-Wno-unused"]
    lines = printed(tmp_path, "g++", *flags, source, "--includes", "--libs")
    assert lines == [["at", "0.000000", "1", "1"], ["refused"], ["refused"], ["refused"]]

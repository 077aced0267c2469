"""Programs in C, C++ and Fortran that use the installed package, and the code of the pages."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close
from programs import AHEAD, CONSUME, EXAMPLES, built_by_cmake, lines_of, printed
from scipy.interpolate import CubicSpline

import polhode as ph

pytestmark = pytest.mark.programs
EPS = 2.0**-52

ROOT = EXAMPLES.parent
WARNINGS = ["-std=c++20", "-Wextra", "-Wpedantic", "-Wshadow"]
LINKED = ["-O1", "--includes", "--libs"]
X86 = platform.machine() in ("x86_64", "AMD64")
CPU = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
#: With fused multiply-add, for equal bits; the level of the processor does not matter then.
HEADER_ONLY = ["--cflags", "-O1", *(["-march=x86-64-v3"] if X86 else [])]
HAS_FMA = not X86 or (" fma " in CPU and ph.build_info()["isa"] != "v2")

#: One program for each compiler without the library; each is most of a minute of compilation.
OTHER = "clang++-16" if shutil.which("clang++-16") else "g++"

AHEAD.add("g++", *WARNINGS, CONSUME / "bits.cpp", *LINKED)
if HAS_FMA:
    AHEAD.add("g++", *WARNINGS, CONSUME / "bits.cpp", *HEADER_ONLY)
    AHEAD.add(OTHER, *WARNINGS, EXAMPLES / "cpp/tour.cpp", *HEADER_ONLY)

# C and Fortran ------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("compiler", "arguments"),
    [
        ("cc", ["-std=c99", "-Wextra", "-pedantic", EXAMPLES / "c/satellite.c", "--includes"]),
        (
            "gfortran",
            ["-Wno-unused-dummy-argument", "--fortran", EXAMPLES / "fortran/satellite.f90"],
        ),
    ],
)
def test_a_satellite(tmp_path: Path, compiler: str, arguments: list[Any]) -> None:
    """Against the model `Dipole` in a field along the orbit, with the cubic of a finer table."""
    lines = np.array(printed(tmp_path, compiler, *arguments, "--libs"), np.float64)
    t = np.linspace(-10.0, 3010.0, 12081)
    orbit = ph.torques.Orbit(3.986004418e14, [7e6, 0.0, 0.0], [0.0, 4e3, 7e3])
    field = ph.torques.dipole_field(orbit.state(t)[0], [0.0, 0.0, -7.75e22])
    magnet = ph.torques.Dipole([0.0, 0.0, 0.5], CubicSpline(t, field))
    start = [0.04, 0.045, 0.008], [4e-4, -2e-4, 1e-4], [1.0, 0.0, 0.0, 0.0]
    traj = ph.integrate(*start, 2.0, 1500, torque=magnet, splitting="rkn6_14", save_every=300)
    close(lines[:, 0], traj.t[1:], atol=0)
    close(lines[:, 1:], traj.momentum_spatial()[1:], atol=1e-13)


def test_a_program_written_for_frb_fortran(tmp_path: Path) -> None:
    lines = printed(tmp_path, "gfortran", EXAMPLES / "fortran/frb_steps.f", "--libs")
    start = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8]
    m, q = ph.step(*start, [1.0, 0.0, 0.0, 0.0], 0.2, n_steps=10, method="frb")
    _, Q = ph.step(*start, np.eye(3), 0.2, n_steps=10, method="frb")
    for (name, *numbers), want in zip(lines, (m, q, Q[0]), strict=True):
        close(np.array(numbers, np.float64), want, atol=6e-7)  # six digits are printed
        assert name in "mqQ"


def test_names_and_methods_of_ones_own_in_fortran(tmp_path: Path) -> None:
    flags = ["-Wno-unused-dummy-argument", "--fortran", CONSUME / "names.f90", "--libs"]
    assert [" ".join(line) for line in printed(tmp_path, "gfortran", *flags)] == [
        ph.__version__,
        ph.build_info()["isa"],
        "exact",
        "trapm energy_correction=True",
        "rkn6_14",
        "[]",
        "T",
        "rkmk",
        "no splitting scheme none",
        "inertia[2] = [-1.0, 1.0, 1.0]: a moment of inertia is negative",
        "0 1.0",
        "0 1",
    ]


def test_fortran_with_long_default_integers(tmp_path: Path) -> None:
    flags = ["-fdefault-integer-8", "--fortran", CONSUME / "names.f90", "--libs"]
    assert printed(tmp_path, "gfortran", *flags)[-4] == ["no", "splitting", "scheme", "none"]


def test_the_makefile_in_c(tmp_path: Path) -> None:
    if not shutil.which("make") or not shutil.which("cc"):
        pytest.skip("no make or no C compiler")
    shutil.copytree(EXAMPLES / "c", tmp_path / "c")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["make"], cwd=tmp_path / "c", env=environment, check=True)
    assert lines_of(tmp_path / "c/heavy_top")[0][0] == "50.0"
    before, after = map(float, lines_of(tmp_path / "c/springs")[0])
    close(after, before, rtol=1e-6)


# C++ ----------------------------------------------------------------------------------------------


def check_tour(lines: list[list[str]]) -> None:
    """The lines of examples/cpp/tour.cpp, six digits of what Python gives."""
    inertia, m, q = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0]
    weight = ph.torques.HeavyTop([0.0, 0.0, 0.5])
    top = ph.integrate(inertia, m, q, 0.1, 100, torque=weight, splitting="rkn6_14")
    body = ph.RigidBody([[2.0, 0.3, 0.0], [0.3, 1.5, 0.1], [0.0, 0.1, 1.2]])
    want = {
        "step": ph.step(inertia, m, q, 2.0)[0],
        "period": np.array(m),
        "batch": ph.step(inertia, m, q, 0.2, n_steps=10)[0],
        "top": top.m[-1],
        "method": ph.step(inertia, m, q, 0.01, method="symmetric_rotation", axes=(3, 1, 2))[0],
        "own": ph.integrate(
            inertia, m, q, 0.01, 10, torque=weight, splitting=([0.5, 0.5], [1.0])
        ).m[-1],
        "tensor": body.step(m, q, 2.0)[0],
    }
    found = {line[0]: line[1:] for line in lines}
    assert " ".join(found.pop("ended")) == "the fuel is used up"
    assert list(found) == [*want, "error"]
    for name, numbers in want.items():
        close(np.array(found[name], np.float64), numbers, atol=6e-7)
    assert " ".join(lines[-1]).startswith("error inertia = [1.0, -1.0, 1.0]:")


@pytest.mark.parametrize("compiler", ["g++", "clang++-16"])
def test_the_tour_in_cpp(tmp_path: Path, compiler: str) -> None:
    check_tour(printed(tmp_path, compiler, *WARNINGS, EXAMPLES / "cpp/tour.cpp", *LINKED))


def test_the_molecules_in_cpp(tmp_path: Path) -> None:
    """Strang conserves the energy to second order: h = 0.02."""
    lines = printed(tmp_path, "g++", *WARNINGS, EXAMPLES / "cpp/molecules.cpp", *LINKED)
    for kind, before, after in lines:
        close(float(after), float(before), rtol=1e-4, what=kind)


def test_the_tour_without_the_library(tmp_path: Path) -> None:
    """By Clang; GCC compiles bits.cpp so."""
    if not HAS_FMA:
        pytest.skip("for a processor with AVX2")
    check_tour(printed(tmp_path, OTHER, *WARNINGS, EXAMPLES / "cpp/tour.cpp", *HEADER_ONLY))


def test_the_step_of_the_readme(tmp_path: Path) -> None:
    lines = printed(tmp_path, "g++", *WARNINGS, EXAMPLES / "cpp/one_step.cpp", *LINKED)
    want = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 2.0)
    assert lines == [["m", *(f"{x:f}" for x in want[0]), "q", *(f"{x:f}" for x in want[1])]]


def test_the_projects_by_cmake(tmp_path: Path) -> None:
    """The target `tour_header_only` is configured; the test above has what it compiles."""
    built_by_cmake(EXAMPLES / "cpp", tmp_path, targets=("tour", "kernel"))
    check_tour(lines_of(tmp_path / "tour"))
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 0.1, n_steps=100)
    for (name, *numbers), want in zip(lines_of(tmp_path / "kernel"), (m, q), strict=True):
        assert name in "mq"
        close(np.array(numbers, np.float64), want, atol=6e-7)


@pytest.mark.skipif(not HAS_FMA, reason="bits are equal with fused multiply-add")
def test_both_ways_have_the_same_bits_and_errors(tmp_path: Path) -> None:
    linked, own = (
        printed(tmp_path, "g++", *WARNINGS, CONSUME / "bits.cpp", *way)
        for way in (LINKED, HEADER_ONLY)
    )
    # A torque's first exception comes out at once, and the state is that of the start.
    assert linked[:2] == [["at", "0.300000", "140000", "1"]] * 2
    assert linked[2] == ["0.5", "0.5"]
    assert [" ".join(line[:6]) for line in linked[3:9]] == [
        "the inertia tensor is not symmetric",
        "inertia = [0.0, 0.0, 0.0]: all",
        "inertia = [-1.0, 1.0, 1.0]: a",
        "the inertia tensor is not finite",
        *["a principal moment of the inertia"] * 2,
    ]
    moments = np.array(linked[9:12], np.float64)
    close(np.sort(moments), [[1.0, 1.0, 5.0], [0.0, 1.0, 1.0], [1.0, 2.0, 3.0]], atol=0.0)
    assert linked[12] == ["1"]  # exactly zero: a rod
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 2.0)
    assert [float.fromhex(x) for x in linked[13][1:]] == [*m, *q]
    assert ["accepted"] not in linked
    assert [" ".join(line) for line in linked[-3:]] == [
        "inertia must have 3 numbers, not 6",
        "h must have 1 number, not 2",
        "q_out overlaps m_out",
    ]
    of_body, of_batch = (line for line in linked if line[0] == "rkn")
    assert of_body == of_batch
    (named,) = (line for line in linked if line[0] == "named")
    got = np.array([float.fromhex(x) for x in named[1:]])
    want = named_method_in_python()
    close(got[:21].reshape(7, 3), want.m[-1], atol=5 * EPS)
    close(got[21:].reshape(7, 4), want.q[-1], atol=5 * EPS)
    lines = [line[1:] for line in linked if line[0] == "moving"]
    for rows, in_own_axes in ((lines[:2], False), (lines[2:], True)):
        want = moving_in_python(in_own_axes)
        got = np.array([float.fromhex(x) for row in rows for x in row])
        parts = [want.x[-1], want.p[-1], want.m[-1], want.q[-1]]
        close(got, np.concatenate([x.ravel() for x in parts]), atol=50 * EPS)
    assert own == linked


def seven_bodies() -> tuple[Any, Any, Any]:
    """The bodies of bits.cpp."""
    x = 0.01 * np.arange(7.0)
    one = np.ones(7)
    return (
        np.stack([1.0 + x, 1.5 * one, 2.2 - x], axis=-1),
        np.stack([0.3 - x, 0.5 * one, 0.8 + x], axis=-1),
        np.stack([one, x, -x, 0.5 * one], axis=-1),
    )


def moving_in_python(in_own_axes: bool) -> ph.Trajectory:
    """The springs of bits.cpp."""

    def springs(x: Any, p: Any, m: Any, q: Any) -> tuple[Any, Any]:
        return 2.0 * (np.roll(x, -1, axis=0) - x) - 0.1 * p, 0.3 * q[:, 1:] - 0.1 * m

    inertia, *start = seven_bodies()
    body = ph.RigidBody([[2.0, 0.3, 0.0], [0.3, 1.5, 0.1], [0.0, 0.1, 1.2]])
    run = body.integrate if in_own_axes else functools.partial(ph.integrate, inertia)
    return run(
        *start, 0.05, 20, mass=2.0, x0=np.sqrt(np.arange(21.0)).reshape(7, 3),
        p0=np.full((7, 3), 0.5), torque=springs, splitting="mclachlan4_5", t0=1.0,
    )  # fmt: skip


def named_method_in_python() -> ph.Trajectory:
    """The torque of bits.cpp."""
    x = 0.01 * np.arange(7.0)

    def top(t: float, q: Any) -> Any:
        w, i, j, k = np.moveaxis(q, -1, 0)
        u = 0.5 + x + 0.1 * t
        return np.stack([2 * u * (j * k + w * i), -2 * u * (i * k - w * j), 0 * u], axis=-1)

    return ph.integrate(*seven_bodies(), 0.05, 20, torque=top, method="imid")


@pytest.mark.parametrize("name", ['"dmv7"', 'polhode::method<"dmv7">'])
def test_an_unknown_method(tmp_path: Path, name: str) -> None:
    """Linked, the program says so; header-only, where a method is a type, the compiler does."""
    source = tmp_path / "unknown.cpp"
    source.write_text(
        '#include "polhode.hpp"\n#include <cstdio>\n'
        "int main() try {\n"
        f"    (void)polhode::step({{1, 2, 3}}, {{1, 1, 1}}, {{1, 0, 0, 0}}, 1, {name});\n"
        "} catch (const std::invalid_argument& error) {\n"
        '    std::printf("%s\\n", error.what());\n'
        "}\n"
    )
    assert printed(tmp_path, "g++", *WARNINGS, source, *LINKED) == [["no", "method", "dmv7"]]
    with pytest.raises(subprocess.CalledProcessError):
        printed(tmp_path, "g++", source, "--cflags", "-fsyntax-only")


@pytest.mark.parametrize("header", ["polhode.hpp", "polhode/kernels.hpp"])
def test_an_older_standard_is_refused_in_the_first_error(header: str) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    run = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{ph.get_include()}", "-x", "c++", "-"],
        input=f'#include "{header}"\n',
        capture_output=True,
        text=True,
        check=False,
    )
    assert "polhode needs C++20" in next(x for x in run.stderr.splitlines() if "error" in x)


@pytest.mark.parametrize("way", [[], ["-DPOLHODE_HEADER_ONLY"]], ids=["linked", "header-only"])
@pytest.mark.parametrize("first", ["polhode.hpp", "polhode/kernels.hpp"])
def test_interface_and_kernels_in_one_program(way: list[str], first: str) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++")
    subprocess.run(
        ["g++", *WARNINGS, "-Werror", "-fsyntax-only", f"-I{ph.get_include()}", *way, "-xc++", "-"],
        input="".join(f"#include <{x}>\n" for x in (first, "polhode.hpp", "polhode/kernels.hpp")),
        text=True,
        check=True,
    )


def test_no_macro_is_defined_in_two_headers() -> None:
    """Unless each of them undefines it: then their order does not matter."""
    folder = Path(ph.get_include())
    places: dict[str, list[str]] = {}
    for path in [*folder.rglob("*.h"), *folder.rglob("*.hpp")]:
        text = path.read_text(encoding="utf-8")
        undefined = set(re.findall(r"^ *# *undef +(\w+)", text, re.MULTILINE))
        for name in set(re.findall(r"^ *# *define +(\w+)", text, re.MULTILINE)):
            places.setdefault(name, []).append("" if name in undefined else path.name)
    assert len(places) > 20
    assert {k: v for k, v in places.items() if len(v) > 1 and any(v)} == {}


FAST = [
    "-ffast-math",
    "-Ofast",
    "-ffinite-math-only",
    "-funsafe-math-optimizations",
    "-fno-signed-zeros",
    "-freciprocal-math",
    "-fassociative-math -fno-signed-zeros -fno-trapping-math",
]


def compiled(compiler: str, folder: Path, *words: Any) -> str:
    """The messages of a compiler for a function that calls a kernel, with these options."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = folder / "agm.cpp"
    source.write_text(
        '#include "polhode.hpp"\n'
        "double mean(double a, double b) { return polhode::elliptic::agm(a, b); }\n"
    )
    given = ("-std=c++20", "-O1", "-DPOLHODE_HEADER_ONLY", f"-I{ph.get_include()}", *words)
    run = [compiler, source, *given, "-o", folder / "output"]
    return subprocess.run(run, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("options", FAST)
def test_gcc_refuses_options_that_break_the_arithmetic(tmp_path: Path, options: str) -> None:
    error = compiled("g++", tmp_path, *options.split(), "-fsyntax-only")
    assert "polhode's headers need IEEE 754 arithmetic" in error.partition("error: ")[2][:60]


@pytest.mark.parametrize("options", FAST)
def test_clang_refuses_them_or_compiles_the_headers_without(tmp_path: Path, options: str) -> None:
    """It has no macro for most of them, and a pragma that turns them off for a namespace."""
    if options in FAST[:3]:
        assert "IEEE 754" in compiled("clang++-16", tmp_path, *options.split(), "-fsyntax-only")
        return
    assert compiled("clang++-16", tmp_path, *options.split(), "-S", "-emit-llvm") == ""
    changed = re.compile(r"= f(?:add|sub|mul|div|cmp) (?:nnan|ninf|nsz|arcp|contract|afn|reassoc)")
    assert not changed.search((tmp_path / "output").read_text(encoding="utf-8"))


@pytest.mark.parametrize("way", [LINKED, HEADER_ONLY])
def test_fast_math_of_the_rest_of_a_program(tmp_path: Path, way: list[str]) -> None:
    """Before the options of the headers, or in a program that is linked, it changes nothing."""
    (line,) = printed(tmp_path, "g++", *WARNINGS, "-Ofast", EXAMPLES / "cpp/one_step.cpp", *way)
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 2.0)
    assert line == ["m", *(f"{x:f}" for x in m), "q", *(f"{x:f}" for x in q)]


def test_older_versions_of_gcc_and_clang(tmp_path: Path) -> None:
    for compiler in ("g++-11", "clang++-14"):
        if shutil.which(compiler):
            assert compiled(compiler, tmp_path, "-fsyntax-only", "-Wall") == ""


# A project that lists polhode among what it needs to be built -------------------------------------


def test_a_project_of_scikit_build_core_finds_the_package(tmp_path: Path) -> None:
    """Without polhode_ROOT: the entry point cmake.root tells where the package is."""
    pytest.importorskip("scikit_build_core")
    if not shutil.which("cmake"):
        pytest.skip("no cmake on the path: pip brings its own for the build alone")
    project = tmp_path / "project"
    shutil.copytree(CONSUME / "package", project)
    shutil.copy(EXAMPLES / "cpp/one_step.cpp", project)
    run = subprocess.run(
        [sys.executable, "-c", "from scikit_build_core import build; build.build_wheel('dist')"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if "polhode" not in k.lower()},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = (project / "dist").glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "wheel", "zip")
    for name in ("linked", "header_only"):
        program = tmp_path / "wheel/rotor" / name
        program.chmod(0o755)
        assert lines_of(program)[0][0] == "m"


# The code of the pages ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs/cpp.md", "docs/c_and_fortran.md"])
def test_code_of_the_pages_is_part_of_a_program_that_the_tests_build(page: str) -> None:
    if not EXAMPLES.exists():
        pytest.skip("the examples are not in a source distribution")
    files = [x for x in EXAMPLES.rglob("*") if x.is_file() and x.suffix != ".pyc"]
    programs = [x.read_text(encoding="utf-8") for x in files]
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:c|cpp|fortran|cmake|make)\n(.*?)^```", text, re.M | re.S)
    assert blocks
    for block in blocks:
        assert any(_holds(program, block) for program in programs), block


def _holds(program: str, block: str) -> bool:
    """Whether the lines follow each other in the program, further to the right or not."""
    lines, wanted = program.splitlines(), block.splitlines()
    found = (i for i, x in enumerate(lines) if x.strip() == wanted[0].strip())
    return any(
        [x.strip() for x in lines[i : i + len(wanted)]] == [x.strip() for x in wanted]
        for i in found
    )

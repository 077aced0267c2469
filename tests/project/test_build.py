"""What is installed: version, levels, headers for C++ users, and the checks of the binary."""

import importlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from compare import close

import polhode as ph

pytestmark = pytest.mark.programs

ROOT = Path(__file__).resolve().parents[2]
CONSUME = Path(__file__).resolve().parents[1] / "consume"
IN_CI = bool(os.environ.get("CI"))
SANITIZED = bool(os.environ.get("POLHODE_SANITIZED"))


def need(present, reason):
    """Skip where a tool is missing; fail where continuous integration should have it."""
    if not present:
        (pytest.fail if IN_CI else pytest.skip)(reason)


def python(*arguments, **environment):
    """Output of a new interpreter."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


# Version and levels ------------------------------------------------------------------------------


def test_the_version_stands_in_one_place():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    assert ph.__version__ == project["version"] == importlib.metadata.version("polhode")
    assert ph.build_info()["version"] == ph.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ph.__version__}\n" in citation
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    assert f"\n  version: {ph.__version__}\n" in recipe
    for need in (*pyproject["build-system"]["requires"], *project["dependencies"]):
        assert f"\n    - {need.replace('>', ' >')}\n" in recipe, need


#: The features that each level adds to the level before (x86-64 psABI), with Linux's names.
FLAGS = {
    "v2": {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "v4": {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
}


@pytest.mark.skipif("generic" in ph.build_info()["isa_supported"], reason="built for one level")
@pytest.mark.skipif(
    platform.machine() != "x86_64" or not Path("/proc/cpuinfo").exists(),
    reason="levels are x86-64's, and Linux tells what the processor has",
)
def test_no_level_is_offered_that_the_processor_lacks():
    """That none is missed is tested with the bits of the levels, in test_batches.py."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    flags = set(re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)[1].split())
    offered = set(ph.build_info()["isa_supported"])
    for level, needs in FLAGS.items():
        if not needs <= flags:
            assert level not in offered
    assert ("scalar" in offered) is (FLAGS["v3"] <= flags)


@pytest.mark.parametrize("level", ph.build_info()["isa_supported"])
def test_a_level_can_be_forced(level):
    run = python("-c", "import polhode; print(polhode.build_info()['isa'])", POLHODE_ISA=level)
    assert run.stdout.split() == [level], run.stderr


def test_an_unknown_level_is_an_error_that_names_it_and_the_known_ones():
    run = python("-c", "import polhode", POLHODE_ISA="v9")
    assert run.returncode != 0
    assert "POLHODE_ISA=v9" in run.stderr
    assert all(level in run.stderr for level in ph.build_info()["isa_supported"])


# Threads -----------------------------------------------------------------------------------------


def test_all_cores_are_those_that_the_process_may_use():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not bind processes to cores")
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "import polhode as ph;"
        "print(ph._core.thread_count(-1), ph.build_info()['cores'])"
    )
    run = python("-c", script)
    assert run.stdout.split() == ["1", "1"], run.stderr
    assert ph._core.thread_count(-1) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("count", [0, -2, 4097, 2**31, 2**40, 2**70])
def test_a_number_of_threads_that_is_none(count):
    for call in (
        lambda: ph.step([1, 2, 3], [1, 0, 0], [1, 0, 0, 0], 0.1, threads=count),
        lambda: ph.TorqueFreeMotion([1, 2, 3], [1, 0, 0], [1, 0, 0, 0])(0.1, threads=count),
        lambda: ph.integrate([1, 2, 3], [1, 0, 0], [1, 0, 0, 0], 0.1, 1, threads=count),
    ):
        with pytest.raises(ValueError, match=f"threads must be .* 4096, not {count}"):
            call()


def test_the_most_threads_are_no_error():
    m, _ = ph.step([1, 2, 3], [[1, 0, 0]] * 3, [1, 0, 0, 0], 0.1, threads=4096)
    assert m.shape == (3, 3)


@pytest.mark.parametrize(("text", "known"), [("", 1), ("3", 3), ("abc", "abc"), ("4097", "4097")])
def test_build_info_tells_the_threads(text, known):
    script = "import polhode as ph; print(repr(ph.build_info()['threads_default']))"
    run = python("-c", script, POLHODE_NUM_THREADS=text)
    assert run.stdout.split() == [repr(known)], run.stderr


# Headers -----------------------------------------------------------------------------------------


def test_polhode_hpp_includes_every_header():
    """Torque models are listed once, in models.hpp."""
    include = Path(ph.get_include())

    def included(header):
        text = (include / header).read_text(encoding="utf-8")
        return re.findall(r'#include "(.*)"', text)

    headers = {str(p.relative_to(include)) for p in include.rglob("*.hpp")}
    # The 34-digit type needs a compiler's extension; polhode.hpp is made of the others.
    headers -= {"polhode.hpp", "polhode/scalar/quad.hpp"}
    headers = {x for x in headers if "/interface/" not in x} - {"polhode/threads.hpp"}
    first, *listed = included("polhode/kernels.hpp")
    assert first == "polhode/language.hpp"  # its error comes before all others
    assert listed == sorted(listed)
    models = included("polhode/torque/models.hpp")
    assert models == sorted(models)
    reached, new = set(), {"polhode/kernels.hpp"}
    while new:
        reached |= new
        new = {h for x in new for h in included(x)} & headers - reached
    assert headers - reached == set()


def test_constants_are_those_of_the_number_type():
    """scalar/constants.hpp has nan<T>() and infinity<T>(), for every compiler."""
    for folder in ("cpp/include", "cpp/levels", "cpp/host"):
        for path in (ROOT / folder).rglob("*.[ch]pp"):
            found = re.findall(r"__builtin_(?:nan|inf|huge_val)", path.read_text(encoding="utf-8"))
            assert not found, path


def check_program(path):
    """The numbers of consume/main.cpp are Python's, to a few roundings: it may lack an FMA."""
    run = subprocess.run([path], capture_output=True, text=True, check=True)
    m, q = ph.step([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 2.0)
    expected = [*m, *q, 2.0**0.5]
    close([float(x) for x in run.stdout.split()], expected, atol=8 * 2.0**-52)


def test_a_program_compiles_with_the_include_path_alone(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    need(compiler, "no C++ compiler")
    flags = python("-m", "polhode", "--includes").stdout.split()
    flags += ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    sources = [CONSUME / "main.cpp", CONSUME / "second.cpp"]
    subprocess.run([compiler, *flags, *sources, "-o", tmp_path / "consume"], check=True)
    check_program(tmp_path / "consume")


PARENT = """\
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C CXX)
{contain}
file(WRITE ${{CMAKE_BINARY_DIR}}/main.c "#include <polhode.h>\\nint main(void) {{ return 0; }}\\n")
add_executable(parent ${{CMAKE_BINARY_DIR}}/main.c)
target_link_libraries(parent PRIVATE polhode::library)
add_executable(header_only {consume}/main.cpp {consume}/second.cpp)
target_link_libraries(header_only PRIVATE polhode::polhode)
"""


SUBDIRECTORY = f"add_subdirectory({ROOT} polhode)"
FETCH = f"""\
include(FetchContent)
FetchContent_Declare(polhode SOURCE_DIR {ROOT})
FetchContent_MakeAvailable(polhode)
"""


def configured(source, build, *options):
    """The commands of a project that CMake has configured; nothing is compiled."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake on the path: pip brings its own for the build alone")
    options = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options]
    run = subprocess.run(
        ["cmake", "-S", source, "-B", build, *options], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {Path(x["file"]).name: x["command"] for x in commands}


def test_cmake_alone_builds_the_library(tmp_path):
    """Without Python; `docs/c_and_fortran.md` has the commands."""
    commands = configured(ROOT, tmp_path, "-DCMAKE_INSTALL_LIBDIR=lib/x")
    assert {"c_interface.cpp", "torque_free.cpp"} <= commands.keys()
    assert "module.cpp" not in commands
    assert " -O3" in commands["dispatch.cpp"]
    text = (tmp_path / "polhode.pc").read_text(encoding="utf-8")
    assert "prefix=${pcfiledir}/../../../\nlibdir=${prefix}/lib/x\n" in text
    assert f"\nVersion: {ph.__version__}\n" in text


@pytest.mark.parametrize("contain", [SUBDIRECTORY, FETCH], ids=["subdirectory", "fetched"])
def test_a_project_contains_polhode(tmp_path, contain):
    """The library and its program are compiled only if they are asked for; headers are system's."""
    (tmp_path / "CMakeLists.txt").write_text(PARENT.format(contain=contain, consume=CONSUME))
    fast = "-DCMAKE_CXX_FLAGS=-ffast-math"
    commands = configured(tmp_path, tmp_path / "build", fast)
    for name in ("main.c", "main.cpp"):
        assert f"-isystem {ROOT}/cpp/include" in commands[name]
    assert "module.cpp" not in commands
    if contain is SUBDIRECTORY:
        build = ["cmake", "--build", tmp_path / "build", "--target", "header_only"]
        subprocess.run(build, check=True)
        check_program(tmp_path / "build/header_only")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels are x86-64's")
@pytest.mark.parametrize(
    ("levels", "built"), [("all", "v4 v3 v2 scalar"), ("scalar;v3", "v3 scalar"), ("v9", None)]
)
def test_the_levels_of_a_build(tmp_path, levels, built):
    if built is None:
        with pytest.raises(AssertionError, match="POLHODE_LEVELS must be native, all or a list"):
            configured(ROOT, tmp_path, f"-DPOLHODE_LEVELS={levels}")
        return
    configured(ROOT, tmp_path, f"-DPOLHODE_LEVELS={levels}")
    text = (tmp_path / "cpp/built_levels.hpp").read_text(encoding="utf-8")
    assert re.findall(r"X\((\w+)\)", text) == built.split()


def test_build_info_says_what_the_processor_could_run():
    info = ph.build_info()
    if "generic" in info["isa_supported"]:
        assert info["isa_processor"] is None
    else:
        assert info["isa_processor"] in {"v2", "v3", "v4"}


# Checks of the binary ----------------------------------------------------------------------------


def script(name):
    """One of the scripts of continuous integration, as a module."""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / ".ci"))


@pytest.fixture(scope="module")
def disassembly():
    """That of the installed library, with the names that only the build directory has."""
    need(shutil.which("objdump"), "objdump is not installed")
    check = script("check_vectorised")
    library = check.unstripped(Path(ph.get_library()))
    need(library, "build/ does not have the installed library")
    return check.disassemble(library)


@pytest.mark.skipif(SANITIZED, reason="a sanitized kernel calls the sanitizer")
@pytest.mark.skipif("generic" in ph.build_info()["isa_supported"], reason="built for one level")
def test_the_kernels_are_vectorised(disassembly):
    levels = [x for x in ("v3", "v4") if x in ph.build_info()["isa_supported"]]
    looked_at, wrong = script("check_vectorised").check(disassembly, levels)
    assert looked_at
    assert not wrong


@pytest.mark.skipif("generic" in ph.build_info()["isa_supported"], reason="built for one level")
def test_the_compiler_fuses_nothing_by_itself(disassembly):
    assert not script("check_vectorised").contractions(disassembly)


def test_what_the_compiler_has_fused_is_seen():
    check = script("check_vectorised")
    for instruction in ("vfmaddsub132pd", "vfmsubadd213pd"):
        lines = check.contractions(LISTING.replace("INSERTED", f"{instruction} %xmm1,%xmm2,%xmm3"))
        assert len(lines) == 1
        assert instruction in lines[0]
    assert not check.contractions(LISTING.replace("INSERTED", "nop"))


KERNEL = (
    "int polhode::v3::batch::step_packs<polhode::v3::pack<4, 2>, (polhode::v3::batch::Layout)0, "
    "false, polhode::v3::Exact>()"
)
LISTING = """
0000000000001000 <KERNEL>:
    1000:	xor    %eax,%eax
    1010:	vsqrtpd %ymm0,%ymm1
    1014:	vdivpd %ymm1,%ymm0,%ymm2
    1018:	vfmadd213pd %ymm0,%ymm1,%ymm2
    101c:	INSERTED
    1020:	cmp    %rax,%rdx
    1024:	jne    1010 <polhode+0x10>
    1026:	call   2000 <__stack_chk_fail@plt>
    102b:	ret
""".replace("KERNEL", KERNEL)


def complaints(listing, levels):
    """The output of the check for the exact step in a listing without other kernels."""
    check = script("check_vectorised")
    name = "exact step"
    return check.check(listing, levels, {name: check.KERNELS[name]})[1]


@pytest.mark.parametrize(
    ("inserted", "complaint"),
    [
        ("nop", None),
        ("call   3000 <memcpy@plt>", None),
        ("vsqrtsd %xmm1,%xmm1,%xmm1", "one double at a time"),
        ("vdivsd %xmm1,%xmm1,%xmm1", "one double at a time"),
        ("vfmadd132sd %xmm1,%xmm1,%xmm1", "one double at a time"),
        ("call   3000 <sin@plt>", "call in the loop"),
    ],
)
def test_the_check_sees_what_is_not_vectorised(inserted, complaint):
    wrong = complaints(LISTING.replace("INSERTED", inserted), ["v3"])
    assert [complaint in line for line in wrong] == ([True] if complaint else [])


@pytest.mark.parametrize(("inserted", "grown"), [(3300, []), (3800, [0]), (0, [])])
def test_a_loop_with_more_instructions_is_seen(inserted, grown):
    check = script("check_vectorised")
    both = "".join(
        LISTING.replace("Layout)0", f"Layout){layout}").replace(
            "INSERTED", "\n    101c:\t".join(["nop"] * (inserted if layout == 0 else 1))
        )
        for layout in (0, 1)
    )
    wrong = check.growth(both, ["v3"])
    assert [int("Layout)1" in line) for line in wrong] == grown
    assert len(check.growth(LISTING.replace("Exact", "Other"), ["v3"])) == 2


@pytest.mark.parametrize("lost", ["vsqrtpd", "vdivpd", "vfmadd213pd", "Exact", "jne "])
def test_the_check_sees_what_is_missing(lost):
    wrong = complaints(LISTING.replace(lost, "nop"), ["v3"])
    assert len(wrong) == 1


def test_the_check_asks_for_the_registers_of_the_level():
    wrong = complaints(LISTING.replace("v3", "v4"), ["v4"])
    assert len(wrong) == 1
    assert "zmm" in wrong[0]


def test_no_symbol_leaks_from_a_level():
    check = script("check_symbols")
    build = check.default_build()
    if build is None:
        pytest.skip("no build directory: not installed from this tree")
    need(shutil.which("nm"), "nm is not installed")
    count, wrong = check.check(build)
    assert count
    assert not wrong


@pytest.mark.parametrize(
    ("line", "leaks"),
    [
        ("0000000000000000 W polhode::v3::sqrt(double)", False),
        ("0000000000000000 W void run<polhode::v3::pack<4, 2> >(double*)", False),
        ("0000000000000000 R polhode::dispatch::elliptic_v3", False),
        ("0000000000000000 t std::local(double)", False),
        ("0000000000000000 W std::vector<double>::push_back(double&&)", True),
        ("0000000000000000 T polhode::v4::sqrt(double)", True),
        ("0000000000000000 V polhode::dispatch::elliptic_v4", True),
        ("0000000000000000 u guard variable for std::numbers", True),
    ],
)
def test_the_check_sees_what_leaks(line, leaks):
    assert bool(script("check_symbols").leaks(line, "v3")) is leaks

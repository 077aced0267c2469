"""The commands of ``python -m polhode``: the demonstration, the three drivers, the directories.

The drivers are those of the report of Celledoni and Zanna, FRB-FORTRAN [CZ08].
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

import polhode as ph
from polhode import _core
from polhode._arrays import Array
from polhode.cli import problem
from polhode.run_directory.files import write_file

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DRIVERS = {
    "example0": "a free body by its rotation matrix (frb_step)",
    "example1": "a heavy top, splitting around the exact step",
    "example2": "a free body by its quaternion (quat_step)",
}
TOPS, TOPS_STEPS = 1024, 200
BODIES = 1_000_000
SEED = 2008
# Most states that a driver saves; of longer runs it saves every k-th state and the last one.
MOST_STATES = 1_000_000


def _data(name: str) -> Traversable:
    return resources.files("polhode") / "data" / name


def _published(driver: str) -> dict[str, Any]:
    """The problem of a driver that the package ships."""
    with resources.as_file(_data(f"{driver}.toml")) as path:
        return problem.read(path, driver)


def _print_state(m: Array, attitude: Array) -> None:
    names = ["m =", "q ="] if attitude.ndim == 1 else ["m =", "Q =", "   ", "   "]
    for name, row in zip(names, [m, *np.atleast_2d(attitude)], strict=True):
        print(f"  {name} {' '.join(f'{x: .15f}' for x in row)}")


def _drift(values: Array) -> float:
    """Largest distance of a conserved quantity from its first value."""
    return float(np.max(np.abs(values - values[0])))


# The demonstration ------------------------------------------------------------------------------


def _show_heavy_top() -> None:
    top = _published("example1")
    points = tomllib.loads(_data("example1_reference.toml").read_text(encoding="utf-8"))["point"]
    top["n_steps"] = n_steps = round(points[-1]["t"] / top["h"])
    save_every = round(points[0]["t"] / top["h"])
    print(
        f"Heavy top of Celledoni and Zanna: {problem.SPLITTING} around the exact step, "
        f"h = {top['h']}, {n_steps} steps\n"
    )
    begun = time.perf_counter()
    trajectory = ph.integrate(**top, save_every=save_every, progress=sys.stderr.isatty())
    seconds = time.perf_counter() - begun
    for point in points:
        at = round(point["t"] / (top["h"] * save_every))
        m, Q = trajectory.m[at], trajectory.q[at]
        print(f"t = {trajectory.t[at]:g}")
        _print_state(m, Q)
        print("  reference")
        _print_state(np.array(point["m"]), np.array(point["Q"]))
        error_m = np.max(np.abs(m - point["m"]))
        error_Q = np.max(np.abs(Q - point["Q"]))
        print(f"  largest difference: m {error_m:.1e}, Q {error_Q:.1e}\n")
    print(
        f"energy T + u3: drift {_drift(trajectory.energy()):.1e} over t = 0 ... {points[-1]['t']:g}"
    )
    print(f"time: {1e9 * seconds / n_steps:.0f} ns per step of one top")

    tops = top | {"m0": np.tile(top["m0"], (TOPS, 1)), "n_steps": TOPS_STEPS}
    begun = time.perf_counter()
    ph.integrate(**tops, save_every=TOPS_STEPS)
    seconds = time.perf_counter() - begun
    print(f"      {1e9 * seconds / (TOPS * TOPS_STEPS):.0f} ns per top per step, {TOPS} tops\n")


def _show_million_bodies() -> None:
    info: dict[str, Any] = ph.build_info()
    print(
        f"One exact step of {BODIES:,} random bodies, each with its own inertia "
        f"(seed {SEED}, level {info['isa']})"
    )
    if info["isa_processor"] not in (None, *info["isa_supported"]):
        print(
            f"This processor can run level {info['isa_processor']}, which this build does not "
            "have: build polhode again on this machine"
        )
    rng = np.random.default_rng(SEED)
    # Sums of two of three positive numbers: such moments satisfy the triangle inequality.
    spread = rng.uniform(0.1, 1.0, (BODIES, 3))
    inertia = spread.sum(axis=1, keepdims=True) - spread
    m = rng.standard_normal((BODIES, 3))
    q = rng.standard_normal((BODIES, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    h = 0.25

    out = (np.zeros_like(m), np.zeros_like(q))
    seconds = math.inf
    for _ in range(5):
        begun = time.perf_counter()
        ph.step(inertia, m, q, h, out=out)
        seconds = min(seconds, time.perf_counter() - begun)

    energy = ph.energy(inertia, m)
    energy_error = np.max(np.abs(ph.energy(inertia, out[0]) - energy) / energy)
    before = ph.momentum_spatial(m, q)
    change = np.linalg.norm(ph.momentum_spatial(*out) - before, axis=1)
    momentum_error = np.max(change / np.linalg.norm(before, axis=1))
    threads = info["threads_default"]
    print(
        f"  h = {h}: {1e9 * seconds / BODIES:.1f} ns per body per step, "
        f"{1e-6 * BODIES / seconds:.0f} million bodies per second, "
        f"{threads} thread{'s' if threads != 1 else ''} (best of 5)\n"
        f"  worst relative error: energy {energy_error:.1e}, momentum in space {momentum_error:.1e}"
    )


# The report's drivers ---------------------------------------------------------------------------


def _run_driver(driver: str, path: Path | None, out: Path | None) -> None:
    given = _published(driver) if path is None else problem.read(path, driver)
    n_steps, h = given["n_steps"], given["h"]
    steps = "one step" if n_steps == 1 else f"{n_steps} steps"
    print(f"{driver}: {DRIVERS[driver]}; {steps} of h = {h:g} to t = {h * n_steps:g}")
    # Ten states are enough to see the drift.
    every = math.ceil(n_steps / (MOST_STATES if out else 10))
    trajectory = ph.integrate(**given, save_every=every, progress=sys.stderr.isatty())
    _print_state(trajectory.m[-1], trajectory.q[-1])
    energy = "energy T + u3" if trajectory.torque else "energy"
    print(f"  {energy}: drift {_drift(trajectory.energy()):.1e}")
    if not trajectory.torque:
        spatial = trajectory.momentum_spatial()
        drift = np.max(np.linalg.norm(spatial - spatial[0], axis=1))
        print(f"  momentum in space: drift {drift:.1e}")
    if out is not None:
        _write(out, trajectory)
        print(f"  {len(trajectory)} states in {out}")


def _write(out: Path, trajectory: ph.Trajectory) -> None:
    t, m, attitude = trajectory.t, trajectory.m, trajectory.q
    quaternion = attitude.ndim == 2
    matrix = [f"Q{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
    names = [f"q{i}" for i in range(4)] if quaternion else matrix

    def write(file: BinaryIO) -> None:
        if out.suffix == ".npz":
            np.savez(file, t=t, m=m, **{"q" if quaternion else "Q": attitude})  # type: ignore[arg-type]
        else:
            table = np.column_stack([t, m, attitude.reshape(len(t), -1)])
            header = ",".join(["t", "m1", "m2", "m3", *names])
            np.savetxt(file, table, "%.17g", ",", header=header, comments="")

    write_file(out, write)


# Arguments --------------------------------------------------------------------------------------


def _out_path(text: str) -> Path:
    path = Path(text)
    if path.suffix not in (".npz", ".csv"):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .npz or .csv")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {str(path.parent)!r}")
    return path


# What the headers need for the speed and the bits of the compiled library.
_KERNEL_OPTIONS = (
    "-DPOLHODE_HEADER_ONLY -std=c++20 -O3 -pthread -fno-fast-math -fno-math-errno -ffp-contract=off"
)
_OF_GCC = "-fno-tree-slp-vectorize --param=sra-max-scalarization-size-Ospeed=4096"


def _kernel_options() -> list[str]:
    """For the compiler in CXX, or c++."""
    compiler = [*shlex.split(os.environ.get("CXX", "")), "c++"][0]
    version = ""
    with contextlib.suppress(OSError):
        run = subprocess.run([compiler, "--version"], check=False, capture_output=True, text=True)
        version = run.stdout
    return [*_KERNEL_OPTIONS.split(), *([] if "clang" in version else _OF_GCC.split())]


def _compiler_options(asked: argparse.Namespace) -> list[str]:
    """Words for the command line of a compiler."""
    words = []
    if asked.fortran:
        words.append(str(Path(ph.get_include()) / "polhode.f90"))
    if asked.includes or asked.cflags:
        words.append(f"-I{ph.get_include()}")
    if asked.cflags:
        words += _kernel_options()
    if asked.libs:
        folder = Path(ph.get_library()).parent
        words += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lpolhode"]
    return words


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m polhode",
        description="Without arguments: the heavy top of Celledoni and Zanna beside its reference "
        f"values, then one exact step of {BODIES:,} bodies.",
        epilog="drivers: "
        + "; ".join(f"{name}, {text}" for name, text in DRIVERS.items())
        + ". In a checkout, python -m benchmarks and python -m benchmarks.papers time the library "
        "and recompute tables of the papers.",
    )
    add = parser.add_argument
    add("driver", nargs="?", choices=list(DRIVERS), help="one of the report's drivers")
    fields = (
        "TOML file of at most 16 KiB with the fields inertia, m0, q0 or Q0, t_end, and h, u0, a, b "
        "for example1; by default the data shipped with polhode"
    )
    add("file", nargs="?", type=Path, help=fields)
    add("--out", type=_out_path, metavar="FILE", help="write the states to a .npz or .csv file")
    for option, text in {
        "force": "write over the FILE of --out if it exists",
        "includes": "print the compiler's -I option",
        "cflags": "print the compiler's options for the C++ headers",
        "libs": "print the linker's options for libpolhode",
        "fortran": "print the source file of the Fortran module",
        "cmakedir": "print the CMake directory",
        "info": "print the items of ph.build_info()",
    }.items():
        add(f"--{option}", action="store_true", help=text)
    add("--version", action="version", version=ph.__version__)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, by default with those of this process.

    The exit code is 0, or 2 if a file is invalid, cannot be read or cannot be written, or if
    POLHODE_NUM_THREADS is not a valid number of threads.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.out and not options.driver:
        parser.error("--out needs a driver")
    if options.out and options.out.exists():
        if options.file and options.file.exists() and options.out.samefile(options.file):
            parser.error(f"--out {options.out} is the problem file")
        if not options.force:
            parser.error(f"--out {options.out} exists: --force writes over it")
    if words := _compiler_options(options):
        print(*words)
    elif options.cmakedir:
        print(ph.get_cmake_dir())
    elif options.info:
        for name, value in ph.build_info().items():
            print(f"{name}: {' '.join(value) if isinstance(value, list) else value}")
    else:
        return _run(options)
    return 0


def _run(options: argparse.Namespace) -> int:
    """A driver, or the demonstration; the exit code."""
    try:
        _core.thread_count(0)
    except ValueError as error:
        print(f"polhode: {error}", file=sys.stderr)
        return 2
    if not options.driver:
        _show_heavy_top()
        _show_million_bodies()
        return 0
    try:
        _run_driver(options.driver, options.file, options.out)
    except BrokenPipeError:
        raise
    except (problem.ProblemError, OSError) as error:
        print(f"polhode: {error}", file=sys.stderr)
        return 2
    return 0

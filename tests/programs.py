"""Programs in C, C++ and Fortran that the tests compile and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import polhode as ph

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CONSUME = Path(__file__).resolve().parent / "consume"


def from_polhode(option: str, compiler: str) -> list[str]:
    """The words that `python -m polhode` prints for this option."""
    run = [sys.executable, "-m", "polhode", option]
    environment = os.environ | {"CXX": compiler}
    return subprocess.run(
        run, capture_output=True, text=True, check=True, env=environment
    ).stdout.split()


def printed(folder: Path, compiler: str, *arguments: Any) -> list[list[str]]:
    """Words of each line that a program prints, compiled with warnings as errors."""
    found = shutil.which(compiler)
    if not found:
        pytest.skip(f"no {compiler}")
    words = [
        y for x in arguments for y in (from_polhode(x, found) if str(x).startswith("--") else [x])
    ]
    program = folder / "program"
    subprocess.run([found, "-Wall", "-Werror", *words, "-o", program], check=True, cwd=folder)
    return lines_of(program)


def lines_of(program: Path) -> list[list[str]]:
    """Words of each line that a program prints."""
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


def built_by_cmake(source: Path, build: Path, *options: str) -> None:
    """Configure and build a project that finds the installed package."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake on the path: pip brings its own for the build alone")
    for step in (
        ["-S", source, "-B", build, f"-Dpolhode_ROOT={ph.get_cmake_dir()}", *options],
        ["--build", build],
    ):
        run = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr

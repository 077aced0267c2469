"""Programs in C, C++ and Fortran that the tests compile and run."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
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


def compiled(folder: Path, compiler: str, *arguments: Any) -> Path:
    """A program in a folder, compiled with warnings as errors."""
    words = [
        y
        for x in arguments
        for y in (from_polhode(x, compiler) if str(x).startswith("--") else [x])
    ]
    program = folder / "program"
    subprocess.run([compiler, "-Wall", "-Werror", *words, "-o", program], check=True, cwd=folder)
    return program


def printed(folder: Path, compiler: str, *arguments: Any) -> list[list[str]]:
    """Words of each line that a program prints."""
    found = shutil.which(compiler)
    if not found:
        pytest.skip(f"no {compiler}")
    program = AHEAD.get(compiler, *arguments)
    return lines_of(program or compiled(folder, found, *arguments))


class Ahead:
    """Programs that another process compiles, one after another, while other tests run.

    Slow ones are listed by `add` as a test module is imported; conftest.py starts the process.
    """

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.folder: Path | None = None
        self.process: subprocess.Popen[str] | None = None

    def add(self, compiler: str, *arguments: Any) -> None:
        if shutil.which(compiler):
            self.commands.append([compiler, *map(str, arguments)])

    def start(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, __file__, folder, json.dumps(self.commands)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def get(self, *command: Any) -> Path | None:
        """The program, as soon as it is there; None if it was not compiled here."""
        words = [str(x) for x in command]
        if self.folder is None or self.process is None or words not in self.commands:
            return None
        place = self.folder / str(self.commands.index(words))
        with contextlib.suppress(FileExistsError):
            place.mkdir()
            return None  # not begun yet: now it is the caller's
        done = place / "done"
        while not done.exists() and self.process.poll() is None:
            time.sleep(0.05)
        return place / "program" if done.exists() else None  # else again, for the message

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


AHEAD = Ahead()


def lines_of(program: Path) -> list[list[str]]:
    """Words of each line that a program prints."""
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


def built_by_cmake(source: Path, build: Path, targets: Sequence[str] = ("all",)) -> None:
    """Configure and build a project that finds the installed package."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake on the path: pip brings its own for the build alone")
    for step in (
        ["-S", source, "-B", build, f"-Dpolhode_ROOT={ph.get_cmake_dir()}"],
        ["--build", build, "--target", *targets],
    ):
        run = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


if __name__ == "__main__":
    for i, (name, *rest) in enumerate(json.loads(sys.argv[2])):
        place = Path(sys.argv[1]) / str(i)
        with contextlib.suppress(FileExistsError, subprocess.CalledProcessError):
            place.mkdir()
            compiled(place, name, *rest)
            (place / "done").touch()

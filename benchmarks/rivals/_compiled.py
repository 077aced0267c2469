"""Programs in C++ of this folder, compiled when a benchmark needs them and called by ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def compiler() -> tuple[str, str]:
    """The compiler that CXX names, or c++, and its version; OSError if there is none."""
    found = shutil.which(os.environ.get("CXX", "c++"))
    if found is None:
        raise OSError("no C++ compiler")
    run = subprocess.run(
        [found, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True, check=False
    )
    return found, run.stdout.strip()


def shared_library(name: str, *options: str) -> ctypes.CDLL:
    """The library of a file of this folder; OSError if it does not compile."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "library.so")
        command = [compiler()[0], "-std=c++17", "-O3", "-shared", "-fPIC", *options]
        done = subprocess.run(
            [*command, str(Path(__file__).with_name(name)), "-o", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise OSError(f"does not compile: {done.stderr.strip().splitlines()[0]}")
        return ctypes.CDLL(str(file))

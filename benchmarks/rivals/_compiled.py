"""Programs in C++ of this folder, compiled when a benchmark needs them and called by ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
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


def shared_library(
    name: str, *options: str, headers: Mapping[str, str] | None = None
) -> ctypes.CDLL:
    """The library of a file of this folder, with these headers; OSError if it does not compile."""
    with tempfile.TemporaryDirectory() as directory:
        for header, text in (headers or {}).items():
            Path(directory, header).write_text(text, encoding="ascii")
        file = Path(directory, "library.so")
        command = [compiler()[0], "-std=c++17", "-O3", "-shared", "-fPIC", f"-I{directory}"]
        done = subprocess.run(
            [*command, *options, str(Path(__file__).with_name(name)), "-o", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise OSError(f"does not compile: {done.stderr.strip().splitlines()[0]}")
        return ctypes.CDLL(str(file))

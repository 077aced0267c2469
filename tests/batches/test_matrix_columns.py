"""Matrices of a batch keep their components where a program is compiled with less than -O3."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import polhode as ph

pytestmark = pytest.mark.programs

SOURCE = Path(__file__).resolve().parents[1] / "consume/matrices.cpp"


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_matrices_keep_their_components(tmp_path: Path, level: str) -> None:
    """GCC 12 put two local arrays into one place at -O1 and -O2 and read the first too late."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no C++ compiler")
    program = tmp_path / "matrices"
    flags = ["-std=c++20", level, "-ffp-contract=off", "-w", "-I", ph.get_include()]
    subprocess.run([compiler, *flags, SOURCE, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0", "0", "0"]

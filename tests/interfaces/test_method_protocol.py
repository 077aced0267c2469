"""A new method is a kernel and a row, with options and with a torque: consume/method.cpp is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close, same

import polhode as ph

pytestmark = pytest.mark.programs

SOURCE = Path(__file__).resolve().parents[1] / "consume/method.cpp"
J = np.array([1.0, 1.5, 2.2])
M = 0.1 * np.arange(1, 16).reshape(5, 3)
Q = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
H = 0.1
TORQUE = np.array([0.3, -0.2, 0.1])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The lines of the program."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("no C++ compiler")
    program = tmp_path_factory.mktemp("method") / "method"
    flags = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", "-I", ph.get_include()]
    subprocess.run([compiler, *flags, SOURCE, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines()]


def toy(m: Any, q: Any, share: float, torque: Any = 0.0) -> tuple[Any, Any]:
    """A turn by share h omega; the momentum in space takes h times the torque at the start."""
    dq = ph.so3.exp(share * H * m / J)
    return ph.so3.rotate(ph.so3.conjugate(dq), m + H * torque), ph.so3.multiply(q, dq)


@pytest.mark.parametrize(("share", "first"), [(1.0, 0), (0.5, 5)])
def test_a_kernel_and_a_row(printed: list[list[str]], share: float, first: int) -> None:
    """Free, inlined and shared; with the energy kept; under a torque."""
    lines = np.array(printed[first : first + 5], np.float64)
    m, q = M, Q
    for _ in range(3):
        m, q = toy(m, q, share)
    close(lines[0], [*m.ravel(), *q.ravel()], atol=1e-14)  # numbers up to 1.5, three steps
    same(lines[1], lines[0])
    energy = [(m**2 / J).sum(-1) / 2 for m in (M, lines[2][:15].reshape(5, 3))]
    close(energy[1], energy[0], atol=1e-14)
    assert np.abs((lines[0][:15].reshape(5, 3) ** 2 / J).sum(-1) / 2 - energy[0]).max() > 1e-4
    same(lines[3], lines[2])
    m, q = toy(M, Q, share, TORQUE)
    close(lines[4], [*m.ravel(), *q.ravel()], atol=1e-14)


def test_the_row_holds_the_option(printed: list[list[str]]) -> None:
    assert printed[-1] == ["2", "share", "1"]

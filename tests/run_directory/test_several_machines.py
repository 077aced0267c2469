"""The programs of examples/several_machines: alone, as a task of Slurm, in two processes of MPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compare import same

import polhode as ph

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/several_machines"
PARTS = 4


def printed(*command: object, **variables: str) -> str:
    """What a program prints; `python` is this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        list(map(str, command)),
        cwd=EXAMPLES,
        env=os.environ | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_parts_alone_and_by_slurm(tmp_path: Path) -> None:
    """A part has the same bits in any division; the second call only reads it."""
    task = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": str(PARTS)}
    first = printed("bash", "satellites.slurm", tmp_path / "four", **task)
    assert first.startswith("part 3: Trajectory(101 states of shape (250,)")
    again = printed("python", "satellites.py", tmp_path / "four", 3, PARTS)
    assert again == first
    printed("python", "satellites.py", tmp_path / "eight", 7, 2 * PARTS)
    part, half = (ph.Trajectory.load(tmp_path / name) for name in ("four/00003", "eight/00007"))
    same(np.asarray(part.q[:, 125:]), np.asarray(half.q))
    found = re.search(r"drift (\S+)", first)
    assert found is not None
    assert float(found[1]) < 6e-13  # measured: 3.4e-13, at level v2 2.8e-13


def test_parts_by_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    environment = Path(sys.executable).parent
    mpirun = shutil.which("mpirun", path=f"{environment}{os.pathsep}{os.environ['PATH']}")
    if mpirun is None:
        pytest.skip("no mpirun")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [mpirun, "--oversubscribe", "-n", 2, "python", "satellites_mpi.py", tmp_path, PARTS]
    assert printed(*command, **root).startswith(f"{PARTS} parts by 2 processes, drift ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{k:05d}" for k in range(PARTS)]

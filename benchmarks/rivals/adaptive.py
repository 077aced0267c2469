"""Adaptive steps beside those of other programs: work and precision of one body."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import polhode as ph
from benchmarks import Row, Run, Table, absent, case
from benchmarks._drawing import figure, style
from benchmarks.rivals import _heyoka, _scipy
from benchmarks.rivals._problem import SLOPES, Problem
from benchmarks.rivals._rival import Prepared, Rival
from benchmarks.rivals._torques import PROBLEMS, repeated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCES = tuple(10.0**-k for k in range(4, 15))


def _adaptive(problem: Problem, tolerance: float) -> Prepared:
    run = partial(
        ph.integrate,
        problem.inertia,
        problem.m,
        problem.q,
        t_end=problem.t_end,
        rtol=tolerance,
        atol=tolerance,
        torque=problem.torque,
    )
    return Prepared(run, lambda end: (end.m[-1], end.q[-1]))


POLHODE = Rival(
    "polhode rk8", [("polhode", "polhode")], "rtol = atol", dict.fromkeys(SLOPES, ()), _adaptive
)


@case(
    "adaptive",
    "Adaptive steps: time and error at each tolerance",
    time="ns per unit of time, process",
    units={"error": "the larger of |m - reference| / |m| and the angle to the reference in rad"},
)
def adaptive(run: Run) -> Iterator[Row]:
    """One body, the call included; problems and references as in `rivals-torque`.

    All choose their steps by a tolerance; only the end is asked for.
    """
    for (name, strength), made in PROBLEMS.items():
        if strength != 1.0:
            continue
        problem = repeated(made(), 1)
        for program in (POLHODE, _scipy.RIVAL, _heyoka.RIVAL):
            labels = {"problem": name, "program": program.name}
            if why := program.missing():
                yield Row(labels, {"time": absent(why)})
                continue
            for tolerance in TOLERANCES[::4] if run.quick else TOLERANCES:
                prepared = program.prepare(problem, tolerance)
                error = problem.error(*prepared.state(prepared.run()))
                measured = run.timer.measure(
                    {"time": prepared.run}, round(problem.t_end), clock="process"
                )
                yield Row({**labels, "tolerance": tolerance}, measured.times, {}, {"error": error})


@adaptive.picture
def draw(table: Table) -> Figure:
    """Error against time."""
    rows = [row for row in table.rows if row.values and row.times["time"].median]
    problems = list(dict.fromkeys(row.labels["problem"] for row in rows))
    programs = list(dict.fromkeys(row.labels["program"] for row in rows))
    made, axes = figure(max(1, len(problems)), width=6.5)
    for one, problem in zip(axes, problems, strict=False):
        for index, program in enumerate(programs):
            points = [
                ((row.times["time"].median or 0) / 1000, float(row.values["error"] or 0))
                for row in rows
                if (row.labels["problem"], row.labels["program"]) == (problem, program)
            ]
            one.loglog(*zip(*points, strict=True), label=program, **style(index))
        one.set_title(str(problem), fontsize=17)
        one.set_xlabel("CPU time, µs per unit of time")
    axes[0].set_ylabel("error of m/|m| or of the attitude in rad")
    handles, labels = axes[0].get_legend_handles_labels()
    if handles:
        made.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return made

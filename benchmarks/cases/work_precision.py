"""Error against time for every method, and which method for which problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Table, Times, case
from benchmarks._bodies import (
    TOP_INERTIA,
    TOP_M0,
    TOP_Q0,
    TOPS,
    Array,
    deviation,
    reference,
    states,
)
from benchmarks._drawing import figure, logarithmic, style
from benchmarks._heavy_top import heavy_top

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Labels = dict[str, str | int | float]

#: Time of a run in units of I1 / |m|, and numbers of steps of it.
TIME = 8.0
STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
#: Above this error a method has lost the solution.
MOST_ERROR = 0.3
#: Below this error rounding may count: the first run that is no better ends a curve.
ROUNDING = 1e-12
#: CPU time in seconds per body of a run that ends a curve.
LONGEST = 1e-4
ERROR = "of m/|m| or q at the end, largest component of all bodies, absolute"


def generic(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Bodies that satisfy the triangle inequality, with momenta in all directions; I1 = |m| = 1."""
    spread = rng.uniform(0.1, 1.0, (n, 3))
    inertia = np.sort(spread.sum(axis=1, keepdims=True) - spread, axis=1)
    return inertia / inertia[:, :1], *states(n, rng)


def near_separatrix(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Generic bodies whose momenta are 1e-6 to 1e-2 from the middle axis."""
    inertia, _, q = generic(n, rng)
    off = 10 ** rng.uniform(-6, -2, n)
    turn = rng.uniform(0, 2 * np.pi, n)
    m = np.stack([off * np.cos(turn), np.sqrt(1 - off**2), off * np.sin(turn)], axis=1)
    return inertia, m, q


def nearly_symmetric(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Bodies whose first two moments differ by 1e-9 to 1e-3 of their size."""
    inertia, m, q = generic(n, rng)
    inertia[:, 1] = 1 + 10 ** rng.uniform(-9, -3, n)
    return inertia, m, q


FREE: dict[str, Callable[[int, np.random.Generator], tuple[Array, Array, Array]]] = {
    "generic": generic,
    "near the separatrix": near_separatrix,
    "nearly symmetric": nearly_symmetric,
}
TOP_TIME = 4.0


def _curve(
    run: Run,
    bodies: int,
    works: Mapping[tuple[str, int], Callable[[], tuple[Array, Array]]],
    error: Callable[[tuple[Array, Array]], Array],
) -> Iterator[tuple[str, int, float, Times]]:
    """Name, number of steps, error and time of the works on the curves.

    The works of a name come by increasing number of steps.
    """
    found: dict[tuple[str, int], float] = {}
    least: dict[str, float] = {}
    ended: set[str] = set()
    for (name, steps), work in works.items():
        if name in ended:
            continue
        begun = thread_time()
        end = work()
        if thread_time() - begun > LONGEST * bodies:
            ended.add(name)
            continue
        off, before = float(np.max(error(end))), least.get(name, MOST_ERROR)
        if off < before:
            found[name, steps] = least[name] = off
        elif before < ROUNDING:
            ended.add(name)
    # Runs of about the same length take turns.
    timer = replace(run.timer, seconds=run.timer.seconds / 8)
    for steps in sorted({steps for _, steps in found}):
        some = {name: works[name, steps] for name, count in found if count == steps}
        times = timer.measure(some, bodies).times
        for name in some:
            yield name, steps, found[name, steps], times[name]


@case(
    "work_precision",
    "Error against time: free bodies",
    time="ns per body for the whole run",
    units={"error": ERROR, "steps": "of the run", "family": "of methods"},
)
def work_precision(run: Run) -> Iterator[Row]:
    """Every method on bodies of three kinds over t = 8 I1 / |m|, with 1 to 512 equal steps.

    "Generic": moments that satisfy the triangle inequality, momenta in all directions. "Near the
    separatrix": momenta 1e-6 to 1e-2 from the middle axis. "Nearly symmetric": two moments that
    differ by 1e-9 to 1e-3. 256 bodies, each with its own moments, one thread; the end is compared
    with quadruple precision. Left out are runs with an error above 0.3, runs that are no more
    accurate than a shorter one of the same method, and all longer ones of the method from the first
    run on that takes more than 100 us of CPU time per body, or that is no more accurate than one
    with an error below 1e-12.
    """
    bodies = 64 if run.quick else 256
    counts = (1, 16, 128) if run.quick else STEPS
    for body, make in FREE.items():
        inertia, m, q = make(bodies, run.rng())
        end = reference(inertia, m, q, TIME)
        works = {
            (x.name, n): partial(
                ph.step, inertia, m, q, TIME / n, method=x.name, n_steps=n, threads=1
            )
            for x in ph.methods()
            for n in counts
            if n >= x.history
        }
        family = {x.name: x.kind for x in ph.methods()}
        for name, n, error, spent in _curve(run, bodies, works, partial(deviation, exact=end)):
            labels: Labels = {"body": body, "family": family[name], "method": name, "steps": n}
            yield Row(labels, {"time": spent}, values={"error": error})


def top_end(
    m: Array, q: Array, steps: int, weight: float, scheme: str | ph.Splitting | None, method: str
) -> tuple[Array, Array]:
    """The end of the run of some tops."""
    trajectory = ph.integrate(
        TOP_INERTIA, m, q, TOP_TIME / steps, steps,
        torque=ph.torques.HeavyTop([0.0, 0.0, weight]), splitting=scheme, method=method,
        save_every=steps, threads=1,
    )  # fmt: skip
    return trajectory.m[-1], trajectory.q[-1]


@case(
    "work_precision_torque",
    "Error against time: heavy tops",
    time="ns per body for the whole run",
    units={"error": ERROR, "steps": "of the run", "family": "of schemes, or of direct methods"},
)
def work_precision_torque(run: Run) -> Iterator[Row]:
    """Every splitting scheme and every direct method on two tops over t = 4, with 4 to 512 steps.

    The heavy top of [Vil13] (I = 0.376, 0.627, 1; weight 1, |m| = 0.95), and a fast one (weight
    0.001, twice the momentum). Schemes run around the exact free step; "rkn6_14" also around every
    other method of free bodies. 256 tops with 0.9 to 1.1 of the momentum, one thread. The error is
    that of four of them, against Taylor series in 50-digit arithmetic. Runs are left out as in
    `work_precision`. "taylor4" to "taylor6" are not there: they need derivatives of the torque that
    only a prescribed momentum has (`torques.SpatialMomentum`), which is not a top.
    """
    bodies = 32 if run.quick else 256
    counts = (4, 64) if run.quick else (4, 8, 16, 32, 64, 128, 256, 512)
    checked = np.linspace(0, bodies - 1, 2 if run.quick else 4).astype(int)
    for top, (weight, speed) in TOPS.items():
        m = speed * TOP_M0 * np.linspace(0.9, 1.1, bodies)[:, None]
        q = np.tile(TOP_Q0, (bodies, 1))
        ends = [
            heavy_top(TOP_INERTIA, m[i], TOP_Q0, [0.0, 0.0, weight], TOP_TIME, 64) for i in checked
        ]
        end = tuple(np.array(x) for x in zip(*ends, strict=True))
        runs: dict[str, tuple[str, str | None, str]] = {
            x.name: (x.kind, x.name, "exact") for x in ph.splittings()
        }
        for x in ph.methods():
            if x.name in ("taylor4", "taylor5", "taylor6"):
                continue  # see above
            if x.takes_torque:
                runs[x.name] = (x.kind, None, x.name)
            elif x.name != "exact":
                runs[f"rkn6_14 around {x.name}"] = (f"rkn around {x.kind}", "rkn6_14", x.name)
        history = {x.name: x.history for x in ph.methods()}
        works = {
            (name, n): partial(top_end, m, q, n, weight, scheme, method)
            for name, (_, scheme, method) in runs.items()
            for n in counts
            if n >= history[method]
        }

        def error(got: tuple[Array, Array], end: Any = end, speed: float = speed) -> Array:
            size = speed * float(np.linalg.norm(TOP_M0))
            return deviation((got[0][checked], got[1][checked]), end, size)

        for name, n, off, spent in _curve(run, bodies, works, error):
            labels: Labels = {
                "top": f"{top} top",
                "family": runs[name][0],
                "method": name,
                "steps": n,
            }
            yield Row(labels, {"time": spent}, values={"error": off})


# Which method ------------------------------------------------------------------------------------


def _points(table: Table, label: str) -> dict[str, list[tuple[float, float, Row]]]:
    """Of each problem: median of the time, error, row; of the rows that have a time."""
    found: dict[str, list[tuple[float, float, Row]]] = {}
    for row in table.rows:
        time, error = row.times["time"].median, row.values["error"]
        points = found.setdefault(str(row.labels[label]), [])
        if time is not None and isinstance(error, float):
            points.append((time, error, row))
    return found


def _overlap(a: Times, b: Times) -> bool:
    """Whether the intervals between the quartiles have a common point."""
    assert a.low is not None
    assert a.high is not None
    assert b.low is not None
    assert b.high is not None
    return a.low <= b.high and b.low <= a.high


@case(
    "which_method",
    "Which method for my problem",
    time="ns per body for the whole run",
    units={
        "error at most": ERROR,
        "next": "the fastest of another family",
        "next / best": "ratio of the medians of the times of the two; a tie where the quartiles of "
        "their times have a common point",
        "left out": "runs that reach the error but have no time: loaded, or spread",
    },
    after=("work_precision", "work_precision_torque"),
)
def which_method(run: Run) -> Iterator[Row]:
    """The fastest run of the two tables of errors against time, for each wanted error.

    Rows of those tables that have no time, since the machine was loaded, are left out here too; one
    of them may be the fastest.
    """
    for name, label in (("work_precision", "body"), ("work_precision_torque", "top")):
        table = run.tables[name]
        for problem, points in _points(table, label).items():
            missing = [
                error
                for row in table.rows
                if str(row.labels[label]) == problem
                and row.times["time"].median is None
                and isinstance(error := row.values["error"], float)
            ]
            for wanted in (1e-3, 1e-6, 1e-9, 1e-12):
                good = sorted((p for p in points if p[1] <= wanted), key=lambda p: p[0])
                labels: Labels = {"problem": problem, "error at most": wanted}
                left = {"left out": sum(error <= wanted for error in missing)}
                if not good:
                    yield Row(labels, values=left, note="none")
                    continue
                time, error, best = good[0]
                others = [p for p in good if p[2].labels["family"] != best.labels["family"]]
                values: dict[str, Any] = {
                    "method": best.labels["method"], "steps": best.labels["steps"], "error": error,
                }  # fmt: skip
                note = ""
                if others:
                    values |= {
                        "next": others[0][2].labels["method"],
                        "next: steps": others[0][2].labels["steps"],
                        "next / best": others[0][0] / time,
                    }
                    if _overlap(best.times["time"], others[0][2].times["time"]):
                        note = "tie"
                yield Row(labels, {"best": best.times["time"]}, values=values | left, note=note)


# Pictures ----------------------------------------------------------------------------------------


def _front(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """The points that no other one beats in both time and error, by time."""
    times: list[float] = []
    errors: list[float] = []
    for time, error in sorted(points):
        if not errors or error < errors[-1]:
            times.append(time)
            errors.append(error)
    return times, errors


def _draw(axes: Axes, points: list[tuple[float, float, Row]], families: list[str]) -> None:
    for index, family in enumerate(families):
        some = [(t / 1000, e) for t, e, row in points if row.labels["family"] == family]
        times, errors = _front(some)
        axes.loglog(times, errors, label=family, **style(index))
    axes.set_xlabel("CPU time of the run, µs per body")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_ylim(1e-16, 1)


def _fronts(table: Table, label: str) -> Figure:
    problems = _points(table, label)
    families = list(dict.fromkeys(str(row.labels["family"]) for row in table.rows))
    made, axes = figure(len(problems), width=6.5, height=7.5)
    for one, (problem, points) in zip(axes, problems.items(), strict=True):
        _draw(one, points, families)
        one.set_title(problem, fontsize=17)
    axes[0].set_ylabel("largest error of m/|m| or q")
    handles, labels = axes[0].get_legend_handles_labels()
    if handles:
        made.legend(
            handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=15,
            title="lower envelope of each family: its fastest runs", title_fontsize=15,
        )  # fmt: skip
    return made


@work_precision.picture
def draw_work_precision(table: Table) -> Figure:
    """The best runs of each family, free bodies."""
    return _fronts(table, "body")


@work_precision_torque.picture
def draw_work_precision_torque(table: Table) -> Figure:
    """The best runs of each family, heavy tops; of the families of the schemes and direct ones."""
    rows = [row for row in table.rows if "around" not in str(row.labels["family"])]
    return _fronts(replace(table, rows=rows), "top")

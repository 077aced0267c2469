"""How the time of a step grows with bodies, steps of a call, length of the step and threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Table, Times, absent, case
from benchmarks._bodies import ANGLE, INERTIA, deviation, reference, states, turned
from benchmarks._drawing import figure, logarithmic, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("exact", "frb", "gauss8", "dmv8", "magnus4", "rotations231")
STEP = "ns per body per step"
#: Numbers of bodies that are divided over threads, close to each other where this begins to help.
THREADED = (100, 1000, 5000, 10_000, 20_000, 40_000, 100_000, 1_000_000)

ERROR = "largest of m/|m| or q at the end, of 200 bodies, absolute"


def _error(run: Run, method: str, steps: int = 1) -> float:
    """Error after steps of hw = 0.2."""
    m, q = states(200, run.rng())
    end = reference(INERTIA, m, q, 0.2 * steps)
    got = ph.step(INERTIA, m, q, 0.2, method=method, n_steps=steps)
    return float(deviation(got, end).max())


def _times(run: Run, n: int, h: float = 0.2, steps: int = 1) -> dict[str, Times]:
    """Times of METHODS, steps of n bodies in one call into given arrays, one thread, in turn."""
    m, q = states(n, run.rng())
    out = np.empty_like(m), np.empty_like(q)
    work = partial(ph.step, INERTIA, m, q, h, n_steps=steps, out=out, threads=1)
    return run.timer.measure({x: partial(work, method=x) for x in METHODS}, n * steps).times


@case("growth_bodies", "Time against the number of bodies", time=STEP, units={"error": ERROR})
def growth_bodies(run: Run) -> Iterator[Row]:
    """One step of hw = 0.2 from Python into given arrays, quaternions, one thread."""
    errors = {x: _error(run, x) for x in METHODS}
    for n in (1, 16, 256) if run.quick else (1, 4, 16, 64, 256, 1024, 4096, 65536, 1_048_576):
        for x, times in _times(run, n).items():
            values = {"error": errors[x]}
            yield Row({"method": x, "bodies": n}, {"time": times}, values=values)


@case(
    "growth_steps",
    "Time against the number of steps of a call",
    time=STEP,
    units={"error": ERROR},
)
def growth_steps(run: Run) -> Iterator[Row]:
    """Steps of hw = 0.2 of 256 bodies in one call (`n_steps`), quaternions, one thread."""
    for steps in (1, 4) if run.quick else (1, 2, 4, 8, 16, 64, 256):
        for x, times in _times(run, 256, steps=steps).items():
            values = {"error": _error(run, x, steps)}
            yield Row({"method": x, "steps": steps}, {"time": times}, values=values)


@case(
    "growth_length",
    "Time and error against the length of the step",
    time=STEP,
    units={
        "hw": "h |m| / I1 in rad",
        "error": "largest of m/|m| or q of 200 bodies, absolute",
        "error in units of rounding": ANGLE,
        "NaN": "of these bodies, without a result",
    },
)
def growth_length(run: Run) -> Iterator[Row]:
    """One step of 10,000 bodies into given arrays, quaternions, one thread.

    All bodies have the same inertia.
    """
    n = 500 if run.quick else 10_000
    m, q = states(n, run.rng())
    few = slice(0, 20 if run.quick else 200)
    for h in (0.2, 1.0) if run.quick else (0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0, 1000.0):
        end = reference(INERTIA, m[few], q[few], h)
        for x, times in _times(run, n, h).items():
            off = deviation(ph.step(INERTIA, m[few], q[few], h, method=x), end)
            lost = np.isnan(off)
            if lost.all():
                yield Row({"method": x, "hw": h}, values={"NaN": int(lost.sum())})
                continue
            unit = turned(INERTIA, m[few], h)
            values = {
                "error": float(np.max(off[~lost], initial=0.0)),
                "error in units of rounding": float(np.max((off / unit)[~lost], initial=0.0)),
                "NaN": int(lost.sum()),
            }
            yield Row({"method": x, "hw": h}, {"time": times}, values=values)


@case(
    "growth_threads",
    "Time against the number of threads",
    time=STEP,
    units={"one / several": "ratio of the wall times in neighbouring windows", "error": ERROR},
)
def growth_threads(run: Run) -> Iterator[Row]:
    """One step of hw = 0.2 into given arrays, quaternions. Threads take turns with one thread."""
    cores = ph.build_info()["cores"]
    assert isinstance(cores, int)
    for n in (1000,) if run.quick else THREADED:
        m, q = states(n, run.rng())
        out = np.empty_like(m), np.empty_like(q)
        for x in ("exact", "frb"):
            works = {
                str(k): partial(ph.step, INERTIA, m, q, 0.2, method=x, out=out, threads=k)
                for k in sorted({1, 2, cores, *(2**i for i in range(1, cores.bit_length()))})
            }
            measured = run.timer.measure(works, n, clock="wall")
            for k, times in measured.times.items():
                labels = {"method": x, "bodies": n, "threads": int(k)}
                ratios = {"one / several": measured.ratio("1", k)}
                yield Row(labels, {"time": times}, ratios, {"error": _error(run, x)})


# Pictures ----------------------------------------------------------------------------------------


def _curves(table: Table, label: str, meaning: str) -> Figure:
    made, (axes,) = figure(width=9.0)
    for index, x in enumerate(METHODS):
        some = [
            (row.labels[label], row.times["time"].median)
            for row in table.rows
            if row.labels["method"] == x and row.times.get("time", absent()).median is not None
        ]
        if some:
            axes.loglog(*zip(*some, strict=True), label=x, **style(index))
    axes.set_xlabel(meaning)
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        logarithmic(axis, *limits)
    axes.set_ylabel("CPU time, ns per body per step")
    if axes.lines:
        made.legend(loc="outside right upper", frameon=False, fontsize=15)
    return made


@growth_bodies.picture
def draw_bodies(table: Table) -> Figure:
    """Time against bodies."""
    return _curves(table, "bodies", "bodies in a call")


@growth_steps.picture
def draw_steps(table: Table) -> Figure:
    """Time against steps."""
    return _curves(table, "steps", "steps in a call, 256 bodies")


@growth_length.picture
def draw_length(table: Table) -> Figure:
    """Time against the length of the step."""
    return _curves(table, "hw", "length of the step, h |m| / I1 in rad")

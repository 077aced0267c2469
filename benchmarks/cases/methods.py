"""Every method: counted operations, times and errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Table, case
from benchmarks._bodies import INERTIA, deviation, reference, states, steps_of_a_call
from benchmarks._drawing import figure, logarithmic, style
from benchmarks._peak import peaks
from polhode.display.plot import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = (0.05, 0.2, 1.0)
KINDS = ("add", "mul", "div", "sqrt", "trig", "total")
SIZES = (1, 1000, 100_000, 1_000_000)
#: Methods whose names stand in the picture, and where, in points from the mark.
LABELLED = {
    "exact": (-35, 72),
    "frb": (10, -14),
    "gauss8": (-30, 14),
    "magnus8": (12, 10),
    "dmv8": (24, -22),
    "dmv18": (10, -10),
    "rotations231": (-85, 42),
}
#: Bytes of m and of the attitude that a step reads and writes.
BYTES = {"quaternion": 2 * 8 * (3 + 4), "matrix": 2 * 8 * (3 + 9)}


def errors(method: ph.Method, attitude: str, bodies: int, rng: np.random.Generator) -> list[float]:
    """Largest error of the method after each of the times STEPS."""
    m, q = states(bodies, rng)
    start = ph.so3.to_matrix(q) if attitude == "matrix" else q
    parts = steps_of_a_call(method)
    found = []
    for h in STEPS:
        got = ph.step(INERTIA, m, start, h / parts, method=method.name, n_steps=parts)
        found.append(float(deviation(got, reference(INERTIA, m, start, h)).max()))
    return found


@case(
    "flops",
    "Operations and errors of every method",
    units={
        **dict.fromkeys(KINDS, "counted operations of a step at hw = 0.2"),
        **{
            f"error at {h:g}": f"of m/|m| or attitude after hw = {h:g}, largest component, absolute"
            for h in STEPS
        },
    },
)
def flops(run: Run) -> Iterator[Row]:
    """Operations that a step counts (`polhode.flops`), and errors against quadruple precision.

    hw = h |m| / I1, I1 the least moment. Inertia (1, 1.5, 2.2), unit momenta in all directions,
    random attitudes: the largest error over 200 bodies of a component of m/|m| or of the attitude.
    Multistep methods make the same time in steps five times the number that they combine.
    """
    for method in ph.methods():
        for attitude in ("quaternion", "matrix"):
            counted = ph.flops(method.name, attitude=attitude, hw=0.2)
            found = errors(method, attitude, 20 if run.quick else 200, run.rng())
            values: dict[str, Any] = {kind: counted[kind] for kind in KINDS}
            values |= {f"error at {h:g}": e for h, e in zip(STEPS, found, strict=True)}
            yield Row({"method": method.name, "attitude": attitude}, values=values)


@case(
    "methods",
    "Time of every method",
    time="ns per body per step",
    units={
        "bodies": "in one call",
        "GFLOP/s": "counted operations at hw = 0.2 over the median of one thread",
        "of peak": "of the GFLOP/s of NumPy's product of matrices in one thread, same run",
        "of bandwidth": "m and attitude read and written, of the GB/s of NumPy's sum of long "
        "vectors in one thread, same run; of 100,000 bodies and more, which leave the caches",
        "error": "of m/|m| or attitude after hw = 0.2, largest component, absolute",
    },
    after=("flops",),
)
def methods(run: Run) -> Iterator[Row]:
    """Steps of hw = h |m| / I1 = 0.2 into given arrays, all methods in turn.

    Inertia (1, 1.5, 2.2), unit momenta in all directions, bodies in (N, 3) and (N, 4) or (N, 3, 3)
    arrays. "One thread" is the CPU time of the thread; "all threads" is wall time, for 100,000
    bodies and more. For one body this is the cost of a call from Python. The errors are those of
    the table "flops". A multistep method makes several steps in a call, five times the number that
    it combines.
    """
    peak = peaks()
    yield Row(
        {"method": "NumPy", "attitude": "", "bodies": ""},
        values={"GFLOP/s": peak["GFLOP/s"], "of peak": 1.0, "of bandwidth": 1.0},
        note=f"peak {peak['GFLOP/s']:.3g} GFLOP/s, {peak['GB/s']:.3g} GB/s",
    )
    listed = ph.methods()
    errors = {
        (row.labels["method"], row.labels["attitude"]): row.values["error at 0.2"]
        for row in run.tables["flops"].rows
    }
    for n in (1, 1000) if run.quick else SIZES:
        # All methods of a million bodies take seconds in turn.
        timer = replace(
            run.timer,
            seconds=run.timer.seconds / 2,
            least=min(run.timer.least, 10 if n == SIZES[-1] else 20),
        )
        m, q = states(n, run.rng())
        for attitude in ("quaternion", "matrix"):
            start = ph.so3.to_matrix(q) if attitude == "matrix" else q
            out = np.empty_like(m), np.empty_like(start)
            works = {
                x.name: partial(
                    ph.step,
                    INERTIA,
                    m,
                    start,
                    0.2 / steps_of_a_call(x),
                    method=x.name,
                    n_steps=steps_of_a_call(x),
                    out=out,
                )
                for x in listed
            }
            items = {x.name: n * steps_of_a_call(x) for x in listed}
            one = timer.measure({k: partial(w, threads=1) for k, w in works.items()}, items)
            many = None
            if n >= 100_000:
                several = {k: partial(w, threads=run.threads) for k, w in works.items()}
                many = timer.measure(several, items, clock="wall")
            for x in listed:
                times = {"one thread": one.times[x.name]}
                if many is not None:
                    times["all threads"] = many.times[x.name]
                values: dict[str, Any] = {"error": errors[x.name, attitude]}
                if (ns := one.times[x.name].median) is not None:
                    rate = ph.flops(x.name, attitude=attitude, hw=0.2)["total"] / ns
                    values |= {
                        "GFLOP/s": rate,
                        "of peak": rate / peak["GFLOP/s"],
                    }
                    if n >= 100_000:  # Fewer bodies stay in the caches.
                        values["of bandwidth"] = BYTES[attitude] / ns / peak["GB/s"]
                labels = {"method": x.name, "attitude": attitude, "bodies": n}
                yield Row(labels, times, values=values)


def _most_bodies(table: Table) -> list[Row]:
    """The rows of quaternions that have a time, most bodies of 100,000 and less."""
    rows = [
        row
        for row in table.rows
        if row.labels["attitude"] == "quaternion" and row.times["one thread"].median is not None
    ]
    counts = [int(row.labels["bodies"]) for row in rows]
    bodies = max((n for n in counts if n <= 100_000), default=0)
    return [row for row in rows if row.labels["bodies"] == bodies]


@methods.picture
def draw_costs(table: Table) -> Figure:
    """Time, operations and error: the exact methods, of other families the fastest and the best.

    Without multistep methods, whose errors are those of shorter steps.
    """
    families: dict[str, list[tuple[float, float, str]]] = {}
    kinds = {x.name: x.kind for x in ph.methods() if not x.history}
    for row in _most_bodies(table):
        name, error = str(row.labels["method"]), row.values["error"]
        time = row.times["one thread"].median
        if name in kinds and time is not None and isinstance(error, float):
            families.setdefault(kinds[name], []).append((time, error, name))
    chosen = set(families.get("exact", ()))
    for some in families.values():
        chosen |= {min(some), min(some, key=lambda x: (x[1], x[0]))}
    order = sorted(chosen, reverse=True)
    made, (axes,) = figure(width=11.0, height=1.6 + 0.36 * len(order))
    for i, (time, error, name) in enumerate(order):
        axes.barh(i, time, color=COLOURS[0 if kinds[name] == "exact" else 5], height=0.75)
        operations = ph.flops(name, hw=0.2)["total"]
        text = f"{operations} FLOPs, error {error:.0e}"
        axes.annotate(
            text, (time, i), xytext=(6, 0), textcoords="offset points", va="center", fontsize=13
        )
    axes.set_yticks(
        range(len(order)),
        labels=[f"{x} ({kinds[x]})" if kinds[x] != x else x for *_, x in order],
    )
    axes.tick_params(axis="y", length=0, labelsize=14)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 1.6 * max((time for time, _, _ in order), default=1.0))
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.set_xlabel("CPU time, ns per body per step of h |m| / I1 = 0.2")
    return made


@methods.picture
def draw_methods(table: Table) -> Figure:
    """Time against counted operations, most bodies of 100,000 and less, quaternions."""
    families = {x.name: x.kind for x in ph.methods()}
    points: dict[str, list[tuple[str, int, float]]] = {kind: [] for kind in families.values()}
    for row in _most_bodies(table):
        name, time = str(row.labels["method"]), row.times["one thread"].median
        if time is not None:
            points[families[name]].append((name, ph.flops(name, hw=0.2)["total"], time))
    made, (axes,) = figure(width=11.0, height=7.0)
    for index, (family, some) in enumerate(points.items()):
        if not some:
            continue
        look = {**style(index), "linestyle": "none"}
        axes.loglog([p[1] for p in some], [p[2] for p in some], label=family, **look)
        for name, operations, time in some:
            if name in LABELLED:
                axes.annotate(
                    name,
                    (operations, time),
                    xytext=LABELLED[name],
                    textcoords="offset points",
                    fontsize=14,
                    arrowprops={"arrowstyle": "-", "color": "#888888"},
                )
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        logarithmic(axis, *limits)
    axes.set_xlabel("counted operations of a step (FLOPs), h |m| / I1 = 0.2")
    axes.set_ylabel("CPU time, ns per body per step")
    if axes.lines:
        made.legend(loc="outside right upper", frameon=False, fontsize=14)
    return made

"""The costs of Celledoni and Zanna, FRB-FORTRAN: Figure 6, and the claims of the text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _drawing
from benchmarks.papers._registry import Cell, Result, Run, Table, item
from benchmarks.papers.celledoni_zanna import NO_TURN, octant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

APPROXIMATE = ("dmv6", "dmv8", "dmv10")
#: The body of the comparison is not published; of this one h |m|/I1 is 2.66 h.
BODY = np.array([0.376, 0.627, 1.0])
CURVES = (
    ("exact, rotation matrix", "frb", "matrix"),
    ("exact, quaternion", "frb", "quaternion"),
    ("semi-exact, rotation matrix", "gauss3", "matrix"),
    ("semi-exact, quaternion", "gauss3", "quaternion"),
)


def operations(method: str, form: str, h: float) -> int:
    """Counted operations of a step of length h of BODY with |m| = 1."""
    # Operations are counted at another inertia: the same h |m|/I1.
    return int(ph.flops(method, attitude=form, hw=h / BODY[0])["total"])


def quotients_of_operations(steps: list[float]) -> dict[str, list[float]]:
    """Operations of the curves of Figure 6, over those of the cheapest approximate method."""
    return {
        label: [
            operations(method, form, h) / min(operations(x, form, h) for x in APPROXIMATE)
            for h in steps
        ]
        for label, method, form in CURVES
    }


def quotients_of_times(steps: list[float], seconds: float) -> tuple[dict[str, list[float]], str]:
    """The same of CPU times over [0, 10], and why there are none if the machine is too loaded."""
    from benchmarks._timing import Timer

    m = octant(32)  # a window must be short enough to come through without interruption
    result: dict[str, list[float]] = {label: [] for label, _, _ in CURVES}
    for h in steps:
        n = math.floor(10 / h + 1e-9)
        starts = {"matrix": np.eye(3), "quaternion": NO_TURN}
        functions = {
            (method, form): _steps(m, starts[form], h, n, method)
            for form in starts
            for method in (*APPROXIMATE, "frb", "gauss3")
        }
        measured = Timer(seconds, least=5).measure(
            {" ".join(key): function for key, function in functions.items()}, n * len(m)
        )
        for label, method, form in CURVES:
            times = [measured.times[f"{x} {form}"] for x in (method, *APPROXIMATE)]
            if any(time.median is None for time in times):
                return {}, next(time.reason for time in times if time.reason)
            ours, *theirs = (float(time.median or math.nan) for time in times)
            result[label].append(ours / min(theirs))
    return result, ""


def _steps(m: Array, start: Array, h: float, n: int, method: str) -> Any:
    return lambda: ph.step(BODY, m, start, h, method=method, n_steps=n)


def _cost_cells(
    published: dict[str, Any], values: dict[str, list[float]], steps: list[float], timed: bool
) -> list[Cell]:
    """Exact over approximate, and semi-exact over exact, at each step."""
    low, high = published["exact"]
    why = published["why"]
    cells = [
        Cell(
            f"{label} over the cheapest dmv, h = {h:g}",
            (low, high),
            x,
            explanation=why["exact" if timed else "operations"],
            comparable=timed,
        )
        for label, _, _ in CURVES[:2]
        for h, x in zip(steps, values[label], strict=True)
    ]
    cells += [
        Cell(
            f"semi-exact over exact, {form}, h = {h:g}",
            published["semi-exact"],
            values[f"semi-exact, {form}"][i] / values[f"exact, {form}"][i],
            published["semi-exact tolerance"],
            explanation=why["semi-exact" if timed else "operations"],
            comparable=timed,
        )
        for form in ("rotation matrix", "quaternion")
        for i, h in enumerate(steps)
    ]
    return cells


@item("report-figure-6", slow=True)
def figure_6(published: dict[str, Any], run: Run) -> Result:
    """CPU time of the exact and semi-exact routines over that of the cheapest dmv."""
    steps = published["steps"][::2] if run.quick else published["steps"]
    counted = quotients_of_operations(steps)
    timed, reason = quotients_of_times(steps, 0.1 if run.quick else 0.3)
    tables = [
        Table(
            "Counted operations beside published CPU times",
            _cost_cells(published, counted, steps, timed=False),
        )
    ]
    notes = [
        "Inertia (0.376, 0.627, 1), 32 momenta of the first octant, |m| = 1, one thread, "
        "N = floor(10/h) steps; the body of the report is not published, and the steps are chosen. "
        "Semi-exact: three nodes (gauss3). Operations are counted by `ph.flops`."
    ]
    if timed:
        tables.insert(0, Table("CPU time", _cost_cells(published, timed, steps, timed=True)))
    else:
        notes.append(f"CPU times were not measured ({reason}): the picture shows operations.")
    shown = timed or counted

    def draw() -> Figure:
        figure = _drawing.new_figure(9.0, 7.0)
        axes = figure.subplots()
        styles = (("-", "D"), ("-", "x"), ("--", "*"), ("--", "o"))
        for i, ((label, _, _), (line, marker)) in enumerate(zip(CURVES, styles, strict=True)):
            axes.plot(
                steps, shown[label], line + marker, label=label, color=_drawing.COLOURS[i],
                markersize=10, fillstyle="none", markeredgewidth=2,
            )  # fmt: skip
        axes.axhline(1.0, color="#777777", label="cheapest of dmv6, dmv8, dmv10")
        axes.axhspan(
            *published["exact"], color=_drawing.COLOURS[5], alpha=0.2, label="exact, report"
        )
        axes.set_xscale("log")
        _drawing.plain_logarithm(axes.xaxis, list(steps))
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("step h (unit of time)")
        what = "CPU time" if timed else "operations"
        axes.set_ylabel(f"{what} over that of the cheapest dmv")
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    return Result(tables, draw, notes)


@item("report-cost")
def cost(published: dict[str, Any], run: Run) -> Result:
    """Claims of section 4.2 and of the conclusions on cost, in counted operations."""
    steps = published["steps"]
    values = quotients_of_operations(steps)
    exact = [x for label, _, _ in CURVES[:2] for x in values[label]]
    semi = [
        b / a
        for form in ("rotation matrix", "quaternion")
        for a, b in zip(values[f"exact, {form}"], values[f"semi-exact, {form}"], strict=True)
    ]
    low, high = published["exact"]
    other: dict[str, Any] = {"explanation": published["operations"], "comparable": False}
    cells = [
        Cell(f"exact over the cheapest dmv, {name} over the steps", (low, high), x, **other)
        for name, x in (("least", min(exact)), ("largest", max(exact)))
    ]
    label, mean = "semi-exact over exact, mean over the steps", sum(semi) / len(semi)
    slack = published["semi-exact tolerance"]
    cells.append(Cell(label, published["semi-exact"], mean, slack, **other))
    cells.append(
        Cell(
            "exact over dmv is least at the largest step (competitive there)",
            True,
            min(exact) in (values[label][-1] for label, _, _ in CURVES[:2]),
        )
    )
    names = ("exact", "frb", "gauss3", *APPROXIMATE)
    counts = ", ".join(f"{x} {operations(x, 'quaternion', 0.1)}" for x in names)
    notes = [
        f"Steps, chosen: {', '.join(f'{h:g}' for h in steps)}; body and counting as for Figure 6, "
        "where the times are. "
        f"Operations of a quaternion step of h = 0.1: {counts}. The step of the "
        'library is "exact", without the elliptic integrals of the report.'
    ]
    return Result([Table("Claims on CPU times, by counted operations", cells)], notes=notes)

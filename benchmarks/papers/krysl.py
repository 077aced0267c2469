"""Figures 1 to 5 of Krysl, Dynamically equivalent implicit algorithms [Krysl07].

The paper has no tables: its numbers are in pictures, and what it says of them is compared.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _drawing
from benchmarks.papers._registry import Cell, Result, Run, Table, bounded, item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

#: Those of the figures; BBTRAPWD is in the text alone.
METHODS = ("AKW", "BBTRAP", "SWC1", "TRAP", "IMID", "TRAPM", "IMIDM")
FREE = np.array([0.9144, 1.098, 1.66])
#: Moments, momentum and rotation vector at the start, torque.
EXAMPLES: dict[str, tuple[Any, Any, Any, Any]] = {
    "free": (FREE, FREE * [0.45549, 0.82623, 0.03476], [0, 0, 0], None),
    "slow": ([5, 5, 1], [0, 0, 5], [0.05, 0, 0], ph.torques.LagrangeTop()),
    "fast": ([5, 5, 1], [0, 0, 50], [0.3, 0, 0], ph.torques.LagrangeTop()),
    "wall": ([2, 3, 4.5], [2, 2, 2], [0, 0, 0], ph.torques.SoftWall("physical")),
    "wall as printed": ([2, 3, 4.5], [2, 2, 2], [0, 0, 0], ph.torques.SoftWall("printed")),
}
#: Time of the comparison and time steps of the figures 1 to 3.
STEPS = {
    "free": (100.0, [2.0**-k for k in range(6)]),
    "slow": (20.0, [0.2 / 2**k for k in range(7)]),
    "fast": (20.0, [0.02 / 2**k for k in range(6)]),
}


def run_example(example: str, method: str, h: float, n: int, **options: Any) -> ph.Trajectory:
    """Run an example by a method with n steps of h; of the states the last one is saved."""
    inertia, m0, v0, torque = EXAMPLES[example]
    options = {"save_every": n, "method": method.lower(), "splitting": None, **options}
    return ph.integrate(
        inertia, m0, ph.so3.to_matrix(ph.so3.exp(v0)), h, n, torque=torque, **options
    )


def errors(example: str, method: str, h: float, time: float, m: Array, Q: Array) -> Array:
    """Errors of momentum (2-norm) and attitude (spectral norm) at a time where (m, Q) is right."""
    end = run_example(example, method, h, round(time / h))
    return np.array([np.linalg.norm(end.m[-1] - m), np.linalg.norm(end.q[-1] - Q, 2)])


def converged(example: str) -> tuple[Array, Array]:
    """The state at the time of the comparison, from the exact step and a splitting of order 6."""
    time, steps = STEPS[example]
    n = 1 if EXAMPLES[example][-1] is None else round(time / steps[-1]) * 2
    end = run_example(example, "exact", time / n, n, splitting="rkn6_14")
    return end.m[-1], end.q[-1]


# Figures 1 to 3 ---------------------------------------------------------------------------------


def convergence(example: str) -> dict[str, Array]:
    """Errors of momentum and attitude of each method, one row for each time step."""
    time, steps = STEPS[example]
    state = converged(example)
    return {
        name: np.array([errors(example, name, h, time, *state) for h in steps]) for name in METHODS
    }


def _orders(table: dict[str, Array], order: float) -> Table:
    cells = [
        Cell(f"{name}, {what}", order, math.log2(rows[-2, k] / rows[-1, k]), 0.1)
        for name, rows in table.items()
        for k, what in enumerate(("momentum", "attitude"))
    ]
    return Table("Order", cells, "of the two smallest steps, where it still approaches its limit")


def _best(errors_of: dict[str, float]) -> str:
    return min(errors_of, key=errors_of.__getitem__)


def _figure(example: str, claims: list[Cell], published: dict[str, Any], table: Any) -> Result:
    time, steps = STEPS[example]
    tables = [_orders(table, published["order"])]
    if claims:
        tables.append(Table("What the text says", claims, f"errors at the time step {steps[-1]:g}"))
    notes = [
        "The paper prints no numbers: the cells are claims of its text and its figure. Errors at "
        f"t = {time:g} against the exact solution or a splitting of order 6; the paper compares "
        "with a run of very small steps."
    ]
    return Result(tables, partial(_draw_convergence, time, steps, table), notes)


@item("krysl-figure-1")
def figure_1(published: dict[str, Any], run: Run) -> Result:
    """Free body."""
    del run
    table = convergence("free")
    of_m, of_q = ({name: float(rows[-1, k]) for name, rows in table.items()} for k in (0, 1))
    least = min(error for name, error in of_m.items() if name not in ("IMID", "AKW"))
    attitude = "most accurate in the attitude"
    others = max(error for name, error in of_m.items() if name not in ("BBTRAP", "SWC1"))
    # Words such as "by far" have no number in the paper: the bounds follow the figure.
    claims = [
        bounded("momentum, least error but of AKW / IMID: TRAP", least / of_m["IMID"], 1.0, 3.0),
        bounded("momentum, AKW / IMID", of_m["AKW"] / of_m["IMID"], 0.99, 1.01),
        Cell(attitude, "IMID", _best(of_q), **published["slips"][attitude]),
        # An order of magnitude is nearer to 10 than to 1.
        bounded("attitude, AKW / IMID, an order of magnitude", of_q["AKW"] / of_q["IMID"], 3.0),
        bounded("momentum, BBTRAP / greatest of the others", of_m["BBTRAP"] / others, 2.0),
        bounded("momentum, BBTRAP / SWC1", of_m["BBTRAP"] / of_m["SWC1"], 1 - 1e-6, 1 + 1e-6),
    ]
    return _figure("free", claims, published, table)


@item("krysl-figure-2")
def figure_2(published: dict[str, Any], run: Run) -> Result:
    """Slow top."""
    del run
    return _figure("slow", [], published, convergence("slow"))


@item("krysl-figure-3", slow=True)
def figure_3(published: dict[str, Any], run: Run) -> Result:
    """Fast top."""
    del run
    table = convergence("fast")
    pair = ("TRAPM", "IMIDM")
    claims = []
    for k, what in enumerate(("momentum", "attitude")):
        ours = max(float(table[name][-1, k]) for name in pair)
        others = min(float(rows[-1, k]) for name, rows in table.items() if name not in pair)
        # "Significantly more accurate": at least twice.
        label = f"{what}, least error of the others / TRAPM and IMIDM"
        claims.append(bounded(label, others / ours, 2.0))
    return _figure("fast", claims, published, table)


def _draw_convergence(time: float, steps: list[float], table: dict[str, Array]) -> Figure:
    figure = _drawing.new_figure(13, 6)
    both = figure.subplots(1, 2)
    for k, (axes, (what, norm)) in enumerate(
        zip(
            both,
            (("momentum", "body frame, 2-norm, unit of momentum"), ("attitude", "spectral norm")),
            strict=True,
        )
    ):
        for name, colour, marker, size in zip(
            METHODS, _drawing.COLOURS[:7], _drawing.MARKERS, (11, 15, 6, 11, 6, 11, 6), strict=False
        ):
            # Curves that coincide stay visible.
            hollow = {"markerfacecolor": "none", "markeredgewidth": 2} if size > 11 else {}
            axes.loglog(
                steps, table[name][:, k], marker=marker, color=colour, markersize=size, label=name,
                **hollow,
            )  # fmt: skip
        least = min(rows[-1, k] for rows in table.values()) / 2
        two = [steps[-1], steps[-3]]
        axes.loglog(two, [least, 16 * least], "--", color="#777777", label="slope 2")
        axes.set_xlabel("time step Δt (unit of time)")
        axes.set_ylabel(f"error of the {what} at t = {time:g}\n({norm})")
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


# Figures 4 and 5 --------------------------------------------------------------------------------


def energy_ratio(example: str, method: str, h: float, n: int) -> tuple[Array, float]:
    """Energy relative to its initial value after each step, and the greatest rotation of a step.

    The rotation is in degrees, between the attitudes before and after the step.
    """
    traj = run_example(example, method, h, n, save_every=1)
    energy = traj.energy()
    turn = np.trace(np.swapaxes(traj.q[:-1], 1, 2) @ traj.q[1:], axis1=1, axis2=2)
    angle = np.degrees(np.arccos(np.clip((turn - 1) / 2, -1, 1)))
    return energy / energy[0], float(angle.max())


def _complete(ratio: Array) -> bool:
    """Whether the run has neither lost its solution nor half or twice its energy."""
    return bool(((ratio > 0.5) & (ratio < 2)).all())


WALL_NOTE = (
    "The torque is that of the printed formula, with a bracket around its two powers: "
    "(-r^-2 + 0.01 r^-11) (-R23, R13, 0), r = 1.1 + R33. The ranges of AKW, BBTRAP and SWC1 are "
    "not reproducible to digits: where these runs wander to depends on the last bits."
)
#: Steps of a quick run, and of one with the attraction, which no method survives.
QUICK_STEPS, LOST_STEPS = 4000, 20


def _wall(published: dict[str, Any], run: Run) -> tuple[dict[str, Array], list[Cell], Table]:
    """Energies with the torque as printed, the greatest rotations, and the runs of the text."""
    h, n = published["h"], QUICK_STEPS if run.quick else published["steps"]
    label = "with the attraction of the text"
    ratios, rotations, lost = {}, [], []
    for name in published["methods"]:
        ratios[name], angle = energy_ratio("wall as printed", name, h, n)
        bounds = (float(published["rotation"]), math.inf)
        rotations.append(
            Cell(f"{name}, greatest rotation of a step", bounds, angle, unit="degrees")
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*(found no root|did not converge)", RuntimeWarning)
            text, _ = energy_ratio("wall", name, h, LOST_STEPS)
        lost.append(
            Cell(
                f"{name} keeps its solution", True, _complete(text),
                slipped=_complete(ratios[name]), **published["slips"][label],
            )
        )  # fmt: skip
    return ratios, rotations, Table(f"What the figure shows, {label}", lost)


@item("krysl-figure-4", slow=True)
def figure_4(published: dict[str, Any], run: Run) -> Result:
    """Energies of the methods of others; quick: 4000 steps."""
    ratios, cells, lost = _wall(published, run)
    tables = [Table("What the text says", cells), lost]
    return Result(tables, partial(_draw_energies, ratios, published["h"]), [WALL_NOTE])


@item("krysl-figure-5", slow=True)
def figure_5(published: dict[str, Any], run: Run) -> Result:
    """Energies of the methods of the paper; quick: 4000 steps, not beside Figure 4."""
    ratios, cells, lost = _wall(published, run)
    for one, other in (("TRAP", "IMID"), ("TRAPM", "IMIDM")):
        ranges = float(np.ptp(ratios[one]) / np.ptp(ratios[other]))
        cells.append(bounded(f"range of the energy, {one} / {other}", ranges, 1.0))
    if not run.quick:
        h, n = published["h"], published["steps"]
        others = [
            energy_ratio("wall as printed", name, h, n)[0] for name in ("AKW", "BBTRAP", "SWC1")
        ]
        scale = _largest(others) / _largest(ratios.values())
        label = "largest change of the energy, Figure 4 / Figure 5"
        # The scale of an axis, which has round numbers.
        cells.append(Cell(label, float(published["scale"]), scale, 1.5, "factor"))
    tables = [Table("What the text says", cells), lost]
    return Result(tables, partial(_draw_energies, ratios, published["h"]), [WALL_NOTE])


def _largest(ratios: Iterable[Array]) -> float:
    return max(float(np.abs(ratio - 1).max()) for ratio in ratios)


def _draw_energies(ratios: dict[str, Array], h: float) -> Figure:
    figure = _drawing.new_figure(11, 1.2 + 2.0 * len(ratios))
    all_axes = figure.subplots(len(ratios), 1, sharex=True, sharey=True)
    for axes, (name, ratio), colour in zip(
        all_axes, ratios.items(), _drawing.COLOURS[1:], strict=False
    ):
        times = h * np.arange(len(ratio))
        # As pixels: 40,000 points make a large vector picture.
        axes.plot(times, ratio, color=colour, linewidth=0.4, rasterized=True)
        axes.set_title(name, loc="left", y=0.98)
    all_axes[-1].set_xlabel(f"time t, steps Δt = {h:g}")
    figure.supylabel("energy / energy at the start")
    return figure

"""Figures 3 to 7 of Buss, Accurate and efficient simulation of rigid body rotations [Buss01].

All of them are tables: of the cost of a step (3), of the energy that a free body has after many
steps (4, 5), and of the number of steps that a given accuracy takes (6, 7).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _buss_slips, _drawing
from benchmarks.papers._registry import Cell, Result, Run, Table, item, printed_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

#: Moments and momentum of the experiments, as the printed numbers need them.
J = np.array([0.95, 0.09, 0.94]) / 3
M0 = 3 / math.sqrt(2) * np.array([1.0, 1.0, 0.0])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])

#: Method of the library and its options for each row of the tables.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "1st order": ("taylor1", {}),
    "2nd order": ("taylor2", {}),
    "false 3rd order": ("taylor3_false", {}),
    "augmented 2nd order": ("taylor2_augmented", {}),
    "3rd order": ("taylor3", {}),
    "4th order": ("taylor4", {}),
    "Simo-Wong explicit": ("simo_wong_explicit", {"start": "buss"}),
    "McLachlan-Reich 1-2-3": ("rotations123", {}),
    "McLachlan-Reich 2-3-1": ("rotations231", {}),
    "MR 4th order 2-3-1": ("rotations231_4", {}),
    "Runge-Kutta": ("rk4_rotation", {}),
    "AB-AM": ("abam_rotation", {"start": "buss"}),
}
#: Rows that were printed with a slip of the program, and functions that repeat it.
SLIPPED = {"Simo-Wong explicit": _buss_slips.simo_wong, "AB-AM": _buss_slips.abam}
#: End of the label of a row with the energy correction.
ENERGY = ", energy"

#: Colours for the rows after the seven of the other pictures.
MORE = ("#8c564b", "#6a3d9a", "#999933", "#aa4499", "#555555")

SETTING = (
    "The moments of inertia are (0.95, 0.09, 0.94)/3, the momentum is 3 (1, 1, 0)/sqrt 2. These "
    "moments, which the printed numbers need, are not those of a box of 1 : 4 : 18, but what the "
    "half lengths 0.2, 0.9, 0.05 give if of the three only the first is squared."
)


# Figure 3 ---------------------------------------------------------------------------------------

#: Costs in multiplications.
TRIGONOMETRIC, ROOT, QUOTIENT = 8, 5, 3
ROTATION = 2 * TRIGONOMETRIC + ROOT + QUOTIENT + 21
#: The energy correction: as the text counts it, and as the table has it.
CORRECTION_OF_TEXT = 32 + QUOTIENT + 3 * ROOT + ROTATION
CORRECTION = 90
MULTIPLICATIONS = {
    "1st order": 15, "2nd order": 27, "augmented 2nd order": 36, "3rd order": 61, "4th order": 99,
}  # fmt: skip


def costs(correction: int = CORRECTION) -> dict[str, tuple[float, float]]:
    """Relative cost of a step of each method, without and with the energy correction."""
    cost: dict[str, float] = {name: n + ROTATION for name, n in MULTIPLICATIONS.items()}
    cost["symplectic 2nd order"] = 85 + 10 * TRIGONOMETRIC
    cost["symplectic 4th order"] = 221 + 26 * TRIGONOMETRIC
    unit = cost["3rd order"] + correction
    return {name: (n / unit, (n + correction) / unit) for name, n in cost.items()}


def slip_of(published: dict[str, Any], label: str) -> dict[str, Any]:
    """Arguments of a cell whose printed value is a slip or differs for another reason."""
    slip = published["slips"].get(label)
    if slip is None:
        return {}
    result: dict[str, Any] = {"explanation": slip["explanation"]}
    if "right" in slip:
        result["right"] = float(slip["right"])
    if "right_tolerance" in slip:
        result["right_tolerance"] = slip["right_tolerance"]
    return result


def _correction_of_the_table(printed: dict[str, list[str]]) -> int:
    """Multiplications of an energy correction that fit the printed costs best."""

    def misfit(correction: int) -> float:
        ours = costs(correction)
        # Without the worst of them, which is a misprint.
        off = [
            abs(float(x) - y)
            for name, both in printed.items()
            for x, y in zip(both, ours[name], strict=True)
        ]
        return float(np.mean(np.sort(off)[:-1]))

    return min(range(80, 101), key=misfit)


def _with_correction(printed: dict[str, list[str]], name: str) -> float:
    """Cost with the energy correction, from the printed ones without it and of the other rows."""
    others = [float(b) - float(a) for row, (a, b) in printed.items() if row != name]
    return float(printed[name][0]) + float(np.median(others))


@item("buss-figure-3")
def figure_3(published: dict[str, Any], run: Run) -> Result:
    """Cost of a step."""
    del run
    printed_costs = published["costs"]
    ours = costs()
    cells = [
        # Some of the last digits are cut off, not rounded.
        printed_cell(
            label,
            printed,
            value,
            places=0.76,
            # The printed numbers it comes from are rounded.
            **(
                {"check": _with_correction(printed_costs, name), "right_tolerance": 0.01} | slip
                if (slip := slip_of(published, label))
                else {}
            ),
        )
        for name, both in published["costs"].items()
        for label, printed, value in zip(
            (f"{name}, without", f"{name}, with"), both, ours[name], strict=True
        )
    ]
    correction = Cell(
        "an energy correction, by the text and as the table needs it",
        float(CORRECTION_OF_TEXT),
        float(_correction_of_the_table(printed_costs)),
        unit="multiplications",
        **slip_of(published, "correction"),
    )
    note = (
        f"By the counts and weights of the text: a sine or cosine costs {TRIGONOMETRIC} "
        f"multiplications, a square root {ROOT}, a division {QUOTIENT}. The table takes "
        f"{CORRECTION} for an energy correction; the counts of the text add up to "
        f"{CORRECTION_OF_TEXT}, with which most cells would differ."
    )
    table = Table("Cost of a step", cells, "three quarters of a unit in the last place")
    other = Table("Energy correction", [correction], "none: these are counts.")
    return Result([table, other], partial(_draw_costs, published["costs"], ours), [note])


def _draw_costs(printed: dict[str, list[str]], ours: dict[str, tuple[float, float]]) -> Figure:
    figure = _drawing.new_figure(10, 5.5)
    axes = figure.subplots()
    at = np.arange(len(ours))
    for k, label in enumerate(("without", "with")):
        place = at + (k - 0.5) * 0.38
        axes.barh(
            place, [x[k] for x in ours.values()], 0.36, color=_drawing.COLOURS[(6, 1)[k]],
            label=f"{label} energy correction, recomputed",
        )  # fmt: skip
        axes.plot(
            [float(printed[name][k]) for name in ours], place, "D", color=_drawing.COLOURS[2],
            markersize=6, label="printed" if k else None,
        )  # fmt: skip
    axes.set_yticks(at, list(ours))
    axes.invert_yaxis()
    axes.set_xlabel("cost of a step / cost of a 3rd-order step with energy correction")
    axes.legend(loc="upper right")
    return figure


# Figures 4 and 5 --------------------------------------------------------------------------------


def energy_after(name: str, h: float, n: int, **options: Any) -> float:
    """Energy after n - 1 steps of h; the tables print it under N = n."""
    m, _ = ph.step(J, M0, IDENTITY, h, method=name, n_steps=n - 1, **options)
    return float(ph.energy(J, m))


def energy_tolerance(printed: float) -> float:
    """Half a unit of the last digit that an energy has when it is not ended by a zero."""
    return 0.51 * 10.0 ** -(3 if printed >= 100 else 4)


def mean_velocity() -> float:
    """Mean angular velocity of the body, in degrees per unit time."""
    m, _ = ph.step(J, M0, IDENTITY, np.linspace(0.0, 4.0, 40_001))
    return math.degrees(float(np.linalg.norm(m / J, axis=1).mean()))


def each(work: Callable[..., Any], jobs: list[Any], run: Run) -> list[Any]:
    """The results of the jobs, on as many threads as the run has."""
    threads = None if run.threads == -1 else run.threads or 1
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, jobs))


def _energies(published: dict[str, Any], run: Run, columns: list[int]) -> Result:
    steps, sizes = published["steps"], published["h"]

    def recompute(job: tuple[str, int]) -> tuple[float, float | None]:
        row, k = job
        name, options = METHODS[row]
        h, n = float(sizes[k]), steps[k]
        energy = energy_after(name, h, n, **options)
        if row not in SLIPPED:
            return energy, None
        m = np.array(SLIPPED[row](J, M0, h, n - 1).m)
        return energy, float(ph.energy(J, m))

    jobs = [(row, k) for row in published["energies"] for k in columns]
    values = dict(zip(jobs, each(recompute, jobs, run), strict=True))
    cells = []
    for (row, k), (energy, slipped) in values.items():
        printed = published["energies"][row][k]
        label = f"{row}, h = {sizes[k]}"
        slip = slip_of(published, label) or slip_of(published, row)
        tolerance = energy_tolerance(float(printed))
        cells.append(
            Cell(label, float(printed), energy, tolerance, slipped=slipped, printed=printed, **slip)
        )
    velocity = mean_velocity()
    turns = [
        printed_cell(
            f"h = {sizes[k]}", published["mean_rotation"][k], velocity * float(sizes[k]),
            places=0.55, unit="degrees",
        )
        for k in columns
    ]  # fmt: skip
    notes = [
        SETTING + " Under N steps the tables have the energy after N - 1.",
        f"The energy at the start is {float(ph.energy(J, M0)):.4f}; the greatest possible is 150.",
    ]
    tables = [
        Table("Energy", cells, "half a unit in the last place, of six digits"),
        Table("Mean rotation of a step, exact motion", turns, "half a unit in the last place"),
    ]
    return Result(tables, partial(_draw_energies, published, values, columns), notes)


@item("buss-figure-4", slow=True)
def figure_4(published: dict[str, Any], run: Run) -> Result:
    """Energies after small steps; quick: after the smallest and the greatest."""
    return _energies(published, run, [0, 4] if run.quick else [0, 1, 2, 3, 4])


@item("buss-figure-5")
def figure_5(published: dict[str, Any], run: Run) -> Result:
    """Energies after large steps."""
    return _energies(published, run, [0, 1, 2, 3])


def _look(rows: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with a colour and a marker of its own."""
    for row, colour, marker in zip(rows, _drawing.COLOURS + MORE, _drawing.MARKERS, strict=False):
        yield row, {"color": colour, "marker": marker}


def _draw_energies(
    published: dict[str, Any],
    values: dict[tuple[str, int], tuple[float, float | None]],
    columns: list[int],
) -> Figure:
    figure = _drawing.new_figure(11, 7)
    axes = figure.subplots()
    start = float(ph.energy(J, M0))
    h = [float(published["h"][k]) for k in columns]
    for row, look in _look(list(published["energies"])):
        ours = [values[row, k][0] for k in columns]
        axes.plot(h, np.abs(np.array(ours) - start), label=row, **look)
        if row in SLIPPED:
            slipped = [values[row, k][1] or math.nan for k in columns]
            axes.plot(
                h, np.abs(np.array(slipped) - start), label=f"{row}, with the slip",
                **(look | {"linestyle": ":", "markersize": 4}),
            )  # fmt: skip
        printed = [float(published["energies"][row][k]) for k in columns]
        # Below its last digit a printed energy is that of the start.
        off = np.maximum(np.abs(np.array(printed) - start), 5e-5)
        axes.plot(h, off, "o", markersize=13, markerfacecolor="none", markeredgecolor="#777777")
    axes.plot([], [], "o", markersize=13, markerfacecolor="none", markeredgecolor="#777777",
              label="printed")  # fmt: skip
    axes.axhline(150 - start, color="#777777", linewidth=1)
    axes.annotate("greatest possible energy", (h[0], 150 - start), (0, 5),
                  textcoords="offset points", fontsize=12)  # fmt: skip
    lowest = min(abs(energy - start) for energy, _ in values.values()) / 3
    if lowest < 5e-5:
        axes.axhspan(lowest, 5e-5, color="#eeeeee")
        axes.annotate("below the last printed digit", (h[-1], 5e-5), (0, -18),
                      textcoords="offset points", fontsize=12, ha="right")  # fmt: skip
    axes.set(xscale="log", yscale="log", ylim=(lowest, 300))
    _drawing.plain_logarithm(axes.xaxis, h)
    axes.set_xlabel("time step h")
    axes.set_ylabel("|energy after N - 1 steps - energy at the start|")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure

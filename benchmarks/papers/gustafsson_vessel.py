"""Table 3 and Figure 4 of Gustafsson's thesis: the vessel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _drawing
from benchmarks.papers._registry import Cell, Result, Run, Table, bounded, item, printed_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

MOMENTS = np.array([3.2164e8, 5.4782e9, 5.7426e9])
T_END = 15.0


def vessel(damping: float | None) -> ph.torques.Vessel:
    """The supply ship of the thesis."""
    coefficients = None if damping is None else [damping] * 3
    return ph.torques.Vessel(6.3622e6, gm_l=103.628, gm_t=2.1444, damping=coefficients)


def vessel_run(
    h: float,
    n_steps: int,
    *,
    method: str,
    damping: float | None = 1e9,
    splitting: str = "strang",
    save_every: int = 1,
) -> ph.Trajectory:
    """The ship from its published initial state, omega = (1, 1, 1)."""
    return ph.integrate(
        MOMENTS,
        MOMENTS,
        [1.0, 0.0, 0.0, 0.0],
        h,
        n_steps,
        torque=vessel(damping),
        splitting=splitting,
        method=method,
        save_every=save_every,
    )


def vessel_reference() -> tuple[Array, Array]:
    """Momentum and attitude of the damped ship at t = 15, by a splitting of order 10."""
    n = 300
    traj = vessel_run(T_END / n, n, method="exact", splitting="sofroniou10_35", save_every=n)
    return traj.m[-1], traj.q[-1]


def vessel_errors(method: str, h: float, reference: tuple[Array, Array]) -> tuple[float, float]:
    """Relative error of m and error of q at t = 15, as in the thesis before Table 3."""
    n = round(T_END / h)
    traj = vessel_run(h, n, method=method, save_every=n)
    m, q = reference
    return (
        float(np.linalg.norm(traj.m[-1] - m) / np.linalg.norm(m)),
        float(np.linalg.norm(traj.q[-1] - q)),
    )


def _from_quotient(slip: dict[str, Any]) -> float | None:
    """An error of Table 3 from its printed quotient to the next row and that row."""
    pair = slip.get("quotient and next row")
    return None if pair is None else float(pair[0]) * float(pair[1])


@item("gustafsson-table-3")
def table_3(published: dict[str, Any], run: Run) -> Result:
    """Errors of the Stormer-Verlet scheme on the damped vessel."""
    reference = vessel_reference()
    slips = published["slips"]
    tables = []
    for method, rows in published["errors"].items():
        errors = [vessel_errors(method, h, reference) for h in published["h"]]
        cells = []
        for i, h in enumerate(published["h"]):
            for k, symbol in enumerate("mq"):
                label = f"e[{symbol}], h = {h:g}"
                slip = slips.get(f"{method} {label}", {})
                cells.append(
                    printed_cell(
                        label,
                        rows[symbol][i],
                        errors[i][k],
                        places=published["places"],
                        unit="of |m|" if symbol == "m" else "",
                        check=_from_quotient(slip),
                        right=float(slip["right"]) if "right" in slip else None,
                        explanation=slip.get("text", ""),
                    )
                )
        cells += [
            printed_cell(
                f"e[{symbol}](h = {h:g}) / e[{symbol}](h/2)",
                published["ratios"][method][symbol][i],
                errors[i][k] / errors[i + 1][k],
                places=published["places of ratios"],
            )
            for i, h in enumerate(published["h"][:-1])
            for k, symbol in enumerate("mq")
        ]
        tables.append(Table(f"Order {method[-1]} ({method})", cells, published["tolerance"]))
    fine = [vessel_errors(name, 0.1, reference) for name in ("magnus4", "magnus6", "magnus8")]
    digits = max(abs(row[k] / fine[-1][k] - 1) for row in fine for k in range(2))
    tables.append(
        Table(
            "What the text says of it",
            [
                bounded(
                    "orders 4, 6 and 8 equal to 3 digits: largest relative difference, h = 0.1",
                    digits, high=1e-3,
                )
            ],
        )
    )  # fmt: skip
    notes = ["The reference at t = 15 is a splitting of order 10 around the exact step, h = 0.05."]
    return Result(tables, notes=notes)


def period_by_the_mean(inertia: Array, m: Array) -> float:
    """Period 4 K / lambda of the momentum, by the arithmetic-geometric mean."""
    (i1, i2, i3), square, twice = inertia, float(m @ m), float(m @ (m / inertia))
    if square < twice * i2:  # around axis 1
        i1, i3 = i3, i1
    speed = math.sqrt((square - twice * i1) * (i3 - i2) / (i1 * i2 * i3))
    k2 = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1))
    a, b = 1.0, math.sqrt(1 - k2)
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi / (a * speed)


@item("gustafsson-figure-4")
def figure_4(published: dict[str, Any], run: Run) -> Result:
    """The vessel free, with restoring moments, and damped."""
    h = 0.0125
    n = round(T_END / h)
    free = ph.integrate(MOMENTS, MOMENTS, [1.0, 0.0, 0.0, 0.0], h, n, method="magnus8")
    undamped = vessel_run(h, n, method="magnus8", damping=None)
    damped = vessel_run(h, n, method="magnus8")
    late = vessel_run(0.0125, 48000, method="exact", save_every=1200)  # every 15 s, to t = 600
    period = float(ph.TorqueFreeMotion(MOMENTS, MOMENTS, [1, 0, 0, 0]).period)
    size = np.linalg.norm(late.m, axis=-1)
    limit = late.q[-1]
    yaw = float(abs(limit[3]))
    slips = published["slips"]

    def swing(traj: ph.Trajectory) -> Array:
        return np.asarray(np.ptp(traj.m, axis=0))

    free_swing, tied = swing(free), swing(undamped)
    cells = [
        bounded(
            "free: m1 is quite stable, its range over that of m2",
            free_swing[0] / free_swing[1], high=0.15,
        ),
        *(
            Cell(
                f"restoring moments make the range of m{i + 1} smaller",
                True, bool(tied[i] < free_swing[i]),
            )
            for i in (1, 2)
        ),
        bounded(
            "damping: |m| at t = 15 is small beside that at the start",
            size[1] / size[0], high=0.1, unit="of |m(0)|",
        ),
        bounded(
            "damping: roll and pitch vanish, (q1, q2) at the end",
            np.hypot(limit[1], limit[2]), high=1e-6,
        ),
        Cell(
            "period of the oscillations",
            published["period"],
            period,
            0.5,
            unit="s",
            check=period_by_the_mean(MOMENTS, MOMENTS),
            right_tolerance=slips["period"]["right_tolerance"],
            explanation=slips["period"]["text"],
        ),
        *(
            Cell(
                f"equilibrium reached, {label}", published["q"][k], value, 5e-4,
                right=slips["q"]["right"][k // 3], explanation=slips["q"]["text"],
                right_tolerance=slips["q"]["right_tolerance"],
            )
            for label, k, value in (("q0", 0, float(limit[0])), ("|q3|", 3, yaw))
        ),
    ]  # fmt: skip

    def draw() -> Figure:
        figure = _drawing.new_figure(12.0, 12.0)
        axes = figure.subplots(3, 2, sharex=True)
        cases = (("free", free), ("restoring moments", undamped), ("restoring, damped", damped))
        lines = ("-", "--", "-.", ":")
        for (left, right), (title, traj) in zip(axes, cases, strict=True):
            for i in range(3):
                left.plot(
                    traj.t, traj.m[:, i] / 1e9, lines[i], color=_drawing.COLOURS[i],
                    label=f"m{i + 1}",
                )  # fmt: skip
            for i in range(4):
                right.plot(traj.t, traj.q[:, i], lines[i], color=_drawing.COLOURS[i], label=f"q{i}")
            left.set_title(f"momentum, {title}")
            right.set_title(f"attitude, {title}")
            left.set_ylabel("m (1e9 kg m2/s)")
            right.set_ylabel("q")
            right.set_ylim(-1.1, 1.1)
        for a in axes[-1]:
            a.set_xlabel("t (s)")
            a.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4)
        return figure

    return Result([Table("What the text says of it", cells)], draw)

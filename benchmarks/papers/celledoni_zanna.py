"""Figures 5 to 7 of the report of Celledoni and Zanna, FRB-FORTRAN, and the claims of its text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import polhode as ph
from benchmarks._bodies import report_top
from benchmarks.papers import _drawing
from benchmarks.papers._ode import by_runge_kutta
from benchmarks.papers._registry import Cell, Result, Run, Table, bounded, item, printed_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


def octant(count: int) -> Array:
    """Unit momenta with components above zero, (count, 3)."""
    m = np.abs(np.random.default_rng(2008).normal(size=(count, 3)))
    return np.asarray(m / np.linalg.norm(m, axis=-1, keepdims=True))


# Figure 5 and the accuracy ------------------------------------------------------------------------


def triangle(columns: int, rows: int) -> tuple[Array, NDArray[np.bool_]]:
    """Points I1/I3 and I2/I3 of the grid, and which of them lie in 1 - y <= x < y."""
    x = (np.arange(columns) + 0.5) / columns
    y = 0.5 + (np.arange(rows) + 0.5) / (2 * rows)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), -1)
    inside = (1 - grid[..., 1] <= grid[..., 0]) & (grid[..., 0] < grid[..., 1])
    return grid, inside


def attitude(inertia: ArrayLike, m: ArrayLike, h: float) -> tuple[Array, str]:
    """The attitude after a step from no turn, right to the last place, and how it was computed."""
    try:
        from polhode import quad
    except ImportError:
        return ph.step(inertia, m, NO_TURN, h)[1], "another formula in double precision"
    return quad.step(inertia, m, NO_TURN, h)[1], "quadruple precision"


def errors_of_the_routines(inertia: Array, m: Array, run: Run) -> tuple[dict[str, Array], str]:
    """Errors of `frb_step` and `quat_step` after a step of 1: Frobenius norm and 2-norm."""
    exact, how = attitude(inertia, m, 1.0)
    _, Q = ph.frb_step(inertia, m, np.eye(3), 1.0, threads=run.threads)
    _, q = ph.quat_step(inertia, m, NO_TURN, 1.0, threads=run.threads)
    return {
        "matrix": np.linalg.norm(Q - ph.so3.to_matrix(exact), axis=(-2, -1)),
        "quaternion": np.linalg.norm(q - exact, axis=-1),
    }, how


def digits(errors: Array) -> Array:
    """log10 of errors, of which an error below eps/4 counts as eps/4."""
    return np.asarray(np.log10(np.maximum(errors, EPS / 4)))


@item("report-figure-5", slow=True)
def figure_5(published: dict[str, Any], run: Run) -> Result:
    """Mean errors of the exact routines over the triangle of inertias."""
    columns, rows = (25, 12) if run.quick else published["grid"]
    grid, inside = triangle(columns, rows)
    points = grid[inside]
    inertia = np.concatenate([points, np.ones((len(points), 1))], -1)[:, None, :]
    errors, how = errors_of_the_routines(inertia, octant(published["states"]), run)
    means = {name: digits(error).mean(-1) for name, error in errors.items()}
    cells = []
    for name, mean in means.items():
        small = float(np.mean(mean < math.log10(10 * EPS)))
        cells += [
            bounded(
                f"{name}: part of the triangle with machine accuracy (mean error below 10 eps)",
                small, 0.5, 1.0, unit="of the triangle",
            ),
            bounded(
                f"{name}: mean of log10 of the error over the triangle",
                mean.mean(), high=math.log10(10 * EPS), unit="log10",
            ),
            bounded(
                f"{name}: I1/I3 where the mean error is largest, which the report has top left",
                points[mean.argmax(), 0], 0.0, 0.25,
            ),
        ]  # fmt: skip

    def draw() -> Figure:
        figure = _drawing.new_figure(9.0, 10.0)
        axes = figure.subplots(2, 1, sharex=True)
        low = min(float(mean.min()) for mean in means.values())
        high = max(float(mean.max()) for mean in means.values())
        for one, (name, mean) in zip(axes, means.items(), strict=True):
            image = np.full(inside.shape, np.nan)
            image[inside] = mean
            drawn = one.imshow(
                image.T, origin="lower", extent=(0, 1, 0.5, 1), aspect="auto",
                cmap="cividis", vmin=low, vmax=high,
            )  # fmt: skip
            one.set_title(f"{name} routine")
            one.set_ylabel("I2 / I3")
            one.grid(visible=False)
        axes[-1].set_xlabel("I1 / I3")
        figure.colorbar(drawn, ax=axes, label="mean of log10 of the error of the attitude, h = 1")
        return figure

    notes = [
        f"{columns} x {rows} grid, {len(points)} points in the triangle, {published['states']} "
        f"states each, one step of h = 1 with I3 = 1 and |m| = 1. Reference: {how}, in place of "
        "ode45. Errors: Frobenius norm of the difference of matrices, 2-norm of that of "
        "quaternions; one below eps/4 counts as eps/4."
    ]
    notes.append(
        "Top left the report says that its reference, ode45, is not fully reliable, so that the "
        "errors there need not be those of the routines. Here the reference is."
    )
    tolerance = (
        "large portions are at least half, below 10 eps, top left is I1/I3 below 1/4: chosen, the "
        "report has no numbers."
    )
    return Result([Table("What the figure shows", cells, tolerance)], draw, notes)


def order_of(method: str) -> float:
    """Observed order of the attitude of a method: body and step of a smooth error."""
    inertia, m = np.array([1.0, 1.5, 2.2]), octant(20)
    exact = ph.step(inertia, m, NO_TURN, 4.0)[1]
    counts = {"gauss1": 16, "gauss2": 8, "gauss3": 8, "gauss4": 4}
    n = counts[method]
    coarse, fine = (
        np.linalg.norm(ph.step(inertia, m, NO_TURN, 4.0 / k, method=method, n_steps=k)[1] - exact)
        for k in (n, 2 * n)
    )
    return math.log2(coarse / fine)


@item("report-accuracy")
def accuracy(published: dict[str, Any], run: Run) -> Result:
    """Claims of sections 3.3, 4.1 and 4.2 on accuracy."""
    grid, inside = triangle(25, 12)
    points = grid[inside]
    inertia = np.concatenate([points, np.ones((len(points), 1))], -1)[:, None, :]
    errors, how = errors_of_the_routines(inertia, octant(published["states"]), run)
    cells = [
        bounded(
            f"4.1, {name}: part of the solved problems with an error below 10 eps",
            float(np.mean(error < 10 * EPS)), 0.5, 1.0, unit="of the problems",
        )
        for name, error in errors.items()
    ]  # fmt: skip
    # At one step of 10 and 100 of 0.1.
    m = octant(20)
    body = np.array([1.0, 1.5, 2.2])
    once = ph.quat_step(body, m, NO_TURN, 10.0)[1]
    many = ph.quat_step(body, m, NO_TURN, 0.1, n_steps=100)[1]
    change = np.abs(once - many).max()
    cells.append(
        bounded(
            "4.2: one step gives the exact solution, largest change against 100 steps",
            change, high=64 * EPS,
        )
    )  # fmt: skip
    cells += [
        Cell(f"3.3: order of the quadrature with {p} points", 2.0 * p, order_of(f"gauss{p}"), 0.2)
        for p in (1, 2, 3, 4)
    ]
    after = ph.step(body, m, NO_TURN, 1.0, method="gauss1")
    kept = np.abs(ph.momentum_spatial(*after) - ph.momentum_spatial(m, NO_TURN)).max()
    exact = ph.step(body, m, NO_TURN, 1.0)[0]
    off = np.abs(after[0] - exact).max()
    cells += [
        bounded("3.3: semi-exact methods conserve Q m, largest change", kept, high=16 * EPS),
        bounded("3.3: semi-exact methods integrate m exactly, error", off, high=16 * EPS),
    ]
    corner = np.array([0.02, 0.985, 1.0])
    general = by_runge_kutta("DOP853", corner, m[0], NO_TURN, 1.0)
    cells.append(
        bounded(
            "4.1: a general integrator is not fully reliable in the top left corner: error of "
            "DOP853 (the report: ode45), I1/I3 = 0.02",
            np.linalg.norm(general - attitude(corner, m[0], 1.0)[0]),
            low=10 * EPS,
        )
    )
    notes = [
        f"Errors against {how}; grid of 25 x 12, otherwise as for Figure 5.",
        "The general integrator is DOP853 of SciPy with the tolerances of ode45.",
    ]
    return Result([Table("Claims", cells, published["tolerance"])], notes=notes)


# Figure 7 -----------------------------------------------------------------------------------------


def with_a4(
    printed: dict[str, list[str]], a4: str, number: Callable[[str], Any] = float
) -> tuple[list[Any], list[Any]]:
    """Flows and kicks of the scheme (23) with this a4; a8 and b7 follow from the sums."""
    a, b = ([number(x) for x in printed[letter]] for letter in "ab")
    a[3] = number(a4)
    a.append(1 - 2 * sum(a))
    b.append(number("0.5") - sum(b))
    return a + a[-2::-1], b + b[::-1]


def defect_of_a4(printed: dict[str, list[str]], a4: str) -> Fraction:
    """The sum of b c^2 less 1/3, a condition of order 3, of the printed digits with another a4."""
    flows, kicks = with_a4(printed, a4, Fraction)
    at = itertools.accumulate(flows)
    return sum((b * c**2 for b, c in zip(kicks, at, strict=False)), Fraction(0)) - Fraction(1, 3)


@item("report-figure-7")
def figure_7(published: dict[str, Any], run: Run) -> Result:
    """The momentum of the heavy top over a long time."""
    data = report_top()
    h = float(data["h"])
    n_steps = round(float(data["t_end"]) / h) // (5 if run.quick else 1)
    inertia, m0, u0 = (data[key] for key in ("inertia", "m0", "u0"))
    traj = ph.integrate(
        inertia,
        m0,
        data["Q0"],
        h,
        n_steps,
        torque=ph.torques.HeavyTop(u0=u0),
        splitting="rkn6_14",
    )
    m = traj.m
    kinetic = ph.energy(inertia, m)
    total = traj.energy()
    weight = float(np.linalg.norm(u0))
    cells = [
        Cell("input: |u0|", published["u0"], weight, 1e-9),
        bounded(
            "the trajectory stays bounded: largest distance of |m| from 1",
            np.abs(np.linalg.norm(m, axis=-1) - 1).max(),
            high=1e-3,
        ),
        bounded(
            "it stays near the unperturbed problem: largest change of T",
            np.abs(kinetic - kinetic[0]).max(),
            high=2 * weight,
        ),
        bounded(
            "no drift: largest change of T + u3 in the second half over that in the first",
            _largest(total[n_steps // 2 :], total[0]) / _largest(total[: n_steps // 2], total[0]),
            high=1.5,
        ),
    ]
    stages = next(s for s in ph.splittings() if s.name == "rkn6_14").stages
    kinds = {"a": "flow", "b": "kick"}
    printed = published["coefficients"]
    misprint = published["slips"]["a4"]
    as_printed, with_corrected = (
        defect_of_a4(printed, a4) for a4 in (printed["a"][3], misprint["corrected"])
    )
    # A torque a thousand times stronger, so that the error is above rounding.
    strong = ph.torques.HeavyTop(u0=1000 * u0)

    def order_with(a4: str) -> float:
        """Observed order of the printed coefficients, of a8 from their sum, and of this a4."""
        scheme = with_a4(printed, a4)
        ends = [
            ph.integrate(
                inertia, m0, data["Q0"], 20 / n, n, torque=strong, splitting=scheme,
                save_every=n,
            ).m[-1]
            for n in (40, 80, 160)
        ]  # fmt: skip
        first, second = (np.linalg.norm(a - b) for a, b in itertools.pairwise(ends))
        return math.log2(first / second)

    cells += [
        Cell(f"order of the scheme (23), a4 {what}, a8 from the sum", 6.0, order_with(a4), 0.2)
        for what, a4 in (("as printed", printed["a"][3]), ("corrected", misprint["corrected"]))
    ]
    # The defect is nearly linear in a4.
    first, second = Fraction(printed["a"][3]), Fraction(misprint["corrected"])
    fourth = second - with_corrected * (second - first) / (with_corrected - as_printed)
    coefficients = []
    for letter, kind in kinds.items():
        ours = [stage[1] for stage in stages if stage[0] == kind]
        for i, digits_of in enumerate(published["coefficients"][letter]):
            slip = published["slips"].get(f"{letter}{i + 1}", {})
            cell = printed_cell(f"{letter}{i + 1}", digits_of, float(ours[i]))
            coefficients.append(
                replace(
                    cell,
                    tolerance=published["coefficient tolerance"],
                    check=float(fourth) if slip else None,
                    explanation=slip.get("text", ""),
                )
            )

    def draw() -> Figure:
        figure = _drawing.new_figure(15.0, 7.5)
        whole: Any = figure.add_subplot(1, 2, 1, projection="3d")
        blue, orange = _drawing.COLOURS[1], _drawing.COLOURS[2]
        shown = m[:: max(1, n_steps // 20000)]
        near = _close_up(m)
        whole.plot(*shown.T, ".", markersize=1.0, color=blue, rasterized=True)
        whole.plot(*m[near][::5].T, ".", markersize=2.0, color=orange, rasterized=True)
        whole.set(xlabel="m1", ylabel="m2", zlabel="m3")
        whole.set_title(f"m at {n_steps} steps of h = 0.5 (|m(0)| = 1)")
        whole.locator_params(nbins=4)
        for axis in (whole.xaxis, whole.yaxis, whole.zaxis):
            axis.labelpad = 12
        whole.zaxis.labelpad = 24
        whole.tick_params("z", pad=18)
        close = figure.add_subplot(1, 2, 2)
        close.plot(m[near][:, 0], m[near][:, 1], ".", markersize=2.0, color=orange)
        close.set(xlabel="m1", ylabel="m2", title="close-up of the orange section, seen along m3")
        return figure

    notes = [
        f"{n_steps} steps of h = {h:g}, t = 0 to {n_steps * h:g}; rkn6_14 around the "
        f"exact step. Largest change of T + u3: {_largest(total, total[0]):.2g}.",
        "The sum of b c^2 less 1/3, which a scheme of order 3 or more makes zero, of the printed "
        f"coefficients: {float(as_printed):.2g} with a4 as printed, {float(with_corrected):.2g} "
        f"with a4 = {misprint['corrected']}.",
    ]
    return Result(
        [
            Table("What the figure shows", cells, published["tolerance"]),
            Table("Coefficients (23) of the splitting", coefficients, published["polished"]),
        ],
        draw,
        notes,
    )


def _largest(values: Array, start: float) -> float:
    return float(np.abs(values - start).max())


def _close_up(m: Array) -> NDArray[np.bool_]:
    """Which states lie in a small section of the ring."""
    angle = np.arctan2(m[:, 1], m[:, 0])
    return np.asarray(np.abs(angle - 0.9) < 0.05)

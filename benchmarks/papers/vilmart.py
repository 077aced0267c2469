"""Figure 1 and Table 2 of Vilmart's article on rigid body dynamics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _drawing
from benchmarks.papers._registry import Cell, Result, Run, Table, bounded, item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Of floats, or of numbers with more digits.
Array = NDArray[Any]

#: The book of Figure 1, which the article has in its figure and no other body.
BOOK = np.array([0.376, 0.627, 1.0])
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


def hat(v: Array) -> Array:
    """The matrix of the vector product with v."""
    x, y, z = v
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def defects(
    step: Callable[[Array], tuple[Array, Array]], y: Array, spacing: Any
) -> tuple[float, float]:
    """How far a step is from a Poisson map of y and from a symplectic one of (Q, y).

    With Q trivialised on the left a map is symplectic if J P J^T = P1, J = [[Q(q)^T, A], [0, M]]
    its Jacobian, P = [[0, 1], [-1, hat(y)]]; if only M hat(y) M^T = hat(y1) holds, it is a Poisson
    map of y. The derivatives are central differences of order 6.

    Parameters
    ----------
    step : callable
        The map of y, shape (3,), to y1, shape (3,), and the quaternion q of the turn, shape (4,).
    y : array, shape (3,)
        Momentum: of floats, or an array of objects for more digits.
    spacing : number
        Of the differences, of the type of y.

    Returns
    -------
    tuple of float
        Frobenius norm of the Poisson defect; the largest of those of the blocks of J P J^T - P1.
    """
    y1, q = step(y)
    zero = 0 * y[0]
    M, A = np.full((3, 3), zero), np.full((3, 3), zero)
    one = np.full((3, 3), zero)
    one[[0, 1, 2], [0, 1, 2]] = zero + 1
    for j in range(3):
        slope = np.full(7, zero)
        for (k, weight), sign in itertools.product(((1, 45), (2, -9), (3, 1)), (1, -1)):
            moved = y.copy()
            moved[j] += sign * k * spacing
            slope = slope + sign * weight * np.concatenate(step(moved)) / (60 * spacing)
        M[:, j] = slope[:3]
        w, dq = slope[3], slope[4:]
        # 2 q^-1 dq is (0, the turn in the body frame).
        A[:, j] = 2 * (q[0] * dq - w * q[1:] - hat(q[1:]) @ dq)
    e = hat(q[1:])
    back = (one + 2 * q[0] * e + 2 * e @ e).T
    poisson = M @ hat(y) @ M.T - hat(y1)
    of_q = back @ A.T - A @ back.T + A @ hat(y) @ A.T
    mixed = back @ M.T + A @ hat(y) @ M.T - one
    sizes = [math.sqrt(float(np.sum(d * d))) for d in (poisson, of_q, mixed)]
    return sizes[0], max(sizes)


# Table 2 ------------------------------------------------------------------------------------------

START = np.array([0.5, 0.7, -0.4])
#: A defect below it is the error of the differences, 1e-12; the least true one, of dmv10, is 1e-8.
NO_DEFECT = 1e-10
#: The change of an invariant over 100 steps that is rounding.
ROUNDING = 1e-13
#: The step whose error at t = 2 is compared with that of half of it.
STEP_FOR_ORDER = {2: 1 / 16, 4: 1 / 8, 6: 1 / 4, 8: 1 / 4, 10: 1 / 3}


def properties(method: str, order: int | None) -> dict[str, float | str | bool]:
    """The columns of the table."""
    h = 0.4

    def step(y: Array) -> tuple[Array, Array]:
        return ph.step(BOOK, y, NO_TURN, h, method=method)

    def error(n: int) -> float:
        end = ph.step(BOOK, START, NO_TURN, 2.0 / n, method=method, n_steps=n)
        exact = ph.step(BOOK, START, NO_TURN, 2.0)
        return max(float(np.abs(a - b).max()) for a, b in zip(end, exact, strict=True))

    traj = ph.integrate(BOOK, START, NO_TURN, 0.1, 100, method=method)
    kept = {
        "Qy": ph.momentum_spatial(traj.m, traj.q),
        "C": ph.casimir(traj.m)[:, None],
        "H": ph.energy(BOOK, traj.m)[:, None],
    }
    poisson, symplectic = defects(step, START, 3e-3)
    found: dict[str, float | str | bool] = {}
    if order is None:
        far = ph.step(BOOK, START, NO_TURN, 2.0)
        other = ph.step(BOOK, START, NO_TURN, 2.0 / 16, method="dmv18", n_steps=16)
        off = max(float(np.abs(a - b).max()) for a, b in zip(far, other, strict=True))
        found["order"] = "exact" if off < ROUNDING else "not exact"
    else:
        n = round(2.0 / STEP_FOR_ORDER[order])
        found["order"] = math.log2(error(n) / error(2 * n))
    for name, values in kept.items():
        found[name] = bool(np.abs(values - values[0]).max() < ROUNDING)
    found["Poisson"] = poisson < NO_DEFECT
    found["symplectic"] = symplectic < NO_DEFECT
    return found


@item("vilmart-table-2")
def table_2(published: dict[str, Any], run: Run) -> Result:
    """Each entry of the table measured."""
    tables = []
    for row in published["rows"]:
        for method, order in zip(row["methods"], row["orders"], strict=True):
            number = None if order == "exact" else int(order)
            found = properties(method, number)
            cells = []
            for column, entry in zip(published["columns"], row["entries"], strict=True):
                if column == "order":
                    printed = order if number is None else float(number)
                    cells.append(Cell("order of accuracy", printed, found[column], 0.2))
                else:
                    cells.append(Cell(column, entry, found[column]))
            tables.append(Table(f"{row['title']}: {method}", cells))
    notes = [
        "Measured on the book of Figure 1, y = (0.5, 0.7, -0.4). Order: errors at t = 2 of a step "
        "and of its half, within 0.2. Conserved: changes below 1e-13 over 100 steps of 0.1. "
        "Poisson and symplectic: the Jacobian of a step of 0.4 by differences, defects below "
        f"{NO_DEFECT:g}. The preprocessed algorithm misses symplecticity only by its order plus 1 "
        "in h, its Poisson map is exact."
    ]
    return Result(tables, notes=notes)


# Figure 1 -----------------------------------------------------------------------------------------


@item("vilmart-figure-1")
def figure_1(published: dict[str, Any], run: Run) -> Result:
    """The columns of Q in time by the preprocessed algorithm of order 10."""
    h, t_end = published["h"], published["t_end"]
    inertia, y = np.array(published["inertia"]), np.array(published["y"])
    n = round(t_end / h)
    traj = ph.integrate(inertia, y, NO_TURN, h, n, method="dmv10")
    motion = ph.TorqueFreeMotion(inertia, y, NO_TURN)
    m, q = motion(traj.t)
    period = float(motion.period)
    back, turn = motion(period)
    full = float(np.linalg.norm(ph.so3.log(turn)))  # q turns on to 2 pi
    angle = min(full, 2 * math.pi - full)
    d1, d2, d3 = np.sum(inertia) / 2 - inertia
    spatial = ph.momentum_spatial(traj.m, traj.q)
    change = np.abs(spatial - spatial[0]).max()
    rounding = {
        "error of y at the computed times, against the exact motion": np.abs(traj.m - m).max(),
        "error of q at the computed times, against the exact motion": np.abs(traj.q - q).max(),
        "y alone is periodic: change over a period": np.abs(back - y).max(),
        "Q y is constant: largest change": change,
        "C is constant: largest change": np.ptp(ph.casimir(traj.m)),
        "H is constant: largest change": np.ptp(ph.energy(inertia, traj.m)),
    }
    flat = "input: nearly flat body, d3 over the lesser of d1 and d2"
    cells = [
        *(bounded(label, value, high=1e-13) for label, value in rounding.items()),
        bounded("Q is not periodic: angle of the turn over a period", angle, low=0.1, unit="rad"),
        bounded(flat, d3 / min(d1, d2), high=0.01),
    ]

    def draw() -> Figure:
        figure = _drawing.new_figure(14.0, 7.0)
        book: Any = figure.add_subplot(1, 2, 1, projection="3d")
        half = np.sqrt([d1, d2, d3]) / 2  # a box has lengths in proportion to the roots
        corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half
        for a, b in itertools.combinations(corners, 2):
            if np.count_nonzero(a - b) == 1:
                book.plot(*np.stack([a, b]).T, color="#555555")
        sphere: Any = figure.add_subplot(1, 2, 2, projection="3d")
        Q = ph.so3.to_matrix(traj.q)
        for k, line in enumerate(("-", "--", ":")):
            colour = _drawing.COLOURS[k + 1]
            book.quiver(0, 0, 0, *(0.6 * np.eye(3)[k]), color=colour, linewidth=3)
            label = f"axis {k + 1}, moment {inertia[k]:g}"
            sphere.plot(*Q[:, :, k].T, line, color=colour, linewidth=1.5, label=label)
        book.set(xlim=(-0.6, 0.6), ylim=(-0.6, 0.6), zlim=(-0.6, 0.6))
        book.set(xlabel="x1", ylabel="x2", zlabel="x3", title="the body and its principal axes")
        sphere.set(xlabel="x", ylabel="y", zlabel="z")
        sphere.set_title(f"principal axes in the space frame, 0 <= t <= {t_end:g}")
        for axes in (book, sphere):
            axes.set_box_aspect((1, 1, 1))
            axes.locator_params(nbins=4)
            axes.tick_params("z", pad=10)
            axes.zaxis.labelpad = 14
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    return Result([Table("What figure and text say", cells)], draw)

"""Tables 1 to 3 and Figures 1 to 4 of Gustafsson's thesis on torqued rigid bodies."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import polhode as ph
from benchmarks.papers import _drawing
from benchmarks.papers._listings import Counted, Vector, factorization, magnus
from benchmarks.papers._registry import Cell, Result, Run, Table, item, printed_cell
from polhode import _core

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

ORDERS = (2, 4, 6, 8)

# Table 1 ----------------------------------------------------------------------------------------

#: The state that the loops run at: inertia, momentum, attitude, and the step.
BODY = (np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8]) / math.sqrt(0.98))
ATTITUDE = np.array([0.6, -0.48, 0.0, 0.64])


def operations_of_the_listings(order: int, h: float) -> dict[str, tuple[dict[str, int], float]]:
    """Operations by row, and the error of q, of one step of each of the two loops."""
    (inertia, m), q = BODY, ATTITUDE
    motion = ph.TorqueFreeMotion(inertia, m, q)
    nodes = (1 + np.polynomial.legendre.leggauss(order // 2)[0]) / 2

    def counted(x: Any) -> Vector:
        return [Counted(v) for v in x]

    momenta = [counted(motion(c * h)[0]) for c in nodes]
    ends = (counted(m), counted(motion(h)[0]))
    energy = float(np.sum(m * m / inertia) / 2)
    conjugate = np.array([1.0, -1.0, -1.0, -1.0])
    exact = motion(h)[1]
    results = {}
    for family in ("magnus", "factorization"):
        Counted.operations = Counter()
        if family == "magnus":
            end = magnus(order, h, momenta, counted(inertia), counted(q * conjugate))
        else:
            end = factorization(order, h, momenta, ends, counted(inertia), energy, counted(q))
        operations = dict(Counted.operations)
        operations["total"] = sum(operations.values())
        values = np.array([x.value for x in end]) * (conjugate if family == "magnus" else 1.0)
        results[family] = operations, float(np.abs(values - exact).max())
    return results


def our_operations(name: str, h: float) -> tuple[int, float]:
    """Operations of a whole step of the library by the rule of `flops`, and its error of q."""
    (inertia, m), q = BODY, ATTITUDE
    error = np.abs(ph.step(inertia, m, q, h, method=name)[1] - ph.step(inertia, m, q, h)[1]).max()
    count: Any = _core.flops
    return int(count(name, *inertia.tolist(), *m.tolist(), h, False)["total"]), float(error)


@item("gustafsson-table-1")
def table_1(published: dict[str, Any], run: Run) -> Result:
    """Operations counted by running the loops of the listings on numbers that count."""
    h = 0.2
    tables = []
    listings = {order: operations_of_the_listings(order, h) for order in ORDERS}
    for family, title in (("magnus", "Magnus method"), ("factorization", "Factorization method")):
        cells = [
            Cell(
                f"order {order}, {name}",
                float(row[i]),
                float(listings[order][family][0].get(name, 0)),
                unit="operations",
            )
            for name, row in published[family].items()
            for i, order in enumerate(published["orders"])
        ]
        tables.append(Table(title, cells, "none: these are counts."))
    ours = ", ".join(
        f"{family}{order} {our_operations(f'{family}{order}', h)[0]}"
        for family in ("magnus", "factorization")
        for order in ORDERS
    )
    notes = [
        "Counted by running the loop bodies of the listings on numbers that count: + - * / and "
        "every elementary function 1, a change of sign 0, repeated expressions again; the momentum "
        "at the nodes, the normalisation of q and the printed output are left out, as there.",
        f"Whole steps of this library, momentum at the nodes included, by the rule of `ph.flops` "
        f"(at h |m|/I1 = {h}): {ours}, exact {our_operations('exact', h)[0]} operations.",
    ]
    return Result(tables, notes=notes)


# Table 2 and Figure 2 -----------------------------------------------------------------------------

#: Principal moments of Figures 1 to 3 and of Table 2.
MOMENTS = np.array([1.0, 1.648785782711929, 1.972012709664193])
T_END = 10.0


def gauss(order: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1] of the rule of the given order, ascending."""
    x, b = np.polynomial.legendre.leggauss(order // 2)
    return (1 + x) / 2, b / 2


def published_factorization(
    order: int,
    inertia: Array,
    m: Array,
    q: Array,
    h: float,
    c0: float = 0.5,
    c3: float = 0.5,
    *,
    n_steps: int = 1,
) -> Array:
    """Attitude by section 4.3.2 for |m| = 1: (31), (33) by Gauss's rule, (34) to (36).

    The frame is always that of axis 3, which the library turns to the axis that m circles.
    """
    motion = ph.TorqueFreeMotion(inertia, m, q)
    energy = np.sum(m * m / inertia, -1) / 2
    count = (-1,) + (1,) * energy.ndim
    starts = h * np.arange(n_steps).reshape(count)

    def frame(m: Array) -> Array:
        root = np.sqrt(1 + m[..., 2])
        parts = (
            c0 * root,
            (c3 * m[..., 0] + c0 * m[..., 1]) / root,
            (c3 * m[..., 1] - c0 * m[..., 0]) / root,
            c3 * root,
        )
        return np.stack(parts, -1)

    psi = np.zeros((n_steps, *energy.shape))
    for c, b in zip(*gauss(order), strict=True):
        n = motion(starts + c * h)[0]
        slope = np.cross(n, n / inertia)
        part = (n[..., 1] * slope[..., 0] - n[..., 0] * slope[..., 1]) / (1 + n[..., 2])
        psi = psi + h * b * (2 * energy + part)
    zero = np.zeros_like(psi)
    y = np.stack([np.cos(psi / 2), zero, zero, np.sin(psi / 2)], -1)
    ends = frame(motion(starts + h)[0])
    begins = np.concatenate([frame(m)[None], ends[:-1]])
    product = ph.so3.multiply
    turns = product(ph.so3.conjugate(begins), product(y, ends))
    for turn in turns:
        q = product(q, turn)
        q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(q)


def ensembles(count: int, size: int = 50) -> tuple[Array, Array]:
    """Unit momenta and attitudes (count, size, ...), from vectors uniform in [0, 1]."""
    rng = np.random.default_rng(11)
    m, q = (rng.uniform(size=(count, size, k)) for k in (3, 4))
    m, q = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (m, q))
    return m, q


def ensemble_errors(
    method: str,
    h: float,
    states: tuple[Array, Array],
    *,
    attitude: str = "quaternion",
    norm: str = "quaternion",
    **options: Any,
) -> Array:
    """Mean errors of the attitude at t = 10, one for each ensemble of states.

    Parameters
    ----------
    method : str
        One of the library's, or "published2" to "published8": the factorization of the thesis.
    h : float
        Step length.
    states : tuple of arrays
        Momenta (..., 3) and unit quaternions (..., 4).
    attitude : str
        What is integrated: "quaternion" or "matrix".
    norm : str
        The error: 2-norm of the difference of quaternions, or the matrix 2-norm of that of
        matrices.
    **options
        Of the method.
    """
    m, q = states
    exact = ph.step(MOMENTS, m, q, T_END)[1]
    count = round(T_END / h)
    if method.startswith("published"):
        order = int(method.removeprefix("published"))
        end = published_factorization(order, MOMENTS, m, q, h, n_steps=count, **options)
    else:
        start = ph.so3.to_matrix(q) if attitude == "matrix" else q
        end = ph.step(MOMENTS, m, start, h, method=method, n_steps=count, **options)[1]
    if norm == "quaternion":
        return np.asarray(np.linalg.norm(end - exact, axis=-1).mean(-1))
    if attitude == "quaternion":
        end = ph.so3.to_matrix(end)
    change = np.linalg.norm(end - ph.so3.to_matrix(exact), ord=2, axis=(-2, -1))
    return np.asarray(change.mean(-1))


@item("gustafsson-table-2")
def table_2(published: dict[str, Any], run: Run) -> Result:
    """Means over random states."""
    states = ensembles(8 if run.quick else 20)
    half, root = 0.5, math.sqrt(0.5)
    rows: dict[str, dict[str, Any]] = {
        "c0 = c3 = 1/2": {"method": "published8", "c0": half, "c3": half},
        "c0 = 0, c3 = 1/sqrt(2)": {"method": "published8", "c0": 0.0, "c3": root},
        "quaternion": {"method": "magnus8", "norm": "matrix"},
        "rotation matrix": {"method": "magnus8", "norm": "matrix", "attitude": "matrix"},
    }
    cells, means, scatter = [], {}, {}
    for name, arguments in rows.items():
        for h, printed in zip(published["h"], published["errors"][name], strict=True):
            errors = ensemble_errors(h=h, states=states, **arguments)
            means[name, h] = float(errors.mean())
            scatter[arguments["method"], h] = float(errors.max() / errors.min())
            near_ode45 = float(printed) < 1e-14
            of_what = ", not comparable: rounding" if near_ode45 else ""
            cells.append(
                Cell(
                    f"{name}, h = {h:g}{of_what}",
                    float(printed),
                    means[name, h],
                    3.0 if near_ode45 else 2.0 if "c0" in name else 1.5,
                    "factor",
                    printed=printed,
                    explanation=published["ode45"] if near_ode45 else "",
                )
            )
    first, second, third, fourth = rows
    # Relative at the longest step, and where rounding is a thousandth of the error.
    slack = dict(zip(reversed(published["h"]), published["same error"], strict=False))
    claims = [
        Cell(
            f"{a} and {b} give the same error until machine accuracy: relative difference, "
            f"h = {h:g}",
            0.0,
            abs(means[a, h] / means[b, h] - 1),
            slack[h],
        )
        for a, b in ((first, second), (third, fourth))
        for h in published["h"]
        if h in slack
    ]
    spread = ", ".join(f"{a} at h = {h:g}: {x:.1f}" for (a, h), x in scatter.items())
    return Result(
        [
            Table("Mean error at t = 10", cells, published["scatter"]),
            Table(
                "What the text says of it", claims, "between the means, relative, from h = 0.5 on."
            ),
        ],
        notes=[
            "The states are not published: here unit vectors from vectors uniform in [0, 1], "
            f"{len(states[0])} ensembles of 50. Largest mean of an ensemble over the least, by "
            f"method (published8 is the factorization): {spread}."
        ],
    )


@item("gustafsson-figure-2")
def figure_2(published: dict[str, Any], run: Run) -> Result:
    """Errors against the step, both families, orders 2 to 8."""
    states = tuple(x[0] for x in ensembles(1, 10 if run.quick else 50))
    powers = range(0, 9 if run.quick else 11)
    steps = [2.0**-i for i in powers]
    families = {"M": "magnus", "F": "published"}
    curves = {
        f"{letter}{order}": [float(ensemble_errors(f"{name}{order}", h, states)) for h in steps]
        for letter, name in families.items()
        for order in ORDERS
    }
    # Where the error is neither that of too long a step nor rounding.
    pair = {2: 4, 4: 3, 6: 2, 8: 0}
    slopes, denied = [], []
    for name, curve in curves.items():
        at, order = pair[int(name[1])], float(name[1])
        slope = math.log2(curve[at] / curve[at + 1])
        where = f"slope of {name}, h = {steps[at]:g} to {steps[at + 1]:g}"
        slack = 0.6 if name == "F8" else 0.15
        slopes.append(Cell(where, order, slope, slack, unit="order"))
        if order in published["below"]:
            # "Not quite as steep": below the order by more than the scatter of the slopes.
            bound = (-math.inf, order - 0.01)
            why = published["why"]
            denied.append(Cell(where, bound, slope, unit="order", explanation=why))
    last = len(steps) - 1
    high = ORDERS[1:] if not run.quick else ORDERS[2:]
    left_out = (
        ["With --quick the errors of order 4 are not compared at the smallest step."]
        if run.quick
        else []
    )
    smallest = {letter: [curves[f"{letter}{order}"][last] for order in high] for letter in "MF"}
    claims = [
        Cell(
            f"order {order}: factorization more accurate at h = 1",
            True,
            curves[f"F{order}"][0] < curves[f"M{order}"][0],
        )
        for order in ORDERS
    ]
    claims += [
        Cell(
            f"errors of {family} of orders {high[0]} to 8 agree at the smallest step, factor 2",
            True,
            max(errors) < 2 * min(errors),
        )
        for family, errors in smallest.items()
    ]
    claims.append(
        Cell(
            "Magnus has the smaller rounding error at the smallest step",
            True,
            max(smallest["M"]) < min(smallest["F"]),
        )
    )

    def draw() -> Figure:
        figure = _drawing.new_figure()
        axes = figure.subplots()
        for i, order in enumerate(ORDERS):
            for letter, line, marker in (("F", "-", "o"), ("M", "--", "^")):
                axes.loglog(
                    steps,
                    curves[f"{letter}{order}"],
                    line + marker,
                    color=_drawing.COLOURS[i],
                    label=f"{letter}{order}",
                )
        axes.set_xlabel("step h (unit of time)")
        axes.set_ylabel("error of q at t = 10 (2-norm, mean)")
        axes.set_title("Factorization (F) and Magnus method (M), orders 2 to 8")
        axes.legend(ncols=4, loc="upper left")
        return figure

    return Result(
        [
            Table("Slopes, orders of the methods", slopes, published["slopes"]),
            Table(
                "Slopes, as the thesis has them",
                denied,
                "0.01 below the order, chosen: the thesis has no number.",
            ),
            Table("What the text says of it", claims),
        ],
        draw,
        [
            f"{len(states[0])} random states in place of those of the thesis, which are not "
            "published; the errors are against the exact step, not against ode45.",
            *left_out,
        ],
    )


# Figures 1 and 3 ----------------------------------------------------------------------------------

#: The initial state of Figures 1 and 3 is not published.
START = (np.array([0.8, 0.3, 0.4]) / math.sqrt(0.89), np.array([1.0, 0.0, 0.0, 0.0]))


@item("gustafsson-figure-1")
def figure_1(published: dict[str, Any], run: Run) -> Result:
    """The momentum of a free body in time."""
    motion = ph.TorqueFreeMotion(MOMENTS, *START)
    period = float(motion.period)
    t = np.linspace(0.0, 50.0, 2001)
    m = motion(t)[0]
    back = float(np.abs(motion(t + period)[0] - m).max())
    size = float(np.abs(np.linalg.norm(m, axis=-1) - 1).max())
    energy = ph.energy(MOMENTS, m)
    cells = [
        Cell("m is periodic: largest change over a period", 0.0, back, 1e-14),
        Cell("|m| is constant: largest change", 0.0, size, 1e-14),
        Cell("energy is constant: largest change", 0.0, float(np.ptp(energy)), 1e-14),
    ]

    def draw() -> Figure:
        figure = _drawing.new_figure(9.0, 5.0)
        axes = figure.subplots()
        for i, line in enumerate(("-", "--", ":")):
            axes.plot(t, m[:, i], line, color=_drawing.COLOURS[i], label=f"m{i + 1}")
        axes.set_xlabel("t (unit of time)")
        axes.set_ylabel("components of m (|m| = 1)")
        axes.set_title(f"Momentum of a free body, period {period:.4f}")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    note = "The initial momentum is not published: here along (0.8, 0.3, 0.4), |m| = 1."
    return Result([Table("What the figure shows", cells, "rounding errors.")], draw, [note])


@item("gustafsson-figure-3")
def figure_3(published: dict[str, Any], run: Run) -> Result:
    """The space vector e3 in the body, by Magnus methods with a step of 1."""
    count = 1000 if run.quick else 4000
    m, q = START
    up = np.array([0.0, 0.0, 1.0])

    def seen(method: str) -> Array:
        """Q^T e3 at all steps."""
        traj = ph.integrate(MOMENTS, m, q, 1.0, count, method=method)
        return np.asarray(ph.so3.rotate(ph.so3.conjugate(traj.q), up))

    exact = seen("exact")
    clouds = {order: seen(f"magnus{order}") for order in ORDERS}
    errors = [float(np.linalg.norm(clouds[k] - exact, axis=-1).mean()) for k in ORDERS]
    cells = [
        Cell(
            f"order {high} is better than order {low}: quotient of the mean errors of u",
            (-math.inf, 0.5),
            after / before,
        )
        for (low, before), (high, after) in itertools.pairwise(zip(ORDERS, errors, strict=True))
    ]

    def draw() -> Figure:
        figure = _drawing.new_figure(10.0, 10.0)
        for i, order in enumerate(ORDERS):
            axes: Any = figure.add_subplot(2, 2, i + 1, projection="3d")
            axes.plot(*clouds[order].T, ".", markersize=1.5, color=_drawing.COLOURS[1])
            axes.set_box_aspect((1, 1, 1))
            axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
            axes.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
            axes.set(xlabel="u1", ylabel="u2", zlabel="u3")
            axes.set_title(f"Magnus, order {order}\nmean error of u {errors[i]:.1g}")
        figure.suptitle(f"u = Q^T e3 at {count} steps of h = 1")
        return figure

    note = "The initial state is not published: here m along (0.8, 0.3, 0.4), |m| = 1, and no turn."
    tolerance = "better means at most half the error: chosen, not published."
    return Result([Table("What the figure shows", cells, tolerance)], draw, [note])


# The vessel: Table 3 and Figure 4 -----------------------------------------------------------------

VESSEL_MOMENTS = np.array([3.2164e8, 5.4782e9, 5.7426e9])
VESSEL_T_END = 15.0


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
        VESSEL_MOMENTS,
        VESSEL_MOMENTS,
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
    traj = vessel_run(VESSEL_T_END / n, n, method="exact", splitting="sofroniou10_35", save_every=n)
    return traj.m[-1], traj.q[-1]


def vessel_errors(method: str, h: float, reference: tuple[Array, Array]) -> tuple[float, float]:
    """Relative error of m and error of q at t = 15, as in the thesis before Table 3."""
    n = round(VESSEL_T_END / h)
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
                Cell(
                    "orders 4, 6 and 8 equal to 3 digits: largest relative difference, h = 0.1",
                    0.0,
                    digits,
                    1e-3,
                )
            ],
        )
    )
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
    n = round(VESSEL_T_END / h)
    free = ph.integrate(
        VESSEL_MOMENTS, VESSEL_MOMENTS, [1.0, 0.0, 0.0, 0.0], h, n, method="magnus8"
    )
    undamped = vessel_run(h, n, method="magnus8", damping=None)
    damped = vessel_run(h, n, method="magnus8")
    late = vessel_run(0.0125, 48000, method="exact", save_every=1200)  # every 15 s, to t = 600
    period = float(ph.TorqueFreeMotion(VESSEL_MOMENTS, VESSEL_MOMENTS, [1, 0, 0, 0]).period)
    size = np.linalg.norm(late.m, axis=-1)
    limit = late.q[-1]
    yaw = float(abs(limit[3]))
    slips = published["slips"]

    def swing(traj: ph.Trajectory) -> Array:
        return np.asarray(np.ptp(traj.m, axis=0))

    cells = [
        Cell(
            "free: m1 is quite stable, its range over that of m2",
            (0.0, 0.15),
            float(swing(free)[0] / swing(free)[1]),
        ),
        Cell(
            "restoring moments make the range of m2 smaller",
            True,
            bool(swing(undamped)[1] < swing(free)[1]),
        ),
        Cell(
            "restoring moments make the range of m3 smaller",
            True,
            bool(swing(undamped)[2] < swing(free)[2]),
        ),
        Cell(
            "damping: |m| at t = 15 is small beside that at the start",
            (0.0, 0.1),
            float(size[1] / size[0]),
            unit="of |m(0)|",
        ),
        Cell(
            "damping: roll and pitch vanish, (q1, q2) at the end",
            0.0,
            float(np.hypot(limit[1], limit[2])),
            1e-6,
        ),
        Cell(
            "period of the oscillations",
            published["period"],
            period,
            0.5,
            unit="s",
            check=period_by_the_mean(VESSEL_MOMENTS, VESSEL_MOMENTS),
            right_tolerance=slips["period"]["right_tolerance"],
            explanation=slips["period"]["text"],
        ),
        Cell(
            "equilibrium reached, q0",
            published["q"][0],
            float(limit[0]),
            5e-4,
            right=slips["q"]["right"][0],
            right_tolerance=slips["q"]["right_tolerance"],
            explanation=slips["q"]["text"],
        ),
        Cell(
            "equilibrium reached, |q3|",
            published["q"][3],
            yaw,
            5e-4,
            right=slips["q"]["right"][1],
            right_tolerance=slips["q"]["right_tolerance"],
            explanation=slips["q"]["text"],
        ),
    ]

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

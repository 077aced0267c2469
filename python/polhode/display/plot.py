"""Plots of trajectories and of free motions, with Matplotlib.

The classes call these functions, so this module imports none of them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core, so3
from polhode._arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The look of other pictures than `plot`; its colours, of Okabe and Ito, all readers tell apart.
STYLE = Path(__file__).parents[1] / "pictures.mplstyle"
COLOURS = [f"#{x}" for x in re.findall(r'"(\w{6})"', STYLE.read_text(encoding="utf-8"))]
#: Most saved states that are drawn; they are evenly spaced.
MOST_SAVES = 4000
#: Number of curves of constant energy about each axis, and number of points of a curve.
CURVES = 5
POINTS = 200


#: Arguments of `Trajectory.plot`.
Body = int | tuple[int, ...]
Panels = Sequence[str] | None


def plot(trajectory: Any, body: Body, panels: Panels, **look: Any) -> Figure:
    """See `Trajectory.plot`."""
    one = saved_states(trajectory, body)
    names = panels or ("momentum", "axes", "attitude", "invariants")
    return _figure(one, names, lambda: _energy(trajectory, one), **look)


def plot_motion(
    motion: Any, t: ArrayLike | None, body: Body, panels: Panels, **look: Any
) -> Figure:
    """See `TorqueFreeMotion.plot`."""
    one = states_at(motion, t, body)
    names = panels or ("momentum", "axes", "attitude", "omega")
    return _figure(one, names, lambda: (one.kinetic(), True), **look)


def _figure(
    one: BodyStates, names: Sequence[str], energy: Callable[[], Any],
    ax: Any, time_unit: str | None, degrees: bool,
) -> Figure:  # fmt: skip
    """The panels of these names, two in a row or in `ax`; times are in `time_unit`."""
    angle = "deg" if degrees else "rad"
    rate = f"{angle}/{time_unit}" if time_unit else f"{angle} per unit of time"
    size = np.degrees(1.0) if degrees else 1.0
    panels: dict[str, Callable[[Any], None]] = {
        "momentum": lambda axes: _momentum(axes, one),
        "axes": lambda axes: _axes(axes, one),
        "attitude": lambda axes: _attitude(axes, one),
        "omega": lambda axes: _omega(axes, size * one.omega(), one.t, rate),
        "herpolhode": lambda axes: _herpolhode(axes, one, size, rate),
        "invariants": lambda axes: _invariants(axes, one, *energy()),
    }
    names = [names] if isinstance(names, str) else names
    for name in names:
        if name not in panels:
            raise ValueError(f"panels: {name!r} is not one of {', '.join(panels)}")
    in_space = [name in ("momentum", "axes") for name in names]
    given = _new_axes(in_space) if ax is None else list(np.atleast_1d(np.asarray(ax, object)).flat)
    if [axes.name == "3d" for axes in given] != in_space:
        wanted = ", ".join("3d" if space else "plane" for space in in_space)
        raise ValueError(f"ax must be one axes object per panel, of the kinds {wanted}")
    for name, space, axes in zip(names, in_space, given, strict=True):
        panels[name](axes)
        if not space and name != "herpolhode":
            axes.set_xlabel(f"t ({time_unit})" if time_unit else "t")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0 if space else -0.14), ncols=4)
    figure: Figure = given[0].figure
    return figure


def _new_axes(in_space: list[bool]) -> list[Any]:
    """Axes of a new figure, two in a row."""
    columns, rows = min(len(in_space), 2), -(-len(in_space) // 2)
    figure = matplotlib_pyplot().figure(figsize=(5.0 * columns, 4.7 * rows), layout="constrained")
    kinds = ({"projection": "3d"} if space else {} for space in in_space)
    return [figure.add_subplot(rows, columns, k, **kind) for k, kind in enumerate(kinds, 1)]


def matplotlib_pyplot() -> Any:
    """The module `matplotlib.pyplot`."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('plots need Matplotlib: pip install "polhode[plot]"') from error
    return pyplot


@dataclass
class BodyStates:
    """States of one body, at most MOST_SAVES of a trajectory."""

    t: Array
    m: Array
    #: Quaternions or matrices.
    attitude: Array
    #: (3,), or (T, 3) of moments that vary.
    moments: Array
    #: Principal axes as columns, in the axes of m.
    axes: Array
    is_free: bool = True
    #: Index of the body in its batch, and those of the states in their trajectory.
    at: tuple[int, ...] = ()
    saves: Any = None
    Q: Array = field(init=False)
    q: Array = field(init=False)

    def __post_init__(self) -> None:
        given = self.attitude
        self.Q = given if given.shape[-1] == 3 else so3.to_matrix(given)
        self.q = given if given.shape[-1] == 4 else _continuous(so3.to_quaternion(given))

    def omega(self) -> Array:
        """Angular velocity, in the axes of m."""
        return np.asarray(_core.omega(self.moments, self.m @ self.axes)) @ self.axes.T

    def kinetic(self) -> Array:
        """Kinetic energy."""
        return np.asarray(_core.energy(self.moments, self.m @ self.axes))


def saved_states(trajectory: Any, body: Body, most: int = MOST_SAVES) -> BodyStates:
    """One body of a trajectory, with at most so many of its states."""
    if len(trajectory) == 0:
        raise ValueError("the trajectory is empty")
    shape = trajectory.m.shape[1:-1]
    at = _index(body, shape)
    saves = np.linspace(0, len(trajectory) - 1, min(len(trajectory), most)).round().astype(int)
    axes = np.eye(3) if trajectory.axes is None else trajectory.axes
    moments = trajectory._moments
    varies = moments.ndim == trajectory.m.ndim
    return BodyStates(
        np.asarray(trajectory.t[saves]),
        np.asarray(trajectory.m[(saves, *at)]),
        np.asarray(trajectory.q[(saves, *at)]),
        moments[(saves, *at)] if varies else np.broadcast_to(moments, (*shape, 3))[at],
        np.broadcast_to(axes, (*shape, 3, 3))[at],
        not trajectory.torque,
        at,
        saves,
    )


def states_at(motion: Any, t: ArrayLike | None, body: Body, count: int = 400) -> BodyStates:
    """One body of a free motion at these times, or so many times of the default span."""
    alone = motion._of_body(_index(body, motion.shape))
    moments = alone._inertia
    axes = np.eye(3) if alone._axes is None else alone._axes
    if t is None:  # two periods of m, or four rotations if m is not periodic or is constant
        rate = float(np.linalg.norm(_core.omega(moments, alone._m0 @ axes)))
        end = 2 * float(alone.period)
        t = np.linspace(0.0, end if np.isfinite(end) else 8 * np.pi / (rate or 8 * np.pi), count)
    times = _arrays.real_array("t", t).astype(np.float64)
    if times.ndim != 1 or times.size == 0:
        raise ValueError(f"t must have shape (n,), n at least 1, not {times.shape}")
    m, attitude = alone(times)
    return BodyStates(times, m, attitude, moments, axes)


def _energy(trajectory: Any, one: BodyStates) -> tuple[Array, bool]:
    """Energy of the body at the states; whether it has all potentials."""
    energy = one.kinetic()
    shape = trajectory.m.shape[1:-1]
    for term in trajectory.torque:
        if not term.has_potential:
            continue
        alone = term.of_body(one.at, shape)
        if alone is not None:
            for k, t in enumerate(one.t):
                energy[k] += alone.potential(float(t), one.attitude[k])
        else:  # a function of the whole batch
            for k, (save, t) in enumerate(zip(one.saves, one.t, strict=True)):
                every = term.potential(float(t), np.asarray(trajectory.q[save]))
                energy[k] += np.broadcast_to(every, shape)[one.at]
    return energy, all(term.has_potential for term in trajectory.torque)


def _index(body: Body, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Index of a body in the batch; a number counts along the flattened batch."""
    wide = (int(np.prod(shape)),) if not isinstance(body, tuple) else shape
    at = tuple(operator.index(i) for i in (body if isinstance(body, tuple) else (body,)))
    if len(at) != len(wide) or not all(-n <= i < n for i, n in zip(at, wide, strict=True)):
        raise IndexError(f"no body {body} in a batch of shape {shape}, {np.prod(shape):.0f} bodies")
    return at if wide is shape else tuple(map(int, np.unravel_index(at[0] % wide[0], shape)))


def _continuous(q: Array) -> Array:
    """Quaternions whose sign does not jump."""
    turn = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0
    q[1:][np.cumsum(turn) % 2 == 1] *= -1
    return q


def polhodes(moments: Array) -> tuple[list[Array], list[Array]]:
    """Curves of constant energy on the unit sphere of momentum, principal axes, and the separatrix.

    Curves of shape (n, 3) about the axes of least and greatest moment, each followed by its
    opposite; none about an axis whose moment equals the middle one. The separatrix, two circles
    through the middle axis, is in halves; it is empty for a symmetric body. With ``|n| = 1`` and
    ``sum(n**2 / moments) = e``, ``n1**2 (1/I1 - 1/I3) + n2**2 (1/I2 - 1/I3) = e - 1/I3``, an
    ellipse.
    """
    order = np.argsort(moments)
    if not moments[order[0]] > 0:  # a rod
        return [], []
    least, middle, greatest = 1 / moments[order]
    s = np.linspace(0, 2 * np.pi, POINTS)
    curves: list[Array] = []
    separatrix: list[Array] = []
    for center, other, axis in ((greatest, least, 2), (least, greatest, 0)):
        if middle == center:
            continue
        for level in np.arange(1, CURVES + 2) / (CURVES + 1):
            is_last = level == 1
            if is_last and (axis == 0 or other == middle):
                continue
            n = np.zeros((POINTS, 3))
            n[:, 2 - axis] = level * np.sqrt((middle - center) / (other - center)) * np.cos(s)
            n[:, 1] = level * np.sin(s)
            n[:, axis] = np.sqrt(np.maximum(1 - n[:, 2 - axis] ** 2 - n[:, 1] ** 2, 0))
            for side in (1, -1):
                n[:, axis] *= side
                curve = np.empty_like(n)
                curve[:, order] = n
                (separatrix if is_last else curves).append(curve)
    return curves, separatrix


def _ball(axes: Any, title: str) -> None:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi, 19))
    x, y, z = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
    axes.plot_surface(x, y, z, color="0.9", alpha=0.25, linewidth=0, shade=False)
    axes.set_box_aspect((1, 1, 1))
    axes.set_axis_off()
    axes.set_title(title)


def _momentum(axes: Any, one: BodyStates) -> None:
    _ball(axes, "direction of m, body frame,\nand curves of constant energy")
    moments = one.moments.reshape(-1, 3)[0]
    curves, separatrix = polhodes(moments)
    for curve in curves:
        axes.plot(*(one.axes @ curve.T), color="0.6", linewidth=0.6)
    for curve in separatrix:
        axes.plot(*(one.axes @ curve.T), color="0.3", linewidth=0.8, linestyle="--")
    for k in range(3):
        tip = 1.25 * one.axes[:, k]
        axes.plot(*np.stack([0 * tip, tip]).T, color="0.3", linewidth=0.8)
        axes.text(*tip, f"$I={moments[k]:.4g}$")
    size = np.linalg.norm(one.m, axis=-1, keepdims=True)
    path = np.divide(one.m, size, out=np.zeros_like(one.m), where=size > 0)
    axes.plot(*path.T, color="C0", linewidth=1.2)
    axes.plot(*path[:1].T, color="C0", marker="o", markersize=4)


def _axes(axes: Any, one: BodyStates) -> None:
    _ball(axes, "tips of the body axes, space frame")
    for k in range(3):
        axes.plot(*one.Q[:, :, k].T, color=f"C{k}", linewidth=0.9, label=f"axis {k + 1}")
        axes.plot(*one.Q[:1, :, k].T, color=f"C{k}", marker="o", markersize=4)


def _attitude(axes: Any, one: BodyStates) -> None:
    for k, name in enumerate(("w", "x", "y", "z")):
        axes.plot(one.t, one.q[:, k], linewidth=0.9, label=f"$q_{name}$")
    axes.set_title("attitude")


def _omega(axes: Any, omega: Array, t: Array, unit: str) -> None:
    for k, rate in enumerate(omega.T):
        axes.plot(t, rate, linewidth=0.9, label=rf"$\omega_{k + 1}$")
    axes.set_ylabel(unit)
    axes.set_title("angular velocity, body frame")


def _herpolhode(axes: Any, one: BodyStates, size: float, unit: str) -> None:
    """The tip of omega in space, seen along the momentum at the start: free motion keeps it."""
    momentum = one.Q[0] @ one.m[0]
    across = np.cross(momentum, np.eye(3)[np.argmin(np.abs(momentum))])
    plane = np.stack([across, np.cross(momentum, across)], axis=-1)
    length = np.linalg.norm(plane, axis=0)
    omega = size * np.einsum("tij,tj->ti", one.Q, one.omega())
    axes.plot(*(omega @ (plane / np.where(length > 0, length, 1))).T, linewidth=0.9)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(unit)
    axes.set_ylabel(unit)
    axes.set_title("herpolhode: angular velocity,\nplane normal to the momentum")


def _invariants(axes: Any, one: BodyStates, energy: Array, is_whole: bool) -> None:
    lines = {"energy" if is_whole else "kinetic energy": _change(energy)}
    if one.is_free:
        lines["|m|"] = _change(np.linalg.norm(one.m, axis=-1))
        spatial = np.einsum("tij,tj->ti", one.Q, one.m)
        size = np.linalg.norm(spatial[0]) or 1.0
        lines["momentum in space"] = np.linalg.norm(spatial - spatial[0], axis=-1) / size
    for name, change in lines.items():
        axes.plot(one.t, np.where(change > 0, change, np.nan), ".", markersize=3, label=name)
    axes.set_yscale("log")
    axes.set_title("relative change")


def _change(values: Array) -> Array:
    size = float(np.abs(values).max()) or 1.0
    return np.asarray(np.abs(values - values[0]) / size)

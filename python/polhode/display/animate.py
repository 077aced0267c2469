"""Moving pictures of the attitude of a body, with Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._arrays import Array
from polhode.display.plot import COLOURS, BodyStates, matplotlib_pyplot

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

#: Least side of the box that is drawn, as part of the longest.
THINNEST = 0.02
#: Of the body axes: blue, orange, green.
COLORS = [COLOURS[k] for k in (0, 4, 2)]
#: Corners of a cube by signs, and those of its faces in turn, two for each axis.
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]


def box(moments: Array) -> Array:
    """Half sides of the homogeneous box with these moments, the longest side 1, shape (3,)."""
    squares = np.maximum(moments.sum() - 2 * moments, 0.0)
    sides = np.sqrt(squares / squares.max()) if squares.max() > 0 else np.ones(3)
    return np.asarray(np.maximum(sides, THINNEST) / 2)


def animate(one: BodyStates, interval: float, time_unit: str | None = None) -> FuncAnimation:
    """See `Trajectory.animate`."""
    pyplot = matplotlib_pyplot()
    from matplotlib.animation import FuncAnimation
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = pyplot.figure(figsize=(5.0, 5.4))
    axes: Any = figure.add_subplot(projection="3d")
    corners = (CORNERS * box(one.moments.reshape(-1, 3)[0])) @ one.axes.T
    colors = [color for color in COLORS for _ in range(2)]
    faces = Poly3DCollection(corners[FACES], facecolors=colors, edgecolors="0.2", alpha=0.85)
    axes.add_collection3d(faces)
    lines = [
        axes.plot([], [], [], color=color, label=f"axis {k + 1}")[0]
        for k, color in enumerate(COLORS)
    ]
    (momentum,) = axes.plot([], [], [], color="0.2", linestyle="--", label="momentum")
    axes.set(xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(-0.8, 0.8))
    axes.set(xlabel="space axis 1", ylabel="space axis 2", zlabel="space axis 3")
    axes.set(xticks=[], yticks=[], zticks=[])
    axes.set_box_aspect((1, 1, 1))
    figure.subplots_adjust(left=0, right=1, bottom=0.1, top=0.92)
    figure.legend(loc="lower center", ncols=4)
    spatial = np.einsum("tij,tj->ti", one.Q, one.m)
    size = np.linalg.norm(spatial, axis=-1, keepdims=True)
    direction = np.divide(spatial, size, out=np.zeros_like(spatial), where=size > 0)

    def show(k: int) -> list[Any]:
        faces.set_verts((corners @ one.Q[k].T)[FACES])
        for line, axis in zip(lines, one.Q[k].T, strict=True):
            line.set_data_3d(*np.outer(axis, [0.0, 0.8]))
        momentum.set_data_3d(*np.outer(direction[k], [0.0, 1.0]))
        axes.set_title(f"t = {one.t[k]:.4g} {time_unit or ''}".rstrip())
        return [faces, *lines, momentum]

    show(0)
    return FuncAnimation(figure, show, frames=len(one.t), interval=interval)

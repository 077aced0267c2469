"""Trajectories as tables with names: xarray and pandas."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import _core
from polhode.bodies.inertia import tensor_of

if TYPE_CHECKING:
    import pandas
    import xarray


#: Numbers of body axes and of space axes, names of the components of a quaternion.
AXES = [1, 2, 3]
COMPONENTS = ["w", "x", "y", "z"]


def to_xarray(trajectory: Any) -> xarray.Dataset:
    """See `Trajectory.to_xarray`."""
    xarray = _package("xarray")
    shape = trajectory.m.shape[1:-1]
    bodies = _bodies(shape)
    matrices = trajectory.q.shape[-1] == 3
    frame = f"body frame, {trajectory._frame}"
    momentum = {"long_name": "angular momentum", "frame": frame}
    form = "rotation matrix" if matrices else "unit quaternion, scalar first"
    attitude = {"long_name": "attitude", "form": f"{form}, body to space"}
    parts = ("space_axis", "axis") if matrices else ("component",)
    coordinates: dict[str, Any] = {"t": ("t", trajectory.t, {"long_name": "time"}), "axis": AXES}
    coordinates |= {"space_axis": AXES} if matrices else {"component": COMPONENTS}
    variables: dict[str, Any] = {
        "m": (("t", *bodies, "axis"), trajectory.m, momentum),
        "q": (("t", *bodies, *parts), trajectory.q, attitude),
    }
    if trajectory.axes is None:
        moments = {"long_name": "principal moments of inertia", "frame": frame}
        which, values = _of_bodies(trajectory._moments, bodies, shape, 1)
        variables["inertia"] = ((*which, "axis"), values, moments)
    else:
        tensor = {"long_name": "inertia tensor about the centre of mass", "frame": frame}
        full = tensor_of(trajectory._moments, trajectory.axes)
        which, values = _of_bodies(full, bodies, shape, 2)
        variables["tensor"] = ((*which, "axis", "other_axis"), values, tensor)
        coordinates["other_axis"] = AXES
    for name, text, values in _companions(trajectory):
        about = {"long_name": text} | ({} if name == "state" else {"frame": "space frame"})
        variables[name] = (
            ("t", *bodies, "number" if name == "state" else "space_axis"),
            values,
            about,
        )
        coordinates |= {} if name == "state" else {"space_axis": AXES}
    if trajectory.mass is not None:
        which, values = _of_bodies(trajectory.mass, bodies, shape, 0)
        variables["mass"] = (which, values, {"long_name": "mass"})
    facts = {
        "torque": "; ".join(map(repr, trajectory.torque)) or "none",
        "source": f"polhode {_core.build['version']}",
    }
    return xarray.Dataset(variables, coordinates, facts)


def to_pandas(trajectory: Any) -> pandas.DataFrame:
    """See `Trajectory.to_pandas`."""
    pandas = _package("pandas")
    shape = trajectory.m.shape[1:-1]
    index: Any = pandas.Index(trajectory.t, name="t")
    if shape:
        levels = [trajectory.t, *map(np.arange, shape)]
        index = pandas.MultiIndex.from_product(levels, names=["t", *_bodies(shape)])
    rows = len(index)
    form = [f"{i}{j}" for i in AXES for j in AXES] if trajectory.q.shape[-1] == 3 else COMPONENTS
    columns = [f"m{i}" for i in AXES] + [f"q{x}" for x in form]
    arrays = [trajectory.m, trajectory.q]
    for name, _, values in _companions(trajectory):
        arrays.append(values)
        columns += [f"{name}{i + 1}" for i in range(values.shape[-1])]
    parts = [np.reshape(x, (rows, math.prod(x.shape[1 + len(shape) :]))) for x in arrays]
    return pandas.DataFrame(np.concatenate(parts, axis=1), index, columns)


def _companions(trajectory: Any) -> list[tuple[str, str, Any]]:
    """Names, descriptions and rows of what moves besides m and q."""
    texts = {"x": "centre of mass", "p": "momentum", "state": "state of the torques"}
    named = ((name, text, getattr(trajectory, name)) for name, text in texts.items())
    return [each for each in named if each[2] is not None]


def _bodies(shape: tuple[int, ...]) -> list[str]:
    """Names of the axes of a batch."""
    return ["body"] if len(shape) == 1 else [f"body_{k + 1}" for k in range(len(shape))]


def _of_bodies(
    values: Any, bodies: list[str], shape: tuple[int, ...], axes: int
) -> tuple[list[str], Any]:
    """The dimensions of a constant of the bodies, none where they share it, and its values.

    Also of values at each time, of moments that vary.
    """
    if values.ndim == axes + 1 + len(shape):
        return ["t", *bodies], values
    if values.ndim == axes:
        return [], values
    return bodies, np.broadcast_to(values, (*shape, *values.shape[values.ndim - axes :]))


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        how = f'Trajectory.to_{name} needs {name}: pip install "polhode[tables]"'
        raise ImportError(how) from error

"""Trajectories as tables with names: xarray and pandas."""

from __future__ import annotations

import importlib
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
    parts = [np.reshape(x, (rows, n)) for x, n in ((trajectory.m, 3), (trajectory.q, len(form)))]
    return pandas.DataFrame(np.concatenate(parts, axis=1), index, columns)


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

"""How a run in files goes on: its state, warnings, and whether it is the run that is asked for."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import _core
from polhode._arrays import Array
from polhode.integration.state import Run
from polhode.integrators.table import levels_to_the_user
from polhode.run_directory.files import Store, as_path, describe, told
from polhode.run_directory.schema import fill_in, read_torques


def state_of(store: Store) -> dict[str, Array]:
    """The state after the steps that are done."""
    state = {name: np.array(array) for name, array in store.state.items()}
    for name, array in state.items():
        if array.dtype != np.float64:
            raise ValueError(f"the state has {name} of {array.dtype}")
    return state


def check_progress(run: Run, store: Store) -> None:
    """Raise ValueError if the saved rows are not those of the steps that are done."""
    with told(store.path / "state.npz"):
        if store.step > run.count or store.rows not in (run.rows(store.step), 0):
            raise ValueError(f"{store.rows} rows after {store.step} steps")
        if len(store.t) != run.rows(run.count):
            raise ValueError(f"{len(store.t)} rows for {run.count} steps")


def warn_of_doubts(store: Store, doubts: Sequence[str]) -> None:
    """One warning of all reasons why the torque may be another than that of the start."""
    if doubts:
        warnings.warn(
            f"it cannot be told whether the torque is that with which the run in "
            f"{str(store.path)!r} began: {'; '.join(doubts)}",
            UserWarning,
            stacklevel=levels_to_the_user(),
        )


#: Instruction-set levels that give the same bits.
_SAME_BITS = {"v3", "v4", "scalar"}


def warn_of_other_bits(store: Store) -> None:
    """A warning if the version or the level is not that of the start."""
    version = store.description["polhode"], _core.build["version"]
    level = store.description["isa"], _core.build["isa"]
    for kind, (before, now), alike in (
        ("version of polhode", version, set()),
        ("instruction-set level", level, _SAME_BITS),
    ):
        if before != now and not {before, now} <= alike:
            warnings.warn(
                f"the run in {str(store.path)!r} began with the {kind} {before}, and goes on with "
                f"{now}: last bits may differ",
                RuntimeWarning,
                stacklevel=levels_to_the_user(),
            )


def old_store(run: Run, save_to: str | os.PathLike[str]) -> Store:
    """The files of this run, which gets the state that they have.

    Raises ValueError if they are those of another run.
    """
    store = Store(as_path(save_to), "r+")
    try:
        doubts = _compare(store, run)
        with told(store.path / "state.npz"):
            run.extra = state_of(store)
            run.m, run.q = run.extra.pop("m"), run.extra.pop("q")
        run.done, run.started = store.step, store.rows > 0
        check_progress(run, store)
        warn_of_doubts(store, doubts)
        if run.done < run.count:
            warn_of_other_bits(store)
    except BaseException:
        store.close()
        raise
    return store


def _compare(store: Store, run: Run) -> list[str]:
    """Raise ValueError if a run is not that of the files; the doubts whether its torque is."""
    where = f"the run in {str(store.path)!r}"
    old, (new, setup) = dict(store.description), describe(run)
    if "start" not in old:
        raise ValueError(f"{where} has no record of its start: polhode.resume continues it")
    if len(new["torque"]) != len(old["torque"]):
        raise ValueError(
            f"torque has {len(new['torque'])} terms, but {where} has {len(old['torque'])}"
        )
    with told(store.path / "run.json"):
        stored = read_torques(old["torque"], store.setup)
    _, doubts = fill_in(store.path, old["torque"], stored, run.given)
    new["compensated"], old["compensated"] = "lost" in run.extra, "lost" in store.state
    for name in sorted(new.keys() - {"polhode", "isa", "threads", "torque", "start"}):
        before, now = json.dumps(old.get(name)), json.dumps(new[name])
        if before != now and name == "splitting":
            before, now = (str(x[name]["name"] or None) for x in (old, new))
            now = f"{now} of other coefficients" if before == now else now
        if before != now:
            raise ValueError(f"{name} is {now}, but {where} has {before}")
    for name in sorted(setup.keys() | store.setup.keys()):
        _refuse_another(name, setup.get(name), store.setup.get(name), where)
    if old["start"] != new["start"]:
        if store.rows and run.frame is None:
            _refuse_another("m0", run.m, store.m[0], where)
            _refuse_another("q0", run.q, store.q[0], where)
        raise ValueError(f"m0 or q0 is not that of {where}")
    return doubts


def _refuse_another(
    name: str, now: NDArray[Any] | None, before: NDArray[Any] | None, where: str
) -> None:
    if now is None or before is None or now.shape != before.shape:
        shapes = ["missing" if x is None else f"of shape {x.shape}" for x in (now, before)]
        raise ValueError(f"{name} is {shapes[0]}, but in {where} it is {shapes[1]}")
    numbers = now.dtype.kind == before.dtype.kind == "f"
    same = (now == before) | (np.isnan(now) & np.isnan(before) if numbers else False)
    for index in np.argwhere(~same)[:1].tolist():
        at, label = tuple(index), f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"{name}{label} is {now[at]}, but {where} has {before[at]}")

"""`polhode.resume`, and the reading of runs in files for it and for `Trajectory.load`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from polhode import _arrays
from polhode.bodies.frame import Frame, terms_of_bodies
from polhode.bodies.rigid_body import RigidBody
from polhode.integration.loop import Callback, carry_out
from polhode.integration.saved import Saved
from polhode.integration.state import Run
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import row_of_name
from polhode.run_directory import files as _store
from polhode.run_directory import schema as _described
from polhode.run_directory.compare import (
    check_progress,
    state_of,
    warn_of_doubts,
    warn_of_other_bits,
)
from polhode.run_directory.files import Store
from polhode.torques import TorqueLike, as_terms


def resume(
    path: str | os.PathLike[str],
    torque: TorqueLike = None,
    *,
    threads: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
) -> Trajectory:
    """Continue an integration that `integrate(save_to=path)` began and did not finish.

    Parameters
    ----------
    path : path
        The directory that was `save_to`.
    torque : None, model, callable or list of these, optional
        Models and their parameters are stored. Python functions and compiled functions are not
        stored and must be given here again: either only these, or the whole torque as before. The
        torque is compared with that of the start of the run, see Notes.
    threads : int, optional
        Number of threads; None: the same as before.
    progress : bool, optional
        Show a progress bar (tqdm).
    callback : callable, optional
        As in `integrate`, called at the saves that are still to come.

    Returns
    -------
    Trajectory
        The whole trajectory, from the start, as `integrate` would have returned it: the same bits
        at the same instruction-set level. Its arrays are read-only memmaps. For a finished run, its
        result; `torque` is then only needed for its potential.

    Raises
    ------
    FileNotFoundError
        If there is nothing under `path`.
    BlockingIOError
        If another process or thread is integrating this run. The system releases the lock when the
        process ends for any reason. On NFS the lock is valid between machines only if the lock
        service of the server runs. Some file systems have no locks.
    ValueError
        If the files are damaged, belong to several runs or are no integration of polhode (the
        message names the file), or if a required torque is missing or is another torque.

    Warns
    -----
    RuntimeWarning
        If the instruction-set level is not that of the start, so that the last bits differ, or if
        the version of polhode is not that of the start.
    UserWarning
        If it cannot be determined whether the torque is that of the start.

    Notes
    -----
    A run records its progress every 0.2 s, and when it ends with an exception. It records less
    often if that would take more than a twentieth of its time. A run that is killed loses the steps
    after the last record. `Trajectory.load` reads the states so far without continuing the run,
    even while it is running.

    The checksums of all files are compared first, which reads the saved rows once.

    For a Python function, the bytecode, constants, defaults and the values in its closure (numbers,
    text, functions, models) must be those of the start. The same source meets this in any file.
    Arrays, lists, dictionaries, global variables and attributes of objects may have changed during
    the run: a difference gives a warning. Bytecode of another Python also gives a warning. A
    compiled function is compared by the Python function from which numba made it, or by its name in
    its library; without both there is a warning. Objects of other kinds, such as the contents of a
    module, are not compared.

    Examples
    --------
    >>> import tempfile, polhode as ph
    >>> path = tempfile.mkdtemp()
    >>> def stop(step, t, m, q):
    ...     if step == 60:
    ...         raise RuntimeError("enough")
    >>> try:
    ...     ph.integrate([1, 2, 4], [1, 2, 2], [1, 0, 0, 0], 0.1, 100, save_to=path, callback=stop)
    ... except RuntimeError as error:
    ...     print(len(error.trajectory))
    61
    >>> len(ph.resume(path))
    101
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    with Store(_store.as_path(path), "r+") as store:
        run = _read_run(store, torque)
        if run.done == run.count and store.rows == len(store.t):
            return _read_only(run, store)
        for term in run.given:
            term.check_present()
        warn_of_other_bits(store)
        if threads is not None:
            run.threads = _arrays.thread_count(threads)
        return carry_out(Saved(run, store.t, store.m, store.q, store), progress, callback)


def load(path: str | os.PathLike[str], torque: TorqueLike = None) -> Trajectory:
    """The states that an integration has saved, see `Trajectory.load`."""
    store = Store(_store.as_path(path), "r")
    return _read_only(_read_run(store, torque), store)


def _read_only(run: Run, store: Store) -> Trajectory:
    rows = [array[: store.rows] for array in (store.t, store.m, store.q)]
    for array in rows:
        array.flags.writeable = False
    return run.trajectory(*rows)


def _read_run(store: Store, torque: TorqueLike) -> Run:
    content, setup = store.description, store.setup
    with _store.told(store.path / "run.json"):
        for name in ("polhode", "isa"):
            if not isinstance(content[name], str):
                raise ValueError(f"{name} is {content[name]!r}")
        try:
            row = row_of_name(content["method"])
        except KeyError:
            raise ValueError(f"there is no method {content['method']!r}") from None
        scheme = _described.read_splitting(content["splitting"])
        stored = _described.read_torques(content["torque"], setup)
        state = state_of(store)
        frame = None
        if content["own_axes"]:
            body = RigidBody.__new__(RigidBody)
            body.__setstate__((setup["moments"], setup["axes"], setup["tensor"]))
            frame = Frame(body, setup["m0"], setup["principal0"])
        m, q = state.pop("m"), state.pop("q")
        count, every = int(content["n_steps"]), int(content["save_every"])
        settings: dict[str, Any] = {
            "row": row,
            "options": tuple(
                np.array(x, np.float64) if isinstance(x, list) else float(x)
                for x in content["options"]
            ),
            "inertia": setup["inertia"],
            "m": m,
            "q": q,
            "h": setup["h"],
            "t0": float(content["t0"]),
            "count": count,
            "every": every,
            "threads": int(content["threads"]),
            "done": store.step,
            "started": store.rows > 0,
            "extra": state,
        }
        if setup["inertia"].shape not in ((3,), m.shape):
            raise ValueError(f"the inertia has shape {setup['inertia'].shape}")
        if setup["h"].shape not in ((), (count,)) or every < 1 or count < 0:
            raise ValueError("steps that do not fit each other")
    given, doubts = _described.fill_in(store.path, content["torque"], stored, as_terms(torque))
    with _store.told(store.path / "run.json"):
        terms, shown = terms_of_bodies(given, settings["inertia"], frame)
        run = Run(scheme=scheme, terms=terms, given=given, shown=shown, frame=frame, **settings)
    check_progress(run, store)
    warn_of_doubts(store, doubts)
    return run


Trajectory._read = staticmethod(load)

"""The loop of an integration: slices of steps in the core, saves, callbacks, exceptions."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode import _core
from polhode._arrays import Array, closed
from polhode.integration.python_torque import PythonTorque, note
from polhode.integration.state import Settings, State, core_arguments, step_arguments
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import may_lack_root, warn_of_lost

Callback = Callable[[int, float, Array, Array], object]

#: Seconds from one save of the progress to the next: of the bar, of files, of a slice in the core.
SLICE = 0.1


#: A `run_directory.resume.StoredRun`, which is above this module: it has the methods `count(rows)`,
#: `due()`, `commit(state)` and `trajectory()`.
Files = Any


class Saved:
    """The rows of a trajectory while they are filled."""

    def __init__(
        self, settings: Settings, state: State, t: Array, m: Array, q: Array, files: Files | None
    ) -> None:
        self.settings, self.state = settings, state
        self.t, self.m, self.q = t, m, q
        self.files = files

    def enter(self, commit: bool = False) -> None:
        """Count the rows that are filled; record the progress if it is time for it."""
        state = self.state
        rows = self.settings.saves(state.step)
        state.rows = rows
        if self.files is not None:
            self.files.count(rows)
            if commit or state.step == self.settings.n_steps or self.files.due():
                self.files.commit(state)

    def rescue(self, begun: bool) -> Trajectory:
        """The trajectory so far, after an exception."""
        self.state.restore()
        if begun:
            with contextlib.suppress(OSError):  # a full disk: the current exception is more useful
                self.enter(commit=True)
        return self.trajectory()

    def trajectory(self) -> Trajectory:
        """The filled rows; read-only if they are in files."""
        if self.files is not None:
            trajectory: Trajectory = self.files.trajectory()
            return trajectory
        rows = self.state.rows
        return self.settings.trajectory(self.t[:rows], self.m[:rows], self.q[:rows])


def run(
    settings: Settings,
    state: State,
    rows: tuple[Array, Array, Array],
    files: Files | None,
    progress: bool,
    callback: Callback | None,
) -> Trajectory:
    """Do the remaining steps of a run; `rows` are the arrays of all saves of t, m and q."""
    saved = Saved(settings, state, *rows, files)
    batch = state.m.shape[:-1]
    nonfinite_torque = np.zeros(batch, np.bool_)
    integration = in_core(settings, state, saved.m, saved.q, nonfinite_torque)
    # A stored run continues from the state before the call after an exception: with torques in
    # Python a call is one step.
    most = 1 if files is not None and not settings.in_core else settings.n_steps
    begun = state.rows > 0
    finite = np.isfinite(state.m).all(-1) if begun else True  # others were lost in an earlier call
    try:
        with _bar(progress, settings.n_steps, state.step) as bar:
            if not begun:
                integration.run(0, 0)
                begun = True
                saved.enter()
                _call(callback, saved)
            while state.step < settings.n_steps:
                before, left, until = state.step, SLICE, time.perf_counter() + SLICE
                target = settings.n_steps if callback is None else settings.next_save(state.step)
                while state.step < target and left > 0:
                    if files is not None:
                        state.keep()
                    try:
                        integration.run(state.step, min(most, target - state.step), left)
                    finally:
                        state.step = integration.done
                    left = until - time.perf_counter()
                saved.enter()
                if bar is not None:
                    bar.update(state.step - before)
                if state.step == target:
                    _call(callback, saved)
    except BaseException as error:
        trajectory = saved.rescue(begun)
        if not isinstance(error, Exception):  # Ctrl-C, at any place
            at = settings.time(state.step)
            note(error, f"after {state.step} steps of the integration, at t = {at}")
        with contextlib.suppress(Exception):  # an exception may refuse attributes
            error.trajectory = trajectory  # type: ignore[attr-defined]
        raise
    trajectory = saved.trajectory()
    lost = ~np.isfinite(trajectory.m[-1]).all(-1) & np.isfinite(trajectory.m[0]).all(-1) & finite
    start = trajectory.q[0]
    lost &= np.isfinite(start).all(tuple(range(lost.ndim, start.ndim)))
    warn(settings, lost, nonfinite_torque)
    return trajectory


def warn(settings: Settings, lost: Any, nonfinite_torque: Any) -> None:
    """One warning for the bodies that are lost, if not by steps that are not finite."""
    if lost.any() and np.isfinite(settings.h).all():
        by_torque = int(np.count_nonzero(lost & nonfinite_torque))
        others = int(np.count_nonzero(lost)) - by_torque
        implicit = may_lack_root(settings.method, settings.options)
        warn_of_lost(settings.method, implicit * others, by_torque)


def in_core(
    settings: Settings,
    state: State,
    m: Array | None,
    q: Array | None,
    by_torque: Any,
    *,
    window: bool = False,
) -> _core.Integration:
    """The integration in the core, which saves to the rows of m and q."""
    batch, matrix = state.m.shape[:-1], state.q.shape[state.m.ndim - 1 :] == (3, 3)
    return _core.Integration(
        **step_arguments(settings),
        **core_arguments(settings, state),
        terms=[
            term.core_term(batch, matrix) if term.in_core else PythonTorque(settings, state, term)
            for term in settings.terms
        ],
        times=settings.times,
        matrix=matrix,
        by_torque=by_torque,
        m_saved=m,
        attitude_saved=q,
        window=window,
        start=state.start,
    )


def _call(callback: Callback | None, saved: Saved) -> None:
    if callback is None:
        return
    step, k = saved.state.step, saved.state.rows - 1
    t = float(saved.t[k])
    try:
        callback(step, t, closed(saved.m[k]), closed(saved.q[k]))
    except Exception as error:
        note(error, f"in the callback after step {step} of the integration, at t = {t}")
        raise


def _bar(progress: bool, count: int, done: int) -> Any:
    # Not a generator: its context manager sets attributes of an exception, which some do not allow.
    if not progress:
        return contextlib.nullcontext()
    from tqdm import tqdm

    return tqdm(total=count, initial=done, unit=" steps", unit_scale=True)

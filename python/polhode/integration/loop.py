"""The loop of an integration: slices of steps in the core, saves, callbacks, exceptions."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import _core
from polhode._arrays import Array, closed
from polhode.integration.record import Settings, State, core_arguments, step_arguments
from polhode.integration.torque_callback import TorqueCallback, interrupted, note
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import may_lack_root, warn_of_lost

Callback = Callable[..., object]
#: Makes an `observed.ObservedRun`, which is above this module, of settings, state, rows, by_torque.
Observe = Callable[[Settings, State, tuple[Array, ...], NDArray[np.bool_]], Any]

#: Seconds from one save of the progress to the next: of the bar, of files, of a slice in the core.
SLICE = 0.1


#: A `run_directory.resume.StoredRun`, which is above this module: it has the methods `count(rows)`,
#: `due()`, `commit(state)` and `trajectory(state)`.
Files = Any


class Saved:
    """The rows of a trajectory while they are filled."""

    def __init__(self, settings: Settings, state: State, files: Files | None, *rows: Array) -> None:
        self.settings, self.state = settings, state
        self.t, *self.rows = rows
        self.files = files
        self.observed: Any = None

    def enter(self, commit: bool = False) -> None:
        """Count the rows that are filled; record the progress if it is time for it."""
        state = self.state
        observed = self.observed
        rows = self.settings.saves(state.step) if observed is None else observed.rows
        state.rows = rows
        if self.files is not None:
            self.files.count(rows)
            if commit or state.step == self.settings.n_steps or self.files.due():
                if observed is not None:
                    observed.events.record()
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
        if self.observed is not None:
            self.observed.events.record()
        if self.files is not None:
            trajectory: Trajectory = self.files.trajectory(self.state)
            return trajectory
        filled = (each[: self.state.rows] for each in (self.t, *self.rows))
        return self.settings.trajectory(*filled, **self.settings.findings(self.state))


def run(
    settings: Settings,
    state: State,
    rows: tuple[Array, ...],
    files: Files | None,
    progress: bool,
    callback: Callback | None,
    observe: Observe | None = None,
) -> Trajectory:
    """Do the remaining steps of a run; `rows` are those of all saves of t, m, q, companions."""
    saved = Saved(settings, state, files, *rows)
    batch = state.m.shape[:-1]
    nonfinite_torque = np.zeros(batch, np.bool_)
    integration: Any
    if observe is None:
        integration = in_core(settings, state, saved.rows, nonfinite_torque)
        next_save = settings.next_save
    else:
        integration = saved.observed = observe(settings, state, rows, nonfinite_torque)
        next_save = integration.next_save
    # A stored run continues from the state before the call after an exception: with torques in
    # Python a call is one step.
    most = 1 if files is not None and not settings.in_core else settings.n_steps
    begun = state.begun
    stopped = observe is not None and integration.stopped
    # Bodies that are not finite here are not counted at the end.
    finite = are_finite(settings, *((state.m, state.q) if begun else (settings.m0, settings.q0)))
    whole = finite & finite_companions(settings, state)
    try:
        with _bar(progress, settings.n_steps, state.step) as bar:
            if not begun:
                if files is not None:
                    state.keep()
                integration.run(0, 0)
                begun = True
                saved.enter()
                stopped = _call(callback, saved, 0)
            while state.step < settings.n_steps and not stopped:
                rows_before = state.rows
                before, left, until = state.step, SLICE, time.perf_counter() + SLICE
                target = settings.n_steps if callback is None else next_save(state.step)
                while state.step < target and left > 0 and not stopped:
                    if files is not None:
                        state.keep()
                    try:
                        integration.run(state.step, min(most, target - state.step), left)
                    finally:
                        state.step = integration.done
                    stopped = observe is not None and integration.stopped
                    left = until - time.perf_counter()
                saved.enter()
                if bar is not None:
                    bar.update(state.step - before)
                stopped = _call(callback, saved, rows_before) or stopped
            if stopped and files is not None:
                saved.enter(commit=True)
    except BaseException as error:
        trajectory = saved.rescue(begun)
        place = f"after {state.step} steps of the integration, at t = {settings.time(state.step)}"
        interrupted(error, place, trajectory)
        raise
    trajectory = saved.trajectory()
    lost = finite & ~are_finite(settings, state.m, state.q)
    by_others = whole & ~lost & ~finite_companions(settings, state)
    warn(settings, lost, nonfinite_torque, by_others)
    if observe is not None:
        integration.warn()
    return trajectory


def are_finite(settings: Settings, *arrays: Array) -> NDArray[np.bool_]:
    """The bodies of which these arrays are finite."""
    axes = settings.m0.ndim - 1
    finite = np.ones(settings.m0.shape[:-1], np.bool_)
    for each in arrays:
        finite &= np.isfinite(each).all(tuple(range(axes, each.ndim)))
    return finite


def finite_companions(settings: Settings, state: State) -> NDArray[np.bool_]:
    """The bodies whose x, p and s, as far as they have them, are finite."""
    names = (name for name in settings.companions if name != "chains")
    return are_finite(settings, *(getattr(state, name) for name in names))


def warn(settings: Settings, lost: Any, nonfinite_torque: Any, by_others: Any) -> None:
    """One warning for the bodies that are lost, if not by steps that are not finite.

    `by_others`: those of which only x, p or s are not finite.
    """
    if (lost | by_others).any() and np.isfinite(settings.h).all():
        by_torque = int(np.count_nonzero(lost & nonfinite_torque))
        # Adaptive steps have a warning of their own.
        others = 0 if settings.adaptive else int(np.count_nonzero(lost)) - by_torque
        implicit = may_lack_root(settings.method, settings.options)
        kicked = not settings.direct and any(term.depends_on_m for term in settings.terms)
        rates = {"x": "the force", "s": "the rate of s"}
        names = " or ".join(text for name, text in rates.items() if name in settings.companions)
        without = names, int(np.count_nonzero(by_others))
        warn_of_lost(settings.method, others, by_torque, without, implicit=implicit, kicked=kicked)


def in_core(
    settings: Settings,
    state: State,
    rows: Sequence[Array],
    by_torque: Any,
    *,
    window: bool = False,
) -> _core.Integration:
    """The integration in the core, which saves to the rows of m, q and the companions, if given.

    With `window` these are the states before and after each step of one call.
    """
    batch, matrix = state.m.shape[:-1], state.q.shape[state.m.ndim - 1 :] == (3, 3)
    arguments = core_arguments(settings, state)
    if window:
        arguments["save_every"] = 1
    if settings.moments is not None:  # the core changes the moments in place
        arguments["inertia"] = np.array(np.broadcast_to(settings.inertia, state.m.shape), order="C")
    names = ("m", "attitude", *settings.companions)
    arguments |= {f"{k}_saved": array for k, array in zip(names, rows, strict=False)}
    return _core.Integration(
        **step_arguments(settings),
        **arguments,
        terms=[
            term.core_term(batch, matrix) if term.in_core else TorqueCallback(settings, state, term)
            for term in settings.terms
        ],
        times=settings.times,
        matrix=matrix,
        by_torque=by_torque,
        window=window,
        parts=settings.parts,
        start=state.start,
    )


def _call(callback: Callback | None, saved: Saved, first: int) -> bool:
    """Show the rows from number `first` on to the callback; whether it stops the run."""
    if callback is None:
        return False
    step = saved.state.step
    for k in range(first, saved.state.rows):
        t = float(saved.t[k])
        try:
            result = callback(step, t, *(closed(each[k]) for each in saved.rows))
            is_bool = getattr(result, "dtype", type(result)) in (bool, np.dtype(bool))
            stops = is_bool and bool(result)
        except Exception as error:
            note(error, f"in the callback after step {step} of the integration, at t = {t}")
            raise
        if stops:
            saved.state.rows = k + 1
            return True
    return False


def _bar(progress: bool, count: int, done: int) -> Any:
    # Not a generator: its context manager sets attributes of an exception, which some do not allow.
    if not progress:
        return contextlib.nullcontext()
    from tqdm import tqdm

    return tqdm(total=count, initial=done, unit=" steps", unit_scale=True)

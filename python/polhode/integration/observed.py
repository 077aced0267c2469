"""Integrations whose rows Python fills: with events, `t_eval`, adaptive steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from polhode._arrays import Array
from polhode.integration.adaptive import intervals_of
from polhode.integration.dense import PartialSteps
from polhode.integration.events import Event, Events
from polhode.integration.loop import SLICE, Callback, Observe, in_core, run
from polhode.integration.record import Settings, State
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import warn_user

#: Steps, and states of a body, that are in memory at a time.
MOST_STEPS, MOST_STATES = 64, 2**18
#: Steps of a stored run in a call of the core: of all bodies together, or if a function is called.
STEPS_IN_CORE, STEPS_IN_PYTHON = 2**18, 2**8


class ObservedRun:
    """An integration in the core that looks at each step and fills the rows.

    Rows are the saves, or the states at the times `t_eval`. A body that a terminal event has ended
    is NaN in later rows; when all have ended, the last row is the state then, if there is room.
    """

    def __init__(
        self,
        settings: Settings,
        state: State,
        rows: tuple[Array, ...],
        by_torque: NDArray[np.bool_],
        *,
        events: Sequence[Event],
        in_files: bool,
    ) -> None:
        self.settings, self._state = settings, state
        self._t, *self._rows = rows
        self._by_torque, self._in_files = by_torque, in_files
        self._parts = PartialSteps(settings)
        self.events = Events(events, self._parts, state)
        count = int(np.clip(MOST_STATES // max(1, self.settings.bodies), 1, MOST_STEPS))
        #: States before and after each of some steps.
        self._steps = [np.empty((count + 1, *start.shape)) for start in settings.starts]
        self.rows, self.done, self.stopped = state.rows, state.step, self.events.end is not None
        self._begin()
        if state.begun and state.now is not None:
            for a, now in zip(self._steps, settings.split(state.now), strict=True):
                a[0] = now.reshape(a[0].shape)
            at = settings.time(state.step) if state.t is None else state.t
            self.events.go_on(at, [a[0] for a in self._steps])

    def _begin(self) -> None:
        rows = self._steps
        self._core = in_core(self.settings, self._state, rows, self._by_torque, window=True)

    def run(self, first: int, n_steps: int, seconds: float = 0.0) -> None:
        """At most `n_steps` steps, 0: the start. `done` is then the number of the last."""
        self._core.run(first, min(n_steps, len(self._steps[0]) - 1), seconds)
        n = np.arange(first, self._core.done + 1)
        t = self.settings.times_at(n)
        if n_steps == 0:
            self.events.begin(t[0], [a[0] for a in self._steps])
        else:
            times = np.broadcast_to(t[:, None], (len(t), self.settings.bodies))
            self.events.observe(n, times, [a[: len(n)] for a in self._steps])
        end = self.events.end
        if end is not None:
            self.stopped = True
            sign = self.settings.direction
            n = n[: np.searchsorted(sign * t, sign * end, side="right")]
            t = t[: len(n)]
            self.events.begin(t[-1], [a[len(n) - 1] for a in self._steps])
        self._save(n, t, t[-1] if end is None else end)
        self.done = int(n[-1])
        self._keep(len(n) - 1)

    def warn(self) -> None:
        """Nothing but what all runs warn of."""

    def next_save(self, step: int) -> int:
        """The first step after this one that may fill a row."""
        return self.settings.next_save(step) if self.settings.t_eval is None else step + 1

    def _save(self, n: NDArray[np.int64], t: Array, end: float) -> None:
        """The rows up to the time `end`; those to state n[0] are filled unless it is the start."""
        sign, t_eval = self.settings.direction, self.settings.t_eval
        if t_eval is None:
            saved = (n % self.settings.save_every == 0) | (n == self.settings.n_steps)
            k = np.flatnonzero(saved & ((n > n[0]) | (len(n) == 1)))
            times = t[k]
        else:
            times = t_eval[self.rows :]
            times = times[sign * times <= sign * end]
            k = np.searchsorted(sign * t, sign * times, side="right") - 1
        states = [steps[k] for steps in self._steps]
        if t_eval is not None:
            self._parts.move(t[k], times, states)
        self._fill(times, states)

    def _fill(self, times: Array, states: Sequence[Array]) -> None:
        """The next rows; after a terminal event of all bodies also the state then."""
        sign, ended = self.settings.direction, self.events.ended
        over = sign * times[:, None] > sign * ended
        to = slice(self.rows, self.rows + len(times))
        if not self._in_files:
            self._t[to] = times
        for rows, values, core in zip(self._rows, states, self.settings.cores, strict=True):
            values.reshape(*over.shape, *core)[over] = np.nan
            rows[to] = values
        self.rows = to.stop
        if self.stopped and not self._in_files:
            end, last = self.events.last_state()
            if not self.rows or self._t[self.rows - 1] != end:
                self._t[self.rows] = end
                for rows, value in zip(self._rows, last, strict=True):
                    rows[self.rows] = value
                self.rows += 1

    def _keep(self, last: int) -> None:
        """State number `last` is the one before the next steps."""
        for a in self._steps:
            a[0] = a[last]
        if self._state.now is not None:
            for part, a in zip(self.settings.split(self._state.now), self._steps, strict=True):
                part[...] = a[0].reshape(part.shape)  # a view


class AdaptiveRun(ObservedRun):
    """The same in adaptive steps: a "step" of the run is the way from one stop to the next.

    With events the states after all steps are looked at, which each body has at its own times.
    A stored run may end a call of the core anywhere on the way, `State.t`.
    """

    def _begin(self) -> None:
        settings, state = self.settings, self._state
        assert settings.tolerance is not None
        assert settings.stops is not None
        assert state.t is not None
        assert state.costs is not None
        self._tolerance, self._stops = tuple(settings.tolerance.tolist()), settings.stops
        self._at, self._costs = state.t, state.costs
        self._one_step = not settings.per_body
        self._intervals = intervals_of(self._stops, settings.breaks)
        self._core = in_core(settings, state, (), self._by_torque)
        self._times = np.empty((len(self._steps[0]), self.settings.bodies))
        self._count = 1 if self._in_files else max(1, MOST_STATES // max(1, state.m.size))
        in_call = STEPS_IN_CORE // max(1, self._at.size) if settings.in_core else STEPS_IN_PYTHON
        self._most = max(1, in_call) if self._in_files else 2**62
        self._lost = np.zeros(self.settings.bodies, np.bool_)

    def run(self, first: int, n_steps: int, seconds: float = 0.0) -> None:
        """At most `n_steps` ways, 0: the start. `done` is then the number of whole ones."""
        begins = n_steps == 0
        if not begins:
            self._cross_break(first)
            if self.events.functions:
                return self._look(first)
        intervals = self._intervals[first : first + min(n_steps, self._count)]
        jumps = np.flatnonzero(intervals[1:, 0] != intervals[:-1, 1])
        ends = self._stops[:1] if begins else intervals[: 1 + jumps[0] if len(jumps) else None, 1]
        states = [np.empty((len(ends), *start.shape)) for start in self.settings.starts]
        before = time.perf_counter()
        self._adapt(ends, states, self._most if len(ends) == 1 else 2**62, begins)
        if self._in_files:
            self._count = 2 * len(ends) if time.perf_counter() - before < SLICE / 5 else 1
        if (self._at == ends[-1]).all():
            self.done = first if begins else first + len(ends)
            self._arrive(self._stops[self.done - len(ends) + 1 : self.done + 1], states)
            for steps, a in zip(self._steps, states, strict=True):
                steps[0] = a[-1]
            self._keep(0)
        if begins:
            self.events.begin(self._at, [a[0] for a in self._steps])
        return None

    def _cross_break(self, first: int) -> None:
        """Bodies at the end of the way before this one go on behind the break, if there is one."""
        end = self._intervals[first - 1, 1] if first else self._stops[0]
        self._at[self._at == end] = self._intervals[first, 0]

    def _adapt(
        self,
        ends: Array,
        states: Sequence[Array],
        most_steps: int,
        begins: bool = False,
        step_times: Array | None = None,
    ) -> NDArray[np.int64]:
        """Steps of each body, at most so many, to `ends`; how many they were."""
        accepted: NDArray[np.int64]
        accepted, rejected, lost = self._core.adapt(
            self._at, ends, states[0], states[1], self._tolerance,
            one_step=self._one_step, begins=begins, most_steps=most_steps, step_times=step_times,
        )  # fmt: skip
        self._costs += np.stack([accepted, rejected])
        self._lost |= lost
        return accepted

    def _look(self, first: int) -> None:
        """Look at some steps of each body on this way."""
        end, t, bodies = self._intervals[first, 1], self._times, np.arange(self.settings.bodies)
        if not self._one_step:
            self._at[~np.isnan(self.events.ended)] = end
        t[0] = self._at
        rows = [a[1:] for a in self._steps]
        count = self._adapt(np.array([end]), rows, len(t) - 1, step_times=t[1:])
        last = int(count.max(initial=0))
        waits = np.arange(last + 1)[:, None] > count  # after its last step a body stays
        lost = np.isnan(self._state.m).any(axis=-1).ravel()
        flat = [a[: last + 1] for a in (t, *self.settings.flat(self._steps, len(t)))]
        for a in flat:
            a[waits] = np.broadcast_to(a[count, bodies], a.shape)[waits]
        self.events.observe(None, flat[0], [a[: last + 1] for a in self._steps])
        sign, ended = self.settings.direction, self.events.ended
        after = (sign * flat[0][:-1] >= sign * ended) & ~waits[1:]  # steps that are of no use
        self._costs[0] -= after.sum(axis=0)
        for a in flat[1:]:
            a[last, lost] = np.nan
        self._keep(last)
        over = self.events.end
        self.stopped = over is not None
        arrived = bool((self._at == end).all())
        self.done = first + arrived
        if arrived or self.stopped:
            self._arrive(self._stops[first + 1 : first + 2], [a[:1] for a in self._steps])

    def _arrive(self, stops: Array, states: Sequence[Array]) -> None:
        """The rows at these stops."""
        sign, t_eval, end = self.settings.direction, self.settings.t_eval, self.events.end
        assert t_eval is not None
        times = t_eval[self.rows :]
        times = times[sign * times <= sign * stops[-1]]
        if end is not None:
            times = times[sign * times <= sign * end]
        at = np.searchsorted(sign * stops, sign * times)
        self._fill(times, [a[at] for a in states])

    def warn(self) -> None:
        """Warn of bodies whose steps became too short."""
        if short := int(np.count_nonzero(self._lost & ~self._by_torque.ravel())):
            of = "1 body" if short == 1 else f"{short} bodies"
            rtol = self._tolerance[0]
            warn_user(f"the steps of {of} became too short for rtol = {rtol}: NaN from there")


def observer(settings: Settings, events: Sequence[Event], in_files: bool) -> Observe:
    """The function that makes an `ObservedRun` of this run."""
    kind = AdaptiveRun if settings.adaptive else ObservedRun
    return partial(kind, events=events, in_files=in_files)


def run_in_memory(
    settings: Settings,
    functions: Sequence[Event],
    progress: bool,
    callback: Callback | None,
) -> Trajectory:
    """Do all steps of a run, with or without events, whose rows are in memory."""
    observe = observer(settings, functions, False) if settings.observed else None
    rows = settings.saved_times(), *settings.empty_rows()
    if functions:  # room for the state when all bodies have ended
        rows = tuple(np.empty((len(each) + 1, *each.shape[1:])) for each in rows)
    borrows = settings.borrows and not settings.observed
    state = State.begin(settings, *rows[1:3] if borrows else ())
    return run(settings, state, rows, None, progress, callback, observe)

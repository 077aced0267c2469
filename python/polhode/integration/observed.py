"""Integrations of which each step is observed, for events or for states at given times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode._arrays import Array
from polhode.integration.arguments import times_of
from polhode.integration.dense import Ways
from polhode.integration.events import Event, Events, as_functions
from polhode.integration.loop import Observe, in_core
from polhode.integration.state import Settings, State

#: Steps, and states of a body, that are in memory at a time.
MOST_STEPS, MOST_STATES = 64, 2**18


class Observed:
    """An integration in the core that looks at each step and fills the rows.

    Rows are the saves, or the states at the times `t_eval`. A body that a terminal event has ended
    is NaN in later rows; when all have ended, the last row is the state then.
    """

    def __init__(
        self,
        settings: Settings,
        state: State,
        rows: tuple[Array, ...],
        by_torque: NDArray[np.bool_],
        *,
        events: Sequence[Event],
        t_eval: Array | None,
    ) -> None:
        self.settings = settings
        self._ways = Ways(settings)
        self.events = Events(events, self._ways)
        self._t, self._m, self._q = rows
        self._t_eval = t_eval
        count = int(np.clip(MOST_STATES // max(1, self._ways.bodies), 1, MOST_STEPS))
        self._steps = (
            np.empty((count + 1, *state.m.shape)),
            np.empty((count + 1, *state.q.shape)),
        )
        self._core = in_core(settings, state, self._steps, by_torque, window=True)
        self.rows, self.done, self.stopped = 0, 0, False

    def run(self, first: int, n_steps: int, seconds: float = 0.0) -> None:
        """At most `n_steps` steps, 0: the start. `done` is then the number of the last."""
        m, q = self._steps
        self._core.run(first, min(n_steps, len(m) - 1), seconds)
        n = np.arange(first, self._core.done + 1)
        t = self.settings.times_at(n)
        if n_steps == 0:
            self.events.begin(t[0], m[0], q[0])
        else:
            self.events.observe(n, t, m[: len(n)], q[: len(n)])
        end = self.events.end
        if end is not None:
            self.stopped = True
            n = n[: 1 + np.searchsorted(self.settings.direction * t, self.settings.direction * end)]
            t = t[: len(n)]
        last = len(n) - 1
        self._fill(n, t)
        self.done = int(n[-1])
        m[0], q[0] = m[last], q[last]

    def results(self) -> dict[str, Any]:
        """What a trajectory has of the events."""
        if not self.events.functions:
            return {}
        t, m, q = self.events.results()
        ended = self.events.ended
        return {
            "t_events": t,
            "m_events": m,
            "q_events": q,
            "_ended": None if np.isnan(ended).all() else ended,
        }

    def next_save(self, step: int) -> int:
        """The first step after this one that may fill a row."""
        return self.settings.next_save(step) if self._t_eval is None else step + 1

    def _fill(self, n: NDArray[np.int64], t: Array) -> None:
        """The rows up to state n[-1]; those up to state n[0] are filled unless it is the start."""
        sign, ended = self.settings.direction, self.events.ended
        end, m_end, q_end = self.events.last_state() if self.stopped else (t[-1], None, None)
        if self._t_eval is None:
            saved = (n % self.settings.save_every == 0) | (n == self.settings.n_steps)
            k = np.flatnonzero(saved & ((n > n[0]) | (len(n) == 1)))
            times = t[k]
        else:
            times = self._t_eval[self.rows :]
            k = np.searchsorted(sign * t, sign * times, side="right") - 1
        reached = sign * times <= sign * end
        k, times = k[reached], times[reached]
        m, q = (steps[k] for steps in self._steps)
        if self._t_eval is not None:
            self._ways.move(t[k], times, m, q)
        over = sign * times[:, None] > sign * ended
        for values in (m, q):
            core = values.shape[m.ndim - 1 :]
            values.reshape(len(k), len(ended), *core)[over] = np.nan
        to = slice(self.rows, self.rows + len(k))
        self._t[to], self._m[to], self._q[to] = times, m, q
        self.rows = to.stop
        if m_end is not None and (not self.rows or self._t[self.rows - 1] != end):
            self._t[self.rows], self._m[self.rows], self._q[self.rows] = end, m_end, q_end
            self.rows += 1


def observer(
    settings: Settings, events: Event | Sequence[Event] | None, t_eval: ArrayLike | None
) -> tuple[Observe, Array]:
    """The function that makes an `Observed` of these events and times, and room for all times."""
    times = None if t_eval is None else times_of(settings, t_eval)
    functions = as_functions(events)
    if functions and settings.direction == 0:
        raise ValueError("events need steps of one sign")
    rows = settings.saved_times() if times is None else times
    t = np.append(rows, np.nan)  # and the state when all bodies have ended
    return partial(Observed, events=functions, t_eval=times), t

"""States between the saves of an integration: from a save on, by the steps of the integration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array
from polhode.integration.adaptive import states_after
from polhode.integration.loop import in_core
from polhode.integration.record import NAMES, Settings, State
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import METHODS

Integers = NDArray[np.int64]


class PartialSteps:
    """Moves bodies from any time of an integration to a later one.

    They take its steps, of which the first begins and the last ends at these times. A multistep
    method starts anew, with equal steps that are not longer.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bodies = settings.bodies

    @cached_property
    def _core(self) -> _core.Integration:
        row = [np.empty((1, *start.shape)) for start in self.settings.starts]
        by_torque = np.zeros(self.settings.m0.shape[:-1], np.bool_)
        return in_core(self.settings, State.begin(self.settings), row, by_torque, window=True)

    def move(self, t: Array, t_end: Array, states: Sequence[Array]) -> None:
        """Replace R states of the batch, m, q, ..., at the times t (R,) by those at t_end (R,)."""
        block = _core.block_bodies if self.settings.per_body else max(1, self.bodies)
        row, begin = np.mgrid[: len(t), : self.bodies : block].reshape(2, -1)
        end = np.minimum(begin + block, self.bodies)
        self._move(begin, end, self.bodies * row, t[row], t_end[row], states)

    def move_bodies(
        self,
        at: Integers,
        t: Array,
        t_end: Array,
        states: Sequence[Array],
        step: Integers | None = None,
    ) -> None:
        """The same for bodies with the numbers `at` (E,) among all R states of the batch.

        Torques in Python, and those that may depend on other bodies, are evaluated for the whole
        batch: it is moved, once for each of the times, and the result used for these bodies. The
        times of a body are in step number `step`, if given.
        """
        row, body = np.divmod(at, max(1, self.bodies))
        if self.settings.per_body:
            return self._move(body, body + 1, at - body, t, t_end, states, step)
        flat = self.settings.flat(states)
        spans, which = np.unique(np.stack([row, t, t_end]), axis=1, return_inverse=True)
        results = [a.copy() for a in flat]
        for i, (k, begin, end) in enumerate(spans.T):
            moved = [a[int(k)].copy() for a in flat]
            self.move(np.array([begin]), np.array([end]), moved)
            these = which.ravel() == i
            for result, one in zip(results, moved, strict=True):
                result[int(k), body[these]] = one[body[these]]
        for state, result in zip(flat, results, strict=True):
            state[...] = result
        return None

    def _move(
        self,
        begin: Integers,
        end: Integers,
        offset: Integers,
        t: Array,
        t_end: Array,
        states: Sequence[Array],
        step: Integers | None = None,
    ) -> None:
        count = np.zeros_like(begin)
        if self.settings.adaptive:
            count += 1  # a step of less than the length that was accepted
        elif history := METHODS[self.settings.method].history:
            steps = np.ceil(np.nan_to_num((t_end - t) / self.settings.h))
            count = np.maximum(steps.astype(np.int64), history)
        first, last = (self.settings.step_at(x) if step is None else step for x in (t, t_end))
        ways = np.stack([begin, end, offset, first, last, count], axis=-1)
        goes = (t != t_end) & np.isfinite(t_end)
        self._core.move(ways[goes], np.stack([t, t_end], axis=-1)[goes], list(states))


def states_at(
    trajectory: Trajectory, t: ArrayLike, settings: Settings | None, ended: Array | None
) -> tuple[Array, ...]:
    """The states of a trajectory at times t, see `Trajectory.__call__`."""
    if settings is None or not len(trajectory):
        why = "is empty" if settings else "was not made by integrate, resume or load"
        raise ValueError(f"the trajectory {why}: it has no states between saves")
    if settings.thermostat is not None or settings.nose_hoover is not None:
        raise ValueError("states between saves are not known of bodies with a thermostat")
    sign = settings.direction
    if sign == 0:
        raise ValueError("steps of both signs: a time may have several states")
    given = _arrays.real_array("t", t)
    batch = trajectory.m.shape[1:-1]
    shape = _arrays.broadcast({"t": given.shape, "bodies": batch})
    saved = np.asarray(trajectory.t)
    times = _arrays.times_between("t", given, saved[0], saved[-1], settings.h.size)

    # R states of the flattened batch.
    bodies = prod(batch)
    times = np.broadcast_to(times, shape).reshape(prod(shape[: len(shape) - len(batch)]), bodies)
    first = np.broadcast_to(times[:, :1], times.shape) if bodies else times
    shared = bodies > 0 and np.array_equal(times, first, equal_nan=True)
    times = times[:, :1] if shared else times
    row = np.searchsorted(sign * saved, sign * times, side="right") - 1
    row = np.clip(row, 0, len(trajectory) - 1)
    before, which = saved[row], row[:, 0] if shared else (row, np.arange(bodies))
    if settings.adaptive and not (shared or settings.per_body):  # they have the same steps
        stops, number = np.unique(times, return_inverse=True)
        stops = stops.reshape(-1, *(1 for _ in batch))
        whole = states_at(trajectory, stops, settings, ended)
        pick = number.reshape(times.shape), np.arange(bodies)
        flat = (a.reshape(len(stops), bodies, *a.shape[1 + len(batch) :]) for a in whole)
        return tuple(a[pick].reshape(*shape, *a.shape[2:]) for a in flat)
    named = ["m", "q", *(NAMES[name] for name in settings.companions)]
    states = []
    for saves in (getattr(trajectory, name) for name in named):
        core = saves.shape[1 + len(batch) :]
        states.append(np.array(saves.reshape(len(saved), bodies, *core)[which]))
    if settings.adaptive and times.size:
        states_after(settings, before, times, *states)
    elif shared:
        PartialSteps(settings).move(before[:, 0], times[:, 0], states)
    else:
        at = np.arange(times.size)
        PartialSteps(settings).move_bodies(at, before.ravel(), times.ravel(), states)
    lost = np.broadcast_to(np.isnan(times), states[0].shape[:2])
    if ended is not None:
        lost = lost | (sign * times > sign * ended)
    for values in states:
        values[lost] = np.nan
    return tuple(values.reshape(*shape, *values.shape[2:]) for values in states)


Trajectory._at = staticmethod(states_at)

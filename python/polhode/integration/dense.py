"""States between the saves of an integration: from a save on, by the steps of the integration."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array
from polhode.integration.adaptive import AdaptiveSettings, states_after
from polhode.integration.loop import in_core
from polhode.integration.state import Settings, State
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import METHODS

Integers = NDArray[np.int64]


class Ways:
    """Moves bodies from any time of an integration to a later one.

    They take its steps, of which the first begins and the last ends at these times. A multistep
    method starts anew, with equal steps that are not longer.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.companions or settings.thermostat is not None:
            has = "with mass, state0 or a thermostat"
            raise ValueError(f"states between saves are not known of bodies {has}")
        state = State.begin(settings)
        row = np.empty((1, *state.m.shape)), np.empty((1, *state.q.shape))
        self.settings = settings
        self.bodies = state.m.size // 3
        self._attitude = state.q.shape[state.m.ndim - 1 :]
        by_torque = np.zeros(state.m.shape[:-1], np.bool_)
        self._core = in_core(settings, state, row, by_torque, window=True)

    def move(self, t: Array, t_end: Array, m: Array, q: Array) -> None:
        """Replace m and q, R states of the batch, from the times t (R,) by those at t_end (R,)."""
        block = _core.block_bodies if self.settings.per_body else max(1, self.bodies)
        row, begin = np.mgrid[: len(t), : self.bodies : block].reshape(2, -1)
        end = np.minimum(begin + block, self.bodies)
        self._move(begin, end, self.bodies * row, t[row], t_end[row], m, q)

    def move_bodies(
        self, at: Integers, t: Array, t_end: Array, m: Array, q: Array, step: Integers | None = None
    ) -> None:
        """The same for bodies with the numbers `at` (E,) among all R states of the batch.

        Torques in Python, and those that may depend on other bodies, are evaluated for the whole
        batch: it is moved, once for each of the times, and the result used for these bodies. The
        times of a body are in step number `step`, if given.
        """
        row, body = np.divmod(at, max(1, self.bodies))
        if self.settings.per_body:
            return self._move(body, body + 1, at - body, t, t_end, m, q, step)
        states = m.reshape(-1, self.bodies, 3), q.reshape(-1, self.bodies, *self._attitude)
        spans, which = np.unique(np.stack([row, t, t_end]), axis=1, return_inverse=True)
        results = [a.copy() for a in states]
        for i, (k, begin, end) in enumerate(spans.T):
            moved = [a[int(k)].copy() for a in states]
            self.move(np.array([begin]), np.array([end]), *moved)
            these = which.ravel() == i
            for result, one in zip(results, moved, strict=True):
                result[int(k), body[these]] = one[body[these]]
        for state, result in zip(states, results, strict=True):
            state[...] = result
        return None

    def _move(
        self,
        begin: Integers,
        end: Integers,
        offset: Integers,
        t: Array,
        t_end: Array,
        m: Array,
        q: Array,
        step: Integers | None = None,
    ) -> None:
        count = np.zeros_like(begin)
        if history := METHODS[self.settings.method].history:
            steps = np.ceil(np.nan_to_num((t_end - t) / self.settings.h))
            count = np.maximum(steps.astype(np.int64), history)
        ways = np.empty((len(begin), 6), np.int64)
        first, last = (self.settings.step_at(x) if step is None else step for x in (t, t_end))
        for k, column in enumerate((begin, end, offset, first, last, count)):
            ways[:, k] = column
        goes = (t != t_end) & np.isfinite(t_end)
        self._core.move(ways[goes], np.stack([t, t_end], axis=-1)[goes], m, q)


def states_at(
    trajectory: Trajectory, t: ArrayLike, settings: Settings | None, ended: Array | None
) -> tuple[Array, Array]:
    """The states of a trajectory at times t, see `Trajectory.__call__`."""
    if settings is None or not len(trajectory):
        why = "is empty" if settings else "was not made by integrate, resume or load"
        raise ValueError(f"the trajectory {why}: it has no states between saves")
    sign = settings.direction
    if sign == 0:
        raise ValueError("steps of both signs: a time may have several states")
    given = _arrays.real_array("t", t)
    batch = trajectory.m.shape[1:-1]
    shape = _arrays.broadcast({"t": given.shape, "bodies": batch})
    saved = np.asarray(trajectory.t)
    times = given.astype(np.float64)
    outside = (sign * times < sign * saved[0]) | (sign * times > sign * saved[-1])
    _arrays.refuse("t", given, outside, 0, f"must be between {saved[0]} and {saved[-1]}")

    # R states of the flattened batch.
    bodies = prod(batch)
    times = np.broadcast_to(times, shape).reshape(prod(shape[: len(shape) - len(batch)]), bodies)
    first = np.broadcast_to(times[:, :1], times.shape) if bodies else times
    shared = bodies > 0 and np.array_equal(times, first, equal_nan=True)
    times = times[:, :1] if shared else times
    row = np.searchsorted(sign * saved, sign * times, side="right") - 1
    row = np.clip(row, 0, len(trajectory) - 1)
    before, which = saved[row], row[:, 0] if shared else (row, np.arange(bodies))
    core = trajectory.q.shape[1 + len(batch) :]
    m = np.array(trajectory.m.reshape(len(saved), bodies, 3)[which])
    q = np.array(trajectory.q.reshape(len(saved), bodies, *core)[which])
    if isinstance(settings, AdaptiveSettings) and times.size:
        if not shared:
            raise ValueError("adaptive steps: the times must be the same for all bodies")
        states_after(settings, before[:, 0], times[:, 0], m, q)
    elif shared:
        Ways(settings).move(before[:, 0], times[:, 0], m, q)
    else:
        at = np.arange(times.size)
        Ways(settings).move_bodies(at, before.ravel(), times.ravel(), m, q)
    lost = np.broadcast_to(np.isnan(times), m.shape[:2])
    if ended is not None:
        lost = lost | (sign * times > sign * ended)
    m[lost] = q[lost] = np.nan
    return m.reshape(*shape, 3), q.reshape(*shape, *q.shape[2:])


Trajectory._at = staticmethod(states_at)

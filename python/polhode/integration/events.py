"""Events: zeros of functions of the state, which each step of an integration is searched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array, closed
from polhode.integration.dense import Integers, Ways
from polhode.torques._function import check_functions, exactly

Event = Callable[[Any, Array, Array], ArrayLike]

EPS = 2.0**-52


class Events:
    """The events of an integration: how they are found, and what was found."""

    def __init__(self, functions: Sequence[Event], ways: Ways) -> None:
        self.functions = functions
        self._directions = [_sign(k, f) for k, f in enumerate(self.functions)]
        #: The occurrences that end a body; 0: the event does not end it.
        self._limits = np.array([_limit(k, f) for k, f in enumerate(self.functions)], np.int64)
        self._ways, self._settings = ways, ways.settings
        self._batch = self._settings.m0.shape[:-1]
        self._counts = np.zeros((len(self.functions), ways.bodies), np.int64)
        #: When each body ended; NaN if it has not.
        self.ended = np.full(ways.bodies, np.nan)
        #: For each step with events: number of the event, body, time, m and q of all of them.
        self._found: list[tuple[Any, ...]] = []

    def begin(self, t: float, m: Array, q: Array) -> None:
        """The start, from which on signs are compared."""
        self._values = [self._value(k, t, m, q) for k in range(len(self.functions))]

    def observe(self, n: Integers, t: Array, m: Array, q: Array) -> None:
        """Find the events between states, after the numbers of steps n; t, m and q there."""
        bodies = self._ways.bodies
        rows = len(t)
        states = m.reshape(rows, bodies, 3), q.reshape(rows, bodies, *q.shape[m.ndim - 1 :])
        found: list[tuple[Any, ...]] = []
        for k, sign in enumerate(self._directions):
            later = [self._value(k, *state) for state in zip(t[1:], m[1:], q[1:], strict=True)]
            values = np.stack([self._values[k], *later])
            self._values[k] = values[-1]
            before, now = values[:-1], values[1:]
            up, down = (before < 0.0) & (now >= 0.0), (before > 0.0) & (now <= 0.0)
            crosses = (up & (sign >= 0.0)) | (down & (sign <= 0.0))
            step, at = np.nonzero(crosses & np.isnan(self.ended))
            for these in _first_of_each(at):
                where = k, step[these], at[these]
                found.append(
                    (np.full(len(these), k), where[2], *self._locate(*where, n, t, states, values))
                )
        if found:
            self._enter(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    @property
    def end(self) -> float | None:
        """The time when the last body ended, if all have."""
        if not self._limits.any() or np.isnan(self.ended).any() or not self.ended.size:
            return None
        sign = self._settings.direction
        return sign * float(np.max(sign * self.ended))

    def _value(self, k: int, t: float | Array, m: Array, q: Array) -> Array:
        """Event number k at a state of the batch, (bodies,)."""
        times: Any = np.broadcast_to(t, (self._ways.bodies,)).reshape(self._batch)
        value = self.functions[k](
            times if self._batch else float(times),
            closed(m.reshape(self._settings.m0.shape)),
            closed(q.reshape(self._settings.q0.shape)),
        )
        if getattr(value, "dtype", type(value)) in (bool, np.dtype(bool)):
            raise TypeError(f"events[{k}] returned true or false: return a number with a sign")
        return np.array(exactly(f"events[{k}]", value, self._batch).reshape(-1))

    def _locate(
        self,
        k: int,
        step: Integers,
        at: Integers,
        n: Integers,
        t: Array,
        states: tuple[Array, Array],
        values: Array,
    ) -> tuple[Array, ...]:
        """Times and states at which event k of the bodies `at`, each once, is zero.

        Each is between the states number `step` and `step` + 1 of t, `states` and `values`.
        """
        trial, times = [a[0].copy() for a in states], np.full(self._ways.bodies, t[0])
        starts = [a[step, at] for a in states]
        before, now = values[step, at], values[step + 1, at]
        nearer = np.where(np.abs(before) < np.abs(now), step, step + 1)
        found = [t[nearer], *(a[nearer, at] for a in states)]
        least = np.minimum(np.abs(before), np.abs(now))

        def evaluate(which: Integers, x: Array) -> Array:
            bodies = at[which]
            for to, start in zip(trial, starts, strict=True):
                to[bodies] = start[which]
            begin = step[which]
            self._ways.move_bodies(bodies, t[begin], x, trial[0], trial[1], n[begin])
            times[bodies] = x
            value = self._value(k, times, *trial)[bodies]
            closer = np.abs(value) <= least[which]  # also of a jump: the last point
            best = which[closer]
            least[best] = np.abs(value[closer])
            for to, of in zip(found, (times, *trial), strict=True):
                to[best] = of[bodies[closer]]
            return value

        bracket(evaluate, t[step], t[step + 1], before, now)
        return tuple(found)

    def _enter(self, event: Integers, body: Integers, t: Array, m: Array, q: Array) -> None:
        """Add the events of a step in their order; a terminal one ends its body."""
        order = np.argsort(self._settings.direction * t, kind="stable")
        if self._limits[event].any():
            kept = []
            for i in order.tolist():
                k, j = event[i], body[i]
                if np.isnan(self.ended[j]) or t[i] == self.ended[j]:
                    kept.append(i)
                    self._counts[k, j] += 1
                    if self._counts[k, j] == self._limits[k]:
                        self.ended[j] = t[i]
            order = np.array(kept, np.int64)
        self._found.append((event[order], body[order], t[order], m[order], q[order]))

    def last_state(self) -> tuple[float, Array, Array]:
        """Time and state when the last body ended; the others are NaN."""
        t = self.end or 0.0
        _, body, times, m, q = self._found[-1]
        last = times == t
        result = []
        for start, values in ((self._settings.m0, m), (self._settings.q0, q)):
            state = np.full(start.shape, np.nan)
            state.reshape(-1, *values.shape[1:])[body[last]] = values[last]
            result.append(state)
        return t, result[0], result[1]

    def results(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Times, momenta and attitudes: for each event an array, or a list of one for each body."""
        q0 = self._settings.q0
        empty = np.empty(0, np.int64), np.empty(0), np.empty((0, 3))
        nothing = (empty[0], *empty, np.empty((0, *q0.shape[len(self._batch) :])))
        event, body, *values = (
            np.concatenate(parts) for parts in zip(nothing, *self._found, strict=True)
        )
        key = event * self._ways.bodies + body
        order = np.argsort(key, kind="stable")
        count = len(self.functions) * self._ways.bodies
        cuts = np.searchsorted(key[order], np.arange(1, count))
        lists: list[list[Any]] = []
        for value in values:
            parts = np.split(value[order], cuts) if count else []
            n = self._ways.bodies
            lists.append(
                [parts[k * n : (k + 1) * n] for k in range(len(self.functions))]
                if self._batch
                else parts
            )
        return lists[0], lists[1], lists[2]


def _first_of_each(numbers: Integers) -> list[Integers]:
    """Places in a list: the first of each number, then the second of each, and so on."""
    order = np.argsort(numbers, kind="stable")
    _, begin = np.unique(numbers[order], return_index=True)
    rank = np.arange(len(order))
    rank -= np.repeat(begin, np.diff(np.append(begin, len(order))))
    return [order[rank == r] for r in range(int(rank.max(initial=-1)) + 1)]


def bracket(
    f: Callable[[Integers, Array], Array], a: Array, b: Array, fa: Array, fb: Array
) -> None:
    """Call f near zeros between a and b, at which it has the values fa and fb of different sign.

    f(which, x) returns its values for the elements `which` at x. The last points are within
    rounding of the zeros: the bracket is a few ulps wide, or |f| a few ulps of its change over the
    bracket. Chandrupatla's method, with a first point by the secant (T. R. Chandrupatla, Adv. Eng.
    Softw. 28 (1997) 145).
    """
    which, small = np.arange(len(a)), 2 * EPS * np.abs(fb - fa)
    x1, x2, x3, f1, f2, f3 = b, a, a, fb, fa, fa
    part = fb / (fb - fa)  # from x1 to x2
    for _ in range(100):
        width, limit = np.abs(x2 - x1), EPS * np.maximum(np.abs(x1), np.abs(x2))
        goes = (width > 4 * limit) & (np.minimum(np.abs(f1), np.abs(f2)) > small)
        if not goes.any():
            break
        which = which[goes]
        small, limit, width, part, x1, x2, x3, f1, f2, f3 = (
            v[goes] for v in (small, limit, width, part, x1, x2, x3, f1, f2, f3)
        )
        x = x1 + np.clip(part, limit / width, 1 - limit / width) * (x2 - x1)
        fx = f(which, x)
        same = np.sign(fx) == np.sign(f1)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = x, fx
        # Inverse quadratic interpolation where it is monotone, else bisection.
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
            part = f1 / (f1 - f2) * f3 / (f3 - f2)
            part -= (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f2 - f3)
            smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & np.isfinite(part)
        part = np.where(smooth, part, 0.5)


def as_functions(events: Event | Sequence[Event] | None) -> list[Event]:
    """The argument `events`, as a list."""
    if events is None:
        return []
    functions = [events] if callable(events) else list(events)
    check_functions({f"events[{k}]": f for k, f in enumerate(functions)})
    return functions


def _sign(k: int, f: Event) -> float:
    return _arrays.one_number(f"events[{k}].direction", getattr(f, "direction", 0.0))


def _limit(k: int, f: Event) -> int:
    value = getattr(f, "terminal", False)
    count = (
        int(value)
        if isinstance(value, (bool, np.bool_))
        else _arrays.whole(f"events[{k}].terminal", value)
    )
    if count < 0:
        raise ValueError(f"events[{k}].terminal must be a bool or a count, not {count}")
    return count

"""Events: zeros of functions of the state, which each step of an integration is searched for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array, closed
from polhode.integration.dense import Integers, PartialSteps
from polhode.integration.record import State
from polhode.torques._function import check_functions, exactly

Event = Callable[..., ArrayLike]

EPS = 2.0**-52


class Events:
    """The events of an integration: how they are found, and what was found."""

    def __init__(self, functions: Sequence[Event], parts: PartialSteps, state: State) -> None:
        self.functions = functions
        self._parts, self._settings, self._state = parts, parts.settings, state
        facts = np.empty((0, 2)) if parts.settings.events is None else parts.settings.events
        #: Of each event its direction, and the occurrences that end a body; 0: it ends none.
        self._directions, self._limits = facts.T
        self._batch = self._settings.m0.shape[:-1]
        none = np.empty((len(functions), parts.bodies)), np.full(parts.bodies, np.nan)
        self._values = none[0] if state.values is None else state.values
        #: When each body ended; NaN if it has not.
        self.ended = none[1] if state.ended is None else state.ended
        self._counts = np.zeros_like(self._values, np.int64)
        #: For each step with events: rows as those of `State.found`.
        self._found: list[Array] = []
        if state.found is not None:
            self._found.append(state.found)
            np.add.at(self._counts, tuple(state.found[:, :2].astype(np.int64).T), 1)

    def begin(self, t: float | Array, states: Sequence[Array]) -> None:
        """The start, from which on signs are compared."""
        for k in range(len(self.functions)):
            self._values[k] = self._value(k, t, states)

    def go_on(self, t: float | Array, states: Sequence[Array]) -> None:
        """Raise ValueError if the events are not those of the run so far, which is here."""
        for k, old in enumerate(self._values):
            new = self._value(k, t, states)
            with np.errstate(invalid="ignore"):
                unlike = np.abs(new - old) > 1e-9 * np.fmax.reduce(np.abs([new, old]), axis=None)
            for j in np.flatnonzero(unlike)[:1].tolist():
                at = np.broadcast_to(t, (len(new),))[j]
                raise ValueError(
                    f"events[{k}] returns {new[j]} at t = {at}, but before it returned {old[j]}: "
                    "it is not the same event"
                )

    def observe(self, n: Integers | None, t: Array, states: Sequence[Array]) -> None:
        """Find the events between states of the batch.

        t and `states` have one row for each state and body; n are the numbers of the steps before
        them, if all bodies have the same.
        """
        if not self.functions:
            return
        flat = self._settings.flat(states, len(t))
        found: list[Array] = []
        ends = []
        for k, sign in enumerate(self._directions):
            later = [self._value(k, t[i], [a[i] for a in flat]) for i in range(1, len(t))]
            values = np.stack([self._values[k], *later])
            ends.append(values[-1])
            before, now = values[:-1], values[1:]
            up, down = (before < 0.0) & (now >= 0.0), (before > 0.0) & (now <= 0.0)
            crosses = (up & (sign >= 0.0)) | (down & (sign <= 0.0))
            step, at = np.nonzero(crosses & np.isnan(self.ended))
            for these in _first_of_each(at):
                zeros = self._locate(k, step[these], at[these], n, t, flat, values)
                columns = np.full(len(these), k), at[these], *zeros
                found.append(np.column_stack([a.reshape(len(these), -1) for a in columns]))
        self._values[...] = ends
        if found:
            self._enter(np.concatenate(found))

    @property
    def end(self) -> float | None:
        """The time when the last body ended, if all have."""
        if not self.ended.size or np.isnan(self.ended).any():
            return None
        sign = self._settings.direction
        return sign * float(np.max(sign * self.ended))

    def _value(self, k: int, t: float | Array, states: Sequence[Array]) -> Array:
        """Event number k at a state of the batch, (bodies,)."""
        times: Any = np.broadcast_to(t, (self._settings.bodies,)).reshape(self._batch)
        shaped = zip(states, self._settings.starts, strict=True)
        state = (closed(a.reshape(start.shape)) for a, start in shaped)
        value = self.functions[k](times if self._batch else float(times), *state)
        if getattr(value, "dtype", type(value)) in (bool, np.dtype(bool)):
            raise TypeError(f"events[{k}] returned true or false: return a number with a sign")
        return np.array(exactly(f"events[{k}]", value, self._batch).reshape(-1))

    def _locate(
        self,
        k: int,
        step: Integers,
        at: Integers,
        n: Integers | None,
        t: Array,
        states: Sequence[Array],
        values: Array,
    ) -> tuple[Array, ...]:
        """Times and states at which event k of the bodies `at`, each once, is zero.

        Each is between the states number `step` and `step` + 1 of t, `states` and `values`.
        """
        trial, times = [a[0].copy() for a in states], t[0].copy()
        starts = [a[step, at] for a in states]
        begin, end = t[step, at], t[step + 1, at]
        before, now = values[step, at], values[step + 1, at]
        nearer = np.where(np.abs(before) < np.abs(now), step, step + 1)
        found = [t[nearer, at], *(a[nearer, at] for a in states)]
        least = np.minimum(np.abs(before), np.abs(now))

        def evaluate(which: Integers, x: Array) -> Array:
            bodies = at[which]
            for to, start in zip(trial, starts, strict=True):
                to[bodies] = start[which]
            number = None if n is None else n[step[which]]
            self._parts.move_bodies(bodies, begin[which], x, trial, number)
            times[bodies] = x
            value = self._value(k, times, trial)[bodies]
            closer = np.abs(value) <= least[which]  # also of a jump: the last point
            best = which[closer]
            least[best] = np.abs(value[closer])
            for to, of in zip(found, (times, *trial), strict=True):
                to[best] = of[bodies[closer]]
            return value

        bracket(evaluate, begin, end, before, now)
        return tuple(found)

    def _enter(self, rows: Array) -> None:
        """Add the events of some steps in their order; a terminal one ends its body."""
        rows = rows[np.argsort(self._settings.direction * rows[:, 2], kind="stable")]
        event, body = rows[:, :2].astype(np.int64).T
        if self._limits[event].any():
            kept = []
            for i, (k, j) in enumerate(zip(event.tolist(), body.tolist(), strict=True)):
                if np.isnan(self.ended[j]) or rows[i, 2] == self.ended[j]:
                    kept.append(i)
                    self._counts[k, j] += 1
                    if self._counts[k, j] == self._limits[k]:
                        self.ended[j] = rows[i, 2]
            rows = rows[kept]
        self._found.append(rows)

    def record(self) -> None:
        """Put what was found up to the state into it."""
        state, sign = self._state, self._settings.direction
        if state.found is None:
            return
        rows = np.concatenate(self._found)
        if self.end is None:  # after an exception the state may be that of an earlier step
            at = self._settings.time(state.step) if state.t is None else state.t
            last = np.broadcast_to(at, self.ended.shape)[rows[:, 1].astype(np.int64)]
            rows = rows[sign * rows[:, 2] <= sign * last]
        state.found, self._found = rows, [rows]

    def last_state(self) -> tuple[float, list[Array]]:
        """Time and state when the last body ended; the others are NaN."""
        t = self.end or 0.0
        rows = np.concatenate(self._found)
        rows = rows[rows[:, 2] == t]
        body = rows[:, 1].astype(np.int64)
        result = [np.full(start.shape, np.nan) for start in self._settings.starts]
        for state, values in zip(result, self._settings.split(rows[:, 3:]), strict=True):
            state.reshape(-1, *values.shape[1:])[body] = values
        return t, result


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


#: The columns of `Settings.events`.
FACTS = ("direction", "terminal")


def facts_of(functions: Sequence[Event]) -> Array | None:
    """Directions and terminal counts, (events, 2); None if there are none."""
    facts = []
    for k, f in enumerate(functions):
        sign = _arrays.one_number(f"events[{k}].direction", getattr(f, "direction", 0.0))
        count = getattr(f, "terminal", False)
        if not isinstance(count, np.bool_):
            count = _arrays.whole(f"events[{k}].terminal", count)
        if count < 0:
            raise ValueError(f"events[{k}].terminal must be a bool or a count, not {count}")
        facts.append((sign, int(count)))
    return np.array(facts, np.float64) if facts else None

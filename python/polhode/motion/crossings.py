"""The times at which a component of a vector passes a level, with none left out.

The vector is fixed in space, v = Q^T s in the body frame; m is such a vector too.  With b fixed in
the body, f = b . v - level has f' = b . (v x omega), and ``|f''|`` is at most a constant that
energy and ``|m|`` give.  So an interval has no passage if ``|f|`` at its middle is too large, and
at most one if ``|f'|`` there is too large to change its sign; any other interval is halved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core
from polhode._arrays import Array, Operand
from polhode._axes import to_body, to_space
from polhode.motion.nutation import PERMANENT, SPHERE, extremes

EPS = 2.0**-52
#: Intervals that are looked at together.
BATCH = 2**15


def times(
    bodies: tuple[Array, Array, Array, Array, Array | None], batch: tuple[int, ...],
    t0: ArrayLike, t1: ArrayLike, body: ArrayLike, space: ArrayLike | None, level: ArrayLike,
    direction: int,
) -> Any:  # fmt: skip
    """See `TorqueFreeMotion.crossings`."""
    if direction not in (-1, 0, 1):
        raise ValueError(f"direction must be -1, 0 or 1, not {direction!r}")
    given = [Operand("t0", t0), Operand("t1", t1), Operand("level", level)]
    given += [Operand("body", body, 3)]
    given += [] if space is None else [Operand("space", space, 3)]
    for each in given[:2]:
        _arrays.refuse(each.name, each.array, ~np.isfinite(each.array), 0, "not finite")
    shape = _arrays.broadcast({**{each.name: each.batch for each in given}, "bodies": batch})
    begin, end = np.broadcast_arrays(given[0].doubles, given[1].doubles)
    _arrays.refuse("t1", end, end < begin, 0, "less than t0")

    def rows(x: Array, core: int) -> Array:
        own = x.shape[x.ndim - core :]
        return np.array(np.broadcast_to(x, shape + own)).reshape(-1, *own)

    numbers = {each.name: rows(each.doubles, len(each.core)) for each in given}
    b, s = numbers["body"], numbers.get("space")
    attitude_axes = 1 if bodies[2].shape[-1] == 4 else 2
    inertia, m0, q0, constants = (
        rows(x, n) for x, n in zip(bodies[:4], (1, 1, attitude_axes, 2), strict=True)
    )
    axes = None if bodies[4] is None else rows(bodies[4], 2)
    # In a unit of time near 1/|omega|, a power of two, so that squares stay in range.
    exponents = [np.frexp(np.abs(x).max(axis=-1))[1] for x in (m0, inertia)]
    unit = exponents[0] - exponents[1]
    constants[:, 2, 0] = np.ldexp(constants[:, 2, 0], unit)
    scaled = {name: np.ldexp(numbers[name], unit) for name in ("t0", "t1")}
    level = np.ldexp(numbers["level"], -unit) if s is None else numbers["level"]
    m0 = np.ldexp(m0, -unit[:, None])
    search = Crossings((inertia, m0, q0, constants, axes), b, s, level=level, **scaled)
    which, t = search.times(direction)
    t = np.ldexp(t, -unit[which])
    if not shape:
        return t
    result = np.empty(len(m0), dtype=object)
    result[:] = np.split(t, np.searchsorted(which, np.arange(1, len(m0))))
    return result.reshape(shape)


class Crossings:
    """The search for the bodies of a flat batch: rows of arrays (N, ...)."""

    def __init__(
        self, bodies: tuple[Array, Array, Array, Array, Array | None], body: Array,
        space: Array | None, t0: Array, t1: Array, level: Array,
    ) -> None:  # fmt: skip
        self.inertia, self.m0, self.q0, self.constants, self.axes = bodies
        self.body, self.space, self.level, self.t0, self.t1 = body, space, level, t0, t1
        period, regime, _ = self.constants[:, 2].T
        m = self.m0 if self.axes is None else to_body(self.axes, self.m0)
        still = (regime == PERMANENT) | (regime == SPHERE)
        _, most = extremes(self.inertia, m, regime.astype(np.intp))
        I = np.where(self.inertia > 0.0, self.inertia, np.inf)
        # omega, and its derivative I^-1 (m x omega), are at most
        omega = most / I
        turned = np.roll(most, -1, -1) * np.roll(omega, 1, -1)
        other = np.roll(most, 1, -1) * np.roll(omega, -1, -1)
        change = np.where(still[:, None], 0.0, np.maximum(turned, other) / I)
        self.rate = np.linalg.norm(omega, axis=-1)
        size = np.linalg.norm(m if space is None else space, axis=-1)
        self.size = size * np.linalg.norm(body, axis=-1)
        self.bend = self.size * (self.rate**2 + np.linalg.norm(change, axis=-1))
        # m repeats itself: one period is searched, and its end is its start.
        repeats = np.isfinite(period) if space is None else np.zeros(len(m), bool)
        self.period = np.where(repeats & (t1 - t0 > period), period, np.inf)
        self.end = np.minimum(t1, t0 + self.period)
        moves = (self.rate > 0.0) & (np.abs(level) < self.size * (1 + 4 * EPS))
        if space is None:
            moves &= ~still
        latest = np.maximum(np.abs(t0), np.abs(self.end))
        self.noise = 8 * EPS * self.size * (1 + self.rate * latest)
        # Half an interval is half a radian, at the start.
        with np.errstate(invalid="ignore"):  # 0/0 of a vector without length, which has no passage
            count = np.ceil((self.end - t0) * np.sqrt(self.bend / self.size))
        self.count = np.where(moves & (count > 0), np.minimum(count, 2.0**50), 0).astype(np.int64)
        if self.count.max(initial=0) == 2**50:
            raise ValueError("t1 - t0 is too long: the body turns by 2^50 radians or more")

    def times(self, direction: int) -> tuple[NDArray[np.intp], Array]:
        """Rows and times of all passages, those of a row in the order of time."""
        found = [self._located(*interval) for interval in self._brackets(direction)]
        which = np.concatenate([np.empty(0, np.intp), *(w for w, _ in found)])
        t = np.concatenate([np.empty(0), *(t for _, t in found)])
        period = self.period[which]
        repeated = np.isfinite(period)
        safe = np.where(repeated, period, 1.0)
        first = np.where(repeated, np.ceil((self.t0[which] - t) / safe), 0.0)
        last = np.where(repeated, np.floor((self.t1[which] - t) / safe), 0.0)
        copies = (last - first).astype(np.int64) + 1
        source = np.repeat(np.arange(len(t)), copies)
        number = np.arange(len(source)) - np.repeat(np.cumsum(copies) - copies, copies)
        t = t[source] + (first[source] + number) * safe[source]
        which = which[source]
        order = np.lexsort((t, which))
        return which[order], t[order]

    def _values(self, which: NDArray[np.intp], t: Array) -> tuple[Array, Array]:
        axes = None if self.axes is None else self.axes[which]
        t = np.where(t == (self.t0 + self.period)[which], self.t0[which], t)
        inertia, m0, q0, constants = (
            x[which] for x in (self.inertia, self.m0, self.q0, self.constants)
        )
        m, q, _ = _core.motion_at(inertia, m0, q0, constants, axes, t, None, None, 0)
        v = m if self.space is None else to_body(q, self.space[which])
        principal = m if axes is None else to_body(axes, m)
        omega = np.asarray(_core.omega(inertia, principal))
        omega = omega if axes is None else to_space(axes, omega)
        b, y, z = self.body[which], [1, 2, 0], [2, 0, 1]
        change = v[:, y] * omega[:, z] - v[:, z] * omega[:, y]
        return (b * v).sum(-1) - self.level[which], (b * change).sum(-1)

    def _brackets(
        self, direction: int
    ) -> Iterator[tuple[NDArray[np.intp], Array, Array, NDArray[np.bool_]]]:
        """Intervals with one change of sign each: row, ends, and whether f rises."""
        ends = np.cumsum(self.count)
        for begin in range(0, int(ends[-1]) if len(ends) else 0, BATCH):
            number = np.arange(begin, min(begin + BATCH, int(ends[-1])))
            which = np.searchsorted(ends, number, side="right")
            place = number - (ends - self.count)[which]
            span, count = (self.end - self.t0)[which], self.count[which]
            low, high = (
                np.where(k == count, self.end[which], self.t0[which] + span * (k / count))
                for k in (place, place + 1)
            )
            while which.size:
                middle = 0.5 * (low + high)
                f, slope = self._values(which, middle)
                half, noise, bend = 0.5 * (high - low), self.noise[which], self.bend[which]
                reach = half * (np.abs(slope) + 0.5 * bend * half)
                may = np.abs(f) <= reach + noise
                single = (np.abs(slope) > bend * half) | (0.5 * bend * half**2 <= noise)
                yield from self._changes(which, low, high, may & single, direction)
                split = may & ~single & ~self._is_flat(which, low, high, f, slope, may & ~single)
                which, low, middle, high = (x[split] for x in (which, low, middle, high))
                which = np.concatenate([which, which])
                low, high = np.concatenate([low, middle]), np.concatenate([middle, high])

    def _changes(
        self,
        which: NDArray[np.intp],
        low: Array,
        high: Array,
        at: NDArray[np.bool_],
        direction: int,
    ) -> Iterator[tuple[NDArray[np.intp], Array, Array, NDArray[np.bool_]]]:
        which, low, high = which[at], low[at], high[at]
        start, end = (self._values(which, t)[0] < 0.0 for t in (low, high))
        changes = (start != end) & (start if direction > 0 else ~start if direction < 0 else True)
        yield which[changes], low[changes], high[changes], start[changes]

    def _is_flat(
        self, which: NDArray[np.intp], low: Array, high: Array, f: Array, slope: Array,
        of: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Whether f is zero to rounding at both ends and the middle, where f' is too."""
        noise = self.noise[which]
        flat: NDArray[np.bool_] = of & (np.abs(f) <= noise)
        flat &= np.abs(slope) <= noise * self.rate[which]
        for t in (low, high):
            flat[flat] = np.abs(self._values(which[flat], t[flat])[0]) <= noise[flat]
        return flat

    def _located(
        self, which: NDArray[np.intp], low: Array, high: Array, rises: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], Array]:
        """The passages in these intervals, by Newton's method, or halving where it leaves them."""
        t = 0.5 * (low + high)
        todo = np.arange(len(t))
        for _ in range(60):
            f, slope = self._values(which[todo], t[todo])
            before = (f < 0.0) == rises[todo]
            low[todo] = np.where(before, t[todo], low[todo])
            high[todo] = np.where(before, high[todo], t[todo])
            with np.errstate(divide="ignore", invalid="ignore"):
                new = t[todo] - f / slope
            inside = (new >= low[todo]) & (new <= high[todo])
            new = np.where(inside, new, 0.5 * (low[todo] + high[todo]))
            moved = np.abs(new - t[todo]) > 4 * EPS * (np.abs(new) + 1 / self.rate[which[todo]])
            t[todo] = new
            todo = todo[moved]
            if not todo.size:
                break
        return which, t

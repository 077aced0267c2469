"""Steps whose lengths follow from their errors: `rk8` from the start to given times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays
from polhode._arrays import Array
from polhode.integration import loop
from polhode.integration.arguments import times_of
from polhode.integration.state import Settings, State

#: The least relative tolerance: some ulps.
LEAST_RTOL = 1e-15


@dataclass(frozen=True)
class Adapted:
    """States at given times, and by body what they cost."""

    m: Array
    q: Array
    steps: NDArray[np.int64]
    rejected: NDArray[np.int64]
    #: Whether a step became too short; the states after it are NaN.
    lost: NDArray[np.bool_]


def adapt(
    settings: Settings,
    state: State,
    times: Array,
    rtol: float,
    atol: tuple[float, float],
    *,
    t: float | None = None,
    first_step: float = 0.0,
    max_step: float = math.inf,
    one_step: bool = False,
    by_torque: NDArray[np.bool_] | None = None,
) -> Adapted:
    """The states at `times`, each of which ends a step; `state` goes on to the last.

    Times are in their order, (K,), or (K, bodies): those of each body.
    The error of a step is at most atol[0] + rtol |m| in m and atol[1] + rtol in q, by its estimate.
    Without `t` the state is the start, else the one of an earlier call, at the time t. Each body
    has its own steps, unless `one_step` is set, a function is called or bodies interact: then all
    take the same steps, and have the same times.
    """
    batch, bodies = state.m.shape[:-1], state.m.size // 3
    by_torque = np.zeros(batch, np.bool_) if by_torque is None else by_torque
    integration = loop.in_core(settings, state, (), by_torque)
    begin = settings.t0 if t is None else t
    sign = -1.0 if (times < begin).any() else 1.0
    ends = sign * times
    m, q = (np.empty((len(times), *a.shape)) for a in (state.m, state.q))
    costs = np.zeros((3, *batch), np.int64)
    for first, last, before in _pieces(sign * begin, ends.max(), sign, settings.breaks):
        piece = np.clip(ends, first, last)
        now = np.empty_like(m), np.empty_like(q)
        cost = integration.adapt(
            np.full(bodies, sign * first), np.ascontiguousarray(sign * piece.T), now[0], now[1],
            (rtol, *atol), first_step, max_step, one_step or not settings.per_body,
            t is None and before == -math.inf,
        )  # fmt: skip
        costs += np.reshape(cost, costs.shape)
        new = np.broadcast_to((ends > before).reshape(len(ends), -1), (len(ends), bodies))
        for to, rows in zip((m, q), now, strict=True):
            to[new.reshape(-1, *batch)] = rows[new.reshape(-1, *batch)]
    return Adapted(m, q, costs[0], costs[1], costs[2] > 0)


def stops_of(begin: float, times: Array, breaks: Array | None) -> Array:
    """The time `begin` and all that end a step, in their order: the times and breaks among them."""
    last = times[-1] if len(times) else begin
    stops = np.unique(np.append(times, begin))
    if breaks is not None:
        held = (breaks > stops[0]) & (breaks < stops[-1])
        stops = np.union1d(stops, breaks[held])
    return stops if last >= begin else stops[::-1].copy()


def ways_of(stops: Array, breaks: Array | None) -> Array:
    """From and to, (stops - 1, 2): they begin and end beside the breaks."""
    ways = np.stack([stops[:-1], stops[1:]], axis=-1)
    if breaks is not None and len(ways):
        sign = 1.0 if stops[-1] >= stops[0] else -1.0
        beside = np.nextafter(ways, [sign * np.inf, -sign * np.inf])
        ways = np.where(np.isin(ways, breaks), beside, ways)
        ways[:, 1] = sign * np.maximum(sign * ways[:, 1], sign * ways[:, 0])
    return ways


def _pieces(
    begin: float, end: float, sign: float, breaks: Array | None
) -> Iterator[tuple[float, float, float]]:
    """First and last time of the ways between breaks, beside these; and the break before.

    Times are multiplied by the sign, so they increase.
    """
    jumps = [] if breaks is None else sorted((sign * breaks).tolist())
    before = -math.inf
    for after in [*(x for x in jumps if begin < x <= end), math.inf]:
        first = begin if before == -math.inf else before
        if before < end:
            first = math.nextafter(first, math.inf) if first in jumps else first
            yield first, max(first, math.nextafter(after, -math.inf)), before
        before = after


def whole_way(t0: float, t_end: float, **others: Any) -> float:
    """The time from t0 to t_end, checked; `others` are the arguments that do not go with t_end."""
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name} is for steps of given length: give h and n_steps, or t_end")
    ends = {"t0": _arrays.one_number("t0", t0), "t_end": _arrays.one_number("t_end", t_end)}
    for name, t in ends.items():
        if not math.isfinite(t):
            raise ValueError(f"{name} must be finite, not {t}")
    return ends["t_end"] - ends["t0"]


def scheme(splitting: Any, method: Any) -> tuple[None, str]:
    """Splitting and method with t_end: in place of the defaults of `integrate`, or as given."""
    free = splitting is None or (isinstance(splitting, str) and splitting == "strang")
    if not free or method not in ("exact", "rk8"):
        raise ValueError('t_end needs a method with adaptive steps: method="rk8", splitting=None')
    return None, "rk8"


def tolerance_of(rtol: float | None, atol: ArrayLike | None) -> tuple[float, ...]:
    """The arguments rtol and atol, checked: rtol, atol of m, atol of q."""
    rtol = _arrays.one_number("rtol", 1e-9 if rtol is None else rtol)
    if not LEAST_RTOL <= rtol < 1.0:
        raise ValueError(f"rtol must be at least {LEAST_RTOL} and less than 1, not {rtol}")
    bounds = _arrays.real_array("atol", 1e-12 if atol is None else atol)
    if bounds.shape not in ((), (2,)):
        raise ValueError(f"atol must be a number or (of m, of q), not shape {bounds.shape}")
    _arrays.refuse("atol", bounds, ~(bounds >= 0.0) | np.isinf(bounds), 0, "is not 0 or more")
    return float(rtol), *map(float, np.broadcast_to(bounds, 2))


def adaptive_settings(
    settings: Settings,
    t_end: float,
    tolerance: tuple[float, ...],
    t_eval: ArrayLike | None,
    events: Array | None,
) -> Settings:
    """These settings, of one step, with adaptive steps to `t_end`."""
    ends = np.array([settings.t0, _arrays.one_number("t_end", t_end)])
    times = ends if t_eval is None else times_of(settings, t_eval, ends[1])
    stops = stops_of(settings.t0, np.append(times, ends[1]), settings.breaks)
    return replace(
        settings,
        h=np.diff(stops),
        n_steps=len(stops) - 1,
        stops=stops,
        t_eval=times,
        tolerance=np.array(tolerance),
        events=events,
    )


def states_after(settings: Settings, begin: Array, t: Array, m: Array, q: Array) -> None:
    """Replace m and q, R states of the bodies at the times `begin`, by those at t.

    Both are (R, 1) or, of bodies that can be stepped alone, (R, bodies). The times of a body after
    a state are reached one after the other, so that each step is done once.
    """
    assert settings.tolerance is not None
    rtol, *atol = settings.tolerance.tolist()
    sign, bodies = settings.direction, np.arange(m.shape[1])
    for at in np.unique(begin):
        here = (begin == at) & ~np.isnan(t)
        count = int(here.sum(axis=0).max(initial=0))
        if not count:
            continue
        ends = np.where(here, sign * t, np.inf)
        order = np.argsort(ends, axis=0, kind="stable")
        last = np.where(here, sign * t, sign * at).max(axis=0)  # where a body waits
        ends = sign * np.minimum(np.take_along_axis(ends, order, 0)[:count], last)
        state, one = State.begin(settings), np.argmax(here, axis=0)
        for now, a in ((state.m, m), (state.q, q)):
            now[...] = a[one, bodies].reshape(now.shape)
        moved = replace(settings, t0=float(at))
        times = ends if t.shape[1] > 1 else ends[:, 0]
        end = adapt(moved, state, times, rtol, (atol[0], atol[1]))
        rank = np.broadcast_to(np.argsort(order, axis=0), m.shape[:2])
        row, body = np.nonzero(np.broadcast_to(here, m.shape[:2]))
        for a, to in ((end.m, m), (end.q, q)):
            to[row, body] = a.reshape(count, *to.shape[1:])[rank[row, body], body]

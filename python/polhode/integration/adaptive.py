"""The arguments of steps whose lengths follow from their errors, and the states at given times.

The core chooses the lengths, in splitting/adaptive.hpp.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays
from polhode._arrays import Array
from polhode.integration.check_arguments import times_of
from polhode.integration.loop import in_core
from polhode.integration.record import Settings, State

#: The least relative tolerance: some ulps.
LEAST_RTOL = 1e-15


def stops_of(begin: float, times: Array, breaks: Array | None) -> Array:
    """The time `begin` and all that end a step, in their order: the times and breaks among them."""
    last = times[-1] if len(times) else begin
    stops = np.unique(np.append(times, begin))
    if breaks is not None:
        held = (breaks > stops[0]) & (breaks < stops[-1])
        stops = np.union1d(stops, breaks[held])
    return stops if last >= begin else stops[::-1].copy()


def intervals_of(stops: Array, breaks: Array | None) -> Array:
    """From and to, (stops - 1, 2): they begin and end beside the breaks."""
    intervals = np.stack([stops[:-1], stops[1:]], axis=-1)
    if breaks is not None and len(intervals):
        sign = 1.0 if stops[-1] >= stops[0] else -1.0
        beside = np.nextafter(intervals, [sign * np.inf, -sign * np.inf])
        intervals = np.where(np.isin(intervals, breaks), beside, intervals)
        intervals[:, 1] = sign * np.maximum(sign * intervals[:, 1], sign * intervals[:, 0])
    return intervals


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
    tolerance = tuple(settings.tolerance.tolist())
    sign, bodies = settings.direction, np.arange(m.shape[1])
    for at in np.unique(begin):
        here = (begin == at) & ~np.isnan(t)
        count = int(here.sum(axis=0).max(initial=0))
        if not count:
            continue
        ends = np.where(here, sign * t, np.inf)
        order = np.argsort(ends, axis=0, kind="stable")[:count]
        last = np.where(here, sign * t, sign * at).max(axis=0)  # where a body waits
        ends = np.minimum(np.take_along_axis(ends, order, 0), last)
        state, one = State.begin(settings), np.argmax(here, axis=0)
        for now, a in ((state.m, m), (state.q, q)):
            now[...] = a[one, bodies].reshape(now.shape)
        found = [np.repeat(a[None], count, axis=0) for a in (state.m, state.q)]
        core = in_core(settings, state, (), np.zeros(state.m.shape[:-1], np.bool_))
        stops = stops_of(at, sign * ends.max(keepdims=True)[0], settings.breaks)
        for k, (first, final) in enumerate(intervals_of(stops, settings.breaks)):
            piece = sign * np.clip(ends, sign * first, sign * final).T
            times = np.array(piece if len(piece) > 1 else piece[0], order="C")
            rows = [np.empty_like(a) for a in found]
            core.adapt(
                np.full(len(bodies), first), times, rows[0], rows[1], tolerance,
                one_step=not settings.per_body, begins=k == 0,
            )  # fmt: skip
            goes = np.broadcast_to(ends >= sign * first, (count, len(bodies)))
            goes = goes.reshape(count, *state.m.shape[:-1])
            for a, new in zip(found, rows, strict=True):
                a[goes] = new[goes]
        asked = np.take_along_axis(here, order, 0)
        row, body = np.nonzero(np.broadcast_to(asked, (count, len(bodies))))
        place = np.broadcast_to(order, (count, len(bodies)))[row, body]
        for a, to in zip(found, (m, q), strict=True):
            to[place, body] = a.reshape(count, *to.shape[1:])[row, body]

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

    The error of a step is at most atol[0] + rtol |m| in m and atol[1] + rtol in q, by its estimate.
    Without `t` the state is the start, else the one of an earlier call, at the time t. Each body
    has its own steps, unless `one_step` is set, a function is called or bodies interact: then all
    take the same steps.
    """
    batch, bodies = state.m.shape[:-1], state.m.size // 3
    by_torque = np.zeros(batch, np.bool_) if by_torque is None else by_torque
    integration = loop.in_core(settings, state, (), by_torque)
    stops = stops_of(settings.t0 if t is None else t, times, settings.breaks)
    m, q = (np.empty((len(stops), *a.shape)) for a in (state.m, state.q))
    costs = np.zeros((3, *batch), np.int64)
    for first, to in _pieces(stops, ways_of(stops, settings.breaks)):
        rows = slice(first, first + len(to))
        cost = integration.adapt(
            np.full(bodies, to[0]), to, m[rows], q[rows], (rtol, *atol), first_step, max_step,
            one_step or not settings.per_body, t is None and first == 0,
        )  # fmt: skip
        costs += np.reshape(cost, costs.shape)
    sign = 1 if stops[-1] >= stops[0] else -1
    row = np.searchsorted(sign * stops, sign * times)
    return Adapted(m[row], q[row], costs[0], costs[1], costs[2] > 0)


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


def _pieces(stops: Array, ways: Array) -> Iterator[tuple[int, Array]]:
    """Ways that follow each other without a jump: number of the first, start and all ends."""
    if not len(ways):
        yield 0, stops
        return
    cuts = 1 + np.flatnonzero(ways[1:, 0] != ways[:-1, 1])
    for first, last in zip([0, *cuts], [*cuts, len(ways)], strict=True):
        yield int(first), np.append(ways[first, 0], ways[first:last, 1])


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


def adaptive_settings(
    settings: Settings,
    t_end: float,
    rtol: float | None,
    atol: ArrayLike | None,
    t_eval: ArrayLike | None,
    events: Array | None,
) -> Settings:
    """These settings, of one step, with adaptive steps to `t_end`."""
    rtol = _arrays.one_number("rtol", 1e-9 if rtol is None else rtol)
    if not LEAST_RTOL <= rtol < 1.0:
        raise ValueError(f"rtol must be at least {LEAST_RTOL} and less than 1, not {rtol}")
    bounds = _arrays.real_array("atol", 1e-12 if atol is None else atol)
    if bounds.shape not in ((), (2,)):
        raise ValueError(f"atol must be a number or (of m, of q), not shape {bounds.shape}")
    _arrays.refuse("atol", bounds, ~(bounds >= 0.0) | np.isinf(bounds), 0, "is not 0 or more")
    tolerance = np.append(rtol, np.broadcast_to(bounds.astype(np.float64), 2))
    ends = np.array([settings.t0, _arrays.one_number("t_end", t_end)])
    times = ends if t_eval is None else times_of(settings, t_eval, ends[1])
    stops = stops_of(settings.t0, np.append(times, ends[1]), settings.breaks)
    return replace(
        settings,
        h=np.diff(stops),
        n_steps=len(stops) - 1,
        stops=stops,
        t_eval=times,
        tolerance=tolerance,
        events=events,
    )


def states_after(settings: Settings, begin: Array, t: Array, m: Array, q: Array) -> None:
    """Replace m and q, R states of the batch at the times `begin` (R,), by those at t (R,).

    The times after a state are reached one after the other, so that each step is done once.
    """
    shapes = settings.m0.shape, settings.q0.shape
    for at in np.unique(begin):
        which = np.flatnonzero((begin == at) & ~np.isnan(t))
        stops, row = np.unique(settings.direction * t[which], return_inverse=True)
        if not len(stops):
            continue
        state = State.begin(settings)
        state.m[...], state.q[...] = (
            a[which[0]].reshape(shape) for a, shape in zip((m, q), shapes, strict=True)
        )
        moved = replace(settings, t0=float(at))
        assert settings.tolerance is not None
        rtol, *atol = settings.tolerance.tolist()
        end = adapt(moved, state, settings.direction * stops, rtol, tuple(atol))
        m[which], q[which] = (
            a[row].reshape(len(which), *to.shape[1:]) for a, to in ((end.m, m), (end.q, q))
        )

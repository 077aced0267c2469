"""Steps whose lengths follow from their errors: `rk8` from the start to given times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays
from polhode._arrays import Array
from polhode.integration import loop
from polhode.integration.arguments import times_of
from polhode.integration.state import Settings, State
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import warn_user

#: The least relative tolerance: some ulps.
LEAST_RTOL = 1e-15
#: States of a body that are computed in one call of the core.
MOST_STATES = 2**18


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaptiveSettings(Settings):
    """An integration whose "steps" go from one saved time to the next, in adaptive steps."""

    adaptive = True
    #: The start and the times at which states are saved.
    grid: Array = field(metadata={"core": ""})
    rtol: float = field(metadata={"core": ""})
    #: In m and in q.
    atol: tuple[float, float] = field(metadata={"core": ""})

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive("times", self.grid)


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
    batch = state.m.shape[:-1]
    m, q = (np.empty((len(times), *a.shape)) for a in (state.m, state.q))
    by_torque = np.zeros(batch, np.bool_) if by_torque is None else by_torque
    integration = loop.in_core(settings, state, (), by_torque)
    tolerance = (rtol, *atol)
    costs = np.zeros((3, *batch), np.int64)
    begins, row = t is None, 0
    for begin, stops, saves in _pieces(settings.breaks, settings.t0 if t is None else t, times):
        m_row, q_row = (np.empty((len(stops), *a.shape[1:])) for a in (m, q))
        cost = integration.adapt(
            begin, stops, m_row, q_row, tolerance, first_step, max_step, one_step, begins
        )
        costs += np.reshape(cost, costs.shape)
        m[row : row + saves], q[row : row + saves] = m_row[:saves], q_row[:saves]
        begins, row = False, row + saves
    return Adapted(m, q, costs[0], costs[1], costs[2] > 0)


def _pieces(breaks: Array | None, begin: float, times: Array) -> Iterator[tuple[float, Array, int]]:
    """The way from `begin` through the times, in pieces that end and begin beside the breaks.

    Of each: its start, the times that end a step, and how many of these are saved.
    """
    sign = 1 if times[-1] >= begin else -1
    held = np.empty(0) if breaks is None else breaks[::sign]
    for at in held[(sign * held >= sign * begin) & (sign * held <= sign * times[-1])]:
        before, after = np.nextafter(at, -sign * np.inf), np.nextafter(at, sign * np.inf)
        if at != begin:
            n = int(np.searchsorted(sign * times, sign * at, side="right"))
            stops = sign * np.minimum(sign * times[:n], sign * before)
            yield begin, np.append(stops, before), n
            times = times[n:]
        begin = float(after)
    if len(times):
        yield begin, sign * np.maximum(sign * times, sign * begin), len(times)


class _Rows:
    """The rows of a trajectory, filled by adaptive steps: what `loop.run` takes as observed."""

    stopped = False

    def __init__(self, settings: AdaptiveSettings) -> None:
        self.settings = settings
        self.rows = self.done = 0

    def observe(self, _: Settings, state: State, rows: Any, by_torque: NDArray[np.bool_]) -> _Rows:
        batch = state.m.shape[:-1]
        self._state, self._rows, self.by_torque = state, rows, by_torque
        self.n_steps, self.n_rejected = np.zeros((2, *batch), np.int64)
        self.lost = np.zeros(batch, np.bool_)
        return self

    def next_save(self, step: int) -> int:
        return step + 1

    def run(self, first: int, n_steps: int, seconds: float = 0.0) -> None:
        """The states of the next rows, at most `n_steps`; with n_steps = 0 the start."""
        most = max(1, MOST_STATES // max(1, self._state.m.size))
        t, m, q = self._rows
        to = slice(self.rows, self.rows + max(1, min(n_steps, most)))
        begin = self.settings.time(first) if n_steps else None
        how = self.settings.rtol, self.settings.atol
        end = adapt(self.settings, self._state, t[to], *how, t=begin, by_torque=self.by_torque)
        m[to], q[to] = end.m, end.q
        self.n_steps += end.steps
        self.n_rejected += end.rejected
        self.lost |= end.lost
        self.rows, self.done = to.stop, to.stop - 1

    def results(self) -> dict[str, Any]:
        """What a trajectory has of adaptive steps."""
        return {"n_steps": self.n_steps, "n_rejected": self.n_rejected}


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
) -> AdaptiveSettings:
    """These settings, of one step, with adaptive steps to `t_end`."""
    given = {each.name: getattr(settings, each.name) for each in fields(Settings)}
    rtol = _arrays.one_number("rtol", 1e-9 if rtol is None else rtol)
    if not LEAST_RTOL <= rtol < 1.0:
        raise ValueError(f"rtol must be at least {LEAST_RTOL} and less than 1, not {rtol}")
    bounds = _arrays.real_array("atol", 1e-12 if atol is None else atol)
    if bounds.shape not in ((), (2,)):
        raise ValueError(f"atol must be a number or (of m, of q), not shape {bounds.shape}")
    _arrays.refuse("atol", bounds, ~(bounds >= 0.0) | np.isinf(bounds), 0, "is not 0 or more")
    of_m, of_q = np.broadcast_to(bounds.astype(np.float64), 2).tolist()
    grid = np.array([settings.t0, _arrays.one_number("t_end", t_end)])
    made = AdaptiveSettings(**given, grid=grid, rtol=rtol, atol=(of_m, of_q))
    if t_eval is None:
        return made
    times = times_of(made, t_eval)
    grid = times if len(times) and times[0] == settings.t0 else np.append(settings.t0, times)
    return replace(made, h=np.diff(grid), n_steps=len(grid) - 1, grid=grid)


def integrate_adaptively(
    settings: AdaptiveSettings,
    t_eval: ArrayLike | None,
    progress: bool,
    callback: loop.Callback | None,
) -> Trajectory:
    """The trajectory of these settings; a start that `t_eval` does not have is left out."""
    t = settings.grid
    m, q = (np.empty((len(t), *start.shape)) for start in (settings.m0, settings.q0))
    rows = _Rows(settings)
    state = State.begin(settings)
    made = loop.run(settings, state, (t, m, q), None, progress, callback, rows.observe)
    if short := int(np.count_nonzero(rows.lost & ~rows.by_torque)):
        of = "1 body" if short == 1 else f"{short} bodies"
        warn_user(f"the steps of {of} became too short for rtol = {settings.rtol}: NaN from there")
    if t_eval is None or np.size(t_eval) == len(t):
        return made
    return settings.trajectory(made.t[1:], made.m[1:], made.q[1:], **rows.results())


def states_after(settings: AdaptiveSettings, begin: Array, t: Array, m: Array, q: Array) -> None:
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
        end = adapt(moved, state, settings.direction * stops, settings.rtol, settings.atol)
        m[which], q[which] = (
            a[row].reshape(len(which), *to.shape[1:]) for a, to in ((end.m, m), (end.q, q))
        )

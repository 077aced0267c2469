"""Steps whose lengths follow from their errors: `rk8` from the start to given times."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polhode._arrays import Array
from polhode.integration.loop import in_core
from polhode.integration.state import Settings, State


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
) -> Adapted:
    """The states at `times`, each of which ends a step; `state` goes on to the last.

    The error of a step is at most atol[0] + rtol |m| in m and atol[1] + rtol in q, by its estimate.
    Without `t` the state is the start, else the one of an earlier call, at the time t. Each body
    has its own steps, unless `one_step` is set, a function is called or bodies interact: then all
    take the same steps.
    """
    saves = len(times)
    m = np.empty((saves, *state.m.shape))
    q = np.empty((saves, *state.q.shape))
    by_torque = np.zeros(state.m.shape[:-1], np.bool_)
    integration = in_core(settings, state, (), by_torque)
    begin = settings.t0 if t is None else t
    steps, rejected, lost = integration.adapt(
        begin, times, m, q, (rtol, *atol), first_step, max_step, one_step, t is None
    )
    batch = state.m.shape[:-1]
    return Adapted(m, q, steps.reshape(batch), rejected.reshape(batch), lost.reshape(batch))

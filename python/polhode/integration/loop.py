"""The loop of an integration: slices of steps in the core, saves, callbacks, exceptions."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from polhode import _core
from polhode._arrays import Array, closed
from polhode.integration.python_torque import Called, note
from polhode.integration.saved import Saved
from polhode.integration.state import Run
from polhode.integration.trajectory import Trajectory
from polhode.integrators.table import may_lack_root, warn_of_lost

Callback = Callable[[int, float, Array, Array], object]

#: Seconds from one save of the progress to the next: of the bar, of files, of a slice in the core.
SLICE = 0.1


def carry_out(saved: Saved, progress: bool, callback: Callback | None) -> Trajectory:
    """Do the remaining steps of a run."""
    run = saved.run
    integration = _in_core(run, saved)
    calls = not all(term.in_core for term in run.terms)
    # The number of steps in one call of the core. The core checks the clock if torques are in
    # Python. A stored run continues from the state before the call after an exception: then it is
    # one step.
    flows = max(len(run.scheme.a), 1) * max(run.m.size // 3, 16)
    size = max(1, 100_000 // flows)
    if calls:
        size = 1 if run.keeps else run.count
    try:
        with _bar(progress, run.count, run.done) as bar:
            if saved.rows == 0:
                integration.run(0, 0)
                run.started = True
                saved.enter()
                _call(callback, run, saved)
            while run.done < run.count:
                before, begun = run.done, time.perf_counter()
                until = begun + SLICE
                target = run.next_save() if callback is not None else run.count
                while run.done < target and begun < until:
                    n = min(size, target - run.done)
                    run.keep()
                    try:
                        integration.run(run.done, n, until - begun)
                    finally:
                        run.done = integration.done
                    spent, begun = time.perf_counter() - begun, time.perf_counter()
                    if n == size and not calls:
                        size = max(1, math.ceil(size * min(10.0, SLICE / max(spent, 1e-9))))
                saved.enter()
                bar.update(run.done - before)
                if run.at_save():
                    _call(callback, run, saved)
    except BaseException as error:
        trajectory = saved.rescue()
        if not isinstance(error, Exception):  # Ctrl-C, at any place
            now = run.step(run.done)[1] if run.done < run.count else float(saved.t[-1])
            note(error, f"after {run.done} steps of the integration, at t = {now}")
        with contextlib.suppress(Exception):  # an exception may refuse attributes
            error.trajectory = trajectory  # type: ignore[attr-defined]
        raise
    trajectory = saved.trajectory()
    implicit = may_lack_root(run.row, run.options)
    if (implicit or run.by_torque.any()) and np.isfinite(run.h).all():
        lost = ~np.isfinite(trajectory.m[-1]).all(-1) & np.isfinite(trajectory.m[0]).all(-1)
        start = trajectory.q[0]
        lost &= np.isfinite(start).all(tuple(range(lost.ndim, start.ndim)))
        by_torque = int(np.count_nonzero(lost & run.by_torque))
        warn_of_lost(run.row, implicit * (int(np.count_nonzero(lost)) - by_torque), by_torque)
    return trajectory


def _in_core(run: Run, saved: Saved) -> _core.Integration:
    batch, matrix = run.m.shape[:-1], run.q.shape[run.m.ndim - 1 :] == (3, 3)
    return _core.Integration(
        method=run.row,
        options=run.options,
        direct=run.direct,
        inertia=run.inertia,
        m=run.m,
        attitude=run.q,
        matrix=matrix,
        lost=run.extra.get("lost"),
        by_torque=run.by_torque,
        own=run.extra.get("own"),
        stages=run.scheme.table(),
        terms=[
            term.core_term(batch, matrix) if term.in_core else Called(run, term)
            for term in run.terms
        ],
        h=run.h,
        t0=run.t0,
        times=run.times,
        total_steps=run.count,
        save_every=run.every,
        m_saved=saved.m,
        attitude_saved=saved.q,
        start=run.start,
        threads=run.threads,
    )


def _call(callback: Callback | None, run: Run, saved: Saved) -> None:
    if callback is None:
        return
    k = saved.rows - 1
    t = float(saved.t[k])
    try:
        callback(run.done, t, closed(saved.m[k]), closed(saved.q[k]))
    except Exception as error:
        note(error, f"in the callback after step {run.done} of the integration, at t = {t}")
        raise


def _bar(progress: bool, count: int, done: int) -> Any:
    if not progress:
        return _NoBar()
    from tqdm import tqdm

    return tqdm(total=count, initial=done, unit=" steps", unit_scale=True)


class _NoBar:
    # Not a generator: its context manager sets attributes of an exception, which some do not allow.
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, n: int) -> None:
        pass

"""Trajectories: events, and states between the saves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case
from benchmarks._bodies import INERTIA, Array

Q0 = np.array([1.0, 0.0, 0.0, 0.0])
TOP = ph.torques.HeavyTop([0.1, -0.2, 0.4])


def first_component(t: Any, m: Array, q: Array) -> Array:
    """The event: m crosses the plane of the second and third body axes."""
    return m[..., 0]


@case(
    "events",
    "Events: zeros of m1 of a batch",
    time="ns per run, one thread",
    units={
        "events": "located in a run",
        "events / plain": "ratio of times in neighbouring windows",
    },
)
def events(run: Run) -> Iterator[Row]:
    """Random bodies, h |m| / I1 about 0.5, 100 steps, of which only the last is saved.

    "plain": the same run without events.
    """
    for name, torque in (("none", None), ("HeavyTop", TOP)):
        for n in (1, 100) if run.quick else (1, 100, 10_000):
            m0 = run.rng().normal(size=(n, 3))
            made = partial(ph.integrate, INERTIA, m0, Q0, 0.5, 100, torque=torque, save_every=100)
            found: Any = made(events=first_component).t_events
            count = sum(map(len, found[0]))
            works: dict[str, Any] = {"plain": made, "events": partial(made, events=first_component)}
            measured = run.timer.measure(works)
            yield Row(
                {"torque": name, "bodies": n},
                {name: measured.times[name] for name in works},
                {"events / plain": measured.ratio("events", "plain")},
                {"events": count},
            )


@case("dense", "States between the saves", time="ns per state, one thread")
def dense(run: Run) -> Iterator[Row]:
    """`Trajectory.__call__` after 100 steps, all saved: random times, shared or for each body.

    "step": a step of the run.
    """
    for name, options in (
        ("exact", {}),
        ("strang, HeavyTop", {"torque": TOP}),
        ("rkn6_14, HeavyTop", {"torque": TOP, "splitting": "rkn6_14"}),
    ):
        for n in (1, 100) if run.quick else (1, 100, 10_000):
            rng = run.rng()
            made = partial(ph.integrate, INERTIA, rng.normal(size=(n, 3)), Q0, 0.1, 100, **options)
            path = made()
            t = rng.uniform(0.0, 10.0, (100, n))
            works: dict[str, Any] = {
                "one time": partial(path, t[:, :1]),
                "a time for each": partial(path, t),
                "step": partial(made, save_every=100),
            }
            measured = run.timer.measure(works, 100 * n)
            yield Row({"run": name, "bodies": n}, measured.times)

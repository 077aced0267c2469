"""Splitting schemes around the exact step: time of a step, error for equal work and equal time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case
from benchmarks._bodies import TOP_INERTIA, TOP_M0, TOP_Q0, TOPS, Array
from benchmarks._heavy_top import heavy_top

FLOWS = 240
BUDGETS = (1, 2, 4)  # us per body for the whole run


def end(scheme: ph.Splitting, steps: int, weight: float, speed: float) -> Array:
    """Momentum over the size and attitude at t = 1."""
    trajectory = ph.integrate(
        TOP_INERTIA,
        speed * TOP_M0,
        TOP_Q0,
        1.0 / steps,
        steps,
        torque=ph.torques.HeavyTop([0.0, 0.0, weight]),
        splitting=scheme,
        save_every=steps,
    )
    return np.concatenate([trajectory.m[-1] / speed, trajectory.q[-1]])


def exact_ends() -> dict[str, Array]:
    """The same correct to the last bit."""
    ends = {}
    for name, (weight, speed) in TOPS.items():
        m, q = heavy_top(TOP_INERTIA, speed * TOP_M0, TOP_Q0, [0.0, 0.0, weight], 1.0, 16)
        ends[name] = np.concatenate([m / speed, q])
    return ends


def flows(scheme: ph.Splitting) -> int:
    """Free flows of a step; the last of a step and the first of the next are one."""
    return len(scheme.a) - (scheme.stages[0][0] == scheme.stages[-1][0] == "flow")


def errors(scheme: ph.Splitting, steps: int, ends: dict[str, Array]) -> dict[str, float | None]:
    """Largest error of a component at the end of each top."""
    if steps == 0:
        return dict.fromkeys(TOPS)
    return {
        name: float(np.abs(end(scheme, steps, *top) - ends[name]).max())
        for name, top in TOPS.items()
    }


@case(
    "splittings",
    "Splitting schemes around the exact step",
    time="ns per body per step",
    units={
        "order": "effective order",
        "free flows": "of a step",
        **{
            f"error, {top}, {work}": "of m or q at t = 1, largest component, absolute; " + meaning
            for top in TOPS
            for work, meaning in (
                (f"{FLOWS} flows", "equal number of free flows"),
                *((f"{b} us", "equal time per body by the median") for b in BUDGETS),
            )
        },
    },
)
def splittings(run: Run) -> Iterator[Row]:
    """The heavy top of [Vil13] (I = 0.376, 0.627, 1) and a fast one, to t = 1.

    "Fast": a torque a thousand times weaker and twice the momentum. The time of a step is that of
    10,000 heavy tops, one thread, all schemes in turn; it includes a share of the start of the
    call. Each scheme then takes as many steps as 240 free flows allow, and as a time allows. Errors
    are against Taylor series in 50-digit arithmetic; rounding limits them to about 1e-15.
    """
    n, steps = (100, 6) if run.quick else (10_000, 10)
    m, q = TOP_M0 * np.linspace(0.9, 1.1, n)[:, None], np.tile(TOP_Q0, (n, 1))
    top = ph.torques.HeavyTop([0.0, 0.0, 1.0])
    listed = ph.splittings()
    works = {
        s.name: partial(
            ph.integrate, TOP_INERTIA, m, q, 1e-2, steps, torque=top, splitting=s, save_every=steps
        )
        for s in listed
    }
    times = run.timer.measure(works, n * steps).times
    ends = exact_ends()
    for s in listed:
        values: dict[str, float | int | None] = {"order": s.effective_order, "free flows": flows(s)}
        found = errors(s, FLOWS // flows(s), ends)
        values |= {f"error, {name}, {FLOWS} flows": e for name, e in found.items()}
        if (ns := times[s.name].median) is not None:
            for budget in BUDGETS:
                found = errors(s, int(1000 * budget / ns), ends)
                values |= {f"error, {name}, {budget} us": e for name, e in found.items()}
        yield Row({"scheme": s.name}, {"time": times[s.name]}, values=values)

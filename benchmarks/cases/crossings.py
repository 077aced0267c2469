"""Times at which a body axis passes a direction in space, in closed form and on a grid of times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case

SPAN = 45.0
LEVEL = 0.1


def on_a_grid(motion: ph.TorqueFreeMotion, step: float) -> int:
    """Changes of sides between the times of a grid, without their times to more digits."""
    times = np.linspace(0.0, SPAN, round(SPAN / step) + 1)
    total = 0
    for k in range(0, len(times) - 1, 64):
        _, q = motion(times[k : k + 65, None])
        # The first component of the third body axis.
        below = 2 * (q[..., 1] * q[..., 3] + q[..., 0] * q[..., 2]) < LEVEL
        total += int(np.count_nonzero(below[1:] != below[:-1]))
    return total


@case(
    "crossings",
    "Passages of a body axis",
    time="us per body",
    units={"found": "passages of all bodies"},
)
def crossings(run: Run) -> Iterator[Row]:
    """All passages of many bodies, about ten for each, beside two grids, which can miss some."""
    n = 200 if run.quick else 1_000
    rng = np.random.default_rng(0)
    bodies = rng.uniform(1, 3, (n, 3)), rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    motion = ph.TorqueFreeMotion(*bodies)

    def located() -> int:
        times = motion.crossings(0, SPAN, body=[0, 0, 1], space=[1, 0, 0], level=LEVEL)
        return sum(map(len, times))

    works: dict[str, Callable[[], int]] = {"crossings": located}
    works |= {f"grid of {step}": partial(on_a_grid, motion, step) for step in (0.1, 0.01)}
    times = run.timer.measure(works, n).times
    for name, work in works.items():
        yield Row({"search": name}, {"time": times[name]}, values={"found": float(work())})

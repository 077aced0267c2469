"""Logs of a gyroscope in coning motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case
from benchmarks._bodies import Array

#: Order, whether the log has increments.
KINDS = [(1, False), (2, False), (4, False), (6, False), (2, True), (4, True), (6, True)]


@dataclass
class Coning:
    """A body turned by `angle` about an axis that turns in a plane at `rate`: closed forms."""

    rate: float
    angle: float

    def attitude(self, t: Array) -> Array:
        """Attitude, (..., 4)."""
        phase = self.rate * t
        axis = np.stack([np.cos(phase), np.sin(phase), 0 * phase], -1)
        return ph.so3.exp(self.angle * axis)

    def omega(self, t: Array) -> Array:
        """Angular velocity, body frame, (T, 3)."""
        phase = self.rate * t
        side, along = np.sin(self.angle), -2 * np.sin(self.angle / 2) ** 2
        turned = np.stack([-side * np.sin(phase), side * np.cos(phase), along + 0 * phase], -1)
        return np.asarray(self.rate * turned)

    def increments(self, t: Array) -> Array:
        """Integrals of the angular velocity between the stamps, (T - 1, 3)."""
        half = np.diff(t) / 2
        mean = np.sin(self.rate * half) / (self.rate * half)
        return (
            2 * half[:, None] * self.omega(t[:-1] + half) * np.stack([mean, mean, 0 * mean + 1], -1)
        )

    def table(self, t: Array, increments: bool) -> Array:
        """The log at these stamps."""
        return self.increments(t) if increments else self.omega(t)


def drift(rows: float, order: int, increments: bool, seconds: int = 3600) -> float:
    """Error, degrees per hour, of coning by one degree at 10 Hz, `rows` a second."""
    motion = Coning(2 * np.pi * 10.0, np.radians(1.0))
    t = np.arange(int(seconds * rows) + 1) / rows
    table = motion.table(t, increments)
    start, end = motion.attitude(t[[0, -1]])
    reached = ph.attitude_from_rate(
        table, start, t=t, order=order, increments=increments, save_every=len(t)
    )[-1]
    return float(np.degrees(ph.so3.angle_between(reached, end))) * 3600 / seconds


@case(
    "gyro_logs",
    "Attitude from the log of a gyroscope",
    time="ns per row",
    units={"drift": "degrees per hour, in coning by one degree at 10 Hz, 200 rows a second"},
)
def gyro_logs(run: Run) -> Iterator[Row]:
    """A million rows of `attitude_from_rate` with stamps; its drift in an hour."""
    n = 2000 if run.quick else 1_000_000
    t = np.arange(n + 1) / 200.0
    motion = Coning(2 * np.pi * 10.0, np.radians(1.0))
    start = motion.attitude(t[0])
    works = {
        str(kind): partial(
            ph.attitude_from_rate,
            motion.table(t, kind[1]),
            start,
            t=t,
            order=kind[0],
            increments=kind[1],
        )
        for kind in KINDS
    }
    times = run.timer.measure(works, n).times
    for order, increments in KINDS:
        yield Row(
            {"order": order, "omega": "increments" if increments else "rates"},
            {"time": times[str((order, increments))]},
            values={"drift": drift(200.0, order, increments, 10 if run.quick else 3600)},
        )

"""The data and the progress of an integration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode._arrays import Array
from polhode.bodies.frame import Frame
from polhode.bodies.trajectory import BodyTrajectory
from polhode.integration.trajectory import Trajectory
from polhode.integrators.splittings import Splitting
from polhode.integrators.table import direct_facts
from polhode.torques import Torque


@dataclass
class Run:
    """The data and the progress of an integration.

    `m`, `q` and the arrays of `extra` are the state after `done` steps. All other data that a
    method stores from step to step must be in `extra`. They are changed in place, and stored and
    restored together with m and q. If it `borrows`, m and q may be the caller's
    arrays at first; after `borrow` these are the `start`, which is only read.
    """

    row: int
    options: tuple[Any, ...]
    scheme: Splitting
    terms: list[Torque]
    inertia: Array
    m: Array
    q: Array
    h: Array
    t0: float
    count: int
    every: int
    threads: int
    given: list[Torque]
    shown: list[Torque]
    frame: Frame | None = None
    done: int = 0
    started: bool = False
    extra: dict[str, Array] = field(default_factory=dict)
    keeps: bool = False
    borrows: bool = False
    start: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        self.times: Array | None = None
        if self.h.ndim:
            self.times = self.t0 + np.concatenate([[0.0], np.cumsum(self.h)])
        #: Bodies whose torque was not finite when their momentum was.
        self.by_torque = np.zeros(self.m.shape[:-1], np.bool_)
        self._kept: dict[str, Array] = {}
        self._kept_at = -1
        #: Whether the method integrates the torque directly, without a splitting.
        self.direct = not self.scheme.stages and not self.scheme.name
        if self.direct:
            direct_facts(self.row)

    def borrow(self, m: Array, q: Array) -> None:
        """Keep the state in the last of these rows, to which the core saves it in any case."""
        self.start = self.m, self.q
        self.m, self.q = m[-1], q[-1]

    def reach(self, offsets: Sequence[float]) -> tuple[float, float]:
        """The least and the largest time at these fractions of a step, over all steps."""
        if self.times is None:  # for equal steps, the first and the last
            starts = self.t0 + np.array([0.0, self.count - 1.0]) * self.h
        else:
            starts = self.times[:-1]
        with np.errstate(invalid="ignore", over="ignore"):
            reached = np.array([starts + c * self.h for c in offsets])
        return float(reached.min()), float(reached.max())

    def saved_times(self) -> Array:
        """Times of all saves."""
        saves = self.rows(self.count)
        steps = np.minimum(np.arange(saves) * self.every, self.count)
        if self.times is not None:
            return np.asarray(self.times[steps])
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(steps == 0, self.t0, self.t0 + steps * float(self.h))

    def rows(self, done: int) -> int:
        """The number of saves after this number of steps."""
        return done // self.every + 1 if done < self.count else 1 + -(-self.count // self.every)

    def next_save(self) -> int:
        """The step after which the next save is."""
        return min(self.done + self.every - self.done % self.every, self.count)

    def at_save(self) -> bool:
        """True if the last step has been saved."""
        return self.done % self.every == 0 or self.done == self.count

    def step(self, n: int) -> tuple[float, float, float]:
        """h of step n, the time at its start and at its end."""
        if self.times is None:
            h = float(self.h)
            return h, self.t0 + n * h, self.t0 + (n + 1) * h
        return float(self.h[n]), float(self.times[n]), float(self.times[n + 1])

    def state(self) -> dict[str, Array]:
        """All data on which the next steps depend."""
        return {"m": self.m, "q": self.q, **self.extra}

    def keep(self) -> None:
        """Store the state before steps that an exception may interrupt; `restore` returns to it."""
        if not self.keeps:
            return
        self._kept_at = -1
        for name, array in self.state().items():
            if name in self._kept:
                self._kept[name][...] = array
            else:
                self._kept[name] = array.copy()
        self._kept_at = self.done

    def restore(self) -> None:
        """Return to the state after `done` steps, after an exception at any place."""
        if self._kept_at == self.done:
            for name, array in self.state().items():
                array[...] = self._kept[name]

    def trajectory(self, t: Array, m: Array, q: Array) -> Trajectory:
        """Set these states of the bodies."""
        if self.frame is None:
            return Trajectory(t, m, q, self.inertia, tuple(self.shown))
        return BodyTrajectory(t, m, q, tuple(self.shown), body=self.frame.body)

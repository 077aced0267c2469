"""The rows of a trajectory while they are filled."""

from __future__ import annotations

import contextlib

from polhode._arrays import Array
from polhode.integration.state import Run
from polhode.integration.trajectory import Trajectory
from polhode.run_directory.files import Store


class Saved:
    """The rows of a trajectory and how many of them are filled."""

    def __init__(self, run: Run, t: Array, m: Array, q: Array, store: Store | None) -> None:
        self.run = run
        self.t, self.m, self.q = t, m, q
        self.store = store
        self.rows = 0 if store is None else store.rows
        #: Rows in the user's axes that are replacing those in principal axes.
        self._turned: tuple[slice, Array, Array] | None = None
        if store is not None:
            run.keeps = True

    def enter(self, commit: bool = False) -> None:
        """Count the rows that the run has filled; record the progress if a commit is due."""
        run = self.run
        rows = run.rows(run.done)
        if run.frame is not None:
            self._write_turned()
            for at in _pieces(self.rows, rows, run.m.size):
                self._turned = at, *run.frame.turned(self.m[at], self.q[at])
                self._write_turned()
        self.rows = rows
        if self.store is not None:
            self.store.count(rows)
            if commit or run.done == run.count or self.store.due():
                self.store.commit(run.done, rows, run.state())

    def _write_turned(self) -> None:
        """Write and count turned rows; after an interruption this is repeated completely."""
        if self._turned is not None:
            at, m, q = self._turned
            self.m[at], self.q[at] = m, q
            self.rows = at.stop
            self._turned = None

    def rescue(self) -> Trajectory:
        """The trajectory so far, after an exception."""
        run = self.run
        run.restore()
        if run.started:
            with contextlib.suppress(OSError):  # a full disk: the current exception is more useful
                self.enter(commit=True)
        return self.trajectory()

    def trajectory(self) -> Trajectory:
        """The filled rows; read-only if they are in files."""
        parts = [array[: self.rows] for array in (self.t, self.m, self.q)]
        if self.store is not None:
            parts = [part.view() for part in parts]  # still memmaps
            for part in parts:
                part.flags.writeable = False
        return self.run.trajectory(*parts)


def _pieces(first: int, end: int, numbers: int) -> list[slice]:
    """Rows `first` ... `end` - 1 in pieces of bounded size."""
    step = max(1, 2**13 // max(numbers, 1))
    return [slice(k, min(k + step, end)) for k in range(first, end, step)]

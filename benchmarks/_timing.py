"""The timer of the suite: functions in turn, window by window, in CPU time and wall time."""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Clock = Literal["thread", "process", "wall"]

#: A window was interrupted if its wall time is longer than this multiple of its CPU time.
INTERRUPTED = 1.2
#: Of the windows of a function at least this part must not have been interrupted.
LEAST_QUIET = 0.5
#: Largest distance of the quartiles, over the median.
MOST_SPREAD = 0.25
#: Largest part of the processor that other programs may take while several threads are timed.
MOST_OTHERS = 0.1


@dataclass(frozen=True)
class Times:
    """Time of one function per item, in nanoseconds, over the windows that were not interrupted.

    Attributes
    ----------
    least, low, median, high : float or None
        Minimum, quartiles and median of the windows on the clock that was used; None if there is a
        `reason`.
    wall : float or None
        Median of the wall time of the same windows.
    windows : int
        Number of these windows.
    clock : str
        "thread" or "process" (CPU time), or "wall".
    reason : str
        Why there is no number: "not installed", "loaded: ..." (other programs took the processor),
        "spread: ..." (the windows differ, for whatever reason).
    note : str
        A remark: "load not known".
    """

    least: float | None = None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    wall: float | None = None
    windows: int = 0
    clock: str = "thread"
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Ratio:
    """Median and quartiles of the ratio of the times of two functions in neighbouring windows."""

    median: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


class Measured:
    """The windows of some functions that ran in turn; `busy` is the part of other programs."""

    def __init__(
        self, cpu: dict[str, Array], wall: dict[str, Array], clock: Clock, busy: float | None
    ) -> None:
        self._clock = clock
        self._spent = wall if clock == "wall" else cpu
        self._wall = wall
        self._quiet = {
            name: np.ones(len(wall[name]), bool)
            if clock == "wall"
            else wall[name] <= INTERRUPTED * cpu[name]
            for name in cpu
        }
        self._busy = busy
        self.times = {name: self._times(name) for name in cpu}

    def _times(self, name: str) -> Times:
        quiet = self._quiet[name]
        spent = self._spent[name][quiet]
        reason = ""
        unknown = self._clock == "wall" and self._busy is None
        if self._clock == "wall" and self._busy is not None and self._busy > MOST_OTHERS:
            reason = f"loaded: other programs took {self._busy:.0%} of the processor"
        elif np.mean(quiet) < LEAST_QUIET:
            reason = f"loaded: {1 - np.mean(quiet):.0%} of the windows were interrupted"
        else:
            least, low, median, high = np.quantile(spent, [0.0, 0.25, 0.5, 0.75])
            if high - low > MOST_SPREAD * median:
                reason = f"spread: quartiles {(high - low) / median:.0%} apart"
        if reason:
            return Times(windows=len(spent), clock=self._clock, reason=reason)
        wall = float(np.median(self._wall[name][quiet]))
        return Times(
            float(least),
            float(low),
            float(median),
            float(high),
            wall,
            len(spent),
            self._clock,
            note="load not known" if unknown else "",
        )

    def least(self, name: str) -> float:
        """The shortest window, even on a loaded machine: for peak rates."""
        return float(self._spent[name].min())

    def ratio(self, above: str, below: str) -> Ratio:
        """The ratio of the time of `above` to that of `below`."""
        for name in (above, below):
            if self.times[name].reason:
                return Ratio(reason=self.times[name].reason)
        both = self._quiet[above] & self._quiet[below]
        if np.mean(both) < LEAST_QUIET:
            return Ratio(reason="loaded: few neighbouring windows without interruption")
        ratios = self._spent[above][both] / self._spent[below][both]
        low, median, high = (float(x) for x in np.quantile(ratios, [0.25, 0.5, 0.75]))
        return Ratio(median, low, high)


def absent(reason: str = "not installed") -> Times:
    """A time that was not measured."""
    return Times(reason=reason)


@dataclass(frozen=True)
class Timer:
    """How long to measure.

    Attributes
    ----------
    seconds : float
        Time to spend on a function.
    window : float
        Least length of a window in seconds: a shorter call is repeated within it.
    least, most : int
        Bounds of the number of windows. Where other programs interrupt some, up to half as many
        again are made until there are `least` without interruption.
    """

    seconds: float = 0.2
    window: float = 1e-3
    least: int = 20
    most: int = 200

    def measure(
        self,
        functions: Mapping[str, Callable[[], Any]],
        items: int | Mapping[str, int] = 1,
        *,
        clock: Clock = "thread",
    ) -> Measured:
        """Call the functions in turn, one window of each, until the time is spent.

        The order rotates: each function comes first equally often.

        Parameters
        ----------
        functions : mapping of str to callable
            The work of a window; the result is dropped.
        items : int or mapping of str to int
            Number of items (steps of bodies, elements) of one call: times are per item.
        clock : {"thread", "process", "wall"}
            The CPU time of this thread; of all threads, for a function that starts some of its own;
            or wall time, for work that is spread over threads in order to take less of it.
        """
        count = {name: items if isinstance(items, int) else items[name] for name in functions}
        repeats, cost = {}, 0.0
        for name, function in functions.items():
            once = _seconds(function)
            if once < 10 * self.window:  # The start of a longer call does not count.
                once = min(_seconds(function) for _ in range(2))
            repeats[name] = max(1, math.ceil(self.window / max(once, 1e-9)))
            cost += repeats[name] * once
        rounds = int(self.seconds * len(functions) / cost) if functions else 0
        rounds = min(max(rounds, self.least), self.most)
        order = list(functions)
        cpu: dict[str, list[float]] = {name: [] for name in functions}
        wall: dict[str, list[float]] = {name: [] for name in functions}
        quiet = dict.fromkeys(functions, 0)
        now = time.thread_time_ns if clock == "thread" else time.process_time_ns
        collecting = gc.isenabled()
        gc.disable()
        others = _Others()
        try:
            # Up to half as many rounds again in place of windows that were interrupted.
            for i in range(rounds + rounds // 2):
                enough = clock == "wall" or min(quiet.values(), default=0) >= self.least
                if i >= rounds and enough:
                    break
                first = i % len(order) if order else 0
                for name in (*order[first:], *order[:first]):
                    function, turns = functions[name], range(repeats[name])
                    begun, begun_wall = now(), time.perf_counter_ns()
                    for _ in turns:
                        function()
                    spent_wall, spent = time.perf_counter_ns() - begun_wall, now() - begun
                    unit = repeats[name] * count[name]
                    cpu[name].append(spent / unit)
                    wall[name].append(spent_wall / unit)
                    quiet[name] += spent_wall <= INTERRUPTED * spent
        finally:
            if collecting:
                gc.enable()
        of_cpu, of_wall = ({k: np.array(v) for k, v in x.items()} for x in (cpu, wall))
        return Measured(of_cpu, of_wall, clock, others.share())


def _seconds(function: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


class _Others:
    """The part of the processor that other programs take."""

    def __init__(self) -> None:
        self._begun = self._read()

    @staticmethod
    def _read() -> tuple[float, float] | None:
        """Clock ticks of all processors since the start: of other programs, and all; or None."""
        path = Path("/proc/stat")
        if not path.exists():
            return None
        ticks = [float(x) for x in path.read_text(encoding="ascii").splitlines()[0].split()[1:9]]
        idle = ticks[3] + ticks[4]
        own = os.sysconf("SC_CLK_TCK") * time.process_time()
        return sum(ticks) - idle - own, sum(ticks)

    def share(self) -> float | None:
        """The part since the start of this object; None if it is unknown."""
        now = self._read()
        if now is None or self._begun is None or now[1] - self._begun[1] < 10:
            return None
        return (now[0] - self._begun[0]) / (now[1] - self._begun[1])

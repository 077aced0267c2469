"""Curves of time against error, and the time at an equal error between their points."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks import Measured, Ratio, Row, Run, Times, absent
from benchmarks._timing import Clock
from benchmarks.rivals._problem import Problem
from benchmarks.rivals._rival import Rival

# The rivals use one thread; this clock also counts the threads of one that does not.
_CLOCK: Clock = "process"
# Shorter windows would time the caches that the program before has filled.
_WINDOW = 1e-3
# Some runs take a second.
_LEAST = 10
#: A setting whose one run is longer than this many seconds is left out, and those after it.
LONGEST, LONGEST_QUICK = 1.0, 0.1

Weights = dict[str, float]


def at_error(errors: Mapping[str, float], target: float) -> Weights | None:
    """Where the curve of a program crosses an error, linear in the logarithms.

    Parameters
    ----------
    errors : mapping of str to float
        Error at each setting, the least accurate setting first.
    target : float
        The error.

    Returns
    -------
    weights : dict of str to float, or None
        Weights, of sum 1, of the logarithms of what is measured at the settings: at two of them, or
        at the first if it is good enough.  None if no setting is.
    """
    before = ""
    for name, error in errors.items():
        if error <= target:
            # An error of zero or at the target: no second point is needed.
            if not before or error == target or not error:
                return {name: 1.0}
            part = math.log(errors[before] / target) / math.log(errors[before] / error)
            return {before: 1 - part, name: part}
        before = name if math.isfinite(error) else before
    return None


def _where(errors: Mapping[str, float], weights: Weights, target: float) -> tuple[float, str]:
    """The error where the weights say, and a note if it is not the target."""
    if len(weights) > 1:
        return target, ""
    (name,) = weights
    error = errors[name]
    if error == target:
        return error, ""
    if len(errors) == 1:
        return error, "error at most: the only setting"
    if name == next(iter(errors)):
        return error, "least accurate setting: the time is an upper bound"
    return error, "error at most: the time is an upper bound"


def _blend(values: Sequence[float | None], weights: Sequence[float]) -> float:
    return math.exp(
        sum(w * math.log(v) for v, w in zip(values, weights, strict=True) if v is not None)
    )


def time_at(measured: Measured, weights: Weights) -> Times:
    """The time where the weights say."""
    times = [measured.times[name] for name in weights]
    for one in times:
        if one.reason:
            return one
    parts = list(weights.values())
    numbers: dict[str, Any] = {
        name: _blend([getattr(one, name) for one in times], parts)
        for name in ("least", "low", "median", "high", "wall")
    }
    return replace(times[0], windows=min(x.windows for x in times), **numbers)


def ratio_at(measured: Measured, above: Weights, below: Weights) -> Ratio:
    """Ratio of the times where two sets of weights say; quartiles as if all deviated together."""
    (reference, *_) = below
    parts = [(measured.ratio(name, reference), w) for name, w in above.items()]
    parts += [(measured.ratio(reference, name), w) for name, w in below.items()]
    for one, _ in parts:
        if one.reason:
            return one
    ratios, powers = [ratio for ratio, _ in parts], [w for _, w in parts]
    numbers: dict[str, Any] = {
        name: _blend([getattr(one, name) for one in ratios], powers)
        for name in ("median", "low", "high")
    }
    return replace(ratios[0], **numbers)


class Curve:
    """A program set up at its settings for a problem: its runs and their errors.

    Parameters
    ----------
    program : Rival
        The program.
    problem : Problem
        What it solves.
    quick : bool
        Only the first two settings, and short runs.
    """

    def __init__(self, program: Rival, problem: Problem, quick: bool) -> None:
        self.program = program
        self.runs: dict[str, Callable[[], object]] = {}
        self.errors: dict[str, float] = {}
        self.left_out = ""
        settings = program.settings[problem.kind]
        longest = LONGEST_QUICK if quick else LONGEST
        for setting in settings[:2] if quick else settings:
            prepared = program.prepare(problem, setting)
            begun = time.perf_counter()
            end = prepared.run()
            seconds = time.perf_counter() - begun
            name = f"{program.name}, {program.knob} = {setting:g}"
            self.errors[name] = problem.error(*prepared.state(end))
            if seconds > longest:
                self.left_out = f"a run at {setting:g} took {seconds:.2g} s, more than {longest:g}"
                break
            self.runs[name] = prepared.run

    def setting(self, name: str) -> str:
        """Setting name without the program prefix."""
        return name.removeprefix(f"{self.program.name}, ")


def compare(
    run: Run,
    problem: Problem,
    ours: Sequence[Rival],
    rivals: Sequence[Rival],
    targets: Sequence[float],
) -> Iterator[Row]:
    """Rows of the settings of all programs, and of their times at equal errors.

    polhode is measured alone, and again in turn with each rival. A ratio is the time of the rival
    over that of the fastest polhode setting at the error. There is no ratio if even the coarsest
    setting of a rival is more accurate than the error. A note says if polhode is more accurate.
    """

    def labels(program: Rival, at: str) -> dict[str, str | int | float]:
        return {"bodies": problem.bodies, "program": program.name, "at": at}

    def settings(curve: Curve, measured: Measured) -> Iterator[Row]:
        for name in curve.runs:
            yield Row(
                labels(curve.program, curve.setting(name)),
                {"time": measured.times[name]},
                values={"error": curve.errors[name]},
            )

    our_curves = [Curve(x, problem, run.quick) for x in ours if problem.kind in x.settings]
    our_runs = {name: f for curve in our_curves for name, f in curve.runs.items()}
    timer = replace(
        run.timer, window=max(run.timer.window, _WINDOW), least=min(run.timer.least, _LEAST)
    )
    measured = timer.measure(our_runs, problem.bodies, clock=_CLOCK)
    for curve in our_curves:
        yield from settings(curve, measured)
    best: dict[float, tuple[Weights, str]] = {}
    for target in targets:
        reached = [(c, w) for c in our_curves if (w := at_error(_timed(c), target)) is not None]
        at = f"error = {target:g}"
        for curve, weights in reached:
            times = {"time": time_at(measured, weights)}
            error, note = _where(_timed(curve), weights, target)
            yield Row(labels(curve.program, at), times, values={"error": error}, note=note)
        known = [(t, c, w) for c, w in reached if (t := time_at(measured, w).median) is not None]
        if known:
            _, curve, weights = min(known, key=lambda x: x[0])
            error, note = _where(_timed(curve), weights, target)
            better = f"error of {curve.program.name}: {error:.2g}" if note else ""
            best[target] = weights, better

    for rival in rivals:
        if problem.kind not in rival.settings:
            continue
        why = rival.missing()
        if not why and problem.bodies > 1 and not rival.batch:
            why = "one body at a time"
        if why:
            yield Row(labels(rival, "-"), {"time": absent(why)})
            continue
        curve = Curve(rival, problem, run.quick)
        measured = timer.measure(our_runs | curve.runs, problem.bodies, clock=_CLOCK)
        yield from settings(curve, measured)
        if curve.left_out:
            yield Row(labels(rival, "-"), {"time": absent(curve.left_out)})
        for target in targets:
            there = at_error(_timed(curve), target)
            row = labels(rival, f"error = {target:g}")
            if there is None:
                yield Row(row, {"time": absent("not reached")})
                continue
            ratios = {}
            error, note = _where(_timed(curve), there, target)
            if target in best and not note:
                weights, note = best[target]
                ratios["over polhode"] = ratio_at(measured, there, weights)
            times = {"time": time_at(measured, there)}
            yield Row(row, times, ratios, values={"error": error}, note=note)


def _timed(curve: Curve) -> dict[str, float]:
    """The errors of the settings that are timed."""
    return {name: curve.errors[name] for name in curve.runs}

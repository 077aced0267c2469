"""The cases of bodies under torque: the fastest of polhode beside other programs at equal error."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks import Row, Run, Times, absent, case
from benchmarks.rivals import _heyoka, _numba, _runge_kutta, _scipy
from benchmarks.rivals._polhode import ADAPTIVE, by_call, under_torque
from benchmarks.rivals._problem import SLOPES, Problem
from benchmarks.rivals._rival import Rival
from benchmarks.rivals._torques import PROBLEMS, STARTS, repeated
from benchmarks.rivals._work_precision import Weights, at_error, ratio_at, time_at

TARGETS = (1e-6, 1e-9, 1e-12)
#: Longer time of a run of one body, whose call then hardly counts, and of batches under the weakest
#: torques, for which a processor then hardly counts.
LONG, WEAKEST = 1000.0, 1e-3
#: Bodies of a large batch, and what is measured of it.
LARGE, OF_LARGE = 100_000, {("heavy top", x): (1e-9,) for x in (1e-3, 1.0)}
#: Steps from long to short, each 0.8 of the one before.
STEPS = tuple(4 * 0.8**k for k in range(42))
#: A run of the sixteen starts that takes more seconds ends a curve.
LONGEST = 0.1
RIVALS = [
    replace(one, settings=dict.fromkeys(SLOPES, settings))
    for one, settings in (
        (_numba.RIVAL, STEPS[3:]),
        (_runge_kutta.RK8, STEPS[3:]),
        (_runge_kutta.RK4, STEPS[8:]),
        (_heyoka.RIVAL, (1e-4, 1e-8, 1e-12, 1e-15)),
        (_scipy.RIVAL, (1e-4, 1e-7, 1e-10, 1e-13)),
    )
]
RK4, HEYOKA, SCIPY = RIVALS[-3:]
#: Programs whose longer runs would take seconds.
SLOW = (RK4, SCIPY)
#: The fastest method of polhode by a call of `integrate`.
CALL = "integrate"
#: Adaptive over fixed steps.
OVER = f"{ADAPTIVE.name} / {RIVALS[0].name}"
UNITS = {
    "torque / energy": "|torque| over |m|^2 / (2 I1) at the start",
    "until": "t at the end",
    "error": "at t = 50 (dipole: 20, satellite: 29, strongest torque: 15): the larger of "
    "|m - reference| / |m| and the angle to the reference attitude in rad, the largest over the "
    "bodies",
    "step": "of the fastest method of polhode",
    **{
        f"polhode / {one.name}": "ratio of the times; median [quartiles] of neighbouring windows"
        for one in RIVALS
    },
    OVER: "ratio of the times",
}


@dataclass
class Curve:
    """The settings of a program for a problem, their errors, and how each is set up."""

    program: Rival
    errors: dict[str, float] = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=dict)

    def runs(self, weights: Weights, problem: Problem) -> dict[str, Callable[[], Any]]:
        """The runs at the settings of the weights."""
        prepare = self.program.prepare
        return {name: prepare(problem, self.settings[name]).run for name in weights}


def curve(program: Rival, problem: Problem, least: float) -> Curve:
    """The curve from the first setting to the first whose error is at most `least`.

    It ends before where three settings bring no better error, or a run is long.
    """
    made = Curve(program)
    best, since = math.inf, 0
    for setting in program.settings[problem.kind]:
        name = f"{program.name}, {program.knob} = {setting:.4g}"
        try:
            prepared = program.prepare(problem, setting)
            begun = time.thread_time()
            with warnings.catch_warnings():
                # Of steps that are too long.
                warnings.simplefilter("ignore", RuntimeWarning)
                end = prepared.run()
        except ValueError:  # The scheme does not accept the torque, or the run is too short.
            continue
        seconds = time.thread_time() - begun
        error = problem.error(*prepared.state(end))
        made.errors[name], made.settings[name] = error, setting
        since = 0 if error < 0.9 * best or error > 0.1 else since + 1
        best = min(best, error)
        if error <= least or since == 3 or seconds > LONGEST:
            break
    return made


def _once(work: Callable[[], Any]) -> float:
    """Least CPU time of three calls."""
    spent = []
    for _ in range(3):
        begun = time.thread_time()
        work()
        spent.append(time.thread_time() - begun)
    return min(spent)


def fastest(
    curves: Sequence[Curve], problem: Problem, target: float
) -> list[tuple[Curve, Weights]]:
    """The two curves of least time at an error, by a short measurement."""
    found = []
    for one in curves:
        weights = at_error(one.errors, target)
        if weights is not None:
            spent = [_once(work) for work in one.runs(weights, problem).values()]
            parts = zip(spent, weights.values(), strict=True)
            logarithm = sum(w * math.log(s) for s, w in parts)
            found.append((logarithm, one, weights))
    return [(one, weights) for _, one, weights in sorted(found, key=lambda x: x[0])[:2]]


def row(
    run: Run,
    problem: Problem,
    labels: Mapping[str, str | int | float],
    ours: Sequence[Curve],
    calls: Mapping[str, Rival],
    rivals: Sequence[tuple[Rival, Curve | str]],
    target: float,
) -> Row:
    """The fastest method of polhode and each rival at an error, all in turn.

    `calls` are the methods by calls of `integrate`; they are measured for one body.
    """
    best = fastest(ours, problem, target)
    others = {
        rival.name: (one, at_error(one.errors, target))
        for rival, one in rivals
        if isinstance(one, Curve)
    }
    works: dict[str, Callable[[], Any]] = {}
    for one, weights in best if problem.bodies == 1 else ():
        called = replace(one, program=replace(one.program, prepare=calls[one.program.name].prepare))
        runs = called.runs(weights, problem)
        works |= {f"{name}, {CALL}": work for name, work in runs.items()}
    for one, weights in (*best, *((c, w) for c, w in others.values() if w)):
        works |= one.runs(weights, problem)
    timer = replace(run.timer, least=min(run.timer.least, 10), seconds=run.timer.seconds / 4)
    items = problem.bodies * round(problem.t_end)
    measured = timer.measure(works, items, clock="process")
    times: dict[str, Times] = {}
    values: dict[str, Any] = {}
    ratios = {}
    if best:
        best.sort(key=lambda x: time_at(measured, x[1]).median or math.inf)
        one, weights = best[0]
        times["polhode"] = time_at(measured, weights)
        if problem.bodies == 1:
            at_call = {f"{name}, {CALL}": weight for name, weight in weights.items()}
            times[CALL] = time_at(measured, at_call)
        values["method"] = one.program.name
        values["step"] = one.settings[list(weights)[-1]]
        if len(best) > 1:
            values["next"] = best[1][0].program.name
    else:
        times["polhode"] = absent("not reached")
    for rival, found in rivals:
        if isinstance(found, str):
            times[rival.name] = absent(found)
            continue
        weights_of = others[rival.name][1]
        if weights_of is None:
            times[rival.name] = absent("not reached")
            continue
        times[rival.name] = time_at(measured, weights_of)
        if best:
            ratios[f"polhode / {rival.name}"] = ratio_at(measured, best[0][1], weights_of)
    steps, fixed = (others.get(name, (None, None))[1] for name in OVER.split(" / "))
    if steps and fixed:
        ratios[OVER] = ratio_at(measured, steps, fixed)
    return Row(labels, times, ratios, values)


@case(
    "rivals-torque",
    "Bodies under weak and strong torque: polhode and other programs at equal error",
    time="ns per body and unit of time",
    units=UNITS,
)
def under_torques(run: Run) -> Iterator[Row]:
    """Move bodies with |m| = I1 = 1 under a torque, to errors of 1e-6, 1e-9 and 1e-12.

    Heavy tops with torques of 1e-5 to 10 times the energy, a damped dipole, a satellite in an
    eccentric orbit; sixteen starts, repeated. Of all methods and schemes of polhode the fastest at
    the error counts, in turn with each other program, window by window. Times are interpolated
    between two settings (linear in the logarithms). One body, and many under a weak torque, are
    also moved until t = 1000 by the same steps, so that the call and the processor of a processed
    scheme hardly count; the error is the one at t = 50. Reference: the method of DOP853 in extended
    precision. Setting up and compiling are not timed: one body is moved by a prepared run
    (`Run.reset`, `advance`, m and q), and beside it by a call of `integrate`. Adaptive steps of rk8
    are measured beside them.
    """
    targets = TARGETS[:1] if run.quick else TARGETS
    chosen = list(PROBLEMS)[1:2] if run.quick else list(PROBLEMS)
    programs = RIVALS[1:3] if run.quick else [*RIVALS, ADAPTIVE]
    for name, strength in chosen:
        problem = PROBLEMS[name, strength]()
        for bodies in (1,) if run.quick else (1, 1000):
            few = repeated(problem, min(bodies, STARTS))
            ours = [curve(x, few, targets[-1]) for x in under_torque(few, STEPS)]
            calls = {x.name: x for x in under_torque(few, STEPS, by_call)}
            # SciPy is too slow for many bodies and long runs, heyoka.py for a large batch.
            rivals = [
                (x, x.missing() or curve(x, few, targets[-1]))
                for x in programs
                if bodies == 1 or x is not SCIPY
            ]
            both = not run.quick and (bodies == 1 or strength <= WEAKEST)
            for until in (problem.t_end, LONG) if both else (problem.t_end,):
                timed = replace(repeated(problem, bodies), t_end=until)
                for target in targets:
                    labels: dict[str, str | int | float] = {
                        "problem": name, "torque / energy": strength, "bodies": bodies,
                        "until": until, "error": target,
                    }  # fmt: skip
                    some = [x for x in rivals if until == problem.t_end or x[0] not in SLOW]
                    yield row(run, timed, labels, ours, calls, some, target)
            if bodies == 1:
                continue
            timed = repeated(problem, LARGE)
            for target in OF_LARGE.get((name, strength), ()):
                labels = {
                    "problem": name, "torque / energy": strength, "bodies": LARGE,
                    "until": problem.t_end, "error": target,
                }  # fmt: skip
                some = [x for x in rivals if x[0] is not HEYOKA]
                yield row(run, timed, labels, ours, calls, some, target)

"""The exact step and motions at any time: layouts, levels, errors, long runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, Times, case
from benchmarks._bodies import (
    ANGLE,
    INERTIA,
    Array,
    deviation,
    reference,
    states,
    steps_of_a_call,
    turned,
)
from polhode import _core

STEP = "ns per body per step"
LENGTHS = (0.05, 0.2, 1.0, 5.0, 30.0)
UNITS = {"hw": "h |m| / I1 in rad", "error": f"largest of m/|m| or q, in {ANGLE}"}


def step_error(inertia: Array, m: Array, q: Array, h: float | Array) -> Array:
    """Error of a step by "exact" per body, in eps (1 + angle)."""
    end = reference(inertia, m, q, h)
    size = np.linalg.norm(m, axis=1)
    off: Array = deviation(ph.step(inertia, m, q, h), end, size) / turned(inertia, m, h)
    return off


@case("layouts", "The exact step in different arrays", time=STEP, units=UNITS)
def layouts(run: Run) -> Iterator[Row]:
    """100,000 bodies with one inertia (1, 1.5, 2.2), one thread; all columns in turn.

    "Into arrays": results in given arrays. "Own I and h": each body with its own inertia and step.
    "10 steps": in one call, of 10,000 bodies. The error is that of 200 bodies against quadruple
    precision.
    """
    n, few = (2000, 20) if run.quick else (100_000, 200)
    m, q = states(n, run.rng())
    out, place = (np.empty_like(m), np.empty_like(q)), (m.copy(), q.copy())
    matrix = ph.so3.to_matrix(q)
    out_matrix = np.empty_like(m), np.empty_like(matrix)
    columns = [np.asfortranarray(x) for x in (m, q)]
    each = np.tile(INERTIA, (n, 1))
    for h in (0.2, 1.0) if run.quick else LENGTHS:
        step = partial(ph.step, threads=1)
        measured = run.timer.measure(
            {
                "into arrays": partial(step, INERTIA, m, q, h, out=out),
                "in place": partial(step, INERTIA, *place, h, out=place),
                "new arrays": partial(step, INERTIA, m, q, h),
                "columns": partial(step, INERTIA, *columns, h),
                "own I and h": partial(step, each, m, q, np.full(n, h), out=out),
                "matrices": partial(step, INERTIA, m, matrix, h, out=out_matrix),
                "10 steps": partial(step, INERTIA, m[: n // 10], q[: n // 10], h, n_steps=10),
            },
            n,
        )
        error = float(step_error(INERTIA, m[:few], q[:few], h).max())
        yield Row({"hw": h}, measured.times, values={"error": error})


@case("levels", "The exact step at every instruction-set level", time=STEP, units=UNITS)
def levels(run: Run) -> Iterator[Row]:
    """100,000 bodies into given arrays, one thread, as in "layouts"; each level in its own process.

    "scalar" is the same kernel on one double at a time.
    """
    found = at_every_level("exact", run.quick)
    for index, h in enumerate(LENGTHS):
        times = {level: Times(**rows[index][0]) for level, rows in found.items()}
        yield Row(
            {"hw": h}, times, values={"error": max(rows[index][1] for rows in found.values())}
        )


@case(
    "levels_methods",
    "Every method at every instruction-set level",
    time=STEP,
    units={
        "scalar / best": "ratio of the medians; each level has its own process",
        "error": "of m/|m| or q after hw = 0.2, largest component, absolute",
    },
    after=("flops",),
)
def levels_methods(run: Run) -> Iterator[Row]:
    """Steps of hw = 0.2 of 10,000 bodies into given arrays, one thread, quaternions.

    A method whose kernel is not vectorised shows a small ratio. The errors are those of the table
    "flops".
    """
    found = at_every_level("methods", run.quick)
    errors = {
        row.labels["method"]: row.values["error at 0.2"]
        for row in run.tables["flops"].rows
        if row.labels["attitude"] == "quaternion"
    }
    for index, x in enumerate(ph.methods()):
        times = {level: Times(**rows[index][0]) for level, rows in found.items()}
        values = {"error": errors[x.name]}
        best, scalar = next(iter(times.values())).median, times.get("scalar", Times()).median
        if best is not None and scalar is not None:
            values["scalar / best"] = scalar / best
        yield Row({"method": x.name}, times, values=values)


def at_every_level(what: str, quick: bool) -> dict[str, list[tuple[dict[str, Any], float]]]:
    """The result of `this_level` in a process of each level, the fastest level first."""
    found = {}
    for level in _core.build["isa_supported"].split():
        command = [sys.executable, "-m", "benchmarks.cases.exact", what, str(int(quick))]
        environment = {**os.environ}
        if level != "generic":
            environment["POLHODE_ISA"] = level
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        found[level] = json.loads(done.stdout)
    return found


def this_level(what: str, quick: bool) -> list[tuple[dict[str, Any], float]]:
    """At the level of this process: times and error of "exact" by length, or times of methods."""
    from benchmarks._command import timer

    n, few = (2000, 20) if quick else (100_000, 200)
    m, q = states(n, np.random.default_rng(Run().seed))
    out = np.empty_like(m), np.empty_like(q)
    step = partial(ph.step, INERTIA, threads=1)
    if what == "exact":
        times = (
            timer(quick)
            .measure({str(h): partial(step, m, q, h, out=out) for h in LENGTHS}, n)
            .times
        )
        return [
            (vars(times[str(h)]), float(step_error(INERTIA, m[:few], q[:few], h).max()))
            for h in LENGTHS
        ]
    n //= 10
    steps = {x.name: steps_of_a_call(x) for x in ph.methods()}
    works = {
        name: partial(
            step, m[:n], q[:n], 0.2 / k, method=name, n_steps=k, out=(out[0][:n], out[1][:n])
        )
        for name, k in steps.items()
    }
    times = timer(quick).measure(works, {name: n * k for name, k in steps.items()}).times
    return [(vars(times[name]), 0.0) for name in steps]


def _random(n: int, angle: float, rng: np.random.Generator, spread: Any = ()) -> Any:
    """Bodies, momenta and steps; moments 2 and 3 within 10^spread of the first where given."""
    inertia, (m, q) = rng.uniform(1, 2, (n, 3)), states(n, rng)
    for axis, least in enumerate(spread, 1):
        inertia[:, axis] = inertia[:, 0] * (1 + 10 ** rng.uniform(least, -3, n))
    return inertia, m, q, rng.uniform(-angle, angle, n)


def _near_middle(n: int, rng: np.random.Generator) -> Any:
    inertia, m, q, h = _random(n, 30.0, rng)
    inertia.sort(axis=1)
    m[:, ::2] *= 10 ** rng.uniform(-14, -2, (n, 1))
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    return inertia, m, q, h


@case(
    "exact_errors",
    "Errors of the exact step and of motions at any time",
    units={
        "step": f"of m/|m| and q, largest, in {ANGLE}",
        "step, rms": f"root mean square, in {ANGLE}",
        "motion": f"of m/|m| and q, largest, in {ANGLE}",
        "motion, rms": f"root mean square, in {ANGLE}",
        "bodies": "random, each its own moments, momentum, attitude and time",
    },
)
def exact_errors(run: Run) -> Iterator[Row]:
    """`step` and `TorqueFreeMotion` against quadruple precision. Input is taken as exact.

    "Near the middle axis": momenta 1e-14 to 1e-2 from it; there the motion itself enlarges the
    rounding of the moments by up to exp(t), which is part of the error here.
    """
    n = 200 if run.quick else 5000
    rng = run.rng()
    sets = {
        "steps to 0.3 rad": _random(n, 0.3, rng),
        "steps to 30 rad": _random(n, 30.0, rng),
        "nearly spherical": _random(n, 30.0, rng, (-16, -16)),
        "nearly symmetric": _random(n, 30.0, rng, (-16,)),
        "near the middle axis": _near_middle(n, rng),
    }
    for name, (inertia, m, q, h) in sets.items():
        end, unit = reference(inertia, m, q, h), turned(inertia, m, h)
        values: dict[str, float] = {}
        ends = {"step": ph.step(inertia, m, q, h), "motion": ph.TorqueFreeMotion(inertia, m, q)(h)}
        for what, got in ends.items():
            off = deviation(got, end) / unit
            values[what] = float(off.max())
            values[f"{what}, rms"] = float(np.sqrt(np.mean(off**2)))
        yield Row({"set": name, "bodies": n}, values=values)


@case(
    "long_run",
    "Energy and momentum in space over many exact steps",
    time=STEP,
    units={
        "energy": "root mean square of the relative change, 64 bodies",
        "momentum in space": "largest change of a component over |m|",
        "steps": "of hw = 0.01",
    },
)
def long_run(run: Run) -> Iterator[Row]:
    """64 bodies, one call; conserved quantities evaluated in long double."""
    rng = run.rng()
    inertia = np.sort(rng.uniform(1.0, 3.0, (64, 3)), axis=1)
    m0, q0 = states(64, rng)
    work = partial(ph.step, inertia, m0, q0, 0.01 * inertia[:, 0], threads=1)
    for steps in (1000,) if run.quick else (10_000, 1_000_000):
        one = min(steps, 10_000)
        times = run.timer.measure({"time": partial(work, n_steps=one)}, 64 * one).times
        m, q = work(n_steps=steps)
        change = _energy(inertia, m) / _energy(inertia, m0) - 1
        values = {
            "energy": float(np.sqrt(np.mean(change**2))),
            "momentum in space": float(np.abs(_spatial(m, q) - _spatial(m0, q0)).max()),
        }
        yield Row({"steps": steps}, times, values=values)


def _energy(inertia: Array, m: Array) -> Any:
    return np.sum(m.astype(np.longdouble) ** 2 / inertia.astype(np.longdouble), -1) / 2


def _spatial(m: Array, q: Array) -> Any:
    p, v = q.astype(np.longdouble), m.astype(np.longdouble)
    p /= np.sqrt(np.sum(p**2, -1))[:, None]
    turned = 2 * np.cross(p[:, 1:], v)
    return v + p[:, :1] * turned + np.cross(p[:, 1:], turned)


@case(
    "motion",
    "Free motion at arrays of times",
    time="ns per time",
    units={
        "angle": "largest angle of the body at the times, rad",
        "error of motion": f"of m/|m| or q, largest, in {ANGLE}",
        "error of step": f"the same of a step from time 0, in {ANGLE}",
        "step / motion": "ratio of times in neighbouring windows",
    },
)
def motion(run: Run) -> Iterator[Row]:
    """One body at 100,000 sorted times within an angle, into given arrays; a step per time beside.

    The last rows: as many bodies with one time each, and setting them up.
    """
    n, few = (1000, 20) if run.quick else (100_000, 200)
    rng = run.rng()
    m0, q0 = np.array([0.3, 0.5, 0.8]), np.array([0.6, -0.48, 0.0, 0.64])
    one = ph.TorqueFreeMotion(INERTIA, m0, q0)
    rate = float(np.linalg.norm(m0 / INERTIA))
    out = np.empty((n, 3)), np.empty((n, 4))
    for angle in (1.0, 3e3) if run.quick else (0.1, 1.0, 30.0, 3e3, 1e5, 1e7):
        t = np.sort(rng.uniform(size=n)) * angle / rate
        measured = run.timer.measure(
            {
                "motion": partial(one, t, out=out),
                "step": partial(ph.step, INERTIA, m0, q0, t, out=out, threads=1),
            },
            n,
        )
        some = t[:: n // few]
        end, size = reference(INERTIA, m0, q0, some), float(np.linalg.norm(m0))
        unit = turned(INERTIA, m0, some)
        ends = {"motion": one(some), "step": ph.step(INERTIA, m0, q0, some)}
        errors = {
            f"error of {k}": float((deviation(e, end, size) / unit).max()) for k, e in ends.items()
        }
        ratios = {"step / motion": measured.ratio("step", "motion")}
        yield Row({"of": "one body", "angle": angle}, measured.times, ratios, errors)
    bodies = rng.uniform(1, 2, (n, 3)), *states(n, rng)
    many = ph.TorqueFreeMotion(*bodies)
    for angle in (1.0, 3e3):
        t = angle * rng.uniform(size=n)
        times = run.timer.measure({"motion": partial(many, t, out=out)}, n).times
        yield Row({"of": "many bodies", "angle": angle}, times)
    times = run.timer.measure({"motion": partial(ph.TorqueFreeMotion, *bodies)}, n).times
    yield Row({"of": "setting up many bodies", "angle": 0}, times)
    times = run.timer.measure({"motion": partial(one, 1.0)}).times
    yield Row({"of": "one body, one time, from Python", "angle": 1.0}, times)


@case("rates", "Attitude from a given rate", time=STEP)
def rates(run: Run) -> Iterator[Row]:
    """One step of h = 0.2 of `attitude_from_rate` from samples at the nodes, 100,000 bodies."""
    n = 2000 if run.quick else 100_000
    rng = run.rng()
    q = states(n, rng)[1]
    orders = (2, 4, 6, 8)
    works = {
        str(k): partial(ph.attitude_from_rate, rng.normal(size=(1, k // 2, n, 3)), q, 0.2, order=k)
        for k in orders
    }
    times = run.timer.measure(works, n).times
    for k in orders:
        yield Row({"order": k}, {"time": times[str(k)]})


if __name__ == "__main__":
    print(json.dumps(this_level(sys.argv[1], sys.argv[2] == "1")))

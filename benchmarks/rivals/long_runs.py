"""The case of long runs under torque: error and energy against time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks import Row, Run, Times, absent, case
from benchmarks.rivals import _numba, _runge_kutta
from benchmarks.rivals._polhode import under_torque
from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._torques import repeated, tops
from benchmarks.rivals.torques import RIVALS, STEPS, curve

#: The error at t = 50 to which the step of each program is chosen.
TARGET = 1e-9
METHODS = ("aba864", "rkn6_14", "processed_ti184", "rk8", "adams10")
#: Turns of an angular velocity of 1.
TURNS = (10, 1000, 100_000, 1_000_000)
TURNS_QUICK = (10, 1000)
#: Runs that would take more seconds are left out.
LONGEST = 60.0


def energies(problem: Problem, m: Array, q: Array) -> Array:
    """Kinetic energy and potential of each top."""
    kinetic = np.sum(m**2 / problem.inertia, axis=-1) / 2
    total: Array = kinetic + problem.torque.potential(0.0, q)
    return total


@case(
    "long-torque",
    "Heavy tops over many turns: error and energy against time",
    time="ns per unit of time, of one run",
    units={
        "turns": "t / (2 pi), |m| = I1 = 1",
        "torque / energy": "|torque| over |m|^2 / (2 I1) at the start",
        "step": f"the longest of a series with an error of at most {TARGET:g} at t = 50",
        "error": "the larger of |m - reference| / |m| and the angle to the reference attitude in "
        "rad; reference: rkn6_14 with the step of an error of 1e-12 at t = 50",
        "energy": "change since the start over |m|^2 / (2 I1)",
    },
)
def long_torque(run: Run) -> Iterator[Row]:
    """Move one top for up to a million turns, with schemes, direct methods and other programs.

    Schemes are symplectic: their energy error is bounded and the error grows in proportion to time.
    The time is that of one run, in CPU time.
    """
    for strength in (1e-3, 1.0):
        top = repeated(tops(strength), 1)
        programs = [x for x in under_torque(top, STEPS) if x.name in METHODS]
        (precise,) = (x for x in programs if x.name == "rkn6_14")
        rivals = [x for x in RIVALS if x.name in (_numba.RIVAL.name, _runge_kutta.RK8.name)]
        ends: dict[int, Problem] = {}
        for turns in TURNS_QUICK if run.quick else TURNS:
            longer = replace(top, t_end=2 * np.pi * turns)
            finest = list(curve(precise, top, 1e-12).settings.values())[-1]
            prepared = precise.prepare(longer, finest)
            m, q = prepared.state(prepared.run())
            ends[turns] = replace(longer, m_end=m, q_end=q)
        for program in [*programs, *rivals]:
            if why := program.missing():
                yield Row({"program": program.name}, {"time": absent(why)})
                continue
            step = list(curve(program, top, TARGET).settings.values())[-1]
            seconds = 0.0
            for turns, problem in ends.items():
                labels: dict[str, str | int | float] = {
                    "torque / energy": strength, "program": program.name, "turns": turns
                }  # fmt: skip
                if seconds * problem.t_end > LONGEST:
                    yield Row(labels, {"time": absent(f"longer than {LONGEST:g} s")})
                    continue
                prepared = program.prepare(problem, step)
                begun = time.thread_time()
                end = prepared.run()
                seconds = (time.thread_time() - begun) / problem.t_end
                spent = 1e9 * seconds
                m, q = prepared.state(end)
                change = energies(problem, m, q) - energies(problem, problem.m, problem.q)
                yield Row(
                    labels,
                    {"time": Times(spent, spent, spent, spent, spent, 1)},
                    values={
                        "step": step,
                        "error": problem.error(m, q),
                        "energy": float(2 * abs(change[0])),
                    },
                )

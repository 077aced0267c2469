"""Bodies that move, and heat baths: their times, and averages against statistical mechanics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from benchmarks import Row, Run, case
from benchmarks._bodies import INERTIA, Array

Q0 = np.array([1.0, 0.0, 0.0, 0.0])
TOP = ph.torques.HeavyTop([0.1, -0.2, 0.4])
MASS = 2.0


def _integrated(n: int, steps: int, torque: Any = TOP, **options: Any) -> ph.Trajectory:
    m = np.array([0.3, 0.5, 0.8]) * np.linspace(0.9, 1.1, n)[:, None]
    return ph.integrate(INERTIA, m, Q0, 0.1, steps, torque=torque, save_every=steps, **options)


def _total(trajectory: ph.Trajectory) -> Array:
    bath = 0.0 if trajectory.chains is None else trajectory.bath_energy()
    return np.asarray(trajectory.energy().sum(axis=-1) + bath)


@case(
    "moving",
    "Bodies that move, and heat baths, beside rotation alone",
    time="ns per body per step",
    units={
        "time / rotation": "ratio of times in neighbouring windows",
        "drift": "of the conserved energy in 100 steps over its size, 100 bodies",
    },
)
def moving(run: Run) -> Iterator[Row]:
    """Heavy tops by Strang splitting around the exact step, h = 0.1; one thread, all rows in turn.

    "Moving": with a mass, the centres move uniformly. "Force": a function in NumPy that gives the
    weight of the bodies and no torque, in place of the model; the whole batch is one block.
    """

    def weight(x: Array) -> tuple[Array, Array]:
        return np.full_like(x, -1.0), np.zeros_like(x)

    noise, chains = ph.Thermostat(1.0, 0.5), ph.NoseHoover(1.0, 2.0)
    moves = {"mass": MASS, "p0": [1.0, 0.0, 0.0]}
    rows: dict[str, dict[str, Any]] = {
        "rotation": {},
        "rotation, Thermostat": {"thermostat": noise},
        "rotation, NoseHoover": {"thermostat": chains},
        "moving": moves,
        "moving, Thermostat": {**moves, "thermostat": noise},
        "moving, NoseHoover": {**moves, "thermostat": chains},
        "moving, force": moves,
    }
    for n in (100,) if run.quick else (100, 10_000):
        steps = 10 if run.quick else 100_000 // n
        works = {name: partial(_integrated, n, steps, **each) for name, each in rows.items()}
        works["moving, force"] = partial(_integrated, n, steps, torque=weight, **moves)
        measured = run.timer.measure(works, n * steps)
        for name, options in rows.items():
            values = {}
            if "Thermostat" not in name and "force" not in name:
                total = _total(_integrated(100, 100, **options))
                values = {"drift": abs(total[-1] / total[0] - 1.0)}
            ratios = {"time / rotation": measured.ratio(name, "rotation")}
            yield Row({"bodies": n, "run": name}, {"time": measured.times[name]}, ratios, values)


@case(
    "heat",
    "Averages in a heat bath against statistical mechanics",
    units={
        "cosine": "mean of cos(angle of the dipole from the field) less coth x - 1/x",
        "scatter": "one standard deviation of this mean for independent states",
        "square": "mean of m_k^2 / (I_k kT), less 1",
        "fourth power": "mean of the square of this, less 3",
    },
)
def heat(run: Run) -> Iterator[Row]:
    """A million states of dipoles in a field: `Thermostat` with friction 1, Strang, h = 0.05.

    100,000 bodies (in a quick run 1000) start at rest; after 10 and after each further time of 3
    their states are taken, ten in all. x = dipole times field over kT.
    """
    n = 1000 if run.quick else 100_000
    kT, h = 1.3, 0.05
    for x in (0.5, 2.0, 8.0):
        dipole = ph.torques.Dipole([0.0, 0.0, 1.0], [0.0, 0.0, kT * x])
        state: tuple[Array, Array] = np.zeros((n, 3)), np.tile(Q0, (n, 1))
        cosines, squares = [], []
        for k in range(10):
            steps = 200 if k == 0 else 60
            traj = ph.integrate(
                INERTIA, *state, h, steps, torque=dipole, save_every=steps,
                thermostat=ph.Thermostat(kT, 1.0, run.seed + k),
            )  # fmt: skip
            state = traj.m[-1], traj.q[-1]
            cosines.append(1 - 2 * (state[1][:, 1] ** 2 + state[1][:, 2] ** 2))
            squares.append(state[0] ** 2 / (INERTIA * kT))
        cosine, square = np.array(cosines), np.array(squares)
        yield Row(
            {"x": x, "states": cosine.size},
            values={
                "cosine": float(cosine.mean() - (1 / np.tanh(x) - 1 / x)),
                "scatter": float(cosine.std() / np.sqrt(cosine.size)),
                "square": float(square.mean() - 1.0),
                "fourth power": float((square**2).mean() - 3.0),
            },
        )

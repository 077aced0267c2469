"""MuJoCo's multibody engine: a ball joint, its integrators at a fixed step.

A free body is one on a ball joint at its centre of mass, without gravity; the heavy top's centre of
mass lies at e3 and has a small mass in a strong gravity, -u0 over the mass.  Its moments break the
triangle inequality, which the compiler of models refuses, so they are set in the compiled model.

Conventions: qpos of a ball joint is the attitude, body to space, scalar first; qvel the angular
velocity in the body frame: m = inertia qvel.  Many bodies are one world; contacts, constraints and
sleeping are off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival

# Of the heavy top: its share of the moments about the joint is subtracted from them.
_MASS = 1e-3


def _model(problem: Problem, h: float) -> Any:
    import mujoco

    body = (
        '<body><joint type="ball" damping="0" armature="0"/>'
        '<inertial pos="0 0 {}" mass="{}" diaginertia="1 1 1"/></body>'
    )
    mass = _MASS if problem.u0 is not None else 1.0
    bodies = body.format(float(problem.u0 is not None), mass) * problem.bodies
    gravity = np.zeros(3) if problem.u0 is None else -problem.u0 / mass
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="RK4" timestep="{h!r}" gravity="{_text(gravity)}">'
        '<flag contact="disable" constraint="disable" energy="disable"/></option>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    moments = problem.inertia.copy()
    if problem.u0 is not None:
        moments[:2] -= mass
    model.body_inertia[1:] = moments
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _text(values: Array) -> str:
    return " ".join(map(repr, values.tolist()))


def _prepare(problem: Problem, h: float) -> Prepared:
    import mujoco

    n_steps = round(problem.t_end / h)
    model = _model(problem, problem.t_end / n_steps)
    data = mujoco.MjData(model)
    qpos, qvel = problem.q.ravel(), (problem.m / problem.inertia).ravel()

    def run() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = qpos
        data.qvel[:] = qvel
        mujoco.mj_step(model, data, nstep=n_steps)

    def state(_: None) -> tuple[Array, Array]:
        return data.qvel.reshape(-1, 3) * problem.inertia, data.qpos.reshape(-1, 4).copy()

    return Prepared(run, state)


RIVAL = Rival(
    "MuJoCo RK4",
    [("mujoco", "mujoco")],
    "step",
    {"free": (0.2, 0.05, 0.0125), "heavy-top": (0.2, 0.05, 0.0125)},
    _prepare,
)

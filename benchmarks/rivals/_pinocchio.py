"""Pinocchio's articulated-body algorithm, its accelerations integrated by SciPy's DOP853.

Pinocchio gives the dynamics and has no integrator of its own but one Euler step.  The model is one
spherical joint; as in MuJoCo's, the heavy top's centre of mass lies at e3 with a small mass.

Conventions: the configuration of a spherical joint is the attitude, body to space, scalar LAST; its
velocity is the angular velocity in the body frame: m = inertia v.
"""

from __future__ import annotations

import numpy as np

from benchmarks.rivals._problem import Array, Problem
from benchmarks.rivals._rival import Prepared, Rival
from benchmarks.rivals._scipy import dop853

_MASS = 1e-3  # of the heavy top


def _prepare(problem: Problem, tolerance: float) -> Prepared:
    import pinocchio

    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelSpherical(), pinocchio.SE3.Identity(), "joint")
    lever, mass, moments = np.zeros(3), 1.0, problem.inertia.copy()
    model.gravity.linear = np.zeros(3)
    if problem.u0 is not None:
        lever[2], mass = 1.0, _MASS
        moments[:2] -= mass
        model.gravity.linear = -problem.u0 / mass
    model.appendBodyToJoint(
        joint, pinocchio.Inertia(mass, lever, np.diag(moments)), pinocchio.SE3.Identity()
    )
    data = model.createData()
    torque = np.zeros(3)

    def rate(_: float, y: Array) -> Array:
        unit = y[:4] / np.sqrt(y[:4] @ y[:4])
        acceleration = pinocchio.aba(model, data, unit, y[4:], torque)
        x, p, s, w, o1, o2, o3 = y.tolist()
        return np.array(
            [
                0.5 * (w * o1 + p * o3 - s * o2),
                0.5 * (w * o2 + s * o1 - x * o3),
                0.5 * (w * o3 + x * o2 - p * o1),
                0.5 * (-x * o1 - p * o2 - s * o3),
                *acceleration,
            ]
        )

    start = np.r_[problem.q[0, 1:], problem.q[0, :1], problem.m[0] / problem.inertia]

    def state(y: Array) -> tuple[Array, Array]:
        return (y[4:] * problem.inertia)[None], y[[3, 0, 1, 2]][None]

    return Prepared(dop853(rate, start, problem.t_end, tolerance), state)


_TOLERANCES = (1e-4, 1e-8, 1e-12)

RIVAL = Rival(
    "Pinocchio aba + DOP853",
    [("pinocchio", "pin"), ("scipy", "scipy")],
    "rtol = atol",
    {"free": _TOLERANCES, "heavy-top": _TOLERANCES},
    _prepare,
    batch=False,
)

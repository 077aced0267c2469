"""What is refused and what is taken, in every argument of the other public functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import same
from input_kinds import REFUSED, TAKEN

import polhode as ph
from polhode import torques

INERTIA, M, Q, H = [1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0], 0.1
OMEGA = [0.2, 0.1, 0.4]
EYE = np.eye(3).tolist()
TENSOR = [[4.5, -1.0, 0.0], [-1.0, 6.0, 0.5], [0.0, 0.5, 3.5]]
POINTS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.3, 1.0], [-1.0, 0.1, 0.0]]


def of(model: Callable[..., Any]) -> Callable[..., Any]:
    """The torque of a model with these parameters."""
    return lambda **given: model(**given).with_inertia(np.array(INERTIA)).torque(0.3, M, Q)


def scheme(*parts: Any) -> Any:
    return ph.integrate(INERTIA, M, Q, H, 1, splitting=parts, torque=torques.Constant(OMEGA)).m


#: Functions and valid arguments by their names.
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "momentum": (ph.momentum, {"inertia": INERTIA, "omega": OMEGA}),
    "omega": (ph.omega, {"inertia": INERTIA, "m": M}),
    "energy": (ph.energy, {"inertia": INERTIA, "m": M}),
    "casimir": (ph.casimir, {"m": M}),
    "momentum_spatial": (ph.momentum_spatial, {"m": M, "q": Q}),
    "to_matrix": (ph.so3.to_matrix, {"q": Q}),
    "to_quaternion": (ph.so3.to_quaternion, {"Q": EYE}),
    "multiply": (ph.so3.multiply, {"p": Q, "q": Q}),
    "conjugate": (ph.so3.conjugate, {"q": Q}),
    "rotate": (ph.so3.rotate, {"q": Q, "v": M}),
    "exp": (ph.so3.exp, {"v": M}),
    "log": (ph.so3.log, {"q": Q}),
    "RigidBody": (lambda tensor: ph.RigidBody(tensor).moments, {"tensor": TENSOR}),
    "from_moments": (
        lambda **given: ph.RigidBody.from_moments(**given).tensor,
        {"moments": INERTIA, "axes": EYE},
    ),
    "from_points": (
        lambda **given: ph.RigidBody.from_points(**given).tensor,
        {"mass": [1.0, 2.0, 1.0, 0.5], "r": POINTS},
    ),
    "attitude_from_rate": (ph.attitude_from_rate, {"omega": [[OMEGA, M]], "q0": Q, "h": H}),
    "times of a motion": (ph.TorqueFreeMotion(INERTIA, M, Q), {"t": [0.3, 0.4]}),
    "axes of a motion": (
        lambda axes: ph.TorqueFreeMotion(INERTIA, M, Q, axes=axes)(0.3),
        {"axes": EYE},
    ),
    "t0": (lambda t0: ph.integrate(INERTIA, M, Q, H, 1, t0=t0).t, {"t0": 0.3}),
    "adaptive": (
        lambda **given: ph.integrate(INERTIA, M, Q, **given).q,
        {"t_end": 0.5, "rtol": 1e-6, "atol": 1e-9, "t_eval": [0.25, 0.5]},
    ),
    "flops": (lambda hw: np.array(list(ph.flops("imid", hw=hw).values())), {"hw": 0.3}),
    "rkmk": (
        lambda **given: ph.step(INERTIA, M, Q, H, method=ph.rkmk(**given)),
        {"a": [[0.0, 0.0], [0.5, 0.0]], "b": [0.0, 1.0], "c": [0.0, 0.5]},
    ),
    "splitting: a": (lambda **given: scheme(*given.values(), [1.0]), {"splitting: a": [0.5, 0.5]}),
    "splitting: b": (lambda **given: scheme([0.5, 0.5], *given.values()), {"splitting: b": [1.0]}),
    "Constant": (of(torques.Constant), {"value": OMEGA}),
    "Dipole": (of(torques.Dipole), {"moment": OMEGA, "field": M}),
    "GravityGradient": (
        of(torques.GravityGradient),
        {"mean_motion": 0.3, "position": [1.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "inertia": M},
    ),
    "GravityGradient by velocity": (
        of(torques.GravityGradient),
        {"mean_motion": 0.3, "position": [1.0, 0.0, 0.0], "velocity": OMEGA, "tensor": TENSOR},
    ),
    "circular": (
        of(torques.GravityGradient.circular),
        {"mu": 1.0, "radius": 2.0, "inclination": 0.3, "raan": 0.1, "argument_of_latitude": 0.2},
    ),
    "HeavyTop": (of(torques.HeavyTop), {"u0": OMEGA, "axis": M}),
    "LagrangeTop": (of(torques.LagrangeTop), {"weight": 2.0}),
    "Prescribed": (of(torques.Prescribed), {"values": [OMEGA, M], "times": [0.0, 1.0]}),
    "SoftWall": (of(torques.SoftWall), {"axis": M, "charge": 2.0, "wall": 0.02, "distance": 1.2}),
    "Vessel": (
        of(torques.Vessel),
        {"mass": 6.0, "gm_l": 1.0, "gm_t": 0.5, "damping": M, "gravity": 9.0, "axes": EYE}
        | {"inertia": INERTIA},
    ),
}  # fmt: skip


def called(door: str, name: str | None = None, value: Any = None) -> list[Any]:
    """The results, with one argument changed."""
    function, given = FUNCTIONS[door]
    result = function(**(given if name is None else {**given, name: value}))
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("door", FUNCTIONS)
def test_refused(door: str) -> None:
    for name, value in FUNCTIONS[door][1].items():
        for kind, (make, error) in REFUSED.items():
            with pytest.raises(error) as refused:
                called(door, name, make(value))
            assert str(refused.value).startswith(f"{name} "), (kind, str(refused.value))


@pytest.mark.parametrize("door", FUNCTIONS)
def test_taken(door: str) -> None:
    want = called(door)
    for name, value in FUNCTIONS[door][1].items():
        for make in TAKEN.values():
            for x, y in zip(called(door, name, make(value)), want, strict=True):
                same(x, y)


BODY = ph.RigidBody(np.diag(INERTIA))


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (functools.partial(ph.step, INERTIA, h=H), "m q"),
        (functools.partial(ph.frb_step, INERTIA, h=H), "m Q"),
        (functools.partial(ph.quat_step, INERTIA, h=H), "m q"),
        (functools.partial(ph.integrate, INERTIA, h=H, n_steps=1), "m0 q0"),
        (functools.partial(ph.Run, INERTIA, h=H), "m0 q0"),
        (functools.partial(ph.TorqueFreeMotion, INERTIA), "m0 q0"),
        (functools.partial(BODY.step, h=H), "m q"),
        (functools.partial(BODY.integrate, h=H, n_steps=1), "m0 q0"),
        (BODY.motion, "m0 q0"),
    ],
)
def test_messages_name_the_arguments(function: Callable[..., Any], names: str) -> None:
    """Values and shapes are refused by the names that the caller gave."""
    m, q = names.split()
    attitude = EYE if q == "Q" else Q
    with pytest.raises(ValueError, match=rf"^{q} = \["):
        function(**{m: M, q: np.zeros_like(attitude)})
    with pytest.raises(ValueError, match=rf"\b{m} \(2,\), {q} \(3,\)"):
        function(**{m: [M] * 2, q: [attitude] * 3})

"""The quantities of a trajectory: energy, angular velocity, one frame."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
INERTIA = np.array([1.0, 1.5, 2.2])
M0 = np.array([0.3, 0.5, 0.8])
Q0 = np.array([1.0, 0.0, 0.0, 0.0])


def run(torque: Any, h: Any = 0.25, n: int = 4, **options: Any) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, h, n, torque=torque, **options)


def pull(t: float, q: Array) -> Array:
    return np.stack([q[..., 1], -q[..., 0], 0 * q[..., 2]], axis=-1)


def test_energy_names_torques_without_potential() -> None:
    silent = ph.torques.Function(pull)
    known = ph.torques.Function(pull, potential=lambda t, q: np.zeros(q.shape[:-1]))
    traj = run([silent, known, ph.torques.HeavyTop([0.0, 0.0, 1.0])])
    with pytest.warns(RuntimeWarning, match=r"leaves out the potential of Function\(.*pull") as w:
        energy = traj.energy()
    assert len(w) == 1
    assert w[0].filename == __file__
    assert np.isfinite(energy).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run([known, ph.torques.Constant([0.0, 0.0, 1.0])]).energy()
        run(None).energy()


@pytest.mark.parametrize("batch", [(), (4,)])
def test_trajectories_show_one_frame(batch: tuple[int, ...]) -> None:
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    body = ph.RigidBody(tensor)
    m0 = np.broadcast_to(M0, (*batch, 3))
    traj = body.integrate(m0, Q0, 0.1, 3)
    omega = traj.omega()
    # The moments and axes of the body are good to a few eps of the tensor.
    close(omega @ tensor, traj.m, atol=1e-14)
    close(0.5 * np.sum(omega * traj.m, axis=-1), traj.energy(), atol=1e-14)
    with pytest.raises(AttributeError, match=r"body\.tensor"):
        _ = traj.inertia
    assert not hasattr(traj, "inertia")
    with pytest.raises(AttributeError, match="no attribute 'moments'"):
        _ = traj.moments
    aligned = ph.RigidBody.from_moments([1.0, 1.5, 2.2]).integrate(m0, Q0, 0.1, 3)
    same(aligned.omega(), ph.omega(aligned.inertia, aligned.m))

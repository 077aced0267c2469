"""SciPy's `Rotation` and arrays of PyTorch, JAX and others: as plain arrays, or refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from compare import same

import polhode as ph
from polhode import so3

INERTIA = np.array([1.0, 2.0, 3.0])
M = np.array([[0.1, 0.2, 0.3], [0.4, -0.2, 0.1]])
Q = np.array([[0.5, -0.5, 0.5, 0.5], [-0.1, 0.7, 0.7, 0.1]])
BODY = ph.RigidBody([[4.5, -1.0, 0.0], [-1.0, 6.0, 0.0], [0.0, 0.0, 2.5]])
ALIGNED = ph.RigidBody.from_moments(INERTIA)


def constant(t: float) -> Any:
    return [0.1, 0.2, 0.3]


QUATERNIONS: dict[str, Any] = {
    "step": lambda q: ph.step(INERTIA, M, q, 0.1),
    "step, matrix method": lambda q: ph.step(INERTIA, M, q, 0.1, method="imid", n_steps=2),
    "step, in place": lambda q: ph.step(INERTIA, M, q, 0.1, out=(0.0 * M, 0.0 * Q)),
    "quat_step": lambda q: ph.quat_step(INERTIA, M, q, 0.1),
    "motion": lambda q: ph.TorqueFreeMotion(INERTIA, M, q)(0.3),
    "integrate": lambda q: ph.integrate(INERTIA, M, q, 0.1, 3).q,
    "momentum_spatial": lambda q: ph.momentum_spatial(M, q),
    "attitude_from_rate": lambda q: ph.attitude_from_rate(constant, q, 0.1),
    "log of rates": lambda q: ph.attitude_from_rate([M, M], q, t=[0, 1], order=2),
    "torque": lambda q: ph.torques.HeavyTop([0.0, 0.0, 1.0]).torque(0.0, M, q),
    "body.step": lambda q: BODY.step(M, q, 0.1),
    "body.motion": lambda q: BODY.motion(M, q)(0.3),
    "body.integrate": lambda q: BODY.integrate(M, q, 0.1, 3).q,
    "aligned.step": lambda q: ALIGNED.step(M, q, 0.1),
    "aligned.motion": lambda q: ALIGNED.motion(M, q)(0.3),
    "aligned.integrate": lambda q: ALIGNED.integrate(M, q, 0.1, 3).q,
    "to_matrix": so3.to_matrix,
    "multiply": lambda q: so3.multiply(q, q),
    "conjugate": so3.conjugate,
    "rotate": lambda q: so3.rotate(q, M),
    "log": so3.log,
    "normalize": so3.normalize,
    "slerp": lambda q: so3.slerp(q, Q, 0.5),
}  # fmt: skip


def all_same(got: Any, want: Any) -> None:
    if isinstance(want, tuple):
        for x, y in zip(got, want, strict=True):
            same(x, y)
    else:
        same(got, want)


@pytest.mark.parametrize("name", QUATERNIONS)
@pytest.mark.parametrize("single", [False, True])
def test_rotations_are_taken_as_quaternions(name: str, single: bool) -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    quaternions = np.array(Q[0] if single else Q)
    rotation = transform.Rotation.from_quat(np.roll(quaternions, -1, -1))
    quaternions = np.roll(rotation.as_quat(), 1, -1)  # normalised by SciPy
    if single and "place" in name:
        quaternions = np.array([quaternions] * 2)
        rotation = transform.Rotation.concatenate([rotation, rotation])
    got = QUATERNIONS[name](rotation)
    assert type(got[-1]) is np.ndarray or type(got) is np.ndarray
    all_same(got, QUATERNIONS[name](quaternions))


def test_rotations_where_a_matrix_is_expected_and_back() -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    rotation = transform.Rotation.from_quat(np.roll(Q, -1, -1))
    all_same(
        ph.frb_step(INERTIA, M, rotation, 0.1), ph.frb_step(INERTIA, M, rotation.as_matrix(), 0.1)
    )
    same(so3.to_quaternion(rotation), so3.to_quaternion(rotation.as_matrix()))
    q = ph.step(INERTIA, M, rotation, 0.1)[1]
    back = transform.Rotation.from_quat(np.roll(q, -1, -1))
    turn = (rotation.inv() * back).magnitude()
    assert np.all(turn < 0.1 * np.linalg.norm(M / INERTIA, axis=-1) * 1.5)


def test_rotations_in_quadruple_precision() -> None:
    quad = pytest.importorskip("polhode.quad", reason="the compiler has no 34-digit type")
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation.from_quat(np.roll(Q, -1, -1))
    plain = np.roll(rotation.as_quat(), 1, -1)
    all_same(quad.step(INERTIA, M, rotation, 0.1), quad.step(INERTIA, M, plain, 0.1))


@pytest.mark.parametrize("name", ["inertia", "m", "h"])
def test_a_rotation_is_no_other_argument(name: str) -> None:
    transform = pytest.importorskip("scipy.spatial.transform")
    arguments = {"inertia": INERTIA, "m": M, "q": Q, "h": 0.1}
    arguments[name] = transform.Rotation.identity(2)
    with pytest.raises(TypeError, match=f"{name} must be real numbers"):
        ph.step(**arguments)


def test_scipy_is_not_imported() -> None:
    code = (
        "import sys, polhode as ph\n"
        "ph.step([1, 2, 3], [1, 0, 0], [1, 0, 0, 0], 1)\n"
        "others = {'scipy', 'torch', 'jax', 'pandas', 'xarray', 'numba', 'matplotlib'}\n"
        "assert not others & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Foreign:
    """An array of another library: only DLPack, unless `__array__` is added."""

    def __init__(self, data: Any) -> None:
        self.data = np.array(data, np.float64)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)


class ForeignArray(Foreign):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data


CALLS: dict[str, Any] = {
    "inertia": lambda f: ph.step(f(INERTIA), M, Q, 0.1),
    "m": lambda f: ph.step(INERTIA, f(M), Q, 0.1),
    "q": lambda f: ph.step(INERTIA, M, f(Q), 0.1),
    "h": lambda f: ph.step(INERTIA, M, Q, f([0.1, 0.2])),
    "q0": lambda f: ph.TorqueFreeMotion(INERTIA, M, f(Q))(0.1),
    "t": lambda f: ph.TorqueFreeMotion(INERTIA, M, Q)(f([0.1, 0.2])),
    "m0": lambda f: ph.integrate(INERTIA, f(M), Q, 0.1, 3).q,
    "v": lambda f: so3.exp(f(M)),
    "tensor": lambda f: ph.RigidBody(f(np.diag(INERTIA))).moments,
}


def torch_tensor(x: Any) -> Any:
    return pytest.importorskip("torch").tensor(np.array(x))


def jax_array(x: Any) -> Any:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(np.array(x))


KINDS = {
    "DLPack": Foreign, "__array__": ForeignArray,
    "torch": torch_tensor, "jax": jax_array,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_other_libraries(name: str, kind: str) -> None:
    all_same(CALLS[name](KINDS[kind]), CALLS[name](np.array))


def test_torch_tensor_with_a_gradient_and_in_place() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match="requires grad"):  # of PyTorch
        ph.step(INERTIA, torch.tensor(M, requires_grad=True), Q, 0.1)
    m, q = torch.tensor(M), torch.tensor(Q)
    want = ph.step(INERTIA, M, Q, 0.1)
    ph.step(INERTIA, m, q, 0.1, out=(m.numpy(), q.numpy()))
    all_same((m.numpy(), q.numpy()), want)


def test_under_jit_jax_raises_its_own_error() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"[Tt]racer"):
        jax.jit(lambda m: ph.step(INERTIA, m, Q, 0.1)[0])(M)

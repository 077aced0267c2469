"""Principal axes of full tensors, and motion in the user's own body axes."""

import copy
import itertools
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import tolerances as tol
from compare import close, same
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph
from polhode import so3

Array = NDArray[np.float64]
IDENTITY = [1.0, 0.0, 0.0, 0.0]


def rotations(count: int, seed: int = 1) -> Array:
    return so3.to_matrix(np.random.default_rng(seed).standard_normal((count, 4)))


def tensors(moments: Array, seed: int = 1) -> Array:
    axes = rotations(len(moments), seed)
    full = (axes * moments[:, None, :]) @ np.swapaxes(axes, -1, -2)
    return 0.5 * (full + np.swapaxes(full, -1, -2))


def families() -> dict[str, Array]:
    rng = np.random.default_rng(11)
    one = np.ones((200, 1))
    return {
        "generic": 1 + rng.uniform(0, 1, (200, 3)),
        "sphere": one * [1.0, 1.0, 1.0],
        "nearly a sphere": 1 + 1e-14 * rng.standard_normal((200, 3)),
        "symmetric, long": one * [0.5, 1.0, 1.0],
        "symmetric, flat": one * [1.0, 1.0, 1.7],
        "nearly symmetric": one * [1.0, 1.0 + 1e-9, 1.7],
        "flat": one * [1.0, 2.0, 3.0],
        "rod": one * [0.0, 1.0, 1.0],
        "slender": one * [1e-9, 1.0, 1.0],
        "tiny": 1e-150 * (1 + rng.uniform(0, 1, (200, 3))),
        "huge": 1e150 * (1 + rng.uniform(0, 1, (200, 3))),
    }


@pytest.mark.parametrize("name", families())
def test_principal_axes(name: str) -> None:
    moments = families()[name]
    tensor = tensors(moments)
    body = ph.RigidBody(tensor)
    largest = np.abs(body.moments).max(axis=-1)
    gram = np.swapaxes(body.axes, -1, -2) @ body.axes
    tol.within("bodies.axes.orthogonality", np.abs(gram - np.eye(3)).max() / EPS)
    tol.within("bodies.axes.determinant", np.abs(np.linalg.det(body.axes) - 1) / EPS)
    off = tensor @ body.axes - body.axes * body.moments[:, None, :]
    tol.within("bodies.axes.residual", np.abs(off).max(axis=(-1, -2)) / (EPS * largest))
    error = np.abs(np.sort(body.moments) - np.sort(moments)).max(axis=-1)
    tol.within("bodies.moments.of_turned", error / (EPS * largest))
    np.testing.assert_array_equal(body.tensor, tensor)


def test_error_of_moments() -> None:
    mp.mp.dps = 40
    for tensor in tensors(1 + np.random.default_rng(3).uniform(0, 1, (40, 3)), seed=4):
        exact = sorted(mp.eigsy(mp.matrix(tensor.tolist()), eigvals_only=True))
        moments = ph.RigidBody(tensor).moments
        pairs = zip(exact, np.sort(moments), strict=True)
        error = max(abs(a - mp.mpf(float(b))) for a, b in pairs)
        tol.within("bodies.moments", float(error / moments.max()) / EPS)


def test_axes_are_the_nearest_among_permutations_and_signs() -> None:
    body = ph.RigidBody(tensors(1 + np.random.default_rng(6).uniform(0, 1, (400, 3)), seed=7))
    largest = np.full(400, -1.0)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product([1.0, -1.0], repeat=3):
            other = body.axes[:, :, list(order)] * signs
            trace = np.trace(other, axis1=1, axis2=2)
            largest = np.where(np.linalg.det(other) > 0, np.maximum(largest, trace), largest)
    close(np.trace(body.axes, axis1=1, axis2=2), largest, atol=4 * EPS)


def test_a_small_rotation_keeps_the_order_of_the_moments() -> None:
    # Also if moments are passed to `polhode.step` in the axes of the tensor.
    axes = so3.to_matrix(so3.exp([1e-3, -2e-3, 1e-3]))
    for moments in itertools.permutations([1.0, 1.5, 2.2]):
        body = ph.RigidBody(axes @ np.diag(moments) @ axes.T)
        close(body.moments, moments, atol=8 * EPS)
        close(body.axes, axes, atol=16 * EPS)
        plain = ph.step(ph.RigidBody(np.diag(moments)).moments, [0.3, 0.5, 0.8], IDENTITY, 0.7)
        for got, want in zip(plain, ph.step(moments, [0.3, 0.5, 0.8], IDENTITY, 0.7), strict=True):
            np.testing.assert_array_equal(got, want)


def test_small_moments_of_graded_tensors_keep_their_digits() -> None:
    # D B D with B of unit diagonal and well conditioned: each moment within some eps of itself,
    # where a method that is only backward stable has lost 1e-12 and 1e-24 of the largest.
    mp.mp.dps = 60
    scale = np.array([1.0, 1e-6, 1e-12])
    inner = np.array([[1.0, 0.3, -0.2], [0.3, 1.0, 0.4], [-0.2, 0.4, 1.0]])
    tensor = scale[:, None] * inner * scale
    exact = sorted(mp.eigsy(mp.matrix(tensor.tolist()), eigvals_only=True))
    from polhode import _core

    moments, _ = _core.symmetric_eigen(tensor)
    for a, b in zip(exact, np.sort(moments), strict=True):
        tol.within("bodies.moments.graded", float(abs(mp.mpf(float(b)) / a - 1)) / EPS)


def test_diagonal_tensors_give_entries_and_axes_exactly() -> None:
    for diagonal in [*itertools.permutations([1.1, 2.2, 3.3]), (2.5, 2.5, 2.5), (1.0, 0.0, 1.0)]:
        body = ph.RigidBody(np.diag(diagonal))
        np.testing.assert_array_equal(body.moments, diagonal)
        np.testing.assert_array_equal(body.axes, np.eye(3))


def test_scaling_by_powers_of_two_is_exact() -> None:
    tensor = tensors(families()["generic"])
    body = ph.RigidBody(tensor)
    for exponent in (-498, 498):
        scaled = ph.RigidBody(np.ldexp(tensor, exponent))
        assert scaled.moments.tobytes() == np.ldexp(body.moments, exponent).tobytes()
        assert scaled.axes.tobytes() == body.axes.tobytes()


def test_a_tensor_does_not_depend_on_its_neighbours() -> None:
    every = np.concatenate([tensors(moments[:3]) for moments in families().values()])
    body = ph.RigidBody(every)
    for i in range(len(every)):
        alone = ph.RigidBody(every[i])
        assert alone.moments.tobytes() == body.moments[i].tobytes()
        assert alone.axes.tobytes() == body.axes[i].tobytes()
    assert ph.RigidBody(every[::-1]).axes[::-1].tobytes() == body.axes.tobytes()


def test_zero_of_a_rod_comes_out_of_rounding_as_zero() -> None:
    rng = np.random.default_rng(5)
    u = rng.standard_normal((2000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    body = ph.RigidBody(0.3 * (np.eye(3) - u[:, :, None] * u[:, None, :]))
    assert (body.moments.min(axis=1) == 0).all()
    axis = np.take_along_axis(body.axes, body.moments.argmin(axis=1)[:, None, None], axis=2)
    close(np.abs(np.sum(axis[:, :, 0] * u, axis=1)), 1, atol=8 * EPS)
    # A slender body is not a rod: twice the width of that zero, and any width if it is diagonal.
    slender = tensors(np.array([[32 * EPS, 1.0, 1.0]]))
    assert ph.RigidBody(slender).moments.min() > 0
    assert ph.RigidBody(np.diag([1.0, 5 * EPS, 1.0])).moments[1] == 5 * EPS
    assert ph.RigidBody(np.diag([1.0, 4 * EPS, 1.0])).moments[1] == 0


def test_rod_at_45_degrees() -> None:
    # Public case I07 (isaac-sim urdf-importer-extension issue 2).
    body = ph.RigidBody([[0.1, 0.1, 0], [0.1, 0.1, 0], [0, 0, 0.2]])
    close(np.sort(body.moments), [0, 0.2, 0.2], atol=1e-16)
    axis = body.axes[:, body.moments.argmin()]
    close(np.abs(axis), [0.5**0.5, 0.5**0.5, 0], atol=1e-15)
    assert axis[0] * axis[1] < 0
    close(body.omega([0.1, 0.1, 0]), [0.5, 0.5, 0], atol=1e-14)
    m, q = body.step([0.1, 0.1, 0.0], IDENTITY, 3.0)
    expected = [0.4882960708991749564, 0.617076554061336827, 0.617076554061336827, 0]
    close(q, expected, atol=1e-14)
    close(m, [0.1, 0.1, 0], atol=1e-15)
    for act in (body.omega, body.energy, lambda m: body.step(m, IDENTITY, 1.0)):
        with pytest.raises(ValueError, match="zero"):
            act([0.1, -0.1, 0.0])


def test_products_of_inertia_have_the_tensors_sign() -> None:
    # Public case I08 (jsbsim issue 235, trimesh pull 1074, jsk_aerial_robot pull 511).
    points = [[1, 0.5, 0], [-1, -0.5, 0], [0, 0, 1], [0, 0, -1]]
    body = ph.RigidBody.from_points([1, 1, 2, 2], points)
    np.testing.assert_array_equal(body.tensor, [[4.5, -1, 0], [-1, 6, 0], [0, 0, 2.5]])
    close(body.moments, [4.0, 6.5, 2.5], rtol=2 * EPS)
    smallest_of_the_plane = body.axes[:, 0] / body.axes[0, 0]
    close(smallest_of_the_plane, [1, 0.5, 0], atol=4 * EPS)
    m0 = body.momentum([0.1, 1.0, 0.2])
    close(m0, [-0.55, 5.9, 0.5], rtol=1e-15)
    m, q = body.step(m0, IDENTITY, 5.0)
    expected_m = [-3.9336265874452473110, 4.3373425490969856126, 1.0375651701636505780]
    expected_q = [
        -0.68204987155384744592,
        -0.23383563195184048989,
        0.61568501878976107185,
        0.31790065677962219566,
    ]
    close(m, expected_m, rtol=1e-13)
    sign = np.sign(q[0] * expected_q[0])  # the case's values are up to sign
    close(sign * q, expected_q, atol=1e-13)
    far = ph.RigidBody.from_points([1, 1, 2, 2], np.add(points, [1e3, -2e3, 5e2]))
    close(far.tensor, body.tensor, atol=1e-12)


@pytest.mark.parametrize(
    "moments",
    [
        [0.000245, 0.000248, 0.000006],  # public case I02 (drake issue 16058)
        [1, 2, 3],  # public case I05 (basilisk pull 1527), to here and below
        [1, 2, 3.0000000000000004],
        [0, 2, 2],
        [-1e-18, 2, 2],
        [1, 2, 3 * (1 + 0.9e-9)],
    ],
)
def test_bodies_on_the_boundary_are_accepted(moments: list[float]) -> None:
    diagonal = ph.RigidBody(np.diag(moments))
    close(diagonal.moments, moments, atol=1e-17)
    ph.RigidBody.from_moments(moments)
    turned = rotations(1)[0]
    body = ph.RigidBody(turned @ np.diag(moments) @ turned.T)
    close(np.sort(body.moments), np.sort(moments), atol=9 * EPS * max(moments))


@pytest.mark.parametrize(
    ("moments", "message"),
    [
        ([1, 1, 3], "sum of the other two"),  # public case I05
        ([1, 2, 3 * (1 + 1.2e-9)], "sum of the other two"),
        ([np.nan, 1, 1], "finite"),
        ([0, 0, 0], "all moments"),
        ([0, 0, 1], "sum of the other two"),
        ([-0.0012366, -0.0011895, 0.0003312], "negative"),  # public case I11
        ([0, 1, 2], "equal"),
    ],
)
def test_what_is_no_body_is_refused(moments: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ph.RigidBody.from_moments(moments)
    with pytest.raises(ValueError, match=message):
        ph.RigidBody(np.diag(moments))
    with pytest.raises(ValueError, match=r"\[2\]"):
        ph.RigidBody([np.eye(3), np.eye(3), np.diag(moments)])


def test_not_physical_bodies_on_demand() -> None:
    moments = [1, 1.0127, 3.3062]
    with pytest.raises(ValueError, match="physical=False"):
        ph.RigidBody.from_moments(moments)
    np.testing.assert_array_equal(ph.RigidBody(np.diag(moments), physical=False).moments, moments)


def test_limits_follow_the_type_of_the_input() -> None:
    # Tensors, plates and rods whose arithmetic was float32; in float64 they are refused.
    R = rotations(200, 31).astype(np.float32)
    for kind in ([1.0, 1.4, 1.9], [1.0, 1.5, 2.5], [0.0, 1.7, 1.7]):
        tensor = (R * np.array(kind, np.float32)) @ np.swapaxes(R, 1, 2)
        assert tensor.dtype == np.float32
        body = ph.RigidBody(tensor)
        close(np.sort(body.moments), np.broadcast_to(kind, (200, 3)), atol=2e-6)
        assert (body.moments.min(axis=1) == 0).all() == (kind[0] == 0)
        with pytest.raises(ValueError, match="not symmetric"):
            ph.RigidBody(tensor.astype(np.float64))
        with pytest.raises(ValueError, match="not symmetric"):
            ph.RigidBody(tensor + np.float32(1e-4) * np.triu(np.ones((3, 3), np.float32), 1))
        if kind[0] == 0:  # the momenta of rods too
            omega = np.random.default_rng(34).standard_normal((200, 3))
            m = (tensor @ omega.astype(np.float32)[..., None])[..., 0]
            assert np.isfinite(body.step(m, IDENTITY, 0.1)[0]).all()
            with pytest.raises(ValueError, match="moment of inertia is zero"):
                body.step(m.astype(np.float64), IDENTITY, 0.1)
    ph.RigidBody.from_moments(np.array([1, 2, 3.000005], np.float32))
    with pytest.raises(ValueError, match="sum of the other two"):
        ph.RigidBody.from_moments([1, 2, 3.000005])


def test_declared_rods_and_plates() -> None:
    turn = rotations(1, 32)[0]
    rod = ph.RigidBody(turn @ np.diag([2e-4, 1.0, 1.0001]) @ turn.T, linear=True)
    axis = rod.axes[:, rod.moments.argmin()]
    close(np.sort(rod.moments), [0.0, 1.00005, 1.00005], atol=4 * EPS)
    close(rod.tensor @ axis, np.zeros(3), atol=4 * EPS)
    # Momentum about the axis is dropped, everywhere.
    side = np.cross(axis, [0.3, 0.5, 0.8])
    spun = side + 0.1 * axis
    for act in (
        lambda m: rod.step(m, IDENTITY, 0.3)[1],
        lambda m: rod.motion(m, IDENTITY)(0.3)[1],
        lambda m: rod.integrate(m, IDENTITY, 0.1, 3).q[-1],
        rod.omega,
        rod.energy,
    ):
        close(act(spun), act(side), atol=16 * EPS)
    below = ph.RigidBody([[-1e-5, 1e-6, 0.0], [1e-6, 1.0, 0.0], [0.0, 0.0, 1.0]], linear=True)
    close(np.sort(below.moments), [0.0, 1.0, 1.0], atol=1e-11)  # the least was negative
    aligned = ph.RigidBody.from_moments([1.0, 1e-5, 1.0], linear=True)
    np.testing.assert_array_equal(aligned.moments, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(aligned.step([0.1, 5.0, 0.2], IDENTITY, 0.3)[0][1], 0.0)
    plate = ph.RigidBody(turn @ np.diag([1.0, 1.5, 2.5005]) @ turn.T, planar=True)
    close(np.sort(plate.moments), [1.0, 1.5, 2.5], atol=8 * EPS)
    for kind, moments in (("linear", [0.1, 1, 1]), ("linear", [0, 1, 1.1]), ("planar", [1, 1, 1])):
        with pytest.raises(ValueError, match=f"moments = .*not the moments of a {kind} body"):
            ph.RigidBody.from_moments(moments, **{kind: True})
    with pytest.raises(ValueError, match="linear or planar"):
        ph.RigidBody(np.eye(3), linear=True, planar=True)


def test_axes_as_a_rotation() -> None:
    q = np.random.default_rng(33).standard_normal((5, 4))
    by_matrix = ph.RigidBody.from_moments([1.0, 1.5, 2.2], so3.to_matrix(q))
    by_quaternion = ph.RigidBody.from_moments([1.0, 1.5, 2.2], 3.0 * q)
    close(by_quaternion.tensor, by_matrix.tensor, atol=8 * EPS)
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    by_scipy = ph.RigidBody.from_moments([1.0, 1.5, 2.2], rotation.from_quat(q[:, [1, 2, 3, 0]]))
    close(by_scipy.tensor, by_matrix.tensor, atol=8 * EPS)
    with pytest.raises(ValueError, match=r"axes\[1\] = .*zero"):
        ph.RigidBody.from_moments([1.0, 1.5, 2.2], [IDENTITY, [0, 0, 0, 0]])


def test_indefinite_and_asymmetric_tensors_are_refused() -> None:
    # Public case I11 (robot_descriptions issue 29): six numbers in the wrong slots.
    wrong = [[16616.493, -2240.0581, 0], [-2240.0581, -2240.0581, 16616.324], [0, 16616.324, 0]]
    with pytest.raises(ValueError, match=r"-17851\.90.*negative"):
        ph.RigidBody(wrong)
    with pytest.raises(ValueError, match=r"\[1\].*-17851\.90.*negative"):
        ph.RigidBody([np.eye(3), wrong])
    tensor = np.array([[4.5, -1.0, 0.0], [-1.0, 6.0, 0.0], [0.0, 0.0, 2.5]])
    tensor[0, 1] += 0.9e-9 * 6
    body = ph.RigidBody(tensor)
    assert body.tensor[0, 1] == body.tensor[1, 0]
    tensor[0, 1] += 0.2e-9 * 6
    with pytest.raises(ValueError, match="symmetric"):
        ph.RigidBody(tensor)
    with pytest.raises(ValueError, match=r"tensor\[1\].*finite"):
        ph.RigidBody([np.eye(3), np.diag([1, np.inf, 1])])
    with pytest.raises(ValueError, match=r"\.\.\., 3, 3"):
        ph.RigidBody([1, 2, 3])


def test_moments_and_axes_as_given() -> None:
    axes = rotations(5)
    body = ph.RigidBody.from_moments([3.0, 1.0, 2.5], axes)
    assert body.shape == (5,)
    np.testing.assert_array_equal(body.moments, np.broadcast_to([3.0, 1.0, 2.5], (5, 3)))
    close(body.axes, axes, atol=8 * EPS)
    again = ph.RigidBody(body.tensor)
    close(np.sort(again.moments[0]), [1.0, 2.5, 3.0], rtol=8 * EPS)
    # Left-handed triads, such as numpy.linalg.eigh may give, and ones off by 1e-6.
    mirrored = ph.RigidBody.from_moments([3.0, 1.0, 2.5], axes * [1, 1, -1])
    close(mirrored.axes, axes, atol=8 * EPS)
    rough = ph.RigidBody.from_moments([3.0, 1.0, 2.5], axes * (1 + 1e-6))
    close(rough.axes, axes, atol=8 * EPS)
    with pytest.raises(ValueError, match=r"axes.*orthonormal"):
        ph.RigidBody.from_moments([3.0, 1.0, 2.5], 1.1 * axes)
    with pytest.raises(ValueError, match="read-only"):
        body.moments[0] = 1


@pytest.mark.parametrize(("mass_size", "size"), [(1.0, 1.0), (1e-27, 1e-10), (1e-40, 1e-50)])
def test_point_masses(mass_size: float, size: float) -> None:
    rng = np.random.default_rng(8)
    mass = mass_size * rng.uniform(1, 2, 7)
    r = size * rng.standard_normal((7, 3))
    tensor = ph.RigidBody.from_points(mass, r).tensor
    weights = [Fraction(float(a)) for a in mass]
    exact = [[Fraction(float(c)) for c in point] for point in r]
    total = sum(weights)
    centre = [sum(w * p[k] for w, p in zip(weights, exact, strict=True)) / total for k in range(3)]
    arms = [[p[k] - centre[k] for k in range(3)] for p in exact]
    for i in range(3):
        for j in range(3):
            sum_ = sum(
                w * ((sum(a * a for a in p) if i == j else 0) - p[i] * p[j])
                for w, p in zip(weights, arms, strict=True)
            )
            # Seven terms of three roundings each, in sums that cancel in part.
            assert abs(Fraction(float(tensor[i, j])) - sum_) < 8 * EPS * float(tensor.max())


def test_point_masses_at_the_edges() -> None:
    rng = np.random.default_rng(9)
    u = rng.standard_normal((50, 1, 3))
    points = rng.uniform(-1, 1, (50, 1000, 1)) * u + rng.standard_normal((50, 1, 3))
    line = ph.RigidBody.from_points(np.ones(1000), points)
    assert (line.moments.min(axis=1) == 0).all()
    dumbbell = ph.RigidBody.from_points(1.0, [[0, 0, 1.0], [0, 0, -1.0]])
    np.testing.assert_array_equal(dumbbell.moments, [2, 2, 0])
    # A mass of zero weighs nothing.
    with_none = ph.RigidBody.from_points([1, 1, 0], [[0, 0, 1.0], [0, 0, -1.0], [5, 5, 5]])
    np.testing.assert_array_equal(with_none.tensor, dumbbell.tensor)
    for far in (1e170, 1e300, -1.7e308):
        with_none = ph.RigidBody.from_points([1, 1, 0], [[0, 0, 1.0], [0, 0, -1.0], [far, 5, 5]])
        np.testing.assert_array_equal(with_none.tensor, dumbbell.tensor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="finite"):
            ph.RigidBody.from_points(1.0, [[1e160, 0, 0], [0, 1e160, 0], [0, 0, 1e160]])
    for mass, message in ([[1, -1], "not negative"], [[1, np.nan], "finite"], [[0, 0], "some"]):
        with pytest.raises(ValueError, match=message):
            ph.RigidBody.from_points(mass, [[0, 0, 1.0], [0, 0, -1.0]])
    with pytest.raises(ValueError, match="finite"):
        ph.RigidBody.from_points([1.0, 1.0], [[1.0, 2.0, 3.0], [np.nan, 0, 0]])


def test_motion_in_axes_turned_by_hand() -> None:
    # The law of the class: in any body axes the same motion, given in those axes.
    rng = np.random.default_rng(12)
    moments = 1 + rng.uniform(0, 1, (40, 3))
    axes = rotations(40, 13)
    turn = so3.to_quaternion(axes)
    m = rng.standard_normal((40, 3))
    q = rng.standard_normal((40, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    m_end, q_end = ph.step(moments, m, q, 0.7)
    body = ph.RigidBody.from_moments(moments, axes)
    m_user = np.squeeze(axes @ m[..., None], -1)
    q_user = so3.multiply(q, so3.conjugate(turn))
    m_after, q_after = body.step(m_user, q_user, 0.7)
    close(m_after, np.squeeze(axes @ m_end[..., None], -1), atol=24 * EPS)
    expected = so3.multiply(q_end, so3.conjugate(turn))
    close(q_after, expected, atol=16 * EPS)  # the sign too
    by_tensor = ph.RigidBody(body.tensor)
    m_other, q_other = by_tensor.step(m_user, q_user, 0.7)
    close(m_other, m_after, atol=64 * EPS)
    close(q_other, q_after, atol=64 * EPS)
    m_matrix, matrix = by_tensor.step(m_user, so3.to_matrix(q_user), 0.7)
    np.testing.assert_array_equal(m_matrix, m_other)
    close(matrix, so3.to_matrix(q_other), atol=32 * EPS)
    close(by_tensor.energy(m_after), ph.energy(moments, m), rtol=32 * EPS)
    spatial = ph.momentum_spatial(m_user, q_user)
    close(ph.momentum_spatial(m_after, q_after), spatial, atol=32 * EPS)


def test_principal_body_axes_pass_unchanged() -> None:
    rng = np.random.default_rng(14)
    m, q = rng.standard_normal((20, 3)), rng.standard_normal((20, 4))
    body = ph.RigidBody.from_moments([1.0, 1.5, 2.2])
    for ours, plain in zip(body.step(m, q, 0.3), ph.step([1.0, 1.5, 2.2], m, q, 0.3), strict=True):
        assert ours.tobytes() == plain.tobytes()


def test_many_calls_do_not_drift() -> None:
    # 3000 calls turn to the principal axes and back: errors of rounding add up as a random walk,
    # 4 eps sqrt(3000) = 220 eps; those of the axes, were they to add up, would make 6000 eps.
    body = ph.RigidBody(tensors(np.array([[1.0, 1.5, 2.2]] * 8), seed=15))
    rng = np.random.default_rng(16)
    m = rng.standard_normal((8, 3))
    m /= np.linalg.norm(m, axis=1)[:, None]
    q = np.broadcast_to(np.array(IDENTITY), (8, 4)).copy()
    energy, spatial = body.energy(m), ph.momentum_spatial(m, q)
    for _ in range(3000):
        m, q = body.step(m, q, 0.1)
    assert np.abs(np.linalg.norm(m, axis=1) - 1).max() < 300 * EPS
    assert np.abs(body.energy(m) / energy - 1).max() < 300 * EPS
    assert np.abs(ph.momentum_spatial(m, q) - spatial).max() < 600 * EPS


def test_no_step_changes_nothing() -> None:
    body = ph.RigidBody(tensors(np.array([[1.0, 1.5, 2.2]])))
    m0 = np.array([[0.3, 0.5, 0.8]])
    m, q = body.step(m0, [IDENTITY], 0.0)
    np.testing.assert_array_equal(m, m0)
    close(q, [IDENTITY], atol=2 * EPS)


def test_out_of_a_step() -> None:
    body = ph.RigidBody(tensors(np.array([[1.0, 1.5, 2.2]] * 4)))
    rng = np.random.default_rng(17)
    m, q = rng.standard_normal((4, 3)), rng.standard_normal((4, 4))
    expected = body.step(m, q, 0.3)
    result = body.step(m, q, 0.3, out=(m, q))
    assert result[0] is m
    assert result[1] is q
    for ours, theirs in zip(result, expected, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    with pytest.raises(ValueError, match="shape"):
        body.step(m, q, 0.3, out=(np.empty(3), q))


def test_batches_of_bodies_and_states_broadcast() -> None:
    body = ph.RigidBody(tensors(np.array([[1.0, 1.5, 2.2]] * 4))[:, None])
    assert body.shape == (4, 1)
    m, q = body.step(np.ones((5, 3)), IDENTITY, 0.1)
    assert m.shape == (4, 5, 3)
    assert q.shape == (4, 5, 4)
    empty = ph.RigidBody(np.zeros((0, 3, 3)))
    assert empty.moments.shape == (0, 3)
    single = ph.RigidBody(np.eye(3, dtype=np.float32))
    assert single.moments.dtype == np.float64
    m = np.ones((5, 3))
    m[3, 0] = np.nan
    m, q = body.step(m, IDENTITY, 0.1)
    assert np.isnan(m[:, 3]).all()
    assert np.isfinite(np.delete(m, 3, axis=1)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda body: body.step(np.ones((5, 3)), IDENTITY, 0.1), r"bodies \(2,\), m \(5,\)"),
        (
            lambda body: body.step([0, 0, 0], np.ones((5, 4)), 0.1),
            r"bodies \(2,\), m \(\), q \(5,\)",
        ),
        (lambda body: body.motion(np.ones((5, 3)), IDENTITY), r"inertia \(2,\), m0 \(5,\)"),
        (
            lambda body: body.integrate([0, 0, 0], np.ones((5, 4)), 1, 1),
            r"inertia \(2,\).* q0 \(5,",
        ),
        (lambda body: body.momentum(np.ones((5, 3))), r"bodies \(2,\), omega \(5,\)"),
        (lambda body: body.step([0.3, 0.5, 0.7], IDENTITY, 0.1), r"m\[0\] = \[0.3, 0.5, 0.7\]"),
        (lambda body: body.integrate([0, 0, 0], [0, 0, 0, 0], 0.1, 1), "q0 = .* zero quaternion"),
        (lambda body: ph.RigidBody(body.moments[0]), "RigidBody.from_moments takes moments"),
        (lambda body: ph.RigidBody.from_points([1, 1], np.eye(3)), r"mass \(2,\), points \(3,\)"),
        (lambda body: ph.RigidBody.from_moments(body.moments, body.axes[[0, 1, 1]]),
         r"moments \(2,\), axes \(3,\)"),
    ],
)  # fmt: skip
def test_messages_name_the_users_arguments(
    call: Callable[[ph.RigidBody], Any], message: str
) -> None:
    """Two linear molecules along (0.3, 0.5, 0.7)."""
    atoms = np.outer([1.16, 0.0, -1.16], [0.3, 0.5, 0.7])
    with pytest.raises(ValueError, match=message):
        call(ph.RigidBody.from_points([16.0, 12.0, 16.0], [atoms, atoms]))


def skew_body() -> tuple[ph.RigidBody, Array]:
    axes = rotations(1, 21)[0]
    return ph.RigidBody.from_moments([1.0, 1.5, 2.2], axes), axes


def test_closed_form_in_the_users_axes_is_the_step() -> None:
    body, _ = skew_body()
    rng = np.random.default_rng(22)
    m0, q0 = rng.standard_normal((6, 3)), rng.standard_normal((6, 4))
    q0 /= np.linalg.norm(q0, axis=1)[:, None]
    motion = body.motion(m0, q0)
    times = np.array([0.0, 0.3, -2.0, 7.0])[:, None]
    m, q = motion(times)
    assert m.shape == (4, 6, 3)
    assert motion.period.shape == (6,)
    m_step, q_step = body.step(m0, q0, times)
    close(m, m_step, atol=400 * EPS)  # 7 time units turn by up to 20 radians
    close(q, q_step, atol=400 * EPS)


def test_closed_form_has_what_that_of_principal_axes_has() -> None:
    body, axes = skew_body()
    rng = np.random.default_rng(23)
    m0, q0 = rng.standard_normal((6, 3)), np.array(IDENTITY)
    motion = body.motion(m0, q0)
    principal = ph.TorqueFreeMotion(body.moments, m0 @ axes, q0)
    assert motion.shape == principal.shape == (6,)
    close(motion.period, principal.period, rtol=1e-13)
    assert (motion.regime == principal.regime).all()
    assert repr(motion) == "<TorqueFreeMotion: (6,) bodies>"
    # It stores the given values.
    times = np.array([0.5, 2.0])[:, None]
    m, q = motion(times)
    m0[:] = 0.0
    np.testing.assert_array_equal(motion(times)[0], m)
    out = np.empty((2, 6, 3)), np.empty((2, 6, 4))
    again = motion(times, out=out, threads=2)
    assert again[0] is out[0]
    assert again[1] is out[1]
    np.testing.assert_array_equal(out[0], m)
    np.testing.assert_array_equal(out[1], q)
    with pytest.raises(ValueError, match="shape"):
        motion(times, out=(np.empty((6, 3)), out[1]))
    # In principal axes it is the same motion, bit for bit.
    aligned = ph.RigidBody.from_moments([1.0, 1.5, 2.2]).motion([0.3, 0.5, 0.8], q0)
    direct = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], q0)
    for one, two in zip(aligned(times), direct(times), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_arrays_of_a_copy_are_read_only(copied: Callable[[Any], Any]) -> None:
    body, _ = skew_body()
    for one in (body, copied(body)):
        for name in ("moments", "axes", "tensor"):
            assert not getattr(one, name).flags.writeable


@pytest.mark.parametrize("matrix", [False, True])
def test_torque_acts_in_the_users_axes(matrix: bool) -> None:
    body, axes = skew_body()
    m0, u0, axis = np.array([0.3, 0.5, 0.8]), np.array([0.3, -0.4, 1.0]), np.array([0.1, 0.2, 0.9])
    q0 = np.eye(3) if matrix else np.array(IDENTITY)
    options = {"save_every": 10, "splitting": "rkn6_14"}
    by_model = body.integrate(m0, q0, 0.01, 100, torque=ph.torques.HeavyTop(u0, axis), **options)

    def pull(t: float, attitude: Array) -> Array:
        if matrix:
            return np.cross(np.swapaxes(attitude, -1, -2) @ u0, axis)
        return np.cross(so3.rotate(so3.conjugate(attitude), u0), axis)

    by_function = body.integrate(m0, q0, 0.01, 100, torque=pull, **options)
    principal = ph.integrate(
        body.moments,
        axes.T @ m0,
        axes if matrix else so3.to_quaternion(axes),
        0.01,
        100,
        torque=ph.torques.HeavyTop(u0, axes.T @ axis),
        **options,
    )
    # A hundred steps, each with separate rounding errors in the turned torque.
    for trajectory in (by_model, by_function):
        close(trajectory.m, principal.m @ axes.T, atol=100 * EPS)
    if matrix:
        close(by_model.q, principal.q @ axes.T, atol=100 * EPS)
    else:
        back = so3.conjugate(so3.to_quaternion(axes))
        close(by_model.q, so3.multiply(principal.q, back), atol=100 * EPS)
    close(by_model.energy(), principal.energy(), atol=100 * EPS)
    same(by_model.axes, body.axes)


def test_callback_and_a_broken_torque_see_the_users_axes() -> None:
    body, _ = skew_body()
    m0 = np.array([0.3, 0.5, 0.8])
    seen = []
    whole = body.integrate(
        m0, IDENTITY, 0.1, 4, callback=lambda step, t, m, q: seen.append((m.copy(), q.copy()))
    )
    for k, (m, q) in enumerate(seen):
        np.testing.assert_array_equal(m, whole.m[k])
        np.testing.assert_array_equal(q, whole.q[k])

    def broken(t: float, attitude: Array) -> Array:
        if t > 0.05:
            raise RuntimeError("broken")
        return np.zeros(3)

    with pytest.raises(RuntimeError, match="broken") as raised:
        body.integrate(m0, IDENTITY, 0.01, 100, torque=broken)
    np.testing.assert_array_equal(raised.value.trajectory.m[0], m0)


def test_a_zero_quaternion_is_refused_in_any_axes() -> None:
    body = ph.RigidBody([[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]])
    m, q = np.ones((2, 3)), np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for call in (
        lambda: body.step(m, q, 0.1),
        lambda: body.motion(m, q),
        lambda: body.integrate(m, q, 0.1, 1),
    ):
        with pytest.raises(ValueError, match=r"q0?\[1\] = \[0.0, .*: a zero quaternion"):
            call()


START = ([0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])
SKEW = [[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.0]]


@pytest.mark.parametrize("name", ["step", "motion", "integrate"])
def test_a_matrix_that_is_not_a_rotation_is_refused_in_any_axes(name: str) -> None:
    """Before it is projected."""
    steps: tuple[Any, ...] = {"step": (0.1,), "motion": (), "integrate": (0.1, 1)}[name]
    Q = np.diag([1.001, 1.0, 1.0])
    with pytest.raises(ValueError, match="not a rotation"):
        getattr(ph.RigidBody(SKEW), name)(START[0], Q, *steps)


def test_two_kicks_one_after_another_in_any_axes() -> None:
    """The second kick finds the torque of the first, which has joined the step before."""
    how: dict[str, Any] = {"torque": ph.torques.HeavyTop([0.2, -0.1, 0.4])}
    stages = (("kick", 0.3, 0.0), ("kick", 0.2, 0.0), ("flow", 1.0, 0.0), ("kick", 0.5, 0.0))
    twice = ph.Splitting("two kicks", 2, "", (), False, {}, "", False, stages)
    body = ph.RigidBody(SKEW)
    got = body.integrate(*START, 0.1, 20, splitting=twice, **how)
    want = body.integrate(*START, 0.1, 20, splitting="strang", **how)
    close(got.m, want.m, atol=1e-14)


@pytest.mark.parametrize("method", ["exact", "trapm"])
def test_moments_of_each_body_under_a_torque_of_the_whole_batch(method: str) -> None:
    """Bodies beside whole packs: the same bits alone and among others."""
    inertia = np.linspace(1.0, 2.0, 33).reshape(11, 3)
    m0 = np.linspace(0.2, 0.9, 33).reshape(11, 3)
    how: dict[str, Any] = {"method": method, "torque": lambda m: -0.1 * m}
    how["splitting"] = "strang" if method == "exact" else None
    batch = ph.integrate(inertia, m0, START[1], 0.1, 5, **how)
    for i in (0, 8, 10):
        one = ph.integrate(inertia[i], m0[i], START[1], 0.1, 5, **how)
        same(one.m, batch.m[:, i])


def test_a_position_in_single_precision_near_the_plane() -> None:
    """What the constructor takes, the integration takes."""
    p, n = np.array([1.0, 0.0, 1e-7], np.float32), np.array([0.0, 0.0, 1.0], np.float32)
    torque = ph.torques.GravityGradient(1e-3, position=p, normal=n)
    ph.integrate([1.0, 2.0, 2.5], *START, 0.1, 2, torque=torque)

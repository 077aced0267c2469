"""Rotations: tables against mpmath, laws, and the half turns that break other libraries."""

import mpmath as mp
import numpy as np
import pytest
import tolerances as tol
from compare import close, same
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp
from tolerances import EPS

from polhode import so3

SQRT_HALF = 0.7071067811865476
Array = NDArray[np.float64]


def mp_unit(q: Array) -> list[mp.mpf]:
    exact = [mp.mpf(float(c)) for c in q]
    norm = mp.sqrt(sum(c * c for c in exact))
    return [c / norm for c in exact]


def mp_matrix(q: list[mp.mpf]) -> list[list[mp.mpf]]:
    w, x, y, z = q
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def eps_off(exact: list[mp.mpf], computed: Array) -> float:
    pairs = zip(exact, np.ravel(computed), strict=True)
    return max(float(abs(a - mp.mpf(float(b))) / EPS) for a, b in pairs)


def quaternions(count: int = 60) -> Array:
    """Generic, near 1, near -1, near half turns, and of sizes 1e-300 and 1e300."""
    rng = np.random.default_rng(7)
    near_one = rng.standard_normal((count, 4))
    near_one[:, 1:] *= 10.0 ** rng.uniform(-300, 0, (count, 1))
    near_half = rng.standard_normal((count, 4))
    near_half[:, 0] *= 10.0 ** rng.uniform(-300, 0, count)
    near_minus_one = near_one.copy()
    near_minus_one[:, 0] = -np.abs(near_one[:, 0])
    return np.concatenate(
        [
            rng.standard_normal((count, 4)),
            near_one,
            near_minus_one,
            near_half,
            1e300 * rng.standard_normal((count, 4)),
            1e-300 * rng.standard_normal((count, 4)),
            np.eye(4),
            -np.eye(4),
        ]
    )


@pytest.fixture(autouse=True)
def digits() -> None:
    mp.mp.dps = 40


def test_entries_of_to_matrix() -> None:
    q = quaternions()
    matrices = so3.to_matrix(q)
    for one, matrix in zip(q, matrices, strict=True):
        exact = [c for line in mp_matrix(mp_unit(one)) for c in line]
        tol.within("so3.to_matrix", eps_off(exact, matrix))
    gram = np.swapaxes(matrices, -1, -2) @ matrices
    tol.within("so3.to_matrix.orthogonality", np.abs(gram - np.eye(3)).max() / EPS)


def test_to_quaternion_of_a_rotation() -> None:
    for one in quaternions():
        unit = mp_unit(one)
        exact = mp_matrix(unit)
        q = so3.to_quaternion([[float(entry) for entry in line] for line in exact])
        sign = 1 if sum(a * mp.mpf(float(b)) for a, b in zip(unit, q, strict=True)) > 0 else -1
        tol.within("so3.to_quaternion", eps_off([sign * c for c in unit], q))
        assert q[0] >= 0


def test_relative_error_of_log() -> None:
    for one in quaternions():
        w, *v = mp_unit(one)
        size = mp.sqrt(sum(c * c for c in v))
        if size == 0:
            continue
        angle = 2 * mp.atan2(size, w)
        direction = [c / size for c in v]
        computed = [mp.mpf(float(c)) / angle for c in so3.log(one)]
        error = max(abs(a - b) for a, b in zip(direction, computed, strict=True))
        tol.within("so3.log", float(error) / EPS)


def test_error_of_exp() -> None:
    rng = np.random.default_rng(3)
    v = rng.standard_normal((200, 3))
    v /= np.linalg.norm(v, axis=1)[:, None]
    v *= 10.0 ** np.concatenate([rng.uniform(-300, 0, 100), rng.uniform(0, 6, 100)])[:, None]
    v = np.concatenate([v, 2 * np.pi * np.eye(3), np.pi * np.eye(3)])
    for one, q in zip(v, so3.exp(v), strict=True):
        exact = [mp.mpf(float(c)) for c in one]
        size = mp.sqrt(sum(c * c for c in exact))
        unit = [mp.cos(size / 2)] + [mp.sin(size / 2) * c / size for c in exact]
        # |v| comes rounded by half an eps of itself, which is a quarter of it in the half angle.
        tol.within("so3.exp", eps_off(unit, q) / (1 + float(size) / 8))
        if size < 1:  # a small turn keeps its digits, however small
            computed = [mp.mpf(float(c)) / size for c in q[1:]]
            error = max(abs(a / size - b) for a, b in zip(unit[1:], computed, strict=True))
            tol.within("so3.exp.small", float(error) / EPS)


def test_error_of_rotate() -> None:
    q = quaternions()
    rng = np.random.default_rng(5)
    v = rng.standard_normal((len(q), 3)) * 10.0 ** rng.uniform(-300, 300, (len(q), 1))
    for one, vector, turned in zip(q, v, so3.rotate(q, v), strict=True):
        matrix = mp_matrix(mp_unit(one))
        exact = [mp.mpf(float(c)) for c in vector]
        size = mp.sqrt(sum(c * c for c in exact))
        image = [sum(a * b for a, b in zip(line, exact, strict=True)) / size for line in matrix]
        scaled = [mp.mpf(float(c)) / size for c in turned]
        error = max(abs(a - b) for a, b in zip(image, scaled, strict=True))
        tol.within("so3.rotate", float(error) / EPS)


def test_error_of_multiply() -> None:
    rng = np.random.default_rng(6)
    p, q = rng.standard_normal((2, 100, 4))
    for a, b, product in zip(p, q, so3.multiply(p, q), strict=True):
        exact = mp_product(*([mp.mpf(float(c)) for c in x] for x in (a, b)))
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        tol.within("so3.multiply", eps_off(exact, product) / lengths)


def mp_product(a: list[mp.mpf], b: list[mp.mpf]) -> list[mp.mpf]:
    """Hamilton product."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
    ]


def mp_between(p: list[mp.mpf], q: list[mp.mpf]) -> tuple[mp.mpf, list[mp.mpf]]:
    """Angle, 0 to pi, and axis of p^-1 q."""
    w, *v = mp_product([p[0], -p[1], -p[2], -p[3]], q)
    size = mp.sqrt(sum(c * c for c in v))
    sign = -1 if w < 0 else 1
    return 2 * mp.atan2(size, sign * w), [sign * c / size if size else mp.mpf(0) for c in v]


def pairs() -> list[tuple[Array, Array]]:
    """Of all sizes and directions; of distances from 1e-200 to pi, and nearly opposite."""
    rng = np.random.default_rng(8)
    q = quaternions(20)
    listed = list(zip(q, rng.permutation(q), strict=True))
    for distance in (1e-200, 1e-17, 1e-9, 1e-4, 0.1, 3.0, np.pi - 1e-9, 2 * np.pi - 1e-9):
        p = so3.normalize(rng.normal(size=4))
        turn = so3.exp(distance * rng.normal(size=3) / 2)
        listed += [(p, so3.multiply(p, turn)), (-p, so3.multiply(p, turn)), (np.eye(4)[0], turn)]
    return listed


def test_error_of_normalize() -> None:
    for one in quaternions():
        tol.within("so3.normalize", eps_off(mp_unit(one), so3.normalize(one)))


def test_error_of_angle_between() -> None:
    for p, q in pairs():
        angle, _ = mp_between(mp_unit(p), mp_unit(q))
        error = abs(mp.mpf(float(so3.angle_between(p, q))) - angle) / (1 + angle)
        tol.within("so3.angle_between", float(error) / EPS)
        assert so3.angle_between(p, q) == so3.angle_between(-p, q) == so3.angle_between(q, p)


def test_angle_between_keeps_the_digits_of_small_angles() -> None:
    for size in (1e-300, 1e-160, 1e-20, 1e-9):
        turn = so3.exp([0.0, 0.6 * size, -0.8 * size])
        close(so3.angle_between([1.0, 0, 0, 0], turn), size, rtol=4 * EPS)
        close(so3.angle_between([-2.0, 0, 0, 0], turn), size, rtol=4 * EPS)
    q = quaternions()
    same(so3.angle_between(q, q), np.zeros(len(q)))
    same(so3.angle_between(q, -q), np.zeros(len(q)))
    close(so3.angle_between([1.0, 0, 0, 0], [0.0, 0, 0, 3.0]), np.pi, rtol=2 * EPS)


def test_error_of_slerp() -> None:
    for p, q in pairs():
        start, end = mp_unit(p), mp_unit(q)
        angle, axis = mp_between(start, end)
        if abs(angle - mp.pi) < 1e-12:
            continue  # either way
        for s in (0.0, 0.3, 0.5, 1.0, -2.0, 5.0):
            half = mp.mpf(s) * angle / 2
            turn = [mp.cos(half), *(mp.sin(half) * c for c in axis)]
            error = eps_off(mp_product(start, turn), so3.slerp(p, q, s)) / (1 + abs(s))
            tol.within("so3.slerp", error)


def test_slerp_at_its_ends() -> None:
    q = quaternions()
    p = np.roll(q, 1, axis=0)
    same(so3.slerp(p, q, 0.0), so3.normalize(p))
    for other in (p, -p):  # equal and opposite: no way to go
        for s in (0.0, 0.7, 1.0):
            close(so3.slerp(p, other, s), so3.normalize(p), atol=4 * EPS)
    half_turn = so3.slerp([1.0, 0, 0, 0], [0.0, 0, 1.0, 0], [0.5, 1.0])
    close(half_turn, [[SQRT_HALF, 0, SQRT_HALF, 0], [0, 0, 1, 0]], atol=2 * EPS)


def test_slerp_is_that_of_scipy() -> None:
    rng = np.random.default_rng(9)
    p, q = rng.normal(size=(2, 4))
    s = np.linspace(0.0, 1.0, 7)
    ends = Rotation.from_quat(np.roll([p, q], -1, axis=1))
    theirs = np.roll(Slerp([0.0, 1.0], ends)(s).as_quat(), 1, axis=-1)
    ours = so3.slerp(p, q, s)
    close(ours * np.sign(np.sum(ours * theirs, -1, keepdims=True)), theirs, atol=8 * EPS)


def test_cumulative_product() -> None:
    rng = np.random.default_rng(10)
    factors = rng.normal(size=(30, 3, 4)) * 10.0 ** rng.uniform(-200, 200, (30, 3, 1))
    products = so3.cumprod(factors)
    assert products.shape == factors.shape
    for i in range(3):
        exact = [mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0)]
        for k in range(30):
            exact = mp_product(exact, mp_unit(factors[k, i]))
            tol.within("so3.cumprod", eps_off(exact, products[k, i]) / (k + 1))
        same(so3.cumprod(factors[:, i]), products[:, i])
    same(so3.cumprod(np.swapaxes(factors, 0, 1), axis=1), np.swapaxes(products, 0, 1))
    same(so3.cumprod(np.swapaxes(factors, 0, 1), axis=-2), np.swapaxes(products, 0, 1))
    same(so3.cumprod(factors, out=np.empty_like(factors)), products)
    assert so3.cumprod(np.zeros((0, 4))).shape == (0, 4)
    many = so3.cumprod(np.tile(so3.exp([0.1, 0.2, 0.3]), (100_000, 1)))
    assert np.abs(np.linalg.norm(many, axis=-1) - 1).max() <= 4 * EPS
    lost = so3.normalize(factors)
    good = so3.cumprod(lost)
    lost[10, 1, 2] = np.nan
    bad = so3.cumprod(lost)
    same(bad[:, [0, 2]], good[:, [0, 2]])
    same(bad[:10, 1], good[:10, 1])
    assert np.isnan(bad[10:, 1]).all()


def test_what_two_attitudes_refuse() -> None:
    good, bad = np.ones((4, 4)), np.ones((4, 4))
    bad[2] = 0
    for function in (so3.angle_between, lambda p, q: so3.slerp(p, q, 0.5)):
        with pytest.raises(ValueError, match=r"p\[2\]"):
            function(bad, good)
        with pytest.raises(ValueError, match=r"q\[2\]"):
            function(good, bad)
        with pytest.raises(ValueError, match="do not broadcast"):
            function(good, good[:3])
    with pytest.raises(ValueError, match="do not broadcast"):
        so3.slerp(good, good, np.zeros(3))
    for function in (so3.normalize, so3.cumprod):
        with pytest.raises(ValueError, match=r"q\[2\]"):
            function(bad)
    for axis in (1, -1, 2, -3):
        with pytest.raises(ValueError, match="axis must be one of the axes"):
            so3.cumprod(good, axis=axis)
    with pytest.raises(ValueError, match="axis must be one of the axes"):
        so3.cumprod(good[0])


def test_the_convention_by_numbers() -> None:
    quarter = [SQRT_HALF, 0.0, 0.0, SQRT_HALF]
    close(so3.rotate(quarter, [1, 2, 3]), [-2, 1, 3], rtol=4 * EPS)
    close(so3.to_matrix(quarter) @ [1, 2, 3], [-2, 1, 3], rtol=8 * EPS)
    close(so3.exp([0, 0, np.pi / 2]), quarter, rtol=2 * EPS)


def test_scalar_last_quaternion_is_another_rotation() -> None:
    # Public case Q01 (scikit-robot pull 800, SciPy issues 14548 and 19649): no guess is made.
    q = np.array([0.0, 0.0, 0.3826834, 0.9238795])
    close(so3.rotate(q, [1, 0, 0]), [-1, 0, 0], atol=1e-7)
    turned = so3.rotate(np.roll(q, 1), [1, 0, 0])
    close(turned, [0.7071068059, 0.7071067565, 0], atol=1e-9)


def test_rates_in_body_and_space() -> None:
    # Public case Q03 (PX4-Matrix issue 27, openhrp3 issue 120, avian pull 747).
    q = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)
    omega = np.array([0.1, -0.2, 0.3])
    rate = 0.5 * so3.multiply(q, [0.0, *omega])
    expected = [
        -0.07302967433402214237998736,
        0.1643167672515498355573264,
        -0.03651483716701107118999368,
        -0.03651483716701107879117111,
    ]
    close(rate, expected, atol=EPS)  # q is rounded, and the sum of products
    assert abs(rate @ q) < 1e-16
    omega_space = [0.1266666666666666533, 0.3333333333333333333, -0.1133333333333333433]
    close(so3.rotate(q, omega), omega_space, atol=EPS)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[0, -1, 0], [-1, 0, 0], [0, 0, -1]], [0, SQRT_HALF, -SQRT_HALF, 0]),
        ([[0, 1, 0], [1, 0, 0], [0, 0, -1]], [0, SQRT_HALF, SQRT_HALF, 0]),
        ([[-1, 0, 0], [0, -1, 0], [0, 0, 1]], [0, 0, 0, 1]),
        ([[1, 0, 0], [0, -1, 0], [0, 0, -1]], [0, 1, 0, 0]),
        ([[-1, 0, 0], [0, 1, 0], [0, 0, -1]], [0, 0, 1, 0]),
    ],
)
def test_half_turns(matrix: list[list[int]], expected: list[float]) -> None:
    # Public case Q05 (spatialmath-python issue 65, pytorch3d issue 646).
    q = so3.to_quaternion(matrix)
    close(q, expected, atol=2e-16)
    close(so3.to_matrix(q), matrix, atol=4e-16)


def test_opposite_signs_are_near_rotations() -> None:
    # Public case Q06 (ale issue 603): of opposite signs, yet 2.2 degrees apart.
    a = [0.016525284863560585, -0.0734723194332759, 0.9798210267646943, 0.18514720831558124]
    b = [0.0024593731395100016, 0.06930709261721921, -0.9799803592542052, -0.18662522303458276]
    assert abs(np.dot(a, b) + 0.999810011865863) < 1e-12
    between = so3.multiply(so3.conjugate(a), b)
    angle = np.linalg.norm(so3.log(between, shortest=True))
    assert abs(angle - 0.0389865772139351) < 1e-12
    assert abs(np.linalg.norm(so3.log(between)) - (2 * np.pi - 0.0389865772139351)) < 1e-12


def test_single_precision_quaternion() -> None:
    # Public case Q09 (PX4-Autopilot issue 17648): of norm 1.00000003, no acos of more than 1.
    q = np.array([0.5419441, 0, 0, -0.8404146], dtype=np.float32)
    v = so3.log(q)
    assert np.isfinite(v).all()
    assert abs(np.linalg.norm(so3.exp(v)) - 1) <= EPS
    matrix = so3.to_matrix(q)
    close(matrix.T @ matrix, np.eye(3), atol=8 * EPS)


def test_log_and_exp_invert_each_other_sign_included() -> None:
    q = quaternions()
    unit = q / np.abs(q).max(axis=1)[:, None]
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    tol.within("so3.exp_of_log", np.abs(so3.exp(so3.log(q)) - unit).max() / EPS)
    v = so3.log(q[:60])
    close(so3.log(so3.exp(v)), v, atol=1e-14)


def test_log_is_continuous_through_half_turns_and_fixed_at_the_pole() -> None:
    w = np.linspace(-1e-9, 1e-9, 21)
    q = np.stack([w, np.ones(21), 0 * w, 0 * w], axis=-1)
    steps = np.diff(so3.log(q)[:, 0])
    close(steps, -2e-10, rtol=1e-5)  # 4e-16 of 3.1 is 4e-6 of a step
    np.testing.assert_array_equal(so3.log([-1.0, 0, 0, 0]), [2 * np.pi, 0, 0])
    np.testing.assert_array_equal(so3.log([1.0, 0, 0, 0]), [0, 0, 0])
    back = so3.exp(so3.log([-1.0, 0, 0, 0]))
    close(back, [-1, 0, 0, 0], atol=2e-16)


def test_shortest_log_is_the_same_for_both_signs() -> None:
    q = quaternions()
    generic = q[q[:, 0] != 0]
    plus, minus = (so3.log(s * generic, shortest=True) for s in (1, -1))
    np.testing.assert_array_equal(plus, minus)
    assert np.linalg.norm(plus, axis=1).max() <= np.pi * (1 + 2 * EPS)


def test_product_of_quaternions_is_product_of_matrices() -> None:
    rng = np.random.default_rng(1)
    p, q = rng.standard_normal((2, 50, 4))
    product = so3.to_matrix(so3.multiply(p, q))
    close(product, so3.to_matrix(p) @ so3.to_matrix(q), atol=16 * EPS)
    one = np.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(so3.multiply(p, one), p)
    np.testing.assert_array_equal(so3.rotate(one, p[:, 1:]), p[:, 1:])


def test_arrays_of_any_kind() -> None:
    rng = np.random.default_rng(2)
    q = rng.standard_normal((5, 1, 4))
    v = rng.standard_normal((3, 3))
    expected = so3.rotate(q, v)
    assert expected.shape == (5, 3, 3)
    assert so3.rotate(q.astype(">f8"), np.asfortranarray(v)).tobytes() == expected.tobytes()
    assert so3.rotate(q.astype("g"), v).tobytes() == expected.tobytes()
    assert so3.rotate([2, 0, 0, 0], [1, 2, 3]).dtype == np.float64
    assert so3.to_matrix(np.zeros((0, 4))).shape == (0, 3, 3)
    frozen = q.copy()
    frozen.flags.writeable = False
    assert so3.to_matrix(frozen).tobytes() == so3.to_matrix(q).tobytes()


def test_out() -> None:
    rng = np.random.default_rng(4)
    p, q = rng.standard_normal((2, 40, 4))
    expected = so3.multiply(p, q)
    assert so3.multiply(p, q, out=p) is p
    assert p.tobytes() == expected.tobytes()
    buffer = rng.standard_normal((41, 4))  # overlaps in part: as if copied
    expected = so3.conjugate(buffer[:-1])
    so3.conjugate(buffer[:-1], out=buffer[1:])
    assert buffer[1:].tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="shape"):
        so3.multiply(p, q, out=np.empty((3, 4)))
    frozen = np.empty((40, 4))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        so3.multiply(p, q, out=frozen)


def test_what_is_no_rotation_is_refused() -> None:
    q = np.ones((4, 4))
    q[2] = 0
    for function in (so3.to_matrix, so3.log):
        out = np.full((4, *function(q[0]).shape), 7.0)
        with pytest.raises(ValueError, match=r"q\[2\]"):
            function(q, out=out)
        assert (out == 7).all()
    with pytest.raises(ValueError, match=r"q\[2\]"):
        so3.rotate(q, [1, 2, 3])
    matrices = np.stack([np.eye(3), np.diag([1.0, 1.0, -1.0])])
    with pytest.raises(ValueError, match=r"Q\[1\]"):
        so3.to_quaternion(matrices)
    with pytest.raises(ValueError, match="1e-5"):
        so3.to_quaternion(1.1 * np.eye(3))
    with pytest.raises(ValueError, match=r"\.\.\., 4"):
        so3.to_matrix([1, 2, 3])
    with pytest.raises(TypeError, match="real"):
        so3.to_matrix([1j, 0, 0, 0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_element(bad: float) -> None:
    q = np.ones((20, 4))
    q[5, 1] = bad
    good = np.arange(20) != 5
    results = (
        *(so3.to_matrix(q), so3.log(q), so3.rotate(q, [1, 2, 3]), so3.exp(q[:, 1:])),
        *(so3.normalize(q), so3.angle_between(q, np.ones(4)), so3.slerp(q, np.ones(4), 0.5)),
    )
    for result in results:
        flat = result.reshape(20, -1)
        assert np.isnan(flat[5]).all()
        assert np.isfinite(flat[good]).all()
    matrices = np.stack([np.eye(3)] * 20)
    matrices[5, 1, 1] = bad
    assert np.isnan(so3.to_quaternion(matrices)).any(axis=-1).tolist() == (~good).tolist()

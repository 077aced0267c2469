"""The exact triggers of guards: ties, zeros, the ends of ranges, states near hard ones.

Each test is one that fails where the guard it names is taken away; .ci/mutate.py does so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph
from polhode import elliptic, so3
from polhode._core import overlaps_itself
from polhode.integrators.splittings import as_splitting
from polhode.integrators.tableaus import MOST_IMPLICIT

Array = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
NAN, INF = np.nan, np.inf


# --- elliptic functions ---


@pytest.mark.parametrize(
    ("args", "want"),
    [
        # p far above the rest; the two largest are equal, so that p's partner q is them.
        ((1, 1, 0.5, 1000), 0.00318841655523804094166471821405),
        ((2, 2, 1, 500), 0.00431977309236290397937710961315),
        ((1, 1, 1, 100), 0.025824128295834015749890702254),
        ((1, 1, 0, 65), 0.0644982666237744405847181332697),
        ((1, 1, 0.25, 1e10), 3.62755160509138642575259565908e-10),
    ],
)
def test_rj_where_two_arguments_are_equal(args: tuple[float, ...], want: float) -> None:
    close(elliptic.rj(*args), want, rtol=4 * EPS)


def test_agm_at_the_ends_of_the_range() -> None:
    close(elliptic.agm(1e300, 1e10), 2.34749945317413893436910472186e297, rtol=2 * EPS)
    close(elliptic.agm(1e-300, 1e-310), 6.43448704760133164228806059256e-302, rtol=2 * EPS)
    close(elliptic.agm(1.0, 1 / 3), 0.621205594414965514118563010341, rtol=2 * EPS)


def test_the_end_of_the_domain_is_rounded_by_so_much() -> None:
    """k sin phi = 1 to rounding is the end; more is outside."""
    for k2 in (1.5, 2.0, 3.7, 10.0):
        phi = np.arcsin(1 / np.sqrt(k2))
        angles = [np.nextafter(phi, 0), phi, np.nextafter(phi, 2)]
        assert not np.isnan(elliptic.ellip_f(angles, k2)).any()
        assert np.isnan(elliptic.ellip_f(phi + 1e-14, k2))


def test_half_turns_beyond_the_domain() -> None:
    for n in range(1, 12):
        assert np.isnan(elliptic.ellip_f(n * np.pi, 1.5))
        assert np.isnan(elliptic.ellip_pi(0.3, n * np.pi, 1.5))


def test_sign_of_poles_and_endless_angles() -> None:
    same(elliptic.ellip_pi(1.0, [np.pi / 2, -np.pi / 2], 0.5) > 0, np.array([True, False]))
    for n in (1.5, 8.0, 1e10):
        assert np.isnan(elliptic.ellip_pi(n, INF, 0.5))


# --- rotations ---


@pytest.mark.parametrize(
    "q",
    [
        (0, 1, 1, 0),
        (0, 1, 0, 1),
        (0, 0, 1, 1),
        (0, 1, 1, 1),
        (0, 1, -1, 0),
        (0, 1, 0, -1),
        (0, 0, 1, -1),
        (0, 1, -1, 1),
        (1, 1, 0, 0),
        (1, 1, 1, 1),
        (1, -1, 1, -1),
    ],
)
def test_ties_of_the_quaternion_of_a_matrix(q: tuple[int, ...]) -> None:
    """w >= 0, else the first of the largest components is positive."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    matrix = [
        [n - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), n - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), n - 2 * (x * x + y * y)],
    ]
    got = so3.to_quaternion(np.array(matrix) / n)
    close(got, np.array(q) / np.sqrt(n), atol=2 * EPS)
    same(np.signbit(got), np.array([c < 0 for c in q]))


def test_shortest_log_where_the_scalar_part_is_zero() -> None:
    close(
        so3.log([0.0, 0.6, -0.8, 0.0], shortest=True),
        np.pi * np.array([0.6, -0.8, 0.0]),
        atol=4 * EPS,
    )
    close(
        so3.log([-0.0, 0.6, -0.8, 0.0], shortest=True),
        np.pi * np.array([0.6, -0.8, 0.0]),
        atol=4 * EPS,
    )


def test_turns_about_an_axis_by_more_than_half() -> None:
    """No component is -0."""
    for axis in range(3):
        for angle in (3.5, 4.5, 6.0):
            v = np.zeros(3)
            v[axis] = angle
            q = so3.to_quaternion(so3.to_matrix(so3.exp(v)))
            others = np.delete(q, [0, 1 + axis])
            same(others, np.zeros(2))
            assert not np.signbit(others).any()
            assert q[0] > 0


def test_angles_of_many_turns() -> None:
    """To 2 eps, up to where no digit is left, from where on it is NaN.

    Without fused multiply-add a turn is only taken off to eps |angle|, see scalar/sincos.hpp.
    """
    rng = np.random.default_rng(8)
    angles = 2.0 ** rng.uniform(3, 50, 300)
    q = so3.exp(angles[:, None] * np.array([1.0, 0.0, 0.0]))
    with mp.workdps(60):
        half = [mp.mpf(float(a)) / 2 for a in angles]
        want = np.array([[float(mp.cos(a)), float(mp.sin(a))] for a in half])
    taken_off = angles if ph.build_info()["isa"] == "v2" else np.zeros(300)
    close(q[:, :2], want, atol=(2 * EPS + EPS * taken_off)[:, None])
    for size in (2.0**51, 2.0**52, 1e300):
        assert np.isnan(so3.exp([size, 0.0, 0.0])).any()
    assert np.isfinite(so3.exp([2.0**50.5, 0.0, 0.0])).all()


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-200, 1e200, 1.7e308])
def test_vectors_and_quaternions_of_any_size(size: float) -> None:
    q = np.array([0.5, -0.5, 0.5, 0.5])
    v = np.array([1.0, -0.5, 0.25])
    got = so3.rotate(q, size * v)
    with np.errstate(under="ignore"):
        close(got, size * so3.rotate(q, v), rtol=8 * EPS, atol=5e-324)
    if size < 1:
        close(so3.exp(size * v), [1.0, *(0.5 * size * v)], rtol=4 * EPS, atol=5e-324)
        close(so3.log([1.0, *(size * v)]), 2 * size * v, rtol=8 * EPS, atol=1e-323)
    close(
        so3.log(size * np.array([0.0, 0.6, 0.8, 0.0])),
        [0.6 * np.pi, 0.8 * np.pi, 0.0],
        rtol=8 * EPS + 2 * 5e-324 / size,
    )


@pytest.mark.parametrize("where", range(4))
def test_infinite_quaternions_are_no_rotations(where: int) -> None:
    q = np.array([0.5, 0.5, 0.5, 0.5])
    q[where] = INF
    assert np.isnan(so3.to_matrix(q)).any()
    assert np.isnan(so3.rotate(q, [1.0, 2.0, 3.0])).any()
    assert np.isnan(so3.log(q)).any()


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1.01]],
        [[1, 0, 0], [0, 1.01, 0], [0, 0, 1]],
        [[1.01, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 0, 0], [0, 1, 1e-4], [0, 0, 1]],
        [[1, 0, 1e-4], [0, 1, 0], [0, 0, 1]],
        [[1, 1e-4, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, -1]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
    ],
)
def test_matrices_that_are_no_rotations(matrix: Any) -> None:
    for call in (
        so3.to_quaternion,
        lambda Q: ph.step([1, 2, 3], [1, 1, 1], Q, 0.1),
        lambda Q: ph.momentum_spatial([1, 1, 1], Q),
    ):
        with pytest.raises(ValueError, match="not a rotation matrix"):
            call(matrix)


# --- free motion ---


@pytest.mark.parametrize("method", ["exact", "frb", "factorization6", "gauss5"])
def test_rest_stays_rest(method: str) -> None:
    names = [m.name for m in ph.methods()]
    if method not in names:
        pytest.skip("another name")
    m, q = ph.step([1.0, 1.5, 2.2], [0.0] * 3, [0.5, -0.5, 0.5, 0.5], [0.1, 3.0], method=method)
    same(m, np.zeros((2, 3)))
    same(q, np.broadcast_to([0.5, -0.5, 0.5, 0.5], (2, 4)).copy())


def test_steps_of_every_length() -> None:
    """From polynomials of the shortest to doublings: "exact" and "frb" share none of them."""
    h = np.concatenate([np.geomspace(1e-3, 6.0, 300), -np.geomspace(1e-3, 6.0, 300)])
    for inertia, m in (
        ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8]),
        ([1.0, 1.5, 2.2], [0.8, 0.3, 0.4]),
        ([1.0, 1.001, 2.0], [0.5, 0.6, 0.2]),
        ([0.02, 1.0, 1.005], [0.01, 0.7, 0.6]),
    ):
        start = inertia, m, [0.5, -0.5, 0.5, 0.5], h * np.min(inertia)
        exact, frb = (ph.step(*start, method=method) for method in ("exact", "frb"))
        bound = 8 * EPS * (1 + np.abs(h))[:, None]
        close(exact[0], frb[0], atol=bound)
        close(exact[1], frb[1], atol=bound)


def test_no_step_returns_momenta_bit_for_bit() -> None:
    rng = np.random.default_rng(5)
    inertia, m = rng.uniform(0.5, 2.0, (200, 3)), rng.standard_normal((200, 3))
    for method in ph.methods():
        if method.history:
            continue
        same(ph.step(inertia, m, IDENTITY, 0.0, method=method.name)[0], m)


@pytest.mark.parametrize("method", ["exact", "frb"])
def test_momentum_on_axis_3_and_next_to_it(method: str) -> None:
    """The attitude is continuous there: a turn about the axis."""
    for off in (0.0, 1e-300, 1e-160, 1e-20):
        for sign in (1.0, -1.0):
            for h in (0.3, -2.0, 20.0):
                m, q = ph.step([1.0, 1.5, 2.0], [off, 0.0, sign], IDENTITY, h, method=method)
                close(m, [m[0], m[1], sign], atol=4 * EPS)
                want = [np.cos(h / 4), 0.0, 0.0, sign * np.sin(h / 4)]
                close(q, want, atol=8 * EPS * (1 + abs(h)))


def test_regime_at_any_size() -> None:
    """Powers of two change nothing of period and regime."""
    inertia, m = np.array([1.0, 1.5, 2.2]), np.array([[0.3, 0.5, 0.8], [0.8, 0.3, 0.4]])
    plain = ph.TorqueFreeMotion(inertia, m, IDENTITY)
    for c in (-900, -400, 0, 400, 900):
        for d in (-900, -400, 0, 400, 900):
            if abs(d - c) > 1000:
                continue
            other = ph.TorqueFreeMotion(inertia * 2.0**d, m * 2.0**c, IDENTITY)
            same(other.regime, plain.regime)
            same(other.period, plain.period * 2.0 ** (d - c))


# --- bodies ---


def test_points_without_mass_do_not_count() -> None:
    far = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1e300, -1e300, 1e300]]
    body = ph.RigidBody.from_points([1.0, 1.0, 1.0, 0.0], far)
    same(body.tensor, ph.RigidBody.from_points([1.0, 1.0, 1.0], far[:3]).tensor)


def test_points_far_from_their_origin() -> None:
    """The centre of mass, rounded at 2^40, is taken off a second time."""
    mass = [1, 2, 4, 3]
    near = [[0, 0, 0], [3, 1, 0], [1, 5, 2], [2, 0, 7]]
    total = sum(mass)
    centre = [
        Fraction(sum(w * x[i] for w, x in zip(mass, near, strict=True)), total) for i in range(3)
    ]
    want = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            square = sum(
                w * (x[i] - centre[i]) * (x[j] - centre[j]) for w, x in zip(mass, near, strict=True)
            )
            want[i, j] = -float(square)
    want += np.eye(3) * -np.trace(want)
    body = ph.RigidBody.from_points(mass, np.array(near) + 2.0**40)
    close(body.tensor, want, atol=8 * EPS * np.abs(want).max())


def test_points_at_the_origin_are_no_body() -> None:
    """They are a part of sums, but cannot turn."""
    point = ph.RigidBody.from_points([1.0, 2.0], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="all moments of inertia are zero"):
        point.step([0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], 0.1)


def test_zero_moments_of_full_tensors() -> None:
    """Up to 16 eps of the largest; of a diagonal tensor up to 4."""
    for least, zero in ((10 * EPS, True), (20 * EPS, False)):
        half = 0.5 + 0.5 * least, 0.5 - 0.5 * least
        body = ph.RigidBody([[half[0], half[1], 0], [half[1], half[0], 0], [0, 0, 1]])
        assert (body.moments[0] == 0) == zero


def test_left_handed_axes_are_turned_round() -> None:
    axes = np.diag([1.0, 1.0, -1.0])
    body = ph.RigidBody.from_moments([1.0, 2.0, 2.5], axes)
    same(np.linalg.det(body.axes), np.array(1.0)[()])


def test_batches_whose_first_body_alone_is_aligned() -> None:
    full = ph.RigidBody([[2.0, 0.2, 0.1], [0.2, 2.5, 0.3], [0.1, 0.3, 3.0]]).tensor
    both = ph.RigidBody([np.diag([2.0, 2.5, 3.0]), full])
    m, q = both.step([0.3, 0.5, 0.8], IDENTITY, 0.5)
    alone = ph.RigidBody(full).step([0.3, 0.5, 0.8], IDENTITY, 0.5)
    close(m[1], alone[0], atol=4 * EPS)
    close(q[1], alone[1], atol=4 * EPS)


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1.0, 1e10, 1e300])
def test_asymmetry_is_measured_against_the_tensor(scale: float) -> None:
    tensor = np.diag([2.0, 2.5, 3.0])
    tensor[0, 1] = 1e-6
    with pytest.raises(ValueError, match="not symmetric"):
        ph.RigidBody(scale * tensor)


# --- torques ---


def test_damping_that_no_double_holds() -> None:
    """A step back in which the momentum grows by e^800."""
    vessel = ph.torques.Vessel(1.0, 0.1, 0.2, damping=[1.0, 1.0, 1.0], inertia=[1.0, 1.0, 1.0])
    with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN"):
        back = ph.integrate([1.0, 1.0, 1.0], [0.1, 0.2, 0.3], IDENTITY, -800.0, 1, torque=vessel)
    assert np.isnan(back.m[-1]).any()


def test_damping_of_some_axes_alone() -> None:
    inertia = np.array([1.0, 2.0, 4.0])
    for damping in ([0.0, 0.3, 0.0], [0.2, 0.0, 0.4]):
        vessel = ph.torques.Vessel(0.0, 0.1, 0.2, damping=damping, inertia=inertia)
        traj = ph.integrate(
            inertia, [0.0, 0.0, 0.5], IDENTITY, 0.5, 4, torque=vessel, splitting="strang"
        )
        close(traj.m[-1], [0.0, 0.0, 0.5 * np.exp(-damping[2] / 4.0 * 2.0)], atol=4 * EPS)


def test_normals_of_any_size() -> None:
    for size in (1e-300, 1e-160, 1.0, 1e200, 1e308):
        torque = ph.torques.GravityGradient(
            0.1, np.array([1.0, 0.2, 0.0]) * size, np.array([0.0, 0.0, 1.0]) * size,
            inertia=[1.0, 2.0, 2.5],
        )  # fmt: skip
        plain = ph.torques.GravityGradient(
            0.1, [1.0, 0.2, 0.0], velocity=[0.3, 1e3, 0.0], inertia=[1.0, 2.0, 2.5]
        )
        q = np.array([0.5, 0.1, -0.7, 0.5])
        close(torque.torque(2.0, np.zeros(3), q), plain.torque(2.0, np.zeros(3), q), atol=EPS)


def test_an_orbit_by_position_and_velocity() -> None:
    """The torque at t = 0 depends on the position alone, which is not projected."""
    rng = np.random.default_rng(5)
    r, v = rng.standard_normal((2, 4, 3))
    q, moments = rng.standard_normal((4, 4)), np.array([5.0, 8.0, 3.5])
    gradient = ph.torques.GravityGradient(0.1, 7e6 * r, velocity=7e3 * v, inertia=moments)
    unit = q / np.linalg.norm(q, axis=1)[:, None]
    b = ph.so3.rotate(ph.so3.conjugate(unit), r / np.linalg.norm(r, axis=1)[:, None])
    want = 3 * 0.1**2 * np.cross(b, moments * b)
    close(gradient.torque(0.0, np.zeros(3), unit), want, atol=16 * EPS)
    # A quarter of the orbit later the satellite is in the direction of the velocity normal to r.
    along = r / np.linalg.norm(r, axis=1)[:, None]
    across = v - np.sum(v * along, axis=1)[:, None] * along
    later = ph.torques.GravityGradient(0.1, across, velocity=-r, inertia=moments)
    close(
        gradient.torque(np.pi / 0.2, np.zeros(3), unit),
        later.torque(0.0, np.zeros(3), unit),
        atol=16 * EPS,
    )
    with pytest.raises(ValueError, match=r"position\[2\] = .*not normal to `normal`"):
        ph.torques.GravityGradient(0.1, [[1, 0, 0], [0, 1, 1e-9], [1, 0, 1e-7]])
    with pytest.raises(ValueError, match=r"position = .*parallel to velocity"):
        ph.torques.GravityGradient(0.1, [1, 2, 3], velocity=[-2, -4, -6])
    with pytest.raises(TypeError, match="normal or velocity"):
        ph.torques.GravityGradient(0.1, [1, 2, 3], [1, 0, 0], velocity=[-2, -4, -6])
    # Made normal, so that it is still taken when it is made again from doubles.
    single = ph.torques.GravityGradient(0.1, np.float32([1, 1e-6, 1e-6]), np.float32([0, 1e-6, 1]))
    single.with_inertia(moments)


def test_tensors_that_are_not_symmetric() -> None:
    tensor = np.diag([1.0, 2.0, 2.5])
    tensor[0, 1] = 1e-9
    with pytest.raises(ValueError, match="symmetric"):
        ph.torques.GravityGradient(0.1, tensor=tensor)


def test_times_and_breakpoints_must_ascend() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        ph.torques.Prescribed(np.zeros((3, 3)), [0.0, 1.0, 1.0])

    class Twice:
        x = np.array([0.0, 1.0, 1.0])
        c = np.zeros((2, 2, 3))

    with pytest.raises(ValueError, match="must ascend"):
        ph.torques.Prescribed(Twice())


def test_outside_of_a_piecewise_polynomial() -> None:
    """NaN before and after, numbers at the ends and where they are rounded."""

    class Piecewise:
        x = np.array([1.0, 2.0, 4.0])
        c = np.ones((1, 2, 3))
        extrapolate = False

    torque = ph.torques.Prescribed(Piecewise())
    for t in (1.0, 2.0, 4.0, 1.0 - 2e-15, 4.0 + 2e-15):
        same(torque.torque(t, np.zeros(3), IDENTITY), np.ones(3))
    for t in (1.0 - 1e-13, 4.0 + 1e-13, 0.0, 5.0):
        assert np.isnan(torque.torque(t, np.zeros(3), IDENTITY)).all()


def test_a_breakpoint_belongs_to_the_piece_that_begins() -> None:
    class Jump:
        x = np.array([0.0, 1.0, 2.0])
        c = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]])

    torque = ph.torques.Prescribed(Jump())
    same(torque.torque(1.0, np.zeros(3), IDENTITY), 2 * np.ones(3))
    same(torque.torque(np.nextafter(1.0, 0.0), np.zeros(3), IDENTITY), np.ones(3))


# --- arguments ---


def test_tableaus_to_the_last_digits() -> None:
    for off in (1e-8, 1e-6, -1e-5):
        with pytest.raises(ValueError, match="sum 1"):
            ph.rkmk([[0.0]], [1.0 + off], [0.0])
        with pytest.raises(ValueError, match="sums of the rows"):
            ph.rkmk([[0.0, 0.0], [0.5, 0.0]], [0.0, 1.0], [0.0, 0.5 + off])


def test_coefficients_of_a_scheme_add_up_to_1() -> None:
    start: tuple[Any, ...] = ([1.0, 1.5, 2.0], [0.3, 0.4, 0.5], IDENTITY, 0.1, 1)
    torque = ph.torques.Constant([0.1, 0.2, 0.3])
    for off in (1e-7, -1e-8, 1e-11):
        for splitting in (([1.0 + off], [0.5, 0.5]), ([1.0], [0.5, 0.5 + off])):
            with pytest.raises(ValueError, match="add up to 1"):
                ph.integrate(*start, torque=torque, splitting=splitting)
    with pytest.raises(ValueError, match="alternate"):
        ph.integrate(*start, torque=torque, splitting=([1.0], [0.2, 0.3, 0.5]))


def test_outputs_that_share_memory() -> None:
    memory = np.zeros(6)
    pair = (memory[:3], memory[2:6])
    with pytest.raises(ValueError, match="overlap"):
        ph.step([1, 2, 3], [1, 1, 1], IDENTITY, 0.1, out=pair)
    rows = np.lib.stride_tricks.as_strided(np.zeros(8), (2, 3), (16, 8))
    with pytest.raises(ValueError, match="share memory"):
        ph.step([1, 2, 3], np.ones((2, 3)), IDENTITY, 0.1, out=(rows, np.zeros((2, 4))))


def test_rods_have_equal_moments_and_no_momentum_about_themselves() -> None:
    with pytest.raises(ValueError, match="other two equal"):
        ph.step([0.0, 1.0, 1.0 + 1e-8], [0.0, 1.0, 0.0], IDENTITY, 0.1)
    with pytest.raises(ValueError, match="zero"):
        ph.step([0.0, 1.0, 1.0], [1e-11, 1.0, 0.0], IDENTITY, 0.1)
    ph.step([0.0, 1.0, 1.0], [1e-13, 1.0, 0.0], IDENTITY, 0.1)


def test_no_steps_make_a_rate_unit() -> None:
    q = ph.attitude_from_rate(np.zeros((0, 2, 3)), [2.0, 0.0, 0.0, 0.0], 0.1, 0)
    same(q, IDENTITY)


def test_a_time_that_is_the_result() -> None:
    """Times may lie where the results go."""
    motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], IDENTITY)
    m, q = np.zeros((3, 3)), np.zeros((3, 4))
    m[:, 0] = [0.5, 1.0, 2.0]
    want = motion(m[:, 0].copy())
    motion(m[:, 0], out=(m, q))
    same(m, want[0])
    same(q, want[1])


# --- the slow one ---


def test_series_of_carlson_begin_near_enough() -> None:
    """Arguments so near each other that one duplication is enough, as far apart as they may be."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        x = 1 + 0.24 * rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], 4)
        with mp.workdps(30):
            exact = [mp.mpf(float(a)) for a in x]
            want = [
                mp.elliprf(*exact[:3]),
                mp.elliprd(*exact[:3]),
                mp.elliprj(*exact),
            ]
            got = elliptic.rf(*x[:3]), elliptic.rd(*x[:3]), elliptic.rj(*x)
            errors = [float(abs(mp.mpf(float(g)) / w - 1)) for g, w in zip(got, want, strict=True)]
        assert errors[0] <= 2 * EPS, x
        assert errors[1] <= 3 * EPS, x
        assert errors[2] <= 3 * EPS, x


# --- further triggers ---


def test_a_pole_has_the_sign_of_its_angle() -> None:
    """sin^2 = 1/n to the last bit, which an angle near asin n^-1/2 gives for some n."""
    found = 0
    for n in np.arange(2, 60) / 2.0:
        phi = np.arcsin(1 / np.sqrt(n)) if n > 1 else np.pi / 2
        for angle in (phi, np.nextafter(phi, 0), np.nextafter(phi, 2)):
            at = elliptic.ellip_pi(n, [angle, -angle], 0.1)
            if np.isinf(at).any():
                found += 1
                same(at, np.array([INF, -INF]))
    assert found > 0


def test_complete_integrals_whose_modulus_is_1() -> None:
    """A principal value with n > 1 goes to -inf, the others to inf."""
    same(elliptic.ellip_pi_complete([0.5, 1.0, 1.5, 8.0], 1.0), np.array([INF, INF, -INF, -INF]))


def test_characteristics_of_no_size() -> None:
    n = np.array([1e-300, -1e-300, 1e-200, -1e-200, 5e-324, -5e-324, 1e-50, -1e-50])
    for k2 in (0.5, -0.5, 0.99):
        plain = elliptic.ellip_f(0.7, k2)
        close(elliptic.ellip_pi(n, 0.7, k2), np.full(8, plain), rtol=4 * EPS)


def test_integrals_over_many_half_turns() -> None:
    for phi in (3.0, 10.0, 1000.0, 1e9):
        with mp.workdps(40):
            want = [float(mp.ellipf(mp.mpf(phi), mp.mpf(0.3)))]
            want.append(float(mp.ellippi(mp.mpf(-0.5), mp.mpf(phi), mp.mpf(-0.5))))
        close(elliptic.ellip_f(phi, 0.3), want[0], rtol=4 * EPS)
        close(elliptic.ellip_pi(-0.5, phi, -0.5), want[1], rtol=8 * EPS)


def test_subnormal_attitudes() -> None:
    for size in (5e-324, 1e-320, 1e-310, 1e-305):
        q = size * np.array([1.0, -1.0, 1.0, 1.0])
        got = ph.step([1.0, 1.5, 2.0], [0.0, 0.0, 0.0], q, 1.0)[1]
        close(got, [0.5, -0.5, 0.5, 0.5], atol=EPS)


def test_attitude_matrices_are_made_orthogonal() -> None:
    """An error of the norm, of twice the rounding or more, is removed by a step."""
    rng = np.random.default_rng(4)
    Q = so3.to_matrix(so3.exp(rng.standard_normal((40, 3))))
    for off in (1e-12, 1e-10, 1e-9):
        bent = Q + off * rng.standard_normal((40, 3, 3))
        got = ph.step([1.0, 1.5, 2.0], rng.standard_normal((40, 3)), bent, 0.3)[1]
        close(got @ got.mT, np.broadcast_to(np.eye(3), (40, 3, 3)), atol=6 * EPS)


def test_moments_of_rounding_are_those_of_a_rod() -> None:
    """Up to 4 eps; with the moment itself the body would turn by 1e2 radians about itself."""
    start = [1e-13, 1.0, 0.5], IDENTITY, 0.3
    rod = ph.step([0.0, 1.0, 1.0], *start)
    for least in (EPS, 2 * EPS, 3.9 * EPS):
        got = ph.step([least, 1.0, 1.0], *start)
        close(got[0], rod[0], atol=2 * EPS)
        close(got[1], rod[1], atol=2 * EPS)


def test_the_axis_of_a_symmetric_rotation_on_a_tie() -> None:
    """I2/I1 - 1 = 1 - I2/I3: the axis of the least moment, as for nearby bodies on that side."""

    def step(least: float) -> Any:
        how = {"method": "symmetric_rotation"}
        return np.concatenate(ph.step([least, 15.0, 20.0], [7.0, 9.0, -8.0], IDENTITY, 0.9, **how))

    close(step(12.0), step(12.0 * (1 - 1e-10)), atol=1e-8)
    assert np.abs(step(12.0) - step(12.0 * (1 + 1e-10))).max() > 1e-6


def test_damping_over_any_time() -> None:
    """e^-z to 2 eps of the momentum, or NaN if it is outside the range of doubles."""
    z = np.concatenate([np.linspace(0.0, 0.35, 60), np.geomspace(0.35, 30.0, 60)])
    start = [1.0, 1.0, 1.0], [0.0, 0.0, 1.0], IDENTITY
    for k in z:
        vessel = ph.torques.Vessel(0.0, 0.1, 0.2, damping=[0.0, 0.0, k])
        m = ph.integrate(*start, 1.0, 1, torque=vessel, splitting="strang").m[-1]
        with mp.workdps(30):
            close(m[2], float(mp.exp(-mp.mpf(float(k)))), atol=2 * EPS)
    for k in (1420.0, 1500.0, 2000.0, 2840.0, 5000.0, 1e4, 1e5, 1e6, 1e9):
        vessel = ph.torques.Vessel(0.0, 0.1, 0.2, damping=[0.0, 0.0, k])
        with pytest.warns(RuntimeWarning, match="the torque was not finite: 1 body is NaN"):
            m = ph.integrate(*start, -1.0, 1, torque=vessel, splitting="strang").m[-1]
        assert np.isnan(m).any()


def test_the_torque_of_a_vessel_in_any_axes() -> None:
    """-D I^-1 m by NumPy, damping and inertia along other axes."""
    axes = so3.to_matrix(so3.exp([0.3, -0.7, 0.5]))
    inertia, D = np.array([1.0, 1.7, 2.4]), np.array([0.3, 0.8, 0.5])
    vessel = ph.torques.Vessel(0.0, 0.1, 0.2, damping=D, axes=axes, inertia=inertia)
    m = np.array([0.4, -0.9, 0.7])
    want = -(axes * D) @ axes.T @ (m / inertia)
    close(vessel.torque(0.0, m, IDENTITY), want, atol=8 * EPS)


def test_parameters_of_every_body() -> None:
    """Of more bodies than one pack holds."""
    rng = np.random.default_rng(6)
    u0, q = rng.standard_normal((21, 3)), so3.exp(rng.standard_normal((21, 3)))
    m = rng.standard_normal((21, 3))
    top = ph.torques.HeavyTop(u0=u0, axis=[0.3, 0.2, 0.9])
    alone = [ph.torques.HeavyTop(u0=u, axis=[0.3, 0.2, 0.9]) for u in u0]
    same(
        top.torque(0.0, m, q),
        np.array([t.torque(0.0, *s) for t, *s in zip(alone, m, q, strict=True)]),
    )
    same(
        top.potential(0.0, q),
        np.array([t.potential(0.0, s) for t, s in zip(alone, q, strict=True)]),
    )


def test_turns_by_cayley_over_angles_of_any_size() -> None:
    """Past 2^500 half a turn; about axis 3, the middle one, there is one turn a step."""
    start = [1.0, 1.5, 2.0], [0.0, 0.0, 1.0], IDENTITY
    for h in (1e140, 1e155, 1e200, 1e300, -1e300):
        m, q = ph.step(*start, h, method="rotations123", cayley=True)
        close(m, [0.0, 0.0, 1.0], atol=2 * EPS)
        close(q, [0.0, 0.0, 0.0, np.sign(h)], atol=2 * EPS)


def test_a_kick_of_damping_in_any_axes() -> None:
    """m' = f - K m at standing attitude by mpmath: so heavy a body turns by 1e-16."""
    axes = so3.to_matrix(so3.exp([0.3, -0.7, 0.5]))
    inertia, D = 1e16 * np.array([1.0, 1.7, 2.4]), 1e16 * np.array([0.3, 0.8, 0.5])
    vessel = ph.torques.Vessel(1.0, 0.3, 0.1, damping=D, axes=axes, inertia=inertia)
    m, q = np.array([0.4, -0.9, 0.7]), np.array([0.7, 0.5, -0.1, 0.5])
    f = vessel.torque(0.0, np.zeros(3), q)
    matrix = mp.zeros(4)
    for i in range(3):
        for j in range(3):
            damped = sum(mp.mpf(axes[i, k]) * D[k] * mp.mpf(axes[j, k]) for k in range(3))
            matrix[i, j] = -damped / inertia[j]
        matrix[i, 3] = mp.mpf(f[i])
    want = mp.expm(matrix) * mp.matrix([*m.tolist(), 1])
    how = {"torque": vessel, "splitting": ([1.0], [0.5, 0.5])}
    got = ph.integrate(inertia, m, q, 1.0, 1, **how).m[-1]
    close(got, np.array([float(c) for c in want[:3]]), atol=16 * EPS * np.linalg.norm(f))


def test_damping_is_not_negative() -> None:
    with pytest.raises(ValueError, match="damping"):
        ph.torques.Vessel(1.0, 0.1, 0.2, damping=[0.0, -1e-3, 0.0])


def test_the_normal_of_a_circular_orbit() -> None:
    """The torque is the same where satellite and orbit are turned about the axis of the Earth."""
    turn = so3.exp([0.0, 0.0, 0.8])
    orbit = [1.0, 2.0, 0.6]
    first = ph.torques.GravityGradient.circular(*orbit, raan=0.0, inertia=[1.0, 2.0, 2.5])
    second = ph.torques.GravityGradient.circular(*orbit, raan=0.8, inertia=[1.0, 2.0, 2.5])
    q = so3.exp([0.3, -0.7, 0.5])
    for t in (0.0, 0.7, 3.0):
        want = first.torque(t, np.zeros(3), q)
        close(second.torque(t, np.zeros(3), so3.multiply(turn, q)), want, atol=4 * EPS)


def test_elements_one_byte_into_the_next_share_memory() -> None:
    for stride, shares in ((7, True), (8, False)):
        array = np.lib.stride_tricks.as_strided(np.zeros(8), (3,), (stride,))
        assert overlaps_itself(array) == shares


def test_a_tableau_with_a_diagonal_is_implicit() -> None:
    """The midpoint rule goes back to where it came from."""
    midpoint = ph.rkmk([[0.5]], [1.0], [0.5])
    inertia, m, h = [1.0, 1.5, 2.0], [0.3, 0.4, 0.5], 0.9
    there = ph.step(inertia, m, IDENTITY, h, method=midpoint)
    back = ph.step(inertia, *there, -h, method=midpoint)
    close(back[0], m, atol=4 * EPS)
    close(back[1], IDENTITY, atol=4 * EPS)


def test_a_rate_begins_where_it_is_said_to() -> None:
    """Turned by the integral of 2 t over [1, 2], in four steps."""

    def rate(t: float) -> list[float]:
        return [0.0, 0.0, 2.0 * t]

    q = ph.attitude_from_rate(rate, IDENTITY, 0.25, 4, t0=1.0)
    close(q, [np.cos(1.5), 0.0, 0.0, np.sin(1.5)], atol=4 * EPS)


def test_times_that_the_results_reach_first() -> None:
    """The last time lies where the first result goes."""
    motion = ph.TorqueFreeMotion([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], IDENTITY)
    m, q = np.zeros((2000, 3)), np.zeros((2000, 4))
    m[:, 0] = np.linspace(0.0, 5.0, 2000)
    times = m[::-1, 0]
    want = motion(times.copy())
    motion(times, out=(m, q))
    same(m, want[0])
    same(q, want[1])


def test_a_motion_keeps_what_it_was_made_with() -> None:
    inertia, m, q = np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8]), IDENTITY.copy()
    motion = ph.TorqueFreeMotion(inertia, m, q)
    before = motion(1.0)
    for array in (inertia, m, q):
        array[:] = 1.0
    for a, b in zip(motion(1.0), before, strict=True):
        same(a, b)


@pytest.mark.filterwarnings("ignore:a step of method .* was too long:RuntimeWarning")
@pytest.mark.parametrize("method", ["exact", "frb"])
def test_long_steps_from_beside_the_middle_axis_are_refused(method: str) -> None:
    """More than 300 growth times for a start less than 1e-135 away, but not for a start on it."""
    inertia = np.array([1.0, 1.5, 2.2])
    growth = np.sqrt((1 / inertia[0] - 1 / inertia[1]) * (1 / inertia[1] - 1 / inertia[2]))
    for off in (1e-136, 1e-150, 1e-200, 1e-300):
        for h in (310 / growth, -1000 / growth, 5000 / growth):
            m, q = ph.step(inertia, [off, 1.0, 0.0], IDENTITY, h, method=method)
            assert np.isnan(m).any()
            assert np.isnan(q).any()
    for m0, h in (([1e-100, 1.0, 0.0], 400.0), ([0.0, 1.0, 0.0], 5000 / growth)):
        assert np.isfinite(ph.step(inertia, m0, IDENTITY, h, method=method)[0]).all()


def test_a_scheme_of_ones_own_is_symmetric_where_its_stages_are() -> None:
    for a, symmetric in (([0.5, 0.5], True), ([0.3, 0.7], False)):
        assert as_splitting((a, [1.0])).symmetric == symmetric


def test_a_diagonal_alone_makes_a_tableau_implicit() -> None:
    s = MOST_IMPLICIT + 1
    a = np.tril(np.ones((s, s))) / s
    with pytest.raises(ValueError, match="implicit tableau may have"):
        ph.rkmk(a, np.full(s, 1 / s), a.sum(1))


def test_attitudes_are_made_unit() -> None:
    """To rounding in the first step, whatever they were off by."""
    q = np.array([0.5, -0.5, 0.5, 0.5])
    for off in (1e-14, 1e-12, 1e-10, 1e-9, 1e-8, -1e-12, -1e-9):
        for method in ("exact", "magnus4", "rotations123"):
            got = ph.step([1.0, 1.5, 2.0], [0.3, 0.4, 0.5], q * (1 + off), 0.3, method=method)[1]
            close(np.linalg.norm(got), 1.0, atol=3 * EPS)

"""Inputs on which public codes failed, with the right answer: `data/public_cases.json`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import reference
import tolerances as tol
from compare import close
from numpy.typing import NDArray
from tolerances import EPS, check

import polhode as ph
from polhode import so3

Array = NDArray[np.float64]

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((reference.DATA / "public_cases.json").read_text())["cases"]
}
IDENTITY = [1.0, 0.0, 0.0, 0.0]
Q1234 = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)


def numbers(decimals: list[str]) -> Array:
    return np.array([float(x) for x in decimals])


def assert_state(case: str, got: tuple[Array, Array], answer: dict[str, Any], bound: float) -> None:
    """m relative to |m| and q, whose sign counts, within `bound`."""
    m, q = numbers(answer["m"]), numbers(answer["q"])
    check(f"{case}, m", [case], [np.abs(got[0] - m).max() / np.linalg.norm(m)], bound)
    check(f"{case}, q", [case], [np.abs(got[1] - q).max()], bound)


def bound(inertia: Any, m0: Any, t: float, answer: dict[str, Any]) -> float:
    """The bound of an exact step; the cases give the effect of half an ulp in the inputs."""
    angle = float(reference.angle(inertia, m0, t))
    return float(tol.exact_bound(angle, float(answer["one_half_ulp_sensitivity"])))


# --- free bodies ---


@pytest.mark.parametrize("case", ["F01", "F03", "F07", "F08", "F11", "F19"])
def test_free_body(case: str) -> None:
    given, answer = CASES[case]["input"], CASES[case]["answer"]
    t = given.get("t", given.get("t_days"))
    q0 = given.get("q0", given.get("q0_unnormalised"))
    limit = bound(given["I"], given["m0"], t, answer)
    got = ph.step(given["I"], given["m0"], q0, t)
    assert_state(case, got, answer, limit)
    assert_state(case, ph.TorqueFreeMotion(given["I"], given["m0"], q0)(t), answer, limit)
    space = ph.momentum_spatial(*got)
    expected = numbers(answer["L_space"])
    assert np.abs(space - expected).max() <= 16 * EPS * np.linalg.norm(expected)


def test_f04_symmetric_tops_and_a_sphere() -> None:
    given, answer = CASES["F04"]["input"], CASES["F04"]["answer"]
    bodies = {"oblate": given, "prolate": given["prolate"], "sphere": given["sphere"]}
    for name, body in bodies.items():
        limit = bound(body["I"], body["m0"], given["t"], answer[name])
        got = ph.step(body["I"], body["m0"], IDENTITY, given["t"])
        assert_state(f"F04 {name}", got, answer[name], limit)


def test_f07_stays_near_its_axis() -> None:
    """Ten thousand of the million steps: no creep towards the middle axis."""
    given = CASES["F07"]["input"]
    m, q = ph.step(given["I"], given["m0"], IDENTITY, given["h"], n_steps=10_000)
    exact = reference.torque_free(given["I"], given["m0"], IDENTITY, 10_000 * given["h"])
    # h = 0.01 is not exact in binary: 1e4 of its roundings, and a random walk of the steps' own.
    assert exact.error_m(m) <= 1e-12
    assert exact.error_q(q) <= 1e-12
    energy = ph.energy(given["I"], m) / ph.energy(given["I"], given["m0"])
    assert abs(energy - 1) <= 1e-13


def test_f08_turns_over_and_comes_back() -> None:
    given, answer = CASES["F08"]["input"], CASES["F08"]["answer"]
    motion = ph.TorqueFreeMotion(given["I"], given["m0"], IDENTITY)
    assert abs(motion.period - float(answer["period"])) <= 1e-13 * motion.period
    zero = float(answer["first_zero_of_m2"])
    before, _ = motion(zero * (1 - 1e-12))
    after, _ = motion(zero * (1 + 1e-12))
    assert before[1] > 0 > after[1]
    back, _ = motion(motion.period)
    assert np.abs(back - given["m0"]).max() <= 1e-13 * 2


def test_f11_in_steps_of_sixty_radians() -> None:
    given, answer = CASES["F11"]["input"], CASES["F11"]["answer"]
    got = ph.step(given["I"], given["m0"], IDENTITY, given["h_for_steps"], n_steps=200)
    # 200 bounds of one step of 61 rad; 0.005 is not exact either.
    assert_state("F11", got, answer, 200 * 8 * EPS * 62 + 4 * 1.36e-12)
    energy = ph.energy(given["I"], got[0]) / ph.energy(given["I"], given["m0"])
    assert abs(energy - 1) <= 1e-13


def test_f12_linear_molecule_and_almost() -> None:
    given, answer = CASES["F12"]["input"], CASES["F12"]["answer"]
    got = ph.step(given["I"], given["m0"], IDENTITY, given["t"])
    assert_state("F12 linear", got, answer["linear"], 1e-14)
    assert got[0][0] == 0
    with pytest.raises(ValueError, match="zero"):
        ph.step(given["bad"]["I"], given["bad"]["m0"], IDENTITY, given["t"])
    body = given["almost"]
    limit = bound(body["I"], body["m0"], given["t"], answer["almost"])
    got = ph.step(body["I"], body["m0"], IDENTITY, given["t"])
    assert_state("F12 almost", got, answer["almost"], limit)


def test_f14_full_tensor_of_the_apollo_model() -> None:
    given, answer = CASES["F14"]["input"], CASES["F14"]["answer"]
    body = ph.RigidBody(given["I_matrix"])
    moments = numbers(answer["principal_moments"])
    assert np.abs(body.moments - moments).max() <= 8 * EPS * moments.max()
    m0 = np.array(given["I_matrix"]) @ given["omega0"]
    got = body.step(m0, IDENTITY, given["t"])
    # Two moments differ by 2 %: rounding the tensor turns the axes and changes the rates.
    assert_state("F14", got, answer, 5e-14)


def test_f17_all_octants_and_orders() -> None:
    given, answers = CASES["F17"]["input"], CASES["F17"]["answer"]
    m0 = np.array([row["m0"] for row in answers])
    m1 = np.array([numbers(row["m"]) for row in answers])
    q1 = np.array([numbers(row["q"]) for row in answers])
    names = [str(row["m0"]) for row in answers]
    limit = tol.exact_bound(reference.angle(given["I"], m0, given["t"]), 1e-15)
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
        turn = np.eye(3)[list(order)]
        turn *= np.linalg.det(turn).round()
        m, q = ph.step(np.array(given["I"])[list(order)], m0 @ turn.T, IDENTITY, given["t"])
        expected_q = np.concatenate([q1[:, :1], q1[:, 1:] @ turn.T], axis=1)
        error = np.abs(m - m1 @ turn.T).max(-1) / np.linalg.norm(m1, axis=1)
        check(f"F17 order {order}, m", names, error, limit)
        check(f"F17 order {order}, q", names, np.abs(q - expected_q).max(-1), limit)


# --- bodies ---


def test_i01_rod_that_breaks_the_triangle_inequality_by_rounding() -> None:
    given = CASES["I01"]["input"]
    body = ph.RigidBody.from_moments(given["I"])
    for step in (body.step, lambda *state: ph.step(given["I"], *state)):
        m, q = step(given["m0"], IDENTITY, 1.0)
        # The two equal moments differ by 3.2e-13.
        close(m, given["m0"], atol=1e-13)
        close(q, [np.cos(0.5), 0, np.sin(0.5), 0], atol=1e-12)


def test_i02_slender_leg() -> None:
    body = ph.RigidBody.from_moments(CASES["I02"]["input"]["I"])
    assert sorted(body.moments) == sorted(CASES["I02"]["input"]["I"])


def rotation(a: float, b: float, c: float) -> Array:
    def about(axis: int, angle: float) -> Array:
        q = np.zeros(4)
        q[0], q[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
        return np.array(reference.to_matrix(list(q)), float)

    return about(2, a) @ about(0, b) @ about(2, c)


def test_i05_boundary_of_the_triangle_inequality() -> None:
    given = CASES["I05"]["input"]
    turn = rotation(*given["turn"])
    for moments in given["accept"]:
        for tensor in (np.diag(moments), turn @ np.diag(moments) @ turn.T):
            ph.RigidBody(tensor)
    for texts in given["reject"]:
        moments = [float(x) for x in texts]
        for tensor in (np.diag(moments), turn @ np.diag(moments) @ turn.T):
            with pytest.raises(ValueError, match=r"moments of tensor|tensor = "):
                ph.RigidBody(tensor)
    # The report's own heavy top breaks the inequality by far.
    ph.RigidBody(np.diag([1.0, 1.0, 3.0]), physical=False)
    almost, exact = (
        ph.RigidBody.from_moments(moments).step([0, 0.6, 0.8], IDENTITY, 0.3)
        for moments in ([-1e-18, 2.0, 2.0], [0.0, 2.0, 2.0])
    )
    np.testing.assert_array_equal(almost[1], exact[1])


def test_i07_zero_moment_between_the_axes() -> None:
    given, answer = CASES["I07"]["input"], CASES["I07"]["answer"]
    body = ph.RigidBody(given["I_matrix"])
    close(np.sort(body.moments), numbers(answer["principal_moments"]), atol=1e-16)
    m, q = body.step(given["m0"], given["q0"], given["t"])
    close(m, given["m0"], atol=1e-15)
    close(q, numbers(answer["q"]), atol=2e-15)
    with pytest.raises(ValueError, match="zero"):
        body.step([0.1, -0.1, 0.0], given["q0"], given["t"])


def test_i08_signs_of_the_products_of_inertia() -> None:
    given, answer = CASES["I08"]["input"], CASES["I08"]["answer"]
    masses = [point[0] for point in given["points"]]
    places = [point[1] for point in given["points"]]
    body = ph.RigidBody.from_points(masses, places)
    close(body.tensor, answer["I_matrix"], atol=1e-15)
    close(body.moments, numbers(answer["principal_moments"]), atol=4e-15)
    m0 = np.array(answer["I_matrix"]) @ given["omega0"]
    got = body.step(m0, IDENTITY, given["t"])
    assert_state("I08", got, answer, 8 * EPS * (1 + 6) + 4 * 2e-15)


def test_i11_indefinite_tensors_are_refused() -> None:
    given = CASES["I11"]["input"]
    with pytest.raises(ValueError, match=r"-17851\.9"):
        ph.RigidBody(given["I_matrix"])
    for make in (ph.RigidBody.from_moments, lambda x: ph.step(x, [0, 0, 1], IDENTITY, 0.1)):
        with pytest.raises(ValueError, match=r"-0\.0012366"):
            make(given["I_diag_2"])


# --- quaternions ---


def test_q01_scalar_first() -> None:
    given, answer = CASES["Q01"]["input"], CASES["Q01"]["answer"]
    for key, q in (("if_wxyz", given["q"]), ("if_xyzw", np.roll(given["q"], 1))):
        turned = so3.rotate(np.array(q) / np.linalg.norm(q), given["v"])
        close(turned, numbers(answer[key]), atol=1e-7)


def test_q03_rates_in_body_and_space() -> None:
    given, answer = CASES["Q03"]["input"], CASES["Q03"]["answer"]
    omega = np.array(given["omega_body"])
    space = so3.rotate(Q1234, omega)
    close(space, numbers(answer["omega_space"]), atol=2 * EPS)
    expected = numbers(answer["qdot"])
    from_body = so3.multiply(Q1234, [0.0, *omega]) / 2
    from_space = so3.multiply([0.0, *space], Q1234) / 2
    close(from_body, expected, atol=EPS)
    close(from_space, expected, atol=EPS)
    # And the flow has this derivative: a sphere of moment 1, a small step each way.
    h = 1e-5
    (_, ahead), (_, behind) = (ph.step([1, 1, 1], omega, Q1234, s) for s in (h, -h))
    close((ahead - behind) / (2 * h), expected, atol=1e-10)


def test_q05_half_turns() -> None:
    half = np.sqrt(0.5)
    expected = [[0, half, -half, 0], [0, half, half, 0], [0, 0, 0, 1], [0, 1, 0, 0]]
    matrices = np.array(CASES["Q05"]["input"]["R"], float)
    got = so3.to_quaternion(matrices)
    for q, known in zip(got, expected, strict=True):
        sign = np.sign(np.dot(q, known))
        close(sign * q, known, atol=2 * EPS)
    close(so3.to_matrix(got), matrices, atol=2 * EPS)


def test_q06_neighbours_in_a_series_keep_their_sign() -> None:
    given = CASES["Q06"]["input"]
    assert np.dot(given["qa"], given["qb"]) < -0.99, "the case: near as rotations, signs apart"
    times = np.arange(0.0, 100.0, 0.25)[:, None]
    body = ([1.0, 1.5, 2.2], [[0.8, 0.3, 0.4], [0.3, 0.5, 0.8]], given["qa"])
    _, q = ph.TorqueFreeMotion(*body)(times)
    cosines = np.sum(q[1:] * q[:-1], axis=-1)
    assert (cosines > 0.9).all()
    # In steps, too.
    state = (np.array(body[1]), np.array([given["qa"]] * 2))
    for _ in range(100):
        m, after = ph.step(body[0], *state, 0.25)
        assert (np.sum(after * state[1], axis=-1) > 0.9).all()
        state = (m, after)


def test_q09_single_precision_above_one() -> None:
    q0 = np.array(CASES["Q09"]["input"]["q0_float32"], np.float32)
    _, q = ph.step([1, 1, 1], [0.0, 0.0, 1.0], q0, 0.0)
    assert abs(np.linalg.norm(q) - 1) <= EPS
    vector = so3.log(q)
    assert np.isfinite(vector).all()


def test_q11_frames_of_omega_and_m() -> None:
    given, answer = CASES["Q11"]["input"], CASES["Q11"]["answer"]
    omega = so3.rotate(so3.conjugate(Q1234), given["omega_space"])
    close(omega, numbers(answer["omega_body"]), atol=2 * EPS)
    m = ph.momentum(given["I"], omega)
    close(m, numbers(answer["m_body"]), atol=4 * EPS)
    space = ph.momentum_spatial(m, Q1234)
    close(space, numbers(answer["m_space"]), atol=4 * EPS)
    close(ph.omega(given["I"], m), omega, rtol=2 * EPS)
    assert abs(ph.energy(given["I"], m) - float(answer["energy"])) <= 4 * EPS
    got = ph.step(given["I"], m, Q1234, given["t"])
    end = {"m": answer["m_t"], "q": answer["q_t"]}
    assert_state("Q11", got, end, float(tol.exact_bound(1.5, 1e-15)))


# --- arrays ---

ROW = {"m": CASES["F17"]["answer"][0]["m"], "q": CASES["F17"]["answer"][0]["q"]}


def a_hundred() -> tuple[list[float], Array, Array, float]:
    given = CASES["A01"]["input"]
    return given["I"], np.tile(given["m0"], (100, 1)), np.tile(given["q0"], (100, 1)), given["t"]


def assert_rows(got: tuple[Array, Array]) -> None:
    for m, q in zip(*got, strict=True):
        assert_state("row", (m, q), ROW, 1e-14)
    assert (got[0] == got[0][0]).all()
    assert (got[1] == got[1][0]).all()


def test_a01_strided_views() -> None:
    inertia, m, q, t = a_hundred()
    wide = np.zeros((100, 7))
    wide[:, 1:5] = q
    for views in (
        (np.repeat(m, 2, axis=0)[::2], wide[:, 1:5]),
        (np.asfortranarray(m), q),
        (m.T.copy().T, q),
    ):
        assert_rows(ph.step(inertia, *views, t))


def test_a03_structured_records() -> None:
    inertia, m, q, t = a_hundred()
    records = np.zeros(100, dtype=[("id", "i8"), ("m", "f8", 3), ("q", "f8", 4)])
    records["m"], records["q"] = m, q
    records["id"] = np.arange(100) * 10**15
    assert_rows(ph.step(inertia, records["m"], records["q"], t))


def test_a05_integers() -> None:
    given, answer = CASES["A05"]["input"], CASES["A05"]["answer"]
    whole = [np.array(given[key], np.int64) for key in ("I", "m0", "q0")]
    got = ph.step(*whole, 1)
    assert got[0].dtype == got[1].dtype == np.float64
    assert_state("A05", got, answer, 1e-14)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    q = so3.to_quaternion(turn)
    close(q, numbers(answer["R_to_q"]), atol=EPS)
    # A whole-number matrix is an attitude like any other.
    _, matrix = ph.step(*whole[:2], turn, 1)
    _, also = ph.step(*whole[:2], q, 1)
    close(matrix, so3.to_matrix(also), atol=8 * EPS)


def test_a09_read_only_inputs() -> None:
    inertia, m, q, t = a_hundred()
    frozen = np.broadcast_to(m[0], (100, 3)), np.broadcast_to(q[0], (100, 4))
    assert_rows(ph.step(inertia, *frozen, t))


def test_a11_last_axes_of_a_wrong_length() -> None:
    with pytest.raises(ValueError, match=r"\(3,\)"):
        ph.step([1, 2, 3], [0.3, 0.8, 1.5], [1, 0, 0], 1.0)
    with pytest.raises(ValueError, match=r"\(5, 4\)"):
        ph.step([1, 2, 3], np.zeros((5, 4)), IDENTITY, 1.0)
    with pytest.raises(ValueError, match=r"\(5, 2\)"):
        ph.step(np.ones((5, 2)), np.zeros((5, 3)), IDENTITY, 1.0)
    # A (3, 3) array of `step` is three bodies' moments; of RigidBody one tensor.
    m, _ = ph.step(np.ones((3, 3)), [0.3, 0.8, 1.5], IDENTITY, 1.0)
    assert m.shape == (3, 3)
    assert ph.RigidBody(np.eye(3)).moments.shape == (3,)


# --- robustness ---


def test_r01_steps_of_every_kind() -> None:
    given, answer = CASES["R01"]["input"], CASES["R01"]["answer"]
    state = (given["I"], given["m0"], given["q0"])
    m, q = ph.step(*state, 0.0)
    np.testing.assert_array_equal(m, given["m0"])
    np.testing.assert_array_equal(q, given["q0"])
    assert_state("R01", ph.step(*state, given["t"]), answer["t_minus_3"], 1e-14)
    for bad in (np.inf, -np.inf, np.nan):
        m, q = ph.step(*state, bad)
        assert np.isnan(m).all()
        assert np.isnan(q).all()


@pytest.mark.parametrize(("t", "limit"), [(1.0, 1e-14), (1000.0, 1e-11)])
def test_r02_there_and_back(t: float, limit: float) -> None:
    given = CASES["R02"]["input"]
    there = ph.step(given["I"], given["m0"], given["q0"], t)
    m, q = ph.step(given["I"], *there, -t)
    close(m, given["m0"], atol=limit)
    close(q, given["q0"], atol=limit)


def test_r05_quaternions_of_a_sensor_that_is_not_ready() -> None:
    with pytest.raises(ValueError, match=r"\b1\b"):
        ph.step([1, 2, 3], [0.3, 0.8, 1.5], [IDENTITY, [0, 0, 0, 0]], 1.0)
    m, q = ph.step([1, 2, 3], [0.3, 0.8, 1.5], [IDENTITY, [np.nan, 0, 0, 1]], 1.0)
    assert np.isfinite(m[0]).all()
    assert np.isfinite(q[0]).all()
    assert np.isnan(q[1]).all()


def test_r07_short_and_uneven_times() -> None:
    given, answer = CASES["R07"]["input"], CASES["R07"]["answer"]
    motion = ph.TorqueFreeMotion(given["I"], given["m0"], given["q0"])
    m, q = motion(np.array(given["t"]))
    assert_state("R07", (m[-1], q[-1]), answer["at_5e_3"], 1e-15)
    np.testing.assert_array_equal(m[2], m[3])
    np.testing.assert_array_equal(q[2], q[3])
    shuffled = np.array(given["t"])[[4, 0, 3, 1, 2]]
    also, _ = motion(shuffled)
    np.testing.assert_array_equal(also, m[[4, 0, 3, 1, 2]])


# --- torque ---


def heavy_top(
    inertia: list[float], given: dict[str, Any], u0: list[float], axis: list[float]
) -> Any:
    m0 = np.array(inertia) * given["omega0"]
    top = ph.torques.HeavyTop(u0=u0, axis=axis)

    def run(t: float, n_steps: int, splitting: str) -> Any:
        return ph.integrate(
            inertia, m0, given["q0"], t / n_steps, n_steps,
            torque=top, splitting=splitting, save_every=n_steps,
        )  # fmt: skip

    return run


def state_error(traj: Any, answer: dict[str, Any]) -> float:
    m, q = numbers(answer["m"]), numbers(answer["q"])
    return max(
        float(np.abs(traj.m[-1] - m).max() / np.linalg.norm(m)), float(np.abs(traj.q[-1] - q).max())
    )


def test_t01_fast_top_almost_upright() -> None:
    """Torque -20 (Q e3) x ez in space: u0 = (0, 0, 20)."""
    given, answers = CASES["T01"]["input"], CASES["T01"]["answer"]
    run = heavy_top(given["J"], given, [0.0, 0.0, 20.0], [0.0, 0.0, 1.0])
    answer = answers["t=1"]
    coarse, fine = (state_error(run(1.0, n, "strang"), answer) for n in (250, 500))
    assert 3.8 < coarse / fine < 4.2, f"{coarse:.3e}, {fine:.3e}"
    traj = run(1.0, 100, "rkn6_14")
    # A hundred steps of half a radian: 4e-15, all of it rounding.
    assert state_error(traj, answer) <= 5e-14
    energy = traj.energy()
    assert abs(energy[-1] - float(answer["H"])) <= 1e-12 * float(answer["H"])
    # The kicks never touch the spin, the free flow of a symmetric body leaves it alone.
    assert abs(traj.m[-1, 2] - 50.0) <= 1e-13 * 50
    traj = run(10.0, 1000, "rkn6_14")
    assert state_error(traj, answers["t=10"]) <= 5e-13


def test_t02_fast_top_about_a_fixed_point() -> None:
    """Mass 15 at 1 m along axis 2 from the pivot: u0 = 15 * 9.81 ez, axis 2."""
    given, answers = CASES["T02"]["input"], CASES["T02"]["answer"]
    run = heavy_top(given["J_pivot"], given, [0.0, 0.0, 15 * given["g"]], given["r_body"])
    answer = answers["t=1"]
    coarse, fine = (state_error(run(1.0, n, "strang"), answer) for n in (800, 1600))
    assert 3.8 < coarse / fine < 4.2, f"{coarse:.3e}, {fine:.3e}"
    traj = run(1.0, 200, "rkn6_14")
    assert state_error(traj, answer) <= 5e-14
    assert abs(traj.m[-1, 1] - 70.3125) <= 1e-12 * 70.3125


def test_t05_sphere_under_a_polynomial_torque() -> None:
    given, answer = CASES["T05"]["input"], CASES["T05"]["answer"]

    def torque(t: float, m: Array, attitude: Array) -> Array:
        return np.array([2 - t**2, -4 + 4 * t**2, 10 - 10 * t**2])

    errors = []
    for n in (16, 32):
        traj = ph.integrate(
            given["I"], given["m0"], given["q0"], 1 / n, n, torque=torque, splitting="strang"
        )
        errors.append(state_error(traj, answer))
    assert 3.8 < errors[0] / errors[1] < 4.2, errors

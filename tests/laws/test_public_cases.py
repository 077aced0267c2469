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

Array = NDArray[np.float64]

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((reference.DATA / "public_cases.json").read_text())["cases"]
}
IDENTITY = [1.0, 0.0, 0.0, 0.0]


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
    assert np.abs(np.sort(body.moments) - moments).max() <= 8 * EPS * moments.max()
    m0 = np.array(given["I_matrix"]) @ given["omega0"]
    got = body.step(m0, IDENTITY, given["t"])
    # Two moments differ by 2 %: rounding the tensor turns the axes and changes the rates.
    assert_state("F14", got, answer, 5e-14)


# --- bodies ---


def test_i01_rod_that_breaks_the_triangle_inequality_by_rounding() -> None:
    given = CASES["I01"]["input"]
    body = ph.RigidBody.from_moments(given["I"])
    for step in (body.step, lambda *state: ph.step(given["I"], *state)):
        m, q = step(given["m0"], IDENTITY, 1.0)
        # The two equal moments differ by 3.2e-13.
        close(m, given["m0"], atol=1e-13)
        close(q, [np.cos(0.5), 0, np.sin(0.5), 0], atol=1e-12)


# --- quaternions ---


# --- arrays ---


# --- robustness ---


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

    def torque(t: float, attitude: Array) -> Array:
        return np.array([2 - t**2, -4 + 4 * t**2, 10 - 10 * t**2])

    errors = []
    for n in (16, 32):
        traj = ph.integrate(
            given["I"], given["m0"], given["q0"], 1 / n, n, torque=torque, splitting="strang"
        )
        errors.append(state_error(traj, answer))
    assert 3.8 < errors[0] / errors[1] < 4.2, errors

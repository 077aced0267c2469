"""What [Krysl07] claims of its methods, sections 3.2 to 3.7, and its misprints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA = np.array([0.9144, 1.098, 1.66])
M0 = INERTIA * [0.45549, 0.82623, 0.03476]
Q0 = np.array([0.6, -0.48, 0.0, 0.64])
SYMMETRIC = ("trap", "imid", "trapm", "imidm", "swc1", "akw", "bbtrap")
NAMES = (*SYMMETRIC, "bbtrapwd")
State = tuple[Array, Array, float]


def torque(t: float, q: Array) -> Array:
    """The torque of a weight that grows with time, next to the third axis."""
    pull = np.einsum("...ji,j->...i", ph.so3.to_matrix(q), [0.2, -0.3, 0.6])
    return np.cross((1 + t) * pull, [0.1, 0.0, 1.0])


def step(method: str, h: float, state: State, force: Any = torque, **options: Any) -> State:
    m, q, t = state
    end = ph.integrate(
        INERTIA, m, q, h, 1, torque=force, method=method, splitting=None, t0=t, **options
    )
    return end.m[-1], end.q[-1], t + h


def forward(h: float, state: State, form: str, force: Any = torque) -> State:
    return step("euler_forward", h, state, force, form=form)


def backward(h: float, state: State, form: str, force: Any = torque) -> State:
    return step("euler_backward", h, state, force, form=form)


def distance(a: State, b: State) -> float:
    close(a[2], b[2], atol=1e-15)
    return float(max(np.abs(a[0] - b[0]).max(), np.abs(a[1] - b[1]).max()))


START: State = (M0, Q0, 0.25)
# One or two implicit steps of |m| = 1, each solved to a few roundings.
ROUNDING = 16 * EPS
with_and_without = pytest.mark.parametrize("force", [None, torque])
both_forms = pytest.mark.parametrize("form", ["rate", "momentum"])
PAIRS = {"rate": ("trap", "imid"), "momentum": ("trapm", "imidm")}


# Euler's two methods and their compositions ------------------------------------------------------


@with_and_without
@both_forms
def test_eulers_methods_are_adjoint(form: str, force: Any) -> None:
    """Sec. 3.2: each undoes the other with the step reversed."""
    there = forward(0.4, START, form, force)
    assert distance(backward(-0.4, there, form, force), START) < ROUNDING
    there = backward(0.4, START, form, force)
    assert distance(forward(-0.4, there, form, force), START) < ROUNDING
    assert distance(forward(-0.4, forward(0.4, START, form, force), form, force), START) > 1e-3


@with_and_without
@both_forms
def test_trapezoid_and_midpoint_are_compositions(form: str, force: Any) -> None:
    """Secs 3.3, 3.4 and 3.6: backward after forward, forward after backward, halves of the step."""
    trapezoid, midpoint = PAIRS[form]
    h = 0.5
    one = backward(h / 2, forward(h / 2, START, form, force), form, force)
    assert distance(one, step(trapezoid, h, START, force)) < ROUNDING
    one = forward(h / 2, backward(h / 2, START, form, force), form, force)
    assert distance(one, step(midpoint, h, START, force)) < ROUNDING


@with_and_without
@both_forms
def test_trapezoid_and_midpoint_are_conjugate(form: str, force: Any) -> None:
    """Secs 3.5 and 3.7: TRAP o bE = bE o IMID, over many steps."""
    trapezoid, midpoint = PAIRS[form]
    h = 0.5
    one = backward(h / 2, START, form, force)
    other = START
    for _ in range(20):
        one = step(trapezoid, h, one, force)
        other = step(midpoint, h, other, force)
    other = backward(h / 2, other, form, force)
    # 20 steps, |m| up to 30 at the end.
    assert distance(one, other) < 20 * ROUNDING * max(1.0, float(np.abs(one[0]).max()))
    # Not so by the other form of Euler's method.
    form = "momentum" if form == "rate" else "rate"
    one = step(trapezoid, h, backward(h / 2, START, form, force), force)
    other = backward(h / 2, step(midpoint, h, START, force), form, force)
    assert distance(one, other) > 1e-4


@with_and_without
@pytest.mark.parametrize("method", SYMMETRIC)
def test_symmetric_methods(method: str, force: Any) -> None:
    there = step(method, 0.4, START, force)
    assert distance(step(method, -0.4, there, force), START) < ROUNDING


@with_and_without
def test_bbtrapwd_is_not_symmetric(force: Any) -> None:
    there = step("bbtrapwd", 0.4, START, force)
    assert distance(step("bbtrapwd", -0.4, there, force), START) > 1e-5


# Conservation ------------------------------------------------------------------------------------


def relative_energy(m: Array) -> Array:
    energy = ph.energy(INERTIA, m)
    return energy / energy[0] - 1


def free_run(method: str, h: float = 0.5, n: int = 2000) -> ph.Trajectory:
    return ph.integrate(INERTIA, M0, Q0, h, n, method=method, splitting=None)


def test_trap_keeps_the_energy_half_a_step_ahead() -> None:
    """Sec. 3.5: of IMID's states, to which it is conjugate."""
    traj = free_run("trap")
    ahead, _ = ph.step(INERTIA, traj.m, traj.q, 0.25, method="euler_forward", form="rate")
    # Rounding of 2000 steps.
    assert np.ptp(relative_energy(ahead)) < 1e-13
    assert np.ptp(relative_energy(traj.m)) > 1e-3
    assert np.ptp(relative_energy(free_run("imid").m)) < 1e-13


def test_energy_drifts_only_where_the_method_is_not_symmetric() -> None:
    for method in NAMES:
        energy = relative_energy(free_run(method, n=4000).m)
        drift = abs(energy[-200:].mean() - energy[:200].mean())
        assert drift > 1e-2 if method == "bbtrapwd" else drift < 1e-4, method


def test_akw_keeps_the_energy_of_a_heavy_top() -> None:
    top = ph.torques.HeavyTop(u0=[0.0, 0.0, 0.5])
    for method in NAMES:
        traj = ph.integrate(
            [5.0, 5.0, 1.0], [0.5, 0.0, 5.0], Q0, 0.05, 1000, torque=top, method=method,
            splitting=None,
        )  # fmt: skip
        energy = traj.energy()
        spread = np.ptp(energy) / abs(energy[0])
        assert spread < 1e-13 if method == "akw" else spread > 1e-9, method


def poisson_defect(method: str, h: float) -> float:
    """Of m -> m1: |D hat(m) D^T - hat(m1)|, D by central differences, good to 1e-10."""

    def hat(v: Array) -> Array:
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    d = 1e-5
    starts = np.concatenate([[M0], M0 + d * np.eye(3), M0 - d * np.eye(3)])
    end, _ = ph.step(INERTIA, starts, Q0, h, method=method)
    D = (end[1:4] - end[4:]).T / (2 * d)
    return float(np.abs(D @ hat(M0) @ D.T - hat(end[0])).max())


def test_none_is_symplectic() -> None:
    """Sec. 3.7 surmises that IMIDM is; the defect is of the order of the local error, h^3."""
    assert poisson_defect("exact", 0.8) < 1e-9
    for method in NAMES:
        coarse, fine = poisson_defect(method, 0.8), poisson_defect(method, 0.4)
        assert fine > 1e-7, method
        assert 2.4 < np.log2(coarse / fine) < 4.2, method


# Misprints ---------------------------------------------------------------------------------------


def test_equation_5_momentum_of_the_whole_step() -> None:
    """Printed u + (h/2) p_mid/M, which moves half as far; right h p_mid/M."""
    for factor, right in ((1.0, True), (0.5, False)):
        u, p = 1.0, 0.0
        h = 0.01
        for _ in range(100):
            # bE then fE of u' = p, p' = -u, halves of the step.
            p_mid = (p - h / 2 * u) / (1 + h * h / 4)
            u_mid = u + h / 2 * p_mid
            u, p = u + factor * h * p_mid, p - h * u_mid
        assert (abs(u - np.cos(1.0)) < 1e-4) == right


def test_equation_9_and_the_inverse_with_the_sign_needed() -> None:
    """dexp as printed; (dexp_{-v})^-1 x = x + v x x/2 + c v x (v x x)."""
    v, x = np.array([0.7, -0.4, 1.1]), np.array([0.3, 0.9, -0.2])
    S = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    theta = float(np.linalg.norm(v))
    series, term = np.eye(3), np.eye(3)
    for k in range(2, 30):
        term = term @ S / k
        series += term
    printed = (
        np.eye(3)
        + (1 - np.cos(theta)) / theta**2 * S
        + (1 - np.sin(theta) / theta) * S @ S / theta**2
    )
    close(printed, series, atol=4 * EPS)
    close(printed @ v, v, atol=4 * EPS)
    close(printed.T @ v, v, atol=4 * EPS)
    c = (1 - theta / 2 / np.tan(theta / 2)) / theta**2
    y = x + np.cross(v, x) / 2 + c * np.cross(v, np.cross(v, x))
    close(printed.T @ y, x, atol=8 * EPS)  # dexp_{-v}
    assert np.abs(printed @ y - x).max() > 0.1


def test_equation_13_turns_back() -> None:
    """Printed is R2 = R1 exp(h I^-1 Pi2), which continues the motion; right is exp(-h I^-1 Pi2)."""
    h = 0.4
    m1, q1, _ = forward(h, START, "rate", None)
    m2, q2, _ = backward(-h, (m1, q1, 0.0), "rate", None)
    close(m2, M0, atol=ROUNDING)
    for sign, right in ((-1, True), (1, False)):
        q = ph.so3.multiply(q1, ph.so3.exp(sign * h * m2 / INERTIA))
        assert (np.abs(q - Q0).max() < ROUNDING) == right
    close(q2, Q0, atol=ROUNDING)


@pytest.mark.parametrize("method", ["imid", "imidm"])
def test_torque_at_the_middle_of_the_step(method: str) -> None:
    """Printed t_n + h/2, half a step after the end; right t_{n-1} + h/2."""
    exact = ph.integrate(INERTIA, M0, Q0, 1 / 100, 100, torque=torque, splitting="kahan_li8_17")

    def error(n: int, late: float) -> float:
        h = 1 / n

        def force(t: float, q: Array) -> Array:
            return torque(t + late * h, q)

        traj = ph.integrate(INERTIA, M0, Q0, h, n, torque=force, method=method, splitting=None)
        return float(np.abs(traj.m[-1] - exact.m[-1]).max())

    close(np.log2(error(32, 0.0) / error(64, 0.0)), 2, atol=0.1)
    close(np.log2(error(32, 1.0) / error(64, 1.0)), 1, atol=0.1)


def test_scaling_of_the_cayley_map_in_akw() -> None:
    """cay(v) = (1 - v/2)^-1 (1 + v/2); without the halves, twice as far, AKW does not converge."""
    _, exact = ph.step(INERTIA, M0, Q0, 1.0)

    def error(n: int, half: float) -> float:
        h, m, q = 1 / n, M0, Q0
        for _ in range(n):
            m1, own = ph.step(INERTIA, m, q, h, method="akw")
            v = half * h * (m + m1) / 2 / INERTIA
            turn = np.array([1.0, *v]) / np.sqrt(1 + v @ v)
            q = ph.so3.multiply(q, turn)
            m = m1
            if half == 0.5:
                close(own, q, atol=ROUNDING)
                q = own
        return float(np.abs(q - exact).max())

    close(np.log2(error(16, 0.5) / error(32, 0.5)), 2, atol=0.1)
    assert min(error(16, 1.0), error(256, 1.0)) > 0.1


@both_forms
def test_composition_whose_adjoint_section_37_takes(form: str) -> None:
    """Printed Phi*_{-h/2} o Phi_{h/2}, which is the identity; right Phi_{h/2} o Phi*_{h/2}."""
    h = 0.4
    printed = backward(-h / 2, forward(h / 2, START, form), form)
    assert distance(printed, START) < ROUNDING
    right = forward(h / 2, backward(h / 2, START, form), form)
    assert distance(right, step(PAIRS[form][1], h, START)) < ROUNDING


# Roots -------------------------------------------------------------------------------------------


def turned(v: Array, x: Array) -> Array:
    """exp(v) x."""
    theta = np.linalg.norm(v, axis=-1, keepdims=True)
    vx = np.cross(v, x)
    return x + np.sinc(theta / np.pi) * vx + 0.5 * np.sinc(theta / 2 / np.pi) ** 2 * np.cross(v, vx)


def followed(inertia: Array, m: Array, h: Array, parts: int) -> tuple[Array, Array]:
    """Momentum after swc1 by the root connected with h = 0, and where there is one."""
    d, z, before = 1e-6, np.zeros_like(m), np.zeros_like(m)
    there = np.ones(len(m), bool)
    near = np.concatenate([np.zeros((1, 3)), d * np.eye(3), -d * np.eye(3)])[:, None]  # for J
    for k in range(1, parts + 1):
        s = h[:, None] * (0.5 * k / parts)
        guess = x = 2 * z - before
        for _ in range(3):
            y = x + near
            F = y - s * (m + turned(-y, m)) / inertia
            J = np.moveaxis(F[1:4] - F[4:], 0, -1) / (2 * d)
            det = np.linalg.det(J)
            J[np.abs(det) < 1e-12] = np.eye(3)
            step = np.linalg.solve(J, F[0][..., None])[..., 0]
            x = x - step
        there &= (det > 0) & (np.abs(step).max(1) < 1e-7)
        there &= np.abs(x - guess).max(1) < 40 / parts
        before, z = z, np.where(there[:, None], x, z)
    return turned(-z, m), there


def test_the_root_is_that_connected_with_no_step_or_none() -> None:
    """Others solve the equation too; the path to the right one may fold back before."""
    rng = np.random.default_rng(5)
    inertia, m = rng.uniform(1, 3, (100, 3)), rng.standard_normal((100, 3))
    m /= np.linalg.norm(m, axis=1)[:, None]
    h = 5 * inertia.min(1)
    right, there = followed(inertia, m, h, 4000)
    assert 50 < there.sum() < 95
    for method in ("swc1", "bbtrap"):
        with pytest.warns(RuntimeWarning, match="found no root"):
            end, _ = ph.step(inertia, m, Q0, h, method=method)
        found = np.isfinite(end).all(1)
        assert found[there].all()
        # Of body 47 the path all but folds (the least determinant is 7e-4), which is too much for
        # equal parts.
        np.testing.assert_array_equal(np.flatnonzero(found & ~there), [47])
        close(end[there], right[there], atol=1e-9)


IMPLICIT = (
    *("trap", "imid", "trapm", "imidm", "swc1", "akw", "bbtrap", "bbtrapwd", "euler_backward"),
    *("rkmk_gauss2", "rkmk_gauss4"),
)


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.parametrize("hw", [2.0, 3.2, 5.0, 9.0])
def test_bodies_that_turn_about_their_momentum(method: str, hw: float) -> None:
    """The momentum of the body stays in steps of any length, though other roots branch off."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((200, 3))
    x /= np.linalg.norm(x, axis=1)[:, None]
    flat = x * [0, 1, 1] / np.linalg.norm(x[:, 1:], axis=1)[:, None]
    rod = x * [1, 1, 0] / np.linalg.norm(x[:, :2], axis=1)[:, None]
    for inertia, m in (
        *(((0.8, 1.0, 6.2), axis) for axis in np.eye(3)),
        ((1.0, 1.0, 1.0), x),
        ((2.0, 1.0, 1.0), flat),
        ((1.0, 1.0, 0.0), rod),
    ):
        h = hw * min(I for I in inertia if I > 0)
        end, _ = ph.step(inertia, m, Q0, h, method=method)
        close(end, m, atol=32 * EPS * hw)


@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-10])
def test_next_to_an_axis_the_path_bends_but_does_not_fold(off: float) -> None:
    inertia = np.array([0.7878154783016637, 6.161757065403099, 0.9995833415768276])
    m = np.array([1.0, off, -off / 2])
    h = 2 * inertia[0]
    end, _ = ph.step(inertia, m, Q0, h, method="euler_backward")
    close(end, turned(-h * end / inertia, m), atol=1e-12)
    # Off 1e-10, in 40 digits: as far from the axis as this.
    close(end, [0.98311, 0.12179, -0.13661], atol=30 * off**0.5)


@pytest.mark.parametrize("method", IMPLICIT[:9])
@pytest.mark.parametrize("strength", [5.0, 20.0, 100.0, 500.0])
def test_under_torque_results_are_continuous_in_the_step(method: str, strength: float) -> None:
    """To h^2 |torque| = 49 where h |m| = 2 allows it: no other root, and none missing."""
    h = np.linspace(0, min(7 / strength**0.5, 2.0), 701)[1:, None]
    # A step of 1 with torques h times as large and moments h times as small is a step of h.
    top = ph.torques.HeavyTop(u0=h * [0.0, 0.0, strength])
    run = ph.integrate(INERTIA / h, M0, Q0, 1.0, 1, torque=top, method=method, splitting=None)
    assert np.abs(np.diff(run.q[-1], axis=0)).max() < 0.02


def test_a_root_that_frozen_torques_do_not_lead_to() -> None:
    """Right: from a continuation of the whole equation; a second solution turns by 3.7 rad."""
    end = ph.integrate(
        [1.1055690215072447, 1.0, 1.1808892542302387],
        [-0.020950141356882758, -0.17909054048847559, 0.9836095108754653],
        [1.0, 0.0, 0.0, 0.0],
        1.0,
        1,
        torque=ph.torques.HeavyTop([-3.789600259931354, -0.8685131563328555, -0.9405396149046341]),
        method="euler_backward",
        splitting=None,
    )
    close(end.m[-1], [-0.22176, 1.01546, 0.43180], atol=1e-5)


def test_a_root_that_needs_the_whole_derivative() -> None:
    """Right: from a continuation of the whole equation."""
    end = ph.integrate(
        [1.0, 1.22, 1.33],
        [0.08, 0.65, -0.75],
        [1.0, 0.0, 0.0, 0.0],
        1.0,
        1,
        torque=ph.torques.HeavyTop([-0.09, -1.18, 2.48]),
        method="euler_backward",
        form="rate",
        splitting=None,
    )
    right = [-1.34368343, -1.10649847, -1.01810853]
    close(end.m[-1], right, atol=1e-8)


@pytest.mark.parametrize("method", IMPLICIT[:9])
@pytest.mark.parametrize("strength", [1.0, 2.0, 3.0, 10.0, 200.0])
def test_damping_of_spheres(method: str, strength: float) -> None:
    """A linear equation: m falls by 1/(1 + x), (1 - x/2)/(1 + x/2) or their like, x = h c."""
    rng = np.random.default_rng(6)
    m = rng.standard_normal((100, 3))
    end = ph.integrate(
        [1.0, 1.0, 1.0],
        m,
        [1.0, 0.0, 0.0, 0.0],
        0.1,
        1,
        torque=lambda t, m, q: -10 * strength * m,
        method=method,
        splitting=None,
    )
    x = strength
    backward = method == "euler_backward"
    factor = 1 / (1 + x) if backward else (1 - x / 2) / (1 + x / 2)
    close(end.m[-1], factor * m, atol=1e-12 * (1 + x))


def test_the_path_of_trapm_is_in_the_whole_step() -> None:
    inertia = np.array([0.5364617125028749, 6.451084931755509, 0.7566873882414348])
    m = np.array([0.41956682898082664, -0.7090326869145102, 0.5667771386583653])
    h = np.linspace(0, 5 * inertia[0], 2001)
    end, _ = ph.step(inertia, m, Q0, h, method="trapm")
    assert np.abs(np.diff(end, axis=0)).max() < 2e-3
    close(end[-1], [-0.27685, -0.62676, 0.72837], atol=1e-5)


@pytest.mark.parametrize("way", [True, "buss"])
def test_rates_are_not_corrected(way: bool | str) -> None:
    """They do not keep the momentum in space, by which a correction turns the body."""
    options: dict[str, Any] = {"method": "euler_backward", "form": "rate", "energy_correction": way}
    with pytest.raises(ValueError, match="form='rate'"):
        ph.step(INERTIA, M0, Q0, 0.1, **options)
    with pytest.raises(ValueError, match="form='rate'"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 1, splitting=None, **options)

"""Runge-Kutta methods of Munthe-Kaas against the formulas, step by step, and their claims."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray

import polhode as ph
from polhode import _core

Array = NDArray[np.float64]
EPS = 2.0**-52
INERTIA, M0 = np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8])
Q0 = np.array([0.6, -0.48, 0.0, 0.64])
UP = np.array([0.2, -0.3, 0.6])
READY = ("rkmk4", "rkmk_midpoint", "rkmk_gauss2", "rkmk_gauss4")
Tableau = tuple[Any, Any, Any]


def gauss(s: int) -> Tableau:
    """Gauss's collocation method of s stages, order 2 s."""
    x, w = np.polynomial.legendre.leggauss(s)
    c = (x + 1) / 2
    powers = np.arange(s)
    a = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)
    return a, w / 2, a.sum(1)


TABLEAUS: dict[str, tuple[Tableau, int]] = {
    "euler_forward": (([[0]], [1], [0]), 1),
    "euler_backward": (([[1]], [1], [1]), 1),
    "trapezoid": (([[0, 0], [0.5, 0.5]], [0.5, 0.5], [0, 1]), 2),
    "heun3": (([[0, 0, 0], [1 / 3, 0, 0], [0, 2 / 3, 0]], [1 / 4, 0, 3 / 4], [0, 1 / 3, 2 / 3]), 3),
    # Diagonally implicit, two stages.
    "crouzeix3": (
        (
            [[0.5 + 3**0.5 / 6, 0], [-(3**0.5) / 3, 0.5 + 3**0.5 / 6]],
            [0.5, 0.5],
            [0.5 + 3**0.5 / 6, 0.5 - 3**0.5 / 6],
        ),
        3,
    ),
    "gauss2": (gauss(1), 2),
    "gauss4": (gauss(2), 4),
    "gauss6": (gauss(3), 6),
    "midpoint": (([[0, 0], [0.5, 0]], [0, 1], [0, 0.5]), 2),
    "classical": (
        (
            [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]],
            [1 / 6, 1 / 3, 1 / 3, 1 / 6],
            [0, 0.5, 0.5, 1],
        ),
        4,
    ),
}
MADE = {"rkmk4": "classical", "rkmk_midpoint": "midpoint"} | {
    "rkmk_gauss2": "gauss2",
    "rkmk_gauss4": "gauss4",
}


def made(name: str) -> ph.MuntheKaas:
    return ph.rkmk(*TABLEAUS[name][0])


def torque(t: float, q: Array) -> Array:
    """A weight that grows with time, next to the third axis."""
    Q = ph.so3.to_matrix(q) if q.shape[-1] == 4 else q
    return np.cross((1 + t) * np.einsum("...ji,j->...i", Q, UP), [0.1, 0.0, 1.0])


def nothing(t: float, q: Array) -> Array:
    return np.zeros((*q.shape[:-2], 3)) if q.shape[-2:] == (3, 3) else 0 * q[..., 1:]


# The formulas again, with matrices ---------------------------------------------------------------


def skew(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def exp(v: Array) -> Array:
    return ph.so3.to_matrix(ph.so3.exp(v))


def dexp(v: Array) -> Array:
    """[Krysl07] eq. (9), by its series of powers of skew(v)."""
    S, term, total = skew(v), np.eye(3), np.eye(3)
    for k in range(2, 30):
        term = term @ S / k
        total = total + term
    return total


def step_by_the_box(
    tableau: Tableau, force: Any, m: Array, Q: Array, t: float, h: float
) -> tuple[Array, Array]:
    """[Krysl07] algorithm MKRK, its stages repeated until they stand."""
    a, b, c = (np.asarray(x, float) for x in tableau)
    s = len(b)
    P = np.zeros((s, 3))

    def stages() -> tuple[Array, Array]:
        slopes, forces = np.zeros((s, 3)), forces_before
        for _ in range(60):
            slopes = np.zeros((s, 3))
            new = np.zeros((s, 3))
            for j in range(s):
                L = m + h * a[j] @ forces
                slopes[j] = np.linalg.solve(dexp(-P[j]), exp(-P[j]) @ L / INERTIA)
                new[j] = exp(P[j]) @ force(t + c[j] * h, Q @ exp(P[j]))
            change = max(np.abs(h * a @ slopes - P).max(), np.abs(new - forces).max())
            P[...] = h * a @ slopes
            forces = new
            if change < 1e-16:
                break
        return slopes, forces

    forces_before = np.zeros((s, 3))
    slopes, forces = stages()
    end = h * b @ slopes
    return exp(-end) @ (m + h * b @ forces), Q @ exp(end)


@pytest.mark.parametrize("force", [nothing, torque])
@pytest.mark.parametrize("name", TABLEAUS)
def test_steps_are_those_of_the_box(name: str, force: Any) -> None:
    tableau, _ = TABLEAUS[name]
    m, Q, h = M0, ph.so3.to_matrix(Q0), 0.3
    for n in range(4):
        m, Q = step_by_the_box(tableau, force, m, Q, n * h, h)
    end = ph.integrate(
        INERTIA, M0, ph.so3.to_matrix(Q0), h, 4, torque=force, splitting=None, method=made(name)
    )
    # A few roundings of |m| = 1 a step; the tables are rounded too.
    close(end.m[-1], m, atol=20 * EPS)
    close(end.q[-1], Q, atol=20 * EPS)
    if force is nothing:
        m_free, Q_free = ph.step(INERTIA, M0, ph.so3.to_matrix(Q0), h, n_steps=4, method=made(name))
        close(m_free, m, atol=20 * EPS)
        close(Q_free, Q, atol=20 * EPS)


@pytest.mark.parametrize("name", READY)
def test_ready_made_ones_are_their_tableaus(name: str) -> None:
    method = made(MADE[name])
    one = ph.step(INERTIA, M0, Q0, 0.3, n_steps=5, method=name)
    other = ph.step(INERTIA, M0, Q0, 0.3, n_steps=5, method=method)
    runs = [
        ph.integrate(INERTIA, M0, Q0, 0.3, 5, torque=torque, splitting=None, method=x)
        for x in (name, method)
    ]
    # Coefficients as doubles, in two ways.
    close(other[0], one[0], atol=8 * EPS)
    close(other[1], one[1], atol=8 * EPS)
    close(runs[1].m, runs[0].m, atol=8 * EPS)
    close(runs[1].q, runs[0].q, atol=8 * EPS)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("euler_forward", "euler_forward"),
        ("euler_backward", "euler_backward"),
        ("gauss2", "imidm"),
        ("trapezoid", "bbtrapwd"),
    ],
)
@pytest.mark.parametrize("force", [None, torque])
def test_which_of_krysls_methods_are_of_the_family(name: str, method: str, force: Any) -> None:
    """[Krysl07] Sec. 3.7 and 4, with and without a torque."""
    options: dict[str, Any] = {"torque": force, "splitting": None}
    one = ph.integrate(INERTIA, M0, Q0, 0.25, 20, method=method, **options)
    other = ph.integrate(INERTIA, M0, Q0, 0.25, 20, method=made(name), **options)
    # 20 steps, |m| grows to 6: a few roundings each.
    close(other.m, one.m, atol=100 * EPS)
    close(other.q, one.q, atol=100 * EPS)


def test_trapm_is_not_of_the_family() -> None:
    one = ph.step(INERTIA, M0, Q0, 0.125, n_steps=20, method="trapm")
    other = ph.step(INERTIA, M0, Q0, 0.125, n_steps=20, method=made("trapezoid"))
    assert np.abs(one[0] - other[0]).max() > 1e-6


@pytest.mark.parametrize("force", [None, torque])
@pytest.mark.parametrize("name", TABLEAUS)
def test_order_of_the_tableau(name: str, force: Any) -> None:
    _, order = TABLEAUS[name]
    end = ph.integrate(INERTIA, M0, Q0, 1 / 200, 200, torque=force, splitting="kahan_li8_17")

    def error(n: int) -> float:
        traj = ph.integrate(
            INERTIA, M0, Q0, 1 / n, n, torque=force, splitting=None, method=made(name)
        )
        return float(np.abs(traj.q[-1] - end.q[-1]).max())

    coarse, fine = (4, 8) if order >= 6 else (32, 64)
    close(np.log2(error(coarse) / error(fine)), order, atol=0.25)


def test_the_sign_in_dexp_matters() -> None:
    """With dexp(P) in place of dexp(-P) the order of rkmk4 falls to 2: the box must not read so."""
    end = ph.step(INERTIA, M0, Q0, 1.0)[1]

    def error(n: int) -> float:
        m, Q = M0, ph.so3.to_matrix(Q0)
        h = 1 / n
        a, b, _ = (np.asarray(x, float) for x in TABLEAUS["classical"][0])
        for _ in range(n):
            slopes = np.zeros((4, 3))
            for k in range(4):
                P = h * a[k] @ slopes
                slopes[k] = np.linalg.solve(dexp(P), exp(-P) @ m / INERTIA)
            P = h * b @ slopes
            m, Q = exp(-P) @ m, Q @ exp(P)
        return float(np.abs(Q - ph.so3.to_matrix(end)).max())

    assert np.log2(error(8) / error(16)) < 2.5


@pytest.mark.parametrize("name", TABLEAUS)
def test_momentum_in_space_is_kept(name: str) -> None:
    options: dict[str, Any] = {"splitting": None, "method": made(name), "save_every": 100}
    free = ph.integrate(INERTIA, M0, Q0, 0.1, 2000, **options)
    spatial = free.momentum_spatial()
    # Rounding of 2000 steps.
    close(spatial - spatial[0], 0, atol=1e-13)
    top = ph.torques.HeavyTop(u0=[0.0, 0.0, 0.5])
    heavy = ph.integrate(INERTIA, M0, Q0, 0.02, 2000, torque=top, **options)
    upright = heavy.momentum_spatial()[:, 2]
    close(upright - upright[0], 0, atol=1e-13)


def test_only_the_midpoint_rule_of_gauss_is_symmetric() -> None:
    for name, symmetric in (("rkmk_gauss2", True), ("rkmk_gauss4", False)):
        m, _ = ph.step(INERTIA, *ph.step(INERTIA, M0, Q0, 0.4, method=name), -0.4, method=name)
        assert (np.abs(m - M0).max() < 8 * EPS) == symmetric
        (method,) = (x for x in ph.methods() if x.name == name)
        assert method.symmetric == symmetric


# Batches, options, files -------------------------------------------------------------------------


def many(n: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(11)
    q = rng.standard_normal((n, 4))
    return rng.uniform(1, 2, (n, 3)), rng.standard_normal((n, 3)), q


def test_long_implicit_steps() -> None:
    """The root is the one connected to h = 0; if it does not exist, the body is NaN."""
    inertia, m, q = many(400)
    m /= np.linalg.norm(m, axis=1)[:, None]
    for name in ("gauss2", "gauss6"):
        far = ph.step(inertia, m, q, 3.0, method=made(name))
        a, b, _ = (np.asarray(x, float) for x in TABLEAUS[name][0])
        # Followed in 30 parts instead of eight, by damped iterations and no Newton.
        followed = 0
        for i in range(0, 400, 160):
            K = np.zeros((len(b), 3))
            for h in np.linspace(0, 3, 31)[1:]:
                for _ in range(200 if h == 3 else 20):
                    slopes = [
                        h * np.linalg.solve(dexp(-P), exp(-P) @ m[i] / inertia[i]) for P in a @ K
                    ]
                    change = np.abs(slopes - K).max()
                    K = 0.6 * K + 0.4 * np.array(slopes)
                    if change < 1e-9:
                        break
            if change < 1e-9:
                followed += 1
                close(far[0][i], exp(-b @ K) @ m[i], atol=1e-7)
        assert followed >= 2
    with pytest.warns(RuntimeWarning, match="found no root"):
        lost = ph.step(inertia, m, q, 30.0, method="rkmk_gauss4")
    assert np.isnan(lost[0]).any()


def test_sweeps_that_do_not_end_are_nan_and_counted() -> None:
    top = ph.torques.HeavyTop(u0=[0.0, 0.0, 500.0])
    with pytest.warns(RuntimeWarning, match="found no root"):
        traj = ph.integrate(
            INERTIA, M0, Q0, 0.5, 1, torque=top, splitting=None, method="rkmk_gauss4"
        )
    assert np.isnan(traj.m[-1]).all()


def test_explicit_methods_lack_no_root() -> None:
    """Steps outside the range of numbers are NaN, but not because a root is missing."""
    heun = ph.rkmk([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], [0.0, 1.0])
    h = 1e300
    for method in ("rkmk4", "rkmk_midpoint", "euler_forward", heun):
        with pytest.warns(RuntimeWarning, match="^a step of method .* was too long .*: 1 body is"):
            m, _ = ph.step(INERTIA, 1e10 * M0, Q0, h, method=method)
        assert np.isnan(m).any()
        with pytest.warns(RuntimeWarning, match="^a step of method .* was too long .*: 1 body is"):
            ph.integrate(INERTIA, 1e10 * M0, Q0, h, 1, method=method, splitting=None)
    with pytest.warns(RuntimeWarning, match="found no root in a step: 1 body"):
        ph.step(INERTIA, 1e10 * M0, Q0, h, method="rkmk_gauss2")


def test_a_torque_that_is_not_finite_is_named_in_place_of_the_root() -> None:
    def torque(t: float, m: Array, q: Array) -> Array:
        return np.full_like(m, np.nan)

    with pytest.warns(RuntimeWarning, match="^the torque was not finite: 1 body is NaN$"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 2, torque=torque, method="imidm", splitting=None)


def test_where_a_method_may_stand() -> None:
    method = made("heun3")
    body = ph.RigidBody(np.diag(INERTIA))
    plain = ph.step(INERTIA, M0, Q0, 0.1, method=method)
    own = body.step(M0, Q0, 0.1, method=method)
    close(own[0], plain[0], atol=4 * EPS)
    assert ph.flops(method)["total"] < ph.flops("rkmk4")["total"]
    traj = ph.integrate(INERTIA, M0, Q0, 0.1, 3, torque=torque, method=method)  # as a free flow
    assert np.isfinite(traj.m).all()
    assert method == made("heun3")
    assert method.stages == 3
    assert not method.implicit
    assert made("gauss4").implicit


def test_files(tmp_path: Path) -> None:
    calls = 0

    def stop(step: int, t: float, m: Array, q: Array) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise RuntimeError("enough")

    options: dict[str, Any] = {"torque": ph.torques.HeavyTop(u0=UP), "splitting": None}
    options["method"] = made("gauss6")
    whole = ph.integrate(INERTIA, M0, Q0, 0.1, 9, **options)
    with pytest.raises(RuntimeError, match="enough"):
        ph.integrate(INERTIA, M0, Q0, 0.1, 9, save_to=tmp_path / "run", callback=stop, **options)
    rest = ph.resume(tmp_path / "run")
    np.testing.assert_array_equal(rest.m, whole.m)
    np.testing.assert_array_equal(rest.q, whole.q)


def test_refused_tableaus() -> None:
    with pytest.raises(ValueError, match="shape"):
        ph.rkmk([[0, 0]], [1], [0])
    with pytest.raises(ValueError, match="sum 1"):
        ph.rkmk([[0.5]], [0.9], [0.5])
    with pytest.raises(ValueError, match=r"c\[1\]"):
        ph.rkmk([[0, 0], [0.5, 0]], [0, 1], [0, 0.6])
    with pytest.raises(ValueError, match="finite"):
        ph.rkmk([[np.nan]], [1], [0])
    with pytest.raises(ValueError, match="at least 1"):
        ph.rkmk(np.zeros((0, 0)), [], [])
    with pytest.raises(ValueError, match="may have 8 stages"):
        ph.rkmk(*gauss(9))
    with pytest.raises(TypeError):
        ph.rkmk([["a"]], [1], [0])
    with pytest.raises(ValueError, match="unknown method 'rkmk'"):
        ph.step(INERTIA, M0, Q0, 0.1, method="rkmk")
    with pytest.raises(TypeError, match="no option 'axes'"):
        ph.step(INERTIA, M0, Q0, 0.1, method=made("heun3"), axes=(1, 2, 3))
    assert "rkmk" not in [method.name for method in ph.methods()]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"b": (1 / 40,) * 40}, "shape"),
        ({"b": (1.0, 2.0)}, "shape"),
        ({"b": (2.0,)}, "sum 1"),
        ({"a": ((3.0,),)}, "sums of the rows"),
        ({"c": (np.nan,)}, "finite"),
    ],
)
def test_changed_tableaus_are_checked_like_new_ones(changes: dict[str, Any], message: str) -> None:
    euler = ph.rkmk([[0.0]], [1.0], [0.0])
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(euler, **changes)


@pytest.mark.parametrize(
    "numbers", [[], [1.0], [40.0, 0.0, 1.0, 0.0], [1.5, 0.0, 1.0, 0.0], [np.nan]]
)
def test_the_core_takes_no_coefficients_of_the_wrong_number(numbers: list[float]) -> None:
    with pytest.raises(ValueError, match="coefficients"):
        _core.direct_stages(_core.rows["rkmk4"], 1, (np.array(numbers),))

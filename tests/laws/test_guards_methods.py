"""The exact triggers of guards in methods other than "exact": roots refused, short turns, ends of
ranges.

Each test is one that fails where the guard it names is taken away; .ci/mutate.py does so.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from compare import close
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph

Array = NDArray[np.float64]

ONE = np.array([1.0, 0.0, 0.0, 0.0])
lost_bodies = pytest.mark.filterwarnings("ignore:.*found no root:RuntimeWarning")


def bodies(n: int, seed: int, thinnest: float = 1e-3) -> tuple[Array, Array]:
    """Moments up to 1, half of them very different from each other, and unit momenta."""
    rng = np.random.default_rng(seed)
    inertia = np.where(
        rng.integers(0, 2, (n, 1)) == 0,
        rng.uniform(0.05, 1.0, (n, 3)),
        10 ** rng.uniform(np.log10(thinnest), 0.0, (n, 3)),
    )
    m = rng.normal(size=(n, 3))
    return inertia, m / np.linalg.norm(m, axis=1, keepdims=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ph.methods(), ids=lambda method: method.name)
def test_attitudes_are_unit_or_nan_after_steps_of_any_length(method: ph.Method) -> None:
    """Where |q|^2 overflows on the way, from h = 1e39 on with "rk4", no zero comes out."""
    inertia, m = bodies(308, 6)
    h = 10.0 ** np.arange(308)
    n_steps = max(method.history, 1)
    _, ends = ph.step(inertia, m, ONE, h, method=method.name, n_steps=n_steps)
    paths = [ends]
    if method.takes_torque:
        slow = inertia / h[:, None], m, ONE, 1.0, n_steps + 1
        top = ph.torques.HeavyTop([0.1, 0.2, 0.4])
        few = method.name in ("taylor4", "taylor5", "taylor6")  # derivatives that a top has
        for torque in (None,) if few else (None, top):
            paths.append(ph.integrate(*slow, torque=torque, method=method.name, splitting=None).q)
    for q in paths:
        close(np.where(np.isnan(q).any(-1), 1.0, np.linalg.norm(q, axis=-1)), 1.0, atol=16 * EPS)


# --- Moser and Veselov ---


@lost_bodies
@pytest.mark.parametrize("name", ["dmv8", "dmv10"])
def test_a_root_far_from_the_attitude_is_refused(name: str) -> None:
    """From order 8 on: more than 0.15 rad from the estimate, whose error is 0.01 rad."""
    inertia, m = bodies(4000, 1)
    h = np.random.default_rng(2).uniform(1.0, 3.14, len(m)) * inertia.min(axis=1)
    _, q = ph.step(inertia, m, ONE, h, method=name)
    _, exact = ph.step(inertia, m, ONE, h)
    found = ~np.isnan(q).any(axis=1)
    assert found.sum() > 2000
    turn = ph.so3.log(ph.so3.multiply(ph.so3.conjugate(exact[found]), q[found]), shortest=True)
    assert np.linalg.norm(turn, axis=1).max() < 0.16


# --- Krysl's methods ---


def dexp_inverse(z: Any, v: Any) -> Any:
    """Of a rotation vector -z: v + z x v/2 + e z x (z x v), [Krysl07] (9)."""
    theta = mp.norm(z)
    e = (1 - theta / 2 * mp.cot(theta / 2)) / theta**2
    zv = cross(z, v)
    return v + zv / 2 + e * cross(z, zv)


def cross(a: Any, b: Any) -> Any:
    return mp.matrix(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def turned_back(z: Any, p: Any) -> Any:
    """exp(-z) p."""
    theta = mp.norm(z)
    zp = cross(z, p)
    return p - mp.sin(theta) / theta * zp + (1 - mp.cos(theta)) / theta**2 * cross(z, zp)


@pytest.mark.parametrize("hw", [0.01, 0.03])
def test_short_steps_of_bbtrapwd(hw: float) -> None:
    """dexp^-1 of short turns: the first term of its series alone errs by 1e-14 at 0.03 rad."""
    inertia, momenta = np.array([1.0, 1.4, 3.1]), bodies(4, 4)[1]
    got, q = ph.step(inertia, momenta, ONE, hw, method="bbtrapwd")
    ends, attitudes = [], []
    with mp.workdps(25):
        for row in momenta:
            end = m = mp.matrix(row.tolist())
            rate = mp.diag([hw / mp.mpf(I) / 2 for I in inertia.tolist()])
            P = 2 * rate * m
            for _ in range(16):  # each gains a digit and a half
                P = rate * m + dexp_inverse(P, rate * end)
                end = turned_back(P, m)
            ends.append([float(x) for x in end])
            half = mp.norm(P) / 2
            attitudes.append([float(x) for x in (mp.cos(half), *(mp.sinc(half) / 2 * P))])
    close(got, ends, atol=2 * EPS)
    close(q, attitudes, atol=2 * EPS)


@pytest.mark.parametrize(
    ("method", "inertia", "m", "h"),
    [
        (
            "euler_backward",
            (0.0014472504063813916, 0.001041111454378795, 0.05847935459255337),
            (0.9998141769379476, 0.006931161182757415, -0.017988068227379278),
            0.0021228226541125735,
        ),
        (
            "trapm",
            (0.07222727217194055, 0.9379369837781303, 0.2412707497548534),
            (-0.21348710818733665, -0.7481279560750932, -0.6282736792009609),
            0.5926418229207242,
        ),
        (
            "imidm",
            (0.02069066863390687, 0.18320390558238334, 0.008179345642304887),
            (-0.9921545279886133, -0.09985977060673684, 0.07521581486670113),
            0.05871971592972521,
        ),
    ],
)
def test_a_root_of_negative_determinant_is_another(
    method: str, inertia: Any, m: Any, h: float
) -> None:
    """From steps a little shorter: the root moves with the step, not to another."""
    end, _ = ph.step(inertia, m, ONE, np.linspace(0.8, 1.0, 201) * h, method=method)
    assert np.abs(np.diff(end, axis=0)).max() < 0.01


@lost_bodies
def test_nothing_is_taken_beyond_a_fold() -> None:
    """The branch from no step ends in a fold, up to which the momentum moves like a square root:
    steps a little longer have other roots alone."""
    inertia = (0.7002923001254135, 0.7051350170497281, 0.7066205232544482)
    m = (-0.0076746140048519805, 0.09080448617126374, -0.9958391665279335)
    before, _ = ph.step(inertia, m, ONE, np.linspace(2.1, 2.22, 13), method="swc1")
    moves = np.abs(np.diff(before, axis=0)).max(axis=1)
    assert (moves[1:] > moves[:-1]).all()
    assert moves[-1] > 4 * moves[0]
    beyond, _ = ph.step(inertia, m, ONE, [2.25, 2.27, 2.29], method="swc1")
    assert np.isnan(beyond).all()


@lost_bodies
def test_nothing_is_taken_beyond_a_fold_under_torque() -> None:
    def ends(steps: Any) -> Array:
        return np.array(
            [
                ph.integrate(
                    (0.20164904609529427, 0.40226694935297325, 0.21393984851080736),
                    (0.9525741321317749, 0.2917132692911173, -0.08663654721238614),
                    (-1.76265954673972, 0.7528503411066155, -0.4266630364535586, 0.704936467287511),
                    h,
                    1,
                    torque=ph.torques.HeavyTop([9.0, -12.0, 27.0], [0.3, 0.2, 0.9]),
                    method="imid",
                    splitting=None,
                ).m[-1]
                for h in steps
            ]
        )

    moves = np.abs(np.diff(ends([0.245, 0.25, 0.255]), axis=0)).max(axis=1)
    assert moves.max() < 0.03
    assert np.isnan(ends([0.28, 0.29, 0.32, 0.325])).all()


@pytest.mark.parametrize(("m", "start", "limit"), [(1.0, -1.9, 0.25), (0.0, 0.1, 0.2)])
@pytest.mark.parametrize("over", [0.97, 0.995, 1.005, 1.03])
def test_only_near_solutions_are_taken_at_once(
    m: float, start: float, limit: float, over: float
) -> None:
    """Under a torque about the axis of the turn, the equation is linear, with this slope: it is the
    factor of the defect from one iteration to the next, a quarter at most, and from rest the
    impulse changes by slope/(1 - slope), a quarter at most.  Other solutions are followed from
    h = 0, which needs six times as many evaluations."""
    assert evaluations(m, start, over * limit) in ((4, 5) if over < 1 else (27, 28))


def evaluations(m: float, start: float, slope: float, atol: float = 16 * EPS) -> int:
    """Of the torque, in a step of "imid" of a sphere."""
    calls = 0

    def torque(t: float, q: Array) -> list[float]:
        nonlocal calls
        calls += 1
        return [0.0, 0.0, start + 4 * slope * 2 * np.arctan2(q[3], q[0])]

    end = ph.integrate(
        np.ones(3), [0.0, 0.0, m], ONE, 1.0, 1, torque=torque, method="imid", splitting=None
    )
    close(end.m[-1], [0.0, 0.0, m + (start + 2 * slope * m) / (1 - slope)], atol=atol)
    return calls


@pytest.mark.parametrize("over", [0.95, 0.99, 1.01, 1.04])
def test_iterations_that_begin_near_the_solution(over: float) -> None:
    """Above 2^-30 of the impulses a defect corrects the derivative, by which the next iteration
    solves a linear equation.  Up to 2^-36 it is enough that iterations halve the defect; the last
    iteration before one that does not is the end, with an error of its defect."""

    def beginning_at(slope: float, defect: float, atol: float = 16 * EPS) -> int:
        return evaluations(1.0, -2 * (1 - defect / slope), slope, atol)

    assert beginning_at(0.2, over * 2.0**-30) == (11 if over < 1 else 4)
    assert beginning_at(0.4, over * 2.0**-36) == (12 if over < 1 else 28)
    if over < 1:
        assert beginning_at(0.5 * over, 2.0**-37) == 14
    else:
        assert beginning_at(0.5 * over, 2.0**-37, atol=2.0**-34) == 3


def test_a_derivative_by_differences_takes_three_evaluations() -> None:
    """Two are needed on the way to this solution, and a fourth makes it 108."""
    assert evaluations(1.0, -1.4, -40.0) <= 100


# --- Taylor methods ---


def bracket(a: Any, b: Any) -> Any:
    """Products of power series of vectors."""
    n = len(a)
    return [sum((cross(a[i], b[k - i]) for i in range(k + 1)), mp.matrix(3, 1)) for k in range(n)]


@pytest.mark.parametrize("order", [4, 5, 6])
def test_taylor_where_every_term_counts(order: int) -> None:
    """The rotation vector against its power series: Z' = nu + Z x nu/2 + Z x (Z x nu)/12 - ...

    On steps so long that the last terms count as the first do: 1e-12 of a coefficient is 4500 eps
    of its term.
    """
    inertia, momenta = np.array([1.0, 1.7, 3.1]), 6.0 * bodies(8, order)[1]
    _, got = ph.step(inertia, momenta, ONE, 1.0, method=f"taylor{order}")
    want, angles = [], []
    with mp.workdps(30):
        inverse = mp.diag([1 / mp.mpf(I) for I in inertia.tolist()])
        for row in momenta:
            m = [mp.matrix(row.tolist())]
            for k in range(order - 1):
                m.append(bracket(m, [inverse * x for x in m])[k] / (k + 1))
            nu = [inverse * x for x in m]
            z = [mp.matrix(3, 1)] * order
            for _ in range(order):
                b1 = bracket(z, nu)
                b2 = bracket(z, b1)
                b4 = bracket(z, bracket(z, b2))
                rate = [
                    a + b / 2 + c / 12 - d / 720 for a, b, c, d in zip(nu, b1, b2, b4, strict=True)
                ]
                z = [mp.matrix(3, 1), *(x / (k + 1) for k, x in enumerate(rate[:-1]))]
            Z = sum((x / (k + 1) for k, x in enumerate(rate)), mp.matrix(3, 1))
            half = mp.norm(Z) / 2
            angles.append(float(half))
            want.append([float(x) for x in (mp.cos(half), *(mp.sinc(half) / 2 * Z))])
    close(got, want, atol=EPS * (2 + 4 * np.array(angles)[:, None]))


# --- the energy correction ---


@pytest.mark.parametrize("way", [True, "buss"])
@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
def test_a_target_out_of_reach_keeps_the_axes_with_momentum(
    way: bool | str, axes: tuple[int, ...]
) -> None:
    """The energy ends so close to the least that these axes allow that eps of |m|^2 stays about the
    other one: both are in motion still.

    The step takes no time; an impulse along the axis of the lesser energy takes 0.04^2 of the
    energy that defines the target.  The axis of the greatest moment is without momentum.
    """
    inertia, m, impulse = np.zeros((3, 3))
    inertia[list(axes)] = 3.0, 2.0, 0.25
    m[list(axes)] = 0.0, 1.0, 1e-4
    impulse[list(axes)] = 0.0, 0.04, 0.0
    h = 2.0**-660

    def torque(t: float, q: Array) -> Array:
        return 6 / h * impulse if t == 0 else 0 * impulse

    options: dict[str, Any] = {"torque": torque, "method": "rk4", "splitting": None}
    end = ph.integrate(inertia, m, ONE, h, 1, energy_correction=way, **options).m[-1]
    close(end @ end, 1.04**2, atol=1e-8)
    # The energy to eps of itself, here a seventh of the range: eps of |m|^2 to a seventh.
    close(end[axes[2]] ** 2 / (EPS * 1.04**2), 1.0, atol=0.2)


# --- arguments ---


def test_what_is_wrong_with_a_matrix_is_told_of_the_right_body() -> None:
    """Of single precision, which is looked at in parts: the place is that in the whole."""
    n = 5000
    matrices = np.tile(np.eye(3, dtype=np.float32), (n, 1, 1))
    momenta = np.ones((n, 3))
    for body, bad, text in ((4500, -np.eye(3), "determinant is -1"), (4400, 2 * np.eye(3), "1e-5")):
        matrices[body] = bad
        with pytest.raises(ValueError, match=rf"\[{body}\] = .*not a rotation matrix.*{text}"):
            ph.step([1.0, 2.0, 3.0], momenta, matrices, 0.1)

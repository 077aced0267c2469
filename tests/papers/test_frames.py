"""Each erratum of the FRB-FORTRAN report [CZ08]: the printed form fails, the corrected one holds.

The truth is the Taylor integration of `reference.py`, which knows none of these formulas.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import frames
import pytest
import reference
from frames import Body, Separatrix
from mpmath import mp

# A right formula is right to nearly all 40 digits; a wrong one is off in the first ones.
RIGHT = 1e-30
WRONG = 1e-3

MOMENTS = (1.0, 1.5, 2.2)
TIME = 3.0
NAMES = [f"case {c} {p}" for c in ("i", "ii") for p in ("+++", "-++", "+-+", "++-", "--+", "---")]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(frames.DIGITS):
        yield


def state(name: str) -> tuple[Body, Any, reference.Reference]:
    """The body with |m| = 1, the time that goes with it, and where it is then; q starts at 1."""
    _, case, pattern = name.split()
    size = (0.8, 0.3, 0.4) if case == "i" else (0.3, 0.5, 0.8)
    m0 = [x if s == "+" else -x for x, s in zip(size, pattern, strict=True)]
    end = reference.torque_free(MOMENTS, m0, (1.0, 0.0, 0.0, 0.0), TIME)
    norm = mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in m0))
    body = Body(
        (mp.mpf(MOMENTS[0]), mp.mpf(MOMENTS[1]), mp.mpf(MOMENTS[2])),
        (m0[0] / norm, m0[1] / norm, m0[2] / norm),
    )
    assert body.case == case
    return body, TIME * norm, end


with mp.workdps(frames.DIGITS):
    STATES = {name: state(name) for name in NAMES}
CASE_I = [s for name, s in STATES.items() if "case i " in name]
CASE_II = [s for name, s in STATES.items() if "case ii " in name]
ALL = [*CASE_I, *CASE_II]


def furthest(a: Any, b: Any) -> float:
    """Largest difference of two vectors."""
    return float(max(abs(x - y) for x, y in zip(a, b, strict=True)))


def error_of_quaternion(
    q: list[Any], end: reference.Reference, *, either_sign: bool = False
) -> float:
    error = furthest(q, end.q)
    return min(error, furthest([-x for x in q], end.q)) if either_sign else error


def error_of_matrix(Q: list[list[Any]], end: reference.Reference) -> float:
    exact = reference.to_matrix(end.q)
    return max(furthest(a, b) for a, b in zip(Q, exact, strict=True))


def errors(
    run: Callable[[Body, Any, reference.Reference], float], states: list[Any] = ALL
) -> list[float]:
    return [run(*s) for s in states]


def test_momentum() -> None:
    """(3), (4), (5) and the phase are right."""
    for body, t, end in ALL:
        assert furthest([x * end.norm for x in body.m(t)], end.m) < RIGHT


# --- Sec. 1.2 ---

SEPARATRIX_SIGNS = list(itertools.product((0.5, -0.5), (0.25, -0.25), (0.5, -0.5)))


def separatrix(m0: tuple[float, float, float]) -> tuple[Separatrix, Any, reference.Reference]:
    moments = (1.5, 2.0, 3.0)  # c1 = c2 = 1/2, so |m1| = |m3| is on the separatrix
    end = reference.torque_free(moments, m0, (1.0, 0.0, 0.0, 0.0), TIME)
    norm = mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in m0))
    motion = Separatrix(
        (mp.mpf(moments[0]), mp.mpf(moments[1]), mp.mpf(moments[2])),
        (m0[0] / norm, m0[1] / norm, m0[2] / norm),
    )
    return motion, TIME * norm, end


def test_case_iii_has_a_sign_of_its_own_for_m3() -> None:
    for m0 in SEPARATRIX_SIGNS:
        motion, t, end = separatrix(m0)
        assert furthest([x * end.norm for x in motion.m(t)], end.m) < RIGHT
        assert error_of_matrix(motion.matrix(t), end) < RIGHT
        printed = min(
            furthest([x * end.norm for x in motion.m(t, *signs)], end.m)
            for signs in itertools.product((1, -1), repeat=2)
        )
        # One of the printed signs is right exactly where m1 and m3 have the same.
        if m0[0] * m0[2] > 0:
            assert printed < RIGHT
        else:
            assert printed > WRONG


def test_norm_scales_time_too() -> None:
    for body, t, end in ALL:
        assert furthest([x * end.norm for x in body.m(t)], end.m) < RIGHT
        assert furthest([x * end.norm for x in body.m(mp.mpf(TIME))], end.m) > WRONG  # t for G t


# --- Sec. 1.3 ---


def by_derivative(printed: bool) -> Callable[[Body, Any, reference.Reference], float]:
    def run(body: Body, t: Any, end: reference.Reference) -> float:
        P0 = frames.frame_of_derivative(body, body.m0)
        P1 = frames.frame_of_derivative(body, body.m(t))
        psi = frames.psi_of_derivative(body, t, printed=printed)
        return error_of_matrix(frames.matrix_between(P0, psi, P1), end)

    return run


@pytest.mark.parametrize("states", [CASE_I, CASE_II], ids=["case i", "case ii"])
def test_equation_9(states: list[Any]) -> None:
    """Printed + Delta2, n = 1/B23 (1/B21); right - Delta2 (+), n = 1/B23^2 (1/B21^2)."""
    assert max(errors(by_derivative(False), states)) < RIGHT
    assert min(errors(by_derivative(True), states)) > WRONG


def test_frame_of_van_zon_and_schofield() -> None:
    """The frame is right; its angle has the n of frame (3)."""

    def run(body: Body, t: Any, end: reference.Reference) -> float:
        P0, P1 = frames.frame_of_axis3(body.m0), frames.frame_of_axis3(body.m(t))
        return error_of_matrix(frames.matrix_between(P0, frames.psi_3(body, t), P1), end)

    assert max(errors(run)) < RIGHT


# --- Sec. 1.4 ---


def by_frame_1(**options: Any) -> Callable[[Body, Any, reference.Reference], float]:
    def run(body: Body, t: Any, end: reference.Reference) -> float:
        psi = frames.psi_1(body, t, **options)
        p0, p1 = frames.frame_1(body.m0), frames.frame_1(body.m(t))
        return error_of_quaternion(frames.quaternion_between(p0, psi, p1), end)

    return run


def test_equation_16_case_i() -> None:
    """The sign of f; with it q has the sign of the continuous path."""
    assert max(errors(by_frame_1(), CASE_I)) < RIGHT
    assert min(errors(by_frame_1(sign_f=1), CASE_I)) > WRONG


def test_equation_16_in_case_ii() -> None:
    """Line (18) of Algorithm 2 takes (16) over; wrong with either sign of f."""
    assert max(errors(by_frame_1(), CASE_II)) < RIGHT
    for sign_f in (1, -1):
        run = by_frame_1(sign_f=sign_f, printed_case_ii=True)
        assert min(errors(run, CASE_II)) > WRONG


def by_frame_2(**options: Any) -> Callable[[Body, Any, reference.Reference], float]:
    def run(body: Body, t: Any, end: reference.Reference) -> float:
        p0 = frames.frame_2(body, body.m0, **options)
        p1 = frames.frame_2(body, body.m(t), **options)
        q = frames.quaternion_between(p0, frames.psi_of_derivative(body, t), p1)
        return error_of_quaternion(q, end, either_sign=True)

    return run


@pytest.mark.parametrize("printed", ["printed_square", "printed_sign"])
def test_frame_2(printed: str) -> None:
    """Printed B32 for -+B32^2; and the sign of p0 p3 the wrong way round."""
    assert max(errors(by_frame_2())) < RIGHT
    wrong = errors(by_frame_2(**{printed: True}))
    assert min(wrong) > WRONG, wrong


def by_frame_3(printed_n: bool = False, printed_sign: bool = False) -> Callable[..., float]:
    def run(body: Body, t: Any, end: reference.Reference) -> float:
        p0 = frames.frame_3(body.m0, printed_sign=printed_sign)
        p1 = frames.frame_3(body.m(t), printed_sign=printed_sign)
        q = frames.quaternion_between(p0, frames.psi_3(body, t, printed=printed_n), p1)
        return error_of_quaternion(q, end, either_sign=True)

    return run


def test_frame_3() -> None:
    """n printed -1/(B31 B13)^2, right -(B31/B13)^2; sign of p0 p3 printed sign(m3 m2 - m1)."""
    assert max(errors(by_frame_3())) < RIGHT
    assert min(errors(by_frame_3(printed_n=True))) > WRONG
    # The printed sign agrees with sign m1 in some states, by chance at both ends.
    assert max(errors(by_frame_3(printed_sign=True))) > WRONG


def test_frames_satisfy_13() -> None:
    """p m p^-1 = e3, also for the printed signs: it is psi that does not go with them."""
    for body, t, _ in ALL:
        for m in (list(body.m0), body.m(t)):
            for p in (frames.frame_1(m), frames.frame_2(body, m), frames.frame_3(m)):
                moved = frames.product(frames.product(p, [mp.mpf(0), *m]), frames.inverse(p))
                assert furthest(moved, [0, 0, 0, 1]) < RIGHT


def test_frame_1_needs_the_half_turn_at_minus_e3() -> None:
    """p loses the digits of 1 + m3 in 20 digits; after a half turn about axis 1 it keeps them."""
    angle = mp.mpf(10) ** -6
    m = [mp.sin(angle) * mp.mpf("0.6"), mp.sin(angle) * mp.mpf("0.8"), -mp.cos(angle)]

    def error(v: list[Any]) -> Any:
        exact = frames.frame_1(v)
        with mp.workdps(16):
            rounded = frames.frame_1([+x for x in v])
        return furthest(rounded, exact)

    assert error(m) > 1e-7
    assert error([m[0], -m[1], -m[2]]) < 1e-15


# --- Secs 2 and 3 ---


def test_odd_permutations_need_a_sign() -> None:
    """n = P m obeys the equations for even P only; det(P) P is right for all."""
    m0 = (0.8, 0.3, 0.4)
    start = (1.0, 0.0, 0.0, 0.0)
    end = reference.torque_free(MOMENTS, m0, start, TIME)
    for order in itertools.permutations(range(3)):
        determinant = 1 if order in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1
        moments = [MOMENTS[i] for i in order]
        for side in (1, determinant):
            n = reference.torque_free(moments, [side * m0[i] for i in order], start, TIME)
            error = furthest(n.m, [side * end.m[i] for i in order])
            error_q = furthest(n.q[1:], [side * end.q[1 + i] for i in order])
            if side == determinant:
                assert max(error, error_q) < RIGHT
            else:
                assert min(error, error_q) > WRONG


def test_figure_3_sets_back_by_the_inverse() -> None:
    order = [1, 2, 0]  # a cycle of three
    v = [10, 20, 30]
    there = [v[i] for i in order]
    assert [there[i] for i in order] != v
    assert [there[order.index(i)] for i in range(3)] == v


PHASES = [mp.mpf(x) for x in ("0.3", "1.2", "2.9", "-4.4", "12.5")]


@pytest.mark.parametrize("k2", ["0.1", "0.75", "0.999"])
def test_equation_17(k2: str) -> None:
    for phi in PHASES:
        exact = mp.ellipf(phi, mp.mpf(k2))
        assert abs(frames.first_kind(phi, mp.mpf(k2)) - exact) < RIGHT
        assert abs(frames.first_kind(phi, mp.mpf(k2), printed=True) - exact) > WRONG


@pytest.mark.parametrize("k2", ["0.1", "0.75", "0.999"])
def test_descending_recursion_ends_at_1(k2: str) -> None:
    for u in PHASES:
        exact = frames.amplitude(u, mp.mpf(k2))
        assert abs(frames.landen_amplitude(u, mp.mpf(k2)) - exact) < RIGHT
        # One step too many changes little while |am u| < pi/2 and k is near 1.
        if abs(u) > 2:
            assert abs(frames.landen_amplitude(u, mp.mpf(k2), printed=True) - exact) > WRONG
    # am is unbounded, not within (-pi/2, pi/2).
    assert frames.landen_amplitude(PHASES[-1], mp.mpf(k2)) > mp.pi / 2


def by_quadrature(phi: Any, n: Any, k2: Any) -> Any:
    """Pi(phi, n, k) from its definition (22)."""
    ends = mp.linspace(0, phi, 2 + int(abs(phi)))
    return mp.quad(
        lambda x: 1 / ((1 - n * mp.sin(x) ** 2) * mp.sqrt(1 - k2 * mp.sin(x) ** 2)), ends
    )


@pytest.mark.parametrize("n", ["-4.5", "-0.3", "0.6"])
def test_third_kind_at_any_amplitude(n: str) -> None:
    """ellint_pi, with the sign of n of (22); the routine of Numerical Recipes has the other."""
    k2 = mp.mpf("0.75")
    for phi in PHASES:
        exact = by_quadrature(phi, mp.mpf(n), k2)
        assert abs(frames.ellint_pi(phi, mp.mpf(n), k2) - exact) < 1e-25
        opposite = frames.ellint_pi(phi, -mp.mpf(n), k2) if mp.mpf(n) > -1 else mp.inf
        assert abs(opposite - exact) > WRONG


# mpmath 1.4 expects the coefficients in the other order, which 1.3 does not support.
@pytest.mark.filterwarnings("ignore:Descending:DeprecationWarning")
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5])
def test_equation_20_has_order_2p(p: int) -> None:
    """The error of p Gauss nodes over halves of an interval goes down 4^p-fold."""
    n, k2 = mp.mpf("-0.5"), mp.mpf("0.6")
    nodes = mp.polyroots(mp.taylor(lambda x: mp.legendre(p, x), 0, p)[::-1], maxsteps=200)
    rule = [
        ((1 + x) / 2, 1 / ((1 - x * x) * mp.diff(lambda y: mp.legendre(p, y), x) ** 2))
        for x in nodes
    ]

    def total(pieces: int) -> Any:
        length = mp.mpf("0.8") / pieces
        return mp.fsum(
            length * b / ((1 - n * mp.sin(theta) ** 2) * mp.sqrt(1 - k2 * mp.sin(theta) ** 2))
            for i in range(pieces)
            for a, b in rule
            for theta in [mp.mpf("0.4") + length * (i + a)]
        )

    exact = frames.ellint_pi(mp.mpf("1.2"), n, k2) - frames.ellint_pi(mp.mpf("0.4"), n, k2)
    coarse, fine = abs(total(16) - exact), abs(total(32) - exact)
    assert abs(mp.log(coarse / fine, 2) - 2 * p) < 0.15

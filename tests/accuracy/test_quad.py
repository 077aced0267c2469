"""polhode.quad: references in quadruple precision, against mpmath and the Taylor reference."""

from __future__ import annotations

import re
import signal
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import tolerances as tol
from compare import close, same
from mpmath import mpf
from reference import torque_free

import polhode as ph

quad = pytest.importorskip("polhode.quad", reason="the compiler has no 34-digit type")

BODY = ([1.0, 1.5, 2.2], [0.3, 0.5, 0.8], [1.0, 0.0, 0.0, 0.0])
UNIT = 2.0**-107
RNG = np.random.default_rng(20)
WIDE = [10 ** RNG.uniform(-8, 8, 12) for _ in range(4)]
K2 = np.concatenate([RNG.uniform(-3, 0.9, 6), 1 - 10 ** RNG.uniform(-12, -1, 6)])
PHI, N = RNG.uniform(-1.5, 1.5, 12), RNG.uniform(-3, 0.9, 12)


def states():
    """Bodies of all kinds, with the angle they turn by."""
    rng = np.random.default_rng(21)
    for k, angle in enumerate(10 ** rng.uniform(-2, 1.3, 12)):
        inertia, m, q = rng.uniform(0.5, 2, 3), rng.standard_normal(3), rng.standard_normal(4)
        if k % 4 == 0:
            inertia[1] = inertia[0]
        if k % 4 == 1:
            m[k % 3] = 0
        if k % 4 == 2:
            m = np.array([1e-9, 1, 1e-12])
        yield inertia, m, q, angle / np.linalg.norm(m / inertia), angle


@pytest.mark.parametrize("method", ["exact", "frb"])
def test_step_against_the_taylor_reference(method):
    for inertia, m, q, h, angle in states():
        exact = torque_free(inertia, m, q, h)
        got_m, got_q = quad.step(inertia, m, q, h, method=method, digits=True)
        with mpmath.workdps(45):
            scaled = [
                [mpf(x) / exact.norm for x in part.tolist()] for part in (got_m.high, got_m.low)
            ]
            m_errors = [
                float(a + b - x / exact.norm) for a, b, x in zip(*scaled, exact.m, strict=True)
            ]
            errors = np.abs([*m_errors, *(got_q - exact.q)])
        tol.within(f"quad.step.{method}", errors / (UNIT * (1 + angle)))


def test_doubles_are_the_nearest():
    for inertia, m, q, h, _ in states():
        exact = torque_free(inertia, m, q, h)
        got_m, got_q = quad.step(inertia, m, q, h)
        same(got_m, np.array([float(x) for x in exact.m]))
        same(got_q, np.array([float(x) for x in exact.q]))


def mp_jacobi(name):
    return lambda u, k2: mpmath.ellipfun(name, u, m=k2)


def mp_rj(x, y, z, p):
    return mpmath.elliprj(x, y, z, p)


@pytest.mark.parametrize(
    ("name", "reference", "arguments"),
    [
        ("agm", mpmath.agm, WIDE[:2]),
        ("rf", mpmath.elliprf, WIDE[:3]),
        ("rc", mpmath.elliprc, WIDE[:2]),
        ("rc", mpmath.elliprc, [WIDE[0], -WIDE[1]]),
        ("rd", mpmath.elliprd, WIDE[:3]),
        ("rj", mpmath.elliprj, WIDE),
        ("ellip_k", mpmath.ellipk, [K2]),
        ("ellip_f", mpmath.ellipf, [PHI, K2]),
        ("ellip_f", mpmath.ellipf, [4 * PHI, K2]),
        ("ellip_pi", mpmath.ellippi, [N, PHI, K2]),
        ("ellip_pi_complete", mpmath.ellippi, [N, K2]),
    ],
)
def test_elliptic_functions_against_mpmath(name, reference, arguments):
    got = getattr(quad, name)(*arguments, digits=True)
    with mpmath.workdps(50):
        exact = [
            reference(*map(mpf, row)).real
            for row in zip(*map(np.ndarray.tolist, arguments), strict=True)
        ]
        error = got - exact
    tol.within("quad.elliptic", np.abs(error / np.array(exact, float)) / UNIT)


def test_jacobi_against_mpmath():
    u = np.linspace(-6, 6, len(K2))
    got = quad.jacobi(u, K2, digits=True)
    unit = UNIT * (1 + np.abs(u) * np.sqrt(np.maximum(1, np.abs(K2))))
    with mpmath.workdps(50):
        pairs = list(zip(map(mpf, u.tolist()), map(mpf, K2.tolist()), strict=True))
        for name, x in zip(("sn", "cn", "dn"), got, strict=False):
            exact = [mpmath.ellipfun(name, *pair).real for pair in pairs]
            size = np.maximum(1, np.abs(np.array(exact, float)))
            tol.within("quad.jacobi", np.abs(x - exact) / (unit * size))
        am = [
            mpf(a) + mpf(b) for a, b in zip(got[3].high.tolist(), got[3].low.tolist(), strict=True)
        ]
        back = [mpmath.ellipf(a, k2) for a, (_, k2) in zip(am, pairs, strict=True)]
        # dF/dphi = 1/dn
        errors = [float((b - x) * d) for b, (x, _), d in zip(back, pairs, got[2].high, strict=True)]
    tol.within("quad.jacobi", np.abs(errors) / unit)


def test_the_complement_is_taken_to_all_digits():
    kc2 = "1e-25"
    k2 = 1 - Fraction(kc2)
    with mpmath.workdps(90):
        exact = [mpmath.ellipk(1 - mpf(kc2))]
    for got in (quad.ellip_k(k2, kc2, digits=True), quad.ellip_k(1, kc2, digits=True)):
        tol.within("quad.elliptic", np.abs((got - exact)[0] / float(exact[0])) / UNIT)


@pytest.mark.parametrize(
    "tenth",
    ["0.1", "+1e-1", Decimal("0.1"), Fraction(1, 10), mpmath.mpf(1) / 10],
    ids=["text", "exponent", "Decimal", "Fraction", "mpf"],
)
def test_numbers_of_every_kind(tenth):
    if isinstance(tenth, mpf):
        with mpmath.workdps(50):
            tenth = mpf(1) / 10
    m, _ = quad.step([1, 1, 1], [tenth, 0, 0.5], BODY[2], 0, digits=True)
    assert m.strings(30).tolist() == ["1." + "0" * 29 + "e-1", "0", "5." + "0" * 29 + "e-1"]
    again, _ = quad.step([1, 1, 1], m, BODY[2], 0, digits=True)
    same(again.high, m.high)
    same(again.low, m.low)


@pytest.mark.parametrize("kind", ["f2", "f4", ">f8", "g", "i8", "u1", "?"])
def test_arrays_are_taken_as_they_are(kind):
    x = (
        np.array([1, 2, 3]).astype(kind) / np.array(1).astype(kind)
        if kind == "g"
        else np.array([1, 2, 3]).astype(kind)
    )
    got = quad.agm(x, 1, digits=True)
    want = quad.agm(x.astype(float), 1, digits=True)
    same(got.high, want.high)
    same(got.low, want.low)


def test_long_doubles_and_long_integers_keep_their_digits():
    third = np.longdouble(1) / 3
    got = quad.agm(third, third, digits=True)
    # All of the 64 bits on x86; on AArch64 it has 113.
    assert abs(np.longdouble(got.high) + np.longdouble(got.low) - third) <= third * 2.0**-106
    big = quad.agm(2**62 + 1, 2**62 + 1, digits=True)
    assert int(big.high) + int(big.low) == 2**62 + 1
    same(quad.agm(np.array([2**62 + 1]), 2**62 + 1, digits=True).low, np.array([big.low]))


def test_shapes_broadcast_and_bodies_do_not_see_each_other():
    rng = np.random.default_rng(3)
    inertia, m, h = rng.uniform(1, 2, (2, 1, 3)), rng.standard_normal((3, 3)), rng.random((2, 3))
    m[1, 2] = np.nan
    h[0, 0] = np.inf
    for q in (rng.standard_normal((3, 4)), ph.so3.to_matrix(rng.standard_normal((1, 3, 4)))):
        all_m, all_q = quad.step(inertia, m, q, h, n_steps=2)
        assert all_m.shape == (2, 3, 3)
        assert all_q.shape == ((2, 3, 4) if q.ndim == 2 else (2, 3, 3, 3))
        for i, j in np.ndindex(2, 3):
            attitude = q[j] if q.ndim == 2 else q[0, j]
            own_m, own_q = quad.step(inertia[i, 0], m[j], attitude, h[i, j], n_steps=2)
            same(all_m[i, j], own_m)
            same(all_q[i, j], own_q)
            assert np.isnan(own_m).all() == (j == 1 or (i, j) == (0, 0)) == np.isnan(own_q).all()
    same(quad.step(np.ones((0, 3)), m[0], q[0, 0], 1.0)[0], np.zeros((0, 3)))


def test_matrices_become_orthogonal_to_all_digits():
    Q = ph.so3.to_matrix([0.5, 0.1, -0.7, 0.2])
    Q[0, 0] += 1e-6
    _, got = quad.step(*BODY[:2], Q, 0.3, digits=True)
    exact = [
        [Fraction(a) + Fraction(b) for a, b in zip(*rows, strict=True)]
        for rows in zip(got.high.tolist(), got.low.tolist(), strict=True)
    ]
    defect = [
        [float(sum(exact[k][i] * exact[k][j] for k in range(3)) - (i == j)) for j in range(3)]
        for i in range(3)
    ]
    tol.within("quad.orthogonal", np.abs(defect) / UNIT)


def test_methods_keep_their_order_far_below_double_precision():
    errors = []
    _, exact = quad.step(*BODY, 0.01, digits=True)
    for parts in (1, 2):
        _, q = quad.step(*BODY, 0.01 / parts, method="magnus8", n_steps=parts, digits=True)
        errors.append(np.abs(q - exact).max())
    assert errors[0] < 1e-21
    close(np.log2(errors[0] / errors[1]), 8, atol=0.3)


def test_a_rod_is_the_rod_of_step():
    rod = [1e-17, 1.0, 1.0], [0.0, 0.3, 0.4], [1, 0, 0, 0], 2.0
    for a, b in zip(quad.step(*rod), ph.step(*rod), strict=True):
        close(a, b, atol=1e-15)


def test_a_step_without_root_warns():
    with pytest.warns(RuntimeWarning, match="1 body is NaN"):
        m, _ = quad.step(*BODY, 50.0, method="dmv8")
    assert np.isnan(m).all()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (([1, 2, -3], *BODY[1:], 1), {}, ValueError, "inertia = .*negative"),
        ((*BODY[:2], [0, 0, 0, 0], 1), {}, ValueError, "zero quaternion"),
        ((*BODY[:2], ["1", "0", "0"], 1), {}, ValueError, r"q must have shape"),
        ((*BODY, "1e400"), {}, ValueError, "h has a number above"),
        ((*BODY, 10**400), {}, ValueError, "h has a number above"),
        ((*BODY, "one"), {}, ValueError, "h: 'one' is not a number"),
        ((*BODY, 1j), {}, TypeError, "h must be real numbers, not complex"),
        ((*BODY, None), {}, TypeError, "h must be real numbers, not NoneType"),
        ((*BODY, [1, 2]), {"method": "exakt"}, ValueError, "exact"),
        ((*BODY, 1), {"method": "simo_wong_explicit"}, ValueError, "history"),
        ((*BODY, 1), {"method": ph.rkmk([[0]], [1], [0])}, TypeError, "a name"),
        ((*BODY, 1), {"n_steps": -1}, ValueError, "negative"),
        ((BODY[0], np.ones((2, 3)), np.ones((3, 4)), 1), {}, ValueError, "do not broadcast"),
    ],
)
def test_step_refuses(arguments, options, error, text):
    with pytest.raises(error, match=text):
        quad.step(*arguments, **options)


def test_functions_refuse():
    with pytest.raises(ValueError, match=re.escape("do not broadcast: x (2,), y (3,)")):
        quad.rc([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="one shape"):
        quad.Numbers(np.zeros(2), np.zeros(3))


def test_limits_and_what_is_not_finite():
    same(quad.agm([0.0, np.inf, "nan", "-1"], 1), np.array([0.0, np.inf, np.nan, np.nan]))
    assert quad.agm("Infinity", 1, digits=True).strings().item() == "Infinity"
    assert quad.agm(Decimal("nan"), 1, digits=True).strings().item() == "NaN"
    same(quad.agm("1e-1000000000", 1), np.float64(0.0))


def test_a_signal_ends_a_long_call():
    def handler(number, frame):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(InterruptedError):
            quad.step(*BODY, 0.1, n_steps=10**9)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_hyperbolic_limit_far_out() -> None:
    # e^-u is below the smallest quadruple number.
    for u, sn in ((3e4, 1.0), (-3e4, -1.0)):
        same(quad.jacobi(u, 1.0)[0], sn)

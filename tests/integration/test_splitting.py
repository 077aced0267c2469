"""Splitting schemes and the driver: orders, the heavy top of the report, bits."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import tolerances as tol
from compare import close
from mpmath import mpf
from numpy.typing import NDArray

import polhode as ph

Array = NDArray[np.float64]
EPS = 2.0**-52
DATA = json.loads((Path(__file__).parents[1] / "data" / "heavy_top.json").read_text())
INERTIA, M0, Q0, U0 = (np.array(DATA[k], float) for k in ("I", "m0", "q0", "u0"))
NAMES = [scheme.name for scheme in ph.splittings()]
COEFFICIENTS = json.loads(
    (Path(__file__).parents[1] / "data" / "splitting_coefficients.json").read_text()
)["schemes"]
#: Digits of the coefficients in that file, and of the results computed from them.
DIGITS = 40


# Order conditions in the free algebra of A (flow) and B (kick) ---------------------------------
#
# A series is a list of arrays, the coefficients of the 2^d words of each degree d; a word is a
# binary number, A = 0, B = 1, read from the left.

DEGREE = 11
Series = list[NDArray[np.longdouble]]


def series(*terms: tuple[int, int, float]) -> Series:
    """Sum of (degree, word, coefficient)."""
    result = [np.zeros(2**d, np.longdouble) for d in range(DEGREE + 1)]
    for degree, word, coefficient in terms:
        result[degree][word] += coefficient
    return result


def product(x: Series, y: Series) -> Series:
    result = series()
    for i, u in enumerate(x):
        if u.any():
            for j, v in enumerate(y[: DEGREE + 1 - i]):
                if v.any():
                    result[i + j] += np.multiply.outer(u, v).ravel()
    return result


def combine(a: float, x: Series, b: float, y: Series) -> Series:
    return [a * u + b * v for u, v in zip(x, y, strict=True)]


def bracket(x: Series, y: Series) -> Series:
    return combine(1, product(x, y), -1, product(y, x))


ONE = series((0, 0, 1.0))
A, B = series((1, 0, 1.0)), series((1, 1, 1.0))


def exponential(x: Series) -> Series:
    result, term = ONE, ONE
    for k in range(1, DEGREE + 1):
        term = [c / k for c in product(term, x)]
        result = combine(1, result, 1, term)
    return result


def logarithm(x: Series) -> Series:
    small = combine(1, x, -1, ONE)
    result, power = series(), ONE
    for k in range(1, DEGREE + 1):
        power = product(power, small)
        result = combine(1, result, (-1) ** (k + 1) / np.longdouble(k), power)
    return result


@functools.cache
def vanishing(degree: int) -> Array:
    """What vanishes for a torque of the attitude alone: the ideal of [B,[B,[B,A]]]."""
    if degree < 4:
        return np.zeros((0, 2**degree))
    if degree == 4:
        return np.array([bracket(B, bracket(B, bracket(B, A)))[4]], float)
    rows = []
    for row in vanishing(degree - 1):
        y = series()
        y[degree - 1][:] = row
        rows += [bracket(x, y)[degree] for x in (A, B)]
    return np.array(rows, float)


@functools.cache
def logarithm_of_step(stages: tuple[tuple[str, float, float], ...]) -> Series:
    step = ONE
    nested = bracket(B, bracket(A, B))
    for kind, coefficient, c in stages:
        x = [coefficient * u for u in (A if kind == "flow" else B)]
        step = product(step, exponential(combine(1, x, c, nested)))
    return logarithm(step)


def defect(stages: Any, degree: int, rkn: bool, kicks: int = DEGREE) -> float:
    """Size of the terms of one degree in the logarithm of a step that have to vanish, of those with
    at most so many kicks."""
    rest = logarithm_of_step(tuple(stages))[degree].copy()
    if degree == 1:
        rest -= 1
    rest = rest[[word.bit_count() <= kicks for word in range(2**degree)]].astype(float)
    if rkn and degree >= 4:
        basis = vanishing(degree)
        rest = rest - basis.T @ np.linalg.lstsq(basis.T, rest, rcond=None)[0]
    return float(np.abs(rest).max())


#: Coefficients are rounded to eps/2 of numbers up to 1.8, of which up to 71 act, in products.
ROUNDED = 4 * EPS


Stages = tuple[tuple[str, Any, Any], ...]


def inverse(stages: Stages) -> Stages:
    return tuple((kind, -x, -c) for kind, x, c in stages[::-1])


def whole(scheme: ph.Splitting) -> Stages:
    """One step with the processor, if there is one: P K P^-1."""
    return (*inverse(scheme.processor), *scheme.stages, *scheme.processor)


@pytest.mark.parametrize("scheme", ph.splittings(), ids=NAMES)
def test_order_conditions(scheme: ph.Splitting) -> None:
    assert scheme.order is not None
    for degree in range(1, scheme.order + 1):
        assert defect(whole(scheme), degree, scheme.attitude_only) < ROUNDED
    # A symmetric scheme of even order first fails at an odd degree.
    assert defect(whole(scheme), scheme.order + 1, scheme.attitude_only) > 1e-10


GENERALISED = [scheme for scheme in ph.splittings() if scheme.generalised_order]


@pytest.mark.parametrize("scheme", GENERALISED, ids=[scheme.name for scheme in GENERALISED])
def test_generalised_orders(scheme: ph.Splitting) -> None:
    assert scheme.generalised_order[-1] == scheme.order
    for kicks, order in enumerate(scheme.generalised_order, start=1):
        known = min(order, DEGREE)
        for degree in range(2, known + 1):
            assert defect(whole(scheme), degree, False, kicks) < ROUNDED
        if order < DEGREE:
            assert defect(whole(scheme), order + 1, False, kicks) > 1e-11


@pytest.mark.parametrize("name", ["takahashi_imada", "rowlands"])
def test_effective_order(name: str) -> None:
    # The term of degree 3 is what exp(x [A,B]) before and exp(-x [A,B]) after a step add.
    (scheme,) = (s for s in ph.splittings() if s.name == name)
    assert (scheme.order, scheme.effective_order) == (2, 4)
    log = logarithm_of_step(scheme.stages)
    commutator = bracket(A, B)
    removable = bracket(combine(1, A, 1, B), commutator)[3]
    x = float(log[3] @ removable / (removable @ removable))
    assert abs(x) > 0.01
    processor, inverse = (exponential([sign * x * u for u in commutator]) for sign in (1.0, -1.0))
    step = exponential(log)
    whole = logarithm(product(product(processor, step), inverse))
    for degree in (2, 3, 4):
        rest = whole[degree].astype(float)
        if degree == 4:
            basis = vanishing(4)
            rest = rest - basis.T @ np.linalg.lstsq(basis.T, rest, rcond=None)[0]
        assert np.abs(rest).max() < ROUNDED


def test_order_conditions_see_the_misprint_of_the_report() -> None:
    (scheme,) = (s for s in ph.splittings() if s.name == "rkn6_14")
    a = np.array(scheme.a)
    a[[3, 11]] = 0.314241403071477
    a[7] = 1 - (a.sum() - a[7])
    b = np.array(scheme.b)
    stages = [
        ("flow", a[i // 2], 0.0) if i % 2 == 0 else ("kick", b[i // 2], 0.0) for i in range(29)
    ]
    assert max(defect(stages, d, True) for d in range(1, 7)) > 4 * ROUNDED


@pytest.mark.parametrize("scheme", ph.splittings(), ids=NAMES)
def test_schemes_are_consistent_and_symmetric(scheme: ph.Splitting) -> None:
    assert abs(sum(scheme.a) - 1) < 4 * EPS
    assert abs(sum(scheme.b) - 1) < 4 * EPS
    assert scheme.stages == scheme.stages[::-1]
    assert scheme.symmetric is not bool(scheme.processor)
    assert sum(x for kind, x, _ in scheme.processor if kind == "flow") == 0


def exact_processor(scheme: ph.Splitting) -> Stages:
    """The processor, its kicks solved from the series of 2 sum beta_k sin(s_k x) = 1/(2 sin(x/2)) -
    1/x to 40 digits."""
    if not scheme.processor:
        return ()
    with mpmath.workdps(DIGITS):
        steps = [mpf(x) for kind, x, _ in scheme.processor if kind == "flow"]
        times = [mpmath.fsum(steps[: i + 1]) for i in range(len(steps) - 1)]
        pairs = sorted({t for t in times if t > 0})
        n = len(pairs)
        known = [
            2 * (-1) ** (j - 1) * (mpf(2) ** (2 * j - 1) - 1) * mpmath.bernoulli(2 * j)
            / mpmath.factorial(2 * j) / mpf(4) ** j
            for j in range(1, n + 1)
        ]  # fmt: skip
        matrix = mpmath.matrix(n, n)
        for j in range(n):
            for k, s in enumerate(pairs):
                matrix[j, k] = 2 * (-1) ** j * s ** (2 * j + 1) / mpmath.factorial(2 * j + 1)
        beta = list(mpmath.lu_solve(matrix, mpmath.matrix(known)))
        kicks = [mpmath.sign(t) * beta[pairs.index(abs(t))] for t in times]
        kicks = [k if 2 * i + 1 == len(times) else k / 2 for i, k in enumerate(kicks)]
        result: list[tuple[str, Any, Any]] = [("flow", steps[0], mpf(0))]
        for kick, flow in zip(kicks, steps[1:], strict=True):
            result += [("kick", kick, mpf(0)), ("flow", flow, mpf(0))]
    return tuple(result)


PROCESSED = [scheme for scheme in ph.splittings() if scheme.processor]
WITH_PROCESSOR = pytest.mark.parametrize("scheme", PROCESSED, ids=[s.name for s in PROCESSED])
#: The kernels of the processed schemes.
KERNELS = {
    "processed_strang182": "strang_free",
    "processed_ti104": "takahashi_imada",
    "processed_ti184": "takahashi_imada",
}


@WITH_PROCESSOR
def test_processors_are_their_coefficients_rounded(scheme: ph.Splitting) -> None:
    exact = exact_processor(scheme)
    assert [(kind, float(x), float(c)) for kind, x, c in exact] == list(scheme.processor)
    # Half on the way up and half on the way down: the same times and kicks in both orders.
    assert [kick for kind, kick, _ in exact if kind == "kick"] == [
        kick for kind, kick, _ in exact[::-1] if kind == "kick"
    ]
    # As many conditions as pairs, and the next one fails.
    pairs = (len(scheme.processor) + 1) // 8
    assert scheme.generalised_order[0] == 2 * pairs + 2


@pytest.mark.parametrize("matrix", [False, True], ids=["quaternion", "matrix"])
@WITH_PROCESSOR
def test_a_processed_run_is_its_stages(scheme: ph.Splitting, matrix: bool) -> None:
    """P K^n P^-1, with the exact step and kicks by hand; with another step P and P^-1 between."""
    top = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)
    moments = STRONG["inertia"]

    def do(stages: Stages, h: float, m: Array, q: Array) -> tuple[Array, Array]:
        for kind, x, c in stages:
            if kind == "flow":
                m, q = ph.step(moments, m, q, x * h)
                continue
            f = top.torque(0, m, q)
            v = f / moments
            w = 2 * (np.cross(f, v) - top.derivative(0, v, q))
            m = m + x * h * f - c * h**3 * w
        return m, q

    start = ph.so3.to_matrix(STRONG_Q) if matrix else STRONG_Q
    steps = [0.1, 0.1, 0.1, 0.05, -0.2, -0.2]
    options = {"torque": top, "splitting": scheme}
    path = ph.integrate(**STRONG, q0=start, h=steps, n_steps=6, **options)
    m, q = STRONG["m0"], start
    for n, h in enumerate(steps):
        m, q = do(whole(scheme), h, m, q)
        close(path.m[n + 1], m, atol=2e-14)
        close(path.q[n + 1], q, atol=2e-14)
    # No difference is left where the torque is not at work.
    free = ph.integrate(**STRONG, q0=start, h=0.1, n_steps=3, splitting=scheme)
    kernel = ph.integrate(**STRONG, q0=start, h=0.1, n_steps=3, splitting=KERNELS[scheme.name])
    np.testing.assert_array_equal(free.m, kernel.m)


@WITH_PROCESSOR
def test_a_weak_torque_takes_long_steps(scheme: ph.Splitting) -> None:
    bodies = many(30)
    moments = np.array([1.0, 1.5, 2.2])
    bodies["m0"] /= np.linalg.norm(bodies["m0"], axis=1, keepdims=True)
    top = ph.torques.HeavyTop([2e-6, -3e-6, 4e-6])
    start = {"inertia": moments, "m0": bodies["m0"], "q0": bodies["q0"], "torque": top}

    def end(h: float, splitting: Any) -> Array:
        n = round(40 / h)
        path = ph.integrate(**start, h=h, n_steps=n, splitting=splitting, save_every=n)
        return np.concatenate([path.m[-1], path.q[-1]], axis=-1)

    reference = end(0.1, "aba1064")
    for h, error in ((2.0, 5e-8), (1.0, 1e-9)):
        by_kernel = np.abs(end(h, KERNELS[scheme.name]) - reference).max()
        assert np.abs(end(h, scheme) - reference).max() < min(error, 5e-3 * by_kernel)


# Flows that meet ---------------------------------------------------------------------------------


def test_flows_that_meet_are_one() -> None:
    top = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)
    h, n, moments = 0.1, 5, STRONG["inertia"]
    options = {"torque": top, "splitting": "strang_free"}
    path = ph.integrate(**STRONG, q0=STRONG_Q, h=h, n_steps=n, **options)
    m, q = ph.step(moments, STRONG["m0"], STRONG_Q, 0.5 * h)
    for k in range(n):
        m = m + h * top.torque(0, m, q)
        saved = ph.step(moments, m, q, 0.5 * h)
        close(path.m[k + 1], saved[0], atol=2 * EPS)  # h torque is rounded once in the core
        close(path.q[k + 1], saved[1], atol=2 * EPS)
        m, q = ph.step(moments, m, q, h)
    # Not where the step changes, and not where two steps of the method are not one.
    for steps, method in ((h * (1 + 0.1 * np.arange(n)), "exact"), (np.full(n, h), "no_squish")):
        path = ph.integrate(**STRONG, q0=STRONG_Q, h=steps, n_steps=n, method=method, **options)
        m, q = STRONG["m0"], STRONG_Q
        for k, step in enumerate(steps):
            one = ph.integrate(moments, m, q, step, 1, method=method, **options)
            m, q = one.m[1], one.q[1]
            np.testing.assert_array_equal(path.m[k + 1], m)
            np.testing.assert_array_equal(path.q[k + 1], q)


def exact_stages(name: str) -> list[tuple[str, Any, Any]]:
    """The stages of a scheme to all digits known."""
    table = COEFFICIENTS[KERNELS.get(name, name)]
    letters = ("flow", "kick") if table["outer"] == "flow" else ("kick", "flow")
    with mpmath.workdps(DIGITS):
        if "gamma" in table:
            gamma = [mpf(x) for x in table["gamma"]]
            gamma += gamma[-2::-1]
            outer = [(x + y) / 2 for x, y in zip([mpf(0), *gamma], [*gamma, mpf(0)], strict=True)]
            half = [x for pair in zip(outer, gamma, strict=False) for x in pair][: len(gamma) + 1]
        else:
            half = [mpf(x) for x in table["stages"]]
        c = [mpf(x) for x in table.get("c", ["0"] * len(half))]
    return [
        (letters[i % 2], x, y)
        for i, (x, y) in enumerate(zip([*half, *half[-2::-1]], [*c, *c[-2::-1]], strict=True))
    ]


@pytest.mark.parametrize("scheme", ph.splittings(), ids=NAMES)
def test_tables_are_their_coefficients_rounded(scheme: ph.Splitting) -> None:
    exact = exact_stages(scheme.name)
    assert [kind for kind, _, _ in scheme.stages] == [kind for kind, _, _ in exact]
    if "gamma" not in COEFFICIENTS[KERNELS.get(scheme.name, scheme.name)]:
        assert [(x, y) for _, x, y in scheme.stages] == [(float(x), float(y)) for _, x, y in exact]
        return
    # Halves of sums of two rounded numbers: each of them and the sum may err by half an ulp.
    gamma = max(abs(x) for kind, x, _ in exact if kind == "flow")
    for (_, x, y), (_, u, _) in zip(scheme.stages, exact, strict=True):
        assert abs(x - u) <= EPS * gamma
        assert y == 0


# The heavy top of the report -------------------------------------------------------------------


@pytest.fixture(scope="module")
def report_top() -> ph.Trajectory:
    return ph.integrate(
        INERTIA, M0, Q0, 0.5, 10000, torque=ph.torques.HeavyTop(U0), splitting="rkn6_14",
        save_every=50,
    )  # fmt: skip


@pytest.mark.parametrize("t", [50, 500, 1000, 5000])
def test_report_heavy_top(report_top: ph.Trajectory, t: float) -> None:
    (point,) = (p for p in DATA["points"] if p["t"] == t)
    k = int(t / 25)
    assert report_top.t[k] == t
    for key, found in (("m", report_top.m[k]), ("q", report_top.q[k])):
        tol.within(
            f"heavy_top.{key}.{t}", np.abs(found - np.array(point[key], float)).max() / 1e-15
        )


def test_report_heavy_top_conserves(report_top: ph.Trajectory) -> None:
    energy = report_top.energy()
    assert abs(energy[0] - float(DATA["E0"])) < 2 * EPS
    tol.within("heavy_top.energy", np.abs(energy - energy[0]).max() / 1e-15)
    # The weight is a vector of space, so its product with Q m is m . u: kept by the scheme exactly.
    vertical = report_top.momentum_spatial() @ U0
    size = np.linalg.norm(M0) * np.linalg.norm(U0)
    tol.within("heavy_top.vertical", np.abs(vertical - float(DATA["mu0"])).max() / (EPS * size))


# Orders ----------------------------------------------------------------------------------------

STRONG = {"inertia": np.array([0.376, 0.627, 1.0]), "m0": np.array([0.5, 0.7, -0.4])}
STRONG_Q = np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)
STRONG_U = np.array([0.3, -0.2, 1.1])
STRONG_AXIS = np.array([0.1, -0.2, 0.9])


def final(
    n: int, splitting: Any, torque: Any = None, t_end: float = 2.0, method: str = "exact"
) -> Array:
    if torque is None:
        torque = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)
    traj = ph.integrate(
        **STRONG, q0=STRONG_Q, h=t_end / n, n_steps=n, torque=torque, splitting=splitting,
        save_every=n, method=method,
    )  # fmt: skip
    return np.concatenate([traj.m[-1], traj.q[-1]])


@pytest.fixture(scope="module")
def strong_reference() -> Array:
    # Two schemes agree to 4e-15.
    return final(60, "sofroniou10_35")


def orders(
    splitting: Any, counts: list[int], reference: Array, torque: Any = None, method: str = "exact"
) -> list[float]:
    errors = [np.abs(final(n, splitting, torque, method=method) - reference).max() for n in counts]
    assert min(errors) > 1e4 * EPS
    return [
        float(np.log(e0 / e1) / np.log(n1 / n0))
        for n0, n1, e0, e1 in zip(counts, counts[1:], errors, errors[1:], strict=False)
    ]


@pytest.mark.parametrize(
    "scheme",
    [pytest.param(s, id=s.name) for s in ph.splittings() if s.order is not None and s.order <= 8],
)
def test_observed_order(scheme: ph.Splitting, strong_reference: Array) -> None:
    assert scheme.order is not None
    # Steps so short that the first term of the error rules, and the error is still above rounding.
    aim = {2: 1e-6, 8: 3e-10}.get(scheme.order, 5e-11)
    n = 2
    while np.abs(final(n, scheme) - strong_reference).max() > aim:
        n = int(np.ceil(1.25 * n))
    observed = orders(scheme, [n, round(1.4 * n)], strong_reference)[-1]
    assert scheme.order - tol.ORDER_SLACK < observed < scheme.order + 1


def pairs(values: Any) -> Array:
    """34 digits as (high, low)."""
    high = [float(x) for x in values]
    return np.array([(y, float(mpf(x) - y)) for x, y in zip(values, high, strict=True)])


def of_pairs(numbers: Array) -> list[Any]:
    return [mpf(x) + mpf(y) for x, y in numbers]


def cross(a: Any, b: Any) -> list[Any]:
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def along(a: Any, s: Any, b: Any) -> list[Any]:
    """a + s b"""
    return [x + s * y for x, y in zip(a, b, strict=True)]


def kick_in_34_digits(m: Array, q: Array, s: Any, modified: Any) -> Array:
    """m + s f - modified W of the strong top, W = 2 (f x v - f'(v)), v = I^-1 f."""
    weight, axis, inertia = (x.tolist() for x in (STRONG_U, STRONG_AXIS, STRONG["inertia"]))
    q0, *qv = of_pairs(q)
    t = cross(weight, qv)
    u = along(along(weight, 2 * q0, t), 2, cross(t, qv))  # in the body
    f = cross(u, axis)
    v = [x / y for x, y in zip(f, inertia, strict=True)]
    w = along(cross(f, v), -1, cross(cross(u, v), axis))
    return pairs(along(along(of_pairs(m), s, f), -2 * modified, w))


def final_in_34_digits(name: str, n: int) -> list[Any]:
    """The result of `final` after t = 2, by a separate loop over coefficients to all digits."""
    quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")
    with mpmath.workdps(DIGITS):
        h = mpf(2) / n
        (scheme,) = (s for s in ph.splittings() if s.name == name)
        processor = exact_processor(scheme)
        size = mpmath.norm(STRONG_Q.tolist())
        inertia, m, q = map(pairs, (STRONG["inertia"], STRONG["m0"], STRONG_Q / size))
        for kind, x, y in [*inverse(processor), *n * list(exact_stages(name)), *processor]:
            if kind == "kick":
                m = kick_in_34_digits(m, q, x * h, y * h**3)
            else:
                m, q = quad.step(
                    "exact", inertia, m, q, *(np.array([z]) for z in pairs([x * h])[0])
                )
        return of_pairs(m) + of_pairs(q)


@pytest.mark.parametrize("scheme", ph.splittings(), ids=NAMES)
def test_driver_against_34_digits(scheme: ph.Splitting) -> None:
    n = 20
    exact = np.array([float(x) for x in final_in_34_digits(scheme.name, n)])
    unit = EPS * np.sqrt(n * len(scheme.stages) + 2 * len(scheme.processor))
    tol.within("splitting.rounding", np.abs(final(n, scheme) - exact).max() / unit)


def test_modified_potential(strong_reference: Array) -> None:
    # Chin's 4A, kick 1/6, drift 1/2, modified kick 2/3 with c = 1/72: order 4 instead of 2.
    stages = (
        ("kick", 1 / 6, 0.0), ("flow", 1 / 2, 0.0), ("kick", 2 / 3, 1 / 72), ("flow", 1 / 2, 0.0),
        ("kick", 1 / 6, 0.0),
    )  # fmt: skip
    scheme = ph.Splitting("4a", 4, "rkn", (), True, {}, "", True, stages)
    for degree in (1, 2, 3, 4):
        assert defect(stages, degree, True) < 1e-15
    assert min(orders(scheme, [20, 40, 80], strong_reference)) > 3.9
    model = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)
    two = [ph.torques.HeavyTop(0.25 * STRONG_U, axis=STRONG_AXIS), ph.torques.HeavyTop(0.75 * STRONG_U, axis=STRONG_AXIS)]  # fmt: skip  # noqa: E501
    # W is quadratic in the torque, so a sum is more than the sum of its terms.
    close(final(20, scheme, two), final(20, scheme, model), atol=1e-14)

    def w(t: float, q: Array) -> Array:
        f = model.torque(t, np.zeros(3), q)
        v = f / STRONG["inertia"]
        return 2 * (np.cross(f, v) - model.derivative(t, v, q))

    own = ph.torques.Function(lambda t, q: model.torque(t, np.zeros(3), q), W=w)
    close(final(20, scheme, own), final(20, scheme, model), atol=1e-14)
    with pytest.raises(ValueError, match="modified potential"):
        final(20, scheme, lambda t, q: model.torque(t, np.zeros(3), q))


def w_by_mpmath(q: Array, moments: Array) -> list[float]:
    """W of the heavy top, the torque of the potential f . I^-1 f, f that of the potential u . axis:
    by derivatives along turns about the axes of the body."""
    with mpmath.workdps(DIGITS):
        size = mpmath.sqrt(sum(mpf(x) ** 2 for x in q))
        start = [mpf(x) / size for x in q]

        def turned(start: list[Any], k: int, angle: Any) -> list[Any]:
            w, *v = start
            c, s = mpmath.cos(angle / 2), mpmath.sin(angle / 2)
            e = [mpf(i == k) * s for i in range(3)]
            cross = [
                v[1] * e[2] - v[2] * e[1],
                v[2] * e[0] - v[0] * e[2],
                v[0] * e[1] - v[1] * e[0],
            ]
            return [
                w * c - v[k] * s,
                *(w * y + c * x + z for x, y, z in zip(v, e, cross, strict=True)),
            ]

        def potential(q: list[Any]) -> Any:
            w, x, y, z = q
            rows = [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
            return sum(
                mpf(STRONG_U[i]) * rows[i][j] * mpf(STRONG_AXIS[j])
                for i in range(3)
                for j in range(3)
            )

        def v(q: list[Any]) -> Any:
            f = [-mpmath.diff(lambda s, k=k: potential(turned(q, k, s)), 0) for k in range(3)]
            return sum(x * x / mpf(y) for x, y in zip(f, moments, strict=True))

        return [-float(mpmath.diff(lambda s, k=k: v(turned(start, k, s)), 0)) for k in range(3)]


@pytest.mark.parametrize("in_core", [True, False], ids=["core", "python"])
def test_w_is_the_torque_of_the_modified_potential(in_core: bool) -> None:
    # A step of nothing but -c h^3 W.
    moments = STRONG["inertia"]
    stages = (("kick", 0.0, 1.0), ("flow", 0.0, 0.0))
    bare = dataclasses.replace(ph.splittings()[0], name="bare", stages=stages)
    model = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)

    def w(t: float, q: Array) -> Array:
        f = model.torque(t, np.zeros(3), q)
        v = f / moments
        return 2 * (np.cross(f, v) - model.derivative(t, v, q))

    def python(t: float, q: Array) -> Array:
        return model.torque(t, np.zeros(3), q)

    torque = model if in_core else ph.torques.Function(python, W=w)
    for q in (STRONG_Q, np.array([0.1, 0.7, -0.5, 0.5]), np.array([-0.3, 0.2, 0.9, -0.1])):
        h = 0.5
        traj = ph.integrate(moments, [0.0, 0.0, 0.0], q, h, 1, torque=torque, splitting=bare)
        close(-traj.m[1] / h**3, w_by_mpmath(q, moments), atol=32 * EPS)


def test_modified_potential_as_printed(strong_reference: Array) -> None:
    # The heavy top of [Vil13] Sec. 3.2, U = Q33, and the flow of V printed there: half of W with
    # the other sign, and its third component lost.
    moments = STRONG["inertia"]

    def torque(t: float, q: Array) -> Array:
        row = ph.so3.to_matrix(q)[..., 2, :]
        return np.stack([row[..., 1], -row[..., 0], 0 * row[..., 0]], axis=-1)

    def right(t: float, q: Array) -> Array:
        a, b, c = np.moveaxis(ph.so3.to_matrix(q)[..., 2, :], -1, 0)
        i1, i2, _ = 1 / moments
        return np.stack([-2 * b * c * i1, 2 * a * c * i2, 2 * a * b * (i1 - i2)], axis=-1)

    def printed(t: float, q: Array) -> Array:
        a, b, c = np.moveaxis(ph.so3.to_matrix(q)[..., 2, :], -1, 0)
        return np.stack([b * c / moments[0], -a * c / moments[1], 0 * a], axis=-1)

    model = ph.torques.HeavyTop([0.0, 0.0, 1.0])
    reference = final(60, "sofroniou10_35", model)
    order = functools.partial(orders, "chin4a", [20, 40], reference)
    assert abs(order(model)[0] - 4) < tol.ORDER_SLACK
    assert abs(order(ph.torques.Function(torque, W=right))[0] - 4) < tol.ORDER_SLACK
    for factor in (1, -1, 2, -2):
        wrong = ph.torques.Function(torque, W=lambda t, q, s=factor: s * printed(t, q))
        assert order(wrong)[0] < 2.2
    close(
        final(20, "chin4a", ph.torques.Function(torque, W=right)),
        final(20, "chin4a", model),
        atol=1e-14,
    )


@pytest.mark.parametrize(("method", "order"), [("dmv2", 2), ("dmv4", 4), ("dmv6", 4)])
def test_free_motion_of_lower_order_limits_a_scheme(
    method: str, order: int, strong_reference: Array
) -> None:
    """[Vil13] after (16).  C and H change with each kick, and s_k, t_k with them."""
    found = orders("chin4a", [40, 80, 160], strong_reference, method=method)
    close(found[-1], order, atol=0.1)


def test_derivative_is_the_rate_of_the_torque() -> None:
    model = ph.torques.HeavyTop(STRONG_U, axis=STRONG_AXIS)
    v = np.array([0.3, 0.5, -0.7])
    d = 1e-5
    # Turning freely at v for +-d: central difference, error of order d^2 and eps/d.
    ahead, behind = (ph.step([1, 1, 1], v, STRONG_Q, s)[1] for s in (d, -d))
    rate = (model.torque(0, v, ahead) - model.torque(0, v, behind)) / (2 * d)
    close(model.derivative(0, v, STRONG_Q), rate, atol=1e-10)


@pytest.mark.parametrize(("scheme", "order"), [("strang", 2), ("s6", 4)])
def test_kick_of_a_torque_of_m_has_the_order_of_the_scheme(scheme: str, order: int) -> None:
    """By the midpoint rule or the classical Runge-Kutta method: two or four evaluations."""
    calls = []

    def damping(t: float, m: Array, q: Array) -> Array:
        calls.append(t)
        return -0.8 * m

    f = ph.torques.Function(damping)
    traj = ph.integrate(
        [1, 1, 1], [0.1, 0.2, 0.3], [1, 0, 0, 0], 0.5, 1, torque=f, splitting=scheme
    )
    (kicks,) = (np.array(s.b) for s in ph.splittings() if s.name == scheme)
    assert len(calls) == order * len(kicks)
    z = -0.8 * 0.5 * kicks
    factor = np.prod(sum(z**k / math.factorial(k) for k in range(order + 1)))
    close(traj.m[1], factor * traj.m[0], rtol=16 * EPS)
    with pytest.raises(ValueError, match="does not depend on m"):
        ph.integrate([1, 1, 1], [1, 0, 0], [1, 0, 0, 0], 0.1, 1, torque=f, splitting="rkn6_14")


# Bits ------------------------------------------------------------------------------------------


#: Flows or kicks first, few and many stages, kicks with a modified potential.
LOOPS = [
    "strang", "strang_free", "s6", "rkn6_14", "chin4a", "takahashi_imada", "rowlands",
    "processed_ti104",
]  # fmt: skip


def many(n: int, seed: int = 5) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n, 4))
    return {
        "inertia": rng.uniform(0.5, 3.0, (n, 3)),
        "m0": rng.standard_normal((n, 3)),
        "q0": q / np.linalg.norm(q, axis=1, keepdims=True),
        "u0": rng.standard_normal((n, 3)),
    }


def run(bodies: dict[str, Array], pick: Any = slice(None), **options: Any) -> ph.Trajectory:
    chosen = {k: v[pick] for k, v in bodies.items()}
    top = ph.torques.HeavyTop(chosen.pop("u0"))
    return ph.integrate(**chosen, **{"h": 0.1, "n_steps": 12, "torque": top, **options})


@pytest.mark.parametrize("splitting", LOOPS)
@pytest.mark.parametrize("matrix", [False, True], ids=["quaternion", "matrix"])
def test_a_body_does_not_depend_on_the_batch(splitting: str, matrix: bool) -> None:
    bodies = many(333)
    if matrix:
        bodies["q0"] = np.linalg.qr(np.random.default_rng(1).standard_normal((333, 3, 3)))[0]
        bodies["q0"] *= np.linalg.det(bodies["q0"])[:, None, None]
    whole = run(bodies, splitting=splitting)
    threaded = run(bodies, splitting=splitting, threads=2)
    np.testing.assert_array_equal(threaded.m, whole.m)
    np.testing.assert_array_equal(threaded.q, whole.q)
    for pick in (0, 1, 15, 16, 127, 128, 255, 332):
        alone = run(bodies, pick, splitting=splitting)
        np.testing.assert_array_equal(alone.m, whole.m[:, pick])
        np.testing.assert_array_equal(alone.q, whole.q[:, pick])
    part = run(bodies, slice(100, 240), splitting=splitting)
    np.testing.assert_array_equal(part.m, whole.m[:, 100:240])


#: A processed scheme of another user: kicks first, so that saves come between two kicks.
KICKS_FIRST = dataclasses.replace(
    ph.splittings()[0], name="mine", processor=PROCESSED[0].processor, symmetric=False
)


@pytest.mark.parametrize("compensated", [False, True], ids=["plain", "compensated"])
@pytest.mark.parametrize("splitting", [*LOOPS, KICKS_FIRST], ids=str)
def test_saves_do_not_change_the_motion(splitting: Any, compensated: bool) -> None:
    bodies = many(3)
    h = np.repeat([0.1, 0.05, -0.1], [300, 301, 400]) if compensated else 0.1
    options = {"splitting": splitting, "n_steps": 1001, "compensated": compensated, "h": h}
    every = run(bodies, **options)
    seldom = run(bodies, save_every=400, **options)
    np.testing.assert_array_equal(seldom.m, every.m[[0, 400, 800, 1001]])
    np.testing.assert_array_equal(seldom.q, every.q[[0, 400, 800, 1001]])
    np.testing.assert_array_equal(seldom.t, every.t[[0, 400, 800, 1001]])


@pytest.mark.parametrize("torque", [None, ph.torques.HeavyTop([0, 0, 0])], ids=["none", "zero"])
def test_strang_without_torque_is_the_free_step(torque: Any) -> None:
    bodies = many(40)
    del bodies["u0"]
    traj = ph.integrate(**bodies, h=0.3, n_steps=1, torque=torque)
    m, q = ph.step(bodies["inertia"], bodies["m0"], bodies["q0"], 0.3)
    np.testing.assert_array_equal(traj.m[1], m)
    np.testing.assert_array_equal(traj.q[1], q)


def test_quaternions_and_matrices_agree() -> None:
    bodies = many(20)
    by_q = run(bodies, n_steps=20)
    w, v = bodies["q0"][:, :1, None], bodies["q0"][:, 1:]
    hat = np.cross(np.eye(3), v[:, None, :])
    matrices = np.eye(3) + 2 * w * hat + 2 * hat @ hat
    by_matrix = run({**bodies, "q0": matrices}, n_steps=20)
    close(by_matrix.m, by_q.m, atol=1e-13)
    close(by_matrix.momentum_spatial(), by_q.momentum_spatial(), atol=1e-13)
    close(by_matrix.energy(), by_q.energy(), atol=1e-13)


def test_nan_stays_in_its_body() -> None:
    bodies = many(40)
    clean = run(bodies)
    bodies["m0"][7, 1] = np.nan
    bodies["q0"][30, 2] = np.inf
    damaged = run(bodies)
    others = [i for i in range(40) if i not in (7, 30)]
    np.testing.assert_array_equal(damaged.m[:, others], clean.m[:, others])
    assert np.isnan(damaged.m[1:, [7, 30]]).all()
    assert np.isnan(damaged.q[1:, [7, 30]]).all()

"""Laws that every attitude method keeps, over every method of `ph.methods()` and every hard state.

A method joins by being in the list.  A failure names the state, the error and the bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
import reference
import tolerances as tol
from numpy.typing import NDArray
from states import STATES, Vector, batch
from tolerances import EPS, check

import polhode as ph

Array = NDArray[Any]

METHODS = {method.name: method for method in ph.methods()}
EXACT = [name for name, method in METHODS.items() if not method.order]
APPROXIMATE = [name for name, method in METHODS.items() if method.order]
#: In double the general methods of high order reach rounding before their order shows to 0.15, and
#: their coefficients are doubles: see tests/integration/test_high_order.py.
ORDER_SEEN = [n for n in APPROXIMATE if METHODS[n].kind not in ("dormand-prince", "adams")]
NAMES = [state.name for state in STATES]

every_method = pytest.mark.parametrize("name", METHODS)
every_exact_method = pytest.mark.parametrize("name", EXACT)

# Long steps are for exact methods; the others get steps that an implicit method can still solve.
SHORT = 0.2


def lengths(name: str) -> tuple[float, ...]:
    return (SHORT, -1.0, 5.0) if name in EXACT else (SHORT, -SHORT / 4)


def keeps(name: str, invariant: str) -> None:
    if invariant not in METHODS[name].invariants:
        pytest.skip(f"{name} does not claim to keep {invariant}")


def step(name: str, *args: Any, **kwargs: Any) -> tuple[Array, Array]:
    """One step; of a method that looks back, the least number that shows it, in the same time."""
    history = METHODS[name].history
    if history and "n_steps" not in kwargs:
        *args, h = args
        args = (*args, np.asarray(h) / history)
        kwargs["n_steps"] = history
    m, attitude = ph.step(*args, method=name, **kwargs)
    return m, attitude


# Momentum, energy and rotation in extended precision, so that the measured error is that of the
# method.


def unit(v: Array) -> tuple[Array, Array]:
    """v scaled by a power of two to a largest component in [1/2, 1), and the scale."""
    largest = np.abs(v).max(-1, keepdims=True)
    _, exponent = np.frexp(np.where(largest > 0, largest, 1.0))
    # In two halves: the power of two for a subnormal number is too large for a double.
    half = exponent // 2
    scaled = np.ldexp(np.ldexp(v, -half), half - exponent)
    return scaled.astype(np.longdouble), exponent


def grain(m: Array) -> Array:
    """The spacing of subnormal numbers, 5e-324, relative to |m|."""
    size = np.abs(m).max(-1)
    return np.divide(5e-324, size, out=np.zeros_like(size), where=size > 0)


def norm(v: Array) -> Array:
    return np.sqrt(np.sum(v * v, -1))


def rate(inertia: Array, m: Array) -> Array:
    """Angular velocity; none about a zero moment."""
    return np.divide(m, inertia, out=np.zeros_like(m), where=inertia > 0)


def product(p: Array, q: Array) -> Array:
    p0, p1, p2, p3 = np.moveaxis(p, -1, 0)
    q0, q1, q2, q3 = np.moveaxis(q, -1, 0)
    return np.stack(
        [
            p0 * q0 - p1 * q1 - p2 * q2 - p3 * q3,
            p0 * q1 + p1 * q0 + p2 * q3 - p3 * q2,
            p0 * q2 - p1 * q3 + p2 * q0 + p3 * q1,
            p0 * q3 + p1 * q2 - p2 * q1 + p3 * q0,
        ],
        -1,
    )


def to_matrix(q: Array) -> Array:
    w, x, y, z = np.moveaxis(q.astype(np.longdouble), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def normalised(q: Array) -> Array:
    wide = q.astype(np.longdouble)
    return wide / norm(wide)[..., None]


def largest(v: Array) -> Array:
    return np.abs(v).reshape(len(v), -1).max(-1)


def difference_m(a: Array, b: Array) -> Array:
    """Largest component of a - b, relative to |b|."""
    scaled, exponent = unit(b)
    half = exponent // 2
    other = np.ldexp(np.ldexp(a, -half), half - exponent).astype(np.longdouble)
    size = norm(scaled)
    return largest(other - scaled) / np.where(size > 0, size, 1)


def conditioned(hw: float) -> tuple[Array, Array]:
    """Units of the round-off of m / |m| and q in a step of length hw.

    For all methods: an approximate one also turns the same angle and is as sensitive to its inputs.
    """
    inertia, m, _, h = batch(STATES, hw)
    angle = reference.angle(inertia, m, h)
    of_m, of_q = (tol.exact_unit(angle, s) for s in sensitivity(hw).T)
    return of_m, of_q


def sensitivity(hw: float) -> Array:
    """Of m and q, shape (N, 2), stored for a step at least as long."""
    length = min(abs(x) for x in stored_lengths() if abs(x) >= abs(hw))
    rows = {c["name"]: c["ulp_sensitivity"] for c in STORED if abs(c["hw"]) == length}
    return np.array([(rows[name]["m"], rows[name]["q"]) for name in NAMES])


STORED = reference.load_cases("hard_states.json")


def stored_lengths() -> list[float]:
    return sorted({c["hw"] for c in STORED})


def test_stored_states_are_those_of_the_list() -> None:
    """data/hard_states.json belongs to states.py: names, inputs and some recomputed ends."""
    by_name = {state.name: state for state in STATES}
    assert {c["name"] for c in STORED} == set(by_name)
    for i, case in enumerate(STORED):
        state = by_name[case["name"]]
        assert tuple(case["inertia"]) == state.inertia
        assert tuple(case["m0"]) == state.m
        assert tuple(case["q0"]) == state.q
        assert case["h"] == state.step(case["hw"])
        if abs(case["hw"]) <= 1 and i % 7 == 0:
            end = reference.torque_free(state.inertia, state.m, state.q, case["h"])
            known = reference.stored(case)
            # 25 digits are stored.
            assert max(abs(a - b) for a, b in zip(end.q, known.q, strict=True)) < 1e-24
            change = max(abs(a - b) for a, b in zip(end.m, known.m, strict=True))
            assert change <= 1e-24 * known.norm


# --- invariants ---


@every_method
def test_energy(name: str) -> None:
    keeps(name, "energy")
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        end, _ = step(name, inertia, m, q, h)
        moments, _ = unit(inertia)
        start, exponent = unit(m)
        half = exponent // 2
        end = np.ldexp(np.ldexp(end, -half), half - exponent).astype(np.longdouble)
        w0, w1 = rate(moments, start), rate(moments, end)
        change = np.abs(np.sum(end * w1, -1) - np.sum(start * w0, -1)) / 2
        size = norm(start) * norm(w0)
        angle = reference.angle(inertia, m, h)
        check(
            f"{name}, energy / (|m| |omega|), hw = {hw}",
            NAMES,
            change / np.where(size > 0, size, 1),
            "laws.energy",
            unit=EPS * (1 + angle),
        )


@every_method
def test_casimir(name: str) -> None:
    keeps(name, "casimir")
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        end, _ = step(name, inertia, m, q, h)
        start, exponent = unit(m)
        half = exponent // 2
        end = np.ldexp(np.ldexp(end, -half), half - exponent).astype(np.longdouble)
        size = np.sum(start * start, -1)
        change = np.abs(np.sum(end * end, -1) - size) / np.where(size > 0, size, 1)
        check(f"{name}, |m|^2, hw = {hw}", NAMES, change, "laws.casimir")


@every_method
@pytest.mark.parametrize("attitude", ["quaternion", "matrix"])
def test_momentum_spatial(name: str, attitude: str) -> None:
    keeps(name, "momentum_spatial")
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        before = to_matrix(normalised(q))
        if attitude == "matrix":
            end, matrix = step(name, inertia, m, before.astype(float), h)
            after = matrix.astype(np.longdouble)
        else:
            end, q_end = step(name, inertia, m, q, h)
            after = to_matrix(normalised(q_end))
        start, exponent = unit(m)
        half = exponent // 2
        end = np.ldexp(np.ldexp(end, -half), half - exponent).astype(np.longdouble)
        change = np.einsum("nij,nj->ni", after, end) - np.einsum("nij,nj->ni", before, start)
        size = norm(start)
        check(
            f"{name}, Q m / |m|, hw = {hw}",
            NAMES,
            largest(change) / np.where(size > 0, size, 1),
            "laws.momentum_spatial",
        )


@every_method
def test_unit_norm_and_orthogonality(name: str) -> None:
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        _, q_end = step(name, inertia, m, q, h)
        change = np.abs(norm(q_end.astype(np.longdouble)) - 1)
        check(f"{name}, |q| - 1, hw = {hw}", NAMES, change, "laws.unit_norm")
        _, matrix = step(name, inertia, m, to_matrix(normalised(q)).astype(float), h)
        wide = matrix.astype(np.longdouble)
        change = largest(np.einsum("nji,njk->nik", wide, wide) - np.eye(3))
        check(f"{name}, Q^T Q - 1, hw = {hw}", NAMES, change, "laws.orthogonality")
        assert (np.linalg.det(matrix) > 0).all()


@every_method
def test_norm_and_orthogonality_do_not_drift(name: str) -> None:
    # The methods of Adams of high order need shorter steps to be stable.
    inertia, m, q, h = batch(STATES, SHORT / (8 if METHODS[name].kind == "adams" else 1))
    _, q_end = step(name, inertia, m, q, h, n_steps=500)
    change = np.abs(norm(q_end.astype(np.longdouble)) - 1)
    check(f"{name}, |q| - 1 after 500 steps", NAMES, change, "laws.unit_norm")
    start = to_matrix(normalised(q)).astype(float)
    _, matrix = step(name, inertia, m, start, h, n_steps=500)
    wide = matrix.astype(np.longdouble)
    change = largest(np.einsum("nji,njk->nik", wide, wide) - np.eye(3))
    check(f"{name}, Q^T Q - 1 after 500 steps", NAMES, change, "laws.orthogonality")


# --- the flow ---


@every_method
def test_back_and_forth(name: str) -> None:
    if not METHODS[name].symmetric:
        pytest.skip(f"{name} does not claim symmetry")
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        there = step(name, inertia, m, q, h)
        back = step(name, inertia, *there, -h)
        unit_m, unit_q = conditioned(hw)
        change = difference_m(back[0], m)
        check(f"{name}, m back, hw = {hw}", NAMES, change, "laws.reversal", unit=unit_m)
        change = largest(back[1] - normalised(q))
        check(f"{name}, q back, hw = {hw}", NAMES, change, "laws.reversal", unit=unit_q)


@every_exact_method
def test_two_steps_are_one(name: str) -> None:
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        # 40 bits of h, so that 3/8 h and 5/8 h add up to h exactly.
        mantissa, exponent = np.frexp(h)
        h = np.ldexp(np.round(mantissa * 2.0**40), exponent - 40)
        once = step(name, inertia, m, q, h)
        first = step(name, inertia, m, q, h * 0.375)
        twice = step(name, inertia, *first, h * 0.625)
        unit_m, unit_q = conditioned(hw)
        change = difference_m(twice[0], once[0])
        check(f"{name}, m in two steps, hw = {hw}", NAMES, change, "laws.composition", unit=unit_m)
        change = largest(twice[1] - once[1].astype(np.longdouble))
        check(f"{name}, q in two steps, hw = {hw}", NAMES, change, "laws.composition", unit=unit_q)


@every_method
def test_no_step(name: str) -> None:
    """h = 0 gives m back bit for bit, and q normalised."""
    inertia, m, q, _ = batch(STATES, SHORT)
    end, q_end = step(name, inertia, m, q, 0.0)
    np.testing.assert_array_equal(end, m)
    change = largest(q_end - normalised(q))
    check(f"{name}, q at h = 0", NAMES, change, EPS)


@every_method
def test_sign_is_that_of_the_continuous_path(name: str) -> None:
    """At hw = 0.2 every method is near the path; the sign is lost or kept there."""
    inertia, m, q, h = batch(STATES, SHORT)
    _, q_end = step(name, inertia, m, q, h)
    ends = {c["name"]: c["q"] for c in STORED if c["hw"] == SHORT}
    exact = np.array([[float(x) for x in ends[state]] for state in NAMES])
    # 2 - 2 cos of the angle in the 3-sphere: 4 on the wrong sheet.
    check(f"{name}, |q - q_exact|^2", NAMES, np.sum((q_end - exact) ** 2, -1), 0.1)


@every_exact_method
def test_sign_after_long_steps(name: str) -> None:
    """One step of up to 300 |m| / I1 ends on the same sheet as 256 short ones.

    Most bodies circle axis 3 with an azimuth that librates, or are near doing so: there the sign
    depends on more than the length of the step.
    """
    rng = np.random.default_rng(5)
    count = 4000
    inertia = np.stack([rng.uniform(0.1, 1.0, count), np.ones(count), rng.uniform(1.0, 2.0, count)])
    m = rng.normal(size=(count, 3)) * [0.1, 1.0, 0.5]
    m /= np.linalg.norm(m, axis=1)[:, None]
    q = np.array([0.6, -0.48, 0.0, 0.64])
    h = inertia[0] * 10 ** rng.uniform(0.0, 2.5, count) * rng.choice([-1.0, 1.0], count)
    _, once = step(name, inertia.T, m, q, h)
    _, often = step(name, inertia.T, m, q, h / 256, n_steps=256)
    cosine = np.sum(once * often, -1)
    # Near the separatrix a few runs no longer depend on their start; they prove nothing.
    assert (np.abs(cosine) > 0.999).mean() > 0.99
    wrong = np.flatnonzero(cosine < -0.999)
    assert len(wrong) == 0, f"{name}: wrong sign in {len(wrong)} bodies, first " + str(
        [(inertia.T[i].tolist(), m[i].tolist(), float(h[i])) for i in wrong[:3]]
    )


# --- changes of axes and units ---


def signed_permutations() -> list[Array]:
    """All 48 symmetries of the cube."""
    return [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]


def preferred_axes(name: str) -> tuple[int, ...] | None:
    """The axes that a method names, as its option `axes` has them, or None."""
    options = METHODS[name].options
    axes = dict(options).get("axes") if options else None
    return None if axes is None else tuple(int(a) for a in axes)


@every_method
def test_signed_permutations_of_the_axes(name: str) -> None:
    """m -> det(S) S m, q -> (q0, det(S) S qv); named axes become the permuted ones."""
    axes = preferred_axes(name)
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        plain = step(name, inertia, m, q, h)
        unit_m, unit_q = conditioned(hw)
        for matrix in signed_permutations():
            turn = np.linalg.det(matrix).round() * matrix
            order = np.abs(matrix)
            options: dict[str, Any] = {}
            if axes is not None:
                # Axis a of the body becomes axis b, where row b of S has its entry in column a.
                moved = [int(np.argmax(order[:, a - 1])) + 1 for a in axes]
                options["axes"] = tuple(moved)

            def turned(quaternion: Array, turn: Array = turn) -> Array:
                return np.concatenate([quaternion[:, :1], quaternion[:, 1:] @ turn.T], -1)

            end, q_end = step(name, inertia @ order.T, m @ turn.T, turned(q), h, **options)
            what = f"S = {matrix.astype(int).tolist()}, hw = {hw}"
            change = difference_m(end, plain[0] @ turn.T)
            check(f"{name}, m, {what}", NAMES, change, "laws.permutation", unit=unit_m)
            change = largest(q_end - turned(plain[1]))
            check(f"{name}, q, {what}", NAMES, change, "laws.permutation", unit=unit_q)


@every_method
def test_scaling(name: str) -> None:
    """(m, h) -> (c m, h / c) and (inertia, h) -> (c inertia, c h) change nothing but the units."""
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        plain = step(name, inertia, m, q, h)
        unit_m, unit_q = conditioned(hw)
        if METHODS[name].kind == "adams":  # the first steps are made as several shorter ones
            unit_m, unit_q = 4 * unit_m, 4 * unit_q
        for c in (3.0, 1e-3, 64.0):
            scaled = [
                (f"m by {c:g}", c, step(name, inertia, c * m, q, h / c)),
                (f"inertia by {c:g}", 1.0, step(name, c * inertia, m, q, c * h)),
            ]
            for what, size, (end, q_end) in scaled:
                # c m is rounded twice, before the step and after it.
                rounding = 2 * grain(size * m) * (1 + reference.angle(inertia, m, h))
                change = difference_m(end, size * plain[0])
                where = f"{what}, hw = {hw}"
                check(
                    f"{name}, m, {where}",
                    NAMES,
                    change,
                    "laws.scaling",
                    unit=unit_m,
                    besides=rounding,
                )
                change = largest(q_end - plain[1].astype(np.longdouble))
                check(
                    f"{name}, q, {where}",
                    NAMES,
                    change,
                    "laws.scaling",
                    unit=unit_q,
                    besides=rounding,
                )


@every_method
def test_quaternion_and_matrix_agree(name: str) -> None:
    for hw in lengths(name):
        inertia, m, q, h = batch(STATES, hw)
        end, q_end = step(name, inertia, m, q, h)
        end_too, matrix = step(name, inertia, m, to_matrix(normalised(q)).astype(float), h)
        np.testing.assert_array_equal(end, end_too)
        change = largest(matrix - to_matrix(q_end))
        check(f"{name}, Q - Q(q), hw = {hw}", NAMES, change, "laws.matrix")


# --- accuracy ---


@every_exact_method
@pytest.mark.parametrize("hw", stored_lengths())
def test_exact_methods_against_the_reference(name: str, hw: float) -> None:
    cases = [c for c in STORED if c["hw"] == hw]
    inertia, m, q, h = (np.array([c[key] for c in cases]) for key in ("inertia", "m0", "q0", "h"))
    assert [c["name"] for c in cases] == NAMES
    end, q_end = step(name, inertia, m, q, h)
    known = [reference.stored(c) for c in cases]
    unit_m, unit_q = conditioned(hw)
    errors = [k.error_m(x) for k, x in zip(known, end, strict=True)]
    check(f"{name}, m, hw = {hw}", NAMES, errors, "laws.exact", unit=unit_m, besides=grain(m))
    errors = [k.error_q(x) for k, x in zip(known, q_end, strict=True)]
    check(f"{name}, q, hw = {hw}", NAMES, errors, "laws.exact", unit=unit_q)


# Bodies whose convergence is watched: both sides, a fast axis, no order of moments.
CONVERGENCE = (
    ((1.0, 1.5, 2.2), (0.8, 0.3, 0.4)),
    ((1.0, 1.5, 2.2), (-0.3, 0.5, 0.8)),
    ((1.0, 1.1, 1.9), (0.4, -0.7, 0.6)),
    ((2.0, 1.3, 1.0), (0.5, 0.6, -0.6)),
)
DURATION = 4.0  # hw of the whole run
#: Of the 34-digit type, which has 113 bits.
EPS_34 = 2.0**-112
STEP_COUNTS = (2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512)


def convergence_run(body: int) -> tuple[Vector, Vector, tuple[float, ...], float]:
    """Moments, momentum, attitude and time of a run whose convergence is watched."""
    inertia, m = CONVERGENCE[body]
    return inertia, m, (0.6, -0.48, 0.0, 0.64), DURATION * min(inertia) / math.hypot(*m)


def observed_order(counts: list[int], errors: list[float], roundoff: float) -> float | None:
    """Order from the two finest step sizes whose error is above 1e4 round-offs."""
    usable = [
        (n, e)
        for n, e in zip(counts, errors, strict=True)
        if tol.ORDER_ABOVE * roundoff < e < 0.3 and np.isfinite(e)
    ]
    if len(usable) < 2:
        return None
    (n1, e1), (n2, e2) = usable[-2:]
    return float(np.log(e1 / e2) / np.log(n2 / n1))


def check_order(name: str, body: int, counts: list[int], errors: list[float], eps: float) -> None:
    table = ", ".join(f"{n}: {e:.2e}" for n, e in zip(counts, errors, strict=True))
    order = observed_order(counts, errors, eps)
    assert order is not None, f"{name}, body {body}: no two usable errors in {table}"
    claimed = METHODS[name].order or 0
    assert order >= claimed - tol.ORDER_SLACK, (
        f"{name}, body {body}: order {order:.2f}, claimed {claimed}; steps and errors {table}"
    )


@pytest.mark.filterwarnings("ignore:.* found no root:RuntimeWarning")  # of the longest steps
@pytest.mark.parametrize("name", [n for n in ORDER_SEEN if METHODS[n].order <= 8])
@pytest.mark.parametrize("body", range(len(CONVERGENCE)))
def test_order(name: str, body: int) -> None:
    inertia, m, q, t = convergence_run(body)
    end = reference.torque_free(inertia, m, q, t)
    counts: list[int] = []
    errors: list[float] = []
    for n in STEP_COUNTS:
        try:
            m_end, q_end = step(name, inertia, m, q, t / n, n_steps=n)
        except ValueError:
            continue  # a multistep method with fewer steps than its history
        counts.append(n)
        errors.append(max(end.error_m(m_end), end.error_q(q_end)))
        if errors[-1] < tol.ORDER_ABOVE * EPS:
            break
    if observed_order(counts, errors, EPS) is None and errors[-1] < 1e-9:
        # Too accurate for double: rounding comes before the second error.
        check_order_in_34_digits(name, body)
    else:
        check_order(name, body, counts, errors, EPS)


@pytest.mark.parametrize("name", [n for n in ORDER_SEEN if METHODS[n].order > 8])
@pytest.mark.parametrize("body", range(len(CONVERGENCE)))
def test_order_above_8_in_34_digits(name: str, body: int) -> None:
    check_order_in_34_digits(name, body)


def check_order_in_34_digits(name: str, body: int) -> None:
    quad = pytest.importorskip("polhode._quad", reason="the compiler has no 34-digit type")

    def pairs(values: Sequence[Any]) -> Array:
        high = [float(x) for x in values]
        return np.array([(h, float(x - h)) for h, x in zip(high, values, strict=True)])

    inertia, m, q, t = convergence_run(body)
    end = reference.torque_free(inertia, m, q, t)
    start = reference.unit_quaternion(q)
    counts: list[int] = []
    errors: list[float] = []
    with mpmath.workdps(reference.DIGITS):
        for n in STEP_COUNTS:
            h = pairs([mpmath.mpf(t) / n])[0]
            ends = quad.step(name, pairs(inertia), pairs(m), pairs(start), *h, n_steps=n)
            m_end, q_end = ([mpmath.mpf(x) + mpmath.mpf(y) for x, y in e] for e in ends)
            counts.append(n)
            error_m = max(abs(x - y) for x, y in zip(m_end, end.m, strict=True)) / end.norm
            error_q = max(abs(x - y) for x, y in zip(q_end, end.q, strict=True))
            errors.append(float(max(error_m, error_q)))
            if errors[-1] < tol.ORDER_ABOVE * EPS_34:
                break
    check_order(name, body, counts, errors, EPS_34)

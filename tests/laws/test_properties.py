"""Laws of torque-free motion on random methods and bodies, drawn and shrunk by Hypothesis.

Bodies are generic, symmetric, spherical, rods, slender, or degenerate to some ulps, momenta lie
anywhere or near an axis or the separatrix, sizes go far up and down.  The laws on chosen hard
states are in test_laws.py.  The profile draws the same examples at every run.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import hypothesis
import numpy as np
import reference
import tolerances as tol
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tolerances import EPS

import polhode as ph

Array = NDArray[np.float64]

hypothesis.settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, database=None
)
hypothesis.settings.load_profile("ci")

METHODS = {m.name: m for m in ph.methods()}
EXACT = [name for name, m in METHODS.items() if m.order is None]
CUBE = [
    np.eye(3)[list(order)] * np.array(signs)[:, None]
    for order in itertools.permutations(range(3))
    for signs in itertools.product((1.0, -1.0), repeat=3)
]

unit_interval = st.floats(0.0, 1.0)
signed = st.floats(-1.0, 1.0)


@st.composite
def moments(draw: st.DrawFn, *, rods: bool = True) -> Array:
    """Moments of a physical body in any order; the largest is between 1/2 and 2."""
    kinds = ["generic", "two equal", "nearly equal", "sphere", "slender", "flat"]
    kind = draw(st.sampled_from([*kinds, "rod"] if rods else kinds))
    a, b = 0.5 + draw(unit_interval), 0.5 + draw(unit_interval)
    low, high = min(a, b), max(a, b)
    # The third is at least high - low and at most low + high.
    third = high - low + (0.01 + 0.98 * draw(unit_interval)) * 2 * low
    tiny = 10.0 ** draw(st.floats(-15, -1))
    triple = {
        "generic": (a, b, third),
        "two equal": (a, a, a * (0.1 + 1.8 * draw(unit_interval))),
        "nearly equal": (a, a * (1 + tiny), a * (0.1 + 1.8 * draw(unit_interval))),
        "sphere": (a, a, a),
        "slender": (a * tiny, a, a),
        "flat": (a, b, a + b),
        "rod": (0.0, a, a),
    }[kind]
    return np.array(triple)[list(draw(st.permutations(range(3))))]


@st.composite
def momenta(draw: st.DrawFn, inertia: Array) -> Array:
    """Momenta of length about 1, near nothing, an axis, a plane or the separatrix."""
    kind = draw(st.sampled_from(["generic", "near an axis", "near a plane", "near the separatrix"]))
    m = np.array([draw(signed), draw(signed), draw(signed)])
    tiny = 10.0 ** draw(st.floats(-18, -1)) * draw(st.sampled_from([0.0, 1.0]))
    axis = draw(st.integers(0, 2))
    if kind == "near an axis":
        m *= tiny
        m[axis] = 1.0
    elif kind == "near a plane":
        m[axis] *= tiny
    elif kind == "near the separatrix":
        low, middle, high = np.argsort(inertia)
        i1, i2, i3 = inertia[[low, middle, high]]
        m[high] = m[low] * math.sqrt(i3 * (i2 - i1) / max(i1 * (i3 - i2), 1e-300)) * (1 + tiny)
    size = math.hypot(*m)
    m = m / size if size > 1e-300 and math.isfinite(size) else np.array([1.0, 0.0, 0.0])
    m = np.where(inertia > 0, m, 0.0)
    # Without its part along a rod it may be next to nothing, whose square is no double.
    return m if math.hypot(*m) > 1e-3 else np.where(inertia > 0, 0.5, 0.0)


quaternions = (
    st.tuples(signed, signed, signed, signed)
    .filter(lambda q: math.hypot(*q) > 1e-3)
    .map(lambda q: np.array(q) / math.hypot(*q))
)


@st.composite
def states(draw: st.DrawFn, *, turn: float) -> tuple[Array, Array, Array, float]:
    """Moments, m, q and h of a step that turns by at most `turn` radians."""
    inertia = draw(moments())
    m = draw(momenta(inertia))
    scale = draw(st.sampled_from([1.0, 1e-90, 1e90]))
    size = draw(st.sampled_from([1.0, 1e-60, 1e60]))
    least = inertia[inertia > 0].min()
    h = turn * draw(signed) * least * scale / size
    return scale * inertia, size * m, draw(quaternions), h


def within(name: str, ratios: Any) -> None:
    """As `tol.within`, not recorded: the examples depend on the version of Hypothesis."""
    limit = tol.BOUNDS[name].limit
    assert (np.ravel(ratios) <= limit).all(), f"{name}: {ratios}, limit {limit}"


def wide(x: Any) -> NDArray[np.longdouble]:
    return np.asarray(x, np.longdouble)


def matrix(q: Array) -> Array:
    w, x, y, z = wide(q) / np.sqrt(np.sum(wide(q) ** 2))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def length(m: Array) -> float:
    return float(np.sqrt(np.sum(wide(m) ** 2))) or 1.0


def far(a: Array, b: Array) -> float:
    return float(np.abs(wide(a) - wide(b)).max())


def angle(inertia: Array, m: Array, h: float) -> float:
    return float(reference.angle(inertia, m, h))


def step(name: str, *args: Any, **kwargs: Any) -> tuple[Array, Array]:
    """One step, of a multistep method as many as it needs; NaN where its equation has no root."""
    with np.errstate(all="ignore"):
        return ph.step(*args, method=name, n_steps=METHODS[name].history or 1, **kwargs)


@given(st.sampled_from(list(METHODS)), states(turn=0.3))
def test_invariants(name: str, state: tuple[Array, Array, Array, float]) -> None:
    inertia, m, q, h = state
    end, q_end = step(name, inertia, m, q, h)
    size = length(m)
    norm = np.sqrt(np.sum(wide(q_end) ** 2))
    within("laws.unit_norm", abs(float(norm - 1)) / EPS)
    keeps = METHODS[name].invariants
    turns = angle(inertia, m, h) * (METHODS[name].history or 1)
    if "energy" in keeps:
        rates = [np.divide(wide(x), inertia, out=wide(0 * x), where=inertia > 0) for x in (m, end)]
        change = np.sum(wide(end) * rates[1]) / 2 - np.sum(wide(m) * rates[0]) / 2
        unit = EPS * size * (float(np.sqrt(np.sum(rates[0] ** 2))) or 1.0) * (1 + turns)
        within("laws.energy", abs(float(change)) / unit)
    if "casimir" in keeps:
        change = np.sum(wide(end) ** 2) - np.sum(wide(m) ** 2)
        within("laws.casimir", abs(float(change)) / (EPS * size**2))
    if "momentum_spatial" in keeps:
        change = far(matrix(q_end) @ wide(end), matrix(q) @ wide(m))
        within("laws.momentum_spatial", change / (EPS * size))


def sensitivity(name: str, inertia: Array, m: Array, q: Array, h: float, **kwargs: Any) -> Array:
    """What half an ulp of each input does to m / |m| and q, by changes 2^20 times as large."""
    end = step(name, inertia, m, q, h, **kwargs)
    total = np.zeros(2)
    for axis in range(6):
        changed = np.array([inertia, m])
        changed[axis // 3, axis % 3] *= 1 + 2.0**-33
        moved = step(name, *changed, q, h, **kwargs)
        total += [far(moved[0], end[0]) / length(m), far(moved[1], end[1])]
    return total * 2.0**-20


def compare(
    bound: str,
    found: tuple[Array, Array],
    wanted: tuple[Array, Array],
    unit: Array,
) -> None:
    size = length(wanted[0])
    ratios = [far(found[0], wanted[0]) / size, far(found[1], wanted[1])] / unit
    within(bound, ratios)


@given(st.sampled_from(EXACT), states(turn=30.0), unit_interval)
def test_composition(name: str, state: tuple[Array, Array, Array, float], share: float) -> None:
    """flow(t) after flow(s) is flow(s + t)."""
    inertia, m, q, h = state
    s = h * round(share * 16) / 16
    t = h - s
    hypothesis.assume(s + t == h)
    twice = step(name, inertia, *step(name, inertia, m, q, s), t)
    once = step(name, inertia, m, q, h)
    unit = tol.exact_unit(angle(inertia, m, h), sensitivity(name, *state))
    compare("laws.composition", twice, once, unit)


@given(st.sampled_from(list(METHODS)), states(turn=0.3), st.sampled_from(range(48)))
def test_signed_permutation(name: str, state: tuple[Array, Array, Array, float], i: int) -> None:
    """Axes turned by S: m -> det(S) S m, q -> (q0, det(S) S qv)."""
    inertia, m, q, h = state
    order = np.abs(CUBE[i])
    turn = round(np.linalg.det(CUBE[i])) * CUBE[i]
    options: dict[str, Any] = {}
    if METHODS[name].options.get("axes") is not None:
        axes = METHODS[name].options["axes"]
        options["axes"] = tuple(int(np.argmax(order[:, int(a) - 1])) + 1 for a in axes)
    end, q_end = step(name, inertia, m, q, h)
    wanted = turn @ end, np.array([q_end[0], *(turn @ q_end[1:])])
    got = step(name, order @ inertia, turn @ m, [q[0], *(turn @ q[1:])], h, **options)
    unit = tol.exact_unit(angle(inertia, m, h), sensitivity(name, *state))
    compare("laws.permutation", got, wanted, unit)


@given(states(turn=30.0))
def test_exact_methods_agree(state: tuple[Array, Array, Array, float]) -> None:
    """Two routes to the same motion, and the closed form."""
    inertia, m, q, h = state
    unit = tol.exact_unit(angle(inertia, m, h), sensitivity("exact", *state))
    end = ph.step(inertia, m, q, h)
    compare("frb.against_exact", ph.step(inertia, m, q, h, method="frb"), end, unit)
    compare("frb.against_exact", ph.TorqueFreeMotion(inertia, m, q)(h), end, unit)

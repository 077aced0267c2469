"""Bodies under torque: tops under a weak to strong torque, a damped dipole, a satellite.

Sixteen starts in random directions, repeated; |m| = 1 and I1 = 1 at the start.  Reference: the
method of order 8 of DOP853 in extended precision with short steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

import polhode as ph
from benchmarks._bodies import report_top, states
from benchmarks.rivals._problem import SLOPES, Array, Problem

#: Number of different starts.
STARTS = 16
#: Torque over energy of the heavy tops.
STRENGTHS = (1e-5, 1e-3, 1e-1, 1.0, 10.0)
_DIRECTION = np.array([0.3, -0.4, np.sqrt(0.75)])
_DAMPING = 0.3
_ECCENTRICITY, _RATE = 0.3, 0.5


def _end(kind: str, start: Problem, step: float) -> Array:
    """States (rows, n) at the end, rounded to doubles."""
    from scipy.integrate import DOP853

    wide = np.longdouble
    a, b = DOP853.A.astype(wide), DOP853.B.astype(wide)
    inertia, parameters = (tuple(map(wide, x)) for x in (start.inertia, start.parameters))
    y = start.states.astype(wide)
    n = round(start.t_end / step)
    h = wide(start.t_end) / n
    k = np.empty((len(b), *y.shape), wide)
    for _ in range(n):
        for stage in range(len(b)):
            at = y + h * np.tensordot(a[stage, :stage], k[:stage], 1)
            k[stage] = SLOPES[kind](inertia, parameters, at)
        y = y + h * np.tensordot(b, k, 1)
    return y.astype(np.float64)


def _solved(start: Problem, step: float) -> Problem:
    """The problem with its reference."""
    end = _end(start.kind, start, step)
    return replace(start, m_end=end[:3].T, q_end=end[3:7].T)


def _start(
    kind: str,
    inertia: Array,
    t_end: float,
    torque: object,
    parameters: tuple[float, ...],
    extra: tuple[float, ...] = (),
) -> Problem:
    m, q = states(STARTS, np.random.default_rng(13))
    return Problem(
        kind, inertia, m, q, t_end, m, q, parameters=parameters, extra=extra, torque=torque
    )  # fmt: skip


@cache
def tops(strength: float) -> Problem:
    """Tops with the moments of [CZ08] Sec. 4.3, |u0| = strength times |m|^2 / (2 I1)."""
    u0 = strength / 2 * _DIRECTION
    # A strong torque makes a top fast.
    t_end, step = (50.0, 0.05) if strength <= 1 else (15.0, 0.02)
    torque = ph.torques.HeavyTop(u0)
    start = _start("heavy-top", report_top()["inertia"], t_end, torque, tuple(u0.tolist()))
    return _solved(start, step)


@cache
def dipole() -> Problem:
    """A dipole in a field, torque over energy 1, with the torque -0.3 omega: until t = 20."""
    u0 = _DIRECTION / 2
    torque = [ph.torques.Dipole([0.0, 0.0, 1.0], -u0), ph.torques.Damping(_DAMPING)]
    parameters = (*u0.tolist(), _DAMPING)
    return _solved(_start("damped-dipole", report_top()["inertia"], 20.0, torque, parameters), 0.05)


@cache
def satellite() -> Problem:
    """A satellite of moments 1, 1.5, 2.2 in an orbit of eccentricity 0.3 around e3, two turns."""
    e, rate = _ECCENTRICITY, _RATE
    orbit = ph.torques.Orbit(rate**2, [1 / (1 + e), 0.0, 0.0], [0.0, rate * (1 + e), 0.0])
    torque = ph.torques.GravityGradient(orbit=orbit)
    inertia = np.array([1.0, 1.5, 2.2])
    start = _start("satellite", inertia, 29.0, torque, (e, rate), (1.0, 0.0))
    return _solved(start, 0.02)


#: By name and torque over energy.
PROBLEMS: dict[tuple[str, float], Callable[[], Problem]] = {
    **{("heavy top", x): partial(tops, x) for x in STRENGTHS},
    ("damped dipole", 1.0): dipole,
    ("satellite, eccentric orbit", 1.0): satellite,
}


def repeated(problem: Problem, bodies: int) -> Problem:
    """The problem with that many bodies."""
    m, q, m_end, q_end = (
        np.resize(x, (bodies, x.shape[1]))
        for x in (problem.m, problem.q, problem.m_end, problem.q_end)
    )
    return replace(problem, m=m, q=q, m_end=m_end, q_end=q_end)

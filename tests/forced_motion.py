"""Motion under torque to 34 digits: the states in data/buss.json, krysl.json and torques.json.

The equations m' = m x omega + torque, q' = q (0, omega) / 2 are integrated by the method of Gragg,
Bulirsch and Stoer: the modified midpoint rule at 2, 4, 6, ... substeps, extrapolated.  Nothing of
the library is used, nor of the Taylor series that the stored digits came from.  Run as a script it
integrates every stored state and prints how far apart the two are (three minutes):

    python tests/forced_motion.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mpf

DATA = Path(__file__).parent / "data"
DIGITS = 45
TOLERANCE = mpf(10) ** -36  # of a step
ORDER = 18  # columns of the extrapolation

Number = Any  # an mpmath number; mpmath has no types
Vector = list[Number]
Torque = Callable[[Vector, Vector], Vector]  # of omega and u = Q^T e3, both in the body frame


def cross(a: Vector, b: Vector) -> Vector:
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def vertical(q: Vector) -> Vector:
    w, x, y, z = q
    return [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]


def matrix(q: Vector) -> list[Vector]:
    """From body to space."""
    w, x, y, z = q
    return [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        vertical(q),
    ]


def rate(inertia: Vector, torque: Torque | None, state: Vector) -> Vector:
    m, (w, x, y, z) = state[:3], state[3:]
    omega = [a / b for a, b in zip(m, inertia, strict=True)]
    turn = cross(m, omega)
    if torque is not None:
        turn = [a + b for a, b in zip(turn, torque(omega, vertical(state[3:])), strict=True)]
    a, b, c = (o / 2 for o in omega)
    return [
        *turn,
        -x * a - y * b - z * c,
        w * a + y * c - z * b,
        w * b + z * a - x * c,
        w * c + x * b - y * a,
    ]


def extrapolated(f: Callable[[Vector], Vector], start: Vector, h: Number) -> tuple[Vector, Number]:
    """State after h, and its last correction, relative to the largest component of each half."""
    slope = f(start)
    rows: list[Vector] = []
    for k in range(1, ORDER + 1):
        sub = h / (2 * k)
        before = start
        now = [y + sub * d for y, d in zip(start, slope, strict=True)]
        for _ in range(2 * k - 1):
            before, now = now, [y + 2 * sub * d for y, d in zip(before, f(now), strict=True)]
        ending = f(now)
        column = [(a + b + sub * d) / 2 for a, b, d in zip(now, before, ending, strict=True)]
        # Aitken and Neville: rows[j] becomes the entry of this k and j corrections.
        for j in range(k):
            old = rows[j] if j < len(rows) else None
            if j < len(rows):
                rows[j] = column
            else:
                rows.append(column)
            if old is not None:
                ratio = (mpf(k) / (k - 1 - j)) ** 2 - 1
                column = [a + (a - b) / ratio for a, b in zip(column, old, strict=True)]
    size = [max(abs(y) for y in part) for part in (start[:3], start[3:])]
    last = [a - b for a, b in zip(rows[-1], rows[-2], strict=True)]
    parts = zip((last[:3], last[3:]), size, strict=True)
    return rows[-1], max(max(abs(x) for x in part) / one for part, one in parts)


def motion(
    inertia: Vector, torque: Torque | None, m0: Vector, q0: Vector, t_end: Number
) -> tuple[Vector, Vector]:
    """m and q at t_end."""

    def f(state: Vector) -> Vector:
        return rate(inertia, torque, state)

    state, t = [*m0, *q0], mpf(0)
    fastest = max(abs(a / b) for a, b in zip(m0, inertia, strict=True))
    h = 1 / fastest
    while t < t_end:
        h = min(h, t_end - t)
        after, error = extrapolated(f, state, h)
        if error <= TOLERANCE:
            state, t = after, t + h
        h *= min(mpf(2), mpf("0.9") * (TOLERANCE / max(error, mpf(10) ** -60)) ** (mpf(1) / 35))
    return state[:3], state[3:]


# --- the problems ---


def lagrange_top(omega: Vector, u: Vector) -> Vector:
    return [20 * u[1], -20 * u[0], mpf(0)]


def soft_wall(sign: int) -> Torque:
    def torque(omega: Vector, u: Vector) -> Vector:
        r = mpf(11) / 10 + u[2]
        size = sign * (-(r**-2) + r**-11 / 100)
        return [size * u[1], -size * u[0], mpf(0)]

    return torque


def vessel(data: dict[str, Any], damping: float) -> Torque:
    weight = mpf(data["mv"]) * mpf(data["g"])
    along, across = weight * mpf(data["GML"]), weight * mpf(data["GMT"])

    def torque(omega: Vector, u: Vector) -> Vector:
        restoring = cross([along * u[0], across * u[1], mpf(0)], u)
        return [-a - damping * b for a, b in zip(restoring, omega, strict=True)]

    return torque


IDENTITY = [mpf(x) for x in (1, 0, 0, 0)]


def about_axis_1(angle: Number) -> Vector:
    return [mpmath.cos(angle / 2), mpmath.sin(angle / 2), mpf(0), mpf(0)]


def cases() -> Iterator[tuple[str, tuple[Any, ...], Number, dict[str, Any]]]:
    """Name, moments, torque, m0 and q0, time, and the stored result."""

    def read(name: str) -> Any:
        return json.loads((DATA / name).read_text(encoding="utf-8"))

    # The paper's moments and momentum, exact.
    body = [mpf(x) / 300 for x in (95, 9, 94)]
    momentum = [3 / mpmath.sqrt(2), 3 / mpmath.sqrt(2), mpf(0)]
    for name, case in read("buss.json")["ends"].items():
        yield name, (body, None, momentum, IDENTITY), mpf(str(case["t"])), case
    for name, case in read("krysl.json")["states"].items():
        yield name, krysl(name, case), mpf(case["t"]), case
    ship = read("torques.json")["vessel"]
    start = [mpf(x) for x in ship["m0"]]
    for kind, damping in (("damped", 1e9), ("undamped", 0)):
        problem = ([mpf(x) for x in ship["T"]], vessel(ship, damping), start, IDENTITY)
        for case in ship[kind]:
            yield f"vessel, {kind}, t = {case['t']}", problem, mpf(case["t"]), case


def krysl(name: str, case: dict[str, Any]) -> tuple[Any, ...]:
    body = [mpf(x) for x in case["I"]]
    if "wall" in name:
        wall = soft_wall(1 if "printed" in name else -1)
        return body, wall, [mpf(x) for x in case["pi0"]], IDENTITY
    momentum = [a * mpf(b) for a, b in zip(body, case["Omega0"], strict=True)]
    if "top" in name:
        return body, lagrange_top, momentum, about_axis_1(mpf("0.05" if "slow" in name else "0.3"))
    return body, None, momentum, IDENTITY


def difference(problem: tuple[Any, ...], t: Number, stored: dict[str, Any]) -> float:
    """Largest difference from the stored values; for m, relative to its size."""
    m, q = motion(*problem, t)
    ends = []
    if "q" in stored:
        ends += [(q, stored["q"], mpf(1))]
    if "R" in stored:
        ends += [([*chain(*matrix(q))], [*chain(*stored["R"])], mpf(1))]
    for key in ("m", "Pi_body"):
        if key in stored:
            ends += [(m, stored[key], mpmath.norm(m))]
    return float(
        max(
            abs(a - mpf(b)) / size
            for got, want, size in ends
            for a, b in zip(got, want, strict=True)
        )
    )


if __name__ == "__main__":
    with mpmath.workdps(DIGITS):
        for name, problem, t, stored in cases():
            print(f"{name:32} {difference(problem, t, stored):.1e}", flush=True)

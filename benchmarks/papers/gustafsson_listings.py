"""Table 1 of Gustafsson: the loop bodies of his listings, on numbers that count.

The rule of the thesis: + - * / and every elementary function count 1, a change of sign 0, repeated
expressions are counted again, and the momentum at the nodes is not counted. The functions are those
of the listings, quatProd, expquat, quatCommLA, and MATLAB's cross and norm. What the table of the
thesis leaves out (q/norm(q), COM) is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np

import polhode as ph
from benchmarks.papers._registry import Cell, Result, Run, Table, item
from polhode import _core

ORDERS = (2, 4, 6, 8)
COMMUTATORS, PRODUCTS, CROSS = "commutators", "quaternion products", "cross products"
SUMS, OTHER = "sums and multiples of quaternions", "other operations"


class Counted:
    """A number that counts the operations made with it."""

    operations: ClassVar[Counter[str]] = Counter()
    #: The row of the table that operations count for now, set by the outermost of the functions.
    row: ClassVar[str | None] = None

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def _with(self, other: Any, function: Callable[[float, float], float]) -> Counted:
        Counted.operations[Counted.row or OTHER] += 1
        return Counted(function(self.value, getattr(other, "value", other)))

    def __add__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a / b)

    def __radd__(self, other: float) -> Counted:
        return self._with(other, lambda a, b: b + a)

    def __rmul__(self, other: float) -> Counted:
        return self._with(other, lambda a, b: b * a)

    def __rtruediv__(self, other: float) -> Counted:
        return self._with(other, lambda a, b: b / a)

    def __neg__(self) -> Counted:
        return Counted(-self.value)


def _function(function: Callable[[float], float]) -> Callable[[Counted], Counted]:
    def counted(x: Counted) -> Counted:
        Counted.operations[Counted.row or OTHER] += 1
        return Counted(function(x.value))

    return counted


sqrt, sin, cos = (_function(f) for f in (math.sqrt, math.sin, math.cos))
Vector = list[Counted]


F = TypeVar("F", bound=Callable[..., Any])


def counts_as(row: str) -> Callable[[F], F]:
    """Operations of the function count for this row, unless a function outside it has another."""

    def decorate(function: F) -> F:
        @wraps(function)
        def counted(*arguments: Any) -> Any:
            if Counted.row is not None:
                return function(*arguments)
            Counted.row = row
            try:
                return function(*arguments)
            finally:
                Counted.row = None

        return counted  # type: ignore[return-value]

    return decorate


# --- functions of MATLAB and of the thesis ---


def vector(*x: Counted) -> Vector:
    return list(x)


@counts_as(SUMS)
def times(s: Any, v: Vector) -> Vector:
    return [x * s for x in v]


@counts_as(SUMS)
def plus(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


@counts_as(SUMS)
def minus(a: Vector, b: Vector) -> Vector:
    return [x - y for x, y in zip(a, b, strict=True)]


@counts_as(SUMS)
def over(v: Vector, s: Any) -> Vector:
    return [x / s for x in v]


def inner(a: Vector, b: Vector) -> Counted:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@counts_as(CROSS)
def cross(a: Vector, b: Vector) -> Vector:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


@counts_as(PRODUCTS)
def quatProd(p: Vector, q: Vector) -> Vector:
    first = p[0] * q[0] - inner(p[1:], q[1:])
    rest = plus(plus(times(p[0], q[1:]), times(q[0], p[1:])), cross(p[1:], q[1:]))
    return [first, *rest]


@counts_as(OTHER)
def expquat(p: Vector) -> Vector:
    alpha = sqrt(inner(p, p))
    return [cos(alpha), *times((1 / alpha) * sin(alpha), p)]


@counts_as(COMMUTATORS)
def quatCommLA(b: Vector, c: Vector) -> Vector:
    return times(2, cross(b, c))


# --- the loop bodies, constants kn and M worked out before the loop as there ---


def magnus(order: int, h: float, momenta: list[Vector], inertia: Vector, q: Vector) -> Vector:
    I1, I2, I3 = inertia
    w = [vector(-m[0] / I1, -m[1] / I2, -m[2] / I3) for m in momenta]
    comm = quatCommLA
    if order == 2:
        gamma = times(h / 2, w[0])
    elif order == 4:
        kn2, kn3 = h / 4, math.sqrt(3) / 12 * h**2
        bracket = comm(over(w[1], 2), over(w[0], 2))
        gamma = plus(times(kn2, plus(w[0], w[1])), times(kn3, bracket))
    elif order == 6:
        kn1, kn4, kn5, kn6, kn7, kn8 = (
            h / 2,
            math.sqrt(15) * h / 6,
            10 * h / 6,
            -1 / 60,
            1 / 12,
            1 / 240,
        )
        a1 = times(kn1, w[1])
        a2 = times(kn4, minus(w[2], w[0]))
        a3 = times(kn5, plus(minus(w[2], times(2, w[1])), w[0]))
        c1 = comm(a1, a2)
        c2 = times(kn6, comm(a1, plus(times(2, a3), c1)))
        last = comm(plus(minus(times(-20, a1), a3), c1), plus(a2, c2))
        gamma = plus(plus(a1, times(kn7, a3)), times(kn8, last))
    else:
        M = alphas_8(h)
        a = []
        for row in M:
            total = times(row[0], w[0])
            for k in (1, 2, 3):
                total = plus(total, times(row[k], w[k]))
            a.append(total)
        a1, a2, a3, a4 = a
        kn9, kn10, kn11, kn12, kn13, kn14 = 1 / 28, 3 / 28, 1 / 3, -1 / 14, 5 / 4, 1 / 12
        kn15, kn16, kn17, kn18, kn19 = 7 / 3, 1 / 6, 9 / 4, 7 / 120, 1 / 360
        s1 = times(-kn9, comm(plus(a1, times(kn9, a3)), plus(a2, times(kn10, a4))))
        r1 = times(kn11, comm(a1, plus(times(kn12, a3), s1)))
        s2 = comm(plus(plus(a1, times(kn9, a3)), s1), plus(plus(a2, times(kn10, a4)), r1))
        s2m = comm(a2, s1)
        r2 = comm(plus(a1, times(kn13, s1)), plus(plus(times(2, a3), s2), over(s2m, 2)))
        left = minus(minus(plus(a1, times(kn14, a3)), times(kn15, s1)), times(kn16, s2))
        right = plus(plus(minus(times(-9, a2), times(kn17, a4)), times(63, r1)), r2)
        s3 = comm(left, right)
        gamma = plus(minus(plus(a1, times(kn14, a3)), times(kn18, s2)), times(kn19, s3))
    return quatProd(expquat(gamma), q)


def alphas_8(h: float) -> list[list[float]]:
    """M = h/2 T4^-1 Q44."""
    x, b = np.polynomial.legendre.leggauss(4)
    Q = np.array([b / 2 * (x / 2) ** i for i in range(4)])
    T = np.array(
        [[(1 - (-1) ** (i + j)) / ((i + j) * 2 ** (i + j)) for j in range(1, 5)] for i in range(4)]
    )
    return [[float(x) for x in row] for row in h / 2 * np.linalg.solve(T, Q)]


def factorization(
    order: int,
    h: float,
    momenta: list[Vector],
    ends: tuple[Vector, Vector],
    inertia: Vector,
    E: float,
    q: Vector,
) -> Vector:
    I1, I2, I3 = inertia
    cc0 = cc3 = 0.5
    # h is a variable of the program, so that h*bw1 is a multiplication of the loop.
    step, energy = Counted(h), Counted(E)
    start, end = ends

    def root(m: Vector) -> Counted:
        return sqrt(1 + m[2])

    p0inv = [
        cc0 * root(start),
        -(cc0 * start[1] + cc3 * start[0]) / root(start),
        -(cc3 * start[1] - cc0 * start[0]) / root(start),
        -(cc3 * root(start)),
    ]
    p = [
        cc0 * root(end),
        (cc3 * end[0] + cc0 * end[1]) / root(end),
        (cc3 * end[1] - cc0 * end[0]) / root(end),
        cc3 * root(end),
    ]
    weights = np.polynomial.legendre.leggauss(order // 2)[1] / 2
    parts = []
    for m in momenta:
        mder = cross(m, [m[0] / I1, m[1] / I2, m[2] / I3])
        kn1 = 0.5 / (1 + m[2])
        parts.append(kn1 * (m[1] * mder[0] - m[0] * mder[1]))
    if order == 2:
        psi = step * (2 * energy + 2 * parts[0])
    else:
        terms = [
            step * float(bw) * (2 * energy + 2 * part)
            for bw, part in zip(weights, parts, strict=True)
        ]
        psi = terms[0]
        for term in terms[1:]:
            psi = psi + term
    y = [cos(psi / 2), Counted(0), Counted(0), sin(psi / 2)]
    return quatProd(q, quatProd(p0inv, quatProd(y, p)))


#: The state that the loops run at: inertia, momentum, attitude, and the step.
BODY = (np.array([1.0, 1.5, 2.2]), np.array([0.3, 0.5, 0.8]) / math.sqrt(0.98))
ATTITUDE = np.array([0.6, -0.48, 0.0, 0.64])


def operations_of_the_listings(order: int, h: float) -> dict[str, tuple[dict[str, int], float]]:
    """Operations by row, and the error of q, of one step of each of the two loops."""
    (inertia, m), q = BODY, ATTITUDE
    motion = ph.TorqueFreeMotion(inertia, m, q)
    nodes = (1 + np.polynomial.legendre.leggauss(order // 2)[0]) / 2

    def counted(x: Any) -> Vector:
        return [Counted(v) for v in x]

    momenta = [counted(motion(c * h)[0]) for c in nodes]
    ends = (counted(m), counted(motion(h)[0]))
    energy = float(np.sum(m * m / inertia) / 2)
    conjugate = np.array([1.0, -1.0, -1.0, -1.0])
    exact = motion(h)[1]
    results = {}
    for family in ("magnus", "factorization"):
        Counted.operations = Counter()
        if family == "magnus":
            end = magnus(order, h, momenta, counted(inertia), counted(q * conjugate))
        else:
            end = factorization(order, h, momenta, ends, counted(inertia), energy, counted(q))
        operations = dict(Counted.operations)
        operations["total"] = sum(operations.values())
        values = np.array([x.value for x in end]) * (conjugate if family == "magnus" else 1.0)
        results[family] = operations, float(np.abs(values - exact).max())
    return results


def our_operations(name: str, h: float) -> tuple[int, float]:
    """Operations of a whole step of the library by the rule of `flops`, and its error of q."""
    (inertia, m), q = BODY, ATTITUDE
    error = np.abs(ph.step(inertia, m, q, h, method=name)[1] - ph.step(inertia, m, q, h)[1]).max()
    count: Any = _core.flops
    return int(count(name, inertia, m, h, False, ())["total"]), float(error)


@item("gustafsson-table-1")
def table_1(published: dict[str, Any], run: Run) -> Result:
    """Operations counted by running the loops of the listings on numbers that count."""
    h = 0.2
    tables = []
    listings = {order: operations_of_the_listings(order, h) for order in ORDERS}
    for family, title in (("magnus", "Magnus method"), ("factorization", "Factorization method")):
        cells = [
            Cell(
                f"order {order}, {name}",
                float(row[i]),
                float(listings[order][family][0].get(name, 0)),
                unit="operations",
            )
            for name, row in published[family].items()
            for i, order in enumerate(published["orders"])
        ]
        tables.append(Table(title, cells, "none: these are counts."))
    ours = ", ".join(
        f"{family}{order} {our_operations(f'{family}{order}', h)[0]}"
        for family in ("magnus", "factorization")
        for order in ORDERS
    )
    notes = [
        "Counted by running the loop bodies of the listings on numbers that count: + - * / and "
        "every elementary function 1, a change of sign 0, repeated expressions again; the momentum "
        "at the nodes, the normalisation of q and the printed output are left out, as there.",
        f"Whole steps of this library, momentum at the nodes included, by the rule of `ph.flops` "
        f"(at h |m|/I1 = {h}): {ours}, exact {our_operations('exact', h)[0]} operations.",
    ]
    return Result(tables, notes=notes)

"""The formulas of the FRB-FORTRAN report [CZ08] in high precision, as printed and corrected.

Test-only references: the matrix frame built on m' (Sec. 1.3), the frame of van Zon and Schofield,
and the three quaternion frames (1), (2), (3) of Sec. 1.4, each with its angle psi.  `printed=True`
gives what the report prints.  The notation is the report's: |m| = 1, I1 < I2 < I3, T the energy,
case "i" for 2 T I2 > 1 (m circles axis 1), "ii" for 2 T I2 < 1 (axis 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
from mpmath import mp

Number = Any  # mpmath has no types
Vector = list[Number]

DIGITS = 40


def sign(x: Number) -> int:
    return 1 if x >= 0 else -1


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def cross(a: Sequence[Number], b: Sequence[Number]) -> Vector:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def unit(a: Sequence[Number]) -> Vector:
    size = mp.sqrt(dot(a, a))
    return [x / size for x in a]


def product(p: Sequence[Number], q: Sequence[Number]) -> Vector:
    v = cross(p[1:], q[1:])
    return [
        p[0] * q[0] - dot(p[1:], q[1:]),
        *(p[0] * q[i] + q[0] * p[i] + v[i - 1] for i in (1, 2, 3)),
    ]


def inverse(q: Sequence[Number]) -> Vector:
    return [q[0], -q[1], -q[2], -q[3]]


@dataclass(frozen=True)
class Body:
    """Moments and momentum at t = 0, |m| = 1, away from axes and separatrix."""

    moments: tuple[Number, Number, Number]
    m0: tuple[Number, Number, Number]

    @property
    def T(self) -> Number:
        return mp.fsum(m * m / i for m, i in zip(self.m0, self.moments, strict=True)) / 2

    @property
    def case(self) -> str:
        return "i" if 2 * self.T * self.moments[1] > 1 else "ii"

    def difference(self, j: int, h: int) -> Number:
        """I_jh."""
        return abs(self.moments[j - 1] - self.moments[h - 1])

    def delta(self, j: int) -> Number:
        return abs(1 - 2 * self.T * self.moments[j - 1])

    def B(self, j: int, h: int) -> Number:
        return mp.sqrt(self.moments[j - 1] * self.delta(h) / self.difference(j, h))

    @property
    def k2(self) -> Number:
        """Square of the modulus in use: k in case (i), 1/k in case (ii)."""
        k2 = self.delta(1) * self.difference(3, 2) / (self.delta(3) * self.difference(2, 1))
        return k2 if self.case == "i" else 1 / k2

    @property
    def lam(self) -> Number:
        """lambda of (4) and (5), with its sign sigma."""
        I1, I2, I3 = self.moments
        if self.case == "i":
            square = self.delta(3) * self.difference(1, 2) / (I1 * I2 * I3)
            return sign(self.m0[0]) * mp.sqrt(square)
        square = self.delta(1) * self.difference(2, 3) / (I1 * I2 * I3)
        return sign(self.m0[2]) * mp.sqrt(square)

    @property
    def phi0(self) -> Number:
        """am(-nu)."""
        m1, m2, m3 = self.m0
        if self.case == "i":
            return mp.atan2(m2 / self.B(2, 1), m3 / self.B(3, 1))
        return mp.atan2(m2 / self.B(2, 3), m1 / self.B(1, 3))

    def u(self, t: Number) -> Number:
        """lambda t - nu."""
        return mp.ellipf(self.phi0, self.k2) + self.lam * t

    @lru_cache(maxsize=256)  # noqa: B019, the few bodies of a test module stay
    def phi(self, t: Number) -> Number:
        """am(lambda t - nu), continuous in t."""
        return amplitude(self.u(t), self.k2)

    def m(self, t: Number) -> Vector:
        """(4) and (5)."""
        phi = self.phi(t)
        sn, cn = mp.sin(phi), mp.cos(phi)
        dn = mp.sqrt(1 - self.k2 * sn * sn)
        if self.case == "i":
            return [
                sign(self.m0[0]) * self.B(1, 3) * dn,
                self.B(2, 1) * sn,
                self.B(3, 1) * cn,
            ]
        return [self.B(1, 3) * cn, self.B(2, 3) * sn, sign(self.m0[2]) * self.B(3, 1) * dn]

    def omega(self, m: Sequence[Number]) -> Vector:
        return [x / i for x, i in zip(m, self.moments, strict=True)]

    def derivative(self, m: Sequence[Number]) -> Vector:
        return cross(m, self.omega(m))

    def third_kind(self, n: Number, t: Number) -> Number:
        """Pi(am(lambda t - nu), n, k) - Pi(am(-nu), n, k)."""
        return ellint_pi(self.phi(t), n, self.k2) - ellint_pi(self.phi0, n, self.k2)


def amplitude(u: Number, k2: Number) -> Number:
    """am(u, k) for 0 <= k2 < 1, unbounded."""
    sn, cn = mp.ellipfun("sn", u, m=k2), mp.ellipfun("cn", u, m=k2)
    angle = mp.atan2(sn, cn)
    # am u and (pi/2) u/K are within a quarter turn of each other.
    return angle + 2 * mp.pi * mp.nint((mp.pi / 2 * u / mp.ellipk(k2) - angle) / (2 * mp.pi))


# --- Sec. 1.3, matrices ---


def frame_of_derivative(body: Body, m: Sequence[Number]) -> list[Vector]:
    """P = [v, w, m]^T with v along m'."""
    v = unit(body.derivative(m))
    return [v, cross(m, v), list(m)]


def frame_of_axis3(m: Sequence[Number]) -> list[Vector]:
    """P = [v, w, m]^T with v along m x e3 [vZS07]."""
    v = unit(cross(m, [mp.mpf(0), mp.mpf(0), mp.mpf(1)]))
    return [v, cross(m, v), list(m)]


def matrix_between(P0: list[Vector], psi: Number, P1: list[Vector]) -> list[Vector]:
    """Q = P(t0)^T Y P(t)  (6), Y a turn by psi about e3."""
    c, s = mp.cos(psi), mp.sin(psi)
    turned = [
        [c * x - s * y for x, y in zip(P1[0], P1[1], strict=True)],
        [s * x + c * y for x, y in zip(P1[0], P1[1], strict=True)],
        P1[2],
    ]
    return [
        [mp.fsum(P0[k][i] * turned[k][j] for k in range(3)) for j in range(3)] for i in range(3)
    ]


def psi_of_derivative(body: Body, t: Number, *, printed: bool = False) -> Number:
    """Equation (9) and the remark after it."""
    b = body.B(2, 3) if body.case == "i" else body.B(2, 1)
    factor = body.delta(2) / (body.lam * body.moments[1])
    if printed:
        return 2 * body.T * t + factor * body.third_kind(1 / b, t)
    side = -1 if body.case == "i" else 1
    return 2 * body.T * t + side * factor * body.third_kind(1 / b**2, t)


# --- Sec. 1.4, quaternions ---


def frame_1(m: Sequence[Number]) -> Vector:
    root = mp.sqrt(1 + m[2])
    return [x / mp.sqrt(2) for x in (root, m[1] / root, -m[0] / root, mp.mpf(0))]


def frame_by_15(m: Sequence[Number], p3_2: Number, sign_p0_p3: int) -> Vector:
    """p of equation (15) from p3^2 and the sign of p0 p3, with p0 >= 0."""
    p0 = mp.sqrt((1 + m[2]) / 2 - p3_2)
    p3 = sign_p0_p3 * mp.sqrt(p3_2)
    return [p0, (p3 * m[0] + p0 * m[1]) / (1 + m[2]), (p3 * m[1] - p0 * m[0]) / (1 + m[2]), p3]


def frame_2(
    body: Body, m: Sequence[Number], *, printed_square: bool = False, printed_sign: bool = False
) -> Vector:
    I1, I2, I3 = body.moments
    size = mp.sqrt(dot(body.derivative(m), body.derivative(m)))
    b = body.B(3, 2)
    right = -(b**2) if body.case == "i" else b**2
    shift = -b if printed_square else right
    square = (1 + m[2]) / 4 + body.difference(3, 2) * m[1] / (4 * I2 * I3 * size) * (m[2] + shift)
    side = sign(m[0] * m[2] * body.difference(3, 1) / (I1 * I3) + m[0] * (1 - 2 * body.T * I1) / I1)
    return frame_by_15(m, square, side if printed_sign else -side)


def frame_3(m: Sequence[Number], *, printed_sign: bool = False) -> Vector:
    square = (1 + m[2]) / 4 - m[1] * (1 + m[2]) / (4 * mp.sqrt(1 - m[2] ** 2))
    return frame_by_15(m, square, sign(m[2] * m[1] - m[0]) if printed_sign else sign(m[0]))


def quaternion_between(p0: Vector, psi: Number, p1: Vector) -> Vector:
    """q = p(t0)^-1 y p(t)  (12)."""
    y = [mp.cos(psi / 2), mp.mpf(0), mp.mpf(0), mp.sin(psi / 2)]
    return product(product(inverse(p0), y), p1)


def psi_1(body: Body, t: Number, *, sign_f: int = -1, printed_case_ii: bool = False) -> Number:
    """Equation (16); `sign_f` is that of f, printed +1.

    Algorithm 2, line (18), says "as in (16)" in case (ii) too: `printed_case_ii`.
    """
    I1, _, I3 = body.moments
    b13, b31 = body.B(1, 3), body.B(3, 1)
    factor = body.difference(3, 1) / (I1 * I3 * body.lam)
    if body.case == "i" or printed_case_ii:
        b21 = body.B(2, 1)
        n = -((b31 / b13) ** 2)

        def f(s: Number) -> Number:
            phi = body.phi(s)
            sd = mp.sin(phi) / mp.sqrt(1 - body.k2 * mp.sin(phi) ** 2)
            return sign_f * b13 * b31 / b21 * mp.atan(b21 / b13 * sd)
    else:
        g = body.B(2, 3) / b13
        n = 1 - g**2

        def f(s: Number) -> Number:
            phi = body.phi(s)
            j = mp.nint(phi / mp.pi)
            arctan = mp.atan2(g * mp.sin(phi - j * mp.pi), mp.cos(phi - j * mp.pi)) + j * mp.pi
            return sign_f * sign(body.m0[2]) * b31 * b13 / body.B(2, 3) * arctan

    return t / I3 + factor * (body.third_kind(n, t) + f(t) - f(mp.mpf(0)))


def psi_3(body: Body, t: Number, *, printed: bool = False) -> Number:
    """The angle of frame (3) and of the frame of van Zon and Schofield."""
    I1, _, I3 = body.moments
    b13, b31 = body.B(1, 3), body.B(3, 1)
    if printed:
        n = -1 / (b31**2 * b13**2)
    elif body.case == "i":
        n = -((b31 / b13) ** 2)
    else:
        n = 1 - (body.B(2, 3) / b13) ** 2
    return t / I3 + body.difference(3, 1) / (body.lam * I1 * I3) * body.third_kind(n, t)


# --- Sec. 1.2, case (iii) ---


@dataclass(frozen=True)
class Separatrix:
    """2 T I2 = 1, no equilibrium."""

    moments: tuple[Number, Number, Number]
    m0: tuple[Number, Number, Number]

    def m(self, t: Number, sigma: int | None = None, sigma_prime: int | None = None) -> Vector:
        """The right values; with `signs`, the printed ones."""
        I1, I2, I3 = self.moments
        rate = mp.sqrt((1 / I1 - 1 / I2) * (1 / I2 - 1 / I3))
        b13 = mp.sqrt(I1 * (I3 - I2) / (I2 * (I3 - I1)))
        b31 = mp.sqrt(I3 * (I2 - I1) / (I2 * (I3 - I1)))
        s1, s3 = sign(self.m0[0]), sign(self.m0[2])
        lam = s1 * s3 * rate
        if sigma is not None and sigma_prime is not None:
            s1 = s3 = sigma_prime
            lam = sigma * rate
        u = lam * t + mp.atanh(self.m0[1])
        return [s1 * b13 * mp.sech(u), mp.tanh(u), s3 * b31 * mp.sech(u)]

    def matrix(self, t: Number) -> list[Vector]:
        """Q(t) from Q(0) = 1: w = m x v is fixed in the body and psi = t/I2."""
        body = Body(self.moments, self.m0)
        return matrix_between(
            frame_of_derivative(body, self.m0),
            t / self.moments[1],
            frame_of_derivative(body, self.m(t)),
        )


# --- Sec. 3.2 ---


def agm(k2: Number) -> tuple[Vector, Vector, Vector]:
    """The sequences a, b, c."""
    a, b, c = [mp.mpf(1)], [mp.sqrt(1 - k2)], [mp.sqrt(k2)]
    while c[-1] > mp.eps:
        a.append((a[-1] + b[-1]) / 2)
        b.append(mp.sqrt(a[-2] * b[-1]))
        c.append((a[-2] - b[-2]) / 2)
    return a, b, c


def first_kind(phi: Number, k2: Number, *, printed: bool = False) -> Number:
    """F by (17) to (19); `printed` takes tan(a_n) on the right of (17)."""
    a, b, _ = agm(k2)
    last = len(a) - 1
    for n in range(last):
        tangent = mp.tan(a[n]) if printed else mp.tan(phi)
        step = mp.atan(b[n] / a[n] * tangent)
        if not printed:
            step += mp.pi * mp.nint((phi - step) / mp.pi)
        phi = phi + step
    return phi / (2**last * a[last])


def landen_amplitude(u: Number, k2: Number, *, printed: bool = False) -> Number:
    """am by the descending recursion, n = N, ..., 1; `printed` continues to n = 0."""
    a, _, c = agm(k2)
    last = len(a) - 1
    phi = 2**last * a[last] * u
    for n in range(last, -1 if printed else 0, -1):
        phi = (phi + mp.asin(c[n] / a[n] * mp.sin(phi))) / 2
    return phi


def ellpi(phi: Number, n: Number, k2: Number) -> Number:
    """Pi(phi, n, k) by Carlson's R_F and R_J for |phi| <= pi/2, n with the sign of (22)."""
    s, c = mp.sin(phi), mp.cos(phi)
    d2 = 1 - k2 * s * s
    return s * mpmath.elliprf(c * c, d2, 1) + n / 3 * s**3 * mpmath.elliprj(
        c * c, d2, 1, 1 - n * s * s
    )


@lru_cache(maxsize=1024)
def ellint_pi(phi: Number, n: Number, k2: Number) -> Number:
    """Pi(phi, n, k) for any real phi."""
    j = mp.nint(phi / mp.pi)
    return 2 * j * ellpi(mp.pi / 2, n, k2) + ellpi(phi - j * mp.pi, n, k2)

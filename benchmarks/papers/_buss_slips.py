"""The two methods that [Buss01] tabulates with a slip of the program, step by step in Python.

They are not methods of the library: it has both as the paper states them. Without torque the motion
can be followed in the body frame, whose components are taken here: ``m`` is the momentum and ``W``
is the attitude matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class End:
    """Final state of a run of `simo_wong` or `abam`."""

    #: Momentum in the body frame.
    m: Vector
    #: Attitude matrix, body to space.
    attitude: Array
    #: Sum of the angular velocities at all n + 1 times, rad per unit time.
    turned: float


def _rotation(v: Vector) -> Matrix:
    """Matrix of the rotation vector v."""
    x, y, z = v
    angle = math.sqrt(x * x + y * y + z * z)
    if angle == 0:
        return IDENTITY
    half = math.sin(angle / 2) / angle
    a, b = math.sin(angle) / angle, 2 * half * half
    xx, yy, zz = b * x * x, b * y * y, b * z * z
    xy, xz, yz = b * x * y, b * x * z, b * y * z
    return (
        *(1 - yy - zz, xy - a * z, xz + a * y),
        *(xy + a * z, 1 - xx - zz, yz - a * x),
        *(xz - a * y, yz + a * x, 1 - xx - yy),
    )


def _back(R: Matrix, v: Vector) -> Vector:
    """R transposed times v."""
    x, y, z = v
    return (
        R[0] * x + R[3] * y + R[6] * z,
        R[1] * x + R[4] * y + R[7] * z,
        R[2] * x + R[5] * y + R[8] * z,
    )


def _times(R: Matrix, v: Vector) -> Vector:
    x, y, z = v
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


def _product(A: Matrix, B: Matrix) -> Matrix:
    """A times B, by rows."""
    (x, X, u), (y, Y, v), (z, Z, w) = (_times(A, (B[j], B[j + 3], B[j + 6])) for j in range(3))
    return x, y, z, X, Y, Z, u, v, w


def _sum(k: float, *terms: tuple[float, Vector]) -> Vector:
    """k times the sum of multiples of vectors."""
    x = y = z = 0.0
    for factor, (a, b, c) in terms:
        x += factor * a
        y += factor * b
        z += factor * c
    return k * x, k * y, k * z


class _Body:
    """The free body of a run: its state, and the energy to which it is corrected, if any."""

    def __init__(self, inertia: Array, m: Array, *, corrected: bool) -> None:
        self.J: Vector = tuple(inertia.tolist())
        self.m: Vector = tuple(m.tolist())
        self.attitude = IDENTITY
        self.length2 = float(m @ m)
        self.energy = float(m @ (m / inertia)) / 2
        self.corrected = corrected

    def velocity(self, m: Vector) -> Vector:
        J = self.J
        return m[0] / J[0], m[1] / J[1], m[2] / J[2]

    def turn(self, v: Vector) -> Matrix:
        """Turn the body by the rotation vector v, correct its energy; return the whole turn."""
        R = _rotation(v)
        self.m = _back(R, self.m)
        if self.corrected:
            R_energy = _rotation(self._correction())
            self.m = _back(R_energy, self.m)
            R = _product(R, R_energy)
        self.attitude = _product(self.attitude, R)
        return R

    def _correction(self) -> Vector:
        """Rotation vector of the correction of [Buss01], section 4, in closed form."""
        J, m = self.J, self.m
        scale = sum(x * x / i for x, i in zip(m, J, strict=True))
        s = [(x / i) ** 2 / scale for x, i in zip(m, J, strict=True)]
        q2, q3, q4 = (sum(i**k * x for i, x in zip(J, s, strict=True)) for k in (2, 3, 4))
        b = (self.length2 / (2 * self.energy) - q2) / (q3 * q3 - q2 * q4)
        x, y, z = (
            i * math.copysign(math.sqrt(p * (1 + b * i * (q3 - i * q2))), k)
            for i, p, k in zip(J, s, m, strict=True)
        )
        c = y * m[2] - z * m[1], z * m[0] - x * m[2], x * m[1] - y * m[0]
        size = math.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        if size == 0:
            return c
        angle = math.atan2(size, x * m[0] + y * m[1] + z * m[2]) / size
        return angle * c[0], angle * c[1], angle * c[2]

    def end(self, turned: float) -> End:
        return End(self.m, np.array(self.attitude).reshape(3, 3), turned)


def simo_wong(inertia: Array, m: Array, h: float, n: int, *, corrected: bool = False) -> End:
    """Run Simo and Wong's explicit method with the difference of two velocities as acceleration.

    The acceleration is that difference by h; without the division the method is of order 1.
    """
    body = _Body(inertia, m, corrected=corrected)
    now = before = body.velocity(body.m)
    turned = math.hypot(*now)
    for _ in range(n):
        body.turn(_sum(h, (1 + h / 2, now), (-h / 2, before)))
        before, now = now, body.velocity(body.m)
        turned += math.hypot(*now)
    return body.end(turned)


def abam(
    inertia: Array, m: Array, h: float, n: int, *, corrected: bool = False, slip: bool = True
) -> End:
    """Run the Adams-Bashforth-Moulton method; it starts by 3 steps of 5 first-order steps each.

    The `slip`: the predicted velocity, of the body's frame, is taken to space by the attitude
    before the step. Without it the run is that of ``method="abam_rotation", start="buss"``.
    """
    body = _Body(inertia, m, corrected=corrected)
    now = body.velocity(body.m)
    turned = math.hypot(*now)
    # Velocities in the space frame of the steps before, along the body's axes.
    past: list[Vector] = []
    for i in range(n):
        if i < 3:
            R = IDENTITY
            for part in range(5):
                body.corrected = corrected and part == 4
                R = _product(R, body.turn(_sum(h / 5, (1, body.velocity(body.m)))))
        else:
            one, two, three = past
            P = _rotation(_sum(h / 24, (55, now), (-59, one), (37, two), (-9, three)))
            predicted = body.velocity(_back(P, body.m))
            if not slip:
                predicted = _times(P, predicted)
            R = body.turn(_sum(h / 24, (9, predicted), (19, now), (-5, one), (1, two)))
        past = [_back(R, v) for v in (now, *past[:2])]
        now = body.velocity(body.m)
        turned += math.hypot(*now)
    return body.end(turned)

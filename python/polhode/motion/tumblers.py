"""States of tumbling bodies from the numbers that are published of them, and back.

Euler angles phi, theta, psi ([LL76] Section 35) lead from a frame with its third axis along the
momentum in space to the axes (a + 1, a + 2, a) of the body, cyclic, a being the axis that m
circles: the axis of the least moment in the long-axis mode, of the greatest in the short-axis mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays, _core, so3
from polhode._arrays import Array

LONG, SHORT = "long-axis", "short-axis"
#: Range of log(cos/sin) of the greatest angle of nutation: from the separatrix to the axis.
CLOSE_TO_SEPARATRIX, CLOSE_TO_AXIS = -300.0, 18.0
#: Turns that put the axes (a + 1, a + 2, a) of a body in the place of (1, 2, 3), by a.
_CYCLIC = np.array([[0.5, -0.5, -0.5, -0.5], [0.5, 0.5, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0]])

State = tuple[Array, Array, Array]


def from_periods(
    inertia: ArrayLike, rotation: ArrayLike, precession: ArrayLike, mode: Any, **placed: ArrayLike
) -> State:
    """(inertia, m0, q0), see `TorqueFreeMotion.from_periods`."""
    moments = _moments(inertia)
    given = {"rotation": rotation, "precession": precession}
    periods = {name: _arrays.components(name, value) for name, value in given.items()}
    for name, period in periods.items():
        _arrays.refuse(name, period, period <= 0.0, 0, "not a positive period")
    modes = np.asarray(mode)
    for wrong in modes[~np.isin(modes, (LONG, SHORT))][:1]:
        raise ValueError(f"mode must be {LONG!r} or {SHORT!r}, not {str(wrong)!r}")
    shapes = {name: period.shape for name, period in periods.items()} | {"mode": modes.shape}
    shape = _arrays.broadcast({"inertia": moments.shape[:-1], **shapes})
    moments = np.broadcast_to(moments, (*shape, 3))
    ratio = np.broadcast_to(periods["rotation"] / periods["precession"], shape)
    axis = _circled(moments, np.broadcast_to(modes == LONG, shape))
    stiffness = _stiffness(moments, axis)
    none = "the axis of this mode has a moment equal to another or zero: m cannot circle it"
    _arrays.refuse("inertia", moments, ~(stiffness > 0.0).all(axis=-1), 1, none)
    # m at its greatest angle from axis a lies between that axis and the axis of the middle moment.
    middle = np.argsort(moments, axis=-1, kind="stable")[..., 1]

    def facts(cotangent: Array) -> Array:
        m = np.zeros((*shape, 3))
        np.put_along_axis(m, middle[..., None], 1 / np.hypot(1.0, cotangent)[..., None], -1)
        np.put_along_axis(m, axis[..., None], 1 / np.hypot(1.0, 1 / cotangent)[..., None], -1)
        return np.asarray(_core.motion_facts(moments, m))[..., 2, :]

    def turns(logarithm: Array) -> Array:
        period, _, rate = np.moveaxis(facts(np.exp(logarithm)), -1, 0)
        return np.asarray(rate * period / (2 * np.pi))

    low, high = np.full(shape, CLOSE_TO_SEPARATRIX), np.full(shape, CLOSE_TO_AXIS)
    least = turns(high)
    for limit in least[ratio <= least][:1]:
        why = f"in this mode and with these moments it is above {limit:.6g}"
        _arrays.refuse("rotation / precession", ratio, ratio <= least, 0, why)
    _arrays.refuse("rotation / precession", ratio, ratio > turns(low), 0, "on the separatrix")
    for _ in range(64):  # the ratio falls from the separatrix to the axis: down to one double
        mean = 0.5 * (low + high)
        above = turns(mean) > ratio
        low, high = np.where(above, mean, low), np.where(above, high, mean)
    cotangent = np.exp(np.where(np.isnan(ratio), np.nan, low))
    size = facts(cotangent)[..., 0] / periods["rotation"]
    sine, cosine = 1 / np.hypot(1.0, cotangent), 1 / np.hypot(1.0, 1 / cotangent)
    return _placed(moments, axis, size, sine, cosine, **placed)


def from_energy(inertia: ArrayLike, energy: ArrayLike, size: ArrayLike, **placed: Any) -> State:
    """(inertia, m0, q0), see `TorqueFreeMotion.from_energy`."""
    moments = _moments(inertia)
    energy, size = _arrays.components("energy", energy), _arrays.components("size", size)
    _arrays.refuse("size", size, size <= 0.0, 0, "not a positive size of a momentum")
    shape = _arrays.broadcast(
        {"inertia": moments.shape[:-1], "energy": energy.shape, "size": size.shape}
    )
    moments = np.broadcast_to(moments, (*shape, 3))
    _arrays.refuse("inertia", moments, ~(moments > 0.0), 1, "a moment is zero")
    inverse = np.broadcast_to(2 * energy / size / size, shape)  # 1/I if m is along one axis
    greatest, middle, least = np.moveaxis(1 / np.sort(moments, axis=-1), -1, 0)
    slack = 8 * np.finfo(float).eps * greatest
    _arrays.refuse(
        "energy", np.broadcast_to(energy, shape),
        (inverse > greatest + slack) | (inverse < least - slack), 0,
        "not between size^2/2 over the greatest and over the least moment",
    )  # fmt: skip
    axis = _circled(moments, inverse > middle)
    own = np.where(inverse > middle, greatest, least)
    k = np.abs(own - middle)
    some = np.where(k > 0.0, k, 1.0)  # none: m is on the axis
    sine = np.sqrt(np.where(k > 0.0, np.minimum(np.abs(inverse - own) / some, 1.0), 0 * inverse))
    cosine = np.sqrt(np.where(k > 0.0, np.abs(inverse - middle) / some, 1.0))
    return _placed(moments, axis, size, sine, cosine, **placed)


def euler_angles(inertia: Array, regime: NDArray[np.intp], m: Array, attitude: Array) -> Array:
    """phi, theta, psi (..., 3) of states along principal axes, see the head of this file."""
    q = attitude if attitude.shape[-1] == 4 else so3.to_quaternion(attitude)
    axis = _circled(np.broadcast_to(inertia, m.shape), regime == 1)
    x, y, a = np.moveaxis(np.take_along_axis(m, _cyclic(axis), -1), -1, 0)
    spatial = so3.rotate(q, m)
    size = np.linalg.norm(spatial, axis=-1, keepdims=True)
    spatial = np.divide(spatial, size, out=np.zeros_like(spatial), where=size > 0.0)
    frame = so3.conjugate(_pole_frame(spatial))
    w, i, j, k = np.moveaxis(
        so3.multiply(so3.multiply(frame, q), so3.conjugate(_CYCLIC[axis])), -1, 0
    )
    phi = np.arctan2(k, w) + np.arctan2(j, i)
    angles = [np.mod(phi, 2 * np.pi), np.arctan2(np.hypot(x, y), a)]
    return np.stack([*angles, np.mod(np.arctan2(x, y), 2 * np.pi)], axis=-1)


def _placed(
    moments: Array, axis: NDArray[np.intp], size: Array, sine: Array, cosine: Array,
    phi0: ArrayLike, psi0: ArrayLike, pole: ArrayLike,
) -> State:  # fmt: skip
    """The state at psi0 of the motion with these greatest angles of nutation.

    ``sin(theta)**2 (kx sin(psi)**2 + ky cos(psi)**2)``, ``ki = abs(1/Ii - 1/Ia)``, is constant, by
    energy and ``|m|``.
    """
    phi, psi = _arrays.components("phi0", phi0), _arrays.components("psi0", psi0)
    direction = _arrays.components("pole", pole, 3)
    _arrays.refuse("pole", direction, (direction == 0.0).all(axis=-1), 1, "not a direction")
    given = {"phi0": phi.shape, "psi0": psi.shape, "pole": direction.shape[:-1]}
    shape = _arrays.broadcast({"inertia": moments.shape[:-1], **given})
    moments, direction = (np.broadcast_to(x, (*shape, 3)) for x in (moments, direction))
    axis = np.broadcast_to(axis, shape)
    size, sine, cosine, phi, psi = (
        np.broadcast_to(x, shape) for x in (size, sine, cosine, phi, psi)
    )
    kx, ky = np.moveaxis(_stiffness(moments, axis), -1, 0)
    k, s, c = np.minimum(kx, ky), np.sin(psi) ** 2, np.cos(psi) ** 2
    whole = kx * s + ky * c
    whole = np.where(whole > 0.0, whole, 1.0)  # a sphere: sine is zero
    across = sine * np.sqrt(k / whole)
    along = np.hypot(cosine, sine * np.sqrt(((kx - k) * s + (ky - k) * c) / whole))
    m = np.empty((*shape, 3))
    components = size[..., None] * np.stack([across * np.sin(psi), across * np.cos(psi), along], -1)
    np.put_along_axis(m, _cyclic(axis), components, -1)
    half, plus, minus = 0.5 * np.arctan2(across, along), 0.5 * (phi + psi), 0.5 * (phi - psi)
    cos, sin = np.cos(half), np.sin(half)
    parts = cos * np.cos(plus), sin * np.cos(minus), sin * np.sin(minus), cos * np.sin(plus)
    turn = np.stack(parts, axis=-1)
    with np.errstate(invalid="ignore"):
        direction = direction / np.abs(direction).max(axis=-1, keepdims=True)
        direction = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    q = so3.multiply(_pole_frame(direction), so3.multiply(turn, _CYCLIC[axis]))
    return moments, m, q


def _pole_frame(direction: Array) -> Array:
    """Rz(longitude) Ry(90 degrees - latitude) of a unit vector; along axis 3 no turn about it."""
    x, y, z = np.moveaxis(direction, -1, 0)
    across = np.hypot(x, y)
    longitude = np.where(across > 8 * np.finfo(float).eps, 0.5 * np.arctan2(y, x), 0.0)
    tilt, zero = 0.5 * np.arctan2(across, z), np.zeros_like(x)
    about_z = np.stack([np.cos(longitude), zero, zero, np.sin(longitude)], axis=-1)
    return so3.multiply(about_z, np.stack([np.cos(tilt), zero, np.sin(tilt), zero], axis=-1))


def _moments(inertia: ArrayLike) -> Array:
    moments = _arrays.components("inertia", inertia, 3)
    _arrays.check_inertia(moments)
    return moments


def _circled(moments: Array, long: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Index of the axis of the least (long) or of the greatest moment."""
    ascending = np.argsort(moments, axis=-1, kind="stable")
    return np.where(long, ascending[..., 0], ascending[..., 2])


def _cyclic(axis: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.asarray((axis[..., None] + np.array([1, 2, 3])) % 3)


def _stiffness(moments: Array, axis: NDArray[np.intp]) -> Array:
    """``abs(1/Ii - 1/Ia)`` of the axes a + 1 and a + 2, without cancellation."""
    x, y, a = np.moveaxis(np.take_along_axis(moments, _cyclic(axis), -1), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([np.abs(a - x) / x / a, np.abs(a - y) / y / a], axis=-1)

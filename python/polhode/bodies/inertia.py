"""Inertia tensors: checked, diagonalised, and made from point masses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike

# Of input of double precision, relative to the largest entry or moment, see `tolerance`; those of a
# tensor are in the core.
TRIANGLE = 1e-9
# Largest correction, relative to the largest moment, of a body declared linear or planar.
DECLARED = 1e-3

_REASONS = {
    1: "not finite",
    2: "not symmetric to {limit:.1g} of its largest entry",
    3: "the tensor is indefinite, a body has no negative moment",
    5: (
        "the largest exceeds the sum of the other two, which no distribution of mass has; "
        "physical=False takes it all the same"
    ),
}


class PrincipalInertia(NamedTuple):
    """The inertia of bodies whose body axes are not their principal axes."""

    moments: Array
    #: Principal axes in the body frame, in columns.
    axes: Array


def principal_axes(
    tensor: ArrayLike, physical: bool, linear: bool, planar: bool
) -> tuple[Array, Array, Array, bool]:
    """Moments (..., 3), axes and symmetric tensors (..., 3, 3), and whether all axes are unity."""
    given = _arrays.real_array("tensor", tensor)
    if given.shape == (3,):
        raise ValueError(
            "tensor must have shape (..., 3, 3), not (3,): RigidBody.from_moments takes moments"
        )
    declared = linear or planar
    array = _arrays.components("tensor", given, 3, 3)
    moments, axes, symmetric, aligned, fault, first = _core.principal_axes(
        array, _arrays.precision(given), physical and not declared
    )
    if fault and not (declared and fault > 2):
        of_tensor = fault <= 2
        name, values = ("tensor", array) if of_tensor else ("principal moments of tensor", moments)
        if fault == 4:
            _arrays.check_inertia(moments, name)
        index = tuple(int(i) for i in np.unravel_index(first, moments.shape[:-1]))
        why = _REASONS[fault].format(limit=_arrays.tolerance(1e-9, given))
        raise _arrays.refusal(name, values, index, 2 if of_tensor else 1, why)
    if declared:
        if fault:
            moments, axes = _core.symmetric_eigen(symmetric)
        moments = as_declared("principal moments of tensor", moments, linear, planar)
        check_moments(
            "principal moments of tensor", moments, physical, _arrays.tolerance(TRIANGLE, given)
        )
        symmetric = tensor_of(moments, axes)
        aligned = bool((axes == np.eye(3)).all())
    return moments, axes, symmetric, aligned


def as_declared(name: str, moments: Array, linear: bool, planar: bool) -> Array:
    """Moments of bodies declared linear or planar, made exact; refused if they are far from that.

    Linear: the least is zero, the others are equal. Planar: the greatest is the sum of the others.
    """
    if linear and planar:
        raise ValueError("a body is linear or planar: give one of the two")
    order = np.argsort(np.abs(moments), axis=-1)
    least, middle, largest = np.moveaxis(np.take_along_axis(moments, order, -1), -1, 0)
    if linear:
        off = np.maximum(np.abs(least), largest - middle)
        mean = 0.5 * middle + 0.5 * largest
        exact, kind = (0.0 * mean, mean, mean), "linear"
    else:
        off = np.abs(largest - middle - least)
        exact, kind = (least, middle, middle + least), "planar"
    bad = ~(off <= DECLARED * largest)
    _arrays.refuse(name, moments, bad, 1, f"not the moments of a {kind} body to {DECLARED:g}")
    result = np.empty_like(moments)
    np.put_along_axis(result, order, np.stack(exact, axis=-1), -1)
    return result


def check_moments(name: str, moments: Array, physical: bool, triangle: float) -> None:
    """Refuse moments that no body has, or with `physical` no distribution of mass."""
    _arrays.check_inertia(moments, name)
    if physical:
        least, middle, largest = np.moveaxis(np.sort(moments, axis=-1), -1, 0)
        _arrays.refuse(
            name, moments, (largest - middle) - least > triangle * largest, 1, _REASONS[5]
        )


def tensor_of(moments: Array, axes: Array) -> Array:
    """The symmetric tensors (..., 3, 3) of moments and axes."""
    tensor = _arrays.times_transposed(axes * moments[..., None, :], axes)
    return np.asarray(0.5 * tensor + 0.5 * np.swapaxes(tensor, -2, -1))


def of_second_moments(J: Array) -> Array:
    """Inertia tensors of ``J = sum(m r r^T)``: the trace of J minus J."""
    diagonal = np.diagonal(J, axis1=-2, axis2=-1)
    tensor = -J
    for i in range(3):
        tensor[..., i, i] = diagonal[..., (i + 1) % 3] + diagonal[..., (i + 2) % 3]
    return np.asarray(tensor + 0.0)


def steiner(mass: Array, arm: Array) -> Array:
    """Inertia tensors of masses (...) at `arm` (..., 3)."""
    return of_second_moments(mass[..., None, None] * arm[..., :, None] * arm[..., None, :])


def tensor_of_components(components: ArrayLike, order: str, products: str) -> Array:
    """See `RigidBody.from_components`."""
    values = _arrays.components("components", components, 6)
    names = order.split()
    if sorted("".join(sorted(name)) for name in names) != ["xx", "xy", "xz", "yy", "yz", "zz"]:
        raise ValueError(f"order must name xx, yy, zz, xy, xz and yz once each, not {order!r}")
    if products not in ("negative", "positive"):
        raise ValueError(f"products must be 'negative' or 'positive', not {products!r}")
    tensor = np.empty((*values.shape[:-1], 3, 3))
    for k, name in enumerate(names):
        i, j = ("xyz".index(letter) for letter in name)
        sign = -1.0 if i != j and products == "positive" else 1.0
        tensor[..., i, j] = tensor[..., j, i] = sign * values[..., k] + 0.0
    return tensor


def tensor_of_points(mass: ArrayLike, r: ArrayLike) -> tuple[Array, Array, Array]:
    """Inertia tensors (..., 3, 3) of masses (..., N) at r (..., N, 3), about their centre.

    Also their mass (...) and their centre (..., 3).
    """
    position = _arrays.real_array("r", r)
    if position.ndim < 2:
        raise ValueError(f"r must have shape (..., N, 3), got {position.shape}")
    position = _arrays.components("r", position, position.shape[-2], 3)
    mass = _arrays.components("mass", mass)
    mass = np.broadcast_to(
        mass, _arrays.broadcast({"mass": mass.shape, "points": position.shape[:-1]})
    )
    position = np.broadcast_to(position, (*mass.shape, 3))
    _arrays.refuse("r", position, ~np.isfinite(position).all(axis=-1), 1, "not finite")
    _arrays.refuse(
        "mass", mass, ~((mass >= 0.0) & np.isfinite(mass)), 0, "must be finite and not negative"
    )
    # Powers of two out of the way of squares, put back in two factors.
    mass_scale = power_of_two(mass.max(axis=-1, initial=0.0))
    _arrays.refuse("largest mass of body", mass_scale, mass_scale == 0.0, 0, "a body has some mass")
    weight = mass / mass_scale[..., None]
    # Axes (..., 3, N), so that NumPy sums along contiguous memory, which it does in pairs.
    # A point without mass is nowhere.
    x = np.where(weight[..., None, :] > 0.0, np.swapaxes(position, -2, -1), 0.0)
    x = np.ascontiguousarray(x)
    length = power_of_two(np.abs(x).max(axis=(-2, -1), initial=0.0))
    length = np.where(length == 0.0, 1.0, length)
    x = x / length[..., None, None]
    weight_of_all = weight.sum(axis=-1)
    centre = np.zeros(x.shape[:-1])
    one = np.take_along_axis(x, weight.argmax(axis=-1)[..., None, None], -1)
    at_one = ((x == one) | (weight[..., None, :] == 0.0)).all(axis=(-2, -1))[..., None]
    for _ in range(2):  # the second time takes off the rounding of a far origin
        shift = (weight[..., None, :] * x).sum(axis=-1) / weight_of_all[..., None]
        x, centre = x - shift[..., None], centre + shift
    x, centre = np.where(at_one[..., None], 0.0, x), np.where(at_one, one[..., 0], centre)
    tensor = of_second_moments(
        (weight[..., None, None, :] * x[..., :, None, :] * x[..., None, :, :]).sum(axis=-1)
    )
    with np.errstate(over="ignore"):  # the class refuses what is infinite
        tensor *= (mass_scale * length)[..., None, None]
        tensor *= length[..., None, None]
        return tensor, weight_of_all * mass_scale, centre * length[..., None]


def orthonormal(name: str, axes: AttitudeLike) -> Array:
    """Axes, columns of matrices or rotations to them, as orthonormal right-handed matrices."""
    given = _arrays.real_array(name, _arrays.without_rotation(axes))
    core = _arrays.attitude_core(name, given)
    array = _arrays.components(name, given, *core)
    if core == (4,):
        _arrays.check_attitude(array, name)
        _arrays.refuse(name, array, ~np.isfinite(array).all(axis=-1), 1, "not finite")
        return np.asarray(_core.so3_to_matrix(array))
    limit = _arrays.tolerance(_arrays.ORTHOGONAL, given)
    columns = np.swapaxes(array, -2, -1)
    gram = _arrays.times_transposed(columns, columns)
    off = ~(np.abs(gram - np.eye(3)) <= limit).all(axis=(-2, -1))
    _arrays.refuse(name, array, off, 2, f"not orthonormal to {limit:.1g}")
    projected = _arrays.polar(array)
    x, y, z = np.moveaxis(projected, -1, 0)
    z *= np.where((np.cross(x, y) * z).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return projected


def power_of_two(x: Array) -> Array:
    """Largest power of two not above x >= 0; 0 for 0."""
    _, exponent = np.frexp(x)
    return np.where(x == 0.0, 0.0, np.ldexp(1.0, np.maximum(exponent - 1, -1022)))

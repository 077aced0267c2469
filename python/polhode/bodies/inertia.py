"""Inertia tensors: checked, diagonalised, and made from point masses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode import _core
from polhode._arrays import (
    ORTHOGONAL,
    ZERO_MOMENT,
    Array,
    broadcast,
    check_inertia,
    components,
    polar,
    real_array,
    refuse,
)

EPS = float(np.finfo(np.float64).eps)
# Relative to the largest entry, or the largest moment.
ASYMMETRY = 1e-9
TRIANGLE = 1e-9
# A zero moment of a full tensor comes out as up to 3 eps (measured, solver included) for
# tensors formed as A diag A^T or J (1 - u u^T), four times that for sums of a thousand points taken
# one after another.  A diagonal tensor has no such error.
ZERO_OF_FULL_TENSOR = 16 * EPS


def principal_axes(tensor: ArrayLike, physical: bool) -> tuple[Array, Array, Array]:
    """Moments (..., 3) in ascending order, axes and symmetric tensors (..., 3, 3), checked."""
    given = real_array("tensor", tensor)
    if given.shape == (3,):
        raise ValueError(
            "tensor must have shape (..., 3, 3), not (3,): RigidBody.from_moments takes moments"
        )
    given = components("tensor", given, 3, 3)
    name = "principal moments of tensor"
    transposed = np.swapaxes(given, -2, -1)
    if bool((given == transposed).all()):  # false for NaN too
        symmetric = given.copy()
    else:
        symmetric = _symmetric_half(given, transposed)
    moments, axes = _core.symmetric_eigen(symmetric)
    least, largest = moments[..., 0], moments[..., 2]
    # Nothing near zero, the usual case, needs no look body by body.  False for an infinite
    # tensor, whose moments are NaN.
    if not bool((least > ZERO_OF_FULL_TENSOR * largest).all()):
        _refuse_infinite(given)
        off_diagonal = symmetric[..., [0, 0, 1], [1, 2, 2]].any(axis=-1)
        zero = np.where(off_diagonal, ZERO_OF_FULL_TENSOR, ZERO_MOMENT)
        zero = (zero * np.maximum(np.abs(least), np.abs(largest)))[..., None]
        moments[np.abs(moments) <= zero] = 0.0
        why = "the tensor is indefinite, a body has no negative moment"
        refuse(name, moments, (moments < 0.0).any(axis=-1), 1, why)
        check_inertia(moments, name)
    if physical:
        refuse_unphysical(name, moments, least, moments[..., 1], largest)
    return moments, axes, symmetric


def tensor_of_points(mass: ArrayLike, r: ArrayLike) -> Array:
    """Inertia tensors (..., 3, 3) of masses (..., N) at r (..., N, 3), about their centre."""
    position = real_array("r", r)
    if position.ndim < 2:
        raise ValueError(f"r must have shape (..., N, 3), got {position.shape}")
    position = components("r", position, position.shape[-2], 3)
    mass = components("mass", mass)
    mass = np.broadcast_to(mass, broadcast({"mass": mass.shape, "points": position.shape[:-1]}))
    position = np.broadcast_to(position, (*mass.shape, 3))
    refuse("r", position, ~np.isfinite(position).all(axis=-1), 1, "not finite")
    refuse("mass", mass, ~((mass >= 0.0) & np.isfinite(mass)), 0, "no mass")
    # Powers of two out of the way of squares, put back in two factors.
    mass_scale = _power_of_two(mass.max(axis=-1, initial=0.0))
    refuse("largest mass of body", mass_scale, mass_scale == 0.0, 0, "a body has some mass")
    weight = mass / mass_scale[..., None]
    # Axes (..., 3, N), so that NumPy sums along contiguous memory, which it does in pairs.
    # A point without mass is nowhere.
    x = np.where(weight[..., None, :] > 0.0, np.swapaxes(position, -2, -1), 0.0)
    x = np.ascontiguousarray(x)
    length = _power_of_two(np.abs(x).max(axis=(-2, -1), initial=0.0))
    length = np.where(length == 0.0, 1.0, length)
    x = x / length[..., None, None]
    weight_of_all = weight.sum(axis=-1)[..., None, None]
    for _ in range(2):  # the second time takes off the rounding of a far origin
        x = x - (weight[..., None, :] * x).sum(axis=-1, keepdims=True) / weight_of_all
    second = (weight[..., None, None, :] * x[..., :, None, :] * x[..., None, :, :]).sum(axis=-1)
    diagonal = np.diagonal(second, axis1=-2, axis2=-1)
    tensor = -second
    for i in range(3):
        tensor[..., i, i] = diagonal[..., (i + 1) % 3] + diagonal[..., (i + 2) % 3]
    with np.errstate(over="ignore"):  # the class refuses what is infinite
        tensor *= (mass_scale * length)[..., None, None]
        tensor *= length[..., None, None]
    return np.asarray(tensor + 0.0)


def _refuse_infinite(tensor: Array) -> None:
    refuse("tensor", tensor, ~np.isfinite(tensor).all(axis=(-2, -1)), 2, "not finite")


def _symmetric_half(tensor: Array, transposed: Array) -> Array:
    """The mean of tensors and their transposes, where they differ by rounding only."""
    _refuse_infinite(tensor)
    difference = np.abs(tensor - transposed).max(axis=(-2, -1))
    bad = difference > ASYMMETRY * np.abs(tensor).max(axis=(-2, -1))
    refuse("tensor", tensor, bad, 2, "not symmetric to 1e-9 of its largest entry")
    return np.asarray(0.5 * tensor + 0.5 * transposed)


def refuse_unphysical(
    name: str, moments: Array, least: Array, middle: Array, largest: Array
) -> None:
    """Refuse moments, of these sizes, that break the triangle inequality."""
    why = (
        "the largest exceeds the sum of the other two, which no distribution of mass has; "
        "physical=False takes it all the same"
    )
    refuse(name, moments, (largest - middle) - least > TRIANGLE * largest, 1, why)


def orthonormal(axes: Array) -> Array:
    """Axes projected to orthonormal ones, right-handed."""
    gram = np.swapaxes(axes, -2, -1) @ axes
    refuse(
        "axes",
        axes,
        ~(np.abs(gram - np.eye(3)) <= ORTHOGONAL).all(axis=(-2, -1)),
        2,
        "not orthonormal to 1e-5",
    )
    axes = polar(axes)
    handed = np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
    axes[..., :, 2] *= handed[..., None]
    return axes


def _power_of_two(x: Array) -> Array:
    """Largest power of two not above x >= 0; 0 for 0."""
    _, exponent = np.frexp(x)
    return np.where(x == 0.0, 0.0, np.ldexp(1.0, np.maximum(exponent - 1, -1022)))

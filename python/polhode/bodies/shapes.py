"""Second moments of shapes and meshes.

``J = integral of r r^T dm`` about the centre of mass: the matrix of a mesh; for shapes along their
axes its diagonal, over the mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode import _arrays
from polhode._arrays import Array
from polhode.bodies.inertia import power_of_two


def masses(mass: ArrayLike, name: str = "mass") -> Array:
    """Positive masses."""
    values = _arrays.components(name, mass)
    _arrays.refuse(name, values, ~((values > 0.0) & np.isfinite(values)), 0, "not positive")
    return values


def squares(name: str, value: ArrayLike, *core: int) -> Array:
    """Squares of lengths, which may be zero."""
    values = _arrays.components(name, value, *core)
    _arrays.refuse(name, values, ~((values >= 0.0) & np.isfinite(values)), 0, "not a length")
    return np.asarray(values**2)


def part(hollow: ArrayLike) -> Array:
    """Parts, from 0 to 1."""
    values = _arrays.components("hollow", hollow)
    _arrays.refuse("hollow", values, ~((values >= 0.0) & (values <= 1.0)), 0, "not from 0 to 1")
    return values


def similar(hollow: ArrayLike) -> Array:
    """``(1 - k^5)/(1 - k^3)``, for a cavity of the same form, k times as large."""
    k = part(hollow)
    return np.asarray((1 + k + k**2 + k**3 + k**4) / (1 + k + k**2))[..., None]


def of_mesh(
    vertices: ArrayLike, faces: ArrayLike, density: ArrayLike, shell: bool
) -> tuple[Array, Array, Array]:
    """Mass (...), centre (..., 3) and J (..., 3, 3) of a body in triangles, or of the triangles."""
    points = _arrays.real_array("vertices", vertices)
    if points.ndim < 2:
        raise ValueError(f"vertices must have shape (..., V, 3), not {points.shape}")
    points = _arrays.components("vertices", points, points.shape[-2], 3)
    _arrays.refuse("vertices", points, ~np.isfinite(points).all(axis=-1), 1, "not finite")
    corners = _arrays.real_array("faces", faces)
    if corners.dtype.kind not in "iu":
        raise TypeError(f"faces must be indices, not {corners.dtype}")
    if corners.ndim != 2 or corners.shape[1] != 3:
        raise ValueError(f"faces must have shape (F, 3), not {corners.shape}")
    outside = (corners < 0) | (corners >= points.shape[-2])
    why = f"there are {points.shape[-2]} vertices"
    _arrays.refuse("faces", corners, outside.any(axis=-1), 1, why)
    if not shell:
        _check_closed(points, corners.astype(np.int64))
    weight = masses(density, "density")
    _arrays.broadcast({"vertices": points.shape[:-2], "density": weight.shape})
    # A power of two out of the way of squares; triangles as (..., 3 corners, 3 axes, F).
    length = power_of_two(np.abs(points).max(axis=(-2, -1), initial=0.0))
    length = np.where(length == 0.0, 1.0, length)
    scaled = (points / length[..., None, None])[..., corners, :]
    p = np.ascontiguousarray(np.moveaxis(scaled, -3, -1))
    shift = p.mean(axis=(-3, -1))
    centre = np.zeros_like(shift)
    for _ in range(3):  # the second takes the centre off, the third its rounding
        p, centre = p - shift[..., None, :, None], centre + shift
        size, first, second = _moments(p, shell)
        none = "no area" if shell else "no volume"
        _arrays.refuse("size of the mesh", size, ~(np.abs(size) > 0.0), 0, none)
        shift = first / size[..., None]
    second *= np.sign(size)[..., None, None]  # all faces may be seen from inside
    mass = weight * np.abs(size)
    for _ in range(2 if shell else 3):
        mass, second = mass * length, second * length[..., None, None]
    second = (weight * length**2)[..., None, None] * second
    return mass, np.broadcast_to(centre * length[..., None], (*mass.shape, 3)), second


def _moments(p: Array, shell: bool) -> tuple[Array, Array, Array]:
    """Size, first and second moments: of tetrahedra from the origin to triangles, or of these."""
    normal = np.cross(p[..., 1, :, :] - p[..., 0, :, :], p[..., 2, :, :] - p[..., 0, :, :], axis=-2)
    corners = 3 if shell else 4
    if shell:
        size = np.linalg.norm(normal, axis=-2) / 2
    else:
        size = (p[..., 0, :, :] * normal).sum(axis=-2) / 6
    S = p.sum(axis=-3)
    products = S[..., :, None, :] * S[..., None, :, :]
    products += (p[..., :, :, None, :] * p[..., :, None, :, :]).sum(axis=-4)
    second = (size[..., None, None, :] * products).sum(axis=-1) / (corners * (corners + 1))
    return size.sum(axis=-1), (size[..., None, :] * S).sum(axis=-1) / corners, second


def _check_closed(points: Array, faces: NDArray[np.int64]) -> None:
    """Refuse a surface with an edge that two triangles do not pass in opposite directions."""
    rows = np.moveaxis(points, -2, 0).reshape(points.shape[-2], -1)
    first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)[1:]
    corners = same.reshape(-1)[faces]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    there, back = (np.sort(x @ [len(first), 1]) for x in (edges, edges[:, ::-1]))
    for edge in np.minimum(there, back)[there != back][:1]:
        i, j = (int(first[k]) for k in divmod(int(edge), len(first)))
        raise ValueError(
            f"faces: the surface is not closed, or its triangles are not oriented alike, at the "
            f"edge from vertex {i} to vertex {j}"
        )

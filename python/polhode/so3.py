"""Rotations: unit quaternions, rotation matrices, rotation vectors, and their conversions.

Quaternions are scalar first, ``(w, x, y, z)``, with the Hamilton product; attitudes take body
components to space components. A turn by 90 degrees about axis 3 is ``(sqrt(1/2), 0, 0,
sqrt(1/2))`` and sends (1, 2, 3) to (-2, 1, 3). `q` and `-q` are the same rotation; if a function
returns a quaternion, its docstring says which of the two. Scalar-last quaternions, SciPy's default,
are converted by ``numpy.roll(q, 1, axis=-1)``. A 4x4 pose would be read as four
quaternions: give ``pose[..., :3, :3]``. Where a quaternion stands for a rotation it may have any
size but zero and represents ``q / |q|``.

Every function takes whole arrays: the last axis (the last two of a matrix) holds the components,
the others broadcast. Input of any real dtype, results float64. ``out=`` takes a writeable float64
array of the shape of the result, which is put there; it may be the input itself. A call may hold
copies of its arguments (of another dtype) and of its result (with ``out=``), each of the size of
the whole batch.

Every function raises ValueError if the last axes do not have these lengths, if shapes do not
broadcast, `out` does not fit or a quaternion that stands for a rotation is zero, and TypeError for
arguments that are not real numbers. NaN and infinity raise no error: the results of these bodies
are NaN. Errors are bounds in eps = 2.2e-16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode import _arrays, _core
from polhode._arrays import Array, AttitudeLike

__all__ = [
    "angle_between", "conjugate", "cumprod", "exp", "log", "multiply", "normalize", "rotate",
    "slerp", "to_matrix", "to_quaternion",
]  # fmt: skip


def to_matrix(q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Matrices (..., 3, 3) of quaternions (..., 4): ``Q @ v`` are the space components of v.

    Entries within 4 eps, orthogonal within 8 eps. ``-q`` gives the same matrix.
    """
    return _apply(_core.so3_to_matrix, 2, out, q=_quaternion("q", q))


def to_quaternion(Q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Unit quaternion of a rotation matrix, the one of the two with scalar part >= 0.

    Parameters
    ----------
    Q : array_like, shape (..., 3, 3)
        Rotation matrix. ValueError if an entry of ``Q.T @ Q - 1`` is above 1e-5 or the determinant
        negative; the quaternion has an error of the size of that entry.

    Returns
    -------
    q : ndarray, shape (..., 4)
        Unit quaternion, scalar first, scalar part not negative. At a half turn, where the scalar
        part is zero, the component of largest size is positive (the first of equal ones). So `q` is
        continuous in `Q` except across half turns, where no choice of the sign is continuous. Along
        a motion, use the quaternion of the motion itself, whose sign is continuous. Components
        within 2 eps for every rotation: of the four rows of ``4 q q^T``, which are linear in `Q`,
        the one with the largest diagonal entry is normalised.

    Examples
    --------
    >>> from polhode import so3
    >>> so3.to_quaternion([[0, 1, 0], [1, 0, 0], [0, 0, -1]]).round(6)
    array([0.      , 0.707107, 0.707107, 0.      ])
    """
    matrix = _arrays.components("Q", _arrays.without_rotation(Q, (3, 3)), 3, 3)
    q = _core.so3_to_quaternion(matrix)
    if np.isnan(q[..., 0]).any():
        _arrays.check_attitude(matrix, "Q")
    return _placed(q, out)


def multiply(p: AttitudeLike, q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Hamilton product (..., 4) of two quaternions (..., 4) of any size: first `q`, then `p`.

    It is not normalised. Components within 2 eps ``|p| |q|``; ``multiply(p, (1, 0, 0, 0))`` is `p`.
    """
    left, right = _quaternion("p", p), _quaternion("q", q)
    _arrays.broadcast({"p": left.shape[:-1], "q": right.shape[:-1]})
    return _placed(_core.so3_multiply(left, right), out)


def conjugate(q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Conjugate ``(w, -x, -y, -z)`` of quaternions (..., 4), exact; of unit ones the inverse."""
    return _placed(_core.so3_conjugate(_quaternion("q", q)), out)


def rotate(q: AttitudeLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Space components (..., 3) of vectors with the body components v (..., 3), q (..., 4).

    ``q (0, v) q^-1``, within 4 eps ``|v|``, for vectors of any finite size.
    """
    vectors = _arrays.components("v", v, 3)
    return _apply(_core.so3_rotate, 1, out, q=_quaternion("q", q), v=vectors)


def exp(v: ArrayLike, *, out: Array | None = None) -> Array:
    """Unit quaternions (..., 4) of rotation vectors (..., 3): angle in radians times unit axis.

    ``(cos(|v|/2), sin(|v|/2) v/|v|)``. Continuous in `v`; the sign is that of the path from 0 to
    `v`: a full turn gives -1, two full turns give 1. Components within ``(2 + |v|/4)`` eps, and the
    vector part of small turns with a relative error of 3 eps, for any small size; NaN beyond
    ``|v| = 2**51``, where no digit of the angle is known.
    """
    return _placed(_core.so3_exp(_arrays.components("v", v, 3)), out)


def log(q: AttitudeLike, *, shortest: bool = False, out: Array | None = None) -> Array:
    """Rotation vector of a quaternion, the inverse of `exp`.

    Parameters
    ----------
    q : array_like, shape (..., 4)
        Quaternion, scalar first.
    shortest : bool, default False
        Return the shorter of ``log(q)`` and ``log(-q)``, of length at most pi. It is the same for
        `q` and `-q`, but it jumps where the scalar part changes sign.

    Returns
    -------
    v : ndarray, shape (..., 3)
        Angle in radians times unit axis. Its length is twice the angle between `q` and 1, from 0 to
        2 pi, so that ``exp(log(q))`` is `q` with its sign. ``log(-q)`` points the other way and is
        ``2 pi - |log(q)|`` long. Continuous in `q` except at -1, where every axis is possible:
        ``log(-1)`` is (2 pi, 0, 0). Relative error below 4 eps, also for very small turns.

    Examples
    --------
    >>> from polhode import so3
    >>> so3.log([0.0, 0.0, 0.0, 1.0]).round(6)
    array([0.      , 0.      , 3.141593])
    >>> so3.log([-1.0, 0.0, 0.0, -1.0], shortest=True).round(6) + 0.0
    array([0.      , 0.      , 1.570796])
    """
    function = _core.so3_log_shortest if shortest else _core.so3_log
    return _apply(function, 1, out, q=_quaternion("q", q))


def normalize(q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Unit quaternions ``q / |q|`` of quaternions (..., 4) of any size but zero, within 2 eps."""
    return _apply(_core.so3_normalize, 1, out, q=_quaternion("q", q))


def angle_between(p: AttitudeLike, q: AttitudeLike, *, out: Array | None = None) -> Array:
    """Angle (...) of the rotation from one attitude (..., 4) to another, radians, from 0 to pi.

    It is the same for ``-p`` and ``-q``, and 0 for ``p = q`` and for ``p = -q``, bit for bit.
    Within ``2 (1 + angle)`` eps; for unit quaternions near ``(1, 0, 0, 0)`` a small angle, which
    comes from ``|p - q|``, has a relative error of 4 eps.
    """
    left, right = _quaternion("p", p), _quaternion("q", q)
    return _apply(_core.so3_angle_between, 0, out, p=left, q=right)


def slerp(p: AttitudeLike, q: AttitudeLike, s: ArrayLike, *, out: Array | None = None) -> Array:
    """Rotation between two attitudes at a constant rate, by the shorter way.

    Parameters
    ----------
    p, q : array_like, shape (..., 4)
        Quaternions, scalar first.
    s : array_like, shape (...)
        Part of the way: 0 at `p`, 1 at `q`. Beyond, the rotation goes on at the same rate. All
        three broadcast together.

    Returns
    -------
    q_between : ndarray, shape (..., 4)
        Unit quaternion ``p exp(s log(p^-1 q))``. It starts at `p` with its sign and ends at `q` or
        ``-q``, the one nearer to `p`. For attitudes half a turn apart both ways are of the same
        length, and rounding decides which is taken. Components within ``2 (1 + |s|)`` eps, also for
        equal, opposite and nearly equal quaternions.
    """
    left, right = _quaternion("p", p), _quaternion("q", q)
    return _apply(_core.so3_slerp, 1, out, p=left, q=right, s=_arrays.components("s", s))


def cumprod(q: AttitudeLike, axis: int = 0, *, out: Array | None = None) -> Array:
    """Cumulative product of rotations along an axis.

    Parameters
    ----------
    q : array_like, shape (..., 4)
        Quaternions, scalar first.
    axis : int, default 0
        Axis of the product; any but the last, which holds the components.

    Returns
    -------
    products : ndarray, shape (..., 4)
        Unit quaternions q_0, q_0 q_1, q_0 q_1 q_2, ...: if the factors are turns in the body frame,
        one after another, the products are the attitudes. Each adds at most 1.1 eps to the error of
        the components; the norm stays within 4 eps of 1.

    Examples
    --------
    Three turns by 90 degrees about axis 3:

    >>> from polhode import so3
    >>> so3.cumprod([[1.0, 0.0, 0.0, 1.0]] * 3).round(6) + 0.0
    array([[ 0.707107,  0.      ,  0.      ,  0.707107],
           [ 0.      ,  0.      ,  0.      ,  1.      ],
           [-0.707107,  0.      ,  0.      ,  0.707107]])
    """
    factors = _quaternion("q", q)
    along, count = _arrays.whole("axis", axis), factors.ndim
    if not -count <= along < count - 1 or along == -1:
        raise ValueError(
            f"axis must be one of the axes of {factors.shape} but the last, not {axis}"
        )
    one, axes = np.array([1.0, 0.0, 0.0, 0.0]), (along, -1)
    return _placed(_core.so3_accumulate(one, normalize(factors), axes=[-1, axes, axes]), out)


def _quaternion(name: str, value: AttitudeLike) -> Array:
    return _arrays.components(name, _arrays.without_rotation(value), 4)


def _apply(function: Callable[..., Any], axes: int, out: Array | None, **operands: Array) -> Array:
    """Apply a function to named operands; refuse zero quaternions `p` and `q` (NaN result)."""
    _arrays.broadcast({name: x.shape[: x.ndim - (name != "s")] for name, x in operands.items()})
    result = function(*operands.values())
    if np.isnan(result[(..., *(0,) * axes)]).any():
        for name in [name for name in ("p", "q") if name in operands]:
            _arrays.check_attitude(operands[name], name)
    return _placed(result, out)


def _placed(result: Any, out: Array | None) -> Array:
    """The result, in `out` if given."""
    if out is None:
        return np.asarray(result)
    (target,) = _arrays.outputs((out,), [("the result", result.shape)])
    target[...] = result
    return target

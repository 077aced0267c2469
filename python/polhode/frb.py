"""The two routines of the FRB-FORTRAN report, by their own names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode._arrays import Array, AttitudeLike, without_rotation
from polhode._step import step

#: The attitude in the messages of `step`.
_NAME = re.compile(r"\bq\b")


def frb_step(
    inertia: ArrayLike, m: ArrayLike, Q: AttitudeLike, h: ArrayLike, **options: Any
) -> tuple[Array, Array]:
    """Exact free step of momentum and rotation matrix: `step(..., method="frb")`.

    Arguments (`n_steps`, `out` and `threads` too), results, errors raised and units are those of
    `step`, with rotation matrices Q (..., 3, 3), body to space; other shapes raise ValueError.

    Notes
    -----
    The error of m/|m| and of the rotation is that of "frb" in `step`, also near the axis of the
    middle moment: the amplitude of the report would lose the distance from that axis (relative
    error 1e-16 / distance), so the step uses its cosine and sine. Source: [CZ08] Algorithms 1 and
    2, errata corrected. One rotation, computed as a quaternion, turns matrices and quaternions: the
    matrix frame of Algorithm 1 is built on m' and has no limit where m' = 0.
    """
    Q = _with_core("Q", Q, (3, 3))
    try:
        return step(inertia, m, Q, h, method="frb", **options)
    except (ValueError, TypeError) as error:
        error.args = tuple(_NAME.sub("Q", str(text)) for text in error.args)
        raise


def quat_step(
    inertia: ArrayLike, m: ArrayLike, q: AttitudeLike, h: ArrayLike, **options: Any
) -> tuple[Array, Array]:
    """Exact free step of momentum and quaternion: `step(..., method="frb")`.

    Arguments (`n_steps`, `out` and `threads` too), results, errors raised and units are those of
    `step`, with unit quaternions q (..., 4), scalar first, body to space; other shapes raise
    ValueError. The error is as in `frb_step`. Source: [CZ08] Algorithm 2 with the frame (1), errata
    corrected.
    """
    q = _with_core("q", q, (4,))
    return step(inertia, m, q, h, method="frb", **options)


def _with_core(name: str, attitude: AttitudeLike, core: tuple[int, ...]) -> Any:
    """The attitude, which must have these last axes."""
    given = without_rotation(attitude, core)
    if np.shape(given)[-len(core) :] != core:
        wanted = ", ".join(map(str, core))
        raise ValueError(f"{name} must have shape (..., {wanted}), got {np.shape(given)}")
    return given

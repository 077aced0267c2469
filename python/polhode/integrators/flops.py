"""Counts of the floating-point operations of a step."""

from __future__ import annotations

import math
from typing import Any

from polhode import _arrays, _core
from polhode.integrators.table import METHODS, method_index, option_values
from polhode.integrators.tableaus import MuntheKaas

# The body of the count, for kernels whose number of operations depends on the data.
_INERTIA = (1.0, 1.5, 2.2)
_DIRECTION = (0.3, 0.5, 0.8)


def flops(
    method: str | MuntheKaas, *, attitude: str = "quaternion", hw: float = 0.2, **options: Any
) -> dict[str, int]:
    """Floating-point operations of one step of one body.

    Parameters
    ----------
    method : str or MuntheKaas
        A name of `methods()`, or a method from `rkmk`.
    attitude : {"quaternion", "matrix"}, optional
        Representation of the attitude: q, shape (4,), or Q, shape (3, 3), both body to space.
    hw : float, optional
        Length of the step, h |m| / I1, in radians; I1 is the least moment. A longer step may need
        more terms or iterations.
    **options
        Options of the method, see `methods()`.

    Returns
    -------
    dict
        Counts "add" (additions and subtractions), "mul", "div", "sqrt", "trig" (elementary
        functions: sin, cos, atan ...) and their sum "total".

    Raises
    ------
    ValueError, TypeError
        If a name is unknown or `hw` not finite; if the method does not have an option.

    Notes
    -----
    The kernel that steps batches is run once with a number type that counts operations, so the
    counts are for the code in use.  A fused multiply-add counts 2, a sine with its cosine 2;
    negation, comparison, selection and absolute value count 0 ([Gus10] Sec. 4.4).  Constants that
    depend only on the inertia are not counted.  The body has inertia (1, 1.5, 2.2) and m along
    (0.3, 0.5, 0.8).
    """
    row = method_index(method, options)
    if attitude not in ("quaternion", "matrix"):
        raise ValueError(f"attitude must be 'quaternion' or 'matrix', not {attitude!r}")
    hw = _arrays.one_number("hw", hw)
    if not math.isfinite(hw):
        raise ValueError(f"hw must be finite, not {hw!r}")
    size = math.hypot(*_DIRECTION)
    m = [component / size for component in _DIRECTION]
    values, h = option_values(row, options, method), hw * min(_INERTIA)
    return _core.flops(METHODS[row].name, _INERTIA, m, h, attitude == "matrix", values)

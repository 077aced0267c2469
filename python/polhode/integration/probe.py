"""Whether a user-defined torque depends on the momentum, found by calling it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from polhode._arrays import ZERO_MOMENT, Array, closed
from polhode.integrators.table import levels_to_the_user
from polhode.torques import Torque

#: Results whose difference is below this fraction of the larger one differ only by rounding.
ROUNDING = 1e-12
#: Directions of the two momenta: no component is equal, none is zero.
DIRECTIONS = np.array([[0.64, -0.48, 0.6], [-0.48, 0.6, 0.64]])
#: The least angle of a step, in radians, with the second momentum.
TURN = 0.1


def with_known_dependence(
    given: Sequence[Torque],
    terms: Sequence[Torque],
    t: float,
    inertia: Array,
    m: Array,
    q: Array,
    h: Array,
) -> list[Torque]:
    """Returns `given` if it is known for every torque whether it depends on m.

    `terms` are the same torques in the axes of `inertia`, `m` and `q`, the state at time t. Those
    with depends_on_m = None are called with other momenta.
    """
    if m.size == 0 or all(term.depends_on_m is not None for term in terms):
        return list(given)
    momenta = _momenta(inertia, m, h)
    return [
        shown.known(_depends(term, shown, t, m, momenta, q)) if term.depends_on_m is None else shown
        for shown, term in zip(given, terms, strict=True)
    ]


def _momenta(inertia: Array, m: Array, h: Array) -> list[Array]:
    """Two other momenta of every body: one of the size of m, and a larger one.

    The larger one rotates the body by at least `TURN` radians in a step, so that the test also
    works for bodies at rest.
    """
    lengths = np.abs(h[np.isfinite(h) & (h != 0)])
    length = lengths.max() if lengths.size else 1.0
    with np.errstate(over="ignore"):
        turning = TURN * inertia.max(axis=-1, keepdims=True) / length
        size = np.abs(m).max(axis=-1, keepdims=True)
        size = np.where(np.isfinite(size) & (size > 0), size, turning)
        sizes = size, np.maximum(2 * size, turning)
    # The momentum about the axis of a rod is zero.
    turns = inertia > ZERO_MOMENT * inertia.max(axis=-1, keepdims=True)
    largest = np.finfo(np.float64).max
    return [
        np.minimum(scale, largest) * np.where(turns, direction, 0.0) + np.zeros_like(m)
        for scale, direction in zip(sizes, DIRECTIONS, strict=True)
    ]


def _depends(
    term: Torque, shown: Torque, t: float, m: Array, momenta: Sequence[Array], q: Array
) -> bool:
    def ask(momentum: Array) -> Array:
        # A function may return the same array in each call.
        with np.errstate(all="ignore"):
            return np.array(term.torque(t, closed(momentum), closed(q)))

    try:
        first, second = map(ask, momenta)
        if not _differ(first, second):
            return False
        again = ask(momenta[1])
    except Exception:
        # A function that fails at these momenta only uses m. One that always fails will fail in the
        # first step, where the exception carries the trajectory.
        try:
            ask(m)
        except Exception:
            return False
        return True
    if _differ(second, again):
        warnings.warn(
            f"{shown!r} answers equal arguments with different numbers, so whether it depends on m "
            "is not known, and it counts as independent of m: give "
            "polhode.torques.Function(f, depends_on_m=True or False)",
            RuntimeWarning,
            stacklevel=levels_to_the_user(),
        )
        return False
    return True


def _differ(a: Array, b: Array) -> bool:
    """True if they differ by more than rounding, for any body."""
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.abs(a), np.abs(b)).max(axis=-1, keepdims=True)
        alike = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= ROUNDING * size)
    return not alike.all()

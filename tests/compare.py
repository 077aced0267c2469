"""Comparisons of arrays for the tests.  No hidden slack: a bound that is not given is zero.

`numpy.testing.assert_allclose` has a default rtol of 1e-7, so that ``atol=2e-15`` alone passes an
error of 5e-8.  The linter bans it; every comparison of numbers goes through this file.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike


def close(
    actual: ArrayLike,
    desired: ArrayLike,
    *,
    atol: ArrayLike = 0.0,
    rtol: float = 0.0,
    what: object = "",
) -> None:
    """Fail unless |actual - desired| <= atol + rtol |desired|, element by element.

    `desired` and `atol` broadcast to the shape of `actual`, which they must not enlarge.  NaN
    equals NaN only, an infinity only the same infinity.  Give `rtol` where a relative bound is
    meant.  `what` opens the message.
    """
    got = np.asarray(actual)
    want = np.broadcast_to(np.asarray(desired), got.shape)
    bound = np.broadcast_to(np.asarray(atol, np.float64), got.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(got - want)
        allowed = bound + rtol * np.abs(want)
        good = (error <= allowed) & np.isfinite(want)
        good |= (got == want) | (np.isnan(got) & np.isnan(want))
    if good.all():
        return
    with np.errstate(invalid="ignore", over="ignore"):
        excess = np.where(good, -np.inf, np.where(np.isnan(error), np.inf, error))
    worst = np.unravel_index(int(np.argmax(excess)), got.shape)
    pytest.fail(
        (f"{what}: " if what != "" else "")
        + f"{np.count_nonzero(~good)} of {good.size} elements differ; worst at "
        f"{tuple(map(int, worst))}: got {got[worst]!r}, want {want[worst]!r}, "
        f"error {error[worst]:.3e}, bound {allowed[worst]:.3e}"
    )


def same(actual: ArrayLike, desired: ArrayLike) -> None:
    """Fail unless the arrays have one shape and equal values; NaN equals NaN."""
    np.testing.assert_array_equal(actual, desired, strict=True)

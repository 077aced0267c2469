"""Every error bound of the tests of attitude methods, with its reason.

Bounds of round-off are numbers of eps = 2^-52.  `angle` is |h| |m0 / inertia|, the radians turned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

EPS = 2.0**-52

# --- accuracy of a step ---
# m / |m| and q, largest component: what the step itself may add, per radian turned, and how many
# times what half an ulp in each input does.  Sums over the inputs bound what rounding m0 and the
# moments may do; four times that covers the roundings inside that act like changed inputs.
EXACT_PER_RADIAN = 8.0
EXACT_PER_SENSITIVITY = 4.0


# --- laws, in eps ---
# The change of m is rounded a few times against |m|, and the energy feels it through omega: the
# unit is eps |m| |omega|, which for a thin rod is much more than eps times the energy.
ENERGY = 8.0
CASIMIR = 8.0  # of |m|^2: twice the rounding of m
MOMENTUM_SPATIAL = 12.0  # of |m|: rounding of q enters twice, that of m once
# A step begins with q within 4 eps of 1 in |q|^2, which is itself rounded: 2.5 eps in |q|. The turn
# of the step and its product with q add their own rounding: at most 1.5 eps, without fused
# multiply-adds 1.1 eps has been seen.
UNIT_NORM = 4.0
ORTHOGONAL = 12.0  # entries of Q^T Q - 1: a step begins within 8 eps, and rounds nine products
MATRIX = 12.0  # the two attitudes agree: Q is quadratic in q, both rounded

# --- order ---
ORDER_SLACK = 0.15
# An error counts for the order when it is above so many round-offs.
ORDER_ABOVE = 1e4

# --- long runs ---
# 1e6 steps of hw = 0.01 may change energy by 2e-13 (rms of 64 bodies) and the spatial momentum by
# 5e-13.  Round-off that is not biased grows with the root of the number of steps, so 2e4 steps get
# the root of the share; a biased one grows linearly and would be seen at 1e6 only through this.
LONG_RUN_STEPS = 20_000
LONG_RUN_ENERGY = 2e-13 * (LONG_RUN_STEPS / 1e6) ** 0.5
LONG_RUN_MOMENTUM = 5e-13 * (LONG_RUN_STEPS / 1e6) ** 0.5


def exact_bound(angle: ArrayLike, sensitivity: ArrayLike) -> NDArray[np.float64]:
    """Bound of the error of an exact method."""
    return EXACT_PER_RADIAN * EPS * (1 + np.asarray(angle)) + EXACT_PER_SENSITIVITY * np.asarray(
        sensitivity
    )


def check(
    what: str, names: Sequence[str], errors: ArrayLike, bounds: ArrayLike, *, show: int = 12
) -> None:
    """Fail with the name, error and bound of every case whose error is above its bound or NaN."""
    error = np.asarray(errors, np.float64)
    bound = np.broadcast_to(np.asarray(bounds, np.float64), error.shape)
    assert error.shape == (len(names),)
    with np.errstate(invalid="ignore"):
        good = error <= bound  # false for NaN
    if good.all():
        return
    ratio = np.where(np.isnan(error), np.inf, error / np.where(bound > 0, bound, 5e-324))
    worst = [int(i) for i in np.argsort(-ratio) if not good[i]]
    lines = [f"  {names[i]}: error {error[i]:.3e}, bound {bound[i]:.3e}" for i in worst[:show]]
    if len(worst) > show:
        lines.append(f"  and {len(worst) - show} more")
    pytest.fail(f"{what}: {len(worst)} of {len(names)} cases\n" + "\n".join(lines), pytrace=False)

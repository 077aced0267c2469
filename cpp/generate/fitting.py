"""Near-minimax linear fits, shared by the generators of coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def chebyshev_points(low: float, high: float, count: int) -> Array:
    """Chebyshev points of [low, high], including both ends."""
    x = np.cos(np.pi * np.arange(count) / (count - 1))[::-1]
    return 0.5 * (low + high) + 0.5 * (high - low) * np.asarray(x)


def lawson(basis: Array, values: Array, iterations: int = 400) -> tuple[Array, float]:
    """Coefficients that make max |basis c - values| nearly least, and that maximum.

    Lawson's iteration [Law61]: weighted least squares whose weights are multiplied by the size of
    the residual.  The best of all iterates is returned.  `basis` has one row a point, one column a
    coefficient; columns and values are scaled to 1, so the fit has the relative accuracy of double
    whatever their sizes.
    """
    column = np.max(np.abs(basis), axis=0)
    scale = float(np.max(np.abs(values)))
    matrix = basis / column
    right = values / scale
    weight = np.full(len(right), 1.0 / len(right))
    best = np.zeros(basis.shape[1])
    best_error = np.inf
    for _ in range(iterations):
        root = np.sqrt(weight)[:, None]
        solution = np.linalg.lstsq(matrix * root, right * root[:, 0], rcond=None)[0]
        residual = np.abs(matrix @ solution - right)
        error = float(np.max(residual))
        if error < best_error:
            best, best_error = solution, error
        # The lower limit keeps points whose residual is zero by chance in one iteration.
        weight = weight * np.maximum(residual, 1e-3 * error)
        weight = weight / np.sum(weight)
    return best / column * scale, best_error * scale

"""Print the coefficients of detail::sincos_polynomials in cpp/include/polhode/scalar/sincos.hpp.

    python cpp/generate/make_sincos.py

    sin x = x + x y (s0 + s1 y + ... + s5 y^5),   cos x = 1 - y/2 + y^2 (c0 + ... + c5 y^5),

y = x^2, |x| <= 0.786 (pi/4 and the rounding of the reduction).  The Taylor coefficients are kept
and a near-minimax fit of all further terms is added, of relative error for the sine, absolute for
the cosine.  Coefficients are rounded to double one after the other, lowest first, and those still
free take up the rounding of the last.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import factorial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fitting import Array, chebyshev_points, lawson

LIMIT = 0.786
COUNT = 6
TAIL = 10


def fit(first: int, weight: Array, y: Array) -> tuple[list[float], float]:
    """Coefficients of y^0 ... y^5 in sum (-1)^k x^(2k+first)/(2k+first)! after the leading terms.

    `weight` multiplies the error; the error that is left is returned beside them.
    """
    taylor = [
        Fraction((-1) ** (k + first // 2), factorial(first + 2 * k)) for k in range(COUNT + TAIL)
    ]
    target = np.zeros_like(y)  # the remainder for the free coefficients
    for k in range(COUNT + TAIL - 1, COUNT - 1, -1):
        target = target + float(taylor[k]) * y**k
    rounded: list[float] = []
    error = np.inf
    for k in range(COUNT):
        basis = np.stack([y**j * weight for j in range(k, COUNT)], axis=1)
        correction = lawson(basis, target * weight)[0]
        exact = taylor[k] + Fraction(float(correction[0]))
        rounded.append(float(exact))
        target = target + float(taylor[k] - Fraction(rounded[k])) * y**k
        error = float(np.max(np.abs(target * weight)))
    return rounded, error


def coefficients() -> tuple[list[float], list[float], float, float]:
    """Those of the sine, those of the cosine, and the error of each."""
    x = chebyshev_points(0.0, LIMIT, 400)[1:]
    y = x * x
    sine, sine_error = fit(3, x**3 / np.sin(x), y)
    cosine, cosine_error = fit(4, y * y, y)
    return sine, cosine, sine_error, cosine_error


def main() -> None:
    """Print them, as the header writes them."""
    sine, cosine, sine_error, cosine_error = coefficients()
    print(f"sin: relative error {sine_error:.1e}", *map(float.hex, sine), sep="\n    ")
    print(f"cos: absolute error {cosine_error:.1e}", *map(float.hex, cosine), sep="\n    ")


if __name__ == "__main__":
    main()

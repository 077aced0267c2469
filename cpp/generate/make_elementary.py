"""Print the polynomials of cpp/include/polhode/scalar/elementary.hpp and their errors.

Near-minimax: interpolation at Chebyshev nodes, in 60 digits.

    python cpp/generate/make_elementary.py
"""

from collections.abc import Callable

import mpmath as mp


def chebyshev_fit(
    function: Callable[[mp.mpf], mp.mpf], low: mp.mpf, high: mp.mpf, degree: int
) -> list[mp.mpf]:
    """Coefficients, lowest first, of the polynomial through the Chebyshev nodes of [low, high]."""
    n = degree + 1
    nodes = [
        (low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * n))
        for i in range(n)
    ]
    matrix = mp.matrix(n, n)
    for i, x in enumerate(nodes):
        for j in range(n):
            matrix[i, j] = x**j
    return list(mp.lu_solve(matrix, mp.matrix([function(x) for x in nodes])))


def report(
    name: str,
    function: Callable[[mp.mpf], mp.mpf],
    low: mp.mpf,
    high: mp.mpf,
    degree: int,
    weight: Callable[[mp.mpf], mp.mpf],
) -> None:
    """Print the rounded coefficients and the largest weighted error of their polynomial."""
    coefficients = [mp.mpf(float(c)) for c in chebyshev_fit(function, low, high, degree)]
    worst = mp.mpf(0)
    for i in range(1, 1000):
        x = low + (high - low) * i / 1000
        error = mp.polyval(coefficients[::-1], x) - function(x)
        worst = max(worst, abs(error * weight(x)))
    print(f"{name}: weighted error {mp.nstr(worst, 3)}")
    for c in coefficients:
        print(f"    {float(c).hex()},")


def main() -> None:
    """Print every table."""
    mp.mp.dps = 60
    # atan t = t + t^3 P(t^2), |t| <= tan(pi/8); error relative to t.
    report(
        "atan",
        lambda u: (mp.atan(mp.sqrt(u)) / mp.sqrt(u) - 1) / u,
        mp.mpf(10) ** -30,
        mp.tan(mp.pi / 8) ** 2,
        11,
        lambda u: u,
    )
    # expm1 r = r + r^2 P(r), |r| <= ln 2 / 2; error relative to r.
    report(
        "expm1",
        lambda r: (mp.expm1(r) - r) / r**2,
        -mp.log(2) / 2 * mp.mpf("1.0001"),
        mp.log(2) / 2 * mp.mpf("1.00011"),
        10,
        lambda r: r,
    )
    # log f = 2 s + s^3 P(s^2), s = (f - 1)/(f + 1), f = sqrt(1/2) ... sqrt(2); relative to 2 s.
    report(
        "log",
        lambda y: 2 * (mp.atanh(mp.sqrt(y)) / mp.sqrt(y) - 1) / y,
        mp.mpf(10) ** -30,
        mp.tanh(mp.log(2) / 4) ** 2 * mp.mpf("1.0001"),
        7,
        lambda y: y / 2,
    )


if __name__ == "__main__":
    main()

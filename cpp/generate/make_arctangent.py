"""Coefficients of the arctangent in cpp/include/polhode/scalar/arctangent.hpp.

atan(z) = z + z y P(y), y = z^2 <= tan(pi/8)^2: P interpolates at Chebyshev points in 40 digits, is
rounded to double from the highest coefficient down, and the remaining error is printed.

Run: python cpp/generate/make_arctangent.py
"""

import mpmath as mp

TERMS = 11
mp.mp.dps = 40


def remainder(y: mp.mpf) -> mp.mpf:
    """(atan(z)/z - 1)/z^2 at y = z^2, by its series where that would cancel."""
    if y < mp.mpf("1e-3"):
        return mp.fsum((-1) ** (k + 1) * y**k / (2 * k + 3) for k in range(14))
    z = mp.sqrt(y)
    return (mp.atan(z) / z - 1) / y


def main() -> None:
    """Print the coefficients, highest first, and the largest relative error of atan(z)."""
    end = mp.tan(mp.pi / 8) ** 2
    nodes = [end * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * TERMS))) / 2 for k in range(TERMS)]
    system = mp.matrix(TERMS, TERMS)
    right = mp.matrix(TERMS, 1)
    for i, y in enumerate(nodes):
        right[i] = remainder(y)
        for j in range(TERMS):
            system[i, j] = y**j
    exact = mp.lu_solve(system, right)
    rounded = [float(exact[j]) for j in range(TERMS)]
    for coefficient in reversed(rounded):
        print(coefficient.hex())
    worst = mp.mpf(0)
    for k in range(1, 400):
        y = end * k / 400
        value = mp.polyval([mp.mpf(c) for c in reversed(rounded)], y)
        worst = max(worst, abs(y * (value - remainder(y)) / (1 + y * remainder(y))))
    print("largest relative error", mp.nstr(worst, 3))
    print("pi/4", float(mp.pi / 4).hex(), float(mp.pi / 4 - mp.mpf(float(mp.pi / 4))).hex())


if __name__ == "__main__":
    main()

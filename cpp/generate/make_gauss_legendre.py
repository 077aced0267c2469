"""Writes cpp/include/polhode/quadrature/gauss_legendre.hpp: Gauss-Legendre rules of 1 to 10 nodes.

    python cpp/generate/make_gauss_legendre.py

Nodes are the roots of the Legendre polynomial P_p, found by Newton's iteration at 60 digits from
its three-term recurrence; the weight of the root x is 2 / ((1 - x^2) P_p'(x)^2) (DLMF 3.5.22 with
Table 3.5.1).  Each number is written as a sum of three doubles, which holds 159 bits or more.
"""

from __future__ import annotations

from pathlib import Path

import mpmath

TARGET = Path(__file__).parents[1] / "include/polhode/quadrature/gauss_legendre.hpp"
LARGEST = 10

HEAD = """\
#pragma once

/// Gauss-Legendre quadrature on [0, 1] with 1 to 10 nodes, exact for polynomials of degree 2 p - 1.
///
/// Written by cpp/generate/make_gauss_legendre.py (roots of the Legendre polynomials at 60 digits).

#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(quadrature)

/// A constant as the sum of a double and two remainders: 159 bits or more.
struct ThreeDoubles {
    double high = 0.0, middle = 0.0, low = 0.0;

    template <class T>
    POLHODE_INLINE T as() const {
        if constexpr (epsilon_v<T> < 0x1p-60) return T(high) + (T(middle) + T(low));
        return T(high);
    }
};

/// The nodes 1/2 - distance and 1/2 + distance (one node where distance = 0), each with this
/// weight.
struct GaussPair {
    ThreeDoubles distance, weight;
};

/// A constant computed from a distance of the rule, in double unless T has more precision.
template <class T, class F>
POLHODE_INLINE T from_distance(const GaussPair& pair, F f) {
    if constexpr (wider_than_double<T>) {
        return f(pair.distance.template as<T>());
    } else {
        return T(f(pair.distance.high));
    }
}

inline constexpr int gauss_legendre_most_nodes = %d;

/// The pairs of all rules, one rule after another, each from the middle outwards.
inline constexpr GaussPair gauss_legendre_pairs[] = {
"""

TAIL = """\
};

/// The rule of p nodes, 1 <= p <= 10.
struct GaussLegendre {
    int nodes;

    constexpr int pairs() const { return (nodes + 1) / 2; }
    /// Pair k from the middle; k = 0 is the middle node itself where p is odd.
    constexpr const GaussPair& pair(int k) const {
        // Rules 1 ... p - 1 have floor(p^2/4) pairs.
        return gauss_legendre_pairs[nodes * nodes / 4 + k];
    }
    constexpr bool has_middle() const { return nodes % 2 == 1; }
};

POLHODE_NAMESPACE_END
"""


def legendre(p: int, x: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P_p(x) and its derivative."""
    before, value = mpmath.mpf(0), mpmath.mpf(1)
    for n in range(p):
        before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
    return value, p * (x * value - before) / (x * x - 1)


def rule(p: int) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Distance from 1/2 and weight, on [0, 1], of the nodes from the middle outwards."""
    pairs = []
    for k in range((p - 1) // 2, -1, -1):
        x = mpmath.cos(mpmath.pi * (k + mpmath.mpf(3) / 4) / (p + mpmath.mpf(1) / 2))
        if 2 * k + 1 == p:
            x = mpmath.mpf(0)
        for _ in range(8):
            value, slope = legendre(p, x)
            x -= value / slope
        _, slope = legendre(p, x)
        pairs.append((x / 2, 1 / ((1 - x * x) * slope * slope)))
    return pairs


def three_doubles(x: mpmath.mpf) -> str:
    """A braced list of doubles that add up to x, without the zeros at its end."""
    parts = []
    for _ in range(3):
        parts.append(float(x))
        x -= parts[-1]
    while parts and parts[-1] == 0:
        parts.pop()
    return "{" + ", ".join(part.hex() for part in parts) + "}"


def main() -> None:
    """Write the header."""
    mpmath.mp.dps = 60
    text = HEAD % LARGEST
    for p in range(1, LARGEST + 1):
        for distance, weight in rule(p):
            one, two = three_doubles(distance), three_doubles(weight)
            line = f"    {{{one}, {two}}},\n"
            text += line if len(line) <= 101 else f"    {{{one},\n     {two}}},\n"
    TARGET.write_text(text + TAIL)


if __name__ == "__main__":
    main()

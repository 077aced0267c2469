"""Writes cpp/include/polhode/moser_veselov/preprocessing_table.hpp.

    python cpp/generate/make_preprocessing.py

The rationals of preprocessing_coefficients.txt in the order in which they are summed, those of one
k over their common denominator.  Numerators and denominators are below 2^53, hence exact doubles.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from pathlib import Path

SOURCE = Path(__file__).with_name("preprocessing_coefficients.txt")
TARGET = Path(__file__).parents[1] / "include/polhode/moser_veselov/preprocessing_table.hpp"
LARGEST = 9  # half of the highest order
FIRST = 4  # s3 ... t7 are written out in step.hpp

Exponents = tuple[int, int, int]

HEAD = """\
#pragma once

/// Coefficients of the preprocessed discrete Moser-Veselov algorithm, orders 10 to {order}.
///
/// Written by cpp/generate/make_preprocessing.py from preprocessing_coefficients.txt.

#include <array>
#include <cstdint>

#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN(moser_veselov::table)

inline constexpr int first_half_order = {first}, largest_half_order = {largest};

/// Calls visit(w, j, l) for every monomial e1^i e2^j e3^l, by its weight w = i + 2 j + 3 l, then by
/// l, then by j; the first is 1.
template <class Visit>
constexpr void for_each_monomial(const Visit& visit) {{
    for (int w = 0; w < 2 * largest_half_order; ++w) {{
        for (int l = 0; 3 * l <= w; ++l) {{
            for (int j = 0; 2 * j <= w - 3 * l; ++j) visit(w, j, l);
        }}
    }}
}}

/// How many of them order 2p needs, at p - 1: those of weight up to 2p - 1.
inline constexpr std::uint8_t monomials_of[] = {{{counts}}};

/// A monomial as an earlier one times e1, e2 or e3 (factor 0, 1, 2).
struct Monomial {{
    std::uint8_t earlier, factor;
}};
inline constexpr auto monomials = [] {{
    std::array<Monomial, monomials_of[largest_half_order - 1]> list{{}};
    std::uint8_t place[2 * largest_half_order][largest_half_order][largest_half_order] = {{}};
    std::uint8_t n = 0;
    for_each_monomial([&](int w, int j, int l) {{
        place[w][j][l] = n;
        const std::uint8_t f = l > 0 ? 2 : j > 0 ? 1 : 0;
        if (w > 0) list[n] = {{place[w - f - 1][j - (f == 1)][l - (f == 2)], f}};
        ++n;
    }});
    return list;
}}();

// clang-format off
/// The common denominator of s_{{2k+1}} and t_{{2k+1}}, k = {first}, {first} + 1, ...
inline constexpr double denominator[] = {{{denominators}}};

/// The numerators for these k; of s, then of t; for b = k, ..., 0: the polynomial in e1, e2, e3
/// that multiplies C^(k-b) H^b.  It has the monomials of weight 2k - b, in t 2k - b + 1, and of
/// degree i + j + l up to k, in their order.
inline constexpr double numerator[] = {{
{numerators}
}};
// clang-format on

/// The same terms: how many a polynomial has; the monomial of each, and its coefficient, rounded.
struct Terms {{
    std::array<std::uint8_t, {polynomials}> length;
    std::array<std::uint8_t, {terms}> monomial;
    std::array<double, {terms}> coefficient;
}};
inline constexpr Terms terms = [] {{
    Terms t{{}};
    int term = 0, polynomial = 0;
    for (int k = first_half_order; k < largest_half_order; ++k) {{
        for (int next = 0; next < 2 * (k + 1); ++next, ++polynomial) {{
            const int weight = next <= k ? k + next : next;  // of s, of t
            std::uint8_t n = 0;
            for_each_monomial([&](int w, int j, int l) {{
                if (w == weight && w - j - 2 * l <= k) {{
                    t.coefficient[term] = numerator[term] / denominator[k - first_half_order];
                    t.monomial[term++] = n;
                    ++t.length[polynomial];
                }}
                ++n;
            }});
        }}
    }}
    return t;
}}();

POLHODE_NAMESPACE_END
"""


def monomials() -> list[Exponents]:
    """All of weight at most 2 LARGEST - 1, by weight."""
    top = 2 * LARGEST - 1
    found = [
        (w - 2 * j - 3 * k, j, k)
        for w in range(top + 1)
        for k in range(w // 3 + 1)
        for j in range((w - 3 * k) // 2 + 1)
    ]
    assert len(found) < 256
    return found


def weight(e: Exponents) -> int:
    """Of e1^i e2^j e3^l."""
    return e[0] + 2 * e[1] + 3 * e[2]


def read() -> dict[tuple[str, int, int], dict[Exponents, Fraction]]:
    """(letter, k, b) -> the polynomial that goes with C^(k-b) H^b in s_{2k+1} or t_{2k+1}."""
    groups: dict[tuple[str, int, int], dict[Exponents, Fraction]] = {}
    for line in SOURCE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, a, b, i, j, l, value = line.split()
        k = (int(name[1:]) - 1) // 2
        assert int(a) + int(b) == k
        polynomial = groups.setdefault((name[0], k, int(b)), {})
        polynomial[int(i), int(j), int(l)] = Fraction(value)
    return groups


def wrapped(items: list[str], indent: str = "    ", width: int = 100) -> str:
    """The items, separated by commas, in lines of at most `width`."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 1 > width:
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return "\n".join([*lines, line.rstrip()])


def main() -> None:
    """Write the header."""
    basis = monomials()
    groups = read()
    denominators, numerators, polynomials = [], [], 0
    for k in range(FIRST, LARGEST):
        terms: list[Fraction] = []
        for letter in "st":
            for b in range(k, -1, -1):
                polynomial = groups[letter, k, b]
                present = [
                    e for e in basis if weight(e) == 2 * k - b + (letter == "t") and sum(e) <= k
                ]
                assert set(present) == set(polynomial)
                terms += [polynomial[e] for e in present]
                polynomials += 1
        common = lcm(*(c.denominator for c in terms))
        denominators.append(common)
        numerators += [int(c * common) for c in terms]
    assert max(map(abs, denominators + numerators)) < 2**53
    counts = [sum(weight(e) <= 2 * p - 1 for e in basis) for p in range(1, LARGEST + 1)]
    TARGET.write_text(
        HEAD.format(
            order=2 * LARGEST,
            first=FIRST,
            largest=LARGEST,
            counts=", ".join(map(str, counts)),
            denominators=", ".join(map(str, denominators)),
            numerators=wrapped([str(x) for x in numerators]),
            polynomials=polynomials,
            terms=len(numerators),
        )
    )


if __name__ == "__main__":
    main()

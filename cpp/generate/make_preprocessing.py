"""Writes cpp/include/polhode/moser_veselov/preprocessing_table.hpp.

    python cpp/generate/make_preprocessing.py

The rationals of preprocessing_coefficients.txt, sorted into the order in which they are summed.
Numerators and denominators are below 2^53, hence exact doubles.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

SOURCE = Path(__file__).with_name("preprocessing_coefficients.txt")
TARGET = Path(__file__).parents[1] / "include/polhode/moser_veselov/preprocessing_table.hpp"
LARGEST = 9  # half of the highest order
FIRST = 4  # s3 ... t7 are written out in preprocessing.hpp

Exponents = tuple[int, int, int]

HEAD = """\
#pragma once

/// @file
/// Coefficients of the preprocessed discrete Moser-Veselov algorithm, orders 10 to {order}.
///
/// Written by cpp/generate/make_preprocessing.py from preprocessing_coefficients.txt.

#include <array>
#include <cstdint>

#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN
namespace moser_veselov {{
namespace table {{

// clang-format off
inline constexpr int largest_half_order = {largest};

/// A monomial in e1, e2, e3 as an earlier one times e1, e2 or e3 (factor 0, 1, 2).
struct Monomial {{
    std::uint8_t earlier, factor;
}};
/// How many of them order 2p needs, at p - 1: those of weight i + 2 j + 3 l of e1^i e2^j e3^l up to
/// 2p - 1.
inline constexpr std::uint8_t monomials_of[] = {{{counts}}};

/// All of them, by weight, then by l, then by j; the first is 1.
inline constexpr auto monomials = [] {{
    std::array<Monomial, monomials_of[largest_half_order - 1]> list{{}};
    const auto place = [](int weight, int j, int l) {{
        int n = 0;
        for (int w = 0; w <= weight; ++w) {{
            for (int b = 0; 3 * b <= w; ++b) {{
                for (int a = 0; 2 * a <= w - 3 * b; ++a, ++n) {{
                    if (w == weight && a == j && b == l) return n;
                }}
            }}
        }}
        return n;
    }};
    int n = 1;
    for (int w = 1; w < 2 * largest_half_order; ++w) {{
        for (int l = 0; 3 * l <= w; ++l) {{
            for (int j = 0; 2 * j <= w - 3 * l; ++j, ++n) {{
                const int factor = l > 0 ? 2 : j > 0 ? 1 : 0;
                const int earlier = place(w - factor - 1, j - (factor == 1), l - (factor == 2));
                list[n] = {{static_cast<std::uint8_t>(earlier), static_cast<std::uint8_t>(factor)}};
            }}
        }}
    }}
    return list;
}}();
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
    index = {e: n for n, e in enumerate(basis)}
    groups = read()
    counts = [
        str(sum(e[0] + 2 * e[1] + 3 * e[2] <= 2 * p - 1 for e in basis))
        for p in range(1, LARGEST + 1)
    ]
    out = [HEAD.format(order=2 * LARGEST, largest=LARGEST, counts=", ".join(counts))]
    out += [
        f"/// For k = {FIRST}, {FIRST + 1}, ...; for s, then t; for b = k, ..., 0: the polynomial",
        "/// in e1, e2, e3 that multiplies C^(k-b) H^b in s_{2k+1} or t_{2k+1}.  How many terms it",
        "/// has.",
        "inline constexpr std::uint8_t lengths[] = {",
    ]
    terms: list[tuple[Fraction, int]] = []
    lengths = []
    for k in range(FIRST, LARGEST):
        for letter in "st":
            for b in range(k, -1, -1):
                polynomial = groups.get((letter, k, b), {})
                lengths.append(str(len(polynomial)))
                terms += [
                    (polynomial[e], index[e]) for e in sorted(polynomial, key=index.__getitem__)
                ]
    assert all(max(abs(c.numerator), c.denominator) < 2**53 for c, _ in terms)
    for what, kind, items in (
        ("", "", lengths),
        (
            "/// The monomial of each term.",
            "std::uint8_t term_monomial",
            [str(i) for _, i in terms],
        ),
        ("/// Its coefficient.", "double numerator", [str(c.numerator) for c, _ in terms]),
        ("", "double denominator", [str(c.denominator) for c, _ in terms]),
    ):
        if what:
            out.append(what)
        if kind:
            out.append(f"inline constexpr {kind}[] = {{")
        out += [wrapped(items), "};"]
    out += [
        "// clang-format on\n",
        "/// The same, rounded.",
        "inline constexpr auto coefficient = [] {",
        "    std::array<double, std::size(numerator)> c{};",
        "    for (int n = 0; n < int(c.size()); ++n) c[n] = numerator[n] / denominator[n];",
        "    return c;",
        "}();\n",
        "}  // namespace table",
        "}  // namespace moser_veselov",
        "POLHODE_NAMESPACE_END",
    ]
    TARGET.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()

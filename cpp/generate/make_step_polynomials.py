"""Write cpp/include/polhode/torque_free/step_polynomials.hpp.

    python cpp/generate/make_step_polynomials.py [--check]

The base of an exact step needs sn(v, k)/v and W, the integral of the third kind over v, for small v
(the header says exactly what they are).  Both are power series in weights, u and y of weight 1 and
r of weight 2, with rational coefficients.  They are economised: the terms of weight <= n are kept,
and to their coefficients a near-minimax fit of all other terms is added, over the domain

    alpha K0^2 = c1 t,   beta K0^2 = kk c1 t,   y = (1 - c1) t,     t <= w^2, c1 and kk in [0, 1],

which is max(alpha, beta) K0^2 + y <= w^2, since both functions are symmetric in alpha and beta.
Only the tail is fitted, not the function: it is some 1e-15, so a fit in double is good to 1e-22.
The square root of 1 - x is done the same way in one variable.

The fitted coefficients are ill-conditioned, they move with the grid; what is fixed is the function,
and test_step_polynomials.py compares it with the series.  `--check` writes nothing and says
whether the header is what would be written.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fitting import Array, chebyshev_points, lawson

#: Exponents of (u, r) or (u, r, y) or (x,) -> coefficient.
Exact = dict[tuple[int, ...], Fraction]
Rounded = dict[tuple[int, ...], float]

HEADER_PATH = Path(__file__).parents[1] / "include/polhode/torque_free/step_polynomials.hpp"

#: name of the tier -> (w, weights kept); the square root is used up to x = w^2 of tier c.
TIERS = {"a": (0.05, 4), "b": (0.095, 5), "c": (0.15, 6)}
SQRT_DEGREE = 6
#: Weights of the tail that are summed above those kept.
TAIL = 14


def product(a: Exact, b: Exact) -> Exact:
    """Product of two polynomials."""
    result: Exact = {}
    for (ka, va), (kb, vb) in itertools.product(a.items(), b.items()):
        key = tuple(i + j for i, j in zip(ka, kb, strict=True))
        result[key] = result.get(key, Fraction(0)) + va * vb
    return result


def add(target: Exact, terms: Exact, factor: Fraction) -> None:
    """Add factor * terms to target."""
    for key, value in terms.items():
        target[key] = target.get(key, Fraction(0)) + factor * value


def sn_series(highest: int) -> tuple[list[Exact], list[Exact]]:
    """C_0 ... of sn(v)/v = sum C_n, exponents of (u, r), and the convolutions (C*C)_n.

    From sn'' = -(1 + k^2) sn + 2 k^2 sn^3:  (2n+1)(2n) C_n = -u C_{n-1} + 2 r (C*C*C)_{n-2}.
    """
    c: list[Exact] = [{(0, 0): Fraction(1)}]
    square: list[Exact] = [{(0, 0): Fraction(1)}]
    for n in range(1, highest + 1):
        term: Exact = {}
        add(term, product({(1, 0): Fraction(-1)}, c[n - 1]), Fraction(1))
        for j in range(n - 1):
            cube = product({(0, 1): Fraction(2)}, product(square[j], c[n - 2 - j]))
            add(term, cube, Fraction(1))
        c.append({key: value / (2 * n * (2 * n + 1)) for key, value in term.items() if value})
        square.append({})
        for j in range(n + 1):
            add(square[n], product(c[j], c[n - j]), Fraction(1))
    return c, square


def third_kind_series(highest: int) -> list[Exact]:
    """f_n/(2n+1) of W = sum f_n/(2n+1), exponents of (u, r, y).

    From 1/(1 + y s^2):  f_n = -y sum_j (C*C)_j f_{n-1-j}.
    """
    _, square = sn_series(highest)
    f: list[Exact] = [{(0, 0, 0): Fraction(1)}]
    for n in range(1, highest + 1):
        f.append({})
        for j in range(n):
            raised = {(*key, 1): -value for key, value in square[j].items()}
            add(f[n], product(raised, f[n - 1 - j]), Fraction(1))
    return [{k: v / (2 * n + 1) for k, v in terms.items()} for n, terms in enumerate(f)]


def sqrt_series(highest: int) -> list[Exact]:
    """Terms of Q(x) = (1 - sqrt(1 - x))/x = 1/2 + x/8 + x^2/16 + ..."""
    terms: list[Exact] = []
    c = Fraction(1, 2)
    for n in range(highest + 1):
        terms.append({(n,): c})
        c = c * Fraction(2 * n + 1, 2 * n + 4)
    return terms


def monomial(exponents: tuple[int, ...], points: tuple[Array, ...]) -> Array:
    """The product of powers at every point."""
    return np.asarray(
        np.prod([p**e for e, p in zip(exponents, points, strict=True)], axis=0), dtype=np.float64
    )


def domain(w: float, with_y: bool) -> tuple[Array, ...]:
    """A grid of (u, r, y) on max(alpha, beta) K0^2 + y <= w^2, or of (u, r) with y = 0."""
    t, c1, kk = (
        axis.ravel()
        for axis in np.meshgrid(
            chebyshev_points(0.0, w * w, 14 if with_y else 40)[1:],
            chebyshev_points(0.0, 1.0, 13) if with_y else np.ones(1),
            chebyshev_points(0.0, 1.0, 9 if with_y else 30),
            indexing="ij",
        )
    )
    points = (c1 * t * (1.0 + kk), kk * (c1 * t) ** 2, (1.0 - c1) * t)
    return points if with_y else points[:2]


def economise(series: list[Exact], kept: int, points: tuple[Array, ...]) -> tuple[Rounded, float]:
    """Coefficients of the terms up to weight `kept` with the rest fitted in, and the error left."""
    exact = {key: value for terms in series[: kept + 1] for key, value in terms.items() if value}
    tail = np.zeros_like(points[0])
    for terms in reversed(series[kept + 1 :]):  # smallest first
        for key, value in terms.items():
            tail = tail + float(value) * monomial(key, points)
    free = [key for key in exact if any(key)]  # the value at 0 stays what it is
    basis = np.stack([monomial(key, points) for key in free], axis=1)
    fit, error = lawson(basis, tail)
    rounded = {key: float(value) for key, value in exact.items()}
    for key, correction in zip(free, fit, strict=True):
        rounded[key] = float(exact[key] + Fraction(float(correction)))
    return rounded, error


def coefficients() -> tuple[dict[str, Rounded], dict[str, float]]:
    """All the polynomials by name, and the error of each fit on its grid."""
    result: dict[str, Rounded] = {}
    errors: dict[str, float] = {}
    for tier, (w, kept) in TIERS.items():
        sn, _ = sn_series(kept + TAIL)
        for name, series, points in (
            ("sn", sn, domain(w, with_y=False)),
            ("third_kind", third_kind_series(kept + TAIL), domain(w, with_y=True)),
        ):
            result[f"{name}_{tier}"], errors[f"{name}_{tier}"] = economise(series, kept, points)
    x = chebyshev_points(0.0, TIERS["c"][0] ** 2, 200)[1:]
    result["sqrt"], errors["sqrt"] = economise(sqrt_series(SQRT_DEGREE + TAIL), SQRT_DEGREE, (x,))
    return result, errors


# --------------------------------------------------------------------------------- writing C++

TOP = """\
#pragma once

/// Polynomials of the exact step: sn, the integral of the third kind and a square root near zero.
///
/// Written by cpp/generate/make_step_polynomials.py, which says how; edit that.
///
/// The base of a step is so short (w <= 0.05 in tier a, 0.095 in b, 0.15 in c) that functions
/// regular for every body, degenerate ones included, carry it.  With v the argument, k the modulus,
/// s(t) = sn(t v, k)/v and n >= 0 such that 1 + n sn^2 stands under the integral, in the weights
///
///     u = (1 + k^2) v^2,   r = k^2 v^4,   y = n v^2
///
/// they are   sn(v, k)/v = sum C_n   and   W = integral_0^1 dt / (1 + y s(t)^2) = sum f_n/(2n+1),
///
///     (2n+1)(2n) C_n = -u C_{n-1} + 2 r (C*C*C)_{n-2},                C_0 = 1,
///     f_n = -y sum_j (C*C)_j f_{n-1-j},                               f_0 = 1.
///
/// Domain: max(v^2, k^2 v^2) + y <= w^2.  Errors of the polynomials, rounding apart: sn(v)/v 3e-18,
/// W 4e-17, Q 3e-17 (test_step_polynomials.py).  A number type finer than double gets the
/// series themselves.

#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// Largest w of each tier.
inline constexpr double step_w_a = 0.05;
inline constexpr double step_w_b = 0.095;
inline constexpr double step_w_c = 0.15;

namespace step_detail {

/// Terms of the series that leave less than 1e-34 for w <= 0.15.
inline constexpr int series_terms = 24;

/// C_n and (C*C)_n.
template <class T>
void sn_series(T u, T r, T (&c)[series_terms], T (&square)[series_terms]) {
    for (int n = 0; n < series_terms; ++n) {
        T cube = 0.0;  // (C*C*C)_{n-2}
        for (int j = 0; j <= n - 2; ++j) cube = fma(square[j], c[n - 2 - j], cube);
        c[n] = n == 0 ? T(1.0) : (2.0 * r * cube - u * c[n - 1]) / T(2.0 * n * (2 * n + 1));
        square[n] = 0.0;
        for (int j = 0; j <= n; ++j) square[n] = fma(c[j], c[n - j], square[n]);
    }
}
template <class T>
T sn_minus_one_series(T u, T r) {
    T c[series_terms], square[series_terms];
    sn_series(u, r, c, square);
    T sum = 0.0;
    for (int n = series_terms - 1; n >= 1; --n) sum = sum + c[n];
    return sum;
}
template <class T>
T third_kind_minus_one_series(T u, T r, T y) {
    T c[series_terms], square[series_terms];
    sn_series(u, r, c, square);
    T f[series_terms]{1.0}, sum = 0.0;
    for (int n = 1; n < series_terms; ++n) {
        f[n] = 0.0;
        for (int j = 0; j <= n - 1; ++j) f[n] = fma(square[j], f[n - 1 - j], f[n]);
        f[n] = -y * f[n];
    }
    for (int n = series_terms - 1; n >= 1; --n) sum = sum + f[n] / T(2.0 * n + 1);
    return sum;
}

// The polynomials, in whatever T.
// clang-format off
"""

BOTTOM = """
// clang-format on

}  // namespace step_detail

/// sn(v, k)/v - 1 by a tier: w <= 0.05 ('a'), 0.095 ('b'), 0.15 ('c').
template <char tier, class T>
POLHODE_INLINE T sn_minus_one(T u, T r) {
    if constexpr (wider_than_double<T>) return step_detail::sn_minus_one_series(u, r);
    if constexpr (tier == 'a') return step_detail::sn_a(u, r);
    if constexpr (tier == 'b') return step_detail::sn_b(u, r);
    return step_detail::sn_c(u, r);
}
/// W - 1 by a tier.
template <char tier, class T>
POLHODE_INLINE T third_kind_minus_one(T u, T r, T y) {
    if constexpr (wider_than_double<T>) return step_detail::third_kind_minus_one_series(u, r, y);
    if constexpr (tier == 'a') return step_detail::third_kind_a(u, r, y);
    if constexpr (tier == 'b') return step_detail::third_kind_b(u, r, y);
    return step_detail::third_kind_c(u, r, y);
}

/// Q(x) = (1 - sqrt(1 - x))/x for 0 <= x <= 0.0225, so that 1 - sqrt(1 - x) keeps its digits.
template <class T>
POLHODE_INLINE T sqrt_complement(T x) {
    if constexpr (wider_than_double<T>) return 1.0 / (1.0 + sqrt(1.0 - x));
    return step_detail::sqrt_q(x);
}

POLHODE_NAMESPACE_END
"""


def wrapped(head: str, items: list[str], tail: str) -> str:
    """`head item, item, ... tail` indented, in lines of at most 100 columns."""
    lines, line = [], "    " + head
    column = " " * len(line)
    for i, item in enumerate(items):
        piece = item + (tail if i == len(items) - 1 else ",")
        if len(line) + len(piece) > 100:
            lines.append(line.rstrip())
            line = column
        line += piece + " "
    return "\n".join([*lines, line.rstrip()])


def in_u_and_r(rows: Rounded, name: str) -> tuple[list[str], str]:
    """Statements for the sum of rows[i, j] u^i r^j, and the expression that is its value.

    One nested polynomial in u for each power of r; these are independent, so that no chain is
    longer than the degree in u plus that in r.
    """
    powers = sorted({j for _, j in rows})
    lines: list[str] = []
    values: dict[int, str] = {}
    for j in powers:
        degrees = sorted(i for i, jj in rows if jj == j)
        if degrees != list(range(len(degrees))):
            raise ValueError(f"{name}: powers of u missing at r^{j}")
        c = [repr(rows[i, j]) for i in degrees]
        if len(c) == 1:
            values[j] = c[0]
            continue
        values[j] = f"{name}_r{j}" if len(powers) > 1 else name
        lines.append(wrapped(f"const T {values[j]} = horner(u, ", c, ");"))
    value = values[powers[-1]]
    for j in reversed(powers[:-1]):
        value = f"fma(r, {value}, {values[j]})"
    return lines, value


def sn_function(tier: str, rows: Rounded) -> list[str]:
    """u A(u) + r B(u, r)."""
    lines_u, value_u = in_u_and_r({(i - 1, 0): c for (i, j), c in rows.items() if i and not j}, "a")
    lines_r, value_r = in_u_and_r({(i, j - 1): c for (i, j), c in rows.items() if j}, "b")
    return [
        "template <class T>",
        f"POLHODE_INLINE T sn_{tier}(T u, T r) {{",
        *lines_u,
        *lines_r,
        f"    return fma(u, {value_u}, r * {value_r});",
        "}",
    ]


def third_kind_function(tier: str, rows: Rounded) -> list[str]:
    """y (P_1(u, r) + y (P_2(u, r) + ...)), highest power first."""
    out = ["template <class T>", f"POLHODE_INLINE T third_kind_{tier}(T u, T r, T y) {{"]
    value = ""
    highest = max(power for *_, power in rows)
    for power in range(highest, 0, -1):
        part: Rounded = {(i, j): c for (i, j, k), c in rows.items() if k == power}
        lines, term = in_u_and_r(part, f"y{power}")
        out += lines
        if term.startswith("fma"):
            out.append(f"    const T y{power} = {term};")
            term = f"y{power}"
        if value:
            kind = "T sum" if power == highest - 1 else "sum"
            out.append(f"    {kind} = fma(y, {value}, {term});")
        value = "sum" if value else term
    return [*out, "    return y * sum;", "}"]


def header() -> tuple[str, dict[str, float]]:
    """Text of the header, and the error of each fit."""
    tables, errors = coefficients()
    lines: list[str] = []
    for tier in TIERS:
        lines += sn_function(tier, tables[f"sn_{tier}"])
        lines += third_kind_function(tier, tables[f"third_kind_{tier}"])
    root = [repr(tables["sqrt"][n,]) for n in range(SQRT_DEGREE + 1)]
    lines += ["template <class T>", "POLHODE_INLINE T sqrt_q(T x) {"]
    lines += [wrapped("return horner(x, ", root, ");"), "}"]
    return TOP + "\n".join(lines) + BOTTOM, errors


def main() -> int:
    """Write the header, or compare it."""
    parser = argparse.ArgumentParser(description="Write step_polynomials.hpp")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    text, errors = header()
    for name, error in errors.items():
        print(f"{name:14s} {error:.1e}")
    if arguments.check:
        same = HEADER_PATH.read_text() == text
        print("same" if same else "differs")
        return 0 if same else 1
    HEADER_PATH.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

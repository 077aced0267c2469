#pragma once

/// The series of R_F and R_J in nearly equal arguments (DLMF 19.19), to degree 11.

#include <initializer_list>

#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)

/// x^(1/12) of a positive constant.
constexpr double twelfth_root(double x) {
    double r = 1;
    for (int i = 0; i < 400; ++i) {
        const double r2 = r * r, r4 = r2 * r2;
        r -= (r - x / (r4 * r4 * r2 * r)) / 12;
    }
    return r;
}

/// Highest degree used of the series of R_F and R_J in nearly equal arguments.
inline constexpr int series_degree = 11;

/// The terms of that series with E3^n3 E4^n4 E5^n5 and E2^n2 or higher powers of E2, divided by the
/// powers of E3, E4 and E5.
///
///   R_{-a} = A^{-a} sum_N (a)_N / (a+1)_N sum (-1)^{M+N} (1/2)_M  prod E_j^{n_j} / n_j!
///
/// with N = sum j n_j, M = sum n_j (DLMF 19.19); two_a = 1 for R_F, 3 for R_J.
template <int two_a, int n3, int n4, int n5, int n2 = 0, class T>
POLHODE_INLINE T series_terms(T E2) {
    constexpr int N = 2 * n2 + 3 * n3 + 4 * n4 + 5 * n5, M = n2 + n3 + n4 + n5;
    static_assert(N <= series_degree);
    constexpr double numerator = [] {
        double r = (M + N) % 2 == 0 ? two_a : -two_a;
        for (int i = 1; i < 2 * M; i += 2) r *= i;
        return r;
    }();
    constexpr double denominator = [] {
        double r = two_a + 2 * N;
        for (int i = 0; i < M; ++i) r *= 2;
        for (const int n : {n2, n3, n4, n5}) {
            for (int i = 2; i <= n; ++i) r *= i;
        }
        return r;
    }();
    const T c = ratio<T>(numerator, denominator);
    if constexpr (N + 2 > series_degree) {
        return c;
    } else {
        return fma(series_terms<two_a, n3, n4, n5, n2 + 1>(E2), E2, c);
    }
}

/// R_F of three nearly equal arguments; the remainder is 0.01 t^12, t the largest |X|.
template <class T>
POLHODE_INLINE T first_kind_series(T x, T y, T z) {
    const T mean = (x + y + z) * ratio<T>(1, 3), inverse = 1.0 / mean;
    const T X = (mean - x) * inverse, Y = (mean - y) * inverse, Z = -(X + Y);
    const T XY = X * Y, E2 = fma(-Z, Z, XY), E3 = XY * Z;
    const T of_e3 = fma(E3,
                        fma(E3, series_terms<1, 3, 0, 0>(E2), series_terms<1, 2, 0, 0>(E2)),
                        series_terms<1, 1, 0, 0>(E2));
    const T r = sqrt(inverse);
    return fma(r, fma(E2, series_terms<1, 0, 0, 0, 1>(E2), E3 * of_e3), r);
}
template <class T>
inline constexpr double first_kind_tolerance = 0.06 * twelfth_root(epsilon_v<T> * 0x1p52);

/// R_J of nearly equal arguments; the remainder is 1.6 t^12, t the largest |X|.
template <class T>
POLHODE_INLINE T third_kind_series(T x, T y, T z, T mean) {
    const T inverse = 1.0 / mean;
    const T X = (mean - x) * inverse, Y = (mean - y) * inverse, Z = (mean - z) * inverse;
    const T P = -0.5 * (X + Y + Z), P2 = P * P, XYZ = X * Y * Z;
    const T E2 = fma(X, Y, fma(Z, X + Y, -3.0 * P2));
    const T E3 = fma(P, fma(2.0, E2, 4.0 * P2), XYZ);
    const T E4 = fma(2.0, XYZ, P * fma(3.0, P2, E2)) * P, E5 = XYZ * P2;
    const T of_e5 = fma(E5,
                        series_terms<3, 0, 0, 2>(E2),
                        fma(E4, series_terms<3, 0, 1, 1>(E2), series_terms<3, 0, 0, 1>(E2)));
    const T of_e4 = fma(E4, series_terms<3, 0, 2, 0>(E2), series_terms<3, 0, 1, 0>(E2));
    const T of_e3_1 = fma(E4,
                          fma(E4, series_terms<3, 1, 2, 0>(E2), series_terms<3, 1, 1, 0>(E2)),
                          fma(E5, series_terms<3, 1, 0, 1>(E2), series_terms<3, 1, 0, 0>(E2)));
    const T of_e3_2 = fma(E4,
                          series_terms<3, 2, 1, 0>(E2),
                          fma(E5, series_terms<3, 2, 0, 1>(E2), series_terms<3, 2, 0, 0>(E2)));
    const T of_e3 = fma(E3, fma(E3, series_terms<3, 3, 0, 0>(E2), of_e3_2), of_e3_1);
    const T of_e2 = series_terms<3, 0, 0, 0, 1>(E2), r = inverse * sqrt(inverse);
    return fma(r, fma(E2, of_e2, fma(E3, of_e3, fma(E4, of_e4, E5 * of_e5))), r);
}
template <class T>
inline constexpr double third_kind_tolerance = 0.04 * twelfth_root(epsilon_v<T> * 0x1p52);

POLHODE_NAMESPACE_END

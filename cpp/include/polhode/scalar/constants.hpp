#pragma once

/// Constants to the precision of the number type.
///
/// T(1.0 / 3) has 53 correct bits in every T; ratio<T>(1, 3) has the precision of T.  For double,
/// packs and the counting type it is a compile-time constant.

#include <limits>

#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN()

/// True if T has more precision than double, so that a constant in double is not accurate enough.
template <class T>
inline constexpr bool wider_than_double = epsilon_v<T> < 0x1p-60;

/// numerator / denominator, rounded to T; both exact.
template <class T>
POLHODE_INLINE T ratio(double numerator, double denominator) {
    if constexpr (wider_than_double<T>) return T(numerator) / T(denominator);
    return T(numerator / denominator);
}

namespace detail {
// Constants as sums of doubles, 212 bits.
inline constexpr double half_pi_parts[4] = {
    0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110, 0x1.4cf98e804177dp-164};
inline constexpr double log_2_parts[4] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111, -0x1.ace93a4ebe5d1p-165};

template <class T>
POLHODE_INLINE T sum_of(const double (&parts)[4]) {
    if constexpr (wider_than_double<T>) {
        return T(parts[0]) + (T(parts[1]) + (T(parts[2]) + T(parts[3])));
    }
    return T(parts[0]);
}
}  // namespace detail

/// c0 + c1 x + c2 x^2 + ..., nested.
template <class T>
POLHODE_INLINE T horner(T x, double c0, double c1) {
    return fma(x, T(c1), T(c0));
}
template <class T, class... Doubles>
POLHODE_INLINE T horner(T x, double c0, double c1, double c2, Doubles... more) {
    return fma(x, horner(x, c1, c2, more...), T(c0));
}

/// pi/2, rounded to T.
template <class T>
POLHODE_INLINE T half_pi() {
    return detail::sum_of<T>(detail::half_pi_parts);
}
/// log 2, rounded to T.
template <class T>
POLHODE_INLINE T log_2() {
    return detail::sum_of<T>(detail::log_2_parts);
}

// Constants of the compiler, so that the code calls no function of the standard library.
template <class T>
POLHODE_INLINE T nan() {
    constexpr double value = std::numeric_limits<double>::quiet_NaN();
    return T(value);
}
template <class T>
POLHODE_INLINE T infinity() {
    constexpr double value = std::numeric_limits<double>::infinity();
    return T(value);
}

POLHODE_NAMESPACE_END

#pragma once

/// The elementary functions that the kernels need, for any number type: atan2, exp/expm1 and log.
/// The polynomials of cpp/generate/make_elementary.py have the 53 bits of a double; a type with
/// more precision overloads these functions.

#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN()

/// x + 2 pi n, without rounding 2 pi n first.
template <class T>
POLHODE_INLINE T add_turns(T n, T x) {
    constexpr double low = wider_than_double<T> ? 0.0 : 4 * detail::half_pi_parts[1];
    return fma(n, 4.0 * half_pi<T>(), fma(n, T(low), x));
}

/// The angle of (x, y) in [-pi, pi]; 0 for x = y = 0.
///
/// @param y,x  at most 2^1022 in size and not both subnormal; the angle has the sign bit of y
/// @return     error below 1 eps of the angle (tests/accuracy/test_elliptic.py, through the
/// amplitude)
///
/// Method: atan t of a quotient |t| <= tan(pi/8), which is lo/hi or (lo - hi)/(lo + hi) of the
/// smaller and the larger of |x| and |y|, added to a multiple of pi/4 in two parts.
template <class T>
POLHODE_INLINE T atan2(T y, T x) {
    static_assert(epsilon_v<T> >= 0x1p-52, "a wider type has its own atan2");
    const T ax = abs(x), ay = abs(y);
    const mask_t<T> steep = ay > ax;
    const T lo = select(steep, ax, ay), hi = select(steep, ay, ax);
    const mask_t<T> middle = lo > 0x1.a827999fcef32p-2 * hi;
    const T numerator = select(middle, lo - hi, lo), denominator = select(middle, lo + hi, hi);
    const T t = numerator / select(denominator == 0.0, T(1.0), denominator);

    const T u = t * t;
    // clang-format off
    const T p = horner(u, -0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d7eep-3,
                          0x1.c71c71c304b68p-4, -0x1.745d165df3f95p-4, 0x1.3b1392d9e785cp-4,
                          -0x1.110e880a7a521p-4, 0x1.e19a13b9fc6dfp-5, -0x1.ac7a938b69c93p-5,
                          0x1.74ddd408bb4c1p-5, -0x1.1b33b923aa954p-5, 0x1.0ad36a455cafbp-6);
    // clang-format on
    const T a = fma(t * u, p, t);

    // angle = k pi/4 +- a; k pi/4 is exact in its first part for k <= 4.
    const T k_octant = select(middle, T(1.0), T(0.0));
    const T k_quadrant = select(steep, 2.0 - k_octant, k_octant);
    const T k = select(x < 0.0, 4.0 - k_quadrant, k_quadrant);
    const T a_quadrant = select(steep, -a, a);
    const T signed_a = select(x < 0.0, -a_quadrant, a_quadrant);
    const T angle = fma(k, T(0x1.921fb54442d18p-1), fma(k, T(0x1.1a62633145c07p-55), signed_a));
    return flip_sign(angle, y);
}

/// e^x and e^x - 1 for x <= 709; below -745 they are 0 and -1.
///
/// Each to 2 eps relative.  Method: x = n ln 2 + r, e^r - 1 by a polynomial, e^x - 1 =
/// 2^n (e^r - 1) + (2^n - 1).
template <class T>
POLHODE_INLINE Exponential<T> exponential(T x) {
    static_assert(epsilon_v<T> >= 0x1p-52, "a wider type has its own exponential");
    x = select(x < -746.0, T(-746.0), x);
    const T n = rint(x * 0x1.71547652b82fep+0);
    const T r = fma(n, T(-0x1.ef35793c76730p-45), fma(n, T(-0x1.62e42fefa3800p-1), x));
    // clang-format off
    const T p = horner(r, 0.5, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100dbp-7,
                          0x1.6c16c16c162c7p-10, 0x1.a01a01abe815dp-13, 0x1.a01a01a6de2bdp-16,
                          0x1.71de02314a9cep-19, 0x1.27e4db55521a5p-22, 0x1.af4dea19a3a15p-26,
                          0x1.1f731f409db96p-29);
    // clang-format on
    const T e = fma(r * r, p, r);
    // Two powers of two, so that the result may be subnormal.
    const T n_normal = max(n, -1000.0), power = power_of_two(n_normal);
    return {(1.0 + e) * power * power_of_two(n - n_normal), fma(power, e, power - 1.0)};
}

/// log x for normal x > 0.
///
/// Error: 2 eps relative.  Method: x = 2^n f with f within sqrt(1/2) ... sqrt(2), log f = 2 atanh
/// s, s = (f - 1)/(f + 1), by a polynomial.
template <class T>
POLHODE_INLINE T log(T x) {
    static_assert(epsilon_v<T> >= 0x1p-52, "a wider type has its own logarithm");
    const T n = exponent(x * 0x1.6a09e667f3bcdp+0);
    const T f = x * power_of_two(-n), s = (f - 1.0) / (f + 1.0), y = s * s;
    // clang-format off
    const T p = horner(y, 0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476c87p-2,
                          0x1.c71c720160b47p-3, 0x1.745cf901605f7p-3, 0x1.3b1c360763b8ap-3,
                          0x1.0fbe83c2cbcf3p-3, 0x1.0c04595972ab8p-3);
    // clang-format on
    return fma(n, T(0x1.62e42fefa39efp-1), fma(s * y, p, s + s));
}

template <class T>
struct Hyperbolic {
    T tanh;
    T sech;
};
/// From e^-|u| - 1, which cannot overflow and keeps a small u.
template <class T>
POLHODE_INLINE Hyperbolic<T> hyperbolic(T u) {
    const Exponential<T> e = exponential(-abs(u));
    const T inverse = 1.0 / fma(e.exp, e.exp, T(1.0));
    return {flip_sign(-(e.expm1 * (2.0 + e.expm1)) * inverse, u), 2.0 * e.exp * inverse};
}

POLHODE_NAMESPACE_END

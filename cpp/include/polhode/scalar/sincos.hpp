#pragma once

#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN()

namespace detail {
/// p and q with sin x = x + x y p and cos x = 1 + y q, y = x^2, for |x| <= 0.786: near-minimax
/// polynomials (cpp/generate/make_sincos.py), truncation 4e-18 and 5e-20.
template <class T>
POLHODE_INLINE SinCos<T> sincos_polynomials(T y) {
    // clang-format off
    const T s = horner(y, -0x1.5555555555548p-3, 0x1.111111110f731p-7, -0x1.a01a019be9667p-13,
                          0x1.71de355589d94p-19, -0x1.ae5e4beb6a048p-26, 0x1.5d8b7cba12e86p-33);
    const T c = horner(y, -0.5, 0x1.555555555554cp-5, -0x1.6c16c16c15213p-10, 0x1.a01a019cbd5d5p-16,
                          -0x1.27e4f810c65a4p-22, 0x1.1ee9efbd33970p-29, -0x1.8fb04120a225dp-37);
    // clang-format on
    return {s, c};
}
/// sin x and cos x for |x| <= 0.786, with rounding at most 0.8 eps.
template <class T>
POLHODE_INLINE SinCos<T> sincos_reduced(T x) {
    const T y = x * x;
    const SinCos<T> p = sincos_polynomials(y);
    return {fma(x * y, p.sin, x), fma(p.cos, y, T(1.0))};
}
/// sin(x + n pi/2) and cos(x + n pi/2) from those of x, for whole n.
template <class T>
POLHODE_INLINE SinCos<T> turn_quadrants(T n, const SinCos<T>& p) {
    const mask_t<T> odd = is_odd(n);
    const T s = select(odd, p.cos, p.sin);
    const T c = select(odd, p.sin, p.cos);
    return {select(has_bit_1(n), -s, s), select(has_bit_1(n + 1.0), -c, c)};
}
}  // namespace detail

/// Sine and cosine of x.
///
/// Error below 1 eps + 2^-52 |x| on a level without fused multiply-add, below 1 eps for |x| < 2^50
/// with it.  NaN if |x| >= 2^50 (such an angle has no correct digit) and if x is NaN.
///
/// Method: x - n pi/2 with pi/2 in four parts (all but the last have 27 bits, so that n times a
/// part is exact without fma while n < 2^26), then the polynomials.  The reduction is skipped if no
/// lane needs it; n = 0 gives the same bits.
template <class T>
POLHODE_INLINE SinCos<T> sincos(T x) {
    const T size = abs(x);
    if (!any(!(size <= 0.785))) return detail::sincos_reduced(x);
    const mask_t<T> usable = size < 0x1p50;
    x = select(usable, x, nan<T>());
    const T n = rint(select(usable, x, T(0.0)) * 0x1.45f306dc9c883p-1);
    T r = fma(n, T(-0x1.921fb54000000p+0), x);
    r = fma(n, T(-0x1.10b4610000000p-30), r);
    r = fma(n, T(-0x1.a626330000000p-58), r);
    r = fma(n, T(-0x1.45c06e0e68948p-86), r);
    return detail::turn_quadrants(n, detail::sincos_reduced(r));
}

/// Sine and cosine of 2 pi x for |x| < 2^48: the quadrant is exact.
template <class T>
POLHODE_INLINE SinCos<T> sincos_of_turns(T x) {
    const T n = rint(4.0 * x);
    return detail::turn_quadrants(n, detail::sincos_reduced((4.0 * x - n) * half_pi<T>()));
}

/// x = 2 pi n + rest for angles outside the domain of `sincos`, |x| >= 2^50; for smaller angles n =
/// 0.
///
/// For functions with a periodic part and a part that grows with x.  For |x| >= 2^54 rest is 0,
/// because it is below the rounding error of n.
template <class T>
struct WholeTurns {
    T n = 0.0;
    T rest;

    POLHODE_INLINE explicit WholeTurns(T x) : rest(x) {
        const mask_t<T> large = abs(x) >= 0x1p50;
        if (!any(large)) return;
        n = select(large, rint(x * 0x1.45f306dc9c883p-3), n);
        constexpr double low = wider_than_double<T> ? 0.0 : 4 * detail::half_pi_parts[1];
        const T r = fma(-n, T(low), fma(-n, 4.0 * half_pi<T>(), x));
        rest = select(large, select(abs(x) < 0x1p54, r, 0.0 * n), x);
    }
};

/// cos x and sin(x)/x as functions of y = x^2 >= 0; 1 and 1 at y = 0.
///
/// Error at most 1.5 eps up to x = 0.785 (without square root and division).  Beyond, it is that of
/// `sincos` and of the square root: 1 eps (1 + x).
template <class T>
POLHODE_INLINE SinCos<T> cos_sinc_of_root(T y) {
    if constexpr (wider_than_double<T>) {
        const T x = sqrt(y);
        const SinCos<T> f = sincos(x);
        return {y == 0.0 ? T(1.0) : f.sin / x, f.cos};
    } else {
        const SinCos<T> p = detail::sincos_polynomials(y);
        SinCos<T> r{fma(y, p.sin, T(1.0)), fma(p.cos, y, T(1.0))};
        const mask_t<T> large = !(y <= 0.785 * 0.785);
        if (any(large)) {
            const T x = sqrt(y);
            const SinCos<T> f = sincos(x);
            r = {select(large, f.sin / x, r.sin), select(large, f.cos, r.cos)};
        }
        return r;
    }
}

POLHODE_NAMESPACE_END

#pragma once

/// Legendre's integrals of the first and third kind, through Carlson's (DLMF 19.25):
///
///   F(phi, k)     = int_0^phi d theta / D,                       K = F(pi/2, k)
///   Pi(n; phi, k) = int_0^phi d theta / ((1 - n sin^2 theta) D),  D = sqrt(1 - k2 sin^2 theta)
///
/// (n has the sign of Abramowitz & Stegun).  Each function takes k2 = k^2 and kc2 = 1 - k2.
///
/// Amplitudes: any real phi while k2 < 1, by phi = j pi + r with 2 j complete integrals.  At k2 = 1
/// the integrals are infinite for |phi| >= pi/2.  For k2 > 1 the domain ends at k2 sin^2 phi = 1,
/// |phi| < pi/2; NaN beyond.  k2 sin^2 phi up to 4 eps above 1 counts as 1, because the amplitude
/// of the end is rarely a double.

#include "polhode/elliptic/agm.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)
/// The functions of an amplitude phi = j pi + r, |r| <= pi/2, that the integrals use.
template <class T>
struct Amplitude {
    T half_turns;  ///< j
    T sin;         ///< sin r
    T cos2;        ///< cos^2 r
    T delta2;      ///< 1 - k2 sin^2 r; NaN outside the domain

    POLHODE_INLINE Amplitude(T phi, T k2, T kc2) {
        const WholeTurns<T> turns(phi);
        const SinCos<T> x = sincos(turns.rest);
        half_turns = fma(2.0, turns.n, rint(turns.rest * 0x1.45f306dc9c883p-2));
        sin = select(is_odd(half_turns), -x.sin, x.sin);
        cos2 = x.cos * x.cos;
        const T sin2 = x.sin * x.sin;
        // Sums of positive terms while k2 <= 1.
        T value = select(k2 < 0.0, fma(-k2, sin2, T(1.0)), fma(kc2, sin2, cos2));
        value = select(k2 == -infinity<T>(), infinity<T>(), value);
        value = select((x.sin == 0.0) & (abs(k2) == infinity<T>()), cos2, value);
        const mask_t<T> end = (value < 0.0) & (value >= -4.0 * epsilon_v<T>);
        const mask_t<T> outside = (value < 0.0) & !end;
        const mask_t<T> beyond = (kc2 < 0.0) & (half_turns != 0.0);
        delta2 = select(outside | beyond, nan<T>(), select(end, T(0.0), value));
    }
};

/// Pi for |phi| <= pi/2, from sin r, cos^2 r and delta2 = 1 - k2 sin^2 r  (DLMF 19.25.14).
///
/// With p = 1 - n s^2 the plain form is  s R_F + (n/3) s^3 R_J(c^2, delta2, 1, p).  Its terms
/// cancel for n < 0, and for p < 0 R_J is a principal value.  DLMF 19.21.12 replaces p by q > 0:
///
///   about 1    Pi = s [ R_C(c^2 delta2, p q) + (q - 1)/3 R_J(q) ],        q - 1 = -k2 s^2 / n
///   about c^2  Pi = s w [ R_F - n c R_C(delta2, p q) - n (q - c^2)/3 R_J(q) ],
///              w = 1/(1 - n),  q - c^2 = kc2 s^2 w
///
/// All terms are positive in the first for n < 0 <= k2 and in the second for n, k2 < 0; for p < 0
/// the first has a single negative term, the only term of the complete integral.  |n| < 2^-130:
/// Pi = F to the rounding of T, as for n = 0.
template <class T>
T third_kind(T n, T s, T cos2, T delta2, T k2, T kc2) {
    n = select(abs(n) < 0x1p-130, T(0.0), n);
    const T s2 = s * s;
    const T p = select(n <= 0.0, fma(-n, s2, T(1.0)), fma(1.0 - n, s2, cos2));
    const mask_t<T> lower = n < 0.0;
    const mask_t<T> about_one = (lower & (k2 >= 0.0)) | (p < 0.0), about_c2 = lower & (k2 < 0.0);
    const mask_t<T> pole = p == 0.0;
    const mask_t<T> endless = (delta2 == infinity<T>()) | (abs(k2) == infinity<T>());
    const mask_t<T> vanishes = (delta2 >= 0.0) & ((abs(n) == infinity<T>()) | (endless & (n == n)));
    const mask_t<T> valid = (delta2 >= 0.0) & (n == n) & !pole & !vanishes;
    const mask_t<T> exchange = about_one | about_c2;

    const T n_safe = select(exchange, n, T(1.0));
    const T w = 1.0 / select(about_c2, 1.0 - n, T(1.0));
    const T over_n = -(k2 * s2 / n_safe);
    const T q_one = select(lower, 1.0 + over_n, ((n - 1.0) + delta2) / n_safe);
    const T c_c2 = kc2 * w * s2;
    const T q = select(about_one, q_one, select(about_c2, cos2 + c_c2, p));

    const FirstAndThird<T> r = rf_rj(select(valid, cos2, T(1.0)),
                                     select(valid, delta2, T(1.0)),
                                     T(1.0),
                                     select(valid, q, T(1.0)),
                                     true);
    const T rj_weight = select(about_one, over_n, select(about_c2, -n * w * c_c2, n * s2));
    T sum = fma(rj_weight * ratio<T>(1, 3), r.rj, select(about_one, T(0.0), w * r.rf));
    if (any(exchange)) {
        const T r_c = rc(select(about_one, cos2, T(1.0)) * delta2, select(exchange, p * q, T(1.0)));
        const T weight = select(about_one, T(1.0), -n * w * sqrt(cos2));
        sum = select(exchange, fma(weight, r_c, sum), sum);
    }
    const T edge = select(
        pole & (delta2 >= 0.0), copysign(infinity<T>(), s), select(vanishes, T(0.0), nan<T>()));
    return select(valid, s * sum, edge);
}

/// Complete integral of the first kind K, from kc2 = 1 - k2.
///
/// @return  error below 4 eps; +inf at k2 = 1, NaN above, 0 at k2 = -inf
///
/// Method: K = pi / (2 AGM(1, kc))  [CZ08] Sec. 3.2.
template <class T>
T ellip_k(T kc2) {
    return half_pi<T>() / agm(T(1.0), sqrt(kc2));
}

/// Incomplete integral of the first kind F(phi, k).
///
/// @return  error below 4 eps; +-inf for k2 = 1, |phi| >= pi/2, and for phi = +-inf, k2 < 1
///
/// Method: s R_F(c^2, 1 - k2 s^2, 1)  (DLMF 19.25.5); K - F(r), the same of the amplitude
/// chi with tan chi = cot r / kc, is  c R_F(kc2 s^2, kc2, 1 - k2 s^2).
template <class T>
T ellip_f(T phi, T k2, T kc2) {
    const Amplitude<T> x(phi, k2, kc2);
    const mask_t<T> turned = x.half_turns != 0.0;
    // If r and j have opposite signs, K - F(|r|) is computed directly, without cancellation.
    const mask_t<T> back = turned & (x.sin * x.half_turns < 0.0);
    const T sin2 = x.sin * x.sin;
    T value = select(back, copysign(sqrt(x.cos2), x.half_turns), x.sin) *
              rf(select(back, kc2 * sin2, x.cos2), select(back, kc2, T(1.0)), x.delta2);
    if (any(turned)) {
        const T quarters = 2.0 * x.half_turns - select(back, copysign(1.0, x.half_turns), T(0.0));
        value = select(turned, fma(quarters, ellip_k(kc2), value), value);
    }
    return select((abs(phi) == infinity<T>()) & (kc2 >= 0.0), phi, value);
}

/// Complete integral of the third kind Pi(n, k); for n > 1 the Cauchy principal value.
///
/// @return  error below 8 eps; +inf at n = 1; at k2 = 1 +inf for n <= 1 and -inf for n > 1; NaN for
///          k2 > 1; 0 at n = +-inf and, except for n = 1, at k2 = -inf
template <class T>
T ellip_pi_complete(T n, T k2, T kc2) {
    const mask_t<T> one = kc2 == 0.0;
    const T value = third_kind(n, T(1.0), T(0.0), select(one, T(1.0), kc2), k2, kc2);
    const T limit = select(n > 1.0, -infinity<T>(), select(n == n, infinity<T>(), nan<T>()));
    return select(one, limit, value);
}

/// Incomplete integral of the third kind Pi(n; phi, k); past a pole (n > 1) the Cauchy principal
/// value, +-inf at the pole n sin^2 phi = 1, and at phi = +-inf for n, k2 <= 1.
///
/// @return  error below 8 eps; past a pole, relative to the larger of the two terms
template <class T>
T ellip_pi(T n, T phi, T k2, T kc2) {
    const Amplitude<T> x(phi, k2, kc2);
    T value = third_kind(n, x.sin, x.cos2, x.delta2, k2, kc2);
    const mask_t<T> turned = x.half_turns != 0.0;
    if (any(turned)) {
        const T complete = ellip_pi_complete(n, k2, kc2);
        value = select(turned, fma(2.0 * x.half_turns, complete, value), value);
    }
    const mask_t<T> endless = (abs(phi) == infinity<T>()) & (kc2 >= 0.0) & (n <= 1.0);
    return select(endless, select(n == -infinity<T>(), T(0.0), phi), value);
}

POLHODE_NAMESPACE_END

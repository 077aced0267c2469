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
template <class T>
POLHODE_INLINE T sn_a(T u, T r) {
    const T a = horner(u, -0.16666666666665664, 0.008333333321248658, -0.0001984093638161817,
                          2.7030856077988567e-06);
    const T b_r0 = horner(u, 0.09999999996096408, -0.026190434410808497, 0.0033619542719551905);
    return fma(u, a, r * fma(r, 0.008324948839482715, b_r0));
}
template <class T>
POLHODE_INLINE T third_kind_a(T u, T r, T y) {
    const T y3 = horner(u, -0.14285598946806516, 0.11061849546295152);
    T sum = fma(y, 0.11056006903246428, y3);
    const T y2_r0 = horner(u, 0.19999999904805393, -0.09523751822039714, 0.022169855195310735);
    const T y2 = fma(r, 0.04409441021853906, y2_r0);
    sum = fma(y, sum, y2);
    const T y1_r0 = horner(u, -0.3333333333330884, 0.06666666648898385, -0.006349233628155829,
                              0.00036920197006976545);
    const T y1_r1 = horner(u, -0.028571007379673077, 0.009405852815785737);
    const T y1 = fma(r, y1_r1, y1_r0);
    sum = fma(y, sum, y1);
    return y * sum;
}
template <class T>
POLHODE_INLINE T sn_b(T u, T r) {
    const T a = horner(u, -0.16666666666666444, 0.00833333333217779, -0.0001984125303892065,
                          2.748493703913473e-06, -3.0153145772109325e-08);
    const T b_r0 = horner(u, 0.0999999999968099, -0.026190474793134206, 0.0033728388093035226,
                             -0.0002705432989595999);
    const T b_r1 = horner(u, 0.008333222152782553, -0.0033014399184369035);
    return fma(u, a, r * fma(r, b_r1, b_r0));
}
template <class T>
POLHODE_INLINE T third_kind_b(T u, T r, T y) {
    const T y4 = horner(u, 0.11109133376929509, -0.11871877788801687);
    T sum = fma(y, -0.08889500509329824, y4);
    const T y3_r0 = horner(u, -0.14285705470784618, 0.1110944738556593, -0.04164786608611875);
    const T y3 = fma(r, -0.05321412989715433, y3_r0);
    sum = fma(y, sum, y3);
    const T y2_r0 = horner(u, 0.19999999982900946, -0.09523805195117639, 0.022219567299745866,
                              -0.0032157945710399828);
    const T y2_r1 = horner(u, 0.0444363595739734, -0.027112698182477538);
    const T y2 = fma(r, y2_r1, y2_r0);
    sum = fma(y, sum, y2);
    const T y1_r0 = horner(u, -0.33333333333322596, 0.06666666663150941, -0.006349203735795261,
                              0.0003526266931281093, -7.08299571524571e-06);
    const T y1_r1 = horner(u, -0.028571415356456208, 0.009522540214201881, -0.0015422002790142632);
    const T y1 = fma(r, fma(r, -0.002380838416306895, y1_r1), y1_r0);
    sum = fma(y, sum, y1);
    return y * sum;
}
template <class T>
POLHODE_INLINE T sn_c(T u, T r) {
    const T a = horner(u, -0.16666666666666607, 0.008333333333184959, -0.00019841269010233018,
                          2.755950424082093e-06, -5.168904687088701e-08, 5.016052386642124e-07);
    const T b_r0 = horner(u, 0.09999999999942753, -0.026190476045560393, 0.003373003619774405,
                             -0.0002767561537437402, 1.094791002523107e-05);
    const T b_r1 = horner(u, 0.008333330215311966, -0.0033221090658002387, 0.0006447377411166161);
    return fma(u, a, r * fma(r, fma(r, 0.000695292642091585, b_r1), b_r0));
}
template <class T>
POLHODE_INLINE T third_kind_c(T u, T r, T y) {
    const T y5 = horner(u, -0.0907592358488569, 0.12043355392275257);
    T sum = fma(y, 0.07193372981723752, y5);
    const T y4_r0 = horner(u, 0.11110888839634152, -0.12104279473465765, 0.06170577938747037);
    const T y4 = fma(r, 0.056792788627085006, y4_r0);
    sum = fma(y, sum, y4);
    const T y3_r0 = horner(u, -0.142857126242831, 0.11110949086722499, -0.04239440405070547,
                              0.010676256609651049);
    const T y3_r1 = horner(u, -0.05442501900384955, 0.04531995236514811);
    const T y3 = fma(r, y3_r1, y3_r0);
    sum = fma(y, sum, y3);
    const T y2_r0 = horner(u, 0.1999999999435186, -0.09523808903738344, 0.022222296288592625,
                              -0.003293094087295912, 0.0009103309469366381);
    const T y2_r1 = horner(u, 0.04444318413549037, -0.027598306934036098, 0.005575931098572008);
    const T y2 = fma(r, fma(r, 0.008126427814409018, y2_r1), y2_r0);
    sum = fma(y, sum, y2);
    const T y1_r0 = horner(u, -0.3333333333332711, 0.06666666666098568, -0.006349207582412743,
                              0.0003529151937691328, -2.132913519446664e-05,
                              0.00013529447074411832);
    const T y1_r1 = horner(u, -0.02857142414767184, 0.009523176636668358, -0.001522352751767395,
                              -0.0005420804683085225);
    const T y1_r2 = horner(u, -0.0024423028372555465, 0.0018570709993537412);
    const T y1 = fma(r, fma(r, y1_r2, y1_r1), y1_r0);
    sum = fma(y, sum, y1);
    return y * sum;
}
template <class T>
POLHODE_INLINE T sqrt_q(T x) {
    return horner(x, 0.5, 0.12499999999998487, 0.06250000001303371, 0.03906249626275646,
                     0.02734424207716462, 0.0204751400387501, 0.017173411731964128);
}
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

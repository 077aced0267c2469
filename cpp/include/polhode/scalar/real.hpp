#pragma once

/// The operations that a kernel uses on its number type T, here for double.
///
/// A kernel is a template on T and uses only + - * / < <= > >= == and the functions below.
/// Data-dependent choices are select(mask, a, b).  A loop whose length depends on data runs while
/// any(mask) and updates only the active lanes, so that the result for a body does not depend on
/// the other bodies of the pack.  pack.hpp has the same functions for W bodies at once, counted.hpp
/// for a double that counts operations, quad.hpp for quadruple precision.

#include <cmath>
#include <cstdint>

#include "polhode/config.hpp"

// Options that break error-free sums, comparisons with NaN or the sign of zero give wrong numbers
// without a warning.  __GCC_IEC_559 is 0 for each of them alone, also -fassociative-math.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    (!defined(__clang__) && defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error \
    "polhode's headers need IEEE 754 arithmetic: compile without -ffast-math, -Ofast and the \
options that these contain, or append -fno-fast-math; a program that links libpolhode may have them"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2
#error "polhode's headers need doubles without excess precision: compile with -mfpmath=sse"
#endif

// True if the level rounds a b + c once; then every number type does.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
#define POLHODE_HAS_FMA 1
#endif

// Names that several number types and their tests go through.
// clang-format off
#define POLHODE_COMPARISONS(DO) DO(<) DO(<=) DO(>) DO(>=) DO(==) DO(!=)
#define POLHODE_BIT_FUNCTIONS(DO) \
    DO(abs) DO(rint) DO(exponent) DO(power_of_two) DO(power_of_two_below) DO(power_of_two_reciprocal)
#define POLHODE_BIT_TESTS(DO) DO(is_odd) DO(has_bit_1) DO(is_nan)
#define POLHODE_BIT_PAIRS(DO) DO(copysign) DO(flip_sign) DO(min) DO(max)
// clang-format on

POLHODE_NAMESPACE_BEGIN()

/// Traits of a number type: its mask, its number of lanes, its rounding unit.
template <class T>
struct scalar_traits;

template <>
struct scalar_traits<double> {
    using mask = bool;
    static constexpr int lanes = 1;
    static constexpr double epsilon = 0x1p-52;
};

template <class T>
using mask_t = typename scalar_traits<T>::mask;

template <class T>
inline constexpr int lanes_v = scalar_traits<T>::lanes;

/// Distance from 1 to the next number of T, as a double.
template <class T>
inline constexpr double epsilon_v = scalar_traits<T>::epsilon;

template <class T>
struct SinCos {
    T sin;
    T cos;
};
template <class T>
struct Exponential {
    T exp;
    T expm1;
};

POLHODE_INLINE std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }
POLHODE_INLINE double double_of(std::uint64_t u) { return __builtin_bit_cast(double, u); }

POLHODE_INLINE bool any(bool mask) { return mask; }
POLHODE_INLINE bool all(bool mask) { return mask; }
POLHODE_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }

POLHODE_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

/// a b + c, rounded once if the level has the instruction, else twice.
POLHODE_INLINE double fma(double a, double b, double c) {
#if defined(POLHODE_HAS_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

POLHODE_INLINE double abs(double x) { return double_of(bits_of(x) & 0x7fffffffffffffffULL); }
POLHODE_INLINE double copysign(double magnitude, double sign) {
    return double_of((bits_of(magnitude) & 0x7fffffffffffffffULL) |
                     (bits_of(sign) & 0x8000000000000000ULL));
}
/// x with its sign changed where `sign` has its sign bit set (-0 counts as negative).
POLHODE_INLINE double flip_sign(double x, double sign) {
    return double_of(bits_of(x) ^ (bits_of(sign) & 0x8000000000000000ULL));
}

/// -x where the mask holds, else x.
POLHODE_INLINE double flip_where(bool mask, double x) { return mask ? -x : x; }

/// The smaller / larger of two; the second argument if either is NaN.
POLHODE_INLINE double min(double a, double b) { return a < b ? a : b; }
POLHODE_INLINE double max(double a, double b) { return a > b ? a : b; }

/// Nearest integer, ties to even, for |x| < 2^51.
POLHODE_INLINE double rint(double x) {
    constexpr double magic = 0x1.8p52;
    return (x + magic) - magic;
}

/// Largest power of two not above |x|, for normal x; 0 for zero and subnormal x.
POLHODE_INLINE double power_of_two_below(double x) {
    return double_of(bits_of(x) & 0x7ff0000000000000ULL);
}
/// 1/p for p = 2^e with -1022 <= e <= 1022.
POLHODE_INLINE double power_of_two_reciprocal(double p) {
    return double_of(0x7fe0000000000000ULL - bits_of(p));
}
/// floor(log2 |x|) for normal x.
POLHODE_INLINE double exponent(double x) {
    const std::uint64_t biased = (bits_of(x) & 0x7ff0000000000000ULL) >> 52;
    return double_of(biased | 0x4330000000000000ULL) - (0x1p52 + 1023);
}
/// 2^n for a whole number n with -1022 <= n <= 1023.
POLHODE_INLINE double power_of_two(double n) {
    return double_of(bits_of(n + (0x1.8p52 + 1023)) << 52);
}
/// True if the whole number n is odd; |n| < 2^51.
POLHODE_INLINE bool is_odd(double n) { return (bits_of(n + 0x1.8p52) & 1U) != 0; }
/// Bit 1 of the whole number n in two's complement: set if n mod 4 is 2 or 3; |n| < 2^51.
POLHODE_INLINE bool has_bit_1(double n) { return (bits_of(n + 0x1.8p52) & 2U) != 0; }

POLHODE_INLINE bool is_nan(double x) { return x != x; }

POLHODE_NAMESPACE_END

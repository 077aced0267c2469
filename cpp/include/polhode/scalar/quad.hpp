#pragma once

/// A number type in quadruple precision (113 bits, 34 digits), for reference values, orders above 8
/// and symplectic defects.
///
/// It exists if the compiler has a binary128 type (POLHODE_HAS_QUAD).  Its arithmetic is in
/// software, about fifty times slower than double, and comes with the compiler: no other library is
/// linked. All functions of real.hpp and elementary.hpp are there.  Relative error at most 2^-110.
/// For sin and cos, |x| < 1e6: 2^-112 absolute, and relative away from the zeros
/// (tests/accuracy/test_number_types.py).  fma rounds twice.

#include <cmath>

#include "polhode/scalar/constants.hpp"

#if defined(__SIZEOF_FLOAT128__) || (defined(__LDBL_MANT_DIG__) && __LDBL_MANT_DIG__ == 113)
#define POLHODE_HAS_QUAD 1

POLHODE_NAMESPACE_BEGIN()

class quad {
  public:
#if defined(__SIZEOF_FLOAT128__)
    __extension__ typedef __float128 binary128;
#else
    typedef long double binary128;
#endif

    quad() = default;
    quad(double x) : value_(x) {}  // NOLINT(google-explicit-constructor): constants mix freely
    /// The sum of two doubles, exact where their exponents are within 113 bits.
    quad(double high, double low) : value_(binary128(high) + binary128(low)) {}
    static quad from(binary128 x) {
        quad r;
        r.value_ = x;
        return r;
    }

    explicit operator double() const { return static_cast<double>(value_); }
    /// The nearest double and the rounded remainder: 107 bits of the value.
    double high() const { return static_cast<double>(value_); }
    double low() const { return static_cast<double>(value_ - binary128(high())); }

    friend quad operator+(quad a, quad b) { return from(a.value_ + b.value_); }
    friend quad operator-(quad a, quad b) { return from(a.value_ - b.value_); }
    friend quad operator*(quad a, quad b) { return from(a.value_ * b.value_); }
    friend quad operator/(quad a, quad b) { return from(a.value_ / b.value_); }
    friend quad operator-(quad a) { return from(-a.value_); }

#define POLHODE_COMPARISON(op) \
    friend bool operator op(quad a, quad b) { return a.value_ op b.value_; }
    POLHODE_COMPARISONS(POLHODE_COMPARISON)
#undef POLHODE_COMPARISON

    friend quad select(bool mask, quad a, quad b) { return mask ? a : b; }
    friend quad fma(quad a, quad b, quad c) { return a * b + c; }
    friend bool is_nan(quad x) { return x.value_ != x.value_; }

    friend quad abs(quad x) { return from_bits(x.bits() & ~sign_bit); }
    friend quad copysign(quad magnitude, quad sign) {
        return from_bits((magnitude.bits() & ~sign_bit) | (sign.bits() & sign_bit));
    }
    friend quad flip_where(bool mask, quad x) { return mask ? -x : x; }
    friend quad flip_sign(quad x, quad sign) {
        return from_bits(x.bits() ^ (sign.bits() & sign_bit));
    }
    friend quad min(quad a, quad b) { return a < b ? a : b; }
    friend quad max(quad a, quad b) { return a > b ? a : b; }
    friend quad rint(quad x) {
        const quad magic = 0x1.8p112;
        return (x + magic) - magic;
    }

    friend quad power_of_two_below(quad x) { return from_bits(x.bits() & exponent_bits); }
    friend quad power_of_two_reciprocal(quad p) {
        return from_bits((unsigned_bits(2 * bias) << mantissa_bits) - p.bits());
    }
    friend quad exponent(quad x) {
        return double(int((x.bits() & exponent_bits) >> mantissa_bits) - bias);
    }
    friend quad power_of_two(quad n) {
        return from_bits(unsigned_bits(bias + int(double(n))) << mantissa_bits);
    }
    friend bool is_odd(quad n) { return (std::int64_t(double(n)) & 1) != 0; }
    friend bool has_bit_1(quad n) { return (std::int64_t(double(n)) & 2) != 0; }

  private:
    __extension__ typedef unsigned __int128 unsigned_bits;
    static constexpr int mantissa_bits = 112;
    static constexpr int bias = 16383;
    static constexpr unsigned_bits sign_bit = unsigned_bits(1) << 127;
    static constexpr unsigned_bits exponent_bits = unsigned_bits(0x7fff) << mantissa_bits;

    unsigned_bits bits() const { return __builtin_bit_cast(unsigned_bits, value_); }
    static quad from_bits(unsigned_bits u) { return from(__builtin_bit_cast(binary128, u)); }

    binary128 value_;
};

template <>
struct scalar_traits<quad> {
    using mask = bool;
    static constexpr int lanes = 1;
    static constexpr double epsilon = 0x1p-112;
};

namespace detail {

/// x - k (sum of parts) for a whole number k below 2^60: each product is exact.
inline quad reduce(quad x, quad k, const double (&parts)[4]) {
    for (double part : parts) x = x - k * quad(part);
    return x;
}

/// For |x| < 1: odd = 1: sum_n sign^n x^(2n+1)/(2n+1)!, sin (sign -1) and sinh (+1); odd = -1: the
/// same of even powers, cos and cosh.
inline quad factorial_series(quad x, double sign, int odd) {
    const quad x2 = sign * (x * x);
    quad sum = 0.0;
    for (int n = 16; n >= 1; --n) sum = (1.0 + sum) * x2 / quad(2.0 * n * (2 * n + odd));
    return odd > 0 ? x + x * sum : 1.0 + sum;
}

}  // namespace detail

/// Newton's iteration from the square root in double; the argument is scaled to [1, 4) first.
inline quad sqrt(quad x) {
    if (!(x > 0.0) || x - x != 0.0) {  // 0, negative, infinite, NaN: the result of double
        return quad(polhode::sqrt(double(x)));
    }
    const quad half = rint((exponent(x) - 0.5) * 0.5);  // exponent(x) = 2 half or 2 half + 1
    const quad s = x * power_of_two(-half) * power_of_two(-half);
    quad r = polhode::sqrt(double(s));
    for (int i = 0; i < 2; ++i) r = r + (s - r * r) / (2.0 * r);
    return r * power_of_two(half);
}

inline SinCos<quad> sincos(quad x) {
    const quad k = rint(x / half_pi<quad>());
    const quad r = detail::reduce(x, k, detail::half_pi_parts);
    const quad s = detail::factorial_series(r, -1.0, 1);
    const quad c = detail::factorial_series(r, -1.0, -1);
    const bool odd = is_odd(k);
    const bool two = has_bit_1(k);
    return {two ? -(odd ? c : s) : (odd ? c : s), two != odd ? -(odd ? s : c) : (odd ? s : c)};
}

inline quad exp(quad x) {
    if (!(abs(x) < 11355.0)) {  // overflow, underflow or NaN
        return is_nan(x) ? x : x > 0.0 ? quad(HUGE_VAL) : quad(0.0);
    }
    const quad k = rint(x / log_2<quad>());
    const quad r = detail::reduce(x, k, detail::log_2_parts);
    return (detail::factorial_series(r, 1.0, -1) + detail::factorial_series(r, 1.0, 1)) *
           power_of_two(k);
}
/// e^x and e^x - 1, for a short x 2 sinh(x/2) e^(x/2), with the interface of elementary.hpp.
template <class T>
    requires(scalar_traits<T>::epsilon == scalar_traits<quad>::epsilon)
Exponential<T> exponential(T x) {
    const quad e = exp(x), half = 0.5 * x;
    if (!(abs(x) < 1.0)) return {e, e - 1.0};
    return {e, 2.0 * detail::factorial_series(half, 1.0, 1) * exp(half)};
}

/// One correction of the value in double: atan x = a + atan((x - tan a)/(1 + x tan a)).
inline quad atan(quad x) {
    const quad ax = abs(x);
    if (ax > 1.0) {
        return flip_sign(half_pi<quad>() - atan(1.0 / ax), x);
    }
    const quad a = std::atan(double(x));
    const SinCos<quad> turn = sincos(a);
    const quad t = turn.sin / turn.cos;
    const quad correction = (x - t) / (1.0 + x * t);
    return a + (correction - correction * correction * correction / 3.0);
}
inline quad atan2(quad y, quad x) {
    const quad ay = abs(y), ax = abs(x);
    const bool steep = ay > ax;
    const quad small = steep ? ax : ay;
    const quad large = steep ? ay : ax;
    quad r = large == 0.0 ? quad(0.0) : atan(small / large);
    if (steep) r = half_pi<quad>() - r;
    if (copysign(1.0, x) < 0.0) r = 2.0 * half_pi<quad>() - r;
    return copysign(r, y);
}

POLHODE_NAMESPACE_END
#endif  // binary128

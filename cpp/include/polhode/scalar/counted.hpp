#pragma once

/// A double that counts the operations of a kernel.
///
/// FLOP counts are measured by running the kernel.  One + - * / sqrt or elementary
/// function is 1 ([Gus10] Sec. 4.4), a fused multiply-add 2 (an addition and a multiplication), a
/// sincos 2; negation, comparison, select, min, max, abs, flips of sign, roundings and powers of
/// two read from or written to exponent bits are 0.  Constants are not counted.
/// Values are those of the double kernel, except that elementary functions come from the C library.

#include <cmath>

#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN()

/// Operations by category; `trig` counts every elementary function.
struct OperationCount {
    std::int64_t add = 0;
    std::int64_t mul = 0;
    std::int64_t div = 0;
    std::int64_t sqrt = 0;
    std::int64_t trig = 0;

    std::int64_t total() const { return add + mul + div + sqrt + trig; }

    friend OperationCount operator-(OperationCount a, OperationCount b) {
        return {a.add - b.add, a.mul - b.mul, a.div - b.div, a.sqrt - b.sqrt, a.trig - b.trig};
    }
};

namespace detail {
/// Operations of this thread since it started.
inline thread_local OperationCount operations;
}  // namespace detail

/// Counts the operations of this thread since the construction of the scope; scopes may be nested.
class counted_scope {
  public:
    OperationCount count() const { return detail::operations - start_; }

  private:
    OperationCount start_ = detail::operations;
};

class counted {
  public:
    counted() = default;
    counted(double x) : value_(x) {}  // NOLINT(google-explicit-constructor): constants mix freely

    double value() const { return value_; }

#define POLHODE_COUNTED_OPERATOR(op, kind)             \
    friend counted operator op(counted a, counted b) { \
        ++detail::operations.kind;                     \
        return a.value_ op b.value_;                   \
    }
    POLHODE_COUNTED_OPERATOR(+, add)
    POLHODE_COUNTED_OPERATOR(-, add)
    POLHODE_COUNTED_OPERATOR(*, mul)
    POLHODE_COUNTED_OPERATOR(/, div)
#undef POLHODE_COUNTED_OPERATOR
    friend counted operator-(counted a) { return -a.value_; }

#define POLHODE_COMPARISON(op) \
    friend bool operator op(counted a, counted b) { return a.value_ op b.value_; }
    POLHODE_COMPARISONS(POLHODE_COMPARISON)
#undef POLHODE_COMPARISON

    friend counted select(bool mask, counted a, counted b) { return mask ? a : b; }

    friend counted sqrt(counted x) {
        ++detail::operations.sqrt;
        return polhode::sqrt(x.value_);
    }
    friend counted fma(counted a, counted b, counted c) {
        ++detail::operations.add;
        ++detail::operations.mul;
        return polhode::fma(a.value_, b.value_, c.value_);
    }

    friend counted flip_where(bool mask, counted x) { return mask ? -x : x; }
#define POLHODE_NOT_COUNTED_1(RESULT, name) \
    friend RESULT name(counted x) { return polhode::name(x.value_); }
#define POLHODE_NOT_COUNTED_2(name) \
    friend counted name(counted a, counted b) { return polhode::name(a.value_, b.value_); }
#define POLHODE_NUMBER(name) POLHODE_NOT_COUNTED_1(counted, name)
#define POLHODE_BOOL(name) POLHODE_NOT_COUNTED_1(bool, name)
    POLHODE_BIT_FUNCTIONS(POLHODE_NUMBER)
    POLHODE_BIT_TESTS(POLHODE_BOOL)
    POLHODE_BIT_PAIRS(POLHODE_NOT_COUNTED_2)
#undef POLHODE_NUMBER
#undef POLHODE_BOOL
#undef POLHODE_NOT_COUNTED_1
#undef POLHODE_NOT_COUNTED_2

    friend SinCos<counted> sincos(counted x) {
        detail::operations.trig += 2;
        return {std::sin(x.value_), std::cos(x.value_)};
    }

    friend counted atan2(counted y, counted x) {
        ++detail::operations.trig;
        return std::atan2(y.value_, x.value_);
    }

  private:
    double value_;
};

template <>
struct scalar_traits<counted> {
    using mask = bool;
    static constexpr int lanes = 1;
    static constexpr double epsilon = 0x1p-52;
};

/// True for the counting type.
template <class T>
inline constexpr bool counts = false;
template <>
inline constexpr bool counts<counted> = true;

/// cos x and sin(x)/x of y = x^2: a root, a sincos and a division.
template <class T>
    requires(counts<T>)
SinCos<T> cos_sinc_of_root(T y) {
    const T x = sqrt(y);
    const SinCos<T> f = sincos(x);
    const T sinc = f.sin / x;
    return {y == 0.0 ? T(1.0) : sinc, f.cos};
}

/// e^x and e^x - 1, with the interface of elementary.hpp; counted as two functions, like a sincos.
template <class T>
    requires(counts<T>)
Exponential<T> exponential(T x) {
    detail::operations.trig += 2;
    return {std::exp(x.value()), std::expm1(x.value())};
}

POLHODE_NAMESPACE_END

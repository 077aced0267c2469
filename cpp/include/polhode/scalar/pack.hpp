#pragma once

/// @file
/// A number type for several bodies at once: U registers of W doubles.
///
/// With two registers (U = 2) the processor computes one chain of operations during the latency of
/// the other; for the exact step this is the largest single gain in speed, with 16 registers as
/// well as with 32.  The type uses compiler vector extensions.  Operations that these lack (square
/// root, fused multiply-add) use intrinsics of the level, or else a loop over the lanes.  Every
/// operation gives the same bits as real.hpp at the same level.

#include "polhode/scalar/real.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define POLHODE_HAS_PACK 1

POLHODE_NAMESPACE_BEGIN

namespace detail {
template <int W>
struct vector_of {
    typedef double real __attribute__((vector_size(8 * W)));
    typedef std::int64_t bits __attribute__((vector_size(8 * W)));
    typedef std::uint64_t unsigned_bits __attribute__((vector_size(8 * W)));
};
template <int W>
using real_vector = typename vector_of<W>::real;
template <int W>
using bits_vector = typename vector_of<W>::bits;

template <int W>
POLHODE_INLINE real_vector<W> vector_sqrt(real_vector<W> x) {
#if defined(__AVX512F__)
    if constexpr (W == 8) return _mm512_maskz_sqrt_pd(0xff, x);  // plain form warns in gcc 12
#endif
#if defined(__AVX__)
    if constexpr (W == 4) return _mm256_sqrt_pd(x);
#endif
#if defined(__SSE2__)
    if constexpr (W == 2) return _mm_sqrt_pd(x);
#endif
    real_vector<W> r;
    for (int i = 0; i < W; ++i) r[i] = __builtin_sqrt(x[i]);
    return r;
}

template <int W>
POLHODE_INLINE real_vector<W> vector_fma(real_vector<W> a, real_vector<W> b, real_vector<W> c) {
#if defined(__AVX512F__)
    if constexpr (W == 8) return _mm512_fmadd_pd(a, b, c);
#endif
#if defined(__FMA__)
    if constexpr (W == 4) return _mm256_fmadd_pd(a, b, c);
    if constexpr (W == 2) return _mm_fmadd_pd(a, b, c);
#endif
#if defined(POLHODE_HAS_FMA)
    real_vector<W> r;
    for (int i = 0; i < W; ++i) r[i] = __builtin_fma(a[i], b[i], c[i]);
    return r;
#else
    return a * b + c;
#endif
}

// a < b ? a : b and a > b ? a : b in one instruction, with NaN and signed zeros as there.
template <int W>
POLHODE_INLINE real_vector<W> vector_min(real_vector<W> a, real_vector<W> b) {
#if defined(__AVX512F__)
    if constexpr (W == 8) return _mm512_maskz_min_pd(0xff, a, b);
#endif
#if defined(__AVX__)
    if constexpr (W == 4) return _mm256_min_pd(a, b);
#endif
#if defined(__SSE2__)
    if constexpr (W == 2) return _mm_min_pd(a, b);
#endif
    return a < b ? a : b;
}
template <int W>
POLHODE_INLINE real_vector<W> vector_max(real_vector<W> a, real_vector<W> b) {
#if defined(__AVX512F__)
    if constexpr (W == 8) return _mm512_maskz_max_pd(0xff, a, b);
#endif
#if defined(__AVX__)
    if constexpr (W == 4) return _mm256_max_pd(a, b);
#endif
#if defined(__SSE2__)
    if constexpr (W == 2) return _mm_max_pd(a, b);
#endif
    return a > b ? a : b;
}
}  // namespace detail

namespace detail {
/// The truth values of a register: all bits of a lane, or one bit where there are mask registers.
template <int W>
struct mask_of {
    using type = bits_vector<W>;
};
#if defined(__AVX512F__)
template <>
struct mask_of<8> {
    using type = __mmask8;
};
#endif
}  // namespace detail

template <int W, int U>
struct pack_mask {
    typename detail::mask_of<W>::type v[U];
};

template <int W, int U>
struct pack {
    detail::real_vector<W> v[U];

    pack() = default;
    POLHODE_INLINE pack(double x) {  // NOLINT(google-explicit-constructor): constants mix freely
        v[0] = x - detail::real_vector<W>{};
        if constexpr (U > 1) v[U - 1] = v[0];
        static_assert(U <= 2);
    }
    POLHODE_INLINE double lane(int i) const { return v[i / W][i % W]; }
    POLHODE_INLINE void set_lane(int i, double x) { v[i / W][i % W] = x; }
};

template <int W, int U>
struct scalar_traits<pack<W, U>> {
    using mask = pack_mask<W, U>;
    static constexpr int lanes = W * U;
    static constexpr double epsilon = 0x1p-52;
};

// The same operation for every register, without a loop: the compiler would unroll a loop only
// after it has decided which structures are in memory.
#define POLHODE_PACK_EACH(...)   \
    {                            \
        constexpr int u = 0;     \
        __VA_ARGS__;             \
    }                            \
    if constexpr (U > 1) {       \
        constexpr int u = U - 1; \
        __VA_ARGS__;             \
    }                            \
    static_assert(U <= 2)

// Where there are mask registers: ONE for registers of eight doubles, ALL for others.
#if defined(__AVX512F__)
#define POLHODE_PACK_MASK(ONE, ALL) \
    if constexpr (W == 8) {         \
        ONE;                        \
    } else {                        \
        ALL;                        \
    }
#else
#define POLHODE_PACK_MASK(ONE, ALL) ALL
#endif

// Each operator has three forms, so that either operand can be a plain double.
#define POLHODE_PACK_OPERATOR(RESULT, op, ...)                      \
    template <int W, int U>                                         \
    POLHODE_INLINE RESULT operator op(pack<W, U> a, pack<W, U> b) { \
        RESULT r;                                                   \
        POLHODE_PACK_EACH(__VA_ARGS__);                             \
        return r;                                                   \
    }                                                               \
    template <int W, int U>                                         \
    POLHODE_INLINE RESULT operator op(pack<W, U> a, double b) {     \
        return a op pack<W, U>(b);                                  \
    }                                                               \
    template <int W, int U>                                         \
    POLHODE_INLINE RESULT operator op(double a, pack<W, U> b) {     \
        return pack<W, U>(a) op b;                                  \
    }
#define POLHODE_COMPARE(op, predicate)                                        \
    POLHODE_PACK_MASK(r.v[u] = _mm512_cmp_pd_mask(a.v[u], b.v[u], predicate), \
                      r.v[u] = a.v[u] op b.v[u])
#define POLHODE_COMMA ,
POLHODE_PACK_OPERATOR(pack<W POLHODE_COMMA U>, +, r.v[u] = a.v[u] + b.v[u])
POLHODE_PACK_OPERATOR(pack<W POLHODE_COMMA U>, -, r.v[u] = a.v[u] - b.v[u])
POLHODE_PACK_OPERATOR(pack<W POLHODE_COMMA U>, *, r.v[u] = a.v[u] * b.v[u])
POLHODE_PACK_OPERATOR(pack<W POLHODE_COMMA U>, /, r.v[u] = a.v[u] / b.v[u])
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, <, POLHODE_COMPARE(<, _CMP_LT_OQ))
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, <=, POLHODE_COMPARE(<=, _CMP_LE_OQ))
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, >, POLHODE_COMPARE(>, _CMP_GT_OQ))
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, >=, POLHODE_COMPARE(>=, _CMP_GE_OQ))
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, ==, POLHODE_COMPARE(==, _CMP_EQ_OQ))
POLHODE_PACK_OPERATOR(pack_mask<W POLHODE_COMMA U>, !=, POLHODE_COMPARE(!=, _CMP_NEQ_UQ))
#undef POLHODE_PACK_OPERATOR
#undef POLHODE_COMPARE
#undef POLHODE_COMMA

template <int W, int U>
POLHODE_INLINE pack<W, U> operator-(pack<W, U> a) {
    pack<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = -a.v[u]);
    return r;
}
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> operator&(pack_mask<W, U> a, pack_mask<W, U> b) {
    pack_mask<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = a.v[u] & b.v[u]);
    return r;
}
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> operator|(pack_mask<W, U> a, pack_mask<W, U> b) {
    pack_mask<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = a.v[u] | b.v[u]);
    return r;
}
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> operator!(pack_mask<W, U> a) {
    pack_mask<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = static_cast<typename detail::mask_of<W>::type>(~a.v[u]));
    return r;
}

namespace detail {
template <int W>
POLHODE_INLINE bool any_lane(typename mask_of<W>::type m) {
#if defined(__AVX512F__)
    if constexpr (W == 8) return m != 0;
#endif
#if defined(__AVX__)
    if constexpr (W == 4) return _mm256_movemask_pd((__m256d)m) != 0;
#endif
#if defined(__SSE2__)
    if constexpr (W == 2) return _mm_movemask_pd((__m128d)m) != 0;
#endif
    if constexpr (W == 2 || W == 4) {
        std::int64_t r = 0;
        for (int i = 0; i < W; ++i) r |= m[i];
        return r != 0;
    }
}
}  // namespace detail

template <int W, int U>
POLHODE_INLINE bool any(pack_mask<W, U> m) {
    using Mask = typename detail::mask_of<W>::type;
    if constexpr (U > 1) return detail::any_lane<W>(static_cast<Mask>(m.v[0] | m.v[U - 1]));
    return detail::any_lane<W>(m.v[0]);
}
template <int W, int U>
POLHODE_INLINE bool all(pack_mask<W, U> m) {
    return !any(!m);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> select(pack_mask<W, U> m, pack<W, U> a, pack<W, U> b) {
    pack<W, U> r;
    POLHODE_PACK_EACH(POLHODE_PACK_MASK(r.v[u] = _mm512_mask_blend_pd(m.v[u], b.v[u], a.v[u]),
                                        r.v[u] = m.v[u] ? a.v[u] : b.v[u]));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> select(pack_mask<W, U> m, pack<W, U> a, double b) {
    return select(m, a, pack<W, U>(b));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> select(pack_mask<W, U> m, double a, pack<W, U> b) {
    return select(m, pack<W, U>(a), b);
}

template <int W, int U>
POLHODE_INLINE pack<W, U> sqrt(pack<W, U> x) {
    pack<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = detail::vector_sqrt<W>(x.v[u]));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(pack<W, U> a, pack<W, U> b, pack<W, U> c) {
    pack<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = detail::vector_fma<W>(a.v[u], b.v[u], c.v[u]));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(pack<W, U> a, pack<W, U> b, double c) {
    return fma(a, b, pack<W, U>(c));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(double a, pack<W, U> b, pack<W, U> c) {
    return fma(pack<W, U>(a), b, c);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(pack<W, U> a, double b, pack<W, U> c) {
    return fma(a, pack<W, U>(b), c);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(pack<W, U> a, double b, double c) {
    return fma(a, pack<W, U>(b), pack<W, U>(c));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> fma(double a, pack<W, U> b, double c) {
    return fma(pack<W, U>(a), b, pack<W, U>(c));
}

namespace detail {
// One function of bits on every register: BODY sees `x`, the bits of a register.
#define POLHODE_PACK_BITS(a, BODY)                                     \
    pack<W, U> r;                                                      \
    POLHODE_PACK_EACH(const auto x = (detail::bits_vector<W>)(a).v[u]; \
                      r.v[u] = (detail::real_vector<W>)(BODY));        \
    return r
inline constexpr std::int64_t sign_bit = INT64_MIN;
inline constexpr std::int64_t exponent_bits = 0x7ff0000000000000;
}  // namespace detail

template <int W, int U>
POLHODE_INLINE pack<W, U> abs(pack<W, U> a) {
    POLHODE_PACK_BITS(a, x & ~detail::sign_bit);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> copysign(pack<W, U> a, pack<W, U> sign) {
    POLHODE_PACK_BITS(
        a, (x & ~detail::sign_bit) | ((detail::bits_vector<W>)sign.v[u] & detail::sign_bit));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> copysign(double a, pack<W, U> sign) {
    return copysign(pack<W, U>(a), sign);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> flip_sign(pack<W, U> a, pack<W, U> sign) {
    POLHODE_PACK_BITS(a, x ^ ((detail::bits_vector<W>)sign.v[u] & detail::sign_bit));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> flip_where(pack_mask<W, U> m, pack<W, U> a) {
    pack<W, U> r;
    POLHODE_PACK_EACH(
        POLHODE_PACK_MASK(r.v[u] = _mm512_mask_blend_pd(m.v[u], a.v[u], -a.v[u]),
                          r.v[u] = (detail::real_vector<W>)((detail::bits_vector<W>)a.v[u] ^
                                                            (m.v[u] & detail::sign_bit))));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> min(pack<W, U> a, pack<W, U> b) {
    pack<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = detail::vector_min<W>(a.v[u], b.v[u]));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> max(pack<W, U> a, pack<W, U> b) {
    pack<W, U> r;
    POLHODE_PACK_EACH(r.v[u] = detail::vector_max<W>(a.v[u], b.v[u]));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> min(pack<W, U> a, double b) {
    return min(a, pack<W, U>(b));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> max(pack<W, U> a, double b) {
    return max(a, pack<W, U>(b));
}
template <int W, int U>
POLHODE_INLINE pack<W, U> rint(pack<W, U> a) {
    return (a + 0x1.8p52) - 0x1.8p52;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> power_of_two_below(pack<W, U> a) {
    POLHODE_PACK_BITS(a, x & detail::exponent_bits);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> power_of_two_reciprocal(pack<W, U> a) {
    POLHODE_PACK_BITS(a, 0x7fe0000000000000 - x);
}
template <int W, int U>
POLHODE_INLINE pack<W, U> exponent(pack<W, U> a) {
    using unsigned_bits = typename detail::vector_of<W>::unsigned_bits;
    pack<W, U> r;
    POLHODE_PACK_EACH(const auto x = (unsigned_bits)a.v[u] & 0x7ff0000000000000ULL;
                      r.v[u] = (detail::real_vector<W>)((x >> 52) | 0x4330000000000000ULL) -
                               (0x1p52 + 1023));
    return r;
}
template <int W, int U>
POLHODE_INLINE pack<W, U> power_of_two(pack<W, U> n) {
    POLHODE_PACK_BITS(n + (0x1.8p52 + 1023), x << 52);
}
namespace detail {
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> has_bit(pack<W, U> n, std::int64_t bit) {
    const pack<W, U> shifted = n + 0x1.8p52;
    pack_mask<W, U> r;
    POLHODE_PACK_EACH(POLHODE_PACK_MASK(
        r.v[u] = _mm512_test_epi64_mask((__m512i)shifted.v[u], _mm512_set1_epi64(bit)),
        r.v[u] = ((bits_vector<W>)shifted.v[u] & bit) != 0));
    return r;
}
}  // namespace detail
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> is_odd(pack<W, U> n) {
    return detail::has_bit(n, 1);
}
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> has_bit_1(pack<W, U> n) {
    return detail::has_bit(n, 2);
}
template <int W, int U>
POLHODE_INLINE pack_mask<W, U> is_nan(pack<W, U> a) {
    return a != a;
}
#undef POLHODE_PACK_BITS
#undef POLHODE_PACK_EACH
#undef POLHODE_PACK_MASK

POLHODE_NAMESPACE_END
#endif  // vector extensions

POLHODE_NAMESPACE_BEGIN

/// The number type of batches at this level.
#if defined(POLHODE_SCALAR_BATCH) || !defined(POLHODE_HAS_PACK)
using batch_real = double;
#elif defined(__AVX512F__)
using batch_real = pack<8, 2>;
#elif defined(__AVX__)
using batch_real = pack<4, 2>;
#else
using batch_real = pack<2, 2>;
#endif

POLHODE_NAMESPACE_END

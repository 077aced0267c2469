#pragma once

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

POLHODE_NAMESPACE_BEGIN()

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
inline constexpr std::int64_t sign_bit = INT64_MIN;
inline constexpr std::int64_t exponent_bits = 0x7ff0000000000000;

// The result for registers of eight, four and two doubles at levels that have an instruction.
#if defined(__AVX512F__)
#define POLHODE_OF_8(...) \
    if constexpr (W == 8) return __VA_ARGS__
#else
#define POLHODE_OF_8(...)
#endif
#if defined(__AVX__)
#define POLHODE_OF_4(...) \
    if constexpr (W == 4) return __VA_ARGS__
#else
#define POLHODE_OF_4(...)
#endif
#if defined(__SSE2__)
#define POLHODE_OF_2(...) \
    if constexpr (W == 2) return __VA_ARGS__
#else
#define POLHODE_OF_2(...)
#endif

template <int W>
POLHODE_INLINE real_vector<W> vector_sqrt(real_vector<W> x) {
    POLHODE_OF_8(_mm512_maskz_sqrt_pd(0xff, x));  // plain form warns in gcc 12
    POLHODE_OF_4(_mm256_sqrt_pd(x));
    POLHODE_OF_2(_mm_sqrt_pd(x));
    real_vector<W> r;
    for (int i = 0; i < W; ++i) r[i] = __builtin_sqrt(x[i]);
    return r;
}

template <int W>
POLHODE_INLINE real_vector<W> vector_fma(real_vector<W> a, real_vector<W> b, real_vector<W> c) {
    POLHODE_OF_8(_mm512_fmadd_pd(a, b, c));
#if defined(__FMA__)
    POLHODE_OF_4(_mm256_fmadd_pd(a, b, c));
    POLHODE_OF_2(_mm_fmadd_pd(a, b, c));
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
    POLHODE_OF_8(_mm512_maskz_min_pd(0xff, a, b));
    POLHODE_OF_4(_mm256_min_pd(a, b));
    POLHODE_OF_2(_mm_min_pd(a, b));
    return a < b ? a : b;
}
template <int W>
POLHODE_INLINE real_vector<W> vector_max(real_vector<W> a, real_vector<W> b) {
    POLHODE_OF_8(_mm512_maskz_max_pd(0xff, a, b));
    POLHODE_OF_4(_mm256_max_pd(a, b));
    POLHODE_OF_2(_mm_max_pd(a, b));
    return a > b ? a : b;
}

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

/// A function of packs or masks, RESULT r with statements for every register u.
#define POLHODE_PACK_FUNCTION(RESULT, name, arguments, ...) \
    template <int W, int U>                                 \
    POLHODE_INLINE RESULT<W, U> name arguments {            \
        RESULT<W, U> r;                                     \
        POLHODE_PACK_EACH(__VA_ARGS__);                     \
        return r;                                           \
    }

/// A function by another: the value in one expression, of packs where an argument is a double.
#define POLHODE_PACK_BY(RESULT, name, arguments, ...) \
    template <int W, int U>                           \
    POLHODE_INLINE RESULT<W, U> name arguments {      \
        return __VA_ARGS__;                           \
    }

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
#define POLHODE_PACK_OPERATOR(RESULT, op, ...)                                            \
    POLHODE_PACK_FUNCTION(RESULT, operator op, (pack<W, U> a, pack<W, U> b), __VA_ARGS__) \
    POLHODE_PACK_BY(RESULT, operator op, (pack<W, U> a, double b), a op pack<W, U>(b))    \
    POLHODE_PACK_BY(RESULT, operator op, (double a, pack<W, U> b), pack<W, U>(a) op b)
#define POLHODE_COMPARE(op, predicate)                                        \
    POLHODE_PACK_MASK(r.v[u] = _mm512_cmp_pd_mask(a.v[u], b.v[u], predicate), \
                      r.v[u] = a.v[u] op b.v[u])
POLHODE_PACK_OPERATOR(pack, +, r.v[u] = a.v[u] + b.v[u])
POLHODE_PACK_OPERATOR(pack, -, r.v[u] = a.v[u] - b.v[u])
POLHODE_PACK_OPERATOR(pack, *, r.v[u] = a.v[u] * b.v[u])
POLHODE_PACK_OPERATOR(pack, /, r.v[u] = a.v[u] / b.v[u])
POLHODE_PACK_OPERATOR(pack_mask, <, POLHODE_COMPARE(<, _CMP_LT_OQ))
POLHODE_PACK_OPERATOR(pack_mask, <=, POLHODE_COMPARE(<=, _CMP_LE_OQ))
POLHODE_PACK_OPERATOR(pack_mask, >, POLHODE_COMPARE(>, _CMP_GT_OQ))
POLHODE_PACK_OPERATOR(pack_mask, >=, POLHODE_COMPARE(>=, _CMP_GE_OQ))
POLHODE_PACK_OPERATOR(pack_mask, ==, POLHODE_COMPARE(==, _CMP_EQ_OQ))
POLHODE_PACK_OPERATOR(pack_mask, !=, POLHODE_COMPARE(!=, _CMP_NEQ_UQ))
#undef POLHODE_PACK_OPERATOR
#undef POLHODE_COMPARE

// clang-format off
POLHODE_PACK_FUNCTION(pack, operator-, (pack<W, U> a), r.v[u] = -a.v[u])
POLHODE_PACK_FUNCTION(pack_mask, operator&, (pack_mask<W, U> a, pack_mask<W, U> b),
    r.v[u] = a.v[u] & b.v[u])
POLHODE_PACK_FUNCTION(pack_mask, operator|, (pack_mask<W, U> a, pack_mask<W, U> b),
    r.v[u] = a.v[u] | b.v[u])
POLHODE_PACK_FUNCTION(pack_mask, operator!, (pack_mask<W, U> a),
    r.v[u] = static_cast<typename detail::mask_of<W>::type>(~a.v[u]))

namespace detail {
template <int W>
POLHODE_INLINE bool any_lane(typename mask_of<W>::type m) {
    POLHODE_OF_8(m != 0);
    POLHODE_OF_4(_mm256_movemask_pd((__m256d)m) != 0);
    POLHODE_OF_2(_mm_movemask_pd((__m128d)m) != 0);
    if constexpr (W == 2 || W == 4) {
        std::int64_t r = 0;
        for (int i = 0; i < W; ++i) r |= m[i];
        return r != 0;
    }
}
#undef POLHODE_OF_8
#undef POLHODE_OF_4
#undef POLHODE_OF_2
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
POLHODE_PACK_FUNCTION(pack, select, (pack_mask<W, U> m, pack<W, U> a, pack<W, U> b),
    POLHODE_PACK_MASK(r.v[u] = _mm512_mask_blend_pd(m.v[u], b.v[u], a.v[u]),
                      r.v[u] = m.v[u] ? a.v[u] : b.v[u]))
POLHODE_PACK_BY(pack, select, (pack_mask<W, U> m, pack<W, U> a, double b),
    select(m, a, pack<W, U>(b)))
POLHODE_PACK_BY(pack, select, (pack_mask<W, U> m, double a, pack<W, U> b),
    select(m, pack<W, U>(a), b))

POLHODE_PACK_FUNCTION(pack, sqrt, (pack<W, U> x), r.v[u] = detail::vector_sqrt<W>(x.v[u]))
POLHODE_PACK_FUNCTION(pack, fma, (pack<W, U> a, pack<W, U> b, pack<W, U> c),
    r.v[u] = detail::vector_fma<W>(a.v[u], b.v[u], c.v[u]))
POLHODE_PACK_BY(pack, fma, (pack<W, U> a, pack<W, U> b, double c), fma(a, b, pack<W, U>(c)))
POLHODE_PACK_BY(pack, fma, (double a, pack<W, U> b, pack<W, U> c), fma(pack<W, U>(a), b, c))
POLHODE_PACK_BY(pack, fma, (pack<W, U> a, double b, pack<W, U> c), fma(a, pack<W, U>(b), c))
POLHODE_PACK_BY(pack, fma, (pack<W, U> a, double b, double c), fma(a, pack<W, U>(b), pack<W, U>(c)))
POLHODE_PACK_BY(pack, fma, (double a, pack<W, U> b, double c), fma(pack<W, U>(a), b, pack<W, U>(c)))

/// A function of bits: BODY sees `x`, the bits of a register of A.
#define POLHODE_PACK_BITS(name, arguments, A, ...)                                                \
    POLHODE_PACK_FUNCTION(pack, name, arguments, const auto x = (detail::bits_vector<W>)(A).v[u]; \
                          r.v[u] = (detail::real_vector<W>)(__VA_ARGS__))

POLHODE_PACK_BITS(abs, (pack<W, U> a), a, x & ~detail::sign_bit)
POLHODE_PACK_BITS(copysign, (pack<W, U> a, pack<W, U> sign),
    a, (x & ~detail::sign_bit) | ((detail::bits_vector<W>)sign.v[u] & detail::sign_bit))
POLHODE_PACK_BY(pack, copysign, (double a, pack<W, U> sign), copysign(pack<W, U>(a), sign))
POLHODE_PACK_BITS(flip_sign, (pack<W, U> a, pack<W, U> sign),
    a, x ^ ((detail::bits_vector<W>)sign.v[u] & detail::sign_bit))
POLHODE_PACK_FUNCTION(pack, flip_where, (pack_mask<W, U> m, pack<W, U> a),
    POLHODE_PACK_MASK(r.v[u] = _mm512_mask_blend_pd(m.v[u], a.v[u], -a.v[u]),
                      r.v[u] = (detail::real_vector<W>)((detail::bits_vector<W>)a.v[u] ^
                                                        (m.v[u] & detail::sign_bit))))
POLHODE_PACK_FUNCTION(pack, min, (pack<W, U> a, pack<W, U> b),
    r.v[u] = detail::vector_min<W>(a.v[u], b.v[u]))
POLHODE_PACK_FUNCTION(pack, max, (pack<W, U> a, pack<W, U> b),
    r.v[u] = detail::vector_max<W>(a.v[u], b.v[u]))
POLHODE_PACK_BY(pack, min, (pack<W, U> a, double b), min(a, pack<W, U>(b)))
POLHODE_PACK_BY(pack, max, (pack<W, U> a, double b), max(a, pack<W, U>(b)))
POLHODE_PACK_BY(pack, rint, (pack<W, U> a), (a + 0x1.8p52) - 0x1.8p52)
POLHODE_PACK_BITS(power_of_two_below, (pack<W, U> a), a, x & detail::exponent_bits)
POLHODE_PACK_BITS(power_of_two_reciprocal, (pack<W, U> a), a, 0x7fe0000000000000 - x)
POLHODE_PACK_FUNCTION(pack, exponent, (pack<W, U> a),
    const auto x = (typename detail::vector_of<W>::unsigned_bits)a.v[u] & 0x7ff0000000000000ULL;
    r.v[u] = (detail::real_vector<W>)((x >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023))
POLHODE_PACK_BITS(power_of_two, (pack<W, U> n), n + (0x1.8p52 + 1023), x << 52)
namespace detail {
POLHODE_PACK_FUNCTION(pack_mask, has_bit, (pack<W, U> shifted, std::int64_t bit),
    POLHODE_PACK_MASK(
        r.v[u] = _mm512_test_epi64_mask((__m512i)shifted.v[u], _mm512_set1_epi64(bit)),
        r.v[u] = ((bits_vector<W>)shifted.v[u] & bit) != 0))
}  // namespace detail
POLHODE_PACK_BY(pack_mask, is_odd, (pack<W, U> n), detail::has_bit(n + 0x1.8p52, 1))
POLHODE_PACK_BY(pack_mask, has_bit_1, (pack<W, U> n), detail::has_bit(n + 0x1.8p52, 2))
POLHODE_PACK_BY(pack_mask, is_nan, (pack<W, U> a), a != a)
// clang-format on
#undef POLHODE_PACK_BITS
#undef POLHODE_PACK_BY
#undef POLHODE_PACK_FUNCTION
#undef POLHODE_PACK_EACH
#undef POLHODE_PACK_MASK

/// The number type of batches at this level.
#if defined(POLHODE_SCALAR_BATCH)
using batch_real = double;
#elif defined(__AVX512F__)
using batch_real = pack<8, 2>;
#elif defined(__AVX__)
using batch_real = pack<4, 2>;
#else
using batch_real = pack<2, 2>;
#endif

POLHODE_NAMESPACE_END

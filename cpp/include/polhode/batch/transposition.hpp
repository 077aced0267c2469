#pragma once

/// Bodies one after another, of 3, 4 or 9 numbers each <-> one vector for each number.

#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN(batch::detail)

using polhode::detail::real_vector;

template <int W>
POLHODE_INLINE real_vector<W> load_vector(const double* p) {
    real_vector<W> r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
template <int W>
POLHODE_INLINE void store_vector(double* p, real_vector<W> r) {
    __builtin_memcpy(p, &r, sizeof r);
}

#if defined(__clang__) || __GNUC__ >= 12
#define POLHODE_SHUFFLE __builtin_shufflevector
#else
/// __builtin_shufflevector for GCC 11.
template <int... Index, class V>
POLHODE_INLINE real_vector<sizeof...(Index)> shuffled(V a, V b) {
    constexpr int width = sizeof(V) / sizeof(double);
    return real_vector<sizeof...(Index)>{(Index < width ? a[Index % width] : b[Index % width])...};
}
#define POLHODE_SHUFFLE(a, b, ...) shuffled<__VA_ARGS__>(a, b)
#endif

/// Two bodies one after another -> their components, and back; shuffles would not be faster.
template <int C>
POLHODE_INLINE void split(const double* p, real_vector<2> (&c)[C]) {
    for (int k = 0; k < C; ++k) c[k] = real_vector<2>{p[k], p[C + k]};
}
template <int C>
POLHODE_INLINE void join(double* p, const real_vector<2> (&c)[C]) {
    for (int k = 0; k < C; ++k) p[k] = c[k][0], p[C + k] = c[k][1];
}

/// Eight or four bodies of three doubles.
POLHODE_INLINE void split(const double* p, real_vector<8> (&c)[3]) {
    const auto a = load_vector<8>(p), b = load_vector<8>(p + 8), d = load_vector<8>(p + 16);
    const auto x = POLHODE_SHUFFLE(a, b, 0, 3, 6, 9, 12, 15, 0, 0);
    const auto y = POLHODE_SHUFFLE(a, b, 1, 4, 7, 10, 13, 0, 0, 0);
    const auto z = POLHODE_SHUFFLE(a, b, 2, 5, 8, 11, 14, 0, 0, 0);
    c[0] = POLHODE_SHUFFLE(x, d, 0, 1, 2, 3, 4, 5, 10, 13);
    c[1] = POLHODE_SHUFFLE(y, d, 0, 1, 2, 3, 4, 8, 11, 14);
    c[2] = POLHODE_SHUFFLE(z, d, 0, 1, 2, 3, 4, 9, 12, 15);
}
POLHODE_INLINE void join(double* p, const real_vector<8> (&c)[3]) {
    const auto a = POLHODE_SHUFFLE(c[0], c[1], 0, 8, 0, 1, 9, 0, 2, 10);
    const auto b = POLHODE_SHUFFLE(c[0], c[1], 0, 3, 11, 0, 4, 12, 0, 5);
    const auto d = POLHODE_SHUFFLE(c[0], c[1], 13, 0, 6, 14, 0, 7, 15, 0);
    store_vector<8>(p, POLHODE_SHUFFLE(a, c[2], 0, 1, 8, 3, 4, 9, 6, 7));
    store_vector<8>(p + 8, POLHODE_SHUFFLE(b, c[2], 10, 1, 2, 11, 4, 5, 12, 7));
    store_vector<8>(p + 16, POLHODE_SHUFFLE(d, c[2], 0, 13, 2, 3, 14, 5, 6, 15));
}
/// Two pairs of doubles, one in each half of a register (a load of half a register needs no
/// shuffle).
POLHODE_INLINE real_vector<4> load_halves(const double* low, const double* high) {
    return POLHODE_SHUFFLE(load_vector<2>(low), load_vector<2>(high), 0, 1, 2, 3);
}
POLHODE_INLINE void store_halves(double* low, double* high, real_vector<4> r) {
    store_vector<2>(low, POLHODE_SHUFFLE(r, r, 0, 1));
    store_vector<2>(high, POLHODE_SHUFFLE(r, r, 2, 3));
}
POLHODE_INLINE void split(const double* p, real_vector<4> (&c)[3]) {
    const auto a = load_halves(p, p + 6);       // x0 y0 x2 y2
    const auto b = load_halves(p + 2, p + 8);   // z0 x1 z2 x3
    const auto d = load_halves(p + 4, p + 10);  // y1 z1 y3 z3
    c[0] = POLHODE_SHUFFLE(a, b, 0, 5, 2, 7);
    c[1] = POLHODE_SHUFFLE(a, d, 1, 4, 3, 6);
    c[2] = POLHODE_SHUFFLE(b, d, 0, 5, 2, 7);
}
POLHODE_INLINE void join(double* p, const real_vector<4> (&c)[3]) {
    store_halves(p, p + 6, POLHODE_SHUFFLE(c[0], c[1], 0, 4, 2, 6));
    store_halves(p + 2, p + 8, POLHODE_SHUFFLE(c[2], c[0], 0, 5, 2, 7));
    store_halves(p + 4, p + 10, POLHODE_SHUFFLE(c[1], c[2], 1, 5, 3, 7));
}

/// Eight or four bodies of four doubles: a 4 by 4 transposition of pairs, its own inverse up to the
/// order of the registers.
POLHODE_INLINE void split(const double* p, real_vector<8> (&c)[4]) {
    const auto a = load_vector<8>(p), b = load_vector<8>(p + 8);
    const auto d = load_vector<8>(p + 16), e = load_vector<8>(p + 24);
    const auto ab01 = POLHODE_SHUFFLE(a, b, 0, 4, 8, 12, 1, 5, 9, 13);
    const auto ab23 = POLHODE_SHUFFLE(a, b, 2, 6, 10, 14, 3, 7, 11, 15);
    const auto de01 = POLHODE_SHUFFLE(d, e, 0, 4, 8, 12, 1, 5, 9, 13);
    const auto de23 = POLHODE_SHUFFLE(d, e, 2, 6, 10, 14, 3, 7, 11, 15);
    c[0] = POLHODE_SHUFFLE(ab01, de01, 0, 1, 2, 3, 8, 9, 10, 11);
    c[1] = POLHODE_SHUFFLE(ab01, de01, 4, 5, 6, 7, 12, 13, 14, 15);
    c[2] = POLHODE_SHUFFLE(ab23, de23, 0, 1, 2, 3, 8, 9, 10, 11);
    c[3] = POLHODE_SHUFFLE(ab23, de23, 4, 5, 6, 7, 12, 13, 14, 15);
}
POLHODE_INLINE void join(double* p, const real_vector<8> (&c)[4]) {
    const auto ab01 = POLHODE_SHUFFLE(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11);
    const auto ab23 = POLHODE_SHUFFLE(c[2], c[3], 0, 8, 1, 9, 2, 10, 3, 11);
    const auto de01 = POLHODE_SHUFFLE(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15);
    const auto de23 = POLHODE_SHUFFLE(c[2], c[3], 4, 12, 5, 13, 6, 14, 7, 15);
    store_vector<8>(p, POLHODE_SHUFFLE(ab01, ab23, 0, 1, 8, 9, 2, 3, 10, 11));
    store_vector<8>(p + 8, POLHODE_SHUFFLE(ab01, ab23, 4, 5, 12, 13, 6, 7, 14, 15));
    store_vector<8>(p + 16, POLHODE_SHUFFLE(de01, de23, 0, 1, 8, 9, 2, 3, 10, 11));
    store_vector<8>(p + 24, POLHODE_SHUFFLE(de01, de23, 4, 5, 12, 13, 6, 7, 14, 15));
}
POLHODE_INLINE void split(const double* p, real_vector<4> (&c)[4]) {
    const auto a = load_halves(p, p + 8);       // w0 x0 w2 x2
    const auto b = load_halves(p + 4, p + 12);  // w1 x1 w3 x3
    const auto d = load_halves(p + 2, p + 10);  // y0 z0 y2 z2
    const auto e = load_halves(p + 6, p + 14);  // y1 z1 y3 z3
    c[0] = POLHODE_SHUFFLE(a, b, 0, 4, 2, 6);
    c[1] = POLHODE_SHUFFLE(a, b, 1, 5, 3, 7);
    c[2] = POLHODE_SHUFFLE(d, e, 0, 4, 2, 6);
    c[3] = POLHODE_SHUFFLE(d, e, 1, 5, 3, 7);
}
POLHODE_INLINE void join(double* p, const real_vector<4> (&c)[4]) {
    store_halves(p, p + 8, POLHODE_SHUFFLE(c[0], c[1], 0, 4, 2, 6));
    store_halves(p + 4, p + 12, POLHODE_SHUFFLE(c[0], c[1], 1, 5, 3, 7));
    store_halves(p + 2, p + 10, POLHODE_SHUFFLE(c[2], c[3], 0, 4, 2, 6));
    store_halves(p + 6, p + 14, POLHODE_SHUFFLE(c[2], c[3], 1, 5, 3, 7));
}
#undef POLHODE_SHUFFLE

/// W matrices of nine doubles one after another -> nine components, and back.  The rows of the
/// matrices are 3 W vectors.  They are split into columns, and then each column is split into rows.
///
/// @param columns  temporary memory, provided by the caller.  For local arrays, GCC 12 at -O2 uses
///                 the same memory in two inlined calls, and reads the first array after it has
///                 written the second
template <int W>
POLHODE_INLINE void split9(const double* p, real_vector<W> (&c)[9], double (&columns)[3][3 * W]) {
    for (int g = 0; g < 3; ++g) {
        real_vector<W> part[3];
        split(p + 3 * W * g, part);
        for (int k = 0; k < 3; ++k) store_vector<W>(columns[k] + W * g, part[k]);
    }
    for (int k = 0; k < 3; ++k) {
        real_vector<W> rows[3];
        split(columns[k], rows);
        for (int j = 0; j < 3; ++j) c[3 * j + k] = rows[j];
    }
}
template <int W>
POLHODE_INLINE void join9(double* p, const real_vector<W> (&c)[9], double (&columns)[3][3 * W]) {
    for (int k = 0; k < 3; ++k) {
        const real_vector<W> rows[3] = {c[k], c[3 + k], c[6 + k]};
        join(columns[k], rows);
    }
    for (int g = 0; g < 3; ++g) {
        real_vector<W> part[3];
        for (int k = 0; k < 3; ++k) {
            const double* column = columns[k] + W * g;
            // join stores by halves: a wider load would have to wait for both.
            if constexpr (W == 4) part[k] = load_halves(column, column + 2);
            if constexpr (W != 4) part[k] = load_vector<W>(column);
        }
        join(p + 3 * W * g, part);
    }
}

POLHODE_NAMESPACE_END

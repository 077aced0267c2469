#pragma once

/// @file
/// Arrays of bodies <-> packs of bodies.  No numerics.

#include "polhode/batch_arguments.hpp"
#include "polhode/energy_correction.hpp"
#include "polhode/inertia.hpp"
#include "polhode/mat3.hpp"
#include "polhode/momentum_unit.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/pack.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// Vectors wider than the registers never cross a call: every function of them is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

POLHODE_NAMESPACE_BEGIN
namespace batch {

/// Offset of component k of C (3: vector, 4: quaternion, 9: matrix, row by row).
template <int C>
POLHODE_INLINE std::ptrdiff_t offset(std::ptrdiff_t component, std::ptrdiff_t row, int k) {
    if constexpr (C == 9) return (k / 3) * row + (k % 3) * component;
    return k * component;
}

/// Components of bodies i ... i + count - 1, one body a lane; lanes past them repeat the last body.
template <int C>
POLHODE_INLINE void load(const View& v, std::ptrdiff_t i, int, double (&out)[C]) {
    const double* p = v.data + i * v.body;
    for (int k = 0; k < C; ++k) out[k] = p[offset<C>(v.component, v.row, k)];
}
template <int C>
POLHODE_INLINE void store(const MutableView& v, std::ptrdiff_t i, int, const double (&in)[C]) {
    double* p = v.data + i * v.body;
    for (int k = 0; k < C; ++k) p[offset<C>(v.component, v.row, k)] = in[k];
}

#if defined(POLHODE_HAS_PACK)

namespace detail {

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

#define POLHODE_SHUFFLE __builtin_shufflevector

/// W bodies of three doubles one after another -> three components, and back.
POLHODE_INLINE void split3(const double* p, real_vector<8> (&c)[3]) {
    const auto a = load_vector<8>(p), b = load_vector<8>(p + 8), d = load_vector<8>(p + 16);
    const auto x = POLHODE_SHUFFLE(a, b, 0, 3, 6, 9, 12, 15, 0, 0);
    const auto y = POLHODE_SHUFFLE(a, b, 1, 4, 7, 10, 13, 0, 0, 0);
    const auto z = POLHODE_SHUFFLE(a, b, 2, 5, 8, 11, 14, 0, 0, 0);
    c[0] = POLHODE_SHUFFLE(x, d, 0, 1, 2, 3, 4, 5, 10, 13);
    c[1] = POLHODE_SHUFFLE(y, d, 0, 1, 2, 3, 4, 8, 11, 14);
    c[2] = POLHODE_SHUFFLE(z, d, 0, 1, 2, 3, 4, 9, 12, 15);
}
POLHODE_INLINE void join3(double* p, const real_vector<8> (&c)[3]) {
    const auto a = POLHODE_SHUFFLE(c[0], c[1], 0, 8, 0, 1, 9, 0, 2, 10);
    const auto b = POLHODE_SHUFFLE(c[0], c[1], 0, 3, 11, 0, 4, 12, 0, 5);
    const auto d = POLHODE_SHUFFLE(c[0], c[1], 13, 0, 6, 14, 0, 7, 15, 0);
    store_vector<8>(p, POLHODE_SHUFFLE(a, c[2], 0, 1, 8, 3, 4, 9, 6, 7));
    store_vector<8>(p + 8, POLHODE_SHUFFLE(b, c[2], 10, 1, 2, 11, 4, 5, 12, 7));
    store_vector<8>(p + 16, POLHODE_SHUFFLE(d, c[2], 0, 13, 2, 3, 14, 5, 6, 15));
}
/// Two pairs of doubles, one in each half of a register (a load of half a register is free of
/// shuffles).
POLHODE_INLINE real_vector<4> load_halves(const double* low, const double* high) {
    return POLHODE_SHUFFLE(load_vector<2>(low), load_vector<2>(high), 0, 1, 2, 3);
}
POLHODE_INLINE void store_halves(double* low, double* high, real_vector<4> r) {
    store_vector<2>(low, POLHODE_SHUFFLE(r, r, 0, 1));
    store_vector<2>(high, POLHODE_SHUFFLE(r, r, 2, 3));
}
POLHODE_INLINE void split3(const double* p, real_vector<4> (&c)[3]) {
    const auto a = load_halves(p, p + 6);       // x0 y0 x2 y2
    const auto b = load_halves(p + 2, p + 8);   // z0 x1 z2 x3
    const auto d = load_halves(p + 4, p + 10);  // y1 z1 y3 z3
    c[0] = POLHODE_SHUFFLE(a, b, 0, 5, 2, 7);
    c[1] = POLHODE_SHUFFLE(a, d, 1, 4, 3, 6);
    c[2] = POLHODE_SHUFFLE(b, d, 0, 5, 2, 7);
}
POLHODE_INLINE void join3(double* p, const real_vector<4> (&c)[3]) {
    store_halves(p, p + 6, POLHODE_SHUFFLE(c[0], c[1], 0, 4, 2, 6));
    store_halves(p + 2, p + 8, POLHODE_SHUFFLE(c[2], c[0], 0, 5, 2, 7));
    store_halves(p + 4, p + 10, POLHODE_SHUFFLE(c[1], c[2], 1, 5, 3, 7));
}
POLHODE_INLINE void split3(const double* p, real_vector<2> (&c)[3]) {
    const auto a = load_vector<2>(p), b = load_vector<2>(p + 2), d = load_vector<2>(p + 4);
    c[0] = POLHODE_SHUFFLE(a, b, 0, 3);
    c[1] = POLHODE_SHUFFLE(a, d, 1, 2);
    c[2] = POLHODE_SHUFFLE(b, d, 0, 3);
}
POLHODE_INLINE void join3(double* p, const real_vector<2> (&c)[3]) {
    store_vector<2>(p, POLHODE_SHUFFLE(c[0], c[1], 0, 2));
    store_vector<2>(p + 2, POLHODE_SHUFFLE(c[2], c[0], 0, 3));
    store_vector<2>(p + 4, POLHODE_SHUFFLE(c[1], c[2], 1, 3));
}

/// W bodies of four doubles one after another -> four components, and back: a 4 by 4 transposition
/// of pairs, its own inverse up to the order of the registers.
POLHODE_INLINE void split4(const double* p, real_vector<8> (&c)[4]) {
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
POLHODE_INLINE void join4(double* p, const real_vector<8> (&c)[4]) {
    const auto ab01 = POLHODE_SHUFFLE(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11);
    const auto ab23 = POLHODE_SHUFFLE(c[2], c[3], 0, 8, 1, 9, 2, 10, 3, 11);
    const auto de01 = POLHODE_SHUFFLE(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15);
    const auto de23 = POLHODE_SHUFFLE(c[2], c[3], 4, 12, 5, 13, 6, 14, 7, 15);
    store_vector<8>(p, POLHODE_SHUFFLE(ab01, ab23, 0, 1, 8, 9, 2, 3, 10, 11));
    store_vector<8>(p + 8, POLHODE_SHUFFLE(ab01, ab23, 4, 5, 12, 13, 6, 7, 14, 15));
    store_vector<8>(p + 16, POLHODE_SHUFFLE(de01, de23, 0, 1, 8, 9, 2, 3, 10, 11));
    store_vector<8>(p + 24, POLHODE_SHUFFLE(de01, de23, 4, 5, 12, 13, 6, 7, 14, 15));
}
POLHODE_INLINE void split4(const double* p, real_vector<4> (&c)[4]) {
    const auto a = load_halves(p, p + 8);       // w0 x0 w2 x2
    const auto b = load_halves(p + 4, p + 12);  // w1 x1 w3 x3
    const auto d = load_halves(p + 2, p + 10);  // y0 z0 y2 z2
    const auto e = load_halves(p + 6, p + 14);  // y1 z1 y3 z3
    c[0] = POLHODE_SHUFFLE(a, b, 0, 4, 2, 6);
    c[1] = POLHODE_SHUFFLE(a, b, 1, 5, 3, 7);
    c[2] = POLHODE_SHUFFLE(d, e, 0, 4, 2, 6);
    c[3] = POLHODE_SHUFFLE(d, e, 1, 5, 3, 7);
}
POLHODE_INLINE void join4(double* p, const real_vector<4> (&c)[4]) {
    store_halves(p, p + 8, POLHODE_SHUFFLE(c[0], c[1], 0, 4, 2, 6));
    store_halves(p + 4, p + 12, POLHODE_SHUFFLE(c[0], c[1], 1, 5, 3, 7));
    store_halves(p + 2, p + 10, POLHODE_SHUFFLE(c[2], c[3], 0, 4, 2, 6));
    store_halves(p + 6, p + 14, POLHODE_SHUFFLE(c[2], c[3], 1, 5, 3, 7));
}
POLHODE_INLINE void split4(const double* p, real_vector<2> (&c)[4]) {
    const auto a = load_vector<2>(p), b = load_vector<2>(p + 2);
    const auto d = load_vector<2>(p + 4), e = load_vector<2>(p + 6);
    c[0] = POLHODE_SHUFFLE(a, d, 0, 2);
    c[1] = POLHODE_SHUFFLE(a, d, 1, 3);
    c[2] = POLHODE_SHUFFLE(b, e, 0, 2);
    c[3] = POLHODE_SHUFFLE(b, e, 1, 3);
}
POLHODE_INLINE void join4(double* p, const real_vector<2> (&c)[4]) {
    store_vector<2>(p, POLHODE_SHUFFLE(c[0], c[1], 0, 2));
    store_vector<2>(p + 2, POLHODE_SHUFFLE(c[2], c[3], 0, 2));
    store_vector<2>(p + 4, POLHODE_SHUFFLE(c[0], c[1], 1, 3));
    store_vector<2>(p + 6, POLHODE_SHUFFLE(c[2], c[3], 1, 3));
}
#undef POLHODE_SHUFFLE

/// W matrices of nine doubles one after another -> nine components, and back.  The rows of the
/// matrices are 3 W vectors: split once into columns, and each column once more into rows.
///
/// @param columns  room in between, the caller's: GCC 12 gives such arrays of two calls that are
///                 inlined one place at -O2, and reads the first after it has written the second
template <int W>
POLHODE_INLINE void split9(const double* p, real_vector<W> (&c)[9], double (&columns)[3][3 * W]) {
    for (int g = 0; g < 3; ++g) {
        real_vector<W> part[3];
        split3(p + 3 * W * g, part);
        for (int k = 0; k < 3; ++k) store_vector<W>(columns[k] + W * g, part[k]);
    }
    for (int k = 0; k < 3; ++k) {
        real_vector<W> rows[3];
        split3(columns[k], rows);
        for (int j = 0; j < 3; ++j) c[3 * j + k] = rows[j];
    }
}
template <int W>
POLHODE_INLINE void join9(double* p, const real_vector<W> (&c)[9], double (&columns)[3][3 * W]) {
    for (int k = 0; k < 3; ++k) {
        const real_vector<W> rows[3] = {c[k], c[3 + k], c[6 + k]};
        join3(columns[k], rows);
    }
    for (int g = 0; g < 3; ++g) {
        real_vector<W> part[3];
        for (int k = 0; k < 3; ++k) {
            const double* column = columns[k] + W * g;
            // join3 stores by halves: a load of more would have to wait for both.
            if constexpr (W == 4) part[k] = load_halves(column, column + 2);
            if constexpr (W != 4) part[k] = load_vector<W>(column);
        }
        join3(p + 3 * W * g, part);
    }
}

}  // namespace detail

template <int C, int W, int U>
POLHODE_INLINE void load(const View& v, std::ptrdiff_t i, int count, pack<W, U> (&out)[C]) {
    const double* p = v.data + i * v.body;
    if (count == W * U) {
        if constexpr (C == 3 || C == 4 || C == 9) {
            // rows of an (N, C) array
            if (v.body == C && v.component == 1 && (C < 9 || v.row == 3)) {
                alignas(8 * W) double columns[3][3 * W];  // of split9
                static_cast<void>(columns);
                POLHODE_UNROLL
                for (int u = 0; u < U; ++u) {
                    detail::real_vector<W> c[C];
                    if constexpr (C == 3) detail::split3(p + u * W * C, c);
                    if constexpr (C == 4) detail::split4(p + u * W * C, c);
                    if constexpr (C == 9) detail::split9<W>(p + u * W * C, c, columns);
                    for (int k = 0; k < C; ++k) out[k].v[u] = c[k];
                }
                return;
            }
        }
        if (v.body == 1) {  // rows of a (C, N) array
            for (int k = 0; k < C; ++k) {
                const double* row = p + offset<C>(v.component, v.row, k);
                POLHODE_UNROLL
                for (int u = 0; u < U; ++u) out[k].v[u] = detail::load_vector<W>(row + u * W);
            }
            return;
        }
    }
    for (int k = 0; k < C; ++k) {
        const double* first = p + offset<C>(v.component, v.row, k);
        if (v.body == 0) {
            out[k] = pack<W, U>(*first);
            continue;
        }
        double lanes[W * U];
        for (int lane = 0; lane < W * U; ++lane) {
            lanes[lane] = first[(lane < count ? lane : count - 1) * v.body];
        }
        POLHODE_UNROLL
        for (int u = 0; u < U; ++u) out[k].v[u] = detail::load_vector<W>(lanes + u * W);
    }
}

template <int C, int W, int U>
POLHODE_INLINE void store(const MutableView& v,
                          std::ptrdiff_t i,
                          int count,
                          const pack<W, U> (&in)[C]) {
    double* p = v.data + i * v.body;
    if (count == W * U) {
        if constexpr (C == 3 || C == 4 || C == 9) {
            if (v.body == C && v.component == 1 && (C < 9 || v.row == 3)) {
                alignas(8 * W) double columns[3][3 * W];  // of join9
                static_cast<void>(columns);
                POLHODE_UNROLL
                for (int u = 0; u < U; ++u) {
                    detail::real_vector<W> c[C];
                    for (int k = 0; k < C; ++k) c[k] = in[k].v[u];
                    if constexpr (C == 3) detail::join3(p + u * W * C, c);
                    if constexpr (C == 4) detail::join4(p + u * W * C, c);
                    if constexpr (C == 9) detail::join9<W>(p + u * W * C, c, columns);
                }
                return;
            }
        }
        if (v.body == 1) {
            for (int k = 0; k < C; ++k) {
                double* row = p + offset<C>(v.component, v.row, k);
                POLHODE_UNROLL
                for (int u = 0; u < U; ++u) detail::store_vector<W>(row + u * W, in[k].v[u]);
            }
            return;
        }
    }
    for (int k = 0; k < C; ++k) {
        double lanes[W * U];
        POLHODE_UNROLL
        for (int u = 0; u < U; ++u) detail::store_vector<W>(lanes + u * W, in[k].v[u]);
        double* first = p + offset<C>(v.component, v.row, k);
        for (int lane = 0; lane < count; ++lane) first[lane * v.body] = lanes[lane];
    }
}
#endif  // POLHODE_HAS_PACK

template <class T>
POLHODE_INLINE T load_scalar(const View& v, std::ptrdiff_t i, int count) {
    T out[1];
    load(v, i, count, out);
    return out[0];
}
template <class T>
POLHODE_INLINE Vec3<T> load_vec3(const View& v, std::ptrdiff_t i, int count) {
    T c[3];
    load(v, i, count, c);
    return {c[0], c[1], c[2]};
}
template <class T>
POLHODE_INLINE void store_vec3(const MutableView& v,
                               std::ptrdiff_t i,
                               int count,
                               const Vec3<T>& a) {
    const T c[3] = {a.x, a.y, a.z};
    store(v, i, count, c);
}

/// The attitude of one pack of bodies: a quaternion or a matrix, one choice for the whole batch.
template <class T>
struct Attitude {
    bool matrix;
    Quaternion<T> q;
    Mat3<T> Q;

    POLHODE_INLINE static Attitude load(const View& v, bool matrix, std::ptrdiff_t i, int count) {
        Attitude a;
        a.matrix = matrix;
        if (matrix) {
            T c[9];
            batch::load(v, i, count, c);
            a.Q = {{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}, {c[6], c[7], c[8]}}};
        } else {
            T c[4];
            batch::load(v, i, count, c);
            a.q = {c[0], c[1], c[2], c[3]};
        }
        return a;
    }
    POLHODE_INLINE static Attitude chosen(const mask_t<T>& mask,
                                          const Attitude& a,
                                          const Attitude& b) {
        Attitude r = b;
        if (b.matrix) {
            for (int k = 0; k < 9; ++k) {
                r.Q.a[k / 3][k % 3] = select(mask, a.Q.a[k / 3][k % 3], b.Q.a[k / 3][k % 3]);
            }
        } else {
            r.q = select(mask, a.q, b.q);
        }
        return r;
    }
    POLHODE_INLINE void store(const MutableView& v, std::ptrdiff_t i, int count) const {
        if (matrix) {
            const T c[9] = {Q.a[0][0],
                            Q.a[0][1],
                            Q.a[0][2],
                            Q.a[1][0],
                            Q.a[1][1],
                            Q.a[1][2],
                            Q.a[2][0],
                            Q.a[2][1],
                            Q.a[2][2]};
            batch::store(v, i, count, c);
        } else {
            const T c[4] = {q.w, q.x, q.y, q.z};
            batch::store(v, i, count, c);
        }
    }

    /// Made unit, as every step begins: a q more than 4 eps off in |q|^2, a Q with an entry of
    /// Q^T Q - 1 above 8 eps; what is nearer stays bit for bit.  h becomes NaN where the attitude
    /// is not finite; zero quaternions are reported in `findings`.
    POLHODE_INLINE void make_unit(T& h, int& findings) {
        if (matrix) {
            const T off = orthogonality_defect(Q);
            if (any(!(off <= orthogonal_within))) {
                keep_orthogonal(Q, orthogonal_within);
                keep_orthogonal(Q, orthogonal_within);
                const mask_t<T> finite = is_finite(Vec3<T>{Q.a[0][0], Q.a[0][1], Q.a[0][2]}) &
                                         is_finite(Vec3<T>{Q.a[1][0], Q.a[1][1], Q.a[1][2]}) &
                                         is_finite(Vec3<T>{Q.a[2][0], Q.a[2][1], Q.a[2][2]});
                h = select(finite, h, nan<T>());
            }
            return;
        }
        const T excess = dot(q, q) - 1.0;
        if (any(!(abs(excess) <= unit_within))) {
            const mask_t<T> far = !(abs(excess) <= 0x1p-26);
            if (any(far)) {
                const mask_t<T> zero = (q.w == 0.0) & (q.x == 0.0) & (q.y == 0.0) & (q.z == 0.0);
                if (any(zero)) findings |= some_invalid;
                q = select(far, normalised(q), q);
                const mask_t<T> finite = is_finite(q.w) & is_finite(vector_part(q));
                h = select(finite, h, nan<T>());
            }
            q = kept_unit(q, unit_within);
        }
    }
    /// NaN where the mask holds.
    POLHODE_INLINE void spoil(const mask_t<T>& bad) {
        const T factor = select(bad, nan<T>(), T(1.0));
        if (matrix) {
            for (int k = 0; k < 9; ++k) Q.a[k / 3][k % 3] = factor * Q.a[k / 3][k % 3];
        } else {
            q = factor * q;
        }
    }
    /// Turned by dq in the body frame.
    POLHODE_INLINE void turn(const Quaternion<T>& dq) {
        if (matrix) {
            polhode::turn(Q, dq);
        } else {
            q = q * dq;
        }
    }

  private:
    static constexpr double unit_within = 4 * epsilon_v<T>;
    static constexpr double orthogonal_within = 8 * epsilon_v<T>;
};

/// One step of a method in the user's axes and units: the axes are sorted, unless the method says
/// `static constexpr bool user_axes = true`, and powers of two are taken out of m, so that every
/// finite m goes the same way bit for bit.
template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance(const Method& method,
                                   const Inertia<T>& body,
                                   const Vec3<T>& m,
                                   T h) {
    const T largest = largest_component(m);
    // Each body decides for itself: beside a large component a subnormal one would lose its last
    // bits.
    const bool scales = any(!is_usual(largest));
    Vec3<T> scaled_m = m;
    T scaled_h = h;
    T unit(1.0);
    if (scales) {
        unit = momentum_unit(largest);
        scaled_m = power_of_two_reciprocal(unit) * m;
        scaled_h = select(is_finite(largest), h * unit, nan<T>());
    }
    FreeStep<T> s;
    if constexpr (requires { Method::user_axes; }) {
        s = method.step(body, scaled_m, scaled_h);
    } else {
        s = method.step(body, body.sorted_momentum(scaled_m), scaled_h);
        s.m = body.order.from_sorted(s.m);
        s.dq = body.order.from_sorted(s.dq);
    }
    if (scales) s.m = unit * s.m;
    return s;
}
/// The same with a kernel that is shared by several methods and told apart by its data.
template <class Kernel, class T>
[[gnu::noinline]] FreeStep<T> advance_by(const Kernel& kernel,
                                         const Inertia<T>& body,
                                         const Vec3<T>& m,
                                         T h) {
    return advance(kernel, body, m, h);
}
/// A method as an object: with these values of its options, else with the defaults.
template <class Method>
POLHODE_INLINE Method method_with(const OptionValues& options) {
    if constexpr (requires { Method::with(options); }) {
        if (options.count > 0) return Method::with(options);
    }
    return Method{};
}

/// The kernel that a method names, likewise.
template <class Method>
POLHODE_INLINE auto kernel_with(const OptionValues& options) {
    auto kernel = Method::kernel;
    if constexpr (requires { kernel.with(options); }) {
        if (options.count > 0 || options.data != nullptr) kernel = kernel.with(options);
    }
    if constexpr (requires { kernel.stop; }) {
        kernel.stop = options.stop;
    }
    return kernel;
}

template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance(const Inertia<T>& body,
                                   const Vec3<T>& m,
                                   T h,
                                   const OptionValues& options = {}) {
    if constexpr (requires { Method::carried; }) {
        // One step as any but the first ones, of a body that has turned steadily.
        T carried[Method::carried];
        const Method method = method_with<Method>(options);
        for (int k = 0; k < Method::carried; ++k) carried[k] = T(0.0);
        const Quaternion<T> none{T(1.0), T(0.0), T(0.0), T(0.0)};
        for (int k = 0; k < Method::starting; ++k) method.carry(body, m, none, carried);
        return method.step(body, m, h, carried, Method::starting);
    } else if constexpr (requires { Method::kernel; }) {
        return advance_by(kernel_with<Method>(options), body, m, h);
    } else {
        return advance(method_with<Method>(options), body, m, h);
    }
}

/// What there is to say of the moments of one pack of bodies, see Finding.
template <class T>
POLHODE_INLINE int look_at_moments(const Vec3<T>& I) {
    const T smallest = min(min(I.x, I.y), I.z);
    const T largest = max(max(I.x, I.y), I.z);
    const mask_t<T> finite = is_finite(I);
    const T zero_below = 4 * epsilon_v<T> * largest;
    const mask_t<T> ok = finite & (smallest > zero_below);
    if (all(ok)) return all_valid;
    const T middle = max(min(I.x, I.y), min(max(I.x, I.y), I.z));
    const mask_t<T> rod = finite & (abs(smallest) <= zero_below) & (largest > 0.0) &
                          (largest - middle <= 1e-9 * largest);
    return (any(rod & !ok) ? some_rod : all_valid) | (any(!(ok | rod)) ? some_invalid : all_valid);
}

/// Counts the bodies that became NaN though nothing they started from was.
template <class T>
[[gnu::noinline]] void count_without_root(const StepArguments& arguments,
                                          std::ptrdiff_t i,
                                          int count,
                                          const T& end) {
    if (arguments.without_root == nullptr) return;
    const Vec3<T> m = load_vec3<T>(arguments.m, i, count);
    const T h = load_scalar<T>(arguments.h, i, count);
    const auto attitude = Attitude<T>::load(arguments.attitude, arguments.matrix, i, count);
    T zero = 0.0 * h + (0.0 * m.x + 0.0 * m.y + 0.0 * m.z);  // or NaN
    if (arguments.matrix) {
        for (int k = 0; k < 9; ++k) zero = zero + 0.0 * attitude.Q.a[k / 3][k % 3];
    } else {
        const Quaternion<T>& q = attitude.q;
        zero = zero + (0.0 * q.w + 0.0 * q.x + 0.0 * q.y + 0.0 * q.z);
    }
    const T lost[1] = {select(is_nan(end) & (zero == 0.0), T(1.0), T(0.0))};
    double lanes[lanes_v<T>];
    store({lanes, 1, 0, 0}, 0, count, lost);
    std::ptrdiff_t sum = 0;
    for (int lane = 0; lane < count; ++lane) sum += lanes[lane] != 0.0 ? 1 : 0;
    __atomic_fetch_add(arguments.without_root, sum, __ATOMIC_RELAXED);
}

/// What goes with a pack from step to step besides m and attitude, see StepArguments.
template <class T, class Method>
struct Carried {
    static constexpr int numbers = [] {
        if constexpr (requires { Method::carried; }) return int(Method::carried);
        return 0;
    }();
    T target, unit;
    T own[numbers > 0 ? numbers : 1];

    POLHODE_INLINE static Carried load(const StepArguments& arguments,
                                       const Inertia<T>& body,
                                       const Vec3<T>& m,
                                       std::ptrdiff_t i,
                                       int count) {
        Carried c;
        if (arguments.first_step > 0) {
            T x[2 + numbers];
            batch::load(View(arguments.carried), i, count, x);
            c.target = x[0];
            c.unit = x[1];
            for (int k = 0; k < numbers; ++k) c.own[k] = x[2 + k];
            return c;
        }
        c.target = energy::per_momentum(body, m);
        c.unit = momentum_unit(largest_component(m));
        for (int k = 0; k < numbers; ++k) c.own[k] = T(0.0);
        return c;
    }
    POLHODE_INLINE void store(const StepArguments& arguments, std::ptrdiff_t i, int count) const {
        if (arguments.carried.data == nullptr) return;
        T x[2 + numbers];
        x[0] = target;
        x[1] = unit;
        for (int k = 0; k < numbers; ++k) x[2 + k] = own[k];
        batch::store(arguments.carried, i, count, x);
    }
};

/// n steps of bodies begin ... end - 1.  Returns what it finds of moments and quaternions that are
/// not allowed; the results of such bodies are worth nothing.
template <class T, class Method>
POLHODE_INLINE int step_with(const Method& method,
                             const StepArguments& arguments,
                             std::ptrdiff_t begin,
                             std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    if (begin >= end) return all_valid;
    const bool shared_body = arguments.inertia.body == 0;
    int findings = all_valid;
    const auto* prepared = static_cast<const Inertia<T>*>(arguments.bodies);
    Inertia<T> own;
    const Inertia<T>* at = &own;
    if (prepared != nullptr) {
        at = prepared + (shared_body ? 0 : begin / lanes);
    } else {
        const Vec3<T> moments = load_vec3<T>(arguments.inertia, begin, 1);
        findings |= look_at_moments(moments);
        own = Inertia<T>::of(moments);
    }
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        const int count = end - i < lanes ? static_cast<int>(end - i) : lanes;
        if (!shared_body) {
            if (prepared != nullptr) {
                at = prepared + i / lanes;
            } else {
                const Vec3<T> moments = load_vec3<T>(arguments.inertia, i, count);
                findings |= look_at_moments(moments);
                own = Inertia<T>::of(moments);
            }
        }
        const Inertia<T>& body = *at;
        Vec3<T> m = load_vec3<T>(arguments.m, i, count);
        T h = load_scalar<T>(arguments.h, i, count);
        Attitude<T> attitude = Attitude<T>::load(arguments.attitude, arguments.matrix, i, count);
        if (arguments.n_steps == 0) {
            attitude.make_unit(h, findings);
            const T not_finite = nan<T>();
            const mask_t<T> finite = is_finite(h) & is_finite(m);
            m = select(finite, m, Vec3<T>{not_finite, not_finite, not_finite});
            attitude.spoil(!finite);
        }
        bool done = false;
        if constexpr (requires { Method::carried; }) {
            auto c = Carried<T, Method>::load(arguments, body, m, i, count);
            m = power_of_two_reciprocal(c.unit) * body.own_momentum(m);
            for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                attitude.make_unit(h, findings);
                const std::ptrdiff_t number = arguments.first_step + n;
                FreeStep<T> s = method.step(body, m, c.unit * h, c.own, number);
                if (arguments.energy_correction != energy::none) {
                    const Inertia<T> a_body = body;
                    energy::correct(a_body, s, c.target, arguments.energy_correction);
                }
                method.carry(body, m, s.dq, c.own);
                m = s.m;
                attitude.turn(s.dq);
            }
            c.store(arguments, i, count);
            m = c.unit * m;
            done = true;
        } else if constexpr (requires { Method::corrects_energy; }) {
            if (arguments.energy_correction != energy::none) {
                const auto c = Carried<T, Method>::load(arguments, body, m, i, count);
                const Inertia<T> a_body = body;
                for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                    attitude.make_unit(h, findings);
                    FreeStep<T> s = advance(method, body, m, h);
                    energy::correct(a_body, s, c.target, arguments.energy_correction);
                    m = s.m;
                    attitude.turn(s.dq);
                }
                c.store(arguments, i, count);
                done = true;
            }
        }
        if constexpr (!requires { Method::carried; }) {
            for (std::ptrdiff_t n = 0; !done && n < arguments.n_steps; ++n) {
                attitude.make_unit(h, findings);
                const FreeStep<T> s = advance(method, body, m, h);
                m = s.m;
                attitude.turn(s.dq);
            }
        }
        if constexpr (requires { method.may_lack_root(); }) {
            if (method.may_lack_root() && any(is_nan(m.x))) {
                count_without_root(arguments, i, count, m.x);
            }
        }
        store_vec3(arguments.m_out, i, count, m);
        attitude.store(arguments.attitude_out, i, count);
    }
    return findings;
}

/// A kernel called through a pointer, so that all long ones share one loop over the arrays:
/// compiling that loop takes longer than compiling most kernels, and next to them the call is
/// nothing.
template <class T>
struct PointedKernel {
    FreeStep<T> (*kernel)(const OptionValues& options,
                          const Inertia<T>& body,
                          const Vec3<T>& m,
                          T h);
    OptionValues options;

    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        return kernel(options, body, m, h);
    }
};
/// The same for methods with the option `energy_correction`.
template <class T>
struct CorrectedPointedKernel : PointedKernel<T> {
    static constexpr bool corrects_energy = true;
};
template <class T, class Pointed>
int step_with_pointed(const Pointed& kernel,
                      const StepArguments& arguments,
                      std::ptrdiff_t begin,
                      std::ptrdiff_t end) {
    return step_with<T>(kernel, arguments, begin, end);
}
template <class Method, class T>
FreeStep<T> pointed_step(const OptionValues& options,
                         const Inertia<T>& body,
                         const Vec3<T>& m,
                         T h) {
    return method_with<Method>(options).step(body, m, h);
}

/// One loop for all methods that share a kernel.
template <class T, class Kernel>
int step_by(const Kernel& kernel,
            const StepArguments& arguments,
            std::ptrdiff_t begin,
            std::ptrdiff_t end) {
    return step_with<T>(kernel, arguments, begin, end);
}

/// The step function of a method.  One that names a `kernel` shares it and its loop with its
/// family; one that says `static constexpr bool shares_loop = true` is called through a pointer,
/// others are inlined into a loop of their own.
template <class Method, class T = batch_real>
int step(const StepArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if constexpr (requires { Method::kernel; }) {
        return step_by<T>(kernel_with<Method>(arguments.options), arguments, begin, end);
    } else if constexpr (requires { Method::shares_loop; }) {
        const PointedKernel<T> kernel{&pointed_step<Method, T>, arguments.options};
        if constexpr (Method::info.corrects_energy) {
            return step_with_pointed<T>(CorrectedPointedKernel<T>{kernel}, arguments, begin, end);
        } else {
            return step_with_pointed<T>(kernel, arguments, begin, end);
        }
    } else {
        return step_with<T>(method_with<Method>(arguments.options), arguments, begin, end);
    }
}

}  // namespace batch
POLHODE_NAMESPACE_END

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

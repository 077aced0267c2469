#pragma once

/// Numbers of a batch <-> packs of bodies, for any strides.

#include <cstddef>

#include "polhode/batch/transposition.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/mat3.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/scalar/pack.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// Offset of component k of C (3: vector, 4: quaternion, 9: matrix, row by row).
template <int C>
POLHODE_INLINE std::ptrdiff_t offset(std::ptrdiff_t component, std::ptrdiff_t row, int k) {
    if constexpr (C == 9) return (k / 3) * row + (k % 3) * component;
    return k * component;
}

/// Components of bodies i ... i + count - 1, one body per lane; the lanes after the last body
/// repeat it.
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

namespace detail {

/// Components with any strides, and of fewer bodies than lanes: pack after pack.  Not inlined,
/// because it is long and few packs of a batch need it.
template <int C, int W, int U>
[[gnu::noinline]] void gather(const double* p, View v, int count, double* out) {
    for (int k = 0; k < C; ++k) {
        const double* first = p + offset<C>(v.component, v.row, k);
        double lanes[W * U];
        for (int lane = 0; lane < W * U; ++lane) {
            lanes[lane] = first[(lane < count ? lane : count - 1) * v.body];
        }
        POLHODE_UNROLL
        for (int u = 0; u < U; ++u) {
            store_vector<W>(out + (k * U + u) * W, load_vector<W>(lanes + u * W));
        }
    }
}
template <int C, int W, int U>
[[gnu::noinline]] void scatter(double* p, View v, int count, const double* in) {
    for (int k = 0; k < C; ++k) {
        double* first = p + offset<C>(v.component, v.row, k);
        for (int lane = 0; lane < count; ++lane) first[lane * v.body] = in[k * W * U + lane];
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
                    if constexpr (C < 9) detail::split(p + u * W * C, c);
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
    if (v.body == 0) {
        for (int k = 0; k < C; ++k) out[k] = pack<W, U>(p[offset<C>(v.component, v.row, k)]);
        return;
    }
    alignas(8 * W) double lanes[C * W * U];
    detail::gather<C, W, U>(p, v, count, lanes);
    for (int k = 0; k < C; ++k) {
        POLHODE_UNROLL
        for (int u = 0; u < U; ++u) out[k].v[u] = detail::load_vector<W>(lanes + (k * U + u) * W);
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
                    if constexpr (C < 9) detail::join(p + u * W * C, c);
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
    alignas(8 * W) double lanes[C * W * U];
    for (int k = 0; k < C; ++k) {
        POLHODE_UNROLL
        for (int u = 0; u < U; ++u) detail::store_vector<W>(lanes + (k * U + u) * W, in[k].v[u]);
    }
    detail::scatter<C, W, U>(p, View(v), count, lanes);
}

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
POLHODE_INLINE Quaternion<T> load_quaternion(const View& v, std::ptrdiff_t i, int count) {
    T c[4];
    load(v, i, count, c);
    return {c[0], c[1], c[2], c[3]};
}
template <class T>
POLHODE_INLINE Mat3<T> load_mat3(const View& v, std::ptrdiff_t i, int count) {
    T c[9];
    load(v, i, count, c);
    return {{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}, {c[6], c[7], c[8]}}};
}
template <class T>
POLHODE_INLINE void store_vec3(const MutableView& v,
                               std::ptrdiff_t i,
                               int count,
                               const Vec3<T>& a) {
    const T c[3] = {a.x, a.y, a.z};
    store(v, i, count, c);
}

POLHODE_NAMESPACE_END

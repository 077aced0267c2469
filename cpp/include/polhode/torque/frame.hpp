#pragma once

#include "polhode/batch/attitude.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// The attitude of one pack of bodies for a torque: from space to body components.
template <class T, bool Matrix>
struct Frame;

template <class T>
struct Frame<T, true> {
    Mat3<T> Q;

    POLHODE_INLINE static Frame load(const View& v, std::ptrdiff_t i, int count) {
        T c[9];
        batch::load(v, i, count, c);
        Frame f;
        for (int k = 0; k < 9; ++k) f.Q.a[k / 3][k % 3] = c[k];
        return f;
    }
    /// Q^T v.
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& v) const {
        return {dot(column(Q, 0), v), dot(column(Q, 1), v), dot(column(Q, 2), v)};
    }
};

template <class T>
struct Frame<T, false> {
    Quaternion<T> q;

    POLHODE_INLINE static Frame load(const View& v, std::ptrdiff_t i, int count) {
        T c[4];
        batch::load(v, i, count, c);
        return {{c[0], c[1], c[2], c[3]}};
    }
    /// Q^T v = v + 2 q0 v x qv + 2 (v x qv) x qv, from [CZ08] eq. (10) with -qv for qv.
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& v) const {
        const Vec3<T> qv = vector_part(q);
        const Vec3<T> half = cross(v, qv);
        const Vec3<T> t = half + half;
        const Vec3<T> tt = cross(t, qv);
        return {v.x + fma(q.w, t.x, tt.x), v.y + fma(q.w, t.y, tt.y), v.z + fma(q.w, t.z, tt.z)};
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

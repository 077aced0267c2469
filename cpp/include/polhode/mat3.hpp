#pragma once

#include "polhode/quaternion.hpp"

POLHODE_NAMESPACE_BEGIN

/// A 3 by 3 matrix, row by row.
template <class T>
struct Mat3 {
    T a[3][3];
};

template <class T>
POLHODE_INLINE Vec3<T> row(const Mat3<T>& m, int i) {
    return {m.a[i][0], m.a[i][1], m.a[i][2]};
}
template <class T>
POLHODE_INLINE Vec3<T> column(const Mat3<T>& m, int j) {
    return {m.a[0][j], m.a[1][j], m.a[2][j]};
}

/// Q E(q) with E(q) = 1 + 2 q0 hat(qv) + 2 hat(qv)^2 [CZ08] eq. (10): row by row v + 2 q0 v x qv +
/// 2 (v x qv) x qv.  q = 1 returns Q bit for bit.
template <class T>
POLHODE_INLINE Mat3<T> rotated(const Mat3<T>& m, const Quaternion<T>& q) {
    const Vec3<T> qv{q.x, q.y, q.z};
    Mat3<T> r;
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) {
        const Vec3<T> v = row(m, i);
        const Vec3<T> t = cross(v, qv);
        const Vec3<T> u = t + t;
        const Vec3<T> uu = cross(u, qv);
        r.a[i][0] = v.x + fma(q.w, u.x, uu.x);
        r.a[i][1] = v.y + fma(q.w, u.y, uu.y);
        r.a[i][2] = v.z + fma(q.w, u.z, uu.z);
    }
    return r;
}

/// Q^T Q - 1, a symmetric matrix.
template <class T>
struct Orthogonality {
    T xx, yy, zz, xy, xz, yz;

    POLHODE_INLINE static Orthogonality of(const Mat3<T>& m) {
        const Vec3<T> x = column(m, 0);
        const Vec3<T> y = column(m, 1);
        const Vec3<T> z = column(m, 2);
        return {dot(x, x) - 1.0, dot(y, y) - 1.0, dot(z, z) - 1.0, dot(x, y), dot(x, z), dot(y, z)};
    }
    /// Sum of the sizes of its entries: between the largest and six times that; NaN survives.
    POLHODE_INLINE T size() const {
        return ((abs(xx) + abs(yy)) + (abs(zz) + abs(xy))) + (abs(xz) + abs(yz));
    }
};
template <class T>
POLHODE_INLINE T orthogonality_defect(const Mat3<T>& m) {
    return Orthogonality<T>::of(m).size();
}

/// One polar (Newton-Schulz) step of Q to an orthogonal matrix, Q - Q (Q^T Q - 1)/2, where the defect
/// is more than `within`; elsewhere Q comes back bit for bit.
template <class T>
POLHODE_INLINE Mat3<T> kept_orthogonal(const Mat3<T>& m, double within) {
    const Orthogonality<T> d = Orthogonality<T>::of(m);
    const T factor = select(d.size() > within, T(-0.5), T(0.0));
    const T xx = factor * d.xx, yy = factor * d.yy, zz = factor * d.zz;
    const T xy = factor * d.xy, xz = factor * d.xz, yz = factor * d.yz;
    Mat3<T> r;
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) {
        const Vec3<T> v = row(m, i);
        r.a[i][0] = v.x + fma(v.x, xx, fma(v.y, xy, v.z * xz));
        r.a[i][1] = v.y + fma(v.x, xy, fma(v.y, yy, v.z * yz));
        r.a[i][2] = v.z + fma(v.x, xz, fma(v.y, yz, v.z * zz));
    }
    return r;
}

POLHODE_NAMESPACE_END

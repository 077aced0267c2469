#pragma once

#include "polhode/quaternion.hpp"

POLHODE_NAMESPACE_BEGIN()

/// A 3 by 3 matrix, stored by rows.
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

/// Three rows of a matrix and its cofactors, to solve linear equations.
template <class T>
struct Cofactors {
    Vec3<T> c1, c2, c3;
    T determinant;

    POLHODE_INLINE static Cofactors of(const Vec3<T>& r1, const Vec3<T>& r2, const Vec3<T>& r3) {
        const Vec3<T> c1 = cross(r2, r3);
        return {c1, cross(r3, r1), cross(r1, r2), dot(r1, c1)};
    }
    /// x with (r1 . x, r2 . x, r3 . x) = b.
    POLHODE_INLINE Vec3<T> solve(const T& inverse_determinant, const Vec3<T>& b) const {
        const Vec3<T> s = inverse_determinant * b;
        return {fma(c1.x, s.x, fma(c2.x, s.y, c3.x * s.z)),
                fma(c1.y, s.x, fma(c2.y, s.y, c3.y * s.z)),
                fma(c1.z, s.x, fma(c2.z, s.y, c3.z * s.z))};
    }
};

// Matrices of packs are large. They are changed in place, entry by entry with constant indices, so
// that the compiler needs no copies in memory.

/// v E(q) with E(q) = 1 + 2 q0 hat(qv) + 2 hat(qv)^2 [CZ08] eq. (10): v + 2 q0 v x qv + 2 (v x qv)
/// x qv.
template <class T>
POLHODE_INLINE void rotate_row(T& x, T& y, T& z, const Quaternion<T>& q) {
    const Vec3<T> qv{q.x, q.y, q.z};
    const Vec3<T> t = cross(Vec3<T>{x, y, z}, qv);
    const Vec3<T> u{t.x + t.x, t.y + t.y, t.z + t.z};
    const Vec3<T> uu = cross(u, qv);
    x = x + fma(q.w, u.x, uu.x);
    y = y + fma(q.w, u.y, uu.y);
    z = z + fma(q.w, u.z, uu.z);
}
/// Q <- Q E(q).  For q = 1 Q is unchanged, bit for bit.
template <class T>
POLHODE_INLINE void rotate(Mat3<T>& m, const Quaternion<T>& q) {
    rotate_row(m.a[0][0], m.a[0][1], m.a[0][2], q);
    rotate_row(m.a[1][0], m.a[1][1], m.a[1][2], q);
    rotate_row(m.a[2][0], m.a[2][1], m.a[2][2], q);
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
    /// Sum of the absolute values of the entries, between the largest and six times it; NaN stays
    /// NaN.
    POLHODE_INLINE T size() const {
        return ((abs(xx) + abs(yy)) + (abs(zz) + abs(xy))) + (abs(xz) + abs(yz));
    }
};

/// One polar (Newton-Schulz) step of Q towards an orthogonal matrix, Q <- Q - Q (Q^T Q - 1)/2, if
/// the defect is more than `within`; otherwise Q is unchanged, bit for bit.
template <class T>
POLHODE_INLINE void orthogonalize(Mat3<T>& m, double within) {
    const Orthogonality<T> d = Orthogonality<T>::of(m);
    const mask_t<T> corrects = d.size() > within;
    const T factor = select(corrects, T(-0.5), T(0.0));
    const T xx = factor * d.xx, yy = factor * d.yy, zz = factor * d.zz;
    const T xy = factor * d.xy, xz = factor * d.xz, yz = factor * d.yz;
    const auto correct = [&](T& x, T& y, T& z) POLHODE_INLINE_LAMBDA {
        const Vec3<T> v{x, y, z};
        x = select(corrects, v.x + fma(v.x, xx, fma(v.y, xy, v.z * xz)), v.x);
        y = select(corrects, v.y + fma(v.x, xy, fma(v.y, yy, v.z * yz)), v.y);
        z = select(corrects, v.z + fma(v.x, xz, fma(v.y, yz, v.z * zz)), v.z);
    };
    correct(m.a[0][0], m.a[0][1], m.a[0][2]);
    correct(m.a[1][0], m.a[1][1], m.a[1][2]);
    correct(m.a[2][0], m.a[2][1], m.a[2][2]);
}

POLHODE_NAMESPACE_END

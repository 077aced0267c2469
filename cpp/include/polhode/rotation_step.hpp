#pragma once

/// Functions shared by the methods that rotate a body by rotation vectors.

#include "polhode/mat3.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN()

/// exp of the quaternion (0, v/2), [Gus10] Theorem 2.2: the rotation by |v| about v; v = 0 gives 1.
///
/// @param v  radians; NaN for |v| >= 2^51
/// @return   within eps (2 + |v|), of unit norm within 2 eps
template <class T>
POLHODE_INLINE Quaternion<T> quaternion_exp(const Vec3<T>& v) {
    const SinCos<T> half = cos_sinc_of_root(0.25 * dot(v, v));
    const T s = 0.5 * half.sin;
    return {half.cos, s * v.x, s * v.y, s * v.z};
}
/// The same, of unit norm within eps.
template <class T>
POLHODE_INLINE Quaternion<T> rotation_by(const Vec3<T>& v) {
    return renormalized(quaternion_exp(v), 0.0);
}

/// Body components of v, given in the space frame, at attitude q, |q| = 1: q^-1 v q.
template <class T>
POLHODE_INLINE Vec3<T> in_body_frame(const Quaternion<T>& q, const Vec3<T>& v) {
    const Vec3<T> a = vector_part(q);
    const Vec3<T> u = cross(v, a);
    const Vec3<T> u2{u.x + u.x, u.y + u.y, u.z + u.z};
    const Vec3<T> w = cross(u2, a);
    return {v.x + fma(q.w, u2.x, w.x), v.y + fma(q.w, u2.y, w.y), v.z + fma(q.w, u2.z, w.z)};
}
template <class T>
POLHODE_INLINE Vec3<T> in_body_frame(const Mat3<T>& Q, const Vec3<T>& v) {
    return {dot(column(Q, 0), v), dot(column(Q, 1), v), dot(column(Q, 2), v)};
}
/// The inverse transformation: q v q^-1.
template <class T>
POLHODE_INLINE Vec3<T> rotated(const Quaternion<T>& q, const Vec3<T>& v) {
    return in_body_frame(conjugate(q), v);
}
template <class T>
POLHODE_INLINE Vec3<T> rotated(const Mat3<T>& Q, const Vec3<T>& v) {
    return {dot(row(Q, 0), v), dot(row(Q, 1), v), dot(row(Q, 2), v)};
}

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// Small pieces that methods share which turn a body by rotation vectors.

#include "polhode/quaternion.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN

/// The unit quaternion of a rotation vector, so3::exp for vectors of moderate size.
///
/// @param v  radians; NaN from |v| = 2^51 on; below 2^-500 its square is lost, and v counts as 0
/// @return   within eps (2 + |v|), of unit norm within 2 eps
template <class T>
POLHODE_INLINE Quaternion<T> turn_by(const Vec3<T>& v) {
    const T size2 = dot(v, v);
    const T size = sqrt(size2);
    const SinCos<T> half = sincos(0.5 * size);
    const mask_t<T> still = size2 < 0x1p-1000;
    const T ratio = select(still, T(0.5), half.sin / select(still, T(1.0), size));
    return kept_unit(Quaternion<T>{half.cos, ratio * v.x, ratio * v.y, ratio * v.z}, 0.0);
}

/// v of space along the axes of a body of attitude q, |q| = 1: q^-1 v q.
template <class T>
POLHODE_INLINE Vec3<T> seen_from(const Quaternion<T>& q, const Vec3<T>& v) {
    const Vec3<T> a = vector_part(q);
    const Vec3<T> u = cross(v, a);
    const Vec3<T> u2{u.x + u.x, u.y + u.y, u.z + u.z};
    const Vec3<T> w = cross(u2, a);
    return {v.x + fma(q.w, u2.x, w.x), v.y + fma(q.w, u2.y, w.y), v.z + fma(q.w, u2.z, w.z)};
}
/// The way back: q v q^-1.
template <class T>
POLHODE_INLINE Vec3<T> turned(const Quaternion<T>& q, const Vec3<T>& v) {
    return seen_from(conjugate(q), v);
}

/// a + s b.
template <class T>
POLHODE_INLINE Vec3<T> sum(const Vec3<T>& a, const T& s, const Vec3<T>& b) {
    return {fma(s, b.x, a.x), fma(s, b.y, a.y), fma(s, b.z, a.z)};
}
/// Components multiplied one by one.
template <class T>
POLHODE_INLINE Vec3<T> times(const Vec3<T>& a, const Vec3<T>& b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z};
}

POLHODE_NAMESPACE_END

#pragma once

/// Rotations as unit quaternions, matrices and rotation vectors, and the conversions between them.
///
/// A rotation transforms body components to space components; quaternions are scalar first with the
/// Hamilton product: (cos a/2, 0, 0, sin a/2) is a rotation by a about axis 3; for a = 90 degrees
/// it transforms (1, 2, 3) to (-2, 1, 3).  Any quaternion q != 0 represents the rotation q / |q|.

#include "polhode/mat3.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN(so3)

/// A factor 2^600, 1 or 2^-600.  It scales a number of this size so that squares and products of
/// three numbers neither overflow nor underflow; NaN if the size is not finite.  Multiplication by
/// it is exact.
template <class T>
POLHODE_INLINE T safe_factor(T size) {
    const T factor =
        select(size < 0x1p-300, T(0x1p600), select(size <= 0x1p300, T(1.0), T(0x1p-600)));
    return select(size <= 0x1.fffffffffffffp1023, factor, nan<T>());
}

/// Largest absolute value of the components; NaN or infinite if a component is.
template <class T>
POLHODE_INLINE T max_abs(const Quaternion<T>& q) {
    return polhode::max_abs(Vec3<T>{polhode::max_abs(Vec3<T>{q.w, q.x, q.y}), q.z, T(0.0)});
}

/// The matrix of q / |q|: 1 + s (w hat(v) + hat(v)^2) with q = (w, v) and s = 2 / |q|^2
/// [CZ08] eq. (10), there for |q| = 1.
///
/// @param q  any finite quaternion except zero; NaN for zero
/// @return   entries within 4 eps; orthogonal within 8 eps (tests/accuracy/test_so3.py)
template <class T>
POLHODE_INLINE Mat3<T> to_matrix(const Quaternion<T>& q) {
    const T largest = max_abs(q);
    const Quaternion<T> p = safe_factor(largest) * q;
    const T s = 2.0 / dot(p, p);
    const T sx = s * p.x, sy = s * p.y, sz = s * p.z;
    const T wx = sx * p.w, wy = sy * p.w, wz = sz * p.w;
    const T xx = sx * p.x, yy = sy * p.y;
    Mat3<T> r;
    r.a[0][0] = 1.0 - fma(sz, p.z, yy);
    r.a[0][1] = fma(sx, p.y, -wz);
    r.a[0][2] = fma(sx, p.z, wy);
    r.a[1][0] = fma(sx, p.y, wz);
    r.a[1][1] = 1.0 - fma(sz, p.z, xx);
    r.a[1][2] = fma(sy, p.z, -wx);
    r.a[2][0] = fma(sx, p.z, -wy);
    r.a[2][1] = fma(sy, p.z, wx);
    r.a[2][2] = 1.0 - (xx + yy);
    return r;
}

/// True if Q is a rotation up to 1e-5: no entry of Q^T Q - 1 above 1e-5, determinant positive.
template <class T>
POLHODE_INLINE mask_t<T> is_rotation(const Mat3<T>& m) {
    const auto d = Orthogonality<T>::of(m);
    const auto small = [](const T& x) POLHODE_INLINE_LAMBDA { return abs(x) <= 1e-5; };
    return small(d.xx) & small(d.yy) & small(d.zz) & small(d.xy) & small(d.xz) & small(d.yz) &
           (dot(cross(column(m, 0), column(m, 1)), column(m, 2)) > 0.0);
}

/// The unit quaternion of a rotation matrix, with w >= 0.  For a rotation by pi (w = 0) the
/// component of largest absolute value is positive, the first one if several are equal.
///
/// @param m  a rotation matrix; NaN where is_rotation is false
/// @return   within 4 eps, and within the distance of m from an orthogonal matrix
///
/// Method: 1 + trace etc. are the rows of 4 q q^T, linear in m; the row with the largest diagonal
/// entry, at least 1, divided by its norm.  There is no cancellation, even for a rotation by pi.
template <class T>
POLHODE_INLINE Quaternion<T> to_quaternion(const Mat3<T>& m) {
    const auto& a = m.a;
    const T ww = 1.0 + ((a[0][0] + a[1][1]) + a[2][2]);
    const T xx = 1.0 + ((a[0][0] - a[1][1]) - a[2][2]);
    const T yy = 1.0 + ((a[1][1] - a[0][0]) - a[2][2]);
    const T zz = 1.0 + ((a[2][2] - a[0][0]) - a[1][1]);
    const T wx = a[2][1] - a[1][2], wy = a[0][2] - a[2][0], wz = a[1][0] - a[0][1];
    const T xy = a[0][1] + a[1][0], xz = a[0][2] + a[2][0], yz = a[1][2] + a[2][1];
    Quaternion<T> q{ww, wx, wy, wz};
    T largest = ww;
    q = select(xx > largest, Quaternion<T>{wx, xx, xy, xz}, q);
    largest = max(xx, largest);
    q = select(yy > largest, Quaternion<T>{wy, xy, yy, yz}, q);
    largest = max(yy, largest);
    q = select(zz > largest, Quaternion<T>{wz, xz, yz, zz}, q);
    const T one_over_norm = 1.0 / sqrt(dot(q, q));
    const T factor =
        select(is_rotation(m), select(q.w < 0.0, -one_over_norm, one_over_norm), nan<T>());
    // 0 + changes -0 to 0.
    return {0.0 + factor * q.w, 0.0 + factor * q.x, 0.0 + factor * q.y, 0.0 + factor * q.z};
}

/// The vector v rotated by q / |q|: v + s (w u + qv x u) with u = qv x v, s = 2 / |q|^2
/// [CZ08] eq. (10).
///
/// @param q  any finite quaternion except zero; NaN for zero.  q = 1 returns v exactly
/// @param v  any finite vector
/// @return   within 4 eps |v|
template <class T>
POLHODE_INLINE Vec3<T> rotate(const Quaternion<T>& q, const Vec3<T>& v) {
    const T largest = max_abs(q);
    const Quaternion<T> p = safe_factor(largest) * q;
    const T factor = safe_factor(polhode::max_abs(v));
    const Vec3<T> b = factor * v;
    const T s = 2.0 / dot(p, p);
    const Vec3<T> pv = vector_part(p), u = s * cross(pv, b), w = cross(pv, u);
    const Vec3<T> r{b.x + fma(p.w, u.x, w.x), b.y + fma(p.w, u.y, w.y), b.z + fma(p.w, u.z, w.z)};
    return (1.0 / factor) * r;
}

/// The vector Q v.
template <class T>
POLHODE_INLINE Vec3<T> rotate(const Mat3<T>& m, const Vec3<T>& v) {
    return {dot(row(m, 0), v), dot(row(m, 1), v), dot(row(m, 2), v)};
}

/// The unit quaternion of a rotation vector: (cos |v|/2, sin(|v|/2) v/|v|).
///
/// @param v  angle times axis, radians, |v| < 2^51; NaN beyond, where the angle has no correct
/// digit
/// @return   within eps (2 + |v|); v = 0 gives 1, and a rotation by 2 pi gives -1
template <class T>
POLHODE_INLINE Quaternion<T> exp(const Vec3<T>& v) {
    const T factor = safe_factor(polhode::max_abs(v));
    const Vec3<T> b = factor * v;
    const T size = norm(b);
    const SinCos<T> half = sincos(0.5 * (size / factor));
    // sin(|v|/2)/|v|.  A tiny v is scaled up first; then sin x = x, and |v| is the scaled one.
    const T ratio = select(factor > 1.0, T(0.5), half.sin / size);
    const Vec3<T> r = ratio * select(factor > 1.0, v, b);
    return {half.cos, r.x, r.y, r.z};
}

/// The rotation vector of q / |q|, of length 0 to 2 pi: exp(log(q)) = q, sign included.
///
/// @param q  any finite quaternion except zero; NaN for zero
/// @return   relative error of the vector within 4 eps
///
/// Continuous in q except at q = -1, where the angle is 2 pi and the axis undefined: the result is
/// (2 pi, 0, 0).  log(-q) is the same rotation in the opposite sense, longer by 2 pi - 2 |log q|.
/// Method: twice the angle of (w, |qv|), along qv.  qv has a scale of its own, so that a small
/// angle, for q near 1, has full relative accuracy.
template <class T>
POLHODE_INLINE Vec3<T> log(const Quaternion<T>& q) {
    const T largest = max_abs(q), whole = safe_factor(largest), w = whole * q.w;
    const Vec3<T> v = whole * vector_part(q);
    const T factor = safe_factor(polhode::max_abs(v));
    const Vec3<T> b = factor * v;
    const T size = norm(b), angle = 2.0 * atan2(size / factor, w);
    const Vec3<T> r = (angle / size) * b;
    const T on_axis = select(w == 0.0, nan<T>(), angle);
    return select(size == 0.0, Vec3<T>{on_axis, T(0.0), T(0.0)}, r);
}

/// The shorter of log(q) and log(-q), of length 0 to pi; log(q) for w = 0.
template <class T>
POLHODE_INLINE Vec3<T> log_shortest(const Quaternion<T>& q) {
    return log(select(q.w < 0.0, T(-1.0) * q, q));
}

/// q / |q| for any finite q except zero; NaN for zero and for a q that is not finite.
///
/// @return  within 2 eps
template <class T>
POLHODE_INLINE Quaternion<T> normalize(const Quaternion<T>& q) {
    const Quaternion<T> p = safe_factor(max_abs(q)) * q;
    return (T(1.0) / sqrt(dot(p, p))) * p;
}

/// The angle of the rotation between p / |p| and q / |q|, 0 to pi; the same for p and -p.
///
/// @return  within 2 eps (1 + angle); 0 for p = q and p = -q
///
/// Method: on the unit sphere p and q are half of this angle apart, or p and -q are.  The angle of
/// two unit vectors is 2 atan2(|p - q|, |p + q|), with no cancellation for any angle.
template <class T>
POLHODE_INLINE T angle_between(const Quaternion<T>& p, const Quaternion<T>& q) {
    const Quaternion<T> a = normalize(p), b = normalize(q);
    const auto distance = [&](const T& sign) POLHODE_INLINE_LAMBDA {  // |a + sign b|
        const Quaternion<T> d{
            fma(sign, b.w, a.w), fma(sign, b.x, a.x), fma(sign, b.y, a.y), fma(sign, b.z, a.z)};
        const T factor = safe_factor(max_abs(d));
        const Quaternion<T> scaled = factor * d;
        return sqrt(dot(scaled, scaled)) / factor;
    };
    const T difference = distance(T(-1.0)), sum = distance(T(1.0));
    return 4.0 * atan2(min(difference, sum), max(difference, sum));
}

/// The rotation at the part s of the shortest way from p / |p| (s = 0) to q / |q| (s = 1), at a
/// constant rate: p exp(s log(p^-1 q)), on the side of p.
///
/// @return  within 2 eps (1 + |s|); p / |p| for s = 0
template <class T>
POLHODE_INLINE Quaternion<T> slerp(const Quaternion<T>& p, const Quaternion<T>& q, const T& s) {
    const Quaternion<T> a = normalize(p);
    return a * exp(s * log_shortest(conjugate(a) * normalize(q)));
}

POLHODE_NAMESPACE_END

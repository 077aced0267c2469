#pragma once

/// @file
/// Bodies whose body axes are not their principal axes.

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/mat3.hpp"

POLHODE_NAMESPACE_BEGIN

/// The constant rotation of one pack of bodies from body axes to principal axes.
///
/// A has the principal axes in its columns, in body components.  With w in principal axes,
/// v = A w in body axes, and a rotation q -> q dq of the principal axes is the rotation by
/// (dq_0, A dq_v) of the body axes.
template <class T>
struct BodyAxes {
    Mat3<T> A;

    POLHODE_INLINE static BodyAxes load(const View& v, std::ptrdiff_t i, int count) {
        T c[9];
        batch::load(v, i, count, c);
        return {{{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}, {c[6], c[7], c[8]}}}};
    }
    POLHODE_INLINE Vec3<T> to_principal(const Vec3<T>& v) const {
        return {dot(column(A, 0), v), dot(column(A, 1), v), dot(column(A, 2), v)};
    }
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& w) const {
        return {dot(row(A, 0), w), dot(row(A, 1), w), dot(row(A, 2), w)};
    }
    POLHODE_INLINE Quaternion<T> to_body(const Quaternion<T>& dq) const {
        const Vec3<T> v = to_body(vector_part(dq));
        return {dq.w, v.x, v.y, v.z};
    }
};

POLHODE_NAMESPACE_END

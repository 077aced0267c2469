#pragma once

#include <type_traits>

#include "polhode/batch/views.hpp"
#include "polhode/rotation_step.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// The attitude of one pack of bodies for a torque: from space to body components.
template <class T, bool Matrix>
struct Frame {
    std::conditional_t<Matrix, Mat3<T>, Quaternion<T>> attitude;

    POLHODE_INLINE static Frame load(const View& v, std::ptrdiff_t i, int count) {
        if constexpr (Matrix) return {batch::load_mat3<T>(v, i, count)};
        if constexpr (!Matrix) return {batch::load_quaternion<T>(v, i, count)};
    }
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& v) const { return in_body_frame(attitude, v); }
    POLHODE_INLINE Vec3<T> to_space(const Vec3<T>& v) const { return rotated(attitude, v); }
};

/// The torque of a potential that is quadratic in one direction u of the space frame; u is in the
/// body frame:
///
///     potential u . S u / 2,   torque = u x S u   (body frame)
///
/// @param S  symmetric, (xx, yy, zz, yz, xz, xy)
template <class T>
struct QuadraticForm {
    T xx, yy, zz, yz, xz, xy;

    POLHODE_INLINE static QuadraticForm load(const T* p) {
        return {p[0], p[1], p[2], p[3], p[4], p[5]};
    }
    /// S u.
    POLHODE_INLINE Vec3<T> times(const Vec3<T>& u) const {
        return {fma(xx, u.x, fma(xy, u.y, xz * u.z)),
                fma(xy, u.x, fma(yy, u.y, yz * u.z)),
                fma(xz, u.x, fma(yz, u.y, zz * u.z))};
    }
    POLHODE_INLINE Vec3<T> torque(const Vec3<T>& u) const { return cross(u, times(u)); }
    /// Rate of the torque while u changes at w.
    POLHODE_INLINE Vec3<T> derivative(const Vec3<T>& u, const Vec3<T>& w) const {
        return cross(w, times(u)) + cross(u, times(w));
    }
    /// u . S u.
    POLHODE_INLINE T value(const Vec3<T>& u) const { return dot(u, times(u)); }
    POLHODE_INLINE T potential(const Vec3<T>& u) const { return 0.5 * value(u); }
    POLHODE_INLINE T row_sum() const {
        return max(max(abs(xx) + abs(xy) + abs(xz), abs(yy) + abs(xy) + abs(yz)),
                   abs(zz) + abs(xz) + abs(yz));
    }
    /// A bound of the largest difference of eigenvalues, at most a third too large for a diagonal
    /// S.
    POLHODE_INLINE T spread() const {
        const T mean = (1.0 / 3) * (xx + yy + zz);
        return 2.0 * QuadraticForm{xx - mean, yy - mean, zz - mean, yz, xz, xy}.row_sum();
    }
    /// det(S) S^-1.
    POLHODE_INLINE QuadraticForm cofactors() const {
        return {fma(yy, zz, -(yz * yz)),
                fma(xx, zz, -(xz * xz)),
                fma(xx, yy, -(xy * xy)),
                fma(xy, xz, -(xx * yz)),
                fma(xy, yz, -(yy * xz)),
                fma(xz, yz, -(zz * xy))};
    }
};

POLHODE_NAMESPACE_END

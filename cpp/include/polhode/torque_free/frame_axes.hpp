#pragma once

/// The axes along which the exact steps are written, and complex numbers.

#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// A complex number.
template <class T>
struct Complex {
    T re, im;

    POLHODE_INLINE friend Complex operator*(const Complex& a, const Complex& b) {
        return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
    }
    POLHODE_INLINE Complex conjugate() const { return {re, -im}; }
    /// Divided by the power of two of its larger part: only its argument is needed.
    POLHODE_INLINE Complex rescaled() const {
        const T inverse = power_of_two_reciprocal(power_of_two_below(max(abs(re), abs(im))));
        return {inverse * re, inverse * im};
    }
    POLHODE_INLINE friend Complex select(const mask_t<T>& m, const Complex& a, const Complex& b) {
        using polhode::select;
        return {select(m, a.re, b.re), select(m, a.im, b.im)};
    }
};

/// The sorted axes (1, 2, 3) or (3, -2, 1), then a half turn about the first of these if the third
/// component of m would be negative.  Free rotation has the same equations along them: where they
/// are swapped, with c1 and c2 exchanged and kappa negative.
template <class T>
struct FrameAxes {
    mask_t<T> swapped;  ///< (3, -2, 1)
    T sign2, sign3;     ///< the signs that components 2 and 3 took

    POLHODE_INLINE static FrameAxes of(const mask_t<T>& swapped, const Vec3<T>& m) {
        const T m3 = select(swapped, m.x, m.z);
        return {swapped, flip_where(swapped, m3), m3};
    }
    /// The third component along these axes of a vector along the sorted axes.
    POLHODE_INLINE T third(const Vec3<T>& v) const {
        return flip_sign(select(swapped, v.x, v.z), sign3);
    }
    /// A vector along the sorted axes -> along these.
    POLHODE_INLINE Vec3<T> from_sorted(const Vec3<T>& v) const {
        return {select(swapped, v.z, v.x), flip_sign(v.y, sign2), third(v)};
    }
    /// A vector along these axes -> along the sorted axes.
    POLHODE_INLINE Vec3<T> to_sorted(const Vec3<T>& v) const {
        const T z = flip_sign(v.z, sign3);
        return {select(swapped, z, v.x), flip_sign(v.y, sign2), select(swapped, v.x, z)};
    }
};

POLHODE_NAMESPACE_END

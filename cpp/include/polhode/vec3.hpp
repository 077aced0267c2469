#pragma once

#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN()

/// True if finite.
template <class T>
POLHODE_INLINE mask_t<T> is_finite(const T& x) {
    return abs(x) <= 0x1.fffffffffffffp1023;
}

/// A vector of three components.
template <class T>
struct Vec3 {
    T x, y, z;

    POLHODE_INLINE friend Vec3 operator+(const Vec3& a, const Vec3& b) {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
    POLHODE_INLINE friend Vec3 operator-(const Vec3& a, const Vec3& b) {
        return {a.x - b.x, a.y - b.y, a.z - b.z};
    }
    POLHODE_INLINE friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
    POLHODE_INLINE friend Vec3 operator*(const T& s, const Vec3& a) {
        return {s * a.x, s * a.y, s * a.z};
    }
    POLHODE_INLINE friend T dot(const Vec3& a, const Vec3& b) {
        return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
    }
    POLHODE_INLINE friend Vec3 cross(const Vec3& a, const Vec3& b) {
        return {
            fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)), fma(a.x, b.y, -(a.y * b.x))};
    }
    POLHODE_INLINE friend T norm(const Vec3& a) { return sqrt(dot(a, a)); }
    /// True if every component is finite.
    POLHODE_INLINE friend mask_t<T> is_finite(const Vec3& a) {
        return is_finite(a.x) & is_finite(a.y) & is_finite(a.z);
    }
    /// The components of b where those of a are not zero, else 0.
    POLHODE_INLINE friend Vec3 where_nonzero(const Vec3& a, const Vec3& b) {
        const T zero(0.0);
        return {select(a.x == zero, zero, b.x),
                select(a.y == zero, zero, b.y),
                select(a.z == zero, zero, b.z)};
    }
    /// Largest absolute value of the components; they must not be NaN.
    POLHODE_INLINE friend T largest_component(const Vec3& a) {
        return max(max(abs(a.x), abs(a.y)), abs(a.z));
    }
    /// a + s b.
    POLHODE_INLINE friend Vec3 axpy(const Vec3& a, const T& s, const Vec3& b) {
        return {fma(s, b.x, a.x), fma(s, b.y, a.y), fma(s, b.z, a.z)};
    }
    /// Component-wise product.
    POLHODE_INLINE friend Vec3 times(const Vec3& a, const Vec3& b) {
        return {a.x * b.x, a.y * b.y, a.z * b.z};
    }
};

template <class T>
POLHODE_INLINE Vec3<T> select(const mask_t<T>& m, const Vec3<T>& a, const Vec3<T>& b) {
    return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}
/// Largest absolute value of the components; NaN or infinite if a component is.
template <class T>
POLHODE_INLINE T max_abs(const Vec3<T>& a) {
    const T ax = abs(a.x);
    const T ay = abs(a.y);
    const T az = abs(a.z);
    // This order preserves a NaN: max returns its second argument if either is NaN.
    const T largest = select((ax >= ay) | is_nan(ax), ax, ay);
    return select((largest >= az) | is_nan(largest), largest, az);
}

POLHODE_NAMESPACE_END

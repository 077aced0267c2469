#pragma once

#include "polhode/scalar/constants.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN()

/// A quaternion, scalar first, Hamilton product [CZ08] Sec. 1.4.
template <class T>
struct Quaternion {
    T w, x, y, z;

    /// p q.  The products with q.w are added last.  Then a q near 1 changes p only by its small
    /// part, and q = 1 returns p bit for bit.
    POLHODE_INLINE friend Quaternion operator*(const Quaternion& p, const Quaternion& q) {
        return {fma(p.w, q.w, fma(-p.x, q.x, fma(-p.y, q.y, -(p.z * q.z)))),
                fma(p.x, q.w, fma(p.w, q.x, fma(p.y, q.z, -(p.z * q.y)))),
                fma(p.y, q.w, fma(p.w, q.y, fma(p.z, q.x, -(p.x * q.z)))),
                fma(p.z, q.w, fma(p.w, q.z, fma(p.x, q.y, -(p.y * q.x))))};
    }
    POLHODE_INLINE friend T dot(const Quaternion& p, const Quaternion& q) {
        return fma(p.w, q.w, fma(p.x, q.x, fma(p.y, q.y, p.z * q.z)));
    }
    POLHODE_INLINE friend Quaternion conjugate(const Quaternion& q) {
        return {q.w, -q.x, -q.y, -q.z};
    }
    POLHODE_INLINE friend Quaternion operator+(const Quaternion& p, const Quaternion& q) {
        return {p.w + q.w, p.x + q.x, p.y + q.y, p.z + q.z};
    }
    POLHODE_INLINE friend Quaternion operator-(const Quaternion& p, const Quaternion& q) {
        return {p.w - q.w, p.x - q.x, p.y - q.y, p.z - q.z};
    }
    /// p + s q.
    POLHODE_INLINE friend Quaternion axpy(const Quaternion& p, const T& s, const Quaternion& q) {
        return {fma(s, q.w, p.w), fma(s, q.x, p.x), fma(s, q.y, p.y), fma(s, q.z, p.z)};
    }
    POLHODE_INLINE friend Quaternion operator*(const T& s, const Quaternion& q) {
        return {s * q.w, s * q.x, s * q.y, s * q.z};
    }
    POLHODE_INLINE friend Vec3<T> vector_part(const Quaternion& q) { return {q.x, q.y, q.z}; }
    /// One Newton step of q towards unit norm if |q|^2 differs from 1 by more than `within`;
    /// otherwise returns q bit for bit.  If |q| differs from 1 by at most 2^-26, the result differs
    /// by at most eps.
    POLHODE_INLINE friend Quaternion renormalized(const Quaternion& q, double within) {
        const T excess = dot(q, q) - 1.0;
        const T correction = select(abs(excess) > within, -0.5 * excess, T(0.0));
        return axpy(q, correction, q);
    }
};

template <class T>
POLHODE_INLINE Quaternion<T> select(const mask_t<T>& m,
                                    const Quaternion<T>& a,
                                    const Quaternion<T>& b) {
    return {select(m, a.w, b.w), select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}

/// q / |q|.  NaN for zero, and where |q|^2 overflows, as after a step that is far too long.
template <class T>
POLHODE_INLINE Quaternion<T> over_norm(const Quaternion<T>& q) {
    const T square = dot(q, q);
    return select(square < infinity<T>(), T(1.0) / sqrt(square), nan<T>()) * q;
}

/// q / |q| for any finite q except zero, without overflow or underflow; NaN for zero and for a q
/// with a component that is not finite.
template <class T>
POLHODE_INLINE Quaternion<T> normalised(const Quaternion<T>& q) {
    const T largest = max_abs(Vec3<T>{max_abs(Vec3<T>{q.w, q.x, q.y}), q.z, T(0.0)});
    // Two factors: a single factor would overflow for a subnormal q.
    const T scale = min(max(power_of_two_below(largest), 0x1p-1000), 0x1p1000);
    const T inverse = power_of_two_reciprocal(scale);
    Quaternion<T> p = inverse * q;
    const mask_t<T> subnormal = largest < 0x1p-1000;
    p = select(subnormal, T(0x1p74) * p, p);
    return (T(1.0) / sqrt(dot(p, p))) * p;
}

POLHODE_NAMESPACE_END

#pragma once

#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(bodies)

/// Angular momentum m_i = I_i omega_i, body frame.  Each component is correctly rounded.
template <class T>
POLHODE_INLINE Vec3<T> momentum(const Vec3<T>& inertia, const Vec3<T>& omega) {
    return {inertia.x * omega.x, inertia.y * omega.y, inertia.z * omega.z};
}

/// The moments, with moments below 4 eps times the largest replaced by zero.
template <class T>
POLHODE_INLINE Vec3<T> zeroed(const Vec3<T>& inertia) {
    const T zero_below = 4 * epsilon_v<T> * max_abs(inertia);
    return {select(abs(inertia.x) <= zero_below, T(0.0), inertia.x),
            select(abs(inertia.y) <= zero_below, T(0.0), inertia.y),
            select(abs(inertia.z) <= zero_below, T(0.0), inertia.z)};
}

/// Angular velocity omega_i = m_i / I_i, body frame; 0 about an axis whose moment counts as zero (a
/// rod has no momentum about it).  Each component is correctly rounded.
template <class T>
POLHODE_INLINE Vec3<T> omega(const Vec3<T>& inertia, const Vec3<T>& m) {
    const Vec3<T> moments = zeroed(inertia);
    return {select(moments.x == 0.0, 0.0 * m.x, m.x / moments.x),
            select(moments.y == 0.0, 0.0 * m.y, m.y / moments.y),
            select(moments.z == 0.0, 0.0 * m.z, m.z / moments.z)};
}

/// Kinetic energy (1/2) sum m_i^2 / I_i.
///
/// @param inertia  principal moments in any order, not negative; a zero moment contributes nothing
/// @return         within 2 eps; overflows or underflows only if the energy does
template <class T>
POLHODE_INLINE T energy(const Vec3<T>& inertia, const Vec3<T>& m) {
    const Vec3<T> w = omega(inertia, m);
    // m (m/I), not m^2/I: |m| may be 1e300.
    return fma(0.5 * m.x, w.x, fma(0.5 * m.y, w.y, (0.5 * m.z) * w.z));
}

/// Casimir (1/2) |m|^2, whose gradient is m.  Within 2 eps.
template <class T>
POLHODE_INLINE T casimir(const Vec3<T>& m) {
    return fma(0.5 * m.x, m.x, fma(0.5 * m.y, m.y, (0.5 * m.z) * m.z));
}

POLHODE_NAMESPACE_END

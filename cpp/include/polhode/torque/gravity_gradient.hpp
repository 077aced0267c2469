#pragma once

#include "polhode/scalar/sincos.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// The gravity gradient on a satellite in a given circular orbit.
///
///     torque = 3 n^2 r x I r,   r = Q^T (p cos n t + w sin n t),   potential (3/2) n^2 r . I r
///
/// r the direction from the planet's centre, n the mean motion.  The part of the potential that
/// does not depend on the attitude, -n^2 trace(I)/2, is left out.
///
/// @param parameters  3 n^2 I (xx, yy, zz, yz, xz, xy), p and w (space frame, orthonormal), n
/// Error: a few eps 3 n^2 |I|, plus the rounding error of n t, eps |n t|.
struct GravityGradient {
    static constexpr int parameters = 13;
    static constexpr TorqueInfo info{"gravity_gradient", parameters, true, false, true, true};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> direction(const T* p, double t, const F& frame) {
        const SinCos<T> a = sincos(t * p[12]);
        return frame.to_body({fma(a.cos, p[6], a.sin * p[9]),
                              fma(a.cos, p[7], a.sin * p[10]),
                              fma(a.cos, p[8], a.sin * p[11])});
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>&, const F& frame) {
        return QuadraticForm<T>::load(p).torque(direction(p, t, frame));
    }
    /// While the body turns at v, r' = r x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p,
                                             double t,
                                             const Vec3<T>& v,
                                             const F& frame) {
        const Vec3<T> r = direction(p, t, frame);
        return QuadraticForm<T>::load(p).derivative(r, cross(r, v));
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double t, const F& frame) {
        return QuadraticForm<T>::load(p).potential(direction(p, t, frame));
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

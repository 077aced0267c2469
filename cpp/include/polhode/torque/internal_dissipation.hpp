#pragma once

#include "polhode/so3.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// Dissipation inside the body, which does not change the momentum in space: the body turns at
/// omega + d in place of omega,
///
///     Q' = Q hat(omega + d),   m' = m x (omega + d),   d = R (m x omega),   omega = J m
///
/// energy' = -(m x omega) . R (m x omega).  R = alpha 1: double bracket dissipation [BKMR96].
///
/// @param parameters  R, J = I^-1 (body frame), each (xx, yy, zz, yz, xz, xy)
struct InternalDissipation {
    static constexpr int parameters = 12;
    static constexpr TorqueInfo info{"internal_dissipation", parameters, false, true, false, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T*, double, const Vec3<T>&, const F&) {
        return {T(0.0), T(0.0), T(0.0)};
    }
    /// Rotation vector of Q' = Q hat(d) over the time s: one step of the Munthe-Kaas method of
    /// order 4 [MK98].  NaN where the method would not come to rest at the axis of the greatest
    /// moment: |m| d decreases there at most at the rate |R| |m|^2 (the spread of J).
    template <class T>
    POLHODE_INLINE static Vec3<T> turn(const T* p, double s, const Vec3<T>& m) {
        const auto R = QuadraticForm<T>::load(p), J = QuadraticForm<T>::load(p + 6);
        const T rate = T(std::abs(s)) * R.row_sum() * (J.spread() * dot(m, m));
        const auto after = [&](const Vec3<T>& v) POLHODE_INLINE_LAMBDA {
            const Vec3<T> n = in_body_frame(so3::exp(v), m);
            return T(s) * R.times(cross(n, J.times(n)));
        };
        const Vec3<T> a = after({T(0.0), T(0.0), T(0.0)});
        const Vec3<T> b = after(T(0.5) * a);
        const Vec3<T> c = after(axpy(T(0.5) * b, T(0.125), cross(a, b)));
        const Vec3<T> d = after(c);
        const Vec3<T> sum = a + T(2.0) * (b + c) + d;
        const T weight = select(rate <= 3.0, T(1.0 / 6), nan<T>());
        return weight * axpy(sum, T(0.5), cross(a, d));
    }
};

POLHODE_NAMESPACE_END

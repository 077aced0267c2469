#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// A top whose weight is along e3 of space and whose centre of mass is on e3 of the body.
///
///     torque = w u x e3,   u = Q^T e3,   potential w u3
///
/// @param parameters  w
/// Error: a few eps |w|.  [Krysl07] Sec. 5.2, there w = 20.
struct LagrangeTop {
    static constexpr int parameters = 1;
    static constexpr TorqueInfo info{"lagrange_top", parameters, false, false, true, true};

    template <class T, class Frame>
    POLHODE_INLINE static Vec3<T> weight(const T* p, const Frame& frame) {
        return frame.to_body({T(0.0), T(0.0), p[0]});
    }
    template <class T, class Frame>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const Frame& frame) {
        const Vec3<T> u = weight(p, frame);
        return {u.y, -u.x, T(0.0)};
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class Frame>
    POLHODE_INLINE static Vec3<T> derivative(const T* p,
                                             double,
                                             const Vec3<T>& v,
                                             const Frame& frame) {
        const Vec3<T> w = cross(weight(p, frame), v);
        return {w.y, -w.x, T(0.0)};
    }
    template <class T, class Frame>
    POLHODE_INLINE static T potential(const T* p, double, const Frame& frame) {
        return weight(p, frame).z;
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// A heavy top: a constant weight u0 in space pulls at the point `axis` of the body.
///
///     torque = u x axis,   u = Q^T u0,   potential u . axis
///
/// @param parameters  u0 (space frame), axis (body frame)
/// Error: a few eps |u0| |axis|.  [CZ08] Sec. 4.3, there f = (u2, -u1, 0) = u x e3.
struct HeavyTop {
    static constexpr int parameters = 6;
    static constexpr TorqueInfo info{"heavy_top", parameters, false, false, true, true};

    template <class T, class Frame>
    POLHODE_INLINE static Vec3<T> torque(const T (&p)[parameters],
                                         double,
                                         const Vec3<T>&,
                                         const Frame& frame) {
        return cross(frame.to_body({p[0], p[1], p[2]}), {p[3], p[4], p[5]});
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class Frame>
    POLHODE_INLINE static Vec3<T> derivative(const T (&p)[parameters],
                                             double,
                                             const Vec3<T>& v,
                                             const Frame& frame) {
        return cross(cross(frame.to_body({p[0], p[1], p[2]}), v), {p[3], p[4], p[5]});
    }
    template <class T, class Frame>
    POLHODE_INLINE static T potential(const T (&p)[parameters], double, const Frame& frame) {
        return dot(frame.to_body({p[0], p[1], p[2]}), {p[3], p[4], p[5]});
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

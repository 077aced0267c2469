#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// A constant torque, in the body (Space = false) or in space: then f = Q^T c.
///
/// @param parameters  c
template <bool Space>
struct Constant {
    static constexpr int parameters = 3;
    static constexpr TorqueInfo info{
        Space ? "constant_space" : "constant_body", parameters, false, false, false, true};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        const Vec3<T> c{p[0], p[1], p[2]};
        if constexpr (Space) return frame.to_body(c);
        return c;
    }
    /// While the body turns at v, (Q^T c)' = Q^T c x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        if constexpr (Space) return cross(frame.to_body({p[0], p[1], p[2]}), v);
        return {T(0.0), T(0.0), T(0.0)};
    }
};

/// A torque that is a piecewise cubic of time, in the body or in space.
///
/// @param parameters  of an interval: c0, c1, c2, c3, three components each; c0 + c1 s + c2 s^2 +
///                    c3 s^3 at the time s after its origin
template <bool Space>
struct Prescribed {
    static constexpr int parameters = 12;
    static constexpr TorqueInfo info{
        Space ? "prescribed_space" : "prescribed_body", parameters, true, false, false, true};

    template <class T>
    POLHODE_INLINE static T cubic(const T* p, double s) {
        const T x(s);
        return fma(fma(fma(p[9], x, p[6]), x, p[3]), x, p[0]);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double s, const Vec3<T>& m, const F& frame) {
        const T c[3] = {cubic(p, s), cubic(p + 1, s), cubic(p + 2, s)};
        return Constant<Space>::torque(c, s, m, frame);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p,
                                             double s,
                                             const Vec3<T>& v,
                                             const F& frame) {
        const T c[3] = {cubic(p, s), cubic(p + 1, s), cubic(p + 2, s)};
        return Constant<Space>::derivative(c, s, v, frame);
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

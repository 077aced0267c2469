#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

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
/// @param parameters  the cubic of an interval
template <bool Space>
struct Prescribed : Constant<Space> {
    static constexpr int parameters = cubic_numbers;
    static constexpr int tabulated = cubic_numbers;
    static constexpr TorqueInfo info{
        Space ? "prescribed_space" : "prescribed_body", parameters, true, false, false, true};

    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        const Vec3<T> c = cubic(p, t);
        p[0] = c.x, p[1] = c.y, p[2] = c.z;
    }
};

POLHODE_NAMESPACE_END

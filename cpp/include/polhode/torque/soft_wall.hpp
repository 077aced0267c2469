#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// A charge in the body and a charge fixed in space below it, with a soft wall between them.
///
///     V = c/r - (b/10) r^-10,   r = d + z,   z = u . axis,   u = Q^T e3
///     torque = V' u x axis,   V' = -c r^-2 + b r^-11
///
/// @param parameters  c, b, d, axis (body frame) Error: 16 eps |V'|, plus the effect of rounding
/// the sum r, eps d V''.  [Krysl07] Sec. 5.4, where c = 1, b = 0.01, d = 1.1, axis = e3 (as in its
/// figures; its text has the opposite sign).
struct SoftWall {
    static constexpr int parameters = 6;
    static constexpr TorqueInfo info{"soft_wall", parameters, false, false, true, true};

    template <class T>
    struct Potential {
        T inverse, slope, curvature;

        POLHODE_INLINE static Potential at(const T* p, T z) {
            const T r = 1.0 / (p[2] + z);
            const T r2 = r * r, r4 = r2 * r2, r9 = r4 * r4 * r;
            // V' = r^2 (b r^9 - c), V'' = r^3 (2 c - 11 b r^9).
            return {r, r2 * fma(p[1], r9, -p[0]), r2 * r * fma(-11.0 * p[1], r9, 2.0 * p[0])};
        }
    };
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> up(const F& frame) {
        return frame.to_body({T(0.0), T(0.0), T(1.0)});
    }
    template <class T>
    POLHODE_INLINE static Vec3<T> axis(const T* p) {
        return {p[3], p[4], p[5]};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        const Vec3<T> u = up<T>(frame);
        return Potential<T>::at(p, dot(u, axis(p))).slope * cross(u, axis(p));
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        const Vec3<T> u = up<T>(frame), w = cross(u, v), a = axis(p);
        const auto V = Potential<T>::at(p, dot(u, a));
        return (V.curvature * dot(w, a)) * cross(u, a) + V.slope * cross(w, a);
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double, const F& frame) {
        const T r = Potential<T>::at(p, dot(up<T>(frame), axis(p))).inverse;
        const T r2 = r * r, r4 = r2 * r2, r9 = r4 * r4 * r;
        return r * fma(-0.1 * p[1], r9, p[0]);
    }
};

POLHODE_NAMESPACE_END

#pragma once

#include "polhode/taylor/series.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// A heavy top: a constant weight u0 in space pulls at the point `axis` of the body.
///
///     torque = u x axis,   u = Q^T u0,   potential u . axis
///
/// @param parameters  u0 (space frame), axis (body frame)
/// Error: a few eps |u0| |axis|.  [CZ08] Sec. 4.3, there f = (u2, -u1, 0) = u x e3.
struct HeavyTop {
    static constexpr int parameters = 6;
    static constexpr TorqueInfo info{"heavy_top", parameters, false, false, true, true};

    /// u0.
    template <class T>
    POLHODE_INLINE static Vec3<T> weight(const T* p) {
        return {p[0], p[1], p[2]};
    }
    template <class T>
    POLHODE_INLINE static Vec3<T> axis(const T* p) {
        return {p[3], p[4], p[5]};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        return cross(frame.to_body(weight(p)), axis(p));
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        return cross(cross(frame.to_body(weight(p)), v), axis(p));
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double, const F& frame) {
        return dot(frame.to_body(weight(p)), axis(p));
    }
    /// u' = 2 u x w, see taylor/high_order.hpp.
    template <class T>
    struct Series {
        taylor::VectorSeries<T> u;
        taylor::Vector<T> axis;

        template <class F>
        POLHODE_INLINE Series(const T* p, double, const F& frame, const T& per_unit)
            : Series({p[0], p[1], p[2]}, {p[3], p[4], p[5]}, frame, per_unit) {}
        template <class F>
        POLHODE_INLINE Series(const Vec3<T>& u0,
                              const Vec3<T>& a,
                              const F& frame,
                              const T& per_unit)
            : axis(taylor::Vector<T>::of(per_unit * a)) {
            u.set(0, taylor::Vector<T>::of(frame.to_body(u0)));
        }
        template <class... Sums>
        POLHODE_INLINE taylor::Vector<T> next(const taylor::Order<T>& at, Sums&... sums) {
            taylor::Cross<T> rate{u, at.w};
            taylor::convolve<T>(at.k, sums..., rate);
            u.set(at.k + 1, (2.0 * at.step) * rate.value());
            return taylor::cross(u, at.k, axis);
        }
    };
};

/// A dipole in a uniform field that is a piecewise cubic of time: a heavy top with the weight
/// -field.
///
/// @param parameters  the moment (body frame); the cubic of an interval (space frame)
struct DipoleInField : HeavyTop {
    static constexpr int parameters = 3 + cubic_numbers;
    static constexpr int tabulated = cubic_numbers;
    static constexpr TorqueInfo info{"dipole", parameters, true, false, true, true};

    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        const Vec3<T> field = cubic(p + 3, t);
        for (int k = 0; k < 3; ++k) p[3 + k] = p[k];
        p[0] = -field.x, p[1] = -field.y, p[2] = -field.z;
    }
};

/// A top whose weight is along e3 of space and whose centre of mass is on e3 of the body.
///
///     torque = w u x e3,   u = Q^T e3,   potential w u3
///
/// @param parameters  w
/// Error: a few eps |w|.  [Krysl07] Sec. 5.2, there w = 20.
struct LagrangeTop {
    static constexpr int parameters = 1;
    static constexpr TorqueInfo info{"lagrange_top", parameters, false, false, true, true};

    template <class T>
    POLHODE_INLINE static Vec3<T> weight(const T* p) {
        return {T(0.0), T(0.0), p[0]};
    }
    template <class T>
    POLHODE_INLINE static Vec3<T> axis(const T*) {
        return {T(0.0), T(0.0), T(1.0)};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        const Vec3<T> u = frame.to_body(weight(p));
        return {u.y, -u.x, T(0.0)};
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        const Vec3<T> w = cross(frame.to_body(weight(p)), v);
        return {w.y, -w.x, T(0.0)};
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double, const F& frame) {
        return frame.to_body(weight(p)).z;
    }
    template <class T>
    struct Series : HeavyTop::Series<T> {
        template <class F>
        POLHODE_INLINE Series(const T* p, double, const F& frame, const T& per_unit)
            : HeavyTop::Series<T>(
                  {T(0.0), T(0.0), p[0]}, {T(0.0), T(0.0), T(1.0)}, frame, per_unit) {}
    };
};

POLHODE_NAMESPACE_END

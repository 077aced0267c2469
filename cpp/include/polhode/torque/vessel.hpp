#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/torque/damping.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// The restoring moments of a ship: buoyancy acts at the metacentres above its centre of mass.
///
///     torque = u x S u,   u = Q^T e3,   potential u . S u / 2,   S = m_v g diag(GM_L, GM_T, 0)
///
/// @param parameters  S (xx, yy, zz, yz, xz, xy)
/// [Gus10] eq. (43), there -Q^T g_r with Q^T g_r = m_v g (GM_L u1, GM_T u2, 0) x u.
struct Restoring {
    static constexpr int parameters = 6;
    static constexpr TorqueInfo info{"restoring", parameters, false, false, true, true};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> up(const F& frame) {
        return frame.to_body({T(0.0), T(0.0), T(1.0)});
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        return QuadraticForm<T>::load(p).torque(up<T>(frame));
    }
    /// While the body turns at v, u' = u x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        const Vec3<T> u = up<T>(frame);
        return QuadraticForm<T>::load(p).derivative(u, cross(u, v));
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double, const F& frame) {
        return QuadraticForm<T>::load(p).potential(up<T>(frame));
    }
};

/// A ship with damping, one of the types in damping.hpp.
///
///     torque = u x S u - D I^-1 m,   potential u . S u / 2
///
/// @param parameters  S (as Restoring); those of the damping
/// The kick is exact: [Gus10] eq. (45) and what follows it, there K = -k.
template <class D>
struct DampedVessel {
    static constexpr int parameters = 6 + D::parameters;
    static constexpr TorqueInfo info{
        D::parameters == 3 ? "vessel" : "coupled_vessel", parameters, false, true, true, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> linear(const T* p, double t, const Vec3<T>& m, const F& frame) {
        return D::torque(p + 6, t, m, frame);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>& m, const F& frame) {
        return Restoring::torque(p, t, m, frame) + linear(p, t, m, frame);
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double t, const F& frame) {
        return Restoring::potential(p, t, frame);
    }
    template <class T>
    POLHODE_INLINE static auto prepare(const T* p, double s) {
        return D::prepare(p + 6, s);
    }
    template <class T, class Prepared, class F>
    POLHODE_INLINE static Vec3<T> kick(const T* p,
                                       double t,
                                       const Prepared& prepared,
                                       const Vec3<T>& m,
                                       const Vec3<T>& f,
                                       const F& frame) {
        const Vec3<T> all = f + Restoring::torque(p, t, m, frame);
        return D::kick(p + 6, t, prepared, m, all, frame);
    }
};

POLHODE_NAMESPACE_END

#pragma once

#include "polhode/scalar/elementary.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

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

namespace detail {

/// m' = f - k m over the time s: m <- decay m + weight f, decay = e^(-k s), weight = s phi(-k s),
/// phi(z) = (e^z - 1)/z.
///
/// Error: a few eps of |m| + |s f|, also for k = 0, where [Gus10] uses another formula.
template <class T>
struct Damping {
    Vec3<T> decay, weight;
    Vec3<T> growth;  ///< decay - 1
    T s;

    POLHODE_INLINE static Damping of(const T* k, double s) {
        Damping d;
        along(k[0], s, d.decay.x, d.weight.x, d.growth.x);
        along(k[1], s, d.decay.y, d.weight.y, d.growth.y);
        along(k[2], s, d.decay.z, d.weight.z, d.growth.z);
        d.s = T(s);
        return d;
    }
    /// The change by the damping in addition to m <- m + s f: zero for k = 0.
    POLHODE_INLINE Vec3<T> change(const Vec3<T>& m, const Vec3<T>& f) const {
        return {fma(growth.x, m.x, (weight.x - s) * f.x),
                fma(growth.y, m.y, (weight.y - s) * f.y),
                fma(growth.z, m.z, (weight.z - s) * f.z)};
    }
    POLHODE_INLINE Vec3<T> operator()(const Vec3<T>& m, const Vec3<T>& f) const {
        return {fma(decay.x, m.x, weight.x * f.x),
                fma(decay.y, m.y, weight.y * f.y),
                fma(decay.z, m.z, weight.z * f.z)};
    }

  private:
    POLHODE_INLINE static void along(T k, double s, T& decay, T& weight, T& growth) {
        const T z = -s * k;
        const Exponential<T> e = exponential(z);
        const mask_t<T> still = z == 0.0;
        const T phi = select(still, T(1.0), e.expm1 / select(still, T(1.0), z));
        // Beyond this, e^z overflows or underflows, and the result of `exponential` is meaningless.
        const mask_t<T> beyond = z > 709.0;
        decay = select(beyond, nan<T>(), e.exp);
        growth = select(beyond, nan<T>(), select(still, T(0.0), e.expm1));
        weight = s * phi;
    }
};

/// What ships with damping have in common: parameters S (as Restoring), k, ...
struct Damped {
    template <class T>
    POLHODE_INLINE static Damping<T> prepare(const T* p, double s) {
        return Damping<T>::of(p + 6, s);
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double t, const F& frame) {
        return Restoring::potential(p, t, frame);
    }
};

}  // namespace detail

/// A ship with restoring moments and damping along the principal axes.
///
///     torque = u x S u - D I^-1 m,   potential u . S u / 2
///
/// @param parameters  S (as Restoring), k = D/I of each axis
/// The kick is exact: [Gus10] eq. (45) and what follows it, there K = -k.
struct Vessel : detail::Damped {
    static constexpr int parameters = 9;
    static constexpr TorqueInfo info{"vessel", parameters, false, true, true, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>& m, const F& frame) {
        const Vec3<T> f = Restoring::torque(p, t, m, frame);
        return {fma(-p[6], m.x, f.x), fma(-p[7], m.y, f.y), fma(-p[8], m.z, f.z)};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> kick(
        const T* p, double t, const detail::Damping<T>& damping, const Vec3<T>& m, const F& frame) {
        return damping(m, Restoring::torque(p, t, m, frame));
    }
};

/// The same, if damping and inertia are not diagonal in the same axes.
///
///     torque = u x S u - D I^-1 m,   D I^-1 = X diag(k) X^-1
///
/// @param parameters  S (as Restoring), k, X and X^-1 (row by row)
struct CoupledVessel : detail::Damped {
    static constexpr int parameters = 27;
    static constexpr TorqueInfo info{"coupled_vessel", parameters, false, true, true, false};

    template <class T>
    POLHODE_INLINE static Vec3<T> times(const T* a, const Vec3<T>& v) {
        return {dot({a[0], a[1], a[2]}, v), dot({a[3], a[4], a[5]}, v), dot({a[6], a[7], a[8]}, v)};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>& m, const F& frame) {
        const Vec3<T> y = times(p + 18, m);
        const Vec3<T> damping = times(p + 9, {p[6] * y.x, p[7] * y.y, p[8] * y.z});
        return Restoring::torque(p, t, m, frame) - damping;
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> kick(
        const T* p, double t, const detail::Damping<T>& damping, const Vec3<T>& m, const F& frame) {
        // Computed as a change of m: X X^-1 is 1 only up to rounding, an error that would
        // accumulate over the kicks.
        const Vec3<T> f = Restoring::torque(p, t, m, frame);
        const Vec3<T> part = times(p + 9, damping.change(times(p + 18, m), times(p + 18, f)));
        return {m.x + fma(damping.s, f.x, part.x),
                m.y + fma(damping.s, f.y, part.y),
                m.z + fma(damping.s, f.z, part.z)};
    }
};

}  // namespace torque
POLHODE_NAMESPACE_END

#pragma once

/// @file
/// The equations of motion of one pack as a first-order system for general integrators.

#include "polhode/inertia.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN
namespace direct {

/// A state, or a rate of change of one: seven numbers per body.
template <class T>
struct State {
    Vec3<T> m;
    Quaternion<T> q;

    POLHODE_INLINE static State of(const Vec3<T>& m, const Quaternion<T>& q) { return {m, q}; }
    POLHODE_INLINE Vec3<T> momentum() const { return m; }
    POLHODE_INLINE Quaternion<T> attitude() const { return q; }
    POLHODE_INLINE friend State operator+(const State& a, const State& b) {
        return {a.m + b.m, {a.q.w + b.q.w, a.q.x + b.q.x, a.q.y + b.q.y, a.q.z + b.q.z}};
    }
    POLHODE_INLINE friend State operator-(const State& a, const State& b) {
        return {a.m - b.m, {a.q.w - b.q.w, a.q.x - b.q.x, a.q.y - b.q.y, a.q.z - b.q.z}};
    }
    /// a + s b.
    POLHODE_INLINE friend State axpy(const State& a, const T& s, const State& b) {
        return {{fma(s, b.m.x, a.m.x), fma(s, b.m.y, a.m.y), fma(s, b.m.z, a.m.z)},
                {fma(s, b.q.w, a.q.w),
                 fma(s, b.q.x, a.q.x),
                 fma(s, b.q.y, a.q.y),
                 fma(s, b.q.z, a.q.z)}};
    }
    POLHODE_INLINE friend State operator*(const T& s, const State& a) { return {s * a.m, s * a.q}; }
};

#if defined(POLHODE_HAS_PACK)
/// One body: its numbers are the lanes of two registers, with the same bits.
template <>
struct State<double> {
    using Four = pack<4, 1>;
    Four m, q;

    POLHODE_INLINE static State of(const Vec3<double>& m, const Quaternion<double>& q) {
        State s;
        s.m.v[0] = detail::real_vector<4>{m.x, m.y, m.z, 0.0};
        s.q.v[0] = detail::real_vector<4>{q.w, q.x, q.y, q.z};
        return s;
    }
    POLHODE_INLINE Vec3<double> momentum() const { return {m.v[0][0], m.v[0][1], m.v[0][2]}; }
    POLHODE_INLINE Quaternion<double> attitude() const {
        return {q.v[0][0], q.v[0][1], q.v[0][2], q.v[0][3]};
    }
    POLHODE_INLINE friend State operator+(const State& a, const State& b) {
        return {a.m + b.m, a.q + b.q};
    }
    POLHODE_INLINE friend State operator-(const State& a, const State& b) {
        return {a.m - b.m, a.q - b.q};
    }
    POLHODE_INLINE friend State axpy(const State& a, double s, const State& b) {
        return {fma(Four(s), b.m, a.m), fma(Four(s), b.q, a.q)};
    }
    POLHODE_INLINE friend State operator*(double s, const State& a) { return {s * a.m, s * a.q}; }
};
#endif

/// Constants of a body in m' = m x omega + torque, q' = q (0, omega)/2, for momenta in a unit.
///
/// m x omega has the components (1/I3 - 1/I2) m2 m3 ..., each from a difference of moments.  The
/// momentum and the torque about the axis of a rod have no effect.
template <class T>
struct Equations {
    Vec3<T> half_inverse, difference;
    bool any_rod;

    POLHODE_INLINE static Equations of(const Vec3<T>& half_inverse, const Vec3<T>& difference) {
        const Vec3<T>& v = half_inverse;
        return {v, difference, any((v.x == 0.0) | (v.y == 0.0) | (v.z == 0.0))};
    }
    POLHODE_INLINE static Equations of(const Inertia<T>& body, const T& unit) {
        const Vec3<T>&I = body.moments, &inverse = body.inverse, v = unit * inverse;
        return of(T(0.5) * v,
                  {((I.y - I.z) * inverse.y) * v.z,
                   ((I.z - I.x) * inverse.z) * v.x,
                   ((I.x - I.y) * inverse.x) * v.y});
    }
    /// For q of any norm.
    POLHODE_INLINE State<T> slope(const Vec3<T>& m, const Quaternion<T>& q, Vec3<T> torque) const {
        if (any_rod) [[unlikely]]
            torque = where_nonzero(half_inverse, torque);
        const Vec3<T> w = times(half_inverse, m);
        return State<T>::of({fma(difference.x * m.y, m.z, torque.x),
                             fma(difference.y * m.z, m.x, torque.y),
                             fma(difference.z * m.x, m.y, torque.z)},
                            {-fma(q.x, w.x, fma(q.y, w.y, q.z * w.z)),
                             fma(q.w, w.x, fma(q.y, w.z, -(q.z * w.y))),
                             fma(q.w, w.y, fma(q.z, w.x, -(q.x * w.z))),
                             fma(q.w, w.z, fma(q.x, w.y, -(q.y * w.x)))});
    }
};

/// A state and its rounding error.
template <class T>
struct Sum {
    State<T> y, low;

    /// The state after the change `step`; the norm of its quaternion is brought to 1 with the next
    /// change.
    POLHODE_INLINE void add(const State<T>& step) {
        const State<T> change = step + low;
        const State<T> next = y + change;
        low = change - (next - y);
        y = next;
        const Quaternion<T> q = y.attitude();
        const T square = dot(q, q);
        const T to_unit = 0.5 * ((1.0 - square) / square);
        low = axpy(low, to_unit, State<T>::of({T(0.0), T(0.0), T(0.0)}, q));
    }
};

}  // namespace direct
POLHODE_NAMESPACE_END

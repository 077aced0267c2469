#pragma once

/// The equations of motion of one pack as a first-order system for general integrators.

#include "polhode/inertia.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN()

/// Vectors and quaternions of a pack in sums over slopes.
template <class T>
struct Kinds {
    using Vector = Vec3<T>;
    using Turn = Quaternion<T>;
    POLHODE_INLINE static Vector of(const Vec3<T>& v) { return v; }
    POLHODE_INLINE static Turn of(const Quaternion<T>& q) { return q; }
    POLHODE_INLINE static Vec3<T> components(const Vector& v) { return v; }
    POLHODE_INLINE static Quaternion<T> quaternion(const Turn& q) { return q; }
};
/// One body: the lanes of a register, with the same bits.
template <>
struct Kinds<double> {
    using Vector = pack<4, 1>;
    using Turn = Vector;
    POLHODE_INLINE static Vector lanes(double a, double b, double c, double d) {
        Vector v;
        v.v[0] = detail::real_vector<4>{a, b, c, d};
        return v;
    }
    POLHODE_INLINE static Vector of(const Vec3<double>& v) { return lanes(v.x, v.y, v.z, 0.0); }
    POLHODE_INLINE static Turn of(const Quaternion<double>& q) { return lanes(q.w, q.x, q.y, q.z); }
    POLHODE_INLINE static Vec3<double> components(const Vector& v) {
        return {v.v[0][0], v.v[0][1], v.v[0][2]};
    }
    POLHODE_INLINE static Quaternion<double> quaternion(const Turn& q) {
        return {q.v[0][0], q.v[0][1], q.v[0][2], q.v[0][3]};
    }
};
/// The lanes a, b, c, d of v.
template <int a, int b, int c, int d>
POLHODE_INLINE pack<4, 1> permuted(const pack<4, 1>& v) {
    pack<4, 1> r;
#if defined(__clang__)
    r.v[0] = __builtin_shufflevector(v.v[0], v.v[0], a, b, c, d);
#else
    r.v[0] = __builtin_shuffle(v.v[0], detail::bits_vector<4>{a, b, c, d});
#endif
    return r;
}
POLHODE_INLINE pack<4, 1> yzx(const pack<4, 1>& v) { return permuted<1, 2, 0, 3>(v); }
POLHODE_INLINE pack<4, 1> zxy(const pack<4, 1>& v) { return permuted<2, 0, 1, 3>(v); }
POLHODE_INLINE pack<4, 1> times(const pack<4, 1>& a, const pack<4, 1>& b) { return a * b; }
POLHODE_INLINE pack<4, 1> axpy(const pack<4, 1>& a, double s, const pack<4, 1>& b) {
    return fma(pack<4, 1>(s), b, a);
}
/// q (0, v)/2.
POLHODE_INLINE pack<4, 1> half_product(const pack<4, 1>& q, const pack<4, 1>& v) {
    const auto lanes = Kinds<double>::lanes;
    return fma(
        permuted<3, 2, 1, 0>(q),
        lanes(-0.5, 0.5, -0.5, 0.5) * permuted<2, 2, 2, 2>(v),
        fma(permuted<2, 3, 0, 1>(q),
            lanes(-0.5, -0.5, 0.5, 0.5) * permuted<1, 1, 1, 1>(v),
            permuted<1, 0, 3, 2>(q) * (lanes(-0.5, 0.5, 0.5, -0.5) * permuted<0, 0, 0, 0>(v))));
}
/// As for three components (rotation_step.hpp).
POLHODE_INLINE pack<4, 1> in_body_frame(const pack<4, 1>& q, const pack<4, 1>& v) {
    const pack<4, 1> a_yzx = permuted<2, 3, 1, 0>(q), a_zxy = permuted<3, 1, 2, 0>(q);
    const auto cross = [&](const pack<4, 1>& u)
                           POLHODE_INLINE_LAMBDA { return fma(yzx(u), a_zxy, -(zxy(u) * a_yzx)); };
    const pack<4, 1> u = cross(v), u2 = u + u;
    return v + fma(permuted<0, 0, 0, 0>(q), u2, cross(u2));
}
template <class T>
POLHODE_INLINE Vec3<T> yzx(const Vec3<T>& v) {
    return {v.y, v.z, v.x};
}
template <class T>
POLHODE_INLINE Vec3<T> zxy(const Vec3<T>& v) {
    return {v.z, v.x, v.y};
}
template <class T>
POLHODE_INLINE Vec3<T> fma(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
    return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z)};
}
/// q (0, v).
template <class T>
POLHODE_INLINE Quaternion<T> product(const Quaternion<T>& q, const Vec3<T>& v) {
    return {-fma(q.z, v.z, fma(q.y, v.y, q.x * v.x)),
            fma(q.y, v.z, fma(-q.z, v.y, q.w * v.x)),
            fma(-q.x, v.z, fma(q.w, v.y, q.z * v.x)),
            fma(q.w, v.z, fma(q.x, v.y, -(q.y * v.x)))};
}
template <class T>
POLHODE_INLINE Quaternion<T> half_product(const Quaternion<T>& q, const Vec3<T>& v) {
    return product(q, T(0.5) * v);
}

namespace direct {

/// A state, or a rate of change of one: seven numbers per body.
template <class T>
struct State {
    using Number = T;
    using Kind = Kinds<T>;
    typename Kind::Vector m;
    typename Kind::Turn q;

    POLHODE_INLINE static State of(const Vec3<T>& m, const Quaternion<T>& q) {
        return {Kind::of(m), Kind::of(q)};
    }
    POLHODE_INLINE Vec3<T> momentum() const { return Kind::components(m); }
    POLHODE_INLINE Quaternion<T> attitude() const { return Kind::quaternion(q); }
    POLHODE_INLINE friend State operator+(const State& a, const State& b) {
        return {a.m + b.m, a.q + b.q};
    }
    POLHODE_INLINE friend State operator-(const State& a, const State& b) {
        return {a.m - b.m, a.q - b.q};
    }
    /// a + s b.
    POLHODE_INLINE friend State axpy(const State& a, const T& s, const State& b) {
        return {axpy(a.m, s, b.m), axpy(a.q, s, b.q)};
    }
    POLHODE_INLINE friend State operator*(const T& s, const State& a) { return {s * a.m, s * a.q}; }
};
/// The same with u, a constant vector of space in the body frame.
template <class T>
struct StateOfTop {
    using Number = T;
    State<T> y;
    typename Kinds<T>::Vector u;

    POLHODE_INLINE friend StateOfTop axpy(const StateOfTop& a, const T& s, const StateOfTop& b) {
        return {axpy(a.y, s, b.y), axpy(a.u, s, b.u)};
    }
    POLHODE_INLINE friend StateOfTop operator*(const T& s, const StateOfTop& a) {
        return {s * a.y, s * a.u};
    }
};

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
                            product(q, w));
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

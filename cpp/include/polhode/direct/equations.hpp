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
/// q (0, v).
POLHODE_INLINE pack<4, 1> product(const pack<4, 1>& q, const pack<4, 1>& v) {
    const auto lanes = Kinds<double>::lanes;
    return fma(flip_sign(permuted<3, 2, 1, 0>(q), lanes(-1.0, 1.0, -1.0, 1.0)),
               permuted<2, 2, 2, 2>(v),
               fma(flip_sign(permuted<2, 3, 0, 1>(q), lanes(-1.0, -1.0, 1.0, 1.0)),
                   permuted<1, 1, 1, 1>(v),
                   flip_sign(permuted<1, 0, 3, 2>(q), lanes(-1.0, 1.0, 1.0, -1.0)) *
                       permuted<0, 0, 0, 0>(v)));
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
POLHODE_INLINE pack<4, 1> axpy(const pack<4, 1>& a, const pack<4, 1>& s, const pack<4, 1>& b) {
    return fma(s, b, a);
}
template <class T>
POLHODE_INLINE Vec3<T> yzx(const Vec3<T>& v) {
    return {v.y, v.z, v.x};
}
template <class T>
POLHODE_INLINE Vec3<T> zxy(const Vec3<T>& v) {
    return {v.z, v.x, v.y};
}
/// The components of a vector in the orders xyz, yzx and zxy.  One body has them in registers:
/// cross products of such vectors, again in all orders, are computed without permutations.
template <class V>
struct Orders {
    V from_x, from_y, from_z;

    POLHODE_INLINE static Orders of(const V& v) { return {v, yzx(v), zxy(v)}; }
    POLHODE_INLINE Orders next() const { return {from_y, from_z, from_x}; }
};
POLHODE_INLINE pack<4, 1> scalar_part(const pack<4, 1>& q) { return permuted<0, 0, 0, 0>(q); }
POLHODE_INLINE Orders<pack<4, 1>> vector_orders(const pack<4, 1>& q) {
    return {permuted<1, 2, 3, 0>(q), permuted<2, 3, 1, 0>(q), permuted<3, 1, 2, 0>(q)};
}
template <class T>
POLHODE_INLINE T scalar_part(const Quaternion<T>& q) {
    return q.w;
}
template <class T>
POLHODE_INLINE Orders<Vec3<T>> vector_orders(const Quaternion<T>& q) {
    return Orders<Vec3<T>>::of(vector_part(q));
}
template <class T>
POLHODE_INLINE Vec3<T> fma(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
    return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z)};
}
template <class V>
POLHODE_INLINE Orders<V> cross(const Orders<V>& a, const Orders<V>& b) {
    const auto ordered = [](const Orders<V>& p, const Orders<V>& r) POLHODE_INLINE_LAMBDA {
        return fma(p.from_y, r.from_z, -times(p.from_z, r.from_y));
    };
    return {ordered(a, b), ordered(a.next(), b.next()), ordered(a.next().next(), b.next().next())};
}
/// s + a x b.
template <class V>
POLHODE_INLINE V plus_cross(const V& s, const Orders<V>& a, const Orders<V>& b) {
    return fma(a.from_y, b.from_z, fma(-a.from_z, b.from_y, s));
}
/// q (0, v).
template <class T>
POLHODE_INLINE Quaternion<T> product(const Quaternion<T>& q, const Vec3<T>& v) {
    return {-fma(q.z, v.z, fma(q.y, v.y, q.x * v.x)),
            fma(q.y, v.z, fma(-q.z, v.y, q.w * v.x)),
            fma(-q.x, v.z, fma(q.w, v.y, q.z * v.x)),
            fma(q.w, v.z, fma(q.x, v.y, -(q.y * v.x)))};
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

    /// The state after the change `step`.
    POLHODE_INLINE void add(const State<T>& step) { move(step + low); }
    /// The same with `low` in the change.  The norm of the quaternion is brought to 1 with the next
    /// change, by a Newton step, which has no division; it halves q at most.
    POLHODE_INLINE void move(const State<T>& change) {
        const State<T> next = y + change;
        low = change - (next - y);
        y = next;
        const Quaternion<T> q = y.attitude();
        const T to_unit = 0.5 * max(1.0 - dot(q, q), T(-1.0));
        low.q = axpy(low.q, to_unit, y.q);
    }
};

}  // namespace direct
POLHODE_NAMESPACE_END

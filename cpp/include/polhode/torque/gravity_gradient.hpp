#pragma once

#include "polhode/taylor/series.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/kepler.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// An ellipse: R r = a (P (cos E - e) + W sin E), E - e sin E = n t + M0.
///
/// Parameters: 3 n^2 I; P, W (space frame, W of length sqrt(1 - e^2)); n, M0, e.
/// Error of r: a few eps/(1 - e), plus the rounding error of n t, eps |n t|.
struct KeplerOrbit {
    static constexpr int parameters = 15;
    static constexpr TorqueInfo info{"gravity_gradient", parameters, true, false, true, true};

    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        const SinCos<T> E = sincos(eccentric_anomaly(fma(T(t), p[12], p[13]), p[14]));
        const T inverse = 1.0 / fma(-p[14], E.cos, T(1.0));  // a/R
        const T x = inverse * (E.cos - p[14]), y = inverse * E.sin;
        for (int k = 0; k < 6; ++k) p[k] = (inverse * inverse * inverse) * p[k];
        for (int k = 6; k < 9; ++k) p[k] = fma(x, p[k], y * p[k + 3]);
    }
};

/// Any orbit: R r is a piecewise cubic of time (space frame).
///
/// Parameters: 3 mu I; the cubic of an interval.
struct TabulatedOrbit {
    static constexpr int parameters = 6 + cubic_numbers;
    static constexpr int tabulated = cubic_numbers;
    static constexpr TorqueInfo info{"gravity_gradient_table", parameters, true, false, true, true};

    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        const Vec3<T> position = cubic(p + 6, t);
        const T inverse = 1.0 / norm(position);
        for (int k = 0; k < 6; ++k) p[k] = (inverse * inverse * inverse) * p[k];
        p[6] = inverse * position.x, p[7] = inverse * position.y, p[8] = inverse * position.z;
    }
};

/// The gravity gradient of a point mass, seen in the direction r (a unit vector) at the distance R.
///
///     torque = 3 mu/R^3 r x I r,   potential (3/2) mu/R^3 r . I r
///
/// The part of the potential that does not depend on the attitude, -mu trace(I)/(2 R^3), is left
/// out.
///
/// @tparam Orbit  its `at_time` makes of the parameters 3 mu/R^3 I (xx, yy, zz, yz, xz, xy) and r
///                (space frame)
/// Error: a few eps of the torque, and the error of r.
template <class Orbit>
struct GravityGradient : Orbit {
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> direction(const T* p, const F& frame) {
        return frame.to_body({p[6], p[7], p[8]});
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>&, const F& frame) {
        return QuadraticForm<T>::load(p).torque(direction(p, frame));
    }
    /// While the body turns at v, r' = r x v.
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> derivative(const T* p, double, const Vec3<T>& v, const F& frame) {
        const Vec3<T> r = direction(p, frame);
        return QuadraticForm<T>::load(p).derivative(r, cross(r, v));
    }
    template <class T, class F>
    POLHODE_INLINE static T potential(const T* p, double, const F& frame) {
        return QuadraticForm<T>::load(p).potential(direction(p, frame));
    }
    /// On a circle (e = 0), see taylor/high_order.hpp: r and the direction of flight a change by
    /// r' = 2 r x w + n a, a' = 2 a x w - n r.
    template <class T>
    struct Series {
        taylor::VectorSeries<T> r, a, Sr;
        QuadraticForm<T> S;
        T n;

        template <class F>
        POLHODE_INLINE Series(const T* p, double t, const F& frame, const T& per_unit) : n(p[12]) {
            T scaled[6];
            for (int k = 0; k < 6; ++k) scaled[k] = per_unit * p[k];
            S = QuadraticForm<T>::load(scaled);
            const SinCos<T> E = sincos(fma(T(t), n, p[13]));
            const Vec3<T> P{p[6], p[7], p[8]}, W{p[9], p[10], p[11]};
            r.set(0, taylor::Vector<T>::of(frame.to_body(E.cos * P + E.sin * W)));
            a.set(0, taylor::Vector<T>::of(frame.to_body(E.cos * W - E.sin * P)));
        }
        template <class... Sums>
        POLHODE_INLINE taylor::Vector<T> next(const taylor::Order<T>& at, Sums&... sums) {
            const int k = at.k;
            Sr.set(k, taylor::Vector<T>::of(S.times(r[k].vector())));
            taylor::Cross<T> r_rate{r, at.w}, a_rate{a, at.w}, torque{r, Sr};
            taylor::convolve<T>(k, sums..., r_rate, a_rate, torque);
            r.set(k + 1, (2.0 * at.step) * r_rate.value() + (n * at.step) * a[k]);
            a.set(k + 1, (2.0 * at.step) * a_rate.value() - (n * at.step) * r[k]);
            return torque.value();
        }
    };
};

POLHODE_NAMESPACE_END

#pragma once

#include "polhode/scalar/sincos.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// Rotors fixed in the body, with the relative angular momentum h(t) (body frame).
///
///     (m + h)' = (m + h) x omega,   torque = h x omega - h',   omega = J m
///
/// At a fixed time the torque is A m - h' with A v = h x J v.  Since A^3 = -w^2 A, w^2 = h . cof(J)
/// h, a kick over the time s is
///
///     e^(sA) = 1 + sin(a)/a s A + (1 - cos a)/a^2 (s A)^2,   a = w s
///     phi(sA) = 1 + (1 - cos a)/a^2 s A + (a - sin a)/a^3 (s A)^2
///
/// an elliptic rotation about h: it preserves m . J m and h . m.
///
/// @param parameters  J = I^-1 (xx, yy, zz, yz, xz, xy); the cubic h of an interval
/// Error: a few eps (1 + a) |m|.
struct Gyrostat {
    static constexpr int parameters = 6 + cubic_numbers;
    static constexpr int tabulated = cubic_numbers;
    static constexpr TorqueInfo info{"gyrostat", parameters, true, true, false, false};

    template <class T>
    struct Kick {
        QuadraticForm<T> J;
        Vec3<T> h, rate;
        T s, sine, versine, rest;  ///< sin(a)/a, (1 - cos a)/a^2, (a - sin a)/a^3
    };

    /// h and h' in place of the cubic.
    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        value_and_rate(p + 6, t);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> linear(const T* p, double, const Vec3<T>& m, const F&) {
        return cross({p[6], p[7], p[8]}, QuadraticForm<T>::load(p).times(m));
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>& m, const F& frame) {
        return linear(p, t, m, frame) - Vec3<T>{p[9], p[10], p[11]};
    }
    template <class T>
    POLHODE_INLINE static Kick<T> prepare(const T* p, double s) {
        const auto J = QuadraticForm<T>::load(p);
        const Vec3<T> h{p[6], p[7], p[8]};
        const T square = max(J.cofactors().value(T(s) * h), T(0.0));
        const T half = 0.5 * sqrt(square);
        const mask_t<T> still = square == 0.0;
        const SinCos<T> a = sincos(half);
        const T sinc = select(still, T(1.0), a.sin / select(still, T(1.0), half));
        const T sine = sinc * a.cos;
        return {J,
                h,
                {p[9], p[10], p[11]},
                T(s),
                sine,
                0.5 * (sinc * sinc),
                (1.0 - sine) / select(still, T(1.0), square)};
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> kick(
        const T*, double, const Kick<T>& k, const Vec3<T>& m, const Vec3<T>& f, const F&) {
        const auto A = [&k](const Vec3<T>& v)
                           POLHODE_INLINE_LAMBDA { return cross(k.h, k.J.times(k.s * v)); };
        const Vec3<T> g = k.s * (f - k.rate);
        const Vec3<T> second = A(axpy(k.versine * m, k.rest, g));
        return m + (g + A(axpy(k.sine * m, k.versine, g) + second));
    }
};

POLHODE_NAMESPACE_END

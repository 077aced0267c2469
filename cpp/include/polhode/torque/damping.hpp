#pragma once

#include "polhode/scalar/elementary.hpp"
#include "polhode/taylor/series.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/linear_flow.hpp"
#include "polhode/torque/table.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// m' = f - k m over the time s, axis by axis: m <- decay m + weight f, decay = e^(-k s), weight =
/// s phi(-k s), phi(z) = (e^z - 1)/z.
///
/// Error: a few eps of |m| + |s f|, also for k = 0, where [Gus10] uses another formula.
template <class T>
struct Decay {
    Vec3<T> decay, weight;

    POLHODE_INLINE static Decay of(const T* k, double s) {
        Decay d;
        along(k[0], s, d.decay.x, d.weight.x);
        along(k[1], s, d.decay.y, d.weight.y);
        along(k[2], s, d.decay.z, d.weight.z);
        return d;
    }
    POLHODE_INLINE Vec3<T> operator()(const Vec3<T>& m, const Vec3<T>& f) const {
        return {fma(decay.x, m.x, weight.x * f.x),
                fma(decay.y, m.y, weight.y * f.y),
                fma(decay.z, m.z, weight.z * f.z)};
    }

  private:
    POLHODE_INLINE static void along(T k, double s, T& decay, T& weight) {
        const T z = -s * k;
        const Exponential<T> e = exponential(z);
        const mask_t<T> still = z == 0.0;
        const T phi = select(still, T(1.0), e.expm1 / select(still, T(1.0), z));
        // Beyond this, e^z overflows, and the result of `exponential` is meaningless.
        decay = select(z > 709.0, nan<T>(), e.exp);
        weight = s * phi;
    }
};

/// The series of a torque that is linear in m, see taylor/high_order.hpp.
template <class Model, class T>
struct LinearSeries {
    T p[9] = {};

    template <class F>
    POLHODE_INLINE LinearSeries(const T* parameters, double, const F&, const T&) {
        for (int k = 0; k < Model::parameters; ++k) p[k] = parameters[k];
    }
    template <class... Sums>
    POLHODE_INLINE taylor::Vector<T> next(const taylor::Order<T>& at, Sums&... sums) const {
        taylor::convolve<T>(at.k, sums...);
        return taylor::Vector<T>::of(Model::torque(p, 0.0, at.m[at.k].vector(), 0));
    }
};

/// Linear damping along the principal axes.
///
///     torque = -k m
///
/// @param parameters  k = D/I of each axis
struct Damping {
    static constexpr int parameters = 3;
    static constexpr TorqueInfo info{"damping", parameters, false, true, false, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* k, double, const Vec3<T>& m, const F&) {
        return {-k[0] * m.x, -k[1] * m.y, -k[2] * m.z};
    }
    template <class T>
    POLHODE_INLINE static Decay<T> prepare(const T* k, double s) {
        return Decay<T>::of(k, s);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> kick(
        const T*, double, const Decay<T>& decay, const Vec3<T>& m, const Vec3<T>& f, const F&) {
        return decay(m, f);
    }
    template <class T>
    using Series = LinearSeries<Damping, T>;
};

/// Linear damping, if damping and inertia are not diagonal in the same axes.
///
///     torque = A m,   A = -D I^-1
///
/// @param parameters  A (row by row)
struct CoupledDamping {
    static constexpr int parameters = 9;
    static constexpr TorqueInfo info{"coupled_damping", parameters, false, true, false, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* A, double, const Vec3<T>& m, const F&) {
        return LinearFlow<T>::times(A, m);
    }
    template <class T>
    POLHODE_INLINE static LinearFlow<T> prepare(const T* A, double s) {
        return LinearFlow<T>::of(A, s);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> kick(
        const T*, double, const LinearFlow<T>& flow, const Vec3<T>& m, const Vec3<T>& f, const F&) {
        return flow(m, f);
    }
    template <class T>
    using Series = LinearSeries<CoupledDamping, T>;
};

/// Linear damping with coefficients that are constant in space.
///
///     torque = -Q^T D Q omega,   omega = J m
///
/// @param parameters  D (space frame), J = I^-1 (body frame), each (xx, yy, zz, yz, xz, xy)
struct SpaceDamping {
    static constexpr int parameters = 12;
    static constexpr TorqueInfo info{"space_damping", parameters, false, true, false, false};

    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double, const Vec3<T>& m, const F& frame) {
        const Vec3<T> omega = QuadraticForm<T>::load(p + 6).times(m);
        return -frame.to_body(QuadraticForm<T>::load(p).times(frame.to_space(omega)));
    }
};

/// Magnetic detumbling by the rate of the field that the body measures (B-dot control).
///
///     dipole = -k b',   b = Q^T B,   b' = Q^T B' + b x omega,   torque = dipole x b,   omega = J m
///
/// @param parameters  k, J = I^-1 (body frame: xx, yy, zz, yz, xz, xy); the cubic B of an interval
///                    (space frame)
struct BDot {
    static constexpr int parameters = 7 + cubic_numbers;
    static constexpr int tabulated = cubic_numbers;
    static constexpr TorqueInfo info{"b_dot", parameters, true, true, false, false};

    /// B and B' in place of the cubic.
    template <class T>
    POLHODE_INLINE static void at_time(T* p, double t) {
        value_and_rate(p + 7, t);
    }
    /// The torque if the field of the body changes at b'.
    template <class T>
    POLHODE_INLINE static Vec3<T> by_rate(const T* p, const Vec3<T>& b, const Vec3<T>& rate) {
        return p[0] * cross(b, rate);
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> linear(const T* p, double, const Vec3<T>& m, const F& frame) {
        const Vec3<T> b = frame.to_body({p[7], p[8], p[9]});
        return by_rate(p, b, cross(b, QuadraticForm<T>::load(p + 1).times(m)));
    }
    template <class T, class F>
    POLHODE_INLINE static Vec3<T> torque(const T* p, double t, const Vec3<T>& m, const F& frame) {
        const Vec3<T> b = frame.to_body({p[7], p[8], p[9]});
        return linear(p, t, m, frame) + by_rate(p, b, frame.to_body({p[10], p[11], p[12]}));
    }
};

POLHODE_NAMESPACE_END

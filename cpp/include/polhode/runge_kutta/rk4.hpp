#pragma once

/// The classical Runge-Kutta method of four stages, in two ways, for the attitude and the momentum
/// L in space.
///
/// On the quaternion, q' = q (0, omega)/2, brought back to unit norm after the step: order 4.  On
/// rotation vectors: the angular velocities of space are averaged.  [Buss01] Sec. 3 says that
/// quaternions are; its tables are those of vectors.  Order 2, since the average leaves out what
/// does not commute.
///
/// Both relative to the attitude at the start of the step: p = 1 and L = m there.

#include "polhode/direct/bodies.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(runge_kutta)

/// On the quaternion.
struct OfQuaternion {
    template <class T>
    using Slope = Quaternion<T>;
    /// p (0, omega)/2, for a p of any norm.
    template <class T>
    POLHODE_INLINE static Quaternion<T> slope(const Quaternion<T>& p, const Vec3<T>& omega) {
        return p * Quaternion<T>{T(0.0), 0.5 * omega.x, 0.5 * omega.y, 0.5 * omega.z};
    }
    template <class T>
    POLHODE_INLINE static Quaternion<T> turn(const Quaternion<T>& step) {
        return {1.0 + step.w, step.x, step.y, step.z};
    }
    /// The rotation that p stands for.
    template <class T>
    POLHODE_INLINE static Quaternion<T> rotation(const Quaternion<T>& p) {
        return over_norm(p);
    }
};
/// On rotation vectors: the angular velocity of space.
struct OfRotation {
    template <class T>
    using Slope = Vec3<T>;
    template <class T>
    POLHODE_INLINE static Vec3<T> slope(const Quaternion<T>& p, const Vec3<T>& omega) {
        return rotated(p, omega);
    }
    template <class T>
    POLHODE_INLINE static Quaternion<T> turn(const Vec3<T>& step) {
        return rotation_by(step);
    }
    template <class T>
    POLHODE_INLINE static Quaternion<T> rotation(const Quaternion<T>& p) {
        return p;
    }
};

/// One step of a free body; m and inverse moments along the same axes.
template <class Way, class T>
POLHODE_INLINE FreeStep<T> free_step(const Vec3<T>& inverse, const Vec3<T>& m, T h) {
    using Slope = typename Way::template Slope<T>;
    const auto slope_at = [&](const Quaternion<T>& p) {
        return Way::slope(p, times(inverse, in_body_frame(Way::rotation(p), m)));
    };
    const Quaternion<T> one{T(1.0), T(0.0), T(0.0), T(0.0)};
    const T half = 0.5 * h;
    const Slope k1 = Way::slope(one, times(inverse, m));
    const Slope k2 = slope_at(Way::turn(half * k1));
    const Slope k3 = slope_at(Way::turn(half * k2));
    const Slope k4 = slope_at(Way::turn(h * k3));
    const Slope inner = k2 + k3;
    const T sixth = ratio<T>(1, 6) * h;
    const Quaternion<T> dq = Way::rotation(Way::turn(sixth * ((k1 + k4) + (inner + inner))));
    return {in_body_frame(dq, m), dq};
}

/// Columns of the method under torque, after the common ones and `First` others.
template <int First>
struct Columns {
    static constexpr int turn = First;            // p of the state that the torque is at
    static constexpr int slopes = turn + 4;       // their weighted sum
    static constexpr int momentum = slopes + 4;   // L at the start
    static constexpr int impulse = momentum + 3;  // weighted sum of the torques
    static constexpr int work = impulse + 3;
    static constexpr int end = work + 1;
};

/// Stage 0 ... 3 under torque.  `end` is called with the turn, the momentum and the work of the
/// whole step.
template <class Way, int First, class T, class End>
POLHODE_INLINE void stage(direct::Bodies<T>& b, const End& end) {
    using C = Columns<First>;
    using Slope = typename Way::template Slope<T>;
    const int k = b.a.stage;
    Quaternion<T> p{T(1.0), T(0.0), T(0.0), T(0.0)};
    if (k == 0) {
        b.begin();
    } else {
        p = b.quaternion(C::turn);
    }
    const T h = b.h();
    const Vec3<T> omega = b.omega(), torque = b.torque();
    const Slope slope = Way::slope(p, omega);
    const Vec3<T> force = rotated(Way::rotation(p), torque);
    const T power = dot(h * omega, torque);  // times h
    Slope slopes = slope;
    Vec3<T> start = b.m, impulse = force;
    T work = power;
    if (k == 0) {
        b.keep(C::momentum, start);
    } else {
        const T weight(k == 3 ? 1.0 : 2.0);
        if constexpr (__is_same(Slope, Vec3<T>)) {
            slopes = b.vector(C::slopes);
        } else {
            slopes = b.quaternion(C::slopes);
        }
        start = b.vector(C::momentum);
        slopes = slopes + weight * slope;
        impulse = axpy(b.vector(C::impulse), weight, force);
        work = fma(weight, power, b.number(C::work));
    }
    if (k < 3) {
        b.keep(C::slopes, slopes);
        b.keep(C::impulse, impulse);
        b.keep(C::work, work);
        const T ahead = k == 2 ? h : 0.5 * h;
        const Quaternion<T> next = Way::turn(ahead * slope);
        b.keep(C::turn, next);
        b.ask_at(Way::rotation(next), axpy(start, ahead, force));
    } else {
        const T sixth = ratio<T>(1, 6) * h;
        end(Way::rotation(Way::turn(sixth * slopes)),
            axpy(start, sixth, impulse),
            ratio<T>(1, 6) * work);
    }
}

/// The four stages of a method.
template <auto run>
inline constexpr DirectStage stages[] = {{direct::stage<run>, 0.0, 1},
                                         {direct::stage<run>, 0.5, 1},
                                         {direct::stage<run>, 0.5, 1},
                                         {direct::stage<run>, 1.0, 1}};
template <class Way, class T>
void stage_under_torque(direct::Bodies<T>& b) {
    stage<Way, direct::first_free_column>(
        b, [&](const Quaternion<T>& p, const Vec3<T>& l, const T& work) { b.end_at(p, l, work); });
}
template <class Way>
constexpr DirectMethod under_torque() {
    return {Columns<direct::first_free_column>::end,
            1,
            0,
            direct::alike<stages<stage_under_torque<Way, batch_real>>>};
}

POLHODE_NAMESPACE_END

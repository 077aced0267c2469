#pragma once

/// The two multistep methods of [Buss01] Sec. 3: Adams-Bashforth-Moulton on rotation vectors, and
/// the explicit method of Simo and Wong (gamma = 1, beta = 0).
///
/// The numbers that they store from step to step are in the body frame.  A one-step method makes
/// their first steps.  All steps must have the same length.

#include "polhode/direct/bodies.hpp"
#include "polhode/method_info.hpp"
#include "polhode/runge_kutta/rk4.hpp"

POLHODE_NAMESPACE_BEGIN(multistep)

/// Values of the option `start`.
enum Start : int {
    by_rk4 = 0,  ///< each by one step of the classical Runge-Kutta method
    as_buss = 1  ///< of first order; inferred from the results of [Buss01], which does not state it
};

inline constexpr Option start_option{
    "start",
    "choice",
    by_rk4,
    "'rk4' 'buss'",
    "how the first steps are made: by classical Runge-Kutta, or to first order as in [Buss01]"};
constexpr Start start_of(const OptionValues& options) {
    return options.value[0] == 1 ? as_buss : by_rk4;
}

/// First-order steps, dq = exp(h omega).
template <class T>
POLHODE_INLINE FreeStep<T> first_order(const Vec3<T>& inverse, const Vec3<T>& m, T h, int n) {
    FreeStep<T> s{m, {T(1.0), T(0.0), T(0.0), T(0.0)}};
    const T part = h / static_cast<double>(n);
    for (int i = 0; i < n; ++i) {
        const Quaternion<T> p = rotation_by(part * times(inverse, s.m));
        s.m = in_body_frame(p, s.m);
        s.dq = s.dq * p;
    }
    return s;
}

/// One of the first steps; n is the number of steps of first order.
template <class T>
[[gnu::noinline]] FreeStep<T> first_step(
    Start start, const Vec3<T>& inverse, const Vec3<T>& m, T h, int n) {
    return start == as_buss ? first_order(inverse, m, h, n)
                            : runge_kutta::free_step<runge_kutta::OfQuaternion>(inverse, m, h);
}

/// The number of first-order steps that replace one step of the start.
constexpr int abam_substeps = 5;

/// (55 a - 59 b + 37 c - 9 d) / 24.
template <class X, class T>
POLHODE_INLINE X bashforth(const X& a, const X& b, const X& c, const X& d, const T& h) {
    const T s = ratio<T>(1, 24) * h;
    return ((55.0 * s) * a - (59.0 * s) * b) + ((37.0 * s) * c - (9.0 * s) * d);
}
/// (9 a + 19 b - 5 c + d) / 24, a the newest.
template <class X, class T>
POLHODE_INLINE X moulton(const X& a, const X& b, const X& c, const X& d, const T& h) {
    const T s = ratio<T>(1, 24) * h;
    return ((9.0 * s) * a + (19.0 * s) * b) + (s * d - (5.0 * s) * c);
}

/// The angular velocities in space, now and at the three steps before, are averaged into a rotation
/// vector.  It is predicted by Bashforth's formula and corrected by Moulton's formula.  The
/// velocity is evaluated again at the end.  The predicted attitude transforms its velocity to the
/// space frame.  Order 2.
struct Abam {
    static constexpr int starting = 3;  ///< first steps, made by another method
    static constexpr int carried = 9;   ///< omega in space one, two, three steps ago
    static constexpr bool user_axes = true;
    Start start = by_rk4;

    template <class T>
    POLHODE_INLINE FreeStep<T> step(
        const Inertia<T>& body, const Vec3<T>& m, T h, const T* c, std::ptrdiff_t n) const {
        if (n < starting) return first_step(start, body.inverse, m, h, abam_substeps);
        const Vec3<T> w0 = times(body.inverse, m);
        const Vec3<T> w1{c[0], c[1], c[2]}, w2{c[3], c[4], c[5]}, w3{c[6], c[7], c[8]};
        const Quaternion<T> p = rotation_by(bashforth(w0, w1, w2, w3, h));
        const Vec3<T> w = rotated(p, times(body.inverse, in_body_frame(p, m)));
        const Quaternion<T> dq = rotation_by(moulton(w, w0, w1, w2, h));
        return {in_body_frame(dq, m), dq};
    }
    /// Updates the history after the step from m, which turned the body by dq.
    template <class T>
    POLHODE_INLINE static void carry(const Inertia<T>& body,
                                     const Vec3<T>& m,
                                     const Quaternion<T>& dq,
                                     T* c) {
        const Vec3<T> w[] = {times(body.inverse, m), {c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
        for (int k = 0; k < 3; ++k) {
            const Vec3<T> v = in_body_frame(dq, w[k]);
            c[3 * k] = v.x, c[3 * k + 1] = v.y, c[3 * k + 2] = v.z;
        }
    }
};

/// exp(h (nu_i + (h/2) a_i)), a_i = (nu_i - nu_{i-1}) / h, nu = J^-1 m in the body frame.  The
/// figures of [Buss01] leave out the 1/h and so show a method of order 1; this method has order 2.
struct SimoWong {
    static constexpr int starting = 1;  ///< first steps, made by another method
    static constexpr int carried = 3;   ///< nu one step ago
    static constexpr bool user_axes = true;
    Start start = by_rk4;

    template <class T>
    POLHODE_INLINE static Vec3<T> turn(const Vec3<T>& now, const Vec3<T>& before, const T& h) {
        return axpy((1.5 * h) * now, -0.5 * h, before);
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> step(
        const Inertia<T>& body, const Vec3<T>& m, T h, const T* c, std::ptrdiff_t n) const {
        if (n < starting) return first_step(start, body.inverse, m, h, 1);
        const Quaternion<T> dq =
            rotation_by(turn(times(body.inverse, m), Vec3<T>{c[0], c[1], c[2]}, h));
        return {in_body_frame(dq, m), dq};
    }
    template <class T>
    POLHODE_INLINE static void carry(const Inertia<T>& body,
                                     const Vec3<T>& m,
                                     const Quaternion<T>&,
                                     T* c) {
        const Vec3<T> nu = times(body.inverse, m);
        c[0] = nu.x, c[1] = nu.y, c[2] = nu.z;
    }
};

// ----------------------------------------------------------------------------- under torque

/// Columns of Abam: history of omega and of the torque in space, in body axes, and those of
/// the start of the step.
enum AbamColumn : int {
    omega_column = direct::first_free_column,  // 1, 2, 3 steps ago
    torque_column = omega_column + 9,
    omega_now = torque_column + 9,
    torque_now = omega_now + 3,
    momentum_now = torque_now + 3,
    turn_now = momentum_now + 3,
    after_abam = turn_now + 4
};

/// Updates the history for the next steps.  s is the step from the state stored in the columns
/// `_now`.
template <class T>
POLHODE_INLINE void carry_abam(const direct::Bodies<T>& b, const Quaternion<T>& dq) {
    for (int k = 0; k < 2; ++k) {
        const int column = k == 0 ? omega_column : torque_column;
        const Vec3<T> now = b.vector(k == 0 ? omega_now : torque_now);
        const Vec3<T> one = b.vector(column), two = b.vector(column + 3);
        b.keep(column, in_body_frame(dq, now));
        b.keep(column + 3, in_body_frame(dq, one));
        b.keep(column + 6, in_body_frame(dq, two));
    }
}
template <class T>
POLHODE_INLINE void keep_now(const direct::Bodies<T>& b) {
    b.keep(omega_now, b.omega());
    b.keep(torque_now, b.torque());
    b.keep(momentum_now, b.m);
}

template <class T>
void abam_predict(direct::Bodies<T>& b) {
    b.begin();
    keep_now(b);
    const T h = b.h();
    const auto past = [&](int column, int k) { return b.vector(column + 3 * k); };
    const Quaternion<T> p = rotation_by(bashforth(
        b.omega(), past(omega_column, 0), past(omega_column, 1), past(omega_column, 2), h));
    const Vec3<T> impulse = bashforth(
        b.torque(), past(torque_column, 0), past(torque_column, 1), past(torque_column, 2), h);
    b.keep(turn_now, p);
    b.ask_at(p, b.m + impulse);
}
template <class T>
void abam_correct(direct::Bodies<T>& b) {
    const T h = b.h();
    const Quaternion<T> p = b.quaternion(turn_now);
    Vec3<T> w[4], f[4];
    w[0] = rotated(p, b.omega());
    f[0] = rotated(p, b.torque());
    w[1] = b.vector(omega_now);
    f[1] = b.vector(torque_now);
    for (int k = 0; k < 2; ++k) {
        w[k + 2] = b.vector(omega_column + 3 * k);
        f[k + 2] = b.vector(torque_column + 3 * k);
    }
    T power[4];
    for (int k = 0; k < 4; ++k) power[k] = dot(h * w[k], f[k]);
    const Quaternion<T> dq = rotation_by(moulton(w[0], w[1], w[2], w[3], h));
    const Vec3<T> l = b.vector(momentum_now) + moulton(f[0], f[1], f[2], f[3], h);
    carry_abam(b, b.end_at(dq, l, moulton(power[0], power[1], power[2], power[3], T(1.0))));
}
/// keep_now() for a state at which no stage has begun.
template <class T>
POLHODE_INLINE void keep_first(direct::Bodies<T>& b) {
    const Vec3<T> m = b.m;
    b.m = b.body.own_momentum(m);
    keep_now(b);
    b.m = m;
}
/// A stage of a step of the classical Runge-Kutta method.
template <class T>
void abam_rk4(direct::Bodies<T>& b) {
    if (b.a.stage == 0) keep_first(b);
    runge_kutta::stage<runge_kutta::OfQuaternion, after_abam>(
        b, [&](const Quaternion<T>& p, const Vec3<T>& l, const T& work) {
            carry_abam(b, b.end_at(p, l, work));
        });
}
constexpr int substep_columns = after_abam;  // momentum and work of the substeps
/// A substep of first order; the last one ends the step.
template <class T>
void abam_substep(direct::Bodies<T>& b) {
    const bool first = b.a.stage == 0;
    if (first) keep_first(b), b.begin();
    const T h = b.h() / static_cast<double>(abam_substeps);
    const Quaternion<T> step = rotation_by(h * b.omega());
    const Vec3<T> torque = b.torque();
    T work = dot(h * b.omega(), torque);
    Quaternion<T> p = step;
    Vec3<T> l = axpy(b.m, h, torque);
    if (first) {
        b.keep(momentum_now, b.m);
    } else {
        const Quaternion<T> before = b.quaternion(turn_now);
        l = axpy(b.vector(substep_columns), h, rotated(before, torque));
        work = work + b.number(substep_columns + 3);
        p = renormalized(before * step, 0.0);
    }
    if (b.a.stage + 1 == abam_substeps) {
        carry_abam(b, b.end_at(p, l, work));
        return;
    }
    b.keep(turn_now, p);
    b.keep(substep_columns, l);
    b.keep(substep_columns + 3, work);
    b.ask_at(p, l);
}

inline constexpr DirectStage abam_stages[] = {{direct::stage<abam_predict<batch_real>>, 0.0, 1},
                                              {direct::stage<abam_correct<batch_real>>, 1.0, 1}};
inline constexpr DirectStage abam_first[] = {{direct::stage<abam_substep<batch_real>>, 0.0, 1},
                                             {direct::stage<abam_substep<batch_real>>, 0.2, 1},
                                             {direct::stage<abam_substep<batch_real>>, 0.4, 1},
                                             {direct::stage<abam_substep<batch_real>>, 0.6, 1},
                                             {direct::stage<abam_substep<batch_real>>, 0.8, 1}};
inline constexpr DirectStages abam_starts[] = {{runge_kutta::stages<abam_rk4<batch_real>>, 4},
                                               {abam_first, 5}};

/// Columns of SimoWong: nu one step ago; for the current step the torque and the power at its
/// start.
enum SimoWongColumn : int {
    nu_column = direct::first_free_column,
    nu_now = nu_column + 3,
    sw_torque = nu_now + 3,
    sw_momentum = sw_torque + 3,
    sw_turn = sw_momentum + 3,
    after_simo_wong = sw_turn + 4
};
/// L at the end by the trapezoidal rule.  The torque there is evaluated at a momentum that Euler's
/// method predicts.
template <class T>
void simo_wong_predict(direct::Bodies<T>& b) {
    b.begin();
    const T h = b.h();
    const Vec3<T> nu = b.omega();
    const Vec3<T> before = b.a.step == 0 ? nu : b.vector(nu_column);
    const Quaternion<T> p = rotation_by(SimoWong::turn(nu, before, h));
    b.keep(nu_now, nu);
    b.keep(sw_torque, b.torque());
    b.keep(sw_momentum, b.m);
    b.keep(sw_turn, p);
    b.ask_at(p, axpy(b.m, h, b.torque()));
}
template <class T>
void simo_wong_finish(direct::Bodies<T>& b) {
    const T half = 0.5 * b.h();
    const Quaternion<T> p = b.quaternion(sw_turn);
    const Vec3<T> start = b.vector(sw_torque), nu = b.vector(nu_now);
    const Vec3<T> end = b.torque();
    const T work = dot(half * nu, start) + dot(half * b.omega(), end);
    b.keep(nu_column, nu);
    b.end_at(p, axpy(b.vector(sw_momentum), half, start + rotated(p, end)), work);
}
template <class T>
void simo_wong_rk4(direct::Bodies<T>& b) {
    if (b.a.stage == 0) {
        b.keep(nu_column, times(b.body.inverse, b.body.own_momentum(b.m)));
    }
    runge_kutta::stage<runge_kutta::OfQuaternion, after_simo_wong>(
        b, [&](const Quaternion<T>& p, const Vec3<T>& l, const T& work) { b.end_at(p, l, work); });
}
inline constexpr DirectStage simo_wong_stages[] = {
    {direct::stage<simo_wong_predict<batch_real>>, 0.0, 1},
    {direct::stage<simo_wong_finish<batch_real>>, 1.0, 1}};
/// The first-order step is the method itself with nu_{-1} = nu_0.
inline constexpr DirectStages simo_wong_starts[] = {
    {runge_kutta::stages<simo_wong_rk4<batch_real>>, 4}, {simo_wong_stages, 2}};

/// The stages of step n.  The first steps use the starting procedure.
template <class Kernel, const auto& starts, const auto& stages>
DirectStages stages_of(std::ptrdiff_t n, const OptionValues& options, DirectStage* room) {
    return n < Kernel::starting ? starts[start_of(options)]
                                : direct::alike<stages>(n, options, room);
}
constexpr DirectMethod under_torque(Abam) {
    return {runge_kutta::Columns<after_abam>::end, 1, 0, stages_of<Abam, abam_starts, abam_stages>};
}
constexpr DirectMethod under_torque(SimoWong) {
    return {runge_kutta::Columns<after_simo_wong>::end,
            1,
            0,
            stages_of<SimoWong, simo_wong_starts, simo_wong_stages>};
}

POLHODE_NAMESPACE_END

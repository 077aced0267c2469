#pragma once

/// The free motion of batches of bodies at given times.

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/batch/violations.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/torque_free/motion.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)
namespace motion_detail {

/// One pack of bodies and their momenta at time 0: along the sorted axes, with the powers of two of
/// m taken out.
template <class T>
struct Bodies {
    Inertia<T> body;
    Vec3<T> m;
    T scale;           ///< of m; m t does not change
    mask_t<T> finite;  ///< m is finite

    POLHODE_INLINE static Bodies of(const Vec3<T>& inertia, const Vec3<T>& m) {
        Bodies b;
        b.body = Inertia<T>::of(inertia);
        const T largest = max_abs(m);
        b.finite = largest <= 0x1.fffffffffffffp1023;
        b.scale = min(max(power_of_two_below(largest), 0x1p-1022), 0x1p1022);
        b.m = b.body.sorted_momentum(power_of_two_reciprocal(b.scale) * m);
        return b;
    }
};

}  // namespace motion_detail

/// The constants of a motion in three rows: tau, 1/tau, chi/2; reach, rate/2, circles axis 1;
/// period, regime, rate of precession.
template <class T>
POLHODE_INLINE Mat3<T> motion_constants(const Vec3<T>& inertia, const Vec3<T>& m) {
    using Bodies = motion_detail::Bodies<T>;
    const Bodies b = Bodies::of(inertia, m);
    const MotionFacts<T> facts = motion_facts(b.body, b.m);
    const Repetition<T>& r = facts.repetition;
    const T period = select(b.finite, facts.period / b.scale, nan<T>());
    const T precession_rate = select(b.finite, facts.precession_rate * b.scale, nan<T>());
    return {{{r.half_period, r.inverse_half_period, r.half_chi},
             {r.reach, r.half_rate, r.circles_axis1},
             {period, facts.regime, precession_rate}}};
}

/// The motion at times, or of bodies, begin ... end - 1 of one row of a batch.
template <class T>
void motion(const MotionArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin >= end) return;
    const MotionArguments& a = arguments;
    const bool turned = a.axes.data != nullptr;
    const auto count_at = [&](std::ptrdiff_t i) {
        return end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
    };
    // One body at many times: its constants are computed once.
    const bool shared = a.inertia.body == 0 && a.m.body == 0 && a.constants.body == 0 &&
                        a.attitude.body == 0 && (!turned || a.axes.body == 0);
    using Bodies = motion_detail::Bodies<T>;
    Bodies bodies;
    exact_detail::Motion<T> exact;
    T rate;
    Repetition<T> repetition;
    batch::Attitude<T> start;
    Mat3<T> axes;
    Vec3<T> m, m_principal;
    T nan_if_infinite;
    const auto load = [&](std::ptrdiff_t i, int count) {
        m = m_principal = batch::load_vec3<T>(a.m, i, count);
        if (turned) {
            axes = batch::load_mat3<T>(a.axes, i, count);
            m_principal = in_body_frame(axes, m);
        }
        bodies = Bodies::of(batch::load_vec3<T>(a.inertia, i, count), m_principal);
        rate = motion_rate(bodies.body);
        exact = exact_detail::Motion<T>::of(bodies.body, bodies.m, power_of_two_reciprocal(rate));
        T c[9];
        batch::load(a.constants, i, count, c);
        repetition = {c[0], c[1], c[2], c[3], c[4], c[5]};
        start = batch::Attitude<T>::load(a.attitude, a.matrix, i, count);
        nan_if_infinite = select(bodies.finite, T(0.0), nan<T>());
        int violations = all_valid;  // attitudes are validated when the motion is created
        start.make_unit(nan_if_infinite, violations);
    };
    load(begin, shared ? 1 : count_at(begin));
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = count_at(i);
        if (!shared && i != begin) load(i, count);
        const T t = batch::load_scalar<T>(a.t, i, count);
        FreeStep<T> s =
            motion_at(exact, rate, repetition, bodies.m, t * bodies.scale + nan_if_infinite);
        s.m = bodies.scale * bodies.body.order.from_sorted(s.m);
        s.dq = bodies.body.order.from_sorted(s.dq);
        if (turned) {
            s.m = m + rotated(axes, s.m - m_principal);
            const Vec3<T> v = rotated(axes, vector_part(s.dq));
            s.dq = {s.dq.w, v.x, v.y, v.z};
        }
        const T result = s.m.x + s.dq.w;
        if (a.lost != nullptr && any(is_nan(result))) {
            const T lost[1] = {
                select(is_nan(result) & is_finite(t + nan_if_infinite), T(1.0), T(0.0))};
            batch::add_lanes(a.lost, count, lost);
        }
        batch::Attitude<T> attitude = start;
        attitude.rotate(s.dq);
        batch::store_vec3(a.m_out, i, count, s.m);
        attitude.store(a.attitude_out, i, count);
    }
}

POLHODE_NAMESPACE_END

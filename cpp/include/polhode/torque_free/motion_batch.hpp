#pragma once

/// @file
/// The free motion of batches of bodies at given times.

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/torque_free/motion.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque_free {
namespace motion_detail {

/// One pack of bodies and their momenta at time 0: along the sorted axes, with the powers of two of
/// m taken out.
template <class T>
struct Bodies {
    Inertia<T> body;
    Vec3<T> m;
    T scale;         ///< of m; m t does not change
    mask_t<T> sane;  ///< m is finite

    POLHODE_INLINE static Bodies of(const Vec3<T>& inertia, const Vec3<T>& m) {
        Bodies b;
        b.body = Inertia<T>::of(inertia);
        const T largest = max_abs(m);
        b.sane = largest <= 0x1.fffffffffffffp1023;
        b.scale = min(max(power_of_two_below(largest), 0x1p-1022), 0x1p1022);
        b.m = b.body.sorted_momentum(power_of_two_reciprocal(b.scale) * m);
        return b;
    }
};

}  // namespace motion_detail

/// The constants of a motion: three rows: tau, 1/tau, chi/2; reach, rate/2, circles axis 1; period,
/// regime, 0.
template <class T>
POLHODE_INLINE void motion_constants(const Vec3<T>& inertia, const Vec3<T>& m, T (&rows)[9]) {
    using Bodies = motion_detail::Bodies<T>;
    const Bodies b = Bodies::of(inertia, m);
    const MotionFacts<T> facts = motion_facts(b.body, b.m);
    const Repetition<T>& r = facts.repetition;
    rows[0] = r.half_period, rows[1] = r.inverse_half_period, rows[2] = r.half_chi;
    rows[3] = r.reach, rows[4] = r.half_rate, rows[5] = r.circles_axis1;
    rows[6] = select(b.sane, facts.period / b.scale, nan<T>()), rows[7] = facts.regime;
    rows[8] = T(0.0);
}

/// The motion at times, or of bodies, begin ... end - 1 of one row of a batch.
template <class T>
void motion(const MotionArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin >= end) return;
    const MotionArguments& a = arguments;
    const auto count_at = [&](std::ptrdiff_t i) {
        return end - i < lanes_v<T> ? static_cast<int>(end - i) : lanes_v<T>;
    };
    // One body at many times: its constants are computed once.
    const bool shared = a.inertia.body == 0 && a.m.body == 0 && a.repeated.body == 0 &&
                        a.beyond.body == 0 && a.attitude.body == 0;
    using Bodies = motion_detail::Bodies<T>;
    Bodies bodies;
    exact_detail::Motion<T> exact;
    T rate;
    Repetition<T> repetition;
    batch::Attitude<T> start;
    T poison;
    const auto load = [&](std::ptrdiff_t i, int count) {
        bodies = Bodies::of(batch::load_vec3<T>(a.inertia, i, count),
                            batch::load_vec3<T>(a.m, i, count));
        rate = motion_rate(bodies.body);
        exact = exact_detail::Motion<T>::of(bodies.body, bodies.m, power_of_two_reciprocal(rate));
        const Vec3<T> repeated = batch::load_vec3<T>(a.repeated, i, count);
        const Vec3<T> beyond = batch::load_vec3<T>(a.beyond, i, count);
        repetition = {repeated.x, repeated.y, repeated.z, beyond.x, beyond.y, beyond.z};
        start = batch::Attitude<T>::load(a.attitude, a.matrix, i, count);
        poison = select(bodies.sane, T(0.0), nan<T>());
        int findings = all_valid;  // attitudes are validated when the motion is created
        start.make_unit(poison, findings);
    };
    load(begin, shared ? 1 : count_at(begin));
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        const int count = count_at(i);
        if (!shared && i != begin) load(i, count);
        const T t = batch::load_scalar<T>(a.t, i, count) * bodies.scale + poison;
        const FreeStep<T> s = motion_at(exact, rate, repetition, bodies.m, t);
        batch::Attitude<T> attitude = start;
        attitude.turn(bodies.body.order.from_sorted(s.dq));
        batch::store_vec3(a.m_out, i, count, bodies.scale * bodies.body.order.from_sorted(s.m));
        attitude.store(a.attitude_out, i, count);
    }
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

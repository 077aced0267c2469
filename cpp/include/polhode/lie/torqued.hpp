#pragma once

/// @file
/// Krysl's methods under torque.  The torque f at the middle or the end of a step belongs to an
/// attitude that depends on it: f = F(f), F the torque where a step with f leads to.  Broyden's
/// method, which begins as f := F(f), finds the f that changes no more; F is asked for once a time.

#include "polhode/lie/implicit.hpp"
#include "polhode/torqued/bodies.hpp"

POLHODE_NAMESPACE_BEGIN
namespace lie {

/// Columns after the common ones.
enum Column : int {
    momentum_column = torqued::first_free_column,  ///< at the start, and the torque there
    start_column = momentum_column + 3,
    tried_column = start_column + 3,  ///< the last f
    best_column = tried_column + 3,   ///< the f with the least F(f) - f, and that
    defect_column = best_column + 3,
    slope_column = defect_column + 3,  ///< inverse of the derivative of F(f) - f, as far as known
    length_column = slope_column + 9,  ///< how much of Broyden's step was tried last
    count_column = length_column + 1,  ///< how often F was asked for; -1: the step is done
    columns = count_column + 1
};

/// One step for given torques, compiled once.
template <class T>
[[gnu::noinline]] ImplicitStep<T> given_step(Scheme scheme,
                                             const Vec3<T>& inverse,
                                             const Vec3<T>& m,
                                             T h,
                                             const Vec3<T>& f0,
                                             const Vec3<T>& f) {
    return implicit_step(scheme, inverse, m, h, f0, f);
}

/// The torque at the start is there: to the end, or to where it is wanted next.
template <class T>
[[gnu::noinline]] void begin(torqued::Bodies<T>& b, Scheme scheme) {
    b.begin();
    const Vec3<T> f = b.torque();
    b.keep(momentum_column, b.m);
    b.keep(start_column, f);
    b.keep(tried_column, f);
    b.keep(length_column, T(1.0));
    b.keep(count_column, T(0.0));
    const ImplicitStep<T> s = given_step(scheme, b.body.inverse, b.m, b.h(), f, f);
    const FreeStep<T>& to = wants_torque_at_middle(scheme) ? s.middle : s.end;
    if (wants_torque_at_middle(scheme) || wants_torque_at_end(scheme)) {
        b.leave(to.dq, to.m);
        return;
    }
    const T one(1.0);
    b.leave_or_end(to.dq, to.m, one != one, one == one, dot(b.h() * b.omega(), f));
}

/// The work of a step: the middle by itself, the ends by the trapezoidal rule.
template <class T>
POLHODE_INLINE T work_of(Scheme scheme,
                         const Vec3<T>& rate,
                         const Vec3<T>& m,
                         const Vec3<T>& start,
                         const ImplicitStep<T>& s,
                         const Vec3<T>& f) {
    if (wants_torque_at_middle(scheme)) return dot(times(rate, s.middle.m), f);
    const T end = dot(times(rate, s.end.m), f);
    if (scheme == Scheme::euler_backward || scheme == Scheme::euler_backward_rate) return end;
    return 0.5 * (dot(times(rate, m), start) + end);
}

/// The torque at the middle or the end is there.
template <class T>
[[gnu::noinline]] bool repeat(torqued::Bodies<T>& b, Scheme scheme) {
    using polhode::select;
    constexpr int most_times = 200;
    const T times = b.number(count_column);
    const mask_t<T> done_before = times < 0.0;
    if (all(done_before)) return true;
    const Vec3<T> m = b.vector(momentum_column), tried = b.vector(tried_column);
    const Vec3<T> F = b.torque();
    const Vec3<T> defect = F - tried;
    // To a few rounding units of the torque, which is as well as its attitude is known; the
    // step itself is then nearer.
    const T size = max(detail::largest(m), abs(b.h()) * detail::largest(F));
    const T change = abs(b.h()) * detail::largest(defect);
    const mask_t<T> exact = change <= 8 * epsilon_v<T> * size;
    // A body without a state or a torque has no step either.
    const Vec3<T> start = b.vector(start_column);
    const mask_t<T> none_to_find = !(is_finite(m) & is_finite(start));

    // [Bro65], from the best f so far; half as far where the last f was no better, or none.
    const mask_t<T> first = times == 0.0;
    const T minus(-1.0), none(0.0);
    Vec3<T> H[3] = {{minus, none, none}, {none, minus, none}, {none, none, minus}};
    Vec3<T> best = tried, best_defect = defect;
    T length(1.0);
    mask_t<T> stalled = !(times == times);
    if (!all(first)) {
        for (int k = 0; k < 3; ++k) {
            H[k] = select<T>(first, H[k], b.vector(slope_column + 3 * k));
        }
        const Vec3<T> old = b.vector(best_column), old_defect = b.vector(defect_column);
        // As impulses, whose squares stay in the range of numbers.
        const T h = b.h();
        const Vec3<T> d = h * (tried - old), y = h * (defect - old_defect);
        const Vec3<T> Hy{dot(H[0], y), dot(H[1], y), dot(H[2], y)};
        const Vec3<T> dH = d.x * H[0] + (d.y * H[1] + d.z * H[2]);
        const T slope = dot(d, Hy);
        const mask_t<T> usable = (!first) & (abs(slope) > 0x1p-20 * dot(d, d)) & is_finite(Hy);
        const T factor = 1.0 / select(usable, slope, T(1.0));
        H[0] = select<T>(usable, H[0] + (factor * (d.x - Hy.x)) * dH, H[0]);
        H[1] = select<T>(usable, H[1] + (factor * (d.y - Hy.y)) * dH, H[1]);
        H[2] = select<T>(usable, H[2] + (factor * (d.z - Hy.z)) * dH, H[2]);
        const Vec3<T> now = h * defect, before = h * old_defect;
        const mask_t<T> better = first | (dot(now, now) < dot(before, before));
        best = select<T>(better, tried, old);
        best_defect = select<T>(better, defect, old_defect);
        length = select(better, T(1.0), 0.5 * b.number(length_column));
        // A steep torque magnifies the rounding of the attitude: it comes no nearer.
        stalled = (!better) & (detail::largest(before) <= 0x1p-36 * size);
    }
    const mask_t<T> settled = exact | stalled;
    const mask_t<T> lost = none_to_find | ((!settled) & (times >= static_cast<double>(most_times)));
    const mask_t<T> done = settled | lost;
    const Vec3<T> step{dot(H[0], best_defect), dot(H[1], best_defect), dot(H[2], best_defect)};
    const Vec3<T> next = select<T>(exact, F, select<T>(stalled, best, best - length * step));

    const ImplicitStep<T> s = given_step(scheme, b.body.inverse, m, b.h(), start, next);
    FreeStep<T> to = s.end;
    if (wants_torque_at_middle(scheme)) {
        to.m = select<T>(done, s.end.m, s.middle.m);
        to.dq = select<T>(done, s.end.dq, s.middle.dq);
    }
    const T or_nan = select(lost, nan<T>(), T(1.0));
    to.m = or_nan * to.m;
    to.dq = or_nan * to.dq;
    b.keep(length_column, length);
    b.keep(best_column, best);
    b.keep(defect_column, best_defect);
    for (int k = 0; k < 3; ++k) b.keep(slope_column + 3 * k, H[k]);
    const T work = work_of<T>(scheme, b.h() * b.body.inverse, m, start, s, next);
    b.leave_or_end(to.dq, to.m, done_before, done, work);
    b.keep(tried_column, next);
    b.keep(count_column, select(done_before | done, T(-1.0), times + 1.0));
    return all(done_before | done);
}

/// The scheme that the options of a method choose.
template <Scheme S>
Scheme chosen(const OptionValues& options) {
    constexpr bool is_euler = S == Scheme::euler_forward || S == Scheme::euler_backward;
    return is_euler && options.count > 0 ? Kernel{S}.with(options).scheme : S;
}
template <Scheme S>
struct Begin {
    template <class T>
    static void run(torqued::Bodies<T>& b) {
        begin(b, chosen<S>(b.a.options));
    }
};
template <Scheme S>
struct Repeat {
    template <class T>
    static bool run(torqued::Bodies<T>& b) {
        return repeat(b, chosen<S>(b.a.options));
    }
};

template <Scheme S>
struct Stages {
    static constexpr TorquedStage list[] = {
        {torqued::stage<Begin<S>>, 0.0, 1},
        {torqued::stage<Repeat<S>>, wants_torque_at_middle(S) ? 0.5 : 1.0, 1}};
};
template <>
struct Stages<Scheme::euler_forward> {
    static constexpr TorquedStage list[] = {{torqued::stage<Begin<Scheme::euler_forward>>, 0.0, 1}};
};

template <Scheme S>
constexpr TorquedMethod row(const char* name) {
    return {
        name, columns, 0, 1, 1, {Stages<S>::list, S == Scheme::euler_forward ? 1 : 2}, nullptr, 0};
}

}  // namespace lie
POLHODE_NAMESPACE_END

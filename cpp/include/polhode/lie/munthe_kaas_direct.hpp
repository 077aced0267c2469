#pragma once

/// Runge-Kutta methods of Munthe-Kaas under torque.  An explicit method evaluates the torque in one
/// stage after another.  An implicit method solves for the rotations with the known torques,
/// evaluates the torques there, and repeats this until they no longer change.

#include "polhode/direct/bodies.hpp"
#include "polhode/lie/munthe_kaas.hpp"

POLHODE_NAMESPACE_BEGIN(lie::munthe_kaas)

/// Columns after the common ones: those of explicit methods, then of implicit ones.
constexpr int momentum_column = direct::first_free_column;
constexpr int work_column = momentum_column + 3;  ///< weighted sum of the powers so far
constexpr int rotation_column = work_column + 1;
constexpr int explicit_slope(int j) { return rotation_column + 3 + 6 * j; }
constexpr int explicit_force(int j) { return explicit_slope(j) + 3; }

constexpr int count_column = work_column + 1;  ///< see `part_counted`; -1: the step is done
constexpr int implicit_slope(int j) { return count_column + 1 + 9 * j; }
constexpr int implicit_force(int j) { return implicit_slope(j) + 3; }
constexpr int found_force(int j) { return implicit_slope(j) + 6; }

constexpr int columns(const Tableau& t) {
    return t.implicit ? implicit_slope(t.stages) : explicit_slope(t.stages);
}

template <class T>
void explicit_stage(direct::Bodies<T>& b) {
    const Tableau t = Tableau::of(b.a.options.data);
    const int k = b.a.stage;
    const T h = b.h();
    Vec3<T> P{T(0.0), T(0.0), T(0.0)};
    if (k == 0) {
        b.begin();
        b.keep(momentum_column, b.m);
    } else {
        P = b.vector(rotation_column);
    }
    b.keep(explicit_slope(k), dexp_inverse(Turn<T>::of(P), P, h * b.omega()));
    b.keep(explicit_force(k), rotated(quaternion_exp(P), h * b.torque()));
    Vec3<T> K[Tableau::most_explicit], F[Tableau::most_explicit];
    for (int j = 0; j <= k; ++j) {
        K[j] = b.vector(explicit_slope(j));
        F[j] = b.vector(explicit_force(j));
    }
    T work = t.b[k] * dot(h * b.omega(), b.torque());
    if (k > 0) work = b.number(work_column) + work;
    P = weighted(t.row(k + 1), K, k + 1);
    const Quaternion<T> p = quaternion_exp(P);
    const Vec3<T> l = b.vector(momentum_column) + weighted(t.row(k + 1), F, k + 1);
    if (k + 1 < t.stages) {
        b.keep(work_column, work);
        b.keep(rotation_column, P);
        b.ask_at(p, l);
    } else {
        b.end_at(p, l, work);
    }
}

/// The rotations for the known torques.
template <class T>
struct Solution {
    Vec3<T> K[Tableau::most_implicit];
    mask_t<T> found;
    T counted;  ///< one sweep, see `part_counted`

    POLHODE_INLINE static Solution of(const direct::Bodies<T>& b,
                                      const Tableau& t,
                                      const mask_t<T>& wanted,
                                      const Vec3<T>& m,
                                      const Vec3<T>* F) {
        Solution r;
        Vec3<T> L[Tableau::most_implicit];
        for (int j = 0; j < t.stages; ++j) L[j] = m + weighted(t.row(j), F, t.stages);
        const Followed<T> root =
            solve_stages<T>(t, b.h() * b.body.inverse, L, wanted, b.a.options.stop, r.K);
        r.found = root.found;
        r.counted = fma(T(part_counted), root.tried, T(1.0));
        return r;
    }
};

template <class T>
void begin(direct::Bodies<T>& b) {
    const Tableau t = Tableau::of(b.a.options.data);
    b.begin();
    Vec3<T> F[Tableau::most_implicit];
    for (int j = 0; j < t.stages; ++j) F[j] = b.h() * b.torque();
    const auto s = Solution<T>::of(b, t, b.h() == b.h(), b.m, F);
    b.keep(momentum_column, b.m);
    b.keep(count_column, select(s.found, s.counted - 1.0, T(-1.0)));
    for (int j = 0; j < t.stages; ++j) {
        b.keep(implicit_slope(j), s.K[j]);
        b.keep(implicit_force(j), F[j]);
    }
    const T lost = select(s.found, T(1.0), nan<T>());
    const Vec3<T> P = lost * weighted(t.row(0), s.K, t.stages);
    b.ask_at(quaternion_exp(P), b.m + weighted(t.row(0), F, t.stages));
}

/// Uses the torque of stage j; j is the number of the stage in the list minus 1.
template <class T>
bool repeat(direct::Bodies<T>& b) {
    constexpr int most_times = 200;
    const Tableau t = Tableau::of(b.a.options.data);
    const int j = b.a.stage - 1, s = t.stages;
    const T h = b.h(), times = b.number(count_column);
    const mask_t<T> done_before = times < 0.0;
    if (all(done_before)) return true;
    const Vec3<T> m = b.vector(momentum_column);
    Vec3<T> K[Tableau::most_implicit], F[Tableau::most_implicit];
    for (int l = 0; l < s; ++l) {
        K[l] = b.vector(implicit_slope(l));
        F[l] = b.vector(implicit_force(l));
    }
    T work = t.b[j] * dot(h * b.omega(), b.torque());
    if (j > 0) work = b.number(work_column) + work;
    b.keep(work_column, work);
    const Vec3<T> here = weighted(t.row(j), K, s);
    b.keep(found_force(j), rotated(quaternion_exp(here), h * b.torque()));
    if (j + 1 < s) {
        const Quaternion<T> p = quaternion_exp(weighted(t.row(j + 1), K, s));
        b.leave(p, in_body_frame(p, m + weighted(t.row(j + 1), F, s)), done_before);
        return true;
    }
    // Converged to a few rounding units of the impulse; the attitude is not known better.
    T change(0.0), size = largest_component(m);
    for (int l = 0; l < s; ++l) {
        const Vec3<T> found = b.vector(found_force(l));
        change = max(change, largest_component(found - F[l]));
        size = max(size, largest_component(found));
        F[l] = found;
    }
    const mask_t<T> settled = !(change > 8 * epsilon_v<T> * size);  // or NaN
    const mask_t<T> gave_up = (times >= static_cast<double>(most_times)) | has_most_parts(times);
    const auto solution = Solution<T>::of(b, t, !done_before, m, F);
    const mask_t<T> done = settled | gave_up | (!solution.found);
    const Vec3<T> end = weighted(t.b, solution.K, s);
    const Vec3<T> first = weighted(t.row(0), solution.K, s);
    const Vec3<T> end_L = m + weighted(t.b, F, s);
    const Vec3<T> first_L = m + weighted(t.row(0), F, s);
    const T lost = select(solution.found & (settled | (!gave_up)), T(1.0), nan<T>());
    const Quaternion<T> p = quaternion_exp(lost * select<T>(done, end, first));
    b.leave_or_end(p, in_body_frame(p, select<T>(done, end_L, first_L)), done_before, done, work);
    for (int l = 0; l < s; ++l) {
        b.keep(implicit_slope(l), solution.K[l]);
        b.keep(implicit_force(l), F[l]);
    }
    b.keep(count_column, select(done_before | done, T(-1.0), times + solution.counted));
    return all(done_before | done) || is_stopped(b.a.options.stop);
}

/// The stages of a step with this tableau.
inline DirectStages stages(std::ptrdiff_t, const OptionValues& options, DirectStage* list) {
    const Tableau t = Tableau::of(options.data);
    int count = 0;
    if (t.implicit) {
        list[count++] = {direct::stage<begin<batch_real>>, 0.0, 1};
        for (int k = 0; k < t.stages; ++k)
            list[count++] = {direct::stage<repeat<batch_real>>, t.c[k], 1};
        list[count - 1].back = t.stages - 1;
    } else {
        for (int k = 0; k < t.stages; ++k)
            list[count++] = {direct::stage<explicit_stage<batch_real>>, t.c[k], 1};
    }
    return {list, count};
}

/// @param columns  0: those of the tableau
constexpr DirectMethod under_torque(const double* data, int columns = 0) {
    return {columns > 0 ? columns : munthe_kaas::columns(Tableau::of(data)), 1, 1, stages, data};
}
/// For any tableau.
constexpr int most_columns = explicit_slope(Tableau::most_explicit);
static_assert(implicit_slope(Tableau::most_implicit) <= most_columns && most_columns <= 96);
static_assert(Tableau::most_explicit <= DirectMethod::most_stages &&
              Tableau::most_implicit + 1 <= DirectMethod::most_stages);

POLHODE_NAMESPACE_END

#pragma once

/// Krysl's methods under torque.  The torque f at the middle or the end of a step depends on the
/// attitude there, which depends on f: f = F(f), where F(f) is the torque at the state to which a
/// step with f leads.  Broyden's method [Bro65] solves it, beginning with f := F(f), by one
/// evaluation of F per iteration.
///
/// Solutions are not unique.  If every iteration reduces the defect to a quarter, the nearest one
/// is taken.  Otherwise the solution branch is followed from h = 0 (continuation), over parts of
/// the step in which every iteration at least halves the defect (PathLength in newton.hpp does the
/// same for known torques).  Where one does not, the derivative at the last solution is computed by
/// differences, since Broyden's method learns it only along its own directions; if that does not
/// help, the part is halved.

#include "polhode/direct/bodies.hpp"
#include "polhode/lie/implicit.hpp"

POLHODE_NAMESPACE_BEGIN(lie)

/// Columns after the common ones.
enum Column : int {
    momentum_column = direct::first_free_column,  ///< at the start, and the torque there
    start_column = momentum_column + 3,
    tried_column = start_column + 3,   ///< the last f
    before_column = tried_column + 3,  ///< the f before, and F(f) - f of it
    defect_column = before_column + 3,
    slope_column = defect_column + 3,  ///< estimated inverse of the derivative of F(f) - f
    root_column = slope_column + 9,    ///< f and that inverse at the last point of the path
    root_slope_column = root_column + 3,
    path_column = root_slope_column + 9,  ///< that fraction of the path, 0 to 1; -1: direct try
    part_column = path_column + 1,        ///< what is tried next
    fresh_column = part_column + 1,       ///< 1: no defect there yet
    probe_column = fresh_column + 1,      ///< which difference at the root is needed; 0: nothing
    exact_column = probe_column + 1,      ///< 1: the derivative at the root is one by differences
    count_column = exact_column + 1,      ///< see `part_counted`; -1: the step is done
    columns = count_column + 1
};
/// Parts of a path under torque.
inline constexpr double longest_part = 0x1p-3, shortest_part = 0x1p-30;
/// The most evaluations of F in a step.  After that the search for a solution fails.
inline constexpr double most_times = 1000.0;

/// A 3 by 3 matrix, row by row, stored in the columns of a body.
template <class T>
struct Rows {
    Vec3<T> row[3];

    /// -1, with which Broyden's method begins as f := F(f).
    POLHODE_INLINE static Rows minus_one() {
        const T minus(-1.0), none(0.0);
        return {{{minus, none, none}, {none, minus, none}, {none, none, minus}}};
    }
    POLHODE_INLINE static Rows load(const direct::Bodies<T>& b, int column) {
        return {{b.vector(column), b.vector(column + 3), b.vector(column + 6)}};
    }
    POLHODE_INLINE void keep(const direct::Bodies<T>& b, int column) const {
        for (int k = 0; k < 3; ++k) b.keep(column + 3 * k, row[k]);
    }
    POLHODE_INLINE static Rows chosen(const mask_t<T>& where, const Rows& a, const Rows& b) {
        return {{select(where, a.row[0], b.row[0]),
                 select(where, a.row[1], b.row[1]),
                 select(where, a.row[2], b.row[2])}};
    }
    POLHODE_INLINE Vec3<T> times(const Vec3<T>& v) const {
        return {dot(row[0], v), dot(row[1], v), dot(row[2], v)};
    }
    POLHODE_INLINE T determinant() const { return dot(row[0], cross(row[1], row[2])); }
    /// The inverse of the matrix that has these rows as columns.
    POLHODE_INLINE Rows inverse_of_columns() const {
        const T factor = 1.0 / determinant();
        return {{factor * cross(row[1], row[2]),
                 factor * cross(row[2], row[0]),
                 factor * cross(row[0], row[1])}};
    }
    /// [Bro65]: the inverse that takes the change y of the defect to the change d, nearest to this.
    POLHODE_INLINE Rows updated(const mask_t<T>& where, const Vec3<T>& d, const Vec3<T>& y) const {
        const Vec3<T> Hy = times(y);
        const Vec3<T> dH = d.x * row[0] + (d.y * row[1] + d.z * row[2]);
        const T slope = dot(d, Hy);
        const mask_t<T> usable = where & (abs(slope) > 0x1p-20 * dot(d, d)) & is_finite(Hy);
        const T factor = 1.0 / select(usable, slope, T(1.0));
        return {{select(usable, row[0] + (factor * (d.x - Hy.x)) * dH, row[0]),
                 select(usable, row[1] + (factor * (d.y - Hy.y)) * dH, row[1]),
                 select(usable, row[2] + (factor * (d.z - Hy.z)) * dH, row[2])}};
    }
};

/// One step for given torques.  It is compiled only once.
template <class T>
[[gnu::noinline]] ImplicitStep<T> given_step(Scheme scheme,
                                             const Vec3<T>& inverse,
                                             const Vec3<T>& m,
                                             T h,
                                             const Vec3<T>& f0,
                                             const Vec3<T>& f,
                                             const StopRequest* stop) {
    return implicit_step(scheme, inverse, m, h, f0, f, stop);
}

/// Uses the torque at the start: goes to the end, or to the next point where the torque is needed.
template <class T>
[[gnu::noinline]] void begin(direct::Bodies<T>& b, Scheme scheme) {
    b.begin();
    const Vec3<T> f = b.torque();
    b.keep(momentum_column, b.m);
    b.keep(start_column, f);
    b.keep(tried_column, f);
    Rows<T>::minus_one().keep(b, slope_column);
    b.keep(path_column, T(-1.0));
    b.keep(part_column, T(1.0));
    b.keep(fresh_column, T(1.0));
    b.keep(probe_column, T(0.0));
    b.keep(exact_column, T(1.0));
    const StopRequest* stop = b.a.options.stop;
    const ImplicitStep<T> s = given_step(scheme, b.body.inverse, b.m, b.h(), f, f, stop);
    b.keep(count_column, part_counted * s.tried);
    const FreeStep<T>& to = evaluates_torque_at_middle(scheme) ? s.middle : s.end;
    if (evaluates_torque_at_middle(scheme) || evaluates_torque_at_end(scheme)) {
        b.leave(to.dq, to.m);
        return;
    }
    // The torque in the space frame, at both ends.
    const T one(1.0);
    const Vec3<T> rate = b.h() * b.body.inverse;
    const T work =
        0.5 * (dot(times(rate, b.m), f) + dot(times(rate, to.m), in_body_frame(to.dq, f)));
    b.leave_or_end(to.dq, to.m, one != one, one == one, work);
}

/// Uses the torque at the middle or the end.
template <class T>
[[gnu::noinline]] bool repeat(direct::Bodies<T>& b, Scheme scheme) {
    const T count = b.number(count_column);
    const mask_t<T> done_before = count < 0.0;
    const StopRequest* stop = b.a.options.stop;
    if (all(done_before) || is_stopped(stop)) return true;
    const T h = b.h();
    const Vec3<T> m = b.vector(momentum_column), start = b.vector(start_column);
    const Vec3<T> tried = b.vector(tried_column), F = b.torque(), defect = F - tried;
    const mask_t<T> fresh = b.number(fresh_column) == 1.0;
    const T path = b.number(path_column), part = b.number(part_column);
    const mask_t<T> follows = path >= 0.0;
    const Vec3<T> root = b.vector(root_column);
    const Rows<T> root_H = Rows<T>::load(b, root_slope_column);
    Rows<T> H = Rows<T>::load(b, slope_column);

    // As impulses: their squares do not overflow or underflow.
    const Vec3<T> f_before = b.vector(before_column), defect_before = b.vector(defect_column);
    const Vec3<T> now = h * defect, before = h * defect_before;
    const T size = max(largest_component(m), largest_component(h * F));

    // A difference at the root, where the defect is zero: a column of the derivative.
    const T probe = b.number(probe_column);
    const mask_t<T> probes = probe > 0.0;
    const T reach = 0x1p-16 * size / abs(h);
    mask_t<T> known = probe == 3.0;
    if (any(probes)) {
        const Vec3<T> away = tried - root;
        const Vec3<T> column = (1.0 / (away.x + (away.y + away.z))) * defect;
        for (int k = 0; k < 3; ++k) {
            H.row[k] = select<T>(probe == k + 1.0, column, H.row[k]);
        }
        H = Rows<T>::chosen(known, H.inverse_of_columns(), H);
        // Next to the root, the step for a given torque may have no solution.
        known = known & is_finite(H.row[0]) & is_finite(H.row[1]) & is_finite(H.row[2]);
    }

    // Not if the differences are mostly rounding errors.
    const mask_t<T> tells = (!fresh) & (!probes) & (largest_component(before) > 0x1p-30 * size);
    H = H.updated(tells, h * (tried - f_before), now - before);

    // Converged to a few rounding units of the torque; the attitude is not known better.  The step
    // itself is then more accurate.  A torque that changes fast with the attitude magnifies the
    // rounding errors of the attitude.  Then the iteration does not improve f further, and the
    // result is the f before.
    const mask_t<T> exact = largest_component(now) <= 8 * epsilon_v<T> * size;
    const T nearer = dot(now, now), than = dot(before, before);
    const mask_t<T> there = (!fresh) & (largest_component(before) <= 0x1p-36 * size);
    const mask_t<T> halved = nearer <= 0.25 * than;
    const mask_t<T> better = halved & (follows | there | (nearer <= 0.0625 * than));
    const mask_t<T> differenced = b.number(exact_column) == 1.0;
    const mask_t<T> stalled = there & (!exact) & (!halved) & (differenced | !follows);
    const Vec3<T> answer = select<T>(exact, F, f_before);

    // If the determinant is far from that of the last root, there is a fold between the two.
    const mask_t<T> folds = follows & !((root_H.determinant() / H.determinant()) > 0.25);
    // A root is near if the impulse differs from that of the torque at the start by a quarter at
    // most.
    const Vec3<T> first = h * start, moved = h * answer - first;
    const mask_t<T> near =
        largest_component(moved) <= 0.25 * max(largest_component(m), largest_component(first));
    const mask_t<T> found = (exact | stalled) & !probes;
    const mask_t<T> settled = found & (!folds) & (near | follows);
    const mask_t<T> converges = is_finite(defect) & (fresh | better);
    const mask_t<T> fails = (!probes) & ((found & (!settled)) | (!(found | converges)));
    const mask_t<T> goes_on = !(settled | fails | probes);

    // If a root is found, the next part follows.  If not, first the path is followed, then the
    // derivative at its last root is computed, then the part is shortened.
    const mask_t<T> begins = fails & !follows, wants = fails & follows & !differenced;
    const mask_t<T> halves = fails & follows & !wants;
    const T new_path = select(settled & follows, path + part, select(begins, T(0.0), path));
    const mask_t<T> arrived = settled & ((!follows) | (new_path >= 1.0));
    T new_part = select(settled, min(min(2.0 * part, T(longest_part)), 1.0 - new_path), part);
    new_part = select(halves, 0.5 * part, select(begins, T(longest_part), new_part));
    const T new_probe = select(wants, T(1.0), select(probes & (probe < 3.0), probe + 1.0, T(0.0)));
    const mask_t<T> differs = new_probe > 0.0;
    // A body whose state or torque is NaN has no step either.
    const mask_t<T> lost =
        (!arrived) & ((!(is_finite(m) & is_finite(start))) | (new_part < shortest_part) |
                      (count >= most_times) | has_most_parts(count));
    const mask_t<T> done = arrived | lost;
    const Vec3<T> new_root = select<T>(settled, answer, select<T>(begins, start, root));
    const Rows<T> new_root_H =
        Rows<T>::chosen(settled | known, H, Rows<T>::chosen(begins, Rows<T>::minus_one(), root_H));
    Vec3<T> next = select<T>(goes_on, tried - H.times(defect), new_root);
    next.x = next.x + select(new_probe == 1.0, reach, T(0.0));
    next.y = next.y + select(new_probe == 2.0, reach, T(0.0));
    next.z = next.z + select(new_probe == 3.0, reach, T(0.0));
    H = Rows<T>::chosen(goes_on | differs, H, new_root_H);

    T tau = select(differs, new_path, new_path + new_part);
    tau = select(done | (new_path < 0.0), T(1.0), tau);
    tau = select(done_before, T(0.0), tau);  // nothing to solve
    const ImplicitStep<T> s = given_step(scheme, b.body.inverse, m, tau * h, start, next, stop);
    FreeStep<T> to = s.end;
    if (evaluates_torque_at_middle(scheme)) {
        to.m = select<T>(done, s.end.m, s.middle.m);
        to.dq = select<T>(done, s.end.dq, s.middle.dq);
    }
    const T or_nan = select(lost, nan<T>(), T(1.0));
    to.m = or_nan * to.m;
    to.dq = or_nan * to.dq;
    H.keep(b, slope_column);
    new_root_H.keep(b, root_slope_column);
    b.keep(root_column, new_root);
    b.keep(before_column, tried);
    b.keep(defect_column, defect);
    b.keep(path_column, new_path);
    b.keep(part_column, new_part);
    b.keep(fresh_column, select(goes_on, T(0.0), T(1.0)));
    b.keep(probe_column, new_probe);
    b.keep(
        exact_column,
        select(settled, T(0.0), select(begins | (probe == 3.0), T(1.0), b.number(exact_column))));
    // The work from the torque at the middle, or from both ends by the trapezoidal rule.
    const Vec3<T> rate = h * b.body.inverse;
    const T work = evaluates_torque_at_middle(scheme)
                       ? dot(times(rate, s.middle.m), next)
                       : 0.5 * (dot(times(rate, m), start) + dot(times(rate, s.end.m), next));
    b.leave_or_end(to.dq, to.m, done_before, done, work);
    b.keep(tried_column, next);
    b.keep(count_column, select(done_before | done, T(-1.0), count + 1.0 + part_counted * s.tried));
    return all(done_before | done);
}

template <Scheme S, class T>
void begin(direct::Bodies<T>& b) {
    begin(b, Kernel::of(S, b.a.options).scheme);
}
template <Scheme S, class T>
bool repeat(direct::Bodies<T>& b) {
    return repeat(b, Kernel::of(S, b.a.options).scheme);
}

template <Scheme S>
inline constexpr DirectStage stages[] = {
    {direct::stage<begin<S, batch_real>>, 0.0, 1},
    {direct::stage<repeat<S, batch_real>>, evaluates_torque_at_middle(S) ? 0.5 : 1.0, 1}};
template <Scheme S>
constexpr DirectMethod under_torque() {
    constexpr int count = S == Scheme::euler_forward ? 1 : 2;
    return {columns, 1, 1, direct::alike<stages<S>, count>};
}

POLHODE_NAMESPACE_END

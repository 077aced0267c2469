#pragma once

/// Newton's iteration for a rotation vector or a momentum, on packs.  Each lane stops on its
/// own criterion.

#include "polhode/batch_arguments.hpp"
#include "polhode/mat3.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(lie)

/// F(x) and the rows of its derivative.
template <class T>
struct Linearised {
    Vec3<T> F;
    Vec3<T> row[3];
};

/// The root that was found, and the determinant of the derivative there.
template <class T>
struct Root {
    mask_t<T> found;
    T determinant;
};

/// The most iterations of Newton's method, and its stopping criterion: a correction |d| below
/// sqrt(eps)/16 |x| is the last, since the next would be below eps.
inline constexpr int most_iterations = 24;
template <class T>
inline constexpr double last_correction = epsilon_v<T> * 0x1p-8;  ///< of the squares

/// A step is short where the rotation is below `short_step` radians; there a root is accepted
/// directly if corrections shrink by `direct_shrink` or more (squares) and the root is within a
/// quarter of the first guess, `near_by` (squares).  Steps of `endless` radians or more have no
/// solution.
inline constexpr double short_step = 1.5, direct_shrink = 1.0 / 16.0, near_by = 1.0 / 16.0,
                        endless = 0x1p40;
/// The most parts of a step that are tried.  After that the search for a root fails.  For random
/// bodies that turn by 1000 radians in a step, the roots that were found needed up to 18,485 parts.
inline constexpr double most_parts = 0x1p16;
/// A step under torque is solved repeatedly.  One number holds two counters: its integer part
/// counts the solutions, its fraction counts all parts that were tried, at most 2^19.
inline constexpr double part_counted = 0x1p-21, most_counted = 0x1p-2;
template <class T>
POLHODE_INLINE mask_t<T> has_most_parts(const T& count) {
    return count - rint(count) >= most_counted;
}
/// A guess whose relative squared defect is below this is a root.  This is the case for a body that
/// turns about its momentum, for a step of any length.
template <class T>
inline constexpr double no_defect = 0x1p12 * (epsilon_v<T> * epsilon_v<T>);

/// The lanes that still iterate, and the roots of the others.  A root is found where the iteration
/// converged, all corrections shrank from the first on (so the root is the one next to the start),
/// and the determinant is positive.  The determinant is positive at every root that is connected to
/// the root of a step of length 0, where the derivative is 1.
template <class T>
struct Convergence {
    mask_t<T> busy;
    double shrink;  ///< |d|^2 <= shrink |d before|^2 for corrections d one after another
    Root<T> root{mask_t<T>(busy & !busy), T(1.0)};
    T before = T(0x1p1000);

    /// @param dd, xx  squares of the correction and of the corrected unknown
    POLHODE_INLINE void judge(const T& determinant, const T& dd, const T& xx) {
        busy = busy & (determinant > 0.0) & (dd <= shrink * before);
        const mask_t<T> ends = busy & (dd <= last_correction<T> * xx);
        root.found = root.found | ends;
        root.determinant = select(ends, determinant, root.determinant);
        busy = busy & !ends;
        before = dd;
    }
};

/// Solves F(x) = 0 by Newton's iteration from x, in the lanes `wanted`; the others keep x.
///
/// @param problem  problem.at(x) is a Linearised<T>
/// @param shrink   see Convergence
template <class T, class Problem>
POLHODE_INLINE Root<T> newton(const Problem& problem,
                              const mask_t<T>& wanted,
                              double shrink,
                              Vec3<T>& x) {
    Convergence<T> state{wanted, shrink};
    for (int i = 0; i < most_iterations; ++i) {
        const Linearised<T> f = problem.at(x);
        const auto J = Cofactors<T>::of(f.row[0], f.row[1], f.row[2]);
        const Vec3<T> d = J.solve(1.0 / J.determinant, f.F), next = x - d;
        x = select<T>(state.busy, next, x);
        state.judge(J.determinant, dot(d, d), dot(next, next));
        if (!any(state.busy)) break;
    }
    return state.root;
}

POLHODE_INLINE bool is_stopped(const StopRequest* stop) {
    return stop != nullptr && stop->asked(stop->context);
}

/// The fraction of the path along which a root has been followed, from 0 to 1, per lane.
template <class T>
struct PathLength {
    static constexpr double shrink = 1.0 / 64.0, shortest = 0x1p-30;
    T done, part;  ///< `part` is tried next
    T longest, determinant;
    T tried;  ///< parts so far
    mask_t<T> busy, arrived;

    /// @param size  of the whole step: the rotation in radians
    POLHODE_INLINE PathLength(const mask_t<T>& wanted, const T& size)
        : done(0.0),
          longest(max(T(0x1p-8), min(T(0x1p-3), 0.5 / size))),
          determinant(1.0),
          tried(0.0),
          busy(wanted),
          arrived(wanted & !wanted) {
        part = longest;
    }
    /// Advances to a root at done + part, if there is one next to the last root.  If the
    /// determinant is far from the last one, there is a fold between the two, and the path ends
    /// there.
    ///
    /// @return  the lanes that advanced
    POLHODE_INLINE mask_t<T> next(const Root<T>& root) {
        const T ratio = root.determinant / determinant;
        const mask_t<T> found = root.found & (ratio > 0.25);
        determinant = select(found, root.determinant, determinant);
        tried = select(busy, tried + 1.0, tried);
        done = select(found, done + part, done);
        part = select(found, min(min(2.0 * part, longest), 1.0 - done), 0.5 * part);
        const mask_t<T> there = busy & (done >= 1.0);
        arrived = arrived | there;
        busy = busy & (!there) & (found | (part >= shortest * longest)) & (tried < most_parts);
        return found;
    }
};

POLHODE_NAMESPACE_END

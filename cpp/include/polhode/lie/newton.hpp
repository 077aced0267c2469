#pragma once

/// @file
/// Newton's iteration for a rotation vector or a momentum, on packs: lanes stop one by one.

#include "polhode/mat3.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN
namespace lie {

/// F(x) and the rows of its derivative.
template <class T>
struct Linearised {
    Vec3<T> F;
    Vec3<T> row[3];
};

/// Solves F(x) = 0 by Newton's iteration from x, in the lanes `wanted`; the others keep x.
///
/// @param problem  problem.at(x) is a Linearised<T>
/// @param exact    whether its derivative is exact, so that a correction below 2^-30 |x| is the
///                 last
/// @return         where it has come to an end with a positive determinant, as on every root that
///                 is connected with that of a step of length 0, where the derivative is 1
template <class T, class Problem>
POLHODE_INLINE mask_t<T> newton(const Problem& problem,
                                const mask_t<T>& wanted,
                                Vec3<T>& x,
                                bool exact) {
    using polhode::select;
    constexpr int most_iterations = 24;
    // |d|^2 <= enough |x|^2
    const double enough = exact ? epsilon_v<T> * 0x1p-8 : 16 * epsilon_v<T> * epsilon_v<T>;
    mask_t<T> busy = wanted;
    mask_t<T> positive = wanted;
    for (int i = 0; i < most_iterations; ++i) {
        const Linearised<T> f = problem.at(x);
        const Vec3<T> c1 = cross(f.row[1], f.row[2]);
        const Vec3<T> c2 = cross(f.row[2], f.row[0]);
        const Vec3<T> c3 = cross(f.row[0], f.row[1]);
        const T determinant = dot(f.row[0], c1);
        const Vec3<T> s = (1.0 / determinant) * f.F;
        const Vec3<T> d{fma(c1.x, s.x, fma(c2.x, s.y, c3.x * s.z)),
                        fma(c1.y, s.x, fma(c2.y, s.y, c3.y * s.z)),
                        fma(c1.z, s.x, fma(c2.z, s.y, c3.z * s.z))};
        const Vec3<T> next = x - d;
        x = select<T>(busy, next, x);
        positive = positive & ((!busy) | (determinant > 0.0));
        busy = busy & !(dot(d, d) <= enough * dot(next, next));
        if (!any(busy)) break;
    }
    return wanted & positive & !busy;
}

}  // namespace lie
POLHODE_NAMESPACE_END

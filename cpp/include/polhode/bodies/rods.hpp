#pragma once

/// Momentum that a rod cannot have.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "polhode/batch_arguments.hpp"

POLHODE_NAMESPACE_BEGIN(bodies)

/// A moment closer to zero than this part of the largest counts as zero.
inline constexpr double zero_moment = 4 * std::numeric_limits<double>::epsilon();

/// The first of bodies begin ... end - 1 that is a rod and has momentum about its axis, more than
/// `dropped` |m|; `end` if there is none.  A momentum that is not finite is allowed.
inline std::ptrdiff_t first_spinning_rod(
    const View& inertia, const View& m, std::ptrdiff_t begin, std::ptrdiff_t end, double dropped) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
        double moment[3], p[3];
        for (int k = 0; k < 3; ++k) {
            moment[k] = inertia.data[i * inertia.body + k * inertia.component];
            p[k] = m.data[i * m.body + k * m.component];
        }
        const double zero = zero_moment * std::max({moment[0], moment[1], moment[2]});
        const double least = dropped * std::hypot(p[0], p[1], p[2]);
        for (int k = 0; k < 3; ++k) {
            if (moment[k] <= zero && std::isfinite(p[k]) && std::abs(p[k]) > least) return i;
        }
    }
    return end;
}

POLHODE_NAMESPACE_END

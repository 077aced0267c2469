#pragma once

/// Adaptive steps of a call that gives no others.

#include <cmath>
#include <cstddef>

#include "polhode/config.hpp"
#include "polhode/splitting/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

/// Adaptive steps between two times, whose states are the two rows.  After an eighth of the most
/// steps a body goes on if these were an eighth of its way.
template <class Run>
void adapt(const Run& run, SplittingProblem& p, AdaptiveProblem a, std::ptrdiff_t bodies) {
    const std::ptrdiff_t most = a.most_steps;
    const double begin = a.times[0], end = a.times[1];
    a.count = 1;
    a.begins = true;
    run(p, a, 0, bodies);
    ++a.times;
    a.begins = false;
    p.m_saved.data += p.m_save_stride;
    p.attitude_saved.data += p.attitude_save_stride;
    for (const int part : {8, 1}) {
        a.most_steps = most / part;
        run(p, a, 0, bodies);
        for (std::ptrdiff_t i = 0; i < bodies; ++i) {
            if (std::abs(a.t[i] - begin) < std::abs(end - begin) / 8) return;
        }
    }
}

POLHODE_NAMESPACE_END

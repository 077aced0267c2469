#pragma once

/// @file
/// A NumPy inner loop around a kernel of numbers: lane by lane of batch_real, results wherever the
/// strides say.  No numerics.

#include <cfenv>
#include <cstdint>
#include <cstring>

#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN

/// The loop of a kernel(const T* inputs, T* outputs), a constant such as a lambda without capture.
///
/// Contiguous operands are read and written whole, one that does not move is spread, any other is
/// gathered or scattered.  The last elements share a block with copies of its first one, so that an
/// element meets the same operations in any place and its result has the same bits.
template <int Inputs, int Outputs, auto kernel>
void elementwise(char** args, const std::intptr_t* dimensions, const std::intptr_t* steps, void*) {
    constexpr std::intptr_t lanes = lanes_v<batch_real>;
    constexpr std::intptr_t unit = sizeof(double);
    const std::intptr_t n = dimensions[0];
    for (std::intptr_t first = 0; first < n; first += lanes) {
        const std::intptr_t count = n - first < lanes ? n - first : lanes;
        batch_real x[Inputs];
        batch_real y[Outputs];
        for (int k = 0; k < Inputs; ++k) {
            const char* p = args[k] + first * steps[k];
            if (steps[k] == unit && count == lanes) {
                std::memcpy(&x[k], p, sizeof x[k]);
            } else {
                double lane[lanes];
                for (std::intptr_t i = 0; i < lanes; ++i) {
                    std::memcpy(lane + i, p + (i < count ? i * steps[k] : 0), unit);
                }
                std::memcpy(&x[k], lane, sizeof x[k]);
            }
        }
        kernel(static_cast<const batch_real*>(x), static_cast<batch_real*>(y));
        for (int k = 0; k < Outputs; ++k) {
            const std::intptr_t step = steps[Inputs + k];
            char* p = args[Inputs + k] + first * step;
            if (step == unit && count == lanes) {
                std::memcpy(p, &y[k], sizeof y[k]);
            } else {
                double lane[lanes];
                std::memcpy(lane, &y[k], sizeof y[k]);
                for (std::intptr_t i = 0; i < count; ++i) std::memcpy(p + i * step, lane + i, unit);
            }
        }
    }
    // Values blended away in a kernel leave floating-point flags that mean nothing.
    std::feclearexcept(FE_ALL_EXCEPT);
}

POLHODE_NAMESPACE_END

#pragma once

/// Inertia tensors, row by row, before and after their principal axes are found.

#include <algorithm>
#include <cmath>

#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN(bodies)

/// Differences between the halves of a tensor, between the two moments of a rod, and beyond the
/// triangle inequality are errors above this part of the largest entry or moment.
inline constexpr double tensor_tolerance = 1e-9;

/// What is wrong with a tensor or its moments; polhode/bodies/inertia.py has a message for each.
enum class TensorFault { none, not_finite, not_symmetric, indefinite, invalid_moments, unphysical };

/// The mean of a tensor and its transpose.
inline TensorFault symmetric_half(const double* tensor, double* half, double asymmetry) {
    double largest = 0, difference = 0;
    for (int k = 0; k < 9; ++k) {
        if (!std::isfinite(tensor[k])) return TensorFault::not_finite;
        largest = std::max(largest, std::abs(tensor[k]));
        const double other = tensor[k % 3 * 3 + k / 3];
        difference = std::max(difference, std::abs(tensor[k] - other));
        half[k] = tensor[k] == other ? tensor[k] : 0.5 * tensor[k] + 0.5 * other;
    }
    return difference > asymmetry * largest ? TensorFault::not_symmetric : TensorFault::none;
}

/// Sets the zero moment of a rod, which rounding made a small number, to zero, and the other two to
/// their mean if they differ by more than 1e-9, but at most `equal`.
///
/// A zero moment of a full tensor comes out as up to 3 eps (measured, solver included) for tensors
/// formed as A diag A^T or J (1 - u u^T), four times that for sums of a thousand points taken one
/// after another.  A diagonal tensor has no such error.
///
/// @param tensor  symmetric
/// @param eps     of the type in which the tensor was given
inline void set_zero_moment(const double* tensor, double* moments, double eps, double equal) {
    const bool diagonal = tensor[1] == 0 && tensor[2] == 0 && tensor[5] == 0;
    const double zero = (diagonal ? 4 : 16) * eps;
    double largest = 0;
    for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(moments[k]));
    for (int k = 0; k < 3; ++k) {
        if (std::abs(moments[k]) > zero * largest) continue;
        moments[k] = 0;
        double &a = moments[(k + 1) % 3], &b = moments[(k + 2) % 3];
        const double difference = std::abs(a - b);
        if (difference > tensor_tolerance * largest && difference <= equal * largest) {
            a = b = 0.5 * a + 0.5 * b;
        }
    }
}

/// Whether a moment exceeds the sum of the other two, which no distribution of mass has.
inline bool exceeds_triangle(const double* moments, double tolerance) {
    double sorted[] = {moments[0], moments[1], moments[2]};
    std::sort(sorted, sorted + 3);
    return (sorted[2] - sorted[1]) - sorted[0] > tolerance * sorted[2];
}

POLHODE_NAMESPACE_END

/// @file
/// Principal axes of inertia tensors: polhode._core.principal_axes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// What is wrong with a tensor; polhode/bodies/inertia.py has a message for each.
enum Fault { none, not_finite, not_symmetric, indefinite, invalid_moments, unphysical };

/// The mean of a tensor and its transpose.
Fault symmetric_half(const double* tensor, double* half, double asymmetry) {
    double largest = 0, difference = 0;
    for (int k = 0; k < 9; ++k) {
        if (!std::isfinite(tensor[k])) return not_finite;
        largest = std::max(largest, std::abs(tensor[k]));
        const double other = tensor[k % 3 * 3 + k / 3];
        difference = std::max(difference, std::abs(tensor[k] - other));
        half[k] = tensor[k] == other ? tensor[k] : 0.5 * tensor[k] + 0.5 * other;
    }
    return difference > asymmetry * largest ? not_symmetric : none;
}

/// Sets the zero moment of a rod, which rounding made a small number, to zero, and the other two to
/// their mean if they differ by more than 1e-9, but at most `equal`.
void clean(double* moments, double zero, double equal) {
    double largest = 0;
    for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(moments[k]));
    for (int k = 0; k < 3; ++k) {
        if (std::abs(moments[k]) > zero * largest) continue;
        moments[k] = 0;
        double &a = moments[(k + 1) % 3], &b = moments[(k + 2) % 3];
        const double difference = std::abs(a - b);
        if (difference > 1e-9 * largest && difference <= equal * largest) a = b = 0.5 * a + 0.5 * b;
    }
}

Fault fault_of(const double* moments, double triangle) {
    double sorted[] = {moments[0], moments[1], moments[2]};
    std::sort(sorted, sorted + 3);
    if (sorted[0] < 0) return indefinite;
    const View view{moments, 3, 1, 3};
    if (dispatch::level().torque_free->checks.inertia(view, 0, 1) & some_invalid) {
        return invalid_moments;
    }
    return (sorted[2] - sorted[1]) - sorted[0] > triangle * sorted[2] ? unphysical : none;
}

/// (moments, axes, symmetric tensors, whether all axes are the body axes, fault, first tensor with
/// it).
///
/// @param eps       of the type in which the tensors were given
/// @param physical  whether the triangle inequality is checked
py::tuple principal_axes(const Doubles& tensor, double eps, bool physical) {
    // Relative to the largest entry or moment.  A zero moment of a full tensor comes out as up to 3
    // eps (measured, solver included) for tensors formed as A diag A^T or J (1 - u u^T), four times
    // that for sums of a thousand points taken one after another.  A diagonal tensor has no such
    // error.
    const double rounded = std::max(1e-9, 64 * eps);
    const double triangle = physical ? rounded : std::numeric_limits<double>::infinity();
    const std::vector<py::ssize_t> shape(tensor.shape(), tensor.shape() + tensor.ndim());
    Doubles half(shape), axes(shape), moments({shape.begin(), shape.end() - 1});
    const std::ptrdiff_t count = tensor.size() / 9;
    double *const S = half.mutable_data(), *const A = axes.mutable_data();
    double* const I = moments.mutable_data();
    const auto result = [&](bool aligned, Fault fault, std::ptrdiff_t i) {
        return py::make_tuple(moments, axes, half, aligned, static_cast<int>(fault), i);
    };
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const Fault fault = symmetric_half(tensor.data() + 9 * i, S + 9 * i, rounded);
        if (fault != none) return result(false, fault, i);
    }
    double* const outputs[] = {I, A};
    dispatch::call(*dispatch::function("symmetric_eigen"), count, &S, outputs);
    bool aligned = true;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double* s = S + 9 * i;
        const bool diagonal = s[1] == 0 && s[2] == 0 && s[5] == 0;
        clean(I + 3 * i, (diagonal ? 4 : 16) * eps, rounded);
        const Fault fault = fault_of(I + 3 * i, triangle);
        if (fault != none) return result(false, fault, i);
        for (int k = 0; k < 9; ++k) aligned = aligned && A[9 * i + k] == (k % 4 == 0 ? 1.0 : 0.0);
    }
    return result(aligned, none, -1);
}

}  // namespace
}  // namespace polhode::bindings

void register_bodies(py::module_& module) {
    module.def("principal_axes", &polhode::bindings::principal_axes);
}

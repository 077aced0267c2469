/// Principal axes of inertia tensors: polhode._core.principal_axes.

#include <algorithm>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"
#include "polhode/bodies/tensors.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

using bodies::TensorFault;

TensorFault fault_of(const double* moments, double triangle) {
    if (*std::min_element(moments, moments + 3) < 0) return TensorFault::indefinite;
    const View view{moments, 3, 1, 3};
    if (dispatch::level().torque_free->checks.inertia(view, 0, 1) & some_invalid) {
        return TensorFault::invalid_moments;
    }
    return bodies::exceeds_triangle(moments, triangle) ? TensorFault::unphysical
                                                       : TensorFault::none;
}

/// (moments, axes, symmetric tensors, whether all axes are the body axes, fault, first tensor with
/// it).
///
/// @param eps       of the type in which the tensors were given
/// @param physical  whether the triangle inequality is checked
py::tuple principal_axes(const Doubles& tensor, double eps, bool physical) {
    const double rounded = std::max(bodies::tensor_tolerance, 64 * eps);
    const double triangle = physical ? rounded : std::numeric_limits<double>::infinity();
    const std::vector<py::ssize_t> shape(tensor.shape(), tensor.shape() + tensor.ndim());
    Doubles half(shape), axes(shape), moments({shape.begin(), shape.end() - 1});
    const std::ptrdiff_t count = tensor.size() / 9;
    double *const S = half.mutable_data(), *const A = axes.mutable_data();
    double* const I = moments.mutable_data();
    const auto result = [&](bool aligned, TensorFault fault, std::ptrdiff_t i) {
        return py::make_tuple(moments, axes, half, aligned, static_cast<int>(fault), i);
    };
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const TensorFault fault = bodies::symmetric_half(tensor.data() + 9 * i, S + 9 * i, rounded);
        if (fault != TensorFault::none) return result(false, fault, i);
    }
    double* const outputs[] = {I, A};
    dispatch::call(*dispatch::function("symmetric_eigen"), count, &S, outputs);
    bool aligned = true;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        bodies::set_zero_moment(S + 9 * i, I + 3 * i, eps, rounded);
        const TensorFault fault = fault_of(I + 3 * i, triangle);
        if (fault != TensorFault::none) return result(false, fault, i);
        for (int k = 0; k < 9; ++k) aligned = aligned && A[9 * i + k] == (k % 4 == 0 ? 1.0 : 0.0);
    }
    return result(aligned, TensorFault::none, -1);
}

}  // namespace
}  // namespace polhode::bindings

void register_bodies(py::module_& module) {
    module.def("principal_axes", &polhode::bindings::principal_axes);
}

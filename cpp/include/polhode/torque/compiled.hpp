#pragma once

#include <algorithm>
#include <memory>

#include "polhode/batch/views.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/kicks.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// A compiled user-defined torque, see CompiledTorque.
namespace compiled {

inline constexpr TorqueInfo info{"compiled", 0, true, false, false, false};
inline constexpr TorqueInfo info_of_m{"compiled_of_m", 0, true, true, false, false};

/// @tparam T  the number type of the kicks
template <class T>
void torque(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin >= end) return;
    // The function is not called for bodies that only fill up a pack: it may index other arrays.
    const std::ptrdiff_t last = std::min(a.bodies, end), stride = a.m.component;
    std::unique_ptr<double[]> term;
    if (a.add) term.reset(new double[static_cast<std::size_t>(3 * stride)]);
    double* const out = a.add ? term.get() : a.out.data;
    if (a.extra.force != nullptr) {
        std::unique_ptr<double[]> force(new double[static_cast<std::size_t>(3 * stride)]);
        a.extra.force(last - begin,
                      a.first + begin,
                      stride,
                      a.t,
                      a.x.data + begin,
                      a.p.data + begin,
                      a.m.data + begin,
                      a.attitude.data + begin,
                      force.get() + begin,
                      out + begin,
                      a.extra.user_data);
        for (int k = 0; k < 3; ++k) {
            const double* x = force.get() + k * stride;
            double* y = a.force.data + k * stride;
            for (std::ptrdiff_t i = begin; i < last; ++i) y[i] += x[i];
            std::fill(y + last, y + end, y[last - 1]);
        }
    } else {
        a.extra.function(last - begin,
                         a.first + begin,
                         stride,
                         a.t,
                         a.m.data + begin,
                         a.attitude.data + begin,
                         out + begin,
                         a.extra.user_data);
    }
    for (int k = 0; k < 3; ++k) {
        const double* x = out + k * stride;
        double* y = a.out.data + k * stride;
        for (std::ptrdiff_t i = begin; a.add && i < last; ++i) y[i] += x[i];
        std::fill(y + last, y + end, y[last - 1]);
    }
    if (a.kicks.count > 0) do_kicks<T>(a, begin, end);
}

template <class T = batch_real>
inline constexpr TorqueModel model{
    &info, torque<typename batch::one_register<T>::type>, nullptr, nullptr};
template <class T = batch_real>
inline constexpr TorqueModel model_of_m{
    &info_of_m, torque<typename batch::one_register<T>::type>, nullptr, nullptr};

}  // namespace compiled
POLHODE_NAMESPACE_END

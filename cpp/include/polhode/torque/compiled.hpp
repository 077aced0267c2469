#pragma once

#include <memory>

#include "polhode/batch/views.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/kicks.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// A compiled user-defined torque, see CompiledTorque.
///
/// Arrays stored component by component are passed directly, others are copied to columns.
namespace compiled {

inline constexpr TorqueInfo info{"compiled", 0, true, false, false, false};
inline constexpr TorqueInfo info_of_m{"compiled_of_m", 0, true, true, false, false};

/// C components of n bodies from one layout to another.
template <int C>
void copy(
    const View& from, std::ptrdiff_t i, const MutableView& to, std::ptrdiff_t j, std::ptrdiff_t n) {
    for (int k = 0; k < C; ++k) {
        const double* x = from.data + i * from.body + batch::offset<C>(from.component, from.row, k);
        double* y = to.data + j * to.body + batch::offset<C>(to.component, to.row, k);
        for (std::ptrdiff_t b = 0; b < n; ++b) y[b * to.body] = x[b * from.body];
    }
}

/// The state of n bodies in columns, as the function gets it.
struct Columns {
    std::ptrdiff_t stride;
    std::unique_ptr<double[]> data;

    explicit Columns(std::ptrdiff_t n)
        : stride((n + 63) / 64 * 64 + 8),
          data(new double[static_cast<std::size_t>(15 * stride)]) {}
    double* m() const { return data.get(); }
    double* torque() const { return data.get() + 3 * stride; }
    double* attitude() const { return data.get() + 6 * stride; }
    MutableView view(double* first) const { return {first, 1, stride, 3 * stride}; }
};

/// Bodies of arrays with any layout, in one call.
inline void torque_through_columns(const TorqueArguments& a,
                                   std::ptrdiff_t begin,
                                   std::ptrdiff_t end) {
    const std::ptrdiff_t n = end - begin;
    const Columns s(n);
    copy<3>(a.m, begin, s.view(s.m()), 0, n);
    if (a.matrix) {
        copy<9>(a.attitude, begin, s.view(s.attitude()), 0, n);
    } else {
        copy<4>(a.attitude, begin, s.view(s.attitude()), 0, n);
    }
    a.extra.function(
        n, a.first + begin, s.stride, a.t, s.m(), s.attitude(), s.torque(), a.extra.user_data);
    for (int k = 0; a.add && k < 3; ++k) {
        const double* y = a.out.data + begin * a.out.body + k * a.out.component;
        double* f = s.torque() + k * s.stride;
        for (std::ptrdiff_t b = 0; b < n; ++b) f[b] += y[b * a.out.body];
    }
    copy<3>(s.view(s.torque()), 0, a.out, begin, n);
}

/// @tparam T  the number type of the kicks
template <class T = batch::one_register<batch_real>::type>
void torque(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    // The function is not called for bodies that only fill up a pack: it may index other arrays.
    const std::ptrdiff_t last = a.bodies > 0 && a.bodies < end ? a.bodies : end;
    const std::ptrdiff_t stride = a.m.component;
    const bool direct = !a.add && a.m.body == 1 && a.attitude.body == 1 && a.out.body == 1 &&
                        a.attitude.component == stride && a.out.component == stride &&
                        (!a.matrix || a.attitude.row == 3 * stride);
    if (direct) {
        a.extra.function(last - begin,
                         a.first + begin,
                         stride,
                         a.t,
                         a.m.data + begin,
                         a.attitude.data + begin,
                         a.out.data + begin,
                         a.extra.user_data);
    } else {
        torque_through_columns(a, begin, last);
    }
    for (int k = 0; k < 3; ++k) {
        double* y = a.out.data + k * a.out.component;
        for (std::ptrdiff_t i = last; i < end; ++i) y[i * a.out.body] = y[(last - 1) * a.out.body];
    }
    if (a.kicks.count > 0) do_kicks<T>(a, begin, end);
}

}  // namespace compiled
}  // namespace torque
POLHODE_NAMESPACE_END

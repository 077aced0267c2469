#pragma once

#include <memory>

#include "polhode/batch/views.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/kicks.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

/// A compiled user-defined torque, see CompiledTorque.
///
/// Arrays stored component by component are passed directly, others are copied to columns.  With
/// parameters the function uses other body axes: a vector v in its axes is A^T v in these.
///
/// @param parameters  empty, or A (row by row) and its quaternion
namespace compiled {

inline constexpr int parameters = 13;
inline constexpr TorqueInfo info{"compiled", parameters, true, false, false, false};
inline constexpr TorqueInfo info_of_m{"compiled_of_m", parameters, true, true, false, false};

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

    /// Momentum and attitude of body b from the axes of the integration to those of the function.
    void to_function(std::ptrdiff_t b, bool matrix, const double (&p)[parameters]) const {
        const auto rotate = [&](double* v) {
            const Vec3<double> x{v[b], v[stride + b], v[2 * stride + b]};
            for (int k = 0; k < 3; ++k) {
                v[k * stride + b] = dot({p[3 * k], p[3 * k + 1], p[3 * k + 2]}, x);
            }
        };
        rotate(m());
        double* const a = attitude();
        if (matrix) {
            // A row of Q A^T is A times the row.
            for (int k = 0; k < 9; k += 3) rotate(a + k * stride);
        } else {
            const auto component = [&](int k) -> double& { return a[k * stride + b]; };
            const Quaternion<double> q =
                Quaternion<double>{component(0), component(1), component(2), component(3)} *
                conjugate(Quaternion<double>{p[9], p[10], p[11], p[12]});
            component(0) = q.w, component(1) = q.x, component(2) = q.y, component(3) = q.z;
        }
    }
    /// Rotates the torque of body b back.
    void from_function(std::ptrdiff_t b, const double (&p)[parameters]) const {
        double* const f = torque() + b;
        const Vec3<double> x{f[0], f[stride], f[2 * stride]};
        for (int k = 0; k < 3; ++k) f[k * stride] = dot({p[k], p[3 + k], p[6 + k]}, x);
    }
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
    const bool rotated = a.parameters.data != nullptr;
    double p[parameters];
    for (std::ptrdiff_t b = 0; rotated && b < n; ++b) {
        batch::load(a.parameters, begin + b, 1, p);
        s.to_function(b, a.matrix, p);
    }
    a.extra.function(
        n, a.first + begin, s.stride, a.t, s.m(), s.attitude(), s.torque(), a.extra.user_data);
    for (std::ptrdiff_t b = 0; rotated && b < n; ++b) {
        batch::load(a.parameters, begin + b, 1, p);
        s.from_function(b, p);
    }
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
    const bool direct = a.parameters.data == nullptr && !a.add && a.m.body == 1 &&
                        a.attitude.body == 1 && a.out.body == 1 && a.attitude.component == stride &&
                        a.out.component == stride && (!a.matrix || a.attitude.row == 3 * stride);
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

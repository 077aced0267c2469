#pragma once

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

inline constexpr std::ptrdiff_t chunk = 128;
inline constexpr std::ptrdiff_t column = chunk + 8;

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

/// Columns of up to `chunk` bodies.
struct Scratch {
    alignas(64) double m[3][column], attitude[9][column], torque[3][column];

    static MutableView view(double (*columns)[column]) {
        return {columns[0], 1, column, 3 * column};
    }
    /// Momentum and attitude of body b from the axes of the integration to those of the function.
    void to_function(std::ptrdiff_t b, bool matrix, const double (&p)[parameters]) {
        const auto turn = [&](double (*v)[column]) {
            const Vec3<double> x{v[0][b], v[1][b], v[2][b]};
            for (int k = 0; k < 3; ++k) {
                v[k][b] = dot({p[3 * k], p[3 * k + 1], p[3 * k + 2]}, x);
            }
        };
        turn(m);
        if (matrix) {
            // A row of Q A^T is A times the row.
            for (int k = 0; k < 9; k += 3) turn(attitude + k);
        } else {
            const Quaternion<double> q =
                Quaternion<double>{attitude[0][b], attitude[1][b], attitude[2][b], attitude[3][b]} *
                conjugate(Quaternion<double>{p[9], p[10], p[11], p[12]});
            attitude[0][b] = q.w, attitude[1][b] = q.x, attitude[2][b] = q.y, attitude[3][b] = q.z;
        }
    }
    /// Copies the torque of body b back.
    void from_function(std::ptrdiff_t b, const double (&p)[parameters]) {
        const Vec3<double> f{torque[0][b], torque[1][b], torque[2][b]};
        for (int k = 0; k < 3; ++k) torque[k][b] = dot({p[k], p[3 + k], p[6 + k]}, f);
    }
};

/// Bodies of arrays with any layout, one chunk after another.
inline void torque_through_columns(const TorqueArguments& a,
                                   std::ptrdiff_t begin,
                                   std::ptrdiff_t end) {
    Scratch s;
    const bool turned = a.parameters.data != nullptr;
    for (std::ptrdiff_t i = begin; i < end; i += chunk) {
        const std::ptrdiff_t n = end - i < chunk ? end - i : chunk;
        copy<3>(a.m, i, Scratch::view(s.m), 0, n);
        if (a.matrix) {
            copy<9>(a.attitude, i, Scratch::view(s.attitude), 0, n);
        } else {
            copy<4>(a.attitude, i, Scratch::view(s.attitude), 0, n);
        }
        double p[parameters];
        for (std::ptrdiff_t b = 0; turned && b < n; ++b) {
            batch::load(a.parameters, i + b, 1, p);
            s.to_function(b, a.matrix, p);
        }
        a.extra.function(
            n, a.first + i, column, a.t, s.m[0], s.attitude[0], s.torque[0], a.extra.user_data);
        for (std::ptrdiff_t b = 0; turned && b < n; ++b) {
            batch::load(a.parameters, i + b, 1, p);
            s.from_function(b, p);
        }
        if (a.add) {
            for (int k = 0; k < 3; ++k) {
                const double* y = a.out.data + i * a.out.body + k * a.out.component;
                for (std::ptrdiff_t b = 0; b < n; ++b) s.torque[k][b] += y[b * a.out.body];
            }
        }
        copy<3>(Scratch::view(s.torque), 0, a.out, i, n);
    }
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

#pragma once

/// @file
/// polhode from C++ through the compiled library: include this and link with libpolhode
/// (`python -m polhode --includes --libs`, or the CMake target polhode::library).
///
/// The library has the kernels of all instruction-set levels and chooses one at the first call;
/// results have the bits of the Python functions, but those of RigidBody, which may differ by
/// rounding.  (The headers in polhode/ contain the kernels themselves: see docs/cpp.md.)
///
/// Conventions.  m: angular momentum in the body frame; inertia: principal moments along the same
/// axes, in any order; q: unit quaternion, scalar first, that takes body to space components.
/// m' = m x omega + torque.  Any consistent units; angles in radians; steps of either sign.
///
/// Errors: std::invalid_argument before any work, naming the first invalid body.  NaN or infinity
/// in m, q or h of one body makes that body NaN and no other; moments must be finite.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "polhode.h"

namespace polhode {

using Vector = std::array<double, 3>;
using Attitude = std::array<double, 4>;  ///< unit quaternion, scalar first
using Tensor = std::array<double, 9>;    ///< symmetric, row by row

/// Momentum and attitude of a body.
struct State {
    Vector m;
    Attitude q;
};

namespace library {

inline void check(int status) {
    if (status == POLHODE_OK) return;
    if (status == POLHODE_BAD_ARGUMENT) throw std::invalid_argument(polhode_error());
    if (status == POLHODE_NO_MEMORY) throw std::bad_alloc();
    throw std::runtime_error(polhode_error());
}
inline int found(int number) {
    if (number < 0) throw std::invalid_argument(polhode_error());
    return number;
}
inline std::int64_t stride(std::size_t numbers, std::size_t bodies, std::size_t each) {
    if (numbers == each) return 0;
    if (numbers != bodies * each) throw std::invalid_argument("spans of different lengths");
    return static_cast<std::int64_t>(each);
}
inline std::size_t bodies(std::span<const double> m, std::span<const double> q) {
    if (m.size() % 3 != 0 || q.size() % 4 != 0 || m.size() / 3 != q.size() / 4) {
        throw std::invalid_argument("m needs three numbers a body, q four");
    }
    return m.size() / 3;
}

}  // namespace library

/// A method, such as "exact" (the default), "dmv8" or "magnus4"; the name is looked up once.
class Method {
  public:
    Method(const char* name = "exact") : number_(library::found(polhode_method(name))) {}
    int number() const { return number_; }

  private:
    int number_;
};

/// A splitting scheme, such as "strang" (the default) or "rkn6_14".
class Splitting {
  public:
    Splitting(const char* name = "strang") : number_(library::found(polhode_splitting(name))) {}
    int number() const { return number_; }

  private:
    int number_;
};

/// One torque-free step of one body for the time h.
[[nodiscard]] inline State step(
    const Vector& inertia, const Vector& m, const Attitude& q, double h, Method method = {}) {
    State end;
    library::check(polhode_step(method.number(),
                                1,
                                inertia.data(),
                                0,
                                m.data(),
                                q.data(),
                                POLHODE_QUATERNION,
                                &h,
                                0,
                                1,
                                1,
                                end.m.data(),
                                end.q.data(),
                                nullptr));
    return end;
}

struct StepOptions {
    std::int64_t n_steps = 1;
    int threads = 1;  ///< -1: all cores
};

/// Steps bodies in place: m has three numbers a body, q four, inertia three a body or three in all,
/// h one a body or one in all.  Returns the number of bodies that became NaN because their step has
/// no result (an implicit step did not converge, or it was too long for a correct digit).
inline std::int64_t step(std::span<const double> inertia,
                         std::span<double> m,
                         std::span<double> q,
                         std::span<const double> h,
                         Method method = {},
                         StepOptions options = {}) {
    const std::size_t n = library::bodies(m, q);
    std::int64_t lost = 0;
    library::check(polhode_step(method.number(),
                                static_cast<std::int64_t>(n),
                                inertia.data(),
                                library::stride(inertia.size(), n, 3),
                                m.data(),
                                q.data(),
                                POLHODE_QUATERNION,
                                h.data(),
                                library::stride(h.size(), n, 1),
                                options.n_steps,
                                options.threads,
                                m.data(),
                                q.data(),
                                &lost));
    return lost;
}
inline std::int64_t step(std::span<const double> inertia,
                         std::span<double> m,
                         std::span<double> q,
                         double h,
                         Method method = {},
                         StepOptions options = {}) {
    return step(inertia, m, q, std::span<const double>(&h, 1), method, options);
}

/// The closed form of the torque-free motion of a body at any time.
class TorqueFreeMotion {
  public:
    TorqueFreeMotion(const Vector& inertia, const Vector& m0, const Attitude& q0) {
        polhode_motion* made = nullptr;
        library::check(polhode_motion_new(
            1, inertia.data(), 0, m0.data(), q0.data(), POLHODE_QUATERNION, &made));
        motion_.reset(made);
    }
    State operator()(double t) const {
        State at;
        library::check(polhode_motion_at(motion_.get(), 1, &t, 1, at.m.data(), at.q.data()));
        return at;
    }
    /// Of m in the body frame; infinity where m does not return or does not move.
    double period() const {
        double period = 0.0;
        library::check(polhode_motion_period(motion_.get(), &period));
        return period;
    }

  private:
    struct Free {
        void operator()(polhode_motion* motion) const { polhode_motion_free(motion); }
    };
    std::unique_ptr<polhode_motion, Free> motion_;
};

struct IntegrateOptions {
    Splitting splitting = {};
    Method method = {};  ///< of the torque-free motion between two kicks
    double t0 = 0.0;
    bool depends_on_m = false;  ///< the torque does
    int threads = 1;            ///< -1: all cores; the torque is then called by several threads
};

/// Integrates bodies in place, n_steps steps of h, by a splitting method.  torque(t, body, m, q)
/// returns the torque on a body in the body frame as a Vector.  The first exception that it throws
/// comes out of this function at the end of the steps; m and q are then NaN.
template <class Torque>
void integrate(std::span<const double> inertia,
               std::span<double> m,
               std::span<double> q,
               double h,
               std::int64_t n_steps,
               const Torque& torque,
               const IntegrateOptions& options = {}) {
    static_assert(
        std::is_invocable_r_v<Vector, const Torque&, double, std::size_t, Vector, Attitude>);
    struct Call {
        const Torque& torque;
        std::atomic<bool> threw{false};
        std::exception_ptr thrown{};  // the first one; only who sets threw writes it

        static void all(std::int64_t n,
                        std::int64_t first,
                        std::int64_t stride,
                        double t,
                        const double* m,
                        const double* q,
                        double* torques,
                        void* self) {
            auto& call = *static_cast<Call*>(self);
            for (std::int64_t i = 0; i < n; ++i) {
                constexpr double nan = std::numeric_limits<double>::quiet_NaN();
                Vector f{nan, nan, nan};
                if (!call.threw) {
                    try {
                        f = call.torque(
                            t,
                            static_cast<std::size_t>(first + i),
                            Vector{m[i], m[stride + i], m[2 * stride + i]},
                            Attitude{q[i], q[stride + i], q[2 * stride + i], q[3 * stride + i]});
                    } catch (...) {
                        if (!call.threw.exchange(true)) call.thrown = std::current_exception();
                    }
                }
                for (std::int64_t k = 0; k < 3; ++k) {
                    torques[k * stride + i] = f[static_cast<std::size_t>(k)];
                }
            }
        }
    } call{torque};
    const std::size_t n = library::bodies(m, q);
    library::check(polhode_integrate(options.splitting.number(),
                                     options.method.number(),
                                     static_cast<std::int64_t>(n),
                                     inertia.data(),
                                     library::stride(inertia.size(), n, 3),
                                     h,
                                     n_steps,
                                     options.t0,
                                     Call::all,
                                     &call,
                                     options.depends_on_m,
                                     POLHODE_QUATERNION,
                                     options.threads,
                                     m.data(),
                                     q.data(),
                                     0,
                                     nullptr,
                                     nullptr));
    if (call.thrown) std::rethrow_exception(call.thrown);
}

/// A body with any inertia tensor: m and q are in the axes of the tensor.
class RigidBody {
  public:
    explicit RigidBody(const Tensor& tensor) {
        double largest = 0.0;
        for (const double x : tensor) largest = std::max(largest, std::abs(x));
        Tensor half{};  // without the rounding errors of the other half
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                const double a = tensor[3 * i + j], b = tensor[3 * j + i];
                if (std::abs(a - b) > 1e-9 * largest) {
                    throw std::invalid_argument("the inertia tensor is not symmetric");
                }
                half[3 * i + j] = a == b ? a : 0.5 * a + 0.5 * b;
            }
        }
        const double* input[] = {half.data()};
        double* output[] = {moments_.data(), axes_.data()};
        library::check(polhode_function("symmetric_eigen", 1, input, output));
        const double* matrix[] = {axes_.data()};
        double* quaternion[] = {turn_.data()};
        library::check(polhode_function("so3_to_quaternion", 1, matrix, quaternion));
        (void)polhode::step(moments_, Vector{}, turn_, 0.0);  // throws if no body has these moments
    }
    /// In ascending order.
    const Vector& moments() const { return moments_; }
    /// Principal axes in the columns, row by row; their determinant is 1.
    const Tensor& axes() const { return axes_; }

    State step(const Vector& m, const Attitude& q, double h, Method method = {}) const {
        const State s = polhode::step(moments_, to_principal(m), product(q, turn_), h, method);
        return {from_principal(s.m), product(s.q, {turn_[0], -turn_[1], -turn_[2], -turn_[3]})};
    }

  private:
    double axis(std::size_t i, std::size_t j) const { return axes_[3 * i + j]; }
    Vector to_principal(const Vector& v) const {
        Vector w{};
        for (std::size_t j = 0; j < 3; ++j) {
            w[j] = axis(0, j) * v[0] + axis(1, j) * v[1] + axis(2, j) * v[2];
        }
        return w;
    }
    Vector from_principal(const Vector& w) const {
        Vector v{};
        for (std::size_t i = 0; i < 3; ++i) {
            v[i] = axis(i, 0) * w[0] + axis(i, 1) * w[1] + axis(i, 2) * w[2];
        }
        return v;
    }
    static Attitude product(const Attitude& p, const Attitude& q) {
        return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
    }

    Vector moments_{};
    Tensor axes_{};
    Attitude turn_{};
};

}  // namespace polhode

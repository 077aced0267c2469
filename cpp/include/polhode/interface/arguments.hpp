#pragma once

/// @file
/// The arguments of a step and of an integration, and functions of a C++ program as torques.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <vector>

#include "polhode.h"
#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN
namespace interface {

/// The arguments of polhode_step.
struct Steps {
    std::int64_t bodies;
    const double* inertia;
    std::int64_t inertia_stride;
    const double* m;
    const double* q;
    int attitude = POLHODE_QUATERNION;
    const double* h;
    std::int64_t h_stride;
    std::int64_t n_steps;
    int threads;
    double* m_out;
    double* q_out;
};

/// The arguments of polhode_integrate.
struct Integration {
    std::int64_t bodies;
    const double* inertia;
    std::int64_t inertia_stride;
    double h;
    std::int64_t n_steps;
    double t0;
    polhode_torque torque;
    void* user_data;
    int torque_flags;
    int attitude = POLHODE_QUATERNION;
    int threads;
    double* m;
    double* q;
    std::int64_t save_every = 0;
    double* m_saved = nullptr;
    double* q_saved = nullptr;
};

using Vector = std::array<double, 3>;
using Attitude = std::array<double, 4>;  ///< unit quaternion, scalar first

/// The torque on one body: f(t, body, m, q) returns it.
template <class Torque>
concept TorqueOfBody =
    std::is_invocable_r_v<Vector, Torque&, double, std::size_t, const Vector&, const Attitude&>;
/// The torque on all bodies: f(t, m, q, torque) sets it.
template <class Torque>
concept TorqueOfBatch = std::is_invocable_v<Torque&,
                                            double,
                                            std::span<const double>,
                                            std::span<const double>,
                                            std::span<double>>;

/// Calls a torque of either form with columns.
template <class Torque>
struct Call {
    Torque& torque;
    std::vector<double> m{}, q{}, f{};  ///< of all bodies
    std::atomic<bool> threw{false};
    std::exception_ptr thrown{};  // the first one; only who sets threw writes it

    void evaluate(std::int64_t n,
                  std::int64_t first,
                  std::int64_t stride,
                  double t,
                  const double* mc,
                  const double* qc,
                  double* fc) {
        const auto component = [stride](auto* x, std::int64_t i, int k) -> auto& {
            return x[k * stride + i];
        };
        if constexpr (TorqueOfBody<Torque>) {
            for (std::int64_t i = 0; i < n; ++i) {
                const Vector x =
                    torque(t,
                           static_cast<std::size_t>(first + i),
                           Vector{component(mc, i, 0), component(mc, i, 1), component(mc, i, 2)},
                           Attitude{component(qc, i, 0),
                                    component(qc, i, 1),
                                    component(qc, i, 2),
                                    component(qc, i, 3)});
                for (int k = 0; k < 3; ++k) component(fc, i, k) = x[static_cast<std::size_t>(k)];
            }
        } else {
            const auto bodies = static_cast<std::size_t>(n);
            m.resize(3 * bodies), q.resize(4 * bodies), f.resize(3 * bodies);
            const auto rows = [&](const double* from, std::vector<double>& to, int each) {
                double* x = to.data();
                for (std::int64_t i = 0; i < n; ++i) {
                    for (int k = 0; k < each; ++k) *x++ = component(from, i, k);
                }
            };
            rows(mc, m, 3), rows(qc, q, 4);
            torque(t, std::span<const double>(m), std::span<const double>(q), std::span<double>(f));
            const double* x = f.data();
            for (std::int64_t i = 0; i < n; ++i) {
                for (int k = 0; k < 3; ++k) component(fc, i, k) = *x++;
            }
        }
    }
    static int all(std::int64_t n,
                   std::int64_t first,
                   std::int64_t stride,
                   double t,
                   const double* m,
                   const double* q,
                   double* torques,
                   void* self) {
        auto& call = *static_cast<Call*>(self);
        try {
            call.evaluate(n, first, stride, t, m, q, torques);
            return 0;
        } catch (...) {
            if (!call.threw.exchange(true)) call.thrown = std::current_exception();
            return 1;
        }
    }
};

}  // namespace interface
POLHODE_NAMESPACE_END

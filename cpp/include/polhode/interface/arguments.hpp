#pragma once

/// The arguments of a step and of an integration, and functions of a C++ program as torques.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "polhode.h"
#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

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

/// The arguments of polhode_integrate and polhode_integrate_moving.
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
    /// Of polhode_integrate_moving, with a force in place of the torque.
    bool moves = false;
    const double* mass = nullptr;
    std::int64_t mass_stride = 0;
    polhode_force force = nullptr;
    double* x = nullptr;
    double* p = nullptr;
    double* x_saved = nullptr;
    double* p_saved = nullptr;
};

/// The state before an integration: to go back to it, and to count the bodies that are lost.
class Start {
  public:
    /// @param attitude  numbers of an attitude
    Start(const Integration& x, std::ptrdiff_t attitude) : bodies_(x.bodies) {
        for (double* const each : {x.m, x.q, x.x, x.p}) {
            if (each == nullptr) continue;
            arrays_.emplace_back(each,
                                 std::vector(each, each + (each == x.q ? attitude : 3) * bodies_));
        }
    }
    void restore() const {
        for (const auto& [array, before] : arrays_) std::ranges::copy(before, array);
    }
    /// The number of bodies whose state was finite and is not now.
    std::int64_t lost() const {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < bodies_; ++i) {
            bool was_finite = true, is_finite = true;
            for (const auto& [array, before] : arrays_) {
                const std::int64_t size = std::ssize(before) / bodies_;
                for (std::int64_t k = i * size; k < (i + 1) * size; ++k) {
                    was_finite = was_finite && std::isfinite(before[static_cast<std::size_t>(k)]);
                    is_finite = is_finite && std::isfinite(array[k]);
                }
            }
            if (was_finite && !is_finite) ++count;
        }
        return count;
    }

  private:
    std::int64_t bodies_;
    std::vector<std::pair<double*, std::vector<double>>> arrays_;
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

/// The force and torque on all bodies: f(t, x, p, m, q, force, torque) sets them.
template <class Force>
concept ForceOfBatch = std::is_invocable_v<Force&,
                                           double,
                                           std::span<const double>,
                                           std::span<const double>,
                                           std::span<const double>,
                                           std::span<const double>,
                                           std::span<double>,
                                           std::span<double>>;

/// Calls a torque of any form with columns.
template <class Torque>
struct Call {
    Torque& torque;
    std::vector<double> centres{}, p{}, m{}, q{}, g{}, f{};  ///< of all bodies
    std::atomic<bool> threw{false};
    std::exception_ptr thrown{};  // the first one; only who sets threw writes it

    /// The columns as rows.
    static std::span<const double> rows(const double* from,
                                        std::int64_t n,
                                        std::int64_t stride,
                                        int each,
                                        std::vector<double>& to) {
        to.resize(static_cast<std::size_t>(each * n));
        double* next = to.data();
        for (std::int64_t i = 0; i < n; ++i) {
            for (int k = 0; k < each; ++k) *next++ = from[k * stride + i];
        }
        return to;
    }
    /// And back, of vectors.
    static void columns(const std::vector<double>& from,
                        std::int64_t n,
                        std::int64_t stride,
                        double* to) {
        const double* next = from.data();
        for (std::int64_t i = 0; i < n; ++i) {
            for (int k = 0; k < 3; ++k) to[k * stride + i] = *next++;
        }
    }
    /// 0, or 1 after an exception, which is kept.
    template <class Work>
    int status_of(const Work& work) {
        try {
            work();
            return 0;
        } catch (...) {
            if (!threw.exchange(true)) thrown = std::current_exception();
            return 1;
        }
    }
    static int all(std::int64_t n,
                   std::int64_t first,
                   std::int64_t stride,
                   double t,
                   const double* mc,
                   const double* qc,
                   double* torques,
                   void* self) {
        auto& call = *static_cast<Call*>(self);
        const auto component = [stride](auto* x, std::int64_t i, int k) -> auto& {
            return x[k * stride + i];
        };
        return call.status_of([&] {
            if constexpr (TorqueOfBody<Torque>) {
                for (std::int64_t i = 0; i < n; ++i) {
                    const Vector x = call.torque(
                        t,
                        static_cast<std::size_t>(first + i),
                        Vector{component(mc, i, 0), component(mc, i, 1), component(mc, i, 2)},
                        Attitude{component(qc, i, 0),
                                 component(qc, i, 1),
                                 component(qc, i, 2),
                                 component(qc, i, 3)});
                    for (std::size_t k = 0; k < 3; ++k) {
                        component(torques, i, static_cast<int>(k)) = x[k];
                    }
                }
            } else {
                call.f.resize(static_cast<std::size_t>(3 * n));
                call.torque(t,
                            rows(mc, n, stride, 3, call.m),
                            rows(qc, n, stride, 4, call.q),
                            std::span<double>(call.f));
                columns(call.f, n, stride, torques);
            }
        });
    }
    static int all_moving(std::int64_t n,
                          std::int64_t,
                          std::int64_t stride,
                          double t,
                          const double* xc,
                          const double* pc,
                          const double* mc,
                          const double* qc,
                          double* forces,
                          double* torques,
                          void* self) {
        auto& call = *static_cast<Call*>(self);
        return call.status_of([&] {
            const auto count = static_cast<std::size_t>(3 * n);
            call.g.resize(count), call.f.resize(count);
            call.torque(t,
                        rows(xc, n, stride, 3, call.centres),
                        rows(pc, n, stride, 3, call.p),
                        rows(mc, n, stride, 3, call.m),
                        rows(qc, n, stride, 4, call.q),
                        std::span<double>(call.g),
                        std::span<double>(call.f));
            columns(call.g, n, stride, forces);
            columns(call.f, n, stride, torques);
        });
    }
};

POLHODE_NAMESPACE_END

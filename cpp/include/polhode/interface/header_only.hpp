#pragma once

/// What polhode.hpp calls, from kernels that the program compiles: one instruction-set level, that
/// of the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "polhode/batch/stepping.hpp"
#include "polhode/batch/violations.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"
#include "polhode/interface/calls.hpp"
#include "polhode/methods.hpp"
#include "polhode/so3.hpp"
#include "polhode/splitting/driver.hpp"
#include "polhode/torque/compiled.hpp"
#include "polhode/torque_free/motion_batch.hpp"

POLHODE_NAMESPACE_BEGIN(inline header_only::backend)

/// Nine constants of the motion of each body, one at a time.
inline void motion_constants(std::ptrdiff_t bodies,
                             const double* inertia,
                             const double* m,
                             double* constants) {
    for (std::ptrdiff_t i = 0; i < bodies; ++i, inertia += 3, m += 3, constants += 9) {
        const Mat3<double> rows = torque_free::motion_constants(
            Vec3<double>{inertia[0], inertia[1], inertia[2]}, Vec3<double>{m[0], m[1], m[2]});
        std::copy_n(&rows.a[0][0], 9, constants);
    }
}

/// @tparam T  batch_real, or double for one body: the same bits in half the time
template <class T>
inline constexpr validate::Kernels checks{batch::validate_inertias<T>,
                                          batch::validate_attitudes<T>};
template <class T>
inline constexpr interface::MotionKernels motions{motion_constants, torque_free::motion<T>};
template <class T>
inline constexpr interface::Driver driver{
    splitting::run<T>, &torque::compiled::model<T>, &torque::compiled::model_of_m<T>};

/// One step of one body, with the operations of batch::step, without its views.  False for data
/// that are not valid, or may not be; nothing is written then.
using SingleStep = bool (*)(const OptionValues& options, const interface::Steps& x);
template <class M>
bool single_step(const OptionValues& options, const interface::Steps& x) {
    const Vec3<double> moments{x.inertia[0], x.inertia[1], x.inertia[2]};
    int violations = batch::validate_moments(moments);
    batch::Attitude<double> attitude;
    attitude.matrix = false;
    attitude.q = {x.q[0], x.q[1], x.q[2], x.q[3]};
    double h = *x.h;
    attitude.make_unit(h, violations);
    if (violations != all_valid) return false;
    const auto kernel = batch::kernel_of<M>(options);
    const batch::BodyOf<batch::KernelOf<M>, double> body(Inertia<double>::of(moments));
    const FreeStep<double> s =
        batch::advance(kernel, body, Vec3<double>{x.m[0], x.m[1], x.m[2]}, h);
    attitude.rotate(s.dq);
    batch::store_vec3<double>({x.m_out, 3, 1, 3}, 0, 1, s.m);
    attitude.store({x.q_out, 4, 1, 3}, 0, 1);
    return true;
}
template <class M>
constexpr SingleStep single_of(const OptionValues& options) {
    if constexpr (batch::is_multistep<batch::KernelOf<M>>) {
        return nullptr;
    } else {
        return M::info.energy_correction(options) == 0 ? single_step<M> : nullptr;
    }
}

/// A method with its kernels for several bodies and for one.
struct Method {
    const interface::FreeMethod* several;
    const interface::FreeMethod* one;
    SingleStep single;  ///< null: only by `one`

    const interface::FreeMethod& for_bodies(std::int64_t bodies) const {
        return bodies == 1 ? *one : *several;
    }
};
template <class M, class T>
constexpr interface::FreeMethod method_of(const OptionValues& options) {
    return {&M::info, batch::step<M, T>, batch::history_of(batch::kernel_of<M>(options)), options};
}

/// The method that a text names which the compiler knows; no other is compiled.
template <class Named>
Method named() {
    static constexpr std::string_view text = Named::text, name = interface::name_in(text);
    constexpr auto names = Methods::map([]<class M>() { return std::string_view(M::info.name); });
    static_assert(name != "rkmk" && std::ranges::count(names, name) == 1,
                  "there is no such method");
    Method method{};
    Methods::for_each([&]<class M>() {
        if constexpr (name == M::info.name && name == text) {
            static constexpr auto several = method_of<M, batch_real>(M::info.complete({})),
                                  one = method_of<M, double>(M::info.complete({}));
            method = {&several, &one, single_of<M>(one.options)};
        } else if constexpr (name == M::info.name) {
            static const OptionValues options = interface::options_in(text, M::info);
            static const auto several = method_of<M, batch_real>(options),
                              one = method_of<M, double>(options);
            method = {&several, &one, single_of<M>(options)};
        }
    });
    return method;
}

struct Scheme : interface::Scheme {
    explicit Scheme(const char* name) : interface::Scheme(interface::scheme_of(name)) {}
    Scheme(const std::vector<double>& a, const std::vector<double>& b)
        : Scheme(std::make_shared<const std::vector<Stage>>(interface::own_scheme(a, b))) {}

  private:
    explicit Scheme(std::shared_ptr<const std::vector<Stage>> made)
        : interface::Scheme(std::span<const Stage>(*made)),
          own_(std::move(made)) {}
    std::shared_ptr<const std::vector<Stage>> own_;
};

inline std::int64_t step(const Method& method, const interface::Steps& x) {
    return interface::step(
        x.bodies == 1 ? checks<double> : checks<batch_real>, method.for_bodies(x.bodies), x);
}
/// One step of one body.
inline void step_one(const Method& method, const interface::Steps& x) {
    if (method.single == nullptr || !method.single(method.one->options, x)) step(method, x);
}

class Motion {
  public:
    Motion(const double* inertia, const double* m0, const double* q0)
        : motion_(checks<double>, motions<double>, 1, inertia, 0, m0, q0, POLHODE_QUATERNION) {}
    void at(std::int64_t times, const double* t, double* m, double* q) const {
        motion_.at(times == 1 ? motions<double> : motions<batch_real>, times, t, 1, m, q);
    }
    double period() const {
        double period = 0.0;
        motion_.period(&period);
        return period;
    }

  private:
    interface::Motion motion_;
};

/// The number of bodies that became NaN; -1 if the torque has ended the run.
inline std::int64_t integrate(const Scheme& scheme,
                              const Method& method,
                              const interface::Integration& x) {
    try {
        return interface::integrate(x.bodies == 1 ? checks<double> : checks<batch_real>,
                                    x.bodies == 1 ? driver<double> : driver<batch_real>,
                                    method.for_bodies(x.bodies),
                                    scheme,
                                    x);
    } catch (const interface::Stopped&) {
        return -1;
    }
}

/// Principal moments, axes (row by row) and their quaternion.
inline void principal_axes(const double* tensor, double* moments, double* axes, double* turn) {
    Mat3<double> matrix;
    for (int k = 0; k < 9; ++k) matrix.a[k / 3][k % 3] = tensor[k];
    const bodies::PrincipalAxes<double> principal = bodies::symmetric_eigen(matrix);
    const Vec3<double>& p = principal.moments;
    const Quaternion<double> q = so3::to_quaternion(principal.axes);
    moments[0] = p.x, moments[1] = p.y, moments[2] = p.z;
    for (int k = 0; k < 9; ++k) axes[k] = principal.axes.a[k / 3][k % 3];
    turn[0] = q.w, turn[1] = q.x, turn[2] = q.y, turn[3] = q.z;
}

POLHODE_NAMESPACE_END

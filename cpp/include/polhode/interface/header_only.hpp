#pragma once

/// @file
/// What polhode.hpp calls, from kernels that the program compiles: one instruction-set level, that
/// of the program.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
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

POLHODE_NAMESPACE_BEGIN
inline namespace header_only {
namespace backend {

/// Nine constants of the motion of each body, one at a time.
inline void motion_constants(std::ptrdiff_t bodies,
                             const double* inertia,
                             const double* m,
                             double* constants) {
    for (std::ptrdiff_t i = 0; i < bodies; ++i, inertia += 3, m += 3, constants += 9) {
        double rows[9];
        torque_free::motion_constants(
            Vec3<double>{inertia[0], inertia[1], inertia[2]}, Vec3<double>{m[0], m[1], m[2]}, rows);
        std::copy_n(rows, 9, constants);
    }
}

/// @tparam T  batch_real, or double for one body: the same bits in half the time
template <class T>
inline constexpr TorqueModel compiled[] = {
    {&torque::compiled::info,
     torque::compiled::torque<typename batch::one_register<T>::type>,
     nullptr,
     nullptr},
    {&torque::compiled::info_of_m,
     torque::compiled::torque<typename batch::one_register<T>::type>,
     nullptr,
     nullptr}};
template <class T>
inline constexpr validate::Kernels checks{batch::validate_inertias<T>,
                                          batch::validate_attitudes<T>};
template <class T>
inline constexpr interface::MotionKernels motions{motion_constants, torque_free::motion<T>};
template <class T>
inline constexpr interface::Driver driver{splitting::run<T>, &compiled<T>[0], &compiled<T>[1]};

/// One step of one body.  False for data that are not valid, or may not be; nothing is written
/// then.
using SingleStep = bool (*)(const OptionValues& options,
                            const double* inertia,
                            const double* m,
                            const double* q,
                            double h,
                            double* m_out,
                            double* q_out);
/// With the operations of batch::step, without its views.
template <class M>
bool single_step(const OptionValues& options,
                 const double* inertia,
                 const double* m,
                 const double* q,
                 double h,
                 double* m_out,
                 double* q_out) {
    const Vec3<double> moments{inertia[0], inertia[1], inertia[2]};
    int violations = batch::validate_moments(moments);
    batch::Attitude<double> attitude;
    attitude.matrix = false;
    attitude.q = {q[0], q[1], q[2], q[3]};
    attitude.make_unit(h, violations);
    if (violations != all_valid) return false;
    const auto kernel = batch::kernel_of<M>(options);
    const batch::BodyOf<batch::KernelOf<M>, double> body(Inertia<double>::of(moments));
    const FreeStep<double> s = batch::advance(kernel, body, Vec3<double>{m[0], m[1], m[2]}, h);
    attitude.rotate(s.dq);
    m_out[0] = s.m.x, m_out[1] = s.m.y, m_out[2] = s.m.z;
    q_out[0] = attitude.q.w, q_out[1] = attitude.q.x, q_out[2] = attitude.q.y;
    q_out[3] = attitude.q.z;
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
    return {&M::info, batch::step<M, T>, batch::history_of<batch::KernelOf<M>>(), options};
}

/// The place of the method with this name in the list; its length if there is none.
template <class... Ms>
constexpr std::size_t place_in(MethodList<Ms...>, std::string_view name) {
    const std::string_view names[] = {Ms::info.name...};
    std::size_t i = 0;
    while (i < sizeof...(Ms) && names[i] != name) ++i;
    return i;
}
template <class List>
struct Types;
template <class... Ms>
struct Types<MethodList<Ms...>> {
    template <std::size_t Place>
    using at = std::remove_pointer_t<std::tuple_element_t<Place, std::tuple<Ms*...>>>;
    static constexpr std::size_t count = sizeof...(Ms);
};
/// The method that a text names which the compiler knows; no other is compiled.
template <class Named>
Method named() {
    constexpr std::string_view text = Named::text;
    constexpr std::string_view name = interface::name_in(text);
    constexpr std::size_t place = place_in(Methods{}, name);
    static_assert(place < Types<Methods>::count && name != "rkmk", "there is no such method");
    using M = typename Types<Methods>::template at<place>;
    if constexpr (name == text) {
        static constexpr auto several = method_of<M, batch_real>(M::info.complete({})),
                              one = method_of<M, double>(M::info.complete({}));
        return {&several, &one, single_of<M>(one.options)};
    } else {
        static const OptionValues options = interface::options_in(text, M::info);
        static const auto several = method_of<M, batch_real>(options),
                          one = method_of<M, double>(options);
        return {&several, &one, single_of<M>(options)};
    }
}

struct Scheme {
    explicit Scheme(const char* name) : Scheme(interface::scheme_of(name)) {}
    explicit Scheme(const SplittingScheme& scheme)
        : stages{scheme.stages, static_cast<std::size_t>(scheme.count)},
          attitude_only(scheme.attitude_only),
          midpoint_kicks(scheme.order <= 2) {}
    Scheme(const std::vector<double>& a, const std::vector<double>& b)
        : own(std::make_shared<const std::vector<Stage>>(interface::own_scheme(a, b))),
          stages(*own),
          attitude_only(false),
          midpoint_kicks(false) {}
    std::shared_ptr<const std::vector<Stage>> own;
    std::span<const Stage> stages;
    bool attitude_only, midpoint_kicks;
};

inline std::int64_t step(const Method& method, const interface::Steps& x) {
    return interface::step(
        x.bodies == 1 ? checks<double> : checks<batch_real>, method.for_bodies(x.bodies), x);
}

/// One step of one body.
inline void step_one(const Method& method,
                     const double* inertia,
                     const double* m,
                     const double* q,
                     double h,
                     double* m_out,
                     double* q_out) {
    if (method.single == nullptr ||
        !method.single(method.one->options, inertia, m, q, h, m_out, q_out)) {
        step(method, {1, inertia, 0, m, q, POLHODE_QUATERNION, &h, 0, 1, 1, m_out, q_out});
    }
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

/// False if the torque has ended the run.
inline bool integrate(const Scheme& scheme, const Method& method, const interface::Integration& x) {
    const bool one = x.bodies == 1;
    try {
        interface::integrate(one ? checks<double> : checks<batch_real>,
                             one ? driver<double> : driver<batch_real>,
                             method.for_bodies(x.bodies),
                             scheme.stages,
                             scheme.attitude_only,
                             scheme.midpoint_kicks,
                             x);
    } catch (const interface::Stopped&) {
        return false;
    }
    return true;
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

}  // namespace backend
}  // namespace header_only
POLHODE_NAMESPACE_END

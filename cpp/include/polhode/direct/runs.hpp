#pragma once

/// The torque models whose steps a direct integrator makes without leaving the registers.

#include "polhode/direct/system.hpp"
#include "polhode/torque/gravity_gradient.hpp"
#include "polhode/torque/heavy_top.hpp"

POLHODE_NAMESPACE_BEGIN(direct)

template <template <class> class Method>
struct Runs {
    using T = batch::one_register<batch_real>::type;
    static constexpr DirectRun list[] = {
        {nullptr, run_system<Method, NoTorque, T>},
        {&torque::HeavyTop::info, run_system<Method, torque::HeavyTop, T>},
        {&torque::LagrangeTop::info, run_system<Method, torque::LagrangeTop, T>},
        {&torque::KeplerOrbit::info,
         run_system<Method, torque::GravityGradient<torque::KeplerOrbit>, T>}};
};
template <template <class> class Method>
constexpr void add_runs(DirectMethod& method) {
    method.begin = begin_system<>;
    method.runs = Runs<Method>::list;
    method.run_count = sizeof Runs<Method>::list / sizeof Runs<Method>::list[0];
}

POLHODE_NAMESPACE_END

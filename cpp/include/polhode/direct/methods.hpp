#pragma once

/// @file
/// THE list of direct integrators, a row each; its names are names of
/// methods.hpp.

#include "polhode/lie/direct.hpp"
#include "polhode/lie/munthe_kaas.hpp"
#include "polhode/multistep/multistep.hpp"
#include "polhode/runge_kutta/rk4.hpp"
#include "polhode/taylor/direct.hpp"

POLHODE_NAMESPACE_BEGIN
namespace direct {

inline constexpr DirectMethod methods[] = {
    taylor::row<1>("taylor1"),
    taylor::row<2>("taylor2"),
    taylor::row<taylor::second_augmented>("taylor2_augmented"),
    taylor::row<taylor::third_false>("taylor3_false"),
    taylor::row<3>("taylor3"),
    taylor::row<4>("taylor4"),
    taylor::row<5>("taylor5"),
    taylor::row<6>("taylor6"),
    runge_kutta::row<runge_kutta::OfQuaternion>("rk4"),
    runge_kutta::row<runge_kutta::OfRotation>("rk4_rotation"),
    multistep::abam_row,
    multistep::simo_wong_row,
    lie::row<lie::Scheme::trap>("trap"),
    lie::row<lie::Scheme::imid>("imid"),
    lie::row<lie::Scheme::trapm>("trapm"),
    lie::row<lie::Scheme::imidm>("imidm"),
    lie::row<lie::Scheme::swc1>("swc1"),
    lie::row<lie::Scheme::akw>("akw"),
    lie::row<lie::Scheme::bbtrap>("bbtrap"),
    lie::row<lie::Scheme::bbtrapwd>("bbtrapwd"),
    lie::row<lie::Scheme::euler_forward>("euler_forward"),
    lie::row<lie::Scheme::euler_backward>("euler_backward"),
    lie::munthe_kaas::row("rkmk4", lie::rkmk4_tableau),
    lie::munthe_kaas::row("rkmk_midpoint", lie::rkmk_midpoint_tableau),
    lie::munthe_kaas::row("rkmk_gauss2", lie::rkmk_gauss2_tableau),
    lie::munthe_kaas::row("rkmk_gauss4", lie::rkmk_gauss4_tableau),
    lie::munthe_kaas::row("rkmk", lie::rkmk4_tableau, lie::munthe_kaas::most_columns)};

}  // namespace direct
POLHODE_NAMESPACE_END

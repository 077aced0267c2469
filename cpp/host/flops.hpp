#pragma once

/// @file
/// FLOP counts: a method run once with the counting number type.

#include <optional>
#include <string>

#include "polhode/batch_arguments.hpp"
#include "polhode/scalar/counted.hpp"

namespace polhode {

/// Operations of one step of momentum and attitude in the axes of the user, without the constants
/// of the body.  Empty if there is no method with this name.
std::optional<OperationCount> count_step(const std::string& method,
                                         const double (&inertia)[3],
                                         const double (&m)[3],
                                         double h,
                                         bool matrix,
                                         const OptionValues& options);

}  // namespace polhode

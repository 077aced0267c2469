#pragma once

/// @file
/// FLOP counts: a method run once on the number type that counts.

#include <optional>
#include <string>

#include "polhode/batch_arguments.hpp"
#include "polhode/scalar/counted.hpp"

namespace polhode {

/// Operations of one step: momentum and attitude in the user's axes, constants of the body apart.
/// Nothing where there is no such method.
std::optional<OperationCount> count_step(const std::string& method,
                                         const double (&inertia)[3],
                                         const double (&m)[3],
                                         double h,
                                         bool matrix,
                                         const OptionValues& options);

}  // namespace polhode

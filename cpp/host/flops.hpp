#pragma once

/// FLOP counts: a method run once with the counting number type.

#include <array>
#include <optional>
#include <string>

#include "polhode/batch_arguments.hpp"
#include "polhode/scalar/counted.hpp"

namespace polhode {

/// Operations of one step of momentum and attitude in the axes of the user, without the constants
/// of the body.  Empty if there is no method with this name.
std::optional<OperationCount> count_step(const std::string& method,
                                         const std::array<double, 3>& inertia,
                                         const std::array<double, 3>& m,
                                         double h,
                                         bool matrix,
                                         const OptionValues& options);

}  // namespace polhode

/// @file
/// The stages of methods that take the torque themselves, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/torqued/methods.hpp"

namespace polhode::dispatch {
extern const TorquedTable POLHODE_TABLE(torqued);
const TorquedTable POLHODE_TABLE(torqued) = {
    POLHODE_LEVEL::torqued::methods,
    static_cast<int>(sizeof POLHODE_LEVEL::torqued::methods / sizeof(TorquedMethod))};
}  // namespace polhode::dispatch

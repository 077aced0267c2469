/// @file
/// The splitting driver and the torque models, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/splitting/driver.hpp"
#include "polhode/torque/models.hpp"

namespace polhode::dispatch {
extern const SplittingTable POLHODE_TABLE(splitting);
const SplittingTable POLHODE_TABLE(splitting) = {
    POLHODE_LEVEL::splitting::run<>,
    POLHODE_LEVEL::torque::models,
    static_cast<int>(sizeof POLHODE_LEVEL::torque::models / sizeof(TorqueModel))};
}  // namespace polhode::dispatch

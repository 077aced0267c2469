/// The splitting driver and the torque models, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/splitting/driver.hpp"
#include "polhode/torque/models.hpp"

const polhode::dispatch::SplittingTable polhode::dispatch::POLHODE_TABLE(splitting) = {
    POLHODE_LEVEL::splitting::run<>, POLHODE_LEVEL::torque::models};

/// Steps whose lengths follow from their errors, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/splitting/adaptive_lanes.hpp"

const polhode::dispatch::AdaptiveTable polhode::dispatch::POLHODE_TABLE(adaptive) = {
    POLHODE_LEVEL::splitting::run_adaptive<>};

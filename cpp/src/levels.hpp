#pragma once

/// @file
/// What the levels offer to the rest of the core: tables of functions, one table a level.
///
/// Nothing here is compiled per level, so nothing here may hold code that a processor could lack.

#include <cstdint>
#include <string>

namespace polhode::dispatch {

/// A NumPy inner loop: args, dimensions, steps, data.
using UfuncLoop = void (*)(char** args, const std::intptr_t* dimensions,
                           const std::intptr_t* steps, void* data);

/// One loop per ufunc of polhode.elliptic.
struct EllipticTable {
    UfuncLoop rf;
};


struct Level {
    const char* name;
    const EllipticTable* elliptic;
};

/// The level in use, chosen at import: the best that the processor has, or POLHODE_ISA.
const Level& level();

/// Names of the levels that this processor can run, best first, separated by spaces.
std::string supported_levels();

}  // namespace polhode::dispatch

// Name of a level's table: POLHODE_TABLE(elliptic) is elliptic_v3 in the objects of level v3.
#define POLHODE_PASTE_(a, b) a##_##b
#define POLHODE_PASTE(a, b) POLHODE_PASTE_(a, b)
#define POLHODE_TABLE(topic) POLHODE_PASTE(topic, POLHODE_LEVEL)

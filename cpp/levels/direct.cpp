/// @file
/// The stages of direct integrators, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/direct/methods.hpp"

namespace polhode::dispatch {
extern const DirectTable POLHODE_TABLE(direct);
const DirectTable POLHODE_TABLE(direct) = {
    POLHODE_LEVEL::direct::methods,
    static_cast<int>(sizeof POLHODE_LEVEL::direct::methods / sizeof(DirectMethod))};
}  // namespace polhode::dispatch

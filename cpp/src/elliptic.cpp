/// @file
/// The inner loops of polhode.elliptic, compiled once per instruction-set level.

#include "levels.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/scalar/pack.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

void rf_loop(char** args, const std::intptr_t* dimensions, const std::intptr_t* steps, void*) {
    (void)args, (void)dimensions, (void)steps;
}

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const EllipticTable POLHODE_TABLE(elliptic);
const EllipticTable POLHODE_TABLE(elliptic) = {POLHODE_LEVEL::rf_loop};
}  // namespace polhode::dispatch

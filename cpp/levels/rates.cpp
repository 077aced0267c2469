/// @file
/// The inner loops of polhode.attitude_from_rate, compiled once per instruction-set level.

#include "core_loop.hpp"
#include "levels.hpp"
#include "polhode/batch/attitude.hpp"
#include "polhode/magnus/scheme.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using core_loop::Core;

/// q, h and the rate at the Gauss nodes in the order of time -> q after the step.
template <int Order>
struct Turn {
    static constexpr int nodes = Order / 2;
    struct Operands {
        Core cores[2 + nodes];
        constexpr Operands() : cores{Core::quaternion, Core::scalar} {
            for (int i = 0; i < nodes; ++i) cores[2 + i] = Core::vector;
        }
    };
    static constexpr Operands operands{};
    static constexpr const Core (&in)[2 + nodes] = operands.cores;
    static constexpr Core out[] = {Core::quaternion};

    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        batch::Attitude<T> attitude;
        attitude.matrix = false;
        attitude.q = core_loop::quaternion(x);
        T h = x[4];
        int findings = all_valid;  // zero quaternions were refused before
        attitude.make_unit(h, findings);
        attitude.turn(magnus::turn<Order>(x + 5, h));
        core_loop::store(attitude.q, y);
    }
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
using namespace POLHODE_LEVEL;
extern const RatesTable POLHODE_TABLE(rates);
const RatesTable POLHODE_TABLE(rates) = {core_loop::Loop<Turn<2>>::run,
                                         core_loop::Loop<Turn<4>>::run,
                                         core_loop::Loop<Turn<6>>::run,
                                         core_loop::Loop<Turn<8>>::run};
}  // namespace polhode::dispatch

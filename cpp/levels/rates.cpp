/// @file
/// The inner loops of polhode.attitude_from_rate, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/batch/attitude.hpp"
#include "polhode/magnus/scheme.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using array_loop::Core;

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
        attitude.q = array_loop::quaternion(x);
        T h = x[4];
        int violations = all_valid;  // zero quaternions were rejected before
        attitude.make_unit(h, violations);
        attitude.rotate(magnus::turn<Order>(x + 5, h));
        array_loop::store(attitude.q, y);
    }
};

constexpr dispatch::ArrayFunction rows[] = {
    array_loop::row<Turn<2>>("rate_magnus2"),
    array_loop::row<Turn<4>>("rate_magnus4"),
    array_loop::row<Turn<6>>("rate_magnus6"),
    array_loop::row<Turn<8>>("rate_magnus8"),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const ArrayFunctions POLHODE_TABLE(rates);
const ArrayFunctions POLHODE_TABLE(rates){POLHODE_LEVEL::rows};
}  // namespace polhode::dispatch

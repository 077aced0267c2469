/// @file
/// The inner loops of principal axes and of the quantities, compiled once per instruction-set
/// level.

#include "array_loop.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using array_loop::Core;
using array_loop::row;
constexpr Core scalar = Core::scalar, vector = Core::vector;

struct SymmetricEigen {
    static constexpr Core in[] = {Core::matrix};
    static constexpr Core out[] = {Core::vector, Core::matrix};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        const bodies::PrincipalAxes<T> r = bodies::symmetric_eigen(array_loop::matrix(x));
        array_loop::store(r.moments, y);
        array_loop::store(r.axes, y + 3);
    }
};

constexpr dispatch::ArrayFunction rows[] = {
    row<SymmetricEigen>("symmetric_eigen"),
    row<vector, vector, vector>(
        "momentum", [](const auto& a, const auto& b) { return bodies::momentum(a, b); }),
    row<vector, vector, vector>("omega",
                                [](const auto& a, const auto& b) { return bodies::omega(a, b); }),
    row<scalar, vector, vector>("energy",
                                [](const auto& a, const auto& b) { return bodies::energy(a, b); }),
    row<scalar, vector>("casimir", [](const auto& m) { return bodies::casimir(m); }),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const ArrayFunctions POLHODE_TABLE(bodies);
const ArrayFunctions POLHODE_TABLE(bodies){POLHODE_LEVEL::rows};
}  // namespace polhode::dispatch

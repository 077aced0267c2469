/// @file
/// The inner loops of principal axes and of the quantities, compiled once per instruction-set
/// level.

#include "core_loop.hpp"
#include "levels.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using core_loop::Core;
using core_loop::matrix;
using core_loop::store;
using core_loop::vector;

struct SymmetricEigen {
    static constexpr Core in[] = {Core::matrix};
    static constexpr Core out[] = {Core::vector, Core::matrix};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        const bodies::PrincipalAxes<T> r = bodies::symmetric_eigen(matrix(x));
        store(r.moments, y);
        store(r.axes, y + 3);
    }
};
struct Momentum {
    static constexpr Core in[] = {Core::vector, Core::vector};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(bodies::momentum(vector(x), vector(x + 3)), y);
    }
};
struct Omega {
    static constexpr Core in[] = {Core::vector, Core::vector};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(bodies::omega(vector(x), vector(x + 3)), y);
    }
};
struct Energy {
    static constexpr Core in[] = {Core::vector, Core::vector};
    static constexpr Core out[] = {Core::scalar};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        y[0] = bodies::energy(vector(x), vector(x + 3));
    }
};
struct Casimir {
    static constexpr Core in[] = {Core::vector};
    static constexpr Core out[] = {Core::scalar};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        y[0] = bodies::casimir(vector(x));
    }
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
using namespace POLHODE_LEVEL;
extern const BodiesTable POLHODE_TABLE(bodies);
const BodiesTable POLHODE_TABLE(bodies) = {core_loop::Loop<SymmetricEigen>::run,
                                           core_loop::Loop<Momentum>::run,
                                           core_loop::Loop<Omega>::run,
                                           core_loop::Loop<Energy>::run,
                                           core_loop::Loop<Casimir>::run};
}  // namespace polhode::dispatch

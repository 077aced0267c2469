/// @file
/// The inner loops of principal axes and of the quantities, compiled once per instruction-set
/// level.

#include "array_loop.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using array_loop::Core;
using array_loop::matrix;
using array_loop::store;
using array_loop::vector;

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

constexpr dispatch::ArrayFunction rows[] = {
    array_loop::row<SymmetricEigen>("symmetric_eigen"),
    array_loop::row<Momentum>("momentum"),
    array_loop::row<Omega>("omega"),
    array_loop::row<Energy>("energy"),
    array_loop::row<Casimir>("casimir"),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const ArrayFunctions POLHODE_TABLE(bodies);
const ArrayFunctions POLHODE_TABLE(bodies){POLHODE_LEVEL::rows};
}  // namespace polhode::dispatch

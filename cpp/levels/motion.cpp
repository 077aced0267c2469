/// @file
/// Free motion at given times, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/torque_free/motion_batch.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

/// Inertia, m -> `motion_constants`.
struct Facts {
    static constexpr array_loop::Core in[] = {array_loop::Core::vector, array_loop::Core::vector};
    static constexpr array_loop::Core out[] = {array_loop::Core::matrix};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        T rows[9];
        torque_free::motion_constants(array_loop::vector(x), array_loop::vector(x + 3), rows);
        POLHODE_UNROLL
        for (int k = 0; k < 9; ++k) y[k] = rows[k];
    }
};

constexpr dispatch::ArrayFunction rows[] = {
    array_loop::row<Facts>("motion_facts"),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const MotionTable POLHODE_TABLE(motion);
const MotionTable POLHODE_TABLE(motion) = {
    POLHODE_LEVEL::rows, POLHODE_LEVEL::torque_free::motion<POLHODE_LEVEL::batch_real>};
}  // namespace polhode::dispatch

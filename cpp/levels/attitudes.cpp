/// @file
/// The inner loops of polhode.so3, compiled once per instruction-set level.

#include "core_loop.hpp"
#include "levels.hpp"
#include "polhode/so3.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using core_loop::Core;
using core_loop::matrix;
using core_loop::quaternion;
using core_loop::store;
using core_loop::vector;

struct ToMatrix {
    static constexpr Core in[] = {Core::quaternion};
    static constexpr Core out[] = {Core::matrix};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::to_matrix(quaternion(x)), y);
    }
};
struct ToQuaternion {
    static constexpr Core in[] = {Core::matrix};
    static constexpr Core out[] = {Core::quaternion};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::to_quaternion(matrix(x)), y);
    }
};
struct Multiply {
    static constexpr Core in[] = {Core::quaternion, Core::quaternion};
    static constexpr Core out[] = {Core::quaternion};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(quaternion(x) * quaternion(x + 4), y);
    }
};
struct Conjugate {
    static constexpr Core in[] = {Core::quaternion};
    static constexpr Core out[] = {Core::quaternion};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(conjugate(quaternion(x)), y);
    }
};
struct Rotate {
    static constexpr Core in[] = {Core::quaternion, Core::vector};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::rotate(quaternion(x), vector(x + 4)), y);
    }
};
struct RotateByMatrix {
    static constexpr Core in[] = {Core::matrix, Core::vector};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::rotate(matrix(x), vector(x + 9)), y);
    }
};
struct Exp {
    static constexpr Core in[] = {Core::vector};
    static constexpr Core out[] = {Core::quaternion};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::exp(vector(x)), y);
    }
};
struct Log {
    static constexpr Core in[] = {Core::quaternion};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::log(quaternion(x)), y);
    }
};
struct LogShortest {
    static constexpr Core in[] = {Core::quaternion};
    static constexpr Core out[] = {Core::vector};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        store(so3::log_shortest(quaternion(x)), y);
    }
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
using namespace POLHODE_LEVEL;
extern const AttitudesTable POLHODE_TABLE(attitudes);
const AttitudesTable POLHODE_TABLE(attitudes) = {core_loop::Loop<ToMatrix>::run,
                                                 core_loop::Loop<ToQuaternion>::run,
                                                 core_loop::Loop<Multiply>::run,
                                                 core_loop::Loop<Conjugate>::run,
                                                 core_loop::Loop<Rotate>::run,
                                                 core_loop::Loop<RotateByMatrix>::run,
                                                 core_loop::Loop<Exp>::run,
                                                 core_loop::Loop<Log>::run,
                                                 core_loop::Loop<LogShortest>::run};
}  // namespace polhode::dispatch

/// @file
/// The inner loops of polhode.so3, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/so3.hpp"

POLHODE_NAMESPACE_BEGIN
namespace {

using array_loop::Core;
using array_loop::matrix;
using array_loop::quaternion;
using array_loop::store;
using array_loop::vector;

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

constexpr dispatch::ArrayFunction rows[] = {
    array_loop::row<ToMatrix>("so3_to_matrix"),
    array_loop::row<ToQuaternion>("so3_to_quaternion"),
    array_loop::row<Multiply>("so3_multiply"),
    array_loop::row<Conjugate>("so3_conjugate"),
    array_loop::row<Rotate>("so3_rotate"),
    array_loop::row<RotateByMatrix>("so3_rotate_by_matrix"),
    array_loop::row<Exp>("so3_exp"),
    array_loop::row<Log>("so3_log"),
    array_loop::row<LogShortest>("so3_log_shortest"),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const ArrayFunctions POLHODE_TABLE(attitudes);
const ArrayFunctions POLHODE_TABLE(attitudes){POLHODE_LEVEL::rows};
}  // namespace polhode::dispatch

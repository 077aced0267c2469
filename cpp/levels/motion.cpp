/// @file
/// Free motion at given times, and states in body axes that are not principal, compiled once per
/// instruction-set level.

#include "array_loop.hpp"
#include "polhode/batch/body_axes.hpp"
#include "polhode/so3.hpp"
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

using array_loop::Core;
template <bool matrix>
constexpr Core attitude_core = matrix ? Core::matrix : Core::quaternion;

template <bool matrix, class T>
POLHODE_INLINE batch::Attitude<T> attitude_of(const T* x) {
    batch::Attitude<T> a;
    a.matrix = matrix;
    if constexpr (matrix) {
        a.Q = array_loop::matrix(x);
    } else {
        a.q = array_loop::quaternion(x);
    }
    return a;
}
template <bool matrix, class T>
POLHODE_INLINE void store_attitude(const batch::Attitude<T>& a, T* y) {
    if constexpr (matrix) {
        array_loop::store(a.Q, y);
    } else {
        array_loop::store(a.q, y);
    }
}

/// Axes, m, attitude of a body -> m along the principal axes and their attitude, normalised as in a
/// step.
template <bool matrix>
struct ToPrincipal {
    static constexpr Core in[] = {Core::matrix, Core::vector, attitude_core<matrix>};
    static constexpr Core out[] = {Core::vector, attitude_core<matrix>};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        const BodyAxes<T> axes{array_loop::matrix(x)};
        array_loop::store(axes.to_principal(array_loop::vector(x + 9)), y);
        batch::Attitude<T> a = attitude_of<matrix>(x + 12);
        T h(0.0);
        int violations = all_valid;
        a.make_unit(h, violations);
        a.rotate(so3::to_quaternion(axes.A));
        store_attitude<matrix>(a, y + 3);
    }
};
/// Axes, m before a step, m and attitude of the principal axes after it -> m and attitude of the
/// body after it.  The change of m is rotated, not m: the axes are an eps off orthonormal, and this
/// error does not add up over many steps.
template <bool matrix>
struct ToBody {
    static constexpr Core in[] = {Core::matrix, Core::vector, Core::vector, attitude_core<matrix>};
    static constexpr Core out[] = {Core::vector, attitude_core<matrix>};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        const BodyAxes<T> axes{array_loop::matrix(x)};
        const Vec3<T> before = array_loop::vector(x + 9);
        const Vec3<T> change = array_loop::vector(x + 12) - axes.to_principal(before);
        array_loop::store(before + axes.to_body(change), y);
        batch::Attitude<T> a = attitude_of<matrix>(x + 15);
        a.rotate(conjugate(so3::to_quaternion(axes.A)));
        store_attitude<matrix>(a, y + 3);
    }
};

constexpr dispatch::ArrayFunction rows[] = {
    array_loop::row<Facts>("motion_facts"),
    array_loop::row<ToPrincipal<false>>("to_principal"),
    array_loop::row<ToPrincipal<true>>("to_principal_of_matrix"),
    array_loop::row<ToBody<false>>("to_body"),
    array_loop::row<ToBody<true>>("to_body_of_matrix"),
};

}  // namespace
POLHODE_NAMESPACE_END

namespace polhode::dispatch {
extern const MotionTable POLHODE_TABLE(motion);
const MotionTable POLHODE_TABLE(motion) = {
    POLHODE_LEVEL::rows, POLHODE_LEVEL::torque_free::motion<POLHODE_LEVEL::batch_real>};
}  // namespace polhode::dispatch

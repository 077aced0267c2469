/// @file
/// The inner loops of principal axes, of states in body axes that are not principal, and of the
/// quantities, compiled once per instruction-set level.

#include "array_loop.hpp"
#include "polhode/batch/body_axes.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"
#include "polhode/so3.hpp"

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
    row<SymmetricEigen>("symmetric_eigen"),
    row<ToPrincipal<false>>("to_principal"),
    row<ToPrincipal<true>>("to_principal_of_matrix"),
    row<ToBody<false>>("to_body"),
    row<ToBody<true>>("to_body_of_matrix"),
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

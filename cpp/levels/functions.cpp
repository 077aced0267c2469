/// The inner loops of polhode.so3, of principal axes, of the quantities and of
/// polhode.attitude_from_rate, states in body axes that are not principal, and free motion at given
/// times, compiled once per instruction-set level.

#include <algorithm>
#include <initializer_list>

#include "array_loop.hpp"
#include "polhode/batch/attitude.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"
#include "polhode/magnus/table.hpp"
#include "polhode/so3.hpp"
#include "polhode/torque/kepler.hpp"
#include "polhode/torque_free/motion_batch.hpp"

POLHODE_NAMESPACE_BEGIN()
namespace {

using array_loop::Core;
using array_loop::row;
constexpr Core scalar = Core::scalar, vector = Core::vector, quaternion = Core::quaternion,
               matrix = Core::matrix;

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
    if constexpr (matrix) a.Q = array_loop::matrix(x);
    if constexpr (!matrix) a.q = array_loop::quaternion(x);
    return a;
}
template <bool matrix, class T>
POLHODE_INLINE void store_attitude(const batch::Attitude<T>& a, T* y) {
    if constexpr (matrix) array_loop::store(a.Q, y);
    if constexpr (!matrix) array_loop::store(a.q, y);
}

/// Some operands, otherwise scalars; then vectors.
template <int count, int vectors>
struct Operands {
    Core cores[count + vectors]{};
    constexpr Operands(std::initializer_list<Core> first) {
        std::copy(first.begin(), first.end(), cores);
        std::fill_n(cores + count, vectors, Core::vector);
    }
};
/// q, h and the rate at the Gauss nodes in the order of time -> q after the step.
template <int Order>
struct Turn {
    static constexpr int nodes = Order / 2;
    static constexpr Operands<2, nodes> operands{Core::quaternion};
    static constexpr const Core (&in)[2 + nodes] = operands.cores;
    static constexpr Core out[] = {Core::quaternion};

    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        batch::Attitude<T> attitude = attitude_of<false>(x);
        T h = x[4];
        int violations = all_valid;  // zero quaternions were rejected before
        attitude.make_unit(h, violations);
        attitude.rotate(magnus::turn<Order>(x + 5, h));
        array_loop::store(attitude.q, y);
    }
};

/// Begin and end of an interval, stamps and rows of a table around it -> the turn in the interval.
template <int Order, int Samples, bool increments>
struct TableTurn {
    static constexpr int scalars = 2 + Samples + increments;
    static constexpr Operands<scalars, Samples> operands{Core::scalar};
    static constexpr const Core (&in)[scalars + Samples] = operands.cores;
    static constexpr Core out[] = {Core::quaternion};

    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        array_loop::store(
            magnus::turn_in_table<Order, Samples, increments>(x[0], x[1], x + 2, x + scalars), y);
    }
};

/// q, a row of n unit quaternions dq -> q dq_1, q dq_1 dq_2, ...: the steps of `Turn`, one after
/// another.  dimensions: bodies, 4, n.
void accumulate(char** args, const std::intptr_t* dimensions, const std::intptr_t* steps, void*) {
    using T = batch_real;
    constexpr int lanes = array_loop::lanes;
    alignas(64) double buffer[4 * lanes];
    const auto move = [&](auto in,
                          int operand,
                          std::intptr_t offset,
                          std::intptr_t component,
                          std::intptr_t first) {
        const std::intptr_t offsets[] = {
            offset, offset + component, offset + 2 * component, offset + 3 * component};
        const int operands[] = {operand, operand, operand, operand};
        const std::intptr_t left = dimensions[0] - first;
        const int count = left < lanes ? static_cast<int>(left) : lanes;
        array_loop::move_few<in>(args, steps, offsets, operands, 4, first, count, buffer);
    };
    constexpr std::true_type load;
    constexpr std::false_type save;
    for (std::intptr_t first = 0; first < dimensions[0]; first += lanes) {
        T x[4];
        move(load, 0, 0, steps[3], first);
        std::memcpy(x, buffer, sizeof x);
        batch::Attitude<T> attitude = attitude_of<false>(static_cast<const T*>(x));
        for (std::intptr_t k = 0; k < dimensions[2]; ++k) {
            T h(0.0);
            int violations = all_valid;
            attitude.make_unit(h, violations);
            move(load, 1, k * steps[4], steps[5], first);
            std::memcpy(x, buffer, sizeof x);
            attitude.rotate(array_loop::quaternion(x));
            array_loop::store(attitude.q, x);
            std::memcpy(buffer, x, sizeof x);
            move(save, 2, k * steps[6], steps[7], first);
        }
    }
    std::feclearexcept(FE_ALL_EXCEPT);
}

/// Axes, m, attitude of a body -> m along the principal axes and their attitude, normalised as in a
/// step.
template <bool matrix>
struct ToPrincipal {
    static constexpr Core in[] = {Core::matrix, Core::vector, attitude_core<matrix>};
    static constexpr Core out[] = {Core::vector, attitude_core<matrix>};
    template <class T>
    POLHODE_INLINE static void apply(const T* x, T* y) {
        const Mat3<T> axes = array_loop::matrix(x);
        array_loop::store(in_body_frame(axes, array_loop::vector(x + 9)), y);
        batch::Attitude<T> a = attitude_of<matrix>(x + 12);
        T h(0.0);
        int violations = all_valid;
        a.make_unit(h, violations);
        a.rotate(so3::to_quaternion(axes));
        store_attitude<matrix>(a, y + 3);
        if constexpr (!matrix) {  // the step refuses a zero quaternion, which unit length made NaN
            const T size = abs(x[12]) + abs(x[13]) + abs(x[14]) + abs(x[15]);
            for (int k = 3; k < 7; ++k) y[k] = select(size == T(0.0), T(0.0), y[k]);
        }
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
        const Mat3<T> axes = array_loop::matrix(x);
        const Vec3<T> before = array_loop::vector(x + 9);
        const Vec3<T> change = array_loop::vector(x + 12) - in_body_frame(axes, before);
        array_loop::store(before + rotated(axes, change), y);
        batch::Attitude<T> a = attitude_of<matrix>(x + 15);
        a.rotate(conjugate(so3::to_quaternion(axes)));
        store_attitude<matrix>(a, y + 3);
    }
};

constexpr dispatch::ArrayFunction rows[] = {
    row<matrix, quaternion>("so3_to_matrix", [](const auto& q) { return so3::to_matrix(q); }),
    row<quaternion, matrix>("so3_to_quaternion",
                            [](const auto& m) { return so3::to_quaternion(m); }),
    row<quaternion, quaternion, quaternion>("so3_multiply",
                                            [](const auto& p, const auto& q) { return p * q; }),
    row<quaternion, quaternion>("so3_conjugate", [](const auto& q) { return conjugate(q); }),
    row<vector, quaternion, vector>("so3_rotate",
                                    [](const auto& q, const auto& v) { return so3::rotate(q, v); }),
    row<vector, matrix, vector>("so3_rotate_by_matrix",
                                [](const auto& m, const auto& v) { return so3::rotate(m, v); }),
    row<quaternion, vector>("so3_exp", [](const auto& v) { return so3::exp(v); }),
    row<vector, quaternion>("so3_log", [](const auto& q) { return so3::log(q); }),
    row<vector, quaternion>("so3_log_shortest", [](const auto& q) { return so3::log_shortest(q); }),
    row<quaternion, quaternion>("so3_normalize", [](const auto& q) { return so3::normalize(q); }),
    row<scalar, quaternion, quaternion>(
        "so3_angle_between", [](const auto& p, const auto& q) { return so3::angle_between(p, q); }),
    row<quaternion, quaternion, quaternion, scalar>(
        "so3_slerp",
        [](const auto& p, const auto& q, const auto& s) { return so3::slerp(p, q, s); }),
    {"so3_accumulate", "(4),(n,4)->(n,4)", 2, 1, accumulate},
    row<SymmetricEigen>("symmetric_eigen"),
    row<vector, vector, vector>(
        "momentum", [](const auto& a, const auto& b) { return bodies::momentum(a, b); }),
    row<vector, vector, vector>("omega",
                                [](const auto& a, const auto& b) { return bodies::omega(a, b); }),
    row<scalar, vector, vector>("energy",
                                [](const auto& a, const auto& b) { return bodies::energy(a, b); }),
    row<scalar, vector>("casimir", [](const auto& m) { return bodies::casimir(m); }),
    row<scalar, scalar, scalar>(
        "eccentric_anomaly",
        [](const auto& M, const auto& e) { return torque::eccentric_anomaly(M, e); }),
    row<Turn<2>>("rate_magnus2"),
    row<Turn<4>>("rate_magnus4"),
    row<Turn<6>>("rate_magnus6"),
    row<Turn<8>>("rate_magnus8"),
    row<TableTurn<2, 1, false>>("rate_samples1"),
    row<TableTurn<4, 2, false>>("rate_samples2"),
    row<TableTurn<4, 4, false>>("rate_samples4"),
    row<TableTurn<6, 6, false>>("rate_samples6"),
    row<TableTurn<2, 1, true>>("rate_increments2"),
    row<TableTurn<4, 3, true>>("rate_increments4"),
    row<TableTurn<6, 5, true>>("rate_increments6"),
    row<matrix, vector, vector>("motion_facts",
                                [](const auto& inertia, const auto& m) {
                                    return torque_free::motion_constants(inertia, m);
                                }),
    row<ToPrincipal<false>>("to_principal"),
    row<ToPrincipal<true>>("to_principal_of_matrix"),
    row<ToBody<false>>("to_body"),
    row<ToBody<true>>("to_body_of_matrix"),
};

}  // namespace
POLHODE_NAMESPACE_END

const polhode::dispatch::ArrayFunctions polhode::dispatch::POLHODE_TABLE(functions){
    POLHODE_LEVEL::rows};
const polhode::dispatch::MotionTable polhode::dispatch::POLHODE_TABLE(motion){
    POLHODE_LEVEL::torque_free::motion<POLHODE_LEVEL::batch_real>};

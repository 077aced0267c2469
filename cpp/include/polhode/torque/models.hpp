#pragma once

/// @file
/// The list of all torque models, and the loops over bodies.
///
/// A model is a type with a row of facts and
///
///     template <class T, class Frame> static Vec3<T> torque(p, t, m, frame);
///     template <class T, class Frame> static Vec3<T> derivative(p, t, v, frame);
///     template <class T, class Frame> static T potential(p, t, frame);
///     template <class T> static auto prepare(p, s);
///     template <class T, class Frame> static Vec3<T> kick(p, t, prepared, m, frame);
///
/// p are the parameters of a body.  `derivative` is the rate of the torque while the body turns at
/// v.  It and the potential exist if the row of facts declares them.  `kick` is the exact flow of
/// m' = torque over the time s, for a torque that depends on m.  A new model is one file and one
/// row.

#include "polhode/torque/compiled.hpp"
#include "polhode/torque/gravity_gradient.hpp"
#include "polhode/torque/heavy_top.hpp"
#include "polhode/torque/kicks.hpp"
#include "polhode/torque/lagrange_top.hpp"
#include "polhode/torque/prescribed.hpp"
#include "polhode/torque/soft_wall.hpp"
#include "polhode/torque/vessel.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

namespace detail {

/// The code of a torque is short: it works on one register at a time, without spills.
using torque_real = batch::one_register<batch_real>::type;

// Loops over at least one body: whole packs of arrays stored component by component.  Parameters
// shared by all bodies are loaded before.

template <class M, bool Matrix, class T>
void torque_loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    T p[M::parameters];
    batch::load(a.parameters, begin, 1, p);
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0) batch::load(columns(a.parameters), i, lanes, p);
        Vec3<T> m{};
        if constexpr (M::info.depends_on_m) m = batch::load_vec3<T>(columns(a.m), i, lanes);
        Vec3<T> f = M::torque(p, a.t, m, Frame<T, Matrix>::load(columns(a.attitude), i, lanes));
        if (a.add) f = batch::load_vec3<T>(columns(a.out), i, lanes) + f;
        batch::store_vec3(columns(a.out), i, lanes, f);
        if (a.kicks.count > 0) do_kicks(a, i, f);
    }
}

template <class M, bool Matrix, class T>
void derivative_loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    T p[M::parameters];
    batch::load(a.parameters, begin, 1, p);
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0) batch::load(columns(a.parameters), i, lanes, p);
        const Vec3<T> v = batch::load_vec3<T>(columns(a.rotation), i, lanes);
        const auto frame = Frame<T, Matrix>::load(columns(a.attitude), i, lanes);
        Vec3<T> f = M::derivative(p, a.t, v, frame);
        if (a.add) f = batch::load_vec3<T>(columns(a.out), i, lanes) + f;
        batch::store_vec3(columns(a.out), i, lanes, f);
    }
}

template <class M, bool Matrix, class T>
void potential_loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    T p[M::parameters];
    batch::load(a.parameters, begin, 1, p);
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0) batch::load(columns(a.parameters), i, lanes, p);
        const auto frame = Frame<T, Matrix>::load(columns(a.attitude), i, lanes);
        const T out[1] = {M::potential(p, a.t, frame)};
        batch::store(columns(a.out), i, lanes, out);
    }
}

template <class M, bool Matrix, class T>
void kick_loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    T p[M::parameters];
    batch::load(a.parameters, begin, 1, p);
    auto constants = M::prepare(p, a.duration);
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0) {
            batch::load(columns(a.parameters), i, lanes, p);
            constants = M::prepare(p, a.duration);
        }
        const auto frame = Frame<T, Matrix>::load(columns(a.attitude), i, lanes);
        const Vec3<T> m = batch::load_vec3<T>(columns(a.m), i, lanes);
        batch::store_vec3(columns(a.out), i, lanes, M::kick(p, a.t, constants, m, frame));
    }
}

/// The arguments of a model whose parameters change with time: those of the interval of a.t.
inline TorqueArguments in_interval(TorqueArguments a) {
    const TorqueTable& table = a.extra.table;
    std::ptrdiff_t low = 0, high = table.count - 1;
    while (low < high) {
        const std::ptrdiff_t middle = low + (high - low) / 2;
        if (a.t < table.bounds[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    a.parameters.data += low * table.stride;
    a.t -= table.origins[low];
    return a;
}

/// Calls loop(a, begin, end) for quaternions or matrices, if there is a body.
inline void run(TorqueFunction loop_of_quaternions,
                TorqueFunction loop_of_matrices,
                const TorqueArguments& a,
                std::ptrdiff_t begin,
                std::ptrdiff_t end) {
    if (begin >= end) return;
    const TorqueFunction loop = a.matrix ? loop_of_matrices : loop_of_quaternions;
    if (a.extra.table.bounds == nullptr) {
        loop(a, begin, end);
    } else {
        loop(in_interval(a), begin, end);
    }
}

}  // namespace detail

template <class M, class T = detail::torque_real>
void torque(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using namespace detail;
    run(torque_loop<M, false, T>, torque_loop<M, true, T>, a, begin, end);
}
template <class M, class T = detail::torque_real>
void derivative(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using namespace detail;
    run(derivative_loop<M, false, T>, derivative_loop<M, true, T>, a, begin, end);
}
template <class M, class T = detail::torque_real>
void potential(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using namespace detail;
    run(potential_loop<M, false, T>, potential_loop<M, true, T>, a, begin, end);
}

template <class M, class T = detail::torque_real>
void kick(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using namespace detail;
    run(kick_loop<M, false, T>, kick_loop<M, true, T>, a, begin, end);
}

template <class M>
constexpr TorqueModel row() {
    TorqueModel model{&M::info, torque::torque<M>, nullptr, nullptr};
    if constexpr (M::info.has_derivative) model.derivative = derivative<M>;
    if constexpr (M::info.has_potential) model.potential = potential<M>;
    if constexpr (M::info.depends_on_m) model.kick = kick<M>;
    return model;
}

inline constexpr TorqueModel models[] = {
    row<HeavyTop>(),
    row<LagrangeTop>(),
    row<SoftWall>(),
    row<GravityGradient>(),
    row<Restoring>(),
    row<Vessel>(),
    row<CoupledVessel>(),
    row<Constant<false>>(),
    row<Constant<true>>(),
    row<Prescribed<false>>(),
    row<Prescribed<true>>(),
    {&compiled::info, compiled::torque<>, nullptr, nullptr},
    {&compiled::info_of_m, compiled::torque<>, nullptr, nullptr}};

}  // namespace torque
POLHODE_NAMESPACE_END

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
#include "polhode/torque/prescribed.hpp"
#include "polhode/torque/soft_wall.hpp"
#include "polhode/torque/vessel.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

namespace detail {

/// The code of a torque is short: it works on one register at a time, without spills.
using torque_real = batch::one_register<batch_real>::type;

/// What a model evaluates.
enum class Part { torque, derivative, potential, kick };

/// A loop over at least one body: whole packs of arrays stored component by component.  Parameters
/// shared by all bodies are loaded before.
template <class M, Part part, bool Matrix, class T>
void loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    T p[M::parameters];
    batch::load(a.parameters, begin, 1, p);
    const auto prepare = [&]() POLHODE_INLINE_LAMBDA {
        if constexpr (part == Part::kick) return M::prepare(p, a.duration);
        if constexpr (part != Part::kick) return 0;
    };
    [[maybe_unused]] auto prepared = prepare();
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0) {
            batch::load(columns(a.parameters), i, lanes, p);
            prepared = prepare();
        }
        const auto vector = [&](const View& v) POLHODE_INLINE_LAMBDA {
            return batch::load_vec3<T>(columns(v), i, lanes);
        };
        const auto frame = Frame<T, Matrix>::load(columns(a.attitude), i, lanes);
        if constexpr (part == Part::potential) {
            const T out[1] = {M::potential(p, a.t, frame)};
            batch::store(columns(a.out), i, lanes, out);
            continue;
        }
        Vec3<T> f{};
        if constexpr (part == Part::torque && M::info.depends_on_m) f = vector(a.m);
        if constexpr (part == Part::torque) f = M::torque(p, a.t, f, frame);
        if constexpr (part == Part::derivative)
            f = M::derivative(p, a.t, vector(a.rotation), frame);
        if constexpr (part == Part::kick) f = M::kick(p, a.t, prepared, vector(a.m), frame);
        if (part != Part::kick && a.add) f = vector(a.out) + f;
        batch::store_vec3(columns(a.out), i, lanes, f);
        if (part == Part::torque && a.kicks.count > 0) do_kicks(a, i, f);
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

/// Part of a model for bodies in columns, whole packs.
template <class M, Part part, class T = torque_real>
void evaluate(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin >= end) return;
    const TorqueFunction loop =
        a.matrix ? detail::loop<M, part, true, T> : detail::loop<M, part, false, T>;
    if (a.extra.table.bounds == nullptr) {
        loop(a, begin, end);
    } else {
        loop(in_interval(a), begin, end);
    }
}

}  // namespace detail

template <class M>
constexpr TorqueModel row() {
    using namespace detail;
    TorqueModel model{&M::info, evaluate<M, Part::torque>, nullptr, nullptr};
    if constexpr (M::info.has_derivative) model.derivative = evaluate<M, Part::derivative>;
    if constexpr (M::info.has_potential) model.potential = evaluate<M, Part::potential>;
    if constexpr (M::info.depends_on_m) model.kick = evaluate<M, Part::kick>;
    return model;
}

inline constexpr TorqueModel models[] = {row<HeavyTop>(),
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
                                         compiled::model<>,
                                         compiled::model_of_m<>};

}  // namespace torque
POLHODE_NAMESPACE_END

#pragma once

/// The list of all torque models, and the loops over bodies.
///
/// A model is a type with a row of facts and
///
///     template <class T, class Frame> static Vec3<T> torque(p, t, m, frame);
///     template <class T, class Frame> static Vec3<T> linear(p, t, m, frame);
///     template <class T, class Frame> static Vec3<T> derivative(p, t, v, frame);
///     template <class T, class Frame> static T potential(p, t, frame);
///     template <class T> static void at_time(p, t);
///     template <class T> static auto prepare(p, s);
///     template <class T, class Frame> static Vec3<T> kick(p, t, prepared, m, f, frame);
///     template <class T> static Vec3<T> turn(p, s, m);
///
/// p are the parameters of a body; the last M::tabulated of them, if declared, come from a table
/// (see table.hpp).  `at_time`, if declared, first makes of them what the other functions take.
/// `derivative` is the rate of the torque while the body turns at v.  It and the potential exist if
/// the row of facts declares them.  A torque that depends on m is A m + f; `linear` is A m, unless
/// f = 0.  `kick` is the exact flow of m' = torque + f over the time s at constant f, where this
/// has a simpler form than LinearFlow; A does not depend on the attitude then.  `turn` is in place
/// of both for a model that turns the body, see TorqueModel.  A new model is one file and one row.

#include "polhode/torque/compiled.hpp"
#include "polhode/torque/damping.hpp"
#include "polhode/torque/gravity_gradient.hpp"
#include "polhode/torque/gyrostat.hpp"
#include "polhode/torque/heavy_top.hpp"
#include "polhode/torque/internal_dissipation.hpp"
#include "polhode/torque/kicks.hpp"
#include "polhode/torque/prescribed.hpp"
#include "polhode/torque/soft_wall.hpp"
#include "polhode/torque/table.hpp"
#include "polhode/torque/vessel.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// The code of a torque is short: it works on one register at a time, without spills.
using torque_real = batch::one_register<batch_real>::type;

/// What a model evaluates.
enum class Part { torque, derivative, potential, matrix, kick, turn };

/// The parameters of a pack: those of its bodies, then those of the interval of time.
template <class M, class T>
POLHODE_INLINE void load_parameters(const TorqueArguments& a,
                                    const View& own,
                                    const View& table,
                                    std::ptrdiff_t i,
                                    int count,
                                    T (&p)[M::parameters]) {
    constexpr int last = tabulated<M>(), first = M::parameters - last;
    if constexpr (first > 0) {
        T part[first];
        batch::load(own, i, count, part);
        for (int k = 0; k < first; ++k) p[k] = part[k];
    }
    if constexpr (last > 0) {
        T part[last];
        batch::load(table, i, count, part);
        for (int k = 0; k < last; ++k) p[first + k] = part[k];
    }
    if constexpr (requires { M::at_time(p, a.t); }) M::at_time(p, a.t);
}

/// A m of the torque A m + f.
template <class M, class T, class F>
POLHODE_INLINE Vec3<T> linear(const T* p, double t, const Vec3<T>& m, const F& frame) {
    if constexpr (requires { M::linear(p, t, m, frame); }) return M::linear(p, t, m, frame);
    if constexpr (!requires { M::linear(p, t, m, frame); }) return M::torque(p, t, m, frame);
}

/// Adds the matrix A of the torque A m + f.
template <class M, class T, class F>
POLHODE_INLINE void add_matrix(const T* p, double t, const F& frame, T (&A)[9]) {
    const T o(0.0), one(1.0);
    const auto column = [&](int k, const Vec3<T>& unit) POLHODE_INLINE_LAMBDA {
        const Vec3<T> c = linear<M>(p, t, unit, frame);
        A[k] = A[k] + c.x, A[k + 3] = A[k + 3] + c.y, A[k + 6] = A[k + 6] + c.z;
    };
    column(0, {one, o, o});
    column(1, {o, one, o});
    column(2, {o, o, one});
}

/// Whether a model has a kick that is simpler than LinearFlow.
template <class M, class T>
inline constexpr bool has_kick = requires { &M::template prepare<T>; };

/// The exact flow of torque + f over the time s from m, for any linear torque.
template <class M, class T, class F>
POLHODE_INLINE Vec3<T> any_kick(
    const T* p, double t, double s, const Vec3<T>& m, Vec3<T> f, const F& frame) {
    T A[9] = {};
    add_matrix<M>(p, t, frame, A);
    if constexpr (requires { M::linear(p, t, m, frame); }) {
        f = f + M::torque(p, t, Vec3<T>{T(0.0), T(0.0), T(0.0)}, frame);
    }
    return LinearFlow<T>::of(A, s)(m, f);
}

/// A loop over at least one body: whole packs of arrays stored component by component.  Parameters
/// shared by all bodies are loaded before.
template <class M, Part part, bool Matrix, class T>
void loop(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    constexpr bool table = tabulated<M>() > 0;
    T p[M::parameters];
    load_parameters<M>(a, a.parameters, a.extra.table.values, begin, 1, p);
    const auto prepare = [&]() POLHODE_INLINE_LAMBDA {
        if constexpr (part == Part::kick && has_kick<M, T>) return M::prepare(p, a.duration);
        if constexpr (part != Part::kick || !has_kick<M, T>) return 0;
    };
    [[maybe_unused]] auto prepared = prepare();
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        if (a.parameters.body != 0 || (table && a.extra.table.values.body != 0)) {
            const View &own = a.parameters, &values = a.extra.table.values;
            load_parameters<M>(a,
                               own.body != 0 ? columns(own) : own,
                               values.body != 0 ? columns(values) : values,
                               i,
                               lanes,
                               p);
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
        if constexpr (part == Part::matrix) {
            T A[9] = {};
            if (a.add) batch::load(columns(View(a.out)), i, lanes, A);
            add_matrix<M>(p, a.t, frame, A);
            batch::store(columns(a.out), i, lanes, A);
            continue;
        }
        Vec3<T> f{};
        if constexpr (part == Part::torque && M::info.depends_on_m) f = vector(a.m);
        if constexpr (part == Part::torque) f = M::torque(p, a.t, f, frame);
        if constexpr (part == Part::derivative)
            f = M::derivative(p, a.t, vector(a.rotation), frame);
        if constexpr (part == Part::kick) {
            if (a.add) f = vector(a.rotation);
            const Vec3<T> m = vector(a.m);
            if constexpr (has_kick<M, T>) f = M::kick(p, a.t, prepared, m, f, frame);
            if constexpr (!has_kick<M, T>) f = any_kick<M>(p, a.t, a.duration, m, f, frame);
        }
        if constexpr (part == Part::turn) f = M::turn(p, a.duration, vector(a.m));
        if (part <= Part::derivative && a.add) f = vector(a.out) + f;
        batch::store_vec3(columns(a.out), i, lanes, f);
        if (part == Part::torque && a.kicks.count > 0) {
            do_kicks(a, i, f, [&](const Vec3<T>& v) POLHODE_INLINE_LAMBDA {
                if constexpr (M::info.has_derivative) return M::derivative(p, a.t, v, frame);
                if constexpr (!M::info.has_derivative) return v;
            });
        }
    }
}

/// Part of a model for bodies in columns, whole packs.
template <class M, Part part, class T = torque_real>
void evaluate(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin >= end) return;
    const TorqueFunction run = a.matrix ? loop<M, part, true, T> : loop<M, part, false, T>;
    if constexpr (tabulated<M>() > 0) {
        run(in_interval(a), begin, end);
    } else {
        run(a, begin, end);
    }
}

template <class M>
constexpr TorqueModel row() {
    TorqueModel model{&M::info, evaluate<M, Part::torque>, nullptr, nullptr};
    if constexpr (M::info.has_derivative) model.derivative = evaluate<M, Part::derivative>;
    if constexpr (M::info.has_potential) model.potential = evaluate<M, Part::potential>;
    if constexpr (requires { &M::template turn<torque_real>; }) {
        model.turn = evaluate<M, Part::turn>;
        model.states = 3;  // the momentum in space
    } else if constexpr (M::info.depends_on_m) {
        model.matrix = evaluate<M, Part::matrix>;
        model.matrix_is_constant = has_kick<M, torque_real>;
        // LinearFlow is long: two registers at once.
        using T = std::conditional_t<has_kick<M, torque_real>, torque_real, batch_real>;
        model.kick = evaluate<M, Part::kick, T>;
    }
    return model;
}

inline constexpr TorqueModel models[] = {row<HeavyTop>(),
                                         row<DipoleInField>(),
                                         row<LagrangeTop>(),
                                         row<SoftWall>(),
                                         row<GravityGradient<KeplerOrbit>>(),
                                         row<GravityGradient<TabulatedOrbit>>(),
                                         row<Restoring>(),
                                         row<DampedVessel<Damping>>(),
                                         row<DampedVessel<CoupledDamping>>(),
                                         row<Constant<false>>(),
                                         row<Constant<true>>(),
                                         row<Prescribed<false>>(),
                                         row<Prescribed<true>>(),
                                         row<Damping>(),
                                         row<CoupledDamping>(),
                                         row<SpaceDamping>(),
                                         row<Gyrostat>(),
                                         row<BDot>(),
                                         row<InternalDissipation>(),
                                         compiled::model<>,
                                         compiled::model_of_m<>};

POLHODE_NAMESPACE_END

#pragma once

/// Taylor methods of order 9 to 16: the series of the momentum in the body frame, of the quaternion
/// and of the torque by recurrences, [HNW93] Sec. I.8.
///
///     m' = d (m2 m3, m3 m1, m1 m2) + f,   d = 1/I3 - 1/I2 ...,   q' = q (0, w),   w = I^-1 m/2
///
/// gives the coefficient k + 1 of m and q, times h^(k+1), from those up to k.  A model of the
/// torque has
///
///     template <class T> struct Series {
///         template <class F> Series(const T* p, double t, const F& frame, const T& per_unit);
///         template <class... Sums> Vector<T> next(const Order<T>& at, Sums&... sums);
///     };
///
/// made at the start of a step.  `next` returns coefficient k of the torque times `per_unit`, as m
/// is; it computes `sums` together with its own, and prepares coefficient k + 1.

#include "polhode/direct/system.hpp"
#include "polhode/taylor/series.hpp"
#include "polhode/torque/damping.hpp"
#include "polhode/torque/gravity_gradient.hpp"
#include "polhode/torque/heavy_top.hpp"

POLHODE_NAMESPACE_BEGIN(taylor)

/// The change of a state in the time h.
///
/// @tparam H  double, or a number type for a time per body
template <class T, class Torque, class H>
POLHODE_INLINE direct::State<T> change(const direct::Equations<T>& equations,
                                       const direct::State<T>& y,
                                       Torque torque,
                                       const H& h,
                                       int order) {
    const T one(1.0);
    const auto inverse = Vector<T>::of(equations.half_inverse);
    const auto d = Vector<T>::of(equations.difference);
    const auto across_rod = Vector<T>::of(where_nonzero(equations.half_inverse, {one, one, one}));
    const auto sign = Row<T, 4>::of(Quaternion<T>{T(-1.0), one, one, one});
    VectorSeries<T> m, w;
    QuaternionSeries<T> q;
    auto m_k = Vector<T>::of(y.momentum());
    auto q_k = Row<T, 4>::of(y.attitude());
    m.set(0, m_k);
    q.set(0, q_k);
    for (int k = 0; k < order; ++k) {
        w.set(k, inverse * m_k);
        // q (0, w) has the vector part (w w1, w w2, w w3) + (y w3, z w1, x w2) - (z w2, x w3, y w1)
        // and the real part -(x w1 + y w2) - z w3, the fourth numbers of `first` to `third`.
        auto products = zero<T, 3>();
        auto first = zero<T, 4>(), second = first, third = first;
        const auto of_both = [&](int i, int j) POLHODE_INLINE_LAMBDA {
            products = fused(m.template yzxz<3>(i), m.template zxyy<3>(j), products);
            third = fused(q.zxyz(i), w.template yzxz<4>(j), third);
        };
        const auto of_q = [&](int i, int j) POLHODE_INLINE_LAMBDA {
            first = fused(q.wwwx(i), w.template xyzx<4>(j), first);
            second = fused(q.yzxy(i), w.template zxyy<4>(j), second);
        };
        const T step = T(h / H(k + 1));
        const Vector<T> f = torque.next(Order<T>{k, step, m, w}, of_both, of_q);
        m_k = step * fused(d, products, across_rod * f);
        q_k = step * (sign * (first + second) - third);
        m.set(k + 1, m_k);
        q.set(k + 1, q_k);
    }
    for (int k = order - 1; k > 0; --k) {
        m_k = m_k + m[k];
        q_k = q_k + q[k];
    }
    return direct::State<T>::of(m_k.vector(), q_k.quaternion());
}

/// No torque.
struct Free : direct::NoTorque {
    template <class T>
    struct Series {
        template <class F>
        POLHODE_INLINE Series(const T*, double, const F&, const T&) {}
        template <class... Sums>
        POLHODE_INLINE Vector<T> next(const Order<T>& at, Sums&... sums) {
            convolve<T>(at.k, sums...);
            return zero<T, 3>();
        }
    };
};

/// Steps under torque; OptionValues::data points to the order.
template <class T>
struct Steps {
    int order;

    POLHODE_INLINE Steps(const direct::System<T>& b, const DirectSteps&)
        : order(static_cast<int>(*b.a.options.data)) {}
    template <class Model>
    POLHODE_INLINE void step(direct::Sum<T>& sum,
                             const DirectSteps& steps,
                             std::ptrdiff_t n,
                             const direct::ModelSlope<Model, T>& slope) const {
        using Series = typename Model::template Series<T>;
        const torque::Frame<T, false> frame{sum.y.attitude()};
        const Series series(slope.p, steps.time(n), frame, slope.per_unit);
        sum.add(change(slope.equations, sum.y, series, steps.length(n), order));
    }
    POLHODE_INLINE void store(const direct::System<T>&, std::ptrdiff_t) const {}
};
template <class Model>
inline constexpr auto run =
    direct::run_system<Steps, Model, typename batch::one_register<batch_real>::type>;
inline constexpr DirectRun runs[] = {
    {nullptr, run<Free>},
    {&torque::HeavyTop::info, run<torque::HeavyTop>},
    {&torque::LagrangeTop::info, run<torque::LagrangeTop>},
    {&torque::KeplerOrbit::info, run<torque::GravityGradient<torque::KeplerOrbit>>},
    {&torque::Damping::info, run<torque::Damping>},
    {&torque::CoupledDamping::info, run<torque::CoupledDamping>}};

template <int order>
inline constexpr double order_as_data = order;
/// Without stages: it knows the torque of `runs` only.
template <int order>
constexpr DirectMethod high_order_under_torque() {
    constexpr auto stages = [](std::ptrdiff_t, const OptionValues&, DirectStage*) -> DirectStages {
        return {};
    };
    DirectMethod method{direct::first_column_after_system, 1, 0, stages, &order_as_data<order>};
    method.begin = direct::begin_system<>;
    method.runs = runs;
    method.run_count = sizeof runs / sizeof runs[0];
    return method;
}

/// A step of a free body.
struct HighOrder {
    int order;
    static constexpr bool user_axes = true;

    template <class T>
    FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const T one(1.0), zero(0.0);
        const auto equations = direct::Equations<T>::of(body, one);
        const auto y =
            direct::State<T>::of(body.own_momentum(m), Quaternion<T>{one, zero, zero, zero});
        const Free::Series<T> none(nullptr, 0.0, body, one);
        const direct::State<T> end = y + change(equations, y, none, h, order);
        return {body.own_momentum(end.momentum()), over_norm(end.attitude())};
    }
};

POLHODE_NAMESPACE_END

#pragma once

/// Adams methods of high order under torque, [HNW93] Sec. III.1, in the mode PECE: Bashforth's
/// formula predicts the state at the end of a step, the slope there enters Moulton's formula, and
/// the slope is evaluated again at the result.  The first steps are made by the method of Dormand
/// and Prince.

#include <stdexcept>

#include "polhode/runge_kutta/dormand_prince.hpp"

POLHODE_NAMESPACE_BEGIN(multistep)

/// Weights of the formulas of one order for slopes at equal distances, the newest first:
/// Bashforth's for those at the start of the step and before, Moulton's for that at the end, then
/// the others.  All are doubles: they are the data of the method (`DirectMethod::data`).
struct AdamsWeights {
    static constexpr int most_order = 12;
    double order;
    double bashforth[most_order - 1] = {}, moulton[most_order] = {};
    /// Sums of the rounding errors of `moulton[i]`, and of i times them.
    double lost = 0, lost_linear = 0;

    /// [HNW93] eqs (III.1.7) and (III.1.11): sums of backward differences,
    /// gamma_j = 1 - gamma_0/(j+1) - ... - gamma_{j-1}/2,
    /// gamma*_j = gamma_j - gamma_{j-1}.
    static constexpr AdamsWeights of(int order) {
        long double gamma[most_order] = {}, sum = 0;
        AdamsWeights w{static_cast<double>(order)};
        long double b[most_order] = {}, m[most_order] = {};
        for (int j = 0; j < order; ++j) {
            gamma[j] = 1;
            for (int k = 0; k < j; ++k) gamma[j] -= gamma[k] / (j + 1 - k);
            const long double star = j == 0 ? 1 : gamma[j] - gamma[j - 1];
            long double binomial = 1;  // (-1)^i (j over i)
            for (int i = 0; i <= j; ++i) {
                if (j < order - 1) b[i] += gamma[j] * binomial;
                m[i] += star * binomial;
                binomial *= -static_cast<long double>(j - i) / (i + 1);
            }
        }
        for (int i = 0; i < order - 1; ++i) w.bashforth[i] = static_cast<double>(b[i]);
        for (int i = 0; i < order; ++i) {
            w.moulton[i] = static_cast<double>(m[i]);
            w.lost += static_cast<double>(m[i] - w.moulton[i]);
            w.lost_linear += i * static_cast<double>(m[i] - w.moulton[i]);
        }
        for (double x : w.moulton) sum += x;
        if (sum - 1 > 1e-15L || 1 - sum > 1e-15L)
            throw std::logic_error("the weights of a constant slope");
        return w;
    }
    POLHODE_INLINE static const AdamsWeights& in(const OptionValues& options) {
        return *reinterpret_cast<const AdamsWeights*>(options.data);
    }
    /// Slopes that a step takes from those before it; the first steps are as many.
    POLHODE_INLINE constexpr int history() const { return static_cast<int>(order) - 2; }
    /// Steps of Dormand and Prince that make one of the first steps: then its error is below that
    /// of the method.
    POLHODE_INLINE constexpr int substeps() const { return order <= 8 ? 1 : order <= 10 ? 2 : 4; }
};
template <int order>
inline constexpr AdamsWeights adams_weights = AdamsWeights::of(order);

/// The formulas with the weights times the step.
///
/// @tparam H  double, or a number type for a step per body
template <class H>
struct AdamsStep {
    int slopes;  ///< at the start of a step and before
    H bashforth[AdamsWeights::most_order - 1], moulton[AdamsWeights::most_order];

    POLHODE_INLINE AdamsStep(const AdamsWeights& weights, const H& h)
        : slopes(weights.history() + 1) {
        for (int i = 0; i < slopes; ++i) bashforth[i] = weights.bashforth[i] * h;
        for (int i = 0; i <= slopes; ++i) moulton[i] = weights.moulton[i] * h;
    }
    /// For many steps.  The rounding errors of Moulton's weights act in every step alike, and the
    /// energy would drift.  The two smallest, those of the oldest slopes, take the errors of all in
    /// the integral of a constant and of a linear function.
    POLHODE_INLINE static AdamsStep balanced(const AdamsWeights& weights, const H& h) {
        AdamsStep s(weights, h);
        H constant = weights.lost * h, linear = weights.lost_linear * h;
        for (int i = 0; i <= s.slopes; ++i) {
            const H error = fma(H(weights.moulton[i]), h, -s.moulton[i]);
            constant = constant + error;
            linear = linear + static_cast<double>(i) * error;
        }
        const H oldest = linear - static_cast<double>(s.slopes - 1) * constant;
        s.moulton[s.slopes] = s.moulton[s.slopes] + oldest;
        s.moulton[s.slopes - 1] = s.moulton[s.slopes - 1] + (constant - oldest);
        return s;
    }
    /// The change predicted by a slope at the start of a step and those before it, newest[0],
    /// newest[-1] ..., and the part of the corrected change that they contribute; first without
    /// that slope, since the sums of the others do not depend on it.
    template <class T>
    POLHODE_INLINE void begin_sums(const direct::State<T>* newest,
                                   direct::State<T>& predicted,
                                   direct::State<T>& corrected) const {
        const direct::State<T>& oldest = newest[2 - slopes];
        direct::State<T> p = T(bashforth[slopes - 1]) * oldest, c = T(moulton[slopes]) * oldest;
        for (int i = slopes - 2; i > 0; --i) {
            p = axpy(p, T(bashforth[i]), newest[1 - i]);
            c = axpy(c, T(moulton[i + 1]), newest[1 - i]);
        }
        predicted = p, corrected = c;
    }
    /// The same, not inlined: alone, sums of packs have the registers that they need.
    template <class T>
    [[gnu::noinline]] void begin_sums_of_packs(const direct::State<T>* newest,
                                               direct::State<T>& predicted,
                                               direct::State<T>& corrected) const {
        begin_sums(newest, predicted, corrected);
    }
    template <class T>
    POLHODE_INLINE void end_sums(const direct::State<T>& slope,
                                 direct::State<T>& predicted,
                                 direct::State<T>& corrected) const {
        predicted = axpy(predicted, T(bashforth[0]), slope);
        corrected = axpy(corrected, T(moulton[1]), slope);
    }
    /// The change of the state, from the slope at the predicted state.
    template <class T>
    POLHODE_INLINE direct::State<T> correct(const direct::State<T>& sum,
                                            const direct::State<T>& slope) const {
        return axpy(sum, T(moulton[0]), slope);
    }
};

/// Columns: the slopes at the starts of the last steps, that of step n in place n modulo their
/// number; within a step the momentum at its start, the sum of Moulton's formula without the slope
/// at the end, and those of the first steps.
struct AdamsColumns {
    static constexpr int slopes = direct::first_column_after_system;
    static constexpr int start = slopes + 7 * (AdamsWeights::most_order - 2);
    static constexpr int corrected = start + 3;
    static constexpr int first_steps = corrected + 7;
    static constexpr int all = first_steps + runge_kutta::dormand_prince_columns;
    int history;

    /// Of the slope at the start of step n >= -history.
    constexpr int slope(std::ptrdiff_t n) const {
        return slopes + 7 * static_cast<int>((n + history) % history);
    }
};

/// One of the first steps, made as several of Dormand and Prince.  Compiled once for all models; by
/// value, so that the state of the loop stays in registers.
template <class T>
using AnySlope = direct::State<T> (*)(const void* model, double t, const direct::State<T>& y);
template <class T>
[[gnu::noinline]] direct::Sum<T> first_step(direct::Sum<T> sum,
                                            double t,
                                            double h,
                                            double end,
                                            int substeps,
                                            AnySlope<T> slope,
                                            const void* model) {
    const runge_kutta::DormandPrinceStep<double> weights(h / substeps);
    for (int k = 0; k < substeps; ++k) {
        const auto at_stage = [&](int s, const direct::State<T>& y) POLHODE_INLINE_LAMBDA {
            const double c = (k + runge_kutta::DormandPrince::nodes[s]) / substeps;
            return slope(model, c == 1.0 ? end : t + c * h, y);
        };
        sum.add(weights.change(sum.y, at_stage));
    }
    return sum;
}

/// Steps for one model.
template <class T>
struct AdamsRun {
    static constexpr int room = AdamsWeights::most_order + 32;
    const AdamsWeights& weights;
    int history, newest;
    double h;
    AdamsStep<double> formulas;
    direct::State<T> slope_at[room];

    POLHODE_INLINE AdamsRun(const direct::System<T>& b, const DirectSteps& steps)
        : weights(AdamsWeights::in(b.a.options)),
          history(weights.history()),
          newest(history - 1),
          h(steps.length(steps.first)),
          formulas(AdamsStep<double>::balanced(weights, h)) {
        for (int k = 1; k <= history; ++k) {
            slope_at[history - k] = b.columns.state(AdamsColumns{history}.slope(steps.first - k));
        }
    }
    template <class Slope>
    POLHODE_INLINE void step(direct::Sum<T>& sum,
                             const DirectSteps& steps,
                             std::ptrdiff_t n,
                             const Slope& slope) {
        const double t = steps.time(n), end = steps.time(n + 1);
        if (newest + 1 == room) {
            for (int k = 0; k < history; ++k) slope_at[k] = slope_at[room - history + k];
            newest = history - 1;
        }
        // What does not depend on the slopes of this step comes first.
        direct::State<T> predicted, corrected;
        if (n >= history) {
            if constexpr (lanes_v<T> == 1) {
                formulas.begin_sums(slope_at + newest, predicted, corrected);
            } else {
                formulas.begin_sums_of_packs(slope_at + newest, predicted, corrected);
            }
            predicted = sum.y + predicted;
        }
        const direct::State<T> now = slope(t, sum.y);
        slope_at[++newest] = now;
        if (n < history) {
            sum = first_step<T>(sum, t, h, end, weights.substeps(), slope_of<Slope>, &slope);
            return;
        }
        formulas.end_sums(now, predicted, corrected);
        sum.move(formulas.correct(corrected + sum.low, slope(end, predicted)));
    }
    POLHODE_INLINE void store(const direct::System<T>& b, std::ptrdiff_t end) const {
        for (int k = 1; k <= history; ++k) {
            b.columns.keep(AdamsColumns{history}.slope(end - k), slope_at[newest + 1 - k]);
        }
    }

  private:
    template <class Slope>
    static direct::State<T> slope_of(const void* slope, double t, const direct::State<T>& y) {
        return (*static_cast<const Slope*>(slope))(t, y);
    }
};

/// Stage by stage: the slope at the start of the step, and the predicted state.
struct AdamsPredict {
    template <class T>
    static void stage(direct::System<T>& b) {
        const AdamsWeights& weights = AdamsWeights::in(b.a.options);
        const AdamsColumns at{weights.history()};
        const std::ptrdiff_t n = b.a.step;
        direct::State<T> slopes[AdamsWeights::most_order - 1];
        for (int k = 1; k <= at.history; ++k) {
            slopes[at.history - k] = b.columns.state(at.slope(n - k));
        }
        const direct::State<T>& y = b.sum.y;
        direct::State<T>& newest = slopes[at.history];
        newest = b.equations.slope(y.momentum(), y.attitude(), b.torque());
        direct::State<T> predicted, corrected;
        const auto formulas = AdamsStep<double>::balanced(weights, b.a.h);
        formulas.begin_sums_of_packs(&newest - 1, predicted, corrected);
        formulas.end_sums(newest, predicted, corrected);
        b.columns.keep(at.slope(n), newest);
        b.columns.keep(AdamsColumns::corrected, corrected);
        b.columns.keep(AdamsColumns::start, y.momentum());
        const direct::State<T> next = y + predicted;
        b.columns.keep(AdamsColumns::first_steps, next.attitude());
        b.ask_at(next);
    }
};
struct AdamsCorrect {
    template <class T>
    static void stage(direct::System<T>& b) {
        using Columns = AdamsColumns;
        const auto slope = b.equations.slope(
            b.sum.y.momentum(), b.columns.quaternion(Columns::first_steps), b.torque());
        b.sum.y = direct::State<T>::of(b.columns.vector(Columns::start), b.sum.y.attitude());
        const AdamsStep<double> formulas(AdamsWeights::in(b.a.options), b.a.h);
        b.sum.add(formulas.correct(b.columns.state(Columns::corrected), slope));
        b.store();
    }
};
/// One of the first steps.
struct AdamsFirst {
    template <class T>
    static void stage(direct::System<T>& b) {
        using Start = runge_kutta::DormandPrinceStage<AdamsColumns::first_steps>;
        const AdamsWeights& weights = AdamsWeights::in(b.a.options);
        const int s = b.a.stage % runge_kutta::DormandPrince::stages;
        Start::stage(b, s, b.a.h / weights.substeps());
        if (b.a.stage == 0) {
            const AdamsColumns at{weights.history()};
            b.columns.keep(at.slope(b.a.step), b.columns.state(Start::slopes));
        }
    }
};

inline constexpr DirectStage adams_stages[] = {{direct::system_stage<AdamsPredict>, 0.0, 1},
                                               {direct::system_stage<AdamsCorrect>, 1.0, 1}};
template <int substeps>
inline constexpr auto adams_first = runge_kutta::dormand_prince_stages<AdamsFirst, substeps>;

constexpr DirectMethod adams_under_torque(const AdamsWeights& weights) {
    constexpr auto stages =
        [](std::ptrdiff_t n, const OptionValues& options, DirectStage*) -> DirectStages {
        const AdamsWeights& w = AdamsWeights::in(options);
        if (n >= w.history()) return {adams_stages, 2};
        const auto of = [](const auto& list) {
            return DirectStages{list.data(), static_cast<int>(list.size())};
        };
        return w.substeps() == 1   ? of(adams_first<1>)
               : w.substeps() == 2 ? of(adams_first<2>)
                                   : of(adams_first<4>);
    };
    DirectMethod method{AdamsColumns::all, 1, 0, stages, &weights.order};
    method.scratch = AdamsColumns::all - AdamsColumns::slopes - 7 * weights.history();
    direct::add_runs<AdamsRun>(method);
    return method;
}

// ----------------------------------------------------------------------------- free bodies

/// Numbers carried from step to step: the slopes at the starts of the last steps, the newest first,
/// relative to the attitude now.
struct Adams {
    static constexpr int carried = 7 * (AdamsWeights::most_order - 2);
    static constexpr bool user_axes = true;
    const AdamsWeights* weights;
    int starting = weights->history();  ///< first steps, made by another method

    template <class T>
    POLHODE_INLINE static direct::State<T> slope(const Inertia<T>& body,
                                                 const Vec3<T>& m,
                                                 const Quaternion<T>& q) {
        const T zero(0.0);
        return direct::Equations<T>::of(body, T(1.0)).slope(m, q, {zero, zero, zero});
    }
    template <class T>
    POLHODE_INLINE static Quaternion<T> one() {
        return {T(1.0), T(0.0), T(0.0), T(0.0)};
    }
    template <class T>
    FreeStep<T> step(
        const Inertia<T>& body, const Vec3<T>& m, T h, const T* c, std::ptrdiff_t n) const {
        if (n < starting) return runge_kutta::dormand_prince_steps(body, m, h, weights->substeps());
        direct::State<T> slopes[AdamsWeights::most_order - 1];
        for (int k = 0; k < starting; ++k) {
            const T* const x = c + 7 * (starting - 1 - k);
            slopes[k] = direct::State<T>::of({x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]});
        }
        const auto y = direct::State<T>::of(m, one<T>());
        slopes[starting] = slope(body, m, one<T>());
        direct::State<T> predicted, corrected;
        const AdamsStep<T> formulas(*weights, h);
        formulas.begin_sums_of_packs(slopes + starting - 1, predicted, corrected);
        formulas.end_sums(slopes[starting], predicted, corrected);
        const direct::State<T> p = y + predicted;
        const direct::State<T> end =
            y + formulas.correct(corrected, slope(body, p.momentum(), p.attitude()));
        return {body.own_momentum(end.momentum()), over_norm(end.attitude())};
    }
    /// Updates them after the step from m, which turned the body by dq.
    template <class T>
    void carry(const Inertia<T>& body, const Vec3<T>& m, const Quaternion<T>& dq, T* c) const {
        T* const end = c + 7 * starting;
        for (T* x = end - 1; x >= c + 7; --x) *x = x[-7];
        const direct::State<T> now = slope(body, m, one<T>());
        const Vec3<T> rate = now.momentum();
        const Quaternion<T> turn = now.attitude();
        const T newest[] = {rate.x, rate.y, rate.z, turn.w, turn.x, turn.y, turn.z};
        for (int k = 0; k < 7; ++k) c[k] = newest[k];
        for (T* x = c; x < end; x += 7) {
            const Quaternion<T> q = conjugate(dq) * Quaternion<T>{x[3], x[4], x[5], x[6]};
            x[3] = q.w, x[4] = q.x, x[5] = q.y, x[6] = q.z;
        }
    }
};

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// Adams methods of high order under torque, [HNW93] Sec. III.1, in the mode PECE: Bashforth's
/// formula predicts the state at the end of a step, the slope there enters Moulton's formula, and
/// the slope is evaluated again at the result.  The first steps are made by the method of Dormand
/// and Prince.

#include <stdexcept>

#include "polhode/runge_kutta/dormand_prince.hpp"

POLHODE_NAMESPACE_BEGIN
namespace multistep {

/// Weights of the formulas of one order for slopes at equal distances, the newest first:
/// Bashforth's for those at the start of the step and before, Moulton's for that at the end, then
/// the others.
template <int order>
struct AdamsWeights {
    static constexpr int slopes = order - 1;  ///< at the start of a step and before
    double bashforth[slopes], moulton[order];

    /// [HNW93] eqs (III.1.7) and (III.1.11): sums of backward differences, gamma_j = 1 -
    /// gamma_0/(j+1)
    /// - ... - gamma_{j-1}/2; gamma*_j = gamma_j - gamma_{j-1}.
    static constexpr AdamsWeights of() {
        long double gamma[order] = {}, sum = 0;
        AdamsWeights w{};
        long double b[order] = {}, m[order] = {};
        for (int j = 0; j < order; ++j) {
            gamma[j] = 1;
            for (int k = 0; k < j; ++k) gamma[j] -= gamma[k] / (j + 1 - k);
            const long double star = j == 0 ? 1 : gamma[j] - gamma[j - 1];
            long double binomial = 1;  // (-1)^i (j over i)
            for (int i = 0; i <= j; ++i) {
                if (j < slopes) b[i] += gamma[j] * binomial;
                m[i] += star * binomial;
                binomial *= -static_cast<long double>(j - i) / (i + 1);
            }
        }
        for (int i = 0; i < slopes; ++i) w.bashforth[i] = static_cast<double>(b[i]);
        for (int i = 0; i < order; ++i) w.moulton[i] = static_cast<double>(m[i]);
        for (double x : w.moulton) sum += x;
        if (sum - 1 > 1e-15L || 1 - sum > 1e-15L)
            throw std::logic_error("the weights of a constant slope");
        return w;
    }
};

/// The formulas with the weights times the step.
///
/// @tparam H  double, or a number type for a step per body
template <int order, class H>
struct AdamsStep {
    static constexpr int slopes = order - 1;
    static constexpr AdamsWeights<order> weights = AdamsWeights<order>::of();
    H bashforth[slopes], moulton[order];

    POLHODE_INLINE explicit AdamsStep(const H& h) {
        for (int i = 0; i < slopes; ++i) bashforth[i] = weights.bashforth[i] * h;
        for (int i = 0; i < order; ++i) moulton[i] = weights.moulton[i] * h;
    }
    /// The change predicted by the slopes newest[0], newest[-1] ..., and the part of the corrected
    /// change that they contribute.  The newest comes last, since the sums of the others do not
    /// wait for it.
    template <class T>
    POLHODE_INLINE void sums(const direct::State<T>* newest,
                             direct::State<T>& predicted,
                             direct::State<T>& corrected) const {
        const direct::State<T>& oldest = newest[1 - slopes];
        predicted = T(bashforth[slopes - 1]) * oldest;
        corrected = T(moulton[slopes]) * oldest;
        POLHODE_UNROLL
        for (int i = slopes - 2; i >= 0; --i) {
            predicted = axpy(predicted, T(bashforth[i]), newest[-i]);
            corrected = axpy(corrected, T(moulton[i + 1]), newest[-i]);
        }
    }
    /// The change of the state, from the slope at the predicted state.
    template <class T>
    POLHODE_INLINE direct::State<T> correct(const direct::State<T>& sum,
                                            const direct::State<T>& slope) const {
        return axpy(sum, T(moulton[0]), slope);
    }
};

/// Steps of Dormand and Prince that make one of the first steps: then its error is below that of
/// the method.
constexpr int adams_substeps(int order) { return order <= 8 ? 1 : order <= 10 ? 2 : 4; }

/// Columns: the momentum at the start of a step; the sum of Moulton's formula without the slope at
/// the end; the slopes at the starts of the last steps, that of step n in place n modulo their
/// number; those of the first steps.
template <int order>
struct AdamsColumns {
    static constexpr int history = order - 2;
    static constexpr int start = direct::first_column_after_system;
    static constexpr int corrected = start + 3;
    static constexpr int slopes = corrected + 7;
    static constexpr int first_steps = slopes + 7 * history;
    static constexpr int end = first_steps + runge_kutta::dormand_prince_columns;

    /// Of the slope at the start of step n >= -history.
    static constexpr int slope(std::ptrdiff_t n) {
        return slopes + 7 * static_cast<int>((n + history) % history);
    }
};

/// Steps for one model.
template <int order>
struct AdamsRun {
    template <class T>
    struct Of {
        static constexpr int slopes = order - 1, history = order - 2, room = slopes + 32;
        using Columns = AdamsColumns<order>;
        double h;
        AdamsStep<order, double> formulas;
        runge_kutta::DormandPrinceStep<double> first_steps;
        direct::State<T> slope_at[room];
        int newest = history - 1;

        POLHODE_INLINE Of(const direct::System<T>& b, const DirectSteps& steps)
            : h(steps.length(steps.first)),
              formulas(h),
              first_steps(h / adams_substeps(order)) {
            for (int k = 1; k <= history; ++k) {
                slope_at[history - k] = b.columns.state(Columns::slope(steps.first - k));
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
            slope_at[++newest] = slope(t, sum.y);
            if (n < history) return start(sum, t, end, slope);
            direct::State<T> predicted, corrected;
            formulas.sums(slope_at + newest, predicted, corrected);
            sum.add(formulas.correct(corrected, slope(end, sum.y + predicted)));
        }
        POLHODE_INLINE void store(const direct::System<T>& b, std::ptrdiff_t end) const {
            for (int k = 1; k <= history; ++k) {
                b.columns.keep(Columns::slope(end - k), slope_at[newest + 1 - k]);
            }
        }

      private:
        template <class Slope>
        [[gnu::noinline]] void start(direct::Sum<T>& sum,
                                     double t,
                                     double end,
                                     const Slope& slope) const {
            for (int k = 0; k < adams_substeps(order); ++k) {
                const auto at_stage = [&](int s, const direct::State<T>& y) {
                    const double c =
                        (k + runge_kutta::DormandPrince::nodes[s]) / adams_substeps(order);
                    return slope(c == 1.0 ? end : t + c * h, y);
                };
                sum.add(first_steps.change(sum.y, at_stage));
            }
        }
    };
};

/// Stage by stage: the slope at the start of the step, and the predicted state.
template <int order>
struct AdamsPredict {
    template <class T>
    static void stage(direct::System<T>& b) {
        using Columns = AdamsColumns<order>;
        const std::ptrdiff_t n = b.a.step;
        direct::State<T> slopes[Columns::history + 1];
        for (int k = 1; k <= Columns::history; ++k) {
            slopes[Columns::history - k] = b.columns.state(Columns::slope(n - k));
        }
        const direct::State<T>& y = b.sum.y;
        direct::State<T>& newest = slopes[Columns::history];
        newest = b.equations.slope(y.momentum(), y.attitude(), b.torque());
        direct::State<T> predicted, corrected;
        AdamsStep<order, double>(b.a.h).sums(&newest, predicted, corrected);
        b.columns.keep(Columns::slope(n), newest);
        b.columns.keep(Columns::corrected, corrected);
        b.columns.keep(Columns::start, y.momentum());
        const direct::State<T> next = y + predicted;
        b.columns.keep(Columns::first_steps, next.attitude());
        b.ask_at(next);
    }
};
template <int order>
struct AdamsCorrect {
    template <class T>
    static void stage(direct::System<T>& b) {
        using Columns = AdamsColumns<order>;
        const auto slope = b.equations.slope(
            b.sum.y.momentum(), b.columns.quaternion(Columns::first_steps), b.torque());
        b.sum.y = direct::State<T>::of(b.columns.vector(Columns::start), b.sum.y.attitude());
        const AdamsStep<order, double> formulas(b.a.h);
        b.sum.add(formulas.correct(b.columns.state(Columns::corrected), slope));
        b.store();
    }
};
/// One of the first steps.
template <int order>
struct AdamsFirst {
    template <class T>
    static void stage(direct::System<T>& b) {
        using Columns = AdamsColumns<order>;
        using Start = runge_kutta::DormandPrinceStage<Columns::first_steps>;
        const int s = b.a.stage % runge_kutta::DormandPrince::stages;
        Start::stage(b, s, b.a.h / adams_substeps(order));
        if (b.a.stage == 0) {
            b.columns.keep(Columns::slope(b.a.step), b.columns.state(Start::slopes));
        }
    }
};

template <int order>
inline constexpr DirectStage adams_stages[] = {{direct::system_stage<AdamsPredict<order>>, 0.0, 1},
                                               {direct::system_stage<AdamsCorrect<order>>, 1.0, 1}};
template <int order>
inline constexpr auto adams_first =
    runge_kutta::dormand_prince_stages<AdamsFirst<order>, adams_substeps(order)>;

template <int order>
constexpr DirectMethod adams_under_torque() {
    constexpr auto stages =
        [](std::ptrdiff_t n, const OptionValues&, DirectStage*) -> DirectStages {
        if (n >= AdamsColumns<order>::history) return {adams_stages<order>, 2};
        return {adams_first<order>.data(), static_cast<int>(adams_first<order>.size())};
    };
    DirectMethod method{AdamsColumns<order>::end, 1, 0, stages};
    direct::add_runs<AdamsRun<order>::template Of>(method);
    return method;
}

// ----------------------------------------------------------------------------- free bodies

/// Numbers carried from step to step: the slopes at the starts of the last steps, the newest first,
/// relative to the attitude now.
template <int order>
struct Adams {
    static constexpr int starting = order - 2;  ///< first steps, made by another method
    static constexpr int carried = 7 * starting;
    static constexpr bool user_axes = true;

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
    static FreeStep<T> step(
        const Inertia<T>& body, const Vec3<T>& m, T h, const T* c, std::ptrdiff_t n) {
        if (n < starting)
            return runge_kutta::dormand_prince_steps(body, m, h, adams_substeps(order));
        direct::State<T> slopes[starting + 1];
        for (int k = 0; k < starting; ++k) {
            const T* const x = c + 7 * (starting - 1 - k);
            slopes[k] = direct::State<T>::of({x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]});
        }
        const auto y = direct::State<T>::of(m, one<T>());
        slopes[starting] = slope(body, m, one<T>());
        direct::State<T> predicted, corrected;
        const AdamsStep<order, T> formulas(h);
        formulas.sums(slopes + starting, predicted, corrected);
        const direct::State<T> p = y + predicted;
        const direct::State<T> end =
            y + formulas.correct(corrected, slope(body, p.momentum(), p.attitude()));
        const Quaternion<T> q = end.attitude();
        return {body.own_momentum(end.momentum()), (T(1.0) / sqrt(dot(q, q))) * q};
    }
    /// Updates them after the step from m, which turned the body by dq.
    template <class T>
    static void carry(const Inertia<T>& body, const Vec3<T>& m, const Quaternion<T>& dq, T* c) {
        for (int k = carried - 1; k >= 7; --k) c[k] = c[k - 7];
        const direct::State<T> now = slope(body, m, one<T>());
        const Vec3<T> rate = now.momentum();
        const Quaternion<T> turn = now.attitude();
        const T newest[] = {rate.x, rate.y, rate.z, turn.w, turn.x, turn.y, turn.z};
        for (int k = 0; k < 7; ++k) c[k] = newest[k];
        for (T* x = c; x < c + carried; x += 7) {
            const Quaternion<T> q = conjugate(dq) * Quaternion<T>{x[3], x[4], x[5], x[6]};
            x[3] = q.w, x[4] = q.x, x[5] = q.y, x[6] = q.z;
        }
    }
};

}  // namespace multistep
POLHODE_NAMESPACE_END

#pragma once

/// `rk8`, the Runge-Kutta method of order 8 by Dormand and Prince, with the coefficients of the
/// code DOP853 of [HNW93] Sec. II.5.

#include <array>

#include "polhode/direct/runs.hpp"

POLHODE_NAMESPACE_BEGIN(runge_kutta)

/// Twelve stages; stage s is at the time nodes[s] h.  Its state is y + h sum a_sk slope_k over the
/// terms first[s] <= i < first[s + 1], k = slope[i], a_sk = weight[i]; s = 12 is the end of the
/// step.
struct DormandPrince {
    static constexpr int stages = 12;
    static constexpr double nodes[stages + 1] = {0.0,
                                                 0.526001519587677318785587544488e-1,
                                                 0.789002279381515978178381316732e-1,
                                                 0.118350341907227396726757197510,
                                                 0.281649658092772603273242802490,
                                                 0.333333333333333333333333333333,
                                                 0.25,
                                                 0.307692307692307692307692307692,
                                                 0.651282051282051282051282051282,
                                                 0.6,
                                                 0.857142857142857142857142857142,
                                                 1.0,
                                                 1.0};
    static constexpr int first[stages + 2] = {0, 0, 1, 3, 5, 8, 11, 15, 20, 26, 33, 41, 50, 58};
    static constexpr int terms = first[stages + 1];
    static constexpr int slope[terms] = {
        0, 0, 1, 0, 2, 0, 2, 3, 0, 3, 4, 0, 3, 4, 5, 0, 3, 4, 5, 6, 0,  3, 4, 5, 6, 7, 0, 3,  4,
        5, 6, 7, 8, 0, 3, 4, 5, 6, 7, 8, 9, 0, 3, 4, 5, 6, 7, 8, 9, 10, 0, 5, 6, 7, 8, 9, 10, 11};
    static constexpr double weight[terms] = {5.26001519587677318785587544488e-2,
                                             1.97250569845378994544595329183e-2,
                                             5.91751709536136983633785987549e-2,
                                             2.95875854768068491816892993775e-2,
                                             8.87627564304205475450678981324e-2,
                                             2.41365134159266685502369798665e-1,
                                             -8.84549479328286085344864962717e-1,
                                             9.24834003261792003115737966543e-1,
                                             3.7037037037037037037037037037e-2,
                                             1.70828608729473871279604482173e-1,
                                             1.25467687566822425016691814123e-1,
                                             3.7109375e-2,
                                             1.70252211019544039314978060272e-1,
                                             6.02165389804559606850219397283e-2,
                                             -1.7578125e-2,
                                             3.70920001185047927108779319836e-2,
                                             1.70383925712239993810214054705e-1,
                                             1.07262030446373284651809199168e-1,
                                             -1.53194377486244017527936158236e-2,
                                             8.27378916381402288758473766002e-3,
                                             6.24110958716075717114429577812e-1,
                                             -3.36089262944694129406857109825,
                                             -8.68219346841726006818189891453e-1,
                                             2.75920996994467083049415600797e1,
                                             2.01540675504778934086186788979e1,
                                             -4.34898841810699588477366255144e1,
                                             4.77662536438264365890433908527e-1,
                                             -2.48811461997166764192642586468,
                                             -5.90290826836842996371446475743e-1,
                                             2.12300514481811942347288949897e1,
                                             1.52792336328824235832596922938e1,
                                             -3.32882109689848629194453265587e1,
                                             -2.03312017085086261358222928593e-2,
                                             -9.3714243008598732571704021658e-1,
                                             5.18637242884406370830023853209,
                                             1.09143734899672957818500254654,
                                             -8.14978701074692612513997267357,
                                             -1.85200656599969598641566180701e1,
                                             2.27394870993505042818970056734e1,
                                             2.49360555267965238987089396762,
                                             -3.0467644718982195003823669022,
                                             2.27331014751653820792359768449,
                                             -1.05344954667372501984066689879e1,
                                             -2.00087205822486249909675718444,
                                             -1.79589318631187989172765950534e1,
                                             2.79488845294199600508499808837e1,
                                             -2.85899827713502369474065508674,
                                             -8.87285693353062954433549289258,
                                             1.23605671757943030647266201528e1,
                                             6.43392746015763530355970484046e-1,
                                             5.42937341165687622380535766363e-2,
                                             4.45031289275240888144113950566,
                                             1.89151789931450038304281599044,
                                             -5.8012039600105847814672114227,
                                             3.1116436695781989440891606237e-1,
                                             -1.52160949662516078556178806805e-1,
                                             2.01365400804030348374776537501e-1,
                                             4.47106157277725905176885569043e-2};
};

/// The weights times the step.
///
/// @tparam H  double, or a number type for a step per body
template <class H>
struct DormandPrinceStep {
    using Table = DormandPrince;
    H weight[Table::terms];

    POLHODE_INLINE explicit DormandPrinceStep(const H& h) {
        for (int i = 0; i < Table::terms; ++i) weight[i] = Table::weight[i] * h;
    }
    /// y + the weighted sum of stage s.
    template <class S>
    POLHODE_INLINE S stage(int s, S y, const S* slopes) const {
        POLHODE_UNROLL
        for (int i = Table::first[s]; i < Table::first[s + 1]; ++i) {
            y = axpy(y, typename S::Number(weight[i]), slopes[Table::slope[i]]);
        }
        return y;
    }
    /// The change of the state in a step; slope(s, state) is the rate of change at stage s.
    template <class S, class Slope>
    POLHODE_INLINE S change(const S& y, const Slope& slope) const {
        S slopes[Table::stages];
        return change(y, slope, slopes);
    }
    template <class S, class Slope>
    POLHODE_INLINE S change(const S& y, const Slope& slope, S* slopes) const {
        POLHODE_UNROLL
        for (int s = 0; s < Table::stages; ++s) slopes[s] = slope(s, stage(s, y, slopes));
        return end(slopes);
    }
    /// The same from the slopes of all stages.
    template <class S>
    POLHODE_INLINE S end(const S* slopes) const {
        constexpr int last = Table::first[Table::stages];
        using T = typename S::Number;
        S change = T(weight[last]) * slopes[0];
        POLHODE_UNROLL
        for (int i = last + 1; i < Table::terms; ++i) {
            change = axpy(change, T(weight[i]), slopes[Table::slope[i]]);
        }
        return change;
    }
};

/// A step of a free body from the attitude 1, made as `count` shorter ones.
template <class T>
[[gnu::noinline]] FreeStep<T> dormand_prince_steps(const Inertia<T>& body,
                                                   const Vec3<T>& m,
                                                   T h,
                                                   int count) {
    const T zero(0.0);
    const auto equations = direct::Equations<T>::of(body, T(1.0));
    const DormandPrinceStep<T> weights(ratio<T>(1, count) * h);
    auto y = direct::State<T>::of(body.own_momentum(m), {T(1.0), zero, zero, zero});
    for (int k = 0; k < count; ++k) {
        y = y + weights.change(y, [&](int, const direct::State<T>& at) POLHODE_INLINE_LAMBDA {
            return equations.slope(at.momentum(), at.attitude(), {zero, zero, zero});
        });
    }
    return {body.own_momentum(y.momentum()), over_norm(y.attitude())};
}

/// Steps under torque.
template <class T>
struct DormandPrinceRun {
    double h = 0;
    DormandPrinceStep<double> weights{0.0};

    POLHODE_INLINE DormandPrinceRun(const direct::System<T>&, const DirectSteps&) {}
    template <class Slope>
    POLHODE_INLINE void step(direct::Sum<T>& sum,
                             const DirectSteps& steps,
                             std::ptrdiff_t n,
                             const Slope& slope) {
        if (steps.length(n) != h) {
            h = steps.length(n);
            weights = DormandPrinceStep<double>(h);
        }
        const double t = steps.time(n), end = steps.time(n + 1);
        const auto at_stage = [&](int s, const auto& y) POLHODE_INLINE_LAMBDA {
            const double c = DormandPrince::nodes[s];
            return slope(c == 1.0 ? end : t + c * h, y);
        };
        sum.add(slope.end(weights.change(slope.begin(sum.y), at_stage)));
    }
    POLHODE_INLINE void store(const direct::System<T>&, std::ptrdiff_t) const {}
};

/// Stage s at the columns from `first` on: the slope at the state that the torque was evaluated at,
/// and the next such state.  Until its slope is known, the state of a stage is in the columns of
/// the slope.
inline constexpr int dormand_prince_columns = 3 + 7 * DormandPrince::stages;
struct EndOfStep {
    template <class T>
    POLHODE_INLINE static void end(direct::System<T>& b,
                                   const DormandPrinceStep<double>& weights,
                                   const direct::State<T>* slopes) {
        b.sum.add(weights.end(slopes));
        b.store();
    }
};
template <int first, class End = EndOfStep>
struct DormandPrinceStage {
    static constexpr int start = first;  ///< the momentum at the start of the step
    static constexpr int slopes = start + 3;

    template <class T>
    static void stage(direct::System<T>& b) {
        stage(b, b.a.stage, b.a.h);
    }
    template <class T>
    static void stage(direct::System<T>& b, int s, double h) {
        direct::Sum<T>& sum = b.sum;
        const Vec3<T> m = sum.y.momentum();
        Quaternion<T> q = sum.y.attitude();
        if (s == 0) {
            b.columns.keep(start, m);
        } else {
            sum.y = direct::State<T>::of(b.columns.vector(start), q);
            q = b.columns.quaternion(slopes + 7 * s + 3);
        }
        direct::State<T> slope[DormandPrince::stages];
        for (int k = 0; k < s; ++k) slope[k] = b.columns.state(slopes + 7 * k);
        slope[s] = b.equations.slope(m, q, b.torque());
        b.columns.keep(slopes + 7 * s, slope[s]);
        const DormandPrinceStep<double> weights(h);
        if (s + 1 < DormandPrince::stages) {
            const direct::State<T> next = weights.stage(s + 1, sum.y, slope);
            b.columns.keep(slopes + 7 * (s + 1), next);
            b.ask_at(next);
        } else {
            End::end(b, weights, slope);
        }
    }
};

/// The stages of a step made as `count` shorter ones.
template <class Stage, int count = 1>
inline constexpr auto dormand_prince_stages = [] {
    std::array<DirectStage, count * DormandPrince::stages> list{};
    for (int s = 0; s < count * DormandPrince::stages; ++s) {
        const int k = s / DormandPrince::stages;
        const double node = DormandPrince::nodes[s % DormandPrince::stages];
        list[s] = {direct::system_stage<Stage>, (k + node) / count, 1};
    }
    return list;
}();
constexpr DirectMethod dormand_prince_under_torque() {
    constexpr int first = direct::first_column_after_system;
    constexpr auto stages = [](std::ptrdiff_t, const OptionValues&, DirectStage*) -> DirectStages {
        return {dormand_prince_stages<DormandPrinceStage<first>>.data(), DormandPrince::stages};
    };
    DirectMethod method{first + dormand_prince_columns, 1, 0, stages};
    method.scratch = dormand_prince_columns - 2;  // of adaptive steps: AdaptiveStage::last
    direct::add_runs<DormandPrinceRun>(method);
    return method;
}

POLHODE_NAMESPACE_END

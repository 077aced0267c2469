#pragma once

/// Steps of the method of Dormand and Prince whose lengths follow from their errors.

#include <algorithm>
#include <cmath>
#include <limits>

#include "polhode/runge_kutta/step_control.hpp"
#include "polhode/splitting/driver.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// The columns of `rk8` while a step is not accepted: its change of the state in place of slope 1,
/// its error in place of slope 2, which the end of a step does not need.  Between two calls the
/// length of the next step and the root of the last error, in place of the start of a step.
struct AdaptiveStage {
    using Stage = runge_kutta::DormandPrinceStage<direct::first_column_after_system, AdaptiveStage>;
    static constexpr int change = Stage::slopes + 7, error = change + 7;
    static constexpr int length = Stage::start, last = length + 1;

    static StepTolerance tolerance_of(const DirectArguments& a) {
        return {a.options.value[0], a.options.value[1], a.options.value[2]};
    }
    template <class T>
    static void end(direct::System<T>& b,
                    const runge_kutta::DormandPrinceStep<double>& weights,
                    const direct::State<T>* slopes) {
        const direct::State<T> step = weights.end(slopes);
        b.columns.keep(change, step);
        b.columns.keep(error,
                       runge_kutta::StepError<T>::of(
                           tolerance_of(b.a), b.unit, T(b.a.h), b.sum.y, step, slopes));
    }
    template <class T>
    static void stage(direct::System<T>& b) {
        Stage::stage(b, b.a.stage, b.a.h);
    }
};
/// The end of an accepted step, or the start again.
template <bool accepted>
struct AfterStep {
    template <class T>
    static void stage(direct::System<T>& b) {
        b.sum.y =
            direct::State<T>::of(b.columns.vector(AdaptiveStage::Stage::start), b.sum.y.attitude());
        if constexpr (accepted) {
            b.sum.add(b.columns.state(AdaptiveStage::change));
            b.store();
        } else {
            b.ask_at(b.sum.y);
        }
    }
};
/// The length of a first step, in the column of the error.
struct FirstStep {
    template <class T>
    static void stage(direct::System<T>& b) {
        const direct::State<T>& y = b.sum.y;
        const auto slope = b.equations.slope(y.momentum(), y.attitude(), b.torque());
        b.columns.keep(
            AdaptiveStage::error,
            runge_kutta::first_step(AdaptiveStage::tolerance_of(b.a), b.equations, y, slope));
    }
};

/// The shortest step from the time t: at least sixteen times the distance of two numbers there.
template <class T>
POLHODE_INLINE T shortest_step(const T& t) {
    return 16 * epsilon_v<T> * abs(t);
}

/// The steps of a block, the same for all its bodies.
template <class T>
class AdaptiveSteps : Steps<T> {
    using Base = Steps<T>;
    using Base::block_, Base::direct_, Base::kick_, Base::problem_;

  public:
    AdaptiveSteps(const SplittingProblem& problem,
                  const AdaptiveProblem& adaptive,
                  std::ptrdiff_t begin,
                  std::ptrdiff_t end,
                  Scratch<T>& scratch)
        : Base(problem, begin, end, scratch),
          adaptive_(adaptive) {
        const StepTolerance& tolerance = adaptive.tolerance;
        direct_.options.value[0] = tolerance.rtol;
        direct_.options.value[1] = tolerance.atol_m;
        direct_.options.value[2] = tolerance.atol_q;
        direct_.step = 1;  // the stages need not begin
    }

    void run() {
        const AdaptiveProblem& a = adaptive_;
        double t = a.t[block_.begin];
        begin(t);
        choose_first_step();
        const StopRequest* const stop = problem_.options.stop;
        std::ptrdiff_t steps = 0, rejected = 0;
        for (std::ptrdiff_t k = 0; k < a.count; ++k) {
            const double target = a.times[k];
            bool retries = false;
            while (t != target && steps < a.most_steps) {
                if ((steps + rejected) % 64 == 63 && stop != nullptr &&
                    stop->asked(stop->context)) {
                    return;
                }
                const double left = target - t;
                const double most = std::max(std::min(h_, a.max_step), shortest_step(t));
                const bool ends = !(std::abs(left) > most);
                const double end = ends ? target : t + std::copysign(most, left);
                const double h = end - t;  // as the time changes
                const double error = step(t, h, end);
                const bool shortest = !(std::abs(h) > 1.1 * shortest_step(t));
                const bool accepted = error <= 1.0;
                double factor = runge_kutta::step_factor(error, accepted, last_);
                if (retries) factor = std::min(factor, 1.0);
                const double next = std::abs(h) * factor;
                // A step that was shortened to end at the time does not limit the next length.
                h_ = accepted && ends ? std::max(next, std::min(h_, a.max_step)) : next;
                retries = !accepted;
                if (accepted) {
                    all<AfterStep<true>>();
                    t = end;
                    if (a.step_times != nullptr) save_step(steps, t);
                    ++steps;
                } else {
                    if (shortest) lose_bodies(), h_ = std::abs(left);
                    all<AfterStep<false>>();
                    ++rejected;
                }
                kick_.forget_torque();
            }
            if (t != target) break;
            if (a.step_times == nullptr) block_.save(k, block_.m);
        }
        block_.fill(column(AdaptiveStage::length), 1, h_);
        block_.fill(column(AdaptiveStage::last), 1, last_);
        kick_.store_state();
        block_.store_state();
        for (std::ptrdiff_t i = 0; i < block_.count; ++i) {
            a.steps[block_.begin + i] += steps;
            a.rejected[block_.begin + i] += rejected;
            a.t[block_.begin + i] = t;
        }
    }

    /// Each body in its own steps, by a loop for one model.
    template <class LaneRun>
    void run_lanes(const LaneRun& lanes) {
        begin(adaptive_.t[block_.begin]);
        lanes.run(
            problem_, adaptive_, direct_, kick_.torque.parameters(), block_.begin, block_.count);
        block_.store_state();
    }

  private:
    MutableView column(int number) const { return block_.work.from(number); }
    template <class Stage>
    void all() {
        block_.share([this](std::ptrdiff_t begin, std::ptrdiff_t end) {
            direct::system_stage<Stage, T>(direct_, begin, end);
        });
    }
    void save_step(std::ptrdiff_t row, double t) const {
        block_.save(row, block_.m);
        double* const times = adaptive_.step_times + row * (problem_.m_save_stride / 3);
        std::fill_n(times + block_.begin, block_.count, t);
    }
    void evaluate(double t) { kick_.torque.momentum_derivatives(1, t, this->derivatives_); }
    /// The state before the first step.
    void begin(double t) {
        if (!adaptive_.begins) return;
        block_.normalise();
        kick_.torque.set_given_momentum(t, true);
        evaluate(t);
        direct_.h = adaptive_.times[adaptive_.count - 1] - t;
        problem_.direct->begin(direct_, 0, block_.padded);
    }
    void choose_first_step() {
        if (!adaptive_.begins) {
            h_ = *column(AdaptiveStage::length).data;
            last_ = *column(AdaptiveStage::last).data;
            return;
        }
        h_ = adaptive_.first_step;
        if (h_ > 0) return;
        all<FirstStep>();
        h_ = std::numeric_limits<double>::infinity();
        const double* const first = column(AdaptiveStage::error).data;
        for (std::ptrdiff_t i = 0; i < block_.count; ++i) {
            h_ = std::min(h_, first[i]);  // h_ if the other is NaN
        }
    }
    /// Tries a step; the largest error of a body that is not lost.
    double step(double t, double h, double end) {
        direct_.h = h;
        for (int s = 0; s < runge_kutta::DormandPrince::stages; ++s) {
            direct_.stage = s;
            const double c = runge_kutta::DormandPrince::nodes[s];
            const double now = c == 1.0 ? end : t + c * h;
            kick_.torque.set_given_momentum(now, false);
            evaluate(now);
            all<AdaptiveStage>();
        }
        double largest = 0;
        const double* const error = column(AdaptiveStage::error).data;
        const double* const start = column(AdaptiveStage::Stage::start).data;
        for (std::ptrdiff_t i = 0; i < block_.count; ++i) {
            if (std::isnan(start[i])) continue;
            if (!(error[i] <= largest)) largest = error[i];
            if (std::isnan(largest)) break;
        }
        return largest;
    }
    /// Bodies whose step became too short are NaN from now on.
    void lose_bodies() const {
        const double* const error = column(AdaptiveStage::error).data;
        double* const start = column(AdaptiveStage::Stage::start).data;
        double* const attitude = column(direct::system_attitude).data;
        for (std::ptrdiff_t i = 0; i < block_.padded; ++i) {
            if (error[i] <= 1.0 || std::isnan(start[i])) continue;
            for (int k = 0; k < 3; ++k) start[k * block_.work.component + i] = nan<double>();
            for (int k = 0; k < 4; ++k) attitude[k * block_.work.component + i] = nan<double>();
            if (i < block_.count) adaptive_.lost[block_.begin + i] = true;
        }
    }

    const AdaptiveProblem& adaptive_;
    double h_ = 0, last_ = runge_kutta::first_last;
};

POLHODE_NAMESPACE_END

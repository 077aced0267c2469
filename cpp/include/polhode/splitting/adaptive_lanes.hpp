#pragma once

/// Adaptive steps of a pack of bodies, each with its own, for one torque model that does not depend
/// on the time: a lane that is at its last time waits for the others.

#include "polhode/direct/runs.hpp"
#include "polhode/splitting/adaptive.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// One pack.
template <class Model, class T>
class AdaptiveLanes {
    static constexpr int lanes = lanes_v<T>;
    using State = direct::State<T>;

  public:
    AdaptiveLanes(const SplittingProblem& problem,
                  const AdaptiveProblem& adaptive,
                  const DirectArguments& arguments,
                  const View& parameters,
                  std::ptrdiff_t block,
                  std::ptrdiff_t i,
                  int count)
        : problem_(problem),
          adaptive_(adaptive),
          system_(arguments, i),
          slope_(system_, parameters, i),
          body_(block + i),
          count_(count),
          t_(batch::load_scalar<T>(View{adaptive.t, 1, 1, 1}, block + i, count)),
          goal_(t_) {
        const auto& c = system_.columns;
        if (!adaptive.begins) {
            h_ = c.number(AdaptiveStage::length);
            last_ = c.number(AdaptiveStage::last);
        } else if (adaptive.first_step > 0) {
            h_ = adaptive.first_step;
        } else {
            const State& y = system_.sum.y;
            h_ = runge_kutta::first_step(adaptive.tolerance, system_.equations, y, slope_(0.0, y));
        }
    }
    void run() {
        const AdaptiveProblem& a = adaptive_;
        direct::Sum<T>& sum = system_.sum;
        const T most_steps(static_cast<double>(a.most_steps));
        arrive(t_ == t_);
        finish(is_nan(sum.y.momentum().x));
        const StopRequest* const stop = problem_.options.stop;
        mask_t<T> retries = t_ != t_;
        T accepted_steps(0.0), rejected_steps(0.0);
        for (int n = 1;; ++n) {
            const T left = goal_ - t_;
            const mask_t<T> active = (left != 0.0) & (accepted_steps < most_steps);
            if (!any(active)) break;
            if (n % 64 == 0 && stop != nullptr && stop->asked(stop->context)) return;
            const T most = max(min(h_, T(a.max_step)), shortest_step(t_));
            const mask_t<T> ends = !(abs(left) > most);
            const T end = select(ends, goal_, t_ + copysign(most, left));
            const T h = end - t_;  // as the time changes
            const auto start = slope_.begin(sum.y);
            std::remove_const_t<decltype(start)> within[runge_kutta::DormandPrince::stages];
            const State change = slope_.end(runge_kutta::DormandPrinceStep<T>(h).change(
                start,
                [this](int, const auto& y) POLHODE_INLINE_LAMBDA { return slope_(0.0, y); },
                within));
            State slopes[runge_kutta::DormandPrince::stages];
            for (int k = 0; k < runge_kutta::DormandPrince::stages; ++k) {
                slopes[k] = slope_.end(within[k]);
            }
            const T error =
                runge_kutta::StepError<T>::of(a.tolerance, system_.unit, h, sum.y, change, slopes);
            const mask_t<T> good = error <= 1.0;
            const mask_t<T> shortest = !(abs(h) > 1.1 * shortest_step(t_));
            const mask_t<T> accepted = active & good;
            T factor = runge_kutta::step_factor(error, accepted, last_);
            factor = select(retries, min(factor, T(1.0)), factor);
            const T next = abs(h) * factor;
            // A step that was shortened to end at the time does not limit the next length.
            h_ = select(active, select(accepted & ends, max(next, most), next), h_);
            retries = active & !accepted;
            direct::Sum<T> after = sum;
            after.add(change);
            sum.y = chosen(accepted, after.y, sum.y);
            sum.low = chosen(accepted, after.low, sum.low);
            t_ = select(accepted, end, t_);
            accepted_steps = accepted_steps + select(accepted, T(1.0), T(0.0));
            rejected_steps = rejected_steps + select(retries, T(1.0), T(0.0));
            if (a.step_times != nullptr && any(accepted)) save_steps(accepted, accepted_steps);
            if (any(accepted & ends)) arrive(accepted & ends);
            if (any(retries & shortest)) finish(retries & shortest);
        }
        system_.store();
        system_.columns.keep(AdaptiveStage::length, h_);
        system_.columns.keep(AdaptiveStage::last, last_);
        double x[lanes], y[lanes], t[lanes];
        numbers(accepted_steps, x), numbers(rejected_steps, y);
        numbers(select(is_nan(sum.y.momentum().x), T(a.times[a.count - 1]), t_), t);
        for (int lane = 0; lane < count_; ++lane) {
            a.t[body_ + lane] = t[lane];
            a.steps[body_ + lane] += static_cast<std::int64_t>(x[lane]);
            a.rejected[body_ + lane] += static_cast<std::int64_t>(y[lane]);
        }
    }

  private:
    static State chosen(const mask_t<T>& mask, const State& a, const State& b) {
        return State::of(select(mask, a.momentum(), b.momentum()),
                         select(mask, a.attitude(), b.attitude()));
    }
    static void numbers(const T& x, double* to) {
        const T c[1] = {x};
        batch::store(MutableView{to, 1, lanes, lanes}, 0, lanes, c);
    }
    /// Saves the states of the lanes that are at their times, and sets their next times; a lane
    /// after its last time stays.
    [[gnu::noinline]] void arrive(const mask_t<T>& where) {
        const AdaptiveProblem& a = adaptive_;
        double at[lanes], t[lanes], goal[lanes];
        numbers(select(where, T(1.0), T(0.0)), at), numbers(t_, t), numbers(goal_, goal);
        system_.ask_at(system_.sum.y);
        for (int lane = 0; lane < lanes; ++lane) {
            if (at[lane] == 0.0) continue;
            for (; next_[lane] < a.count && a.times[next_[lane]] == t[lane]; ++next_[lane]) {
                if (lane < count_ && a.step_times == nullptr) save(lane, next_[lane]);
            }
            goal[lane] = next_[lane] < a.count ? a.times[next_[lane]] : t[lane];
        }
        goal_ = batch::load_scalar<T>(View{goal, 1, lanes, lanes}, 0, lanes);
    }
    /// Saves the states of lanes after so many steps, and their times.
    [[gnu::noinline]] void save_steps(const mask_t<T>& where, const T& steps) {
        double at[lanes], t[lanes], number[lanes];
        numbers(select(where, T(1.0), T(0.0)), at), numbers(t_, t), numbers(steps, number);
        system_.ask_at(system_.sum.y);
        for (int lane = 0; lane < count_; ++lane) {
            if (at[lane] == 0.0) continue;
            const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(number[lane]) - 1;
            save(lane, row);
            adaptive_.step_times[row * (problem_.m_save_stride / 3) + body_ + lane] = t[lane];
        }
    }
    /// The state that `ask_at` left, of a lane, in this row.
    void save(int lane, std::ptrdiff_t row) const {
        const DirectArguments& b = system_.a;
        const std::ptrdiff_t i = system_.columns.i + lane;
        double* m = problem_.m_saved.data + row * problem_.m_save_stride + 3 * (body_ + lane);
        for (int k = 0; k < 3; ++k) m[k] = b.m.data[k * b.m.component + i];
        const int components = b.matrix ? 9 : 4;
        double* q = problem_.attitude_saved.data + row * problem_.attitude_save_stride +
                    components * (body_ + lane);
        for (int k = 0; k < components; ++k) q[k] = b.attitude.data[k * b.attitude.component + i];
    }
    /// Lanes whose step became too short: the rest of their rows is NaN.
    [[gnu::noinline]] void finish(const mask_t<T>& where) {
        if (!any(where)) return;
        const T bad = nan<T>();
        const State lost = State::of({bad, bad, bad}, {bad, bad, bad, bad});
        direct::Sum<T>& sum = system_.sum;
        double at[lanes], was[lanes];
        numbers(select(where, T(1.0), T(0.0)), at);
        numbers(select(is_nan(sum.y.momentum().x), T(1.0), T(0.0)), was);
        sum.y = chosen(where, lost, sum.y);
        goal_ = select(where, t_, goal_);
        system_.ask_at(sum.y);
        for (int lane = 0; lane < count_; ++lane) {
            if (at[lane] == 0.0) continue;
            if (was[lane] == 0.0) adaptive_.lost[body_ + lane] = true;
            if (adaptive_.step_times != nullptr) continue;
            for (; next_[lane] < adaptive_.count; ++next_[lane]) save(lane, next_[lane]);
        }
    }

    const SplittingProblem& problem_;
    const AdaptiveProblem& adaptive_;
    direct::System<T> system_;
    typename direct::SlopeOf<Model, T>::type slope_;
    std::ptrdiff_t body_;
    int count_;  ///< lanes that are bodies
    T t_, goal_, h_{}, last_{runge_kutta::first_last};
    std::ptrdiff_t next_[lanes] = {};  ///< number of the time that a lane goes to
};

/// The model that the loop is for.
template <class Model>
void run_lanes(const SplittingProblem& problem,
               const AdaptiveProblem& adaptive,
               const DirectArguments& arguments,
               const View& parameters,
               std::ptrdiff_t block,
               std::ptrdiff_t count) {
    using T = batch::one_register<batch_real>::type;
    for (std::ptrdiff_t i = 0; i < count; i += lanes_v<T>) {
        const int left = static_cast<int>(std::min<std::ptrdiff_t>(count - i, lanes_v<T>));
        AdaptiveLanes<Model, T>(problem, adaptive, arguments, parameters, block, i, left).run();
    }
}
struct LaneRun {
    const TorqueInfo* model;  ///< null: no torque
    decltype(&run_lanes<direct::NoTorque>) run;
};
inline constexpr LaneRun lane_runs[] = {
    {nullptr, run_lanes<direct::NoTorque>},
    {&torque::HeavyTop::info, run_lanes<torque::HeavyTop>},
    {&torque::LagrangeTop::info, run_lanes<torque::LagrangeTop>}};

/// Runs bodies begin <= i < end: all in the same steps if `one_step`, each in its own steps else.
template <class T = batch_real>
void run_adaptive(const SplittingProblem& problem,
                  const AdaptiveProblem& adaptive,
                  std::ptrdiff_t begin,
                  std::ptrdiff_t end) {
    const LaneRun* lanes = nullptr;
    const DirectRun* const model = adaptive.one_step ? nullptr : direct_run(problem);
    for (const LaneRun& run : lane_runs) {
        if (model != nullptr && run.model == model->model) lanes = &run;
    }
    const std::ptrdiff_t most = SplittingProblem::block_bodies / 4;
    const std::ptrdiff_t block = adaptive.one_step ? end - begin : lanes != nullptr ? most : 1;
    Scratch<T> scratch(problem, std::min(block, end - begin));
    const StopRequest* const stop = problem.options.stop;
    for (std::ptrdiff_t i = begin; i < end; i += block) {
        const bool asks = (i - begin) / block % 16 == 15;
        if (asks && stop != nullptr && stop->asked(stop->context)) return;
        AdaptiveSteps<T> steps(problem, adaptive, i, std::min(i + block, end), scratch);
        if (lanes != nullptr) {
            steps.run_lanes(*lanes);
        } else {
            steps.run();
        }
    }
}

POLHODE_NAMESPACE_END

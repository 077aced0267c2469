#pragma once

/// Splitting methods and direct integrators: the loop over the steps of a block of bodies.
///
/// Method and torque are functions on blocks, never template arguments of each other.  A block of
/// bodies lies component by component in first-level cache; all steps between two saves run on it
/// before the next is loaded.  If the torque on a body may depend on other bodies, the whole batch
/// is one block.

#include <algorithm>
#include <atomic>

#include "polhode/splitting/block.hpp"
#include "polhode/splitting/compensation.hpp"
#include "polhode/splitting/heat_bath.hpp"
#include "polhode/splitting/kick.hpp"
#include "polhode/splitting/nose_hoover.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// The loop of a direct integrator for the torque, if there is one: the torque is a single model,
/// in the axes of the momentum and with the same parameters at all times.
inline const DirectRun* direct_run(const SplittingProblem& p) {
    if (p.whole != nullptr || p.axes.data != nullptr || p.term_count > 1) return nullptr;
    if (p.term_count == 1 && p.terms[0].extra.table.bounds != nullptr) return nullptr;
    const TorqueInfo* const model = p.term_count == 1 ? p.terms[0].model->info : nullptr;
    for (int k = 0; k < p.direct->run_count; ++k) {
        if (p.direct->runs[k].model == model) return p.direct->runs + k;
    }
    return nullptr;
}

/// The steps of a block.
template <class T>
class Steps {
  public:
    Steps(const SplittingProblem& problem,
          std::ptrdiff_t begin,
          std::ptrdiff_t end,
          Scratch<T>& scratch)
        : problem_(problem),
          block_(problem, begin, end, scratch),
          kick_(block_),
          compensation_(block_),
          steps_{0, 0, problem.h, problem.h_stride, problem.t0, problem.times} {
        if (problem.direct != nullptr) {
            derivatives_ = block_.columns(3 * DirectMethod::most_derivatives);
            prepare(direct_);
            direct_.torque = derivatives_;
            direct_.work = block_.work;
            run_ = direct_run(problem);
        } else {
            prepare(flow_);
            flow_.m_out = block_.m;
            flow_.attitude_out = block_.attitude;
            flow_.n_steps = 1;
        }
        const int last = problem.stage_count - 1;
        for (int k = 0; k <= last; ++k) {
            if (problem.stages[k].kind == Stage::flow) last_flow_ = k;
        }
        joins_flows_ = problem.exact_flow && last > 0 && last_flow_ == last &&
                       problem.stages[0].kind == Stage::flow;
        processed_ = problem.processor_count > 0 && problem.term_count > 0;
        if (problem.nose_hoover.links > 0) terms_ = block_.columns(1);
    }

    void run() {
        const SplittingProblem& p = problem_;
        const WholeBatch* const whole = p.whole;
        const bool calls_back = whole != nullptr && whole->calls_back();
        const bool can_join =
            !calls_back && !p.has_bath() && p.stage_count > 0 && p.term_count > 0 && kick_.joins();
        const std::ptrdiff_t end = p.first_step + p.n_steps;
        if (p.first_step == 0 && (p.n_steps == 0 || p.begins)) {
            block_.normalise();
            block_.save(0, block_.m);
        }
        if (p.first_step == 0 && p.n_steps > 0) kick_.torque.store_momentum();
        const int last = p.stage_count - 1;
        std::ptrdiff_t next_save = p.first_step - p.first_step % p.save_every + p.save_every;
        // Whether the first kick of a step has been done with the last of the one before.
        bool joined = false;
        for (std::ptrdiff_t n = p.first_step; n < end; ++n) {
            const double h = steps_.length(n);
            const double t = steps_.time(n), t_end = steps_.time(n + 1);
            const bool goes_on = passes(n - 1), passes_on = passes(n);
            if (block_.compensated()) compensation_.begin_step();
            if (p.has_bath()) bath(h / 2, n, 0, t);
            if (processed_ && !goes_on) process(-1, h, t);
            if (run_ != nullptr) {
                const std::ptrdiff_t stop = std::min(end, next_save);
                direct_steps(n, stop - n);
                n = stop - 1;
            } else if (p.direct != nullptr) {
                direct_step(n, h, t, t_end);
            }
            const bool saves = n + 1 == next_save || n + 1 == p.total_steps;
            double elapsed = 0, kicked = 0, now = t;
            const int first = joined ? 1 : 0;
            joined = false;
            for (int k = first; k < p.stage_count; ++k) {
                const Stage& stage = p.stages[k];
                if (stage.kind == Stage::flow) {
                    if (joins_flows_ && passes_on && k == last) break;
                    const bool joins = joins_flows_ && goes_on && k == 0;
                    flow((joins ? p.stages[last].coefficient + stage.coefficient
                                : stage.coefficient) *
                             h,
                         t + kicked * h);
                    elapsed += stage.coefficient;
                    // The end of a step is the start of the next, bit for bit.
                    now = k == last_flow_ ? t_end : t + elapsed * h;
                    continue;
                }
                kicked += stage.coefficient;
                if (p.term_count > 0) {
                    joined = can_join && k == last && n + 1 < end &&
                             (!processed_ || (passes_on && !saves));
                    const double next = joined ? steps_.length(n + 1) : 0.0;
                    kick_(stage, h, now, joined ? &next : nullptr, joined && saves);
                }
            }
            if (processed_ && !passes_on) process(1, h, t_end);
            if (block_.compensated()) compensation_.end_step();
            if (p.has_bath()) bath(h / 2, n, 1, t_end);
            block_.drop_spin(block_.m);
            block_.drop_spin(block_.compensation);
            if (saves) {
                if (passes_on) {
                    block_.keep();
                    complete(h, t_end);
                }
                const MutableView& momenta = joined ? kick_.between() : block_.m;
                block_.drop_spin(momenta);
                block_.save((n + p.save_every) / p.save_every, momenta);
                if (passes_on) {
                    block_.restore();
                    kick_.forget_torque();
                }
                if (n + 1 == next_save) next_save += p.save_every;
            }
            if (calls_back && !whole->goes_on(whole->self)) break;
        }
        kick_.store_state();
        block_.store_state();
    }

  protected:
    /// Whether step n goes over into the next, of the same length, without being completed: its
    /// last flow and the first of the next are one, and the state stays that of the kernel of a
    /// processed scheme.  A save completes a copy.  So the motion does not depend on the saves.
    bool passes(std::ptrdiff_t n) const {
        const SplittingProblem& p = problem_;
        if (!(joins_flows_ || processed_) || !p.steps_join || n < 0) return false;
        const bool has_next = n + 1 < p.total_steps || (p.open_end && p.h_stride == 0);
        return has_next && steps_.length(n) == steps_.length(n + 1);
    }
    /// What `passes` left to do of a step that ends at time t.
    void complete(double h, double t) {
        if (block_.compensated()) compensation_.begin_step();
        if (joins_flows_) flow(problem_.stages[problem_.stage_count - 1].coefficient * h, t);
        if (processed_) process(1, h, t);
        if (block_.compensated()) compensation_.end_step();
    }
    /// The processor (direction 1) or its inverse (-1) at time t.
    void process(int direction, double h, double t) {
        const int count = problem_.processor_count;
        double elapsed = 0;
        for (int k = 0; k < count; ++k) {
            Stage stage = problem_.processor[direction > 0 ? k : count - 1 - k];
            stage.coefficient *= direction;
            stage.modified *= direction;
            if (stage.kind == Stage::flow) {
                flow(stage.coefficient * h, t);
                elapsed += stage.coefficient;
            } else {
                kick_(stage, h, t + elapsed * h);
            }
        }
    }
    /// What flows and stages of direct integrators both get.
    template <class Arguments>
    void prepare(Arguments& a) const {
        a.inertia = problem_.inertia;
        a.inertia.data += block_.begin * a.inertia.body;
        a.bodies = block_.bodies;
        a.m = block_.m;
        a.attitude = block_.attitude;
        a.matrix = problem_.matrix;
        a.options = problem_.options;
        a.energy_correction = problem_.energy_correction;
    }
    /// Half of the bath of a step, before it (part 0) or after, at time t.
    void bath(double h, std::ptrdiff_t step, int part, double t) {
        set_moments(t);
        if (problem_.heat.friction > 0) heat_bath(block_, h, step, part);
        if (problem_.nose_hoover.links > 0) nose_hoover(block_, h, terms_);
    }
    /// The moments at time t, if they vary.
    void set_moments(double t) {
        const WholeBatch* const whole = problem_.whole;
        if (whole == nullptr || whole->set_moments == nullptr) return;
        whole->set_moments(whole->self, t);
        block_.set_bodies();
    }
    /// @param t  the time of moments that vary, which proceeds with the kicks: the step is then a
    ///           splitting of two autonomous flows, each with the time of the other as a variable,
    ///           and has the order of the scheme [BC06]
    void flow(double h, double t) {
        set_moments(t);
        flow_.h = {&h, 0, 0, 0};
        if (block_.compensated()) compensation_.before_flow();
        block_.share(
            [this](std::ptrdiff_t begin, std::ptrdiff_t end) { problem_.flow(flow_, begin, end); });
        block_.drift(h);
        if (block_.compensated()) compensation_.after_flow();
        kick_.forget_torque();
    }
    /// Steps of a direct integrator for one model.
    void direct_steps(std::ptrdiff_t first, std::ptrdiff_t count) {
        direct_.step = first;
        if (first == 0) {
            kick_.torque.momentum_derivatives(1, steps_.time(0), derivatives_);
            direct_.h = steps_.length(0);
            problem_.direct->begin(direct_, 0, block_.padded);
        }
        DirectSteps steps = steps_;
        steps.first = first, steps.count = count;
        run_->run(direct_, kick_.torque.parameters(), steps, 0, block_.padded);
    }
    /// One step of a direct integrator.
    void direct_step(std::ptrdiff_t n, double h, double t, double t_end) {
        DirectStage made[DirectMethod::most_stages];
        const DirectStages list = problem_.direct->stages(n, problem_.options, made);
        DirectArguments& a = direct_;
        a.h = h;
        a.step = n;
        a.stage = 0;
        bool begins = n == 0;
        while (a.stage < list.count) {
            const DirectStage& stage = list.stages[a.stage];
            const double now = stage.time == 1.0 ? t_end : t + stage.time * h;
            if (stage.derivatives > 0) {
                kick_.torque.set_given_momentum(now, begins);
                begins = false;
                kick_.torque.momentum_derivatives(stage.derivatives, now, derivatives_);
            }
            std::atomic<bool> done = true;
            block_.share([&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                if (!stage.run(a, begin, end)) done = false;
            });
            a.stage += done ? 1 : -stage.back;
        }
        kick_.torque.set_given_momentum(t_end, begins);
        kick_.forget_torque();
    }

    const SplittingProblem& problem_;
    Block<T> block_;
    Kick<T> kick_;
    Compensation<T> compensation_;
    MutableView derivatives_ = {};  ///< of the momentum, for a direct integrator
    MutableView terms_ = {};        ///< of a sum, for `nose_hoover`
    StepArguments flow_{};
    DirectArguments direct_{};
    DirectSteps steps_;
    const DirectRun* run_ = nullptr;  ///< null: stage after stage
    int last_flow_ = -1;
    bool joins_flows_ = false, processed_ = false;
};

/// Runs bodies begin <= i < end, begin a multiple of `block_bodies`, through all steps of
/// `problem`; if it has a `whole` batch, all bodies.
template <class T = batch_real>
void run(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end) {
    // The columns of a direct integrator are many: those of a block stay in first-level cache.
    constexpr std::ptrdiff_t most = SplittingProblem::block_bodies;
    const std::ptrdiff_t usual = problem.direct != nullptr ? most / 4 : most;
    const std::ptrdiff_t block = problem.whole != nullptr ? end - begin : usual;
    Scratch<T> scratch(problem, std::min(end - begin, block));
    for (std::ptrdiff_t i = begin; i < end; i += block) {
        Steps<T>(problem, i, std::min(i + block, end), scratch).run();
    }
}

POLHODE_NAMESPACE_END

#pragma once

/// Steps of bodies with torque: polhode._core.Integration, described by `register_integration`.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "integration_arguments.hpp"
#include "integrator.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/threads.hpp"
#include "python_torque.hpp"
#include "step_parts.hpp"
#include "torque_term.hpp"

namespace polhode::bindings {

namespace py = pybind11;

class Integration {
  public:
    explicit Integration(const py::kwargs& given)
        : given_(given),
          integrator_(given),
          m_(given_.array("m")),
          threads_(threads_of_call(given_.value<int>("threads"))),
          slice_steps_(integrator_.steps_at_once(bodies())) {
        SplittingProblem& p = problem_;
        const std::ptrdiff_t core = given_.value<bool>("matrix") ? 9 : 4;
        Doubles attitude = given_.array("attitude");
        given_.read_steps(p);
        window_ = given_.has("window") && given_.value<bool>("window");
        interface::set_step(p, integrator_.method(bodies()), integrator_.scheme());
        if (p.direct != nullptr)
            p.work = {
                mutable_rows(given_.array("work"), p.work_columns, bodies()).data, 1, bodies(), 3};
        p.options.stop = watch_.request();
        p.inertia = rows(given_.array("inertia"), 3, bodies());
        p.matrix = core == 9;
        p.m = mutable_rows(m_, 3, bodies());
        p.attitude = mutable_rows(attitude, core, bodies());
        if (given_.has("compensation"))
            p.compensation = mutable_rows(given_.array("compensation"), 3, bodies());
        if (given_.has("parts")) {
            const Doubles parts = given_.array("parts");
            parts_ = {reinterpret_cast<const StepParts::Part*>(parts.data()), parts.size() / 4};
        }
        if (given_.has("m_saved")) {
            const Doubles m_saved = given_.array("m_saved");
            const std::ptrdiff_t saves =
                window_ ? m_saved.shape(0) : 1 + (p.total_steps + p.save_every - 1) / p.save_every;
            p.m_saved = mutable_rows(m_saved, 3, saves * bodies());
            p.attitude_saved = mutable_rows(given_.array("attitude_saved"), core, saves * bodies());
            p.m_save_stride = m_.size();
            p.attitude_save_stride = attitude.size();
        } else {
            now_ = next_ = {unwritten(m_), unwritten(attitude)};
        }
        if (given_.has("start")) {
            start_ = given_["start"].cast<std::pair<Doubles, Doubles>>();
            start_m_ = rows(start_.first, 3, bodies());
            start_attitude_ = rows(start_.second, core, bodies());
        }
        given_.read_nonfinite_torque(p, bodies());
        given_.read_companions(p, bodies(), others_);
        read_terms(attitude);
        given_.read_axes(p, bodies(), axes_);
        p.terms = sum_.data();
        p.term_count = static_cast<int>(sum_.size());
    }

    /// At most `n_steps` steps, none that begins after `seconds`, but for the first and a few more.
    void run(std::ptrdiff_t first_step, std::ptrdiff_t n_steps, double seconds) {
        SplittingProblem p = problem_;
        if (n_steps < 0 || first_step < 0 || first_step + n_steps > p.total_steps) {
            throw py::value_error("step range out of bounds");
        }
        if (window_) {  // the first row is the one before these steps
            p.m_saved.data -= first_step * p.m_save_stride;
            p.attitude_saved.data -= first_step * p.attitude_save_stride;
            for (Companion& each : p.companions) each.saved.data -= first_step * each.save_stride;
        }
        done_ = first_step;
        const std::ptrdiff_t end = first_step + n_steps;
        const bool calls_back = p.whole != nullptr && p.whole->calls_back();
        Clock::time_point now = Clock::now();
        end_ = now + std::chrono::duration<double>(seconds);
        try {
            while (true) {
                const std::ptrdiff_t slice = calls_back ? n_steps : slice_steps_;
                const std::ptrdiff_t next = parts_.next(done_, std::min(done_ + slice, end));
                if (next > done_ || n_steps == 0) {
                    p.first_step = done_, p.n_steps = next - done_;
                    set_state(p, p.n_steps);
                    take(p);
                    if (n_steps == 0 && start_m_.data != nullptr) {
                        start_m_ = p.m_saved, start_attitude_ = p.attitude_saved;
                    }
                } else {
                    step_in_parts(p);
                }
                if (done_ < next || done_ == end) return;
                const Clock::time_point begun = std::exchange(now, Clock::now());
                if (now >= end_) return;
                const std::chrono::duration<double> spent = now - begun;
                const double factor = std::min(slice_seconds / std::max(spent.count(), 1e-9), 10.0);
                slice_steps_ = std::max<std::ptrdiff_t>(
                    static_cast<std::ptrdiff_t>(static_cast<double>(slice_steps_) * factor), 1);
            }
        } catch (...) {
            if (!calls_back) done_ = first_step;
            throw;
        }
    }
    /// The next steps of a run that has no saves.  False if a momentum is not finite after them.
    /// After an exception the state is the one before the call.
    bool advance(const py::handle& n_steps) {
        const std::ptrdiff_t n = whole(n_steps, 0, validate::most_steps, "step_count");
        if (busy_) throw std::runtime_error("run.advance is called while the run is advancing");
        // A few steps of the core at once begin the run: no caller reads the state in between.
        const std::ptrdiff_t few =
            std::min(slice_steps_, few_steps / std::max<std::ptrdiff_t>(bodies(), 1));
        if (n == 0 || n > few || problem_.axes.data != nullptr) begin();
        return n == 0 || next_steps(n);
    }
    /// Begins a run that has no saves again, at time t0 from another state of the same shape. False
    /// if an argument is unusual or wrong, or a body is a rod: then a new run must check them.
    bool restart(const py::handle& m, const py::handle& attitude, const py::handle& t0) {
        SplittingProblem& p = problem_;
        const std::ptrdiff_t n = bodies();
        const std::optional<double> t = number(t0.ptr());
        const FiniteNumbers m0(m.ptr(), now_[0]), attitude0(attitude.ptr(), now_[1]);
        if (busy_ || !t || m0.data == nullptr || attitude0.data == nullptr) return false;
        const Checks& checks = dispatch::level_for(n).torque_free->checks;
        const View attitudes{attitude0.data, components(), 1, 3};
        if (checks.inertia(p.inertia, 0, p.inertia.body == 0 ? 1 : n) != all_valid ||
            checks.attitude(attitudes, p.matrix, 0, n) != all_valid) {
            return false;
        }
        std::copy_n(m0.data, 3 * n, p.m.data);
        std::copy_n(attitude0.data, components() * n, p.attitude.data);
        for_each_array_in_place(
            p, n, false, [](std::span<double> x) { std::ranges::fill(x, 0.0); });
        std::fill_n(p.nonfinite_torque, n, false);
        if (start_m_.data != nullptr) start_m_ = p.m, start_attitude_ = p.attitude;
        p.t0 = *t;
        whole_.torque_is_current = false;
        done_ = 0;
        begun_ = false;
        return true;
    }
    /// Steps of `rk8` whose lengths follow from their errors, described by `register_integration`.
    py::tuple adapt(const Doubles& t,
                    const Doubles& times,
                    const Doubles& m_saved,
                    const Doubles& attitude_saved,
                    const std::array<double, 3>& tolerance,
                    double first_step,
                    double max_step,
                    bool one_step,
                    bool begins,
                    std::ptrdiff_t most_steps,
                    const std::optional<Doubles>& step_times) {
        SplittingProblem p = problem_;
        if (p.direct == nullptr || p.direct->runs == nullptr || times.size() == 0) {
            throw py::value_error("no method with adaptive steps, or no times");
        }
        const std::ptrdiff_t n = bodies(), count = times.shape(times.ndim() - 1);
        const std::ptrdiff_t rows = step_times ? most_steps : count;
        const bool own_times = times.ndim() == 2;
        if (t.size() != n || (step_times && step_times->size() != rows * n) ||
            (own_times && (times.shape(0) != n || one_step || p.whole != nullptr))) {
            throw py::value_error("arrays of the wrong size");
        }
        p.m_saved = mutable_rows(m_saved, 3, rows * n);
        p.attitude_saved = mutable_rows(attitude_saved, components(), rows * n);
        p.m_save_stride = 3 * n, p.attitude_save_stride = components() * n;
        p.first_step = begins ? 0 : 1;
        p.n_steps = 1;
        p.m_from = p.m, p.attitude_from = p.attitude;
        p.keeps_state = true;
        AdaptiveCosts costs(n);
        const AdaptiveProblem adaptive{data_of(t),
                                       times.data(),
                                       count,
                                       {tolerance[0], tolerance[1], tolerance[2]},
                                       first_step,
                                       max_step,
                                       begins,
                                       one_step || p.whole != nullptr,
                                       most_steps,
                                       step_times ? data_of(*step_times) : nullptr,
                                       costs.steps.mutable_data(),
                                       costs.rejected.mutable_data(),
                                       costs.lost.mutable_data()};
        const auto run = dispatch::level_for(bodies()).adaptive->run;
        end_ = Clock::time_point::max();
        in_parts_ = true;
        share_bodies(!adaptive.one_step, whole_packs, few_steps + 1, [&](auto begin, auto end) {
            AdaptiveProblem each = adaptive;
            const std::ptrdiff_t together = own_times ? 1 : end - begin;
            for (std::ptrdiff_t i = begin; i < end; i += together) {
                if (own_times) each.times = times.data() + i * count;
                run(p, each, i, i + together);
            }
        });
        in_parts_ = false;
        return py::make_tuple(costs.steps, costs.rejected, costs.lost);
    }
    /// m and attitude after the last `advance`, read-only.
    template <std::size_t i>
    Doubles now() {
        if (!busy_) begin();
        return now_[i];
    }
    /// Steps from the start of the integration to the last that is complete.
    std::ptrdiff_t done() const { return done_; }

    /// Moves bodies along `ways`, (ways, 6): the integers of each, see Way; and their times.
    void move(const py::array_t<std::int64_t, py::array::c_style>& ways,
              const Doubles& times,
              const std::vector<Doubles>& states) {
        const std::ptrdiff_t count = ways.shape(0);
        const std::int64_t* const rows = ways.data();
        const double* const t = times.data();
        std::vector<double*> arrays(states.size());
        std::ranges::transform(states, arrays.begin(), [](const Doubles& x) { return data_of(x); });
        const auto run = dispatch::level_for(bodies()).splitting->run;
        const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            Ways move(problem_, parts_, arrays, bodies());
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                const std::int64_t* const r = rows + 6 * i;
                move({r[0], r[1], r[2], r[3], r[4], r[5], t[2 * i], t[2 * i + 1]}, run);
            }
        };
        if (problem_.whole == nullptr) {
            watch_.share(count, threads_, 1, 1, work);
            return;
        }
        in_parts_ = true;
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            done_ = rows[6 * i + 3];
            whole_.torque_is_current = false;
            work(i, i + 1);
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr double slice_seconds = 0.1;

    /// Makes the attitudes of the start unit.
    void begin() {
        if (!begun_) next_steps(0);
    }
    /// See `advance`.
    bool next_steps(std::ptrdiff_t n) {
        SplittingProblem& p = problem_;
        const Busy busy(busy_);
        for (std::size_t i = 0; i < now_.size(); ++i) {  // what the caller has is not written to
            if (next_[i].ref_count() > 1) next_[i] = unwritten(now_[i]);
        }
        if (begun_ && start_m_.data != nullptr) {
            start_m_ = rows(now_[0], 3, bodies());
            start_attitude_ = rows(now_[1], components(), bodies());
        }
        start_step_ = done_;
        p.begins = !begun_;
        p.total_steps = p.save_every = std::max<std::ptrdiff_t>(done_ + n, 1);
        p.m_saved = {data_of(next_[0]), 3, 1, 3};
        p.attitude_saved = {data_of(next_[1]), components(), 1, 3};
        const auto for_each_array = [&](const auto& visit) {
            for_each_array_in_place(p, bodies(), start_m_.data == nullptr, visit);
        };
        kept_.clear();
        for_each_array([&](std::span<double> x) { kept_.insert(kept_.end(), x.begin(), x.end()); });
        try {
            run(done_, n, std::numeric_limits<double>::infinity());
        } catch (...) {
            const double* from = kept_.data();
            for_each_array([&](std::span<double> x) {
                std::copy_n(from, x.size(), x.data());
                from += x.size();
            });
            whole_.torque_is_current = false;
            done_ = start_step_;
            throw;
        }
        begun_ = true;
        std::swap(now_, next_);
        return std::ranges::all_of(now_,
                                   [](const Doubles& x) { return all_finite(x.data(), x.size()); });
    }
    std::ptrdiff_t bodies() const { return m_.size() / 3; }
    std::ptrdiff_t components() const { return problem_.matrix ? 9 : 4; }
    /// Calls work(begin, end) for all bodies: in pieces (`apart`), or at once; with the interpreter
    /// lock if a function in Python is called.  See Watch::share.
    template <class Work>
    void share_bodies(bool apart, std::ptrdiff_t piece, std::ptrdiff_t units, const Work& work) {
        const std::ptrdiff_t n = bodies();
        const auto all = [&](std::ptrdiff_t, std::ptrdiff_t) { work(std::ptrdiff_t{0}, n); };
        if (apart) {
            watch_.share(n, threads_, piece, units, work);
        } else if (!whole_.calls_back()) {
            watch_.share(1, 1, 1, units * n, all);
        } else if (n > 0) {
            all(0, 1);
        }
    }
    /// The next step, which is done in parts, as as many steps of a problem of shorter ones.
    void step_in_parts(SplittingProblem p) {
        StepList list;
        parts_.visit(
            p, done_, [&](const StepParts::Part& part) { list.add(part.begin, part.end, part.h); });
        const std::ptrdiff_t n = done_, count = list.count();
        set_state(p, 1);
        list.put(p, n * count);
        p.save_every = std::min(p.save_every, p.total_steps) * count;
        p.total_steps *= count;
        in_parts_ = true;
        take(p);
        in_parts_ = false;
        done_ = n + 1;
    }
    /// Where the state before and after the next steps is.
    void set_state(SplittingProblem& p, std::ptrdiff_t n_steps) const {
        p.m_from = p.m, p.attitude_from = p.attitude;
        p.keeps_state = true;
        if (start_m_.data == nullptr) return;
        if (done_ == start_step_) p.m_from = start_m_, p.attitude_from = start_attitude_;
        p.keeps_state = n_steps > 0 && done_ + n_steps < p.total_steps;
    }
    /// The steps of p, which `done_` counts unless they are parts.
    void take(const SplittingProblem& p) {
        const auto run = dispatch::level_for(bodies()).splitting->run;
        // One step of a million bodies may take longer than a tenth of a second.
        share_bodies(p.whole == nullptr,
                     SplittingProblem::block_bodies,
                     p.n_steps,
                     [&](std::ptrdiff_t begin, std::ptrdiff_t end) { run(p, begin, end); });
        if (!whole_.calls_back() || bodies() == 0) done_ += p.n_steps;  // else goes_on counts them
    }
    void read_terms(const Doubles& attitude) {
        const std::ptrdiff_t n = bodies();
        bool whole = problem_.nose_hoover.links > 0;
        const bool alone = py::len(given_["terms"]) == 1;
        for (const py::handle term : given_["terms"]) {
            if (py::isinstance<py::tuple>(term)) {
                terms_.emplace_back(term.cast<py::tuple>(), n);
                sum_.push_back(*terms_.back());
                whole = whole || terms_.back().needs_whole_batch();
                continue;
            }
            in_python_.emplace_back(
                py::reinterpret_borrow<py::object>(term), m_, attitude, others_, done_, alone);
            sum_.push_back(in_python_.back().term());
        }
        if (given_.has("moments")) {
            moments_ = given_["moments"];
            whole_.set_moments = set_moments;
        }
        if (!in_python_.empty() || whole_.set_moments != nullptr) {
            torque_.resize(static_cast<std::size_t>(6 * WholeBatch::column_length(n)));
            whole_.torque = torque_.data();
            whole_.goes_on = goes_on;
        }
        if (whole_.calls_back() || (whole && n > SplittingProblem::block_bodies)) {
            problem_.whole = &whole_;
        }
        int states = 0;
        for (const TorqueTerm& term : sum_) states += term.model->states;
        if (states > 0)
            problem_.torque_state = mutable_rows(given_.array("torque_state"), states, n);
        problem_.torque_states = states;
    }
    /// The work that the driver requests for all bodies.
    static void share(void* self,
                      std::ptrdiff_t count,
                      WholeBatch::Work work,
                      const void* context) {
        auto& x = *static_cast<Integration*>(self);
        const auto part = [&](auto begin, auto end) { work(context, begin, end); };
        if (x.whole_.calls_back()) {
            x.watch_.share(count, x.threads_, whole_packs, 1, part);
        } else {
            const auto stops = [&] { return x.watch_.stops(); };
            share_among_threads(count, x.threads_, whole_packs, 1, part, stops);
        }
    }
    /// Moments of a function in Python.
    static void set_moments(void* self, double t) {
        auto& integration = *static_cast<Integration*>(self);
        const auto now = integration.moments_(t, integration.done_).cast<Doubles>();
        const Doubles inertia = integration.given_.array("inertia");
        if (now.size() != inertia.size()) throw py::value_error("arrays of the wrong size");
        std::copy_n(now.data(), now.size(), data_of(inertia));
    }
    /// After a step of a torque in Python.
    static bool goes_on(void* self) {
        auto& integration = *static_cast<Integration*>(self);
        integration.watch_.check_asked();
        if (integration.in_parts_) return true;
        ++integration.done_;
        return Clock::now() < integration.end_;
    }

    IntegrationArguments given_;
    Integrator integrator_;
    Doubles m_;
    int threads_;
    std::array<Doubles, Companion::kinds> others_;
    std::vector<Term> terms_;
    std::list<PythonTorque> in_python_;
    std::vector<TorqueTerm> sum_;
    py::object moments_;
    std::ptrdiff_t done_ = 0;
    std::vector<double> axes_, torque_;
    WholeBatch whole_{share, this};
    std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
    SplittingProblem problem_{};
    StepParts parts_{nullptr, 0};
    bool window_ = false, in_parts_ = false;
    std::pair<Doubles, Doubles> start_;
    /// m and attitude before step `start_step_`; null: they are in the state.
    View start_m_ = {}, start_attitude_ = {};
    std::ptrdiff_t start_step_ = 0;
    /// About a tenth of a second in the end.
    std::ptrdiff_t slice_steps_;
    /// m and attitude of a run without saves: after the last step, and for the next.
    std::array<Doubles, 2> now_, next_;
    std::vector<double> kept_;  ///< what steps change in place, before the last `advance`
    bool begun_ = false;        ///< whether `now_` is filled
    bool busy_ = false;         ///< in `advance`, which another thread or a torque may call
    Watch watch_;
};

}  // namespace polhode::bindings

#pragma once

/// The steps of an integration in parts: a step in which the torque jumps, and the way from one
/// time to another that begins or ends within a step.

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "levels.hpp"
#include "polhode/splitting/arguments.hpp"

namespace polhode::bindings {

/// One or more steps of a problem, each with its own start, end and length.
class StepParts {
  public:
    struct Part {
        double step, begin, end, h;
    };
    /// @param rows  the parts of all steps that have more than one, or other times, in their order
    StepParts(const Part* rows, std::ptrdiff_t count) : rows_(rows, rows + count) {}

    /// The number of the first step from `n` on that is done in parts; `last` if there is none.
    std::ptrdiff_t next(std::ptrdiff_t n, std::ptrdiff_t last) const {
        const auto row = first_row(n);
        return row == rows_.end() ? last : std::min(static_cast<std::ptrdiff_t>(row->step), last);
    }
    /// Calls visit(part) for the parts of step n.
    template <class Visit>
    void visit(const SplittingProblem& p, std::ptrdiff_t n, const Visit& visit) const {
        auto row = first_row(n);
        const auto at = static_cast<double>(n);
        if (row == rows_.end() || row->step != at) {
            return visit(Part{at, time(p, n), time(p, n + 1), p.h[n * p.h_stride]});
        }
        for (; row != rows_.end() && row->step == at; ++row) visit(*row);
    }

  private:
    static double time(const SplittingProblem& p, std::ptrdiff_t n) {
        return p.times != nullptr ? p.times[n] : p.t0 + static_cast<double>(n) * p.h[0];
    }
    std::vector<Part>::const_iterator first_row(std::ptrdiff_t n) const {
        return std::ranges::lower_bound(rows_, static_cast<double>(n), {}, &Part::step);
    }

    std::vector<Part> rows_;
};

/// A list of parts as the steps of a problem.
class StepList {
  public:
    void clear() {
        times_.clear();
        h_.clear();
    }
    void add(double begin, double end, double h) {
        if (times_.empty()) {
            times_.push_back(begin);
        } else if (times_.back() != begin) {  // across a jump between two steps
            times_.push_back(begin);
            h_.push_back(0.0);
        }
        times_.push_back(end);
        h_.push_back(h);
    }
    /// Part of a part: from `begin` to `end` as far as it reaches.
    void add(const StepParts::Part& part, double begin, double end) {
        const bool back = part.end < part.begin;
        const double from = back ? std::min(part.begin, begin) : std::max(part.begin, begin);
        const double to = back ? std::max(part.end, end) : std::min(part.end, end);
        if (back ? to >= from : to <= from) return;
        const bool whole = from == part.begin && to == part.end;
        add(from, to, whole ? part.h : to - from);
    }
    std::ptrdiff_t count() const { return std::ssize(h_); }
    /// The problem from its step `first` on, which is its first step or not.
    void put(SplittingProblem& p, std::ptrdiff_t first) const {
        p.h = h_.data() - first;
        p.h_stride = 1;
        p.times = times_.data() - first;
        p.first_step = first;
        p.n_steps = count();
    }

  private:
    std::vector<double> times_, h_;
};

/// Where bodies go: `begin` <= i < `end` from the time t in step `first` to `t_end` in step `last`.
/// With `count` > 0 in that many steps of equal length, else in the steps of the integration.
struct Way {
    std::ptrdiff_t begin, end;
    std::ptrdiff_t offset;  ///< of the rows of m and attitude, from those of the bodies
    std::ptrdiff_t first, last, count;
    double t, t_end;
};

/// Moves bodies along their ways, in place.
class Ways {
  public:
    Ways(const SplittingProblem& problem,
         const StepParts& parts,
         const std::vector<double*>& states,
         std::ptrdiff_t bodies)
        : problem_(problem),
          moved_(problem),
          parts_(parts),
          states_(states),
          nonfinite_(new bool[static_cast<std::size_t>(bodies)]),
          zeros_(static_cast<std::size_t>(zeros(problem))) {
        SplittingProblem& p = moved_;
        p.nonfinite_torque = nonfinite_.get();
        p.keeps_state = false;
        p.m_save_stride = p.attitude_save_stride = 0;
        if (p.work.data != nullptr) p.work = {zeros_.data(), 0, 1, 3};
        if (p.compensation.data != nullptr) p.compensation = {zeros_.data(), 0, 1, 3};
        if (p.torque_states > 0) p.torque_state = {zeros_.data(), 0, 1, 3};
    }
    template <class Run>
    void operator()(const Way& way, const Run& run) {
        list_.clear();
        const double h = (way.t_end - way.t) / static_cast<double>(way.count);
        double begin = way.t;
        for (std::ptrdiff_t k = 1; k <= way.count; ++k) {
            const double end = k == way.count ? way.t_end : way.t + static_cast<double>(k) * h;
            list_.add(begin, end, h);
            begin = end;
        }
        for (std::ptrdiff_t n = way.first; way.count == 0 && n <= way.last; ++n) {
            parts_.visit(problem_, n, [&](const StepParts::Part& part) {
                list_.add(part, way.t, way.t_end);
            });
        }
        if (list_.count() == 0) return;
        SplittingProblem& p = moved_;
        list_.put(p, 0);
        p.total_steps = p.save_every = p.n_steps;
        const std::ptrdiff_t core = p.matrix ? 9 : 4;
        p.m_saved = {states_[0] + 3 * way.offset, 3, 1, 3};
        p.attitude_saved = {states_[1] + core * way.offset, core, 1, 3};
        std::size_t next = 2;
        for (Companion& each : p.companions) {
            if (each.size == 0) continue;
            each.now = {states_[next++] + each.size * way.offset, each.size, 1, 3};
            each.saved = each.now;
            each.save_stride = 0;
        }
        p.m_from = p.m_saved;
        p.attitude_from = p.attitude_saved;
        run(p, way.begin, way.end);
    }

  private:
    static std::ptrdiff_t zeros(const SplittingProblem& p) {
        return std::max(3 + p.torque_states, p.direct != nullptr ? p.direct->columns : 0);
    }

    const SplittingProblem& problem_;
    SplittingProblem moved_;
    const StepParts& parts_;
    const std::vector<double*>& states_;  ///< m, attitude and the companions
    std::unique_ptr<bool[]> nonfinite_;
    std::vector<double> zeros_;
    StepList list_;
};

}  // namespace polhode::bindings

#pragma once

/// Kicks: m' = torque at fixed time and attitude.

#include <utility>

#include "polhode/splitting/torque_sum.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

template <class T>
class Kick {
  public:
    explicit Kick(Block<T>& block)
        : torque(block),
          block_(block),
          problem_(block.problem),
          f_(block.columns(3)),
          work_(block.columns(3)),
          total_(block.columns(3)) {
        if (const WholeBatch* whole = problem_.whole) {
            if (whole->torque != nullptr && torque.force().data != nullptr) {
                torque.force().data = whole->torque + 3 * f_.component;
            }
            f_.data = whole->torque != nullptr ? whole->torque : f_.data;
            is_current_ = whole->torque_is_current;
            time_ = whole->torque_time;
        }
        changed_[0] = {3, block_.m, f_, work_, total_};
        for (const auto& [kind, rate] : {std::pair{Companion::momentum, torque.force()},
                                         std::pair{Companion::state, torque.rate()}}) {
            const int size = problem_.companions[kind].size;
            if (size == 0) continue;
            changed_[kind] = {
                size, block_.companions[kind], rate, block_.columns(size), block_.columns(size)};
        }
    }

    TorqueSum<T> torque;

    /// The momenta between two kicks that were done together.
    const MutableView& between() const { return work_; }

    /// Whether a kick that ends a step and the one that begins the next can be done together.
    bool joins() const {
        const Stage &first = problem_.stages[0], &last = problem_.stages[problem_.stage_count - 1];
        const bool modified = first.modified != 0 || last.modified != 0;
        return !block_.compensated() && !block_.has_companions() && !torque.depends_on_m &&
               first.kind == Stage::kick && (!modified || torque.modifies_at_once());
    }
    /// The kick of a stage at time t, and the first one of a next step of length next[0], if given.
    /// @param saves  whether `between` is needed
    void operator()(
        const Stage& stage, double h, double t, const double* next = nullptr, bool saves = false) {
        const double s = stage.coefficient * h;
        if (!torque.turns) return kick(stage, h, t, next, saves);
        if (torque.terms() == 1) return torque.turn(s, t);
        torque.turn(s / 2, t);
        kick(stage, h, t, next, saves);
        torque.turn(s / 2, t);
    }
    /// The same, without turns of the bodies.
    void kick(const Stage& stage, double h, double t, const double* next, bool saves) {
        const double s = stage.coefficient * h;
        if (torque.exact_kick(s, t)) return push(s);
        if (torque.depends_on_m) return problem_.midpoint_kicks ? midpoint(s, t) : rk4(s, t);
        // Two kicks with no flow between them have the same torque.  So the last kick of a step and
        // the first of the next need only one evaluation.
        const bool current = is_current_ && (!torque.depends_on_t || t == time_);
        is_current_ = true;
        time_ = t;
        Kicks kicks{};
        const auto add = [&kicks](const Stage& x, double length) {
            kicks.factor[kicks.count] = x.coefficient * length;
            // Without W a step that is not finite must not ask for it.
            const double cube = x.modified != 0 ? length * length * length : 0.0;
            kicks.modified[kicks.count++] = x.modified * cube;
        };
        add(stage, h);
        if (next != nullptr) add(problem_.stages[0], *next);
        const MutableView between = saves ? work_ : MutableView{};
        const bool modifies = kicks.modified[0] != 0 || kicks.modified[1] != 0;
        if (!current && !block_.compensated() && (!modifies || torque.modifies_at_once())) {
            kicks.between = between;
            torque.evaluate(t, block_.m, f_, kicks);
            return push(s);
        }
        if (!current) torque.evaluate(t, block_.m, f_);
        for (int k = 0; k < kicks.count; ++k) {
            block_.add_to_m(kicks.factor[k], f_);
            if (kicks.modified[k] != 0) modified(kicks.modified[k], t);
            if (k == 0 && saves) batch::copy(block_.m, between, 3, block_.padded);
        }
        push(s);
    }
    /// After a change of the attitudes.
    void forget_torque() { is_current_ = false; }
    /// For the next call of the same batch.
    void store_state() const {
        if (WholeBatch* whole = problem_.whole) {
            whole->torque_is_current = is_current_ && whole->torque != nullptr;
            whole->torque_time = time_;
        }
    }

  private:
    /// p += s force.
    void push(double s) const {
        const Changed& p = changed_[Companion::momentum];
        if (p.size > 0) block_.add(p.now, s, p.rate, p.now, p.size);
    }
    /// m -= c h^3 W.
    void modified(double ch3, double t) {
        if (torque.modified(t, total_)) return block_.add_to_m(-ch3, total_);
        torque.derivative_along(f_, t);
        block_.add_each_to_m(-2 * ch3, [this](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> f = block_.vec3(f_, i), v = block_.vec3(torque.rotation, i);
            return torque::half_w(f, v, block_.vec3(torque.derivative, i));
        });
    }
    /// m' = f(t, m) over the time s: one step of the explicit midpoint rule, order 2.  The limit of
    /// this method and the next is where they are unstable: damping would make m grow.
    void midpoint(double s, double t) {
        torque.limit_linear_terms(s, t, 2.0);
        evaluate(t, false);
        add(false, s / 2, to_work);
        evaluate(t, true);
        add(false, s, to_state);
    }
    /// The same by the classical Runge-Kutta method, order 4.
    void rk4(double s, double t) {
        torque.limit_linear_terms(s, t, 2.78);
        for (int k = 0; k < 4; ++k) {
            evaluate(t, k > 0);
            const double weight = k == 0 || k == 3 ? s / 6 : s / 3;
            add(k > 0, weight, k == 3 ? to_state : to_total);
            if (k < 3) add(false, k == 2 ? s : s / 2, to_work);
        }
    }
    enum Target { to_state, to_work, to_total };
    /// What kicks change, (m, p, s), the rate of each, and memory for two others.
    struct Changed {
        int size;
        MutableView now, rate, work, total;
    };
    /// The rates at the state, or at `work`.
    void evaluate(double t, bool at_work) {
        const auto at = [at_work](const Changed& each) { return at_work ? each.work : each.now; };
        torque.at(at(changed_[1]), at(changed_[2]));
        torque.evaluate(t, at(changed_[0]), f_);
    }
    /// target = base + factor rate; the base is the state, or `total`.
    void add(bool from_total, double factor, Target target) const {
        for (const Changed& each : changed_) {
            const MutableView& base = from_total ? each.total : each.now;
            const MutableView& to = target == to_state  ? each.now
                                    : target == to_work ? each.work
                                                        : each.total;
            if (each.now.data != nullptr) block_.add(base, factor, each.rate, to, each.size);
        }
    }

    Block<T>& block_;
    const SplittingProblem& problem_;
    MutableView f_, work_, total_;
    Changed changed_[3] = {};  ///< of m, and by Companion::Kind
    bool is_current_ = false;  ///< whether f_ is the torque at these attitudes and `time_`
    double time_ = 0;
};

POLHODE_NAMESPACE_END

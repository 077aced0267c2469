#pragma once

/// @file
/// Splitting methods: free flows of any method and kicks of any torque, on blocks of bodies.
///
/// Method and torque are functions on blocks, never template arguments of each other.  A block of
/// bodies lies component by component in first-level cache; all steps between two saves run on it
/// before the next is loaded.  No body's result depends on the others of its block.

#include "polhode/batch.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/splitting/arguments.hpp"

POLHODE_NAMESPACE_BEGIN
namespace splitting {

namespace detail {

inline constexpr std::ptrdiff_t block_bodies = SplittingProblem::block_bodies;
/// From one column to the next: a cache line more than a block, so that no two columns lie a
/// multiple of 4096 bytes apart and a load never waits for a store to another column.
inline constexpr std::ptrdiff_t column = block_bodies + 8;

/// Numbers of its own that a method which takes the torque may have, and derivatives of the
/// momentum.
inline constexpr int most_columns = 96, most_derivatives = 5;

/// C numbers a body, component by component.
template <int C>
struct alignas(64) Columns {
    double data[C][column];

    View view() const { return {data[0], 1, column, 3 * column}; }
    MutableView view() { return {data[0], 1, column, 3 * column}; }
};

/// From one layout of C numbers a body to another.
template <int C>
void copy(const View& from,
          std::ptrdiff_t first,
          const MutableView& to,
          std::ptrdiff_t to_first,
          std::ptrdiff_t count) {
    for (int k = 0; k < C; ++k) {
        const double* source =
            from.data + first * from.body + batch::offset<C>(from.component, from.row, k);
        double* target = to.data + to_first * to.body + batch::offset<C>(to.component, to.row, k);
        for (std::ptrdiff_t i = 0; i < count; ++i) target[i * to.body] = source[i * from.body];
    }
}

/// result = base + factor x, vector by vector.
template <class T = batch_real>
void add_scaled(const View& base,
                double factor,
                const View& x,
                const MutableView& result,
                std::ptrdiff_t count) {
    const T s(factor);
    for (std::ptrdiff_t i = 0; i < count; i += lanes_v<T>) {
        const Vec3<T> b = batch::load_vec3<T>(base, i, lanes_v<T>);
        const Vec3<T> v = batch::load_vec3<T>(x, i, lanes_v<T>);
        batch::store_vec3<T>(
            result, i, lanes_v<T>, {fma(s, v.x, b.x), fma(s, v.y, b.y), fma(s, v.z, b.z)});
    }
}

/// One block on its way through time.
template <class T = batch_real>
class Block {
  public:
    Block(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end)
        : problem_(problem),
          begin_(begin),
          count_(end - begin) {
        // Whole packs: what is past the last body repeats it.
        padded_ = (count_ + lanes_v<T> - 1) / lanes_v<T> * lanes_v<T>;
        copy<3>(problem.m, begin, m_.view(), 0, count_);
        pad<3>(m_);
        compensated_ = problem.lost.data != nullptr;
        if (compensated_) {
            copy<3>(problem.lost, begin, lost_.view(), 0, count_);
            pad<3>(lost_);
        }
        if (problem.matrix) {
            copy<9>(problem.attitude, begin, attitude_.view(), 0, count_);
            pad<9>(attitude_);
        } else {
            copy<4>(problem.attitude, begin, attitude_.view(), 0, count_);
            pad<4>(attitude_);
        }
        // The constants of the bodies, once for all flows.
        const bool shared = problem.inertia.body == 0;
        for (std::ptrdiff_t i = 0; i < (shared ? 1 : padded_); i += lanes_v<T>) {
            const std::ptrdiff_t left = shared ? 1 : count_ - i;
            const int count = left < lanes_v<T> ? static_cast<int>(left) : lanes_v<T>;
            const std::ptrdiff_t from = shared ? 0 : begin + i;
            bodies_[i / lanes_v<T>] =
                Inertia<T>::of(batch::load_vec3<T>(problem.inertia, from, count));
        }
        if (problem.torqued != nullptr) {
            for (int c = 0; c < problem.torqued->columns; ++c) {
                const double* from = problem.work.data + c * problem.work.component;
                for (std::ptrdiff_t i = 0; i < padded_; ++i) {
                    const std::ptrdiff_t at = begin + (i < count_ ? i : count_ - 1);
                    own_[c][i] = from[at * problem.work.body];
                }
            }
        }
        for (int k = 0; k < problem.stage_count; ++k) {
            if (problem.stages[k].kind == Stage::flow) last_flow_ = k;
        }
        for (int i = 0; i < problem.term_count; ++i) {
            depends_on_t_ = depends_on_t_ || problem.terms[i].model->info->depends_on_t;
            depends_on_m_ = depends_on_m_ || problem.terms[i].model->info->depends_on_m;
        }
    }

    void run() {
        const SplittingProblem& p = problem_;
        const std::ptrdiff_t end = p.first_step + p.n_steps;
        if (p.first_step == 0 && p.n_steps == 0) {
            make_unit();
            save(0);
        }
        for (std::ptrdiff_t n = p.first_step; n < end; ++n) {
            const double h = p.h[n * p.h_stride];
            const double t = p.times != nullptr ? p.times[n] : p.t0 + static_cast<double>(n) * h;
            const double t_end =
                p.times != nullptr ? p.times[n + 1] : p.t0 + static_cast<double>(n + 1) * h;
            double elapsed = 0;
            double now = t;
            if (compensated_) gain_ = Columns<1>{};
            if (p.torqued != nullptr) torqued_step(n, h, t, t_end);
            for (int k = 0; k < p.stage_count; ++k) {
                const Stage& stage = p.stages[k];
                if (stage.kind == Stage::flow) {
                    flow(stage.coefficient * h);
                    elapsed += stage.coefficient;
                    // The end of a step is the start of the next, to the last bit.
                    now = k == last_flow_ ? t_end : t + elapsed * h;
                } else if (p.term_count > 0) {
                    kick(stage, h, now);
                }
            }
            if (compensated_) settle();
            if (n + 1 == p.total_steps) {
                save((n + p.save_every) / p.save_every);
            } else if ((n + 1) % p.save_every == 0) {
                save((n + 1) / p.save_every);
            }
        }
        write(p.m, p.attitude, begin_);
        if (compensated_) copy<3>(lost_.view(), 0, p.lost, begin_, count_);
        if (p.torqued != nullptr) {
            for (int c = 0; c < p.torqued->columns; ++c) {
                double* to = p.work.data + c * p.work.component;
                for (std::ptrdiff_t i = 0; i < count_; ++i) {
                    to[(begin_ + i) * p.work.body] = own_[c][i];
                }
            }
        }
    }

  private:
    template <int C, class Array>
    void pad(Array& array) {
        for (int k = 0; k < C; ++k) {
            for (std::ptrdiff_t i = count_; i < padded_; ++i) {
                array.data[k][i] = array.data[k][count_ - 1];
            }
        }
    }

    /// As every flow begins; kicks come before the first.
    void make_unit() {
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            T h(0.0);
            int findings = all_valid;
            auto attitude =
                batch::Attitude<T>::load(attitude_.view(), problem_.matrix, i, lanes_v<T>);
            attitude.make_unit(h, findings);
            attitude.store(attitude_.view(), i, lanes_v<T>);
        }
    }

    void flow(double h) {
        StepArguments a{};
        a.inertia = problem_.inertia;
        a.inertia.data += begin_ * a.inertia.body;
        a.bodies = bodies_;
        a.m = m_.view();
        a.attitude = attitude_.view();
        a.h = {&h, 0, 0, 0};
        a.m_out = m_.view();
        a.attitude_out = attitude_.view();
        a.n_steps = 1;
        a.matrix = problem_.matrix;
        a.options = problem_.options;
        a.energy_correction = problem_.energy_correction;
        if (compensated_) before_ = m_;
        problem_.flow(a, 0, padded_);
        if (compensated_) note_gain();
        torque_is_current_ = false;
    }

    TorqueArguments arguments(double t, const View& m, const MutableView& out) const {
        TorqueArguments a{};
        a.t = t;
        a.m = m;
        a.attitude = attitude_.view();
        a.matrix = problem_.matrix;
        a.out = out;
        return a;
    }
    void select_term(TorqueArguments& a, int i) const {
        a.parameters = problem_.terms[i].parameters;
        a.parameters.data += begin_ * a.parameters.body;
        a.extra = problem_.terms[i].extra;
        a.first = begin_;
        a.bodies = count_;
        a.add = i > 0;
    }
    /// The sum of the terms.
    void torque(double t, const View& m, const MutableView& out) const {
        TorqueArguments a = arguments(t, m, out);
        for (int i = 0; i < problem_.term_count; ++i) {
            select_term(a, i);
            problem_.terms[i].model->torque(a, 0, padded_);
        }
    }

    void kick(const Stage& stage, double h, double t) {
        if (problem_.term_count == 1 && problem_.terms[0].model->kick != nullptr) {
            TorqueArguments a = arguments(t, m_.view(), m_.view());
            select_term(a, 0);
            a.duration = stage.coefficient * h;
            problem_.terms[0].model->kick(a, 0, padded_);
            return;
        }
        if (depends_on_m_) {
            kick_rk4(stage.coefficient * h, t);
            return;
        }
        // Two kicks with no flow between them see the same torque: the last of a step and the first
        // of the next cost one.
        if (!torque_is_current_ || (depends_on_t_ && t != torque_time_)) {
            torque(t, m_.view(), torque_.view());
            torque_is_current_ = true;
            torque_time_ = t;
        }
        add_to_m(stage.coefficient * h, torque_.view());
        if (stage.modified != 0) modified_kick(stage.modified * (h * h * h), t);
    }

    /// m -= c h^3 W, W = 2 (f x v - Df[Q hat(v)]), v = I^-1 f the rotation that f would start.
    void modified_kick(double ch3, double t) {
        derivative_along(torque_.view(), t);
        add_each_to_m(-2 * ch3, [this](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> f = batch::load_vec3<T>(torque_.view(), i, lanes_v<T>);
            const Vec3<T> v = batch::load_vec3<T>(work_.view(), i, lanes_v<T>);
            const Vec3<T> d = batch::load_vec3<T>(derivative_.view(), i, lanes_v<T>);
            return cross(f, v) - d;
        });
    }

    /// Df[Q hat(v)], v = I^-1 x: `work_` = v, `derivative_` = the rate of the torque, seen from the
    /// body, while it turns with v.
    void derivative_along(const View& x, double t) {
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            batch::store_vec3<T>(work_.view(),
                                 i,
                                 lanes_v<T>,
                                 times(body(i).inverse, batch::load_vec3<T>(x, i, lanes_v<T>)));
        }
        TorqueArguments a = arguments(t, m_.view(), derivative_.view());
        a.rotation = work_.view();
        for (int i = 0; i < problem_.term_count; ++i) {
            select_term(a, i);
            problem_.terms[i].model->derivative(a, 0, padded_);
        }
    }

    /// One step of a method that takes the torque itself.
    void torqued_step(std::ptrdiff_t n, double h, double t, double t_end) {
        const TorquedMethod& method = *problem_.torqued;
        TorquedStage made[TorquedMethod::most_stages];
        const TorquedStages list = method.stages(n, problem_.start, problem_.options, made);
        TorquedArguments a{};
        a.inertia = problem_.inertia;
        a.inertia.data += begin_ * a.inertia.body;
        a.bodies = bodies_;
        a.m = m_.view();
        a.attitude = attitude_.view();
        a.matrix = problem_.matrix;
        a.torque = derivatives_[0].view();
        a.torque.component = column;
        a.work = {own_[0], 1, column, 3 * column};
        a.h = h;
        a.step = n;
        a.options = problem_.options;
        a.energy_correction = problem_.energy_correction;
        a.data = method.data_with(problem_.options);
        while (a.stage < list.count) {
            const TorquedStage& stage = list.stages[a.stage];
            const double time = stage.time == 1.0 ? t_end : t + stage.time * h;
            if (stage.derivatives > 0) momentum_derivatives(stage.derivatives, time);
            a.stage += stage.run(a, 0, padded_) ? 1 : -stage.back;
        }
        torque_is_current_ = false;
    }
    /// L' and, where wanted, L'' = f' + omega x f, seen from the body; models have no more.
    void momentum_derivatives(int wanted, double t) {
        const MutableView f = derivatives_[0].view();
        if (problem_.term_count == 0) {
            for (int k = 0; k < wanted; ++k) derivatives_[k] = Columns<3>{};
            return;
        }
        torque(t, m_.view(), f);
        if (wanted < 2) return;
        derivative_along(m_.view(), t);
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            const Vec3<T> omega = batch::load_vec3<T>(work_.view(), i, lanes_v<T>);
            const Vec3<T> force = batch::load_vec3<T>(f, i, lanes_v<T>);
            const Vec3<T> d = batch::load_vec3<T>(derivative_.view(), i, lanes_v<T>);
            batch::store_vec3<T>(derivatives_[1].view(), i, lanes_v<T>, d + cross(omega, force));
        }
    }

    // Compensation.  Each flow and each kick rounds m, and the energy walks away from that of the
    // scheme by chance.  With m goes `lost_`, what rounding took from it, below half an ulp: the
    // momentum is m + lost.  A kick adds to both; a flow moves m alone, and what it changes of the
    // energy, which it should keep, is set right at the end of the step.

    /// m += factor x.
    void add_to_m(double factor, const View& x) {
        add_each_to_m(factor, [&x](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            return batch::load_vec3<T>(x, i, lanes_v<T>);
        });
    }
    /// The same with a function that gives x of the bodies from i on.
    template <class Vector>
    void add_each_to_m(double factor, const Vector& x) {
        const T s(factor);
        if (!compensated_) {
            for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
                const Vec3<T> m = batch::load_vec3<T>(m_.view(), i, lanes_v<T>);
                batch::store_vec3<T>(m_.view(), i, lanes_v<T>, sum(m, s, x(i)));
            }
            return;
        }
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            const Vec3<T> m = batch::load_vec3<T>(m_.view(), i, lanes_v<T>);
            const Vec3<T> lost = batch::load_vec3<T>(lost_.view(), i, lanes_v<T>);
            store_with_lost(i, m, sum(lost, s, x(i)));
        }
    }
    /// m + lost of the bodies from i on.
    void store_with_lost(std::ptrdiff_t i, const Vec3<T>& m, const Vec3<T>& lost) {
        const Vec3<T> whole = m + lost;
        batch::store_vec3<T>(m_.view(), i, lanes_v<T>, whole);
        batch::store_vec3<T>(lost_.view(), i, lanes_v<T>, lost - (whole - m));
    }
    /// What the flow from `before_` to `m_` gave to twice the energy of m + lost, by differences:
    /// (m' - m) . I^-1 (m' + m + 2 lost).
    void note_gain() {
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            const Vec3<T>& inverse = body(i).inverse;
            const Vec3<T> old = batch::load_vec3<T>(before_.view(), i, lanes_v<T>);
            const Vec3<T> m = batch::load_vec3<T>(m_.view(), i, lanes_v<T>);
            const Vec3<T> lost = batch::load_vec3<T>(lost_.view(), i, lanes_v<T>);
            const Vec3<T> change = m - old;
            const Vec3<T> w = times(inverse, change);
            const T gain[1] = {batch::load_scalar<T>(gain_.view(), i, lanes_v<T>) +
                               (dot(w, m + old) + 2.0 * dot(w, lost))};
            batch::store(gain_.view(), i, lanes_v<T>, gain);
        }
    }
    /// The smallest change of the momentum that undoes `gain_`: along omega.
    void settle() {
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            const Vec3<T>& inverse = body(i).inverse;
            const Vec3<T> m = batch::load_vec3<T>(m_.view(), i, lanes_v<T>);
            const Vec3<T> lost = batch::load_vec3<T>(lost_.view(), i, lanes_v<T>);
            const Vec3<T> w = times(inverse, m);
            const T gain = batch::load_scalar<T>(gain_.view(), i, lanes_v<T>);
            const T factor = -0.5 * gain / dot(w, w);
            // More than rounding is none: m at rest, or so small that products of it underflow.
            const T relative = abs(factor) * max(max(inverse.x, inverse.y), inverse.z);
            const T f = select(relative <= 0x1p-40, factor, T(0.0));
            store_with_lost(i, m, sum(lost, f, w));
        }
    }
    const Inertia<T>& body(std::ptrdiff_t i) const {
        return bodies_[problem_.inertia.body == 0 ? 0 : i / lanes_v<T>];
    }

    /// m' = f(t, m) for the time s at a standing attitude: one classical Runge-Kutta step.
    void kick_rk4(double s, double t) {
        const MutableView m = m_.view(), k = torque_.view(), stage = work_.view();
        const MutableView sum = derivative_.view();
        torque(t, m, k);
        add_scaled<T>(m, s / 6, k, sum, padded_);
        add_scaled<T>(m, s / 2, k, stage, padded_);
        torque(t, stage, k);
        add_scaled<T>(sum, s / 3, k, sum, padded_);
        add_scaled<T>(m, s / 2, k, stage, padded_);
        torque(t, stage, k);
        add_scaled<T>(sum, s / 3, k, sum, padded_);
        add_scaled<T>(m, s, k, stage, padded_);
        torque(t, stage, k);
        add_scaled<T>(sum, s / 6, k, m, padded_);
    }

    void save(std::ptrdiff_t row) const {
        MutableView m = problem_.m_saved, attitude = problem_.attitude_saved;
        if (m.data == nullptr) return;
        m.data += row * problem_.m_save_stride;
        attitude.data += row * problem_.attitude_save_stride;
        write(m, attitude, begin_);
    }
    void write(const MutableView& m, const MutableView& attitude, std::ptrdiff_t first) const {
        copy<3>(m_.view(), 0, m, first, count_);
        if (problem_.matrix) {
            copy<9>(attitude_.view(), 0, attitude, first, count_);
        } else {
            copy<4>(attitude_.view(), 0, attitude, first, count_);
        }
    }

    const SplittingProblem& problem_;
    std::ptrdiff_t begin_, count_, padded_;
    int last_flow_ = -1;
    bool depends_on_t_ = false, depends_on_m_ = false;
    bool compensated_ = false;
    bool torque_is_current_ = false;
    double torque_time_ = 0;
    Columns<3> m_, before_, lost_, torque_, work_, derivative_;
    Columns<1> gain_;
    Columns<3> derivatives_[most_derivatives];
    alignas(64) double own_[most_columns][column];
    Columns<9> attitude_;
    Inertia<T> bodies_[block_bodies / lanes_v<T>];
};

}  // namespace detail

/// Runs bodies begin <= i < end, begin a multiple of `block_bodies`, through all steps of
/// `problem`.
inline void run(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; i += detail::block_bodies) {
        const std::ptrdiff_t next = i + detail::block_bodies;
        detail::Block<>(problem, i, next < end ? next : end).run();
    }
}

}  // namespace splitting
POLHODE_NAMESPACE_END

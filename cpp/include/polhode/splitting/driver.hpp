#pragma once

/// @file
/// Splitting methods: free flows of any method and kicks of any torque, on blocks of bodies.
///
/// Method and torque are functions on blocks, never template arguments of each other.  A block of
/// bodies lies component by component in first-level cache; all steps between two saves run on it
/// before the next is loaded.  If the torque on a body may depend on other bodies, the whole batch
/// is one block.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/columns.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/inertia.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/splitting/arguments.hpp"
#include "polhode/torque/kicks.hpp"

POLHODE_NAMESPACE_BEGIN
namespace splitting {

namespace detail {

/// The memory of a block of at most `bodies` bodies.
template <class T = batch_real>
struct Scratch {
    /// From one column to the next: whole cache lines, and one more.  Then the distance of two
    /// columns is never a multiple of 4096 bytes, and a load never waits for a store to another
    /// column.
    std::ptrdiff_t length;
    std::unique_ptr<double[]> data;
    std::unique_ptr<Inertia<T>[]> bodies;

    Scratch(const SplittingProblem& problem, std::ptrdiff_t count)
        : length((count + 63) / 64 * 64 + 8) {
        const int own = problem.direct != nullptr ? problem.direct->columns : 0;
        const auto columns = static_cast<std::size_t>(WholeBatch::numbers + 3 + 3 + 9 + own);
        data.reset(new double[columns * static_cast<std::size_t>(length)]);
        bodies.reset(new Inertia<T>[static_cast<std::size_t>(length / lanes_v<T>)]);
    }
};

/// The integration of one block.
///
/// @tparam Whole  the block is the whole batch and works in the arrays of the problem, body by
/// body.
///                Other blocks are copied to a `Scratch`, component by component
template <bool Whole, class T = batch_real>
class Block {
  public:
    Block(const SplittingProblem& problem,
          std::ptrdiff_t begin,
          std::ptrdiff_t end,
          double* numbers,
          Inertia<T>* bodies,
          std::ptrdiff_t length)
        : problem_(problem),
          begin_(begin),
          count_(end - begin),
          padded_(count_),
          next_(numbers),
          length_(length) {
        torque_ = vector(), work_ = vector(), derivative_ = vector(), before_ = vector();
        gain_ = columns(1);
        derivatives_ = columns(3 * WholeBatch::most_derivatives);
        compensated_ = problem.lost.data != nullptr;
        const bool shared = problem.inertia.body == 0;
        if constexpr (Whole) {
            m_ = problem.m, attitude_ = problem.attitude;
            lost_ = problem.lost, own_ = problem.work;
            torque_is_current_ = problem.whole->torque_is_current;
            torque_time_ = problem.whole->torque_time;
            bodies_ = nullptr;
            if (shared) {
                shared_ = Inertia<T>::of(batch::load_vec3<T>(problem.inertia, 0, 1));
                bodies_ = &shared_;
            }
        } else {
            m_ = columns(3), lost_ = columns(3), attitude_ = columns(9);
            if (problem.direct != nullptr) own_ = columns(problem.direct->columns);
            // Whole packs: lanes after the last body repeat it.
            padded_ = (count_ + lanes_v<T> - 1) / lanes_v<T> * lanes_v<T>;
            const auto take = [this](const View& from, const MutableView& to, int components) {
                batch::copy(from, to, components, count_);
                for (int k = 0; k < components; ++k) {
                    double* x = to.data + k * length_;
                    for (std::ptrdiff_t i = count_; i < padded_; ++i) x[i] = x[count_ - 1];
                }
            };
            for_each_part(problem.m_from, problem.attitude_from, take);
            // The constants of the bodies, computed once for all flows.
            for (std::ptrdiff_t i = 0; i < (shared ? 1 : padded_); i += lanes_v<T>) {
                const std::ptrdiff_t left = shared ? 1 : count_ - i;
                const int count = left < lanes_v<T> ? static_cast<int>(left) : lanes_v<T>;
                const std::ptrdiff_t from = shared ? 0 : begin + i;
                bodies[i / lanes_v<T>] =
                    Inertia<T>::of(batch::load_vec3<T>(problem.inertia, from, count));
            }
            bodies_ = bodies;
        }
        flow_ = flow_arguments();
        next_save_ =
            problem.first_step - problem.first_step % problem.save_every + problem.save_every;
        asked_ = arguments(0, m_, torque_);
        asked_.kicks.m = m_;
        asked_.kicks.lost = problem.by_torque + begin_;
        if (problem.term_count > 0) select_term(asked_, 0);
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
            save(0, m_);
        }
        // Whether the first kick of a step has been done with the last of the one before.
        bool joined = false;
        for (std::ptrdiff_t n = p.first_step; n < end; ++n) {
            const double h = p.h[n * p.h_stride];
            const double t = p.times != nullptr ? p.times[n] : p.t0 + static_cast<double>(n) * h;
            const double t_end =
                p.times != nullptr ? p.times[n + 1] : p.t0 + static_cast<double>(n + 1) * h;
            double elapsed = 0;
            double now = t;
            if (compensated_) fill(gain_, 1, 0.0);
            if (p.direct != nullptr) direct_step(n, h, t, t_end);
            int k = joined ? 1 : 0;
            joined = false;
            for (; k < p.stage_count; ++k) {
                const Stage& stage = p.stages[k];
                if (stage.kind == Stage::flow) {
                    flow(stage.coefficient * h);
                    elapsed += stage.coefficient;
                    // The end of a step is the start of the next, bit for bit.
                    now = k == last_flow_ ? t_end : t + elapsed * h;
                } else if (p.term_count > 0) {
                    Kicks& kicks = asked_.kicks;
                    kicks.factor[0] = stage.coefficient * h;
                    kicks.between.data = nullptr;
                    joined = k + 1 == p.stage_count && joins(n, end);
                    if (joined) {
                        kicks.factor[1] = p.stages[0].coefficient * p.h[(n + 1) * p.h_stride];
                        if (n + 1 == next_save_) kicks.between = work_;
                    }
                    kick(stage, h, now, joined ? 2 : 1);
                }
            }
            if (compensated_) settle();
            if (n + 1 == p.total_steps) {
                save((n + p.save_every) / p.save_every, m_);
            } else if (n + 1 == next_save_) {
                next_save_ += p.save_every;
                save((n + 1) / p.save_every, joined ? work_ : m_);
            }
        }
        if constexpr (Whole) {
            p.whole->torque_is_current = torque_is_current_;
            p.whole->torque_time = torque_time_;
        } else {
            const auto give_back = [this](const MutableView& to, const View& from, int components) {
                batch::copy(from, to, components, count_);
            };
            if (p.keeps_state) for_each_part(p.m, p.attitude, give_back);
        }
    }

  private:
    // The arrays and their layouts.

    MutableView columns(int count) {
        double* first = next_;
        next_ += count * length_;
        return {first, 1, length_, 3 * length_};
    }
    /// One vector per body, with the layout of the state.
    MutableView vector() {
        MutableView v = columns(3);
        if (Whole) v.body = 3, v.component = 1, v.row = 3;
        return v;
    }
    void fill(const MutableView& v, int components, double value) {
        for (std::ptrdiff_t i = 0; i < components * length_; ++i) v.data[i] = value;
    }
    /// Calls visit(arrays of the problem from this block on, those of the block, components) for
    /// all data that are stored from step to step.
    template <class AnyView, class Visit>
    void for_each_part(const AnyView& m, const AnyView& attitude, const Visit& visit) {
        const auto part = [&](auto outside, const MutableView& inside, int components) {
            outside.data += begin_ * outside.body;
            visit(outside, inside, components);
        };
        part(m, m_, 3);
        part(attitude, attitude_, problem_.matrix ? 9 : 4);
        if (compensated_) part(problem_.lost, lost_, 3);
        if (problem_.direct != nullptr) part(problem_.work, own_, problem_.direct->columns);
    }

    /// A view of an array of the block.
    template <class AnyView>
    POLHODE_INLINE static AnyView laid_out(AnyView v) {
        if constexpr (Whole) return v;
        return batch::columns(v);
    }
    POLHODE_INLINE static Vec3<T> vec3(const View& v, std::ptrdiff_t i, int n) {
        return batch::load_vec3<T>(laid_out(v), i, n);
    }
    POLHODE_INLINE static void store(const MutableView& v,
                                     std::ptrdiff_t i,
                                     int n,
                                     const Vec3<T>& x) {
        batch::store_vec3(laid_out(v), i, n, x);
    }

    /// Calls visit(first body, number of bodies) for each pack.
    template <class Visit>
    POLHODE_INLINE void for_each_pack(const Visit& visit) const {
        for (std::ptrdiff_t i = 0; i < padded_; i += lanes_v<T>) {
            if constexpr (Whole) {
                const std::ptrdiff_t left = padded_ - i;
                visit(i, left < lanes_v<T> ? static_cast<int>(left) : lanes_v<T>);
            } else {
                visit(i, lanes_v<T>);
            }
        }
    }
    POLHODE_INLINE Vec3<T> inverse_inertia(std::ptrdiff_t i, int n) const {
        if (problem_.inertia.body == 0) return bodies_[0].inverse;
        if constexpr (Whole) {
            return Inertia<T>::of(batch::load_vec3<T>(problem_.inertia, i, n)).inverse;
        } else {
            return bodies_[i / lanes_v<T>].inverse;
        }
    }

    /// work(begin, end) of all bodies of the block.
    template <class Work>
    void share(const Work& work) {
        if (const WholeBatch* whole = problem_.whole) {
            whole->share(
                whole->self,
                padded_,
                [](const void* x, std::ptrdiff_t begin, std::ptrdiff_t end) {
                    (*static_cast<const Work*>(x))(begin, end);
                },
                &work);
        } else {
            work(0, padded_);
        }
    }

    // In the arrays of the problem, no fused multiply-add: the results stay bit for bit those of
    // NumPy's sums, with two roundings per product.

    /// a + s b.
    POLHODE_INLINE static Vec3<T> plus(const Vec3<T>& a, const T& s, const Vec3<T>& b) {
        if constexpr (Whole) return a + s * b;
        return sum(a, s, b);
    }
    POLHODE_INLINE static T inner(const Vec3<T>& a, const Vec3<T>& b) {
        if constexpr (Whole) return a.x * b.x + a.y * b.y + a.z * b.z;
        return dot(a, b);
    }

    /// The same normalisation as at the start of every flow, because kicks come before the first
    /// flow.
    void make_unit() {
        for_each_pack([this](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            T h(0.0);
            int findings = all_valid;
            auto attitude = batch::Attitude<T>::load(laid_out(attitude_), problem_.matrix, i, n);
            attitude.make_unit(h, findings);
            attitude.store(laid_out(attitude_), i, n);
        });
    }

    StepArguments flow_arguments() const {
        StepArguments a{};
        a.inertia = problem_.inertia;
        a.inertia.data += begin_ * a.inertia.body;
        a.bodies = bodies_;
        a.m = m_;
        a.attitude = attitude_;
        a.m_out = m_;
        a.attitude_out = attitude_;
        a.n_steps = 1;
        a.matrix = problem_.matrix;
        a.options = problem_.options;
        a.energy_correction = problem_.energy_correction;
        return a;
    }
    void flow(double h) {
        flow_.h = {&h, 0, 0, 0};
        if (compensated_) batch::copy(m_, before_, 3, padded_);
        share([&](std::ptrdiff_t begin, std::ptrdiff_t end) { problem_.flow(flow_, begin, end); });
        if (compensated_) note_gain();
        torque_is_current_ = false;
    }

    TorqueArguments arguments(double t, const View& m, const MutableView& out) const {
        TorqueArguments a{};
        a.t = t;
        a.m = m;
        a.attitude = attitude_;
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
    }
    /// The sum of the terms, of all or of those whose momentum is not given, and kicks by it.
    void torque(double t, const View& m, const MutableView& out, bool all = true, int kicks = 0) {
        TorqueArguments& a = asked_;
        a.t = t;
        a.m = m;
        a.out = out;
        a.add = false;
        for (int i = 0; i < problem_.term_count; ++i) {
            const TorqueModel& model = *problem_.terms[i].model;
            if (!all && model.given != nullptr) continue;
            if (problem_.term_count > 1) select_term(a, i);
            a.kicks.count = i + 1 == problem_.term_count ? kicks : 0;
            model.torque(a, 0, padded_);
            a.add = true;
        }
        if (a.add && kicks == 0) note_lost(m, out);
    }
    /// Marks the bodies whose vector the torque changed from `before`, which is finite, to `after`,
    /// which is not finite.
    void note_lost(const View& before, const View& after) const {
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> v = vec3(after, i, n);
            if (!any(!is_finite(v.x + v.y + v.z))) return;
            const std::ptrdiff_t end = i + n < count_ ? i + n : count_;
            torque::mark_lost(problem_.by_torque + begin_, i, end, before, after);
        });
    }

    /// Whether a kick that ends step n is followed by the kick that begins the next, with no more
    /// than a save between them.
    bool joins(std::ptrdiff_t n, std::ptrdiff_t end) const {
        const SplittingProblem& p = problem_;
        const Stage &first = p.stages[0], &last = p.stages[p.stage_count - 1];
        return !compensated_ && !depends_on_m_ && n + 1 < end && first.kind == Stage::kick &&
               first.modified == 0 && last.modified == 0;
    }
    /// @param count  1, or 2 with the kick after it; their factors are in `asked_`
    void kick(const Stage& stage, double h, double t, int count) {
        const Kicks& kicks = asked_.kicks;
        if (problem_.term_count == 1 && problem_.terms[0].model->kick != nullptr) {
            TorqueArguments a = arguments(t, m_, m_);
            select_term(a, 0);
            a.duration = kicks.factor[0];
            batch::copy(m_, work_, 3, padded_);
            problem_.terms[0].model->kick(a, 0, padded_);
            note_lost(work_, m_);
            return;
        }
        if (depends_on_m_) {
            kick_rk4(kicks.factor[0], t);
            return;
        }
        // Two kicks with no flow between them have the same torque.  So the last kick of a step and
        // the first of the next need only one evaluation.
        const bool current = torque_is_current_ && (!depends_on_t_ || t == torque_time_);
        torque_is_current_ = true;
        torque_time_ = t;
        if (!Whole && !compensated_ && !current) {
            torque(t, m_, torque_, true, count);
        } else {
            if (!current) torque(t, m_, torque_);
            add_to_m(kicks.factor[0], torque_);
            if (kicks.between.data != nullptr) batch::copy(m_, kicks.between, 3, padded_);
            if (count > 1) add_to_m(kicks.factor[1], torque_);
        }
        if (stage.modified != 0) {
            const double cube = Whole ? std::pow(h, 3.0) : h * h * h;
            modified_kick(stage.modified * cube, t);
        }
    }

    /// m -= c h^3 W, W = 2 (f x v - Df[Q hat(v)]), v = I^-1 f is the angular acceleration that f
    /// causes.
    void modified_kick(double ch3, double t) {
        if (const TorqueFunction modified = problem_.terms[0].model->modified) {
            TorqueArguments a = arguments(t, m_, derivative_);
            select_term(a, 0);
            a.order = -1;
            modified(a, 0, padded_);
            add_to_m(-ch3, derivative_);
            return;
        }
        derivative_along(torque_, t);
        add_each_to_m(-2 * ch3, [this](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> f = vec3(torque_, i, n);
            const Vec3<T> v = vec3(work_, i, n);
            const Vec3<T> d = vec3(derivative_, i, n);
            return cross(f, v) - d;
        });
    }

    /// Df[Q hat(v)], v = I^-1 x: `work_` = v, `derivative_` = the rate of the torque in the body
    /// frame while the body turns at v, for terms that have one.
    void derivative_along(const View& x, double t) {
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> v = times(inverse_inertia(i, n), vec3(x, i, n));
            store(work_, i, n, v);
        });
        TorqueArguments a = arguments(t, m_, derivative_);
        a.rotation = work_;
        for (int i = 0; i < problem_.term_count; ++i) {
            const TorqueFunction derivative = problem_.terms[i].model->derivative;
            if (derivative == nullptr) continue;
            select_term(a, i);
            derivative(a, 0, padded_);
            a.add = true;
        }
    }

    /// One step of a direct integrator.
    void direct_step(std::ptrdiff_t n, double h, double t, double t_end) {
        const DirectMethod& method = *problem_.direct;
        DirectStage made[DirectMethod::most_stages];
        const DirectStages list = method.stages(n, problem_.options, made);
        DirectArguments a{};
        a.inertia = problem_.inertia;
        a.inertia.data += begin_ * a.inertia.body;
        a.bodies = bodies_;
        a.m = m_;
        a.attitude = attitude_;
        a.matrix = problem_.matrix;
        a.torque = derivatives_;
        a.work = own_;
        a.h = h;
        a.step = n;
        a.options = problem_.options;
        a.energy_correction = problem_.energy_correction;
        while (a.stage < list.count) {
            const DirectStage& stage = list.stages[a.stage];
            const double time = stage.time == 1.0 ? t_end : t + stage.time * h;
            if (stage.derivatives > 0) {
                take_given_momentum(time);
                momentum_derivatives(stage.derivatives, time);
            }
            std::atomic<bool> done = true;
            share([&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                if (!stage.run(a, begin, end)) done = false;
            });
            a.stage += done ? 1 : -stage.back;
        }
        take_given_momentum(t_end);
        torque_is_current_ = false;
    }
    /// Sets m at time t from the given momentum in space.
    void take_given_momentum(double t) const {
        if (problem_.term_count != 1) return;
        if (const TorqueFunction given = problem_.terms[0].model->given) {
            TorqueArguments a = arguments(t, m_, m_);
            select_term(a, 0);
            a.order = 0;
            given(a, 0, padded_);
        }
    }
    /// L' and, where needed, L'' = f' + omega x f, in the body frame.  Models have no higher
    /// derivatives; terms whose momentum is given have them.
    void momentum_derivatives(int wanted, double t) {
        int given_terms = 0;
        for (int i = 0; i < problem_.term_count; ++i) {
            if (problem_.terms[i].model->given != nullptr) ++given_terms;
        }
        const int models = problem_.term_count - given_terms;
        torque(t, m_, derivatives_);
        const int set = problem_.term_count > 0 ? 1 : 0;
        if (given_terms > 0 || models == 0) fill(momentum_derivative(set), 3 * (wanted - set), 0.0);
        if (wanted < 2) return;
        for (int i = 0; i < problem_.term_count && given_terms > 0; ++i) {
            const TorqueFunction given = problem_.terms[i].model->given;
            if (given == nullptr) continue;
            TorqueArguments a = arguments(t, m_, {});
            select_term(a, i);
            a.add = true;
            for (a.order = 2; a.order <= wanted; ++a.order) {
                a.out = momentum_derivative(a.order - 1);
                given(a, 0, padded_);
            }
        }
        if (models == 0) return;
        if (given_terms > 0) torque(t, m_, torque_, false);
        const MutableView force = given_terms > 0 ? torque_ : derivatives_,
                          to = momentum_derivative(1);
        derivative_along(m_, t);
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> omega = vec3(work_, i, n);
            const Vec3<T> f = vec3(force, i, n);
            const Vec3<T> d = vec3(derivative_, i, n);
            Vec3<T> rate = d + cross(omega, f);
            if (given_terms > 0) rate = vec3(to, i, n) + rate;
            store(to, i, n, rate);
        });
    }
    /// Derivative number k + 1.
    MutableView momentum_derivative(int k) const {
        MutableView v = derivatives_;
        v.data += 3 * k * length_;
        return v;
    }

    // Compensation.  Each flow and each kick rounds m, and the energy drifts from that of the
    // scheme in a random walk.  `lost_` stores the rounding error of m, below half an ulp: the
    // momentum is m + lost.  A kick adds to both.  A flow moves only m.  It should conserve the
    // energy; its energy error is corrected at the end of the step.

    /// m += factor x.
    void add_to_m(double factor, const View& x) {
        add_each_to_m(
            factor, [&x](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA { return vec3(x, i, n); });
    }
    /// The same with a function that returns x of a pack.
    template <class Vector>
    void add_each_to_m(double factor, const Vector& x) {
        const T s(factor);
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> m = vec3(m_, i, n);
            if (compensated_) {
                store_with_lost(i, n, m, plus(vec3(lost_, i, n), s, x(i, n)));
            } else {
                store(m_, i, n, plus(m, s, x(i, n)));
            }
        });
    }
    /// m + lost of a pack.
    void store_with_lost(std::ptrdiff_t i, int n, const Vec3<T>& m, const Vec3<T>& lost) {
        const Vec3<T> whole = m + lost;
        store(m_, i, n, whole);
        store(lost_, i, n, lost - (whole - m));
    }
    /// The change of twice the energy of m + lost by the flow from `before_` to `m_`, by
    /// differences: (m' - m) . I^-1 (m' + m + 2 lost).
    void note_gain() {
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> old = vec3(before_, i, n);
            const Vec3<T> m = vec3(m_, i, n);
            const Vec3<T> lost = vec3(lost_, i, n);
            const Vec3<T> w = times(inverse_inertia(i, n), m - old);
            const T so_far = batch::load_scalar<T>(laid_out(gain_), i, n);
            const T first = inner(w, m + old), second = 2.0 * inner(w, lost);
            const T gain[1] = {Whole ? so_far + first + second : so_far + (first + second)};
            batch::store(laid_out(gain_), i, n, gain);
        });
    }
    /// The smallest change of the momentum that undoes `gain_`: along omega.
    void settle() {
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> inverse = inverse_inertia(i, n);
            const Vec3<T> m = vec3(m_, i, n);
            const Vec3<T> lost = vec3(lost_, i, n);
            const Vec3<T> w = times(inverse, m);
            const T gain = batch::load_scalar<T>(laid_out(gain_), i, n);
            const T factor = -0.5 * gain / inner(w, w);
            // Anything larger is no rounding error: m is zero, or so small that its products
            // underflow.
            const T relative = abs(factor) * max(max(inverse.x, inverse.y), inverse.z);
            const T f = select(relative <= 0x1p-40, factor, T(0.0));
            store_with_lost(i, n, m, plus(lost, f, w));
        });
    }

    /// m' = f(t, m) over the time s at fixed attitude: one classical Runge-Kutta step.
    void kick_rk4(double s, double t) {
        const MutableView f = torque_, stage = work_, total = derivative_;
        for (int k = 0; k < 4; ++k) {
            torque(t, k == 0 ? m_ : stage, f);
            const bool outer = k == 0 || k == 3;
            if constexpr (Whole) {
                if (k == 0) batch::copy(f, total, 3, count_);
                if (k > 0) add_scaled(total, outer ? 1.0 : 2.0, f, total);
            } else {
                add_scaled(k == 0 ? m_ : total, outer ? s / 6 : s / 3, f, k == 3 ? m_ : total);
            }
            if (k < 3) add_scaled(m_, k == 2 ? s : s / 2, f, stage);
        }
        if (Whole) add_scaled(m_, s / 6, total, m_);
    }
    /// result = base + factor x, vector by vector.
    void add_scaled(const View& base, double factor, const View& x, const MutableView& result) {
        const T s(factor);
        for_each_pack([&](std::ptrdiff_t i, int n) POLHODE_INLINE_LAMBDA {
            const Vec3<T> b = vec3(base, i, n);
            store(result, i, n, plus(b, s, vec3(x, i, n)));
        });
    }

    void save(std::ptrdiff_t row, const View& momenta) const {
        MutableView m = problem_.m_saved, attitude = problem_.attitude_saved;
        if (m.data == nullptr) return;
        m.data += row * problem_.m_save_stride + begin_ * m.body;
        attitude.data += row * problem_.attitude_save_stride + begin_ * attitude.body;
        batch::copy(momenta, m, 3, count_);
        batch::copy(attitude_, attitude, problem_.matrix ? 9 : 4, count_);
    }

    const SplittingProblem& problem_;
    std::ptrdiff_t begin_, count_, padded_;
    double* next_;           ///< free memory
    std::ptrdiff_t length_;  ///< from one column to the next
    int last_flow_ = -1;
    bool depends_on_t_ = false, depends_on_m_ = false;
    bool compensated_ = false;
    bool torque_is_current_ = false;
    double torque_time_ = 0;
    MutableView m_, attitude_, lost_, own_, torque_, work_, derivative_, before_, gain_;
    MutableView derivatives_;
    StepArguments flow_;
    TorqueArguments asked_;     ///< of `torque`
    std::ptrdiff_t next_save_;  ///< the number of steps after which the next save is
    const Inertia<T>* bodies_;  ///< null: they must be computed
    Inertia<T> shared_;
};

}  // namespace detail

/// Runs bodies begin <= i < end, begin a multiple of `block_bodies`, through all steps of
/// `problem`; if it has a `whole` batch, all bodies.
template <class T = batch_real>
void run(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t count = end - begin;
    if (problem.whole != nullptr && problem.whole->data != nullptr) {
        detail::Block<true, T>(problem, begin, end, problem.whole->data, nullptr, count).run();
        return;
    }
    constexpr std::ptrdiff_t usual = SplittingProblem::block_bodies;
    const std::ptrdiff_t block = problem.whole != nullptr ? count : usual;
    // A block of memory may be larger than a thread's stack.
    const detail::Scratch<T> scratch(problem, std::min(count, block));
    for (std::ptrdiff_t i = begin; i < end; i += block) {
        const std::ptrdiff_t last = std::min(i + block, end);
        detail::Block<false, T>(
            problem, i, last, scratch.data.get(), scratch.bodies.get(), scratch.length)
            .run();
    }
}

}  // namespace splitting
POLHODE_NAMESPACE_END

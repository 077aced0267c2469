#pragma once

/// The torque on a block: the sum of its terms.  Terms get and return vectors in the body axes; the
/// sum is along the principal axes.

#include "polhode/so3.hpp"
#include "polhode/splitting/block.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/linear_flow.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

template <class T>
class TorqueSum {
  public:
    bool depends_on_t = false, depends_on_m = false;
    bool turns = false;      ///< whether a term has `turn`
    MutableView rotation;    ///< angular velocity of the last `derivative_along`
    MutableView derivative;  ///< its result

    explicit TorqueSum(Block<T>& block)
        : rotation(block.columns(3)),
          derivative(block.columns(3)),
          block_(block),
          problem_(block.problem) {
        arguments_.matrix = problem_.matrix;
        for (int i = 0; i < problem_.term_count; ++i) {
            const TorqueModel& model = *problem_.terms[i].model;
            depends_on_t = depends_on_t || model.info->depends_on_t;
            depends_on_m = depends_on_m || model.info->depends_on_m;
            if (model.given != nullptr) ++given_terms_;
            turns = turns || model.turn != nullptr;
            if (model.turn != nullptr || !model.info->depends_on_m) continue;
            if (model.matrix == nullptr) is_linear_ = false;
            if (model.matrix != nullptr) ++linear_terms_, kicker_ = model.kick ? i : -1;
            const TorqueTerm& term = problem_.terms[i];
            if (!model.matrix_is_constant || term.parameters.body != 0 ||
                term.extra.table.values.body != 0)
                shares_matrix_ = false;
        }
        if (linear_terms_ > 0) matrix_ = block.columns(9);
        if (linear_terms_ > 1) kicker_ = -1;
        at(block_.companions[Companion::momentum], block_.companions[Companion::state]);
        arguments_.x = block_.companions[Companion::position];
        if (arguments_.x.data != nullptr) arguments_.force = block_.columns(3);
        if (arguments_.s.data != nullptr) arguments_.rate = block_.columns(states());
        if (problem_.term_count > 0) select(0);
        // A function of the user may read m in any case.
        needs_m_ = depends_on_m || terms() > 1 || arguments_.extra.function != nullptr ||
                   arguments_.extra.user_data != nullptr;
    }
    TorqueSum(const TorqueSum&) = delete;
    TorqueSum& operator=(const TorqueSum&) = delete;

    int terms() const { return problem_.term_count; }
    const TorqueModel* single() const { return terms() == 1 ? problem_.terms[0].model : nullptr; }
    /// The parameters of the only term; without data if there is no term.
    View parameters() const { return arguments_.parameters; }
    /// Whether `evaluate` does kicks while it has the torque in registers.
    bool kicks_at_once() const { return !block_.has_axes() && !calls_back(); }
    /// Whether such kicks may have a modified potential.
    bool modifies_at_once() const {
        const TorqueModel* model = single();
        return kicks_at_once() && !block_.compensated() && model != nullptr &&
               model->derivative != nullptr && model->modified == nullptr;
    }
    /// The momenta p and states s at which `evaluate` takes the torque, the force and the rate of
    /// s.
    void at(const View& p, const View& s) { arguments_.p = p, arguments_.s = s; }
    /// Results of the last `evaluate`.
    MutableView& force() { return arguments_.force; }
    const MutableView& rate() const { return arguments_.rate; }
    int states() const { return problem_.companions[Companion::state].size; }
    /// out = the torque at time t and momenta m; then kicks.count kicks by it.
    void evaluate(double t, const View& m, const MutableView& out, Kicks kicks = {}) {
        clear();
        kicks.m = block_.m;
        kicks.inverse_inertia = block_.inverse_inertias;
        kicks.nonfinite = problem_.nonfinite_torque + block_.begin;
        const bool kick_now = kicks.count > 0 && kicks_at_once();
        arguments_.kicks = kicks;
        models(t, m, out, kick_now);
        if (kick_now || terms() == 0) return;
        const bool rotates = block_.has_axes() && given_terms_ == 0;
        if (given_terms_ > 0) {
            if (block_.has_axes()) block_.to_principal_axes(out);
            add_given(1, t, out);
        }
        TorqueArguments& a = arguments_;
        a.m = m;
        a.out = out;
        a.kicks.count = kicks.count;
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            Vec3<T> f = block_.vec3(out, i);
            if (rotates) {
                f = block_.to_principal_axes(i, f);
                block_.store(out, i, f);
            }
            if (a.kicks.count > 0) {
                torque::do_kicks(a, i, f);
            } else {
                mark_nonfinite(i, f, m, out);
            }
        });
    }
    /// Df[Q hat(v)], v = I^-1 x: sets `rotation` to v and `derivative` to the rate of the torque in
    /// the body frame while the body rotates at v, for terms that have one.
    void derivative_along(const View& x, double t) {
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> v = times(block_.inverse_inertia(i), block_.vec3(x, i));
            block_.store(rotation, i, v);
        });
        TorqueArguments& a = ask(t, rotation, derivative);
        a.rotation = a.m;
        for_each_term([&](const TorqueModel& model) {
            if (model.derivative == nullptr) return;
            model.derivative(a, 0, block_.padded);
            a.add = true;
        });
        if (block_.has_axes()) block_.to_principal_axes(derivative);
    }
    /// out = W of a modified potential, if the term has it.
    bool modified(double t, const MutableView& out) {
        const TorqueModel* model = single();
        if (model == nullptr || model->modified == nullptr) return false;
        TorqueArguments& a = ask(t, block_.m, out);
        a.order = -1;
        model->modified(a, 0, block_.padded);
        a.order = 1;
        if (block_.has_axes()) block_.to_principal_axes(out);
        return true;
    }
    /// The exact flow of the torque for a time, if all terms that depend on m are linear in m.
    bool exact_kick(double duration, double t) {
        if (linear_terms_ == 0 || !is_linear_ || given_terms_ > 0) return false;
        clear();
        batch::copy(block_.m, rotation, 3, block_.padded);
        const bool rotates = block_.has_axes();
        TorqueArguments& a = ask(t, block_.m, derivative);
        for (int i = 0; i < terms(); ++i) {
            if (i == kicker_) continue;
            select(i);
            problem_.terms[i].model->torque(a, 0, block_.padded);
            a.add = true;
        }
        const MutableView& end = rotates ? derivative : block_.m;
        if (kicker_ >= 0) {
            select(kicker_);
            a.rotation = derivative;
            a.out = end;
            a.duration = duration;
            problem_.terms[kicker_].model->kick(a, 0, block_.padded);
        } else {
            using Flow = torque::LinearFlow<T>;
            sum_matrices(shares_matrix_ ? lanes_v<T> : block_.padded);
            T A[9];
            Flow flow;
            block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
                if (i == 0 || !shares_matrix_) {
                    load_matrix(i, A);
                    flow = Flow::of(A, duration);
                }
                const Vec3<T> m = block_.vec3(a.m, i);
                const Vec3<T> f = block_.vec3(derivative, i) - Flow::times(A, m);
                block_.store(end, i, flow(m, f));
            });
        }
        if (rotates) {
            // The change is rotated, and m itself is not rounded again.
            block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
                const Vec3<T> change = block_.vec3(derivative, i) - block_.vec3(block_.body_m, i);
                block_.store(
                    block_.m, i, block_.vec3(block_.m, i) + block_.to_principal_axes(i, change));
            });
        }
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            mark_nonfinite(i, block_.vec3(block_.m, i), rotation, block_.m);
        });
        return true;
    }
    /// NaN for bodies of which the linear terms A m change m by more than `limit` |m| in this time.
    void limit_linear_terms(double duration, double t, double limit) {
        if (linear_terms_ == 0) return;
        ask(t, block_.m, matrix_);
        sum_matrices(block_.padded);
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            T A[9];
            load_matrix(i, A);
            const mask_t<T> fits = torque::row_sum(A) * std::abs(duration) <= limit;
            Vec3<T> m = block_.vec3(block_.m, i);
            m.x = polhode::select(fits, m.x, nan<T>());
            block_.store(block_.m, i, m);
        });
    }
    /// Turns the bodies by the terms that do so, for a time; the momentum in space stays as it is.
    void turn(double duration, double t) {
        for (int i = 0; i < terms(); ++i) {
            const TorqueModel& model = *problem_.terms[i].model;
            if (model.turn == nullptr) continue;
            TorqueArguments& a = ask(t, block_.m, derivative);
            select(i);
            a.duration = duration;
            model.turn(a, 0, block_.padded);
            if (block_.has_axes()) block_.to_principal_axes(derivative);
            block_.for_each_pack([&](std::ptrdiff_t k) POLHODE_INLINE_LAMBDA {
                const Quaternion<T> turned = so3::exp(block_.vec3(derivative, k));
                batch::Attitude<T> attitude = block_.load_attitude(k);
                attitude.rotate(turned);
                block_.store(block_.attitude, k, attitude);
                // Of the momentum in space, so that rounding errors do not add up.
                block_.store(block_.m,
                             k,
                             keeps_momentum() ? attitude.to_body(block_.vec3(arguments_.state, k))
                                              : in_body_frame(turned, block_.vec3(block_.m, k)));
            });
        }
    }
    /// At the start of the first step: if all terms turn bodies, Q m is constant and stored.
    void store_momentum() const {
        if (!keeps_momentum()) return;
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const batch::Attitude<T> attitude = block_.load_attitude(i);
            block_.store(arguments_.state, i, attitude.to_space(block_.vec3(block_.m, i)));
        });
    }
    /// If the momentum in space is given, L(t): m = L(t) + a constant that the torque stores.
    /// @param begins  whether this is the start of the first step, which sets the constant
    void set_given_momentum(double t, bool begins) {
        const TorqueModel* model = single();
        if (model == nullptr || model->given == nullptr) return;
        given(0, 0, t);
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const batch::Attitude<T> attitude = block_.load_attitude(i);
            const Vec3<T> L = block_.vec3(rotation, i);
            if (begins) {
                block_.store(arguments_.state, i, attitude.to_space(block_.vec3(block_.m, i)) - L);
            }
            const Vec3<T> offset = block_.vec3(arguments_.state, i);
            block_.store(block_.m, i, attitude.to_body(L + offset));
        });
    }
    /// L' and, as far as `wanted`, L'', L''' ... in the body frame, three columns each.  Models
    /// have L'' = f' + omega x f and no higher derivatives.
    void momentum_derivatives(int wanted, double t, const MutableView& out) {
        const auto derivative_of = [&](int order) { return out.from(3 * (order - 1)); };
        const bool has_models = terms() > given_terms_;
        int set = terms() > 0 ? 1 : 0;
        if (has_models && wanted == 1) return evaluate(t, block_.m, out);
        if (has_models) {
            models(t, block_.m, out);
            if (block_.has_axes()) block_.to_principal_axes(out);

            const MutableView second = derivative_of(++set);
            derivative_along(block_.m, t);
            block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
                const Vec3<T> omega = block_.vec3(rotation, i), f = block_.vec3(out, i);
                block_.store(second, i, block_.vec3(derivative, i) + cross(omega, f));
            });
        }
        while (set < wanted) block_.fill(derivative_of(++set), 3, 0.0);
        add_given(1, t, out);
        block_.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            mark_nonfinite(i, block_.vec3(out, i), block_.m, out);
        });
        for (int order = 2; order <= wanted; ++order) add_given(order, t, derivative_of(order));
    }

  private:
    bool keeps_momentum() const { return turns && terms() == 1 && !(problem_.heat.friction > 0); }
    /// Sets `matrix_` of these bodies, the first ones, to the sum of the matrices of the linear
    /// terms, for arguments already asked.
    void sum_matrices(std::ptrdiff_t bodies) {
        TorqueArguments& a = arguments_;
        a.out = matrix_;
        a.add = false;
        for_each_term([&](const TorqueModel& model) {
            if (model.matrix == nullptr) return;
            model.matrix(a, 0, bodies);
            a.add = true;
        });
    }
    POLHODE_INLINE void load_matrix(std::ptrdiff_t i, T (&A)[9]) const {
        batch::load(batch::columns(View(matrix_)), i, lanes_v<T>, A);
    }
    /// Sets the sums of forces and rates to zero.
    void clear() {
        if (force().data != nullptr) block_.fill(force(), 3, 0.0);
        if (rate().data != nullptr) block_.fill(rate(), states(), 0.0);
    }
    bool calls_back() const { return problem_.whole != nullptr && problem_.whole->calls_back(); }
    /// Arguments for momenta m, in the body axes.
    TorqueArguments& ask(double t, const View& m, const MutableView& out, bool needs_m = true) {
        TorqueArguments& a = arguments_;
        const bool rotates = block_.has_axes();
        if (rotates) block_.to_body_axes(needs_m ? m : View{});
        a.t = t;
        a.m = rotates ? View(block_.body_m) : m;
        a.attitude = rotates ? block_.body_attitude : block_.attitude;
        a.out = out;
        a.add = false;
        a.kicks.count = 0;
        return a;
    }
    void select(int i) {
        const TorqueTerm& term = problem_.terms[i];
        TorqueArguments& a = arguments_;
        a.parameters = term.parameters;
        a.parameters.data += block_.begin * a.parameters.body;
        a.extra = term.extra;
        a.extra.table.values.data += block_.begin * term.extra.table.values.body;
        a.state = block_.torque_state;
        for (int k = 0; k < i; ++k) {
            a.state = a.state.from(problem_.terms[k].model->states);
        }
        a.first = block_.begin;
        a.bodies = block_.count;
    }
    template <class Visit>
    void for_each_term(const Visit& visit) {
        for (int i = 0; i < terms(); ++i) {
            if (terms() > 1) select(i);
            visit(*problem_.terms[i].model);
        }
    }
    /// The sum of the terms whose momentum is not given, in the body axes.
    void models(double t, const View& m, const MutableView& out, bool kick_now = false) {
        const int kicks = arguments_.kicks.count;
        TorqueArguments& a = ask(t, m, out, needs_m_);
        int left = terms() - given_terms_;
        for_each_term([&](const TorqueModel& model) {
            if (model.given != nullptr) return;
            a.kicks.count = --left == 0 && kick_now ? kicks : 0;
            model.torque(a, 0, block_.padded);
            a.add = true;
        });
    }
    /// Sets `rotation` to derivative `order` of the momentum given by term i, in the space frame.
    void given(int i, int order, double t) {
        TorqueArguments& a = ask(t, block_.m, rotation);
        if (terms() > 1) select(i);
        a.order = order;
        problem_.terms[i].model->given(a, 0, block_.padded);
        a.order = 1;
    }
    /// Adds derivative `order` of all given momenta, or sets it if it is the first term.
    void add_given(int order, double t, const MutableView& out) {
        bool add = order > 1 || terms() > given_terms_;
        for (int i = 0; i < terms() && given_terms_ > 0; ++i) {
            if (problem_.terms[i].model->given == nullptr) continue;
            given(i, order, t);
            block_.for_each_pack([&](std::ptrdiff_t k) POLHODE_INLINE_LAMBDA {
                const Vec3<T> f = block_.load_attitude(k).to_body(block_.vec3(rotation, k));
                block_.store(out, k, add ? block_.vec3(out, k) + f : f);
            });
            add = true;
        }
    }
    /// Marks the bodies of a pack whose vector the torque changed from `before`, which is finite,
    /// to v in `after`, which is not finite.
    POLHODE_INLINE void mark_nonfinite(std::ptrdiff_t i,
                                       const Vec3<T>& v,
                                       const View& before,
                                       const View& after) const {
        if (!any(!is_finite(v.x + v.y + v.z))) [[likely]]
            return;
        const std::ptrdiff_t end = std::min(i + lanes_v<T>, block_.count);
        torque::mark_nonfinite(problem_.nonfinite_torque + block_.begin, i, end, before, after);
    }

    Block<T>& block_;
    const SplittingProblem& problem_;
    int given_terms_ = 0;
    int linear_terms_ = 0;       ///< those with a matrix
    bool is_linear_ = true;      ///< whether no other term depends on m
    int kicker_ = -1;            ///< the only linear term, if it has a kick of its own
    bool shares_matrix_ = true;  ///< whether all bodies have the same matrix
    MutableView matrix_ = {};
    bool needs_m_ = false;
    TorqueArguments arguments_{};
};

POLHODE_NAMESPACE_END

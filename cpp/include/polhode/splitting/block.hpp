#pragma once

/// The state of a block of bodies, component by component, and loops over it.

#include <algorithm>
#include <iterator>
#include <memory>

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/columns.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/inertia.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/splitting/arguments.hpp"
#include "polhode/torque/kicks.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// The memory of blocks of at most `count` bodies.
template <class T>
class Scratch {
    static_assert(WholeBatch::padded(1) % lanes_v<T> == 0);

  public:
    std::ptrdiff_t length;  ///< from one column to the next
    double* numbers = few_numbers_;
    Inertia<T>* bodies = few_bodies_;

    Scratch(const SplittingProblem& problem, std::ptrdiff_t count)
        : length(WholeBatch::column_length(count)) {
        constexpr int most = 3 * 15 + 3 * 9 + 2 + SplittingProblem::axes_numbers +
                             3 * DirectMethod::most_derivatives;
        const int own = problem.direct != nullptr ? problem.direct->columns : 0;
        int columns = most + own + problem.torque_states;
        for (const Companion& each : problem.companions) columns += 4 * each.size;
        if (length <= few && columns * length <= std::ssize(few_numbers_)) return;
        many_numbers_.reset(new double[static_cast<std::size_t>(columns * length)]);
        many_bodies_.reset(new Inertia<T>[static_cast<std::size_t>(length / lanes_v<T>)]);
        numbers = many_numbers_.get(), bodies = many_bodies_.get();
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

  private:
    // The memory of a block may be larger than a thread's stack, that of one pack is not.
    static constexpr std::ptrdiff_t few = WholeBatch::column_length(1);
    double few_numbers_[300 * few];
    Inertia<T> few_bodies_[few / lanes_v<T>];
    std::unique_ptr<double[]> many_numbers_;
    std::unique_ptr<Inertia<T>[]> many_bodies_;
};

/// A block of bodies.  The lanes after the last body repeat it, so that all packs are whole.
template <class T>
class Block {
  public:
    const SplittingProblem& problem;
    const std::ptrdiff_t begin, count;  ///< bodies
    const std::ptrdiff_t padded;        ///< `count`, rounded up to whole packs
    MutableView m, attitude;            ///< along the principal axes
    MutableView compensation{}, work{}, torque_state{};
    MutableView companions[Companion::kinds] = {};
    MutableView body_m{}, body_attitude{};  ///< the same in the body axes, where these are given
    const Inertia<T>* bodies = nullptr;
    View inverse_inertias = {};  ///< as `Kicks` need them, if a stage is modified

    Block(const SplittingProblem& p, std::ptrdiff_t first, std::ptrdiff_t end, Scratch<T>& scratch)
        : problem(p),
          begin(first),
          count(end - first),
          padded((count + lanes_v<T> - 1) / lanes_v<T> * lanes_v<T>),
          length_(scratch.length),
          next_(scratch.numbers) {
        m = columns(3), attitude = columns(components());
        if (p.compensation.data != nullptr) compensation = columns(3);
        if (p.direct != nullptr) work = columns(p.direct->columns);
        if (p.torque_states > 0) torque_state = columns(p.torque_states);
        for (int k = 0; k < Companion::kinds; ++k) {
            if (p.companions[k].size > 0) companions[k] = columns(p.companions[k].size);
        }
        for_each_array(p.m_from, p.attitude_from, [this](View from, MutableView to, int size) {
            load(from, to, size);
        });
        if (p.axes.data != nullptr) {
            body_m = columns(3), body_attitude = columns(components());
            axes_ = p.axes;
            if (axes_.body != 0) {
                const MutableView to = columns(SplittingProblem::axes_numbers);
                load({axes_.data + begin * axes_.body, axes_.body, 1, 3},
                     to,
                     SplittingProblem::axes_numbers);
                axes_ = to;
            }
            // Before the first step the state is in the body axes.
            if (p.first_step == 0 && p.n_steps > 0) state_to_principal_axes();
        }
        bodies_ = scratch.bodies;
        set_bodies();
        const bool shared = p.inertia.body == 0;
        if (std::any_of(p.stages, p.stages + p.stage_count, [](const Stage& x) {
                return x.modified != 0;
            })) {
            const MutableView to = columns(3);
            for (std::ptrdiff_t i = 0; i < (shared ? lanes_v<T> : padded); i += lanes_v<T>) {
                store(to, i, inverse_inertia(i));
            }
            inverse_inertias = to;
            inverse_inertias.body = shared ? 0 : 1;
        }
        kept_[0] = columns(3), kept_[1] = columns(components());
        if (compensated()) kept_[2] = columns(3);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// The constants of the bodies, computed once for all flows with these moments.
    void set_bodies() {
        for (std::ptrdiff_t i = 0; i < (problem.inertia.body == 0 ? 1 : padded); i += lanes_v<T>) {
            bodies_[i / lanes_v<T>] = inertia(i);
            any_rod_ = any_rod_ || bodies_[i / lanes_v<T>].any_rod;
        }
        bodies = bodies_;
    }
    bool compensated() const { return compensation.data != nullptr; }
    /// Whether m is not all that kicks change.
    bool has_companions() const {
        return companions[Companion::momentum].data != nullptr ||
               companions[Companion::state].data != nullptr;
    }
    bool has_axes() const { return axes_.data != nullptr; }
    int components() const { return problem.matrix ? 9 : 4; }

    /// Copies the state; `restore` returns to it.
    void keep() const {
        for_each_kept([this](const MutableView& from, const MutableView& to, int size) {
            batch::copy(from, to, size, padded);
        });
    }
    void restore() const {
        for_each_kept([this](const MutableView& to, const MutableView& from, int size) {
            batch::copy(from, to, size, padded);
        });
    }

    /// Drops momentum that a rod cannot have, after a torque about its axis.  NaN stays NaN.
    void drop_spin(const MutableView& momenta) const {
        if (!any_rod_ || momenta.data == nullptr) return;
        const auto kept = [](const T& inverse, const T& x)
                              POLHODE_INLINE_LAMBDA { return select(inverse == 0.0, x - x, x); };
        for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> inverse = inverse_inertia(i), x = vec3(momenta, i);
            store(momenta,
                  i,
                  Vec3<T>{kept(inverse.x, x.x), kept(inverse.y, x.y), kept(inverse.z, x.z)});
        });
    }

    /// Free memory.
    MutableView columns(int size) {
        double* const first = next_;
        next_ += size * length_;
        return {first, 1, length_, 3 * length_};
    }
    void fill(const MutableView& v, int size, double value) const {
        std::fill_n(v.data, size * length_, value);
    }

    POLHODE_INLINE static Vec3<T> vec3(const View& v, std::ptrdiff_t i) {
        return batch::load_vec3<T>(batch::columns(v), i, lanes_v<T>);
    }
    POLHODE_INLINE static void store(const MutableView& v, std::ptrdiff_t i, const Vec3<T>& x) {
        batch::store_vec3(batch::columns(v), i, lanes_v<T>, x);
    }
    POLHODE_INLINE batch::Attitude<T> load_attitude(std::ptrdiff_t i) const {
        return batch::Attitude<T>::load(
            batch::columns(View(attitude)), problem.matrix, i, lanes_v<T>);
    }
    POLHODE_INLINE static void store(const MutableView& v,
                                     std::ptrdiff_t i,
                                     const batch::Attitude<T>& a) {
        a.store(batch::columns(v), i, lanes_v<T>);
    }
    /// Calls visit(first body) for each pack.
    template <class Visit>
    POLHODE_INLINE void for_each_pack(const Visit& visit) const {
        for (std::ptrdiff_t i = 0; i < padded; i += lanes_v<T>) visit(i);
    }
    POLHODE_INLINE Vec3<T> inverse_inertia(std::ptrdiff_t i) const {
        if (problem.inertia.body == 0) return bodies[0].inverse;
        return bodies != nullptr ? bodies[i / lanes_v<T>].inverse : inertia(i).inverse;
    }
    /// function(begin, end) of all bodies of the block.
    template <class Function>
    void share(const Function& function) const {
        const WholeBatch* const whole = problem.whole;
        if (whole == nullptr) return function(0, padded);
        const auto part = [](const void* x, std::ptrdiff_t from, std::ptrdiff_t to) {
            (*static_cast<const Function*>(x))(from, to);
        };
        whole->share(whole->self, padded, part, &function);
    }

    /// The same normalisation as at the start of every flow, since kicks come before the first one.
    void normalise() const {
        for_each_pack([this](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            T h(0.0);
            int violations = all_valid;
            batch::Attitude<T> a = load_attitude(i);
            a.make_unit(h, violations);
            store(attitude, i, a);
        });
    }
    /// m += factor x.
    void add_to_m(double factor, const View& x) const {
        add_each_to_m(factor, [&x](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA { return vec3(x, i); });
    }
    /// The same with a function that returns x of a pack.
    template <class Vector>
    void add_each_to_m(double factor, const Vector& x) const {
        const T s(factor);
        for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            if (compensated()) {
                store_sum(i, vec3(m, i), axpy(vec3(compensation, i), s, x(i)));
            } else {
                store(m, i, axpy(vec3(m, i), s, x(i)));
            }
        });
    }
    /// result = base + factor x, of some components.
    void add(const View& base,
             double factor,
             const View& x,
             const MutableView& result,
             int components) const {
        const T s(factor);
        for (int k = 0; k < components; ++k) {
            const auto column = [k](auto v) { return batch::columns(v.from(k)); };
            for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
                const T b = batch::load_scalar<T>(column(x), i, lanes_v<T>);
                const T a[1] = {fma(s, b, batch::load_scalar<T>(column(base), i, lanes_v<T>))};
                batch::store(column(result), i, lanes_v<T>, a);
            });
        }
    }
    /// x += h p / mass: the centres of mass move uniformly.
    void drift(double h) const {
        const MutableView &x = companions[Companion::position],
                          &p = companions[Companion::momentum];
        if (x.data == nullptr) return;
        for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            store(x, i, axpy(vec3(x, i), T(h) / mass(i), vec3(p, i)));
        });
    }
    POLHODE_INLINE T mass(std::ptrdiff_t i) const {
        const bool shared = problem.mass.body == 0;
        const std::ptrdiff_t left = count - i;
        const int n = left < lanes_v<T> ? static_cast<int>(left) : lanes_v<T>;
        return batch::load_scalar<T>(problem.mass, shared ? 0 : begin + i, n);
    }
    /// m and `compensation` from a sum of the two.
    POLHODE_INLINE void store_sum(std::ptrdiff_t i, const Vec3<T>& a, const Vec3<T>& b) const {
        const Vec3<T> both = a + b;
        store(m, i, both);
        store(compensation, i, b - (both - a));
    }

    /// Sets `body_attitude`, and `body_m` from momenta along the principal axes, if given.
    void to_body_axes(const View& momenta) const {
        for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            batch::Attitude<T> a = load_attitude(i);
            a.rotate(conjugate(axes_quaternion(i)));
            store(body_attitude, i, a);
            if (momenta.data == nullptr) return;
            store(body_m, i, rotated(axes_matrix(i), vec3(momenta, i)));
        });
    }
    /// Vectors of a pack, or of the block, from the body axes to the principal axes.
    POLHODE_INLINE Vec3<T> to_principal_axes(std::ptrdiff_t i, const Vec3<T>& v) const {
        return in_body_frame(axes_matrix(i), v);
    }
    void to_principal_axes(const MutableView& v) const {
        for_each_pack([&](std::ptrdiff_t i)
                          POLHODE_INLINE_LAMBDA { store(v, i, to_principal_axes(i, vec3(v, i))); });
    }

    /// Stores row `row` of the saves, with these momenta.
    void save(std::ptrdiff_t row, const View& momenta) const {
        MutableView to_m = problem.m_saved, to_attitude = problem.attitude_saved;
        if (to_m.data == nullptr) return;
        to_m.data += row * problem.m_save_stride + begin * to_m.body;
        to_attitude.data += row * problem.attitude_save_stride + begin * to_attitude.body;
        const bool rotates = has_axes() && problem.n_steps > 0;
        if (rotates) to_body_axes(momenta);
        batch::copy(rotates ? View(body_m) : momenta, to_m, 3, count);
        batch::copy(rotates ? body_attitude : attitude, to_attitude, components(), count);
        for (int k = 0; k < Companion::kinds; ++k) {
            const Companion& each = problem.companions[k];
            if (each.size == 0) continue;
            MutableView to = each.saved;
            to.data += row * each.save_stride + begin * to.body;
            batch::copy(companions[k], to, each.size, count);
        }
        if (const NoseHoover& bath = problem.nose_hoover; bath.saved != nullptr) {
            std::copy_n(bath.now, bath.numbers(), bath.saved + row * bath.numbers());
        }
    }
    /// Stores all that the next steps need.
    void store_state() {
        if (!problem.keeps_state) return;
        for_each_array(problem.m, problem.attitude, [this](MutableView to, View from, int size) {
            batch::copy(from, to, size, count);
        });
    }

    /// The principal moments.
    POLHODE_INLINE Vec3<T> moments(std::ptrdiff_t i) const {
        const bool shared = problem.inertia.body == 0;
        const std::ptrdiff_t left = shared ? 1 : count - i;
        const int n = left < lanes_v<T> ? static_cast<int>(left) : lanes_v<T>;
        return batch::load_vec3<T>(problem.inertia, shared ? 0 : begin + i, n);
    }

  private:
    Inertia<T> inertia(std::ptrdiff_t i) const { return Inertia<T>::of(moments(i)); }
    /// Copies from other arrays, and repeats the last body.
    void load(const View& from, const MutableView& to, int size) const {
        // One body is stored in whole registers, since loads wider than the last stores are slow.
        const std::ptrdiff_t copied = count > 1 ? count : 0;
        batch::copy(from, to, size, copied);
        for (int k = 0; k < size; ++k) {
            double* const x = to.data + k * length_;
            const double last = from.data[(count - 1) * from.body + k * from.component];
            std::fill(x + copied, x + padded, last);
        }
    }
    void state_to_principal_axes() const {
        for_each_pack([this](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            batch::Attitude<T> a = load_attitude(i);
            a.rotate(axes_quaternion(i));
            store(attitude, i, a);
        });
        to_principal_axes(m);
    }
    POLHODE_INLINE Mat3<T> axes_matrix(std::ptrdiff_t i) const {
        return batch::load_mat3<T>(axes_, i, lanes_v<T>);
    }
    POLHODE_INLINE Quaternion<T> axes_quaternion(std::ptrdiff_t i) const {
        return batch::load_quaternion<T>(axes_.from(9), i, lanes_v<T>);
    }
    /// Calls visit(array of the problem from this block on, array of the block, components) for all
    /// arrays that are stored from call to call.
    template <class AnyView, class Visit>
    void for_each_array(const AnyView& m_outside,
                        const AnyView& attitude_outside,
                        const Visit& visit) {
        const auto part = [&](auto outside, const MutableView& inside, int size) {
            if (outside.data == nullptr) return;
            outside.data += begin * outside.body;
            visit(outside, inside, size);
        };
        part(m_outside, m, 3);
        part(attitude_outside, attitude, components());
        part(problem.compensation, compensation, 3);
        if (problem.direct != nullptr) part(problem.work, work, problem.work_columns);
        part(problem.torque_state, torque_state, problem.torque_states);
        for (int k = 0; k < Companion::kinds; ++k) {
            part(problem.companions[k].now, companions[k], problem.companions[k].size);
        }
    }

    /// Calls visit(array, its copy, components) for the arrays that flows and kicks change.
    template <class Visit>
    void for_each_kept(const Visit& visit) const {
        visit(m, kept_[0], 3);
        visit(attitude, kept_[1], components());
        if (compensated()) visit(compensation, kept_[2], 3);
    }

    std::ptrdiff_t length_;
    double* next_;
    Inertia<T>* bodies_;
    bool any_rod_ = false;
    MutableView kept_[3] = {};
    View axes_ = {};  ///< null: the body axes are the principal ones
};

POLHODE_NAMESPACE_END

#pragma once

/// One pack of bodies in a stage of a direct integrator.

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/columns.hpp"
#include "polhode/direct/arguments.hpp"
#include "polhode/energy_correction.hpp"

POLHODE_NAMESPACE_BEGIN(direct)

/// Columns of `work` that every method has: the energy that the correction aims at, the attitude
/// at the start of the step, the unit of momentum.
enum Column : int {
    target_column = 0,
    attitude_column = 1,
    unit_column = attitude_column + 9,
    first_free_column = unit_column + 1
};

/// Numbers of a pack in the columns of `work`.
template <class T>
struct Columns {
    MutableView all;
    std::ptrdiff_t i;

    POLHODE_INLINE MutableView at(int column) const { return batch::columns(all.from(column)); }
    POLHODE_INLINE T number(int column) const {
        return batch::load_scalar<T>(at(column), i, lanes_v<T>);
    }
    POLHODE_INLINE Vec3<T> vector(int column) const {
        return batch::load_vec3<T>(at(column), i, lanes_v<T>);
    }
    POLHODE_INLINE Quaternion<T> quaternion(int column) const {
        return batch::load_quaternion<T>(at(column), i, lanes_v<T>);
    }
    POLHODE_INLINE void keep(int column, const T& x) const {
        const T c[1] = {x};
        batch::store(at(column), i, lanes_v<T>, c);
    }
    POLHODE_INLINE void keep(int column, const Vec3<T>& v) const {
        batch::store_vec3(at(column), i, lanes_v<T>, v);
    }
    POLHODE_INLINE void keep(int column, const Quaternion<T>& q) const {
        const T c[4] = {q.w, q.x, q.y, q.z};
        batch::store(at(column), i, lanes_v<T>, c);
    }
};

/// One pack.  Functions that all stages share are not inlined: they are most of the code.
///
/// A stage reads and writes momenta in a unit per body (`momentum_unit`), which has the size of
/// the first momentum of the body: du/ds = u x u/I + torque/unit^2.
template <class T>
struct Bodies : Columns<T> {
    using Columns<T>::i, Columns<T>::at, Columns<T>::number, Columns<T>::keep;
    const DirectArguments& a;
    Inertia<T> body;
    Vec3<T> m;
    batch::Attitude<T> attitude;
    T unit;
    bool scales;  ///< whether the unit of a body is not 1

    [[gnu::noinline]] Bodies(const DirectArguments& arguments, std::ptrdiff_t first)
        : Columns<T>{arguments.work, first},
          a(arguments),
          body(static_cast<const Inertia<T>*>(a.bodies)[a.inertia.body == 0 ? 0 : i / lanes_v<T>]) {
        m = vec3(a.m);
        attitude = load_attitude(a.attitude);
        unit = number(unit_column);
        if (any(unit == 0.0)) choose_unit();
        scales = any(unit != 1.0);
        if (scales) m = power_of_two_reciprocal(unit) * m;
    }

    /// In the body frame.
    POLHODE_INLINE Vec3<T> torque() const {
        Vec3<T> f = given(1);
        if (scales) f = power_of_two_reciprocal(unit) * (power_of_two_reciprocal(unit) * f);
        return f;
    }
    /// h^k L^(k) in the body frame, k >= 1; L' is the torque.
    POLHODE_INLINE Vec3<T> change_of_momentum(int k) const {
        Vec3<T> f = given(k);
        for (int power = 0; power < k; ++power) f = T(a.h) * f;
        return scales ? power_of_two_reciprocal(unit) * f : f;
    }
    POLHODE_INLINE Vec3<T> omega() const { return times(body.inverse, m); }
    POLHODE_INLINE T h() const { return a.h * unit; }

    /// Begins a step: the attitude is normalised and stored, the component of m along a rod is
    /// removed, and the first step of all sets the target energy.
    [[gnu::noinline]] void begin() {
        T finite(0.0);
        int violations = all_valid;
        attitude.make_unit(finite, violations);
        const T bad = nan<T>();
        m = select(is_nan(finite) | !is_finite(m), Vec3<T>{bad, bad, bad}, body.own_momentum(m));
        attitude.store(at(attitude_column), i, lanes_v<T>);
        if (a.step == 0) keep(target_column, 0.5 * dot(m, omega()));
    }
    /// Sets the state of the next torque evaluation: the body is turned by p since the start of the
    /// step, and its momentum is l, along its axes at the start.
    [[gnu::noinline]] void ask_at(const Quaternion<T>& p, const Vec3<T>& l) {
        back_to_start();
        attitude.rotate(p);
        m = in_body_frame(p, l);
        store();
    }
    /// Ends the step, with the same arguments and the work of the torque in it, by which the target
    /// energy changes.  Returns the turn of the whole step, including the correction.
    [[gnu::noinline]] Quaternion<T> end_at(const Quaternion<T>& p,
                                           const Vec3<T>& l,
                                           const T& work) {
        back_to_start();
        FreeStep<T> s{in_body_frame(p, l), p};
        if (a.energy_correction != energy::none) {
            const T one(1.0);
            correct(s, work, one == one);
        }
        m = s.m;
        attitude.rotate(s.dq);
        store();
        return s.dq;
    }
    /// Sets the state: the body is turned by p since the start of the step, and its momentum is
    /// m_now, along its axes after the turn.
    [[gnu::noinline]] void leave(const Quaternion<T>& p, const Vec3<T>& m_now) {
        back_to_start();
        attitude.rotate(p);
        m = m_now;
        store();
    }
    /// The same, except for the bodies `but`, which do not change.
    [[gnu::noinline]] void leave(const Quaternion<T>& p,
                                 const Vec3<T>& m_now,
                                 const mask_t<T>& but) {
        const batch::Attitude<T> kept = attitude;
        const Vec3<T> kept_m = m;
        back_to_start();
        attitude.rotate(p);
        attitude = batch::Attitude<T>::chosen(but, kept, attitude);
        m = select<T>(but, kept_m, m_now);
        store();
    }
    /// The same for methods that repeat stages: the bodies `ends` are at the end of the step, in
    /// which the torque did `work`, and their energy is corrected.
    [[gnu::noinline]] void leave_or_end(Quaternion<T> p,
                                        Vec3<T> m_now,
                                        const mask_t<T>& but,
                                        const mask_t<T>& ends,
                                        const T& work) {
        if (a.energy_correction != energy::none) {
            FreeStep<T> s{m_now, p};
            correct(s, work, ends & !but);
            m_now = s.m;
            p = s.dq;
        }
        leave(p, m_now, but);
    }
    [[gnu::noinline]] void store() const {
        batch::store_vec3(batch::columns(a.m), i, lanes_v<T>, scales ? unit * m : m);
        attitude.store(batch::columns(a.attitude), i, lanes_v<T>);
    }

  private:
    /// Corrects the energy of the bodies `where` to the target, to which the work is added first.
    /// Where the work is a tenth of the energy or more, the error of the work would turn the body
    /// far: then the target becomes the present energy.
    [[gnu::noinline]] void correct(FreeStep<T>& s, const T& work, const mask_t<T>& where) {
        const T before = number(target_column), now = 0.5 * dot(s.m, times(body.inverse, s.m));
        const T target = select(abs(work) < 0.1 * now, before + work, now);
        keep(target_column, select(where, target, before));
        FreeStep<T> c = s;
        energy::correct(body, c, 2.0 * target / dot(c.m, c.m), a.energy_correction);
        s.m = select<T>(where, c.m, s.m);
        s.dq = select(where, c.dq, s.dq);
    }
    /// The unit at the start of a step, while it is not known: of the size of m or of the impulse
    /// of the torque in the step.  It stays unknown for a body at rest without a torque.
    [[gnu::noinline]] void choose_unit() {
        const Vec3<T> impulse = T(a.h) * vec3(a.torque);
        const T largest = max(largest_component(m), largest_component(impulse));
        const mask_t<T> open = unit == 0.0;
        unit = select(open, momentum_unit(largest), unit);
        keep(unit_column, select(open & (largest == 0.0), T(0.0), unit));
    }
    /// L^(k) in the units of the caller.
    POLHODE_INLINE Vec3<T> given(int k) const {
        return body.own_momentum(vec3(a.torque.from(3 * (k - 1))));
    }
    POLHODE_INLINE Vec3<T> vec3(const View& v) const {
        return batch::load_vec3<T>(batch::columns(v), i, lanes_v<T>);
    }
    POLHODE_INLINE batch::Attitude<T> load_attitude(const View& v) const {
        return batch::Attitude<T>::load(batch::columns(v), a.matrix, i, lanes_v<T>);
    }
    POLHODE_INLINE void back_to_start() { attitude = load_attitude(at(attitude_column)); }
};

/// A stage as a function of arrays.  run(Bodies<T>&) may return whether all its bodies are done.
template <auto run>
bool stage(const DirectArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    using T = batch_real;
    bool done = true;
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        Bodies<T> bodies(a, i);
        if constexpr (requires { done = run(bodies); }) {
            done = run(bodies) && done;
        } else {
            run(bodies);
        }
    }
    return done;
}

/// The stages of a step where all steps are alike: the first `count` of a list.
template <const auto& list, int count = sizeof list / sizeof list[0]>
DirectStages alike(std::ptrdiff_t, const OptionValues&, DirectStage*) {
    return {list, count};
}

POLHODE_NAMESPACE_END

#pragma once

/// Steps of a batch of bodies by any method.

#include <cstddef>
#include <new>

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/batch/violations.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/energy_correction.hpp"
#include "polhode/inertia.hpp"
#include "polhode/method_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// The data of a pack that are stored from step to step, in addition to m and attitude, see
/// StepArguments.
template <class T, class Method>
struct Carried {
    static constexpr int numbers = is_multistep<Method> ? carried_numbers<Method> : 0;
    T target, unit;
    T own[numbers > 0 ? numbers : 1];

    POLHODE_INLINE static Carried load(const StepArguments& arguments,
                                       const Inertia<T>& body,
                                       const Vec3<T>& m,
                                       std::ptrdiff_t i,
                                       int count) {
        Carried c;
        if (arguments.first_step > 0) {
            T x[2 + numbers];
            batch::load(View(arguments.carried), i, count, x);
            c.target = x[0];
            c.unit = x[1];
            for (int k = 0; k < numbers; ++k) c.own[k] = x[2 + k];
            return c;
        }
        c.target = energy::per_momentum(body, m);
        c.unit = momentum_unit(largest_component(m));
        for (int k = 0; k < numbers; ++k) c.own[k] = T(0.0);
        return c;
    }
    POLHODE_INLINE void store(const StepArguments& arguments, std::ptrdiff_t i, int count) const {
        if (arguments.carried.data == nullptr) return;
        T x[2 + numbers];
        x[0] = target;
        x[1] = unit;
        for (int k = 0; k < numbers; ++k) x[2 + k] = own[k];
        batch::store(arguments.carried, i, count, x);
    }
};

/// The constants of the bodies, pack after pack: stored by an earlier validation, or computed from
/// the moments.  In the second case the moments are also validated.
///
/// @tparam Body  the constants that a kernel takes, made from an Inertia<T> (BodyOf)
template <class T, class Body = Inertia<T>>
class BodiesOfPacks {
  public:
    POLHODE_INLINE BodiesOfPacks(const StepArguments& arguments, std::ptrdiff_t begin)
        : inertia_(arguments.inertia),
          prepared_(static_cast<const Inertia<T>*>(arguments.bodies)),
          at_(nullptr) {
        if (is_shared()) at_ = prepared_ != nullptr ? made_of(prepared_) : computed_shared(begin);
    }
    POLHODE_INLINE bool is_shared() const { return inertia_.body == 0; }
    /// The constants of all packs, if they are shared.
    POLHODE_INLINE const Body* shared() const { return at_; }
    POLHODE_INLINE const Body* of(std::ptrdiff_t i, int count) {
        if (is_shared()) return at_;
        if (prepared_ != nullptr) return made_of(prepared_ + i / lanes_v<T>);
        compute(i, count);
        return &own_;
    }
    int violations = all_valid;

  private:
    POLHODE_INLINE void compute(std::ptrdiff_t i, int count) {
        const Vec3<T> moments = load_vec3<T>(inertia_, i, count);
        violations |= validate_moments(moments);
        new (&own_) Body(Inertia<T>::of(moments));  // in place: a copy takes 2 ns a body
    }
    [[gnu::noinline]] const Body* computed_shared(std::ptrdiff_t begin) {
        compute(begin, 1);
        return &own_;
    }
    POLHODE_INLINE const Inertia<T>* made_of(const Inertia<T>* body)
        requires __is_same
    (Body, Inertia<T>) {
        return body;
    }
    POLHODE_INLINE const Body* made_of(const Inertia<T>* body) { return new (&own_) Body(*body); }

    View inertia_;
    const Inertia<T>* prepared_;
    const Body* at_;
    Body own_;
};

/// Any method, through a pointer.
template <class T>
struct CalledMethod {
    FreeStep<T> (*function)(const void* method, const Inertia<T>& body, const Vec3<T>& m, T h);
    const void* method;
};
template <class T, class Method>
[[gnu::noinline]] FreeStep<T> call_method(const void* method,
                                          const Inertia<T>& body,
                                          const Vec3<T>& m,
                                          T h) {
    return advance(*static_cast<const Method*>(method), body, m, h);
}
template <class T>
POLHODE_INLINE FreeStep<T> advance(const CalledMethod<T>& called,
                                   const Inertia<T>& body,
                                   const Vec3<T>& m,
                                   T h) {
    return called.function(called.method, body, m, h);
}

/// n steps of bodies begin ... end - 1, of any kind and in any arrays.  Returns the violations for
/// invalid moments and quaternions; the results for these bodies are meaningless.
///
/// @tparam Method  a method that stores numbers from step to step, or CalledMethod
template <class T, class Method>
[[gnu::noinline]] int step_any(const Method& method,
                               const StepArguments& arguments,
                               std::ptrdiff_t begin,
                               std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    if (begin >= end) return all_valid;
    BodiesOfPacks<T> bodies(arguments, begin);
    int violations = all_valid;
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        const int count = end - i < lanes ? static_cast<int>(end - i) : lanes;
        const Inertia<T>& body = *bodies.of(i, count);
        Vec3<T> m = load_vec3<T>(arguments.m, i, count);
        T h = load_scalar<T>(arguments.h, i, count);
        Attitude<T> attitude = Attitude<T>::load(arguments.attitude, arguments.matrix, i, count);
        if (arguments.n_steps == 0) {
            attitude.make_unit(h, violations);
            const T not_finite = nan<T>();
            const mask_t<T> finite = is_finite(h) & is_finite(m);
            m = select(finite, m, Vec3<T>{not_finite, not_finite, not_finite});
            attitude.set_nan(!finite);
        }
        if constexpr (is_multistep<Method>) {
            auto c = Carried<T, Method>::load(arguments, body, m, i, count);
            m = power_of_two_reciprocal(c.unit) * body.own_momentum(m);
            // A momentum below the normal numbers is rounded after each step, as it is between
            // slices.
            const bool rounds = any(c.unit != 1.0);
            for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                attitude.make_unit(h, violations);
                const std::ptrdiff_t number = arguments.first_step + n;
                FreeStep<T> s = method.step(body, m, c.unit * h, c.own, number);
                if (arguments.energy_correction != energy::none) {
                    const Inertia<T> a_body = body;
                    energy::correct(a_body, s, c.target, arguments.energy_correction);
                }
                method.carry(body, m, s.dq, c.own);
                m = s.m;
                if (rounds) m = power_of_two_reciprocal(c.unit) * (c.unit * m);
                attitude.rotate(s.dq);
            }
            c.store(arguments, i, count);
            m = c.unit * m;
        } else {
            const bool corrects = arguments.energy_correction != energy::none;
            Carried<T, Method> c;
            if (corrects) c = Carried<T, Method>::load(arguments, body, m, i, count);
            for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                attitude.make_unit(h, violations);
                FreeStep<T> s = advance(method, body, m, h);
                if (corrects) energy::correct(body, s, c.target, arguments.energy_correction);
                m = s.m;
                attitude.rotate(s.dq);
            }
            if (corrects) c.store(arguments, i, count);
        }
        const T result = m.x + attitude.first();
        if (any(is_nan(result))) count_lost(arguments, i, count, result);
        store_vec3(arguments.m_out, i, count, m);
        attitude.store(arguments.attitude_out, i, count);
    }
    return violations | bodies.violations;
}

/// The layout of momenta and quaternions: rows of (N, C) arrays, or columns of (C, N) arrays.
enum class Layout { rows, columns, other };

inline Layout layout_of(const StepArguments& a) {
    const View m[] = {a.m, a.m_out}, attitude[] = {a.attitude, a.attitude_out};
    bool rows = true, columns = true;
    for (int k = 0; k < 2; ++k) {
        rows = rows && m[k].body == 3 && m[k].component == 1 && attitude[k].body == 4 &&
               attitude[k].component == 1;
        columns = columns && m[k].body == 1 && attitude[k].body == 1;
    }
    return rows ? Layout::rows : columns ? Layout::columns : Layout::other;
}
/// A view of C components with this layout.
template <Layout layout, int C, class AnyView>
POLHODE_INLINE AnyView laid_out(AnyView v) {
    if constexpr (layout == Layout::rows) v.body = C, v.component = 1;
    if constexpr (layout == Layout::columns) v.body = 1;
    return v;
}

/// n steps of whole packs of bodies, without energy correction: the loop that most calls run.  In
/// unusual cases `step_any` does all steps: an unusual size of a momentum, an attitude that needs
/// normalisation, or a NaN result.
///
/// @tparam several  n steps of quaternions or matrices, else one step of quaternions
template <class T, Layout layout, bool several, class Method>
[[gnu::noinline]] int step_packs(const Method& method,
                                 const CalledMethod<T>& called,
                                 const StepArguments& arguments,
                                 std::ptrdiff_t begin,
                                 std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    const View m_in = laid_out<layout, 3>(arguments.m);
    const View attitude_in = laid_out<layout, 4>(arguments.attitude);
    const MutableView m_out = laid_out<layout, 3>(arguments.m_out);
    const MutableView attitude_out = laid_out<layout, 4>(arguments.attitude_out);
    const bool matrix = several && arguments.matrix;
    const std::ptrdiff_t n_steps = several ? arguments.n_steps : 1;
    const bool own_h = arguments.h.body != 0;
    BodiesOfPacks<T, BodyOf<Method, T>> bodies(arguments, begin);
    const BodyOf<Method, T>* body = bodies.shared();
    const bool own_body = !bodies.is_shared();
    T h(*arguments.h.data);
    int violations = all_valid;
    for (std::ptrdiff_t i = begin, next; i < end; i = next) {
        next = i + lanes;
        if (own_body) body = bodies.of(i, lanes);
        if (own_h) h = load_scalar<T>(arguments.h, i, lanes);
        Vec3<T> m = load_vec3<T>(m_in, i, lanes);
        Attitude<T> attitude;
        std::ptrdiff_t n = 0;
        while (all_usual(m)) [[likely]] {
            const FreeStep<T> s = advance_usual(method, *body, m, h);
            // Loaded after the step, since the step uses all registers.
            if (n == 0) attitude = Attitude<T>::load(attitude_in, matrix, i, lanes);
            m = s.m;
            const T result = m.x + s.dq.w;
            if (!all(attitude.rotate_near_unit(s.dq) & (result == result))) [[unlikely]]
                break;
            if (++n == n_steps) break;
        }
        if (n < n_steps) [[unlikely]] {
            // If one pack is unusual, its neighbours may be unusual too.
            next = end - i < 16 * lanes ? end : i + 16 * lanes;
            violations |= step_any<T>(called, arguments, i, next);
            continue;
        }
        store_vec3(m_out, i, lanes, m);
        attitude.store(attitude_out, i, lanes);
    }
    return violations | bodies.violations;
}

/// n steps of bodies begin ... end - 1 by one method.
template <class T, class Method>
int step_by(const Method& method,
            const StepArguments& arguments,
            std::ptrdiff_t begin,
            std::ptrdiff_t end) {
    if constexpr (is_multistep<Method>) {
        return step_any<T>(method, arguments, begin, end);
    } else {
        const CalledMethod<T> called{&call_method<T, Method>, &method};
        if (arguments.energy_correction != energy::none || arguments.n_steps == 0) {
            return step_any<T>(called, arguments, begin, end);
        }
        auto packs = step_packs<T, Layout::other, true, Method>;
        if constexpr (!requires { Method::any_layout; }) {
            const bool several = arguments.n_steps > 1 || arguments.matrix;
            const Layout layout = several ? Layout::other : layout_of(arguments);
            if (layout == Layout::rows) packs = step_packs<T, Layout::rows, false, Method>;
            if (layout == Layout::columns) packs = step_packs<T, Layout::columns, false, Method>;
        }
        const std::ptrdiff_t whole = end - (end - begin) % lanes_v<T>;
        int violations = all_valid;
        if (whole > begin) violations = packs(method, called, arguments, begin, whole);
        return violations | step_any<T>(called, arguments, whole, end);
    }
}

/// A kernel called through a pointer, so that all long ones share one loop over the arrays:
/// compiling that loop takes longer than compiling most kernels, and compared with them the cost of
/// the call is negligible.
template <class T, class BodyOfKernel, bool in_axes_of_user>
struct PointedKernel {
    template <class>
    using Body = BodyOfKernel;
    static constexpr bool user_axes = in_axes_of_user;
    FreeStep<T> (*function)(const void* kernel, const BodyOfKernel& body, const Vec3<T>& m, T h);
    const void* kernel;

    POLHODE_INLINE FreeStep<T> step(const BodyOfKernel& body, const Vec3<T>& m, T h) const {
        return function(kernel, body, m, h);
    }
};
template <class Kernel, class T>
FreeStep<T> pointed_step(const void* kernel, const BodyOf<Kernel, T>& body, const Vec3<T>& m, T h) {
    return static_cast<const Kernel*>(kernel)->step(body, m, h);
}

/// The step function of a method: loops over the arrays with its kernel inlined, the same for all
/// methods whose kernels are of one type, or the loops that `shares_loop` names.
template <class Method, class T = batch_real>
int step(const StepArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const auto kernel = kernel_of<Method>(arguments.options);
    if constexpr (requires { Method::shares_loop; }) {
        using Kernel = KernelOf<Method>;
        static_assert(!is_multistep<Kernel>, "the shared loop carries no numbers of a kernel");
        const PointedKernel<T, BodyOf<Kernel, T>, in_user_axes<Kernel>> pointed{
            &pointed_step<Kernel, T>, &kernel};
        return step_by<T>(pointed, arguments, begin, end);
    } else {
        return step_by<T>(kernel, arguments, begin, end);
    }
}

POLHODE_NAMESPACE_END

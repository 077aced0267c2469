#pragma once

/// @file
/// Steps of a batch of bodies by any method.

#include <cstddef>

#include "polhode/batch/attitude.hpp"
#include "polhode/batch/findings.hpp"
#include "polhode/batch/views.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/energy_correction.hpp"
#include "polhode/inertia.hpp"
#include "polhode/method_step.hpp"
#include "polhode/momentum_unit.hpp"
#include "polhode/scalar/constants.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// Vectors wider than the registers never cross a call: every function of them is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

POLHODE_NAMESPACE_BEGIN
namespace batch {

/// What goes with a pack from step to step besides m and attitude, see StepArguments.
template <class T, class Method>
struct Carried {
    static constexpr int numbers = [] {
        if constexpr (requires { Method::carried; }) return int(Method::carried);
        return 0;
    }();
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

/// n steps of bodies begin ... end - 1.  Returns what it finds of moments and quaternions that are
/// not allowed; the results of such bodies are worth nothing.
template <class T, class Method>
POLHODE_INLINE int step_with(const Method& method,
                             const StepArguments& arguments,
                             std::ptrdiff_t begin,
                             std::ptrdiff_t end) {
    constexpr int lanes = lanes_v<T>;
    if (begin >= end) return all_valid;
    const bool shared_body = arguments.inertia.body == 0;
    int findings = all_valid;
    const auto* prepared = static_cast<const Inertia<T>*>(arguments.bodies);
    Inertia<T> own;
    const Inertia<T>* at = &own;
    if (prepared != nullptr) {
        at = prepared + (shared_body ? 0 : begin / lanes);
    } else {
        const Vec3<T> moments = load_vec3<T>(arguments.inertia, begin, 1);
        findings |= look_at_moments(moments);
        own = Inertia<T>::of(moments);
    }
    for (std::ptrdiff_t i = begin; i < end; i += lanes) {
        const int count = end - i < lanes ? static_cast<int>(end - i) : lanes;
        if (!shared_body) {
            if (prepared != nullptr) {
                at = prepared + i / lanes;
            } else {
                const Vec3<T> moments = load_vec3<T>(arguments.inertia, i, count);
                findings |= look_at_moments(moments);
                own = Inertia<T>::of(moments);
            }
        }
        const Inertia<T>& body = *at;
        Vec3<T> m = load_vec3<T>(arguments.m, i, count);
        T h = load_scalar<T>(arguments.h, i, count);
        Attitude<T> attitude = Attitude<T>::load(arguments.attitude, arguments.matrix, i, count);
        if (arguments.n_steps == 0) {
            attitude.make_unit(h, findings);
            const T not_finite = nan<T>();
            const mask_t<T> finite = is_finite(h) & is_finite(m);
            m = select(finite, m, Vec3<T>{not_finite, not_finite, not_finite});
            attitude.spoil(!finite);
        }
        bool done = false;
        if constexpr (requires { Method::carried; }) {
            auto c = Carried<T, Method>::load(arguments, body, m, i, count);
            m = power_of_two_reciprocal(c.unit) * body.own_momentum(m);
            for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                attitude.make_unit(h, findings);
                const std::ptrdiff_t number = arguments.first_step + n;
                FreeStep<T> s = method.step(body, m, c.unit * h, c.own, number);
                if (arguments.energy_correction != energy::none) {
                    const Inertia<T> a_body = body;
                    energy::correct(a_body, s, c.target, arguments.energy_correction);
                }
                method.carry(body, m, s.dq, c.own);
                m = s.m;
                attitude.turn(s.dq);
            }
            c.store(arguments, i, count);
            m = c.unit * m;
            done = true;
        } else if constexpr (requires { Method::corrects_energy; }) {
            if (arguments.energy_correction != energy::none) {
                const auto c = Carried<T, Method>::load(arguments, body, m, i, count);
                const Inertia<T> a_body = body;
                for (std::ptrdiff_t n = 0; n < arguments.n_steps; ++n) {
                    attitude.make_unit(h, findings);
                    FreeStep<T> s = advance(method, body, m, h);
                    energy::correct(a_body, s, c.target, arguments.energy_correction);
                    m = s.m;
                    attitude.turn(s.dq);
                }
                c.store(arguments, i, count);
                done = true;
            }
        }
        if constexpr (!requires { Method::carried; }) {
            for (std::ptrdiff_t n = 0; !done && n < arguments.n_steps; ++n) {
                attitude.make_unit(h, findings);
                const FreeStep<T> s = advance(method, body, m, h);
                m = s.m;
                attitude.turn(s.dq);
            }
        }
        if constexpr (requires { method.may_lack_root(); }) {
            if (method.may_lack_root() && any(is_nan(m.x))) {
                count_without_root(arguments, i, count, m.x);
            }
        }
        store_vec3(arguments.m_out, i, count, m);
        attitude.store(arguments.attitude_out, i, count);
    }
    return findings;
}

/// A kernel called through a pointer, so that all long ones share one loop over the arrays:
/// compiling that loop takes longer than compiling most kernels, and next to them the call is
/// nothing.
template <class T>
struct PointedKernel {
    FreeStep<T> (*kernel)(const OptionValues& options,
                          const Inertia<T>& body,
                          const Vec3<T>& m,
                          T h);
    OptionValues options;

    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        return kernel(options, body, m, h);
    }
};
/// The same for methods with the option `energy_correction`.
template <class T>
struct CorrectedPointedKernel : PointedKernel<T> {
    static constexpr bool corrects_energy = true;
};
template <class T, class Pointed>
int step_with_pointed(const Pointed& kernel,
                      const StepArguments& arguments,
                      std::ptrdiff_t begin,
                      std::ptrdiff_t end) {
    return step_with<T>(kernel, arguments, begin, end);
}
template <class Method, class T>
FreeStep<T> pointed_step(const OptionValues& options,
                         const Inertia<T>& body,
                         const Vec3<T>& m,
                         T h) {
    return method_with<Method>(options).step(body, m, h);
}

/// One loop for all methods that share a kernel.
template <class T, class Kernel>
int step_by(const Kernel& kernel,
            const StepArguments& arguments,
            std::ptrdiff_t begin,
            std::ptrdiff_t end) {
    return step_with<T>(kernel, arguments, begin, end);
}

/// The step function of a method.  One that names a `kernel` shares it and its loop with its
/// family; one that says `static constexpr bool shares_loop = true` is called through a pointer,
/// others are inlined into a loop of their own.
template <class Method, class T = batch_real>
int step(const StepArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end) {
    if constexpr (requires { Method::kernel; }) {
        return step_by<T>(kernel_with<Method>(arguments.options), arguments, begin, end);
    } else if constexpr (requires { Method::shares_loop; }) {
        const PointedKernel<T> kernel{&pointed_step<Method, T>, arguments.options};
        if constexpr (Method::info.corrects_energy) {
            return step_with_pointed<T>(CorrectedPointedKernel<T>{kernel}, arguments, begin, end);
        } else {
            return step_with_pointed<T>(kernel, arguments, begin, end);
        }
    } else {
        return step_with<T>(method_with<Method>(arguments.options), arguments, begin, end);
    }
}

}  // namespace batch
POLHODE_NAMESPACE_END

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

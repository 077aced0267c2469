#pragma once

/// @file
/// One step of any method, of one pack of bodies.

#include "polhode/batch_arguments.hpp"
#include "polhode/inertia.hpp"
#include "polhode/momentum_unit.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// Vectors wider than the registers never cross a call: every function of them is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

POLHODE_NAMESPACE_BEGIN
namespace batch {

/// One step of a method in the user's axes: they are sorted, unless the method says `static
/// constexpr bool user_axes = true`.
template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance_usual(const Method& method,
                                         const Inertia<T>& body,
                                         const Vec3<T>& m,
                                         T h) {
    if constexpr (requires { Method::user_axes; }) {
        return method.step(body, m, h);
    } else {
        FreeStep<T> s = method.step(body, body.sorted_momentum(m), h);
        s.m = body.order.from_sorted(s.m);
        s.dq = body.order.from_sorted(s.dq);
        return s;
    }
}
/// Whether every momentum is surely of a size that needs no unit: by its square, which costs less
/// than the largest component.
template <class T>
POLHODE_INLINE bool all_usual(const Vec3<T>& m) {
    const T square = dot(m, m);
    return all((square >= 0x1p-38) & (square <= 0x1p40));
}
/// The same in the user's units: powers of two are taken out of m, so that every finite m goes the
/// same way bit for bit.
template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance(const Method& method,
                                   const Inertia<T>& body,
                                   const Vec3<T>& m,
                                   T h) {
    const T largest = largest_component(m);
    // Each body decides for itself: beside a large component a subnormal one would lose its last
    // bits.
    const bool scales = any(!is_usual(largest));
    Vec3<T> scaled_m = m;
    T scaled_h = h;
    T unit(1.0);
    if (scales) {
        unit = momentum_unit(largest);
        scaled_m = power_of_two_reciprocal(unit) * m;
        scaled_h = select(is_finite(largest), h * unit, nan<T>());
    }
    FreeStep<T> s = advance_usual(method, body, scaled_m, scaled_h);
    if (scales) s.m = unit * s.m;
    return s;
}
/// The same with a kernel that is shared by several methods and told apart by its data.
template <class Kernel, class T>
[[gnu::noinline]] FreeStep<T> advance_by(const Kernel& kernel,
                                         const Inertia<T>& body,
                                         const Vec3<T>& m,
                                         T h) {
    return advance(kernel, body, m, h);
}
/// A method as an object: with these values of its options, else with the defaults.
template <class Method>
POLHODE_INLINE Method method_with(const OptionValues& options) {
    if constexpr (requires { Method::with(options); }) {
        if (options.count > 0) return Method::with(options);
    }
    return Method{};
}

/// The kernel that a method names, likewise.
template <class Method>
POLHODE_INLINE auto kernel_with(const OptionValues& options) {
    auto kernel = Method::kernel;
    if constexpr (requires { kernel.with(options); }) {
        if (options.count > 0 || options.data != nullptr) kernel = kernel.with(options);
    }
    if constexpr (requires { kernel.stop; }) {
        kernel.stop = options.stop;
    }
    return kernel;
}

template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance(const Inertia<T>& body,
                                   const Vec3<T>& m,
                                   T h,
                                   const OptionValues& options = {}) {
    if constexpr (requires { Method::carried; }) {
        // One step as any but the first ones, of a body that has turned steadily.
        T carried[Method::carried];
        const Method method = method_with<Method>(options);
        for (int k = 0; k < Method::carried; ++k) carried[k] = T(0.0);
        const Quaternion<T> none{T(1.0), T(0.0), T(0.0), T(0.0)};
        for (int k = 0; k < Method::starting; ++k) method.carry(body, m, none, carried);
        return method.step(body, m, h, carried, Method::starting);
    } else if constexpr (requires { Method::kernel; }) {
        return advance_by(kernel_with<Method>(options), body, m, h);
    } else {
        return advance(method_with<Method>(options), body, m, h);
    }
}

}  // namespace batch
POLHODE_NAMESPACE_END

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

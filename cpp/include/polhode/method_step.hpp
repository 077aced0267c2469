#pragma once

/// One step of any method, of one pack of bodies.

#include "polhode/batch_arguments.hpp"
#include "polhode/inertia.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// The kernel of a method as an object, with these values of its options, or else with the
/// defaults.
template <class Method>
POLHODE_INLINE constexpr auto kernel_of(const OptionValues& options) {
    if constexpr (requires { Method::with(options); }) {
        return Method::with(Method::info.complete(options));
    } else {
        return Method{};
    }
}
template <class Method>
using KernelOf = decltype(kernel_of<Method>(OptionValues{}));

/// The properties that a kernel declares (methods.hpp), and their defaults.
template <class Kernel>
inline constexpr bool in_user_axes = [] {
    if constexpr (requires { Kernel::user_axes; }) return Kernel::user_axes;
    return false;
}();
/// Count of numbers stored from step to step; -1: not a multistep method.
template <class Kernel>
inline constexpr int carried_numbers = [] {
    if constexpr (requires { Kernel::carried; }) return Kernel::carried;
    return -1;
}();
template <class Kernel>
inline constexpr bool is_multistep = carried_numbers<Kernel> >= 0;
/// Number of steps combined; 0: not a multistep method.
template <class Kernel>
constexpr int history_of(const Kernel& kernel) {
    if constexpr (is_multistep<Kernel>) return kernel.starting + 1;
    return 0;
}
/// True if a step may be NaN because its implicit equation has no solution.
template <class Kernel>
POLHODE_INLINE constexpr bool lacks_root(const Kernel& kernel) {
    if constexpr (requires { kernel.may_lack_root(); }) return kernel.may_lack_root();
    return false;
}

/// Constants of a body for a kernel: its own `Body<T>`, or else an Inertia<T>.
template <class Kernel, class T>
struct BodyType {
    using type = Inertia<T>;
};
template <class Kernel, class T>
    requires requires { typename Kernel::template Body<T>; }
struct BodyType<Kernel, T> {
    using type = typename Kernel::template Body<T>;
};
template <class Kernel, class T>
using BodyOf = typename BodyType<Kernel, T>::type;

/// One step, axes in the given order.  They are sorted for the kernel, unless it declares
/// `user_axes`.
template <class Kernel, class T>
POLHODE_INLINE FreeStep<T> advance_usual(const Kernel& kernel,
                                         const BodyOf<Kernel, T>& body,
                                         const Vec3<T>& m,
                                         T h) {
    if constexpr (in_user_axes<Kernel>) {
        return kernel.step(body, m, h);
    } else {
        FreeStep<T> s = kernel.step(body, body.sorted_momentum(m), h);
        s.m = body.order.from_sorted(s.m);
        s.dq = body.order.from_sorted(s.dq);
        return s;
    }
}
/// True if every momentum is certainly of a size that needs no unit.  This is judged by the square,
/// which costs less than the largest component.
template <class T>
POLHODE_INLINE bool all_usual(const Vec3<T>& m) {
    const T square = dot(m, m);
    return all((square >= 0x1p-38) & (square <= 0x1p40));
}
/// The same in the user's units: powers of two are divided out of m, so that every finite m gives
/// the same result bit for bit.
template <class Kernel, class T>
POLHODE_INLINE FreeStep<T> advance(const Kernel& kernel,
                                   const BodyOf<Kernel, T>& body,
                                   const Vec3<T>& m,
                                   T h) {
    const T largest = largest_component(m);
    // Each body has its unit: next to a large component, a subnormal one would lose its last bits.
    const bool scales = any(!is_usual(largest));
    Vec3<T> scaled_m = m;
    T scaled_h = h;
    T unit(1.0);
    if (scales) {
        unit = momentum_unit(largest);
        scaled_m = power_of_two_reciprocal(unit) * m;
        scaled_h = select(is_finite(largest), h * unit, nan<T>());
    }
    FreeStep<T> s = advance_usual(kernel, body, scaled_m, scaled_h);
    if (scales) s.m = unit * s.m;
    return s;
}
/// The same with a kernel outside a batch.  For a multistep method this is a step after the first
/// ones, for a body that has turned at a constant rate.
template <class Kernel, class T>
FreeStep<T> single_step(const Kernel& kernel,
                        const BodyOf<Kernel, T>& body,
                        const Vec3<T>& m,
                        T h) {
    if constexpr (is_multistep<Kernel>) {
        T carried[Kernel::carried];
        for (int k = 0; k < Kernel::carried; ++k) carried[k] = T(0.0);
        const Quaternion<T> none{T(1.0), T(0.0), T(0.0), T(0.0)};
        for (int k = 0; k < kernel.starting; ++k) kernel.carry(body, m, none, carried);
        return kernel.step(body, m, h, carried, kernel.starting);
    } else {
        return advance(kernel, body, m, h);
    }
}
template <class Method, class T>
POLHODE_INLINE FreeStep<T> advance(const BodyOf<KernelOf<Method>, T>& body,
                                   const Vec3<T>& m,
                                   T h,
                                   const OptionValues& options = {}) {
    return single_step(kernel_of<Method>(options), body, m, h);
}

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// The Magnus method for the free body, [Gus10] Sec. 4.3.1: magnus/scheme.hpp with the exact
/// momentum at the nodes.

#include "polhode/magnus/scheme.hpp"
#include "polhode/torque_free/exact_momentum.hpp"

POLHODE_NAMESPACE_BEGIN
namespace magnus {

/// One step of order 2, 4, 6 or 8: m exactly, dq = exp of the Magnus vector.
///
/// @param body, m, h  as in exact_step: sorted axes, largest component of m of size about 1
/// @return            m within a few eps (1 + angle) |m|; dq unit to 2 eps, its error of order
///                    h^(Order+1), with errors of its own to rounding.  step(-h) undoes step(h).
///                    Energy and |m| are kept, the spatial momentum q m q^-1 is not: dq does not
///                    know m.  The series converges for |phi| < 2 pi [Gus10] Theorem 3.4
template <int Order, class T>
POLHODE_INLINE FreeStep<T> free_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    constexpr int pairs = Order / 4;
    const auto nodes = torque_free::momentum_nodes<pairs>(body, m, h, {Order / 2});
    const Vec3<T> rate{h * body.inverse_I1, h * body.inverse_I2, h * body.inverse_I3};
    Vec3<T> even[nodes.room], slope[nodes.room];
    POLHODE_UNROLL
    for (int j = 0; j < pairs; ++j) {
        const Vec3<T> rate_j = (1.0 / nodes.D[j]) * rate;
        even[j] = times(rate_j, nodes.even[j]);
        slope[j] = times(rate_j, nodes.slope[j]);
    }
    const Vec3<T> phi = rotation_vector(Rate<T, Order>::of(times(rate, nodes.middle), even, slope));
    return {m + nodes.change, quaternion_exp(phi)};
}

}  // namespace magnus
POLHODE_NAMESPACE_END

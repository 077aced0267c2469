#pragma once

/// A unit of momentum, a power of two, so that no square of a momentum overflows or underflows.
/// With m = unit u and time s = unit t the equations of motion are the same.

#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN()

/// The largest power of two not above a positive size, limited so that its reciprocal is finite.
template <class T>
POLHODE_INLINE T power_of_two_near(const T& size) {
    return min(max(power_of_two_below(size), 0x1p-1022), 0x1p1022);
}
/// True if momenta with this largest component can use the unit 1.
template <class T>
POLHODE_INLINE mask_t<T> is_usual(const T& largest) {
    return (largest >= 0x1p-20) & (largest <= 0x1p20);
}
/// The unit for a momentum with this largest component; 1 for a body at rest.
template <class T>
POLHODE_INLINE T momentum_unit(const T& largest) {
    return select(is_usual(largest) | (largest == 0.0), T(1.0), power_of_two_near(largest));
}

POLHODE_NAMESPACE_END

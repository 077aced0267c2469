#pragma once

#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN
namespace elliptic {
template <class T>
POLHODE_INLINE T rf(T x, T y, T z) {
    return x + y + z;
}
}  // namespace elliptic
POLHODE_NAMESPACE_END

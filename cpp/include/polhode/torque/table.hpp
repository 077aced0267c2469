#pragma once

#include "polhode/torque/arguments.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// Parameters of a model that come from the interval of the time, after those of the body: a vector
/// that is a cubic of the time t since the origin of the interval, c0 + c1 t + c2 t^2 + c3 t^3,
/// three components each.
inline constexpr int cubic_numbers = 12;

template <class T>
POLHODE_INLINE Vec3<T> cubic(const T* c, double t) {
    const auto at = [&](int k) POLHODE_INLINE_LAMBDA {
        return fma(fma(fma(c[9 + k], T(t), c[6 + k]), T(t), c[3 + k]), T(t), c[k]);
    };
    return {at(0), at(1), at(2)};
}
/// Its rate.
template <class T>
POLHODE_INLINE Vec3<T> cubic_rate(const T* c, double t) {
    const auto at = [&](int k) POLHODE_INLINE_LAMBDA {
        return fma(fma(T(3 * t), c[9 + k], 2.0 * c[6 + k]), T(t), c[3 + k]);
    };
    return {at(0), at(1), at(2)};
}

/// The value and the rate in place of the first six numbers.
template <class T>
POLHODE_INLINE void value_and_rate(T* c, double t) {
    const Vec3<T> value = cubic(c, t), rate = cubic_rate(c, t);
    c[0] = value.x, c[1] = value.y, c[2] = value.z;
    c[3] = rate.x, c[4] = rate.y, c[5] = rate.z;
}

/// How many parameters of a model come from the table.
template <class M>
constexpr int tabulated() {
    if constexpr (requires { M::tabulated; }) return M::tabulated;
    return 0;
}

/// The torque of a model M from its parameters before `at_time`.
template <class M, class T, class F>
POLHODE_INLINE Vec3<T> torque_at(const T* p, double t, const Vec3<T>& m, const F& frame) {
    if constexpr (requires(T* now) { M::at_time(now, t); }) {
        T now[M::parameters];
        for (int k = 0; k < M::parameters; ++k) now[k] = p[k];
        M::at_time(static_cast<T*>(now), t);
        return M::torque(static_cast<const T*>(now), t, m, frame);
    } else {
        return M::torque(p, t, m, frame);
    }
}

/// The arguments of a model whose parameters change with time: those of the interval of a.t.
inline TorqueArguments in_interval(TorqueArguments a) {
    TorqueTable& table = a.extra.table;
    std::ptrdiff_t low = 0, high = table.count - 1;
    while (low < high) {
        const std::ptrdiff_t middle = low + (high - low) / 2;
        if (a.t < table.bounds[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    table.values.data += low * table.stride;
    a.t -= table.origins[low];
    return a;
}

POLHODE_NAMESPACE_END

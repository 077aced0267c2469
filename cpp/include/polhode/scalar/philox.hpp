#pragma once

/// Random numbers that are a function of a counter.

#include <array>
#include <cstdint>

#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN()

/// Random numbers as a function of counter and key: Philox4x64-10 [SMDS11] Sec. 3.3, as
/// numpy.random.Philox.
inline std::array<std::uint64_t, 4> philox(std::array<std::uint64_t, 4> x,
                                           std::array<std::uint64_t, 2> key) {
    __extension__ using Wide = unsigned __int128;
    for (int round = 0; round < 10; ++round) {
        const Wide a = static_cast<Wide>(0xD2E7470EE14C6C93U) * x[0];
        const Wide b = static_cast<Wide>(0xCA5A826395121157U) * x[2];
        const auto high = [](Wide w) { return static_cast<std::uint64_t>(w >> 64); };
        x = {high(b) ^ x[1] ^ key[0],
             static_cast<std::uint64_t>(b),
             high(a) ^ x[3] ^ key[1],
             static_cast<std::uint64_t>(a)};
        key[0] += 0x9E3779B97F4A7C15U, key[1] += 0xBB67AE8584CAA73BU;
    }
    return x;
}

/// Three normal numbers from four whole numbers 0 ... 2^53 - 1: Box and Muller.
template <class T>
POLHODE_INLINE Vec3<T> normals(const T (&x)[4]) {
    const auto radius = [](const T& n)
                            POLHODE_INLINE_LAMBDA { return sqrt(-2.0 * log(0x1p-53 * (n + 1.0))); };
    const SinCos<T> first = sincos_of_turns(0x1p-53 * x[1]),
                    second = sincos_of_turns(0x1p-53 * x[3]);
    const T r = radius(x[0]);
    return {r * first.cos, r * first.sin, radius(x[2]) * second.cos};
}

POLHODE_NAMESPACE_END

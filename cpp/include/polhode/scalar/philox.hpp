#pragma once

/// @file
/// Random numbers that are a function of a counter.

#include <array>
#include <cmath>
#include <cstdint>

#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN

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
/// Three normal numbers from four words of 53 bits that count: Box and Muller.
inline std::array<double, 3> normals(const std::array<std::uint64_t, 4>& words) {
    std::array<double, 4> z{};
    for (std::size_t k = 0; k < 4; k += 2) {
        const double u = static_cast<double>((words[k] >> 11) + 1) * 0x1p-53;
        const double angle =
            0x1.921fb54442d18p+2 * (static_cast<double>(words[k + 1] >> 11) * 0x1p-53);
        const double radius = std::sqrt(-2 * std::log(u));
        z[k] = radius * std::cos(angle), z[k + 1] = radius * std::sin(angle);
    }
    return {z[0], z[1], z[2]};
}

POLHODE_NAMESPACE_END

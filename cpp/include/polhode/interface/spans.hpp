#pragma once

/// The lengths of the spans that a C++ program gives, and names that are types.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

inline void require_length(const char* name,
                           std::size_t numbers,
                           std::size_t wanted,
                           const std::string& hint = "") {
    if (numbers != wanted) {
        throw std::invalid_argument(std::string(name) + " must have " + std::to_string(wanted) +
                                    (wanted == 1 ? " number" : " numbers") + hint + ", not " +
                                    std::to_string(numbers));
    }
}
/// Of an argument that may be shared by all bodies.
inline std::int64_t stride(const char* name,
                           std::size_t numbers,
                           std::size_t bodies,
                           std::size_t each) {
    if (numbers == each) return 0;
    const std::string shared = bodies == 1 ? "" : ", or " + std::to_string(each) + " for all";
    require_length(name, numbers, bodies * each, shared);
    return static_cast<std::int64_t>(each);
}
inline std::size_t bodies(std::span<const double> m, std::span<const double> q) {
    const std::size_t n = m.size() / 3;
    require_length("m", m.size(), 3 * n, ", three a body");
    require_length("q", q.size(), 4 * n, ", four for each body of m");
    return n;
}

/// A text that is part of a type.
template <std::size_t N>
struct Text {
    char letters[N];
    consteval Text(const char (&text)[N]) {
        for (std::size_t i = 0; i < N; ++i) letters[i] = text[i];
    }
};
template <Text name>
struct Named {
    static constexpr const char* text = name.letters;
};

POLHODE_NAMESPACE_END

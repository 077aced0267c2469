#pragma once

/// Refuses calls in which an array that is written shares memory with another one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "polhode/interface/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(interface)

/// An array of a call, which may be null.
struct Array {
    const double* data;
    std::int64_t numbers;
    const char* name;
};

inline void require_apart(std::span<const Array> written, std::span<const Array> read) {
    const auto begins_in = [](const Array& a, const Array& b) {
        const auto distance =
            reinterpret_cast<std::uintptr_t>(a.data) - reinterpret_cast<std::uintptr_t>(b.data);
        return distance < sizeof(double) * static_cast<std::uintptr_t>(b.numbers);
    };
    const auto compare = [&](const Array& a, const Array& b) {
        if (a.data == nullptr || b.data == nullptr) return;
        if (begins_in(a, b) || begins_in(b, a)) {
            throw std::invalid_argument(std::string(a.name) + " overlaps " + b.name);
        }
    };
    for (std::size_t i = 0; i < written.size(); ++i) {
        for (const Array& other : written.first(i)) compare(written[i], other);
        for (const Array& other : read) compare(written[i], other);
    }
}

/// @param each  numbers of an attitude
inline void require_apart(const Steps& x, std::ptrdiff_t each) {
    const std::int64_t v = 3 * x.bodies, q = each * x.bodies;
    const Array written[] = {{x.m_out, v, "m_out"}, {x.q_out, q, "q_out"}};
    const Array read[] = {{x.inertia, x.inertia_stride == 0 ? 3 : v, "inertia"},
                          {x.m == x.m_out ? nullptr : x.m, v, "m"},
                          {x.q == x.q_out ? nullptr : x.q, q, "q"},
                          {x.h, x.h_stride == 0 ? 1 : x.bodies, "h"}};
    require_apart(written, read);
}

/// @param saves  states in m_saved ...
inline void require_apart(const Integration& x, std::ptrdiff_t each, std::int64_t saves) {
    const std::int64_t v = 3 * x.bodies, q = each * x.bodies;
    const Array written[] = {{x.m, v, "m"},
                             {x.q, q, "q"},
                             {x.x, v, "x"},
                             {x.p, v, "p"},
                             {x.m_saved, saves * v, "m_saved"},
                             {x.q_saved, saves * q, "q_saved"},
                             {x.x_saved, saves * v, "x_saved"},
                             {x.p_saved, saves * v, "p_saved"}};
    const Array read[] = {{x.inertia, x.inertia_stride == 0 ? 3 : v, "inertia"},
                          {x.mass, x.mass_stride == 0 ? 1 : x.bodies, "mass"}};
    require_apart(written, read);
}

POLHODE_NAMESPACE_END

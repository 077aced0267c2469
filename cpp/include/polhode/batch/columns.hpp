#pragma once

/// Arrays stored component by component, and copies from and to other layouts.

#include <algorithm>

#include "polhode/batch/views.hpp"

POLHODE_NAMESPACE_BEGIN(batch)

/// One register of a pack.
template <class T>
struct one_register {
    using type = T;
};
template <int W, int U>
struct one_register<pack<W, U>> {
    using type = pack<W, 1>;
};

/// Arrays stored component by component, with a stride that the compiler knows.
template <class AnyView>
POLHODE_INLINE AnyView columns(AnyView v) {
    v.body = 1;
    return v;
}

/// Copies whole packs from rows of C numbers per body to columns, or back.  Returns the number of
/// bodies.
template <int C>
std::ptrdiff_t transpose(const View& from, const MutableView& to, std::ptrdiff_t count) {
    using T = one_register<batch_real>::type;
    constexpr int lanes = lanes_v<T>;
    const auto rows = [](auto v) {
        v.body = C, v.component = 1;
        return v;
    };
    std::ptrdiff_t i = 0;
    T x[C];
    for (; to.body == 1 && i + lanes <= count; i += lanes) {
        load(rows(from), i, lanes, x);
        store(columns(to), i, lanes, x);
    }
    for (; from.body == 1 && i + lanes <= count; i += lanes) {
        load(columns(from), i, lanes, x);
        store(rows(to), i, lanes, x);
    }
    return i;
}
/// Copies from one layout of `components` numbers per body to another.
inline void copy(const View& from, const MutableView& to, int components, std::ptrdiff_t count) {
    const auto rows = [components](const View& v) {
        return v.body == components && v.component == 1;
    };
    if (rows(from) && rows(to)) {
        std::copy_n(from.data, count * components, to.data);
        return;
    }
    std::ptrdiff_t first = 0;
    if ((rows(from) && to.body == 1) || (from.body == 1 && rows(to))) {
        if (components == 3) first = transpose<3>(from, to, count);
        if (components == 4) first = transpose<4>(from, to, count);
    }
    for (int k = 0; k < components; ++k) {
        const double* source = from.data + k * from.component;
        double* target = to.data + k * to.component;
        if (from.body == 1 && to.body == 1) {
            std::copy_n(source, count, target);
        } else {
            for (std::ptrdiff_t i = first; i < count; ++i)
                target[i * to.body] = source[i * from.body];
        }
    }
}

POLHODE_NAMESPACE_END

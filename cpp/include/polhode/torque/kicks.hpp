#pragma once

#include <cmath>

#include "polhode/batch/columns.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/torque/arguments.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque {

using batch::columns;

/// Marks the bodies first <= k < end whose vector the torque changed from `before`, which is
/// finite, to `after`, which is not finite.
[[gnu::noinline, gnu::cold]] inline void mark_nonfinite(bool* nonfinite,
                                                        std::ptrdiff_t first,
                                                        std::ptrdiff_t end,
                                                        const View& before,
                                                        const View& after) {
    for (std::ptrdiff_t k = first; k < end; ++k) {
        const auto finite = [k](const View& from) {
            const double* x = from.data + k * from.body;
            return std::isfinite(x[0]) && std::isfinite(x[from.component]) &&
                   std::isfinite(x[2 * from.component]);
        };
        if (finite(before) && !finite(after)) nonfinite[k] = true;
    }
}

/// The kicks of a pack by f, its torque, which has been stored to `out`.
template <class T>
POLHODE_INLINE void do_kicks(const TorqueArguments& a, std::ptrdiff_t i, const Vec3<T>& f) {
    constexpr int lanes = lanes_v<T>;
    const Kicks& kicks = a.kicks;
    if (any(!is_finite(f.x + f.y + f.z))) [[unlikely]] {
        mark_nonfinite(kicks.nonfinite, i, i + lanes < a.bodies ? i + lanes : a.bodies, a.m, a.out);
    }
    Vec3<T> m = batch::load_vec3<T>(columns(a.m), i, lanes);
    m = axpy(m, T(kicks.factor[0]), f);
    if (kicks.count > 1) {
        if (kicks.between.data != nullptr) batch::store_vec3(columns(kicks.between), i, lanes, m);
        m = axpy(m, T(kicks.factor[1]), f);
    }
    batch::store_vec3(columns(kicks.m), i, lanes, m);
}

/// The kicks of bodies begin <= i < end, whose torque has been stored to `out`.
template <class T>
void do_kicks(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        do_kicks(a, i, batch::load_vec3<T>(columns(View(a.out)), i, lanes_v<T>));
    }
}

}  // namespace torque
POLHODE_NAMESPACE_END

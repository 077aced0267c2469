#pragma once

/// Adds a torque that a model has just evaluated to m, in the same loop; which kicks a step has is
/// in splitting/kick.hpp.

#include <cmath>

#include "polhode/batch/columns.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/torque/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

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

/// W / 2 of a modified potential, see splitting/schemes.hpp.  A torque about the axis of a rod,
/// where v = 0, has no effect.
/// @param v     the angular acceleration I^-1 f
/// @param rate  of the torque while the body turns at v
template <class T>
POLHODE_INLINE Vec3<T> half_w(const Vec3<T>& f, const Vec3<T>& v, const Vec3<T>& rate) {
    return cross(where_nonzero(v, f), v) - rate;
}

/// The kicks of a pack by f, its torque, which has been stored to `out`.
/// @param rate  function of v, see `half_w`, called if a kick is modified
template <class T, class Rate>
POLHODE_INLINE void do_kicks(const TorqueArguments& a,
                             std::ptrdiff_t i,
                             const Vec3<T>& f,
                             const Rate& rate) {
    constexpr int lanes = lanes_v<T>;
    const Kicks& kicks = a.kicks;
    if (any(!is_finite(f.x + f.y + f.z))) [[unlikely]] {
        mark_nonfinite(kicks.nonfinite, i, i + lanes < a.bodies ? i + lanes : a.bodies, a.m, a.out);
    }
    Vec3<T> m = batch::load_vec3<T>(columns(a.m), i, lanes), w{};
    if (kicks.modified[0] != 0 || kicks.modified[1] != 0) {
        const View& inverse = kicks.inverse_inertia;
        const Vec3<T> v = times(batch::load_vec3<T>(inverse, inverse.body != 0 ? i : 0, lanes), f);
        w = half_w(f, v, rate(v));
    }
    const auto kick = [&](int k) POLHODE_INLINE_LAMBDA {
        m = axpy(m, T(kicks.factor[k]), f);
        if (kicks.modified[k] != 0) m = axpy(m, T(-2 * kicks.modified[k]), w);
    };
    kick(0);
    if (kicks.count > 1) {
        if (kicks.between.data != nullptr) batch::store_vec3(columns(kicks.between), i, lanes, m);
        kick(1);
    }
    batch::store_vec3(columns(kicks.m), i, lanes, m);
}
/// The same without a modified potential.
template <class T>
POLHODE_INLINE void do_kicks(const TorqueArguments& a, std::ptrdiff_t i, const Vec3<T>& f) {
    do_kicks(a, i, f, [](const Vec3<T>& v) POLHODE_INLINE_LAMBDA { return v; });
}

/// The kicks of bodies begin <= i < end, whose torque has been stored to `out`.
template <class T>
void do_kicks(const TorqueArguments& a, std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
        do_kicks(a, i, batch::load_vec3<T>(columns(View(a.out)), i, lanes_v<T>));
    }
}

POLHODE_NAMESPACE_END

#pragma once

/// Nosé-Hoover chains for the temperatures of rotation and translation of the whole batch.

#include <cmath>
#include <utility>

#include "polhode/splitting/block.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// The links of a chain, x and v each, over the time h [MTTK96], which scales momenta of twice the
/// kinetic energy `twice` and returns the factor.  With Q_1 = N kT tau^2, Q_k = kT tau^2:
///
///     v_1' = (twice / (N kT) - 1) / tau^2 - v_1 v_2,     x_k' = v_k,
///     v_k' = (Q_{k-1} v_{k-1}^2 / kT - 1) / tau^2 - v_k v_{k+1},     m' = -v_1 m.
///
/// @param freedom  N, degrees of freedom
inline double chain_step(
    const NoseHoover& bath, double freedom, double* links, double twice, double h) {
    constexpr double w = 1.3512071919596578;  // 1 / (2 - 2^(1/3)) [Yos90]: three parts, order 4
    const double rate = 1 / (bath.time * bath.time);
    const int last = bath.links - 1;
    const auto v = [links](int k) -> double& { return links[2 * k + 1]; };
    double scale = 1;
    for (const double part : {w, 1 - 2 * w, w}) {
        const double d = part * h;
        const auto half_kick = [&](int k) {
            const double force =
                k == 0 ? (scale * scale * twice / (freedom * bath.temperature) - 1) * rate
                       : (k == 1 ? freedom : 1.0) * v(k - 1) * v(k - 1) - rate;
            const double drag = k < last ? std::exp(-d / 4 * v(k + 1)) : 1.0;
            v(k) = (v(k) * drag + d / 2 * force) * drag;
        };
        for (int k = last; k >= 0; --k) half_kick(k);
        for (int k = 0; k <= last; ++k) links[2 * k] += d * v(k);
        scale *= std::exp(-d * v(0));
        for (int k = 0; k <= last; ++k) half_kick(k);
    }
    return scale;
}

/// The chains of m and p over the time h.  A body that is not finite does not count.
/// @param terms  memory of a column
template <class T>
void nose_hoover(const Block<T>& block, double h, const MutableView& terms) {
    const NoseHoover& bath = block.problem.nose_hoover;
    const auto thermalise = [&](const MutableView& v, int chain, const auto& inverse) {
        const double freedom = bath.freedom[chain];
        if (v.data == nullptr || !(freedom > 0)) return;
        block.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            const Vec3<T> x = block.vec3(v, i), m = block.vec3(block.m, i);
            const T twice = dot(x, times(inverse(i), x));
            const T term[1] = {select(is_finite(twice + (m.x + m.y + m.z)), twice, T(0.0))};
            batch::store(batch::columns(terms), i, lanes_v<T>, term);
        });
        double sum = 0;  // one after another: the same bits at all levels
        for (std::ptrdiff_t i = 0; i < block.count; ++i) sum += terms.data[i];
        const T scale(chain_step(bath, freedom, bath.now + 2 * bath.links * chain, sum, h));
        block.for_each_pack([&](std::ptrdiff_t i) POLHODE_INLINE_LAMBDA {
            block.store(v, i, scale * block.vec3(v, i));
        });
    };
    thermalise(block.m, 0, [&](std::ptrdiff_t i) { return block.inverse_inertia(i); });
    thermalise(block.companions[Companion::momentum], 1, [&](std::ptrdiff_t i) {
        const T inverse = T(1.0) / block.mass(i);
        return Vec3<T>{inverse, inverse, inverse};
    });
}

POLHODE_NAMESPACE_END

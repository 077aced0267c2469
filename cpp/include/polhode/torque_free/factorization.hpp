#pragma once

/// The factorization method of [Gus10] Sec. 4.3.2: q = q0 p0^-1 y p, the angle of y by Gauss's rule
/// in time.

#include "polhode/torque_free/exact_momentum.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// One step of order 2 Nodes: m exactly, dq = p(0)^-1 y p(h), y the turn by psi about axis 3.
///
/// @param body, m, h  as in exact_step: sorted axes, largest component of m of size about 1
/// @param c0, c3      of the frame [Gus10] eq. (36), c0^2 + c3^2 = 1/2
/// @return            m within a few eps (1 + angle) |m|; the error of dq is that of the angle
///                    psi about m, of order h^(2 Nodes + 1).  dq takes m to the new momentum
///                    whatever psi is, so the spatial momentum is kept.  step(-h) undoes step(h).
///                    Every state, on an axis and on the separatrix too
///
/// With 2e3 . p dp^-1/dt worked out, the integrand of (33) is
///
///     psi' = (2T + |m| m3/I3) / (|m| + m3),
///
/// a quotient of positive numbers for m3 >= 0.  It is singular at m3 = -|m|.  The cure: axis 3 is
/// made the one that m circles, where psi' varies least, by axes 1 and 3 exchanging roles and a
/// half turn about axis 1, as in exact.hpp; then m3 >= 0 throughout.  What decides is the momentum
/// in the middle of the step, and beside the separatrix, where rounding would, the rule of
/// exact.hpp, by which |m| + m3 > 0.29 |m|: the step back has to decide likewise.
template <int Nodes, class T>
POLHODE_INLINE FreeStep<T> factorization_step(
    const Inertia<T>& body, const Vec3<T>& m, T h, double c0, double c3) {
    using namespace exact_detail;
    using quadrature::from_distance;
    constexpr quadrature::GaussLegendre rule{Nodes};
    constexpr int first = rule.has_middle() ? 1 : 0;
    const auto nodes = momentum_nodes<Nodes / 2>(body, m, h, rule);
    const Vec3<T>& middle = nodes.middle;
    const T m2m2 = middle.y * middle.y;
    const T P = body.p * (body.I1 * body.inverse_I3);  // P, R, K of exact.hpp over the time I1
    const T D1 = fma(body.k * middle.x, middle.x, P * m2m2);
    const T D3 = fma(body.k * middle.z, middle.z, body.r * m2m2);
    const T side1 = body.r * (middle.x * middle.x);  // the larger of the two is circled
    const T side3 = P * (middle.z * middle.z);
    const mask_t<T> clear = abs(side1 - side3) > 0x1p-20 * (side1 + side3);
    const mask_t<T> beside = !clear;
    const mask_t<T> swapped = (clear & (side1 > side3)) | (beside & (P * D1 < body.r * D3));
    const auto axes = FrameAxes<T>::of(swapped, middle);
    const T size = norm(middle);
    const T G = select(size == 0.0, T(1.0), size);  // at rest psi = 0
    const T energy_2 = fma(D1, body.inverse_I1, (size * size) * body.inverse_I3);  // 2T
    const T g = G * select(swapped, body.inverse_I1, body.inverse_I3);

    T half_psi = 0.0;
    if constexpr (rule.has_middle()) {
        const T weight = rule.pair(0).weight.template as<T>(), m3 = axes.third(middle);
        half_psi = (0.5 * weight) * (fma(g, m3, energy_2) / (G + m3));
    }
    POLHODE_UNROLL
    for (int j = 0; j < Nodes / 2; ++j) {
        // Half the sum of the integrand at the two nodes, (a +- g x slope)/(b +- x slope); D
        // cancels.
        const T even = axes.third(nodes.even[j]);
        T slope = axes.third(nodes.slope[j]);
        T a = fma(g, even, energy_2 * nodes.D[j]);
        T b = fma(G, nodes.D[j], even);
        // Far along the separatrix b is as small as sech^2.
        const mask_t<T> low = b < 0x1p-500;
        if (any(low)) {
            const T up = select(low, T(0x1p500), T(1.0));
            a = up * a;
            b = up * b;
            slope = up * slope;
        }
        const quadrature::GaussPair& pair = rule.pair(j + first);
        const T x2 = from_distance<T>(pair, [](auto x) { return x * x; });
        const T odd2 = x2 * (slope * slope);
        half_psi =
            fma(pair.weight.template as<T>(), fma(a, b, -(g * odd2)) / fma(b, b, -odd2), half_psi);
    }
    const SinCos<T> half = sincos(h * half_psi);

    // The frame (34) to (36) is p = (c0 + c3 k) (|m| + m3, m2, -m1, 0)/sqrt(|m| (|m| + m3)).  The
    // first factor commutes with y: what is left of it in p^-1 y p is its norm, which dividing by
    // the norm of the product takes out.
    const T frame = c0 * c0 + c3 * c3;
    const Vec3<T> a = axes.from_sorted(m), change = axes.from_sorted(nodes.change);
    const Vec3<T> mu = a + change;
    const T Q = fma(a.x, mu.x, a.y * mu.y), X = fma(a.y, change.x, -(a.x * change.y));
    const Complex<T> y{frame * half.cos, frame * half.sin};
    return {m + nodes.change, unit_rotation(axes, a, change, mu, G + a.z, G + mu.z, Q, X, y)};
}

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// The exact momentum at several times of one step, without the attitude.
///
/// What the semi-exact methods of [Gus10] evaluate at Gauss nodes: a node costs sn, cn and dn and
/// the addition theorem, no phase and no integral of the third kind.

#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/torque_free/exact.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque_free {

/// Momenta at times symmetric about the middle t of a step h, at the distances x of a rule's pairs:
///
///     m(t +- x h) = (even +- x slope) / D.
template <class T, int Pairs>
struct MomentumNodes {
    static constexpr int room = Pairs > 0 ? Pairs : 1;
    Vec3<T> middle;
    Vec3<T> change;  ///< end minus start
    Vec3<T> even[room], slope[room];
    T D[room];
};

namespace momentum_detail {

/// sigma = sn(v)/lambda, cn(v), dn(v).
template <class T>
struct Increment {
    T sigma, c, d;
};

/// sn(v)/v - 1 of N increments by one tier of polynomials.
template <int N, class T, class Polynomial>
POLHODE_INLINE void evaluate(const T (&u)[N], const T (&r)[N], Polynomial polynomial, T (&S)[N]) {
    POLHODE_UNROLL
    for (int j = 0; j < N; ++j) S[j] = polynomial(u[j], r[j]);
}
template <int N, class T>
POLHODE_INLINE void blend(const mask_t<T>& mask, const T (&a)[N], T (&S)[N]) {
    POLHODE_UNROLL
    for (int j = 0; j < N; ++j) S[j] = select(mask, a[j], S[j]);
}

/// sn(v)/v - 1 by the shortest polynomials that w, the largest of the N, allows, see exact.hpp.
template <int N, class T>
POLHODE_INLINE void sn_minus_one(T w2, const T (&u)[N], const T (&r)[N], T (&S)[N]) {
    const auto a = [](T x, T y) { return sn_minus_one_a(x, y); };
    const auto b = [](T x, T y) { return sn_minus_one_b(x, y); };
    const auto c = [](T x, T y) { return sn_minus_one_c(x, y); };
    const mask_t<T> tier_a = w2 <= step_w_a * step_w_a;
    if (all(tier_a)) return evaluate(u, r, a, S);
    const mask_t<T> tier_b = w2 <= step_w_b * step_w_b;
    T shorter[N];
    if (all(tier_b)) {
        evaluate(u, r, b, S);
    } else {
        evaluate(u, r, c, S);
        if (any(tier_b)) {
            evaluate(u, r, b, shorter);
            blend(tier_b, shorter, S);
        }
    }
    if (any(tier_a)) {
        evaluate(u, r, a, shorter);
        blend(tier_a, shorter, S);
    }
}

/// v -> 2 v, the small and the large form of exact_detail::double_increment.  The small one gives
/// 1 - cn and 1 - dn as well.
template <bool Small, class T>
POLHODE_INLINE Increment<T> doubled(T alpha, T beta, T delta, const Increment<T>& v, T& pc, T& pd) {
    const T sigma2 = v.sigma * v.sigma;
    const T x = alpha * sigma2;
    const T cd = v.c * v.d;
    const T c2 = v.c * v.c;
    const T d2 = v.d * v.d;
    const T R = fma(x, d2, c2);
    if constexpr (Small) {
        const T kx = beta * sigma2;
        const T one_cd = 1.0 + cd;
        const T tt = 1.0 / (one_cd * R);
        const T inverse_R = tt * one_cd;
        const T xkx = x * kx;
        const T rho = fma(xkx, one_cd, xkx - (x + kx)) * tt;  // cd/R - 1
        const T sigma_2 = v.sigma + v.sigma;
        pc = (x + x) * (d2 * inverse_R);
        pd = (kx + kx) * (c2 * inverse_R);
        return {fma(sigma_2, rho, sigma_2), 1.0 - pc, 1.0 - pd};
    } else {
        const T inverse_R = 1.0 / R;
        const T cd2 = cd * cd;
        const T ds = delta * sigma2;
        return {(v.sigma + v.sigma) * (cd * inverse_R),
                exact_detail::at_least((cd2 - ds) * inverse_R, 1e-150),
                exact_detail::at_least((cd2 + ds) * inverse_R, 1e-150)};
    }
}

/// Even and odd part, times D = 1 - c1 c2 (sigma m2)^2, of the momentum about the time when it is
/// m: the addition theorem of sn, cn, dn.
template <class T>
struct Addition {
    Vec3<T> m;
    T p23, p13, p12;  ///< c1 m2 m3, m1 m3, c2 m1 m2
    T c1, c1c2;

    POLHODE_INLINE static Addition of(const Inertia<T>& body, const Vec3<T>& m) {
        return {
            m, body.c1 * (m.y * m.z), m.x * m.z, body.c2 * (m.x * m.y), body.c1, body.c1 * body.c2};
    }
    POLHODE_INLINE T D(const Increment<T>& v, const mask_t<T>& far, bool any_far) const {
        const T sigma_m2 = v.sigma * m.y;
        T D = fma(-c1c2, sigma_m2 * sigma_m2, T(1.0));
        if (any_far) {  // the same where it may be small: a sum of squares
            const T sigma_m3 = v.sigma * m.z;
            D = select(far, fma(c1 * sigma_m3, sigma_m3, v.c * v.c), D);
        }
        return D;
    }
    /// s is sigma times a factor wanted.
    POLHODE_INLINE Vec3<T> odd(const Increment<T>& v, const T& s) const {
        return {-(p23 * (s * v.d)), p13 * s, -(p12 * (s * v.c))};
    }
    POLHODE_INLINE Vec3<T> even(const Increment<T>& v) const {
        return {m.x * v.c, m.y * (v.c * v.d), m.z * v.d};
    }
};

}  // namespace momentum_detail

/// The exact momentum at the nodes of a symmetric rule on the step, in its middle and at its end.
///
/// @param body, m, h  as in exact_step: sorted axes, largest component of m of size about 1
/// @param rule        its Pairs pairs are the nodes; its middle node, if it has one, is the middle
/// @return            middle and end within a few eps (1 + angle) |m|, plus what one ulp of the
/// input
///                    does.  `change` is a product, so that h = 0 gives zero and small steps lose
///                    nothing.  NaN as in exact_step
///
/// From the start to the middle as exact_step goes; from the middle to t +- x h with sigma odd and
/// cn, dn even in the increment, [DLMF] 22.8.1-3.  The end is the start plus twice the odd part at
/// h/2. No labels: without the integral of the third kind either one is as good.
template <int Pairs, class T>
POLHODE_INLINE MomentumNodes<T, Pairs> momentum_nodes(const Inertia<T>& body,
                                                      const Vec3<T>& m,
                                                      T h,
                                                      quadrature::GaussLegendre rule) {
    using namespace momentum_detail;
    using quadrature::from_distance;
    constexpr int N = 1 + Pairs;  // increments: half the step, then the nodes
    const int first = rule.has_middle() ? 1 : 0;
    const T m2m2 = m.y * m.y;
    const T alpha = body.c1 * fma(m.z, m.z, body.c2 * m2m2);
    const T beta = body.c2 * fma(m.x, m.x, body.c1 * m2m2);

    // Base: 2^-J of every increment, J from half the step.
    const T K = 0.5 * (body.kappa * h);
    const T w2 = max(alpha, beta) * (K * K);
    const mask_t<T> doubles = w2 > step_w_c * step_w_c;
    const bool any_doubles = any(doubles);
    T J = 0.0;
    T K0 = K;
    if (any_doubles) {
        J = rint(fma(exponent(w2 * (1.0 / (step_w_c * step_w_c))), T(0.5), T(0.75)));
        J = select(doubles & (w2 < 0x1p100), J, T(0.0));
        K0 = K * power_of_two(-J);
        K0 = select(doubles & !(w2 < 0x1p100), nan<T>(), K0);
    }
    const T K0_2 = K0 * K0;
    T k[N], u[N], r[N], S[N];
    k[0] = K0;
    u[0] = (alpha + beta) * K0_2;
    r[0] = (alpha * K0_2) * (beta * K0_2);
    POLHODE_UNROLL
    for (int j = 1; j < N; ++j) {
        const T x = 2.0 * rule.pair(j - 1 + first).distance.template as<T>();
        const T x2 = x * x;
        k[j] = K0 * x;
        u[j] = u[0] * x2;
        r[j] = r[0] * (x2 * x2);
    }
    sn_minus_one(w2, u, r, S);
    Increment<T> v[N];
    T pc, pd;  // of half the step
    POLHODE_UNROLL
    for (int j = 0; j < N; ++j) {
        v[j].sigma = fma(k[j], S[j], k[j]);
        const T sigma2 = v[j].sigma * v[j].sigma;
        const T x = alpha * sigma2;
        const T kx = beta * sigma2;
        if (j == 0) {
            pc = x * sqrt_complement(x);
            pd = kx * sqrt_complement(kx);
            v[j].c = 1.0 - pc;
            v[j].d = 1.0 - pd;
        } else {
            v[j].c = fma(-x, sqrt_complement(x), T(1.0));
            v[j].d = fma(-kx, sqrt_complement(kx), T(1.0));
        }
    }
    constexpr int small_doublings = 3;
    mask_t<T> far = doubles;
    bool any_far = false;
    if (any_doubles) {
        far = J > double(small_doublings);
        any_far = any(far);
        const T delta = fma(body.c1 * m.z, m.z, -(body.c2 * (m.x * m.x)));
        for (int i = 1; any(J >= double(i)); ++i) {
            const mask_t<T> active = J >= double(i);
            for (int j = 0; j < N; ++j) {
                T new_pc = pc, new_pd = pd;
                const Increment<T> w =
                    i <= small_doublings ? doubled<true>(alpha, beta, delta, v[j], new_pc, new_pd)
                                         : doubled<false>(alpha, beta, delta, v[j], new_pc, new_pd);
                v[j] = {select(active, w.sigma, v[j].sigma),
                        select(active, w.c, v[j].c),
                        select(active, w.d, v[j].d)};
                if (j == 0) {
                    pc = select(active, new_pc, pc);
                    pd = select(active, new_pd, pd);
                }
            }
        }
    }

    MomentumNodes<T, Pairs> nodes;
    {  // The middle, by increments.
        const Addition<T> add = Addition<T>::of(body, m);
        const T inverse_D = 1.0 / add.D(v[0], far, any_far);
        const T sigma_m2 = v[0].sigma * m.y;
        const T gamma = add.c1c2 * (sigma_m2 * sigma_m2);
        const T pcd = fma(-pc, pd, pc + pd);
        const Vec3<T> even{m.x * (gamma - pc), m.y * (gamma - pcd), m.z * (gamma - pd)};
        const Vec3<T> odd = add.odd(v[0], v[0].sigma * inverse_D);
        nodes.middle = m + Vec3<T>{fma(even.x, inverse_D, odd.x),
                                   fma(even.y, inverse_D, odd.y),
                                   fma(even.z, inverse_D, odd.z)};
        if (any_far) nodes.middle = select<T>(far, inverse_D * add.even(v[0]) + odd, nodes.middle);
    }
    const Addition<T> add = Addition<T>::of(body, nodes.middle);
    nodes.change = add.odd(v[0], (v[0].sigma + v[0].sigma) / add.D(v[0], far, any_far));
    POLHODE_UNROLL
    for (int j = 0; j < Pairs; ++j) {
        const T inverse_x = from_distance<T>(rule.pair(j + first), [](auto x) { return 1.0 / x; });
        nodes.even[j] = add.even(v[j + 1]);
        nodes.slope[j] = add.odd(v[j + 1], inverse_x * v[j + 1].sigma);
        nodes.D[j] = add.D(v[j + 1], far, any_far);
    }
    return nodes;
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

#pragma once

/// The exact momentum at several times of one step, without the attitude.
///
/// The semi-exact methods of [Gus10] evaluate it at Gauss nodes.  A node costs sn, cn and dn and
/// the addition theorem, but no phase and no integral of the third kind.

#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/torque_free/exact.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

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

using exact_detail::Increment;  // s = sn(v)/(lambda h/2)

/// sn(v)/v - 1 of N increments; w is the largest of them.
template <int N, class T>
struct Base {
    T S[N];
    POLHODE_INLINE friend Base blend(const mask_t<T>& mask, const Base& a, const Base& b) {
        Base r;
        POLHODE_UNROLL
        for (int j = 0; j < N; ++j) r.S[j] = select(mask, a.S[j], b.S[j]);
        return r;
    }
    POLHODE_INLINE static Base of(T w2, const T (&u)[N], const T (&r)[N]) {
        return exact_detail::by_tier<Base>(w2, [&]<char tier>() POLHODE_INLINE_LAMBDA {
            Base p;
            POLHODE_UNROLL
            for (int j = 0; j < N; ++j) p.S[j] = sn_minus_one<tier>(u[j], r[j]);
            return p;
        });
    }
};

/// Even and odd part, times D = 1 - P R (s m2)^2, of the momentum about the time at which the
/// momentum is m: the addition theorem of sn, cn, dn.
template <class T>
struct Addition {
    Vec3<T> m;
    T P23, K13, R12;  ///< P m2 m3, K m1 m3, R m1 m2
    T PR, PK;

    POLHODE_INLINE static Addition of(const T& P, const T& R, const T& K, const Vec3<T>& m) {
        return {m, P * (m.y * m.z), K * (m.x * m.z), R * (m.x * m.y), P * R, P * K};
    }
    POLHODE_INLINE T D(const Increment<T>& v, const mask_t<T>& far, bool any_far) const {
        const T s_m2 = v.s * m.y;
        T D = fma(-PR, s_m2 * s_m2, T(1.0));
        if (any_far) {  // the same if it may be small: a sum of squares
            const T s_m3 = v.s * m.z;
            D = select(far, fma(PK * s_m3, s_m3, v.c * v.c), D);
        }
        return D;
    }
    /// s is that of v, times the requested factor.
    POLHODE_INLINE Vec3<T> odd(const Increment<T>& v, const T& s) const {
        return {-(P23 * (s * v.d)), K13 * s, -(R12 * (s * v.c))};
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
/// From the start to the middle as in exact_step; from the middle to t +- x h with sigma odd and
/// cn, dn even in the increment, [DLMF] 22.8.1-3.  The end is the start plus twice the odd part at
/// h/2.  The sorted axes serve every motion: the frame axes matter only for the integral of the
/// third kind.
template <int Pairs, class T>
POLHODE_INLINE MomentumNodes<T, Pairs> momentum_nodes(const Inertia<T>& body,
                                                      const Vec3<T>& m,
                                                      T h,
                                                      quadrature::GaussLegendre rule) {
    using namespace momentum_detail;
    using exact_detail::doubled;
    using quadrature::from_distance;
    constexpr int N = 1 + Pairs;  // increments: half the step, then the nodes
    const int first = rule.has_middle() ? 1 : 0;
    // P, R, K, alpha, beta of exact.hpp over half the step.
    const T half1 = (0.5 * h) * body.inverse_I1;
    const T P = body.p * ((0.5 * h) * body.inverse_I3), R = body.r * half1;
    const T K = body.k * half1, m2m2 = m.y * m.y;
    const T alpha = P * fma(K * m.z, m.z, R * m2m2);
    const T beta = R * fma(K * m.x, m.x, P * m2m2);

    // Base: 2^-J of every increment, J from half the step.
    const T w2 = max(alpha, beta);
    const mask_t<T> doubles = w2 > step_w_c * step_w_c;
    const bool any_doubles = any(doubles);
    T J = 0.0, scale = 1.0;
    T x[N], u[N], r[N];
    u[0] = alpha + beta;
    r[0] = alpha * beta;
    if (any_doubles) {
        J = rint(fma(exponent(w2 * (1.0 / (step_w_c * step_w_c))), T(0.5), T(0.75)));
        J = select(doubles & (w2 < 0x1p100), J, T(0.0));
        scale = select(doubles & !(w2 < 0x1p100), nan<T>(), power_of_two(-J));
        const T scale2 = scale * scale;
        u[0] = u[0] * scale2;
        r[0] = (alpha * scale2) * (beta * scale2);
    }
    x[0] = scale;
    POLHODE_UNROLL
    for (int j = 1; j < N; ++j) {
        const T twice = 2.0 * rule.pair(j - 1 + first).distance.template as<T>();
        const T square = twice * twice;
        x[j] = scale * twice;
        u[j] = u[0] * square;
        r[j] = r[0] * (square * square);
    }
    const auto base = Base<N, T>::of(w2, u, r);
    Increment<T> v[N];
    POLHODE_UNROLL
    for (int j = 0; j < N; ++j) {
        v[j].s = fma(x[j], base.S[j], x[j]);
        const T s2 = v[j].s * v[j].s;
        const T sn2 = alpha * s2, k2sn2 = beta * s2;
        if (j == 0) {  // half the step
            v[0].pc = sn2 * sqrt_complement(sn2);
            v[0].pd = k2sn2 * sqrt_complement(k2sn2);
            v[0].c = 1.0 - v[0].pc;
            v[0].d = 1.0 - v[0].pd;
        } else {
            v[j].pc = v[j].pd = 0.0;  // not used
            v[j].c = fma(-sn2, sqrt_complement(sn2), T(1.0));
            v[j].d = fma(-k2sn2, sqrt_complement(k2sn2), T(1.0));
        }
    }
    constexpr int small_doublings = 3;
    mask_t<T> far = doubles;
    bool any_far = false;
    if (any_doubles) {
        far = J > double(small_doublings);
        any_far = any(far);
        const T delta = K * fma(P * m.z, m.z, -(R * (m.x * m.x)));
        for (int i = 1; any(J >= double(i)); ++i) {
            const mask_t<T> active = J >= double(i);
            for (int j = 0; j < N; ++j) {
                T inverse_R;
                const Increment<T> w = i <= small_doublings
                                           ? doubled<true, T>(alpha, beta, delta, v[j], inverse_R)
                                           : doubled<false, T>(alpha, beta, delta, v[j], inverse_R);
                v[j].s = select(active, w.s, v[j].s);
                v[j].c = select(active, w.c, v[j].c);
                v[j].d = select(active, w.d, v[j].d);
                if (j > 0) continue;
                v[0].pc = select(active, w.pc, v[0].pc);
                v[0].pd = select(active, w.pd, v[0].pd);
            }
        }
    }

    MomentumNodes<T, Pairs> nodes;
    {  // The middle, by increments.
        const Addition<T> add = Addition<T>::of(P, R, K, m);
        const T inverse_D = 1.0 / add.D(v[0], far, any_far);
        const T s_m2 = v[0].s * m.y;
        const T gamma = add.PR * (s_m2 * s_m2);
        const T pc = v[0].pc, pd = v[0].pd;
        const T pcd = fma(-pc, pd, pc + pd);
        const Vec3<T> even{m.x * (gamma - pc), m.y * (gamma - pcd), m.z * (gamma - pd)};
        const Vec3<T> odd = add.odd(v[0], v[0].s * inverse_D);
        nodes.middle = m + Vec3<T>{fma(even.x, inverse_D, odd.x),
                                   fma(even.y, inverse_D, odd.y),
                                   fma(even.z, inverse_D, odd.z)};
        if (any_far) nodes.middle = select<T>(far, inverse_D * add.even(v[0]) + odd, nodes.middle);
    }
    const Addition<T> add = Addition<T>::of(P, R, K, nodes.middle);
    nodes.change = add.odd(v[0], (v[0].s + v[0].s) / add.D(v[0], far, any_far));
    POLHODE_UNROLL
    for (int j = 0; j < Pairs; ++j) {
        const T inverse_x =
            from_distance<T>(rule.pair(j + first), [](auto node) { return 1.0 / node; });
        nodes.even[j] = add.even(v[j + 1]);
        nodes.slope[j] = add.odd(v[j + 1], inverse_x * v[j + 1].s);
        nodes.D[j] = add.D(v[j + 1], far, any_far);
    }
    return nodes;
}

POLHODE_NAMESPACE_END

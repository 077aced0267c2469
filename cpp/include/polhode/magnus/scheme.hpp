#pragma once

/// The optimal Magnus schemes of orders 2, 4, 6, 8 for q' = q (0, omega(t))/2, [Gus10] Sec. 3.1.
///
/// [Gus10] has q' = c W q; here the rate is on the right, because it is in the body frame.
/// Conjugation transforms one form to the other, W = conj(Omega) with c = 1/2 [Gus10] eq. (30), and
/// changes the sign of every commutator. All vectors are rotation vectors, twice the quaternions of
/// [Gus10], so that
///
///     [a, b] = b x a,   dq = (cos |phi|/2, sin(|phi|/2) phi/|phi|),
///
/// and c does not appear.  Matrices have the same phi, Q' = Q hat(omega), dQ = exp(hat(phi)).

#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/torque_free/exact_momentum.hpp"

POLHODE_NAMESPACE_BEGIN(magnus)

template <class T>
POLHODE_INLINE Vec3<T> commutator(const Vec3<T>& a, const Vec3<T>& b) {
    return cross(b, a);
}

/// The rate over one step, (17) of [Gus10] times h^i: h omega(t + x h) is the sum of alpha_i
/// x^(i-1) with t the middle and x in [-1/2, 1/2].
template <class T, int Order>
struct Rate {
    Vec3<T> alpha[Order / 2];

    /// From h omega at the nodes of Gauss's rule: in the middle (used where Order/2 is odd), and at
    /// the pairs +-x from the middle outwards, where it is even +- x slope.
    ///
    /// These are the alphas of (21), R^(s) Q^(s): the polynomial through the nodes has the moments
    /// of the rule, because the rule is exact for both.  (The factorial in (20) is an error.)
    POLHODE_INLINE static Rate of(const Vec3<T>& middle,
                                  const Vec3<T>* even,
                                  const Vec3<T>* slope) {
        using quadrature::from_distance;
        constexpr quadrature::GaussLegendre rule{Order / 2};
        Rate r;
        if constexpr (Order == 2) r.alpha[0] = middle;
        if constexpr (Order == 4) {
            r.alpha[0] = even[0];
            r.alpha[1] = slope[0];
        }
        if constexpr (Order == 6) {
            r.alpha[0] = middle;
            r.alpha[1] = slope[0];
            r.alpha[2] = ratio<T>(20, 3) * (even[0] - middle);  // x^2 = 3/20
        }
        if constexpr (Order == 8) {
            // The squares of the distances, (3 -+ 2 sqrt(6/5))/28, add up to 3/14.
            const T square = from_distance<T>(rule.pair(0), [](auto x) { return x * x; });
            const T gap = from_distance<T>(rule.pair(0), [](auto x) {
                return 1.0 / (decltype(x)(3.0) / 14.0 - 2.0 * (x * x));
            });
            r.alpha[2] = gap * (even[1] - even[0]);
            r.alpha[0] = axpy(even[0], -square, r.alpha[2]);
            r.alpha[3] = gap * (slope[1] - slope[0]);
            r.alpha[1] = axpy(slope[0], -square, r.alpha[3]);
        }
        return r;
    }
};

/// The rotation vector phi of one step, [Gus10] eqs (22) to (25).  Odd in h: the schemes are
/// symmetric.
template <class T>
POLHODE_INLINE Vec3<T> rotation_vector(const Rate<T, 2>& rate) {
    return rate.alpha[0];
}
template <class T>
POLHODE_INLINE Vec3<T> rotation_vector(const Rate<T, 4>& rate) {
    const auto& [a1, a2] = rate.alpha;
    return axpy(a1, -ratio<T>(1, 12), commutator(a1, a2));
}
template <class T>
POLHODE_INLINE Vec3<T> rotation_vector(const Rate<T, 6>& rate) {
    const auto& [a1, a2, a3] = rate.alpha;
    const Vec3<T> s1 = commutator(a1, a2);
    const Vec3<T> r1 = commutator(a1, axpy(s1, T(2.0), a3));  // times -1/60
    const Vec3<T> s2 = commutator(axpy(s1 - a3, T(-20.0), a1), axpy(a2, -ratio<T>(1, 60), r1));
    return axpy(axpy(a1, ratio<T>(1, 12), a3), ratio<T>(1, 240), s2);
}
template <class T>
POLHODE_INLINE Vec3<T> rotation_vector(const Rate<T, 8>& rate) {
    const auto& [a1, a2, a3, a4] = rate.alpha;
    const Vec3<T> a13 = axpy(a1, ratio<T>(1, 28), a3);
    const Vec3<T> a24 = axpy(a2, ratio<T>(3, 28), a4);
    const Vec3<T> s1 = -ratio<T>(1, 28) * commutator(a13, a24);
    const Vec3<T> r1 = commutator(a1, axpy(s1, -ratio<T>(1, 14), a3));  // times 1/3
    const Vec3<T> s2 = commutator(a13 + s1, axpy(a24, ratio<T>(1, 3), r1));
    const Vec3<T> s2_hat = commutator(a2, s1);
    const Vec3<T> r2 =
        commutator(axpy(a1, T(1.25), s1), axpy(axpy(s2, T(0.5), s2_hat), T(2.0), a3));
    const Vec3<T> a1_a3 = axpy(a1, ratio<T>(1, 12), a3);
    const Vec3<T> s3 =
        commutator(axpy(axpy(a1_a3, -ratio<T>(1, 6), s2), -ratio<T>(7, 3), s1),
                   axpy(axpy(axpy(r2, T(21.0), r1), T(-2.25), a4), T(-9.0), a2));  // 63 r1/3
    return axpy(axpy(a1_a3, ratio<T>(1, 360), s3), -ratio<T>(7, 120), s2);
}

/// dq of one step h with the rate at the nodes of Gauss's rule, in the order of time: omega[3 i +
/// k] is component k at node i.
///
/// @return  of unit norm within 2 eps, with an error O(h^(Order+1))
template <int Order, class T>
POLHODE_INLINE Quaternion<T> turn(const T* omega, T h) {
    using quadrature::from_distance;
    constexpr quadrature::GaussLegendre rule{Order / 2};
    constexpr int first = rule.has_middle() ? 1 : 0;
    constexpr int pairs = Order / 4;
    const auto at = [&](int node) {
        return Vec3<T>{h * omega[3 * node], h * omega[3 * node + 1], h * omega[3 * node + 2]};
    };
    Vec3<T> even[pairs > 0 ? pairs : 1], slope[pairs > 0 ? pairs : 1];
    POLHODE_UNROLL
    for (int j = 0; j < pairs; ++j) {
        const Vec3<T> before = at(pairs - 1 - j), after = at(pairs + first + j);
        const T half_x = from_distance<T>(rule.pair(j + first), [](auto x) { return 0.5 / x; });
        even[j] = T(0.5) * (after + before);
        slope[j] = half_x * (after - before);
    }
    return quaternion_exp(rotation_vector(Rate<T, Order>::of(at(pairs), even, slope)));
}

/// One step of order 2, 4, 6 or 8: m exactly, dq = exp of the Magnus vector.
///
/// @param body, m, h  as in exact_step: sorted axes, largest component of m of size about 1
/// @return            m within a few eps (1 + angle) |m|; dq unit to 2 eps, its error of order
///                    h^(Order+1), with errors of its own to rounding.  step(-h) undoes step(h).
///                    Energy and |m| are kept, the spatial momentum q m q^-1 is not: dq does not
///                    know m.  The series converges for |phi| < 2 pi [Gus10] Theorem 3.4
template <int Order, class T>
POLHODE_INLINE FreeStep<T> free_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    constexpr int pairs = Order / 4;
    const auto nodes = torque_free::momentum_nodes<pairs>(body, m, h, {Order / 2});
    const Vec3<T> rate{h * body.inverse_I1, h * body.inverse_I2, h * body.inverse_I3};
    Vec3<T> even[nodes.room], slope[nodes.room];
    POLHODE_UNROLL
    for (int j = 0; j < pairs; ++j) {
        const Vec3<T> rate_j = (1.0 / nodes.D[j]) * rate;
        even[j] = times(rate_j, nodes.even[j]);
        slope[j] = times(rate_j, nodes.slope[j]);
    }
    const Vec3<T> phi = rotation_vector(Rate<T, Order>::of(times(rate, nodes.middle), even, slope));
    return {m + nodes.change, quaternion_exp(phi)};
}

POLHODE_NAMESPACE_END

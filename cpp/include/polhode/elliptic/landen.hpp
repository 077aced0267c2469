#pragma once

/// @file
/// The Landen pair of [CZ08] Sec. 3.2: the integral of the first kind F upward, the amplitude am
/// downward, along one AGM sequence.
///
/// Both hold for every real argument on the continuous branch, for any kc > 0 (k2 < 1, negative k2
/// included).  At kc = 0 the sequence does not converge: F and am are asinh(tan phi) and the
/// Gudermannian there.

#include "polhode/elliptic/agm.hpp"
#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN
namespace elliptic {

/// The AGM sequence with the tolerance of the Landen pair: the truncation error is c_N^2/8.
template <class T>
POLHODE_INLINE AgmSequence<T> landen_sequence(T kc) {
    return AgmSequence<T>(kc, wider_than_double<T> ? 0x1p-57 : 0x1p-27);
}

/// F(phi, k) = int_0^phi d theta / sqrt(1 - k2 sin^2 theta) by the ascending transformation
///
///   tan(phi_{n+1} - phi_n) = (b_n/a_n) tan phi_n,   F = phi_N / (2^N a_N)   [CZ08] eqs (17), (19)
///
/// with phi_{n+1} - phi_n on the branch nearest phi_n (in eq. (17) the right-hand side reads
/// tan(a_n), a misprint).  Error: 4 eps (1 + |F|), plus the effect of half an ulp of phi
/// (tests/accuracy/test_landen.py).
template <class T>
T landen_f(T phi, const AgmSequence<T>& agm) {
    // Multiples of pi double exactly with n; they are removed first, so that phi loses no digits.
    const T half_turns = rint(phi * 0x1.45f306dc9c883p-2);
    phi = add_turns(-0.5 * half_turns, phi);
    for (int n = 0; n < agm.steps; ++n) {
        const SinCos<T> x = sincos(phi);
        // (a cos phi, b sin phi) is in the quadrant of phi, which determines the multiple of 2 pi
        // between its angle and phi.
        const T angle = atan2(agm.b[n] * x.sin, agm.a[n] * x.cos);
        const T turns = rint((phi - angle) * 0x1.45f306dc9c883p-3);
        phi = select(agm.reaches(n + 1), phi + add_turns(turns, angle), phi);
    }
    return fma(half_turns, 2.0 * half_pi<T>(), phi / power_of_two(agm.count)) / agm.limit;
}

/// am(u, k), the inverse of F, by the descending transformation
///
///   sin(2 phi_{n-1} - phi_n) = (c_n/a_n) sin phi_n,  n = N, ..., 1,   phi_N = 2^N a_N u
///
/// [CZ08] Sec. 3.2 (there down to n = 0, a misprint).  The inverse sine is an atan2 with
/// a_n^2 - c_n^2 = b_n^2, which is accurate as k -> 1.  Error below 4 eps (1 + |u| max(1, kc)).
template <class T>
T landen_am(T u, const AgmSequence<T>& agm) {
    T phi = power_of_two(agm.count) * agm.limit * u;
    for (int n = agm.steps; n >= 1; --n) {
        const SinCos<T> x = sincos(phi);
        const T c = agm.c(n), c_cos = c * x.cos;
        const T angle = atan2(c * x.sin, sqrt(fma(agm.b[n], agm.b[n], c_cos * c_cos)));
        phi = select(agm.reaches(n), 0.5 * (phi + angle), phi);
    }
    return phi;
}

}  // namespace elliptic
POLHODE_NAMESPACE_END

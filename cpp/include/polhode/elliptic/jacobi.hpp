#pragma once

/// The Jacobi elliptic functions sn, cn, dn and the amplitude am for real u and any real k2.

#include "polhode/elliptic/agm.hpp"
#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)

template <class T>
struct Jacobi {
    T sn;
    T cn;
    T dn;
    T am;
};

/// sn, cn, dn, am of u at parameter k2 = k^2 and its complement kc2 = 1 - k2.
///
/// @param u    any real; NaN where |u| pi / (2 K) >= 2^50, K the quarter period in u (K(k) for
///             k2 < 1, K(1/k)/k for k2 > 1; at k2 = 1 there is no limit): no digit is correct
///             there, except of am for k2 < 1
/// @param k2   any finite real, infinite for u = 0; the sign of kc2 decides if it is above 1
/// @param kc2  1 - k2, a parameter because 1 - k2 would lose digits as k2 -> 1; at 0 the limit is
///             hyperbolic:
///             tanh, sech, sech and the Gudermannian
/// @return     am is continuous in u: unbounded for k2 < 1, within asin(1/k) for k2 > 1.
///             Error of sn, cn and am at most 4 eps (1 + |u| max(1, sqrt |k2|)), of dn this times
///             max(1, |dn|) (tests/accuracy/test_elliptic.py)
///
/// Method: the AGM sequence from (1, kc) until |c_N| <= 4e-3 a_N; then the Fourier series of am
/// (DLMF 22.11) needs only its terms in q and q^2; then the descending Landen transformation in
/// Gauss's form (DLMF 22.7(i) with k_1 = c_n/a_n), one division per step:
///
///   sn_{n-1} = a_{n-1} sn / D,  cn_{n-1} = a_n cn dn / D,  dn_{n-1} = (b_{n-1} + c_n cn^2) / D,
///   D = a_n + c_n sn^2,
///
/// without cancellation while c_n >= 0.  For k2 < 0, c_1 < 0; then D = a_0 - c_1 cn^2 and the
/// numerator of dn is a_1 - c_1 sn^2.  k2 > 1 is transformed to 1/k2 (DLMF 22.17(i)).
template <class T>
Jacobi<T> jacobi(T u, T k2, T kc2) {
    const mask_t<T> above = kc2 < 0.0, one = kc2 == 0.0;
    T v = u, mc = select(one, T(1.0), kc2), k = 1.0;
    if (any(above)) {
        k = select(above, sqrt(k2), k);
        v = u * k;
        mc = select(above, -kc2 / k2, mc);
    }
    const T kc = sqrt(mc);
    const AgmSequence<T> agm(kc, wider_than_double<T> ? 1e-6 : 4e-3);

    // With kappa = c_N / a_{N+1}: the AGM is a_{N+1} (1 - kappa^4/64), q is kappa^2/16,
    // the parameter kappa^2 (1 - kappa^2/2), each with a relative error of at most kappa^4.
    const T kappa = agm.last_c / agm.limit, kappa2 = kappa * kappa, q = 0.0625 * kappa2;
    const T mean = fma(-4.0 * q * q, agm.limit, agm.limit);
    const T w = select(one, T(0.0), mean * v);
    const SinCos<T> x = sincos(w);
    // am = w + 2 q sin 2w + q^2 sin 4w, and its sine and cosine by Taylor.
    const T sc = x.sin * x.cos, cos_2w = fma(x.cos, x.cos, -(x.sin * x.sin));
    const T delta = 4.0 * q * sc * fma(q, cos_2w, T(1.0)), half = 0.5 * delta;
    T s = fma(delta, fma(-half, x.sin, x.cos), x.sin);
    T c = fma(-delta, fma(half, x.cos, x.sin), x.cos);
    const T y = fma(-8.0 * q, kappa2, kappa2) * (s * s);
    T d = fma(-y, fma(y, fma(y, T(0.0625), T(0.125)), T(0.5)), T(1.0));
    for (int n = agm.steps; n >= 1; --n) {
        // Rounding errors of cn and dn near 1 would double with each step; there cn^2 is 1 - sn^2,
        // and cn follows by a Newton step whose derivative needs no more than a digit.
        T s2 = s * s, c2 = c * c;
        const mask_t<T> small = s2 < 0.5;
        const T exact_c2 = select(small, 1.0 - s2, c2);
        const T sharp_c = fma(c * (exact_c2 - c2), 1.5 - exact_c2, c);
        c2 = exact_c2;
        T c_n = agm.c(n), from = agm.a[n], from_dn = agm.b[n - 1];
        if (n == 1) {
            const mask_t<T> below = c_n < 0.0;
            if (any(below)) {
                from = select(below, agm.a[0], from);
                from_dn = select(below, agm.a[1], from_dn);
                s2 = select(below, c2, s2);
                c2 = select(below, s * s, c2);
                c_n = abs(c_n);
            }
        }
        const mask_t<T> reached = agm.reaches(n);
        const T inverse = 1.0 / fma(c_n, s2, from);
        c = select(reached, agm.a[n] * inverse * (sharp_c * d), c);
        s = select(reached, agm.a[n - 1] * inverse * s, s);
        d = select(reached, fma(c_n, c2, from_dn) * inverse, d);
    }
    Jacobi<T> r{s, c, d, w};
    if (any(above)) {
        r.sn = select(above, s / k, s);
        r.cn = select(above, d, c);
        r.dn = select(above, c, d);
    }
    if (any(one)) {
        const auto [tanh, sech] = hyperbolic(u);
        r = {select(one, tanh, r.sn), select(one, sech, r.cn), select(one, sech, r.dn), w};
    }
    // |w - am| < pi/2 determines the multiple of 2 pi.
    const T angle = atan2(r.sn, r.cn);
    const T turns = select(kc2 <= 0.0, T(0.0), rint((w - angle) * 0x1.45f306dc9c883p-3));
    r.am = add_turns(turns, angle);
    // For 2^50 or more sn and cn have no correct digit, and am - w is below the error of am.
    r.am = select((abs(w) >= 0x1p50) & (kc2 > 0.0), w, r.am);
    r.sn = select((u == 0.0) & (r.sn == 0.0), u, r.sn);  // -0 stays -0
    r.am = select((u == 0.0) & (r.am == 0.0), u, r.am);
    const mask_t<T> start = (u == 0.0) & (abs(k2) == infinity<T>()) & (kc2 == kc2);
    if (any(start)) {
        r = {select(start, u, r.sn),
             select(start, T(1.0), r.cn),
             select(start, T(1.0), r.dn),
             select(start, u, r.am)};
    }
    return r;
}

POLHODE_NAMESPACE_END

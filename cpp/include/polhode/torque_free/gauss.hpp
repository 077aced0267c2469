#pragma once

/// @file
/// The semi-exact step of the FRB-FORTRAN report: frb.hpp with the integral of the third kind by
/// Gauss-Legendre quadrature (the report's eint_gauss) in place of ellint_pi.

#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/torque_free/frb.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque_free {

/// eint_gauss: Pi(phi, n, k) - F(phi, k) times `scale`, phi = am w, as half of the Legendre form
/// [CZ08] eq. (20)
///
///     int_{-phi}^{phi} n sin^2 theta d theta / ((1 - n sin^2 theta) sqrt(1 - k2 sin^2 theta))
///
/// by `rule`.  There from am u0 to am u1; here a step of the same length in u with its middle at 0,
/// which the addition theorem moves to where it belongs: the error is the same at every phase, and
/// nodes at +-theta have one value.  F, which the phase gives exactly, is out of the integrand.
template <class T>
POLHODE_INLINE T eint_gauss(
    quadrature::GaussLegendre rule, const Modulus<T>& modulus, const Jacobi<T>& x, T scale, T ny) {
    const T nu = ny * scale * scale;  // -n
    const T odd = copysign(1.0, x.c);
    const T phi = fma(2.0 * x.half_turns, half_pi<T>(), atan2(odd * x.s, odd * x.c));
    T sum = 0.0;
    for (int k = rule.has_middle() ? 1 : 0; k < rule.pairs(); ++k) {  // 0 in the middle
        const quadrature::GaussPair& pair = rule.pair(k);
        const SinCos<T> node = sincos(pair.distance.template as<T>() * (phi + phi));
        const T y = nu * node.sin * node.sin;
        sum = fma(pair.weight.template as<T>(), y / ((1.0 + y) * modulus.dn(node.cos)), sum);
    }
    return -scale * phi * (sum + sum);
}

/// One semi-exact step of free rotation: m exactly, dq with the angle about m by a Gauss-Legendre
/// sum.
///
/// @param body, m, h  as in frb_step
/// @param nodes       p = 1 ... 10
/// @return            as frb_step.  Whatever the quadrature gives, dq takes m to the new momentum,
///                    which keeps the spatial one; step(-h) undoes step(h).  The error of the angle
///                    is of order h^(2p+1) a step.  For steps that are "not too large" ([CZ08]
///                    Sec. 3.4): from a few half periods on it is of order 1.
///
/// One kernel for every p: the number of nodes is data.
template <class T>
[[gnu::noinline]] FreeStep<T> gauss_step(const PrintedInertia<T>& body,
                                         const Vec3<T>& m,
                                         T h,
                                         int nodes) {
    return step_by_third_kind(
        body,
        m,
        h,
        [nodes](const Modulus<T>& modulus, const Jacobi<T>& x, const T& scale, const T& ny) {
            return eint_gauss({nodes}, modulus, x, scale, ny);
        });
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

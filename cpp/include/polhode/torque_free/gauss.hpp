#pragma once

/// @file
/// The semi-exact step of the FRB-FORTRAN report: the momentum exactly, as in frb.hpp, the angle
/// about it by Gauss-Legendre quadrature (the report's eint_gauss).

#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/torque_free/frb.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque_free {
namespace frb_detail {

inline constexpr double one_over_two_pi = 0x1.45f306dc9c883p-3;  // to count turns

/// The amplitude as it runs from phi0 to phi1 = phi0 + change.
template <class T>
struct Sweep {
    T change;
    T sin, cos;  ///< of the change, up to one positive factor
};

/// am(u0 + v) - am(u0), from the addition theorem with what is small for a short step factored out;
/// the difference of two amplitudes would lose the digits of a slow motion.
template <class T>
POLHODE_INLINE Sweep<T> sweep(const Modulus<T>& modulus, T s0, T c0, T v) {
    const Jacobi<T> x = modulus.at(v);
    const T d0 = modulus.dn(c0);
    const T one_d = modulus.k2 * (x.s * x.s) / (1.0 + x.d);  // 1 - dn v
    const T P = fma(c0, c0, s0 * s0 * x.d), sc0 = s0 * c0;
    Sweep<T> r;
    r.sin = fma(x.s * d0, P, -(sc0 * x.c * one_d));
    r.cos = fma(x.c, P, sc0 * d0 * x.s * one_d);
    const T angle = atan2(r.sin, r.cos);
    // Amplitude and (pi/2) u/K differ by less than a quarter turn at either end.
    const T turns = rint(fma(modulus.agm.limit, v, -angle) * one_over_two_pi);
    r.change = fma(select(modulus.separatrix, T(0.0), 4.0 * turns), half_pi<T>(), angle);
    return r;
}

/// eint_gauss: the mean of 1/((1 - n sin^2 theta) sqrt(1 - k2 sin^2 theta)) over the amplitudes of the
/// step, n = -c2/c1, by `rule`  [CZ08] eq. (20).
template <class T>
POLHODE_INLINE T eint_gauss(quadrature::GaussLegendre rule, const Modulus<T>& modulus, T c1, T c2,
                            T s0, T c0, T change) {
    const auto integrand = [&](T s, T c) {
        // On axis 2 itself the amplitude stands still: dn = 0, a factor that goes with the change.
        const T dn = modulus.dn(c);
        return c1 / (fma(c2 * s, s, c1) * select(dn == 0.0, T(1.0), dn));
    };
    // From the middle of the sweep, so that two nodes share one sine and cosine, and the reversed
    // step has the same nodes.
    const SinCos<T> half = sincos(0.5 * change);
    const T s = fma(s0, half.cos, c0 * half.sin), c = fma(c0, half.cos, -(s0 * half.sin));
    T sum = 0.0;
    for (int k = 0; k < rule.pairs(); ++k) {
        const quadrature::GaussPair& pair = rule.pair(k);
        const T weight = pair.weight.template as<T>();
        if (k == 0 && rule.has_middle()) {
            sum = weight * integrand(s, c);
            continue;
        }
        const SinCos<T> x = sincos(pair.distance.template as<T>() * change);
        const T sc = s * x.cos, cs = c * x.sin, cc = c * x.cos, ss = s * x.sin;
        sum = fma(weight, integrand(sc + cs, cc - ss) + integrand(sc - cs, cc + ss), sum);
    }
    return sum;
}

}  // namespace frb_detail

/// One semi-exact step of free rotation: m exactly, dq with the angle
///
///     psi = G h/I3 + G (kappa/lambda) [Pi(am u1) - Pi(am u0)] - [azimuth of m about axis 3]
///
/// in which the integral of the third kind is a Gauss-Legendre sum of p nodes  [CZ08] eqs (16), (20).
///
/// @param body, m, h  as in frb_step
/// @param nodes       1 ... 10
/// @return            as frb_step.  dq turns m into the new one whatever the quadrature gives, so the
///                    spatial momentum is kept; the error of the angle is of order h^(2p+1), small for steps
///                    of about a radian ("not too large", [CZ08] Sec. 3.4).
///
/// One kernel for every p: the number of nodes is data.
template <class T>
[[gnu::noinline]] FreeStep<T> gauss_step(const Inertia<T>& body, const Vec3<T>& m, T h, int nodes) {
    using namespace frb_detail;
    const Circulation<T> motion = egellip_step(body, m, h);
    const Labelled<T>& s = motion.label;
    const T G = norm(m), s0 = motion.s0, c0 = motion.c0;

    const Sweep<T> phi = sweep(motion.modulus, s0, c0, motion.v);
    const T mean = eint_gauss({nodes}, motion.modulus, s.c1, s.c2, s0, c0, phi.change);
    // change/v, which goes to dn as v goes to 0; on axis 2 both dn are left out.
    const T d0 = motion.modulus.dn(c0);
    const mask_t<T> still = motion.v == 0.0;
    const T rate = select(still, d0, phi.change / select(still, T(1.0), motion.v));
    const T third = (s.kappa * h) * mean * select(d0 == 0.0, T(1.0), rate);

    // The azimuth of m about axis 3 is that of (sqrt(c1) cos phi, sin phi): less than a quarter turn
    // from phi, so its whole turns are those of phi.
    const T s1 = fma(s0, phi.cos, c0 * phi.sin), c1 = fma(c0, phi.cos, -(s0 * phi.sin));
    const T angle = atan2(sqrt(s.c1) * phi.sin, fma(s.c1 * c0, c1, s0 * s1));
    const T turns = rint((phi.change - angle) * one_over_two_pi);
    const T azimuth = fma(4.0 * turns, half_pi<T>(), angle);

    const T psi = fma(G, fma(h, s.inverse_I3, third), -azimuth);
    const SinCos<T> y = sincos(0.5 * psi);
    return {s.to_body(motion.n), turned_frame(s, motion.n, G, y.cos, y.sin)};
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

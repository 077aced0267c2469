#pragma once

/// The exact step of the free rigid body as the FRB-FORTRAN report has it: [CZ08] Algorithm 2, the
/// phase by an elliptic integral of the first kind, the momentum by Jacobi's functions at the
/// shifted phase, the angle about the momentum by an integral of the third kind.
///
/// The report's routines and where they are:
///
///     EgellipX_step   egellip_step   momentum; AGM, F by ascending, am by descending Landen
///     ellint_pi       ellint_pi      third kind over any amplitude, with the complete integral
///     ellpi           ellpi          third kind up to pi/2, by Carlson's R_J
///     eint_gauss      eint_gauss     third kind by Gauss-Legendre quadrature
///     frb_step, quat_step            frb_step; a matrix is turned by the same quaternion
///
/// One case: circulation about axis 1 is circulation about axis 3 of the axes (3, -2, 1), and a
/// half turn makes the momentum about that axis positive.  So the printed case (i) is the printed
/// case (ii) and the frame p never meets m3 = -|m|.  |m| is not taken out: with G = |m| the
/// formulas hold as they are ([CZ08] Sec. 1.2 leaves out t -> G t there).
///
/// Where the printed text is wrong it is mended: [CZ08] eq. (16) has the wrong sign of f and no
/// case (ii), case (iii) has the wrong sign of m3, eq. (17) tan(a_n), the permutation of Sec. 3.1
/// the wrong sign for odd ones (cpp/REFERENCES.md; tests/papers/test_frames.py shows each).

#include "polhode/elliptic/carlson.hpp"
#include "polhode/quadrature/gauss_legendre.hpp"
#include "polhode/torque_free/circulation.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// p0^-1 y p1 in the frame (1) of [CZ08] Sec. 1.4, p = (G + m3, m2, -m1, 0) up to its norm, with
/// y = (cos psi/2, 0, 0, sin psi/2) given up to a positive factor: unit, along the body's axes.
/// What is small for a short step is formed from n - a.
template <class T>
POLHODE_INLINE Quaternion<T> turned_frame(
    const Labelled<T>& s, const Vec3<T>& n, T G, T y_cos, T y_sin) {
    const T a1 = s.a.x, a2 = s.a.y, a3 = s.a.z;
    const Vec3<T> D = n - s.a;
    const T A = G + a3, B = G + n.z, P = A * B;
    const T Q = fma(a1, n.x, a2 * n.y), X = fma(a2, D.x, -(a1 * D.y));
    const Vec3<T> v =
        s.to_sorted({fma(y_cos, fma(A, D.y, -(a2 * D.z)), y_sin * fma(A, n.x, B * a1)),
                     fma(-y_cos, fma(A, D.x, -(a1 * D.z)), y_sin * fma(A, n.y, B * a2)),
                     fma(y_sin, P - Q, y_cos * X)});
    const mask_t<T> no_momentum = G == 0.0;
    Quaternion<T> w{fma(y_cos, P + Q, y_sin * X), v.x, v.y, v.z};
    w = (1.0 / sqrt(select(no_momentum, T(1.0), dot(w, w)))) * w;
    return select(no_momentum, {T(1.0), T(0.0), T(0.0), T(0.0)}, w);
}

/// ellpi: Pi(phi, n, k) - F(phi, k) for |phi| <= pi/2 by Carlson's R_J  [CZ08] Sec. 3.4,
///
///     (n/3) s^3 R_J(c^2, 1 - k2 s^2, 1, 1 - n s^2),
///
/// times `scale`, with which n s^2 = -ny (scale s)^2.
template <class T>
T ellpi(T s, T c2, T d2, T scale, T ny) {
    const T sigma = scale * s, y = ny * sigma * sigma;
    const T d2_safe = select(c2 + d2 == 0.0, T(1.0), d2);
    return ratio<T>(-1, 3) * y * sigma *
           elliptic::rf_rj_positive(c2, d2_safe, T(1.0), 1.0 + y, false).rj;
}

/// ellint_pi: the same for any amplitude, with the complete integral as often as it has half turns.
template <class T>
POLHODE_INLINE T ellint_pi(const Modulus<T>& modulus, const Jacobi<T>& x, T scale, T ny) {
    T value = ellpi(select(x.c < 0.0, -x.s, x.s), x.c * x.c, x.d * x.d, scale, ny);
    const mask_t<T> turned = x.half_turns != 0.0;
    if (any(turned)) {
        const T complete = ellpi(
            T(1.0), T(0.0), select(turned, modulus.kc2, T(1.0)), select(turned, scale, T(0.0)), ny);
        value = select(turned, fma(2.0 * x.half_turns, complete, value), value);
    }
    return value;
}

/// One step of free rotation as in Algorithm 2 of [CZ08] with the frame (1).
///
/// The angle of eq. (16) about the momentum is written
///
///     psi = G (h/I1 + 2 (kappa/lambda) (Pi - F)(am w, n, k)) + arg f,     w = lambda h / 2.
///
/// The report takes Pi at the amplitudes of both ends, and their difference cancels, to nothing for
/// a nearly symmetric body.  Here Pi(u0 + 2 w) - Pi(u0) is two integrals over w and an arctangent
/// by the addition theorem DLMF 19.11.5; f is the complex number in which that arctangent and the
/// two of eq. (16) are one.  Of the two n that differ by the label of the frame's axes, -c2/c1 and
/// -d1^2/d3^2 = k^2/n, the smaller is taken; then nothing large cancels for a thin rod.
///
/// @param third_kind  (Pi - F)(am w, n, k) times `scale`, of (modulus, functions at w, scale, ny)
///                    with scale = 1/(sqrt(c1) d3) and n = -ny scale^2; scale is 0 where
///                    lambda h is
template <class T, class ThirdKind>
POLHODE_INLINE FreeStep<T> step_by_third_kind(const PrintedInertia<T>& body,
                                              const Vec3<T>& m,
                                              T h,
                                              const ThirdKind& third_kind) {
    using Complex = torque_free::Complex<T>;
    const T growth = (body.kappa * h) * m.y;
    const mask_t<T> lost =
        underflows_near_axis2(m.x, m.y, m.z, (body.c1 * body.c2) * (growth * growth));
    if (any(lost)) h = select(lost, nan<T>(), h);

    const FrameLabel<T> frame(body, m);  // of the frame
    const Circulation<T> motion = egellip_step(body, m, h, frame.feels_no_phase(body, h));
    const Vec3<T> n_body = motion.label.to_sorted(motion.n);
    const T G = norm(m) + 0.0 * h;  // NaN where h is not finite, even at rest

    const Labelled<T> s(body, m, frame.swapped);
    const T ny = frame.ny, K = (0.5 * s.kappa) * h;
    const Vec3<T> n = s.from_sorted(n_body);
    const T a1 = s.a.x, a2 = s.a.y, a3 = s.a.z;

    // The middle of the increment; sigma = sn w/(sqrt(c1) d3), which has a limit as lambda h goes
    // to 0.
    const T w = 0.5 * motion.v;
    const mask_t<T> separatrix = motion.modulus.separatrix;
    constexpr double far = wider_than_double<T> ? 80.0 : 36.0;  // where tanh is 1
    const T w_near = select(separatrix & (abs(w) > far), copysign(far, w), w);
    const Jacobi<T> x = motion.modulus.at(w_near);
    const mask_t<T> still = w == 0.0;
    const T scale = select(still, T(0.0), K / select(still, T(1.0), w));
    const T sigma = select(still, K, scale * x.s);
    const T sigma2 = sigma * sigma, y = ny * sigma2;
    T third = third_kind(motion.modulus, x, scale, ny);
    // On the separatrix the integral grows linearly from there on.
    if (any(separatrix)) third = fma((w_near - w) * scale, y / (1.0 + y), third);
    const SinCos<T> turn = sincos(G * fma(0.5 * h, s.inverse_I1, third));

    // cn and dn of the frame's label, then sn/lambda and cn of the whole step by doubling.
    const mask_t<T> same = (s.swapped & motion.label.swapped) | !(s.swapped | motion.label.swapped);
    const T c = select(same, x.c, x.d), d = select(same, x.d, x.c);
    const T cd = c * d, inverse_R = 1.0 / fma(s.c1 * s.d3_2 * sigma2 * d, d, c * c);
    const T sigma_h = (sigma + sigma) * (cd * inverse_R);
    const T side = fma(s.c1 * a3, a3, -(s.c2 * (a1 * a1)));
    const T c_h = fma(cd, cd, -(side * sigma2)) * inverse_R;
    // The two integrals over w make one over 2 w less twice the argument of U - i V; U > 0.
    const T U = fma(y, fma(cd + cd, cd * inverse_R, T(1.0)), T(1.0)), V = y * (G * sigma_h);
    // Half the change of azimuth, where the azimuth circulates: not on an axis, where rounding
    // would decide on the sign of a quarter turn.
    const mask_t<T> librates = (!(same | separatrix)) | (still & (abs(K) > 0x1p48));
    const Complex H{select(librates, T(1.0), c), select(librates, T(0.0), G * (sigma * d))};

    // f, conjugated: the addition theorem times the azimuth, common factors divided out.
    const T A = G + a3, A_a3 = A * a3;
    const T D1 = n.x - a1, D2 = n.y - a2;
    const T Q = fma(a1, n.x, a2 * n.y), X = fma(a2, D1, -(a1 * D2));
    const T t = s.c2 * (sigma_h * n.y);
    // The limit for m on the third axis, invisible elsewhere.
    constexpr double tiny = wider_than_double<T> ? 1e-66 : 1e-30;
    const T e = tiny * (G * G) * A;
    const Complex f{fma(A, Q, fma(t, fma(A_a3, n.x, a2 * X), e * c_h)),
                    fma(A, X, fma(-t, fma(A_a3, n.y, a2 * Q), -(e * (sigma_h * a3))))};

    // Half of the argument, on the continuous branch: arg g < pi.
    const Complex g = (f * Complex{U, -V}).rescaled() * (H * H).rescaled();
    const T size = sqrt(fma(g.re, g.re, g.im * g.im));
    const mask_t<T> obtuse = g.re < 0.0;
    // From one end of axis 2 to the other g comes within rounding of pi where the azimuth librates.
    // The sign of its argument is that of the change of azimuth.
    const T sign_of = select(librates & (abs(g.im) < -0.125 * g.re), X, g.im);
    const Complex half{select(obtuse, abs(g.im), size + g.re),
                       select(obtuse, copysign(size - g.re, sign_of), g.im)};
    const Complex y_turn = Complex{turn.cos, turn.sin} * half * Complex{H.re, -H.im}.rescaled();
    return {n_body, turned_frame(s, n, G, y_turn.re, y_turn.im)};
}

/// One exact step of free rotation: arguments and result as in exact_step, NaN where the phase or
/// the angle reaches 2^50, of which no digit is right, or where the input is not finite.
///
/// Error: at most 8 eps (1 + angle), angle = |h| |m/I|, plus four times what half an ulp of the
/// input does, for every body and momentum (tests/accuracy/test_frb.py).
template <class T>
[[gnu::noinline]] FreeStep<T> frb_step(const PrintedInertia<T>& body, const Vec3<T>& m, T h) {
    return step_by_third_kind(
        body, m, h, [](const Modulus<T>& modulus, const Jacobi<T>& x, const T& scale, const T& ny) {
            return ellint_pi(modulus, x, scale, ny);
        });
}

// The semi-exact step of the report: the integral of the third kind by Gauss-Legendre quadrature.

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

POLHODE_NAMESPACE_END

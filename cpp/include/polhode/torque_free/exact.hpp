#pragma once

/// @file
/// The exact step of the free rigid body, without inverse functions.
///
/// The published algorithm [CZ08] inverts an elliptic integral to find the phase, evaluates sn, cn,
/// dn at the shifted argument and three integrals of the third kind.  Here the same step is written
/// with + - * / sqrt and one sincos, by addition theorems:
///
///  * the momentum by that of Jacobi's functions in the increment v = lambda h alone, with
///    sigma = sn(v)/lambda in place of sn, which is regular in every limit (sphere, symmetric body,
///    momentum on an axis, separatrix);
///  * the angle about the momentum as one integral of the third kind from 0 to v (a polynomial for
///    small v) and the argument of one complex number f (DLMF 19.11.5 times the azimuth);
///  * a long step by doubling a short one.
///
/// No branch but whether a lane doubles; nothing is divided by a difference.

#include "polhode/inertia.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/torque_free/step_polynomials.hpp"

POLHODE_NAMESPACE_BEGIN
namespace torque_free {

namespace exact_detail {

using polhode::conjugate;
using polhode::select;

/// A complex number.
template <class T>
struct Complex {
    T re, im;
};
template <class T>
POLHODE_INLINE Complex<T> operator*(const Complex<T>& a, const Complex<T>& b) {
    return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
template <class T>
POLHODE_INLINE Complex<T> conjugate(const Complex<T>& a) {
    return {a.re, -a.im};
}
template <class T>
POLHODE_INLINE Complex<T> select(const mask_t<T>& m, const Complex<T>& a, const Complex<T>& b) {
    return {select(m, a.re, b.re), select(m, a.im, b.im)};
}
/// a with the power of two of its larger part taken out: only the argument of a is wanted.
template <class T>
POLHODE_INLINE Complex<T> rescaled(const Complex<T>& a) {
    const T inverse = power_of_two_reciprocal(power_of_two_below(max(abs(a.re), abs(a.im))));
    return {inverse * a.re, inverse * a.im};
}

/// Other names for the body's axes.
template <class T>
struct Labels {
    mask_t<T> swapped;  ///< (1, 2, 3) went to (3, -2, 1); then, where the third component was
                        ///< negative, a half turn about axis 1
    T sign2, sign3;     ///< the signs that components 2 and 3 took

    /// Those in which the third component of m is not negative.
    POLHODE_INLINE static Labels of(const mask_t<T>& swapped, const Vec3<T>& m) {
        const T a3 = select(swapped, m.x, m.z);
        return {swapped, flip_where(swapped, a3), a3};
    }
    /// The third component along these axes of a vector along the body's.
    POLHODE_INLINE T third(const Vec3<T>& v) const {
        return flip_sign(select(swapped, v.x, v.z), sign3);
    }
    /// A vector along the body's axes -> along these.
    POLHODE_INLINE Vec3<T> from_body(const Vec3<T>& v) const {
        return {select(swapped, v.z, v.x), flip_sign(v.y, sign2), third(v)};
    }
    /// A vector along these axes -> along the body's.
    POLHODE_INLINE Vec3<T> to_body(const Vec3<T>& v) const {
        const T z = flip_sign(v.z, sign3);
        return {select(swapped, z, v.x), flip_sign(v.y, sign2), select(swapped, v.x, z)};
    }
};

/// Constants of one motion, along axes so labelled that the motion is slow and a.z >= 0.
template <class T>
struct Motion : Labels<T> {
    Vec3<T> a;      ///< the momentum along these axes
    T G;            ///< |m|
    T c1, c2;       ///< of these axes
    T kappa;        ///< of these axes: minus the body's where swapped
    T g0;           ///< 1/I3 + kappa of these axes, without its cancellation
    T alpha, beta;  ///< sn^2 = alpha sigma^2, (modulus sn)^2 = beta sigma^2
    T ny;           ///< c2 d3^2: the integrand of the third kind is 1/(1 + ny sigma^2)
    T delta;        ///< c1 a3^2 - c2 a1^2: negative where the azimuth librates
    T excess;       ///< of the body

    POLHODE_INLINE static Motion of(const Inertia<T>& body, const Vec3<T>& m) {
        Motion s;
        const FrameLabel<T> frame(body, m);
        static_cast<Labels<T>&>(s) = Labels<T>::of(frame.swapped, m);
        s.ny = frame.ny;
        const T ad = body.c1 * frame.d3_2;
        const T bd = body.c2 * frame.d1_2;
        s.alpha = select(s.swapped, bd, ad);
        s.beta = select(s.swapped, ad, bd);
        s.c1 = select(s.swapped, body.c2, body.c1);
        s.c2 = select(s.swapped, body.c1, body.c2);
        s.kappa = flip_where(s.swapped, body.kappa);
        s.g0 = select(s.swapped, body.inverse_I3, body.inverse_I1);
        const T a1 = select(s.swapped, m.z, m.x);
        s.a = {a1, flip_sign(m.y, s.sign2), abs(s.sign3)};
        s.G = norm(m);
        s.delta = fma(s.c1, s.a.z * s.a.z, -(s.c2 * (a1 * a1)));
        s.excess = body.excess;
        return s;
    }
};

/// Jacobi's functions at the increment v, sigma = sn(v)/lambda.
template <class T>
struct Increment {
    T sigma;
    T pc, pd;  ///< 1 - cn, 1 - dn, to full relative accuracy (stale once `c_is_small`)
    T c, d;    ///< cn, dn
};

/// Phase of the doublings, up to positive factors.
template <class T>
struct Doubled {
    Complex<T> E, F, H;
};

/// a, with its size raised to `least`.
template <class T>
POLHODE_INLINE T at_least(T a, double least) {
    return copysign(max(abs(a), T(least)), a);
}

/// sn(v)/v - 1 and W - 1 of the base, by the shortest polynomials that w allows.  Lanes differ in
/// w: a tier is evaluated where some lane needs it, and each lane takes its own.
template <class T>
struct Base {
    T S, W1;
};
template <class T>
POLHODE_INLINE Base<T> base(T w2, T u, T r, T y) {
    const mask_t<T> tier_a = w2 <= step_w_a * step_w_a;
    const mask_t<T> tier_b = w2 <= step_w_b * step_w_b;
    if (all(tier_a)) return {sn_minus_one_a(u, r), third_kind_minus_one_a(u, r, y)};
    Base<T> p;
    if (all(tier_b)) {
        p = {sn_minus_one_b(u, r), third_kind_minus_one_b(u, r, y)};
    } else {
        p = {sn_minus_one_c(u, r), third_kind_minus_one_c(u, r, y)};
        if (any(tier_b)) {
            p.S = select(tier_b, sn_minus_one_b(u, r), p.S);
            p.W1 = select(tier_b, third_kind_minus_one_b(u, r, y), p.W1);
        }
    }
    if (any(tier_a)) {
        p.S = select(tier_a, sn_minus_one_a(u, r), p.S);
        p.W1 = select(tier_a, third_kind_minus_one_a(u, r, y), p.W1);
    }
    return p;
}

/// One doubling of the increment.  Small: by differences, which keep 1 - cn and 1 - dn; alone they
/// lose 1e-9 at 30 rad near the separatrix.  Large: by products, four times the error if always.
template <bool Small, class T>
POLHODE_INLINE void double_increment(const Motion<T>& s,
                                     const mask_t<T>& active,
                                     const mask_t<T>& last,
                                     Increment<T>& v,
                                     Doubled<T>& phase) {
    const T sigma2 = v.sigma * v.sigma;
    const T x = s.alpha * sigma2;
    const T kx = s.beta * sigma2;
    const T cd = v.c * v.d;
    const T c2 = v.c * v.c;
    const T d2 = v.d * v.d;
    const T R = fma(x, d2, c2);
    Increment<T> w;
    T inverse_R;
    if constexpr (Small) {
        const T one_cd = 1.0 + cd;
        const T tt = 1.0 / (one_cd * R);
        inverse_R = tt * one_cd;
        // cd/R - 1 without cancellation.
        const T xkx = x * kx;
        const T rho = fma(xkx, one_cd, xkx - (x + kx)) * tt;
        const T sigma_2 = v.sigma + v.sigma;
        w.sigma = fma(sigma_2, rho, sigma_2);
        w.pc = (x + x) * (d2 * inverse_R);
        w.pd = (kx + kx) * (c2 * inverse_R);
        w.c = 1.0 - w.pc;
        w.d = 1.0 - w.pd;
    } else {
        inverse_R = 1.0 / R;
        const T cd2 = cd * cd;
        const T ds = s.delta * sigma2;
        w.sigma = (v.sigma + v.sigma) * (cd * inverse_R);
        // On the separatrix cn and dn fall off exponentially: kept from where R would underflow.
        w.c = at_least((cd2 - ds) * inverse_R, 1e-150);
        w.d = at_least((cd2 + ds) * inverse_R, 1e-150);
        // Errors of cn^2 + sn^2 and dn^2 + k^2 sn^2 would double each time.  Where I3 is far above
        // the other moments the angle is far below lambda h, and does not allow for that.
        const mask_t<T> kept = s.excess > 0.0;
        if (any(kept)) {
            const T w2 = w.sigma * w.sigma;
            const T of_c = fma(-0.5, fma(s.alpha, w2, w.c * w.c), T(1.5));
            const T of_d = fma(-0.5, fma(s.beta, w2, w.d * w.d), T(1.5));
            w.sigma = select(kept, w.sigma * select(s.alpha > s.beta, of_c, of_d), w.sigma);
            w.c = select(kept, w.c * of_c, w.c);
            w.d = select(kept, w.d * of_d, w.d);
        }
        w.pc = v.pc;
        w.pd = v.pd;
    }
    // DLMF 19.11.5: two equal increments of the third kind add up to twice one less the argument of
    // U - iV.  U > 0, so the half angle of the last doubling is on the continuous branch.
    const T y1 = s.ny * sigma2;
    const T U = fma(y1, fma(cd + cd, cd * inverse_R, T(1.0)), T(1.0));
    const T V = y1 * (s.G * w.sigma);
    // Powers of two are taken out from where the products could leave the range of T.
    const auto in_range = [](const Complex<T>& a) POLHODE_INLINE_LAMBDA {
        if constexpr (Small) return a;
        return rescaled(a);
    };
    const mask_t<T> more = active & !last;
    if (any(more)) {
        const Complex<T> E = in_range(phase.E * phase.E * Complex<T>{U, -V});
        phase.E = select(more, E, phase.E);
    }
    if (any(last)) {
        const mask_t<T> librates = s.delta < 0.0;
        const Complex<T> F = in_range({U, V});
        const Complex<T> H = in_range(
            {select(librates, T(1.0), v.c), select(librates, T(0.0), s.G * (v.sigma * v.d))});
        phase.F = select(last, F, phase.F);
        phase.H = select(last, H, phase.H);
    }
    v.sigma = select(active, w.sigma, v.sigma);
    v.c = select(active, w.c, v.c);
    v.d = select(active, w.d, v.d);
    if constexpr (Small) {
        v.pc = select(active, w.pc, v.pc);
        v.pd = select(active, w.pd, v.pd);
    }
}

/// p(0)^-1 y p(h) along the body's axes, for frames p that take the momentum to axis 3 by the
/// shortest rotation, up to factors (A, a2, -a1, 0) and (B, n2, -n1, 0), and y = (Y.re, 0, 0,
/// Y.im).  Divided by its own norm.
///
/// @param a1, a2  momentum at the start; D = n - a, n at the end
/// @param A, B    |m| + a3, |m| + n3;  Q = a1 n1 + a2 n2,  X = a2 n1 - a1 n2
template <class T>
POLHODE_INLINE Quaternion<T> unit_turn(const Labels<T>& labels,
                                       const T& a1,
                                       const T& a2,
                                       const Vec3<T>& D,
                                       const Vec3<T>& n,
                                       const T& A,
                                       const T& B,
                                       const T& Q,
                                       const T& X,
                                       const Complex<T>& Y) {
    const T P = A * B;
    const T w0 = fma(Y.re, P + Q, Y.im * X);
    const T w1 = fma(Y.re, fma(A, D.y, -(a2 * D.z)), Y.im * fma(A, n.x, B * a1));
    const T w2_ = fma(-Y.re, fma(A, D.x, -(a1 * D.z)), Y.im * fma(A, n.y, B * a2));
    const T w3 = fma(Y.im, P - Q, Y.re * X);
    const Vec3<T> wv = labels.to_body({w1, w2_, w3});
    const T norm_w = sqrt(fma(w0, w0, fma(w1, w1, fma(w2_, w2_, w3 * w3))));
    const T inverse_w = 1.0 / norm_w;
    // The scalar part as a true quotient, so that h = 0 gives exactly 1.
    const T quotient = w0 * inverse_w;
    const T scalar = fma(fma(-quotient, norm_w, w0), inverse_w, quotient);
    return {scalar, wv.x * inverse_w, wv.y * inverse_w, wv.z * inverse_w};
}

}  // namespace exact_detail

/// The exact step of the motion `s` that has momentum m along the sorted axes: see `exact_step`.
template <class T>
POLHODE_INLINE FreeStep<T> exact_flow(const exact_detail::Motion<T>& s, const Vec3<T>& m, T h) {
    using namespace exact_detail;
    const auto& [a1, a2, a3] = s.a;

    // Base: the increment of 2^-J of the step.
    const T K = s.kappa * h;
    const T size = max(s.alpha, s.beta) + s.ny;
    const T w2 = size * (K * K);
    const mask_t<T> doubles = w2 > step_w_c * step_w_c;
    const bool any_doubles = any(doubles);
    T J = 0.0;
    T K0 = K;
    if (any_doubles) {
        // Smallest J with w/2^J <= w_c: from the exponent of (w/w_c)^2, in [4^(J-1), 4^J).
        J = rint(fma(exponent(w2 * (1.0 / (step_w_c * step_w_c))), T(0.5), T(0.75)));
        // Beside axis 3 of a body with excess the phase may go on where the angle is far below it.
        const mask_t<T> slight = s.swapped & (s.excess > 0.0) & (s.ny * (K * K) < 0x1p100);
        const mask_t<T> told = (w2 < 0x1p100) | (slight & (w2 < 0x1p1000));
        J = select(doubles & told, J, T(0.0));
        K0 = K * power_of_two(-J);
        // Near axis 2, alpha K^2 is the square of the growth times.
        const mask_t<T> lost = lost_beside_axis2(a1, a2, a3, s.alpha * (K * K));
        K0 = select(doubles & (lost | !told), nan<T>(), K0);
    }
    const T K0_2 = K0 * K0;
    const T u = (s.alpha + s.beta) * K0_2;
    const T r = (s.alpha * K0_2) * (s.beta * K0_2);
    const T y = s.ny * K0_2;
    const auto [S, W1] = base(w2, u, r, y);
    Increment<T> v;
    v.sigma = fma(K0, S, K0);
    const T half_psi = (0.5 * s.G) * fma(K, W1, h * s.g0);
    const SinCos<T> turn = sincos(half_psi);
    {
        const T sigma2 = v.sigma * v.sigma;
        const T x = s.alpha * sigma2;
        const T kx = s.beta * sigma2;
        v.pc = x * sqrt_complement(x);
        v.pd = kx * sqrt_complement(kx);
        v.c = 1.0 - v.pc;
        v.d = 1.0 - v.pd;
    }

    Doubled<T> phase{{T(1.0), T(0.0)}, {T(1.0), T(0.0)}, {T(1.0), T(0.0)}};
    constexpr int small_doublings = 3;
    if (any_doubles) {
        for (int i = 1; any(J >= double(i)); ++i) {
            const mask_t<T> active = J >= double(i);
            const mask_t<T> last = J == double(i);
            if (i <= small_doublings) {
                double_increment<true>(s, active, last, v, phase);
            } else {
                double_increment<false>(s, active, last, v, phase);
            }
        }
    }

    // Momentum: addition theorem of sn, cn, dn, as increments.  (The product form has the same
    // relative error in every step, and energy, |m| and attitude drift linearly.)
    const T sigma = v.sigma;
    const T sigma_a2 = sigma * a2;
    const T gamma = (s.c1 * s.c2) * (sigma_a2 * sigma_a2);
    const T pcd = fma(-v.pc, v.pd, v.pc + v.pd);
    const T inverse_D = 1.0 / (1.0 - gamma);
    const T sigma_a1 = sigma * a1;
    Vec3<T> D{fma(a1, gamma - v.pc, -(s.c1 * sigma_a2) * (a3 * v.d)) * inverse_D,
              fma(a2, gamma - pcd, sigma_a1 * a3) * inverse_D,
              fma(a3, gamma - v.pd, -(s.c2 * sigma_a2) * (a1 * v.c)) * inverse_D};
    Vec3<T> n = s.a + D;
    if (any_doubles) {
        const mask_t<T> large = J > double(small_doublings);
        if (any(large)) {
            const T sigma_a3 = sigma * a3;
            const T inverse = 1.0 / fma(s.c1 * sigma_a3, sigma_a3, v.c * v.c);
            const Vec3<T> far{fma(a1, v.c, -(s.c1 * sigma_a2) * (a3 * v.d)) * inverse,
                              fma(a2 * v.c, v.d, sigma_a1 * a3) * inverse,
                              fma(a3, v.d, -(s.c2 * sigma_a2) * (a1 * v.c)) * inverse};
            n = select<T>(large, far, n);
            D = select<T>(large, far - s.a, D);
        }
    }

    // Attitude.  At rest G = 1 gives the identity.
    const T G = select(s.G == 0.0, T(1.0), s.G);
    const T A = G + a3;
    const T B = G + n.z;
    const T Q = fma(a1, n.x, a2 * n.y);
    const T X = fma(a2, D.x, -(a1 * D.y));  // a2 n1 - a1 n2
    const T t = s.c2 * (sigma * n.y);
    // The right limit for m on axis 3, invisible elsewhere.
    const T e = 1e-30 * (G * G) * A;
    const T Aa3 = A * a3;
    Complex<T> g{fma(A, Q, fma(t, fma(Aa3, n.x, a2 * X), e * v.c)),
                 fma(A, X, fma(-t, fma(Aa3, n.y, a2 * Q), -(e * (sigma * a3))))};
    if (any_doubles) g = g * conjugate(phase.F) * (phase.H * phase.H);
    // Half of the argument of g.
    const T size_g = sqrt(fma(g.re, g.re, g.im * g.im));
    Complex<T> half{size_g + g.re, g.im};
    if (any_doubles) {
        const mask_t<T> obtuse = (J > 0.0) & (g.re < 0.0);
        half = select<T>(obtuse, {abs(g.im), copysign(size_g - g.re, g.im)}, half);
    }
    Complex<T> Y = Complex<T>{turn.cos, turn.sin} * half;
    if (any_doubles) Y = Y * conjugate(phase.H) * phase.E;
    return {m + s.to_body(D), unit_turn<T>(s, a1, a2, D, n, A, B, Q, X, Y)};
}

/// One exact step of free rotation, m' = m x I^-1 m, q' = q (0, I^-1 m)/2.
///
/// @param body  the body
/// @param m     momentum along the body's sorted axes, largest component of size about 1 (any
///              between 1e-20 and 1e20 will do); zero returns the identity
/// @param h     time step, either sign
/// @return      momentum and dq along the sorted axes.  dq is the end of the continuous path that
///              starts at 1, not made positive.  Error of either at most a few eps (1 + angle),
///              angle = |h| |m/I|, plus what one ulp of the input does (tests/test_exact_cases.py).
///              NaN where the angle or the phase reaches 2^50 (no digit is left), in a step of more
///              than 300 growth times from less than 1e-135 |m| off axis 2, but not on it, and
///              where the input is not finite.
///
/// The paper's symbols: the frame p takes m to the third axis by the shortest rotation [CZ08]
/// Sec. 1.4 (1), dq = p(0)^-1 y p(h), y a turn by psi; psi' = G/I3 + kappa d1^2/(G + |m3|).
template <class T>
POLHODE_INLINE FreeStep<T> exact_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    return exact_flow(exact_detail::Motion<T>::of(body, m), m, h);
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

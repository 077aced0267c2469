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

/// Constants of one motion over a time h, along axes so labelled that the motion is slow and
/// a.z >= 0.
///
/// With P = h (1/I2 - 1/I3), R = h (1/I1 - 1/I2), K = P + R of the body: D1 = K m1^2 + P m2^2 and
/// D3 = K m3^2 + R m2^2, which are K d1^2, K d3^2 of [Gus10] Sec. 4.2.  Nothing is divided by I3 -
/// I1; a sphere and a rod have P = R = K = 0.
template <class T>
struct Motion : Labels<T> {
    Vec3<T> a;      ///< the momentum along these axes
    T G;            ///< |m|
    T p, r, k;      ///< P, R, K of these axes: -R, -P, -K of the body's where swapped
    T g;            ///< h/I1 of these axes, that is h/I3 + k without its cancellation
    T alpha, beta;  ///< sn^2 = alpha s^2, (modulus sn)^2 = beta s^2
    T ny;           ///< r D3: the integrand of the third kind is 1/(1 + ny s^2)
    T excess;       ///< of the body

    POLHODE_INLINE static Motion of(const Inertia<T>& body, const Vec3<T>& m, const T& h) {
        Motion s;
        // p, r, k times h would leave the range of numbers where the moments are near its ends.
        const T h1 = h * body.inverse_I1;
        const T h3 = h * body.inverse_I3;
        const T P = body.p * h3;
        const T R = body.r * h1;
        const T K = body.k * h1;
        const T m2m2 = m.y * m.y;
        const T D1 = fma(K * m.x, m.x, P * m2m2);
        const T D3 = fma(K * m.z, m.z, R * m2m2);
        const T y1 = P * D1;
        const T y3 = R * D3;
        const mask_t<T> swapped = takes_second_labels(body, D1, D3, y1, y3, K);
        static_cast<Labels<T>&>(s) = Labels<T>::of(swapped, m);
        s.ny = select(s.swapped, y1, y3);
        const T ad = P * D3;
        const T bd = R * D1;
        s.alpha = select(s.swapped, bd, ad);
        s.beta = select(s.swapped, ad, bd);
        s.p = flip_where(s.swapped, select(s.swapped, R, P));
        s.r = flip_where(s.swapped, select(s.swapped, P, R));
        s.k = flip_where(s.swapped, K);
        s.g = select(s.swapped, h3, h1);
        const T a1 = select(s.swapped, m.z, m.x);
        s.a = {a1, flip_sign(m.y, s.sign2), abs(s.sign3)};
        s.G = norm(m);
        s.excess = body.excess;
        return s;
    }
    /// The same motion over a time so many times as long.
    POLHODE_INLINE Motion over(const T& factor) const {
        const T square = factor * factor;
        Motion s = *this;
        s.p = factor * p;
        s.r = factor * r;
        s.k = factor * k;
        s.g = factor * g;
        s.alpha = square * alpha;
        s.beta = square * beta;
        s.ny = square * ny;
        return s;
    }
    /// alpha - beta without its cancellation: negative where the azimuth librates.
    POLHODE_INLINE T delta() const { return k * fma(p * a.z, a.z, -((r * a.x) * a.x)); }
};

/// Jacobi's functions at the increment v, s = sn(v)/(lambda h).
template <class T>
struct Increment {
    T s;
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
///
/// @tparam First  the first doubling, where phase.E is 1
template <bool Small, bool First = false, class T>
POLHODE_INLINE void double_increment(const Motion<T>& motion,
                                     const T& Gk,
                                     const T& delta,
                                     const mask_t<T>& active,
                                     const mask_t<T>& last,
                                     Increment<T>& v,
                                     Doubled<T>& phase) {
    const T s2 = v.s * v.s;
    const T x = motion.alpha * s2;
    const T kx = motion.beta * s2;
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
        const T two_s = v.s + v.s;
        w.s = fma(two_s, rho, two_s);
        w.pc = (x + x) * (d2 * inverse_R);
        w.pd = (kx + kx) * (c2 * inverse_R);
        w.c = 1.0 - w.pc;
        w.d = 1.0 - w.pd;
    } else {
        inverse_R = 1.0 / R;
        const T cd2 = cd * cd;
        const T ds = delta * s2;
        w.s = (v.s + v.s) * (cd * inverse_R);
        // On the separatrix cn and dn fall off exponentially: kept from where R would underflow.
        w.c = at_least((cd2 - ds) * inverse_R, 1e-150);
        w.d = at_least((cd2 + ds) * inverse_R, 1e-150);
        // Errors of cn^2 + sn^2 and dn^2 + k^2 sn^2 would double each time.  Where I3 is far above
        // the other moments the angle is far below lambda h, and does not allow for that.
        const mask_t<T> kept = motion.excess > 0.0;
        if (any(kept)) {
            const T w2 = w.s * w.s;
            const T of_c = fma(-0.5, fma(motion.alpha, w2, w.c * w.c), T(1.5));
            const T of_d = fma(-0.5, fma(motion.beta, w2, w.d * w.d), T(1.5));
            w.s = select(kept, w.s * select(motion.alpha > motion.beta, of_c, of_d), w.s);
            w.c = select(kept, w.c * of_c, w.c);
            w.d = select(kept, w.d * of_d, w.d);
        }
        w.pc = v.pc;
        w.pd = v.pd;
    }
    // DLMF 19.11.5: two equal increments of the third kind add up to twice one less the argument of
    // U - iV.  U > 0, so the half angle of the last doubling is on the continuous branch.
    const T y1 = motion.ny * s2;
    const T U = fma(y1, fma(cd + cd, cd * inverse_R, T(1.0)), T(1.0));
    const T V = y1 * (Gk * w.s);
    // Powers of two are taken out from where the products could leave the range of T.
    const auto in_range = [](const Complex<T>& a) POLHODE_INLINE_LAMBDA {
        if constexpr (Small) return a;
        return rescaled(a);
    };
    const mask_t<T> more = active & !last;
    if (any(more)) {
        Complex<T> E{U, 0.0 - V};  // 0 - V and not -V: the zero of the product
        if constexpr (!First) E = in_range(phase.E * phase.E * Complex<T>{U, -V});
        phase.E = select(more, E, phase.E);
    }
    if (any(last)) {
        const mask_t<T> librates = delta < 0.0;
        const Complex<T> F = in_range({U, V});
        const Complex<T> H =
            in_range({select(librates, T(1.0), v.c), select(librates, T(0.0), Gk * (v.s * v.d))});
        phase.F = select(last, F, phase.F);
        phase.H = select(last, H, phase.H);
    }
    v.s = select(active, w.s, v.s);
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

/// The exact step of a motion that has momentum m along the sorted axes: see `exact_step`.
///
/// @param delta  gives alpha - beta
template <class T, class Delta>
POLHODE_INLINE FreeStep<T> exact_flow(const exact_detail::Motion<T>& motion,
                                      const Vec3<T>& m,
                                      const Delta& delta) {
    using namespace exact_detail;
    const auto& [a1, a2, a3] = motion.a;

    // Base: the increment of 2^-J of the step.
    const T w2 = max(motion.alpha, motion.beta) + motion.ny;
    const mask_t<T> doubles = w2 > step_w_c * step_w_c;
    const bool any_doubles = any(doubles);
    T J = 0.0;
    T part = 1.0;
    T u = motion.alpha + motion.beta;
    T r = motion.alpha * motion.beta;
    T y = motion.ny;
    if (any_doubles) {
        // Smallest J with w/2^J <= w_c: from the exponent of (w/w_c)^2, in [4^(J-1), 4^J).
        J = rint(fma(exponent(w2 * (1.0 / (step_w_c * step_w_c))), T(0.5), T(0.75)));
        J = select(doubles, J, T(0.0));
        part = power_of_two(-J);
        // Not for steps of up to 300: alpha <= w2, and lost_beside_axis2 begins there.
        if (any(!(w2 <= 300.0 * 300.0))) [[unlikely]] {
            // Beside axis 3 of a body with excess the phase may go on where the angle is far below
            // it.
            const mask_t<T> slight = motion.swapped & (motion.excess > 0.0) & (motion.ny < 0x1p100);
            const mask_t<T> told = (w2 < 0x1p100) | (slight & (w2 < 0x1p1000));
            J = select(told, J, T(0.0));
            // Near axis 2, alpha is the square of the growth times.
            const mask_t<T> lost = lost_beside_axis2(a1, a2, a3, motion.alpha);
            part = select(doubles & (lost | !told), nan<T>(), part);
        }
        const T part2 = part * part;
        u = u * part2;
        r = (motion.alpha * part2) * (motion.beta * part2);
        y = y * part2;
    }
    const auto [S, W1] = base(w2, u, r, y);
    Increment<T> v;
    v.s = 1.0 + S;
    if (any_doubles) v.s = part * v.s;
    const T half_psi = (0.5 * motion.G) * fma(motion.k, W1, motion.g);
    const SinCos<T> turn = sincos(half_psi);
    {
        const T s2 = v.s * v.s;
        const T x = motion.alpha * s2;
        const T kx = motion.beta * s2;
        v.pc = x * sqrt_complement(x);
        v.pd = kx * sqrt_complement(kx);
        v.c = 1.0 - v.pc;
        v.d = 1.0 - v.pd;
    }

    Doubled<T> phase{{T(1.0), T(0.0)}, {T(1.0), T(0.0)}, {T(1.0), T(0.0)}};
    constexpr int small_doublings = 3;
    T difference = 0.0;
    if (any_doubles) {
        const T Gk = motion.G * motion.k;
        difference = delta(motion);
        double_increment<true, true>(motion, Gk, difference, doubles, J == 1.0, v, phase);
        for (int i = 2; any(J >= double(i)); ++i) {
            const mask_t<T> active = J >= double(i);
            const mask_t<T> last = J == double(i);
            if (i <= small_doublings) {
                double_increment<true>(motion, Gk, difference, active, last, v, phase);
            } else {
                double_increment<false>(motion, Gk, difference, active, last, v, phase);
            }
        }
    }

    // Momentum: addition theorem of sn, cn, dn, as increments.  (The product form has the same
    // relative error in every step, and energy, |m| and attitude drift linearly.)
    const T s = v.s;
    const T s_a2 = s * a2;
    const T ps_a2 = motion.p * s_a2;
    const T rs_a2 = motion.r * s_a2;
    const T ks = motion.k * s;
    const T ks_a1 = ks * a1;
    const T gamma = ps_a2 * rs_a2;
    const T pcd = fma(-v.pc, v.pd, v.pc + v.pd);
    const T inverse_D = 1.0 / (1.0 - gamma);
    Vec3<T> D{fma(a1, gamma - v.pc, -(ps_a2 * (a3 * v.d))) * inverse_D,
              fma(a2, gamma - pcd, ks_a1 * a3) * inverse_D,
              fma(a3, gamma - v.pd, -(rs_a2 * (a1 * v.c))) * inverse_D};
    Vec3<T> n = motion.a + D;
    if (any_doubles) {
        const mask_t<T> large = J > double(small_doublings);
        if (any(large)) {
            const T inverse = 1.0 / fma((motion.p * s) * a3, ks * a3, v.c * v.c);
            const Vec3<T> far{fma(a1, v.c, -(ps_a2 * (a3 * v.d))) * inverse,
                              fma(a2 * v.c, v.d, ks_a1 * a3) * inverse,
                              fma(a3, v.d, -(rs_a2 * (a1 * v.c))) * inverse};
            n = select<T>(large, far, n);
            D = select<T>(large, far - motion.a, D);
        }
    }

    // Attitude.  At rest G = 1 gives the identity.
    const T G = select(motion.G == 0.0, T(1.0), motion.G);
    const T A = G + a3;
    const T B = G + n.z;
    const T Q = fma(a1, n.x, a2 * n.y);
    const T X = fma(a2, D.x, -(a1 * D.y));  // a2 n1 - a1 n2
    const T t = (motion.r * s) * n.y;
    // The right limit for m on axis 3, invisible elsewhere.
    const T e = 1e-30 * (G * G) * A;
    const T Aa3 = A * a3;
    Complex<T> g{fma(A, Q, fma(t, fma(Aa3, n.x, a2 * X), e * v.c)),
                 fma(A, X, fma(-t, fma(Aa3, n.y, a2 * Q), -(e * (ks * a3))))};
    if (any_doubles) g = g * conjugate(phase.F) * (phase.H * phase.H);
    // Half of the argument of g.
    const T size_g = sqrt(fma(g.re, g.re, g.im * g.im));
    Complex<T> half{size_g + g.re, g.im};
    if (any_doubles) {
        const mask_t<T> obtuse = (J > 0.0) & (g.re < 0.0);
        // From one end of axis 2 to the other the argument comes within rounding of pi where the
        // azimuth librates.  Its sign is that of the change of azimuth.
        const mask_t<T> beside_pi = (difference < 0.0) & (abs(g.im) < -0.125 * g.re);
        const T side = select(beside_pi, X, g.im);
        half = select<T>(obtuse, {abs(g.im), copysign(size_g - g.re, side)}, half);
    }
    Complex<T> Y = Complex<T>{turn.cos, turn.sin} * half;
    if (any_doubles) Y = Y * conjugate(phase.H) * phase.E;
    return {m + motion.to_body(D), unit_turn<T>(motion, a1, a2, D, n, A, B, Q, X, Y)};
}

/// One exact step of free rotation, m' = m x I^-1 m, q' = q (0, I^-1 m)/2.
///
/// @param body  the body
/// @param m     momentum along the body's sorted axes, largest component of size about 1 (any
///              between 1e-20 and 1e20 will do); zero returns the identity
/// @param h     time step, either sign
/// @return      momentum and dq along the sorted axes.  dq is the end of the continuous path that
///              starts at 1, not made positive.  Error of either at most a few eps (1 + angle),
///              angle = |h| |m/I|, plus what one ulp of the input does (tests/accuracy/test_exact_cases.py).
///              NaN where the angle or the phase reaches 2^50 (no digit is left), in a step of more
///              than 300 growth times from less than 1e-135 |m| off axis 2, but not on it, and
///              where the input is not finite.
///
/// The paper's symbols: the frame p takes m to the third axis by the shortest rotation [CZ08]
/// Sec. 1.4 (1), dq = p(0)^-1 y p(h), y a turn by psi; h psi' = h G/I3 + D1/(G + |m3|).
template <class T>
POLHODE_INLINE FreeStep<T> exact_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    using Motion = exact_detail::Motion<T>;
    return exact_flow(
        Motion::of(body, m, h), m, [](const Motion& s) POLHODE_INLINE_LAMBDA { return s.delta(); });
}

}  // namespace torque_free
POLHODE_NAMESPACE_END

#pragma once

/// The exact step of the free rigid body, without inverse functions.
///
/// The published algorithm [CZ08] inverts an elliptic integral to find the phase, evaluates sn, cn,
/// dn at the shifted argument and three integrals of the third kind.  Here the same step needs only
/// + - * / sqrt and one sincos, by addition theorems: the momentum from Jacobi's functions at the
/// increment v = lambda h alone; the angle about the momentum as one integral of the third kind
/// from 0 to v and the argument of one complex number; a long step by doubling a short one.
/// Nothing is divided by a difference, so there is no special case.
///
/// Symbols of docs/families/exact.md, all along the frame axes:
///
///     m, mu           momentum at the start (Motion::a) and at the end; change = mu - m
///     P, R, K         Motion::p, r, k;  P D3, R D1, R D3 are Motion::alpha, beta, ny
///     s, cn, dn       Increment::s, c, d at v
///     W, psi          the integral of the third kind, W1 = W - 1; the angle about the momentum
///     A, Q, X, tau    G + m3, m1 mu1 + m2 mu2, m2 mu1 - m1 mu2, R s mu2
///     g, y            arg g is a part of psi; y = (cos psi/2, 0, 0, sin psi/2), up to a factor
///     E, F, H         what the doublings add to y and g, see `Doubled`

#include "polhode/inertia.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/torque_free/frame_axes.hpp"
#include "polhode/torque_free/step_polynomials.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

namespace exact_detail {

/// Constants of one motion over a time h, along the frame axes whose R D3 is the smaller.
///
/// Nothing is divided by I3 - I1; a sphere and a rod have P = R = K = 0.  D1, D3 are K d1^2, K d3^2
/// of [Gus10] Sec. 4.2.
template <class T>
struct Motion : FrameAxes<T> {
    Vec3<T> a;      ///< the momentum at the start
    T G;            ///< |m|
    T p, r, k;      ///< P, R, K of these axes: -R, -P, -K of the sorted ones where swapped
    T h_I1;         ///< h/I1 of these axes, that is h/I3 + K without its cancellation
    T alpha, beta;  ///< P D3 and R D1: sn^2 = alpha s^2, (modulus sn)^2 = beta s^2
    T ny;           ///< R D3: the integrand of W is 1/(1 + ny sigma^2)
    T excess;       ///< of the body

    POLHODE_INLINE static Motion of(const Inertia<T>& body, const Vec3<T>& m, const T& h) {
        Motion s;
        // p, r, k times h would leave the range of numbers where the moments are near its ends.
        const T h1 = h * body.inverse_I1, h3 = h * body.inverse_I3, P = body.p * h3;
        const T R = body.r * h1, K = body.k * h1, m2m2 = m.y * m.y;
        const T D1 = fma(K * m.x, m.x, P * m2m2), D3 = fma(K * m.z, m.z, R * m2m2);
        const T y1 = P * D1, y3 = R * D3;
        const mask_t<T> swapped = takes_second_axes(body, D1, D3, y1, y3, K);
        static_cast<FrameAxes<T>&>(s) = FrameAxes<T>::of(swapped, m);
        s.ny = select(s.swapped, y1, y3);
        const T ad = P * D3, bd = R * D1;
        s.alpha = select(s.swapped, bd, ad);
        s.beta = select(s.swapped, ad, bd);
        s.p = flip_where(s.swapped, select(s.swapped, R, P));
        s.r = flip_where(s.swapped, select(s.swapped, P, R));
        s.k = flip_where(s.swapped, K);
        s.h_I1 = select(s.swapped, h3, h1);
        s.a = s.from_sorted(m);
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
        s.h_I1 = factor * h_I1;
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
    T pc, pd;  ///< 1 - cn, 1 - dn, to full relative accuracy; not updated by large doublings
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

/// Values of the shortest polynomials that w allows.  Lanes differ in w: a tier is evaluated if
/// some lane needs it, and each lane takes its own.
///
/// @param evaluate  evaluate.template operator()<'a'>(), <'b'> or <'c'>, the longest
template <class Values, class T, class Evaluate>
POLHODE_INLINE Values by_tier(const T& w2, const Evaluate& evaluate) {
    const mask_t<T> tier_a = w2 <= step_w_a * step_w_a;
    if (all(tier_a)) return evaluate.template operator()<'a'>();
    const mask_t<T> tier_b = w2 <= step_w_b * step_w_b;
    Values p;
    if (all(tier_b)) {
        p = evaluate.template operator()<'b'>();
    } else {
        p = evaluate.template operator()<'c'>();
        if (any(tier_b)) p = blend(tier_b, evaluate.template operator()<'b'>(), p);
    }
    if (any(tier_a)) p = blend(tier_a, evaluate.template operator()<'a'>(), p);
    return p;
}

/// s - 1 and W - 1 of the base.
template <class T>
struct Base {
    T S, W1;
    POLHODE_INLINE friend Base blend(const mask_t<T>& mask, const Base& a, const Base& b) {
        return {select(mask, a.S, b.S), select(mask, a.W1, b.W1)};
    }
    POLHODE_INLINE static Base of(T w2, T u, T r, T y) {
        return by_tier<Base>(w2, [&]<char tier>() POLHODE_INLINE_LAMBDA {
            return Base{sn_minus_one<tier>(u, r), third_kind_minus_one<tier>(u, r, y)};
        });
    }
};

/// Jacobi's functions at 2 v.  Small: by differences, which keep 1 - cn and 1 - dn; alone they lose
/// 1e-9 at 30 rad near the separatrix.  Large: by products, four times the error if always.
template <bool Small, class T>
POLHODE_INLINE Increment<T> doubled(
    const T& alpha, const T& beta, const T& delta, const Increment<T>& v, T& inverse_R) {
    const T s2 = v.s * v.s, x = alpha * s2, cd = v.c * v.d;
    const T c2 = v.c * v.c, d2 = v.d * v.d, R = fma(x, d2, c2);
    Increment<T> w;
    if constexpr (Small) {
        const T kx = beta * s2, one_cd = 1.0 + cd, tt = 1.0 / (one_cd * R);
        inverse_R = tt * one_cd;
        // cd/R - 1 without cancellation.
        const T xkx = x * kx, rho = fma(xkx, one_cd, xkx - (x + kx)) * tt;
        const T two_s = v.s + v.s;
        w.s = fma(two_s, rho, two_s);
        w.pc = (x + x) * (d2 * inverse_R);
        w.pd = (kx + kx) * (c2 * inverse_R);
        w.c = 1.0 - w.pc;
        w.d = 1.0 - w.pd;
    } else {
        inverse_R = 1.0 / R;
        const T cd2 = cd * cd, ds = delta * s2;
        w.s = (v.s + v.s) * (cd * inverse_R);
        // On the separatrix cn and dn fall exponentially; below this R would underflow.
        w.c = at_least((cd2 - ds) * inverse_R, 1e-150);
        w.d = at_least((cd2 + ds) * inverse_R, 1e-150);
        w.pc = v.pc;
        w.pd = v.pd;
    }
    return w;
}

/// One doubling of the increment and of its phase.
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
    const T s2 = v.s * v.s, cd = v.c * v.d;
    T inverse_R;
    Increment<T> w = doubled<Small>(motion.alpha, motion.beta, delta, v, inverse_R);
    if constexpr (!Small) {
        // Errors of cn^2 + sn^2 and dn^2 + k^2 sn^2 would double each time.  If I3 is far above the
        // other moments, the angle is far below lambda h and does not allow this.
        const mask_t<T> renormalizes = motion.excess > 0.0;
        if (any(renormalizes)) {
            const T w2 = w.s * w.s;
            const T of_c = fma(-0.5, fma(motion.alpha, w2, w.c * w.c), T(1.5));
            const T of_d = fma(-0.5, fma(motion.beta, w2, w.d * w.d), T(1.5));
            const T of_s = select(motion.alpha > motion.beta, of_c, of_d);
            w.s = select(renormalizes, w.s * of_s, w.s);
            w.c = select(renormalizes, w.c * of_c, w.c);
            w.d = select(renormalizes, w.d * of_d, w.d);
        }
    }
    // DLMF 19.11.5: two equal increments of the third kind add up to twice one less the argument of
    // U - iV.  U > 0, so the half angle of the last doubling is on the continuous branch.
    const T y1 = motion.ny * s2;
    const T U = fma(y1, fma(cd + cd, cd * inverse_R, T(1.0)), T(1.0));
    const T V = y1 * (Gk * w.s);
    // Powers of two are taken out from where the products could leave the range of T.
    const auto in_range = [](const Complex<T>& a) POLHODE_INLINE_LAMBDA {
        if constexpr (Small) return a;
        return a.rescaled();
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

/// p(0)^-1 y p(h) along the sorted axes, divided by its own norm, for frames p = (A, m2, -m1, 0)
/// and (B, mu2, -mu1, 0) up to factors and y = (y.re, 0, 0, y.im).
///
/// @param m, mu   momentum at the start and at the end; change = mu - m
/// @param A, B    G + m3, G + mu3;  Q = m1 mu1 + m2 mu2,  X = m2 mu1 - m1 mu2
template <class T>
POLHODE_INLINE Quaternion<T> unit_rotation(const FrameAxes<T>& axes,
                                           const Vec3<T>& m,
                                           const Vec3<T>& change,
                                           const Vec3<T>& mu,
                                           const T& A,
                                           const T& B,
                                           const T& Q,
                                           const T& X,
                                           const Complex<T>& y) {
    const T P = A * B, w0 = fma(y.re, P + Q, y.im * X);
    const T w1 = fma(y.re, fma(A, change.y, -(m.y * change.z)), y.im * fma(A, mu.x, B * m.x));
    const T w2 = fma(-y.re, fma(A, change.x, -(m.x * change.z)), y.im * fma(A, mu.y, B * m.y));
    const T w3 = fma(y.im, P - Q, y.re * X);
    const Vec3<T> w = axes.to_sorted({w1, w2, w3});
    const T norm_w = sqrt(fma(w0, w0, fma(w1, w1, fma(w2, w2, w3 * w3))));
    const T inverse_w = 1.0 / norm_w;
    // The scalar part as a true quotient, so that h = 0 gives exactly 1.
    const T quotient = w0 * inverse_w;
    const T scalar = fma(fma(-quotient, norm_w, w0), inverse_w, quotient);
    return {scalar, w.x * inverse_w, w.y * inverse_w, w.z * inverse_w};
}

}  // namespace exact_detail

/// The exact step of a motion that has momentum m along the sorted axes: see `exact_step`.
///
/// @param delta  gives alpha - beta
/// @param turn   gives cosine and sine of the half angle of the turn about the momentum that it
/// gets
template <class T, class Delta, class Turn>
POLHODE_INLINE FreeStep<T> exact_flow(const exact_detail::Motion<T>& motion,
                                      const Vec3<T>& m,
                                      const Delta& delta,
                                      const Turn& turn) {
    using namespace exact_detail;
    const T m1 = motion.a.x, m2 = motion.a.y, m3 = motion.a.z;

    // Base: the increment of 2^-J of the step.
    const T w2 = max(motion.alpha, motion.beta) + motion.ny;
    const mask_t<T> doubles = w2 > step_w_c * step_w_c;
    const bool any_doubles = any(doubles);
    T J = 0.0, scale = 1.0, u = motion.alpha + motion.beta;
    T r = motion.alpha * motion.beta, ny = motion.ny;
    if (any_doubles) {
        // Smallest J with w/2^J <= w_c: from the exponent of (w/w_c)^2, in [4^(J-1), 4^J).
        J = rint(fma(exponent(w2 * (1.0 / (step_w_c * step_w_c))), T(0.5), T(0.75)));
        J = select(doubles, J, T(0.0));
        scale = power_of_two(-J);
        // Not for steps of up to 300: alpha <= w2, and underflows_near_axis2 begins there.
        if (any(!(w2 <= 300.0 * 300.0))) [[unlikely]] {
            // Near axis 3 of a body with excess the phase is still resolvable although the angle is
            // far below it.
            const mask_t<T> small_nutation =
                motion.swapped & (motion.excess > 0.0) & (motion.ny < 0x1p100);
            const mask_t<T> resolvable = (w2 < 0x1p100) | (small_nutation & (w2 < 0x1p1000));
            J = select(resolvable, J, T(0.0));
            // Near axis 2, alpha is the square of the growth times.
            const mask_t<T> underflows = underflows_near_axis2(m1, m2, m3, motion.alpha);
            scale = select(doubles & (underflows | !resolvable), nan<T>(), scale);
        }
        const T scale2 = scale * scale;
        u = u * scale2;
        r = (motion.alpha * scale2) * (motion.beta * scale2);
        ny = ny * scale2;
    }
    const auto [S, W1] = Base<T>::of(w2, u, r, ny);
    Increment<T> v;
    v.s = 1.0 + S;
    if (any_doubles) v.s = scale * v.s;
    const SinCos<T> half_psi = turn((0.5 * motion.G) * fma(motion.k, W1, motion.h_I1));
    {
        const T s2 = v.s * v.s, x = motion.alpha * s2, kx = motion.beta * s2;
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
            const mask_t<T> active = J >= double(i), last = J == double(i);
            if (i <= small_doublings) {
                double_increment<true>(motion, Gk, difference, active, last, v, phase);
            } else {
                double_increment<false>(motion, Gk, difference, active, last, v, phase);
            }
        }
    }

    // Momentum: addition theorem of sn, cn, dn, as increments.  (The product form has the same
    // relative error in every step, and energy, |m| and attitude drift linearly.)
    const T s = v.s, s_m2 = s * m2, ps_m2 = motion.p * s_m2;
    const T rs_m2 = motion.r * s_m2, ks = motion.k * s, ks_m1 = ks * m1;
    const T gamma = ps_m2 * rs_m2, pcd = fma(-v.pc, v.pd, v.pc + v.pd);
    const T inverse = 1.0 / (1.0 - gamma);
    Vec3<T> change{fma(m1, gamma - v.pc, -(ps_m2 * (m3 * v.d))) * inverse,
                   fma(m2, gamma - pcd, ks_m1 * m3) * inverse,
                   fma(m3, gamma - v.pd, -(rs_m2 * (m1 * v.c))) * inverse};
    Vec3<T> mu = motion.a + change;
    if (any_doubles) {
        const mask_t<T> large = J > double(small_doublings);
        if (any(large)) {
            const T inverse_far = 1.0 / fma((motion.p * s) * m3, ks * m3, v.c * v.c);
            const Vec3<T> far{fma(m1, v.c, -(ps_m2 * (m3 * v.d))) * inverse_far,
                              fma(m2 * v.c, v.d, ks_m1 * m3) * inverse_far,
                              fma(m3, v.d, -(rs_m2 * (m1 * v.c))) * inverse_far};
            mu = select<T>(large, far, mu);
            change = select<T>(large, far - motion.a, change);
        }
    }

    // Attitude.  At rest G = 1 gives the identity.
    const T G = select(motion.G == 0.0, T(1.0), motion.G);
    const T A = G + m3, B = G + mu.z, Q = fma(m1, mu.x, m2 * mu.y);
    const T X = fma(m2, change.x, -(m1 * change.y)), tau = (motion.r * s) * mu.y;
    // The right limit for m on axis 3, invisible elsewhere.
    const T e = 1e-30 * (G * G) * A, A_m3 = A * m3;
    Complex<T> g{fma(A, Q, fma(tau, fma(A_m3, mu.x, m2 * X), e * v.c)),
                 fma(A, X, fma(-tau, fma(A_m3, mu.y, m2 * Q), -(e * (ks * m3))))};
    if (any_doubles) g = g * phase.F.conjugate() * (phase.H * phase.H);
    // Half of the argument of g.
    const T size_g = sqrt(fma(g.re, g.re, g.im * g.im));
    Complex<T> half{size_g + g.re, g.im};
    if (any_doubles) {
        const mask_t<T> obtuse = (J > 0.0) & (g.re < 0.0);
        // From one end of axis 2 to the other the argument comes within rounding of pi where the
        // azimuth librates.  Its sign is that of the change of azimuth.
        const mask_t<T> beside_pi = obtuse & (difference < 0.0) & (abs(g.im) < -0.125 * g.re);
        T side = g.im;
        if (any(beside_pi)) [[unlikely]]
            side = select(beside_pi, X, side);
        half = select(obtuse, Complex<T>{abs(g.im), copysign(size_g - g.re, side)}, half);
    }
    Complex<T> y = Complex<T>{half_psi.cos, half_psi.sin} * half;
    if (any_doubles) y = y * phase.H.conjugate() * phase.E;
    return {m + motion.to_sorted(change),
            unit_rotation<T>(motion, {m1, m2, m3}, change, mu, A, B, Q, X, y)};
}

/// One exact step of free rotation, m' = m x I^-1 m, q' = q (0, I^-1 m)/2.
///
/// @param body  the body
/// @param m     momentum along the body's sorted axes, largest component of size about 1 (any
///              between 1e-20 and 1e20 will do); zero returns the identity
/// @param h     time step, either sign
/// @return      momentum and dq along the sorted axes.  dq is the end of the continuous path that
///              starts at 1, not made positive.  Error of either at most a few eps (1 + angle),
///              angle = |h| |m/I|, plus the effect of one ulp of the input
///              (tests/accuracy/test_exact_cases.py).  NaN where the angle or the phase reaches
///              2^50 (no digit is left), in a step of more than 300 growth times from less than
///              1e-135 |m| off axis 2, but not on it, and where the input is not finite.
///
/// The frame p takes m to the third axis by the shortest rotation [CZ08] Sec. 1.4 (1), dq = p(0)^-1
/// y p(h); h psi' = h G/I3 + D1/(G + |m3|).
template <class T>
POLHODE_INLINE FreeStep<T> exact_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    using Motion = exact_detail::Motion<T>;
    return exact_flow(
        Motion::of(body, m, h),
        m,
        [](const Motion& s) POLHODE_INLINE_LAMBDA { return s.delta(); },
        [](const T& half_psi) POLHODE_INLINE_LAMBDA { return sincos(half_psi); });
}

POLHODE_NAMESPACE_END

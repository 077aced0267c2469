#pragma once

/// The momentum of a free body by Jacobi's functions at the shifted phase: EgellipX_step of the
/// FRB-FORTRAN report [CZ08] Sec. 3.2, along the axes about which the momentum circulates.

#include "polhode/elliptic/agm.hpp"
#include "polhode/inertia.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/torque_free/frame_axes.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// A body with the constants of the printed formulas,
///
///     c1 = I1 (I3 - I2) / (I2 (I3 - I1)),   c2 = I3 (I2 - I1) / (I2 (I3 - I1)),   c1 + c2 = 1
///     kappa = (I3 - I1) / (I1 I3)
///
/// each from differences of moments ([Gus10] sets c2 = 1 - c1, which loses the smaller of the two).
/// Limits: a sphere has c1 = c2 = 1/2, kappa = 0; a rod has c1 = 0, c2 = 1, kappa = 0.  They stay
/// here: lambda, k and n are given by square roots and quotients of them, and dividing by sqrt(c1)
/// and d1 is the published method, which the exact step does without.
template <class T>
struct PrintedInertia : Inertia<T> {
    T c1, c2, kappa;

    PrintedInertia() = default;
    POLHODE_INLINE PrintedInertia(const Inertia<T>& body) : Inertia<T>(body) {  // NOLINT: implicit
        const T d31 = body.I3 - body.I1;
        const mask_t<T> sphere = d31 == 0.0;
        const T inverse_d31 = 1.0 / d31;
        c1 = (body.I1 * body.inverse_I2) * ((body.I3 - body.I2) * inverse_d31);
        c2 = (body.I3 * body.inverse_I2) * ((body.I2 - body.I1) * inverse_d31);
        c1 = select(sphere, T(0.5), c1);
        c2 = select(sphere, T(0.5), select(body.rod, T(1.0), c2));
        kappa = select(body.rod, T(0.0), (d31 * body.inverse_I1) * body.inverse_I3);
    }
};

/// The labelling of the frame of the attitude, see `takes_second_axes`.
template <class T>
struct FrameLabel {
    mask_t<T> swapped;  ///< (3, -2, 1)
    T ny;               ///< c2 d3^2 along the new axes

    POLHODE_INLINE FrameLabel(const PrintedInertia<T>& body, const Vec3<T>& m) {
        const T m2m2 = m.y * m.y, d1_2 = fma(m.x, m.x, body.c1 * m2m2);
        const T d3_2 = fma(m.z, m.z, body.c2 * m2m2), y1 = body.c1 * d1_2;
        const T y3 = body.c2 * d3_2;
        swapped = takes_second_axes(body, d1_2, d3_2, y1, y3, T(1.0));
        ny = select(swapped, y1, y3);
    }
    /// Is the phase of a step h, h |m|/I1 and less, of so little effect that the step keeps its
    /// digits without it?  Beside axis 3 of a body with excess; the angle is below 2^50 there.
    POLHODE_INLINE mask_t<T> feels_no_phase(const PrintedInertia<T>& body, const T& h) const {
        if (!body.any_excess) return body.excess > 0.0;
        const T K = body.kappa * h;
        return swapped & (body.excess > 0.0) & (ny * (K * K) < 0x1p100);
    }
};

/// The constants of a body and the momentum along frame axes.
template <class T>
struct Labelled : FrameAxes<T> {
    Vec3<T> a;        ///< the momentum along these axes
    T c1, c2, kappa;  ///< of these axes
    T inverse_I1;     ///< = inverse_I3 + kappa of these axes
    T inverse_I3;
    T d1_2, d3_2;  ///< d1^2 = m1^2 + c1 m2^2, d3^2 = c2 m2^2 + m3^2, [CZ08] B13^2 and B31^2

    POLHODE_INLINE Labelled(const PrintedInertia<T>& body, const Vec3<T>& m, mask_t<T> swap) {
        const T sign = select(select(swap, m.x, m.z) < 0.0, T(-1.0), T(1.0));  // of -0: +1
        static_cast<FrameAxes<T>&>(*this) = {swap, flip_where(swap, sign), sign};
        a = this->from_sorted(m);
        c1 = select(swap, body.c2, body.c1);
        c2 = select(swap, body.c1, body.c2);
        kappa = select(swap, -body.kappa, body.kappa);
        inverse_I1 = select(swap, body.inverse_I3, body.inverse_I1);
        inverse_I3 = select(swap, body.inverse_I1, body.inverse_I3);
        d1_2 = fma(a.x, a.x, c1 * (a.y * a.y));
        d3_2 = fma(a.z, a.z, c2 * (a.y * a.y));
    }
};

/// sn u, cn u, dn u, and the whole half turns in am u.
template <class T>
struct Jacobi {
    T s, c, d;
    T half_turns;  ///< j of am u = j pi + r, |r| <= pi/2
};

/// A modulus k^2 <= 1 and its AGM sequence, along which the phase is found from a point and the
/// point from a phase  [CZ08] Sec. 3.2.
///
/// The report carries the amplitude phi itself; an amplitude near pi/2 has lost cos phi, and with
/// it the distance of the momentum from axis 2.  Here the pair (cos phi, sin phi) goes up and down.
/// On the separatrix, k = 1, the sequence does not converge: tanh and sech and their addition
/// theorem take its place.
template <class T>
struct Modulus {
    T k2, kc2;
    mask_t<T> separatrix;  ///< kc2 = 0, or so small that m is within 1e-140 of axis 2
    mask_t<T> any_phase;   ///< a number, not NaN, even where the phase has no digit left
    elliptic::AgmSequence<T> agm;

    Modulus(T k2_, T kc2_, mask_t<T> any_phase_)
        : k2(k2_),
          kc2(kc2_),
          separatrix(kc2_ < 1e-280),
          any_phase(any_phase_),
          agm(select(separatrix, T(1.0), sqrt(kc2_)), wider_than_double<T> ? 1e-9 : 1e-4) {}

    /// dn where cn = c, without the cancellation of 1 - k2 sn^2.
    POLHODE_INLINE T dn(T c) const { return sqrt(fma(k2 * c, c, kc2)); }

    /// The phase u = F(phi, k) of a point by the ascending Landen transformation
    ///
    ///     tan(phi_{n+1} - phi_n) = (b_n/a_n) tan phi_n,   F = phi_N / (2^N a_N)
    ///
    /// [CZ08] eqs (17)-(19), as a product of the complex numbers c + i s and a c + i b s.  Here
    /// c >= 0: half a turn would add 2 K to the phase and cost its digits.  Not for the separatrix.
    POLHODE_INLINE T phase(T s, T c) const {
        c = max(c, 1e-200);  // at pi/2 itself the doubled angle would lose its side
        T turns = 0.0;       // of phi_n, beside the angle of (c, s)
        for (int n = 0; n < agm.steps; ++n) {
            const T re = fma(agm.a[n] * c, c, -(agm.b[n] * s * s));
            const T im = (agm.a[n] + agm.b[n]) * s * c;
            const T scale =
                power_of_two_reciprocal(max(power_of_two_below(max(abs(re), abs(im))), 0x1p-1000));
            const mask_t<T> active = agm.reaches(n + 1);
            // Two angles of one sign, each below pi, have added up to more than pi.
            const mask_t<T> crossed = ((s > 0.0) & (im < 0.0)) | ((s < 0.0) & (im > 0.0));
            const T carry = select(crossed, copysign(1.0, s), T(0.0));
            turns = select(active, fma(2.0, turns, carry), turns);
            c = select(active, re * scale, c);
            s = select(active, im * scale, s);
        }
        // F(phi, k) = (phi - k^2/8 sin 2 phi + O(k^4)) / AGM at the end of the sequence.
        const T kappa = agm.last_c / agm.limit;
        const T correction = 0.25 * (kappa * kappa) * (s * c) / fma(s, s, c * c);
        const T angle = fma(4.0 * turns, half_pi<T>(), atan2(s, c) - correction);
        return angle * power_of_two(-agm.count) / agm.limit;
    }

    /// Jacobi's functions at u by the descending transformation
    ///
    ///     sin(2 phi_{n-1} - phi_n) = (c_n/a_n) sin phi_n,   n = N, ..., 1,   phi_N = 2^N a_N u
    ///
    /// [CZ08] Sec. 3.2 (there down to n = 0, a misprint), in Gauss's form DLMF 22.7.2-4, in which
    /// nothing cancels.  On the separatrix tanh u and sech u, |u| as 300 from there on.
    POLHODE_INLINE Jacobi<T> at(T u) const {
        const T w = agm.limit * u;
        const SinCos<T> x = sincos(select(any_phase, WholeTurns<T>(w).rest, w));
        const T kappa = agm.last_c / agm.limit, q = 0.25 * (kappa * kappa);
        const T delta = q * (x.sin * x.cos);
        T s = fma(delta, x.cos, x.sin), c = fma(-delta, x.sin, x.cos);
        T d = fma(-2.0 * q, s * s, T(1.0));
        for (int n = agm.steps; n >= 1; --n) {
            const T s2 = s * s;
            // Roundings of cn near 1 would double with each step; there cn^2 is 1 - sn^2.
            const T c2 = select(s2 < 0.5, 1.0 - s2, c * c);
            const T better_c = fma(c * (c2 - c * c), 1.5 - c2, c), c_n = agm.c(n);
            const mask_t<T> reached = agm.reaches(n);
            const T inverse = 1.0 / fma(c_n, s2, agm.a[n]);
            c = select(reached, agm.a[n] * inverse * (better_c * d), c);
            s = select(reached, agm.a[n - 1] * inverse * s, s);
            d = select(reached, fma(c_n, c2, agm.b[n - 1]) * inverse, d);
        }
        // w/pi is within a half of the half turns, and cos is negative after an odd number of them.
        const T odd = select(c < 0.0, copysign(1.0, s), T(0.0));
        T half_turns = fma(2.0, rint(0.5 * fma(w, T(0x1.45f306dc9c883p-2), -odd)), odd);
        if (any(separatrix)) {
            const T bounded = copysign(min(abs(u), 300.0), u);
            const Hyperbolic<T> limit =
                hyperbolic<T>(select(separatrix, bounded, T(0.0)) + 0.0 * u);
            s = select(separatrix, limit.tanh, s);
            c = select(separatrix, limit.sech, c);
            d = select(separatrix, limit.sech, d);
            half_turns = select(separatrix, T(0.0), half_turns);
        }
        return {s, c, d, half_turns};
    }

    /// Jacobi's functions v after the point (s, c).
    POLHODE_INLINE Jacobi<T> after(T s, T c, T v) const {
        // sn and cn change their signs together with half a turn.
        const T back = copysign(1.0, c);
        s = back * s;
        c = abs(c);
        Jacobi<T> r = at(select(separatrix, v, phase(s, c) + v));
        if (any(separatrix)) {
            // tanh(u + v) = (tanh u + tanh v)/(1 + tanh u tanh v), and sech u sech v over the same.
            // Where the signs differ, from 1 - |tanh|, which both keep.
            const T t = abs(s), tv = abs(r.s);
            const T rest = c * c / (1.0 + t), rest_v = r.c * r.c / (1.0 + tv);
            const mask_t<T> apart = s * r.s < 0.0;
            const T denominator = fma(t, select(apart, -tv, tv), T(1.0));
            const T inverse = 1.0 / select(apart, fma(tv, rest, rest_v), denominator);
            const T sum =
                select(apart & (t > 0.5) & (tv > 0.5), flip_sign(rest_v - rest, s), s + r.s);
            r.s = select(separatrix, sum * inverse, r.s);
            r.c = select(separatrix, c * r.c * inverse, r.c);
            r.d = select(separatrix, r.c, r.d);
        }
        r.s = back * r.s;
        r.c = back * r.c;
        return r;
    }
};

/// A free motion over one step, along the axes about which it circulates  [CZ08] eq. (5):
///
///     m = (d1 cn u, (d1/sqrt c1) sn u, d3 dn u),   u = u0 + lambda t,   lambda = kappa d3 sqrt c1,
///     k^2 = c2 d1^2/(c1 d3^2),   1 - k^2 = (c1 m3^2 - c2 m1^2)/(c1 d3^2)
///
/// (k is the report's k^-1 of case (ii); the complement by the difference in which m2 drops out).
template <class T>
struct Circulation {
    Labelled<T> label;
    Modulus<T> modulus;
    T v;        ///< lambda h
    T s0, c0;   ///< sn and cn at the start
    Vec3<T> n;  ///< momentum at the end, along these axes
};

/// EgellipX_step: the momentum at the end of the step  [CZ08] Sec. 3.2.
template <class T>
POLHODE_INLINE Circulation<T> egellip_step(const PrintedInertia<T>& body,
                                           const Vec3<T>& m,
                                           T h,
                                           mask_t<T> any_phase) {
    // About axis 1 or 3.  On the separatrix either will do, but a symmetric body takes the one with
    // c1 > 0.
    const T nearer = fma(body.c1 * m.z, m.z, -(body.c2 * m.x * m.x));
    const Labelled<T> s(body, m, (nearer < 0.0) | ((nearer == 0.0) & (body.c1 < body.c2)));
    const T a1 = s.a.x, a2 = s.a.y, a3 = s.a.z;
    // c1 d3^2 = 0 where m is constant or turns about the third axis of a symmetric body: k = 0.
    const T c1_d3_2 = s.c1 * s.d3_2;
    const mask_t<T> slow = c1_d3_2 < 1e-280;
    const T inverse = 1.0 / select(slow, T(1.0), c1_d3_2);
    const T side = max(fma(s.c1 * a3, a3, -(s.c2 * a1 * a1)), 0.0);
    Circulation<T> r{s,
                     Modulus<T>(select(slow, T(0.0), s.c2 * s.d1_2 * inverse),
                                select(slow, T(1.0), side * inverse),
                                any_phase),
                     (s.kappa * h) * sqrt(c1_d3_2),
                     {},
                     {},
                     {}};

    // The start; on axis 3 the phase 0.
    const T root_c1 = sqrt(s.c1), d1 = sqrt(s.d1_2);
    const mask_t<T> on_axis = d1 == 0.0;
    const T inverse_d1 = 1.0 / select(on_axis, T(1.0), d1);
    r.s0 = root_c1 * a2 * inverse_d1;
    r.c0 = select(on_axis, T(1.0), a1 * inverse_d1);

    const Jacobi<T> end = r.modulus.after(r.s0, r.c0, r.v);
    const T B23 = d1 / select(s.c1 == 0.0, T(1.0), root_c1);
    r.n = select<T>(h == 0.0, s.a, {d1 * end.c, B23 * end.s, sqrt(s.d3_2) * end.d});
    return r;
}

POLHODE_NAMESPACE_END

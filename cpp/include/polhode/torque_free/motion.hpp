#pragma once

/// Free rotation at any time: whole half periods in closed form, and the exact step for the
/// remainder.
///
/// Half a period tau takes m to S m, S the half turn about the axis that m circles (the axis of
/// dn), and free rotation commutes with S.  With s the quaternion of that half turn,
///
///     m(t) = S^n m(r),    q(t) = q0 y^n dq(r) s^n,      t = n tau + r,  |r| <= tau/2,
///
/// where m(r), dq(r) are the exact step from m0, and y is a turn by chi about m0: the momentum is
/// fixed in space, so after tau the attitude differs from S only by a turn about the momentum.  s^2
/// = -1 and n chi is not reduced modulo 2 pi, so q is the end of the continuous path from q0.
/// Where chi is slightly above pi, y^n = y'^n u^n with y' the turn by chi - pi and u the half turn
/// about m0: u^2 s^2 = 1, and for odd n one u and one s remain.
///
/// The cost does not grow with the time: a step of at most a quarter period and a turn.

#include "polhode/scalar/constants.hpp"
#include "polhode/torque_free/exact.hpp"

POLHODE_NAMESPACE_BEGIN(torque_free)

/// How the momentum moves in the body frame.
enum class Regime : int {
    axis1 = 1,       ///< circles the axis of the least moment
    separatrix = 2,  ///< goes from one end of the axis of the middle moment to the other
    axis3 = 3,       ///< circles the axis of the greatest moment
    permanent = 4,   ///< constant: on an axis, zero, across a symmetric body's axis, a rod
    sphere = 5,      ///< constant: all moments are equal
};

/// The repetition of a motion.
template <class T>
struct Repetition {
    T half_period;          ///< tau; 0 if the motion is not repeated
    T inverse_half_period;  ///< 1/tau; 0 if the motion is not repeated
    T half_chi;             ///< chi/2; 0 if the motion is not repeated
    T reach;                ///< the longest time of the exact step;
    T half_rate;            ///< after it the body turns about m, at twice this rate
    T circles_axis1;        ///< 1 where m circles axis 1, else 0

    POLHODE_INLINE mask_t<T> on_separatrix() const { return (reach > 0.0) & (reach < 0x1p1000); }
};

/// A motion as a whole.
template <class T>
struct MotionFacts {
    Repetition<T> repetition;
    T period;           ///< of m, 2 tau; infinite where m is constant or does not return
    T regime;           ///< a `Regime` as a number; AXIS3 where m is not finite
    T precession_rate;  ///< mean rate of the turn about m, chi/tau where m returns
};

namespace motion_detail {

/// After this value of lambda t a motion on the separatrix is treated as rotation about axis 2.  It
/// is a constant of the number format: sech is 1e-130 there, and its fourth power is still a normal
/// number.
inline constexpr double separatrix_reach = 300;

/// True if chi - pi is stored in the place of chi.
template <class T>
POLHODE_INLINE mask_t<T> leaves_out_half_turns(const T& excess, const mask_t<T>& circles_axis1) {
    return (excess > 0.0) & !circles_axis1;
}

template <class T>
struct CompleteIntegrals {
    T agm;    ///< of A and B
    T third;  ///< see below
};

/// agm(A, B) and the complete integral of the third kind
///
///     integral over 0 ... pi/2 of (a A^2 cos^2 + b p sin^2)
///                                 / ((A^2 cos^2 + p^2 sin^2) sqrt(A^2 cos^2 + B^2 sin^2))
///
/// for A, B, p > 0 and a, b >= 0, with a relative error of a few eps: Bulirsch's cel [Bul69], in
/// homogeneous form and with means instead of sums.  All terms are positive.  The error of the last
/// line is of the size of (A - B)^2; at most 14 iterations for B/A > 1e-300.
template <class T>
POLHODE_INLINE CompleteIntegrals<T> complete_integrals(T A, T B, T p, T a, T b) {
    mask_t<T> active = A == A;  // NaN: no iteration
    while (any(active)) {
        const T AB = A * B, inverse_p = 1.0 / p, q = AB * inverse_p;
        const T next_a = 0.5 * fma(b, inverse_p, a), next_b = 0.5 * fma(a, q, b);
        const mask_t<T> more = active & (abs(A - B) > 0x1p-26 * A);
        a = select(active, next_a, a);
        b = select(active, next_b, b);
        p = select(active, 0.5 * (p + q), p);
        const T mean = 0.5 * (A + B);
        B = select(active, sqrt(AB), B);
        A = select(active, mean, A);
        active = more;
    }
    constexpr double half_pi = 0x1.921fb54442d18p+0;
    return {A, half_pi * (fma(a, A, b) / (A * (A + p)))};
}

}  // namespace motion_detail

/// A power of two near 1/I1: the constants of a motion are those of `exact_detail::Motion` over the
/// time 1/rate, so that their squares do not overflow or underflow.
template <class T>
POLHODE_INLINE T motion_rate(const Inertia<T>& body) {
    return max(power_of_two_below(body.inverse_I1), 0x1p-1022);
}

/// Regime, period and repetition of the motion of `body` that has momentum m at some time.
///
/// @param body  the body
/// @param m     momentum along the body's sorted axes, largest component of size about 1; zero is
///              allowed
///
/// PERMANENT and SPHERE are decided exactly.  SEPARATRIX is where the two terms of
///
///     D = I3 (I2 - I1) m1^2 - I1 (I3 - I2) m3^2     (= I1 I2 I3 (R m1^2 - P m3^2))
///
/// agree to 2 eps of their sum, which is the rounding error of D: four roundings a term.  Its sign
/// is the side.  m2 does not occur in it, so a momentum near axis 2 loses no digits.
///
///     tau = pi / agm(A, B),   A^2 = max(P D3, R D1),   B^2 = K |R m1^2 - P m3^2|
///     chi = |m| (tau/I3 + 2 N)
///
/// with P, R, K, D1, D3 of `exact_detail::Motion` over the unit of time and N of
/// `complete_integrals`: p^2 = K D3, a = K, b = P p about axis 3, p^2 = K D1, a = 0, b = P p about
/// axis 1: [CZ08] (16) over half a period, combined so that there is no subtraction.  Where I3 is
/// much greater than the other moments, the body turns little about axis 3 in half a period, and
/// chi is slightly above the half turn that S undoes: there chi - pi, with p = sqrt(K P) |m|, a =
/// 0, b = sqrt(K P) D1/|m| (DLMF 19.7.9).
template <class T>
POLHODE_INLINE MotionFacts<T> motion_facts(const Inertia<T>& body, const Vec3<T>& m) {
    const T zero = 0.0, I2 = body.I2;
    const mask_t<T> unequal12 = body.I1 != I2, unequal13 = body.I1 != body.I3;
    const mask_t<T> unequal23 = I2 != body.I3;
    // D with the powers of two of the moments and of m1, m3 taken out, as far as D depends on them:
    // neither may underflow.
    const T unit = power_of_two_reciprocal(power_of_two_below(body.I3));
    const T m1 = select(unequal12, m.x, zero);
    const T m3 = select(unequal23, m.z, zero);
    const T larger = max(abs(m1), abs(m3));
    const T unit_m = min(max(power_of_two_below(larger), 0x1p-1000), 0x1p1000);
    const T inverse_m = power_of_two_reciprocal(unit_m), x1 = inverse_m * m1;
    const T x3 = inverse_m * m3;
    const T side1 = ((unit * body.I3) * (unit * (I2 - body.I1))) * (x1 * x1);
    const T side3 = ((unit * body.I1) * (unit * (body.I3 - I2))) * (x3 * x3);
    const T D = side1 - side3;

    const mask_t<T> has1 = m.x != 0.0, has2 = m.y != 0.0, has3 = m.z != 0.0;
    const mask_t<T> has_moments = body.I1 != 0.0;  // not a rod
    const mask_t<T> moves = has_moments & ((unequal12 & has1 & has2) | (unequal13 & has1 & has3) |
                                           (unequal23 & has2 & has3));
    const mask_t<T> separatrix = moves & (abs(D) <= 2 * epsilon_v<T> * (side1 + side3));
    const mask_t<T> repeats = moves & !separatrix, axis1 = D > 0.0;

    const T m2m2 = m.y * m.y, rate = motion_rate(body);
    const T h1 = power_of_two_reciprocal(rate) * body.inverse_I1;
    const T P = body.p * (power_of_two_reciprocal(rate) * body.inverse_I3);
    const T R = body.r * h1, K = body.k * h1;
    // The integrals in a unit near the larger term of D1 or D3: about the axis of a symmetric body
    // that is the momentum along the axis, of any size.
    const T c = select(axis1, P, R);
    const T along = select(axis1, m.x, m.z);
    const T across = select(c == 0.0, zero, m.y);
    const T unit_d =
        min(max(power_of_two_below(max(abs(along), abs(across))), 0x1p-1000), 0x1p1000);
    const T inverse_d = power_of_two_reciprocal(unit_d), a1 = inverse_d * along;
    const T a2 = inverse_d * across, d = fma(K * a1, a1, c * (a2 * a2));
    const T A = sqrt(select(axis1, R, P) * d);
    const T B = (inverse_d * unit_m) * sqrt(K * (h1 * abs(D) / ((unit * I2) * (unit * body.I3))));
    const T one = 1.0, G = norm(m);
    T p = sqrt(K * d);
    T a = select(axis1, zero, K);
    T b = P * p;
    const mask_t<T> less_pi = repeats & motion_detail::leaves_out_half_turns(body.excess, axis1);
    if (any(less_pi)) {
        const T root = sqrt(K * P);
        p = select(less_pi, inverse_d * (root * G), p);
        a = select(less_pi, zero, a);
        b = select(less_pi, inverse_d * (root * (fma(K * m.x, m.x, P * m2m2) / G)), b);
    }
    const auto integrals = motion_detail::complete_integrals(select(repeats, A, one),
                                                             select(repeats, B, one),
                                                             select(repeats, p, one),
                                                             a,
                                                             select(repeats, b, one));

    constexpr double pi = 0x1.921fb54442d18p+1;
    const T frequency = rate * (unit_d * integrals.agm), tau = pi / frequency;
    const T half_chi = G * fma(0.5 * tau, body.inverse_I3, inverse_d * integrals.third);
    const T chi = fma(T(2.0), half_chi, select(less_pi, T(pi), T(0.0)));
    const mask_t<T> returns = repeats & (tau < 0x1p1000);  // in a finite time

    // If m is constant: a turn about m at |omega| = 2 energy/|m|.  On the separatrix the step is
    // accurate until sech^2 is negligible; after that m is on axis 2.
    const T inverse_G = select(G == 0.0, zero, 1.0 / G);
    const T spin = fma(m.x * m.x, body.inverse_I1, fma(m.z * m.z, body.inverse_I3, m2m2 / I2));
    const T steady_rate = select(separatrix, G / I2, spin * inverse_G);
    const T huge = 0x1p1000;
    const T reach = motion_detail::separatrix_reach / (rate * (unit_d * A));
    const auto number = [](Regime regime) { return T(static_cast<int>(regime)); };
    MotionFacts<T> facts;
    facts.repetition = {select(returns, tau, zero),
                        select(returns, frequency * (1 / pi), zero),
                        select(returns, half_chi, zero),
                        select(separatrix, reach, select(moves, huge, zero)),
                        0.5 * select(moves & !separatrix, zero, steady_rate),
                        select(axis1, one, zero)};
    facts.period = select(repeats, 2.0 * tau, infinity<T>());
    facts.precession_rate = select(returns, chi * (frequency * (1 / pi)), steady_rate);
    facts.regime = select(axis1, number(Regime::axis1), number(Regime::axis3));
    facts.regime = select(separatrix, number(Regime::separatrix), facts.regime);
    facts.regime = select(!moves, number(Regime::permanent), facts.regime);
    facts.regime = select(unequal13, facts.regime, number(Regime::sphere));
    return facts;
}

/// The motion of `motion_facts` at time t: momentum and dq, q(t) = q0 dq, along the sorted axes.
///
/// @param exact  exact_detail::Motion::of the same body and m, over the time 1/rate
/// @param m      momentum at time 0
/// @param t      time, of either sign
/// @return       error at most 4 eps (1 + angle), angle = |t| |m/I|, plus four times the effect of
///               half an ulp of the input (tests/accuracy/test_motion.py).  NaN where t or a
///               constant is not finite, beyond 2^50 half periods, and where the body has turned by
///               2^51; also a quarter period after m was less than 1e-135 |m| away from axis 2, but
///               not on it, since squares underflow.
template <class T>
POLHODE_INLINE FreeStep<T> motion_at(const exact_detail::Motion<T>& exact,
                                     const T& rate,
                                     const Repetition<T>& repetition,
                                     const Vec3<T>& m,
                                     T t) {
    const T half_periods = t * repetition.inverse_half_period;
    const mask_t<T> axis1 = repetition.circles_axis1 != 0.0;
    const mask_t<T> less_pi = motion_detail::leaves_out_half_turns(exact.excess, axis1);
    T n = rint(half_periods);
    if (any(!(abs(half_periods) < 0x1p50))) {
        n = select((abs(half_periods) < 0x1p50) | less_pi, n, nan<T>());
    }
    const T rest = fma(-n, repetition.half_period, t);
    const T r = max(-repetition.reach, min(repetition.reach, rest));  // NaN stays
    // On the separatrix the modulus is exactly 1.  With the computed D, which is only rounding
    // error, m would come back.
    const mask_t<T> separatrix = repetition.on_separatrix();
    const mask_t<T> odd = is_odd(n);
    // y^n, and after the reach the turn about m, are turns about the same axis as psi.
    FreeStep<T> step = exact_flow(
        exact.over(r * rate),
        m,
        [&](const exact_detail::Motion<T>& s)
            POLHODE_INLINE_LAMBDA { return select(separatrix, T(0.0), s.delta()); },
        [&](const T& half_psi) POLHODE_INLINE_LAMBDA {
            const T more = fma(rest - r, repetition.half_rate, half_psi);
            const SinCos<T> y = sincos(fma(n, repetition.half_chi, more));
            const mask_t<T> u = odd & less_pi;
            return SinCos<T>{select(u, y.cos, y.sin), select(u, -y.sin, y.cos)};
        });
    if (!any(r != t)) return step;  // n = 0
    const Quaternion<T> p = step.dq;
    // s is i sign(m1) about axis 1, -k sign(m3) about axis 3; s^2 = -1.
    Quaternion<T> by_s = select<T>(axis1, {-p.x, p.w, p.z, -p.y}, {p.z, -p.y, p.x, -p.w});
    by_s = select<T>(select(axis1, m.x, m.z) < 0.0, T(-1.0) * by_s, by_s);
    Quaternion<T> dq = select<T>(odd, by_s, p);
    step.dq = select<T>(has_bit_1(n) & !less_pi, T(-1.0) * dq, dq);
    const mask_t<T> odd1 = odd & axis1, odd3 = odd & !axis1;
    step.m = {select(odd3, -step.m.x, step.m.x),
              select(odd, -step.m.y, step.m.y),
              select(odd1, -step.m.z, step.m.z)};
    return step;
}

POLHODE_NAMESPACE_END

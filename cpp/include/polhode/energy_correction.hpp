#pragma once

/// Energy correction, [Buss01] Sec. 4: after a step the body is rotated slightly, so that the
/// energy equals its target; the spatial momentum does not change.
///
/// Two errors of that section are corrected: rho = nu / sqrt(nu . J nu), and the second of its
/// linear equations has the target energy on the right.

#include "polhode/inertia.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/elementary.hpp"

POLHODE_NAMESPACE_BEGIN(energy)

/// The ways to correct, as values of the option `energy_correction`.
enum Correction : int { none = 0, robust = 1, buss = 2 };

/// 2 E / |m|^2, which does not depend on the size of m; 0 for a body at rest.
template <class T>
POLHODE_INLINE T per_momentum(const Inertia<T>& body, const Vec3<T>& m) {
    const T size = largest_component(m);
    const mask_t<T> rests = size == 0.0;
    const T unit = power_of_two_near(select(rests, T(1.0), size));
    const Vec3<T> u = body.own_momentum(power_of_two_reciprocal(unit) * m);
    return select(rests, T(0.0), dot(times(u, body.inverse), u) / dot(u, u));
}

/// The momentum of the same size whose energy is e |m|^2 / 2, nearest along the orthogonal
/// trajectories of the polhodes: l exp(-lambda / J), which exists for every energy between the
/// extremes of the axes with nonzero momentum.
///
/// @param l  momentum, largest component in [1/2, 2]
/// @param v  inverse moments in units of the largest
/// @param e  target in the same unit, between the extremes
///
/// Method: Newton's for lambda in a bracket that it narrows; E falls monotonically with lambda,
/// dE/dlambda = -2 (variance of v with weights l^2).
template <class T>
POLHODE_INLINE Vec3<T> along_trajectory(const Vec3<T>& l, const Vec3<T>& v, const T& e) {
    const Vec3<T> p0 = times(l, l);
    const T off(-1e300);
    const auto exponents = [&](const T& lambda) {
        const Vec3<T> x{select(p0.x > 0.0, -lambda * v.x, off),
                        select(p0.y > 0.0, -lambda * v.y, off),
                        select(p0.z > 0.0, -lambda * v.z, off)};
        const T largest = max(max(x.x, x.y), x.z);
        return Vec3<T>{exponential(x.x - largest).exp,
                       exponential(x.y - largest).exp,
                       exponential(x.z - largest).exp};
    };
    T lambda(0.0), low(-0x1p1000), high(0x1p1000), last(0x1p1000);
    mask_t<T> done = is_nan(e + (l.x + l.y + l.z));
    for (int k = 0; k < 100 && any(!done); ++k) {
        const Vec3<T> x = times(l, exponents(lambda)), p = times(x, x);
        const T whole = (p.x + p.y) + p.z, mean = dot(p, v) / whole;
        const Vec3<T> d{v.x - mean, v.y - mean, v.z - mean};
        const T variance = dot(p, times(d, d)) / whole, excess = mean - e;
        const mask_t<T> reached = abs(excess) <= epsilon_v<T> * e;
        low = select((!done) & (excess > 0.0), lambda, low);
        high = select((!done) & (excess < 0.0), lambda, high);
        const T newton = 0.5 * excess / select(variance == 0.0, T(1.0), variance);
        T next = lambda + newton;
        // A Newton step outside the bracket, or one that does not shrink, is replaced by bisection,
        // or by a doubled step if one side is open.
        const mask_t<T> open_below = low == -0x1p1000, open_above = high == 0x1p1000;
        const T middle = select(open_below,
                                min(2.0 * high, high - 1.0),
                                select(open_above, max(2.0 * low, low + 1.0), 0.5 * (low + high)));
        const mask_t<T> shrinks =
            open_below | open_above | ((variance > 0.0) & (abs(newton) < 0.5 * abs(last)));
        next = select((next > low) & (next < high) & shrinks, next, middle);
        last = next - lambda;
        const mask_t<T> stands = next == lambda;
        lambda = select(done | reached, lambda, next);
        done = done | reached | stands;
    }
    return times(l, exponents(lambda));
}

/// The method of [Buss01]: the same along his ellipsoid of rho = nu / sqrt(nu . J nu), in closed
/// form.
///
///     s = rho^2,  Q_k = sum J^k s,  b = |L|^2/(2 E) - Q_2,
///     s' = s [1 + b J (Q_3 - J Q_2) / (Q_3^2 - Q_2 Q_4)]
///
/// If an s' is not positive there is no solution, and `works` is false.
template <class T>
POLHODE_INLINE Vec3<T> along_ellipsoid(const Vec3<T>& l,
                                       const Vec3<T>& v,
                                       const T& e,
                                       mask_t<T>& works) {
    // J^2 s = l^2 / (l . v l), in units of the largest inverse moment.
    const Vec3<T> p = times(l, l);
    const T twice_energy = dot(p, v);
    const Vec3<T> J{1.0 / v.x, 1.0 / v.y, 1.0 / v.z};
    const T Q2 = ((p.x + p.y) + p.z) / twice_energy, Q3 = dot(p, J) / twice_energy;
    const T Q4 = dot(p, times(J, J)) / twice_energy, b = 1.0 / e - Q2;
    const T factor = b / (Q3 * Q3 - Q2 * Q4);
    const Vec3<T> grown{1.0 + factor * (J.x * (Q3 - J.x * Q2)),
                        1.0 + factor * (J.y * (Q3 - J.y * Q2)),
                        1.0 + factor * (J.z * (Q3 - J.z * Q2))};
    works = (grown.x > 0.0) & (grown.y > 0.0) & (grown.z > 0.0);
    return {l.x * sqrt(max(grown.x, 0.0)),
            l.y * sqrt(max(grown.y, 0.0)),
            l.z * sqrt(max(grown.z, 0.0))};
}

/// Rotates the body so that 2 E / |m|^2 becomes `target`; the spatial momentum does not change.
///
/// @param target  limited to the range that the axes with momentum allow
/// A body is unchanged, bit for bit, if its energy is within 2 eps of the target, it rotates about
/// a principal axis, or its moments are all equal.
template <class T>
[[gnu::noinline]] void correct(const Inertia<T>& body, FreeStep<T>& s, const T& target, int way) {
    const T size = largest_component(s.m);
    const T scale = power_of_two_near(select(size > 0.0, size, T(1.0)));
    const Vec3<T> l = body.own_momentum(power_of_two_reciprocal(scale) * s.m);
    const T largest = max(max(body.inverse.x, body.inverse.y), body.inverse.z);
    const T unit = 1.0 / largest;
    const Vec3<T> v = unit * body.inverse, p = times(l, l);
    const T whole = (p.x + p.y) + p.z, mean = dot(p, v) / whole;
    const Vec3<T> d{v.x - mean, v.y - mean, v.z - mean};
    const T variance = dot(p, times(d, d)) / whole;
    // The extremes, over the axes with momentum.
    const mask_t<T> x = p.x > 0.0, y = p.y > 0.0, z = p.z > 0.0;
    const T least =
        min(min(select(x, v.x, T(2.0)), select(y, v.y, T(2.0))), select(z, v.z, T(2.0)));
    const T most =
        max(max(select(x, v.x, T(-1.0)), select(y, v.y, T(-1.0))), select(z, v.z, T(-1.0)));
    const T margin = epsilon_v<T> * (most - least);
    const T e = min(max(unit * target, least + margin), most - margin);
    // If 1/J is the same for all axes with momentum, no rotation changes the energy; [Buss01] Sec.
    // 4 does not treat this case.
    const mask_t<T> turns = (abs(mean - e) > 2 * epsilon_v<T> * e) &
                            (variance > epsilon_v<T> * epsilon_v<T> * (mean * mean));
    if (!any(turns)) return;
    const T lane_e = select(turns, e, mean);
    Vec3<T> t = l;
    mask_t<T> left = turns;
    if (way == buss) {
        mask_t<T> works = turns;
        const Vec3<T> answer = along_ellipsoid(l, v, lane_e, works);
        t = select(turns & works, answer, t);
        // If the terms of the formula cancel, its result is the start of the other method.
        const Vec3<T> pt = times(t, t);
        const T reached = dot(pt, v) / ((pt.x + pt.y) + pt.z);
        left = turns & (!(abs(reached - lane_e) <= 2 * epsilon_v<T> * lane_e));
    }
    if (any(left)) {
        t = select(left, along_trajectory(t, v, select(left, lane_e, mean)), t);
    }
    // Normalised to the size of l.
    const T shrink = sqrt(whole / dot(t, t));
    t = shrink * t;
    // The least rotation from t to l: (|l|^2 + t . l, t x l), normalised.
    const Vec3<T> c = cross(t, l);
    const T w = whole + dot(t, l), inverse_norm = 1.0 / sqrt(fma(w, w, dot(c, c)));
    const Quaternion<T> turn{
        inverse_norm * w, inverse_norm * c.x, inverse_norm * c.y, inverse_norm * c.z};
    s.m = select(turns, scale * t, s.m);
    s.dq = select(turns, s.dq * turn, s.dq);
}

POLHODE_NAMESPACE_END

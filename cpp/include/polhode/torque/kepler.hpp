#pragma once

#include <cmath>

#include "polhode/scalar/elementary.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// The eccentric anomaly E in [-pi, pi] of Kepler's equation E - e sin E = M (mod 2 pi).
///
/// @param e  0 <= e < 1
/// Error: eps/(1 - e cos E) and that of M.
/// Method: Newton's with two derivatives more, so that the error is the fourth power of the last
/// change, from the start of [DB83]: two or three steps, more for e near 1.
template <class T>
POLHODE_INLINE T eccentric_anomaly(const T& M, const T& e) {
    const T rest = add_turns(-rint(M * 0x1.45f306dc9c883p-3), M), size = abs(rest);
    // E (1 - e) <= M, which is E where M is small.
    const T start = fma(T(0.85), e, size), bound = size / (1.0 - e);
    T E = select(bound < start, bound, start);
    mask_t<T> improves = e > 0.0;
    for (int k = 0; k < 30 && any(improves); ++k) {
        const SinCos<T> a = sincos(E);
        const T f = fma(-e, a.sin, E) - size, f1 = fma(-e, a.cos, T(1.0));
        const T half = 0.5 * (e * a.sin), sixth = (1.0 / 6) * (e * a.cos);
        const T first = -f / f1, second = -f / fma(first, half, f1);
        const T change = -f / fma(second, fma(second, sixth, half), f1);
        E = select(improves, E + change, E);
        improves = improves & (abs(change) > 0x1p-14 * abs(E));
    }
    return flip_sign(E, rest);
}

/// Replaces position and velocity by those after the time t on the Kepler ellipse through them.
///
/// With d = E(t) - E(0): r(t) = f r + g v, f = 1 - (1 - cos d) a/|r|, and so on.  Here in units in
/// which a = mu = 1.  False if the orbit is not an ellipse.
/// Error: a few eps/(1 - e), plus the rounding error of n t, eps |n t|.
inline bool move_on_ellipse(double mu, double t, Vec3<double>& r, Vec3<double>& v) {
    const double size = norm(r), inverse = 2 / size - dot(v, v) / mu;  // 1/a
    const bool ellipse = mu > 0 && inverse > 0 && norm(cross(r, v)) > 1e-8 * size * norm(v);
    if (!ellipse) return false;
    const double n = std::sqrt(mu * inverse) * inverse, start = size * inverse;
    const double C = 1 - start, S = dot(r, v) * std::sqrt(inverse / mu);  // e cos E, e sin E
    const double E = std::atan2(S, C);
    const double d = eccentric_anomaly(n * t + (E - S), std::hypot(C, S)) - E;
    const double cosine = std::cos(d), sine = std::sin(d), less = 1 - cosine;
    const double end = 1 - C * cosine + S * sine;  // |r(t)|
    const Vec3<double> first = r;
    r = (1 - less / start) * first + ((S * less + start * sine) / n) * v;
    v = (-n * sine / (start * end)) * first + (1 - less / end) * v;
    return true;
}

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// NO_SQUISH, the propagator of molecular dynamics codes [MEP02].

#include "polhode/rotations/turns.hpp"

POLHODE_NAMESPACE_BEGIN
namespace rotations {

/// Five turns of the quaternion q and its conjugate momentum p = 2 q (0, m) in the plane of q and
/// P_k q = q e_k:
///
///     zeta = p . (P_k q) h / (4 I_k),   q -> q cos zeta + P_k q sin zeta,   the same for p,
///
/// about the axes a, b, c, b, a = 3, 2, 1, 2, 3 over h/2, h/2, h, h/2, h/2.  Since m_k is half of p
/// . (P_k q), this is the three-rotation splitting with p in the place of m: the same map with
/// other rounding errors.  In the code, p means p/2.
struct NoSquish {
    NamedAxes axes;

    static constexpr bool user_axes = true;

    /// One step of a free body, from q = 1; body, m and h have the same meaning as in every step;
    /// the axes are the user's.
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const Vec3<T> n = axes.components(m);
        const Vec3<T> inverse = axes.numbers(body.inverse);
        const T half_h = 0.5 * h, quarter_h = 0.25 * h;
        const Vec3<T> k{quarter_h * inverse.x, quarter_h * inverse.y, half_h * inverse.z};
        Quaternion<T> q{T(1.0), T(0.0), T(0.0), T(0.0)};
        Quaternion<T> p{T(0.0), n.x, n.y, n.z};
        const auto turn_x = [&]() POLHODE_INLINE_LAMBDA {
            const T m_x = fma(p.x, q.w, -(p.w * q.x)) + fma(p.y, q.z, -(p.z * q.y));
            const SinCos<T> zeta = sincos(k.x * m_x);
            turn_quaternion(q.w, q.x, q.y, q.z, zeta);
            turn_quaternion(p.w, p.x, p.y, p.z, zeta);
        };
        const auto turn_y = [&]() POLHODE_INLINE_LAMBDA {
            const T m_y = fma(p.y, q.w, -(p.w * q.y)) + fma(p.z, q.x, -(p.x * q.z));
            const SinCos<T> zeta = sincos(k.y * m_y);
            turn_quaternion(q.w, q.y, q.z, q.x, zeta);
            turn_quaternion(p.w, p.y, p.z, p.x, zeta);
        };
        const auto turn_z = [&]() POLHODE_INLINE_LAMBDA {
            const T m_z = fma(p.z, q.w, -(p.w * q.z)) + fma(p.x, q.y, -(p.y * q.x));
            const SinCos<T> zeta = sincos(k.z * m_z);
            turn_quaternion(q.w, q.z, q.x, q.y, zeta);
            turn_quaternion(p.w, p.z, p.x, p.y, zeta);
        };
        turn_x();
        turn_y();
        turn_z();
        turn_y();
        turn_x();
        // m = q^-1 p
        FreeStep<T> s{{fma(p.x, q.w, -(p.w * q.x)) + fma(p.y, q.z, -(p.z * q.y)),
                       fma(p.y, q.w, -(p.w * q.y)) + fma(p.z, q.x, -(p.x * q.z)),
                       fma(p.z, q.w, -(p.w * q.z)) + fma(p.x, q.y, -(p.y * q.x))},
                      q};
        s = axes.in_body(s);
        turn_rods(body, m, h, s);
        return s;
    }
};

}  // namespace rotations
POLHODE_NAMESPACE_END

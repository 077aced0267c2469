#pragma once

/// NO_SQUISH, the propagator of molecular dynamics codes [MEP02].

#include "polhode/rotations/turns.hpp"

POLHODE_NAMESPACE_BEGIN(rotations)

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

    /// One step of a free body, along the axes of the user.
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const Vec3<T> n = axes.components(m), inverse = axes.numbers(body.inverse);
        const T half_h = 0.5 * h, quarter_h = 0.25 * h;
        const Vec3<T> k{quarter_h * inverse.x, quarter_h * inverse.y, half_h * inverse.z};
        Quaternion<T> q{T(1.0), T(0.0), T(0.0), T(0.0)};
        Quaternion<T> p{T(0.0), n.x, n.y, n.z};
        // Component j of m = q^-1 p; k and l are the next two in the cyclic order.
        const auto along = [&](T& pj, T& pk, T& pl, T& qj, T& qk, T& ql) POLHODE_INLINE_LAMBDA {
            return fma(pj, q.w, -(p.w * qj)) + fma(pk, ql, -(pl * qk));
        };
        const auto rotate =
            [&](T& pj, T& pk, T& pl, T& qj, T& qk, T& ql, const T& time) POLHODE_INLINE_LAMBDA {
                const SinCos<T> zeta = sincos(time * along(pj, pk, pl, qj, qk, ql));
                turn_quaternion(q.w, qj, qk, ql, zeta);
                turn_quaternion(p.w, pj, pk, pl, zeta);
            };
        rotate(p.x, p.y, p.z, q.x, q.y, q.z, k.x);
        rotate(p.y, p.z, p.x, q.y, q.z, q.x, k.y);
        rotate(p.z, p.x, p.y, q.z, q.x, q.y, k.z);
        rotate(p.y, p.z, p.x, q.y, q.z, q.x, k.y);
        rotate(p.x, p.y, p.z, q.x, q.y, q.z, k.x);
        FreeStep<T> s{{along(p.x, p.y, p.z, q.x, q.y, q.z),
                       along(p.y, p.z, p.x, q.y, q.z, q.x),
                       along(p.z, p.x, p.y, q.z, q.x, q.y)},
                      q};
        s = axes.in_body(s);
        turn_rods(body, m, h, s);
        return s;
    }
};

POLHODE_NAMESPACE_END

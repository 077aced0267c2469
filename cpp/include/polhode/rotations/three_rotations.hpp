#pragma once

/// Three-rotation splitting (McLachlan and Reich; Touma and Wisdom) for every order of the axes,
/// [Vil13] "Three rotation splitting" and [Buss01] Sec. 3, and its composition of order 4.

#include "polhode/rotations/turns.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(rotations)

/// x0 = 1/(2 - 2^(1/3)) as a sum of doubles, 212 bits.
inline constexpr double x0_parts[4] = {
    0x1.59e8b6eb96338p+0, 0x1.84a5634b09527p-54, -0x1.2d67e59246a44p-108, -0x1.885d7b55e24bep-165};

/// constant + factor x0
template <class T>
POLHODE_INLINE T weight(double constant, double factor) {
    if constexpr (wider_than_double<T>) {
        return T(constant) + T(factor) * polhode::detail::sum_of<T>(x0_parts);
    }
    return T(constant + factor * x0_parts[0]);
}

/// Two turns about one axis.
template <class T>
POLHODE_INLINE SinCos<T> joined(const SinCos<T>& a, const SinCos<T>& b) {
    return {fma(a.sin, b.cos, a.cos * b.sin), fma(a.cos, b.cos, -(a.sin * b.sin))};
}
/// H = m_a^2/(2 I_a) + m_b^2/(2 I_b) + m_c^2/(2 I_c), each part a turn R about its axis:
///
///     R_a(h/2) R_b(h/2) R_c(h) R_b(h/2) R_a(h/2)
///
/// Order 2, symmetric, symplectic; |m| and the spatial momentum are conserved to rounding errors.
/// The order of the axes changes the error by a factor of up to 100.  The axis of the least moment
/// should be the outer one (a), and b the axis of the middle moment unless that moment is near the
/// least.
///
/// With `fourth` three such steps of x0 h, x1 h, x0 h, x0 = 1/(2 - 2^(1/3)), x1 = 1 - 2 x0;
/// successive turns about a are combined, which leaves 13 turns.  Order 4.  With `cayley`
/// (half_turn) the angles of successive turns do not add up to the angle of one turn.  Then they
/// are not combined, since the order would be 2.
struct ThreeRotations {
    NamedAxes axes;
    bool fourth = false;
    bool cayley = false;

    static constexpr bool user_axes = true;

    /// Options: axes, cayley.
    static constexpr ThreeRotations of(bool fourth, const OptionValues& options) {
        return {NamedAxes::of(options.value[0]), fourth, options.value[1] != 0};
    }

    /// One step of a free body, along the axes of the user.
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const T half_h = 0.5 * h;
        const Vec3<T> inverse = axes.numbers(body.inverse);
        // theta/2 = k m for a turn over the whole step
        const Vec3<T> k{half_h * inverse.x, half_h * inverse.y, half_h * inverse.z};
        const T outer = fourth ? weight<T>(0.0, 1.0) : T(1.0);
        const T half_outer = fourth ? weight<T>(0.0, 0.5) : T(0.5);
        const T inner = weight<T>(1.0, -2.0);
        const T half_inner = weight<T>(0.5, -1.0);
        const T both_halves = weight<T>(0.5, -0.5);  // (x0 + x1)/2
        const int stages = fourth ? 3 : 1;

        // The first two turns, from q = 1.
        FreeStep<T> s;
        s.m = axes.components(m);
        const SinCos<T> first = half_turn(half_outer * (k.x * s.m.x), cayley);
        turn_momentum(s.m.y, s.m.z, first);
        const SinCos<T> second = half_turn(half_outer * (k.y * s.m.y), cayley);
        turn_momentum(s.m.z, s.m.x, second);
        s.dq = {first.cos * second.cos,
                first.sin * second.cos,
                first.cos * second.sin,
                first.sin * second.sin};
        for (int stage = 0;;) {
            const bool middle = stage == 1;
            turn_z(s, half_turn((middle ? inner : outer) * (k.z * s.m.z), cayley));
            turn_y(s, half_turn((middle ? half_inner : half_outer) * (k.y * s.m.y), cayley));
            const T k_x = k.x * s.m.x;
            if (++stage == stages) {
                turn_x(s, half_turn(half_outer * k_x, cayley));
                break;
            }
            turn_x(s,
                   cayley ? joined(half_turn(half_outer * k_x, true),
                                   half_turn(half_inner * k_x, true))
                          : sincos(both_halves * k_x));
            turn_y(s, half_turn((middle ? half_outer : half_inner) * (k.y * s.m.y), cayley));
        }
        s.dq = renormalized(s.dq, 0.0);
        s = axes.in_body(s);
        turn_rods(body, m, h, s);
        return s;
    }
};

POLHODE_NAMESPACE_END

#pragma once

/// The splitting into a symmetric body and a rotation, [Vil13] Algorithm 2.

#include "polhode/rotations/turns.hpp"

POLHODE_NAMESPACE_BEGIN(rotations)

/// H = S + R, with the axes a, b, c where [Vil13] has 1, 2, 3:
///
///     S = (m_a^2 + m_b^2)/(2 I_b) + m_c^2/(2 I_c),   R = (1/I_a - 1/I_b) m_a^2/2
///     step = R(h/2) S(h) R(h/2)
///
/// R turns by alpha h, alpha = (1/I_a - 1/I_b) m_a.  S, the flow of a symmetric body, turns by h
/// m/I_b about the m at its start and then by beta h about c, beta = (1/I_c - 1/I_b) m_c. ([Vil13]
/// prints alpha = m_1/I_1 and leaves m_3 out of beta.)
///
/// Order 2, symmetric, symplectic; |m| and the spatial momentum are conserved to rounding errors.
/// The error is proportional to (1/I_a - 1/I_b)(1/I_c - 1/I_b): exact for I_a = I_b and for I_b =
/// I_c.  By default b is the axis of the middle moment and a the one whose 1/I differs more from
/// it, the better choice for every body.  ([Vil13] chooses the axis of the least moment, except for
/// discs.)
struct SymmetricRotation {
    NamedAxes axes;
    bool best_axes = true;

    static constexpr bool user_axes = true;

    /// Options: axes; by default the best ones.
    static constexpr SymmetricRotation of(const OptionValues& options) {
        if (options.value[0] == 0) return {};
        return {NamedAxes::of(options.value[0]), false};
    }

    /// One step of a free body, along the axes of the user.
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        Vec3<T> n;
        T rate_a, rate_c;  // 1/I_a - 1/I_b, 1/I_c - 1/I_b
        T inverse_b;
        mask_t<T> from_3 = h != h;  // a is the axis of the greatest moment
        const Vec3<T> own = body.own_momentum(m);
        if (best_axes) {
            n = body.order.to_sorted(own);
            inverse_b = body.inverse_I2;
            const T d1 = (body.I2 - body.I1) * body.inverse_I1;
            const T d3 = (body.I2 - body.I3) * body.inverse_I3;
            from_3 = d1 < -d3;
            rate_a = select(from_3, d3, d1) * inverse_b;
            rate_c = select(from_3, d1, d3) * inverse_b;
            n = {select(from_3, n.z, n.x), n.y, select(from_3, -n.x, n.z)};
        } else {
            n = axes.components(own);
            const Vec3<T> moments = axes.numbers(body.moments);
            const Vec3<T> inverse = axes.numbers(body.inverse);
            inverse_b = inverse.y;
            rate_a = ((moments.y - moments.x) * inverse.x) * inverse_b;
            rate_c = ((moments.y - moments.z) * inverse.z) * inverse_b;
        }
        if (body.any_rod) {
            // A sphere with the rod's moment: m is constant in the body frame.
            inverse_b = select(body.rod, body.inverse_I3, inverse_b);
            rate_a = select(body.rod, T(0.0), rate_a);
            rate_c = select(body.rod, T(0.0), rate_c);
        }

        const T half_h = 0.5 * h;
        const T quarter_alpha = (0.5 * half_h) * rate_a;
        const T size = norm(n);
        const SinCos<T> about_m = sincos((half_h * inverse_b) * size);
        const T along = about_m.sin / select(size == 0.0, T(1.0), size);

        const SinCos<T> first = sincos(quarter_alpha * n.x);
        turn_momentum(n.y, n.z, first);
        // (first.cos + i first.sin) times the turn about m
        const Vec3<T> v{along * n.x, along * n.y, along * n.z};
        FreeStep<T> s{n,
                      {fma(first.cos, about_m.cos, -(first.sin * v.x)),
                       fma(first.cos, v.x, first.sin * about_m.cos),
                       fma(first.cos, v.y, -(first.sin * v.z)),
                       fma(first.cos, v.z, first.sin * v.y)}};
        turn_z(s, sincos((half_h * rate_c) * s.m.z));
        turn_x(s, sincos(quarter_alpha * s.m.x));

        if (!best_axes) return axes.in_body(s);
        const auto back = [&](const Vec3<T>& u) POLHODE_INLINE_LAMBDA {
            return body.order.from_sorted(
                Vec3<T>{select(from_3, -u.z, u.x), u.y, select(from_3, u.x, u.z)});
        };
        const Vec3<T> dv = back(vector_part(s.dq));
        return {back(s.m), {s.dq.w, dv.x, dv.y, dv.z}};
    }
};

POLHODE_NAMESPACE_END

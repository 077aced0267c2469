#pragma once

/// Turns about one axis of the body.  The methods of rotations/ are composed of them.
///
/// If H is only m_j^2 / (2 I_j), the body turns about its axis j by theta = h m_j / I_j ([Vil13]
/// "Three rotation splitting"): m turns back by theta in the body frame, q goes to q (cos theta/2 +
/// e_j sin theta/2).

#include "polhode/batch_arguments.hpp"
#include "polhode/inertia.hpp"
#include "polhode/method_info.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN(rotations)

/// The option that names axes, as three digits; 0: not given.
constexpr Option axes_option(int digits) {
    return {"axes",
            "axes",
            static_cast<double>(digits),
            "",
            "the body axes about which the step turns, outer, next and middle one"};
}

/// The body axes a, b, c (0, 1 or 2 each) that are used as x, y, z.
///
/// For an odd permutation the sign of the third is changed.  Then x, y, z stay right-handed and the
/// equations of free rotation keep their form.
struct NamedAxes {
    int a = 0;
    int b = 1;
    int c = 2;

    /// From three digits of 1 to 3, 123 for (1, 2, 3).
    static constexpr NamedAxes of(double of_option) {
        const int digits = static_cast<int>(of_option);
        return {digits / 100 - 1, digits / 10 % 10 - 1, digits % 10 - 1};
    }
    constexpr bool odd() const { return (b - a + 3) % 3 != 1; }

    /// The numbers of axes a, b, c.
    template <class T>
    POLHODE_INLINE Vec3<T> numbers(const Vec3<T>& v) const {
        const T of_axis[3] = {v.x, v.y, v.z};
        return {of_axis[a], of_axis[b], of_axis[c]};
    }
    /// The components along x, y, z of a vector in the body's axes.
    template <class T>
    POLHODE_INLINE Vec3<T> components(const Vec3<T>& v) const {
        Vec3<T> r = numbers(v);
        if (odd()) r.z = -r.z;
        return r;
    }
    /// The inverse: back to the body's axes.
    template <class T>
    POLHODE_INLINE Vec3<T> in_body(const Vec3<T>& v) const {
        T of_axis[3];
        of_axis[a] = v.x;
        of_axis[b] = v.y;
        of_axis[c] = odd() ? -v.z : v.z;
        return {of_axis[0], of_axis[1], of_axis[2]};
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> in_body(const FreeStep<T>& s) const {
        const Vec3<T> v = in_body(vector_part(s.dq));
        return {in_body(s.m), {s.dq.w, v.x, v.y, v.z}};
    }
};

inline constexpr Option cayley_option{
    "cayley", "choice", 0, "False True", "turn by 2 atan(angle/2) in place of the angle"};

/// sin and cos of half the angle of a turn.  With `cayley`, half the angle t/2 is replaced by the
/// angle whose tangent is t/2 ([Buss01] Sec. 3): sin theta = t/(1 + t^2/4), cos theta = (1 -
/// t^2/4)/(1 + t^2/4) with t in the place of theta.  The result is still a rotation, but its angle
/// is too small by t^3/12.
template <class T>
POLHODE_INLINE SinCos<T> half_turn(T half_angle, bool cayley) {
    if (!cayley) return sincos(half_angle);
    // Above 2^500 it is a half turn; a NaN stays NaN.
    const T u = max(T(-0x1p500), min(T(0x1p500), half_angle));
    const T c = 1.0 / sqrt(fma(u, u, 1.0));
    return {u * c, c};
}

/// m after a turn by theta about an axis; m_a and m_b are its components along the two axes that
/// follow in the cyclic order.  The small change is added, so that no digit of m is lost in short
/// steps: cos theta = 1 - 2 s^2, sin theta = 2 s c.
template <class T>
POLHODE_INLINE void turn_momentum(T& m_a, T& m_b, const SinCos<T>& half) {
    const T twice = half.sin + half.sin, a = fma(half.cos, m_b, -(half.sin * m_a));
    const T b = fma(half.cos, m_a, half.sin * m_b);
    m_a = fma(twice, a, m_a);
    m_b = fma(-twice, b, m_b);
}

/// q after q (cos + e_j sin): q_j its component along the axis, q_a and q_b along the next two.
template <class T>
POLHODE_INLINE void turn_quaternion(T& w, T& q_j, T& q_a, T& q_b, const SinCos<T>& half) {
    const T w0 = w, j = q_j, a = q_a, b = q_b;
    w = fma(half.cos, w0, -(half.sin * j));
    q_j = fma(half.cos, j, half.sin * w0);
    q_a = fma(half.cos, a, half.sin * b);
    q_b = fma(half.cos, b, -(half.sin * a));
}

template <class T>
POLHODE_INLINE void turn_x(FreeStep<T>& s, const SinCos<T>& half) {
    turn_momentum(s.m.y, s.m.z, half);
    turn_quaternion(s.dq.w, s.dq.x, s.dq.y, s.dq.z, half);
}
template <class T>
POLHODE_INLINE void turn_y(FreeStep<T>& s, const SinCos<T>& half) {
    turn_momentum(s.m.z, s.m.x, half);
    turn_quaternion(s.dq.w, s.dq.y, s.dq.z, s.dq.x, half);
}
template <class T>
POLHODE_INLINE void turn_z(FreeStep<T>& s, const SinCos<T>& half) {
    turn_momentum(s.m.x, s.m.y, half);
    turn_quaternion(s.dq.w, s.dq.z, s.dq.x, s.dq.y, half);
}

/// Rods turn about m, which is exact: returns s where a body is a rod, see Inertia.
///
/// For a rod, a splitting has no limit, since the turn about the rod is 0/0.  The turn about m is
/// the motion of a sphere with the rod's moment, and the limit to which every method of the family
/// converges for h -> 0.
template <class T>
POLHODE_INLINE void turn_rods(const Inertia<T>& body, const Vec3<T>& m, T h, FreeStep<T>& s) {
    if (!body.any_rod) return;
    const Vec3<T> kept = body.own_momentum(m);
    const T size = norm(kept);
    const SinCos<T> half = sincos((0.5 * h) * (body.inverse_I3 * size));
    const T along = half.sin / select(size == 0.0, T(1.0), size);
    const T nothing = 0.0 * half.cos;  // or NaN
    s.m = select<T>(body.rod, {kept.x + nothing, kept.y + nothing, kept.z + nothing}, s.m);
    s.dq = select<T>(body.rod, {half.cos, along * kept.x, along * kept.y, along * kept.z}, s.dq);
}

POLHODE_NAMESPACE_END

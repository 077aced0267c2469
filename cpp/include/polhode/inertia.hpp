#pragma once

#include "polhode/quaternion.hpp"

POLHODE_NAMESPACE_BEGIN()

/// A proper rotation of the axes that sorts three moments of inertia.
///
/// Three compare-and-exchange steps; each exchange is the quarter turn (a, b) -> (b, -a), so that
/// the whole is a signed permutation of determinant +1 and free rotation goes over into itself.
/// (A permutation alone is not enough: an odd one turns m' = m x w into m' = -m x w, unlike what
/// [CZ08] Sec. 3.1 says.)
template <class T>
struct AxisOrder {
    mask_t<T> exchange12, exchange23, exchange12_again;
    bool sorted;  ///< no lane exchanges anything

    POLHODE_INLINE static AxisOrder of(Vec3<T> moments, Vec3<T>& sorted_moments) {
        AxisOrder order;
        order.exchange12 = moments.x > moments.y;
        exchange(order.exchange12, moments.x, moments.y);
        order.exchange23 = moments.y > moments.z;
        exchange(order.exchange23, moments.y, moments.z);
        order.exchange12_again = moments.x > moments.y;
        exchange(order.exchange12_again, moments.x, moments.y);
        order.sorted = !any(order.exchange12 | order.exchange23);
        sorted_moments = moments;
        return order;
    }
    /// Components along the user's axes -> components along the sorted axes.
    POLHODE_INLINE Vec3<T> to_sorted(Vec3<T> v) const {
        if (sorted) return v;
        quarter_turn(exchange12, v.x, v.y);
        quarter_turn(exchange23, v.y, v.z);
        quarter_turn(exchange12_again, v.x, v.y);
        return v;
    }
    POLHODE_INLINE Vec3<T> from_sorted(Vec3<T> v) const {
        if (sorted) return v;
        quarter_turn(exchange12_again, v.y, v.x);
        quarter_turn(exchange23, v.z, v.y);
        quarter_turn(exchange12, v.y, v.x);
        return v;
    }
    POLHODE_INLINE Quaternion<T> from_sorted(const Quaternion<T>& q) const {
        const Vec3<T> v = from_sorted(vector_part(q));
        return {q.w, v.x, v.y, v.z};
    }

  private:
    POLHODE_INLINE static void exchange(mask_t<T> m, T& a, T& b) {
        const T old = a;
        a = select(m, b, a);
        b = select(m, old, b);
    }
    POLHODE_INLINE static void quarter_turn(mask_t<T> m, T& a, T& b) {
        const T old = a;
        a = select(m, b, a);
        b = select(m, -old, b);
    }
};

/// Everything a step needs of a body, computed once per body.
///
/// With I1 <= I2 <= I3 the sorted moments:
///
///     p = (I3 - I2) / I2,   r = (I2 - I1) / I2,   k = (I3 - I1) / I3,
///     p/I3 = 1/I2 - 1/I3,   r/I1 = 1/I1 - 1/I2,   k/I1 = 1/I1 - 1/I3,   p/I3 + r/I1 = k/I1
///
/// each from a difference of moments.  A sphere has p = r = k = 0, and so has a rod: it has I1 = 0,
/// then I2 = I3 and the momentum about axis 1 is dropped, and 1/I1 := 1/I2 := 1/I3.  A body with
/// two zero moments turns about axis 3 alone: I2 := I3, and the momentum about axes 1 and 2 is
/// dropped. A moment within 4 eps of the largest from zero counts as zero.  Moments are not checked
/// here.
///
/// kappa, c1, c2 of [Gus10] are k/I1, p I1/(k I3), r/k: frb.hpp alone has them.
template <class T>
struct Inertia {
    Vec3<T> moments;  ///< in the order of the user's axes
    Vec3<T> inverse;  ///< 1/moments; 0 for a zero moment
    AxisOrder<T> order;
    T I1, I2, I3;
    T inverse_I1, inverse_I2, inverse_I3;
    T p, r, k;
    T excess;  ///< of I3 over I2 + 2 I1, in I1, between 0 (every physical body) and 1
    mask_t<T> rod;
    bool any_rod, any_excess;

    POLHODE_INLINE static Inertia of(const Vec3<T>& given) {
        Inertia b;
        const T zero_below = 4 * epsilon_v<T> * max(max(given.x, given.y), given.z);
        b.moments = {select(given.x <= zero_below, T(0.0), given.x),
                     select(given.y <= zero_below, T(0.0), given.y),
                     select(given.z <= zero_below, T(0.0), given.z)};
        b.inverse =
            where_nonzero(b.moments, {1.0 / b.moments.x, 1.0 / b.moments.y, 1.0 / b.moments.z});
        Vec3<T> sorted;
        b.order = AxisOrder<T>::of(b.moments, sorted);
        b.I1 = sorted.x;
        b.I2 = sorted.y;
        b.I3 = sorted.z;
        b.rod = b.I1 == 0.0;
        b.any_rod = any(b.rod);
        if (b.any_rod) b.I2 = select(b.I2 == 0.0, b.I3, b.I2);
        b.inverse_I3 = 1.0 / b.I3;
        b.inverse_I1 = select(b.rod, b.inverse_I3, 1.0 / b.I1);
        b.inverse_I2 = select(b.rod, b.inverse_I3, 1.0 / b.I2);
        b.p = select(b.rod, T(0.0), (b.I3 - b.I2) * b.inverse_I2);
        b.r = select(b.rod, T(0.0), (b.I2 - b.I1) * b.inverse_I2);
        b.k = select(b.rod, T(0.0), (b.I3 - b.I1) * b.inverse_I3);
        b.excess = 0.0;
        b.any_excess = any(b.I3 - b.I2 > b.I1 + b.I1);
        if (b.any_excess) {
            b.excess = min(max(fma(b.I3 - b.I2, b.inverse_I1, T(-2.0)), 0.0), 1.0);
        }
        return b;
    }

    /// m along the user's axes, without the momentum that a rod cannot have.
    POLHODE_INLINE Vec3<T> own_momentum(const Vec3<T>& m) const {
        return any_rod ? where_nonzero(moments, m) : m;
    }

    /// m along the sorted axes, without the momentum that a rod cannot have.
    POLHODE_INLINE Vec3<T> sorted_momentum(const Vec3<T>& m) const {
        Vec3<T> s = order.to_sorted(m);
        if (any_rod) {
            const mask_t<T> two_zeros = rod & (moments.x + moments.y + moments.z == I3);
            s.x = select(rod, T(0.0), s.x);
            s.y = select(two_zeros, T(0.0), s.y);
        }
        return s;
    }
};

/// Which of the labellings (1, 2, 3) and (3, -2, 1) the frame of the attitude takes: true, the
/// second.
///
/// Either is right; the one with the smaller n of its integral of the third kind needs the fewer
/// doublings in the exact step and cancels least.  But the angle h/I1 of the first is far above
/// that turned where I3 is far above I1 + I2, except near axis 1: there that with the smaller d^2.
///
/// @param d1_2, d3_2  d1^2 = m1^2 + c1 m2^2, d3^2 = c2 m2^2 + m3^2 of [Gus10] Sec. 4.2, c1 + c2 = 1
/// @param y1, y3      c1 d1^2, c2 d3^2
/// @param unit        all four may be in another unit, then this is 1 in it, y in its square
template <class T>
POLHODE_INLINE mask_t<T> takes_second_axes(
    const Inertia<T>& body, const T& d1_2, const T& d3_2, const T& y1, const T& y3, const T& unit) {
    mask_t<T> swapped = y1 < y3;
    if (body.any_excess) {
        const T excess = body.excess * unit;
        swapped = fma(excess, d1_2, y1) < fma(excess, d3_2, y3);
    }
    return swapped;
}

/// Is a momentum so near axis 2, but not on it, and a step so long that the way back is lost?
/// Squares of components below 1e-135 |m| underflow on the way, so that the motion is
/// indistinguishable from the separatrix; in less than 300 growth times this does not matter.
///
/// @param m1,m2,m3  momentum along the sorted axes, signs and the order of 1 and 3 do not matter
/// @param growth2   (1/I2 - 1/I3) (1/I1 - 1/I2) (h m2)^2, the square of the growth times in the
/// step
template <class T>
POLHODE_INLINE mask_t<T> underflows_near_axis2(const T& m1,
                                               const T& m2,
                                               const T& m3,
                                               const T& growth2) {
    const T off = max(abs(m1), abs(m3));
    return (off > 0.0) & (off < 1e-135 * abs(m2)) & (growth2 > 300.0 * 300.0);
}

// A unit of momentum, a power of two, so that no square of a momentum overflows or underflows.
// With m = unit u and time s = unit t the equations of motion are the same.

/// The largest power of two not above a positive size, limited so that its reciprocal is finite.
template <class T>
POLHODE_INLINE T power_of_two_near(const T& size) {
    return min(max(power_of_two_below(size), 0x1p-1022), 0x1p1022);
}
/// True if momenta with this largest component can use the unit 1.
template <class T>
POLHODE_INLINE mask_t<T> is_usual(const T& largest) {
    return (largest >= 0x1p-20) & (largest <= 0x1p20);
}
/// The unit for a momentum with this largest component; 1 for a body at rest.
template <class T>
POLHODE_INLINE T momentum_unit(const T& largest) {
    return select(is_usual(largest) | (largest == 0.0), T(1.0), power_of_two_near(largest));
}

/// What a method does to a free body in one step: the new momentum in the body frame, and the
/// rotation of the body, q' = q dq.
template <class T>
struct FreeStep {
    Vec3<T> m;
    Quaternion<T> dq;
};

POLHODE_NAMESPACE_END

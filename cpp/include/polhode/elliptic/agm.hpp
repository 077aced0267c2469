#pragma once

/// The arithmetic-geometric mean: its limit, and the sequence with a_0 = 1, b_0 = kc that the
/// Landen transformations and the Jacobi functions use.

#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)

/// The sequence  a_{n+1} = (a_n + b_n)/2,  b_{n+1} = sqrt(a_n b_n),  c_{n+1} = (a_n - b_n)/2  from
/// a_0 = 1, b_0 = kc  [CZ08] Sec. 3.2.
///
/// @param kc         complementary modulus sqrt(1 - k2), positive; above 1 for k2 < 0
/// @param tolerance  a lane ends at its first N >= 1 with |c_N| <= tolerance a_N
///
/// The sequence continues in all lanes until the last lane has ended; `count` is N of each lane.
/// Ten steps reach |c_N| <= 1e-8 a_N for kc = 1e-19, fourteen for the smallest double.  At kc = 0
/// the sequence does not converge and ends at the largest number of steps.
template <class T>
struct AgmSequence {
    static constexpr int capacity = 20;

    T a[capacity];
    T b[capacity];
    T count;        ///< N of each lane
    T limit;        ///< a_{N+1} of each lane, the mean to (c_N/a_N)^4 / 64; NaN where kc is
    T last_c;       ///< c_N of each lane
    int steps = 0;  ///< largest N

    POLHODE_INLINE AgmSequence(T kc, double tolerance) {
        // Local variables: members next to arrays would be in memory.
        T a_n = 1.0, b_n = kc, lane_count = 0.0, lane_limit = kc, lane_c = kc;
        a[0] = a_n;
        b[0] = b_n;
        mask_t<T> active = kc == kc;
        while (any(active) & (steps + 1 < capacity)) {
            const T c_next = 0.5 * (a_n - b_n), a_next = 0.5 * (a_n + b_n);
            b_n = sqrt(a_n * b_n);
            a_n = a_next;
            ++steps;
            a[steps] = a_n;
            b[steps] = b_n;
            lane_count = select(active, T(double(steps)), lane_count);
            lane_limit = select(active, 0.5 * (a_n + b_n), lane_limit);
            lane_c = select(active, c_next, lane_c);
            active = active & (abs(c_next) > tolerance * a_n);
        }
        count = lane_count;
        limit = lane_limit;
        last_c = lane_c;
    }

    /// c_n, n >= 1; the subtraction is exact to rounding in the computed a_{n-1} and b_{n-1}.
    POLHODE_INLINE T c(int n) const { return 0.5 * (a[n - 1] - b[n - 1]); }
    /// True if the sequence of the lane reaches step n.
    POLHODE_INLINE mask_t<T> reaches(int n) const { return count >= double(n); }
};

/// Arithmetic-geometric mean of a and b.
///
/// @param a,b  non-negative; NaN if one is negative
/// @return     error below 4 eps (tests/accuracy/test_elliptic.py); 0 where one is zero and the
/// other
///             finite, inf where one is infinite and the other positive, NaN for (0, inf)
template <class T>
T agm(T a, T b) {
    // Subnormal numbers have no power of two below them, and lose digits when halved.
    const mask_t<T> low = (a < 0x1p-900) & (b < 0x1p-900);
    const T up = select(low, T(0x1p200), T(1.0)), down = select(low, T(0x1p-200), T(1.0));
    a = a * up;
    b = b * up;
    // The first step takes square roots and halves separately: a b may overflow or underflow.
    T x = 0.5 * a + 0.5 * b, y = sqrt(a) * sqrt(b);
    const T result_there = x * y;  // NaN stays NaN, 0 stays 0, inf stays inf
    const mask_t<T> regular = (a > 0.0) & (b > 0.0) & (x < infinity<T>());
    const T scale = select(regular, power_of_two_below(x), T(1.0));
    const T inverse = 1.0 / scale;
    x = select(regular, x * inverse, T(1.0));
    y = select(regular, y * inverse, T(1.0));
    // With |x - y| <= d x the mean (x + y)/2 has a relative error of d^2/16.
    constexpr double tolerance = wider_than_double<T> ? 0x1p-54 : 0x1p-25;
    mask_t<T> active = abs(x - y) > tolerance * x;
    while (any(active)) {
        const T x_next = 0.5 * (x + y), y_next = sqrt(x * y);
        x = select(active, x_next, x);
        y = select(active, y_next, y);
        active = active & (abs(x - y) > tolerance * x);
    }
    return select(regular, (0.5 * (x + y) * scale) * down, result_there);
}

POLHODE_NAMESPACE_END

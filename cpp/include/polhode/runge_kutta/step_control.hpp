#pragma once

/// The error of a step of Dormand and Prince, and the length of the next, as in the code DOP853 of
/// [HNW93] Sec. II.5, with a controller that looks back one step.  The loops that
/// accept and reject steps are in splitting/adaptive.hpp and adaptive_lanes.hpp.

#include <limits>

#include "polhode/runge_kutta/dormand_prince.hpp"
#include "polhode/splitting/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(runge_kutta)

/// The square of the error of a step in units of the tolerance, of m (for the larger |m| of start
/// and end) and of q together.  The estimate of order 5 is damped by the one of order 3.
template <class T>
struct StepError {
    static constexpr int used[] = {0, 5, 6, 7, 8, 9, 10, 11};
    static constexpr double fifth[] = {0.1312004499419488073250102996e-1,
                                       -0.1225156446376204440720569753e+1,
                                       -0.4957589496572501915214079952,
                                       0.1664377182454986536961530415e+1,
                                       -0.3503288487499736816886487290,
                                       0.3341791187130174790297318841,
                                       0.8192320648511571246570742613e-1,
                                       -0.2235530786388629525884427845e-1};
    /// The weights of the method of order 3 at stages 0, 8 and 11.
    static constexpr double third_0 = 0.244094488188976377952755905512,
                            third_8 = 0.733846688281611857341361741547,
                            third_11 = 0.220588235294117647058823529412e-1;

    /// @param change  of the state in the step of h
    POLHODE_INLINE static T of(const StepTolerance& tolerance,
                               const T& unit,
                               const T& h,
                               const direct::State<T>& y,
                               const direct::State<T>& change,
                               const direct::State<T>* slopes) {
        direct::State<T> five = T(fifth[0]) * slopes[0];
        for (int k = 1; k < 8; ++k) five = axpy(five, T(fifth[k]), slopes[used[k]]);
        five = h * five;
        direct::State<T> three = axpy(change, -third_0 * h, slopes[0]);
        three = axpy(three, -third_8 * h, slopes[8]);
        three = axpy(three, -third_11 * h, slopes[11]);
        const Vec3<T> m = y.momentum(), end = m + change.momentum();
        const T size = sqrt(max(dot(m, m), dot(end, end)));
        const T allowed = tolerance.atol_m * power_of_two_reciprocal(unit) + tolerance.rtol * size;
        const T scale_m = 1.0 / max(allowed, T(std::numeric_limits<double>::min()));
        const T scale_q(1.0 / (tolerance.atol_q + tolerance.rtol));
        const auto square = [&](const direct::State<T>& e) {
            const Vec3<T> em = scale_m * e.momentum();
            const Quaternion<T> eq = scale_q * e.attitude();
            return dot(em, em) + dot(eq, eq);
        };
        const T a = square(five), b = square(three);
        return select(a == 0.0, T(0.0), a * (a / (a + 0.01 * b)));
    }
};

/// The next step over this one, 1/3 to 6, by a PI controller: 0.9 error^(-1/8) (error of the last
/// accepted step)^(1/16).  The factor needs the roots of this error only.
///
/// @param square  of the error; NaN shortens the step
/// @param last    the root of order 16 of the error of the last accepted step; updated where
/// accepted
template <class T>
POLHODE_INLINE T step_factor(const T& square, const mask_t<T>& accepted, T& last) {
    const T root_8 = sqrt(sqrt(sqrt(sqrt(square))));
    const T factor = 0.9 * last / root_8;
    last = select(accepted, max(sqrt(root_8), T(0.56)), last);
    return select(is_nan(square), T(1.0 / 3), min(max(factor, T(1.0 / 3)), T(6.0)));
}
/// `last` before the first step.
inline constexpr double first_last = 0.56;

/// A first step: the eighth root of the tolerance, in units of the time in which the body turns or
/// its rate changes.  It is never zero.
template <class T>
POLHODE_INLINE T first_step(const StepTolerance& tolerance,
                            const direct::Equations<T>& equations,
                            const direct::State<T>& y,
                            const direct::State<T>& slope) {
    const Vec3<T> w = times(equations.half_inverse, y.momentum());
    const Vec3<T> change = times(equations.half_inverse, slope.momentum());
    // The largest components: squares may overflow.
    const auto size = [](const Vec3<T>& v)
                          POLHODE_INLINE_LAMBDA { return max(max(abs(v.x), abs(v.y)), abs(v.z)); };
    const T rate = min(max(size(w), sqrt(size(change))), T(std::numeric_limits<double>::max()));
    const double small = tolerance.rtol + tolerance.atol_q;
    return T(__builtin_sqrt(__builtin_sqrt(__builtin_sqrt(small)))) / rate;
}

POLHODE_NAMESPACE_END

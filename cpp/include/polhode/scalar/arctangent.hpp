#pragma once

#include "polhode/scalar/real.hpp"

POLHODE_NAMESPACE_BEGIN

/// The angle of the point (x, y), in [-pi, pi]: atan2(y, x).
///
/// The sign is the sign of y (of its sign bit for a zero); atan2(0, 0) is 0 or pi by the sign of x.
/// |x| + |y| must not overflow; NaN in gives NaN out.  Relative error below 1.5 eps
/// (tests/test_so3.py, through so3.log).
///
/// Method: with the smaller over the larger of |x| and |y| in [0, 1], a turn back by pi/4 above
/// tan(pi/8), atan by its polynomial on [-tan(pi/8), tan(pi/8)]
/// (cpp/generate/make_arctangent.py, truncation 7e-18), and the eighths of a turn added in two
/// parts.  One division.
template <class T>
POLHODE_INLINE T atan2(T y, T x) {
    const T ax = abs(x);
    const T ay = abs(y);
    const mask_t<T> steep = ay > ax;
    const T small = select(steep, ax, ay);
    const T large = select(steep, ay, ax);
    const mask_t<T> turned = small > 0x1.a827999fcef32p-2 * large;
    const T numerator = select(turned, small - large, small);
    const T denominator = select(turned, small + large, large);
    const T z = select(denominator == 0.0, small, numerator / denominator);
    const T z2 = z * z;
    T p = fma(z2, -0x1.3a31b1c0fd3b7p-6, 0x1.4162c02b1dda3p-5);
    p = fma(p, z2, -0x1.a0999c632b6edp-5);
    p = fma(p, z2, 0x1.dfe6497e96323p-5);
    p = fma(p, z2, -0x1.10fa77b1a6d57p-4);
    p = fma(p, z2, 0x1.3b1263064f6b9p-4);
    p = fma(p, z2, -0x1.745d0b28a7e37p-4);
    p = fma(p, z2, 0x1.c71c71853d7fap-4);
    p = fma(p, z2, -0x1.2492492436201p-3);
    p = fma(p, z2, 0x1.999999999934cp-3);
    p = fma(p, z2, -0x1.5555555555555p-2);
    T angle = fma(z * z2, p, z);
    T eighths = select(turned, T(1.0), T(0.0));
    angle = select(steep, -angle, angle);
    eighths = select(steep, 2.0 - eighths, eighths);
    const mask_t<T> behind = copysign(T(1.0), x) < 0.0;
    angle = select(behind, -angle, angle);
    eighths = select(behind, 4.0 - eighths, eighths);
    // pi/4 = 0x1.921fb54442d18p-1 + 0x1.1a62633145c07p-55; one to four times the first is exact.
    angle = fma(eighths, T(0x1.921fb54442d18p-1), fma(eighths, T(0x1.1a62633145c07p-55), angle));
    return copysign(angle, y);
}

POLHODE_NAMESPACE_END

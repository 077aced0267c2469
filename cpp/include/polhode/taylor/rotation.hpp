#pragma once

/// Taylor methods in the Lie algebra, [Buss01] Sec. 2 and 5: one rotation a step, R <- exp(h
/// Z) R, Z a polynomial in h, in the angular velocity W in space and in its derivatives.
///
/// The code works in the body frame at the start of the step.  There the velocity nu = J^-1 m and
/// its derivatives are known, and R <- R exp(h Z).  Truncated after any power of h, Z is the same
/// vector in terms of W and its derivatives and in terms of nu and its derivatives.  The only
/// difference is the sign of every bracket [a, b] = a x b.  Brackets nest to the right: [a, b, c] =
/// [a, [b, c]].

#include "polhode/inertia.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(taylor)

/// The number of the polynomial.  For the first six it is the order.
enum Kind : int { second_augmented = 7, third_false = 8 };
/// The number of derivatives of the velocity that the polynomial uses.
constexpr int derivatives(int kind) {
    return kind == second_augmented ? 1 : kind == third_false ? 2 : kind - 1;
}

/// h Z.
///
/// @param v  h^(k+1) times the k-th derivative of nu along the axes of the body, k = 0 ...  Method:
/// the expansion of [Buss01] Sec. 5, with the dots (derivatives) that are missing in print.  In
/// each bracket of the coefficient of h^k, the orders of the derivatives plus one each add up to k
/// + 1.
template <int Kind, class T>
POLHODE_INLINE Vec3<T> rotation(const Vec3<T> (&v)[derivatives(Kind) + 1]) {
    if constexpr (Kind == 1) {
        return v[0];
    } else {
        Vec3<T> z = axpy(v[0], T(0.5), v[1]);
        if constexpr (Kind == 2) return z;
        const Vec3<T> v10 = cross(v[1], v[0]);
        if constexpr (Kind == second_augmented) {
            // W + h/2 W' + h^2/12 [W', W], where W' = nu'.
            return axpy(z, ratio<T>(1, 12), v10);
        } else if constexpr (Kind == third_false || Kind == 3) {
            // In W: W'' = nu'' + nu x nu'.
            const Vec3<T> w2 = v[2] - v10;
            z = axpy(z, ratio<T>(1, 6), w2);
            if constexpr (Kind == third_false) return z;
            // h^2/12 [W' + h/3 W'', W]; the part with W'' is of higher order than the method and
            // reduces the drift.
            return axpy(z, ratio<T>(1, 12), cross(axpy(v[1], ratio<T>(1, 3), w2), v[0]));
        } else {
            z = axpy(z, ratio<T>(1, 6), v[2]);
            z = axpy(z, ratio<T>(-1, 12), v10);
            const Vec3<T> v20 = cross(v[2], v[0]);
            z = axpy(z, ratio<T>(1, 24), v[3]);
            z = axpy(z, ratio<T>(-1, 24), v20);
            if constexpr (Kind >= 5) {
                const Vec3<T> v30 = cross(v[3], v[0]), v21 = cross(v[2], v[1]);
                const Vec3<T> v010 = cross(v[0], v10);
                z = axpy(z, ratio<T>(1, 120), v[4]);
                z = axpy(z, ratio<T>(-1, 80), v30);
                z = axpy(z, ratio<T>(-1, 120), v21);
                z = axpy(z, ratio<T>(1, 240), cross(v[1], v10));
                z = axpy(z, ratio<T>(1, 720), cross(v[0], v010 - v20));
                if constexpr (Kind >= 6) {
                    z = axpy(z, ratio<T>(1, 720), v[5]);
                    z = axpy(z, ratio<T>(-1, 288), cross(v[3], v[1]));
                    z = axpy(z, ratio<T>(-1, 360), cross(v[4], v[0]));
                    z = axpy(z, ratio<T>(1, 360), cross(v[2], v10));
                    z = axpy(z, ratio<T>(1, 1440), cross(v[1], v20));
                    z = axpy(z, ratio<T>(-1, 1440), cross(v[0], v30));
                    z = axpy(z, ratio<T>(1, 1440), cross(v[0], cross(v[0], v20)));
                    z = axpy(z, ratio<T>(1, 720), cross(v[0], cross(v[1], v10)));
                }
            }
            return z;
        }
    }
}

/// Binomial coefficient.
constexpr int choose(int n, int k) { return k == 0 ? 1 : choose(n - 1, k - 1) * n / k; }

/// One step of a free body, sorted axes.
///
/// The derivatives of m from Euler's equations by Leibniz' rule: m1' = -(1/I2 - 1/I3) m2 m3,
/// m2' = (1/I1 - 1/I3) m1 m3, m3' = -(1/I1 - 1/I2) m1 m2.
template <int Kind, class T>
POLHODE_INLINE FreeStep<T> free_step(const Inertia<T>& body, const Vec3<T>& m, T h) {
    constexpr int n = derivatives(Kind);
    const Vec3<T> inverse{h * body.inverse_I1, h * body.inverse_I2, h * body.inverse_I3};
    const Vec3<T> rate{-(body.p * inverse.z), body.k * inverse.x, -(body.r * inverse.x)};
    Vec3<T> ms[n + 1], v[n + 1];  // times powers of h
    ms[0] = m;
    v[0] = times(inverse, m);
    POLHODE_UNROLL
    for (int k = 0; k < n; ++k) {
        // d^k/dt^k of (m2 m3, m1 m3, m1 m2); the terms j and k - j have the same form.
        Vec3<T> s{T(0.0), T(0.0), T(0.0)};
        POLHODE_UNROLL
        for (int j = 0; j <= k; ++j) {
            const T c(choose(k, j));
            const Vec3<T> a{ms[j].y * ms[k - j].z, ms[j].x * ms[k - j].z, ms[j].x * ms[k - j].y};
            s = axpy(s, c, a);
        }
        ms[k + 1] = times(rate, s);
        v[k + 1] = times(inverse, ms[k + 1]);
    }
    const Quaternion<T> dq = rotation_by(rotation<Kind>(v));
    return {in_body_frame(dq, m), dq};
}

POLHODE_NAMESPACE_END

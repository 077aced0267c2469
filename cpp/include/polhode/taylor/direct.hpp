#pragma once

/// Taylor methods under torque.
///
/// In [Buss01] the momentum L(t) in space is given.  If instead the torque is a function of the
/// attitude, L' ... L^(N-1) are evaluated at the start of the step.  L at its end follows from
/// values at both ends by Hermite's formula, of the order of the method or higher.

#include "polhode/direct/bodies.hpp"
#include "polhode/taylor/rotation.hpp"

POLHODE_NAMESPACE_BEGIN(taylor)

/// The number of derivatives of L that the method uses, the torque included; at least the torque.
constexpr int momentum_derivatives(int kind) {
    return derivatives(kind) < 1 ? 1 : derivatives(kind);
}

/// Derivatives of the angular velocity in the body frame.  Each is multiplied by the power of h
/// that makes it an angle, so that it does not overflow or underflow.
///
/// m' = m x nu + A_1, where A_j, the j-th derivative of L in the body frame, changes by A_j' =
/// A_{j+1} + A_j x nu; with A_0 = m.
template <int Kind, class T>
struct Series {
    static constexpr int n = derivatives(Kind);
    Vec3<T> nu[n + 1];  ///< h^(k+1) nu^(k)

    /// @param A  m, h L', h^2 L'' ...
    POLHODE_INLINE static Series of(const Vec3<T>& inverse,
                                    const T& h,
                                    const Vec3<T> (&A)[momentum_derivatives(Kind) + 1]) {
        Series s;
        const Vec3<T> rate = h * inverse;
        // d[j][k]: the k-th derivative of A_j, computed in increasing order.
        Vec3<T> d[n + 1][n + 1];
        for (int j = 0; j <= n; ++j) d[j][0] = A[j];
        s.nu[0] = times(rate, A[0]);
        POLHODE_UNROLL
        for (int k = 1; k <= n; ++k) {
            POLHODE_UNROLL
            for (int j = 0; j <= n - k; ++j) {
                Vec3<T> x = d[j + 1][k - 1];
                POLHODE_UNROLL
                for (int l = 0; l < k; ++l) {
                    x = axpy(x, T(choose(k - 1, l)), cross(d[j][k - 1 - l], s.nu[l]));
                }
                d[j][k] = x;
            }
            s.nu[k] = times(rate, d[0][k]);
        }
        return s;
    }
};

/// Columns after the common ones.
enum Column : int {
    turn_column = direct::first_free_column,
    start_column = turn_column + 4,  // m, h L' ... h^3 L''' at the start, along the axes there
    columns = start_column + 12
};

/// The derivatives of L at both ends that a method uses.
constexpr int used_derivatives(int kind) {
    return momentum_derivatives(kind) < 3 ? momentum_derivatives(kind) : 3;
}

template <int used, class T>
struct Ends {
    Vec3<T> L[used + 1];  ///< m, h L' ... h^3 L'''

    /// Power P = omega . L' and its derivatives, h P, h^2 P' ...; omega' = J^-1 (m x omega + L') in
    /// the body frame.
    POLHODE_INLINE void power(const Vec3<T>& inverse, const T& h, T (&p)[3]) const {
        const Vec3<T> rate = h * inverse;
        const Vec3<T> omega = times(inverse, L[0]), w = times(rate, L[0]);
        p[0] = dot(omega, L[1]);
        if constexpr (used >= 2) {
            // The rate of a scalar is that in the body frame.
            const Vec3<T> m1 = cross(L[0], w) + L[1];
            const Vec3<T> omega1 = times(inverse, m1);
            const Vec3<T> A1 = L[2] + cross(L[1], w);
            p[1] = dot(omega1, L[1]) + dot(omega, A1);
            if constexpr (used >= 3) {
                const Vec3<T> w1 = times(rate, m1);
                const Vec3<T> m2 = cross(m1, w) + cross(L[0], w1) + A1;
                const Vec3<T> omega2 = times(inverse, m2);
                const Vec3<T> A2 = L[3] + cross(L[2], w);  // derivative of L'' in the body frame
                const Vec3<T> A1d = A2 + cross(A1, w) + cross(L[1], w1);
                p[2] = dot(omega2, L[1]) + 2.0 * dot(omega1, A1) + dot(omega, A1d);
            }
        }
    }
};

/// The integral over the step from values and derivatives at both ends, times h, h^2 ..., of order
/// 2, 4 or 6.
template <int Used, class T, class X>
POLHODE_INLINE X hermite(const X* a, const X* b) {
    const X ends = T(0.5) * (a[0] + b[0]);
    if constexpr (Used == 1) return ends;
    if constexpr (Used == 2) return ends + ratio<T>(1, 12) * (a[1] - b[1]);
    if constexpr (Used == 3) {
        return (ends + ratio<T>(1, 10) * (a[1] - b[1])) + ratio<T>(1, 120) * (a[2] + b[2]);
    }
}

/// The rotation, and a first guess of the momentum at its end.
template <int Kind, class T>
void predict(direct::Bodies<T>& b) {
    constexpr int n = momentum_derivatives(Kind);
    b.begin();
    const T h = b.h();
    Vec3<T> A[n + 1];
    A[0] = b.m;
    for (int k = 1; k <= n; ++k) A[k] = b.change_of_momentum(k);
    const auto series = Series<Kind, T>::of(b.body.inverse, h, A);
    const Quaternion<T> p = rotation_by(rotation<Kind>(series.nu));
    b.keep(turn_column, p);
    for (int k = 0; k <= used_derivatives(Kind); ++k) b.keep(start_column + 3 * k, A[k]);
    // Taylor's formula.
    Vec3<T> l = A[n];
    POLHODE_UNROLL
    for (int k = n - 1; k >= 0; --k) l = axpy(A[k], ratio<T>(1, k + 1), l);
    if constexpr (Kind == 1) {
        // The torque in the space frame, at both ends.
        const Vec3<T> end = times(b.body.inverse, in_body_frame(p, l));
        const T work =
            0.5 * (dot(times(b.body.inverse, A[0]), A[1]) + dot(end, in_body_frame(p, A[1])));
        b.end_at(p, l, work);
    } else {
        b.ask_at(p, l);
    }
}

/// The momentum at the end.
template <int used, class T>
void finish(direct::Bodies<T>& b) {
    const T h = b.h();
    const Quaternion<T> p = b.quaternion(turn_column);
    Ends<used, T> start, end;
    for (int k = 0; k <= used; ++k) start.L[k] = b.vector(start_column + 3 * k);
    Vec3<T> l[used + 1];
    end.L[0] = b.m;
    for (int k = 1; k <= used; ++k) {
        end.L[k] = b.change_of_momentum(k);
        l[k] = rotated(p, end.L[k]);
    }
    const Vec3<T> change = hermite<used, T>(start.L + 1, l + 1);
    T before[3], after[3];
    start.power(b.body.inverse, h, before);
    end.power(b.body.inverse, h, after);
    b.end_at(p, start.L[0] + change, hermite<used, T>(before, after));
}

template <int Kind>
inline constexpr DirectStage stages[] = {
    {direct::stage<predict<Kind, batch_real>>, 0.0, momentum_derivatives(Kind)},
    {direct::stage<finish<used_derivatives(Kind), batch_real>>, 1.0, momentum_derivatives(Kind)}};
template <int Kind>
constexpr DirectMethod under_torque() {
    return {columns,
            momentum_derivatives(Kind),
            derivatives(Kind),
            direct::alike < stages<Kind>,
            Kind == 1 ? 1 : 2 > };
}

POLHODE_NAMESPACE_END

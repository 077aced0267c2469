#pragma once

/// @file
/// Taylor methods under torque.
///
/// [Buss01] has the momentum L(t) of space given.  Where the torque is a function of the attitude
/// instead, L' ... L^(N-1) are those of the start of the step, and L at its end comes from values
/// at both ends by the formula of Hermite, of the order of the method or above.

#include "polhode/taylor/rotation.hpp"
#include "polhode/torqued/bodies.hpp"

POLHODE_NAMESPACE_BEGIN
namespace taylor {

/// Derivatives of L that the method takes, the torque included; at least the torque itself.
constexpr int momentum_derivatives(int kind) {
    return derivatives(kind) < 1 ? 1 : derivatives(kind);
}

/// Derivatives of the momentum and of the angular velocity, seen from the body.
///
/// m' = m x nu + A_1, where A_j, the j-th derivative of L seen from the body, changes by
/// A_j' = A_{j+1} + A_j x nu; with A_0 = m.
template <int Kind, class T>
struct Series {
    static constexpr int n = derivatives(Kind);
    Vec3<T> nu[n + 1];

    /// @param A  m, L', L'' ...
    POLHODE_INLINE static Series of(const Inertia<T>& body,
                                    const Vec3<T> (&A)[momentum_derivatives(Kind) + 1]) {
        Series s;
        // d[j][k]: the k-th derivative of A_j; those of one order after another.
        Vec3<T> d[n + 1][n + 1];
        for (int j = 0; j <= n; ++j) d[j][0] = A[j];
        s.nu[0] = times(body.inverse, A[0]);
        POLHODE_UNROLL
        for (int k = 1; k <= n; ++k) {
            POLHODE_UNROLL
            for (int j = 0; j <= n - k; ++j) {
                Vec3<T> x = d[j + 1][k - 1];
                POLHODE_UNROLL
                for (int l = 0; l < k; ++l) {
                    x = sum(x, T(choose(k - 1, l)), cross(d[j][k - 1 - l], s.nu[l]));
                }
                d[j][k] = x;
            }
            s.nu[k] = times(body.inverse, d[0][k]);
        }
        return s;
    }
};

/// Columns after the common ones.
enum Column : int {
    turn_column = torqued::first_free_column,
    start_column = turn_column + 4,  // m, L', L'', L''' at the start, along the axes there
    columns = start_column + 12
};

template <int Kind, class T>
struct Ends {
    static constexpr int used = momentum_derivatives(Kind) < 3 ? momentum_derivatives(Kind) : 3;
    Vec3<T> L[used + 1];  ///< m, L' ... L'''

    /// Power w . L' and its derivatives, w' = J^-1 (m x w + L') seen from the body.
    POLHODE_INLINE void power(const Inertia<T>& body, T (&p)[3]) const {
        const Vec3<T> w = times(body.inverse, L[0]);
        p[0] = dot(w, L[1]);
        if constexpr (used >= 2) {
            // Scalars change as seen from the body.
            const Vec3<T> w1 = times(body.inverse, cross(L[0], w) + L[1]);
            const Vec3<T> A1 = L[2] + cross(L[1], w);
            p[1] = dot(w1, L[1]) + dot(w, A1);
            if constexpr (used >= 3) {
                const Vec3<T> m1 = cross(L[0], w) + L[1];
                const Vec3<T> m2 = cross(m1, w) + cross(L[0], w1) + A1;
                const Vec3<T> w2 = times(body.inverse, m2);
                const Vec3<T> A2 = L[3] + cross(L[2], w);  // derivative of L'' seen from the body
                const Vec3<T> A1d = A2 + cross(A1, w) + cross(L[1], w1);
                p[2] = dot(w2, L[1]) + 2.0 * dot(w1, A1) + dot(w, A1d);
            }
        }
    }
};

/// The integral over the step from values and derivatives at both ends, of order 2, 4 or 6.
template <int Used, class X, class T>
POLHODE_INLINE X hermite(const X* a, const X* b, const T& h) {
    const X ends = (0.5 * h) * (a[0] + b[0]);
    if constexpr (Used == 1) return ends;
    if constexpr (Used == 2) return ends + (ratio<T>(1, 12) * (h * h)) * (a[1] - b[1]);
    if constexpr (Used == 3) {
        return (ends + (ratio<T>(1, 10) * (h * h)) * (a[1] - b[1])) +
               (ratio<T>(1, 120) * (h * h * h)) * (a[2] + b[2]);
    }
}

/// The rotation, and a first guess of the momentum at its end.
template <int Kind>
struct Predict {
    template <class T>
    static void run(torqued::Bodies<T>& b) {
        constexpr int n = momentum_derivatives(Kind);
        b.begin();
        const T h = b.h();
        Vec3<T> A[n + 1];
        A[0] = b.m;
        for (int k = 1; k <= n; ++k) A[k] = b.torque(k - 1);
        const auto series = Series<Kind, T>::of(b.body, A);
        Vec3<T> v[derivatives(Kind) + 1];
        T power = h;
        for (int k = 0; k <= derivatives(Kind); ++k) {
            v[k] = power * series.nu[k];
            power = h * power;
        }
        const Quaternion<T> p = turn_by(rotation<Kind>(v));
        b.keep(turn_column, p);
        for (int k = 0; k <= Ends<Kind, T>::used; ++k) b.keep(start_column + 3 * k, A[k]);
        // Taylor's formula.
        Vec3<T> l = A[n];
        POLHODE_UNROLL
        for (int k = n - 1; k >= 0; --k) l = sum(A[k], h / (k + 1.0), l);
        if constexpr (Kind == 1) {
            T work[3];
            Ends<Kind, T> start;
            for (int k = 0; k <= 1; ++k) start.L[k] = A[k];
            start.power(b.body, work);
            b.end_at(p, l, h * work[0]);
        } else {
            b.ask_at(p, l);
        }
    }
};

/// The momentum at the end.
template <int Kind>
struct Finish {
    template <class T>
    static void run(torqued::Bodies<T>& b) {
        using E = Ends<Kind, T>;
        constexpr int used = E::used;
        const T h = b.h();
        const Quaternion<T> p = b.quaternion(turn_column);
        E start, end;
        for (int k = 0; k <= used; ++k) start.L[k] = b.vector(start_column + 3 * k);
        Vec3<T> l[used + 1];
        end.L[0] = b.m;
        for (int k = 1; k <= used; ++k) {
            end.L[k] = b.torque(k - 1);
            l[k] = turned(p, end.L[k]);
        }
        const Vec3<T> change = hermite<used>(start.L + 1, l + 1, h);
        T before[3], after[3];
        start.power(b.body, before);
        end.power(b.body, after);
        b.end_at(p, start.L[0] + change, hermite<used>(before, after, h));
    }
};

template <int Kind>
inline constexpr TorquedStage stages[] = {
    {torqued::stage<Predict<Kind>>, 0.0, momentum_derivatives(Kind)},
    {torqued::stage<Finish<Kind>>, 1.0, momentum_derivatives(Kind)}};
template <int Kind>
constexpr TorquedMethod row(const char* name) {
    return {name,
            columns,
            0,
            momentum_derivatives(Kind),
            derivatives(Kind),
            {stages<Kind>, Kind == 1 ? 1 : 2},
            nullptr,
            0};
}

}  // namespace taylor
POLHODE_NAMESPACE_END

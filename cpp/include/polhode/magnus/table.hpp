#pragma once

/// The rotation over one interval of a table of rates, or of angle increments, at any stamps.
///
/// The rate is a polynomial: it passes through the rates at the stamps around the interval, or its
/// integrals between these stamps are the increments.  A Magnus scheme takes it at the nodes of
/// Gauss's rule.  For three equal intervals this is theta_k + theta_k x (theta_(k+1) -
/// theta_(k-1))/24 + O(h^5): a coning correction as [Miller83] has it for a whole window.

#include "polhode/magnus/scheme.hpp"

POLHODE_NAMESPACE_BEGIN(magnus)

/// Newton's polynomial of the rates at the stamps t_0, t_1, ..., or of the angle at the stamps, of
/// which the increments are the differences.
template <int Samples, bool increments, class T>
struct NewtonPolynomial {
    const T* t;          ///< stamps: Samples, one more for increments
    Vec3<T> c[Samples];  ///< divided differences; of the angle, from the first on

    /// @param table  Samples vectors: rates, or the increments from t_i to t_(i+1)
    POLHODE_INLINE NewtonPolynomial(const T* stamps, const T* table) : t(stamps) {
        POLHODE_UNROLL
        for (int i = 0; i < Samples; ++i) {
            const T width = increments ? t[i + increments] - t[i] : T(1.0);
            c[i] = {table[3 * i] / width, table[3 * i + 1] / width, table[3 * i + 2] / width};
        }
        POLHODE_UNROLL
        for (int level = 1; level < Samples; ++level) {
            POLHODE_UNROLL
            for (int i = Samples - 1; i >= level; --i) {
                c[i] = (1.0 / (t[i + increments] - t[i - level])) * (c[i] - c[i - 1]);
            }
        }
    }

    /// The rate at the time x: Horner's rule, for increments that of the derivative.
    POLHODE_INLINE Vec3<T> rate(const T& x) const {
        Vec3<T> value = c[Samples - 1], slope = value;
        POLHODE_UNROLL
        for (int k = Samples - 2; k >= 0; --k) {
            value = axpy(c[k], x - t[k + increments], value);
            slope = axpy(value, x - t[k], slope);
        }
        return increments ? slope : value;
    }
};

/// dq from `begin` to `end`, two of the stamps.
///
/// @param stamps, table  as for NewtonPolynomial
/// @return  of unit norm within 2 eps.  With an error O(h^(Samples+1)) for rates (Order >=
///          Samples), and O(h^(Samples+2)) for increments with the interval in the middle (Order
///          >= Samples + 1)
template <int Order, int Samples, bool increments, class T>
POLHODE_INLINE Quaternion<T> turn_in_table(const T& begin,
                                           const T& end,
                                           const T* stamps,
                                           const T* table) {
    constexpr quadrature::GaussLegendre rule{Order / 2};
    constexpr int nodes = Order / 2, pairs = rule.pairs();
    T t[Samples + increments];
    POLHODE_UNROLL
    for (int i = 0; i < Samples + increments; ++i) t[i] = stamps[i] - begin;
    const NewtonPolynomial<Samples, increments, T> polynomial(t, table);
    const T h = end - begin;
    T omega[3 * nodes];
    const auto take = [&](int node, const T& x) POLHODE_INLINE_LAMBDA {
        const Vec3<T> w = polynomial.rate(h * x);
        omega[3 * node] = w.x, omega[3 * node + 1] = w.y, omega[3 * node + 2] = w.z;
    };
    POLHODE_UNROLL
    for (int k = 0; k < pairs; ++k) {
        const T distance = quadrature::from_distance<T>(rule.pair(k), [](auto x) { return x; });
        take(pairs - 1 - k, 0.5 - distance);
        take(nodes - pairs + k, 0.5 + distance);
    }
    return turn<Order>(omega, h);
}

POLHODE_NAMESPACE_END

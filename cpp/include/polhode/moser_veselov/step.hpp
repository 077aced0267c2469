#pragma once

/// The discrete Moser-Veselov algorithm (RATTLE for a free body) on quaternions, order 2
/// [Vil13] Algorithm 3; preprocessed, of any even order to 18 [Vil13] Algorithm 4; and the implicit
/// midpoint rule [Vil13] Remark 4.  One kernel for all orders; the order is a number.
///
///     Y = alpha m + Y x e,   e_j = b_j Y_j,   b_j = h / (2 I~_j),   alpha = 1 + |e|^2      (14)
///     m' = m + (2 / alpha) Y x e,   dq = (1, e) / sqrt(alpha)                              (15),
///     (13)
///
/// (14) is quadratic: F(Y - d) = F(Y) - J d + B(d, d) has no further terms.
///
/// On a principal axis it reads sin theta = h |m| / I~_j with e = tan(theta/2): there are two
/// roots, theta and pi - theta, which meet at a quarter turn.  Newton's iteration finds the root
/// near its start, so it starts near the true attitude.  A root that is not near the true attitude
/// is rejected.

#include "polhode/inertia.hpp"
#include "polhode/mat3.hpp"
#include "polhode/moser_veselov/preprocessing_table.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(moser_veselov)

// Step 1 of Algorithm 4.

/// S and h T of h / I~_j = (h / I_j) (1 + S) + h T:
///
///     S = h^2 s3 + h^4 s5 + ... + h^{2p-2} s_{2p-1},   T = h^2 t3 + ... + h^{2p-2} t_{2p-1}
///
/// (the powers of h are not those printed).
template <class T>
struct Preprocessing {
    T S, hT;
};

/// s9 h^8, t9 h^9 ... s_{2p-1}, t_{2p-1} from the table.
template <class T>
[[gnu::noinline]] Preprocessing<T> tabulated(int p, const T (&e)[3], const T& C, const T& hH) {
    T monomial[table::monomials_of[table::largest_half_order - 1]];
    monomial[0] = 1.0;
    for (int n = 1; n < table::monomials_of[p - 1]; ++n) {
        monomial[n] = monomial[table::monomials[n].earlier] * e[table::monomials[n].factor];
    }
    T C_to[table::largest_half_order];
    C_to[0] = 1.0;
    for (int k = 1; k < p; ++k) C_to[k] = C_to[k - 1] * C;

    int term = 0;
    const std::uint8_t* length = table::terms.length.data();
    // s_{2k+1} or t_{2k+1}: homogeneous of degree k in C and H, by Horner's rule in H.
    const auto next_function = [&](int k) {
        const auto coefficient = [=](int n) {
            if constexpr (wider_than_double<T>) {
                return ratio<T>(table::numerator[n],
                                table::denominator[k - table::first_half_order]);
            }
            return T(table::terms.coefficient[n]);
        };
        T sum(0.0);
        for (int b = k; b >= 0; --b) {
            T polynomial(0.0);
            for (const int end = term + *length++; term != end; ++term) {
                polynomial =
                    fma(coefficient(term), monomial[table::terms.monomial[term]], polynomial);
            }
            sum = fma(sum, hH, C_to[k - b] * polynomial);
        }
        return sum;
    };
    Preprocessing<T> r{T(0.0), T(0.0)};
    for (int k = table::first_half_order; k < p; ++k) {
        r.S = r.S + next_function(k);
        r.hT = r.hT + next_function(k);
    }
    return r;
}

/// @param p   half of the order, 1 ... table::largest_half_order
/// @param a   h / I_j, so that all numbers are of size h |m| / I1 in any units
/// @param C   |m|^2 / 2
/// @param H   h times the energy
///
/// The functions are symmetric in the moments.  In the elementary symmetric functions e1, e2, e3 of
/// the 1/I_j they are polynomials ([Vil13] Table 1 has the same in power sums), If every 1/I_j and
/// H is multiplied by h, this accounts exactly for the factor h^{2k} or h^{2k+1}.
template <class T>
POLHODE_INLINE Preprocessing<T> preprocessing(int p, const Vec3<T>& a, const T& C, const T& H) {
    const auto of = [](double n, double d) { return ratio<T>(n, d); };
    const T e1 = a.x + a.y + a.z, e2 = fma(a.x, a.y, (a.x + a.y) * a.z);
    const T e3 = a.x * a.y * a.z;
    // s3, t3
    T S = fma(of(-1, 3) * e1, H, of(1, 6) * (e2 * C));
    T hT = fma(of(1, 6) * e2, H, of(-1, 3) * (e3 * C));
    if (p > 2) {  // s5, t5
        const T e11 = e1 * e1, e12 = e1 * e2, e13 = e1 * e3, e22 = e2 * e2, e23 = e2 * e3;
        const T HH = H * H, CH = C * H, CC = C * C;
        S = fma(fma(of(1, 30), e11, of(-1, 60) * e2), HH, S);
        S = fma(fma(of(-1, 30), e12, of(2, 15) * e3), CH, S);
        S = fma(fma(of(1, 30), e22, of(-1, 10) * e13), CC, S);
        hT = fma(fma(of(-1, 60), e12, of(-1, 10) * e3), HH, hT);
        hT = fma(fma(of(-1, 60), e22, of(2, 15) * e13), CH, hT);
        hT = fma(of(-1, 60) * e23, CC, hT);
        if (p > 3) {  // s7, t7
            const T HHH = H * HH, CHH = C * HH, CCH = C * CH, CCC = C * CC, e33 = e3 * e3;
            S = fma(fma(e1, fma(of(-1, 630), e11, of(1, 630) * e2), of(1, 35) * e3), HHH, S);
            S = fma(fma(e2, fma(of(1, 420), e11, of(41, 2520) * e2), of(-53, 630) * e13), CHH, S);
            S = fma(fma(e1, fma(of(-1, 70), e22, of(11, 210) * e13), of(-1, 84) * e23), CCH, S);
            S = fma(fma(e2, fma(of(17, 2520), e22, of(-11, 420) * e13), of(5, 126) * e33), CCC, S);
            hT = fma(fma(e2, fma(of(1, 1260), e11, of(-13, 1260) * e2), of(1, 42) * e13), HHH, hT);
            hT =
                fma(fma(e1, fma(of(13, 2520), e22, of(-8, 315) * e13), of(11, 252) * e23), CHH, hT);
            hT = fma(fma(e2, of(1, 1260) * (e22 - e13), of(-22, 315) * e33), CCH, hT);
            hT = fma(e3 * fma(of(-19, 2520), e22, of(1, 35) * e13), CCC, hT);
            if (p > 4) {
                const Preprocessing<T> more = tabulated<T>(p, {e1, e2, e3}, C, H);
                S = S + more.S;
                hT = hT + more.hT;
            }
        }
    }
    return {S, hT};
}

/// An estimate of the end of the step: Y and an attitude (w, v) of any norm.
template <class T>
struct Guess {
    Vec3<T> Y;
    T w;
    Vec3<T> v;
};

/// (k1 x2 y3, k2 x3 y1, k3 x1 y2) + the same with x and y exchanged: Euler's equations, polarised.
template <class T>
POLHODE_INLINE Vec3<T> euler(const Vec3<T>& k, const Vec3<T>& x, const Vec3<T>& y) {
    return {k.x * fma(x.y, y.z, x.z * y.y),
            k.y * fma(x.z, y.x, x.x * y.z),
            k.z * fma(x.x, y.y, x.y * y.x)};
}

/// For h |m| / I1 up to about 1.  By (14), (15) Y is alpha times the mean of m and m', which comes
/// from four terms of Taylor's series; alpha = sec^2(theta/2), theta = |h omega| there (its series
/// to theta^8).  Error of Y: 3e-6 |m| at 0.2, 2e-3 |m| at 1.
template <class T>
POLHODE_INLINE Vec3<T> guess_short(const Vec3<T>& a, const Vec3<T>& m, double with_alpha) {
    const Vec3<T> k{a.z - a.y, a.x - a.z, a.y - a.x};
    const Vec3<T> d1{k.x * (m.y * m.z), k.y * (m.z * m.x), k.z * (m.x * m.y)};
    const Vec3<T> d2 = euler(k, d1, m);
    const Vec3<T> d11{k.x * (d1.y * d1.z), k.y * (d1.z * d1.x), k.z * (d1.x * d1.y)};
    const Vec3<T> d3 = euler(k, d2, m) + (d11 + d11);
    const Vec3<T> mean = axpy(axpy(axpy(m, T(1.0 / 12.0), d3), T(0.25), d2), T(0.5), d1);
    const Vec3<T> turn = times(a, mean);
    const T t = with_alpha * dot(turn, turn);
    T alpha = fma(t, 31.0 / 40320.0, T(17.0 / 2880.0));
    alpha = fma(alpha, t, 1.0 / 24.0);
    alpha = fma(alpha, t, 0.25);
    alpha = fma(alpha, t, 1.0);
    return alpha * mean;
}

/// For steps up to a half turn: three classical Runge-Kutta steps for m and q.  Error of the
/// attitude at most 0.01 rad for h |m| / I1 < pi.
template <class T>
[[gnu::noinline]] Guess<T> guess_long(const Vec3<T>& a, const Vec3<T>& m) {
    const Vec3<T> s = ratio<T>(1, 3) * a;
    const Vec3<T> k{s.z - s.y, s.x - s.z, s.y - s.x};
    struct State {
        Vec3<T> m;
        T w;
        Vec3<T> v;
        POLHODE_INLINE State plus(double c, const State& d) const {
            return {m + T(c) * d.m, fma(c, d.w, w), v + T(c) * d.v};
        }
    };
    const auto rate = [&](const State& y) {
        const Vec3<T> half{0.5 * (s.x * y.m.x), 0.5 * (s.y * y.m.y), 0.5 * (s.z * y.m.z)};
        return State{{k.x * (y.m.y * y.m.z), k.y * (y.m.z * y.m.x), k.z * (y.m.x * y.m.y)},
                     -dot(y.v, half),
                     y.w * half + cross(y.v, half)};
    };
    State y{m, T(1.0), {T(0.0), T(0.0), T(0.0)}};
    for (int step = 0; step < 3; ++step) {
        State sum = y;
        State d = rate(y);
        for (int stage = 1; stage < 4; ++stage) {
            sum = sum.plus(stage == 1 ? 1.0 / 6.0 : 1.0 / 3.0, d);
            d = rate(y.plus(stage == 3 ? 1.0 : 0.5, d));
        }
        y = sum.plus(1.0 / 6.0, d);
    }
    const T size = fma(y.w, y.w, dot(y.v, y.v));
    // alpha = 1/w^2; within 0.06 of a half turn it is no longer accurate.
    const T alpha = size / max(y.w * y.w, T(0x1p-10) * size);
    return {(0.5 * alpha) * (m + y.m), y.w, y.v};
}

/// A method of the family, and its step.
struct Kernel {
    int half_order;
    bool midpoint;  ///< alpha = 1 in (14) and in m'

    static constexpr bool may_lack_root() { return true; }

    /// One step of a free body.
    ///
    /// @param as in every step, in sorted axes
    /// @return            NaN where h |m| / I1 >= pi (not the midpoint rule), and where Newton's
    ///                    iteration finds no root or one further than 0.15 rad (orders below 8: 0.6
    ///                    rad) from the true attitude.  Every root conserves energy, |m| and the
    ///                    spatial momentum to rounding errors.  The midpoint rule always has a
    ///                    root, which is found up to h |m| / I1 = 3.  For longer steps it may not
    ///                    be found, or another root may be: for 1e-3 of bodies at 5 and for most at
    ///                    30
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const double with_alpha = midpoint ? 0.0 : 1.0;
        const Vec3<T> a{h * body.inverse_I1, h * body.inverse_I2, h * body.inverse_I3};
        const Vec3<T> mm{m.x * m.x, m.y * m.y, m.z * m.z};
        const T twice_C = mm.x + mm.y + mm.z;

        Vec3<T> b = T(0.5) * a;
        if (half_order > 1) {
            const T hH = 0.5 * fma(a.x, mm.x, fma(a.y, mm.y, a.z * mm.z));
            const Preprocessing<T> r = preprocessing<T>(half_order, a, 0.5 * twice_C, hH);
            const T half_hT = 0.5 * r.hT;
            b = axpy(Vec3<T>{b.x + half_hT, b.y + half_hT, b.z + half_hT}, r.S, b);
        }

        Vec3<T> Y = guess_short(a, m, with_alpha);
        const T hw2 = (a.x * a.x) * twice_C;
        const mask_t<T> allowed = hw2 < (midpoint ? 0x1p60 : pi_squared);
        // From 1 on, order 2 may have no root near the true path, only other roots.
        const double longest = half_order > 1 || midpoint ? short_hw : 1.0 + 4.0 * epsilon_v<T>;
        const mask_t<T> is_long = allowed & (hw2 > longest * longest);
        const bool any_long = any(is_long);
        Guess<T> guess{};  // used only if any_long
        if (any_long) {
            guess = guess_long(a, m);
            Vec3<T> far = guess.Y;
            if (midpoint)
                far = (guess.w * guess.w / fma(guess.w, guess.w, dot(guess.v, guess.v))) * far;
            Y = select<T>(is_long, far, Y);
        }

        // Newton's iteration with a second correction by the same Jacobian: order 3.
        const Vec3<T> D{b.z - b.y, b.x - b.z, b.y - b.x};  // Y x e = (D1 Y2 Y3, ...)
        const Vec3<T> g2{2.0 * with_alpha * b.x, 2.0 * with_alpha * b.y, 2.0 * with_alpha * b.z};
        // The next correction is about as large as the product of the last two.
        constexpr double relative = 0.125 * epsilon_v<T>;
        const T enough = (relative * relative) * (twice_C * twice_C);
        mask_t<T> busy = allowed;
        for (int i = 0; i < most_iterations; ++i) {
            const Vec3<T> e{b.x * Y.x, b.y * Y.y, b.z * Y.z};
            const T alpha = fma(with_alpha, dot(e, e), 1.0);
            const Vec3<T> g{g2.x * e.x, g2.y * e.y, g2.z * e.z};  // gradient of alpha
            const T D1Y2 = D.x * Y.y, D1Y3 = D.x * Y.z, D2Y3 = D.y * Y.z;
            const T D2Y1 = D.y * Y.x, D3Y1 = D.z * Y.x, D3Y2 = D.z * Y.y;
            const Vec3<T> F{fma(-alpha, m.x, fma(-D1Y2, Y.z, Y.x)),
                            fma(-alpha, m.y, fma(-D2Y3, Y.x, Y.y)),
                            fma(-alpha, m.z, fma(-D3Y1, Y.y, Y.z))};
            // Rows of J = 1 - m g^T - d(Y x e)/dY.
            const Vec3<T> J1{fma(-m.x, g.x, 1.0), fma(-m.x, g.y, -D1Y3), fma(-m.x, g.z, -D1Y2)};
            const Vec3<T> J2{fma(-m.y, g.x, -D2Y3), fma(-m.y, g.y, 1.0), fma(-m.y, g.z, -D2Y1)};
            const Vec3<T> J3{fma(-m.z, g.x, -D3Y2), fma(-m.z, g.y, -D3Y1), fma(-m.z, g.z, 1.0)};
            const auto J = Cofactors<T>::of(J1, J2, J3);
            const T inverse_determinant = 1.0 / J.determinant;
            const Vec3<T> d = J.solve(inverse_determinant, F);
            // B(d, d), the remainder of F after the first correction.
            const Vec3<T> bd{b.x * d.x, b.y * d.y, b.z * d.z};
            const T dd = with_alpha * dot(bd, bd);
            const Vec3<T> B{-fma(dd, m.x, (D.x * d.y) * d.z),
                            -fma(dd, m.y, (D.y * d.z) * d.x),
                            -fma(dd, m.z, (D.z * d.x) * d.y)};
            const Vec3<T> d2 = J.solve(inverse_determinant, B);
            Y = select<T>(busy, Y - (d + d2), Y);
            const T d_d = dot(d, d);
            busy = busy & !((d_d * dot(d2, d2) <= enough) & (d_d <= twice_C));
            if (!any(busy)) break;
        }
        const Vec3<T> e{b.x * Y.x, b.y * Y.y, b.z * Y.z};
        const T alpha = 1.0 + dot(e, e);
        // Past 2^128 the determinant may have overflowed, which makes all corrections zero.
        mask_t<T> root = allowed & !busy & (alpha < 0x1p128);
        if (any_long && !midpoint) {
            // cos of half the angle to the guess.
            const T c = guess.w + dot(guess.v, e);
            const T size = alpha * fma(guess.w, guess.w, dot(guess.v, guess.v));
            constexpr double near = 0.9943855;         // cos^2 0.075
            constexpr double fairly_near = 0.9126678;  // cos^2 0.3
            root = root & ((!is_long) |
                           ((c * c >= (half_order < 4 ? fairly_near : near) * size) & (c > 0.0)));
        }
        const T inverse = 1.0 / alpha;
        T scale = sqrt(inverse);
        T twice = 2.0 * (midpoint ? T(1.0) : inverse);
        if (!all(root)) {
            scale = select(root, scale, nan<T>());
            twice = select(root, twice, nan<T>());
        }
        return {{fma(twice * D.x, Y.y * Y.z, m.x),
                 fma(twice * D.y, Y.z * Y.x, m.y),
                 fma(twice * D.z, Y.x * Y.y, m.z)},
                {scale, scale * e.x, scale * e.y, scale * e.z}};
    }

  private:
    static constexpr int most_iterations = 16;
    static constexpr double short_hw = 1.0625;
    static constexpr double pi_squared = 0x1.3bd3cc9be45dep+3;
};

POLHODE_NAMESPACE_END

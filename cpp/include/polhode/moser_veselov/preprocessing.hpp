#pragma once

/// @file
/// Step 1 of the preprocessed discrete Moser-Veselov algorithm, [Vil13] Algorithm 4.

#include "polhode/moser_veselov/preprocessing_table.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/vec3.hpp"

POLHODE_NAMESPACE_BEGIN
namespace moser_veselov {

/// S and h T of h / I~_j = (h / I_j) (1 + S) + h T:
///
///     S = h^2 s3 + h^4 s5 + ... + h^{2p-2} s_{2p-1},   T = h^2 t3 + ... + h^{2p-2} t_{2p-1}
///
/// (the powers of h are not those printed).
template <class T>
struct Preprocessing {
    T S, hT;
};

namespace detail {

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
        const auto coefficient = [k](int n) {
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

}  // namespace detail

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
    const T e1 = a.x + a.y + a.z;
    const T e2 = fma(a.x, a.y, (a.x + a.y) * a.z);
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
                const Preprocessing<T> more = detail::tabulated<T>(p, {e1, e2, e3}, C, H);
                S = S + more.S;
                hT = hT + more.hT;
            }
        }
    }
    return {S, hT};
}

}  // namespace moser_veselov
POLHODE_NAMESPACE_END

#pragma once

/// Carlson's symmetric elliptic integrals R_F, R_C, R_D, R_J  (DLMF 19.16, 19.20).
///
///   R_F(x,y,z)   = 1/2 int_0^inf dt / (s(t)),        s(t) = sqrt((t+x)(t+y)(t+z))
///   R_C(x,y)     = R_F(x,y,y)
///   R_J(x,y,z,p) = 3/2 int_0^inf dt / (s(t) (t+p)),  R_D(x,y,z) = R_J(x,y,z,z)
///
/// Method: duplication [Carlson95], until the series of DLMF 19.19 to degree 11 is accurate to the
/// rounding unit.  These are four degrees more than in DLMF 19.36(i): their multiplications cost
/// less than the square roots of the duplication that they save.  The four functions share one loop
/// (Duplication).  Arguments are scaled by a power of four first, so that arguments from 1e-300 to
/// 1e300, also mixed, cause no overflow or underflow.
///
/// Limits: +inf if two of the first three arguments are zero (R_J with p < 0: -inf), for y = 0 in
/// R_C, z = 0 in R_D, p = 0 in R_J; 0 if an argument is infinite.  NaN if an argument is NaN, or
/// negative where this is not allowed.

#include "polhode/elliptic/carlson_series.hpp"

POLHODE_NAMESPACE_BEGIN(elliptic)
template <class T>
POLHODE_INLINE T largest_of(T x, T y, T z) {
    return max(max(x, y), z);
}
template <class T>
POLHODE_INLINE T smallest_of(T x, T y, T z) {
    return min(min(x, y), z);
}

/// The power of two s with s^2 x near 2^200, x the largest argument.  Then products of three
/// arguments and reciprocals of the smallest ones are in range.
template <class T>
POLHODE_INLINE T root_scale(T largest) {
    const T half_exponent = rint(0.5 * exponent(largest) - 0.25);
    return power_of_two(100.0 - half_exponent);
}

/// Duplication of M arguments; the first three define lambda  [Carlson95] Sec. 2:
///
///   lambda = sqrt(x y) + sqrt(y z) + sqrt(z x),   v -> (v + lambda) / 4  for each argument v.
///
/// Use: do { read root, lambda, v, quarter } while (advance(...)).  A lane whose arguments are
/// close enough does not change while other lanes continue.
template <int M, class T>
struct Duplication {
    T v[M];           ///< the arguments after n duplications
    T root[M];        ///< their square roots
    T mean;           ///< their weighted mean A_n
    T quarter = 1.0;  ///< 4^-n
    mask_t<T> active;
    T spread;  ///< largest |A_0 - v|, over the tolerance

    /// @param scale  power of two: the arguments are multiplied by its square, the roots by it; so
    ///               an argument that underflows still has its root
    /// @param weight integer weights of the mean
    POLHODE_INLINE Duplication(const T (&arguments)[M],
                               T scale,
                               const int (&weight)[M],
                               double tolerance) {
        int weights = 0;
        mean = 0.0;
        for (int i = 0; i < M; ++i) {
            root[i] = sqrt(arguments[i]) * scale;
            v[i] = (arguments[i] * scale) * scale;
            mean = mean + double(weight[i]) * v[i];
            weights += weight[i];
        }
        mean = mean * ratio<T>(1, weights);
        spread = 0.0;
        for (int i = 0; i < M; ++i) spread = max(abs(mean - v[i]), spread);
        spread = spread * (1 / tolerance);
        active = mean == mean;
    }

    POLHODE_INLINE T lambda() const { return fma(root[0], root[1], root[2] * (root[0] + root[1])); }

    /// One duplication of the active lanes; false once no lane needs another.
    /// @param wanted  lanes that need another duplication regardless of their spread
    POLHODE_INLINE bool advance(mask_t<T> wanted) {
        const T shift = lambda();
        for (int i = 0; i < M; ++i) v[i] = select(active, 0.25 * (v[i] + shift), v[i]);
        mean = select(active, 0.25 * (mean + shift), mean);
        quarter = select(active, 0.25 * quarter, quarter);
        active = active & ((spread * quarter > mean) | wanted);
        if (!any(active)) return false;
        for (int i = 0; i < M; ++i) root[i] = sqrt(v[i]);
        return true;
    }
    POLHODE_INLINE bool advance() { return advance(mean != mean); }
};

/// R_F for valid, finite arguments.
template <class T>
T rf_valid(T x, T y, T z) {
    const T scale = root_scale(largest_of(x, y, z));
    Duplication<3, T> d({x, y, z}, scale, {1, 1, 1}, first_kind_tolerance<T>);
    while (d.advance()) {
    }
    return first_kind_series(d.v[0], d.v[1], d.v[2]) * scale;
}

/// Classification of x, y, z: regular if finite, not negative and at most one zero (R_F, R_J).
template <class T>
struct Domain {
    mask_t<T> regular;    ///< in the domain
    mask_t<T> divergent;  ///< two zeros, or other forbidden ones
    mask_t<T> infinite;   ///< one infinite
    POLHODE_INLINE Domain(T x, T y, T z)
        : Domain(x, y, z, (x + y == 0.0) | (y + z == 0.0) | (z + x == 0.0)) {}
    POLHODE_INLINE Domain(T x, T y, T z, const mask_t<T>& zeros) {
        const mask_t<T> signs = (x >= 0.0) & (y >= 0.0) & (z >= 0.0);
        divergent = signs & zeros;
        infinite = signs & (largest_of(x, y, z) == infinity<T>()) & !divergent;
        regular = signs & !divergent & !infinite;
    }
    /// The value for regular arguments, else the limit.
    POLHODE_INLINE T limit(T value, T divergence) const {
        return select(
            regular, value, select(divergent, divergence, select(infinite, T(0.0), nan<T>())));
    }
};

/// R_F and R_J; of arguments times scale^2 also a term of R_J itself, without that factor: it may
/// be so large that with it it would overflow.
template <class T>
struct FirstAndThird {
    T rf;
    T rj;
    T apart = 0.0;
};

/// The start of the angle of rf_rj_positive, and the number whose square root scales its tangent.
template <class T>
struct Angle {
    mask_t<T> given;
    T t;
    T y2;
    T delta;
};

/// R_F(x,y,z) and R_J(x,y,z,p) of one duplication, p > 0; R_F only where it is wanted.
///
/// The integrals split off by the n-th duplication are  6 * 4^-n / d R_C(1, 1 + e),
/// d = (sqrt p + sqrt x)(sqrt p + sqrt y)(sqrt p + sqrt z), e = 64^-n delta / d^2,
/// delta = (p-x)(p-y)(p-z)  [Carlson95] Sec. 2.  [Carlson95] evaluates one R_C
/// per duplication.  Here one is enough, because R_C(1, 1 + tan^2 a) = a / tan a: the sum is 2^n
/// times an angle, stored as t = tan / sqrt(delta_n) and y = 1 + tan^2 with delta_n = 64^-n delta
/// (tanh for delta < 0).  Each duplication adds an angle and halves the sum.  With 1 + e = 2 sqrt p
/// (p + lambda) / d there is no cancellation, even for small p.
///
/// @param start  initial value of the angle: 6 angle / sqrt(delta) is added to R_J of the scaled
///               arguments
/// @param scale  root_scale of the largest argument
template <class T>
FirstAndThird<T> rf_rj_scaled(
    T x, T y, T z, T p, bool with_rf, const Angle<T>& start, const T& scale) {
    Duplication<4, T> s({x, y, z, p}, scale, {1, 1, 1, 2}, third_kind_tolerance<T>);
    T delta = (s.v[3] - s.v[0]) * (s.v[3] - s.v[1]) * (s.v[3] - s.v[2]);
    T t = 0.0, y2 = 1.0, first = 0.0;
    if (any(start.given)) {
        delta = select(start.given, start.delta, delta);
        t = select(start.given, start.t, t);
        y2 = select(start.given, start.y2, y2);
    }
    // The angle is small enough for its series when tan^2 is below this.
    constexpr double small = wider_than_double<T> ? 1e-4 : 0.02;
    do {
        const T rp = s.root[3];
        const T rpx = rp + s.root[0], rpy = rp + s.root[1], rpz = rp + s.root[2];
        const T d = rpx * rpy * rpz;
        const T product = 2.0 * rp * (s.v[3] + s.lambda());  // d (1 + e)
        const T secants = sqrt(y2 * product * d);            // d times both secants
        const T inverse = 1.0 / (secants + (d - delta * t));
        T t_next = 8.0 * fma(t, d, T(1.0)) * inverse, y2_next = 2.0 * secants * inverse;
        // Arguments so far apart that products overflow or underflow: this integral separately.
        const mask_t<T> apart = s.active & (d < 0x1p-250);
        if (any(apart)) {
            const T largest = largest_of(rpx, rpy, rpz), smallest = smallest_of(rpx, rpy, rpz);
            const T middle = max(min(rpx, rpy), min(max(rpx, rpy), rpz));
            const T e1 =
                select(apart,
                       (2.0 * rp / smallest) * ((s.v[3] + s.lambda()) / (largest * middle)),
                       T(1.0));
            const T weight = 6.0 * s.quarter * rf_valid(T(1.0), e1, e1);
            // The largest quotient times the smallest: all are square roots of numbers in range.
            const T inverse_d = ((scale / smallest) * (scale / largest)) * (scale / middle);
            first = select(apart, fma(weight, inverse_d, first), first);
            t_next = select(apart, T(0.0), t_next);
            y2_next = select(apart, T(1.0), y2_next);
        }
        t = select(s.active, t_next, t);
        y2 = select(s.active, y2_next, y2);
        delta = select(s.active, 0x1p-6 * delta, delta);
    } while (s.advance(abs(y2 - 1.0) > small));

    // atan(sqrt e)/sqrt e with e = tan^2 of the remaining angle.
    const T e = 1.0 - y2;
    constexpr int terms = 9;
    T angle = ratio<T>(1, 2 * terms + 1);
    for (int i = terms - 1; i >= 0; --i) angle = fma(e, angle, ratio<T>(1, 2 * i + 1));
    const T rj = s.quarter * (third_kind_series(s.v[0], s.v[1], s.v[2], s.mean) + 6.0 * t * angle);
    T rf = 0.0;
    if (with_rf) rf = first_kind_series(s.v[0], s.v[1], s.v[2]);
    return {rf, rj, first};
}

/// R_F(x,y,z) and R_J(x,y,z,p), p > 0; R_F only where it is wanted.
template <class T>
FirstAndThird<T> rf_rj_positive(T x, T y, T z, T p, bool with_rf) {
    const Angle<T> zero{T(0.0) != T(0.0), T(0.0), T(1.0), T(0.0)};
    const T scale = root_scale(largest_of(x, y, max(z, p)));
    const FirstAndThird<T> r = rf_rj_scaled(x, y, z, p, with_rf, zero, scale);
    return {with_rf ? r.rf * scale : r.rf, r.apart + r.rj * scale * scale * scale};
}

/// R_F(x, y, z).  x, y, z >= 0, at most one of them zero.
/// Error below 4 eps (tests/accuracy/test_elliptic.py).
template <class T>
T rf(T x, T y, T z) {
    const Domain<T> domain(x, y, z);
    const mask_t<T> ok = domain.regular;
    const T value = rf_valid(select(ok, x, T(1.0)), select(ok, y, T(1.0)), select(ok, z, T(1.0)));
    return domain.limit(value, infinity<T>());
}

/// R_C(x, y), x >= 0; for y < 0 the Cauchy principal value  (DLMF 19.2.20).  Error below 4 eps.
template <class T>
T rc(T x, T y) {
    const mask_t<T> principal = (y < 0.0) & (x >= 0.0);
    // If x - y may overflow: R_C(x, y) = R_C(x/4, y/4) / 2.
    const mask_t<T> high = principal & ((x > 0x1p1000) | (y < -0x1p1000));
    const T quarter = select(high, T(0.25), T(1.0));
    x = x * quarter;
    y = y * quarter;
    const T shifted = select(principal, x - y, x);
    const T factor = select(principal, sqrt(x) / sqrt(shifted), T(1.0));
    const T value = select(high, T(0.5), T(1.0)) * rf(shifted, abs(y), abs(y));
    return select(principal & (value == 0.0), T(0.0), factor * value);
}

/// R_D(x, y, z) = R_J(x, y, z, z).  x, y >= 0, at most one of them zero, z > 0.
/// Error below 4 eps.
template <class T>
T rd(T x, T y, T z) {
    const Domain<T> domain(x, y, z, (x + y == 0.0) | (z == 0.0));
    x = select(domain.regular, x, T(1.0)), y = select(domain.regular, y, T(1.0));
    z = select(domain.regular, z, T(1.0));

    const T scale = root_scale(largest_of(x, y, z));
    Duplication<3, T> s({x, y, z}, scale, {1, 1, 3}, third_kind_tolerance<T>);
    // The integrals split off are 3 * 4^-n / (sqrt z (z + lambda))  [Carlson95] Sec. 2.  The
    // first is computed without the scale, with which it may overflow.
    const T back = 1.0 / scale;
    const T first = 3.0 / (s.root[2] * back * (z + s.lambda() * back * back));
    T sum = 0.0;
    while (s.advance()) {
        sum = select(s.active, sum + s.quarter / (s.root[2] * (s.v[2] + s.lambda())), sum);
    }
    const T rest = s.quarter * third_kind_series(s.v[0], s.v[1], s.v[2], s.mean);
    return domain.limit(first + (rest + 3.0 * sum) * scale * scale * scale, infinity<T>());
}

/// R_F(x,y,z) and R_J(x,y,z,p) for valid, finite arguments and p != 0; R_F only where it is wanted.
///
/// If p < 0, or if p is so large that the duplication would be slow, p is replaced by q with (p -
/// a)(q - a) = (b - a)(c - a), a the largest of x, y, z and b, c the others, by DLMF 19.21.12:
///
///   (p - a) R_J(p) + (q - a) R_J(q) = 3 R_F - 3 R_C(b c / a, p q / a).
///
/// p < 0: with the largest as a, R_J(q) and R_F have the same sign, and there is no cancellation
/// when another argument is zero (with the middle one, DLMF 19.20.14, they cancel).  p large: R_F
/// is far larger than the others.  With p q - b c = a (q - b)(q - c) the angle of R_C has the delta
/// of R_J(q): the sum of angles starts at half of it, and R_C needs no evaluation.  |p| > 2^260 a:
/// all terms but R_F are below the rounding error of T, and the products would overflow.
///
/// Differences from a and ratios to it are formed of scaled arguments.  b, c and q may underflow
/// when scaled, so they are also kept as they are.
template <class T>
FirstAndThird<T> rf_rj(T x, T y, T z, T p, bool with_rf) {
    const T hi = largest_of(x, y, z);
    const mask_t<T> beyond = abs(p) > 0x1p260 * hi;
    const mask_t<T> negative = (p < 0.0) & !beyond, large = (p > 64.0 * hi) & !beyond;
    const mask_t<T> exchange = negative | large | beyond;
    if (!any(exchange)) return rf_rj_positive(x, y, z, p, with_rf);

    const T given = p;
    p = select(beyond, hi, p);
    const T lo = smallest_of(x, y, z), mid = max(min(x, y), min(max(x, y), z));
    const T scale = root_scale(max(hi, select(exchange, hi, p)));
    const auto scaled = [&](const T& v) POLHODE_INLINE_LAMBDA { return (v * scale) * scale; };
    const T a = scaled(hi), b = scaled(mid), c = scaled(lo), scaled_p = scaled(p);
    // d = q - a.  The angle needs d != 0; a zero is replaced by a value far below the rounding
    // error of q.
    const T inverse = 1.0 / select(exchange & !beyond, scaled_p - a, T(1.0));
    const T part = (a - c) * inverse;
    T d = (a - b) * part, q = p;
    Angle<T> start{large, T(0.0), T(1.0), T(0.0)};
    if (any(large)) {
        d = select(large, max(d, 0x1p-120 * a), d);
        const T scaled_q = a + d;
        q = select(large, (scaled_q / scale) / scale, q);
        const T root_pq = sqrt(scaled_p * scaled_q), sum = root_pq + sqrt(c * b);
        const T angle = 1.0 / (d * sum);
        start.t = sqrt(a) * angle;
        start.y2 = 2.0 * root_pq * (d * angle);
        start.delta = d * (d + (a - b)) * (d + (a - c));
    }
    // For p < 0 q is a different sum of positive terms.
    if (any(negative)) q = select(negative, (p - lo) * (a * inverse) - mid * part, q);
    const FirstAndThird<T> r = rf_rj_scaled(x, y, z, q, true, start, scale);
    T numerator = fma(-d, r.rj, 3.0 * r.rf);
    T apart = select(exchange, -(d * inverse) * r.apart, r.apart);
    if (any(negative)) {
        // R_C(b c/a, p q/a) = f R_C(f^2 b c/a, f^2 p q/a), f^2 near a/q.
        const T f = power_of_two(rint(0.5 * (exponent(hi) - exponent(q))));
        const T r_c = rc(select(negative, lo * ((mid * f / hi) * f), T(1.0)),
                         select(negative, p * ((q * f / hi) * f), T(1.0)));
        // Where a/q is large R_C is added without the scale, with which it may overflow.
        const mask_t<T> far = negative & (f > 0x1p100);
        numerator = select(negative & !far, numerator - 3.0 * (r_c * (f / scale)), numerator);
        apart = select(far, apart - 3.0 * (r_c * (((f * inverse) * scale) * scale)), apart);
    }
    const T rj = apart + select(exchange, numerator * inverse, r.rj) * scale * scale * scale;
    const T rf = r.rf * scale;
    return {rf, select(beyond, 3.0 * rf / given, rj)};
}

/// R_J(x, y, z, p).  x, y, z >= 0, at most one of them zero; for p < 0 the Cauchy principal value.
/// Error below 8 eps; for p < 0 relative to the largest term of the sum.
template <class T>
T rj(T x, T y, T z, T p) {
    const Domain<T> domain(x, y, z);
    const mask_t<T> number = p == p, zero = p == 0.0, infinite = abs(p) == infinity<T>();
    const mask_t<T> ok = domain.regular & number & !zero & !infinite;
    const T value = rf_rj(select(ok, x, T(1.0)),
                          select(ok, y, T(1.0)),
                          select(ok, z, T(1.0)),
                          select(ok, p, T(1.0)),
                          false)
                        .rj;
    const T limit = domain.limit(select(zero, infinity<T>(), select(infinite, T(0.0), value)),
                                 select(p < 0.0, -infinity<T>(), infinity<T>()));
    return select(number, limit, nan<T>());
}

POLHODE_NAMESPACE_END

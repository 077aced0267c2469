#pragma once

#include "polhode/torque/frame.hpp"

POLHODE_NAMESPACE_BEGIN(torque)

/// The largest sum of absolute values of a row.
template <class T>
POLHODE_INLINE T row_sum(const T* A) {
    const auto of = [A](int i) { return abs(A[i]) + abs(A[i + 1]) + abs(A[i + 2]); };
    return max(max(of(0), of(3)), of(6));
}

/// The exact flow of m' = A m + f over the time s, for any constant matrix A:
///
///     m <- m + (e^(s A) - 1) m + s phi(s A) f,   phi(z) = (e^z - 1)/z
///
/// Both functions are polynomials of degree 2 in z = s A / 2^n: the characteristic polynomial of z
/// (Cayley-Hamilton) reduces higher powers.  n is such that |z| <= 1/2; Taylor polynomials of
/// degree 13 and n doublings, e^2z - 1 = 2 x + x^2 and phi(2 z) = phi(z) + phi(z) x/2 with x = e^z
/// - 1.
///
/// Error: a few eps (1 + |s A|) of |m| + |s f|.  No change for A = 0 and f = 0, bit for bit.
template <class T>
class LinearFlow {
  public:
    /// @param A  row by row
    POLHODE_INLINE static LinearFlow of(const T* A, double s) {
        LinearFlow flow;
        T size = abs(T(s)) * row_sum(A), scale(s);
        int doublings = 0;
        for (; doublings < 60 && any(size > 0.5); ++doublings) {
            const T half = select(size > 0.5, T(0.5), T(1.0));
            size = size * half, scale = scale * half;
        }
        for (int k = 0; k < 9; ++k) flow.z_[k] = scale * A[k];
        flow.s_ = T(s);
        flow.characterise();
        Polynomial phi{T(1.0 / 87178291200.0), T(0.0), T(0.0)};
        double factorial = 87178291200.0;  // 14!
        for (int k = 14; k > 1; --k) {
            factorial /= k;
            phi = flow.by_z(phi);
            phi.c0 = phi.c0 + 1.0 / factorial;
        }
        Polynomial x = flow.by_z(phi);
        for (; doublings > 0; --doublings) {
            // Lanes that need fewer doublings wait for the others.
            const mask_t<T> doubles = scale != s;
            phi = where(doubles, sum(phi, 0.5, flow.product(phi, x)), phi);
            x = where(doubles, sum(flow.product(x, x), 2.0, x), x);
            scale = select(doubles, scale + scale, scale);
        }
        flow.growth_ = x, flow.weight_ = phi;
        return flow;
    }
    POLHODE_INLINE Vec3<T> operator()(const Vec3<T>& m, const Vec3<T>& f) const {
        const Vec3<T> g = s_ * f;
        const auto part = [&](const T& a, const T& b)
                              POLHODE_INLINE_LAMBDA { return axpy(a * m, b, g); };
        const Vec3<T> second = times(z_, part(growth_.c2, weight_.c2));
        const Vec3<T> first = times(z_, part(growth_.c1, weight_.c1) + second);
        return m + (part(growth_.c0, weight_.c0) + first);
    }
    /// A v.
    POLHODE_INLINE static Vec3<T> times(const T* a, const Vec3<T>& v) {
        return {dot({a[0], a[1], a[2]}, v), dot({a[3], a[4], a[5]}, v), dot({a[6], a[7], a[8]}, v)};
    }

  private:
    /// c0 + c1 z + c2 z^2.
    struct Polynomial {
        T c0, c1, c2;
    };
    POLHODE_INLINE static Polynomial sum(const Polynomial& a, double w, const Polynomial& b) {
        return {fma(w, b.c0, a.c0), fma(w, b.c1, a.c1), fma(w, b.c2, a.c2)};
    }
    POLHODE_INLINE static Polynomial where(const mask_t<T>& m,
                                           const Polynomial& a,
                                           const Polynomial& b) {
        return {select(m, a.c0, b.c0), select(m, a.c1, b.c1), select(m, a.c2, b.c2)};
    }
    /// z^3 = trace z^2 - minors z + determinant.
    POLHODE_INLINE void characterise() {
        const T* z = z_;
        const T xx = fma(z[4], z[8], -(z[5] * z[7])), yy = fma(z[3], z[8], -(z[5] * z[6])),
                zz = fma(z[3], z[7], -(z[4] * z[6]));
        trace_ = z[0] + z[4] + z[8];
        minors_ = xx + fma(z[0], z[8], -(z[2] * z[6])) + fma(z[0], z[4], -(z[1] * z[3]));
        determinant_ = fma(z[0], xx, fma(-z[1], yy, z[2] * zz));
    }
    POLHODE_INLINE Polynomial by_z(const Polynomial& a) const {
        return {a.c2 * determinant_, fma(-minors_, a.c2, a.c0), fma(trace_, a.c2, a.c1)};
    }
    POLHODE_INLINE Polynomial product(const Polynomial& a, const Polynomial& b) const {
        const Polynomial zb = by_z(b), zzb = by_z(zb);
        return {fma(a.c0, b.c0, fma(a.c1, zb.c0, a.c2 * zzb.c0)),
                fma(a.c0, b.c1, fma(a.c1, zb.c1, a.c2 * zzb.c1)),
                fma(a.c0, b.c2, fma(a.c1, zb.c2, a.c2 * zzb.c2))};
    }

    T z_[9], s_, trace_, minors_, determinant_;
    Polynomial growth_, weight_;
};

POLHODE_NAMESPACE_END

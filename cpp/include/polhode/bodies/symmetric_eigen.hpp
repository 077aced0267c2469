#pragma once

#include "polhode/mat3.hpp"
#include "polhode/scalar/constants.hpp"

POLHODE_NAMESPACE_BEGIN(bodies)

/// Principal moments and axes of a symmetric 3 by 3 tensor, A = V diag(moments) V^T.
template <class T>
struct PrincipalAxes {
    Vec3<T> moments;
    Mat3<T> axes;  // columns
};

/// The rotation in the plane of axes p and q that makes a_pq zero, if a_pq is not negligible;
/// r is the third axis.  t is the tangent of the angle, at most 45 degrees.
template <class T>
POLHODE_INLINE void jacobi_rotation(
    T& app, T& aqq, T& apq, T& arp, T& arq, Mat3<T>& v, int p, int q) {
    // Negligible relative to sqrt(app aqq), not to the largest entry: then small moments have small
    // relative errors [DV92].  An apq whose square underflows is negligible too.
    const mask_t<T> turn = apq * apq > 0x1p-108 * abs(app * aqq);
    if (!any(turn)) return;
    const T difference = aqq - app;
    const T twice = apq + apq;
    const T root = sqrt(fma(difference, difference, twice * twice));
    const T t = twice / (difference + copysign(root, difference));
    const T c = 1.0 / sqrt(fma(t, t, T(1.0)));
    const T s = t * c;
    app = select(turn, fma(-t, apq, app), app);
    aqq = select(turn, fma(t, apq, aqq), aqq);
    apq = select(turn, T(0.0), apq);
    const T rp = arp, rq = arq;
    arp = select(turn, fma(c, rp, -(s * rq)), rp);
    arq = select(turn, fma(s, rp, c * rq), rq);
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) {
        const T vp = v.a[i][p], vq = v.a[i][q];
        v.a[i][p] = select(turn, fma(c, vp, -(s * vq)), vp);
        v.a[i][q] = select(turn, fma(s, vp, c * vq), vq);
    }
}

/// Among the permutations and signs of the columns of a rotation V, the rotation of least angle
/// (largest trace).
///
/// For columns in the order (i, j, k) the trace is at most |V_0i| + |V_1j| + |V_2k|.  If the signs
/// that reach it make the determinant -1, the smallest of the three terms is subtracted instead.
/// Orders whose traces agree to 1e-12 count as equal: the first in the list below is taken.
template <class T>
POLHODE_INLINE void nearest_columns(Vec3<T>& moments, Mat3<T>& v) {
    constexpr int orders[6][3] = {
        {0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};  // first the even ones
    const T given[3] = {moments.x, moments.y, moments.z};
    const Mat3<T> old = v;
    T best = -2.0;
    T chosen[3] = {given[0], given[1], given[2]};
    POLHODE_UNROLL
    for (int n = 0; n < 6; ++n) {
        const int (&order)[3] = orders[n];
        T sign[3], size[3];
        POLHODE_UNROLL
        for (int k = 0; k < 3; ++k) {
            sign[k] = copysign(T(1.0), old.a[k][order[k]]);
            size[k] = abs(old.a[k][order[k]]);
        }
        const mask_t<T> wrong = sign[0] * sign[1] * sign[2] != (n < 3 ? 1.0 : -1.0);
        const T least = min(min(size[0], size[1]), size[2]);
        const mask_t<T> less[3] = {mask_t<T>(wrong & (size[0] == least)),
                                   mask_t<T>(wrong & (size[0] != least) & (size[1] == least)),
                                   mask_t<T>(wrong & (size[0] != least) & (size[1] != least))};
        const T trace = size[0] + size[1] + size[2] - select(wrong, 2.0 * least, T(0.0));
        const mask_t<T> better = trace > best + 1e-12;
        best = select(better, trace, best);
        POLHODE_UNROLL
        for (int k = 0; k < 3; ++k) {
            sign[k] = select(less[k], -sign[k], sign[k]);
            chosen[k] = select(better, given[order[k]], chosen[k]);
            POLHODE_UNROLL
            for (int i = 0; i < 3; ++i) {
                v.a[i][k] = select(better, sign[k] * old.a[i][order[k]], v.a[i][k]);
            }
        }
    }
    moments = {chosen[0], chosen[1], chosen[2]};
}

/// Principal moments and principal axes, right-handed, of a symmetric tensor.  Among their
/// permutations and signs, the axes are those nearest to the axes of the tensor: the rotation to
/// them has the least angle.
///
/// @param m  symmetric, finite, of any size; only the upper triangle is read.  NaN in gives NaN out
/// @return   moments with an error of at most 4 eps times the largest.  For a positive definite
///           tensor D B D, with D diagonal and B of unit diagonal and well conditioned, each moment
///           has a relative error of at most 8 eps.  Axes are orthonormal within 4 eps,
///           A V = V diag within 8 eps times the largest moment, also for equal and nearly equal
///           moments.  For a diagonal tensor the moments are its entries, in their order, and the
///           axes are those of the tensor, exactly
///           (tests/integration/test_bodies.py)
///
/// Method: cyclic Jacobi, on the tensor divided by a power of two; at the end one Newton-Schulz
/// step removes the rounding error of the product of rotations from the axes.  Cost: three to five
/// sweeps of three rotations, each with two divisions and two square roots.
template <class T>
POLHODE_INLINE PrincipalAxes<T> symmetric_eigen(const Mat3<T>& m) {
    const T largest = max_abs(Vec3<T>{max_abs(Vec3<T>{m.a[0][0], m.a[1][1], m.a[2][2]}),
                                      max_abs(Vec3<T>{m.a[0][1], m.a[0][2], m.a[1][2]}),
                                      T(0.0)});
    const T scale = min(max(power_of_two_below(largest), 0x1p-1020), 0x1p1020);
    const T inverse = power_of_two_reciprocal(scale);
    T a00 = inverse * m.a[0][0], a11 = inverse * m.a[1][1], a22 = inverse * m.a[2][2];
    T a01 = inverse * m.a[0][1], a02 = inverse * m.a[0][2], a12 = inverse * m.a[1][2];
    Mat3<T> v;
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) {
        POLHODE_UNROLL
        for (int j = 0; j < 3; ++j) v.a[i][j] = T(i == j ? 1.0 : 0.0);
    }
    // Convergence is quadratic: five sweeps at most in 8e6 tensors of eight families (random,
    // graded by twelve decades, rods, nearly spheres ...).
    for (int sweep = 0; sweep < 16; ++sweep) {
        const mask_t<T> busy = (a01 * a01 > 0x1p-108 * abs(a00 * a11)) |
                               (a02 * a02 > 0x1p-108 * abs(a00 * a22)) |
                               (a12 * a12 > 0x1p-108 * abs(a11 * a22));
        if (!any(busy)) break;
        jacobi_rotation(a00, a11, a01, a02, a12, v, 0, 1);
        jacobi_rotation(a00, a22, a02, a01, a12, v, 0, 2);
        jacobi_rotation(a11, a22, a12, a01, a02, v, 1, 2);
    }
    Vec3<T> moments = scale * Vec3<T>{a00, a11, a22};
    nearest_columns(moments, v);
    orthogonalize(v, 0.0);
    const mask_t<T> finite = largest < 0x1p1023 * 2.0;
    const T none = nan<T>();
    PrincipalAxes<T> r;
    r.moments = select(finite, moments, Vec3<T>{none, none, none});
    POLHODE_UNROLL
    for (int i = 0; i < 3; ++i) {
        POLHODE_UNROLL
        for (int j = 0; j < 3; ++j) r.axes.a[i][j] = select(finite, 0.0 + v.a[i][j], none);
    }
    return r;
}

POLHODE_NAMESPACE_END

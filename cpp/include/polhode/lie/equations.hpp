#pragma once

/// The implicit equations of the methods in implicit.hpp, and their roots that are connected to the
/// root at h = 0.

#include "polhode/lie/newton.hpp"
#include "polhode/scalar/constants.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN(lie)

/// m x I^-1 m, by differences of 1/I.
template <class T>
POLHODE_INLINE Vec3<T> euler(const Vec3<T>& inverse, const Vec3<T>& m) {
    return {(inverse.z - inverse.y) * (m.y * m.z),
            (inverse.x - inverse.z) * (m.z * m.x),
            (inverse.y - inverse.x) * (m.x * m.y)};
}

/// Functions of theta = |z|: sin/theta, (1 - cos)/theta^2 of the whole angle.
template <class T>
struct Turn {
    T sine, versine;
    SinCos<T> half;  ///< sin(theta/2)/(theta/2), cos(theta/2)
    T y;             ///< theta^2

    POLHODE_INLINE static Turn of(const Vec3<T>& z) {
        Turn t;
        t.y = dot(z, z);
        t.half = cos_sinc_of_root(0.25 * t.y);
        t.sine = t.half.sin * t.half.cos;
        t.versine = 0.5 * (t.half.sin * t.half.sin);
        return t;
    }
    /// exp(-z) p - p: only the change, so that short turns lose no digit of p.
    POLHODE_INLINE Vec3<T> change(const Vec3<T>& z, const Vec3<T>& p) const {
        const Vec3<T> zp = cross(z, p);
        return versine * cross(z, zp) - sine * zp;
    }
    /// (1 - sin/theta)/theta^2; loses digits for short turns, but is accurate enough for
    /// derivatives.
    POLHODE_INLINE T third() const {
        const mask_t<T> short_ = y < small;
        return select(short_, ratio<T>(1, 6), (1.0 - sine) / select(short_, T(1.0), y));
    }
    static constexpr double small = epsilon_v<T> < 0x1p-60 ? 0x1p-56 : 0x1p-26;
};

/// D = dexp^-1(-z): D v = v + z x v/2 + e z x (z x v), e = (1 - (theta/2) cot(theta/2))/theta^2,
/// [Krysl07] eq. (9) and its inverse; singular at a turn by 2 pi.
template <class T>
struct DexpInverse {
    T e, de_dy;

    POLHODE_INLINE static DexpInverse of(const Turn<T>& t) {
        const mask_t<T> short_ = t.y < Turn<T>::small;
        const T inverse_y = 1.0 / select(short_, T(1.0), t.y);
        const T inverse_sinc = 1.0 / t.half.sin;
        const T cot = t.half.cos * inverse_sinc;  // (theta/2) cot(theta/2)
        const T e = select(short_, ratio<T>(1, 12), (1.0 - cot) * inverse_y);
        return {e,
                select(short_,
                       ratio<T>(1, 720),
                       (0.5 * (inverse_sinc * inverse_sinc - cot) * inverse_y - e) * inverse_y)};
    }
    POLHODE_INLINE Vec3<T> times(const Vec3<T>& z, const Vec3<T>& v) const {
        const Vec3<T> zv = cross(z, v);
        return v + (T(0.5) * zv + e * cross(z, zv));
    }
};

/// x = base + slope + x x I^-1 x s, the implicit equation for the momentum.
template <class T>
struct Quadratic {
    Vec3<T> base, slope;  ///< slope: for the whole of s
    Vec3<T> k;            ///< s (1/I3 - 1/I2), ...

    /// The equation at a part of the step.
    POLHODE_INLINE Quadratic part(const T& tau) const { return {base, tau * slope, tau * k}; }
    POLHODE_INLINE Vec3<T> start() const {
        const Vec3<T> c = base + slope;
        return {fma(k.x, c.y * c.z, c.x), fma(k.y, c.z * c.x, c.y), fma(k.z, c.x * c.y, c.z)};
    }
    POLHODE_INLINE Linearised<T> at(const Vec3<T>& x) const {
        const T k1y = k.x * x.y, k1z = k.x * x.z, k2x = k.y * x.x, k2z = k.y * x.z;
        const T k3x = k.z * x.x, k3y = k.z * x.y;
        const Vec3<T> c = base + slope;
        return {{fma(-k1y, x.z, x.x - c.x), fma(-k2z, x.x, x.y - c.y), fma(-k3x, x.y, x.z - c.z)},
                {{T(1.0), -k1z, -k1y}, {-k2z, T(1.0), -k2x}, {-k3y, -k3x, T(1.0)}}};
    }
};

/// z = s D(z) I^-1 (exp(-z) p + exp(-z/2) w + r) + d, the implicit equation for a rotation vector;
/// D = dexp^-1(-z) or 1; p = exp(-y) (m + k).
template <class T>
struct Exponential {
    Vec3<T> a;  ///< s / I
    Vec3<T> p, w, r, d;
    Vec3<T> m, k, y;
    bool any_w, dexp, any_y;

    /// The equation at a part of the step.
    POLHODE_INLINE Exponential part(const T& tau) const {
        Exponential e = *this;
        e.a = tau * a;
        e.w = tau * w;
        e.r = tau * r;
        e.d = tau * d;
        e.p = m + tau * k;
        if (any_y) {
            const Vec3<T> z = tau * y;
            e.p = e.p + Turn<T>::of(z).change(z, e.p);
        }
        return e;
    }
    POLHODE_INLINE Vec3<T> start() const { return d + times(a, p + w + r); }
    POLHODE_INLINE Linearised<T> at(const Vec3<T>& z) const {
        const Turn<T> t = Turn<T>::of(z);
        const Vec3<T> g = p + t.change(z, p);
        Vec3<T> u = g + r;
        Vec3<T> M[3];
        derivative_of_rotated(t, z, g, M);
        if (any_w) {
            const Vec3<T> half_z = T(0.5) * z;
            const Turn<T> half = Turn<T>::of(half_z);
            const Vec3<T> gw = w + half.change(half_z, w);
            u = u + gw;
            Vec3<T> N[3];
            derivative_of_rotated(half, half_z, gw, N);
            for (int j = 0; j < 3; ++j) M[j] = M[j] + T(0.5) * N[j];
        }
        Vec3<T> v = times(a, u);
        M[0] = a.x * M[0];
        M[1] = a.y * M[1];
        M[2] = a.z * M[2];
        if (dexp) with_dexp(t, z, v, M);
        return {z - d - v,
                {{1.0 - M[0].x, -M[0].y, -M[0].z},
                 {-M[1].x, 1.0 - M[1].y, -M[1].z},
                 {-M[2].x, -M[2].y, 1.0 - M[2].z}}};
    }
    /// M of g = exp(-z) p: hat(g) dexp(-z), dexp(-z) = 1 - versine Z + third Z^2, Z = hat(z),
    /// Z^2 = z z^T - y.
    POLHODE_INLINE static void derivative_of_rotated(const Turn<T>& t,
                                                     const Vec3<T>& z,
                                                     const Vec3<T>& g,
                                                     Vec3<T> (&M)[3]) {
        const T third = t.third();
        const T c = t.versine;  // of -hat(g) Z = (g.z) - z g^T
        const Vec3<T> gz = cross(g, z);
        const T gz0 = c * dot(g, z);
        const Vec3<T> h = fma(-third, t.y, T(1.0)) * g;  // hat(h) is the antisymmetric part
        // M = hat(h) + gz0 - c z g^T + third (g x z) z^T
        const auto entry =
            [&](const T& zi, const T& gzi, const T& gj, const T& zj)
                POLHODE_INLINE_LAMBDA { return fma(third * gzi, zj, -(c * zi) * gj); };
        M[0] = {entry(z.x, gz.x, g.x, z.x) + gz0,
                entry(z.x, gz.x, g.y, z.y) - h.z,
                entry(z.x, gz.x, g.z, z.z) + h.y};
        M[1] = {entry(z.y, gz.y, g.x, z.x) + h.z,
                entry(z.y, gz.y, g.y, z.y) + gz0,
                entry(z.y, gz.y, g.z, z.z) - h.x};
        M[2] = {entry(z.z, gz.z, g.x, z.x) - h.y,
                entry(z.z, gz.z, g.y, z.y) + h.x,
                entry(z.z, gz.z, g.z, z.z) + gz0};
    }
    /// v := D v, M := D M + (dD) v.
    POLHODE_INLINE static void with_dexp(const Turn<T>& t,
                                         const Vec3<T>& z,
                                         Vec3<T>& v,
                                         Vec3<T> (&M)[3]) {
        const auto D = DexpInverse<T>::of(t);
        const Vec3<T> zv = cross(z, v), zzv = cross(z, zv);
        // Column by column; the change of D: d x v/2 + e (d x (z x v) + z x (d x v)) + 2 de/dy
        // (z.d) z x (z x v).
        Vec3<T> columns[3];
        for (int j = 0; j < 3; ++j) {
            const auto of = [j](const Vec3<T>& x) POLHODE_INLINE_LAMBDA {
                return j == 0 ? x.x : j == 1 ? x.y : x.z;
            };
            const Vec3<T> unit{T(j == 0 ? 1.0 : 0.0), T(j == 1 ? 1.0 : 0.0), T(j == 2 ? 1.0 : 0.0)};
            const Vec3<T> column{of(M[0]), of(M[1]), of(M[2])};
            const Vec3<T> uv = cross(unit, v);
            columns[j] = D.times(z, column) +
                         (T(0.5) * uv + D.e * (cross(unit, zv) + cross(z, uv))) +
                         ((2.0 * D.de_dy) * of(z)) * zzv;
        }
        v = D.times(z, v);
        M[0] = {columns[0].x, columns[1].x, columns[2].x};
        M[1] = {columns[0].y, columns[1].y, columns[2].y};
        M[2] = {columns[0].z, columns[1].z, columns[2].z};
    }
};

/// The root that was found, and the number of parts of the step that were tried.
template <class T>
struct Followed {
    mask_t<T> found;
    T tried;
};

/// The root that is connected to the root at h = 0.  It is followed over parts of the step; each
/// part starts from the root before.
template <class T, class Problem>
[[gnu::noinline]] Followed<T> follow(const Problem& problem,
                                     const mask_t<T>& wanted,
                                     const T& size,
                                     const StopRequest* stop,
                                     Vec3<T>& x) {
    PathLength<T> path(wanted, size);
    Vec3<T> here = problem.part(T(0.0)).start();
    while (any(path.busy) && !is_stopped(stop)) {
        Vec3<T> there = here;
        const mask_t<T> found = path.next(
            newton<T>(problem.part(path.done + path.part), path.busy, path.shrink, there));
        here = select<T>(found, there, here);
    }
    x = select<T>(path.arrived, here, x);
    return {path.arrived, path.tried};
}

/// The root of a problem.
///
/// @param size  estimate of the rotation in the step (radians) or of |change of m| / |m|
template <class T, class Problem>
POLHODE_INLINE Followed<T> solve(const Problem& problem,
                                 const T& size,
                                 const StopRequest* stop,
                                 Vec3<T>& x) {
    x = problem.start();
    const Vec3<T> first = x;
    mask_t<T> found = newton<T>(problem, size < short_step, direct_shrink, x).found;
    T tried(0.0);
    const Vec3<T> moved = x - first;
    // A root near the first guess.  If the iteration contracts, it is the only one.
    found = found & (dot(moved, moved) <= near_by * dot(first, first));
    mask_t<T> far = (!found) & (size < endless);
    if (any(far)) {
        const Vec3<T> F = problem.at(first).F;
        const mask_t<T> stays = far & (dot(F, F) <= no_defect<T> * dot(first, first));
        x = select<T>(stays, first, x);
        found = found | stays;
        far = far & !stays;
        Vec3<T> followed = x;
        const Followed<T> path = follow<T>(problem, far, size, stop, followed);
        x = select<T>(path.found, followed, x);
        found = found | path.found;
        tried = path.tried;
    }
    return {found, tried};
}

POLHODE_NAMESPACE_END

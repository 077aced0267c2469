#pragma once

/// @file Krysl's implicit methods for a body with torque, [Krysl07]: one kernel for all methods,
/// which are described by data.
///
/// With omega = m / I, f the torque, s = h/2, subscripts 0 and 1 for the start and the end of the
/// step, and with the misprints of the equations corrected (REFERENCES.md):
///
///     trap       m1 = m0 + s (m0 x w0 + f0 + m1 x w1 + f1)       R1 = R0 exp(s w0) exp(s w1)
///     imid       mb = m0 + s (mb x wb + fb), m1 = 2 mb - m0      R1 = R0 exp(h wb)
///     akw        mb = (m0 + m1)/2, m1 = m0 + h mb x wb + s (f0 + f1)   R1 = R0 cay(h wb)
///     trapm      m1 = R1^T R0 (m0 + s f0) + s f1                 R1 as trap
///     imidm      m1 = exp(-P) m0 + h exp(-P/2) fb, P = h I^-1 (exp(-P/2) m0 + s fb)
///     swc1       m1 = exp(-P) m0 + h exp(-P/2) fb, P = s (w0 + w1)
///     bbtrap     m1 = exp(-P) (m0 + s f0) + s f1,  P = s (w0 + w1)
///     bbtrapwd   m1 as bbtrap,                     P = s (w0 + dexp^-1(-P) w1)
///     Euler      forward: m1 = exp(-h w0) (m0 + h f0)            R1 = R0 exp(h w0)
///                backward: m1 = exp(-h w1) m0 + h f1             R1 = R0 exp(h w1)
///                in the rates: m1 = m0 + h (m x w + f) at the old or the new end
///
/// (R1 = R0 exp(P) where not given.)  fb is the torque at the middle, R0 exp(h wb/2) or R0 exp(P/2)
/// and time t + s.  Methods that are implicit in the momentum solve a quadratic equation, methods
/// that are implicit in a rotation vector solve another equation.  Both are solved by Newton's
/// iteration for known torques.  An equation can have several solutions.  The right one is
/// connected to the solution at h = 0.

#include "polhode/inertia.hpp"
#include "polhode/lie/newton.hpp"
#include "polhode/method_info.hpp"
#include "polhode/rotation_step.hpp"
#include "polhode/scalar/sincos.hpp"

POLHODE_NAMESPACE_BEGIN
namespace lie {

enum class Scheme : int {
    euler_forward,
    euler_backward,
    euler_forward_rate,
    euler_backward_rate,
    trap,
    imid,
    trapm,
    imidm,
    swc1,
    akw,
    bbtrap,
    bbtrapwd
};

/// Where a scheme evaluates the torque, in addition to the start.
constexpr bool wants_torque_at_middle(Scheme s) {
    return s == Scheme::imid || s == Scheme::imidm || s == Scheme::swc1;
}
constexpr bool wants_torque_at_end(Scheme s) {
    return !wants_torque_at_middle(s) && s != Scheme::euler_forward &&
           s != Scheme::euler_forward_rate;
}

namespace detail {

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
        using polhode::select;
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
        using polhode::select;
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

/// exp(-z) p.
template <class T>
POLHODE_INLINE Vec3<T> turned_back(const Vec3<T>& z, const Vec3<T>& p) {
    return p + Turn<T>::of(z).change(z, p);
}

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
        if (any_y) e.p = turned_back(tau * y, e.p);
        return e;
    }
    POLHODE_INLINE Vec3<T> start() const { return d + times(a, p + w + r); }
    POLHODE_INLINE Linearised<T> at(const Vec3<T>& z) const {
        const Turn<T> t = Turn<T>::of(z);
        const Vec3<T> g = p + t.change(z, p);
        Vec3<T> u = g + r;
        Vec3<T> M[3];
        derivative_of_turned(t, z, g, M);
        if (any_w) {
            const Vec3<T> half_z = T(0.5) * z;
            const Turn<T> half = Turn<T>::of(half_z);
            const Vec3<T> gw = w + half.change(half_z, w);
            u = u + gw;
            Vec3<T> N[3];
            derivative_of_turned(half, half_z, gw, N);
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
    POLHODE_INLINE static void derivative_of_turned(const Turn<T>& t,
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
        const Vec3<T> zv = cross(z, v);
        const Vec3<T> zzv = cross(z, zv);
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
    using polhode::select;
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
    using polhode::select;
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

}  // namespace detail

/// The result of a step of one of the schemes, for given torques.
template <class T>
struct ImplicitStep {
    FreeStep<T> end;
    FreeStep<T> middle;  ///< where midpoint schemes evaluate the torque
    T tried;             ///< parts of the step that were tried; 0: the direct solution converged
};

/// One step.
///
/// @param inverse  1/I, along any axes
/// @param m        momentum along these axes, size about 1
/// @param f0       torque at the start
/// @param f        torque at the middle or the end.  It is held fixed; the caller iterates until it
///                 converges
/// @param stop     checked during long searches for a root
/// @return         NaN where no root is connected to the root at h = 0, or where it was not found
///                 within `most_parts` parts
template <class T>
POLHODE_INLINE ImplicitStep<T> implicit_step(Scheme scheme,
                                             const Vec3<T>& inverse,
                                             const Vec3<T>& m,
                                             T h,
                                             const Vec3<T>& f0,
                                             const Vec3<T>& f,
                                             const StopRequest* stop = nullptr) {
    const T half = 0.5 * h;
    const Vec3<T> w0 = times(inverse, m);
    ImplicitStep<T> r;
    detail::Followed<T> root{h == h, T(0.0)};
    if (scheme == Scheme::euler_forward || scheme == Scheme::euler_forward_rate) {
        const Vec3<T> turn = h * w0;
        r.end.dq = quaternion_exp(turn);
        if (scheme == Scheme::euler_forward) {
            const Vec3<T> p = m + h * f0;
            r.end.m = m + (h * f0 + detail::Turn<T>::of(turn).change(turn, p));
        } else {
            r.end.m = m + h * (detail::euler(inverse, m) + f0);
        }
    } else if (scheme == Scheme::trap || scheme == Scheme::imid || scheme == Scheme::akw ||
               scheme == Scheme::euler_backward_rate) {
        const T s = scheme == Scheme::euler_backward_rate ? h : half;
        Vec3<T> slope = f;
        if (scheme == Scheme::trap) slope = detail::euler(inverse, m) + (f0 + f);
        if (scheme == Scheme::akw) slope = T(0.5) * (f0 + f);
        const detail::Quadratic<T> problem{m,
                                           s * slope,
                                           {s * (inverse.z - inverse.y),
                                            s * (inverse.x - inverse.z),
                                            s * (inverse.y - inverse.x)}};
        const T size = largest_component(problem.k) * largest_component(m + problem.slope);
        Vec3<T> x;
        root = detail::solve<T>(problem, size, stop, x);
        const Vec3<T> wx = times(inverse, x);
        const Vec3<T> rate = detail::euler(inverse, x);
        if (scheme == Scheme::trap) {
            r.end.m = m + s * (slope + rate);
            r.end.dq = quaternion_exp(s * w0) * quaternion_exp(s * wx);
        } else if (scheme == Scheme::akw) {
            r.end.m = m + h * (rate + slope);
            const Vec3<T> v = s * wx;
            const T inverse_size = 1.0 / sqrt(1.0 + dot(v, v));
            r.end.dq = {inverse_size, inverse_size * v.x, inverse_size * v.y, inverse_size * v.z};
        } else {
            r.end.m = m + h * (rate + slope);
            r.end.dq = quaternion_exp(h * wx);
            r.middle = {x, quaternion_exp(half * wx)};
        }
    } else {
        const Vec3<T> zero{T(0.0), T(0.0), T(0.0)};
        const bool swc1 = scheme == Scheme::swc1;
        const bool blended = scheme == Scheme::bbtrap || scheme == Scheme::bbtrapwd;
        const T s = scheme == Scheme::euler_backward ? h : half;
        const bool trapm = scheme == Scheme::trapm;
        const Vec3<T> turn0 = s * w0;
        const Vec3<T> kick0 = trapm || blended ? s * f0 : zero;
        Vec3<T> change0 = kick0;  // p = m + change0
        if (trapm) change0 = kick0 + detail::Turn<T>::of(turn0).change(turn0, m + kick0);
        const Vec3<T> p = m + change0;
        const Vec3<T> kick = s * f;
        const detail::Exponential<T> problem{s * inverse,
                                             p,
                                             swc1 ? h * f : zero,
                                             swc1 ? zero : kick,
                                             swc1 || blended ? turn0 : zero,
                                             m,
                                             kick0,
                                             trapm ? turn0 : zero,
                                             swc1,
                                             scheme == Scheme::bbtrapwd,
                                             trapm};
        Vec3<T> z;
        const T size = largest_component(problem.start());
        root = detail::solve<T>(problem, size, stop, z);
        const detail::Turn<T> turn = detail::Turn<T>::of(z);
        const Vec3<T> back = change0 + turn.change(z, p);  // exp(-z) p = m + back
        if (scheme == Scheme::imidm) {
            const Vec3<T> middle = m + (back + kick);
            const Vec3<T> pushed = m + (back + (kick + kick));
            r.end.m = m + ((back + (kick + kick)) + turn.change(z, pushed));
            r.end.dq = quaternion_exp(z + z);
            r.middle = {middle, quaternion_exp(z)};
        } else if (swc1) {
            const Vec3<T> half_z = T(0.5) * z;
            const detail::Turn<T> half_turn = detail::Turn<T>::of(half_z);
            const Vec3<T> push = h * f;
            r.end.m = m + (back + (push + half_turn.change(half_z, push)));
            r.end.dq = quaternion_exp(z);
            r.middle = {m + (half_turn.change(half_z, m) + half * f), quaternion_exp(half_z)};
        } else {
            r.end.m = m + (back + kick);
            r.end.dq = quaternion_exp(z);
            if (trapm) r.end.dq = quaternion_exp(turn0) * r.end.dq;
        }
    }
    r.tried = root.tried;
    if (!all(root.found)) {
        const T lost = select(root.found, T(1.0), nan<T>());
        r.end.m = lost * r.end.m;
        r.end.dq = lost * r.end.dq;
    }
    return r;
}

inline constexpr Option form_option{
    "form",
    "choice",
    0,
    "'momentum' 'rate'",
    "'momentum' steps the momentum in space, 'rate' m' = m x omega as it stands"};

/// Of Euler's methods, whose options are the form and the correction.
constexpr const char* euler_contradiction(const OptionValues& options) {
    return options.value[0] == 1 && options.value[1] != 0
               ? "energy_correction turns the body, which keeps the momentum in space; form='rate' "
                 "does not keep it"
               : nullptr;
}

/// A method of the family as a kernel of a free body.
struct Kernel {
    Scheme scheme;
    const StopRequest* stop = nullptr;
    constexpr bool may_lack_root() const {
        return scheme != Scheme::euler_forward && scheme != Scheme::euler_forward_rate;
    }

    /// The first option of Euler's methods is `form_option`.
    static constexpr Kernel of(Scheme scheme, const OptionValues& options) {
        const bool rate = options.value[0] == 1;
        if (rate && scheme == Scheme::euler_forward) scheme = Scheme::euler_forward_rate;
        if (rate && scheme == Scheme::euler_backward) scheme = Scheme::euler_backward_rate;
        return {scheme, options.stop};
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const Vec3<T> none{T(0.0), T(0.0), T(0.0)};
        const Vec3<T> inverse{body.inverse_I1, body.inverse_I2, body.inverse_I3};
        return implicit_step<T>(scheme, inverse, m, h, none, none, stop).end;
    }
};

}  // namespace lie
POLHODE_NAMESPACE_END

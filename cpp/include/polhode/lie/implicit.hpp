#pragma once

/// Krysl's implicit methods for a body with torque, [Krysl07]: one kernel for all methods,
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
#include "polhode/lie/equations.hpp"
#include "polhode/method_info.hpp"
#include "polhode/rotation_step.hpp"

POLHODE_NAMESPACE_BEGIN(lie)

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
constexpr bool evaluates_torque_at_middle(Scheme s) {
    return s == Scheme::imid || s == Scheme::imidm || s == Scheme::swc1;
}
constexpr bool evaluates_torque_at_end(Scheme s) {
    return !evaluates_torque_at_middle(s) && s != Scheme::euler_forward &&
           s != Scheme::euler_forward_rate;
}

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
    Followed<T> root{h == h, T(0.0)};
    if (scheme == Scheme::euler_forward || scheme == Scheme::euler_forward_rate) {
        const Vec3<T> turn = h * w0;
        r.end.dq = quaternion_exp(turn);
        if (scheme == Scheme::euler_forward) {
            const Vec3<T> p = m + h * f0;
            r.end.m = m + (h * f0 + Turn<T>::of(turn).change(turn, p));
        } else {
            r.end.m = m + h * (euler(inverse, m) + f0);
        }
    } else if (scheme == Scheme::trap || scheme == Scheme::imid || scheme == Scheme::akw ||
               scheme == Scheme::euler_backward_rate) {
        const T s = scheme == Scheme::euler_backward_rate ? h : half;
        Vec3<T> slope = f;
        if (scheme == Scheme::trap) slope = euler(inverse, m) + (f0 + f);
        if (scheme == Scheme::akw) slope = T(0.5) * (f0 + f);
        const Quadratic<T> problem{m,
                                   s * slope,
                                   {s * (inverse.z - inverse.y),
                                    s * (inverse.x - inverse.z),
                                    s * (inverse.y - inverse.x)}};
        const T size = largest_component(problem.k) * largest_component(m + problem.slope);
        Vec3<T> x;
        root = solve<T>(problem, size, stop, x);
        const Vec3<T> wx = times(inverse, x), rate = euler(inverse, x);
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
        if (trapm) change0 = kick0 + Turn<T>::of(turn0).change(turn0, m + kick0);
        const Vec3<T> p = m + change0, kick = s * f;
        const Exponential<T> problem{s * inverse,
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
        root = solve<T>(problem, size, stop, z);
        const Turn<T> turn = Turn<T>::of(z);
        const Vec3<T> back = change0 + turn.change(z, p);  // exp(-z) p = m + back
        if (scheme == Scheme::imidm) {
            const Vec3<T> middle = m + (back + kick);
            const Vec3<T> pushed = m + (back + (kick + kick));
            r.end.m = m + ((back + (kick + kick)) + turn.change(z, pushed));
            r.end.dq = quaternion_exp(z + z);
            r.middle = {middle, quaternion_exp(z)};
        } else if (swc1) {
            const Vec3<T> half_z = T(0.5) * z;
            const Turn<T> half_turn = Turn<T>::of(half_z);
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
    static constexpr bool any_layout = true;
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

POLHODE_NAMESPACE_END

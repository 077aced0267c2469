#pragma once

/// Runge-Kutta methods of Munthe-Kaas, [MK98] in the form of [Krysl07] Sec. 3.7: any Butcher
/// tableau, explicit or implicit, applied to the rotation vector of the step.
///
/// With omega_j = I^-1 m_j, f_j the torque at time t + c_j h, all in the body frame in stage j,
///
///     P_k = sum_j a_kj K_j,   K_j = h dexp^-1(-P_j) omega_j,      R_k = R0 exp(P_k)
///     m_k = exp(-P_k) (m0 + h sum_j a_kj F_j),   F_j = exp(P_j) f_j
///
/// and the same with b in place of a_k for the end of the step, so that the momentum in space is
/// conserved without a torque.  The method has the order of its tableau.

#include <memory>

#include "polhode/lie/implicit.hpp"

POLHODE_NAMESPACE_BEGIN(lie)

/// A Butcher tableau, as one array of numbers: s, a (s rows of s), b, c.
struct Tableau {
    static constexpr int most_explicit = OptionValues::most_stages,
                         most_implicit = OptionValues::most_implicit_stages;
    int stages;
    bool implicit;  ///< some a_kj with j >= k is not 0
    const double *a, *b, *c;

    static constexpr Tableau of(const double* data) {
        const int s = static_cast<int>(data[0]);
        const double* a = data + 1;
        bool implicit = false;
        for (int k = 0; k < s; ++k) {
            for (int j = k; j < s; ++j) implicit = implicit || a[k * s + j] != 0;
        }
        return {s, implicit, a, a + s * s, a + s * s + s};
    }
    constexpr const double* row(int k) const { return k < stages ? a + k * stages : b; }
};

/// Classical, order 4.
inline constexpr double rkmk4_tableau[] = {4,       0,       0,       0, 0,   0.5, 0, 0, 0,
                                           0,       0.5,     0,       0, 0,   0,   1, 0, 1 / 6.0,
                                           1 / 3.0, 1 / 3.0, 1 / 6.0, 0, 0.5, 0.5, 1};
/// Explicit midpoint rule, order 2.
inline constexpr double rkmk_midpoint_tableau[] = {2, 0, 0, 0.5, 0, 0, 1, 0, 0.5};
/// Gauss's rules of one and two stages, orders 2 and 4.
inline constexpr double rkmk_gauss2_tableau[] = {1, 0.5, 1, 0.5};
inline constexpr double sqrt3_6 = 0x1.279a74590331cp-2;
inline constexpr double rkmk_gauss4_tableau[] = {
    2, 0.25, 0.25 - sqrt3_6, 0.25 + sqrt3_6, 0.25, 0.5, 0.5, 0.5 - sqrt3_6, 0.5 + sqrt3_6};

/// dexp^-1(-z) v, t the turn of z.
template <class T>
POLHODE_INLINE Vec3<T> dexp_inverse(const Turn<T>& t, const Vec3<T>& z, const Vec3<T>& v) {
    return DexpInverse<T>::of(t).times(z, v);
}

/// sum_j weight_j v_j, j < n.
template <class T>
POLHODE_INLINE Vec3<T> weighted(const double* weight, const Vec3<T>* v, int n) {
    Vec3<T> r{T(0.0), T(0.0), T(0.0)};
    for (int j = 0; j < n; ++j) {
        if (weight[j] != 0) r = axpy(r, T(weight[j]), v[j]);
    }
    return r;
}

/// The stages K_j of an implicit tableau for given momenta L_j = m0 + h sum a_jl F_l.
/// @tparam Known  number of stages, so that the compiler unrolls loops over them; 0: read from the
///                tableau
template <class T, int Known>
struct ImplicitStages {
    static constexpr int most = Known > 0 ? Known : Tableau::most_implicit;
    using Row = T[3 * most + 1];
    const Tableau& tableau;
    Vec3<T> a;  ///< h / I
    const Vec3<T>* L;
    const StopRequest* stop;
    /// Room for 3 `most` rows where Known = 0: 77 KB, which may exceed a thread's stack.
    Row* room = nullptr;

    POLHODE_INLINE int stages() const { return Known > 0 ? Known : tableau.stages; }
    POLHODE_INLINE Vec3<T> at_rest(int j) const { return times(a, L[j]); }
    /// The squared defect of the equations for zero slopes.
    POLHODE_INLINE T defect_at_rest() const {
        Vec3<T> K[most];
        for (int j = 0; j < stages(); ++j) K[j] = at_rest(j);
        T sum(0.0);
        for (int j = 0; j < stages(); ++j) {
            const Vec3<T> P = weighted(tableau.row(j), K, stages());
            const Turn<T> turn = Turn<T>::of(P);
            const Vec3<T> d = K[j] - dexp_inverse(turn, P, times(a, L[j] + turn.change(P, L[j])));
            sum = sum + dot(d, d);
        }
        return sum;
    }

    /// Newton's iteration at a part of the step, from K, in the lanes `wanted`; see newton.hpp.
    POLHODE_INLINE Root<T> newton(const mask_t<T>& wanted,
                                  const T& tau,
                                  double shrink,
                                  Vec3<T>* K) const {
        const int s = stages(), n = 3 * s;
        const Vec3<T> none{T(0.0), T(0.0), T(0.0)};
        const auto of = [](const Vec3<T>& x, int i) POLHODE_INLINE_LAMBDA {
            return i == 0 ? x.x : i == 1 ? x.y : x.z;
        };
        Convergence<T> state{wanted, shrink};
        Row own[Known > 0 ? 3 * most : 1];
        Row* const J = Known > 0 ? own : room;
        for (int i = 0; i < most_iterations; ++i) {
            // K_j - v_j(P_j) and its derivative, 1 - a_jl dv_j/dP_j.
            for (int j = 0; j < s; ++j) {
                const Vec3<T> P = weighted(tableau.row(j), K, s);
                const Linearised<T> f =
                    Exponential<T>{
                        tau * a, L[j], none, none, P, L[j], none, none, false, true, false}
                        .at(P);
                const Vec3<T> defect = K[j] + f.F;
                for (int r = 0; r < 3; ++r) {
                    const T diagonal[3] = {
                        T(r == 0 ? 1.0 : 0.0), T(r == 1 ? 1.0 : 0.0), T(r == 2 ? 1.0 : 0.0)};
                    for (int l = 0; l < s; ++l) {
                        const T weight(tableau.a[j * s + l]);
                        for (int c = 0; c < 3; ++c) {
                            const T M = diagonal[c] - of(f.row[r], c);
                            J[3 * j + r][3 * l + c] = (j == l ? diagonal[c] : T(0.0)) - weight * M;
                        }
                    }
                    J[3 * j + r][n] = of(defect, r);
                }
            }
            // Elimination; the product of the pivots is the determinant.
            T determinant(1.0);
            for (int p = 0; p < n; ++p) {
                determinant = determinant * J[p][p];
                const T inverse = 1.0 / J[p][p];
                for (int c = p + 1; c <= n; ++c) J[p][c] = J[p][c] * inverse;
                for (int r = p + 1; r < n; ++r) {
                    for (int c = p + 1; c <= n; ++c) J[r][c] = fma(-J[r][p], J[p][c], J[r][c]);
                }
            }
            for (int p = n - 1; p >= 0; --p) {
                for (int c = p + 1; c < n; ++c) J[p][n] = fma(-J[p][c], J[c][n], J[p][n]);
            }
            T moved(0.0), size(0.0);
            for (int j = 0; j < s; ++j) {
                const Vec3<T> d{J[3 * j][n], J[3 * j + 1][n], J[3 * j + 2][n]};
                const Vec3<T> next = K[j] - d;
                moved = moved + dot(d, d);
                size = size + dot(next, next);
                K[j] = select<T>(state.busy, next, K[j]);
            }
            state.judge(determinant, moved, size);
            if (!any(state.busy)) break;
        }
        return state.root;
    }

    /// As solve() in implicit.hpp: for a short step the root near the first guess, else the root
    /// that is connected to the root at h = 0.
    Followed<T> solve(const mask_t<T>& wanted, Vec3<T>* K) const {
        if (is_stopped(stop)) return {mask_t<T>(wanted & !wanted), T(0.0)};
        const int s = stages();
        T size(0.0);
        for (int j = 0; j < s; ++j) {
            K[j] = at_rest(j);
            size = max(size, largest_component(K[j]));
        }
        mask_t<T> found = newton(wanted & (size < short_step), T(1.0), direct_shrink, K).found;
        T moved(0.0), whole(0.0), tried(0.0);
        for (int j = 0; j < s; ++j) {
            const Vec3<T> first = at_rest(j), d = K[j] - first;
            moved = moved + dot(d, d);
            whole = whole + dot(first, first);
        }
        found = found & (moved <= near_by * whole);
        mask_t<T> far = wanted & (!found) & (size < endless);
        if (any(far)) {
            const mask_t<T> stays = far & (defect_at_rest() <= no_defect<T> * whole);
            for (int j = 0; j < s; ++j) K[j] = select<T>(stays, at_rest(j), K[j]);
            found = found | stays;
            far = far & !stays;
            PathLength<T> path(far, size);
            Vec3<T> here[most], there[most];
            for (int j = 0; j < s; ++j) here[j] = Vec3<T>{T(0.0), T(0.0), T(0.0)};
            while (any(path.busy) && !is_stopped(stop)) {
                for (int j = 0; j < s; ++j) there[j] = here[j];
                const mask_t<T> on =
                    path.next(newton(path.busy, path.done + path.part, path.shrink, there));
                for (int j = 0; j < s; ++j) here[j] = select<T>(on, there[j], here[j]);
            }
            for (int j = 0; j < s; ++j) K[j] = select<T>(path.arrived, here[j], K[j]);
            found = found | path.arrived;
            tried = path.tried;
        }
        return {found, tried};
    }
};

/// Compiled only once.
template <class T>
[[gnu::noinline]] Followed<T> solve_stages(const Tableau& tableau,
                                           const Vec3<T>& a,
                                           const Vec3<T>* L,
                                           const mask_t<T>& wanted,
                                           const StopRequest* stop,
                                           Vec3<T>* K) {
    if (tableau.stages == 1) return ImplicitStages<T, 1>{tableau, a, L, stop}.solve(wanted, K);
    if (tableau.stages == 2) return ImplicitStages<T, 2>{tableau, a, L, stop}.solve(wanted, K);
    using Stages = ImplicitStages<T, 0>;
    const std::unique_ptr<typename Stages::Row[]> room(new typename Stages::Row[3 * Stages::most]);
    return Stages{tableau, a, L, stop, room.get()}.solve(wanted, K);
}

/// A method of the family as a kernel of a free body.
struct MuntheKaas {
    const double* tableau;
    const StopRequest* stop = nullptr;
    constexpr bool may_lack_root() const { return Tableau::of(tableau).implicit; }

    /// Uses the tableau of the options if there is one, else this one.
    static constexpr MuntheKaas of(const double* tableau, const OptionValues& options) {
        return {options.data != nullptr ? options.data : tableau, options.stop};
    }
    template <class T>
    POLHODE_INLINE FreeStep<T> step(const Inertia<T>& body, const Vec3<T>& m, T h) const {
        const Tableau t = Tableau::of(tableau);
        const Vec3<T> a{h * body.inverse_I1, h * body.inverse_I2, h * body.inverse_I3};
        Vec3<T> K[Tableau::most_explicit];
        mask_t<T> found = h == h;
        if (t.implicit) {
            Vec3<T> L[Tableau::most_implicit];
            for (int j = 0; j < t.stages; ++j) L[j] = m;
            found = solve_stages<T>(t, a, L, found, stop, K).found;
        } else {
            K[0] = times(a, m);
            for (int k = 1; k < t.stages; ++k) {
                const Vec3<T> P = weighted(t.row(k), K, k);
                const Turn<T> turn = Turn<T>::of(P);
                K[k] = dexp_inverse(turn, P, times(a, m + turn.change(P, m)));
            }
        }
        const Vec3<T> P = weighted(t.b, K, t.stages);
        FreeStep<T> r{m + Turn<T>::of(P).change(P, m), quaternion_exp(P)};
        if (!all(found)) {
            const T lost = select(found, T(1.0), nan<T>());
            r.m = lost * r.m;
            r.dq = lost * r.dq;
        }
        return r;
    }
};

POLHODE_NAMESPACE_END

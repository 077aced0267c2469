#pragma once

/// polhode from C++: steps, the closed form, integration with a torque, bodies with any tensor.
///
/// There are two ways to use it, with the same functions and the same results.  Link the program
/// with libpolhode (the CMake target polhode::library, or `python -m polhode --includes --libs`):
/// the library has the kernels of all instruction-set levels and chooses one at the first call.  Or
/// define POLHODE_HEADER_ONLY (the target polhode::polhode and `python -m polhode --cflags` do):
/// the program compiles the kernels that it uses, for its own instruction set, and links no
/// library.
///
/// Conventions.  m: angular momentum in the body frame; inertia: principal moments along the same
/// axes, in any order; q: unit quaternion, scalar first, that takes body to space components.
/// m' = m x omega + torque.  Any consistent units; angles in radians; steps of either sign.
///
/// Errors: std::invalid_argument before any work, naming the first invalid body.  NaN or infinity
/// in m, q or h of one body makes that body NaN and no other; moments must be finite.
///
/// Results have the bits of the Python functions at the same level (docs/cpp.md); results of
/// RigidBody may differ by rounding.

#include "polhode/language.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "polhode/bodies/tensors.hpp"
#include "polhode/interface/spans.hpp"

#if defined(POLHODE_HEADER_ONLY)
#include "polhode/interface/header_only.hpp"
#define POLHODE_WAY header_only
#else
#include "polhode/interface/linked.hpp"
#define POLHODE_WAY linked
#endif

POLHODE_NAMESPACE_BEGIN(inline POLHODE_WAY)

using Vector = interface::Vector;
using Attitude = interface::Attitude;
using Tensor = std::array<double, 9>;  ///< symmetric, row by row

/// Momentum and attitude of a body.
struct State {
    Vector m;
    Attitude q;
};

/// method<"dmv8"> is a method by its name, which may be followed by options, as in
/// method<"symmetric_rotation axes=312 energy_correction=buss">: see docs/methods.md.
template <interface::Text name>
inline constexpr interface::Named<name> method{};

/// A method: method<"exact">, which is the default, method<"dmv8">, or linked just "dmv8".
class Method {
  public:
    Method() : Method(method<"exact">) {}
    template <interface::Text name>
    Method(interface::Named<name>) : method_(backend::named<interface::Named<name>>()) {}
    /// By its name, "dmv8".  Header-only, use method<"dmv8">, which compiles this method alone.
    template <class T>
        requires std::is_convertible_v<const T&, const char*>
    Method(const T& name) : method_(named(name)) {}
    const backend::Method& chosen() const { return method_; }

  private:
    template <class T>
    static backend::Method named(const T& name) {
#if defined(POLHODE_HEADER_ONLY)
        static_assert(sizeof(T) == 0, "header-only, a method is named as a type: method<\"dmv8\">");
#endif
        return backend::Method(name);
    }

    backend::Method method_;
};

/// A splitting scheme, such as "strang" (the default) or "rkn6_14".
class Splitting {
  public:
    Splitting(const char* name = "strang") : scheme_(name) {}
    /// Your own, of flows a and kicks b in turn; with as many flows as kicks it begins with a flow.
    /// Each list adds up to 1.
    Splitting(const std::vector<double>& a, const std::vector<double>& b) : scheme_(a, b) {}
    const backend::Scheme& chosen() const { return scheme_; }

  private:
    backend::Scheme scheme_;
};

/// One torque-free step of one body for the time h.
[[nodiscard]] inline State step(
    const Vector& inertia, const Vector& m, const Attitude& q, double h, Method by = {}) {
    State end;
    const double *I = inertia.data(), *from = m.data(), *attitude = q.data();
    backend::step_one(
        by.chosen(),
        {1, I, 0, from, attitude, POLHODE_QUATERNION, &h, 0, 1, 1, end.m.data(), end.q.data()});
    return end;
}

struct StepOptions {
    std::int64_t n_steps = 1;
    int threads = 1;  ///< -1: all cores
};

/// Steps bodies in place: m has three numbers a body, q four, inertia three a body or three in all,
/// h one a body or one in all.  Returns the number of bodies that became NaN because their step has
/// no result (an implicit step did not converge, or it was too long for a correct digit).
inline std::int64_t step(std::span<const double> inertia,
                         std::span<double> m,
                         std::span<double> q,
                         std::span<const double> h,
                         Method by = {},
                         StepOptions options = {}) {
    const std::size_t n = interface::bodies(m, q);
    return backend::step(by.chosen(),
                         {.bodies = static_cast<std::int64_t>(n),
                          .inertia = inertia.data(),
                          .inertia_stride = interface::stride("inertia", inertia.size(), n, 3),
                          .m = m.data(),
                          .q = q.data(),
                          .h = h.data(),
                          .h_stride = interface::stride("h", h.size(), n, 1),
                          .n_steps = options.n_steps,
                          .threads = options.threads,
                          .m_out = m.data(),
                          .q_out = q.data()});
}
inline std::int64_t step(std::span<const double> inertia,
                         std::span<double> m,
                         std::span<double> q,
                         double h,
                         Method by = {},
                         StepOptions options = {}) {
    return step(inertia, m, q, std::span<const double>(&h, 1), by, options);
}

/// The closed form of the torque-free motion of a body at any time.
class TorqueFreeMotion {
  public:
    TorqueFreeMotion(const Vector& inertia, const Vector& m0, const Attitude& q0)
        : motion_(inertia.data(), m0.data(), q0.data()) {}
    State operator()(double t) const {
        State at;
        motion_.at(1, &t, at.m.data(), at.q.data());
        return at;
    }
    /// At many times: m has three numbers a time, q four.
    void operator()(std::span<const double> t, std::span<double> m, std::span<double> q) const {
        interface::require_length("m", m.size(), 3 * t.size(), ", three a time");
        interface::require_length("q", q.size(), 4 * t.size(), ", four a time");
        motion_.at(static_cast<std::int64_t>(t.size()), t.data(), m.data(), q.data());
    }
    /// Of m in the body frame; infinity where m does not return or does not move.
    double period() const { return motion_.period(); }

  private:
    backend::Motion motion_;
};

struct IntegrateOptions {
    Splitting splitting = {};
    Method method = {};  ///< of the torque-free motion between two kicks
    double t0 = 0.0;
    /// The torque depends on m, or a force on m or p.  If it does and this is false, the order
    /// is 1.
    bool depends_on_m = false;
    int threads = 1;  ///< -1: all cores
};

namespace backend {

/// The arguments of all forms of integrate.
inline interface::Integration integration(std::span<const double> inertia,
                                          std::span<double> m,
                                          std::span<double> q,
                                          double h,
                                          std::int64_t n_steps,
                                          const IntegrateOptions& options) {
    const std::size_t n = interface::bodies(m, q);
    return {.bodies = static_cast<std::int64_t>(n),
            .inertia = inertia.data(),
            .inertia_stride = interface::stride("inertia", inertia.size(), n, 3),
            .h = h,
            .n_steps = n_steps,
            .t0 = options.t0,
            .torque = nullptr,
            .user_data = nullptr,
            .torque_flags = options.depends_on_m ? POLHODE_DEPENDS_ON_M : 0,
            .threads = options.threads,
            .m = m.data(),
            .q = q.data()};
}
/// Runs it with this function.  Returns the number of bodies that became NaN.
template <class Function>
std::int64_t run(interface::Integration x, Function& torque, const IntegrateOptions& options) {
    interface::Call<Function> call{torque};
    x.user_data = &call;
    const std::int64_t lost = integrate(options.splitting.chosen(), options.method.chosen(), x);
    if (lost < 0) std::rethrow_exception(call.thrown);
    return lost;
}

}  // namespace backend

/// Integrates bodies in place, n_steps steps of h, by a splitting method.  The torque is in the
/// body frame, in one of two forms:
///
///     torque(t, body, m, q) returns a Vector: it depends on no other body.  Several threads call
///         it at the same time if there are several, and bodies are at different times.
///     torque(t, m, q, torque) sets the torque of all bodies, which are at the same time t: spans
///         of three, four and three numbers a body.  The torque may depend on other bodies.
///
/// An exception that it throws ends the run at once and comes out of this function; the state is
/// then unchanged.
///
/// Returns the number of bodies that were finite and became NaN, see polhode_lost in polhode.h.
template <class Torque>
std::int64_t integrate(std::span<const double> inertia,
                       std::span<double> m,
                       std::span<double> q,
                       double h,
                       std::int64_t n_steps,
                       Torque&& torque,
                       const IntegrateOptions& options = {}) {
    using Function = std::remove_reference_t<Torque>;
    static_assert(interface::TorqueOfBody<Function> || interface::TorqueOfBatch<Function>,
                  "a torque is f(t, body, m, q) or f(t, m, q, torque)");
    interface::Integration x = backend::integration(inertia, m, q, h, n_steps, options);
    x.torque = interface::Call<Function>::all;
    if (interface::TorqueOfBody<Function>) x.torque_flags |= POLHODE_INDEPENDENT;
    return backend::run(x, torque, options);
}

/// The same of bodies that also move, x' = p / mass, p' = force: x and p have three numbers a body,
/// mass one a body or one in all.  The force is a function of all bodies
///
///     force(t, x, p, m, q, force, torque)
///
/// that sets both; x, p and force are in the space frame, m and torque in the body frame.
template <class Force>
std::int64_t integrate(std::span<const double> inertia,
                       std::span<const double> mass,
                       std::span<double> x,
                       std::span<double> p,
                       std::span<double> m,
                       std::span<double> q,
                       double h,
                       std::int64_t n_steps,
                       Force&& force,
                       const IntegrateOptions& options = {}) {
    using Function = std::remove_reference_t<Force>;
    static_assert(interface::ForceOfBatch<Function>, "a force is f(t, x, p, m, q, force, torque)");
    interface::Integration given = backend::integration(inertia, m, q, h, n_steps, options);
    const std::size_t n = m.size() / 3;
    interface::require_length("x", x.size(), 3 * n, ", three for each body of m");
    interface::require_length("p", p.size(), 3 * n, ", three for each body of m");
    given.moves = true;
    given.mass = mass.data();
    given.mass_stride = interface::stride("mass", mass.size(), n, 1);
    given.force = interface::Call<Function>::all_moving;
    given.x = x.data(), given.p = p.data();
    return backend::run(given, force, options);
}

struct BodyOptions {
    /// Refuse a tensor with a principal moment above the sum of the other two, by more than 1e-9 of
    /// the largest: no distribution of mass has it.
    bool physical = true;
};

/// A body with any inertia tensor: m and q are in the axes of the tensor.
class RigidBody {
  public:
    /// Of a tensor that is symmetric to 1e-9 of its largest entry.  A principal moment within 16
    /// eps of the largest, or 4 eps in a diagonal tensor, is set to zero: the body is a rod.
    explicit RigidBody(const Tensor& tensor, BodyOptions options = {}) {
        using bodies::TensorFault, bodies::tensor_tolerance;
        Tensor half{};  // without the rounding errors of the other half
        switch (bodies::symmetric_half(tensor.data(), half.data(), tensor_tolerance)) {
            case TensorFault::not_finite:
                throw std::invalid_argument("the inertia tensor is not finite");
            case TensorFault::not_symmetric:
                throw std::invalid_argument("the inertia tensor is not symmetric");
            default:
                break;
        }
        backend::principal_axes(half.data(), moments_.data(), axes_.data(), turn_.data());
        bodies::set_zero_moment(
            half.data(), moments_.data(), std::numeric_limits<double>::epsilon(), tensor_tolerance);
        (void)POLHODE_WAY::step(moments_, Vector{}, turn_, 0.0);  // throws if no body has them
        if (options.physical && bodies::exceeds_triangle(moments_.data(), tensor_tolerance)) {
            throw std::invalid_argument(
                "a principal moment of the inertia tensor exceeds the sum of the other two, which "
                "no distribution of mass has; {.physical = false} takes it all the same");
        }
    }
    /// In the order of `axes`.
    const Vector& moments() const { return moments_; }
    /// Principal axes in the columns, row by row; their determinant is 1.  Among the permutations
    /// and signs of the principal axes, those nearest to the axes of the tensor.
    const Tensor& axes() const { return axes_; }

    State step(const Vector& m, const Attitude& q, double h, Method by = {}) const {
        return from_principal(
            POLHODE_WAY::step(moments_, to_principal(m), product(q, turn_), h, by));
    }
    /// As the function `integrate`, of bodies that all have this tensor.
    template <class Torque>
    std::int64_t integrate(std::span<double> m,
                           std::span<double> q,
                           double h,
                           std::int64_t n_steps,
                           Torque&& torque,
                           const IntegrateOptions& options = {}) const {
        return in_principal_axes(m, q, [&](auto mp, auto qp, const auto& in_own_axes) {
            if constexpr (interface::TorqueOfBody<std::remove_reference_t<Torque>>) {
                const auto along_axes =
                    [&](double t, std::size_t i, const Vector& x, const Attitude& y) {
                        const State s = from_principal(State{x, y});
                        return to_principal(torque(t, i, s.m, s.q));
                    };
                return POLHODE_WAY::integrate(moments_, mp, qp, h, n_steps, along_axes, options);
            } else {
                const auto along_axes = [&](double t, Input x, Input y, std::span<double> f) {
                    in_own_axes(x, y, f, [&](Input ms, Input qs) { torque(t, ms, qs, f); });
                };
                return POLHODE_WAY::integrate(moments_, mp, qp, h, n_steps, along_axes, options);
            }
        });
    }
    /// The same of bodies that also move.
    template <class Force>
    std::int64_t integrate(std::span<const double> mass,
                           std::span<double> x,
                           std::span<double> p,
                           std::span<double> m,
                           std::span<double> q,
                           double h,
                           std::int64_t n_steps,
                           Force&& force,
                           const IntegrateOptions& options = {}) const {
        return in_principal_axes(m, q, [&](auto mp, auto qp, const auto& in_own_axes) {
            const auto along_axes = [&](double t,
                                        Input xs,
                                        Input ps,
                                        Input ma,
                                        Input qa,
                                        std::span<double> f,
                                        std::span<double> torque) {
                in_own_axes(ma, qa, torque, [&](Input ms, Input qs) {
                    force(t, xs, ps, ms, qs, f, torque);
                });
            };
            return POLHODE_WAY::integrate(
                moments_, mass, x, p, mp, qp, h, n_steps, along_axes, options);
        });
    }

  private:
    using Input = std::span<const double>;
    /// Calls run(m, q, in_own_axes) with the state along the principal axes, then takes it back.
    /// Returns what run does.
    /// in_own_axes(m, q, torque, call) calls call(m, q) in the own axes, and turns the torque.
    template <class Run>
    std::int64_t in_principal_axes(std::span<double> m, std::span<double> q, const Run& run) const {
        const std::size_t n = interface::bodies(m, q);
        std::vector<double> mp(m.size()), qp(q.size()), ms(m.size()), qs(q.size());
        const auto copy = [n](auto mf, auto qf, auto mt, auto qt, const auto& change) {
            for (std::size_t i = 0; i < n; ++i, mf += 3, qf += 4, mt += 3, qt += 4) {
                const State s = change(State{{mf[0], mf[1], mf[2]}, {qf[0], qf[1], qf[2], qf[3]}});
                std::copy_n(s.m.data(), 3, mt);
                std::copy_n(s.q.data(), 4, qt);
            }
        };
        const auto own = [this](const State& s) { return from_principal(s); };
        copy(m.data(), q.data(), mp.data(), qp.data(), [this](const State& s) {
            return State{to_principal(s.m), product(s.q, turn_)};
        });
        const std::int64_t lost =
            run(std::span<double>(mp),
                std::span<double>(qp),
                [&](Input ma, Input qa, std::span<double> f, const auto& call) {
                    copy(ma.data(), qa.data(), ms.data(), qs.data(), own);
                    call(Input(ms), Input(qs));
                    for (std::size_t i = 0; i < 3 * n; i += 3) {
                        const Vector v = to_principal({f[i], f[i + 1], f[i + 2]});
                        std::copy_n(v.data(), 3, f.data() + i);
                    }
                });
        copy(mp.data(), qp.data(), m.data(), q.data(), own);
        return lost;
    }
    double axis(std::size_t i, std::size_t j) const { return axes_[3 * i + j]; }
    Vector to_principal(const Vector& v) const {
        Vector w{};
        for (std::size_t j = 0; j < 3; ++j) {
            w[j] = axis(0, j) * v[0] + axis(1, j) * v[1] + axis(2, j) * v[2];
        }
        return w;
    }
    Vector from_principal(const Vector& w) const {
        Vector v{};
        for (std::size_t i = 0; i < 3; ++i) {
            v[i] = axis(i, 0) * w[0] + axis(i, 1) * w[1] + axis(i, 2) * w[2];
        }
        return v;
    }
    State from_principal(const State& s) const {
        return {from_principal(s.m), product(s.q, {turn_[0], -turn_[1], -turn_[2], -turn_[3]})};
    }
    static Attitude product(const Attitude& p, const Attitude& q) {
        return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
    }

    Vector moments_{};
    Tensor axes_{};
    Attitude turn_{};
};

POLHODE_NAMESPACE_END
#undef POLHODE_WAY

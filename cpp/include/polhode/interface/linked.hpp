#pragma once

/// What polhode.hpp calls, from the compiled library.

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "polhode/interface/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(inline linked::backend)

inline void check(int status) {
    if (status == POLHODE_OK) return;
    if (status == POLHODE_BAD_ARGUMENT) throw std::invalid_argument(polhode_error());
    if (status == POLHODE_NO_MEMORY) throw std::bad_alloc();
    throw std::runtime_error(polhode_error());
}
/// The number of a method or scheme, which the library looks up, and its release.
struct Number {
    explicit Number(int found, void (*release)(int) = nullptr) : number(found) {
        if (found < 0) throw std::invalid_argument(polhode_error());
        if (release != nullptr) user.reset(this, [=](const void*) { release(found); });
    }
    int number;
    std::shared_ptr<const void> user{};
};
struct Method : Number {
    explicit Method(int found) : Number(found) {}
    explicit Method(const char* text) : Number(polhode_method(text), polhode_method_free) {}
};
/// The method that a text names which the compiler knows.
template <class Named>
const Method& named() {
    static const Method method(polhode_method(Named::text));
    return method;
}

struct Scheme : Number {
    explicit Scheme(const char* name) : Number(polhode_splitting(name)) {}
    Scheme(const std::vector<double>& a, const std::vector<double>& b)
        : Number(polhode_splitting_of(
                     static_cast<int>(a.size()), a.data(), static_cast<int>(b.size()), b.data()),
                 polhode_splitting_free) {}
};

inline std::int64_t step(const Method& method, const interface::Steps& x) {
    std::int64_t lost = 0;
    check(polhode_step(method.number,
                       x.bodies,
                       x.inertia,
                       x.inertia_stride,
                       x.m,
                       x.q,
                       x.attitude,
                       x.h,
                       x.h_stride,
                       x.n_steps,
                       x.threads,
                       x.m_out,
                       x.q_out,
                       &lost));
    return lost;
}
inline void step_one(const Method& method, const interface::Steps& x) { step(method, x); }

class Motion {
  public:
    Motion(const double* inertia, const double* m0, const double* q0) {
        polhode_motion* made = nullptr;
        check(polhode_motion_new(1, inertia, 0, m0, q0, POLHODE_QUATERNION, &made));
        motion_.reset(made, polhode_motion_free);
    }
    void at(std::int64_t times, const double* t, double* m, double* q) const {
        check(polhode_motion_at(motion_.get(), times, t, 1, m, q));
    }
    double period() const {
        double period = 0.0;
        check(polhode_motion_period(motion_.get(), &period));
        return period;
    }

  private:
    std::shared_ptr<polhode_motion> motion_;  // never changed
};

/// The number of bodies that became NaN; -1 if the torque has ended the run.
inline std::int64_t integrate(const Scheme& scheme,
                              const Method& method,
                              const interface::Integration& x) {
    const int status = !x.moves ? polhode_integrate(scheme.number,
                                                    method.number,
                                                    x.bodies,
                                                    x.inertia,
                                                    x.inertia_stride,
                                                    x.h,
                                                    x.n_steps,
                                                    x.t0,
                                                    x.torque,
                                                    x.user_data,
                                                    x.torque_flags,
                                                    x.attitude,
                                                    x.threads,
                                                    x.m,
                                                    x.q,
                                                    x.save_every,
                                                    x.m_saved,
                                                    x.q_saved)
                                : polhode_integrate_moving(scheme.number,
                                                           method.number,
                                                           x.bodies,
                                                           x.inertia,
                                                           x.inertia_stride,
                                                           x.mass,
                                                           x.mass_stride,
                                                           x.h,
                                                           x.n_steps,
                                                           x.t0,
                                                           x.force,
                                                           x.user_data,
                                                           x.torque_flags,
                                                           x.attitude,
                                                           x.threads,
                                                           x.x,
                                                           x.p,
                                                           x.m,
                                                           x.q,
                                                           x.save_every,
                                                           x.x_saved,
                                                           x.p_saved,
                                                           x.m_saved,
                                                           x.q_saved);
    if (status == POLHODE_STOPPED) return -1;
    check(status);
    return polhode_lost();
}

/// Principal moments, axes (row by row) and their quaternion.
inline void principal_axes(const double* tensor, double* moments, double* axes, double* turn) {
    double* output[] = {moments, axes};
    check(polhode_function("symmetric_eigen", 1, &tensor, output));
    const double* matrix = axes;
    check(polhode_function("so3_to_quaternion", 1, &matrix, &turn));
}

POLHODE_NAMESPACE_END

/// The C interface polhode.h: exceptions become statuses, the kernels are those of a level.

#define POLHODE_BUILDS_LIBRARY
#include "polhode.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "levels.hpp"
#include "message.hpp"
#include "own_methods.hpp"
#include "polhode/interface/calls.hpp"
#include "polhode/splitting/schemes.hpp"
#include "polhode/torque/kepler.hpp"

namespace {

using namespace polhode;
using namespace polhode::dispatch;
using interface::require;
using interface::require_array;
using interface::require_arrays;

/// Calls work(), which returns nothing, and makes a status of what it throws.
template <class Work>
int status_of(const Work& work) noexcept {
    try {
        dispatch::level();
    } catch (const std::exception& error) {
        keep(error.what());
        return POLHODE_NO_LEVEL;
    }
    try {
        work();
        return POLHODE_OK;
    } catch (const std::invalid_argument& error) {
        keep(error.what());
        return POLHODE_BAD_ARGUMENT;
    } catch (const std::bad_alloc&) {
        keep("no memory");
        return POLHODE_NO_MEMORY;
    } catch (const std::length_error&) {
        keep("no memory for so many bodies");
        return POLHODE_NO_MEMORY;
    } catch (const interface::Stopped&) {
        keep("the torque has ended the run");
        return POLHODE_STOPPED;
    } catch (const std::exception& error) {
        keep(error.what());
        return POLHODE_FAILED;
    } catch (...) {
        keep("unknown exception");
        return POLHODE_FAILED;
    }
}

struct Kernels {
    Checks checks;
    interface::MotionKernels motion;
    interface::Driver driver;

    explicit Kernels(const dispatch::Level& level)
        : checks(level.torque_free->checks),
          motion{motion_constants, level.motion->evaluate},
          driver{level.splitting->run, nullptr, nullptr} {
        for (const TorqueModel& model : level.splitting->models) {
            if (std::strcmp(model.info->name, "compiled") == 0) driver.compiled = &model;
            if (std::strcmp(model.info->name, "compiled_of_m") == 0) driver.compiled_of_m = &model;
        }
    }
    static void motion_constants(std::ptrdiff_t bodies,
                                 const double* inertia,
                                 const double* m,
                                 double* constants) {
        const double* inputs[] = {inertia, m};
        call(*function("motion_facts"), bodies, inputs, &constants);
    }
};
/// The kernels for so many bodies.
const Kernels& kernels_for(std::ptrdiff_t bodies) {
    static const Kernels many(dispatch::level()), one(dispatch::level_for(1));
    return bodies == 1 ? one : many;
}

int integrate(int splitting, int method, const interface::Integration& x) {
    return status_of([&] {
        const auto found = own_schemes().find(splitting);
        const OwnScheme* const own = found.get();
        require(own != nullptr || polhode_splitting_name(splitting) != nullptr,
                "no such splitting scheme");
        const interface::Scheme scheme =
            own != nullptr ? interface::Scheme(std::span<const Stage>(own->stages))
                           : interface::Scheme(splitting::all[splitting]);
        const Kernels& kernels = kernels_for(x.bodies);
        const Chosen chosen(method, x.bodies);
        keep_lost(interface::integrate(kernels.checks, kernels.driver, chosen.method, scheme, x));
    });
}

}  // namespace

struct polhode_motion : interface::Motion {
    using Motion::Motion;
};

extern "C" {

int polhode_abi() { return POLHODE_ABI; }

const char* polhode_version() { return POLHODE_VERSION; }

const char* polhode_level() {
    const char* name = nullptr;
    status_of([&] { name = dispatch::level().name; });
    return name;
}

const char* polhode_error() { return kept(); }

int64_t polhode_lost() { return kept_lost(); }

int polhode_method(const char* name) {
    int number = -1;
    status_of([&] {
        require_array(name, "name");
        const std::string_view text = name, first = interface::name_in(text);
        const int row = first == made ? -1 : row_of(first);
        if (row < 0) throw std::invalid_argument("no method " + std::string(first));
        if (first == text) {
            number = row;
            return;
        }
        const MethodInfo& info = *dispatch::level().torque_free->rows[row].info;
        number =
            own_methods().number_of({std::string(text), row, interface::options_in(text, info)});
    });
    return number;
}

int polhode_rkmk(int stages, const double* a, const double* b) {
    int number = -1;
    status_of([&] {
        const int row = row_of(made);
        std::vector<double> tableau = interface::tableau_of(stages, a, b);
        const MethodInfo& info = *dispatch::level().torque_free->rows[row].info;
        number = own_methods().number_of({made, row, info.complete({}), std::move(tableau)});
    });
    return number;
}

int polhode_splitting(const char* name) {
    int row = -1;
    status_of([&] {
        require_array(name, "name");
        row = static_cast<int>(&interface::scheme_of(name) - splitting::all);
    });
    return row;
}

int polhode_splitting_of(int flows, const double* a, int kicks, const double* b) {
    int number = -1;
    status_of([&] {
        require(flows >= 0 && kicks >= 0, "a scheme has no negative number of flows or kicks");
        if (flows > 0) require_array(a, "a");
        if (kicks > 0) require_array(b, "b");
        OwnScheme own{{a, a + flows}, {b, b + kicks}, {}};
        own.stages = interface::own_scheme(own.a, own.b);
        number = own_schemes().number_of(std::move(own));
    });
    return number;
}

void polhode_method_free(int method) {
    status_of([&] { own_methods().release(method); });
}

void polhode_splitting_free(int splitting) {
    status_of([&] { own_schemes().release(splitting); });
}

const char* polhode_method_name(int method) {
    const char* name = nullptr;
    status_of([&] {
        const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
        if (const auto own = own_methods().find(method)) {
            name = own->text.c_str();
        } else if (method >= 0 && method < table.methods &&
                   std::strcmp(table.rows[method].info->name, made) != 0) {
            name = table.rows[method].info->name;
        }
    });
    return name;
}

const char* polhode_splitting_name(int splitting) {
    const bool there = splitting >= 0 && splitting < static_cast<int>(std::size(splitting::all));
    return there ? splitting::all[splitting].name : nullptr;
}

int polhode_step(int method,
                 int64_t bodies,
                 const double* inertia,
                 int64_t inertia_stride,
                 const double* m,
                 const double* q,
                 int attitude,
                 const double* h,
                 int64_t h_stride,
                 int64_t n_steps,
                 int threads,
                 double* m_out,
                 double* q_out,
                 int64_t* lost) {
    return status_of([&] {
        const std::int64_t count = interface::step(kernels_for(bodies).checks,
                                                   Chosen(method, bodies).method,
                                                   {bodies,
                                                    inertia,
                                                    inertia_stride,
                                                    m,
                                                    q,
                                                    attitude,
                                                    h,
                                                    h_stride,
                                                    n_steps,
                                                    threads,
                                                    m_out,
                                                    q_out});
        if (lost != nullptr) *lost = count;
    });
}

int polhode_motion_new(int64_t bodies,
                       const double* inertia,
                       int64_t inertia_stride,
                       const double* m0,
                       const double* q0,
                       int attitude,
                       polhode_motion** motion) {
    return status_of([&] {
        require_array(static_cast<const void*>(motion), "motion");
        const Kernels& kernels = kernels_for(bodies);
        *motion = new polhode_motion(
            kernels.checks, kernels.motion, bodies, inertia, inertia_stride, m0, q0, attitude);
    });
}

int polhode_motion_at(const polhode_motion* motion,
                      int64_t times,
                      const double* t,
                      int threads,
                      double* m,
                      double* q) {
    return status_of([&] {
        require_array(motion, "motion");
        motion->at(kernels_for(motion->bodies() == 1 ? times : motion->bodies()).motion,
                   times,
                   t,
                   threads,
                   m,
                   q);
    });
}

int polhode_motion_period(const polhode_motion* motion, double* period) {
    return status_of([&] {
        require_array(motion, "motion");
        motion->period(period);
    });
}

void polhode_motion_free(polhode_motion* motion) { delete motion; }

int polhode_integrate(int splitting,
                      int method,
                      int64_t bodies,
                      const double* inertia,
                      int64_t inertia_stride,
                      double h,
                      int64_t n_steps,
                      double t0,
                      polhode_torque torque,
                      void* user_data,
                      int torque_flags,
                      int attitude,
                      int threads,
                      double* m,
                      double* q,
                      int64_t save_every,
                      double* m_saved,
                      double* q_saved) {
    return integrate(splitting,
                     method,
                     {bodies,
                      inertia,
                      inertia_stride,
                      h,
                      n_steps,
                      t0,
                      torque,
                      user_data,
                      torque_flags,
                      attitude,
                      threads,
                      m,
                      q,
                      save_every,
                      m_saved,
                      q_saved});
}

int polhode_integrate_moving(int splitting,
                             int method,
                             int64_t bodies,
                             const double* inertia,
                             int64_t inertia_stride,
                             const double* mass,
                             int64_t mass_stride,
                             double h,
                             int64_t n_steps,
                             double t0,
                             polhode_force force,
                             void* user_data,
                             int torque_flags,
                             int attitude,
                             int threads,
                             double* x,
                             double* p,
                             double* m,
                             double* q,
                             int64_t save_every,
                             double* x_saved,
                             double* p_saved,
                             double* m_saved,
                             double* q_saved) {
    return integrate(
        splitting,
        method,
        {bodies,       inertia,  inertia_stride, h,     n_steps, t0,         nullptr, user_data,
         torque_flags, attitude, threads,        m,     q,       save_every, m_saved, q_saved,
         true,         mass,     mass_stride,    force, x,       p,          x_saved, p_saved});
}

int polhode_orbit_state(double mu,
                        const double position[3],
                        const double velocity[3],
                        double t,
                        double position_at_t[3],
                        double velocity_at_t[3]) {
    return status_of([&] {
        require_arrays({{position, "position"},
                        {velocity, "velocity"},
                        {position_at_t, "position_at_t"},
                        {velocity_at_t, "velocity_at_t"}});
        const auto refuse = [](const char* name, const double* x, int numbers, const char* why) {
            validate::refuse(validate::Argument::flat(name, {x, 0, 1, 1}, 1, 1, numbers), {}, why);
        };
        if (!(mu > 0)) refuse("mu", &mu, 1, "must be positive");
        Vec3<double> r{position[0], position[1], position[2]},
            v{velocity[0], velocity[1], velocity[2]};
        if (!torque::move_on_ellipse(mu, t, r, v)) {
            refuse("velocity", velocity, 3, "the orbit is not an ellipse");
        }
        position_at_t[0] = r.x, position_at_t[1] = r.y, position_at_t[2] = r.z;
        velocity_at_t[0] = v.x, velocity_at_t[1] = v.y, velocity_at_t[2] = v.z;
    });
}

void polhode_dipole_field(const double position[3],
                          const double moment[3],
                          double constant,
                          double field[3]) {
    const Vec3<double> r{position[0], position[1], position[2]}, m{moment[0], moment[1], moment[2]};
    const double size = norm(r);
    const Vec3<double> u = (1 / size) * r;
    const Vec3<double> b = (constant / (size * size * size)) * ((3 * dot(m, u)) * u - m);
    field[0] = b.x, field[1] = b.y, field[2] = b.z;
}

int polhode_function(const char* name,
                     int64_t n,
                     const double* const* inputs,
                     double* const* outputs) {
    return status_of([&] {
        require(n >= 0, "n must not be negative");
        require_array(name, "name");
        const ArrayFunction* found = function(name);
        if (found == nullptr) throw std::invalid_argument(std::string("no function ") + name);
        if (n == 0) return;
        require_array(static_cast<const void*>(inputs), "inputs");
        require_array(static_cast<const void*>(outputs), "outputs");
        for (int k = 0; k < found->inputs; ++k) require_array(inputs[k], "an array in inputs");
        for (int k = 0; k < found->outputs; ++k) require_array(outputs[k], "an array in outputs");
        call(*found, n, inputs, outputs);
    });
}

}  // extern "C"

namespace {

void report_step(int attitude,
                 int length,
                 double* m_out,
                 double* q_out,
                 const double* h,
                 const double* inertia,
                 const double* m,
                 const double* q) {
    static const int method = polhode_method("frb");
    if (polhode_step(method, 1, inertia, 0, m, q, attitude, h, 0, 1, 1, m_out, q_out, nullptr) !=
        POLHODE_OK) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        std::fill_n(m_out, 3, nan);
        std::fill_n(q_out, length, nan);
    }
}

}  // namespace

extern "C" void frb_step_(double* Piout,
                          double* Qout,
                          const double* h,
                          const double* aInert,
                          const double* Piin,
                          const double* Qin) {
    report_step(POLHODE_MATRIX_COLUMNS, 9, Piout, Qout, h, aInert, Piin, Qin);
}

extern "C" void quat_step_(double* Piout,
                           double* qout,
                           const double* h,
                           const double* aInert,
                           const double* Piin,
                           const double* qin) {
    report_step(POLHODE_QUATERNION, 4, Piout, qout, h, aInert, Piin, qin);
}

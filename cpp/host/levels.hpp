#pragma once

/// @file
/// What the levels offer to the rest of the core: tables of functions, one table a level.
///
/// Nothing here is compiled per level, so nothing here may hold code that a processor could lack.

#include <cstdint>
#include <string>

#include "polhode/batch_arguments.hpp"
#include "polhode/method_info.hpp"
#include "polhode/splitting/arguments.hpp"

namespace polhode::dispatch {

/// A NumPy inner loop: args, dimensions, steps, data.
using UfuncLoop = void (*)(char** args,
                           const std::intptr_t* dimensions,
                           const std::intptr_t* steps,
                           void* data);

/// One loop per ufunc of polhode.elliptic; those of k2 twice, without and with kc2 as last input.
struct EllipticTable {
    UfuncLoop agm;
    UfuncLoop rf;
    UfuncLoop rc;
    UfuncLoop rd;
    UfuncLoop rj;
    UfuncLoop jacobi;
    UfuncLoop jacobi_kc2;
    UfuncLoop ellip_f;
    UfuncLoop ellip_f_kc2;
    UfuncLoop ellip_k;
    UfuncLoop ellip_k_kc2;
    UfuncLoop ellip_pi;
    UfuncLoop ellip_pi_kc2;
    UfuncLoop ellip_pi_complete;
    UfuncLoop ellip_pi_complete_kc2;
};

/// One loop per gufunc of polhode.so3.
struct AttitudesTable {
    UfuncLoop to_matrix;
    UfuncLoop to_quaternion;
    UfuncLoop multiply;
    UfuncLoop conjugate;
    UfuncLoop rotate;
    UfuncLoop rotate_by_matrix;
    UfuncLoop exp;
    UfuncLoop log;
    UfuncLoop log_shortest;
};

/// One loop per gufunc of principal axes and of the quantities.
struct BodiesTable {
    UfuncLoop symmetric_eigen;
    UfuncLoop momentum;
    UfuncLoop omega;
    UfuncLoop energy;
    UfuncLoop casimir;
};

/// One row per method, in the order of methods.hpp.
struct StepRow {
    const MethodInfo* info;
    StepFunction step;
    int carried;  ///< numbers of its own that it carries from step to step
};

struct TorqueFreeTable {
    const StepRow* rows;
    int methods;
    int (*look_at_inertia)(const View& inertia, std::ptrdiff_t begin, std::ptrdiff_t end);
    int (*look_at_attitude)(const View& attitude,
                            bool matrix,
                            std::ptrdiff_t begin,
                            std::ptrdiff_t end);
};

struct MotionTable {
    UfuncLoop facts;
    void (*evaluate)(const MotionArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end);
};

struct SplittingTable {
    void (*run)(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end);
    const TorqueModel* models;
    int model_count;
};

/// One loop per order of polhode.attitude_from_rate.
struct RatesTable {
    UfuncLoop magnus2;
    UfuncLoop magnus4;
    UfuncLoop magnus6;
    UfuncLoop magnus8;
};

/// Direct integrators.
struct DirectTable {
    const DirectMethod* rows;
    int count;
};

struct Level {
    const char* name;
    const EllipticTable* elliptic;
    const TorqueFreeTable* torque_free;
    const AttitudesTable* attitudes;
    const BodiesTable* bodies;
    const MotionTable* motion;
    const SplittingTable* splitting;
    const RatesTable* rates;
    const DirectTable* direct;
};

/// The level in use, chosen at import: the best that the processor has, or POLHODE_ISA.
const Level& level();

/// Names of the levels that this processor can run, best first, separated by spaces.
std::string supported_levels();

}  // namespace polhode::dispatch

// Name of a level's table: POLHODE_TABLE(elliptic) is elliptic_v3 in the objects of level v3.
#define POLHODE_PASTE_(a, b) a##_##b
#define POLHODE_PASTE(a, b) POLHODE_PASTE_(a, b)
#define POLHODE_TABLE(topic) POLHODE_PASTE(topic, POLHODE_LEVEL)

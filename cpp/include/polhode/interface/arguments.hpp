#pragma once

/// @file
/// The arguments of a call, which the C and the C++ interface fill.

#include <cstdint>

#include "polhode.h"
#include "polhode/config.hpp"

POLHODE_NAMESPACE_BEGIN
namespace interface {

/// The arguments of polhode_step.
struct Steps {
    std::int64_t bodies;
    const double* inertia;
    std::int64_t inertia_stride;
    const double* m;
    const double* q;
    int attitude = POLHODE_QUATERNION;
    const double* h;
    std::int64_t h_stride;
    std::int64_t n_steps;
    int threads;
    double* m_out;
    double* q_out;
};

/// The arguments of polhode_integrate.
struct Integration {
    std::int64_t bodies;
    const double* inertia;
    std::int64_t inertia_stride;
    double h;
    std::int64_t n_steps;
    double t0;
    polhode_torque torque;
    void* user_data;
    int torque_flags;
    int attitude = POLHODE_QUATERNION;
    int threads;
    double* m;
    double* q;
    std::int64_t save_every = 0;
    double* m_saved = nullptr;
    double* q_saved = nullptr;
};

}  // namespace interface
POLHODE_NAMESPACE_END

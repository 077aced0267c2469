#pragma once

/// @file
/// How a torque model is described to the core: plain data, the same at every instruction-set
/// level.

#include "polhode/batch_arguments.hpp"

namespace polhode {

/// What a model is, as data.
struct TorqueInfo {
    const char* name;
    int parameters;  ///< numbers that a body's torque is made of
    bool depends_on_t;
    bool depends_on_m;
    bool has_potential;
    bool has_derivative;  ///< and so serves schemes with a modified potential
};

/// The bodies of one block (or of any arrays) as a torque function sees them.
struct TorqueArguments {
    double t;
    View m;           ///< momentum, body frame
    View attitude;    ///< body to space
    bool matrix;      ///< attitude is (3, 3), else a quaternion
    View parameters;  ///< of the model
    View rotation;    ///< of `derivative`: angular velocity, body frame
    MutableView out;  ///< torque, body frame; or its derivative; or the potential (component 0)
    bool add;         ///< to what is in `out`; a potential is always set
};

/// Works on bodies begin <= i < end.
using TorqueFunction = void (*)(const TorqueArguments& arguments,
                                std::ptrdiff_t begin,
                                std::ptrdiff_t end);

/// One row per model.  A function that the model does not have is null.
struct TorqueModel {
    const TorqueInfo* info;
    TorqueFunction torque;
    TorqueFunction derivative;
    TorqueFunction potential;
};

}  // namespace polhode

#pragma once

/// @file
/// How a torque model is described to the core: plain data, the same at every instruction-set
/// level.

#include <cstdint>

#include "polhode/batch_arguments.hpp"

namespace polhode {

/// A torque of the user's, compiled: of bodies `first` ... `first` + `n` - 1 at time t.
///
/// Component k of body `first` + i lies at m[k * stride + i], attitude[k * stride + i] and
/// torque[k * stride + i]: 3, 4 (quaternion, scalar first) or 9 (matrix, row by row), and 3
/// components.  All of `torque` is to be set.  Called from several threads at once.
using CompiledTorque = void (*)(std::int64_t n,
                                std::int64_t first,
                                std::int64_t stride,
                                double t,
                                const double* m,
                                const double* attitude,
                                double* torque,
                                void* user_data);

/// Parameters that change from one interval of time to the next; interval k lies between bounds k
/// - 1 and k and holds the bound below it.
struct TorqueTable {
    const double* bounds;   ///< ascending; null: no table
    const double* origins;  ///< the model's t is counted from the origin of its interval
    std::ptrdiff_t count;   ///< of intervals, one more than of bounds
    std::ptrdiff_t stride;  ///< of `parameters`, from one interval to the next
};

/// What a term needs besides its parameters; as a rule nothing.
struct TorqueExtra {
    CompiledTorque function = nullptr;
    void* user_data = nullptr;
    TorqueTable table = {};
};

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
    TorqueExtra extra = {};
    std::ptrdiff_t first = 0;  ///< number of body 0 of these arrays in the whole batch
    std::ptrdiff_t bodies =
        0;                ///< 0, or how many of the arrays are bodies: the rest repeat the last
    double duration = 0;  ///< of `kick`
    /// Of a torque that calls back: of the derivative of the momentum in space that it gives, the
    /// torque is the first; -1: of `modified`.
    int order = 1;
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
    /// The exact flow of m' = torque(t, m) for `duration` at standing time and attitude: from `m`
    /// to `out`.  Used where the term is the only one.
    TorqueFunction kick = nullptr;
    /// W of a modified potential, where it does not follow from `derivative`.
    TorqueFunction modified = nullptr;
    /// Of a momentum in space that is given, seen from the body: its derivative number `order`.
    TorqueFunction given = nullptr;
};

}  // namespace polhode

#pragma once

/// Description of a torque model for the core: plain data, the same at every instruction-set level.

#include <cstdint>

#include "polhode/batch_arguments.hpp"

namespace polhode {

/// A compiled user-defined torque, of bodies `first` ... `first` + `n` - 1 at time t.
///
/// Component k of body `first` + i lies at m[k * stride + i], attitude[k * stride + i] and
/// torque[k * stride + i]: 3, 4 (quaternion, scalar first) or 9 (matrix, row by row), and 3
/// components.  The function sets all of `torque`.  Several threads call it at the same time.
using CompiledTorque = void (*)(std::int64_t n,
                                std::int64_t first,
                                std::int64_t stride,
                                double t,
                                const double* m,
                                const double* attitude,
                                double* torque,
                                void* user_data);

/// The same of a function that also gives a force, in the space frame like the centre of mass x and
/// the momentum p: all arrays are component by component, and the function sets `force` and
/// `torque`.
using CompiledForce = void (*)(std::int64_t n,
                               std::int64_t first,
                               std::int64_t stride,
                               double t,
                               const double* x,
                               const double* p,
                               const double* m,
                               const double* attitude,
                               double* force,
                               double* torque,
                               void* user_data);

/// Parameters that change from one interval of time to the next; interval k is between bounds k - 1
/// and k and includes the lower one.
struct TorqueTable {
    const double* bounds;   ///< ascending
    const double* origins;  ///< the model's t is counted from the origin of its interval
    std::ptrdiff_t count;   ///< of intervals, one more than of bounds
    View values;            ///< of the first interval, as TorqueTerm::parameters
    std::ptrdiff_t stride;  ///< of `values`, from one interval to the next
};

/// Data of a term besides its parameters; usually empty.
struct TorqueExtra {
    CompiledTorque function = nullptr;
    CompiledForce force = nullptr;  ///< in its place
    void* user_data = nullptr;
    TorqueTable table = {};
};

/// Kicks by a torque just evaluated, one or two: m += factor torque - modified W, with the W of a
/// modified potential, see splitting/schemes.hpp.
struct Kicks {
    int count = 0;  ///< 0: none; else all arrays are stored component by component, in whole packs
    double factor[2] = {};
    double modified[2] = {};    ///< c h^3; not zero only for a model with a derivative
    View inverse_inertia = {};  ///< by component; body = 0: of all bodies
    MutableView m = {};         ///< the momentum of the arguments
    MutableView between = {};   ///< receives m between two kicks, if not null
    bool* nonfinite = nullptr;  ///< by body: set where m is finite and the torque is not
};

/// Properties of a model.
struct TorqueInfo {
    const char* name;
    int parameters;  ///< number of parameters per body, with those of a table
    bool depends_on_t;
    bool depends_on_m;
    bool has_potential;
    bool has_derivative;  ///< needed by schemes with a modified potential
};

/// The bodies of one block, as arguments of a torque function.  All arrays lie component by
/// component, each component `m.component` after the one before, in whole packs.
struct TorqueArguments {
    double t;
    View m;           ///< momentum, body frame
    View attitude;    ///< body to space
    bool matrix;      ///< attitude is (3, 3), else a quaternion
    View parameters;  ///< of the model
    View rotation;    ///< of `derivative`: angular velocity; of `kick`, if `add`: a constant torque
    MutableView out;  ///< what the function gives: three components, nine or one; body frame
    bool add;         ///< add to `out`, else set it; a potential is always set
    TorqueExtra extra = {};
    MutableView state = {};     ///< of the torque's own, see TorqueModel::states
    View x = {}, p = {};        ///< centre of mass and momentum, space frame, see Companion
    View s = {};                ///< state of the torques
    MutableView force = {};     ///< rate of p, to which a term adds; space frame
    MutableView rate = {};      ///< rate of s, to which a term adds
    std::ptrdiff_t first = 0;   ///< number of body 0 of these arrays in the whole batch
    std::ptrdiff_t bodies = 0;  ///< how many of the arrays are bodies: the rest repeat the last
    double duration = 0;        ///< of `kick`
    /// For a torque that calls back: the order of the derivative of the momentum in space that it
    /// returns.  The torque is order 1; -1 means `modified`.
    int order = 1;
    Kicks kicks = {};  ///< after the torque is known
};

/// Works on bodies begin <= i < end.
using TorqueFunction = void (*)(const TorqueArguments& arguments,
                                std::ptrdiff_t begin,
                                std::ptrdiff_t end);

/// One row per model.  If the model does not have a function, its pointer is null.
struct TorqueModel {
    const TorqueInfo* info;
    TorqueFunction torque;
    TorqueFunction derivative;
    TorqueFunction potential;
    /// A of a torque A m + f, row by row.
    TorqueFunction matrix = nullptr;
    bool matrix_is_constant = false;  ///< whether A depends on the parameters alone
    /// The exact flow of m' = torque(t, m), plus a constant torque, for `duration` at fixed time
    /// and attitude: from `m` to `out`.  Used if no other term depends on m.
    TorqueFunction kick = nullptr;
    /// The rotation vector by which the body turns in `duration` besides its free motion, with the
    /// momentum in space constant: from `m` to `out`.
    TorqueFunction turn = nullptr;
    /// W of a modified potential, if it does not follow from `derivative`.
    TorqueFunction modified = nullptr;
    /// Derivative number `order` of a given momentum, in the space frame.
    TorqueFunction given = nullptr;
    /// Numbers per body that the torque stores from step to step, in TorqueArguments::state.
    int states = 0;
};

}  // namespace polhode

#pragma once

/// How a batch is described to the core: plain data, the same at every instruction-set level.

#include <cstddef>

#include "polhode/config.hpp"

namespace polhode {

/// Where one quantity of a batch lies.  Strides in doubles; body = 0 where all bodies share it.
/// Component k of a vector lies `k * component` on, entry (i, j) of a matrix `i * row + j *
/// component`.
struct View {
    const double* data;
    std::ptrdiff_t body;
    std::ptrdiff_t component;
    std::ptrdiff_t row;
    // Inlined everywhere: what a level compiles may not serve another.
    /// From component k on.
    POLHODE_INLINE View from(std::ptrdiff_t k) const {
        return {data + k * component, body, component, row};
    }
};
struct MutableView {
    double* data;
    std::ptrdiff_t body;
    std::ptrdiff_t component;
    std::ptrdiff_t row;
    POLHODE_INLINE MutableView from(std::ptrdiff_t k) const {
        return {data + k * component, body, component, row};
    }
    POLHODE_INLINE operator View() const {
        return {data, body, component, row};
    }  // NOLINT: widening by intent
};

/// What iterations that may take long ask from time to time.  Once it is true they end at once, and
/// what they leave is worth nothing.
struct StopRequest {
    bool (*asked)(void* context);
    void* context;
};

/// Values of a method's options, in the order in which its MethodInfo names them; none: the
/// defaults.
struct OptionValues {
    static constexpr int most = 8;
    /// Of an explicit tableau in `data`, and of an implicit one.
    static constexpr int most_stages = 13, most_implicit_stages = 8;
    int count = 0;
    double value[most] = {};
    const double* data = nullptr;       ///< coefficients that stand for a method; null: its own
    const StopRequest* stop = nullptr;  ///< null: it is not stopped
};

/// A free step of a batch.  Outputs may be the inputs themselves; other overlap is not allowed.
struct StepArguments {
    View inertia;
    View m;
    View attitude;
    View h;
    MutableView m_out;
    MutableView attitude_out;
    std::ptrdiff_t n_steps;
    bool matrix;  ///< attitude is (3, 3), else a quaternion
    OptionValues options = {};
    /// Constants of the bodies from an earlier look at `inertia`, Inertia<T> of pack after pack
    /// from body 0 on (of all bodies where inertia.body = 0); null: to be computed.
    const void* bodies = nullptr;
    /// Count of bodies whose implicit step did not converge; may be null.
    std::ptrdiff_t* without_root = nullptr;
    int energy_correction = 0;  ///< see energy::Correction
    /// What a call in several slices carries from one to the next: target of the energy, unit of
    /// the momentum, and numbers of the method's own (`carried`); null: the steps are all there
    /// are.
    MutableView carried = {};
    std::ptrdiff_t first_step = 0;  ///< steps that earlier slices have done
};

/// A free motion of a batch at given times.
struct MotionArguments {
    View inertia;
    View m;
    View attitude;
    View constants;  ///< of `torque_free::motion_constants`, (3, 3)
    View t;
    MutableView m_out;
    MutableView attitude_out;
    bool matrix;  ///< attitude is (3, 3), else a quaternion
    /// Principal axes in the body frame, in columns; null: the body axes are the principal axes.
    View axes = {};
    /// Count of results that are NaN although m, attitude and t are finite; may be null.
    std::ptrdiff_t* lost = nullptr;
};

/// What a look over the inertias and attitudes of a batch finds.
enum Violation : int { all_valid = 0, some_invalid = 1, some_rod = 2 };

/// The checks of a level; they return bits of enum Violation for bodies begin <= i < end.
struct Checks {
    int (*inertia)(const View& inertia, std::ptrdiff_t begin, std::ptrdiff_t end);
    int (*attitude)(const View& attitude, bool matrix, std::ptrdiff_t begin, std::ptrdiff_t end);
};

/// Steps bodies begin <= i < end; returns the violations on moments and quaternions.
using StepFunction = int (*)(const StepArguments& arguments,
                             std::ptrdiff_t begin,
                             std::ptrdiff_t end);

}  // namespace polhode

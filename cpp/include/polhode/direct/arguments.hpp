#pragma once

/// Direct integrators, which integrate the torque without a splitting: plain data, the same at
/// every instruction-set level.
///
/// A step is a list of stages.  Before each stage the caller evaluates the torque at the state of
/// the bodies.  The stage replaces that state by the next one at which the torque is needed; the
/// last stage leaves the state at the end of the step.  A method depends on no torque model, and no
/// model depends on a method: models are evaluated on blocks of bodies, Python functions on the
/// whole batch, between the same stages.

#include "polhode/batch_arguments.hpp"

namespace polhode {

struct TorqueInfo;

/// Bodies of a block, or of a whole batch, as a stage moves them: whole packs in columns.
struct DirectArguments {
    View inertia;
    const void* bodies;  ///< Inertia<T> pack after pack, as in StepArguments
    MutableView m;       ///< momentum, body frame
    MutableView attitude;
    bool matrix;  ///< attitude is (3, 3), else a quaternion
    /// At the state that the last stage left, in the body frame: the torque, which is L' of the
    /// momentum L in space; then L'', L''' ..., three components each, as many as the stage needs.
    View torque;
    /// Numbers that the method stores from step to step, per body; 0 before the first step.
    MutableView work;
    double h;
    std::ptrdiff_t step;  ///< number of the step, from 0
    OptionValues options;
    int energy_correction;
    int stage = 0;  ///< number of the stage in the list
};

/// Works on bodies begin <= i < end.  Returns false while a body is not done: then the torque is
/// evaluated again at the new state, and the stage, or one `back` before it, runs again.  Bodies
/// that are done stay bit for bit.
using DirectFunction = bool (*)(const DirectArguments& arguments,
                                std::ptrdiff_t begin,
                                std::ptrdiff_t end);

struct DirectStage {
    DirectFunction run;
    double time;      ///< of the torque before the stage, from the start of the step, in units of h
    int derivatives;  ///< of L that it needs, the torque included; 0: no evaluation
    int back = 0;     ///< while it is not done, continue this many stages before it
};

/// The stages of one step.
struct DirectStages {
    const DirectStage* stages;
    int count;
};

/// Steps of an integration, `count` of them from number `first` on.
struct DirectSteps {
    std::ptrdiff_t first, count;
    const double* h;
    std::ptrdiff_t h_stride;  ///< 0: all steps alike
    double t0;
    const double* times;  ///< at the start of each step, and at the end; null: t0 + n h

    // Inlined everywhere: what a level compiles may not serve another.
    POLHODE_INLINE double length(std::ptrdiff_t n) const { return h[n * h_stride]; }
    POLHODE_INLINE double time(std::ptrdiff_t n) const {
        return times != nullptr ? times[n] : t0 + static_cast<double>(n) * h[0];
    }
};

/// Several steps of bodies begin <= i < end at once, after stage 0 of step 0 has begun them, for
/// one torque model, which is evaluated between the stages without leaving the registers.
struct DirectRun {
    const TorqueInfo* model;  ///< null: no torque
    void (*run)(const DirectArguments& arguments,
                const View& parameters,
                const DirectSteps& steps,
                std::ptrdiff_t begin,
                std::ptrdiff_t end);
};

/// A direct integrator.
struct DirectMethod {
    static constexpr int most_stages = 16;
    static constexpr int most_derivatives = 5;  ///< of L

    int columns;      ///< of DirectArguments::work
    int derivatives;  ///< of L, the most that a stage needs
    int given;        ///< how many of them it needs where L(t) itself is given
    /// The stages of step number n, either a constant list or one written to `room` of
    /// `most_stages`.
    DirectStages (*stages)(std::ptrdiff_t n, const OptionValues& options, DirectStage* room);
    const double* data = nullptr;    ///< OptionValues::data if the options give no data
    DirectFunction begin = nullptr;  ///< prepares `work` for `runs`, with the torque at the start
    const DirectRun* runs = nullptr;
    int run_count = 0;
    int scratch = 0;  ///< columns at the end that no step needs from the one before
};

}  // namespace polhode

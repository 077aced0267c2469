#pragma once

/// @file
/// Direct integrators, which take the torque themselves: plain data, the same at every
/// instruction-set level.
///
/// A step is a list of stages.  Before a stage the caller evaluates the torque at the bodies'
/// state, then the stage makes of it the state at which the torque is wanted next; the last stage
/// leaves the end of the step.  So no method knows what a torque is, nor the other way round: the
/// core evaluates models on blocks of bodies, Python evaluates functions on the whole batch, and
/// both run the same stages.

#include "polhode/batch_arguments.hpp"

namespace polhode {

/// Bodies of a block, or of a whole batch, as a stage sees them.
struct DirectArguments {
    View inertia;
    const void* bodies;  ///< Inertia<T> pack after pack, as in StepArguments; null: to be computed
    MutableView m;       ///< momentum, body frame
    MutableView attitude;
    bool matrix;  ///< attitude is (3, 3), else a quaternion
    /// At the state that the last stage left, seen from the body: the torque, which is L' of the
    /// momentum L in space; then L'', L''' ..., three components each, as many as were asked for.
    View torque;
    /// Numbers of the method's own, kept from step to step; 0 before the first step.
    MutableView work;
    double h;
    std::ptrdiff_t step;  ///< number of the step, from 0
    OptionValues options;
    int energy_correction;
    const double* data;  ///< of the method, the same for all bodies (coefficients); or null
    int stage = 0;       ///< number of the stage in the list
};

/// Works on bodies begin <= i < end.  False: the torque is wanted once more at the state that is
/// now left, and the stage, or one `back` before it, is then run again; a body that is done stays
/// bit for bit.
using DirectFunction = bool (*)(const DirectArguments& arguments,
                                std::ptrdiff_t begin,
                                std::ptrdiff_t end);

struct DirectStage {
    DirectFunction run;
    double time;      ///< at which the torque is wanted before the stage, in steps after its start
    int derivatives;  ///< of L that are wanted, the torque included; 0: it is not evaluated
    int back = 0;     ///< where it is not done, go on so many stages before it
};

/// The stages of one step.
struct DirectStages {
    const DirectStage* stages;
    int count;
};

/// One row per method.
struct DirectMethod {
    const char* name;  ///< as in the list of methods
    int columns;       ///< numbers of its own a body
    int starting;      ///< first steps that are made by `start` in place of `step`
    int derivatives;   ///< of L, the most that a stage asks for
    int given;         ///< how many of them it needs where L(t) is given
    DirectStages step;
    const DirectStages* start;  ///< one list per value of its option `start`
    int starts;
    /// The stages where they depend on `data`, written to `list` of `most_stages`; null: they do
    /// not.
    DirectStages (*make)(const double* data, DirectStage* list) = nullptr;
    const double* data = nullptr;  ///< for DirectArguments, unless the options have some

    static constexpr int most_stages = 16;

    const double* data_with(const OptionValues& options) const {
        return options.data != nullptr ? options.data : data;
    }
    /// Of step number n; `list` has room for `most_stages`.
    DirectStages stages(std::ptrdiff_t n,
                        int which_start,
                        const OptionValues& options,
                        DirectStage* list) const {
        if (n < starting) return start[which_start];
        return make != nullptr ? make(data_with(options), list) : step;
    }
};

}  // namespace polhode

#pragma once

/// @file
/// How an integration with torque is described to the core: plain data, the same at every
/// instruction-set level.

#include "polhode/batch_arguments.hpp"
#include "polhode/direct/arguments.hpp"
#include "polhode/torque/arguments.hpp"

namespace polhode {

/// One flow of a step, for the time `coefficient` h.
struct Stage {
    enum Kind : int { flow = 0, kick = 1 };
    Kind kind;
    double coefficient;
    double modified = 0;  ///< c of a kick with modified potential
};

/// Orders of a scheme for a small torque: with a torque of size e the error of a step is a sum of
/// e h^{p1}, e^2 h^{p2} ... e^k h^{pk} and higher powers of e times h^{pk}, each times h.  Zeros
/// follow the last.
struct GeneralisedOrder {
    int power[4] = {};
};

/// What a splitting scheme is, as data.
struct SplittingScheme {
    const char* name;
    int order;           ///< in h
    const char* kind;    ///< family
    bool symmetric;      ///< step(-h) undoes step(h)
    bool attitude_only;  ///< its order needs a torque of the attitude alone
    const char* source;
    GeneralisedOrder generalised;
    int effective_order;  ///< of the scheme between a processing step and its inverse
    const Stage* stages;
    int count;
};

/// One term of the torque.
struct TorqueTerm {
    const TorqueModel* model;
    /// Shared by all bodies (body = 0) or parameter by parameter (body = 1), then readable up to
    /// the next multiple of `block_bodies`.
    View parameters;
    TorqueExtra extra = {};
};

/// The whole batch is one block: its torque may depend on the state of all bodies.
struct WholeBatch {
    static constexpr int most_derivatives = 5;  ///< of the momentum
    static constexpr int numbers = 4 * 3 + 1 + 3 * most_derivatives;

    using Work = void (*)(const void* context, std::ptrdiff_t begin, std::ptrdiff_t end);
    /// Calls work(context, begin, end) on shares of 0 ... count - 1.
    void (*share)(void* self, std::ptrdiff_t count, Work work, const void* context);
    void* self;
    /// `numbers` for each body: the block then works in the arrays of the problem.  These numbers
    /// and the next two are preserved from call to call.  Null: it works on copies, as all blocks.
    double* data;
    bool torque_is_current = false;
    double torque_time = 0;
};

/// Steps `first_step` ... `first_step` + `n_steps` - 1 of an integration of `total_steps`.  It
/// begins with no steps at first_step = 0, which makes the attitudes unit and saves the start.
struct SplittingProblem {
    /// Bodies that are stepped together from one save to the next; blocks begin at its multiples.
    static constexpr std::ptrdiff_t block_bodies = 128;

    StepFunction flow;
    OptionValues options;  ///< of the flow's method
    View inertia;
    const Stage* stages;
    int stage_count;
    const TorqueTerm* terms;
    int term_count;
    const double* h;
    std::ptrdiff_t h_stride;  ///< 0: all steps alike
    double t0;
    const double* times;  ///< at the start of each step, and at the end; null: t0 + n h
    bool matrix;
    MutableView m, attitude;     ///< the state: written at the end
    View m_from, attitude_from;  ///< the state before the first of these steps
    bool keeps_state;            ///< false: the state is not written, since a save has it
    MutableView lost;            ///< what rounding took from m, kept and given back; null: dropped
    MutableView m_saved, attitude_saved;
    std::ptrdiff_t m_save_stride, attitude_save_stride;  ///< from one save to the next
    std::ptrdiff_t first_step, n_steps, total_steps, save_every;
    /// A direct integrator, in place of flow and stages; null: a splitting.
    const DirectMethod* direct = nullptr;
    int energy_correction = 0;  ///< see energy::Correction
    MutableView work = {};      ///< its columns
    /// By body: set where m is finite and the torque is not.
    bool* by_torque = nullptr;
    WholeBatch* whole = nullptr;  ///< null: no body's torque depends on another body
};

}  // namespace polhode

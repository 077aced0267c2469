#pragma once

/// How an integration with torque is described to the core: plain data, the same at every
/// instruction-set level.

#include <cstdint>

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
    /// The processor P of a processed scheme: n steps are P K^n P^-1, K the step of `stages`.
    const Stage* processor = nullptr;
    int processor_count = 0;
};

/// One term of the torque.
struct TorqueTerm {
    const TorqueModel* model;
    /// Shared by all bodies (body = 0) or parameter by parameter (body = 1), then readable up to
    /// the next multiple of `block_bodies`.
    View parameters;
    TorqueExtra extra = {};
};

/// Numbers per body that move with it: the position changes in flows, the others in kicks.
struct Companion {
    enum Kind : int { position, momentum, state, kinds };  ///< x and p in the space frame; s
    int size = 0;                                          ///< 0: the bodies do not have it
    MutableView now = {};
    MutableView saved = {};
    std::ptrdiff_t save_stride = 0;
};

/// A heat bath before and after each step, see `splitting::heat_bath`.
struct Heat {
    double temperature = 0;  ///< k T
    double friction = 0;     ///< gamma; 0: no bath
    std::uint64_t seed = 0;
};

/// Chains of links before and after each step of a whole batch, see `splitting::nose_hoover`: the
/// first of rotation, the second of translation.
struct NoseHoover {
    double temperature = 0;   ///< k T
    double time = 0;          ///< tau
    double freedom[2] = {};   ///< degrees of freedom of each chain
    int links = 0;            ///< of a chain; 0: no bath
    double* now = nullptr;    ///< position and velocity of each link, changed in place
    double* saved = nullptr;  ///< the same of all saves; null: not saved

    int numbers() const { return 4 * links; }
};

/// The whole batch is one block: its torque may depend on the state of all bodies.
struct WholeBatch {
    using Work = void (*)(const void* context, std::ptrdiff_t begin, std::ptrdiff_t end);
    /// Calls work(context, begin, end) on shares of 0 ... count - 1.
    void (*share)(void* self, std::ptrdiff_t count, Work work, const void* context);
    void* self;
    /// For a torque in Python, which is evaluated as seldom as possible: called after each step,
    /// false ends the run.  The last torque is preserved from call to call in three columns, the
    /// force in the next three.
    bool (*goes_on)(void* self) = nullptr;
    double* torque = nullptr;
    bool torque_is_current = false;
    double torque_time = 0;
    /// Sets `inertia` of the problem to the moments at time t, before a flow or a bath; null:
    /// constant.
    void (*set_moments)(void* self, double t) = nullptr;

    bool calls_back() const { return goes_on != nullptr; }
    /// From one column to the next: an odd number of cache lines.  Then the distance of two columns
    /// is a multiple of 4096 bytes only after 64 of them, and a load hardly ever waits for a store
    /// to another column.
    static constexpr std::ptrdiff_t column_length(std::ptrdiff_t bodies) {
        return (padded(bodies) / 8 | 1) * 8;
    }
    /// The number of bodies, rounded up to whole packs of the widest level.
    static constexpr std::ptrdiff_t padded(std::ptrdiff_t bodies) {
        return (bodies + 15) / 16 * 16;
    }
};

/// Steps `first_step` ... `first_step` + `n_steps` - 1 of an integration of `total_steps`.  It
/// begins with no steps at first_step = 0, or with steps that have `begins`, which makes the
/// attitudes unit and saves the start.
struct SplittingProblem {
    /// Bodies that are stepped together from one save to the next; blocks begin at its multiples.
    static constexpr std::ptrdiff_t block_bodies = 128;

    StepFunction flow;
    OptionValues options;  ///< of the flow's method
    View inertia;
    const Stage* stages;
    int stage_count;
    const Stage* processor = nullptr;  ///< see SplittingScheme
    int processor_count = 0;
    bool exact_flow = false;  ///< two flows in a row are one of the sum of their times
    const TorqueTerm* terms;
    int term_count;
    const double* h;
    std::ptrdiff_t h_stride;  ///< 0: all steps alike
    double t0;
    const double* times;  ///< at the start of each step, and at the end; null: t0 + n h
    bool matrix;
    /// The state: written at the end.  Between two calls it is the one with which the next step
    /// goes on, see Steps::passes, while the saves are those of complete steps.
    MutableView m, attitude;
    View m_from, attitude_from;  ///< the state before the first of these steps
    bool keeps_state;            ///< false: the state is not written, since a save has it
    MutableView compensation;    ///< rounding errors of m; null: dropped
    /// Principal axes of the bodies in the body axes, in which the state before the
    /// first step, the saves and the torque are; after the first step the state is along the
    /// principal axes.  `axes_numbers` per body: a rotation matrix with the axes in its columns,
    /// row by row, and its quaternion.  Null: the body axes are the principal ones.
    static constexpr int axes_numbers = 13;
    View axes = {};
    /// Numbers per body that the torque stores from step to step.
    MutableView torque_state = {};
    int torque_states = 0;
    Companion companions[Companion::kinds] = {};
    View mass = {};  ///< shared, or by body
    Heat heat = {};
    NoseHoover nose_hoover = {};
    bool has_bath() const { return heat.friction > 0 || nose_hoover.links > 0; }
    bool midpoint_kicks = false;  ///< a torque that depends on m is kicked in order 2, not 4
    MutableView m_saved, attitude_saved;
    std::ptrdiff_t m_save_stride, attitude_save_stride;  ///< from one save to the next
    std::ptrdiff_t first_step, n_steps, total_steps, save_every;
    bool begins = false;     ///< not with `axes`
    bool steps_join = true;  ///< false: every step is completed, see Steps::passes
    bool open_end = false;   ///< equal steps may go on after the last: it is not completed
    /// A direct integrator, in place of flow and stages; null: a splitting.
    const DirectMethod* direct = nullptr;
    int energy_correction = 0;  ///< see energy::Correction
    MutableView work = {};      ///< its columns
    int work_columns = 0;       ///< those that the next steps need, the first of them
    /// By body: set where m is finite and the torque is not.
    bool* nonfinite_torque = nullptr;
    WholeBatch* whole = nullptr;  ///< null: no body's torque depends on another body
};

/// The error of a step: of m at most atol_m + rtol |m|, of q at most atol_q + rtol.
struct StepTolerance {
    double rtol, atol_m, atol_q;
};

/// Steps whose lengths follow from their errors, to the last of `times`, each of which ends a step.
/// The rows of the saves are the states at these times, or after each step.
struct AdaptiveProblem {
    double* t;  ///< of each body, at the end the time that it has reached
    const double* times;
    std::ptrdiff_t count;
    StepTolerance tolerance;
    double first_step;  ///< 0: chosen
    double max_step;
    bool begins;                ///< the state is the start; else `work` is that of an earlier call
    bool one_step;              ///< all bodies take the same steps
    std::ptrdiff_t most_steps;  ///< after so many steps a body stays at its time
    double* step_times;         ///< of each row and body, where rows are steps; else null
    // By body: steps that were accepted and rejected; whether a step became too short.
    std::int64_t *steps, *rejected;
    bool* lost;
};

}  // namespace polhode

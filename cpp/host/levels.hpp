#pragma once

/// The interface of the levels: tables of functions, one set of tables per level.
///
/// This file is not compiled per level, so it must not contain code that needs an instruction set.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "polhode/batch_arguments.hpp"
#include "polhode/method_info.hpp"
#include "polhode/splitting/arguments.hpp"

namespace polhode::dispatch {

/// A NumPy inner loop: args, dimensions, steps, data.
using UfuncLoop = void (*)(char** args,
                           const std::intptr_t* dimensions,
                           const std::intptr_t* steps,
                           void* data);

/// A NumPy ufunc of doubles, generalised where its signature has lengths: "(4),(3)->(3)".
struct ArrayFunction {
    const char* name;
    const char* signature;
    int inputs;
    int outputs;
    UfuncLoop loop;
};
using ArrayFunctions = std::span<const ArrayFunction>;

/// The array function with this name; null if there is none.
const ArrayFunction* function(std::string_view name);

/// Calls an array function for n elements of contiguous operands.
///
/// @param one_first  whether the first operand is one element for all
void call(const ArrayFunction& f,
          std::intptr_t n,
          const double* const* inputs,
          double* const* outputs,
          bool one_first = false);

/// One row per method, in the order of methods.hpp.
struct StepRow {
    const MethodInfo* info;
    StepFunction step;
    int carried;  ///< numbers that a multistep method carries from step to step; -1: it is none
    int history;  ///< steps that it combines; the first history - 1 are made by another method
    bool may_lack_root;  ///< with the defaults of its options
};

struct TorqueFreeTable {
    const StepRow* rows;
    int methods;
    Checks checks;
};

struct MotionTable {
    void (*evaluate)(const MotionArguments& arguments, std::ptrdiff_t begin, std::ptrdiff_t end);
};

struct SplittingTable {
    void (*run)(const SplittingProblem& problem, std::ptrdiff_t begin, std::ptrdiff_t end);
    std::span<const TorqueModel> models;
};

struct AdaptiveTable {
    void (*run)(const SplittingProblem& problem,
                const AdaptiveProblem& adaptive,
                std::ptrdiff_t begin,
                std::ptrdiff_t end);
};

/// One row per method; one without stages is no direct integrator.
struct DirectTable {
    const DirectMethod* rows;
};

struct Level {
    const char* name;
    const ArrayFunctions* elliptic;
    const ArrayFunctions* functions;  ///< the others
    const TorqueFreeTable* torque_free;
    const MotionTable* motion;
    const SplittingTable* splitting;
    const DirectTable* direct;
    const AdaptiveTable* adaptive;
};

/// The level in use, chosen at import: the best that the processor has, or POLHODE_ISA.
const Level& level();

/// The level for so many bodies: one body alone takes the scalar level where that gives the same
/// bits, in half the time.
const Level& level_for(std::ptrdiff_t bodies);

/// Names of the levels that this processor can run, best first, separated by spaces.
std::string supported_levels();

/// The best level of this processor, whether this build has it or not; "" if that is not known.
const char* processor_level();

// Name of a level's table: POLHODE_TABLE(elliptic) is elliptic_v3 in the objects of level v3.
#define POLHODE_PASTE_(a, b) a##_##b
#define POLHODE_PASTE(a, b) POLHODE_PASTE_(a, b)
#define POLHODE_TABLE(topic) POLHODE_PASTE(topic, POLHODE_LEVEL)

#define POLHODE_DECLARE_LEVEL(level)                                \
    extern const ArrayFunctions POLHODE_PASTE(elliptic, level);     \
    extern const ArrayFunctions POLHODE_PASTE(functions, level);    \
    extern const TorqueFreeTable POLHODE_PASTE(torque_free, level); \
    extern const MotionTable POLHODE_PASTE(motion, level);          \
    extern const SplittingTable POLHODE_PASTE(splitting, level);    \
    extern const DirectTable POLHODE_PASTE(direct, level);          \
    extern const AdaptiveTable POLHODE_PASTE(adaptive, level);
#if defined(POLHODE_LEVEL)
POLHODE_DECLARE_LEVEL(POLHODE_LEVEL)
#endif

}  // namespace polhode::dispatch

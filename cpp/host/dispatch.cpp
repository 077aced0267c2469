/// Chooses the instruction-set level once, at import.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "built_levels.hpp"
#include "levels.hpp"
#include "polhode/interface/overlap.hpp"

#if defined(POLHODE_HAS_X86_LEVELS)
#include "x86_levels.hpp"
#endif

namespace polhode::dispatch {

POLHODE_EACH_LEVEL(POLHODE_DECLARE_LEVEL)

namespace {

#define POLHODE_LEVEL_ROW(level)          \
    {.name = #level,                      \
     .elliptic = &elliptic_##level,       \
     .functions = &functions_##level,     \
     .torque_free = &torque_free_##level, \
     .motion = &motion_##level,           \
     .splitting = &splitting_##level,     \
     .direct = &direct_##level,           \
     .adaptive = &adaptive_##level},
/// The levels of this build, the best first.
constexpr Level levels[] = {POLHODE_EACH_LEVEL(POLHODE_LEVEL_ROW)};

bool is_supported([[maybe_unused]] const std::string& level) {
#if defined(POLHODE_HAS_X86_LEVELS)
    static const X86Levels has;
    return level == "v4" ? has.v4 : level == "v2" ? has.v2 : has.v3;
#else
    return true;
#endif
}

/// POLHODE_ISA, read once: other threads may change the environment later.
const std::string& wanted_level() {
    static const std::string wanted = [] {
        const char* text = std::getenv("POLHODE_ISA");
        return std::string(text == nullptr ? "" : text);
    }();
    return wanted;
}
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): without memory at load, nothing is lost.
[[maybe_unused]] const bool read_at_load = (wanted_level(), true);

const Level& choose() {
    const std::string& wanted = wanted_level();
    std::string names;
    for (const Level& level : levels) {
        if (wanted.empty() ? is_supported(level.name) : wanted == level.name) {
            if (is_supported(level.name)) return level;
            throw std::runtime_error(std::string("POLHODE_ISA=")
                                         .append(wanted)
                                         .append(": this processor lacks instruction-set level ")
                                         .append(wanted));
        }
        names += (names.empty() ? "" : ", ") + std::string(level.name);
    }
    if (!wanted.empty()) {
        throw std::runtime_error("POLHODE_ISA=" + wanted +
                                 ": no such instruction-set level; this build has " + names);
    }
    throw std::runtime_error(
        "this processor lacks every instruction-set level of this build of "
        "polhode, " +
        names + "; build it on this machine, or with POLHODE_LEVELS=all");
}

}  // namespace

// What the Python module takes from libpolhode, besides its C interface.
#pragma GCC visibility push(default)
const Level& level() {
    static const Level& chosen = choose();
    return chosen;
}

const Level& level_for(std::ptrdiff_t bodies) {
    static const Level& one = []() -> const Level& {
        const std::string chosen = level().name;
        if (chosen == "v3" || chosen == "v4") {
            for (const Level& level : levels) {
                if (std::string(level.name) == "scalar") return level;
            }
        }
        return level();
    }();
    return bodies == 1 ? one : level();
}

const ArrayFunction* function(std::string_view name) {
    for (const ArrayFunctions* functions : {level().elliptic, level().functions}) {
        for (const ArrayFunction& f : *functions) {
            if (f.name == name) return &f;
        }
    }
    return nullptr;
}

void call(const ArrayFunction& f,
          std::intptr_t n,
          const double* const* inputs,
          double* const* outputs,
          bool one_first) {
    constexpr std::intptr_t unit = sizeof(double);
    char* args[8];
    std::intptr_t steps[8 + 2 * 8];  // from element to element, then those of the lengths
    std::intptr_t* core_step = steps + f.inputs + f.outputs;
    const char* place = f.signature;
    for (int k = 0; k < f.inputs + f.outputs; ++k) {
        const double* data = k < f.inputs ? inputs[k] : outputs[k - f.inputs];
        args[k] = reinterpret_cast<char*>(const_cast<double*>(data));
        const char* lengths = std::strchr(place, '(');  // "(3)", "(3,3)", "(4)" or "()"
        place = std::strchr(lengths, ')');
        const bool scalar = place == lengths + 1, matrix = place == lengths + 4;
        steps[k] = unit * (scalar ? 1 : (lengths[1] - '0') * (matrix ? 3 : 1));
        if (matrix) *core_step++ = 3 * unit;
        if (!scalar) *core_step++ = unit;
    }
    // An output may be an input, element by element.
    const int operands = f.inputs + f.outputs;
    interface::Array arrays[8];
    for (int k = 0; k < operands; ++k) {
        const auto* const data = reinterpret_cast<const double*>(args[k]);
        const std::intptr_t elements = one_first && k == 0 ? 1 : n;
        arrays[k] = {data, elements * (steps[k] / unit), k < f.inputs ? "an input" : "an output"};
        for (int j = f.inputs; j < operands && k < f.inputs; ++j) {
            if (args[j] == args[k] && steps[j] == steps[k]) arrays[k].data = nullptr;
        }
    }
    const std::span<const interface::Array> all(arrays, static_cast<std::size_t>(operands));
    const auto inputs_first = static_cast<std::size_t>(f.inputs);
    interface::require_apart(all.subspan(inputs_first), all.first(inputs_first));
    if (one_first) steps[0] = 0;
    f.loop(args, &n, steps, nullptr);
}

std::string supported_levels() {
    std::string names;
    for (const Level& level : levels) {
        if (is_supported(level.name)) names.append(names.empty() ? "" : " ").append(level.name);
    }
    return names;
}

const char* processor_level() {
#if defined(POLHODE_HAS_X86_LEVELS)
    return X86Levels().best();
#else
    return "";
#endif
}
#pragma GCC visibility pop

}  // namespace polhode::dispatch

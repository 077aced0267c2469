/// @file
/// Chooses the instruction-set level once, at import.

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "levels.hpp"

#if defined(POLHODE_HAS_X86_LEVELS)
#include <cpuid.h>
#endif

namespace polhode::dispatch {

#define POLHODE_DECLARE_LEVEL(name)                  \
    extern const ArrayFunctions elliptic_##name;     \
    extern const ArrayFunctions attitudes_##name;    \
    extern const ArrayFunctions bodies_##name;       \
    extern const ArrayFunctions rates_##name;        \
    extern const TorqueFreeTable torque_free_##name; \
    extern const MotionTable motion_##name;          \
    extern const SplittingTable splitting_##name;    \
    extern const DirectTable direct_##name;

#if defined(POLHODE_HAS_X86_LEVELS)
POLHODE_DECLARE_LEVEL(v2)
POLHODE_DECLARE_LEVEL(v3)
POLHODE_DECLARE_LEVEL(v4)
POLHODE_DECLARE_LEVEL(scalar)
#else
POLHODE_DECLARE_LEVEL(generic)
#endif

namespace {

struct Candidate {
    Level level;
    bool supported;
    bool automatic;  // may be chosen without POLHODE_ISA
};

#define POLHODE_LEVEL_ROW(level)          \
    {.name = #level,                      \
     .elliptic = &elliptic_##level,       \
     .attitudes = &attitudes_##level,     \
     .bodies = &bodies_##level,           \
     .rates = &rates_##level,             \
     .torque_free = &torque_free_##level, \
     .motion = &motion_##level,           \
     .splitting = &splitting_##level,     \
     .direct = &direct_##level}

#if defined(POLHODE_HAS_X86_LEVELS)
/// Register ecx of a CPUID leaf, or 0 if the processor does not have the leaf.
std::uint32_t ecx_of_leaf(unsigned leaf) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 ? ecx : 0;
}

/// True if the processor has all extensions of x86-64-v2, -v3 or -v4 (x86-64 psABI, table 3.1).
/// __builtin_cpu_supports checks the extensions with new registers, and whether the operating
/// system saves these registers; not every compiler knows the names of the other extensions.
struct X86Levels {
    bool v2, v3, v4;

    X86Levels() {
        __builtin_cpu_init();
        constexpr auto bit = [](int n) { return std::uint32_t{1} << n; };
        const std::uint32_t features = ecx_of_leaf(1), extended = ecx_of_leaf(0x80000001U);
        const auto has = [](std::uint32_t word, std::uint32_t bits) {
            return (word & bits) == bits;
        };
        // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF.
        v2 = has(features, bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23)) &&
             has(extended, bit(0));
        // FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT.
        v3 = v2 && has(features, bit(12) | bit(22) | bit(27) | bit(28) | bit(29)) &&
             has(extended, bit(5)) && __builtin_cpu_supports("avx2") &&
             __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2");
        v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    }
};
#endif

/// The levels, the best first.
template <class Visit>
void for_each_candidate(Visit visit) {
#if defined(POLHODE_HAS_X86_LEVELS)
    const X86Levels has;
    visit(Candidate{POLHODE_LEVEL_ROW(v4), has.v4, true});
    visit(Candidate{POLHODE_LEVEL_ROW(v3), has.v3, true});
    visit(Candidate{POLHODE_LEVEL_ROW(v2), has.v2, true});
    visit(Candidate{POLHODE_LEVEL_ROW(scalar), has.v3, false});
#else
    visit(Candidate{POLHODE_LEVEL_ROW(generic), true, true});
#endif
}

Level choose() {
    const char* wanted = std::getenv("POLHODE_ISA");
    Level chosen{};
    std::string known;
    bool unsupported = false;
    for_each_candidate([&](const Candidate& c) {
        known += known.empty() ? c.level.name : std::string(", ") + c.level.name;
        if (wanted != nullptr && *wanted != '\0') {
            if (std::string(wanted) != c.level.name) return;
            unsupported = !c.supported;
            chosen = c.level;
        } else if (chosen.name == nullptr && c.supported && c.automatic) {
            chosen = c.level;
        }
    });
    if (unsupported) {
        throw std::runtime_error("POLHODE_ISA=" + std::string(wanted) +
                                 ": this processor lacks instruction-set level " + wanted);
    }
    if (chosen.name == nullptr) {
        if (wanted != nullptr && *wanted != '\0') {
            throw std::runtime_error("POLHODE_ISA=" + std::string(wanted) +
                                     ": no such instruction-set level; there are " + known);
        }
        throw std::runtime_error("this processor lacks every instruction-set level that polhode " +
                                 ("was built for: " + known));
    }
    return chosen;
}

}  // namespace

// What the Python module takes from libpolhode, besides its C interface.
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
const Level& level() {
    static const Level chosen = choose();
    return chosen;
}

const Level& level_for([[maybe_unused]] std::ptrdiff_t bodies) {
#if defined(POLHODE_HAS_X86_LEVELS)
    static const Level scalar = POLHODE_LEVEL_ROW(scalar);
    static const std::string chosen = level().name;
    static const bool same_bits = chosen == "v3" || chosen == "v4";
    if (bodies == 1 && same_bits) return scalar;
#endif
    return level();
}

std::string supported_levels() {
    std::string names;
    for_each_candidate([&](const Candidate& c) {
        if (c.supported) names += names.empty() ? c.level.name : std::string(" ") + c.level.name;
    });
    return names;
}
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

}  // namespace polhode::dispatch

/// @file
/// Picks the instruction-set level once, at import.

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "levels.hpp"

namespace polhode::dispatch {

#define POLHODE_DECLARE_LEVEL(name)                  \
    extern const EllipticTable elliptic_##name;      \
    extern const TorqueFreeTable torque_free_##name; \
    extern const AttitudesTable attitudes_##name;    \
    extern const BodiesTable bodies_##name;          \
    extern const MotionTable motion_##name;          \
    extern const SplittingTable splitting_##name;    \
    extern const RatesTable rates_##name;

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
    bool automatic;  // chosen without being asked for
};

#define POLHODE_LEVEL_ROW(name)                                                          \
    {#name, &elliptic_##name, &torque_free_##name, &attitudes_##name, &bodies_##name, \
     &motion_##name, &splitting_##name, &rates_##name}

/// Best level first.
template <class Visit>
void for_each_candidate(Visit visit) {
#if defined(POLHODE_HAS_X86_LEVELS)
    __builtin_cpu_init();
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    visit(Candidate{POLHODE_LEVEL_ROW(v4), v4, true});
    visit(Candidate{POLHODE_LEVEL_ROW(v3), v3, true});
    visit(Candidate{POLHODE_LEVEL_ROW(v2), v2, true});
    visit(Candidate{POLHODE_LEVEL_ROW(scalar), v3, false});
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

const Level& level() {
    static const Level chosen = choose();
    return chosen;
}

std::string supported_levels() {
    std::string names;
    for_each_candidate([&](const Candidate& c) {
        if (c.supported) names += names.empty() ? c.level.name : std::string(" ") + c.level.name;
    });
    return names;
}

}  // namespace polhode::dispatch

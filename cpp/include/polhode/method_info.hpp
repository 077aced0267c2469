#pragma once

#include "polhode/batch_arguments.hpp"

namespace polhode {

/// What a method is, as data.
struct MethodInfo {
    const char* name;
    int order;               ///< of accuracy in h; 0: exact
    const char* kind;        ///< family
    const char* invariants;  ///< kept to rounding, separated by spaces
    bool symmetric;          ///< step(-h) undoes step(h)
    const char* options;     ///< "name=default" of its options, separated by spaces; defaults in
                             ///< Python's notation
    const char* source;
    bool may_lack_root =
        false;  ///< it solves equations: a body may come out NaN for want of a root
    bool corrects_energy = false;  ///< its last option is `energy_correction`
    int history = 0;  ///< steps whose states it combines; the first history - 1 are made
                      ///< by another method; 0: it has none
};

/// The value of that option.
constexpr int energy_correction(const MethodInfo& info, const OptionValues& options) {
    return info.corrects_energy && options.count > 0
               ? static_cast<int>(options.value[options.count - 1])
               : 0;
}

}  // namespace polhode

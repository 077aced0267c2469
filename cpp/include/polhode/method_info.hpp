#pragma once

/// What a method is, as data: the same at every instruction-set level.

#include "polhode/batch_arguments.hpp"
#include "polhode/config.hpp"

namespace polhode {

/// An option of a method.  `methods()`, the check of a value and the messages about it come from
/// here.  The core takes every value as a number.
struct Option {
    const char* name;
    const char* kind;     ///< "number", "choice" or "axes", see
                          ///< python/polhode/integrators/method_options.py
    double standard;      ///< the default, as the core takes it
    const char* choices;  ///< of a choice, in Python's notation, separated by spaces; the core
                          ///< takes the place in this list
    const char* doc;
};

/// The option of the methods whose energy can be corrected, see energy::Correction.
inline constexpr Option energy_correction_option{
    "energy_correction",
    "choice",
    0,
    "False True 'buss'",
    "turn the body after each step so that the energy keeps its value; 'buss': by [Buss01] Sec. 4"};

struct MethodInfo {
    static constexpr int most_options = 4;

    const char* name;
    int order;               ///< of accuracy in h; 0: exact
    const char* kind;        ///< family
    const char* invariants;  ///< kept to rounding, separated by spaces
    bool symmetric;          ///< step(-h) undoes step(h)
    const char* source;
    Option options[most_options] = {};  ///< unused if without a name
    /// What is wrong with complete values that do not go together; null: nothing.
    const char* (*contradiction)(const OptionValues& values) = nullptr;

    /// Whether two steps in a row are one of the sum of their times.
    POLHODE_INLINE constexpr bool is_exact() const { return order == 0 && kind[0] == 'e'; }
    // Inlined everywhere: must not be shared between instruction-set levels.
    POLHODE_INLINE constexpr int option_count() const {
        int count = 0;
        while (count < most_options && options[count].name != nullptr) ++count;
        return count;
    }
    /// Where `energy_correction` stands among the options; -1: the energy cannot be corrected.
    POLHODE_INLINE constexpr int place_of_correction() const {
        for (int k = 0; k < option_count(); ++k) {
            const char* a = options[k].name;
            const char* b = energy_correction_option.name;
            while (*a != 0 && *a == *b) ++a, ++b;
            if (*a == *b) return k;
        }
        return -1;
    }
    POLHODE_INLINE constexpr bool corrects_energy() const { return place_of_correction() >= 0; }
    /// The value of that option, of complete values; 0: no correction.
    POLHODE_INLINE constexpr int energy_correction(const OptionValues& values) const {
        return corrects_energy() ? static_cast<int>(values.value[place_of_correction()]) : 0;
    }
    /// The given values, followed by defaults.
    POLHODE_INLINE constexpr OptionValues complete(OptionValues values) const {
        for (int k = values.count; k < option_count(); ++k) values.value[k] = options[k].standard;
        values.count = option_count();
        return values;
    }
};

}  // namespace polhode

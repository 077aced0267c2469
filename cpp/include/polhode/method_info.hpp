#pragma once

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
};

}  // namespace polhode

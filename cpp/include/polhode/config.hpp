#pragma once

/// The namespace of polhode.
///
/// Each header is compiled several times into one extension, once per instruction-set level.  Each
/// level is an inline namespace: a user writes polhode::sqrt, and the symbol is polhode::v3::sqrt.
/// So the linker cannot merge inline functions of different levels, and no level can run an
/// instruction that the processor does not have.

#ifndef POLHODE_LEVEL
#define POLHODE_LEVEL generic
#endif

// Two warnings mean nothing here.  GCC: vectors wider than the registers are passed to functions,
// but all of those are inlined.  Clang: & and | of truth values, which for packs are masks.
#if defined(__clang__)
#define POLHODE_QUIET                                                    \
    _Pragma("clang diagnostic push")                                     \
        _Pragma("clang diagnostic ignored \"-Wunknown-warning-option\"") \
            _Pragma("clang diagnostic ignored \"-Wbitwise-instead-of-logical\"")
#define POLHODE_LOUD _Pragma("clang diagnostic pop")
// The rules of IEEE 754 whatever the options of the program: Clang has no macro that shows all of
// the options that break them (-fassociative-math).  GCC has one: see real.hpp.
#define POLHODE_EXACT _Pragma("float_control(precise, on, push)") _Pragma("clang fp contract(off)")
#define POLHODE_AS_BEFORE _Pragma("float_control(pop)")
#else
#define POLHODE_QUIET _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpsabi\"")
#define POLHODE_LOUD _Pragma("GCC diagnostic pop")
#define POLHODE_EXACT
#define POLHODE_AS_BEFORE
#endif

/// Opens polhode::name, or polhode without a name.
#define POLHODE_NAMESPACE_BEGIN(...) \
    POLHODE_QUIET                    \
    POLHODE_EXACT                    \
    namespace polhode::inline POLHODE_LEVEL __VA_OPT__(::) __VA_ARGS__ {
#define POLHODE_NAMESPACE_END \
    }                         \
    POLHODE_AS_BEFORE         \
    POLHODE_LOUD

#define POLHODE_INLINE [[gnu::always_inline]] inline
#define POLHODE_INLINE_LAMBDA __attribute__((always_inline))
#define POLHODE_UNROLL _Pragma("GCC unroll 16")

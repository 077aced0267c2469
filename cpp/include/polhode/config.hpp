#pragma once

/// @file
/// The namespace of everything in polhode.
///
/// One header is compiled several times into one extension, once per instruction-set level.  Each
/// level is an inline namespace, so that a user writes polhode::sqrt while the linker sees
/// polhode::v3::sqrt: no inline function can be merged across levels, and none can bring an
/// instruction into a path that the processor lacks.

#ifndef POLHODE_LEVEL
#define POLHODE_LEVEL generic
#endif

#define POLHODE_NAMESPACE_BEGIN \
    namespace polhode {         \
    inline namespace POLHODE_LEVEL {
#define POLHODE_NAMESPACE_END \
    }                         \
    }

#if defined(__GNUC__) || defined(__clang__)
#define POLHODE_INLINE [[gnu::always_inline]] inline
#define POLHODE_INLINE_LAMBDA __attribute__((always_inline))
#define POLHODE_UNROLL _Pragma("GCC unroll 16")
#else
#define POLHODE_INLINE inline
#define POLHODE_INLINE_LAMBDA
#define POLHODE_UNROLL
#endif

#pragma once

/// Refuses an older C++ or compiler in one line, before the errors that it would give.

// GCC 10 says 201709 with -std=c++20; MSVC says 199711 with any standard.
#if __cplusplus <= 201703L && !defined(_MSC_VER)
#error "polhode needs C++20: compile with -std=c++20"
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
#error "polhode needs GCC 11 or later, or Clang 14 or later"
#endif

/// Prints the best instruction-set level of this processor, for CMakeLists.txt.

#include <cstdio>

#include "x86_levels.hpp"

int main() { std::puts(polhode::dispatch::X86Levels().best()); }

#pragma once

/// The instruction-set levels of the x86-64 processor that runs this.

#include <cpuid.h>

#include <cstdint>

namespace polhode::dispatch {

/// Register ecx of a CPUID leaf, or 0 if the processor does not have the leaf.
inline std::uint32_t ecx_of_leaf(unsigned leaf) {
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
    /// The best of them; "" if the processor has none.
    const char* best() const { return v4 ? "v4" : v3 ? "v3" : v2 ? "v2" : ""; }
};

}  // namespace polhode::dispatch

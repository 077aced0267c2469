#pragma once

/// @file
/// Splitting schemes as data: a step is a list of free flows and kicks.
///
/// With A the free flow and B the kick m += b h f (f the torque), a symmetric scheme of s stages is
/// the palindrome
///
///     outer_1 inner_1 outer_2 ... inner_s outer_{s+1}     [CZ08] Appendix, eq. (23)
///
/// of which only the first half is stored, so that an asymmetric table cannot be written; that the
/// coefficients of either letter add up to 1 is asserted beside each table, the order conditions
/// are checked by tests/test_splitting.py.  A kick may carry a modified potential,
///
///     m += b h f - c h^3 W.
///
/// A new scheme is one table and one row of `all`.

#include <array>

#include "polhode/config.hpp"
#include "polhode/splitting/arguments.hpp"

POLHODE_NAMESPACE_BEGIN
namespace splitting {

namespace detail {
constexpr bool is_small(double x) { return x < 0x1p-50 && -x < 0x1p-50; }
}  // namespace detail

/// A palindrome of `Stages` inner and `Stages` + 1 outer flows.
template <int Stages>
struct Symmetric {
    static constexpr int length = 2 * Stages + 1;
    Stage::Kind outer;
    std::array<double, Stages / 2 + 1> outer_half;
    std::array<double, (Stages + 1) / 2> inner_half;
    /// c of the kicks, beside `outer_half` or `inner_half`, whichever are the kicks.
    std::array<double, Stages / 2 + 1> modified_half{};

    constexpr std::array<Stage, length> stages() const {
        std::array<Stage, length> result{};
        for (int i = 0; i < length; ++i) {
            const int from_end = i < length - 1 - i ? i : length - 1 - i;
            const bool is_outer = from_end % 2 == 0;
            const std::size_t k = static_cast<std::size_t>(from_end / 2);
            const bool is_kick = is_outer == (outer == Stage::kick);
            result[static_cast<std::size_t>(i)] = {is_kick ? Stage::kick : Stage::flow,
                                                   is_outer ? outer_half[k] : inner_half[k],
                                                   is_kick ? modified_half[k] : 0.0};
        }
        return result;
    }
};

/// The composition S(gamma_1 h) S(gamma_2 h) ... S(gamma_s h), gamma palindromic, of the step
/// S(h) = outer(h/2) inner(h) outer(h/2); neighbouring outer flows are one.
template <int Steps>
struct Composition {
    static constexpr int length = 2 * Steps + 1;
    Stage::Kind outer;
    std::array<double, (Steps + 1) / 2> gamma_half;

    constexpr double gamma(int i) const {
        return gamma_half[static_cast<std::size_t>(i < Steps - 1 - i ? i : Steps - 1 - i)];
    }
    constexpr std::array<Stage, length> stages() const {
        const Stage::Kind inner = outer == Stage::kick ? Stage::flow : Stage::kick;
        std::array<Stage, length> result{};
        for (int i = 0; i < length; ++i) {
            const double before = i > 0 ? gamma((i - 1) / 2) : 0.0;
            const double after = i < length - 1 ? gamma(i / 2) : 0.0;
            result[static_cast<std::size_t>(i)] =
                i % 2 == 0 ? Stage{outer, 0.5 * (before + after)} : Stage{inner, gamma(i / 2)};
        }
        return result;
    }
};

/// Sum of the coefficients of one letter.
template <std::size_t Length>
constexpr double sum(const std::array<Stage, Length>& stages, Stage::Kind kind) {
    double total = 0;
    for (const Stage& stage : stages) total += stage.kind == kind ? stage.coefficient : 0.0;
    return total;
}
template <std::size_t Length>
constexpr bool is_consistent(const std::array<Stage, Length>& stages) {
    return detail::is_small(sum(stages, Stage::flow) - 1) &&
           detail::is_small(sum(stages, Stage::kick) - 1);
}

/// Kick-free-kick, [Vil13] eq. (16), also known as Stormer-Verlet.
inline constexpr auto strang = Composition<1>{Stage::kick, {1.0}}.stages();
static_assert(is_consistent(strang));

/// RKN_14^a of order 6, [CZ08] eq. (23) after [BM02].  There a4 = 0.314241403071477: a misprint,
/// with which the order is lost below an error of 1e-13.
inline constexpr auto rkn6_14 = [] {
    Symmetric<14> s{Stage::flow,
                    {0.0378593198406116,
                     0.102635633102435,
                     -0.0258678882665587,
                     0.314241403071447,
                     -0.130144459517415,
                     0.106417700369543,
                     -0.00879424312851058},
                    {0.09171915262446165,
                     0.183983170005006,
                     -0.05653436583288827,
                     0.004914688774712854,
                     0.143761127168358,
                     0.328567693746804}};
    double a = 0, b = 0;
    for (std::size_t i = 0; i < 7; ++i) a += s.outer_half[i];
    for (std::size_t i = 0; i < 6; ++i) b += s.inner_half[i];
    s.outer_half[7] = 1 - 2 * a;
    s.inner_half[6] = 0.5 - b;
    return s.stages();
}();
static_assert(is_consistent(rkn6_14));

/// THE list of schemes.
inline constexpr SplittingScheme all[] = {
    {"strang", 2, "composition", true, false, "[Vil13] eq. (16)", strang.data(), strang.size()},
    {"rkn6_14", 6, "rkn", true, true, "[CZ08] eq. (23), [BM02]", rkn6_14.data(), rkn6_14.size()},
};

}  // namespace splitting
POLHODE_NAMESPACE_END

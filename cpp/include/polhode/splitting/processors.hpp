#pragma once

/// Processors of schemes whose step K has one kick, in its middle.
///
/// With a processor P a run of n steps is P K^n P^-1.  To first order in the torque a motion is a
/// sum of harmonics e^{i nu t} of the free one.  A kick at the time s h from the middle of a step
/// has the factor e^{i s x} there, x = nu h; the exact motion has the integral over the step,
///
///     2 sin(x/2) / x = 1 - 2 sin(x/2) D(x),   D(x) = 1 / (2 sin(x/2)) - 1 / x
///
/// and K has 1.  The difference is a change of variables at the two ends of the step, and kicks of
/// +-beta_k h at the times +-s_k h make it up where
///
///     2 sum_k beta_k sin(s_k x) = D(x)
///
/// K pairs at equal distances solve the first K conditions of the series in x.  The error is then
/// of the order e h^{2K+2} for a torque of size e, for harmonics with x < 2 pi.  The conditions are
/// linear in the torque and hold for any.  Kicks at different times do not commute, an error of the
/// order e^2 h^3: half of each kick is done on the way from -s_K to s_K and half on the way back,
/// which leaves e^2 h^4.  REFERENCES.md, splitting schemes.

#include <array>

#include "polhode/splitting/arguments.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// Pairs of kicks at the times +-k spacing, k = 1 ... Pairs.
template <int Pairs>
struct Processor {
    static constexpr int kicks = 4 * Pairs - 1, length = 2 * kicks + 1;
    double spacing;
    std::array<double, Pairs> beta;

    /// The times from -s_K to s_K and back.
    constexpr double time(int i) const {
        const int node = i < 2 * Pairs ? i : kicks - 1 - i;
        return spacing * (node < Pairs ? node - Pairs : node - Pairs + 1);
    }
    constexpr double kick(int i) const {
        const double k = time(i) / spacing, half = i == 2 * Pairs - 1 ? 1.0 : 0.5;
        const int pair = static_cast<int>(k < 0 ? -k : k) - 1;
        return (k < 0 ? -half : half) * beta[static_cast<std::size_t>(pair)];
    }
    constexpr std::array<Stage, length> stages() const {
        std::array<Stage, length> result{};
        for (int i = 0; i <= kicks; ++i) {
            const std::size_t k = 2 * static_cast<std::size_t>(i);
            result[k] = {Stage::flow, (i < kicks ? time(i) : 0) - (i > 0 ? time(i - 1) : 0)};
            if (i < kicks) result[k + 1] = {Stage::kick, kick(i)};
        }
        return result;
    }
    /// Whether the first K conditions hold to rounding.
    constexpr bool solves_conditions() const {
        // y / sin y = sum c_j y^{2j}, hence D(x) = sum c_j / 4^j x^{2j-1}.
        double c[Pairs + 1] = {1.0};
        double power = 1, factorial = 1;  // 4^j, (2j-1)!
        for (int j = 1; j <= Pairs; ++j) {
            double odd = 1;
            for (int i = 1; i <= j; ++i) {
                odd *= -1.0 / (2 * i * (2 * i + 1));  // (-1)^i / (2i+1)!
                c[j] -= odd * c[j - i];
            }
            power *= 4;
            if (j > 1) factorial *= (2 * j - 2) * (2 * j - 1);
            double sum = -c[j] / power, size = 0;
            for (int k = 1; k <= Pairs; ++k) {
                double term = 2 * beta[static_cast<std::size_t>(k - 1)] / factorial;
                for (int i = 1; i < 2 * j; ++i) term *= k * spacing;
                sum += j % 2 == 1 ? term : -term;
                size += term < 0 ? -term : term;
            }
            if (sum > 0x1p-50 * size || -sum > 0x1p-50 * size) return false;
        }
        return true;
    }
};

// clang-format off: as many numbers in a line as fit
inline constexpr Processor<4> processor4{1.0 / 4,
    {0.5441093474426807760141, -0.3790961199294532627866, 0.1192063492063492063492,
     -0.01505070546737213403880}};
inline constexpr Processor<8> processor8{5.0 / 16,
    {0.6581435541983041853757, -0.6674828448848493502419, 0.4171227012369019821241,
     -0.1818073177646165645467, 0.05595801572449557447141, -0.01170767603239456159774,
     0.001503491608621850977953, -0.00008981176283024575336060}};
// clang-format on
static_assert(processor4.solves_conditions() && processor8.solves_conditions());

POLHODE_NAMESPACE_END

#pragma once

/// @file
/// A heat bath: the exact step of the Ornstein-Uhlenbeck process of the momenta.

#include <cmath>
#include <cstdint>

#include "polhode/scalar/philox.hpp"
#include "polhode/splitting/block.hpp"

POLHODE_NAMESPACE_BEGIN
namespace splitting {

/// dm = -gamma m dt + sqrt(2 gamma kT I) dW along the principal axes, and p with the mass in place
/// of I, over the time h: m = c m + sqrt(kT (1 - c^2) I) z, c = exp(-gamma h) [BP07].
/// @param part  half of the step; seed, body, step and half are the counter of the random numbers
template <class T>
void heat_bath(const Block<T>& block, double h, std::ptrdiff_t step, int part) {
    const SplittingProblem& p = block.problem;
    const double c = std::exp(-p.heat.friction * h);
    const double spread = p.heat.temperature * -std::expm1(-2 * p.heat.friction * h);
    const auto change =
        [&](const MutableView& v, std::ptrdiff_t i, std::uint64_t draw, View weight) {
            const std::ptrdiff_t body = block.begin + (i < block.count ? i : block.count - 1);
            const std::uint64_t half =
                2 * static_cast<std::uint64_t>(step) + static_cast<unsigned>(part);
            const auto z = normals(
                philox({static_cast<std::uint64_t>(body), half, draw, 0}, {p.heat.seed, 0}));
            for (int k = 0; k < 3; ++k) {
                double& x = v.data[k * v.component + i];
                const double w = weight.data[body * weight.body + k * weight.component];
                x = c * x + std::sqrt(spread * w) * z[static_cast<std::size_t>(k)];
            }
        };
    View mass = p.mass;
    mass.component = 0;
    block.share([&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t i = begin; i < end; ++i) {
            change(block.m, i, 0, p.inertia);
            if (mass.data != nullptr) change(block.companions[Companion::momentum], i, 1, mass);
        }
    });
}

}  // namespace splitting
POLHODE_NAMESPACE_END

#pragma once

/// A heat bath: the exact step of the Ornstein-Uhlenbeck process of the momenta.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "polhode/scalar/philox.hpp"
#include "polhode/splitting/block.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// dm = -gamma m dt + sqrt(2 gamma kT I) dW along the principal axes, and p with the mass in place
/// of I, over the time h: m = c m + sqrt(kT (1 - c^2) I) z, c = exp(-gamma h) [BP07].
/// @param part  half of the step; seed, body, step and half are the counter of the random numbers
template <class T>
void heat_bath(const Block<T>& block, double h, std::ptrdiff_t step, int part) {
    const SplittingProblem& p = block.problem;
    const T c(std::exp(-p.heat.friction * h));
    const T spread(p.heat.temperature * -std::expm1(-2 * p.heat.friction * h));
    const std::uint64_t half = 2 * static_cast<std::uint64_t>(step) + static_cast<unsigned>(part);
    const auto change =
        [&](const MutableView& v, std::ptrdiff_t i, std::uint64_t draw, const Vec3<T>& weight)
            POLHODE_INLINE_LAMBDA {
                constexpr int lanes = lanes_v<T>;
                double numbers[4 * lanes];
                for (int lane = 0; lane < lanes; ++lane) {
                    const std::ptrdiff_t body = block.begin + std::min(i + lane, block.count - 1);
                    const auto words =
                        philox({static_cast<std::uint64_t>(body), half, draw, 0}, {p.heat.seed, 0});
                    for (int k = 0; k < 4; ++k)
                        numbers[k * lanes + lane] = static_cast<double>(
                            static_cast<std::int64_t>(words[static_cast<std::size_t>(k)] >> 11));
                }
                T x[4];
                batch::load(View{numbers, 1, lanes, 0}, 0, lanes, x);
                const Vec3<T> z = normals(x), w = spread * weight,
                              deviation{sqrt(w.x), sqrt(w.y), sqrt(w.z)};
                block.store(v, i, axpy(times(deviation, z), c, block.vec3(v, i)));
            };
    const MutableView& momentum = block.companions[Companion::momentum];
    block.share([&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t i = begin; i < end; i += lanes_v<T>) {
            change(block.m, i, 0, block.moments(i));
            if (momentum.data == nullptr) continue;
            const T mass = block.mass(i);
            change(momentum, i, 1, Vec3<T>{mass, mass, mass});
        }
    });
}

POLHODE_NAMESPACE_END

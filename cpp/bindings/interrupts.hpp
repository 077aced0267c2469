#pragma once

/// @file
/// Long work cut into slices, so that Ctrl-C is seen within a second.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <pybind11/pybind11.h>

#include "threads.hpp"

namespace polhode::bindings {

/// How many units of work (steps of bodies) there are from one look for Ctrl-C to the next: what
/// takes about a tenth of a second, found out by the clock, since methods differ a hundredfold.
class Slice {
  public:
    std::ptrdiff_t units() const { return units_; }

    /// Calls work(begin, end) on shares of 0 ... count - 1 without the interpreter lock, `units` of
    /// work for each element, then looks; throws KeyboardInterrupt.
    template <class Work>
    void run(std::ptrdiff_t count,
             int threads,
             std::ptrdiff_t grain,
             std::ptrdiff_t units,
             const Work& work) {
        const auto begun = std::chrono::steady_clock::now();
        {
            const pybind11::gil_scoped_release release;
            share_among_threads(count, threads, grain, work);
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
        constexpr double wanted = 0.1;
        const double growth = wanted / std::max(spent.count(), 1e-9);
        const double done = static_cast<double>(count) * static_cast<double>(units);
        const double most = 10.0 * static_cast<double>(units_);
        units_ = static_cast<std::ptrdiff_t>(std::clamp(growth * done, 1.0, most));
    }

    /// The same in pieces, a slice each, that begin at multiples of `grain`.
    template <class Work>
    void run_in_pieces(std::ptrdiff_t count,
                       int threads,
                       std::ptrdiff_t grain,
                       std::ptrdiff_t units,
                       const Work& work) {
        for (std::ptrdiff_t first = 0; first < count;) {
            const std::ptrdiff_t grains =
                std::max<std::ptrdiff_t>(units_ / units / grain, std::max(threads, 1));
            const std::ptrdiff_t left = count - first;
            const std::ptrdiff_t size = grains < left / grain + 1 ? grains * grain : left;
            const std::ptrdiff_t piece = std::min(size, left);
            run(piece, threads, grain, units, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                work(first + begin, first + end);
            });
            first += piece;
        }
    }

  private:
    std::ptrdiff_t units_ = 400'000;  // less than half a second by any method
};

}  // namespace polhode::bindings

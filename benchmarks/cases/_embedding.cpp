// Times of polhode.hpp in a program; each line: a name, nanoseconds per body and step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "polhode.hpp"

namespace {

/// Prints the least time of `windows` calls of work(), which does so many steps.
template <class Work>
void time(const char* name, int windows, double steps, const Work& work) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < windows; ++k) {
        const auto begun = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - begun;
        least = std::min(least, spent.count() / steps);
    }
    std::printf("%s %.1f\n", name, least);
}

}  // namespace

int main(int argc, char** argv) {
    const int windows = argc > 1 ? std::atoi(argv[1]) : 20;
    const polhode::Vector inertia{1.0, 1.5, 2.2};
    polhode::State s{{0.3, 0.5, 0.8}, {1.0, 0.0, 0.0, 0.0}};
    time("one_body", windows, 10000, [&] {
        for (int i = 0; i < 10000; ++i) s = polhode::step(inertia, s.m, s.q, 0.1);
    });

    std::vector<double> moments, m, q;
    for (int i = 0; i < 1000; ++i) {
        moments.insert(moments.end(), {1.0 + 1e-4 * i, 1.5, 2.2});
        m.insert(m.end(), {0.3, 0.5, 0.8});
        q.insert(q.end(), {1.0, 0.0, 0.0, 0.0});
    }
    time("1000_bodies", windows, 100000, [&] {
        for (int i = 0; i < 100; ++i) polhode::step(moments, m, q, 0.1);
    });

    std::vector<double> mt(s.m.begin(), s.m.end()), qt(s.q.begin(), s.q.end());
    const auto weight =
        [](double, std::size_t, const polhode::Vector&, const polhode::Attitude& p) {
            return polhode::Vector{p[2] * p[3] + p[0] * p[1], p[0] * p[2] - p[1] * p[3], 0.0};
        };
    time("heavy_top", windows, 10000, [&] {
        polhode::integrate(inertia, mt, qt, 0.01, 10000, weight);
    });

    const polhode::TorqueFreeMotion motion(inertia, s.m, s.q);
    time("motion", windows, 10000, [&] {
        for (int i = 0; i < 10000; ++i) s.q[3] += 0.0 * motion(0.1 * i).q[3];
    });
    return s.m[0] == s.m[0] && m[0] == m[0] && mt[0] == mt[0] && s.q[3] == s.q[3] ? 0 : 1;
}

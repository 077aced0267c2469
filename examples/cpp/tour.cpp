// One body, a batch, the closed form, a torque and a full inertia tensor.
//
//     c++ -std=c++20 -O2 tour.cpp $(python -m polhode --includes --libs) -o tour && ./tour
//     c++ -march=x86-64-v3 tour.cpp $(python -m polhode --cflags) -o tour && ./tour
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "polhode.hpp"

int main() {
    using namespace polhode;
    const Vector inertia{1.0, 1.5, 2.2}, m{0.3, 0.5, 0.8};
    const Attitude q{1.0, 0.0, 0.0, 0.0};

    // One exact step of one body.
    const State one = step(inertia, m, q, 2.0);
    std::printf("step    %.6f %.6f %.6f\n", one.m[0], one.m[1], one.m[2]);

    // The closed form at any time; m returns after a period.
    const TorqueFreeMotion motion(inertia, m, q);
    const State later = motion(1000.0 * motion.period());
    std::printf("period  %.6f %.6f %.6f\n", later.m[0], later.m[1], later.m[2]);

    // A thousand bodies, ten steps, in place.
    std::vector<double> ms, qs;
    for (int i = 0; i < 1000; ++i) {
        ms.insert(ms.end(), {0.3, 0.5, 0.001 * i});
        qs.insert(qs.end(), q.begin(), q.end());
    }
    step(inertia, ms, qs, 0.2, method<"exact">, {.n_steps = 10});
    std::printf("batch   %.6f %.6f %.6f\n", ms[3 * 800], ms[3 * 800 + 1], ms[3 * 800 + 2]);

    // A heavy top: the torque u x (0, 0, 1) with u = Q^T (0, 0, 0.5).
    std::vector<double> mt(m.begin(), m.end()), qt(q.begin(), q.end());
    const auto weight = [](double, std::size_t, const Vector&, const Attitude& p) {
        const double ux = 2.0 * 0.5 * (p[1] * p[3] - p[0] * p[2]);
        const double uy = 2.0 * 0.5 * (p[2] * p[3] + p[0] * p[1]);
        return Vector{uy, -ux, 0.0};
    };
    integrate(inertia, mt, qt, 0.1, 100, weight, {.splitting = "rkn6_14"});
    std::printf("top     %.6f %.6f %.6f\n", mt[0], mt[1], mt[2]);

    // Another method, a scheme of your own (flows, then kicks) and an error.
    const State other = step(inertia, m, q, 0.01, method<"symmetric_rotation axes=312">);
    std::printf("method  %.6f %.6f %.6f\n", other.m[0], other.m[1], other.m[2]);
    std::vector<double> mo(m.begin(), m.end()), qo(q.begin(), q.end());
    integrate(inertia, mo, qo, 0.01, 10, weight, {.splitting = {{0.5, 0.5}, {1.0}}});
    std::printf("own     %.6f %.6f %.6f\n", mo[0], mo[1], mo[2]);
    try {
        integrate(inertia, mo, qo, 0.1, 100, [](double t, std::size_t, Vector, Attitude) -> Vector {
            if (t > 5.0) throw std::runtime_error("the fuel is used up");
            return {0.0, 0.0, 0.1};
        });
    } catch (const std::runtime_error& error) {
        std::printf("ended   %s\n", error.what());
    }

    // A body whose axes are not principal.
    const RigidBody body({2.0, 0.3, 0.0, 0.3, 1.5, 0.1, 0.0, 0.1, 1.2});
    const State turned = body.step(m, q, 2.0);
    std::printf("tensor  %.6f %.6f %.6f\n", turned.m[0], turned.m[1], turned.m[2]);

    // Errors are exceptions that name the first invalid body.
    try {
        (void)step({1.0, -1.0, 1.0}, m, q, 0.1);
    } catch (const std::invalid_argument& error) {
        std::printf("error   %s\n", error.what());
    }
}

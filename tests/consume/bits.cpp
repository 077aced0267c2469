// The same calls for both ways to use polhode.hpp: the test compares what they print.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "polhode.hpp"
#include "polhode.hpp"  // as where several headers of a program include it

// By its name where the library looks it up, as a type where the compiler does.
#if defined(POLHODE_HEADER_ONLY)
#define IMID method<"imid">
#else
#define IMID "imid"
#endif

namespace {

using namespace polhode;

void print(const char* name, std::span<const double> x, std::span<const double> y) {
    std::printf("%s", name);
    for (const auto& part : {x, y}) {
        for (const double v : part) v == v ? std::printf(" %a", v) : std::printf(" nan");
    }
    std::printf("\n");
}
void print(const char* name, const State& s) { print(name, s.m, s.q); }

struct Bodies {
    std::vector<double> inertia, m, q, h;
};
Bodies some_bodies(int n) {
    Bodies b;
    for (int i = 0; i < n; ++i) {
        const double x = 0.01 * (i % 37);
        b.inertia.insert(b.inertia.end(), {1.0 + x, 1.5, 2.2 - x});
        b.m.insert(b.m.end(), {0.3 - x, 0.5, 0.8 + x});
        b.q.insert(b.q.end(), {1.0, x, -x, 0.5});
        b.h.push_back(0.1 + x);
    }
    return b;
}
void several(const char* name, Method by, int n, StepOptions options) {
    Bodies b = some_bodies(n);
    step(b.inertia, b.m, b.q, b.h, by, options);
    print(name, b.m, b.q);
}

struct Top {
    Vector operator()(double t, std::size_t i, const Vector&, const Attitude& q) const {
        const double u = 0.5 + 0.01 * static_cast<double>(i) + 0.1 * t;
        return {2.0 * u * (q[2] * q[3] + q[0] * q[1]), -2.0 * u * (q[1] * q[3] - q[0] * q[2]), 0.0};
    }
};
void top(const char* name, int n, const IntegrateOptions& options) {
    Bodies b = some_bodies(n);
    integrate(b.inertia, b.m, b.q, 0.05, 20, Top{}, options);
    print(name, b.m, b.q);
}

/// The same torque of the whole batch.
void top_of_batch(const char* name, int n, const IntegrateOptions& options) {
    Bodies b = some_bodies(n);
    const auto torque = [](double t, auto m, auto q, std::span<double> f) {
        for (std::size_t i = 0; i < m.size() / 3; ++i) {
            const Vector x = Top{}(t, i, {}, {q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]});
            for (std::size_t k = 0; k < 3; ++k) f[3 * i + k] = x[k];
        }
    };
    integrate(b.inertia, b.m, b.q, 0.05, 20, torque, options);
    print(name, b.m, b.q);
}

template <class Work>
void refused(const Work& work) {
    try {
        work();
        std::printf("accepted\n");
    } catch (const std::invalid_argument& error) {
        std::printf("%s\n", error.what());
    }
}

/// A torque that throws, in one thread and in two, and invalid tensors.
void exceptions() {
    for (const int threads : {1, 2}) {
        std::vector<double> m(60000, 0.5), q(80000, 0.5);
        std::atomic<int> calls = 0;
        const auto torque = [&](double t, std::size_t, const Vector&, const Attitude&) -> Vector {
            ++calls;
            if (t > 0.25) throw std::runtime_error("at " + std::to_string(t));
            return {};
        };
        try {
            integrate(Vector{1, 2, 3}, m, q, 0.1, 20, torque, {.threads = threads});
        } catch (const std::runtime_error& error) {
            int numbers = 0;
            for (const double x : m) numbers += x == 0.5;
            for (const double x : q) numbers += x == 0.5;
            std::printf("%s %d %d\n", error.what(), numbers, calls <= 4 * 128 * threads);
        }
    }
    const double e = 1e-12;
    const RigidBody good({2, 0.3 + e, 0, 0.3, 1.5, 0.1, 0, 0.1, 1.2});
    std::vector<double> m(3, 0.5), q(4, 0.5);
    try {
        good.integrate(m, q, 0.1, 20, [](auto&&...) -> Vector { throw 1; });
    } catch (int) {
        std::printf("%g %g\n", m[0], q[0]);
    }
    for (const Tensor& wrong : {Tensor{2, 0.4, 0, 0.3, 1.5, 0.1, 0, 0.1, 1.2},
                                Tensor{},
                                Tensor{-1, 0, 0, 0, 1, 0, 0, 0, 1},
                                Tensor{1, 0, 0, 0, 1, 0, 0, 0, NAN},
                                Tensor{1, 0, 0, 0, 1, 0, 0, 0, 2.00001},
                                Tensor{0.1, 0.1, 0, 0.1, 2, 0, 0, 0, 3}}) {
        refused([&] { const RigidBody body(wrong); });
    }
    // In other axes, the moments (1, 1, 5), the rod (0, 1, 1) and a flat body, (1, 2, 3 + 1e-10).
    const RigidBody any({7. / 3, 4. / 3, 4. / 3, 4. / 3, 7. / 3, 4. / 3, 4. / 3, 4. / 3, 7. / 3},
                        {.physical = false});
    const double r = 1. / 3;
    const RigidBody rod({2 * r, -r, -r, -r, 2 * r, -r, -r, -r, 2 * r});
    const RigidBody flat({1, 0, 0, 0, 2, 0, 0, 0, 3 + 1e-10});
    for (const Vector& x : {any.moments(), rod.moments(), flat.moments()}) {
        std::printf("%.3f %.3f %.3f\n", x[0], x[1], x[2]);
    }
    std::printf("%d\n", std::count(rod.moments().begin(), rod.moments().end(), 0.0) == 1);
}

/// Springs from each body to the next, torques along q, friction.
void springs(double,
             std::span<const double> x,
             std::span<const double> p,
             std::span<const double> m,
             std::span<const double> q,
             std::span<double> force,
             std::span<double> torque) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        force[i] = 2.0 * (x[(i + 3) % x.size()] - x[i]) - 0.1 * p[i];
        torque[i] = 0.3 * q[4 * (i / 3) + 1 + i % 3] - 0.1 * m[i];
    }
}
void moving(const RigidBody& body) {
    const IntegrateOptions options{.splitting = "mclachlan4_5", .t0 = 1.0, .depends_on_m = true};
    for (const bool own_axes : {false, true}) {
        Bodies b = some_bodies(7);
        std::vector<double> x, p(21, 0.5);
        for (int k = 0; k < 21; ++k) x.push_back(std::sqrt(k));
        const std::array mass{2.0};
        if (own_axes) {
            body.integrate(mass, x, p, b.m, b.q, 0.05, 20, springs, options);
        } else {
            integrate(b.inertia, mass, x, p, b.m, b.q, 0.05, 20, springs, options);
        }
        print("moving", x, p);
        print("moving", b.m, b.q);
    }
    Bodies b = some_bodies(2);
    std::vector<double> x(6), p(6), wrong{1.0, -2.0};
    refused([&] { integrate(b.inertia, wrong, x, p, b.m, b.q, 0.1, 1, springs); });
    wrong.push_back(1.0);
    refused([&] { integrate(b.inertia, wrong, x, p, b.m, b.q, 0.1, 1, springs); });
    x.pop_back();
    refused([&] { body.integrate(std::array{1.0}, x, p, b.m, b.q, 0.1, 1, springs); });
}

}  // namespace

int main() {
    exceptions();
    const Vector inertia{1.0, 1.5, 2.2}, m{0.3, 0.5, 0.8}, rod{1.0, 1.0, 0.0};
    const Attitude q{1.0, 0.0, 0.0, 0.0};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    print("one", step(inertia, m, q, 2.0));
    print("dmv8", step(inertia, m, q, 0.2, method<"dmv8">));
    print("nan", step(inertia, {0.3, nan, 0.8}, q, 0.2));
    several("exact", {}, 37, {});
    several("threads", {}, 1000, {.n_steps = 3, .threads = 2});
    several("abam", method<"abam_rotation">, 5, {.n_steps = 7});
    several("options", method<"symmetric_rotation axes=312 energy_correction=buss">, 9, {});
    const TorqueFreeMotion motion(inertia, m, q);
    print("motion", motion(1000.0));
    std::vector<double> t, mt(60), qt(80);
    for (int i = 0; i < 20; ++i) t.push_back(i * motion.period());
    motion(t, mt, qt);
    print("times", mt, qt);
    top("strang", 1, {});
    top("rkn", 130, {.splitting = "rkn6_14", .t0 = 1.0, .threads = 2});
    top_of_batch("rkn", 130, {.splitting = "rkn6_14", .t0 = 1.0, .threads = 2});
    top("named", 7, {.method = IMID});
    top("own", 7, {.splitting = {{0.5, 0.5}, {1.0}}, .method = method<"magnus4">});
    top("of m", 7, {.depends_on_m = true});
    Bodies one = some_bodies(1);
    integrate(inertia, one.m, one.q, 0.1, 5, [i = 0](auto&&...) mutable {
        return Vector{0.0, 0.0, 0.1 * ++i};
    });
    print("mutable", one.m, one.q);
    const RigidBody body({2.0, 0.3, 0.0, 0.3, 1.5, 0.1, 0.0, 0.1, 1.2});
    print("tensor", body.step(m, q, 2.0));
    Bodies b = some_bodies(3);
    body.integrate(b.m, b.q, 0.05, 10, Top{});
    print("top", b.m, b.q);
    moving(body);

    refused([&] { (void)step({1.0, -1.0, 1.0}, m, q, 0.1); });
    refused([&] { (void)step(rod, m, q, 0.1); });
    refused([&] { (void)step(inertia, m, {0.0, 0.0, 0.0, 0.0}, 0.1); });
    refused([&] { (void)step(inertia, m, q, 0.1, method<"symmetric_rotation axes=311">); });
    refused([&] { (void)step(inertia, m, q, 0.1, method<"rotations123 what=1">); });
    refused([&] { (void)step(inertia, m, q, 0.1, method<"factorization4 c0=1">); });
    refused([&] { (void)step(inertia, m, q, 0.1, method<"abam_rotation">); });
    refused([&] { top("", 1, {.splitting = "none"}); });
    refused([&] { top("", 1, {.splitting = {{0.5, 0.6}, {1.0}}}); });
    refused([&] { top("", 1, {.splitting = {{}, {1.0, 1.0}}}); });
    refused([&] { top("", 1, {.splitting = "chin4a"}); });
    refused([&] { top("", 1, {.splitting = "rkn6_14", .depends_on_m = true}); });
    refused([&] { top("", 1, {.threads = -2}); });
    refused([&] { motion(t, mt, std::span(qt).first(76)); });
    refused([&] { step(inertia, std::span(b.m).first(6), b.q, 0.1); });
    refused([&] { step(inertia, std::span(b.m).first(8), b.q, 0.1); });
    refused([&] { step(inertia, b.m, b.q, std::span(b.m).first(4)); });
    refused([&] { step(std::span(b.m).first(6), b.m, b.q, 0.1); });
    refused([&] { step(std::span(b.m).first(6), one.m, one.q, 0.1); });
    refused([&] { step(inertia, one.m, one.q, std::span(b.m).first(2)); });
    refused([&] { step(inertia, std::span(b.q).first(9), b.q, 0.1); });
}

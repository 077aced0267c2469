// What a C++ user writes: one exact step of one body, whose numbers the test compares with
// Python's.
#include <cstdio>

#include "polhode/kernels.hpp"

double second_sqrt(double x);

int main() {
    using polhode::Vec3;
    const auto body = polhode::Inertia<double>::of(Vec3<double>{1.0, 1.5, 2.2});
    const auto step =
        polhode::batch::advance<polhode::Exact>(body, Vec3<double>{0.3, 0.5, 0.8}, 2.0);
    std::printf("%.17g %.17g %.17g ", step.m.x, step.m.y, step.m.z);
    std::printf("%.17g %.17g %.17g %.17g ", step.dq.w, step.dq.x, step.dq.y, step.dq.z);
    std::printf("%.17g\n", second_sqrt(2.0));
    return 0;
}

// The kernels themselves, templates on the number type: 100 steps of a free body.
#include <cstdio>

#include "polhode/kernels.hpp"

int main() {
    using namespace polhode;
    const auto body = Inertia<double>::of(Vec3<double>{1.0, 1.5, 2.2});  // constants of the body
    Vec3<double> m{0.3, 0.5, 0.8};                                       // body frame
    Quaternion<double> q{1.0, 0.0, 0.0, 0.0};                            // body to space
    for (int i = 0; i < 100; ++i) {
        const auto step = batch::advance<Exact>(body, m, 0.1);
        m = step.m;
        q = q * step.dq;
    }
    std::printf("m %.6f %.6f %.6f\nq %.6f %.6f %.6f %.6f\n", m.x, m.y, m.z, q.w, q.x, q.y, q.z);
}

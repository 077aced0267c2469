// The classical Runge-Kutta method of order 4 at a fixed step, as one writes it in C++, for
// _rk4.py, which compiles this file and calls it by ctypes.  The equations are those of
// _problem.py: y has the momentum in the body frame, then the quaternion with the scalar first.

#include <array>

namespace {

using State = std::array<double, 7>;

struct Top {
    double inertia[3], u0[3];

    State operator()(const State& y) const {
        const auto [m1, m2, m3, w, x, y2, z] = y;
        const double o1 = m1 / inertia[0], o2 = m2 / inertia[1], o3 = m3 / inertia[2];
        const double a = u0[0], b = u0[1], c = u0[2];
        const double u1 =
            a * (1 - 2 * (y2 * y2 + z * z)) + 2 * (b * (x * y2 + w * z) + c * (x * z - w * y2));
        const double u2 =
            b * (1 - 2 * (x * x + z * z)) + 2 * (a * (x * y2 - w * z) + c * (y2 * z + w * x));
        return {m2 * o3 - m3 * o2 + u2,
                m3 * o1 - m1 * o3 - u1,
                m1 * o2 - m2 * o1,
                0.5 * (-x * o1 - y2 * o2 - z * o3),
                0.5 * (w * o1 + y2 * o3 - z * o2),
                0.5 * (w * o2 + z * o1 - x * o3),
                0.5 * (w * o3 + x * o2 - y2 * o1)};
    }
};

State moved(const State& y, double h, const State& slope) {
    State next;
    for (int i = 0; i < 7; ++i) next[i] = y[i] + h * slope[i];
    return next;
}

}  // namespace

// Moves n states, one after another, in place.
extern "C" void rk4(
    long n, double* states, const double* inertia, const double* u0, double h, long n_steps) {
    const Top rate{{inertia[0], inertia[1], inertia[2]}, {u0[0], u0[1], u0[2]}};
    for (long body = 0; body < n; ++body) {
        State y;
        for (int i = 0; i < 7; ++i) y[i] = states[7 * body + i];
        for (long k = 0; k < n_steps; ++k) {
            const State k1 = rate(y);
            const State k2 = rate(moved(y, h / 2, k1));
            const State k3 = rate(moved(y, h / 2, k2));
            const State k4 = rate(moved(y, h, k3));
            for (int i = 0; i < 7; ++i) y[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
        }
        for (int i = 0; i < 7; ++i) states[7 * body + i] = y[i];
    }
}

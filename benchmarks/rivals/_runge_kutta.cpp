// Runge-Kutta methods at a fixed step, as one writes them in C++, for _runge_kutta.py, which
// compiles this file and calls it by ctypes: the classical one of order 4, and the method of order
// 8 of DOP853, whose coefficients A and B are in the header that it writes.  The equations are
// those of _problem.py: y has the momentum in the body frame, the quaternion with the scalar first,
// and for a satellite cosine and sine of the true anomaly.

#include <array>
#include <cstddef>
#include <utility>

#include "dop853.hpp"

namespace {

#ifdef __AVX512F__
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef double Lanes __attribute__((vector_size(8 * lanes)));

template <class V, std::size_t N>
std::array<V, N> slopes(const std::array<V, N>& y, V u1, V u2, V u3, V o1, V o2, V o3) {
    std::array<V, N> r;
    r[0] = y[1] * o3 - y[2] * o2 + u1;
    r[1] = y[2] * o1 - y[0] * o3 + u2;
    r[2] = y[0] * o2 - y[1] * o1 + u3;
    r[3] = 0.5 * (-y[4] * o1 - y[5] * o2 - y[6] * o3);
    r[4] = 0.5 * (y[3] * o1 + y[5] * o3 - y[6] * o2);
    r[5] = 0.5 * (y[3] * o2 + y[6] * o1 - y[4] * o3);
    r[6] = 0.5 * (y[3] * o3 + y[4] * o2 - y[5] * o1);
    return r;
}

template <bool damped>
struct Top {
    static constexpr std::size_t size = 7;
    const double *inertia, *p;

    template <class V>
    std::array<V, 7> operator()(const std::array<V, 7>& y) const {
        const V w = y[3], x = y[4], y2 = y[5], z = y[6];
        const V o1 = y[0] / inertia[0], o2 = y[1] / inertia[1], o3 = y[2] / inertia[2];
        const double a = p[0], b = p[1], c = p[2];
        const V u1 = a * (1.0 - 2.0 * (y2 * y2 + z * z)) +
                     2.0 * (b * (x * y2 + w * z) + c * (x * z - w * y2));
        const V u2 =
            b * (1.0 - 2.0 * (x * x + z * z)) + 2.0 * (a * (x * y2 - w * z) + c * (y2 * z + w * x));
        if constexpr (damped)
            return slopes(y, u2 - p[3] * o1, -u1 - p[3] * o2, -p[3] * o3, o1, o2, o3);
        else
            return slopes(y, u2, -u1, V{}, o1, o2, o3);
    }
};

struct Satellite {
    static constexpr std::size_t size = 9;
    const double *inertia, *p;

    template <class V>
    std::array<V, 9> operator()(const std::array<V, 9>& y) const {
        const V w = y[3], x = y[4], y2 = y[5], z = y[6], c = y[7], s = y[8];
        const V o1 = y[0] / inertia[0], o2 = y[1] / inertia[1], o3 = y[2] / inertia[2];
        const V r1 = c * (1.0 - 2.0 * (y2 * y2 + z * z)) + s * 2.0 * (x * y2 + w * z);
        const V r2 = s * (1.0 - 2.0 * (x * x + z * z)) + c * 2.0 * (x * y2 - w * z);
        const V r3 = 2.0 * (c * (x * z + w * y2) + s * (y2 * z - w * x));
        const V near = p[1] * (1.0 + p[0] * c), turn = near * (1.0 + p[0] * c);
        const V g = 3.0 * near * turn;
        auto r = slopes(y,
                        g * (inertia[2] - inertia[1]) * r2 * r3,
                        g * (inertia[0] - inertia[2]) * r3 * r1,
                        g * (inertia[1] - inertia[0]) * r1 * r2,
                        o1,
                        o2,
                        o3);
        r[7] = -turn * s;
        r[8] = turn * c;
        return r;
    }
};

template <class V, std::size_t N>
std::array<V, N> moved(const std::array<V, N>& y, double h, const std::array<V, N>& slope) {
    std::array<V, N> next;
    for (std::size_t i = 0; i < N; ++i) next[i] = y[i] + h * slope[i];
    return next;
}

struct Rk4 {
    template <class V, std::size_t N, class Rate>
    static void step(std::array<V, N>& y, double h, const Rate& rate) {
        const auto k1 = rate(y), k2 = rate(moved(y, h / 2, k1));
        const auto k3 = rate(moved(y, h / 2, k2)), k4 = rate(moved(y, h, k3));
        for (std::size_t i = 0; i < N; ++i) y[i] += h / 6 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
    }
};

struct Rk8 {
    // y + h times the sum of the slopes before stage S, or of all of them with the weights B.
    template <int S, class V, std::size_t N, std::size_t... J>
    static std::array<V, N> sum(const std::array<V, N>& y,
                                double h,
                                const std::array<V, N>* k,
                                std::index_sequence<J...>) {
        constexpr const double* row = S < 12 ? A[S % 12] : B;
        std::array<V, N> next;
        for (std::size_t i = 0; i < N; ++i) {
            V total{};
            ((row[J] != 0 ? void(total += row[J] * k[J][i]) : void()), ...);
            next[i] = y[i] + h * total;
        }
        return next;
    }
    template <class V, std::size_t N, class Rate, int... S>
    static void stages(std::array<V, N>& y,
                       double h,
                       const Rate& rate,
                       std::integer_sequence<int, S...>) {
        std::array<V, N> k[12];
        ((k[S] = rate(sum<S>(y, h, k, std::make_index_sequence<S>()))), ...);
        y = sum<12>(y, h, k, std::make_index_sequence<12>());
    }
    template <class V, std::size_t N, class Rate>
    static void step(std::array<V, N>& y, double h, const Rate& rate) {
        stages(y, h, rate, std::make_integer_sequence<int, 12>());
    }
};

// Moves the states of as many bodies as V has lanes, in place.
template <class Method, class V, class Rate>
void move(double* states, const Rate& rate, double h, long n_steps) {
    constexpr std::size_t N = Rate::size;
    std::array<V, N> y;
    const auto number = [states](std::size_t lane, std::size_t i) -> double& {
        return states[N * lane + i];
    };
    for (std::size_t i = 0; i < N; ++i) {
        if constexpr (sizeof(V) == sizeof(double))
            y[i] = number(0, i);
        else
            for (int lane = 0; lane < lanes; ++lane) y[i][lane] = number(lane, i);
    }
    for (long k = 0; k < n_steps; ++k) Method::step(y, h, rate);
    for (std::size_t i = 0; i < N; ++i) {
        if constexpr (sizeof(V) == sizeof(double))
            number(0, i) = y[i];
        else
            for (int lane = 0; lane < lanes; ++lane) number(lane, i) = y[i][lane];
    }
}

template <class Method, class Rate>
void all(long n, double* states, const Rate& rate, double h, long n_steps) {
    long body = 0;
    for (; body + lanes <= n; body += lanes)
        move<Method, Lanes>(states + body * Rate::size, rate, h, n_steps);
    for (; body < n; ++body) move<Method, double>(states + body * Rate::size, rate, h, n_steps);
}

template <class Method>
void any(int kind,
         long n,
         double* states,
         const double* inertia,
         const double* p,
         double h,
         long n_steps) {
    if (kind == 0) all<Method>(n, states, Top<false>{inertia, p}, h, n_steps);
    if (kind == 1) all<Method>(n, states, Top<true>{inertia, p}, h, n_steps);
    if (kind == 2) all<Method>(n, states, Satellite{inertia, p}, h, n_steps);
}

}  // namespace

// Move n states in place, as many at once as a register has lanes.
extern "C" void rk4(int kind,
                    long n,
                    double* states,
                    const double* inertia,
                    const double* parameters,
                    double h,
                    long n_steps) {
    any<Rk4>(kind, n, states, inertia, parameters, h, n_steps);
}
extern "C" void rk8(int kind,
                    long n,
                    double* states,
                    const double* inertia,
                    const double* parameters,
                    double h,
                    long n_steps) {
    any<Rk8>(kind, n, states, inertia, parameters, h, n_steps);
}

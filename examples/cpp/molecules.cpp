// Rigid molecules that interact: 216 bodies with a direction each, in a periodic box.
//
//     c++ -std=c++20 -O2 molecules.cpp $(python -m polhode --includes --libs) -o molecules &&
//     ./molecules
//
// Potential of a pair at distance r < cutoff: w (repulsion - e_i . e_j) with w = (1 - r^2 /
// cutoff^2)^2, e the third body axis.  First the molecules only rotate, at fixed sites, then they
// also move: `integrate` calls the forces and torques of all of them once per step.  The list of
// neighbours is renewed in time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "polhode.hpp"

namespace {

using polhode::Vector;

constexpr std::size_t side = 6, bodies = side * side * side;
constexpr double box = 1.0 * side, cutoff = 1.5, skin = 0.4, repulsion = 3.0, mass = 1.0;
constexpr Vector inertia{0.2, 0.25, 0.1};

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

using Input = std::span<const double>;
using Output = std::span<double>;

struct Molecules {
    std::vector<double> x, p, m, q;  // as polhode has them
    std::vector<std::pair<std::size_t, std::size_t>> neighbours;
    std::vector<double> listed;  // x, when the list was made
    double potential = 0.0;

    Molecules() : p(3 * bodies), m(3 * bodies) {
        for (std::size_t i = 0; i < bodies; ++i) {
            const auto k = static_cast<double>(i), a = 0.3 * std::sin(k);
            for (const std::size_t c : {i % side, i / side % side, i / side / side}) {
                x.push_back(static_cast<double>(c));
            }
            q.insert(q.end(), {std::cos(a), std::sin(a), 0.0, 0.0});
            m[3 * i] = 0.1 * std::cos(2.0 * k), p[3 * i + 1] = 0.3 * std::sin(3.0 * k);
        }
    }
    /// From body j to body i, through the nearest face of the box.
    static Vector between(Input at, std::size_t i, std::size_t j) {
        Vector r;
        for (std::size_t c = 0; c < 3; ++c) {
            r[c] = std::remainder(at[3 * i + c] - at[3 * j + c], box);
        }
        return r;
    }
    /// The list holds until two bodies may have come closer by `skin`.
    bool is_listed(Input at) const {
        if (listed.empty()) return false;
        double most = 0.0;
        for (std::size_t i = 0; i < 3 * bodies; i += 3) {
            const Vector d{at[i] - listed[i], at[i + 1] - listed[i + 1], at[i + 2] - listed[i + 2]};
            most = std::max(most, dot(d, d));
        }
        return 4.0 * most < skin * skin;
    }
    void find_neighbours(Input at) {
        neighbours.clear();
        for (std::size_t i = 0; i < bodies; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const Vector r = between(at, i, j);
                if (dot(r, r) < (cutoff + skin) * (cutoff + skin)) neighbours.emplace_back(i, j);
            }
        }
        listed.assign(at.begin(), at.end());
    }
    /// Potential, forces in space and torques in the body frame, of these centres and attitudes.
    void interact(Input at, Input attitudes, Output force, Output torque) {
        if (!is_listed(at)) find_neighbours(at);
        std::vector<std::array<Vector, 3>> axes(bodies);  // body axes in space
        std::vector<Vector> field(bodies);                // sum of w e over the neighbours
        std::fill(force.begin(), force.end(), potential = 0.0);
        for (std::size_t i = 0; i < bodies; ++i) {
            const double *u = attitudes.data() + 4 * i, w = u[0], a = u[1], b = u[2], c = u[3];
            axes[i] = {Vector{1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)},
                       Vector{2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)},
                       Vector{2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)}};
        }
        for (const auto& [i, j] : neighbours) {
            const Vector r = between(at, i, j), &ei = axes[i][2], &ej = axes[j][2];
            const double s = 1 - dot(r, r) / (cutoff * cutoff);
            if (s <= 0) continue;
            const double w = s * s, pair = repulsion - dot(ei, ej);
            potential += w * pair;
            for (std::size_t c = 0; c < 3; ++c) {
                const double f = 4 * s / (cutoff * cutoff) * pair * r[c];
                force[3 * i + c] += f, force[3 * j + c] -= f;
                field[i][c] += w * ej[c], field[j][c] += w * ei[c];
            }
        }
        for (std::size_t i = 0; i < bodies; ++i) {  // e x field, in the body frame
            torque[3 * i] = -dot(axes[i][1], field[i]);
            torque[3 * i + 1] = dot(axes[i][0], field[i]);
            torque[3 * i + 2] = 0.0;
        }
    }
    double energy() {
        std::vector<double> force(3 * bodies), torque(3 * bodies);
        interact(x, q, force, torque);
        double sum = potential;
        for (std::size_t k = 0; k < 3 * bodies; ++k) {
            sum += 0.5 * (m[k] * m[k] / inertia[k % 3] + p[k] * p[k] / mass);
        }
        return sum;
    }
};

}  // namespace

int main() {
    const double h = 0.02;
    const int steps = 500;

    Molecules fixed;
    std::vector<double> force(3 * bodies);  // which the sites take
    double before = fixed.energy();
    polhode::integrate(inertia, fixed.m, fixed.q, h, steps, [&](double, auto, auto q, auto torque) {
        fixed.interact(fixed.x, q, force, torque);
    });
    std::printf("fixed %.6f %.6f\n", before, fixed.energy());

    Molecules moving;
    before = moving.energy();
    polhode::integrate(inertia,
                       std::array{mass},
                       moving.x,
                       moving.p,
                       moving.m,
                       moving.q,
                       h,
                       steps,
                       [&](double, auto x, auto, auto, auto q, auto f, auto torque) {
                           moving.interact(x, q, f, torque);
                       });
    std::printf("moving %.6f %.6f\n", before, moving.energy());
}

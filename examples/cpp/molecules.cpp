// Rigid molecules that interact: 216 bodies with a direction each, in a periodic box.
//
//     c++ -std=c++20 -O2 molecules.cpp $(python -m polhode --includes --libs) -o molecules &&
//     ./molecules
//
// Potential of a pair at distance r < cutoff: w (repulsion - e_i . e_j) with w = (1 - r^2 /
// cutoff^2)^2, e the third body axis.  First the molecules only rotate, at fixed sites: `integrate`
// calls the torque of all of them once per kick.  Then they also move: the program kicks and moves
// the centres, and `step` rotates the bodies between two kicks.  The list of neighbours is renewed
// in time.
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

struct Molecules {
    std::vector<double> x, p, m, q;     // centre, momentum; m and q as polhode has them
    std::vector<double> force, torque;  // torque in the body frame
    std::vector<std::pair<std::size_t, std::size_t>> neighbours;
    double potential = 0.0;

    Molecules() : p(3 * bodies), m(3 * bodies), force(3 * bodies), torque(3 * bodies) {
        for (std::size_t i = 0; i < bodies; ++i) {
            const auto k = static_cast<double>(i), a = 0.3 * std::sin(k);
            for (const std::size_t c : {i % side, i / side % side, i / side / side}) {
                x.push_back(static_cast<double>(c));
            }
            q.insert(q.end(), {std::cos(a), std::sin(a), 0.0, 0.0});
            m[3 * i] = 0.1 * std::cos(2.0 * k), p[3 * i + 1] = 0.3 * std::sin(3.0 * k);
        }
        find_neighbours();
    }
    /// From body j to body i, through the nearest face of the box.
    Vector between(std::size_t i, std::size_t j) const {
        Vector r;
        for (std::size_t c = 0; c < 3; ++c) {
            r[c] = std::remainder(x[3 * i + c] - x[3 * j + c], box);
        }
        return r;
    }
    void find_neighbours() {
        neighbours.clear();
        for (std::size_t i = 0; i < bodies; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const Vector r = between(i, j);
                if (dot(r, r) < (cutoff + skin) * (cutoff + skin)) neighbours.emplace_back(i, j);
            }
        }
    }
    /// Forces, torques and potential at these attitudes.
    void interact(std::span<const double> attitudes, std::span<double> torques) {
        std::vector<std::array<Vector, 3>> axes(bodies);  // body axes in space
        std::vector<Vector> field(bodies);                // sum of w e over the neighbours
        force.assign(3 * bodies, potential = 0.0);
        for (std::size_t i = 0; i < bodies; ++i) {
            const double *u = attitudes.data() + 4 * i, w = u[0], a = u[1], b = u[2], c = u[3];
            axes[i] = {Vector{1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)},
                       Vector{2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)},
                       Vector{2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)}};
        }
        for (const auto& [i, j] : neighbours) {
            const Vector r = between(i, j), &ei = axes[i][2], &ej = axes[j][2];
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
            torques[3 * i] = -dot(axes[i][1], field[i]);
            torques[3 * i + 1] = dot(axes[i][0], field[i]);
            torques[3 * i + 2] = 0.0;
        }
    }
    void kick(double h) {
        for (std::size_t k = 0; k < 3 * bodies; ++k) p[k] += h * force[k], m[k] += h * torque[k];
    }
    double energy() {
        interact(q, torque);
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
    double before = fixed.energy();
    polhode::integrate(inertia, fixed.m, fixed.q, h, steps, [&](double, auto, auto q, auto torque) {
        fixed.interact(q, torque);
    });
    std::printf("fixed %.6f %.6f\n", before, fixed.energy());

    Molecules moving;
    before = moving.energy();
    double moved = 0.0;
    for (int n = 0; n < steps; ++n) {
        moving.kick(h / 2);
        double fastest = 0.0;
        for (std::size_t k = 0; k < 3 * bodies; ++k) {
            moving.x[k] += h / mass * moving.p[k];
            fastest = std::max(fastest, std::abs(moving.p[k]));
        }
        polhode::step(inertia, moving.m, moving.q, h);
        moved += 2.0 * std::sqrt(3.0) * h / mass * fastest;  // of two bodies towards each other
        if (moved > skin) moving.find_neighbours(), moved = 0.0;
        moving.interact(moving.q, moving.torque);
        moving.kick(h / 2);
    }
    std::printf("moving %.6f %.6f\n", before, moving.energy());
}

#include <cstdio>
#include "polhode.hpp"

int main() {
    const auto [m, q] = polhode::step({1.0, 1.5, 2.2}, {0.3, 0.5, 0.8}, {1.0, 0.0, 0.0, 0.0}, 2.0);
    std::printf("m %f %f %f  q %f %f %f %f\n", m[0], m[1], m[2], q[0], q[1], q[2], q[3]);
}

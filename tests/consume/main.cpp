// What a C++ user writes: prints one line of numbers that the test compares with Python's.
#include <cstdio>

#include "polhode/polhode.hpp"

double second_sqrt(double x);

int main() {
    std::printf("%.17g %.17g\n", polhode::fma(2.0, 3.0, 4.0), second_sqrt(2.0));
    return 0;
}

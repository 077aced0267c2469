// A second translation unit with every header: a function that is not inline would be defined
// twice.
#include "polhode/kernels.hpp"

double second_sqrt(double x) { return polhode::sqrt(x); }

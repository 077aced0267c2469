#include "polhode/scalar/pack.hpp"

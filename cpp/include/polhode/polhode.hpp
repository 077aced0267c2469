#pragma once

/// @file
/// Everything that a user of the header-only library needs.

#include "polhode/config.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/mat3.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/scalar/pack.hpp"
#include "polhode/scalar/real.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/torque_free/step_polynomials.hpp"
#include "polhode/vec3.hpp"

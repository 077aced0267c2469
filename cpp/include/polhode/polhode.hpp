#pragma once

/// @file
/// Everything that a user of the header-only library needs.

#include "polhode/batch.hpp"
#include "polhode/batch_arguments.hpp"
#include "polhode/config.hpp"
#include "polhode/elliptic/carlson.hpp"
#include "polhode/inertia.hpp"
#include "polhode/mat3.hpp"
#include "polhode/method_info.hpp"
#include "polhode/methods.hpp"
#include "polhode/quaternion.hpp"
#include "polhode/scalar/pack.hpp"
#include "polhode/scalar/real.hpp"
#include "polhode/scalar/sincos.hpp"
#include "polhode/splitting/arguments.hpp"
#include "polhode/splitting/driver.hpp"
#include "polhode/splitting/schemes.hpp"
#include "polhode/torque/arguments.hpp"
#include "polhode/torque/frame.hpp"
#include "polhode/torque/heavy_top.hpp"
#include "polhode/torque/models.hpp"
#include "polhode/torque_free/exact.hpp"
#include "polhode/torque_free/step_polynomials.hpp"
#include "polhode/vec3.hpp"

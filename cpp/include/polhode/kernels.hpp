#pragma once

/// All kernels, for a program that compiles them itself.

#include "polhode/language.hpp"

#include "polhode/batch/columns.hpp"
#include "polhode/batch/stepping.hpp"
#include "polhode/batch/violations.hpp"
#include "polhode/bodies/quantities.hpp"
#include "polhode/bodies/rods.hpp"
#include "polhode/bodies/symmetric_eigen.hpp"
#include "polhode/bodies/tensors.hpp"
#include "polhode/elliptic/functions.hpp"
#include "polhode/magnus/table.hpp"
#include "polhode/methods.hpp"
#include "polhode/scalar/counted.hpp"
#include "polhode/so3.hpp"
#include "polhode/splitting/adaptive_lanes.hpp"
#include "polhode/splitting/driver.hpp"
#include "polhode/splitting/schemes.hpp"
#include "polhode/torque/models.hpp"
#include "polhode/torque_free/motion_batch.hpp"

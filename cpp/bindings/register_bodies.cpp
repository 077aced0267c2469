/// @file
/// The gufuncs behind polhode.RigidBody and the quantities.

#include "gufunc.hpp"

void register_bodies(pybind11::module_& module) {
    if (_import_umath() < 0) throw pybind11::error_already_set();
    static polhode::dispatch::BodiesTable table = *polhode::dispatch::level().bodies;
    add_gufunc(module, "symmetric_eigen", table.symmetric_eigen, 1, 2, "(3,3)->(3),(3,3)");
    add_gufunc(module, "momentum", table.momentum, 2, 1, "(3),(3)->(3)");
    add_gufunc(module, "omega", table.omega, 2, 1, "(3),(3)->(3)");
    add_gufunc(module, "energy", table.energy, 2, 1, "(3),(3)->()");
    add_gufunc(module, "casimir", table.casimir, 1, 1, "(3)->()");
}

/// @file
/// The gufuncs behind polhode.so3.

#include "gufunc.hpp"

void register_so3(pybind11::module_& module) {
    if (_import_umath() < 0) throw pybind11::error_already_set();
    static polhode::dispatch::AttitudesTable table = *polhode::dispatch::level().attitudes;
    add_gufunc(module, "so3_to_matrix", table.to_matrix, 1, 1, "(4)->(3,3)");
    add_gufunc(module, "so3_to_quaternion", table.to_quaternion, 1, 1, "(3,3)->(4)");
    add_gufunc(module, "so3_multiply", table.multiply, 2, 1, "(4),(4)->(4)");
    add_gufunc(module, "so3_conjugate", table.conjugate, 1, 1, "(4)->(4)");
    add_gufunc(module, "so3_rotate", table.rotate, 2, 1, "(4),(3)->(3)");
    add_gufunc(module, "so3_rotate_by_matrix", table.rotate_by_matrix, 2, 1, "(3,3),(3)->(3)");
    add_gufunc(module, "so3_exp", table.exp, 1, 1, "(3)->(4)");
    add_gufunc(module, "so3_log", table.log, 1, 1, "(4)->(3)");
    add_gufunc(module, "so3_log_shortest", table.log_shortest, 1, 1, "(4)->(3)");
}

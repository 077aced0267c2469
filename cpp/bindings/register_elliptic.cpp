/// @file
/// The ufuncs of polhode.elliptic: NumPy's machinery around the loops of the level in use.

#include "arrays.hpp"
#include "levels.hpp"

#include <numpy/ufuncobject.h>

namespace py = pybind11;

namespace {

// All arguments and results are doubles; NumPy casts whatever else comes in.
const char types[] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE,
                      NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};

void add_ufunc(py::module_& module, const char* name, polhode::dispatch::UfuncLoop& loop,
               int inputs, int outputs) {
    PyObject* ufunc = PyUFunc_FromFuncAndData(
        reinterpret_cast<PyUFuncGenericFunction*>(&loop), nullptr, types, 1, inputs, outputs,
        PyUFunc_None, name, nullptr, 0);
    if (ufunc == nullptr) throw py::error_already_set();
    module.add_object(name, py::reinterpret_steal<py::object>(ufunc));
}

}  // namespace

void register_elliptic(py::module_& module) {
    if (_import_umath() < 0) throw py::error_already_set();
    // NumPy keeps the address of the loop, so the table is copied where it stays.
    static polhode::dispatch::EllipticTable table = *polhode::dispatch::level().elliptic;
    add_ufunc(module, "rf", table.rf, 3, 1);
}

/// @file
/// The ufuncs of polhode.elliptic: NumPy's machinery around the loops of the level in use.

#include <forward_list>
#include <string>

#include "arrays.hpp"
#include "levels.hpp"

#include <numpy/ufuncobject.h>

namespace py = pybind11;

namespace {

// All arguments and results are doubles; NumPy casts whatever else comes in.
const char types[] = {
    NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};

void add_ufunc(py::module_& module,
               const char* name,
               polhode::dispatch::UfuncLoop& loop,
               int inputs,
               int outputs) {
    PyObject* ufunc = PyUFunc_FromFuncAndData(reinterpret_cast<PyUFuncGenericFunction*>(&loop),
                                              nullptr,
                                              types,
                                              1,
                                              inputs,
                                              outputs,
                                              PyUFunc_None,
                                              name,
                                              nullptr,
                                              0);
    if (ufunc == nullptr) throw py::error_already_set();
    module.add_object(name, py::reinterpret_steal<py::object>(ufunc));
}

/// NumPy has no way to give a ufunc its text from Python; the text lives as long as the ufunc.
void describe(const py::object& ufunc, const std::string& text) {
    if (!PyObject_TypeCheck(ufunc.ptr(), &PyUFunc_Type)) throw py::type_error("not a ufunc");
    static std::forward_list<std::string> texts;
    reinterpret_cast<PyUFuncObject*>(ufunc.ptr())->doc = texts.emplace_front(text).c_str();
}

}  // namespace

void register_elliptic(py::module_& module) {
    if (_import_umath() < 0) throw py::error_already_set();
    // NumPy keeps the address of the loop, so the table is copied where it stays.
    static polhode::dispatch::EllipticTable table = *polhode::dispatch::level().elliptic;
    add_ufunc(module, "agm", table.agm, 2, 1);
    add_ufunc(module, "rf", table.rf, 3, 1);
    add_ufunc(module, "rc", table.rc, 2, 1);
    add_ufunc(module, "rd", table.rd, 3, 1);
    add_ufunc(module, "rj", table.rj, 4, 1);
    add_ufunc(module, "jacobi", table.jacobi, 2, 4);
    add_ufunc(module, "jacobi_kc2", table.jacobi_kc2, 3, 4);
    add_ufunc(module, "ellip_f", table.ellip_f, 2, 1);
    add_ufunc(module, "ellip_f_kc2", table.ellip_f_kc2, 3, 1);
    add_ufunc(module, "ellip_k", table.ellip_k, 1, 1);
    add_ufunc(module, "ellip_k_kc2", table.ellip_k_kc2, 2, 1);
    add_ufunc(module, "ellip_pi", table.ellip_pi, 3, 1);
    add_ufunc(module, "ellip_pi_kc2", table.ellip_pi_kc2, 4, 1);
    add_ufunc(module, "ellip_pi_complete", table.ellip_pi_complete, 2, 1);
    add_ufunc(module, "ellip_pi_complete_kc2", table.ellip_pi_complete_kc2, 3, 1);
    module.def("describe", &describe, py::arg("ufunc"), py::arg("text"));
}

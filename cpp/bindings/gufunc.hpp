#pragma once

/// @file
/// A generalised ufunc of doubles around a loop of the level in use.

#include "arrays.hpp"
#include "levels.hpp"

#include <numpy/ufuncobject.h>

namespace {

/// NumPy keeps the address of `loop`: it must stay where it is.
void add_gufunc(pybind11::module_& module,
                const char* name,
                polhode::dispatch::UfuncLoop& loop,
                int inputs,
                int outputs,
                const char* signature) {
    static const char types[] = {NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE,
                                 NPY_DOUBLE};
    PyObject* ufunc =
        PyUFunc_FromFuncAndDataAndSignature(reinterpret_cast<PyUFuncGenericFunction*>(&loop),
                                            nullptr,
                                            types,
                                            1,
                                            inputs,
                                            outputs,
                                            PyUFunc_None,
                                            name,
                                            nullptr,
                                            0,
                                            signature);
    if (ufunc == nullptr) throw pybind11::error_already_set();
    module.add_object(name, pybind11::reinterpret_steal<pybind11::object>(ufunc));
}

}  // namespace

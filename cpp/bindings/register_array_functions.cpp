/// The array functions of the level in use as NumPy ufuncs, behind polhode.elliptic, polhode.so3,
/// the quantities, principal axes and attitude_from_rate; and the nodes of Gauss's rules.

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "levels.hpp"
#include "polhode/quadrature/gauss_legendre.hpp"

#include <numpy/ufuncobject.h>

namespace py = pybind11;

namespace {

/// NumPy keeps the address of the loop, so rows must stay where they are.
void add_ufunc(py::module_& module, const polhode::dispatch::ArrayFunction& row) {
    // All arguments and results are doubles; NumPy casts all other types.
    static const std::string types(NPY_MAXARGS, NPY_DOUBLE);
    auto* loop = const_cast<polhode::dispatch::UfuncLoop*>(&row.loop);
    PyObject* ufunc =
        PyUFunc_FromFuncAndDataAndSignature(reinterpret_cast<PyUFuncGenericFunction*>(loop),
                                            nullptr,
                                            types.data(),
                                            1,
                                            row.inputs,
                                            row.outputs,
                                            PyUFunc_None,
                                            row.name,
                                            nullptr,
                                            0,
                                            row.signature);
    if (ufunc == nullptr) throw py::error_already_set();
    module.add_object(row.name, py::reinterpret_steal<py::object>(ufunc));
}

/// Sets the docstring of a ufunc, which is not possible from Python before NumPy 2.2.
void describe(const py::object& ufunc, const std::string& text) {
    if (!PyObject_TypeCheck(ufunc.ptr(), &PyUFunc_Type)) throw py::type_error("not a ufunc");
    auto* copy = new char[text.size() + 1];  // never freed, like the ufunc
    std::copy_n(text.c_str(), text.size() + 1, copy);
    reinterpret_cast<PyUFuncObject*>(ufunc.ptr())->doc = copy;
}

/// Distances of the pairs of Gauss's rule from the middle of [0, 1], from the middle outwards.
py::list gauss_distances(int nodes) {
    if (nodes < 1 || nodes > polhode::quadrature::gauss_legendre_most_nodes) {
        throw py::value_error("no such rule");
    }
    const polhode::quadrature::GaussLegendre rule{nodes};
    py::list distances;
    for (int k = 0; k < rule.pairs(); ++k) distances.append(rule.pair(k).distance.high);
    return distances;
}

}  // namespace

void register_array_functions(py::module_& module) {
    if (_import_umath() < 0) throw py::error_already_set();
    const polhode::dispatch::Level& level = polhode::dispatch::level();
    for (const polhode::dispatch::ArrayFunctions& rows : {*level.elliptic, *level.functions}) {
        for (const polhode::dispatch::ArrayFunction& row : rows) add_ufunc(module, row);
    }
    module.def("describe", &describe, py::arg("ufunc"), py::arg("text"));
    module.def("gauss_distances", &gauss_distances, py::arg("nodes"));
}

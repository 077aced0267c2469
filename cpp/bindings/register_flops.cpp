/// @file
/// polhode.flops.

#include <pybind11/pybind11.h>

#include <string>

#include "arrays.hpp"
#include "flops.hpp"

namespace py = pybind11;

namespace {

py::dict flops(const std::string& method,
               double I1,
               double I2,
               double I3,
               double m1,
               double m2,
               double m3,
               double h,
               bool matrix,
               const py::tuple& option_values) {
    const auto count = polhode::count_step(method,
                                           {I1, I2, I3},
                                           {m1, m2, m3},
                                           h,
                                           matrix,
                                           polhode::bindings::read_options(option_values));
    if (!count) throw py::key_error(method);
    py::dict d;
    d["add"] = count->add;
    d["mul"] = count->mul;
    d["div"] = count->div;
    d["sqrt"] = count->sqrt;
    d["trig"] = count->trig;
    d["total"] = count->total();
    return d;
}

}  // namespace

void register_flops(py::module_& module) {
    module.def("flops",
               &flops,
               py::arg("method"),
               py::arg("I1"),
               py::arg("I2"),
               py::arg("I3"),
               py::arg("m1"),
               py::arg("m2"),
               py::arg("m3"),
               py::arg("h"),
               py::arg("matrix"),
               py::arg("options") = py::tuple());
}

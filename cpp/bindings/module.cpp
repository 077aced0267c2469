/// @file
/// The extension module polhode._core: registers the topics, holds no arithmetic and no policy.

#define POLHODE_IMPORTS_NUMPY
#include "arrays.hpp"
#include "levels.hpp"
#include "threads.hpp"

namespace py = pybind11;

void register_elliptic(py::module_& module);
void register_flops(py::module_& module);
void register_splitting(py::module_& module);
void register_steps(py::module_& module);
void register_so3(py::module_& module);
void register_bodies(py::module_& module);
void register_motion(py::module_& module);
void register_rates(py::module_& module);

PYBIND11_MODULE(_core, module) {
    if (_import_array() < 0) throw py::error_already_set();
    py::dict info;
    info["version"] = POLHODE_VERSION;
    info["compiler"] = POLHODE_COMPILER;
    info["isa"] = polhode::dispatch::level().name;
    info["isa_supported"] = polhode::dispatch::supported_levels();
    module.attr("build") = info;
    module.attr("most_threads") = polhode::most_threads;
    module.def("thread_count", &polhode::thread_count, py::arg("requested"));
    register_elliptic(module);
    register_flops(module);
    register_splitting(module);
    register_steps(module);
    register_so3(module);
    register_bodies(module);
    register_motion(module);
    register_rates(module);
}

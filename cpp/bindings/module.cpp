/// @file
/// The extension module polhode._core: registers the topics, holds no arithmetic and no policy.

#include <pybind11/pybind11.h>

#include "levels.hpp"

namespace py = pybind11;

void register_elliptic(py::module_& module);

PYBIND11_MODULE(_core, module) {
    py::dict info;
    info["version"] = POLHODE_VERSION;
    info["compiler"] = POLHODE_COMPILER;
    info["isa"] = polhode::dispatch::level().name;
    info["isa_supported"] = polhode::dispatch::supported_levels();
    module.attr("build") = info;
    register_elliptic(module);
}

/// The extension module polhode._core: registers the topics.  It contains no arithmetic and
/// no policy.

#define POLHODE_IMPORTS_NUMPY
#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/threads.hpp"

#ifdef POLHODE_OPENS_THREAD_DATA
#include <dlfcn.h>

#include <filesystem>
#endif

namespace py = pybind11;

void register_array_functions(py::module_& module);
void register_bodies(py::module_& module);
void register_short_call(py::module_& module);
void register_integration(py::module_& module);
void register_steps(py::module_& module);
void register_motion(py::module_& module);

namespace {

/// False, with ImportError set, in a second interpreter of the process.
bool is_main_interpreter() {
    if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
    PyErr_SetString(PyExc_ImportError, "polhode works in the main interpreter only");
    return false;
}

/// See thread_data.cpp.
void open_thread_data() {
#ifdef POLHODE_OPENS_THREAD_DATA
    Dl_info module;
    if (dladdr(reinterpret_cast<const void*>(&open_thread_data), &module) == 0) return;
    const std::filesystem::path folder = std::filesystem::path(module.dli_fname).parent_path();
    dlopen((folder / "lib/libpolhode_thread_data.so").c_str(), RTLD_NOW);
#endif
}

}  // namespace

// In a second interpreter of Python 3.11 the first action of pybind11 waits for a lock that its own
// thread holds.  So its function gets another name, and our function checks first.
#define PyInit__core pybind11_init_of_core
extern "C" PyObject* PyInit__core();

PYBIND11_MODULE(_core, module) {
    // From Python 3.13 on the function above always runs in the main interpreter.
    if (!is_main_interpreter()) throw py::error_already_set();
    if (_import_array() < 0) throw py::error_already_set();
    py::dict info;
    info["version"] = POLHODE_VERSION;
    info["compiler"] = POLHODE_COMPILER;
    info["isa"] = polhode::dispatch::level().name;
    info["isa_supported"] = polhode::dispatch::supported_levels();
    info["isa_processor"] = polhode::dispatch::processor_level();
    module.attr("build") = info;
    module.attr("most_threads") = polhode::most_threads;
    module.def("thread_count", &polhode::bindings::threads_of_call, py::arg("requested"));
    register_array_functions(module);
    register_bodies(module);
    register_short_call(module);
    register_integration(module);
    register_steps(module);
    register_motion(module);
}

#undef PyInit__core
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
    open_thread_data();
    return is_main_interpreter() ? pybind11_init_of_core() : nullptr;
}

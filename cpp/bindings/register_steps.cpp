/// @file
/// Free steps of batches: polhode._core.step and the list of methods.

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/bodies/rods.hpp"
#include "polhode/threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// Number of steps of a body between two checks for Ctrl-C: less than half a second for any method,
/// except for iterations that check the watch.
constexpr std::ptrdiff_t steps_between_checks = 400'000;

constexpr int carried_ = own_, roles = own_ + 1;
static_assert(roles <= BatchShape::max_arrays);

/// An integer from Python.
std::ptrdiff_t integer(PyObject* object) {
    const std::ptrdiff_t value = PyLong_AsSsize_t(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return value;
}

/// A step, as its arguments describe it.
struct StepCall {
    int method;
    py::handle inertia, m, attitude, h;
    py::handle m_out{}, attitude_out{};  ///< null: new arrays
    std::ptrdiff_t n_steps = 1;
    int threads = 0;
    bool checked = false;
    py::handle options{};  ///< a tuple, or null: the defaults
};

py::object step(const StepCall& call) {
    const int method = call.method;
    const std::ptrdiff_t n_steps = call.n_steps;
    const bool checked = call.checked;
    const py::handle inertia = call.inertia, m = call.m, attitude = call.attitude, h = call.h;
    const py::handle m_out = call.m_out, attitude_out = call.attitude_out;
    const bool fresh = !m_out;
    const int threads = threads_of_call(call.threads);
    Operand operands[roles];
    bool matrix = false;
    if (!read_vectors(inertia.ptr(), operands[inertia_]) || !read_vectors(m.ptr(), operands[m_]) ||
        !read_attitude(attitude.ptr(), operands[attitude_], matrix) ||
        !read_number_or_array(h.ptr(), operands[time_])) {
        return py::none();
    }
    const Operand* pointers[roles];
    for (int k = 0; k < roles; ++k) pointers[k] = &operands[k];
    BatchShape batch;
    if (!broadcast(pointers, m_out_, batch)) return py::none();

    py::tuple results;
    if (fresh) {
        results = new_results(batch, matrix, operands);
    } else {
        bool out_matrix = false;
        if (!read_vectors(m_out.ptr(), operands[m_out_]) ||
            !read_attitude(attitude_out.ptr(), operands[attitude_out_], out_matrix) ||
            out_matrix != matrix || !PyArray_ISWRITEABLE(operands[m_out_].array) ||
            !PyArray_ISWRITEABLE(operands[attitude_out_].array) ||
            !has_shape_of(operands[m_out_], batch) ||
            !has_shape_of(operands[attitude_out_], batch) ||
            may_overlap(operands[m_out_], operands[attitude_out_])) {
            return py::none();
        }
        for (int out = m_out_; out <= attitude_out_; ++out) {
            for (int in = inertia_; in <= time_; ++in) {
                const bool itself =
                    in == out - m_out_ + m_ && same_layout(operands[out], operands[in]);
                if (!itself && may_overlap(operands[out], operands[in])) return py::none();
            }
        }
        results = py::make_tuple(m_out, attitude_out);
    }
    const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
    const dispatch::StepRow& row_of_method = table.rows[method];
    Watch watch;
    OptionValues options;
    if (call.options) options = read_options(py::reinterpret_borrow<py::tuple>(call.options));
    options = row_of_method.info->complete(options);
    options.stop = watch.request();
    const int correction = row_of_method.info->energy_correction(options);
    // The data that are stored from step to step in addition to m and attitude, for calls that are
    // divided into slices.
    const bool carries = n_steps > 1 && (correction != 0 || row_of_method.history > 0);
    py::object carried;
    if (carries) {
        const npy_intp core = 2 + std::max(row_of_method.carried, 0);
        carried = new_array(batch, &core, 1);
        read_array(carried.ptr(), 1, operands[carried_]);
    }
    const int arrays = carries ? roles : carried_;
    if (!broadcast(pointers, arrays, batch)) return py::none();
    batch.arrange();
    const std::ptrdiff_t count = batch.size();
    if (count == 0) {
        // There is no body, but possibly there are moments and attitudes, which the Python layer
        // validates.
        if (!checked) return py::none();
        return results;
    }

    const StepFunction kernel = dispatch::level_for(count).torque_free->rows[method].step;
    std::atomic<int> findings{all_valid};
    std::ptrdiff_t without_root = 0;
    const auto arguments_of = [&](std::ptrdiff_t row) {
        StepArguments a{};
        a.inertia = view_of(operands[inertia_], batch, inertia_, row);
        a.m = view_of(operands[m_], batch, m_, row);
        a.attitude = view_of(operands[attitude_], batch, attitude_, row);
        a.h = view_of(operands[time_], batch, time_, row);
        a.m_out = view_of(operands[m_out_], batch, m_out_, row);
        a.attitude_out = view_of(operands[attitude_out_], batch, attitude_out_, row);
        a.n_steps = n_steps;
        a.matrix = matrix;
        a.options = options;
        a.without_root = &without_root;
        a.energy_correction = correction;
        if (carries) a.carried = view_of(operands[carried_], batch, carried_, row);
        return a;
    };
    const auto look = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        int found = all_valid;
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            const StepArguments a = arguments_of(row);
            found |= a.inertia.body == 0 ? table.look_at_inertia(a.inertia, 0, 1)
                                         : table.look_at_inertia(a.inertia, i, j);
            found |= a.attitude.body == 0 ? table.look_at_attitude(a.attitude, matrix, 0, 1)
                                          : table.look_at_attitude(a.attitude, matrix, i, j);
        });
        if (found != all_valid) findings |= found;
    };
    const auto refused = [&] {
        const int found = findings;
        return !checked && found != all_valid;
    };
    // New arrays can be discarded, so there the validation is part of the step: the kernels do not
    // validate matrices.  Given arrays must not change when an error is raised.
    const bool looks_before = !checked && !fresh;
    const bool looks_within = !checked && fresh && matrix;
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        if (looks_within) look(begin, end);
        std::ptrdiff_t unchecked = 0;
        bool stop = false;
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            // Many steps are divided into slices; each slice starts from the outputs of the slice
            // before.  A pack with one body takes as long as a full pack.
            const std::ptrdiff_t bodies = std::max<std::ptrdiff_t>(j - i, 16);
            const std::ptrdiff_t slice = std::max<std::ptrdiff_t>(steps_between_checks / bodies, 1);
            StepArguments a = arguments_of(row);
            for (bool done = false; !done && !stop && !refused();) {
                a.n_steps = std::min(slice, n_steps - a.first_step);
                const int found = kernel(a, i, j);
                if (found != all_valid) findings |= found;
                a.first_step += a.n_steps;
                done = a.first_step == n_steps;
                a.m = a.m_out;
                a.attitude = a.attitude_out;
                unchecked += a.n_steps * bodies;
                if (unchecked >= steps_between_checks) {
                    stop = watch.stops();
                    unchecked = 0;
                }
            }
        });
    };
    if (looks_before) watch.share(count, threads, whole_packs, 1, look);
    if (!refused()) watch.share(count, threads, whole_packs, n_steps, work);
    if (refused()) return py::int_(static_cast<int>(findings));
    if (without_root > 0) return py::make_tuple(results[0], results[1], without_root);
    return results;
}

/// Calls work() and sets Python's error for what it throws.
template <class Work>
PyObject* for_python(const Work& work) {
    try {
        return py::object(work()).release().ptr();
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const py::builtin_exception& error) {
        error.set_error();
    } catch (const std::invalid_argument& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

/// A step with arguments that the Python layer has checked.
PyObject* step_of_row(PyObject*, PyObject* const* x, Py_ssize_t count) {
    return for_python([&] {
        if (count != 11 || !PyTuple_Check(x[10])) throw py::type_error("arguments of step_of_row");
        StepCall call{static_cast<int>(integer(x[0])), x[1], x[2], x[3], x[4]};
        if (x[5] != Py_None) call.m_out = x[5], call.attitude_out = x[6];
        call.n_steps = integer(x[7]);
        call.threads = static_cast<int>(integer(x[8]));
        call.checked = x[9] == Py_True;
        call.options = x[10];
        return step(call);
    });
}

/// True for an int from `least` to `most`.
bool reads(PyObject* object, std::ptrdiff_t least, std::ptrdiff_t most, std::ptrdiff_t& value) {
    if (!PyLong_CheckExact(object)) return false;
    value = PyLong_AsSsize_t(object);
    if (value == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    return value >= least && value <= most;
}

/// Rows of the methods by name.
PyObject* rows_by_name() {
    static PyObject* const rows = [] {
        py::dict all;
        const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
        for (int i = 0; i < table.methods; ++i) {
            // Methods made from a tableau have no public name.
            const std::string name = table.rows[i].info->name;
            if (name != "rkmk") all[name.c_str()] = i;
        }
        return all.release().ptr();
    }();
    return rows;
}

/// A step with the arguments of polhode.step, which often is that of one body: None unless they are
/// usual.
PyObject* step_as_given(PyObject*, PyObject* const* x, Py_ssize_t count) {
    return for_python([&]() -> py::object {
        if (count != 9 || !PyDict_Check(x[8])) throw py::type_error("arguments of step");
        StepCall call{0, x[0], x[1], x[2], x[3]};
        if (PyDict_GET_SIZE(x[8]) != 0 || !PyUnicode_CheckExact(x[4])) return py::none();
        PyObject* const row = PyDict_GetItemWithError(rows_by_name(), x[4]);
        if (row == nullptr) return py::none();
        call.method = static_cast<int>(integer(row));
        const int history = dispatch::level().torque_free->rows[call.method].history;
        constexpr std::ptrdiff_t most_steps = std::ptrdiff_t{1} << 62;
        std::ptrdiff_t threads = 0;
        if (!reads(x[5], history, most_steps, call.n_steps)) return py::none();
        if (x[6] != Py_None) {
            if (!PyTuple_CheckExact(x[6]) || PyTuple_GET_SIZE(x[6]) != 2) return py::none();
            call.m_out = PyTuple_GET_ITEM(x[6], 0);
            call.attitude_out = PyTuple_GET_ITEM(x[6], 1);
        }
        if (x[7] != Py_None && (!reads(x[7], -1, most_threads, threads) || threads == 0)) {
            return py::none();
        }
        call.threads = static_cast<int>(threads);
        return step(call);
    });
}

constexpr char step_doc[] =
    R"(step(inertia: object, m: object, attitude: object, h: object, method: object, n_steps: object, out: object, threads: object, options: dict) -> object

Steps a batch with the arguments of polhode.step, if they are usual, and None if an option is given
or an argument is not of the usual type.  Else as `step_of_row`.)";

constexpr char step_of_row_doc[] =
    R"(step_of_row(method: int, inertia: object, m: object, attitude: object, h: object, m_out: object, attitude_out: object, n_steps: int, threads: int, checked: bool, options: tuple) -> object

Steps a batch whose arguments the core can take as they are.

Returns (m, attitude), or (m, attitude, count of bodies whose step failed); None where an argument
is not an aligned array of doubles of a fitting shape (the Python layer then converts, or says what
is wrong); an int of Finding where a value is not allowed, with nothing written: the Python layer
then says so, and what it accepts it passes on as `checked`, not to be refused again.  `options` are
all of the method's options or none, which are the defaults.)";

PyMethodDef fast_functions[] = {
    {"step",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(step_as_given)),
     METH_FASTCALL,
     step_doc},
    {"step_of_row",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(step_of_row)),
     METH_FASTCALL,
     step_of_row_doc}};

/// The first of these bodies that is invalid, or -1, and whether there is a rod.
template <class Look>
py::tuple first_invalid(const Doubles& array, std::ptrdiff_t core, const Look& look) {
    const std::ptrdiff_t bodies = array.size() / core;
    const View view{array.data(), core, 1, 3};
    const int found = bodies > 0 ? look(view, 0, bodies) : all_valid;
    std::ptrdiff_t first = (found & some_invalid) != 0 ? 0 : -1;
    while (first >= 0 && first < bodies && (look(view, first, first + 1) & some_invalid) == 0) {
        ++first;
    }
    return py::make_tuple(first, (found & some_rod) != 0);
}
py::tuple look_at_moments(const Doubles& inertia) {
    return first_invalid(inertia, 3, dispatch::level().torque_free->look_at_inertia);
}
template <bool Matrix>
py::tuple look_at_attitudes(const Doubles& attitude) {
    const auto look = dispatch::level().torque_free->look_at_attitude;
    const auto look_at = [look](const View& view, std::ptrdiff_t begin, std::ptrdiff_t end) {
        return look(view, Matrix, begin, end);
    };
    return first_invalid(attitude, Matrix ? 9 : 4, look_at);
}

std::ptrdiff_t look_at_rods(const Doubles& inertia, const Doubles& m) {
    const std::ptrdiff_t count = m.size() / 3;
    const std::ptrdiff_t first =
        bodies::first_spinning_rod({inertia.data(), 3, 1, 3}, {m.data(), 3, 1, 3}, 0, count);
    return first < count ? first : -1;
}

std::string contradiction(const std::string& method, const py::tuple& options) {
    const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
    for (int i = 0; i < table.methods; ++i) {
        const MethodInfo& info = *table.rows[i].info;
        if (method != info.name || info.contradiction == nullptr) continue;
        const char* what = info.contradiction(read_options(options));
        if (what != nullptr) return what;
    }
    return {};
}

bool overlaps_itself(const py::array& array) {
    return may_overlap_itself(reinterpret_cast<PyArrayObject*>(array.ptr()));
}
/// Requires aligned doubles; false for other arrays.
bool same_elements(const py::array& a, const py::array& b) {
    Operand first, second;
    return read_array(a.ptr(), 0, first) && read_array(b.ptr(), 0, second) &&
           same_layout(first, second);
}

py::list methods() {
    py::list rows;
    const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
    for (int i = 0; i < table.methods; ++i) {
        const MethodInfo& info = *table.rows[i].info;
        const DirectMethod& direct = dispatch::level().direct->rows[i];
        py::list options;
        for (int k = 0; k < info.option_count(); ++k) {
            const Option& option = info.options[k];
            options.append(py::make_tuple(
                option.name, option.kind, option.standard, option.choices, option.doc));
        }
        py::dict row;
        row["name"] = info.name;
        row["order"] = info.order;
        row["kind"] = info.kind;
        row["invariants"] = info.invariants;
        row["symmetric"] = info.symmetric;
        row["options"] = options;
        row["source"] = info.source;
        row["may_lack_root"] = table.rows[i].may_lack_root;
        row["history"] = table.rows[i].history;
        row["takes_torque"] = direct.stages != nullptr;
        row["columns"] = direct.columns;
        row["derivatives"] = direct.derivatives;
        row["given"] = direct.given;
        rows.append(row);
    }
    return rows;
}

}  // namespace
}  // namespace polhode::bindings

void register_steps(py::module_& module) {
    for (PyMethodDef& definition : polhode::bindings::fast_functions) {
        PyObject* function = PyCFunction_New(&definition, nullptr);
        if (function == nullptr) throw py::error_already_set();
        module.add_object(definition.ml_name, py::reinterpret_steal<py::object>(function));
    }
    module.def("methods", &polhode::bindings::methods);
    module.def("look_at_moments",
               &polhode::bindings::look_at_moments,
               py::arg("inertia"),
               "Of bodies one after another: the first that no body is, or -1; is there a rod?");
    module.def("look_at_quaternions",
               &polhode::bindings::look_at_attitudes<false>,
               py::arg("q"),
               "Of quaternions one after another: the first that is no attitude, or -1; False.");
    module.def("look_at_matrices",
               &polhode::bindings::look_at_attitudes<true>,
               py::arg("q"),
               "Of matrices one after another: the first that is no rotation, or -1; False.");
    module.def("look_at_rods",
               &polhode::bindings::look_at_rods,
               py::arg("inertia"),
               py::arg("m"),
               "The first of these bodies that is a rod with momentum about its axis, or -1.");
    module.def("contradiction",
               &polhode::bindings::contradiction,
               py::arg("method"),
               py::arg("options"),
               "What is wrong with values of all options that do not go together; or empty.");
    module.def("overlaps_itself",
               &polhode::bindings::overlaps_itself,
               py::arg("array"),
               "Do elements share memory?  False for every view that slices and transposes make.");
    module.def("same_elements",
               &polhode::bindings::same_elements,
               py::arg("a"),
               py::arg("b"),
               "Are these two views of the same doubles in the same order?");
}

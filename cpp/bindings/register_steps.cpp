/// Free steps of batches: polhode._core.step, the list of methods, and `validate`, the check of
/// bodies of every call.

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "flops.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/interface/validate.hpp"
#include "polhode/threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// Number of steps of a body between two checks for Ctrl-C: less than half a second for any method,
/// except for iterations that check the watch.
constexpr std::ptrdiff_t steps_between_checks = 400'000;

constexpr int carried_ = own_, step_roles = own_ + 1;
static_assert(step_roles <= BatchShape::max_arrays);

constexpr const char* argument_names[] = {"inertia", "m", "q", "h"};

/// The results of a step, and the arrays that are kept alive for it.
class StepArrays {
  public:
    Operand operands[step_roles];
    BatchShape batch;
    bool matrix, fresh;  ///< fresh: the kernels write to new arrays

    StepArrays(PyObject* const* inputs, py::handle out) : fresh(out.is_none()) {
        constexpr Kind kinds[] = {Kind::vectors, Kind::vectors, Kind::attitudes, Kind::numbers};
        for (int k = inertia_; k <= time_; ++k) {
            owners_[k] = read_argument(argument_names[k], inputs[k], kinds[k], operands[k]);
        }
        matrix = operands[attitude_].core_axes == 2;
        broadcast(m_out_);
        if (!fresh && !takes(out)) {
            const py::tuple shape = shape_of(batch);
            const py::object core[] = {
                py::make_tuple(3), matrix ? py::object(py::make_tuple(3, 3)) : py::make_tuple(4)};
            given_ =
                package_function("outputs")(out,
                                            py::make_tuple(py::make_tuple("m", shape + core[0]),
                                                           py::make_tuple("q", shape + core[1])));
            fresh = true;
        }
        if (fresh) {
            new_results(batch, matrix, operands, m_result_, q_result_);
        } else {
            m_result_ = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(out.ptr(), 0));
            q_result_ = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(out.ptr(), 1));
            copy_overlapping();
        }
    }
    void broadcast(int count) {
        for (int k = 0; k < count; ++k) pointers_[k] = &operands[k];
        if (bindings::broadcast(pointers_, count, batch)) return;
        std::string shapes;
        for (int k = inertia_; k <= time_; ++k) {
            shapes += (k == 0 ? "" : ", ") + std::string(argument_names[k]) + " " +
                      text_of_shape(operands[k]);
        }
        throw std::invalid_argument("batch shapes do not broadcast: " + shapes);
    }
    /// Of all bodies, before a step or after one that has found invalid data.
    void check(const Checks& kernels) const {
        validate::bodies(kernels,
                         argument(argument_names[inertia_], operands[inertia_]),
                         argument(argument_names[m_], operands[m_]),
                         argument(argument_names[attitude_], operands[attitude_]));
    }
    /// (m, attitude, lost)
    py::object results(std::ptrdiff_t lost) const {
        PyObject *m = m_result_.ptr(), *q = q_result_.ptr();
        py::object given[2];
        if (given_) {
            for (const int k : {0, 1}) {
                given[k] = given_[py::int_(k)];
                given[k].attr("__setitem__")(py::ellipsis(), k == 0 ? m_result_ : q_result_);
            }
            m = given[0].ptr(), q = given[1].ptr();
        }
        const py::int_ count(lost);
        PyObject* const tuple = PyTuple_Pack(3, m, q, count.ptr());
        if (tuple == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(tuple);
    }

  private:
    /// True if the kernels can write to the arrays of `out`.
    bool takes(py::handle out) {
        if (!PyTuple_Check(out.ptr()) || PyTuple_GET_SIZE(out.ptr()) != 2) return false;
        PyObject *m = PyTuple_GET_ITEM(out.ptr(), 0), *q = PyTuple_GET_ITEM(out.ptr(), 1);
        return read_results(m, q, batch, matrix, operands) &&
               !may_overlap(operands[m_out_], operands[attitude_out_]);
    }
    /// Arguments that share memory with a result, but do not stand in its place, are copied.
    void copy_overlapping() {
        for (int in = inertia_; in <= time_; ++in) {
            for (int out = m_out_; out <= attitude_out_; ++out) {
                const bool itself =
                    in == out - m_out_ + m_ && same_layout(operands[out], operands[in]);
                if (itself || !may_overlap(operands[out], operands[in])) continue;
                owners_[in] = py::reinterpret_steal<py::object>(
                    PyArray_NewCopy(operands[in].array, NPY_KEEPORDER));
                if (!owners_[in]) throw py::error_already_set();
                read_array(owners_[in].ptr(), operands[in].core_axes, operands[in]);
            }
        }
    }

    const Operand* pointers_[step_roles];
    py::object owners_[time_ + 1], given_, m_result_, q_result_;
};

/// Row of each method that has a public name; borrowed from the module.
PyObject* method_rows = nullptr;

/// A method, by its row, with the values of its options.
struct Chosen {
    int row;
    OptionValues options{};
    py::object owner{};  ///< keeps coefficients alive
};
Chosen chosen(py::handle method, py::handle options) {
    if (PyUnicode_CheckExact(method.ptr()) && PyDict_GET_SIZE(options.ptr()) == 0) {
        PyObject* const row = PyDict_GetItemWithError(method_rows, method.ptr());
        if (row != nullptr) return {static_cast<int>(PyLong_AsLong(row))};
    }
    const py::tuple both =
        py::module_::import("polhode.integrators.table").attr("chosen")(method, options);
    return {both[0].cast<int>(), read_options(both[1]), both};
}

/// A step with the arguments of polhode.step.
py::object step(PyObject* const* x) {
    const Chosen method = chosen(x[0], x[1]);
    const dispatch::TorqueFreeTable& table = *dispatch::level().torque_free;
    const dispatch::StepRow& row_of_method = table.rows[method.row];
    Watch watch;
    OptionValues options = row_of_method.info->complete(method.options);
    options.stop = watch.request();
    const std::ptrdiff_t n_steps = whole(x[6], 0, validate::most_steps, "step_count");
    validate::steps(n_steps, *row_of_method.info, row_of_method.history);
    const int threads = threads_of_call(
        x[8] == Py_None ? 0 : static_cast<int>(whole(x[8], 1, most_threads, "thread_count")));
    StepArrays arrays(x + 2, x[7]);
    const bool matrix = arrays.matrix;
    Operand* const operands = arrays.operands;
    const int correction = row_of_method.info->energy_correction(options);
    // The data that are stored from step to step in addition to m and attitude, for calls that are
    // divided into slices.
    const bool carries = n_steps > 1 && (correction != 0 || row_of_method.history > 0);
    py::object carried;
    if (carries) {
        const npy_intp core = 2 + std::max(row_of_method.carried, 0);
        carried = new_array(arrays.batch, &core, 1);
        read_array(carried.ptr(), 1, operands[carried_]);
    }
    arrays.broadcast(carries ? step_roles : carried_);
    BatchShape& batch = arrays.batch;
    batch.arrange();
    const std::ptrdiff_t count = batch.size();
    const Checks& checks = table.checks;
    if (count == 0) {
        arrays.check(checks);
        return arrays.results(0);
    }

    const StepFunction kernel = dispatch::level_for(count).torque_free->rows[method.row].step;
    std::atomic<int> violations{all_valid};
    std::ptrdiff_t lost = 0;
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
        a.without_root = &lost;
        a.energy_correction = correction;
        if (carries) a.carried = view_of(operands[carried_], batch, carried_, row);
        return a;
    };
    const auto look = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        int found = all_valid;
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            const StepArguments a = arguments_of(row);
            const bool one_inertia = a.inertia.body == 0, one_attitude = a.attitude.body == 0;
            found |= checks.inertia(a.inertia, one_inertia ? 0 : i, one_inertia ? 1 : j);
            found |=
                checks.attitude(a.attitude, matrix, one_attitude ? 0 : i, one_attitude ? 1 : j);
        });
        if (found != all_valid) violations |= found;
    };
    // New arrays can be discarded, so there the validation is part of a few steps; the kernels do
    // not validate matrices.  Given arrays must not change when an error is raised.
    const bool ahead = !arrays.fresh || n_steps > 64;
    if (ahead) watch.share(count, threads, whole_packs, 1, look);
    if (violations != all_valid) arrays.check(checks);
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        if (matrix && !ahead) look(begin, end);
        std::ptrdiff_t unchecked = 0;
        bool stop = false;
        batch.for_each_row(begin, end, [&](std::ptrdiff_t row, std::ptrdiff_t i, std::ptrdiff_t j) {
            // Many steps are divided into slices; each slice starts from the outputs of the slice
            // before.  A pack with one body takes as long as a full pack.
            const std::ptrdiff_t bodies = std::max<std::ptrdiff_t>(j - i, 16);
            const std::ptrdiff_t slice = std::max<std::ptrdiff_t>(steps_between_checks / bodies, 1);
            StepArguments a = arguments_of(row);
            for (bool done = false; !done && !stop;) {
                a.n_steps = std::min(slice, n_steps - a.first_step);
                const int found = kernel(a, i, j);
                if (found != all_valid) violations |= found;
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
    watch.share(count, threads, whole_packs, n_steps, work);
    if (!ahead && violations != all_valid) arrays.check(checks);
    return arrays.results(lost);
}

/// Calls step() and sets Python's error for what it throws.
PyObject* step_for_python(PyObject*, PyObject* const* x, Py_ssize_t count) {
    try {
        if (count != 9 || !PyDict_Check(x[1])) throw py::type_error("arguments of step");
        return step(x).release().ptr();
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

constexpr char step_doc[] =
    R"(step(method: object, options: dict, inertia: object, m: object, q: object, h: object, n_steps: object, out: object, threads: object) -> tuple

Steps a batch with the arguments of polhode.step.

Returns (m, q, number of bodies that became NaN although their input is finite).)";

PyMethodDef step_function{
    "step",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(step_for_python)),
    METH_FASTCALL,
    step_doc};

/// Validates the arguments that are given, each None or a tuple of its name and value.  True if
/// some body is a rod.
bool validate_bodies(const py::object& inertia, const py::object& m, const py::object& attitude) {
    const Checks& checks = dispatch::level().torque_free->checks;
    std::vector<py::object> owners;
    const auto read = [&](const py::tuple& given, std::size_t place, Kind kind) {
        const auto name = given[0].cast<std::string>();
        Operand operand;
        owners.push_back(
            read_argument(name.c_str(), py::object(given[place]).ptr(), kind, operand));
        return argument(name, operand);
    };
    bool rod = false;
    if (!inertia.is_none()) {
        const validate::Argument moments = read(inertia, 1, Kind::vectors);
        rod = validate::inertia(checks, moments);
        if (rod && !m.is_none()) {
            const validate::Argument momenta = read(m, 1, Kind::vectors);
            // A MemoryError now, and not after a check of all bodies.
            std::vector<py::ssize_t> results{3};
            for (const std::ptrdiff_t length : validate::common_shape(moments, momenta)) {
                results.push_back(length);
            }
            const py::array_t<double> room(results);
            validate::rods(moments, momenta, read(m, py::len(m) - 1, Kind::vectors));
        }
    }
    if (!attitude.is_none()) validate::attitude(checks, read(attitude, 1, Kind::attitudes));
    return rod;
}

std::string contradiction(int row, const py::tuple& options) {
    const auto judge = dispatch::level().torque_free->rows[row].info->contradiction;
    const char* what = judge == nullptr ? nullptr : judge(read_options(options));
    return what == nullptr ? "" : what;
}

bool overlaps_itself(const py::array& array) { return may_overlap_itself(as_array(array)); }
/// The models that a direct integrator without stages knows; none for others.
py::tuple models_of_series(const DirectMethod& direct, const MethodInfo& info) {
    py::list known;
    DirectStage room[DirectMethod::most_stages];
    OptionValues options = info.complete({});
    options.data = direct.data;
    if (direct.stages != nullptr && direct.stages(0, options, room).count == 0) {
        for (const DirectRun& run : std::span(direct.runs, direct.run_count)) {
            if (run.model != nullptr) known.append(run.model->name);
        }
    }
    return known;
}
py::list methods() {
    py::list all;
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
        row["columns"] = direct.columns - direct.scratch;
        row["derivatives"] = direct.derivatives;
        row["given"] = direct.given;
        row["compensated"] = direct.begin != nullptr;
        row["series"] = models_of_series(direct, info);
        all.append(row);
    }
    return all;
}

py::dict flops(const std::string& method,
               const std::array<double, 3>& inertia,
               const std::array<double, 3>& m,
               double h,
               bool matrix,
               const py::tuple& options) {
    const auto count = count_step(method, inertia, m, h, matrix, read_options(options));
    if (!count) throw py::key_error(method);
    return py::dict(py::arg("add") = count->add,
                    py::arg("mul") = count->mul,
                    py::arg("div") = count->div,
                    py::arg("sqrt") = count->sqrt,
                    py::arg("trig") = count->trig,
                    py::arg("total") = count->total());
}

}  // namespace
}  // namespace polhode::bindings

void register_steps(py::module_& module) {
    PyObject* step = PyCFunction_New(&polhode::bindings::step_function, nullptr);
    if (step == nullptr) throw py::error_already_set();
    module.add_object("step", py::reinterpret_steal<py::object>(step));
    py::dict row_of_name;
    const polhode::dispatch::TorqueFreeTable& table = *polhode::dispatch::level().torque_free;
    for (int i = 0; i < table.methods; ++i) {
        // Methods made from a tableau have no public name.
        const std::string name = table.rows[i].info->name;
        if (name != "rkmk") row_of_name[name.c_str()] = i;
    }
    polhode::bindings::method_rows = row_of_name.ptr();
    module.attr("rows") = row_of_name;
    module.def("methods", &polhode::bindings::methods);
    module.def("flops", &polhode::bindings::flops);
    module.def("validate",
               &polhode::bindings::validate_bodies,
               py::arg("inertia") = py::none(),
               py::arg("m") = py::none(),
               py::arg("attitude") = py::none(),
               "Validates bodies.  Each argument is (name, value); for m also (name, value, value "
               "to show).");
    module.def("contradiction",
               &polhode::bindings::contradiction,
               py::arg("row"),
               py::arg("options"),
               "What is wrong with values of all options that do not go together; or empty.");
    module.def("overlaps_itself",
               &polhode::bindings::overlaps_itself,
               py::arg("array"),
               "Do elements share memory?  False for every view that slices and transposes make.");
}

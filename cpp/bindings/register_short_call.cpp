/// Integrations of ordinary arguments in one call: polhode._core.integrate.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "integrator.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/interface/calls.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// An index of Python; nothing for others.
std::optional<std::ptrdiff_t> index(PyObject* object) {
    if (PyIndex_Check(object) == 0) return {};
    const std::ptrdiff_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (value != -1 || PyErr_Occurred() == nullptr) return value;
    PyErr_Clear();
    return {};
}

/// A new array of a batch, with the values of an argument that broadcasts to it.
py::object copied(const BatchShape& batch, const Operand& x) {
    py::object array = new_array(batch, PyArray_DIMS(x.array) + x.batch_axes, x.core_axes);
    PyArrayObject* const to = as_array(array);
    if (PyArray_SIZE(to) == PyArray_SIZE(x.array) && PyArray_IS_C_CONTIGUOUS(x.array)) {
        std::memcpy(PyArray_DATA(to), x.data, static_cast<std::size_t>(PyArray_NBYTES(to)));
    } else if (PyArray_CopyInto(to, x.array) != 0) {
        throw py::error_already_set();
    }
    return array;
}

/// The handler of a signal raised an exception, which is set.
struct Interrupted {};

/// Adaptive steps between two times, in the place of steps of given length.
struct AdaptiveWay {
    double times[2]{};
    AdaptiveProblem problem{};
    std::vector<double> t;
    std::unique_ptr<bool[]> lost;

    AdaptiveWay(double t0, double t_end, PyObject* const* tolerance) {
        times[0] = t0, times[1] = t_end;
        problem.times = times;
        const auto part = [&](int k) { return number(tolerance[k]).value(); };
        problem.tolerance = {part(0), part(1), part(2)};
        problem.max_step = std::numeric_limits<double>::infinity();
        problem.most_steps = std::numeric_limits<std::ptrdiff_t>::max();
    }
    AdaptiveWay(const AdaptiveWay&) = delete;
    AdaptiveWay& operator=(const AdaptiveWay&) = delete;

    /// Returns the array of the steps that were accepted and rejected.
    py::object begin(const BatchShape& batch, std::ptrdiff_t bodies) {
        npy_intp shape[BatchShape::max_axes + 1] = {2};
        std::copy_n(batch.shape, batch.axes, shape + 1);
        auto costs =
            py::reinterpret_steal<py::object>(PyArray_ZEROS(batch.axes + 1, shape, NPY_INT64, 0));
        if (!costs) throw py::error_already_set();
        problem.steps = static_cast<std::int64_t*>(PyArray_DATA(as_array(costs)));
        problem.rejected = problem.steps + bodies;
        t.assign(static_cast<std::size_t>(bodies), times[0]);
        problem.t = t.data();
        lost = std::make_unique<bool[]>(static_cast<std::size_t>(bodies));
        problem.lost = lost.get();
        return costs;
    }
    bool arrived() const {
        return std::ranges::all_of(t, [this](double each) { return each == times[1]; });
    }
};

/// Arguments: an Integrator, then h, n_steps, t0, save_every, inertia, m0 and q0 of
/// polhode.integrate; of adaptive steps also t_end, rtol and both of atol, while h and n_steps are
/// None.  Returns t, m, q, a copy of the inertia and the adaptive steps, or null for everything
/// unusual.
py::object integrate(PyObject* const* x, bool adapts) {
    const auto& integrator = *py::handle(x[0]).cast<const Integrator*>();
    const auto t0 = number(x[3]);
    const auto save_every = index(x[4]);
    if (!t0 || !std::isfinite(*t0) || !save_every || *save_every < 1) return {};
    auto h = number(x[1]);
    auto n_steps = index(x[2]);
    std::optional<AdaptiveWay> way;
    if (adapts) {
        const auto t_end = number(x[8]);
        if (x[1] != Py_None || x[2] != Py_None || *save_every != 1 || !t_end) return {};
        way.emplace(*t0, *t_end, x + 9);
        h = *t_end - *t0;
        n_steps = 1;
        if (*h == 0) return {};
    }
    if (!h || !std::isfinite(*h) || !n_steps || *n_steps < 0) return {};
    const int threads = threads_of_call(0);  // refuses a wrong POLHODE_NUM_THREADS

    constexpr int count = attitude_ + 1;
    constexpr Kind kinds[count] = {Kind::vectors, Kind::vectors, Kind::attitudes};
    Operand operands[count];
    const Operand* pointers[count];
    py::object lists[count];
    for (int k = 0; k < count; ++k) {
        PyObject* object = x[5 + k];
        pointers[k] = &operands[k];
        if (read_kind(object, kinds[k], operands[k])) continue;
        lists[k] = array_of_list(object);
        if (!lists[k] || !read_kind(lists[k].ptr(), kinds[k], operands[k])) return {};
    }
    BatchShape batch;
    if (!broadcast(pointers, count, batch)) return {};
    std::ptrdiff_t bodies = 1;
    for (int d = 0; d < batch.axes; ++d) bodies *= batch.shape[d];
    // Signals during steps of given length are handled after the last of them.
    const std::ptrdiff_t quick = integrator.steps_at_once(bodies);
    if (bodies == 0 || *n_steps > (threads == 1 ? 5 * quick : quick)) return {};
    if (!way && bodies > 20'000) return {};
    py::object costs = py::none();
    if (way) {
        if (threads > 1 && bodies > whole_packs) return {};  // several pieces
        costs = way->begin(batch, bodies);
    }

    const bool one_inertia = PyArray_SIZE(operands[inertia_].array) == 3;
    const py::object inertia = copied(one_inertia ? BatchShape{} : batch, operands[inertia_]);
    const py::object m = copied(batch, operands[m_]), q = copied(batch, operands[attitude_]);
    const bool matrix = operands[attitude_].core_axes == 2;
    if (!all_finite(data_of(m), 3 * bodies) || !all_finite(data_of(q), (matrix ? 9 : 4) * bodies)) {
        return {};
    }
    npy_intp saves = 1 + (*n_steps + *save_every - 1) / *save_every;
    const auto rows_of = [&](const py::object& array) {
        PyArrayObject* const row = as_array(array);
        npy_intp shape[NPY_MAXDIMS];
        shape[0] = saves;
        std::copy_n(PyArray_DIMS(row), PyArray_NDIM(row), shape + 1);
        PyObject* const rows = PyArray_SimpleNew(PyArray_NDIM(row) + 1, shape, NPY_DOUBLE);
        if (rows == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(rows);
    };
    const py::object m_saved = rows_of(m), q_saved = rows_of(q);
    auto t = py::reinterpret_steal<py::object>(PyArray_SimpleNew(1, &saves, NPY_DOUBLE));
    if (!t) throw py::error_already_set();
    for (npy_intp k = 0; k < saves; ++k) {
        const std::ptrdiff_t step = std::min(k * *save_every, *n_steps);
        data_of(t)[k] = step == 0 ? *t0 : *t0 + static_cast<double>(step) * *h;
    }
    if (way) data_of(t)[1] = way->times[1];

    const dispatch::Level& level = dispatch::level_for(bodies);
    const std::vector<TorqueTerm> models = integrator.models(bodies);
    interface::Integration call{};
    call.bodies = bodies;
    call.inertia = data_of(inertia);
    call.inertia_stride = one_inertia ? 0 : 3;
    call.h = *h;
    call.n_steps = *n_steps;
    call.t0 = *t0;
    call.attitude = matrix ? POLHODE_MATRIX_ROWS : POLHODE_QUATERNION;
    call.threads = 1;
    call.m = data_of(m);
    call.q = data_of(q);
    call.save_every = *save_every;
    call.m_saved = data_of(m_saved);
    call.q_saved = data_of(q_saved);
    interface::FreeMethod method = integrator.method(bodies);
    const auto run = [&](std::ptrdiff_t, std::ptrdiff_t) {
        interface::integrate(level.torque_free->checks,
                             {level.splitting->run, nullptr, nullptr, level.adaptive->run},
                             method,
                             integrator.scheme(),
                             call,
                             models,
                             way ? &way->problem : nullptr);
    };
    if (!way && *n_steps <= quick) {
        run(0, 1);
    } else {
        Watch watch;
        if (way) method.options.stop = watch.request();
        try {
            watch.share(1, 1, 1, few_steps + 1, run);
        } catch (py::error_already_set& error) {
            error.restore();
            throw Interrupted();  // NOLINT(bugprone-std-exception-baseclass): it is set
        }
    }
    if (way && !way->arrived()) return {};
    if (!all_finite(call.m, 3 * bodies) || !all_finite(call.q, (matrix ? 9 : 4) * bodies))
        return {};  // the usual way has the warnings
    return py::reinterpret_steal<py::object>(
        PyTuple_Pack(5, t.ptr(), m_saved.ptr(), q_saved.ptr(), inertia.ptr(), costs.ptr()));
}

PyObject* integrate_for_python(PyObject*, PyObject* const* x, Py_ssize_t count) {
    try {
        py::object result;
        if (count == 8 || count == 12) result = integrate(x, count == 12);
        if (result) return result.release().ptr();
    } catch (const Interrupted&) {
        return nullptr;
    } catch (...) {
        PyErr_Clear();
    }
    Py_RETURN_NONE;
}

constexpr char integrate_doc[] =
    R"(integrate(integrator: Integrator, h: object, n_steps: object, t0: object, save_every: object, inertia: object, m0: object, q0: object, *adaptive: object) -> tuple | None

(t, m, q, inertia, steps) of a run in memory, as polhode.integrate gives it; None for many steps
of given length, unusual arguments and wrong ones. adaptive: t_end, rtol and both of atol, while h
and n_steps are None, for any number of steps; steps are then those that were accepted and rejected,
(2, ...), else None.)";

PyMethodDef integrate_function{
    "integrate",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(integrate_for_python)),
    METH_FASTCALL,
    integrate_doc};

}  // namespace
}  // namespace polhode::bindings

void register_short_call(py::module_& module) {
    namespace b = polhode::bindings;
    py::class_<b::Integrator>(module, "Integrator")
        .def(py::init<const py::kwargs&>(), "See the first arguments of `Integration`.");
    PyObject* integrate = PyCFunction_New(&b::integrate_function, nullptr);
    if (integrate == nullptr) throw py::error_already_set();
    module.add_object("integrate", py::reinterpret_steal<py::object>(integrate));
}

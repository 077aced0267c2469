/// @file
/// Bodies with torque: polhode._core.integrate, the torque models and the list of splittings.
///
/// polhode.integrate prepares the arrays: native doubles, C-contiguous, bodies along one axis.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/splitting/schemes.hpp"
#include "polhode/threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

/// `bodies` vectors, quaternions or matrices one after another; a single one is shared by all
/// bodies.
View rows(const Doubles& array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
    if (array.size() == core) return {array.data(), 0, 1, 3};
    if (array.size() != core * bodies) throw py::value_error("arrays of the wrong size");
    return {array.data(), core, 1, 3};
}
MutableView mutable_rows(Doubles array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
    if (array.size() != core * bodies) throw py::value_error("arrays of the wrong size");
    return {array.mutable_data(), core, 1, 3};
}

/// (parameters,) for all bodies, or (parameters, bodies and padding).
View parameter_columns(const Doubles& array, std::ptrdiff_t bodies) {
    if (array.ndim() == 1) return {array.data(), 0, 1, 3};
    constexpr std::ptrdiff_t block = SplittingProblem::block_bodies;
    const std::ptrdiff_t columns = array.shape(1);
    if (columns < (bodies + block - 1) / block * block) {
        throw py::value_error("parameters are not padded");
    }
    return {array.data(), 1, columns, 3 * columns};
}

const TorqueModel& model(int index, std::ptrdiff_t bodies) {
    const dispatch::SplittingTable& table = *dispatch::level_for(bodies).splitting;
    if (index < 0 || index >= table.model_count) throw py::index_error("no such torque model");
    return table.models[index];
}

/// A torque as Python describes it: (model, parameters), or (model, parameters, function, data,
/// bounds, origins) with addresses as integers; 0 and empty arrays mean "not given".
class Term {
  public:
    Term(const py::tuple& description, std::ptrdiff_t bodies)
        : parameters_(description[1].cast<Doubles>()) {
        term_.model = &model(description[0].cast<int>(), bodies);
        if (description.size() > 2) {
            term_.extra.function = address<CompiledTorque>(description[2]);
            term_.extra.user_data = address<void*>(description[3]);
            bounds_ = description[4].cast<Doubles>();
            origins_ = description[5].cast<Doubles>();
        }
        const std::ptrdiff_t intervals = origins_.size();
        if (intervals == 0) {
            if (parameters_.size() > 0) term_.parameters = parameter_columns(parameters_, bodies);
            return;
        }
        if (parameters_.ndim() < 2 || parameters_.shape(0) != intervals ||
            bounds_.size() + 1 != intervals) {
            throw py::value_error("arrays of the wrong size");
        }
        const std::ptrdiff_t stride = parameters_.size() / intervals;
        term_.extra.table = {bounds_.data(), origins_.data(), intervals, stride};
        const std::vector<py::ssize_t> shape(parameters_.shape() + 1,
                                             parameters_.shape() + parameters_.ndim());
        term_.parameters =
            parameter_columns(Doubles(shape, parameters_.data(), parameters_), bodies);
    }
    const TorqueTerm& operator*() const { return term_; }

  private:
    template <class Pointer>
    static Pointer address(const py::handle& number) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): Python has addresses as numbers.
        return reinterpret_cast<Pointer>(number.cast<std::uintptr_t>());
    }

    Doubles parameters_, bounds_, origins_;
    TorqueTerm term_{};
};

const DirectMethod& direct_method(int row, std::ptrdiff_t bodies = 0) {
    const dispatch::Level& level = dispatch::level_for(bodies);
    if (row < 0 || row >= level.torque_free->methods || level.direct->rows[row].stages == nullptr) {
        throw py::index_error("no such method");
    }
    return level.direct->rows[row];
}
/// The options of a direct integrator, complete.
OptionValues direct_options(int row, const py::tuple& values) {
    OptionValues options =
        dispatch::level().torque_free->rows[row].info->complete(read_options(values));
    if (options.data == nullptr) options.data = direct_method(row).data;
    return options;
}
/// (bodies, columns).
MutableView columns_of(const DirectMethod& method, Doubles work, std::ptrdiff_t bodies) {
    if (work.size() != method.columns * bodies) throw py::value_error("arrays of the wrong size");
    return {work.mutable_data(), method.columns, 1, 3};
}

/// The stages of step `step` of a direct integrator.  For each stage: the time in the step, the
/// number of derivatives of the momentum that it needs, and the number of stages to go back while
/// it is not done.
py::list direct_stages(int row, std::ptrdiff_t step, const py::tuple& option_values) {
    const DirectMethod& method = direct_method(row);
    DirectStage made[DirectMethod::most_stages];
    const DirectStages list = method.stages(step, direct_options(row, option_values), made);
    py::list stages;
    for (int k = 0; k < list.count; ++k) {
        stages.append(
            py::make_tuple(list.stages[k].time, list.stages[k].derivatives, list.stages[k].back));
    }
    return stages;
}

/// A view of the same numbers that is read-only and cannot be made writeable.
py::object closed(const py::array& array) {
    return py::module_::import("numpy").attr("asarray")(py::memoryview(array).attr("toreadonly")());
}

/// A torque that Python evaluates: function(order, t, m, attitude) of the whole batch returns the
/// derivative of that order of the momentum in space, in the body frame, or the W of a modified
/// potential; see TorqueArguments::order.  Its attribute `direct` may be a function that is called
/// instead for order 1, with the arguments of the places `asked` in (t, m, attitude).  If its
/// result is not an aligned array of doubles with the shape of m, the method `fitted` converts or
/// rejects it.
class Called {
  public:
    /// @param step  number of the current step, for the note of an exception
    Called(const py::object& function,
           py::object m,
           py::object attitude,
           const Doubles& numbers,
           const std::ptrdiff_t& step)
        : function_(function),
          direct_(function.attr("direct")),
          asked_(function.attr("asked").cast<std::vector<int>>()),
          m_(std::move(m)),
          attitude_(std::move(attitude)),
          numbers_(numbers),
          step_(step),
          info_{"called", 0, true, function.attr("depends_on_m").cast<bool>(), false, false},
          model_{&info_, call, nullptr, nullptr} {
        if (function.attr("has_modified").cast<bool>()) model_.modified = call;
        if (function.attr("is_given").cast<bool>()) model_.given = call;
    }
    TorqueTerm term() { return {&model_, {}, {.user_data = this}}; }

  private:
    static void call(const TorqueArguments& a, std::ptrdiff_t, std::ptrdiff_t) {
        static_cast<Called*>(a.extra.user_data)->evaluate(a);
    }
    void evaluate(const TorqueArguments& a) {
        py::object returned = ask(a);
        Operand rows;
        if (PyArray_NDIM(reinterpret_cast<PyArrayObject*>(returned.ptr())) > 2) {
            returned = Doubles::ensure(returned);  // C order, so that bodies are evenly spaced
            if (!returned) throw py::error_already_set();
        }
        read_array(returned.ptr(), 1, rows);
        const std::ptrdiff_t next = rows.batch_axes == 1 ? rows.stride(0) : 3;
        const std::ptrdiff_t component = rows.core_stride(0);
        const double* x = rows.data;
        double* row = a.out.data;
        for (std::ptrdiff_t i = 0; i < a.bodies; ++i, x += next, row += a.out.body) {
            for (int k = 0; k < 3; ++k) {
                double& y = row[k * a.out.component];
                y = a.add ? y + x[k * component] : x[k * component];
            }
        }
    }
    /// An array of doubles with the shape of m.  A note is added to an exception with the place
    /// where it occurred.
    py::object ask(const TorqueArguments& a) {
        try {
            PyObject* const m = momenta(a.m).ptr();
            const auto t = py::reinterpret_steal<py::object>(PyFloat_FromDouble(a.t));
            py::object returned;
            if (a.order == 1 && !direct_.is_none()) {
                PyObject* const given[] = {t.ptr(), m, attitude_.ptr()};
                PyObject* arguments[std::size(given)];
                std::ranges::transform(asked_, arguments, [&](int place) { return given[place]; });
                returned = vectorcall(direct_, arguments, asked_.size());
                if (fits(returned)) return returned;
                returned = function_.attr("fitted")(returned);
            } else {
                const py::int_ order(a.order);
                PyObject* const arguments[] = {order.ptr(), t.ptr(), m, attitude_.ptr()};
                returned = vectorcall(function_, arguments, 4);
            }
            if (!fits(returned)) {
                returned = Doubles::ensure(returned);
                if (!returned) throw py::error_already_set();
                if (!fits(returned)) throw py::value_error("arrays of the wrong shape");
            }
            return returned;
        } catch (py::error_already_set& error) {
            if (error.matches(PyExc_Exception)) {
                py::module_::import("polhode.integration.python_torque")
                    .attr("note_of_step")(error.value(), step_, a.t);
            }
            throw;
        }
    }
    static py::object vectorcall(const py::object& function,
                                 PyObject* const* arguments,
                                 std::size_t count) {
        PyObject* returned = PyObject_Vectorcall(function.ptr(), arguments, count, nullptr);
        if (returned == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(returned);
    }
    bool fits(const py::object& returned) const {
        Operand rows;
        return PyArray_CheckExact(returned.ptr()) && read_array(returned.ptr(), 1, rows) &&
               PyArray_SAMESHAPE(rows.array, reinterpret_cast<PyArrayObject*>(m_.ptr()));
    }
    /// The arrays of the state or of a stage.
    const py::object& momenta(const View& m) {
        if (m.data == m_.data()) return m_;
        if (stage_.is_none()) {
            const std::vector<py::ssize_t> shape(m_.shape(), m_.shape() + m_.ndim());
            stage_ = closed(Doubles(shape, m.data, numbers_));
        }
        return stage_;
    }

    py::object function_, direct_;
    std::vector<int> asked_;  ///< places in (t, m, attitude), each once
    py::array m_;
    py::object attitude_, numbers_, stage_ = py::none();
    const std::ptrdiff_t& step_;
    TorqueInfo info_;
    TorqueModel model_;
};

/// An integration, its arguments described by `register_splitting`.
class Integration {
  public:
    explicit Integration(const py::kwargs& given)
        : given_(given),
          m_(array("m")),
          threads_(thread_count(value<int>("threads"))) {
        SplittingProblem& p = problem_;
        const std::ptrdiff_t core = value<bool>("matrix") ? 9 : 4;
        Doubles attitude = array("attitude"), m_saved = array("m_saved");
        Doubles attitude_saved = array("attitude_saved");
        const Doubles stages = array("stages"), h = array("h");
        p.total_steps = value<std::ptrdiff_t>("total_steps");
        p.save_every = value<std::ptrdiff_t>("save_every");
        const std::ptrdiff_t saves = 1 + (p.total_steps + p.save_every - 1) / p.save_every;
        if (m_saved.size() != saves * m_.size() ||
            attitude_saved.size() != saves * attitude.size() ||
            (h.ndim() != 0 && h.size() != p.total_steps) || stages.ndim() != 2 ||
            stages.shape(1) != 3) {
            throw py::value_error("arrays of the wrong size");
        }
        for (py::ssize_t i = 0; i < stages.shape(0); ++i) {
            stages_.push_back({stages.at(i, 0) == 0 ? Stage::flow : Stage::kick,
                               stages.at(i, 1),
                               stages.at(i, 2)});
        }
        const int method = value<int>("method");
        const dispatch::StepRow& row = dispatch::level_for(bodies()).torque_free->rows[method];
        p.flow = row.step;
        if (value<bool>("direct")) {
            p.direct = &direct_method(method, bodies());
            p.options = direct_options(method, given_["options"]);
            p.work = columns_of(*p.direct, array("own"), bodies());
        } else {
            p.options = row.info->complete(read_options(given_["options"]));
        }
        p.options.stop = watch_.request();
        p.energy_correction = row.info->energy_correction(p.options);
        p.inertia = rows(array("inertia"), 3, bodies());
        p.matrix = core == 9;
        p.m = mutable_rows(m_, 3, bodies());
        p.attitude = mutable_rows(attitude, core, bodies());
        auto by_torque = given_["by_torque"].cast<py::array_t<bool>>();
        if (by_torque.size() != bodies()) throw py::value_error("arrays of the wrong size");
        p.by_torque = by_torque.mutable_data();
        if (has("lost")) p.lost = mutable_rows(array("lost"), 3, bodies());
        p.h = h.data();
        p.h_stride = h.ndim() == 0 ? 0 : 1;
        p.t0 = value<double>("t0");
        p.times = nullptr;
        if (has("times")) {
            const Doubles times = array("times");
            if (times.size() != p.total_steps + 1) throw py::value_error("times of another number");
            p.times = times.data();
        }
        p.m_saved = {m_saved.mutable_data(), 3, 1, 3};
        p.attitude_saved = {attitude_saved.mutable_data(), core, 1, 3};
        p.m_save_stride = m_.size();
        p.attitude_save_stride = attitude.size();
        if (has("start")) {
            start_ = given_["start"].cast<std::pair<Doubles, Doubles>>();
            start_m_ = rows(start_.first, 3, bodies());
            start_attitude_ = rows(start_.second, core, bodies());
        }
        read_terms(attitude);
        p.stages = stages_.data();
        p.stage_count = static_cast<int>(stages_.size());
        p.terms = sum_.data();
        p.term_count = static_cast<int>(sum_.size());
    }
    Integration(const Integration&) = delete;
    Integration& operator=(const Integration&) = delete;

    /// At most `n_steps` steps; if a torque calls back, only steps that begin within `seconds`.
    void run(std::ptrdiff_t first_step, std::ptrdiff_t n_steps, double seconds) {
        SplittingProblem& p = problem_;
        if (n_steps < 0 || first_step < 0 || first_step + n_steps > p.total_steps) {
            throw py::value_error("steps that there are not");
        }
        p.first_step = done_ = first_step;
        p.n_steps = n_steps;
        p.m_from = p.m;
        p.attitude_from = p.attitude;
        p.keeps_state = true;
        if (start_m_.data != nullptr) {  // the state is the last save
            if (first_step == 0) {
                p.m_from = n_steps == 0 ? start_m_ : p.m_saved;
                p.attitude_from = n_steps == 0 ? start_attitude_ : p.attitude_saved;
            }
            p.keeps_state = n_steps > 0 && first_step + n_steps < p.total_steps;
        }
        const auto run = dispatch::level_for(bodies()).splitting->run;
        const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) { run(p, begin, end); };
        constexpr std::ptrdiff_t block = SplittingProblem::block_bodies;
        // polhode.integrate requests as many steps as take a tenth of a second; one step of a
        // million bodies may take longer.
        if (p.whole != nullptr) {
            run_calling(n_steps, seconds);
            return;
        }
        watch_.share(bodies(), threads_, block, n_steps, work);
        done_ += n_steps;
    }
    /// Steps from the start of the integration to the last that is complete.
    std::ptrdiff_t done() const { return done_; }

  private:
    /// One step at a time, so that the number of complete steps is known after an exception.
    void run_calling(std::ptrdiff_t n_steps, double seconds) {
        using Clock = std::chrono::steady_clock;
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        SplittingProblem& p = problem_;
        p.n_steps = std::min<std::ptrdiff_t>(n_steps, 1);
        do {
            p.first_step = done_;
            dispatch::level_for(bodies()).splitting->run(p, 0, bodies());
            watch_.check_asked();
            done_ += p.n_steps;
        } while (--n_steps > 0 && Clock::now() < end);
    }
    std::ptrdiff_t bodies() const { return m_.size() / 3; }
    bool has(const char* name) const { return !given_[name].is_none(); }
    template <class T>
    T value(const char* name) const {
        return given_[name].cast<T>();
    }
    /// Not converted: the core works directly in this array.
    Doubles array(const char* name) const {
        if (!py::isinstance<Doubles>(given_[name]) ||
            !PyArray_ISALIGNED(reinterpret_cast<PyArrayObject*>(given_[name].ptr()))) {
            throw py::type_error(std::string(name) +
                                 " must be an aligned array of doubles in C order");
        }
        return value<Doubles>(name);
    }
    void read_terms(const Doubles& attitude) {
        for (const py::handle term : given_["terms"]) {
            if (py::isinstance<py::tuple>(term)) {
                terms_.emplace_back(term.cast<py::tuple>(), bodies());
                sum_.push_back(*terms_.back());
                continue;
            }
            if (problem_.whole == nullptr) {
                numbers_ = Doubles(std::max<py::ssize_t>(WholeBatch::numbers * bodies(), 1));
                whole_.data = numbers_.mutable_data();
                problem_.whole = &whole_;
            }
            called_.emplace_back(py::reinterpret_borrow<py::object>(term),
                                 closed(m_),
                                 closed(attitude),
                                 numbers_,
                                 done_);
            sum_.push_back(called_.back().term());
        }
    }
    /// The work that the driver requests for all bodies between two calls of Python.
    static void share(void* self, std::ptrdiff_t count, WholeBatch::Work work, const void* context) {
        auto& integration = *static_cast<Integration*>(self);
        const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
            work(context, begin, end);
        };
        integration.watch_.share(count, integration.threads_, whole_packs, 1, part);
    }

    py::kwargs given_;
    Doubles m_;
    int threads_;
    std::vector<Stage> stages_;
    std::vector<Term> terms_;
    std::list<Called> called_;
    std::vector<TorqueTerm> sum_;
    std::ptrdiff_t done_ = 0;
    Doubles numbers_;
    WholeBatch whole_{share, this, nullptr};
    SplittingProblem problem_{};
    std::pair<Doubles, Doubles> start_;
    View start_m_ = {}, start_attitude_ = {};  ///< null: they are in the state
    Watch watch_;
};

TorqueArguments torque_arguments(const Doubles& m,
                                 const Doubles& attitude,
                                 bool matrix,
                                 const TorqueTerm& term,
                                 double t,
                                 std::ptrdiff_t bodies) {
    TorqueArguments a{};
    a.t = t;
    a.m = rows(m, 3, bodies);
    a.attitude = rows(attitude, matrix ? 9 : 4, bodies);
    a.matrix = matrix;
    a.parameters = term.parameters;
    a.extra = term.extra;
    return a;
}

Doubles torque(const py::tuple& description,
               double t,
               const Doubles& m,
               const Doubles& attitude,
               bool matrix) {
    const std::ptrdiff_t bodies = m.size() / 3;
    Doubles out({bodies, py::ssize_t{3}});
    const Term term(description, bodies);
    TorqueArguments a = torque_arguments(m, attitude, matrix, *term, t, bodies);
    a.out = {out.mutable_data(), 3, 1, 3};
    (*term).model->torque(a, 0, bodies);
    return out;
}

/// Df[Q hat(v)], see TorqueArguments.
Doubles torque_derivative(const py::tuple& description,
                          double t,
                          const Doubles& v,
                          const Doubles& attitude,
                          bool matrix) {
    const std::ptrdiff_t bodies = v.size() / 3;
    Doubles out({bodies, py::ssize_t{3}});
    const Term term(description, bodies);
    TorqueArguments a = torque_arguments(v, attitude, matrix, *term, t, bodies);
    a.rotation = a.m;
    a.out = {out.mutable_data(), 3, 1, 3};
    (*term).model->derivative(a, 0, bodies);
    return out;
}

Doubles potential(const py::tuple& description, double t, const Doubles& attitude, bool matrix) {
    const std::ptrdiff_t bodies = attitude.size() / (matrix ? 9 : 4);
    const Term term(description, bodies);
    Doubles out(bodies);
    TorqueArguments a{};
    a.t = t;
    a.attitude = rows(attitude, matrix ? 9 : 4, bodies);
    a.matrix = matrix;
    a.parameters = (*term).parameters;
    a.extra = (*term).extra;
    a.out = {out.mutable_data(), 1, 0, 0};
    (*term).model->potential(a, 0, bodies);
    return out;
}

py::list torque_models() {
    py::list list;
    const dispatch::SplittingTable& table = *dispatch::level().splitting;
    for (int i = 0; i < table.model_count; ++i) {
        const TorqueInfo& info = *table.models[i].info;
        py::dict row;
        row["name"] = info.name;
        row["parameters"] = info.parameters;
        row["depends_on_t"] = info.depends_on_t;
        row["depends_on_m"] = info.depends_on_m;
        row["has_potential"] = info.has_potential;
        row["has_derivative"] = info.has_derivative;
        list.append(row);
    }
    return list;
}

py::list splittings() {
    py::list list;
    for (const SplittingScheme& scheme : splitting::all) {
        py::list stages;
        for (int i = 0; i < scheme.count; ++i) {
            const Stage& stage = scheme.stages[i];
            stages.append(py::make_tuple(
                stage.kind == Stage::flow ? "flow" : "kick", stage.coefficient, stage.modified));
        }
        py::dict row;
        row["name"] = scheme.name;
        row["order"] = scheme.order;
        row["kind"] = scheme.kind;
        row["symmetric"] = scheme.symmetric;
        row["attitude_only"] = scheme.attitude_only;
        row["source"] = scheme.source;
        py::list generalised;
        for (int power : scheme.generalised.power) {
            if (power != 0) generalised.append(power);
        }
        row["generalised_order"] = py::tuple(generalised);
        row["effective_order"] = scheme.effective_order;
        row["stages"] = py::tuple(stages);
        list.append(row);
    }
    return list;
}

}  // namespace
}  // namespace polhode::bindings

void register_splitting(py::module_& module) {
    namespace b = polhode::bindings;
    py::class_<b::Integration>(module, "Integration", R"(Steps of bodies with torque.

Arguments, all by name; arrays are doubles in C order, bodies along one axis or more:

method, options: row of methods() and its values: of the free flow or the direct integrator
direct: whether it integrates the torque directly; own: its columns (bodies, columns), else None
stages: of the splitting, (stages, 3): 0 a flow or 1 a kick, coefficient, c of a modified potential
terms: of the torque: models as tuples, others as functions (order, t, m, attitude) -> (bodies, 3)
    with depends_on_m, has_modified, is_given
inertia (bodies, 3) or (3,); m (bodies, 3), attitude (bodies, 4): the state, changed in place
matrix: whether attitudes are (bodies, 3, 3)
lost: what rounding took from m, (bodies, 3); None: dropped
by_torque: (bodies,) of bool, becomes true where m is finite and the torque is not
h: (total_steps,) or (); t0; times (total_steps + 1,): of the starts and the end; None: t0 + n h
total_steps, save_every: of the whole integration
m_saved, attitude_saved: rows of all saves
start: (m, attitude) before the start, C order; the state is then the last row; None: in the state
threads: their number)")
        .def(py::init<const py::kwargs&>())
        .def("run",
             &b::Integration::run,
             py::arg("first_step"),
             py::arg("n_steps"),
             py::arg("seconds") = 0.0,
             "The next n_steps steps and their saves; none at first_step = 0: the start. Where a "
             "function is called, no step but the first begins after so many seconds.")
        .def_property_readonly(
            "done", &b::Integration::done, "Steps that are complete, also after an exception.");
    module.def("direct_stages", &b::direct_stages);
    module.attr("tableau_stages") = py::make_tuple(polhode::OptionValues::most_stages,
                                                   polhode::OptionValues::most_implicit_stages);
    module.def("torque",
               &b::torque,
               py::arg("term"),
               py::arg("t"),
               py::arg("m"),
               py::arg("attitude"),
               py::arg("matrix"));
    module.def("torque_derivative",
               &b::torque_derivative,
               py::arg("term"),
               py::arg("t"),
               py::arg("v"),
               py::arg("attitude"),
               py::arg("matrix"));
    module.def("potential",
               &b::potential,
               py::arg("term"),
               py::arg("t"),
               py::arg("attitude"),
               py::arg("matrix"));
    module.def("torque_models", &b::torque_models);
    module.def("splittings", &b::splittings);
    module.attr("block_bodies") = polhode::SplittingProblem::block_bodies;
}

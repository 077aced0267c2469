/// @file
/// Bodies with torque: polhode._core.integrate, the torque models and the list of splittings.
///
/// Arrays come prepared by polhode.integrate: native doubles, C-contiguous, bodies along one axis.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "interrupts.hpp"
#include "levels.hpp"
#include "polhode/splitting/schemes.hpp"
#include "threads.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style>;

/// `bodies` vectors, quaternions or matrices one after another; one alone is shared by all bodies.
View rows(const Doubles& array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
    if (array.size() == core) return {array.data(), 0, 1, 3};
    if (array.size() != core * bodies) throw py::value_error("arrays of the wrong size");
    return {array.data(), core, 1, 3};
}
MutableView mutable_rows(Doubles& array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
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

const TorqueModel& model(int index) {
    const dispatch::SplittingTable& table = *dispatch::level().splitting;
    if (index < 0 || index >= table.model_count) throw py::index_error("no such torque model");
    return table.models[index];
}

/// A torque as Python describes it: (model, parameters), or (model, parameters, function, data,
/// bounds, origins) with addresses as integers; 0 and empty arrays mean none.
class Term {
  public:
    Term(const py::tuple& description, std::ptrdiff_t bodies)
        : parameters_(description[1].cast<Doubles>()) {
        term_.model = &model(description[0].cast<int>());
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
        std::vector<py::ssize_t> shape(parameters_.shape() + 1,
                                       parameters_.shape() + parameters_.ndim());
        term_.parameters =
            parameter_columns(Doubles(shape, parameters_.data(), parameters_), bodies);
    }
    const TorqueTerm& operator*() const { return term_; }

  private:
    template <class Pointer>
    static Pointer address(const py::handle& number) {
        return reinterpret_cast<Pointer>(number.cast<std::uintptr_t>());
    }

    Doubles parameters_, bounds_, origins_;
    TorqueTerm term_{};
};

const TorquedMethod& torqued_method(int index) {
    const dispatch::TorquedTable& table = *dispatch::level().torqued;
    if (index < 0 || index >= table.count) throw py::index_error("no such method");
    return table.rows[index];
}
/// (bodies, columns).
MutableView columns_of(const TorquedMethod& method, Doubles& work, std::ptrdiff_t bodies) {
    if (work.size() != method.columns * bodies) throw py::value_error("arrays of the wrong size");
    return {work.mutable_data(), method.columns, 1, 3};
}
/// The value of the option `start`, the first of the methods that have it.
int start_of(const TorquedMethod& method, const OptionValues& options) {
    const int start = options.count > 0 ? static_cast<int>(options.value[0]) : 0;
    return start >= 0 && start < method.starts ? start : 0;
}

/// The stages of step `step` of a method that takes the torque itself: of each, when in the step it
/// wants how many derivatives of the momentum, and how far it goes back where it is not done.
py::list torqued_stages(int torqued, std::ptrdiff_t step, const py::tuple& option_values) {
    const TorquedMethod& method = torqued_method(torqued);
    const OptionValues options = read_options(option_values);
    TorquedStage made[TorquedMethod::most_stages];
    const TorquedStages list = method.stages(step, start_of(method, options), options, made);
    py::list stages;
    for (int k = 0; k < list.count; ++k) {
        stages.append(
            py::make_tuple(list.stages[k].time, list.stages[k].derivatives, list.stages[k].back));
    }
    return stages;
}

/// Runs one stage on the whole batch; false: it wants the torque once more.
bool torqued_stage(int method,
                   int torqued,
                   int stage,
                   const Doubles& inertia,
                   Doubles m,
                   Doubles attitude,
                   bool matrix,
                   const Doubles& torque,
                   Doubles work,
                   double h,
                   std::ptrdiff_t step,
                   int threads,
                   const py::tuple& option_values) {
    const std::ptrdiff_t bodies = m.size() / 3;
    const TorquedMethod& row = torqued_method(torqued);
    if (torque.ndim() != 2 || torque.shape(0) != bodies || torque.shape(1) < 3) {
        throw py::value_error("arrays of the wrong size");
    }
    TorquedArguments a{};
    a.inertia = rows(inertia, 3, bodies);
    a.m = mutable_rows(m, 3, bodies);
    a.attitude = mutable_rows(attitude, matrix ? 9 : 4, bodies);
    a.matrix = matrix;
    a.torque = {torque.data(), torque.shape(1), 1, 3};
    a.work = columns_of(row, work, bodies);
    a.h = h;
    a.step = step;
    a.options = read_options(option_values);
    a.energy_correction =
        energy_correction(*dispatch::level().torque_free->rows[method].info, a.options);
    a.data = row.data_with(a.options);
    a.stage = stage;
    TorquedStage made[TorquedMethod::most_stages];
    const TorquedStages list = row.stages(step, start_of(row, a.options), a.options, made);
    if (stage < 0 || stage >= list.count) throw py::index_error("no such stage");
    if (bodies == 0) return true;
    std::atomic<bool> done{true};
    {
        const py::gil_scoped_release release;
        share_among_threads(
            bodies, thread_count(threads), 64, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                if (!list.stages[stage].run(a, begin, end)) done = false;
            });
    }
    return done;
}

py::list torqued_methods() {
    py::list list;
    const dispatch::TorquedTable& table = *dispatch::level().torqued;
    for (int i = 0; i < table.count; ++i) {
        py::dict row;
        row["name"] = table.rows[i].name;
        row["columns"] = table.rows[i].columns;
        row["derivatives"] = table.rows[i].derivatives;
        row["starting"] = table.rows[i].starting;
        row["given"] = table.rows[i].given;
        list.append(row);
    }
    return list;
}

void integrate(int method,
               const Doubles& inertia,
               Doubles m,
               Doubles attitude,
               bool matrix,
               const Doubles& stages,
               const py::list& terms,
               const Doubles& h,
               double t0,
               const std::optional<Doubles>& times,
               std::ptrdiff_t first_step,
               std::ptrdiff_t n_steps,
               std::ptrdiff_t total_steps,
               std::ptrdiff_t save_every,
               Doubles m_saved,
               Doubles attitude_saved,
               int threads,
               const py::tuple& option_values,
               std::optional<Doubles> lost,
               int torqued,
               std::optional<Doubles> own) {
    const std::ptrdiff_t bodies = m.size() / 3;
    const std::ptrdiff_t core = matrix ? 9 : 4;
    const std::ptrdiff_t saves = 1 + (total_steps + save_every - 1) / save_every;
    if (m_saved.size() != saves * bodies * 3 || attitude_saved.size() != saves * bodies * core ||
        (h.ndim() != 0 && h.size() != total_steps) || (times && times->size() != total_steps + 1) ||
        n_steps < 0 || first_step < 0 || first_step + n_steps > total_steps || stages.ndim() != 2 ||
        stages.shape(1) != 3) {
        throw py::value_error("arrays of the wrong size");
    }
    std::vector<Stage> list;
    for (py::ssize_t i = 0; i < stages.shape(0); ++i) {
        list.push_back(
            {stages.at(i, 0) == 0 ? Stage::flow : Stage::kick, stages.at(i, 1), stages.at(i, 2)});
    }
    std::vector<Term> read;
    std::vector<TorqueTerm> sum;
    for (const py::handle description : terms) {
        read.emplace_back(description.cast<py::tuple>(), bodies);
        sum.push_back(*read.back());
    }
    SplittingProblem problem{};
    const dispatch::StepRow& row = dispatch::level().torque_free->rows[method];
    problem.flow = row.step;
    problem.options = read_options(option_values);
    problem.energy_correction = energy_correction(*row.info, problem.options);
    if (torqued >= 0) {
        problem.torqued = &torqued_method(torqued);
        if (!own) throw py::value_error("no columns");
        problem.work = columns_of(*problem.torqued, *own, bodies);
        problem.start = start_of(*problem.torqued, problem.options);
    }
    problem.inertia = rows(inertia, 3, bodies);
    problem.stages = list.data();
    problem.stage_count = static_cast<int>(list.size());
    problem.terms = sum.data();
    problem.term_count = static_cast<int>(sum.size());
    problem.h = h.data();
    problem.h_stride = h.ndim() == 0 ? 0 : 1;
    problem.t0 = t0;
    problem.times = times ? times->data() : nullptr;
    problem.matrix = matrix;
    problem.m = mutable_rows(m, 3, bodies);
    problem.attitude = mutable_rows(attitude, core, bodies);
    if (lost) problem.lost = mutable_rows(*lost, 3, bodies);
    problem.m_saved = {m_saved.mutable_data(), 3, 1, 3};
    problem.attitude_saved = {attitude_saved.mutable_data(), core, 1, 3};
    problem.m_save_stride = 3 * bodies;
    problem.attitude_save_stride = core * bodies;
    problem.first_step = first_step;
    problem.n_steps = n_steps;
    problem.total_steps = total_steps;
    problem.save_every = save_every;
    const auto run = dispatch::level().splitting->run;
    const int cores = thread_count(threads);
    const auto work = [&](std::ptrdiff_t begin, std::ptrdiff_t end) { run(problem, begin, end); };
    constexpr std::ptrdiff_t block = SplittingProblem::block_bodies;
    // polhode.integrate asks for as many steps as take a tenth of a second; one of a million bodies
    // may take longer.
    Slice slice;
    if (n_steps == 1) {
        const std::ptrdiff_t stages_done = std::max<std::ptrdiff_t>(stages.shape(0), 1);
        slice.run_in_pieces(bodies, cores, block, stages_done, work);
    } else {
        slice.run(bodies, cores, block, 1, work);
    }
}

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
    module.def("integrate",
               &b::integrate,
               py::arg("method"),
               py::arg("inertia"),
               py::arg("m").noconvert(),
               py::arg("attitude").noconvert(),
               py::arg("matrix"),
               py::arg("stages"),
               py::arg("terms"),
               py::arg("h"),
               py::arg("t0"),
               py::arg("times"),
               py::arg("first_step"),
               py::arg("n_steps"),
               py::arg("total_steps"),
               py::arg("save_every"),
               py::arg("m_saved").noconvert(),
               py::arg("attitude_saved").noconvert(),
               py::arg("threads"),
               py::arg("options") = py::tuple(),
               py::arg("lost").noconvert() = py::none(),
               py::arg("torqued") = -1,
               py::arg("work").noconvert() = py::none());
    module.def("torqued_stages", &b::torqued_stages);
    module.def("torqued_methods", &b::torqued_methods);
    module.attr("tableau_stages") = py::make_tuple(polhode::OptionValues::most_stages,
                                                   polhode::OptionValues::most_implicit_stages);
    module.def("torqued_stage",
               &b::torqued_stage,
               py::arg("method"),
               py::arg("torqued"),
               py::arg("stage"),
               py::arg("inertia"),
               py::arg("m").noconvert(),
               py::arg("attitude").noconvert(),
               py::arg("matrix"),
               py::arg("torque").noconvert(),
               py::arg("work").noconvert(),
               py::arg("h"),
               py::arg("step"),
               py::arg("threads"),
               py::arg("options"));
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

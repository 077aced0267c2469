/// Bodies with torque: registers polhode._core.Integration, the torque models and the list of
/// splittings.

#include "integration.hpp"
#include "polhode/scalar/philox.hpp"
#include "polhode/splitting/schemes.hpp"
#include "torque_term.hpp"

namespace py = pybind11;

namespace polhode::bindings {
namespace {

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

py::list torque_models() {
    py::list list;
    for (const TorqueModel& model : dispatch::level().splitting->models) {
        const TorqueInfo& info = *model.info;
        py::dict row;
        row["name"] = info.name;
        row["parameters"] = info.parameters;
        row["depends_on_t"] = info.depends_on_t;
        row["depends_on_m"] = info.depends_on_m;
        row["has_potential"] = info.has_potential;
        row["has_derivative"] = info.has_derivative;
        row["states"] = model.states;
        list.append(row);
    }
    return list;
}

py::list splittings() {
    py::list list;
    for (const SplittingScheme& scheme : splitting::all) {
        const auto listed = [](const Stage* stages, int count) {
            py::list result;
            for (int i = 0; i < count; ++i) {
                const Stage& stage = stages[i];
                const char* const kind = stage.kind == Stage::flow ? "flow" : "kick";
                result.append(py::make_tuple(kind, stage.coefficient, stage.modified));
            }
            return py::tuple(result);
        };
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
        row["stages"] = listed(scheme.stages, scheme.count);
        row["processor"] = listed(scheme.processor, scheme.processor_count);
        list.append(row);
    }
    return list;
}

}  // namespace
}  // namespace polhode::bindings

void register_integration(py::module_& module) {
    namespace b = polhode::bindings;
    py::class_<b::Integration>(module, "Integration", R"(Steps of bodies with torque.

Arguments, all by name; arrays are doubles in C order, bodies along one axis or more:

method, options: row of methods() and its values: of the free flow or the direct integrator
direct: whether it integrates the torque directly; work: its columns (columns, bodies), else None
stages: of the splitting, (stages, 3): 0 a flow or 1 a kick, coefficient, c of a modified potential;
processor: of a processed scheme, the same
terms: of the torque: models as tuples, others as functions (order, t, m, attitude) -> (bodies, 3)
    with depends_on_m, has_modified, is_given
inertia (bodies, 3) or (3,); moments: None, or a function (t, step) -> (bodies, 3) that is called
    before each flow and sets inertia (bodies, 3)
m (bodies, 3), attitude (bodies, 4): the state, changed in place
matrix: whether attitudes are (bodies, 3, 3)
axes: principal axes in the columns, in the body axes, (3, 3) or (bodies, 3, 3); None: the
    same axes. The state before the first step, saves and torques are in the body axes, the
    state after the first step is along the principal axes
compensation: rounding errors of m, (bodies, 3); None: dropped
order: of the splitting, 2: a torque that depends on m is kicked by the midpoint rule; None: unknown
torque_state: numbers that the terms store from step to step, (bodies, numbers); a given momentum
    that is the only term stores 3
x, p (bodies, 3), mass (bodies,) or (): centre of mass and momentum in space; s (bodies, numbers):
    state of the torques; x_saved, p_saved, s_saved: rows of all saves; None: the bodies have none,
    or a run without saves
thermostat: kT, gamma, seed; None: no heat bath
nose_hoover: kT, tau, links of a chain, degrees of freedom of rotation and translation; None: none;
    chains (2, links, 2): position and velocity; chains_saved: rows of all saves
by_torque: (bodies,) of bool, becomes true where m is finite and the torque is not
h: (total_steps,) or (); t0; times (total_steps + 1,): of the starts and the end; None: t0 + n h
total_steps, save_every: of the whole integration
m_saved, attitude_saved: rows of all saves; None: a run without saves, see `advance`
window: true: rows of the saves of one call of `run`, the first that before its steps; then each
    step is saved
parts: (parts, 4), step, start, end and length of the parts of the steps that are done in parts
start: (m, attitude) before the start, C order; the state is then the last row; None: in the state
threads: their number)")
        .def(py::init<const py::kwargs&>())
        .def(
            "run",
            &b::Integration::run,
            py::arg("first_step"),
            py::arg("n_steps"),
            py::arg("seconds") = 0.0,
            "The next n_steps steps and their saves; none at first_step = 0: the start. It returns "
            "after about so many seconds.")
        .def(
            "adapt",
            &b::Integration::adapt,
            py::arg("t"),
            py::arg("times"),
            py::arg("m_saved"),
            py::arg("attitude_saved"),
            py::arg("tolerance"),
            py::arg("first_step") = 0.0,
            py::arg("max_step") = std::numeric_limits<double>::infinity(),
            py::arg("one_step") = false,
            py::arg("begins") = true,
            py::arg("most_steps") = std::numeric_limits<std::ptrdiff_t>::max(),
            py::arg("step_times") = py::none(),
            "Steps of rk8 from the times t (bodies,), which become those that are reached, to the "
            "last of times, each of which ends a step, at most so many for each body. times are "
            "(count,), or (bodies, count) for bodies in their own steps. Row k of the arrays is "
            "the state at times[..., k]; or, with step_times (most_steps, bodies), after step k of "
            "a body, at the time that is written there. tolerance: (rtol, atol_m, "
            "atol_q), the error of a step is at most atol_m + rtol |m| in m and atol_q + rtol in "
            "q. "
            "first_step: 0 is chosen. one_step: all bodies take the same steps, as they do if a "
            "function is called or bodies interact. begins: the state is the start, else what an "
            "earlier call left. "
            "Returns by body the steps that were accepted and rejected, and whether a step became "
            "too short.")
        .def(
            "move",
            &b::Integration::move,
            py::arg("ways"),
            py::arg("times"),
            py::arg("states"),
            "Moves bodies begin <= i < end from times[0], in step first, to times[1], in step "
            "last, in rows i + offset of the states: m, attitude and what else moves. ways: (ways, "
            "6), begin, end, offset, first, last and a count of equal steps, 0: the steps of the "
            "integration.")
        .def("advance",
             &b::Integration::advance,
             py::arg("n_steps"),
             "The next n_steps steps of a run without saves; none: the start. False if a momentum "
             "is not finite after them.")
        .def("restart",
             &b::Integration::restart,
             py::arg("m"),
             py::arg("attitude"),
             py::arg("t0"),
             "Begins a run without saves again from another state, unless it has companions, a "
             "thermostat or a term in Python. False, and nothing has changed, if that needs the "
             "usual checks.")
        .def_property_readonly("m", &b::Integration::now<0>, "m after `advance`, read-only.")
        .def_property_readonly("attitude", &b::Integration::now<1>, "The same of the attitude.")
        .def_property_readonly(
            "done", &b::Integration::done, "Steps that are complete, also after an exception.");
    module.def("direct_stages", &b::direct_stages);
    module.attr("tableau_stages") = py::make_tuple(polhode::OptionValues::most_stages,
                                                   polhode::OptionValues::most_implicit_stages);
    using polhode::TorqueModel;
    module.def("torque", &b::evaluate<&TorqueModel::torque, b::Doubles>);
    module.def("torque_derivative", &b::evaluate<&TorqueModel::derivative, b::Doubles>);
    module.def("potential", &b::evaluate<&TorqueModel::potential>);
    module.def("torque_models", &b::torque_models);
    module.def("splittings", &b::splittings);
    module.def(
        "philox",
        [](const std::array<std::uint64_t, 4>& counter, const std::array<std::uint64_t, 2>& key) {
            return polhode::philox(counter, key);
        },
        "Random words, as numpy.random.Philox has them after the counter is incremented.");
    module.attr("block_bodies") = polhode::SplittingProblem::block_bodies;
}

#pragma once

/// The lists of torque models and of splittings.

#include <pybind11/pybind11.h>

#include "levels.hpp"
#include "polhode/splitting/schemes.hpp"

namespace polhode::bindings {

inline pybind11::list torque_models() {
    pybind11::list list;
    for (const TorqueModel& model : dispatch::level().splitting->models) {
        const TorqueInfo& info = *model.info;
        pybind11::dict row;
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

inline pybind11::list splittings() {
    pybind11::list list;
    for (const SplittingScheme& scheme : splitting::all) {
        const auto listed = [](const Stage* stages, int count) {
            pybind11::list result;
            for (int i = 0; i < count; ++i) {
                const Stage& stage = stages[i];
                const char* const kind = stage.kind == Stage::flow ? "flow" : "kick";
                result.append(pybind11::make_tuple(kind, stage.coefficient, stage.modified));
            }
            return pybind11::tuple(result);
        };
        pybind11::dict row;
        row["name"] = scheme.name;
        row["order"] = scheme.order;
        row["kind"] = scheme.kind;
        row["symmetric"] = scheme.symmetric;
        row["attitude_only"] = scheme.attitude_only;
        row["source"] = scheme.source;
        pybind11::list generalised;
        for (int power : scheme.generalised.power) {
            if (power != 0) generalised.append(power);
        }
        row["generalised_order"] = pybind11::tuple(generalised);
        row["effective_order"] = scheme.effective_order;
        row["stages"] = listed(scheme.stages, scheme.count);
        row["processor"] = listed(scheme.processor, scheme.processor_count);
        list.append(row);
    }
    return list;
}

}  // namespace polhode::bindings

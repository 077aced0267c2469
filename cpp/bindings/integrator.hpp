#pragma once

/// What happens in a step of an integration, whatever the bodies: a method with options, or a
/// splitting with a method for its flows.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"
#include "polhode/interface/calls.hpp"
#include "torque_term.hpp"

namespace polhode::bindings {

inline const DirectMethod& direct_method(int row, std::ptrdiff_t bodies = 0) {
    const dispatch::Level& level = dispatch::level_for(bodies);
    if (row < 0 || row >= level.torque_free->methods || level.direct->rows[row].stages == nullptr) {
        throw pybind11::index_error("no such method");
    }
    return level.direct->rows[row];
}
/// The options of a direct integrator, complete.
inline OptionValues direct_options(int row, const pybind11::tuple& values) {
    OptionValues options =
        dispatch::level().torque_free->rows[row].info->complete(read_options(values));
    if (options.data == nullptr) options.data = direct_method(row).data;
    return options;
}

/// Arguments, by name: method, options, direct, stages, processor, order as of `Integration`, and
/// `models`: terms of the torque whose parameters all bodies share.
class Integrator {
  public:
    explicit Integrator(const pybind11::dict& given)
        : given_(given),
          row_(given["method"].cast<int>()),
          direct_(given["direct"].cast<bool>()),
          options_(direct_ ? direct_options(row_, given["options"])
                           : info().complete(read_options(given["options"]))) {
        stages_ = read_stages(given["stages"].cast<Doubles>());
        processor_ = read_stages(given["processor"].cast<Doubles>());
        if (given.contains("order") && !given["order"].is_none()) {
            midpoint_kicks_ = given["order"].cast<int>() <= 2;
        }
        if (!given.contains("models")) return;
        for (const pybind11::handle each : given["models"]) {
            const auto description = each.cast<pybind11::tuple>();
            indices_.push_back(description[0].cast<int>());
            terms_.emplace_back(description, 0);
        }
    }
    Integrator(const Integrator&) = delete;
    Integrator& operator=(const Integrator&) = delete;

    interface::FreeMethod method(std::ptrdiff_t bodies) const {
        const dispatch::StepRow& row = dispatch::level_for(bodies).torque_free->rows[row_];
        return {row.info,
                row.step,
                row.history,
                options_,
                direct_ ? &direct_method(row_, bodies) : nullptr};
    }
    interface::Scheme scheme() const {
        interface::Scheme scheme{std::span<const Stage>(stages_)};
        scheme.processor = processor_;
        scheme.midpoint_kicks = midpoint_kicks_;
        return scheme;
    }
    /// The models, of the level for so many bodies.
    std::vector<TorqueTerm> models(std::ptrdiff_t bodies) const {
        std::vector<TorqueTerm> list;
        list.reserve(terms_.size());
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            list.push_back(*terms_[i]);
            list.back().model = &model(indices_[i], bodies);
        }
        return list;
    }
    /// Steps that are taken with the interpreter lock held: fewer for more bodies, at least 1.
    std::ptrdiff_t steps_at_once(std::ptrdiff_t bodies) const {
        const auto stages = std::max<std::ptrdiff_t>(std::ssize(stages_) / 2, 1);
        const auto in_packs = std::max<std::ptrdiff_t>(bodies, 16);
        return std::max<std::ptrdiff_t>(100'000 / (stages * in_packs), 1);
    }

  private:
    static std::vector<Stage> read_stages(const Doubles& table) {
        if (table.ndim() != 2 || table.shape(1) != 3) {
            throw pybind11::value_error("arrays of the wrong size");
        }
        std::vector<Stage> stages;
        stages.reserve(static_cast<std::size_t>(table.shape(0)));
        for (pybind11::ssize_t i = 0; i < table.shape(0); ++i) {
            stages.push_back(
                {table.at(i, 0) == 0 ? Stage::flow : Stage::kick, table.at(i, 1), table.at(i, 2)});
        }
        return stages;
    }
    const MethodInfo& info() const { return *dispatch::level().torque_free->rows[row_].info; }

    pybind11::dict given_;  ///< keeps coefficients alive
    int row_;
    bool direct_;
    OptionValues options_;
    std::vector<Stage> stages_, processor_;
    bool midpoint_kicks_ = false;
    std::vector<int> indices_;  ///< of the models in the list
    std::vector<Term> terms_;
};

}  // namespace polhode::bindings

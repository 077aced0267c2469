#pragma once

/// @file
/// The terms of a torque that the core evaluates, and arrays of bodies.

#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "levels.hpp"
#include "polhode/splitting/arguments.hpp"

namespace polhode::bindings {

/// `bodies` vectors, quaternions or matrices one after another; a single one is shared by all
/// bodies.
inline View rows(const Doubles& array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
    if (array.size() == core) return {array.data(), 0, 1, 3};
    if (array.size() != core * bodies) throw pybind11::value_error("arrays of the wrong size");
    return {array.data(), core, 1, 3};
}
inline MutableView mutable_rows(Doubles array, std::ptrdiff_t core, std::ptrdiff_t bodies) {
    if (array.size() != core * bodies) throw pybind11::value_error("arrays of the wrong size");
    return {array.mutable_data(), core, 1, 3};
}

/// (parameters,) for all bodies, or (parameters, bodies and padding).
inline View parameter_columns(const Doubles& array, std::ptrdiff_t bodies) {
    if (array.ndim() == 1) return {array.data(), 0, 1, 3};
    constexpr std::ptrdiff_t block = SplittingProblem::block_bodies;
    const std::ptrdiff_t columns = array.shape(1);
    if (columns < (bodies + block - 1) / block * block) {
        throw pybind11::value_error("parameters are not padded");
    }
    return {array.data(), 1, columns, 3 * columns};
}

inline const TorqueModel& model(int index, std::ptrdiff_t bodies) {
    const dispatch::SplittingTable& table = *dispatch::level_for(bodies).splitting;
    if (index < 0 || index >= table.model_count)
        throw pybind11::index_error("no such torque model");
    return table.models[index];
}

/// A torque as Python describes it: (model, parameters), or (model, parameters, function, data,
/// bounds, origins, independent) with addresses as integers; 0 and empty arrays mean "not given".
class Term {
  public:
    Term(const pybind11::tuple& description, std::ptrdiff_t bodies)
        : parameters_(description[1].cast<Doubles>()) {
        term_.model = &model(description[0].cast<int>(), bodies);
        if (description.size() > 2) {
            term_.extra.function = address<CompiledTorque>(description[2]);
            term_.extra.user_data = address<void*>(description[3]);
            bounds_ = description[4].cast<Doubles>();
            origins_ = description[5].cast<Doubles>();
            needs_whole_batch_ = !description[6].cast<bool>();
        }
        const std::ptrdiff_t intervals = origins_.size();
        if (intervals == 0) {
            if (parameters_.size() > 0) term_.parameters = parameter_columns(parameters_, bodies);
            return;
        }
        if (parameters_.ndim() < 2 || parameters_.shape(0) != intervals ||
            bounds_.size() + 1 != intervals) {
            throw pybind11::value_error("arrays of the wrong size");
        }
        const std::ptrdiff_t stride = parameters_.size() / intervals;
        term_.extra.table = {bounds_.data(), origins_.data(), intervals, stride};
        const std::vector<pybind11::ssize_t> shape(parameters_.shape() + 1,
                                                   parameters_.shape() + parameters_.ndim());
        term_.parameters =
            parameter_columns(Doubles(shape, parameters_.data(), parameters_), bodies);
    }
    const TorqueTerm& operator*() const { return term_; }
    /// Whether the torque on a body may depend on other bodies.
    bool needs_whole_batch() const { return needs_whole_batch_; }

  private:
    template <class Pointer>
    static Pointer address(const pybind11::handle& number) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): Python has addresses as numbers.
        return reinterpret_cast<Pointer>(number.cast<std::uintptr_t>());
    }

    Doubles parameters_, bounds_, origins_;
    TorqueTerm term_{};
    bool needs_whole_batch_ = false;
};

}  // namespace polhode::bindings

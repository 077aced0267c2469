#pragma once

/// The terms of a torque that the core evaluates, and arrays of bodies.

#include <algorithm>
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
    const auto models = dispatch::level_for(bodies).splitting->models;
    if (index < 0 || index >= std::ssize(models)) throw pybind11::index_error("no such model");
    return models[static_cast<std::size_t>(index)];
}

/// A torque as Python describes it: (model, parameters), or (model, parameters, function, data,
/// bounds, origins, independent, table, whether it also gives a force) with addresses as integers;
/// 0 and empty arrays mean "not given".
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
            if (description.size() > 7) table_ = description[7].cast<Doubles>();
            if (description.size() > 8 && description[8].cast<bool>()) {
                term_.extra.force = address<CompiledForce>(description[2]);
            }
        }
        if (parameters_.size() > 0) term_.parameters = parameter_columns(parameters_, bodies);
        const std::ptrdiff_t intervals = origins_.size();
        if (intervals == 0) return;
        if (table_.ndim() < 2 || table_.shape(0) != intervals || bounds_.size() + 1 != intervals) {
            throw pybind11::value_error("arrays of the wrong size");
        }
        const std::vector<pybind11::ssize_t> shape(table_.shape() + 1,
                                                   table_.shape() + table_.ndim());
        term_.extra.table = {bounds_.data(),
                             origins_.data(),
                             intervals,
                             parameter_columns(Doubles(shape, table_.data(), table_), bodies),
                             table_.size() / intervals};
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

    Doubles parameters_, bounds_, origins_, table_;
    TorqueTerm term_{};
    bool needs_whole_batch_ = false;
};

/// Bodies in columns, as a model takes them; the last is repeated.
struct Columns {
    std::ptrdiff_t length;
    std::vector<double> numbers;

    Columns(int size, std::ptrdiff_t bodies)
        : length(WholeBatch::column_length(bodies)),
          numbers(static_cast<std::size_t>(size * length)) {}
    Columns(const Doubles& array, int size, std::ptrdiff_t bodies) : Columns(size, bodies) {
        const View from = rows(array, size, bodies);
        for (std::ptrdiff_t i = 0; bodies > 0 && i < length; ++i) {
            const double* x = from.data + std::min(i, bodies - 1) * from.body;
            for (int k = 0; k < size; ++k) numbers[k * length + i] = x[k];
        }
    }
    MutableView view() { return {numbers.data(), 1, length, 3 * length}; }
};

/// The torque of each body, its derivative (see TorqueArguments) along a vector, or its potential.
template <auto function, class... Vectors>
Doubles evaluate(const pybind11::tuple& description,
                 double t,
                 const Doubles& attitude,
                 bool matrix,
                 const Vectors&... vectors) {
    constexpr int size = sizeof...(vectors) == 0 ? 1 : 3;
    const int components = matrix ? 9 : 4;
    const std::ptrdiff_t bodies = attitude.size() / components;
    const Term term(description, bodies);
    Columns m(vectors..., 3, bodies), q(attitude, components, bodies), out(size, bodies);
    TorqueArguments a{};
    a.t = t;
    a.m = a.rotation = m.view();
    a.attitude = q.view();
    a.matrix = matrix;
    a.parameters = (*term).parameters;
    a.extra = (*term).extra;
    a.out = out.view();
    a.bodies = bodies;
    ((*term).model->*function)(a, 0, WholeBatch::padded(bodies));
    Doubles result({bodies, pybind11::ssize_t{size}});
    double* x = result.mutable_data();
    for (std::ptrdiff_t i = 0; i < bodies; ++i) {
        for (int k = 0; k < size; ++k) *x++ = out.numbers[k * out.length + i];
    }
    return result;
}

}  // namespace polhode::bindings

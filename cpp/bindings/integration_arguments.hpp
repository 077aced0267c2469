#pragma once

/// The keyword arguments of polhode._core.Integration, as `register_integration` describes them.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "polhode/so3.hpp"
#include "polhode/splitting/arguments.hpp"
#include "torque_term.hpp"

namespace polhode::bindings {

namespace py = pybind11;

/// A new read-only array of this shape.
inline Doubles unwritten(const Doubles& array) {
    Doubles made(std::vector<py::ssize_t>(array.shape(), array.shape() + array.ndim()));
    PyArray_CLEARFLAGS(as_array(made), NPY_ARRAY_WRITEABLE);
    return made;
}
/// True while it exists.
struct Busy {
    bool& flag;
    explicit Busy(bool& f) : flag(f) { flag = true; }
    ~Busy() { flag = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
};
/// The numbers of a list or of an array of doubles in C order that has the shape of another.  Null
/// for anything else, or if they are not finite.
struct FiniteNumbers {
    py::object list;
    const double* data = nullptr;

    FiniteNumbers(PyObject* object, const Doubles& like) : list(array_of_list(object)) {
        Operand x;
        if (!read_array(list ? list.ptr() : object, 1, x) || !PyArray_IS_C_CONTIGUOUS(x.array) ||
            !PyArray_SAMESHAPE(x.array, as_array(like))) {
            return;
        }
        if (all_finite(x.data, like.size())) data = x.data;
    }
};
/// What adaptive steps cost, by body.
struct AdaptiveCosts {
    py::array_t<std::int64_t> steps, rejected;
    py::array_t<bool> lost;  ///< whether a step became too short

    explicit AdaptiveCosts(std::ptrdiff_t bodies) : steps(bodies), rejected(bodies), lost(bodies) {
        std::fill_n(steps.mutable_data(), bodies, 0);
        std::fill_n(rejected.mutable_data(), bodies, 0);
        std::fill_n(lost.mutable_data(), bodies, false);
    }
};

class IntegrationArguments {
  public:
    explicit IntegrationArguments(py::kwargs given) : given_(std::move(given)) {}

    py::object operator[](const char* name) const { return given_[name]; }
    bool has(const char* name) const { return given_.contains(name) && !given_[name].is_none(); }
    template <class T>
    T value(const char* name) const {
        return given_[name].cast<T>();
    }
    /// Not converted: the core works directly in this array.
    Doubles array(const char* name) const {
        if (!py::isinstance<Doubles>(given_[name]) || !PyArray_ISALIGNED(as_array(given_[name]))) {
            throw py::type_error(std::string(name) +
                                 " must be an aligned array of doubles in C order");
        }
        return value<Doubles>(name);
    }
    /// Number, lengths and times of the steps.
    void read_steps(SplittingProblem& problem) const {
        const Doubles h = array("h");
        problem.total_steps = value<std::ptrdiff_t>("total_steps");
        problem.save_every = value<std::ptrdiff_t>("save_every");
        if (h.ndim() != 0 && h.size() != problem.total_steps) {
            throw py::value_error("arrays of the wrong size");
        }
        problem.h = h.data();
        problem.h_stride = h.ndim() == 0 ? 0 : 1;
        problem.t0 = value<double>("t0");
        problem.open_end = true;
        problem.steps_join = !has("parts");
        problem.times = nullptr;
        if (!has("times")) return;
        const Doubles times = array("times");
        if (times.size() != problem.total_steps + 1)
            throw py::value_error("times of another number");
        problem.times = times.data();
    }
    /// Flags of the bodies whose torque was not finite.
    void read_nonfinite_torque(SplittingProblem& problem, std::ptrdiff_t bodies) const {
        auto flags = value<py::array_t<bool>>("by_torque");
        if (flags.size() != bodies) throw py::value_error("arrays of the wrong size");
        problem.nonfinite_torque = flags.mutable_data();
    }
    /// x, p and s, as far as the bodies have them.
    void read_companions(SplittingProblem& problem,
                         std::ptrdiff_t bodies,
                         std::array<Doubles, Companion::kinds>& others) const {
        static constexpr const char* names[Companion::kinds][2] = {
            {"x", "x_saved"}, {"p", "p_saved"}, {"s", "s_saved"}};
        for (int k = 0; k < Companion::kinds; ++k) {
            const auto& [name, saved] = names[k];
            others[static_cast<std::size_t>(k)] = Doubles(0);
            if (!has(name)) continue;
            const Doubles now = array(name), rows_saved = has(saved) ? array(saved) : now;
            others[static_cast<std::size_t>(k)] = now;
            const auto size = static_cast<int>(now.shape(now.ndim() - 1));
            const std::ptrdiff_t n = now.size();
            if (n != size * bodies || (n > 0 && rows_saved.size() % n != 0)) {
                throw py::value_error("arrays of the wrong size");
            }
            problem.companions[k] = {
                size, mutable_rows(now, size, bodies), {data_of(rows_saved), size, 1, 3}, n};
            if (!has(saved)) problem.companions[k].save_stride = 0;
        }
        if (has("p") || has("s") || has("thermostat") || has("nose_hoover")) {
            problem.steps_join = false;
        }
        if (has("mass")) problem.mass = rows(array("mass"), 1, bodies);
        if (has("thermostat")) {
            const double* const given = array("thermostat").data();
            problem.heat = {given[0], given[1], static_cast<std::uint64_t>(given[2])};
        }
        if (has("nose_hoover")) {
            const double* const given = array("nose_hoover").data();
            problem.nose_hoover = {given[0],
                                   given[1],
                                   {given[3], given[4]},
                                   static_cast<int>(given[2]),
                                   data_of(array("chains"))};
            if (has("chains_saved")) problem.nose_hoover.saved = data_of(array("chains_saved"));
        }
    }
    /// (3, 3) or (bodies, 3, 3).
    void read_axes(SplittingProblem& problem,
                   std::ptrdiff_t bodies,
                   std::vector<double>& numbers_of_axes) const {
        if (!has("axes")) return;
        const Doubles axes = array("axes");
        constexpr int numbers = SplittingProblem::axes_numbers;
        const std::ptrdiff_t count = axes.size() / 9;
        const View from = rows(axes, 9, bodies);
        numbers_of_axes.resize(static_cast<std::size_t>(numbers * count));
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            Mat3<double> A;
            for (int k = 0; k < 9; ++k) A.a[k / 3][k % 3] = from.data[9 * i + k];
            const Quaternion<double> q = so3::to_quaternion(A);
            double* const to = numbers_of_axes.data() + numbers * i;
            std::copy_n(from.data + 9 * i, 9, to);
            to[9] = q.w, to[10] = q.x, to[11] = q.y, to[12] = q.z;
        }
        problem.axes = {numbers_of_axes.data(), count == 1 ? 0 : numbers, 1, 3};
    }

  private:
    py::kwargs given_;
};

/// Calls visit(array) for the arrays that steps change in place, m and attitude only if they are
/// the state.
template <class Visit>
void for_each_array_in_place(const SplittingProblem& p,
                             std::ptrdiff_t bodies,
                             bool with_state,
                             const Visit& visit) {
    const auto add = [&](const MutableView& x, std::ptrdiff_t size) {
        if (x.data != nullptr) visit(std::span(x.data, static_cast<std::size_t>(size * bodies)));
    };
    if (with_state) add(p.m, 3), add(p.attitude, p.matrix ? 9 : 4);
    add(p.compensation, 3);
    add(p.work, p.work_columns);
    add(p.torque_state, p.torque_states);
    for (const Companion& each : p.companions) add(each.now, each.size);
    visit(std::span(p.nose_hoover.now, static_cast<std::size_t>(p.nose_hoover.numbers())));
}

}  // namespace polhode::bindings
